//! Bisimilarity and conformance of two models: known answers, slow obvious references on random
//! systems, and the public models with their published differences.

mod common;

use std::collections::BTreeSet;

use common::models::{Model, model};
use common::public::{alternating_bit, public_text};
use ioco_formats::dot::{self, MealyOptions};
use ioco_formats::{LabelMap, aut};
use ioco_sts::{
    CompareError, CompareOptions, Comparison, Equivalence, Relation, Sts, compare, flatten, reduce,
};
use proptest::prelude::*;

const OPTIONS: CompareOptions = CompareOptions {
    equivalence: Equivalence::Weak,
    relation: Relation::Ioco,
    limit: 100_000,
};

/// An edge `from label to` with labels such as `?a`, `!x` and `i`.
type Edge = (usize, &'static str, usize);

fn system(states: usize, edges: &[Edge]) -> Sts {
    let mut text = format!("des (0, {}, {states})\n", edges.len());
    for (from, label, to) in edges {
        text.push_str(&format!("({from}, \"{label}\", {to})\n"));
    }
    aut::read("t", &text, &LabelMap::default()).unwrap()
}

fn compared(left: &Sts, right: &Sts) -> Comparison {
    compare(left, right, OPTIONS).unwrap()
}

fn check(left: &Sts, right: &Sts, bisimilar: bool, conforms: bool, trace: Option<&[&str]>) {
    let found = compared(left, right);
    assert_eq!((found.bisimilar, found.conforms), (bisimilar, conforms));
    let shown = found.distinction.map(|d| d.trace);
    let wanted = trace.map(|t| t.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>());
    assert_eq!(shown, wanted);
}

#[test]
fn a_system_is_bisimilar_to_its_unrolled_self() {
    let once = system(2, &[(0, "?coin", 1), (1, "!tea", 0)]);
    let twice = [
        (0, "?coin", 1),
        (1, "!tea", 2),
        (2, "?coin", 3),
        (3, "!tea", 0),
    ];
    check(&once, &system(4, &twice), true, true, None);
}

#[test]
fn internal_steps_are_seen_by_strong_bisimilarity_only() {
    let direct = system(2, &[(0, "?coin", 1), (1, "!tea", 0)]);
    let busy = system(3, &[(0, "?coin", 1), (1, "i", 2), (2, "!tea", 0)]);
    check(&direct, &busy, true, true, None);
    let strong = CompareOptions {
        equivalence: Equivalence::Strong,
        ..OPTIONS
    };
    assert!(!compare(&direct, &busy, strong).unwrap().bisimilar);
    assert!(compare(&busy, &busy, strong).unwrap().bisimilar);
}

#[test]
fn a_system_that_may_go_round_for_ever_may_be_silent() {
    let prompt = system(2, &[(0, "?coin", 1), (1, "!tea", 0)]);
    let lazy = system(2, &[(0, "?coin", 1), (1, "i", 1), (1, "!tea", 0)]);
    check(&prompt, &lazy, false, false, Some(&["?coin"]));
    // The other way round nothing new is done.
    check(&lazy, &prompt, false, true, Some(&["?coin"]));
    let found = compared(&prompt, &lazy).distinction.unwrap();
    assert_eq!(found.allowed, ["!tea"]);
    assert_eq!(found.observed, ["!tea", "δ"]);
}

#[test]
fn fewer_responses_conform_and_more_do_not() {
    let one = system(2, &[(0, "?coin", 1), (1, "!tea", 0)]);
    let two = system(2, &[(0, "?coin", 1), (1, "!tea", 0), (1, "!coffee", 0)]);
    check(&two, &one, false, true, Some(&["?coin"]));
    check(&one, &two, false, false, Some(&["?coin"]));
    let found = compared(&one, &two).distinction.unwrap();
    assert_eq!(found.allowed, ["!tea"]);
    assert_eq!(found.observed, ["!coffee", "!tea"]);
}

#[test]
fn a_stimulus_that_the_specification_does_not_speak_of_is_free() {
    let plain = system(2, &[(0, "?coin", 1), (1, "!tea", 0)]);
    let more = system(
        3,
        &[
            (0, "?coin", 1),
            (1, "!tea", 0),
            (0, "?kick", 2),
            (2, "!ouch", 0),
        ],
    );
    check(&plain, &more, false, true, Some(&[]));
    // The system without the stimulus is never asked for it; nothing is observed of it.
    check(&more, &plain, false, true, Some(&[]));
}

/// Tretmans' example: the traces are the same, and after the silence they are not.
#[test]
fn silence_in_the_middle_of_a_trace_distinguishes_systems() {
    let edges = [
        (0, "?a", 1),
        (1, "?a", 2),
        (2, "!x", 3),
        (0, "?a", 4),
        (4, "!y", 5),
        (4, "?a", 6),
        (6, "!z", 7),
    ];
    let specification = system(8, &edges);
    // Also says `z` where it was silent before.
    let mut edges = edges.to_vec();
    edges.push((2, "!z", 3));
    let implementation = system(8, &edges);
    check(
        &specification,
        &implementation,
        false,
        false,
        Some(&["?a", "δ", "?a"]),
    );
}

#[test]
fn the_same_traces_with_another_moment_of_choice_are_not_bisimilar() {
    let late = system(4, &[(0, "?a", 1), (1, "?b", 2), (1, "?c", 3)]);
    let early = system(5, &[(0, "?a", 1), (0, "?a", 4), (1, "?b", 2), (4, "?c", 3)]);
    check(&late, &early, false, true, None);
}

#[test]
fn uioco_asks_less_than_ioco() {
    // After ?a the stimulus ?b is accepted by one of two states.
    let specification = [(0, "?a", 1), (0, "?a", 2), (1, "?b", 3), (3, "!x", 3)];
    let specification = system(4, &specification);
    let implementation = system(4, &[(0, "?a", 1), (1, "?b", 2), (2, "!y", 3)]);
    assert!(!compared(&specification, &implementation).conforms);
    let uioco = CompareOptions {
        relation: Relation::Uioco,
        ..OPTIONS
    };
    let found = compare(&specification, &implementation, uioco).unwrap();
    assert!(found.conforms);
}

#[test]
fn too_many_state_sets_are_no_answer() {
    let left = system(3, &[(0, "?a", 1), (1, "?a", 2), (2, "?a", 0)]);
    let few = CompareOptions {
        limit: 2,
        ..OPTIONS
    };
    let right = system(2, &[(0, "?a", 1), (1, "?a", 0)]);
    assert_eq!(compare(&left, &right, few), Err(CompareError::TooMany(2)));
    check(&left, &right, true, true, None);
}

const LABELS: [&str; 5] = ["?a", "?b", "!x", "!y", "i"];

fn edges(states: usize) -> impl Strategy<Value = Vec<Edge>> {
    let edge = (0..states, 0..LABELS.len(), 0..states);
    prop::collection::vec(
        edge.prop_map(|(from, label, to)| (from, LABELS[label], to)),
        0..8,
    )
}

fn two_systems() -> impl Strategy<Value = (usize, Vec<Edge>, Vec<Edge>)> {
    (1..5usize).prop_flat_map(|states| {
        let left = edges(states);
        let right = edges(states);
        // Systems that are drawn apart seldom conform: let half of the pairs be close.
        (left, right, any::<bool>()).prop_map(move |(left, right, close)| {
            let near = || {
                let mut near = left.clone();
                near.extend(right.first());
                near
            };
            let right = if close { near() } else { right.clone() };
            (states, left.clone(), right)
        })
    })
}

/// The slow and obvious definitions, on edges.
mod reference {
    use std::collections::BTreeSet;

    use super::Edge;

    /// All states that internal steps lead to from these, these included.
    fn closed(edges: &[Edge], states: &BTreeSet<usize>) -> BTreeSet<usize> {
        let mut all = states.clone();
        loop {
            let before = all.len();
            for (from, label, to) in edges {
                if *label == "i" && all.contains(from) {
                    all.insert(*to);
                }
            }
            if all.len() == before {
                return all;
            }
        }
    }

    fn step(edges: &[Edge], states: &BTreeSet<usize>, wanted: &str) -> BTreeSet<usize> {
        let targets = edges
            .iter()
            .filter(|(from, label, _)| *label == wanted && states.contains(from))
            .map(|(_, _, to)| *to);
        targets.collect()
    }

    fn is_silent(edges: &[Edge], state: usize) -> bool {
        let leaving = |mark: char| {
            edges
                .iter()
                .any(|(from, label, _)| *from == state && label.starts_with(mark))
        };
        let behind = closed(edges, &step(edges, &BTreeSet::from([state]), "i"));
        behind.contains(&state) || !(leaving('!') || leaving('i'))
    }

    /// The edges with a loop δ at every silent state.
    pub fn with_silence(states: usize, edges: &[Edge]) -> Vec<Edge> {
        let silent = (0..states).filter(|state| is_silent(edges, *state));
        let mut all = edges.to_vec();
        all.extend(silent.map(|state| (state, "δ", state)));
        all
    }

    fn after(edges: &[Edge], states: &BTreeSet<usize>, label: &str) -> BTreeSet<usize> {
        closed(edges, &step(edges, &closed(edges, states), label))
    }

    /// The greatest relation in which every step of one is weakly matched by the other.
    pub fn weakly_bisimilar(states: usize, left: &[Edge], right: &[Edge]) -> bool {
        let mut related: BTreeSet<(usize, usize)> = BTreeSet::new();
        for l in 0..states {
            related.extend((0..states).map(|r| (l, r)));
        }
        let matched = |by: &[Edge], state: usize, label: &str| {
            let state = BTreeSet::from([state]);
            match label {
                "i" => closed(by, &state),
                _ => after(by, &state, label),
            }
        };
        loop {
            let holds = |&(l, r): &(usize, usize)| {
                let forth = left.iter().filter(|e| e.0 == l).all(|(_, label, to)| {
                    let answers = matched(right, r, label);
                    answers
                        .iter()
                        .any(|answer| related.contains(&(*to, *answer)))
                });
                let back = right.iter().filter(|e| e.0 == r).all(|(_, label, to)| {
                    let answers = matched(left, l, label);
                    answers
                        .iter()
                        .any(|answer| related.contains(&(*answer, *to)))
                });
                forth && back
            };
            let kept: BTreeSet<(usize, usize)> = related.iter().copied().filter(holds).collect();
            if kept.len() == related.len() {
                return kept.contains(&(0, 0));
            }
            related = kept;
        }
    }

    fn observations(edges: &[Edge], states: &BTreeSet<usize>) -> BTreeSet<&'static str> {
        let labels = edges.iter().filter(|e| states.contains(&e.0)).map(|e| e.1);
        labels.filter(|l| *l == "δ" || l.starts_with('!')).collect()
    }

    /// The number of stimuli and responses before the first deviation, over all suspension traces
    /// of the specification up to a length.
    pub fn deviates_after(left: &[Edge], right: &[Edge], longest: usize) -> Option<usize> {
        let start = BTreeSet::from([0]);
        let mut traces = vec![(closed(left, &start), closed(right, &start))];
        for length in 0..=longest {
            let mut longer = Vec::new();
            // A silence after a silence says nothing new.
            let silent: Vec<_> = traces
                .iter()
                .map(|(l, r)| (after(left, l, "δ"), after(right, r, "δ")))
                .filter(|(l, _)| !l.is_empty())
                .collect();
            for (l, r) in traces.iter().chain(&silent) {
                if !observations(right, r).is_subset(&observations(left, l)) {
                    return Some(length);
                }
                for label in ["?a", "?b", "!x", "!y"] {
                    let next = after(left, l, label);
                    if !next.is_empty() {
                        longer.push((next, after(right, r, label)));
                    }
                }
            }
            longer.sort();
            longer.dedup();
            traces = longer;
        }
        None
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn weak_bisimilarity_is_the_greatest_weak_bisimulation((states, left, right) in two_systems()) {
        let found = compared(&system(states, &left), &system(states, &right));
        let left = reference::with_silence(states, &left);
        let right = reference::with_silence(states, &right);
        let expected = reference::weakly_bisimilar(states, &left, &right);
        prop_assert_eq!(found.bisimilar, expected);
    }

    #[test]
    fn conformance_is_what_all_suspension_traces_say((states, left, right) in two_systems()) {
        const LONGEST: usize = 7;
        let found = compared(&system(states, &left), &system(states, &right));
        let left = reference::with_silence(states, &left);
        let right = reference::with_silence(states, &right);
        let expected = reference::deviates_after(&left, &right, LONGEST);
        let shown = match (found.conforms, &found.distinction) {
            (false, Some(distinction)) => {
                let length = distinction.trace.iter().filter(|step| *step != "δ").count();
                (length <= LONGEST).then_some(length)
            }
            _ => None,
        };
        prop_assert_eq!(shown, expected);
    }

    #[test]
    fn bisimilar_systems_conform_both_ways((states, left, right) in two_systems()) {
        let (left, right) = (system(states, &left), system(states, &right));
        if compared(&left, &right).bisimilar {
            prop_assert!(compared(&left, &right).conforms);
            prop_assert!(compared(&right, &left).conforms);
            prop_assert!(compared(&right, &left).bisimilar);
        }
    }

    #[test]
    fn a_model_with_data_is_bisimilar_to_its_reduced_and_flattened_self(Model(sts) in model()) {
        let strong = CompareOptions { equivalence: Equivalence::Strong, ..OPTIONS };
        for other in [reduce(&sts).sts, flatten(&sts, 2000).unwrap()] {
            let found = compare(&sts, &other, strong).unwrap();
            prop_assert!(found.bisimilar && found.conforms);
        }
    }
}

fn mealy(name: &str) -> Sts {
    let text = public_text(&format!("lts/{name}.dot")).unwrap();
    dot::read(name, &text, &MealyOptions::default()).unwrap()
}

/// The rows of the published table: two names and the stimuli of a shortest word.
fn published() -> Vec<(String, String, Vec<String>)> {
    let Some(text) = public_text("lts/README.md") else {
        return Vec::new();
    };
    let rows = text
        .lines()
        .skip_while(|l| !l.contains("as implementation"));
    let mut found = Vec::new();
    for row in rows.skip(2).take_while(|line| line.starts_with('|')) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let (length, word) = cells[3].split_once(':').unwrap();
        let word: Vec<String> = word.split(", ").map(|w| w.trim().to_owned()).collect();
        assert_eq!(word.len(), length.parse::<usize>().unwrap(), "{row}");
        found.push((cells[1].to_owned(), cells[2].to_owned(), word));
    }
    assert_eq!(found.len(), 5);
    found
}

#[test]
fn public_systems_differ_first_where_the_published_table_says() {
    for (specification, implementation, word) in published() {
        let (left, right) = (mealy(&specification), mealy(&implementation));
        let found = compared(&left, &right);
        assert!(!found.bisimilar && !found.conforms, "{implementation}");
        let distinction = found.distinction.unwrap();
        let stimuli: Vec<&str> = distinction
            .trace
            .iter()
            .filter_map(|step| step.strip_prefix('?'))
            .collect();
        assert_eq!(stimuli.len(), word.len(), "{stimuli:?}");
        let allowed: BTreeSet<&String> = distinction.allowed.iter().collect();
        assert!(distinction.observed.iter().any(|o| !allowed.contains(o)));
        // The published word, given to both, ends in different outputs, too.
        assert_ne!(last_output(&left, &word), last_output(&right, &word));
    }
}

/// What a deterministic machine answers to the last stimulus of a word.
fn last_output(sts: &Sts, word: &[String]) -> Option<String> {
    let mut at = sts.processes()[0].initial;
    let mut output = None;
    for input in word {
        let take = |location, mark: &str| {
            let leaving = sts.outgoing(location).iter().map(|id| sts.switch(*id));
            let mut named =
                leaving.map(|s| (sts.label(s.gate.label().unwrap()).marked_name(), s.target));
            named.find(|(name, _)| name.starts_with(mark))
        };
        let (_, next) = take(at, &format!("?{input}")).unwrap();
        (output, at) = match take(next, "!") {
            Some((name, target)) => (Some(name), target),
            None => (None, next),
        };
    }
    output
}

#[test]
fn the_alternating_bit_protocol_is_a_buffer_for_one_message() {
    let Some((text, map)) = alternating_bit() else {
        return;
    };
    let protocol = aut::read("abp", &text, &map).unwrap();
    let prompt = [
        (0, "?r1(d1)", 1),
        (0, "?r1(d2)", 2),
        (1, "!s4(d1)", 0),
        (2, "!s4(d2)", 0),
    ];
    let found = compared(&system(3, &prompt), &protocol);
    assert!(!found.bisimilar && !found.conforms);
    assert_eq!(found.distinction.unwrap().observed, ["!s4(d1)", "δ"]);
    // A channel that may lose every message may be silent for ever, until one gets through.
    let lossy = [
        (0, "?r1(d1)", 1),
        (0, "?r1(d2)", 2),
        (1, "i", 1),
        (2, "i", 2),
        (1, "i", 3),
        (2, "i", 4),
        (3, "!s4(d1)", 0),
        (4, "!s4(d2)", 0),
    ];
    check(&system(5, &lossy), &protocol, true, true, None);
}

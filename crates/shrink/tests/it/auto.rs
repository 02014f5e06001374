//! The default shrinker against the shortest failing trace that exists at all.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use ioco_shrink::{BugKind, Confidence, Ended, Options, Runner, Shrunk};
use ioco_sts::{Action, Direction, Execution, SetId, Step, Sts, Verdict};

use crate::flat_model::{door, public_model, semantics, sts};
use crate::flat_runner::FlatRunner;
use crate::flat_systems::{FlatSystem, MUTANTS, system};
use crate::published_data::cases;
use crate::shrink_by;

/// The length of the shortest failing trace: breadth first over model and system together.
fn shortest_failing(sts: &Arc<Sts>, mut start: impl FnMut() -> Box<dyn FlatSystem>) -> usize {
    let mut model = semantics(sts);
    let mut best = usize::MAX;
    let mut seen: BTreeSet<(SetId, String)> = BTreeSet::new();
    let mut queue: VecDeque<(SetId, Box<dyn FlatSystem>, usize)> = VecDeque::new();
    queue.push_back((model.initial(), start(), 0));
    // Not in the order of steps, since a stimulus may have responses: goes on until nothing that is
    // open can be shorter.
    while let Some((set, system, steps)) = queue.pop_front() {
        if steps + 1 >= best || !seen.insert((set, format!("{system:?}"))) {
            continue;
        }
        for label in sts.labels_of(Direction::Stimulus) {
            let Some(given) = model.after(set, &Step::Stimulus(Action::plain(label))) else {
                continue;
            };
            let mut system = system.fork();
            let mut at = Some(given);
            let mut length = steps + 1;
            for response in system.give(&sts.label(label).name) {
                length += 1;
                at = at.and_then(|set| {
                    let label = sts.label_named(Direction::Response, &response)?;
                    model.after(set, &Step::Response(Action::plain(label)))
                });
                if at.is_none() {
                    break;
                }
            }
            match at.and_then(|set| model.after(set, &Step::Quiescence)) {
                Some(set) => queue.push_back((set, system, length)),
                None => best = best.min(length),
            }
        }
    }
    best
}

/// Failing traces of pseudo-random walks, as an on-the-fly tester finds them.
fn random_failures(
    sts: &Arc<Sts>,
    runner: &mut impl Runner,
    count: usize,
    mut seed: u64,
) -> Vec<Execution> {
    let mut next = move |bound: usize| {
        seed = seed
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (seed >> 33) as usize % bound
    };
    let mut model = semantics(sts);
    let mut failures = Vec::new();
    for _ in 0..50 * count {
        if failures.len() == count {
            break;
        }
        let mut stimuli = Vec::new();
        let mut set = model.initial();
        while stimuli.len() < 400 {
            let menu = model.menu(set);
            if menu.silence && !menu.stimuli.is_empty() {
                let action = Action::plain(menu.stimuli[next(menu.stimuli.len())].label);
                stimuli.push(action.clone());
                set = model.after(set, &Step::Stimulus(action)).expect("offered");
            } else if let Some(offer) = menu.responses.first() {
                let action = Action::plain(offer.label);
                set = model.after(set, &Step::Response(action)).expect("offered");
            } else {
                break;
            }
        }
        let execution = runner.run(&stimuli);
        if matches!(execution.verdict, Verdict::Fail(_)) {
            failures.push(execution);
        }
    }
    failures
}

fn models() -> Vec<(&'static str, u32, Arc<Sts>)> {
    let mut all = Vec::new();
    for (experiment, mutants) in MUTANTS {
        let transitions = match experiment {
            "smartdoor" => Some(door()),
            _ => public_model(experiment),
        };
        match transitions {
            Some(transitions) => all.push((experiment, mutants, sts(experiment, &transitions))),
            None => eprintln!("skipped: no public model of {experiment} here"),
        }
    }
    all
}

fn auto(sts: &Arc<Sts>, failure: &Execution, runner: &mut dyn Runner, options: &Options) -> Shrunk {
    shrink_by("auto", &mut semantics(sts), failure, runner, options)
        .expect("a failing trace of the model")
}

#[test]
fn published_traces_reach_the_shortest_failing_trace_in_few_runs() {
    let (mut traces, mut runs, mut reached) = (0, 0, 0);
    for case in cases() {
        let start = || system(&case.experiment, &case.mutant);
        let shortest = shortest_failing(&case.sts, start);
        for (index, failure) in case.failures().iter().enumerate() {
            let shrunk = auto(&case.sts, failure, &mut case.runner(), &Options::default());
            let who = format!("{} {} trace {index}", case.experiment, case.mutant);
            let published = case.published.values().map(|p| p.final_length[index]);
            let best = published.min().expect("published results") as usize;
            assert!(
                shrunk.execution.length() <= best,
                "{who}: longer than published"
            );
            assert!(
                shrunk.execution.length() >= shortest,
                "{who}: shorter than exists"
            );
            traces += 1;
            runs += shrunk.runs;
            reached += usize::from(shrunk.execution.length() == shortest);
        }
    }
    assert!(
        100 * reached >= 97 * traces,
        "{reached} of {traces} reach the shortest"
    );
    assert!(runs <= 4 * traces, "{runs} runs for {traces} traces");
}

#[test]
fn traces_of_our_own_tester_reach_the_shortest_failing_trace_too() {
    let (mut traces, mut runs, mut reached) = (0, 0, 0);
    for (experiment, mutants, sts) in models() {
        for number in 1..=mutants {
            let mutant = format!("m{number:02}");
            let start = || system(experiment, &mutant);
            let mut runner = FlatRunner::new(&sts, start);
            let shortest = shortest_failing(&sts, start);
            for failure in random_failures(&sts, &mut runner, 2, 17) {
                let shrunk = auto(&sts, &failure, &mut runner, &Options::default());
                assert!(
                    shrunk.execution.length() >= shortest,
                    "{experiment} {mutant}"
                );
                traces += 1;
                runs += shrunk.runs;
                reached += usize::from(shrunk.execution.length() == shortest);
            }
        }
    }
    assert!(
        100 * reached >= 90 * traces,
        "{reached} of {traces} reach the shortest"
    );
    assert!(runs <= 6 * traces, "{runs} runs for {traces} traces");
}

/// A door of a given kind, and one of its failing traces.
fn a_failure(mutant: &str, stimuli: &[&str]) -> (Arc<Sts>, Execution) {
    let sts = sts("smartdoor", &door());
    let mut runner = FlatRunner::new(&sts, || system("smartdoor", mutant));
    let actions: Vec<Action> = stimuli
        .iter()
        .map(|name| Action::plain(sts.label_named(Direction::Stimulus, name).expect("a label")))
        .collect();
    let failure = runner.run(&actions);
    assert!(failure.deviation().is_some());
    (sts, failure)
}

const OPENED_TWICE: [&str; 4] = [
    "lock_correct_passcode",
    "unlock_correct_passcode",
    "open",
    "open",
];

#[test]
fn same_failure_only_stays_with_the_state_and_the_response() {
    let (sts, failure) = a_failure("m02", &OPENED_TWICE);
    let mut runner = FlatRunner::new(&sts, || system("smartdoor", "m02"));
    let any = auto(&sts, &failure, &mut runner, &Options::default());
    assert_eq!(
        any.execution.length(),
        2,
        "closing a closed door is shorter"
    );
    let options = Options {
        same: true,
        ..Options::default()
    };
    let same = auto(&sts, &failure, &mut runner, &options);
    assert_eq!(same.execution.length(), 4);
    let (found, wanted) = (same.execution.deviation(), failure.deviation());
    assert!(found.zip(wanted).is_some_and(|(f, w)| f.is_like(w)));
}

#[test]
fn another_failure_that_is_shorter_is_a_second_finding() {
    let (sts, failure) = a_failure("m02", &OPENED_TWICE);
    let mut runner = FlatRunner::new(&sts, || system("smartdoor", "m02"));
    let options = Options {
        same: true,
        ..Options::default()
    };
    let same = auto(&sts, &failure, &mut runner, &options);
    let other = same.other.expect("closing a closed door fails too");
    assert_eq!(other.length(), 2);
    let (found, wanted) = (other.deviation(), failure.deviation());
    assert!(found.zip(wanted).is_some_and(|(f, w)| !f.is_like(w)));
    let last = same.explanation.last().cloned().unwrap_or_default();
    insta::assert_snapshot!(last, @"Another failure takes 2 steps only: after ?close, !closed in _2.");
}

#[test]
fn an_excluded_stimulus_is_never_given() {
    let (sts, failure) = a_failure("m02", &OPENED_TWICE);
    let close = sts
        .label_named(Direction::Stimulus, "close")
        .expect("a label");
    let options = Options {
        excluded: vec![close],
        ..Options::default()
    };
    for name in ["auto", "length-search", "sps-all-paths"] {
        let mut runner = FlatRunner::new(&sts, || system("smartdoor", "m02"));
        let mut model = semantics(&sts);
        let shrunk = shrink_by(name, &mut model, &failure, &mut runner, &options);
        assert!(shrunk.is_ok(), "{name}");
        let given = runner
            .log
            .iter()
            .flatten()
            .any(|action| action.label == close);
        assert!(!given, "{name}");
    }
}

#[test]
fn a_proof_goes_through_every_shorter_trace_and_says_what_it_cost() {
    let (sts, failure) = a_failure(
        "m04",
        &[
            "open",
            "close",
            "lock_correct_passcode",
            "unlock_incorrect_passcode",
        ],
    );
    let mut runner = FlatRunner::new(&sts, || system("smartdoor", "m04"));
    let options = Options {
        prove: true,
        ..Options::default()
    };
    let shrunk = auto(&sts, &failure, &mut runner, &options);
    let proof = shrunk.proved.expect("a proof");
    assert_eq!((shrunk.execution.length(), proof.no_failure_below), (4, 4));
    assert!(proof.shortest && proof.runs > 0);
    let too_few = Options {
        prove_runs: 1,
        ..options
    };
    let proof = auto(&sts, &failure, &mut runner, &too_few)
        .proved
        .expect("a proof");
    assert!(!proof.shortest && proof.no_failure_below < 4, "{proof:?}");
}

#[test]
fn a_proof_that_finds_something_shorter_takes_it_over() {
    let (sts, failure) = a_failure("m02", &OPENED_TWICE);
    let mut runner = FlatRunner::new(&sts, || system("smartdoor", "m02"));
    let options = Options {
        prove: true,
        ..Options::default()
    };
    let shrunk = shrink_by(
        "cycle",
        &mut semantics(&sts),
        &failure,
        &mut runner,
        &options,
    )
    .expect("a failing trace");
    assert_eq!(shrunk.execution.length(), 2);
    assert!(shrunk.proved.is_some_and(|proof| proof.shortest));
}

#[test]
fn a_budget_keeps_the_best_so_far() {
    let (sts, failure) = a_failure("m02", &OPENED_TWICE);
    let mut runner = FlatRunner::new(&sts, || system("smartdoor", "m02"));
    let options = Options {
        runs: Some(1),
        ..Options::default()
    };
    let shrunk = shrink_by(
        "elem",
        &mut semantics(&sts),
        &failure,
        &mut runner,
        &options,
    )
    .expect("a failing trace");
    assert_eq!((shrunk.runs, shrunk.ended), (1, Ended::Budget));
    assert!(shrunk.execution.deviation().is_some());
}

#[test]
fn a_system_that_does_not_always_fail_is_shrunk_by_repetition() {
    let (sts, failure) = a_failure("m02", &OPENED_TWICE);
    let mut count = 0;
    let mut runner = FlatRunner::new(&sts, move || {
        count += 1;
        let mutant = if count % 3 == 0 { "m02" } else { "m00" };
        system("smartdoor", mutant)
    });
    let options = Options {
        attempts: 3,
        confirm: 6,
        ..Options::default()
    };
    let shrunk = auto(&sts, &failure, &mut runner, &options);
    assert_eq!(shrunk.execution.length(), 2);
    assert_eq!((shrunk.confidence.failed, shrunk.confidence.runs), (2, 6));
    assert!(shrunk.confidence.is_flaky());
    // What passed once proves nothing here.
    assert_eq!((shrunk.minimal, shrunk.kind), (None, BugKind::Unknown));
    let claims = shrunk.explanation.iter().filter(|s| s.contains("bug"));
    assert_eq!(claims.count(), 0, "{:?}", shrunk.explanation);
}

#[test]
fn runs_before_shrinking_count_where_nothing_is_left_out() {
    let (sts, failure) = a_failure("m02", &OPENED_TWICE);
    let mut runner = FlatRunner::new(&sts, || system("smartdoor", "m02"));
    let seen = Confidence { failed: 1, runs: 2 };
    let options = Options {
        confirm: 2,
        seen,
        ..Options::default()
    };
    let shorter = auto(&sts, &failure, &mut runner, &options);
    assert!(
        !shorter.confidence.is_flaky(),
        "another trace was confirmed"
    );
    let same = auto(&sts, &shorter.execution, &mut runner, &options);
    assert_eq!((same.confidence.failed, same.confidence.runs), (3, 4));
    assert_eq!(same.minimal, None);
}

#[test]
fn a_failure_that_never_comes_back_is_flaky() {
    let (sts, failure) = a_failure("m02", &OPENED_TWICE);
    let mut runner = FlatRunner::new(&sts, || system("smartdoor", "m00"));
    let options = Options {
        confirm: 3,
        ..Options::default()
    };
    let shrunk = auto(&sts, &failure, &mut runner, &options);
    assert_eq!(shrunk.execution, failure);
    assert!(shrunk.confidence.is_flaky());
}

#[test]
fn the_explanation_says_what_was_left_out_and_why() {
    let (sts, failure) = a_failure("m02", &OPENED_TWICE);
    let mut runner = FlatRunner::new(&sts, || system("smartdoor", "m02"));
    let shrunk = auto(&sts, &failure, &mut runner, &Options::default());
    insta::assert_snapshot!(shrunk.explanation.join("\n"), @r"
    4 of the 4 stimuli are left out: without them the system fails as well. One stimulus is new: a short cut that the model offers.
    A state bug: the model's shortest path to the failing state fails too, so the earlier steps do not matter.
    The short trace fails elsewhere: !closed in _2, not !opened in _7.
    ");
}

//! `compare`: whether a second model conforms to a first, by walking pairs of state sets.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use ioco_sts::{CompareOptions, Direction, Equivalence, LabelId, Relation, Sts, Type, compare};

use super::{Counts, Finding, bisimulation};
use crate::reference::{Event, Set, Theory, Val};

const PAIRS: usize = 250;
const VALUES: usize = 400;
const NAME: &str = "compare";

/// What the reference knows.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Conformance {
    Conforms,
    /// With a trace, and what is not allowed after it.
    Deviates(String),
    Unknown,
}

pub fn check(
    left: &Arc<Sts>,
    right: &Arc<Sts>,
    relation: Relation,
    counts: &mut Counts,
) -> Option<Finding> {
    let options = CompareOptions {
        equivalence: Equivalence::Weak,
        relation,
        limit: 3_000,
    };
    let found = match compare(left, right, options) {
        Ok(found) => found,
        Err(_) => {
            counts.open("compare: refused");
            return None;
        }
    };
    let expected = conformance(left, right, relation);
    let finding = |kind: &str, detail: String| {
        let distinction = found.distinction.as_ref().map(|d| {
            format!(
                "{:?}\nallowed {:?}\nobserved {:?}",
                d.trace, d.allowed, d.observed
            )
        });
        Some(Finding {
            kind: format!("{NAME}: {kind}"),
            detail: format!(
                "{relation:?}\nreference: {detail}\nioco: {}",
                distinction.unwrap_or_else(|| "-".to_owned())
            ),
        })
    };
    match (&expected, found.conforms) {
        (Conformance::Deviates(why), true) => {
            return finding("conforms although it does not", why.clone());
        }
        (Conformance::Conforms, false) => {
            return finding("does not conform although it does", String::new());
        }
        (Conformance::Unknown, _) => counts.open(NAME),
        _ => counts.decided(NAME),
    }
    let strong = CompareOptions {
        equivalence: Equivalence::Strong,
        ..options
    };
    let strong = compare(left, right, strong).map(|found| found.bisimilar);
    let answers = [
        (Equivalence::Weak, Some(found.bisimilar)),
        (Equivalence::Strong, strong.ok()),
    ];
    for (equivalence, said) in answers {
        let name = format!("{NAME}: {equivalence:?}ly bisimilar");
        match (bisimulation::bisimilar(left, right, equivalence), said) {
            (Some(expected), Some(said)) if expected != said => {
                let kind = format!("{equivalence:?}ly bisimilar is {said}");
                return finding(&kind, format!("{expected}"));
            }
            (Some(_), Some(_)) => counts.decided(&name),
            _ => counts.open(&name),
        }
    }
    if found.bisimilar
        && let Conformance::Deviates(why) = conformance(right, left, relation)
    {
        return finding(
            "bisimilar although the first does not conform to the second",
            why,
        );
    }
    None
}

/// Whether `right` conforms to `left`.
fn conformance(left: &Arc<Sts>, right: &Arc<Sts>, relation: Relation) -> Conformance {
    let (specification, implementation) = (
        Theory::new(Arc::clone(left)),
        Theory::new(Arc::clone(right)),
    );
    let start = (specification.initial(), implementation.initial());
    let mut seen: BTreeSet<(Set, Set)> = BTreeSet::from([start.clone()]);
    let mut open: VecDeque<(Set, Set, String)> =
        VecDeque::from([(start.0, start.1, String::new())]);
    let mut complete = is_finite(left) && is_finite(right);
    while let Some((allowed, done, trace)) = open.pop_front() {
        let over_limit = specification.is_over_limit() || implementation.is_over_limit();
        if allowed.incomplete || done.incomplete || seen.len() > PAIRS || over_limit {
            return Conformance::Unknown;
        }
        let mut next: Vec<(Set, Set, String)> = Vec::new();
        let silent = implementation.after_silence(&done);
        if !silent.states.is_empty() {
            let expected = specification.after_silence(&allowed);
            if is_inconclusive(&specification, &implementation) {
                return Conformance::Unknown;
            }
            if expected.states.is_empty() {
                return Conformance::Deviates(format!("{trace} then silence"));
            }
            next.push((expected, silent, format!("{trace} δ")));
        }
        for (direction, label, values) in events(
            &[(&specification, &allowed), (&implementation, &done)],
            &mut complete,
        ) {
            let (Some(first), Some(second)) = (
                label_in(left, direction, &label),
                label_in(right, direction, &label),
            ) else {
                complete = false;
                continue;
            };
            let first = Event {
                label: first,
                values: values.clone(),
            };
            let second = Event {
                label: second,
                values,
            };
            let is_stimulus = direction == Direction::Stimulus;
            if is_stimulus && !specification.accepts(&allowed, &first, relation) {
                continue;
            }
            let after = implementation.after(&done, &second);
            if after.states.is_empty() {
                continue;
            }
            let expected = specification.after(&allowed, &first);
            if is_inconclusive(&specification, &implementation) {
                return Conformance::Unknown;
            }
            let shown = format!("{trace} {}{label}{:?}", direction.mark(), second.values);
            if expected.states.is_empty() {
                return Conformance::Deviates(shown);
            }
            next.push((expected, after, shown));
        }
        for (allowed, done, trace) in next {
            if seen.insert((allowed.clone(), done.clone())) {
                open.push_back((allowed, done, trace));
            }
        }
    }
    if complete {
        Conformance::Conforms
    } else {
        Conformance::Unknown
    }
}

fn is_inconclusive(one: &Theory, other: &Theory) -> bool {
    let one = one.take_unsure();
    other.take_unsure() || one
}

fn label_in(sts: &Sts, direction: Direction, name: &str) -> Option<LabelId> {
    sts.label_named(direction, name)
}

/// Every label with values that some switch of some state allows, by name.
fn events(
    sides: &[(&Theory, &Set)],
    complete: &mut bool,
) -> BTreeSet<(Direction, String, Vec<Val>)> {
    let mut found: BTreeMap<(Direction, String), BTreeSet<Vec<Val>>> = BTreeMap::new();
    for (theory, set) in sides {
        let sts = theory.sts();
        for state in &set.states {
            for direction in [Direction::Stimulus, Direction::Response] {
                for (id, label) in theory.observable(state, direction) {
                    let values = theory.witnesses(state, id, VALUES);
                    *complete &= values.len() < VALUES;
                    let name = sts.label(label).name.clone();
                    found.entry((direction, name)).or_default().extend(values);
                }
            }
        }
    }
    found
        .into_iter()
        .flat_map(|((direction, name), all)| {
            all.into_iter()
                .map(move |values| (direction, name.clone(), values))
        })
        .collect()
}

/// Whether all values of all parameters are listed.
pub(super) fn is_finite(sts: &Sts) -> bool {
    let mut parameters = sts.labels().iter().flat_map(|label| &label.parameters);
    parameters.all(|parameter| match &parameter.ty {
        Type::Bool | Type::Enum(_) => true,
        Type::Int(range) => !range.is_full(),
        _ => false,
    })
}

//! Shortest traces that tell two plain systems apart.
//!
//! Both systems are determinised as far as needed, and pairs of state sets that the same trace
//! leads to are visited, shortest traces first; as everywhere, silence does not add to the length.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::{CompareError, Distinction};
use crate::action::{Action, Step, Trace};
use crate::ids::{LabelId, SetId};
use crate::label::{Direction, Label};
use crate::semantics::{EvaluationOnly, Relation, Semantics};
use crate::sts::Sts;

/// One of the two systems that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    Left,
    Right,
}

/// A trace that both systems allow, and a step after it that only one of them does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// With the labels of the left system.
    pub common: Trace,
    /// With the labels of the system that allows it.
    pub step: Step,
    pub allowed_by: Side,
    /// What was compared after the trace, with the labels of each side.
    pub left: Vec<Step>,
    pub right: Vec<Step>,
}

impl Difference {
    pub(super) fn in_words(&self, left: &Sts, right: &Sts) -> Distinction {
        let words = |steps: &[Step], sts: &Sts| steps.iter().map(|step| step.show(sts)).collect();
        Distinction {
            trace: words(&self.common, left),
            allowed: words(&self.left, left),
            observed: words(&self.right, right),
        }
    }
}

/// Compares what two plain systems allow after every trace, and returns a shortest difference.
///
/// `rename` says by which name a label of a side takes part in the comparison, so that
/// `Withdraw_5` can be held against `withdraw(5)`. A label for which it answers `None` is left out:
/// such a stimulus is never given, such a response is not looked at.
pub fn distinguish(
    left: &Sts,
    right: &Sts,
    rename: impl Fn(Side, &Label) -> Option<String>,
) -> Option<Difference> {
    let left = Walker::new(left, Relation::Ioco, |label| rename(Side::Left, label));
    let right = Walker::new(right, Relation::Ioco, |label| rename(Side::Right, label));
    let found = search(left, right, usize::MAX, |_| true, one_sided);
    // Only a limit could make it an error, or internal steps without an end, which plain systems
    // of a size that fits into memory hardly have.
    found.ok().flatten()
}

/// As [`distinguish`], with every label by its own name.
pub(super) fn difference(
    left: &Sts,
    right: &Sts,
    limit: usize,
) -> Result<Option<Difference>, CompareError> {
    let (left, right) = (Walker::plain(left), Walker::plain(right));
    search(left, right, limit, |_| true, one_sided)
}

/// The shortest trace after which the right system does something that the left one forbids.
pub(super) fn deviation(
    left: &Sts,
    right: &Sts,
    relation: Relation,
    limit: usize,
) -> Result<Option<Difference>, CompareError> {
    let own_name = |label: &Label| Some(label.name.clone());
    let specification = Walker::new(left, relation, own_name);
    let observable = |key: &Key| !matches!(key, Key::Stimulus(_));
    search(
        specification,
        Walker::plain(right),
        limit,
        observable,
        |specified, observed| {
            let deviates = |key: &&Key| observable(key) && !specified.contains_key(*key);
            observed
                .keys()
                .find(deviates)
                .map(|key| (key.clone(), Side::Right))
        },
    )
}

/// A step of one side that the other does not have.
fn one_sided(left: &Steps, right: &Steps) -> Option<(Key, Side)> {
    let only = |these: &Steps, those: &Steps| {
        let mut keys = these.keys();
        keys.find(|key| !those.contains_key(*key)).cloned()
    };
    match only(left, right) {
        Some(key) => Some((key, Side::Left)),
        None => only(right, left).map(|key| (key, Side::Right)),
    }
}

/// A pair of state sets, the pair before it (by number) and the step between.
struct VisitedPair {
    pair: (SetId, SetId),
    before: usize,
    step: Option<Step>,
}

/// The first pair that `differs`; of what can be done there, the result shows what is `shown`.
fn search(
    mut left: Walker,
    mut right: Walker,
    limit: usize,
    shown: impl Fn(&Key) -> bool,
    differs: impl Fn(&Steps, &Steps) -> Option<(Key, Side)>,
) -> Result<Option<Difference>, CompareError> {
    let start = (left.semantics.initial(), right.semantics.initial());
    let mut found = vec![VisitedPair {
        pair: start,
        before: 0,
        step: None,
    }];
    let mut seen: FxHashSet<(SetId, SetId)> = FxHashSet::default();
    // Of this length, and one longer.
    let mut now: VecDeque<usize> = VecDeque::from([0]);
    let mut next: VecDeque<usize> = VecDeque::new();
    loop {
        let Some(number) = now.pop_front() else {
            if next.is_empty() {
                return Ok(None);
            }
            std::mem::swap(&mut now, &mut next);
            continue;
        };
        let pair = found[number].pair;
        if !seen.insert(pair) {
            continue;
        }
        if seen.len() > limit {
            return Err(CompareError::TooMany(limit));
        }
        let left_steps = left.steps(pair.0, Side::Left)?;
        let right_steps = right.steps(pair.1, Side::Right)?;
        if let Some((key, side)) = differs(&left_steps, &right_steps) {
            let steps = match side {
                Side::Left => &left_steps,
                Side::Right => &right_steps,
            };
            let all = |steps: &Steps| -> Vec<Step> {
                let shown = steps.iter().filter(|(key, _)| shown(key));
                shown.map(|(_, (step, _))| step.clone()).collect()
            };
            return Ok(Some(Difference {
                common: trace_to(&found, number),
                step: steps[&key].0.clone(),
                allowed_by: side,
                left: all(&left_steps),
                right: all(&right_steps),
            }));
        }
        for (key, (step, next_left)) in left_steps {
            let Some((_, next_right)) = right_steps.get(&key) else {
                continue;
            };
            let pair = (next_left, *next_right);
            if seen.contains(&pair) {
                continue;
            }
            match key {
                Key::Quiescence => now.push_back(found.len()),
                _ => next.push_back(found.len()),
            }
            found.push(VisitedPair {
                pair,
                before: number,
                step: Some(step),
            });
        }
    }
}

fn trace_to(found: &[VisitedPair], mut number: usize) -> Trace {
    let mut trace = Vec::new();
    while let VisitedPair {
        before,
        step: Some(step),
        ..
    } = &found[number]
    {
        trace.push(step.clone());
        number = *before;
    }
    trace.reverse();
    trace
}

/// What a state set allows, and where it leads.
type Steps = BTreeMap<Key, (Step, SetId)>;

/// What the two sides are compared by. Responses come first, so that of several differences after
/// the same trace the one that a tester would see first is reported.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Response(String),
    Quiescence,
    Stimulus(String),
}

struct Walker {
    semantics: Semantics,
    /// Per label; `None` is left out.
    keys: Vec<Option<Key>>,
}

impl Walker {
    fn plain(sts: &Sts) -> Walker {
        Walker::new(sts, Relation::Ioco, |label| Some(label.name.clone()))
    }

    fn new(sts: &Sts, relation: Relation, rename: impl Fn(&Label) -> Option<String>) -> Walker {
        let key = |label: &Label| {
            let name = rename(label)?;
            match label.direction {
                Direction::Stimulus => Some(Key::Stimulus(name)),
                Direction::Response => Some(Key::Response(name)),
                Direction::Internal => None,
            }
        };
        Walker {
            keys: sts.labels().iter().map(key).collect(),
            semantics: Semantics::new(Arc::new(sts.clone()), Box::new(EvaluationOnly), relation),
        }
    }

    /// Every step that the set allows, and where it leads. Two labels of one name are one step.
    fn steps(&mut self, set: SetId, side: Side) -> Result<Steps, CompareError> {
        if self.semantics.set(set).truncated {
            return Err(CompareError::Endless(side));
        }
        let menu = self.semantics.menu(set);
        let mut steps = Steps::new();
        let mut candidates: Vec<(Key, Step)> = Vec::new();
        let mut offered = |labels: Vec<LabelId>, as_step: fn(Action) -> Step| {
            for label in labels {
                if let Some(key) = &self.keys[label.index()] {
                    candidates.push((key.clone(), as_step(Action::plain(label))));
                }
            }
        };
        offered(
            menu.stimuli.iter().map(|o| o.label).collect(),
            Step::Stimulus,
        );
        offered(
            menu.responses.iter().map(|o| o.label).collect(),
            Step::Response,
        );
        if menu.silence {
            candidates.push((Key::Quiescence, Step::Quiescence));
        }
        for (key, step) in candidates {
            let Some(next) = self.semantics.after(set, &step) else {
                continue;
            };
            match steps.get(&key).map(|(_, known)| *known) {
                Some(known) => {
                    let both = self.semantics.union(known, next);
                    steps.insert(key, (step, both));
                }
                None => {
                    steps.insert(key, (step, next));
                }
            }
        }
        Ok(steps)
    }
}

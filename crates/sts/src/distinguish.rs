//! The shortest trace on which two plain systems behave differently.
//!
//! Both systems are determinised as far as needed, and pairs of state sets that the same trace
//! leads to are visited breadth first. A pair differs when one set allows a stimulus, a response or
//! silence that the other does not.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use rustc_hash::FxHashSet;

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
    let mut left = Walker::new(left, |label| rename(Side::Left, label));
    let mut right = Walker::new(right, |label| rename(Side::Right, label));
    let start = (left.semantics.initial(), right.semantics.initial());
    // Pairs in the order in which they were found, each with the one before it and the step
    // between.
    let mut found: Vec<((SetId, SetId), usize, Option<Step>)> = vec![(start, 0, None)];
    let mut seen: FxHashSet<(SetId, SetId)> = FxHashSet::from_iter([start]);
    let mut queue: VecDeque<usize> = VecDeque::from([0]);
    while let Some(number) = queue.pop_front() {
        let (left_set, right_set) = found[number].0;
        let left_steps = left.steps(left_set);
        let right_steps = right.steps(right_set);
        let only_left = left_steps
            .iter()
            .find(|(key, _)| !right_steps.contains_key(*key));
        let only_right = right_steps
            .iter()
            .find(|(key, _)| !left_steps.contains_key(*key));
        let difference = match (only_left, only_right) {
            (Some((_, (step, _))), _) => Some((step, Side::Left)),
            (None, Some((_, (step, _)))) => Some((step, Side::Right)),
            (None, None) => None,
        };
        if let Some((step, allowed_by)) = difference {
            return Some(Difference {
                common: trace_to(&found, number),
                step: step.clone(),
                allowed_by,
            });
        }
        for (key, (step, next_left)) in left_steps {
            let Some((_, next_right)) = right_steps.get(&key) else {
                continue;
            };
            let pair = (next_left, *next_right);
            if seen.insert(pair) {
                queue.push_back(found.len());
                found.push((pair, number, Some(step)));
            }
        }
    }
    None
}

fn trace_to(found: &[((SetId, SetId), usize, Option<Step>)], mut number: usize) -> Trace {
    let mut trace = Vec::new();
    while let (_, before, Some(step)) = &found[number] {
        trace.push(step.clone());
        number = *before;
    }
    trace.reverse();
    trace
}

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
    fn new(sts: &Sts, rename: impl Fn(&Label) -> Option<String>) -> Walker {
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
            semantics: Semantics::new(
                Arc::new(sts.clone()),
                Box::new(EvaluationOnly),
                Relation::Ioco,
            ),
        }
    }

    /// Every step that the set allows, and where it leads. Two labels of one name are one step.
    fn steps(&mut self, set: SetId) -> BTreeMap<Key, (Step, SetId)> {
        let menu = self.semantics.menu(set);
        let mut steps: BTreeMap<Key, (Step, SetId)> = BTreeMap::new();
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
        steps
    }
}

//! Trace reconstruction (van den Broek 2024, Algorithm 1): which states and transitions of the model a trace
//! can have gone through, and where it can have ended.
//!
//! Routes are kept as layers of nodes instead of one list per route, so that a trace through a
//! model with much choice does not need exponential memory; a pass backwards then drops what led
//! nowhere.

use ioco_sts::{Semantics, SetId, Step, Trace};
use rustc_hash::FxHashSet;

use crate::graph::Graph;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Transition {
    pub source: SetId,
    pub step: Step,
    pub target: SetId,
}

pub(super) struct Reconstruction {
    /// The states in which the deviation was seen.
    pub destinations: FxHashSet<SetId>,
    pub transitions: FxHashSet<Transition>,
    /// The steps of the trace, silence not counted: longer paths are no use.
    pub length: usize,
}

/// `trace` is without the deviation, which by definition has no transition.
pub(super) fn reconstruct(
    semantics: &mut Semantics,
    graph: &mut Graph,
    trace: &Trace,
) -> Reconstruction {
    let mut layer: Vec<SetId> = vec![semantics.initial()];
    let mut steps: Vec<Vec<Transition>> = Vec::new();
    for step in trace {
        let mut taken: Vec<Transition> = Vec::new();
        let mut next: Vec<SetId> = Vec::new();
        for &source in &layer {
            for target in graph.targets(semantics, source, step) {
                taken.push(Transition {
                    source,
                    step: step.clone(),
                    target,
                });
                if !next.contains(&target) {
                    next.push(target);
                }
            }
        }
        steps.push(taken);
        layer = next;
    }
    let destinations: FxHashSet<SetId> = layer.into_iter().collect();
    let mut alive = destinations.clone();
    let mut transitions = FxHashSet::default();
    for taken in steps.into_iter().rev() {
        let mut before = FxHashSet::default();
        for transition in taken {
            if alive.contains(&transition.target) {
                before.insert(transition.source);
                // Silence is seen by the tester, not taken in the model.
                if transition.step != Step::Quiescence {
                    transitions.insert(transition);
                }
            }
        }
        alive = before;
    }
    Reconstruction {
        destinations,
        transitions,
        length: trace.iter().filter(|s| **s != Step::Quiescence).count(),
    }
}

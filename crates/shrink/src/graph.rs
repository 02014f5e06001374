//! The model as a graph, expanded on demand: nodes are states with their values, edges are
//! stimuli and responses with concrete values.
//!
//! A label with parameters can be given in more ways than can be tried. The values of the failing
//! trace come first, since they are known to lead somewhere; then what the solver offers: one
//! model of the guard, and the boundaries of each parameter.

use std::collections::BTreeMap;
use std::sync::Arc;

use ioco_solve::{Deadline, boundary_values, choose_values};
use ioco_sts::{
    Action, Env, Gate, LabelId, Offer, Semantics, SetId, StateSet, Step, Sts, Switch, SwitchId,
    Trace, Value,
};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rustc_hash::FxHashMap;

use crate::options::Options;

/// Ways to take one switch in one node, at most.
const MAX_ACTIONS_PER_SWITCH: usize = 4;
/// Solver steps for the values of one label in one node.
const SOLVER_STEPS: u64 = 20_000;

/// Whether the several states that a step can lead to are followed together or apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nodes {
    /// One node per state, as van den Broek 2024 does.
    States,
    /// One node per state set, as a tester does.
    Sets,
}

/// One way to leave a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edge {
    pub step: Step,
    pub target: SetId,
    /// The first switch of the model behind it: the order in which a person reads edges.
    rank: SwitchId,
}

pub(crate) struct Graph {
    nodes: Nodes,
    /// Stimuli that are never given.
    excluded: Vec<LabelId>,
    /// Values by label, as they occur in the failing trace.
    samples: BTreeMap<LabelId, Vec<Vec<Value>>>,
    edges: FxHashMap<SetId, Arc<[Edge]>>,
}

impl Graph {
    pub fn new(nodes: Nodes, trace: &Trace, options: &Options) -> Graph {
        let mut samples: BTreeMap<LabelId, Vec<Vec<Value>>> = BTreeMap::new();
        // What came last is closest to the failure.
        for action in trace.iter().rev().filter_map(Step::action) {
            let known = samples.entry(action.label).or_default();
            if !known.contains(&action.values) {
                known.push(action.values.clone());
            }
        }
        Graph {
            nodes,
            excluded: options.excluded.clone(),
            samples,
            edges: FxHashMap::default(),
        }
    }

    /// The edges that leave a node, in the order of the model text.
    pub fn edges(&mut self, semantics: &mut Semantics, node: SetId) -> Arc<[Edge]> {
        if let Some(known) = self.edges.get(&node) {
            return Arc::clone(known);
        }
        let menu = semantics.menu(node);
        let mut edges = Vec::new();
        for (offers, is_stimulus) in [(&menu.stimuli, true), (&menu.responses, false)] {
            for offer in offers.iter().filter(|o| !self.excluded.contains(&o.label)) {
                let rank = offer.switches.iter().map(|s| s.switch).min();
                for action in self.actions(semantics, node, offer) {
                    let step = if is_stimulus {
                        Step::Stimulus(action)
                    } else {
                        Step::Response(action)
                    };
                    for target in self.targets(semantics, node, &step) {
                        edges.push(Edge {
                            step: step.clone(),
                            target,
                            rank: rank.unwrap_or(SwitchId(0)),
                        });
                    }
                }
            }
        }
        edges.sort_by_key(|edge| edge.rank);
        let edges: Arc<[Edge]> = Arc::from(edges);
        self.edges.insert(node, Arc::clone(&edges));
        edges
    }

    /// Where a step leads. Internal steps keep states together: what was reached by one is no
    /// choice that an observer could have made.
    pub fn targets(&self, semantics: &mut Semantics, node: SetId, step: &Step) -> Vec<SetId> {
        if let Step::Stimulus(action) = step
            && !semantics.accepts(node, action)
        {
            return Vec::new();
        }
        let Some(followed) = semantics.follow(node, step) else {
            return Vec::new();
        };
        let set = Arc::clone(semantics.set(followed.set));
        let sts = Arc::clone(semantics.sts());
        let internal = followed
            .taken
            .iter()
            .any(|switch| !matches!(sts.switch(*switch).gate, Gate::Observable(_)));
        if self.nodes == Nodes::Sets || internal || set.states.len() == 1 {
            return vec![followed.set];
        }
        set.states
            .iter()
            .map(|state| {
                semantics.id_of(&Arc::new(StateSet {
                    states: vec![state.clone()],
                    divergent: false,
                    truncated: set.truncated,
                }))
            })
            .collect()
    }

    /// A few ways to give a label, for each switch that offers it: a guard with room for many
    /// values must not crowd out the one beside it.
    pub fn actions(&self, semantics: &mut Semantics, node: SetId, offer: &Offer) -> Vec<Action> {
        let label = offer.label;
        let sts = Arc::clone(semantics.sts());
        if sts.label(label).parameters.is_empty() {
            return vec![Action::plain(label)];
        }
        let set = Arc::clone(semantics.set(node));
        let mut actions: Vec<Action> = Vec::new();
        for offered in &offer.switches {
            let switch = sts.switch(offered.switch);
            let guard = &switch.enabled;
            let valuation = &set.states[offered.state as usize].valuation;
            let of_trace = self.samples.get(&label).into_iter().flatten().cloned();
            let of_solver = solver_values(&sts, label, switch, valuation);
            let mut room = MAX_ACTIONS_PER_SWITCH;
            for values in of_trace.chain(of_solver) {
                let holds = guard.holds(Env {
                    variables: valuation,
                    parameters: &values,
                    functions: sts.functions(),
                });
                let action = Action { label, values };
                if holds == Ok(true) && !actions.contains(&action) {
                    actions.push(action);
                    room -= 1;
                }
                if room == 0 {
                    break;
                }
            }
        }
        actions
    }
}

/// A model of the guard, and then the same with one parameter at a boundary.
fn solver_values(
    sts: &Sts,
    label: LabelId,
    switch: &Switch,
    valuation: &[Value],
) -> Vec<Vec<Value>> {
    let guard = &switch.enabled;
    let deadline = Deadline::steps(SOLVER_STEPS);
    // A fixed seed: which model is chosen must not differ from run to run.
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    let Some(model) = choose_values(sts, label, guard, valuation, &mut rng, &deadline).sat() else {
        return Vec::new();
    };
    let mut all = Vec::new();
    let of = switch.deciding_parameters();
    for boundaries in boundary_values(sts, label, guard, &of, valuation, &deadline) {
        for value in boundaries.limits {
            let mut values = model.clone();
            if let Some(slot) = values.get_mut(boundaries.parameter as usize) {
                *slot = value;
                all.push(values);
            }
        }
    }
    all.push(model);
    all
}

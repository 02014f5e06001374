//! Closing a set of states over internal steps, and noticing when those never end.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{Semantics, Warning};
use crate::ids::SwitchId;
use crate::state::{State, StateSet};
use crate::sts::Gate;

/// A set that needs more states than this is cut off, and says so: a counter in a τ-loop would
/// otherwise never come to an end.
const MAX_CLOSURE: usize = 4096;

impl Semantics {
    /// All states reachable from `start` by internal steps. The switches of those steps are added
    /// to `taken`.
    pub(super) fn close(&mut self, start: Vec<State>, taken: &mut Vec<SwitchId>) -> StateSet {
        let mut states: Vec<State> = Vec::new();
        let mut numbers: FxHashMap<State, usize> = FxHashMap::default();
        for state in start {
            add(state, &mut states, &mut numbers);
        }
        let mut edges: Vec<(usize, usize, SwitchId)> = Vec::new();
        let mut truncated = false;
        let mut next = 0;
        while next < states.len() {
            let state = states[next].clone();
            for (switch, target) in self.internal_steps(&state) {
                if states.len() >= MAX_CLOSURE && !numbers.contains_key(&target) {
                    self.warn(Warning::ClosureLimit { switch });
                    truncated = true;
                    continue;
                }
                let number = add(target, &mut states, &mut numbers);
                edges.push((next, number, switch));
                taken.push(switch);
            }
            next += 1;
        }
        let cycle = find_cycle(states.len(), &edges);
        if let Some(switch) = cycle {
            self.warn(Warning::Divergence { switch });
        }
        states.sort_unstable();
        StateSet {
            states,
            divergent: cycle.is_some() || truncated,
            truncated,
        }
    }

    /// The internal steps of one state: τ-switches, and hand-shakes between processes, which come
    /// once for each switch that takes part.
    pub(crate) fn internal_steps(&mut self, state: &State) -> Vec<(SwitchId, State)> {
        let sts = Arc::clone(&self.sts);
        let mut steps = Vec::new();
        for location in &state.locations {
            for &id in sts.outgoing(*location) {
                match sts.switch(id).gate {
                    Gate::Tau => steps.extend(self.take(id, state, &[]).map(|next| (id, next))),
                    Gate::Send(label) => self.handshakes(id, label, state, &mut steps),
                    Gate::Observable(_) | Gate::Receive(_) => {}
                }
            }
        }
        steps
    }
}

impl Semantics {
    /// The states of a closed set from which internal steps lead back to the same state.
    pub(super) fn on_internal_cycle(&mut self, set: &StateSet) -> Vec<bool> {
        let targets: Vec<Vec<usize>> = set
            .states
            .iter()
            .map(|state| {
                let steps = self.internal_steps(state).into_iter();
                let found = steps.filter_map(|(_, next)| set.states.binary_search(&next).ok());
                found.collect()
            })
            .collect();
        let returns = |start: usize| {
            let mut seen = vec![false; targets.len()];
            let mut open = targets[start].clone();
            while let Some(state) = open.pop() {
                if state == start {
                    return true;
                }
                if !std::mem::replace(&mut seen[state], true) {
                    open.extend(&targets[state]);
                }
            }
            false
        };
        (0..targets.len()).map(returns).collect()
    }
}

fn add(state: State, states: &mut Vec<State>, numbers: &mut FxHashMap<State, usize>) -> usize {
    *numbers.entry(state).or_insert_with_key(|state| {
        states.push(state.clone());
        states.len() - 1
    })
}

/// A switch on a cycle of `edges`, if there is one: what is left after taking away, again and
/// again, the nodes that nothing leads to.
fn find_cycle(nodes: usize, edges: &[(usize, usize, SwitchId)]) -> Option<SwitchId> {
    if edges.is_empty() {
        return None;
    }
    let mut incoming = vec![0usize; nodes];
    let mut outgoing: Vec<Vec<usize>> = vec![Vec::new(); nodes];
    for (index, (from, to, _)) in edges.iter().enumerate() {
        incoming[*to] += 1;
        outgoing[*from].push(index);
    }
    let mut free: Vec<usize> = (0..nodes).filter(|n| incoming[*n] == 0).collect();
    let mut removed = vec![false; nodes];
    while let Some(node) = free.pop() {
        removed[node] = true;
        for &edge in &outgoing[node] {
            let to = edges[edge].1;
            incoming[to] -= 1;
            if incoming[to] == 0 {
                free.push(to);
            }
        }
    }
    // What is left is the cycles and what lies behind them; following edges backwards from any of
    // it stays within it, so some edge between two left nodes lies on or leads out of a cycle.
    edges
        .iter()
        .find(|(from, to, _)| !removed[*from] && !removed[*to])
        .map(|edge| edge.2)
}

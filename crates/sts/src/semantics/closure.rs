//! Closing a set of states over internal steps, and noticing when those never end.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{Answer, Semantics, Warning};
use crate::ids::SwitchId;
use crate::state::{State, StateSet};
use crate::sts::Gate;

/// A set that needs more states than this is cut off, and says so: a counter in a τ-loop would
/// otherwise never come to an end.
const MAX_CLOSURE: usize = 4096;

impl Semantics {
    /// All states reachable from `start` by internal steps. The switches of those steps are added
    /// to `taken`. Where states before `start` are missing (`truncated`), they are missing here too.
    pub(super) fn close(
        &mut self,
        start: Vec<State>,
        truncated: bool,
        taken: &mut Vec<SwitchId>,
    ) -> StateSet {
        let mut states: Vec<State> = Vec::new();
        let mut numbers: FxHashMap<State, usize> = FxHashMap::default();
        for state in start {
            add(state, &mut states, &mut numbers);
        }
        let mut edges: Vec<(usize, usize, SwitchId)> = Vec::new();
        let mut truncated = truncated;
        let mut endless = false;
        let mut next = 0;
        while next < states.len() {
            let state = states[next].clone();
            let internal = self.internal_steps(&state);
            truncated |= !internal.complete;
            for (switch, target) in internal.steps {
                if states.len() >= MAX_CLOSURE && !numbers.contains_key(&target) {
                    self.warn(Warning::ClosureLimit { switch });
                    truncated = true;
                    endless = true;
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
            divergent: cycle.is_some() || endless,
            truncated,
        }
    }

    /// The internal steps of one state: τ-switches, and hand-shakes between processes, which come
    /// once for each switch that takes part.
    pub(crate) fn internal_steps(&mut self, state: &State) -> InternalSteps {
        let sts = Arc::clone(&self.sts);
        let mut found = InternalSteps {
            steps: Vec::new(),
            complete: true,
        };
        for location in &state.locations {
            for &id in sts.outgoing(*location) {
                match sts.switch(id).gate {
                    Gate::Tau => {
                        let next = self.take(id, state, &[]);
                        found.steps.extend(next.map(|next| (id, next)));
                    }
                    Gate::Send(label) => self.handshakes(id, label, state, &mut found),
                    Gate::Observable(_) | Gate::Receive(_) => {}
                }
            }
        }
        found
    }
}

/// The internal steps that leave a state.
pub(crate) struct InternalSteps {
    pub steps: Vec<(SwitchId, State)>,
    /// There are no others.
    pub complete: bool,
}

impl InternalSteps {
    /// Whether a state with these steps is stable: it has none.
    pub fn stable(&self) -> Answer {
        match (self.steps.is_empty(), self.complete) {
            (false, _) => Answer::No,
            (true, true) => Answer::Yes,
            (true, false) => Answer::Unknown,
        }
    }
}

impl Semantics {
    /// The states of a set that may stay silent by internal steps without end: those on a cycle, and
    /// those from which internal steps lead further than they are followed.
    pub(super) fn in_endless_steps(&mut self, set: &StateSet) -> Vec<bool> {
        let mut leads_on = vec![false; set.states.len()];
        let mut targets: Vec<Vec<usize>> = Vec::with_capacity(set.states.len());
        for (index, state) in set.states.iter().enumerate() {
            let steps = self.internal_steps(state).steps;
            let known = steps.iter().map(|(_, next)| set.states.binary_search(next));
            let known: Vec<_> = known.collect();
            // A set is closed under internal steps unless it was cut off.
            leads_on[index] = known.iter().any(Result::is_err);
            targets.push(known.into_iter().flatten().collect());
        }
        // Backwards from where steps lead on.
        let mut sources: Vec<Vec<usize>> = vec![Vec::new(); targets.len()];
        for (from, to) in targets.iter().enumerate() {
            for &target in to {
                sources[target].push(from);
            }
        }
        let mut open: Vec<usize> = (0..leads_on.len()).filter(|i| leads_on[*i]).collect();
        while let Some(state) = open.pop() {
            for &source in &sources[state] {
                if !std::mem::replace(&mut leads_on[source], true) {
                    open.push(source);
                }
            }
        }
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
        (0..targets.len())
            .map(|state| leads_on[state] || returns(state))
            .collect()
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

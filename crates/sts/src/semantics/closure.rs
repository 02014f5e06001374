//! Closing a set of states over internal steps, and noticing when those never end.

use std::sync::Arc;

use ioco_budget::{Budget, Exhausted, Resource};
use rustc_hash::FxHashMap;

use super::{Answer, Semantics, Taken, Warning};
use crate::components::on_cycles;
use crate::ids::SwitchId;
use crate::state::{State, StateSet};
use crate::sts::Gate;

/// States that are looked for one by one. Most sets have only one.
const FEW_STATES: usize = 4;

impl Semantics {
    /// All states reachable from `start` by internal steps. The switches of those steps are added
    /// to `taken`. Where states before `start` are missing (`truncated`), they are missing here too.
    ///
    /// A set that takes more states, bytes or steps than the budget allows is cut off, and says so: a
    /// counter in a τ-loop would otherwise never come to an end.
    pub(super) fn close(
        &mut self,
        start: Vec<State>,
        truncated: bool,
        taken: &mut Vec<SwitchId>,
    ) -> StateSet {
        let mut growing = Growing::new(self.budget);
        let mut truncated = truncated;
        let before = taken.last().copied();
        for state in start {
            if let Err(exhausted) = growing.add(state) {
                if let Some(switch) = before {
                    self.warn(Warning::Exhausted { switch, exhausted });
                }
                truncated = true;
            }
        }
        let mut edges: Vec<(usize, usize, SwitchId)> = Vec::new();
        let mut endless = false;
        let mut next = 0;
        while next < growing.states.len() {
            let state = growing.states[next].clone();
            let internal = self.internal_steps(&state);
            truncated |= internal.left_out.is_some();
            for (switch, target) in internal.steps {
                match growing.add(target) {
                    Ok(number) => {
                        edges.push((next, number, switch));
                        taken.push(switch);
                    }
                    Err(exhausted) => {
                        self.warn(Warning::Exhausted { switch, exhausted });
                        truncated = true;
                        endless = true;
                    }
                }
            }
            next += 1;
        }
        let mut states = growing.states;
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
            left_out: None,
        };
        for location in &state.locations {
            for &id in sts.outgoing(*location) {
                match sts.switch(id).gate {
                    Gate::Tau => match self.take(&sts, id, state, &[]) {
                        Taken::To(next) => found.steps.push((id, next)),
                        Taken::No => {}
                        Taken::Unknown(exhausted) => {
                            found.left_out = Some(LeftOut::Exhausted(id, exhausted));
                        }
                    },
                    Gate::Send(label) => self.handshakes(id, label, state, &mut found),
                    Gate::Observable(_) | Gate::Receive(_) => {}
                }
            }
        }
        found
    }
}

/// A set that grows as far as the budget allows.
struct Growing {
    states: Vec<State>,
    /// Empty while there are so few states that looking at each of them is quicker.
    numbers: FxHashMap<State, usize>,
    bytes: usize,
    budget: Budget,
}

impl Growing {
    fn new(budget: Budget) -> Growing {
        Growing {
            states: Vec::new(),
            numbers: FxHashMap::default(),
            bytes: 0,
            budget,
        }
    }

    /// The number of a state, which may be a new one.
    fn add(&mut self, state: State) -> Result<usize, Exhausted> {
        let known = match self.numbers.is_empty() {
            true => self.states.iter().position(|known| *known == state),
            false => self.numbers.get(&state).copied(),
        };
        if let Some(number) = known {
            return Ok(number);
        }
        let number = self.states.len();
        let bytes = self.bytes + state.bytes();
        self.budget.check(Resource::States, number as u64 + 1)?;
        self.budget.check(Resource::Bytes, bytes as u64)?;
        self.bytes = bytes;
        if !self.numbers.is_empty() {
            self.numbers.insert(state.clone(), number);
        } else if number == FEW_STATES {
            let all = self.states.iter().chain([&state]).cloned();
            self.numbers = all.zip(0..).collect();
        }
        self.states.push(state);
        Ok(number)
    }
}

/// Why steps are missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LeftOut {
    /// The values of this sender's hand-shake cannot be listed.
    OpenHandshake(SwitchId),
    /// Whether this switch is enabled could not be evaluated.
    Exhausted(SwitchId, Exhausted),
}

/// The internal steps that leave a state.
pub(crate) struct InternalSteps {
    pub steps: Vec<(SwitchId, State)>,
    /// There may be others.
    pub left_out: Option<LeftOut>,
}

impl InternalSteps {
    /// Whether a state with these steps is stable: it has none.
    pub fn stable(&self) -> Answer {
        match (self.steps.is_empty(), self.left_out) {
            (false, _) => Answer::No,
            (true, None) => Answer::Yes,
            (true, Some(_)) => Answer::Unknown,
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
        let returns = on_cycles(&targets);
        let both = leads_on.into_iter().zip(returns);
        both.map(|(leads_on, returns)| leads_on || returns)
            .collect()
    }
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

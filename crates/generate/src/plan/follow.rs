//! Following a pattern along a trace, by plain evaluation: no symbolic states and no distances.
//!
//! The model may be in several states after a trace, and the pattern may have matched in several
//! ways: every combination that is possible is a belief.

use std::collections::BTreeSet;

use ioco_budget::Interrupt;
use ioco_sts::{Action, Env, Expr, State, StateSet, Step, Sts, Value};
use rand::Rng;

use super::pattern::{Pattern, Progress};
use crate::feasible::{Effort, choose_own};
use crate::moves::MoveTable;

/// Beliefs that are followed at most.
const MAX_BELIEFS: usize = 2_000;
/// Internal steps in a row that are followed at most.
const MAX_SILENT: usize = 64;

/// A state that the model may be in, with what the pattern has seen on the way there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PatternState {
    pub state: State,
    pub progress: Progress,
}

/// Follows one pattern through one model.
pub struct Follower {
    pattern: Pattern,
    effort: Effort,
    /// What was followed so far.
    trace: Vec<Step>,
    beliefs: BTreeSet<PatternState>,
}

impl Follower {
    /// Every question to the solver takes at most `budget` steps, and ends when interrupted: what
    /// it would have led to is then not followed.
    pub fn new(
        sts: &Sts,
        pattern: Pattern,
        budget: u64,
        interrupt: &Interrupt,
        rng: &mut dyn Rng,
    ) -> Follower {
        let mut follower = Follower {
            pattern,
            effort: Effort::new(budget, interrupt),
            trace: Vec::new(),
            beliefs: BTreeSet::new(),
        };
        follower.restart(sts, rng);
        follower
    }

    pub fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// What may be the case now.
    pub fn beliefs(&self) -> impl Iterator<Item = &PatternState> {
        self.beliefs.iter()
    }

    /// Whether the whole pattern may have been seen.
    pub fn is_complete(&self) -> bool {
        let mut all = self.beliefs.iter();
        all.any(|belief| self.pattern.is_complete(belief.progress))
    }

    /// Follows a trace from the reset on; what was followed before is not followed again. `now`
    /// are the states that the model may be in at its end.
    pub fn catch_up(&mut self, sts: &Sts, trace: &[Step], now: &StateSet, rng: &mut dyn Rng) {
        if !trace.starts_with(&self.trace) {
            self.restart(sts, rng);
        }
        for step in &trace[self.trace.len()..] {
            if let Step::Stimulus(action) | Step::Response(action) = step {
                self.take(sts, action, rng);
            }
            self.trace.push(step.clone());
        }
        let states = &now.states;
        self.beliefs
            .retain(|belief| states.binary_search(&belief.state).is_ok());
    }

    /// Follows one step.
    pub fn take(&mut self, sts: &Sts, action: &Action, rng: &mut dyn Rng) {
        let mut next = BTreeSet::new();
        let mut moves = MoveTable::default();
        for belief in &self.beliefs {
            for step in moves.from(sts, &belief.state.locations).iter() {
                if !step.observable || step.label != Some(action.label) {
                    continue;
                }
                let Some(state) = step.fire(sts, &belief.state, &action.values) else {
                    continue;
                };
                for (progress, condition) in self.pattern.after(belief.progress, step) {
                    if holds(sts, &condition, &belief.state, &action.values) {
                        let state = state.clone();
                        next.insert(PatternState { state, progress });
                    }
                }
            }
        }
        self.beliefs = next;
        self.settle(sts, rng);
    }

    fn restart(&mut self, sts: &Sts, rng: &mut dyn Rng) {
        self.trace.clear();
        self.beliefs = BTreeSet::from([PatternState {
            state: sts.initial_state(),
            progress: Progress::default(),
        }]);
        self.settle(sts, rng);
    }

    /// Adds what internal steps and the pattern alone lead to.
    fn settle(&mut self, sts: &Sts, rng: &mut dyn Rng) {
        let mut queue: Vec<(PatternState, usize)> =
            self.beliefs.iter().map(|b| (b.clone(), 0)).collect();
        let mut moves = MoveTable::default();
        while let Some((belief, silent)) = queue.pop() {
            if self.beliefs.len() >= MAX_BELIEFS {
                return;
            }
            let mut add = |belief: PatternState, silent: usize| {
                if self.beliefs.insert(belief.clone()) {
                    queue.push((belief, silent));
                }
            };
            let PatternState { state, progress } = &belief;
            if let Some((next, condition)) = self.pattern.idle(*progress, &state.locations)
                && holds(sts, &condition, state, &[])
            {
                let state = state.clone();
                add(
                    PatternState {
                        state,
                        progress: next,
                    },
                    silent,
                );
            }
            if silent >= MAX_SILENT {
                continue;
            }
            for step in moves.from(sts, &state.locations).iter() {
                if step.observable {
                    continue;
                }
                let own = choose_own(sts, step, &state.valuation, rng, &self.effort);
                let after = own.and_then(|own| step.fire(sts, state, &step.parameters(&own)));
                let Some(after) = after else {
                    continue;
                };
                for (progress, _) in self.pattern.after(*progress, step) {
                    let state = after.clone();
                    add(PatternState { state, progress }, silent + 1);
                }
            }
        }
    }
}

fn holds(sts: &Sts, condition: &Expr, state: &State, parameters: &[Value]) -> bool {
    let env = Env {
        variables: &state.valuation,
        parameters,
        functions: sts.functions(),
    };
    condition.holds(env) == Ok(true)
}

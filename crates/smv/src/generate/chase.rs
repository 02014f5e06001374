//! Looking ahead from where tests already lead. Deep goals are often near a state that is known to be reachable, however
//! far that is from the start: a short unrolling from such a state finds what an unrolling from the start never would.

use crate::engine::Budget;
use crate::engine::sat::{Answer, Literal};
use crate::engine::unroll::{Trace, Unrolling};
use crate::goal::next_random;
use crate::model::{Model, VarKind};
use crate::system::Circuit;

/// Tests longer than this are not prolonged.
const LONGEST: usize = 3000;
const DEEPEST: usize = 24;
/// Seconds for one question.
const SECONDS_PER_QUESTION: f64 = 0.25;

pub(super) struct LookaheadSearch<'a> {
    model: &'a Model,
    circuit: &'a Circuit,
    ahead: Unrolling<'a>,
    random: u64,
    depth: usize,
    failures: usize,
    refused: usize,
    budget: Budget<'a>,
    current: Trace,
}

/// What one round of looking ahead brought.
pub(super) enum Lookahead {
    /// A run that reaches this goal.
    Goal(usize, Trace),
    Nothing,
    OutOfTime,
}

impl<'a> LookaheadSearch<'a> {
    pub fn new(model: &'a Model, circuit: &'a Circuit, budget: Budget<'a>, seed: u64) -> Self {
        Self {
            model,
            circuit,
            ahead: Unrolling::new(model, circuit, budget, false),
            random: seed,
            depth: 4,
            failures: 0,
            refused: 0,
            budget,
            current: Trace::new(),
        }
    }

    pub fn set_budget(&mut self, budget: Budget<'a>) {
        self.budget = budget;
        self.ahead.set_budget(budget);
    }

    fn dice(&mut self) -> u64 {
        self.random = next_random(self.random);
        self.random
    }

    /// Where to look from when the last way ended: a state in the middle of a known run, as often as its end.
    pub fn restart(&mut self, run: &[Vec<crate::value::Value>]) {
        let dice = self.dice();
        let length = if dice & 1 == 0 {
            run.len()
        } else {
            usize::try_from((dice >> 1) % run.len().max(1) as u64).unwrap_or(0) + 1
        };
        self.current = run[..length.min(run.len())].to_vec();
    }

    pub fn needs_start(&self) -> bool {
        self.current.is_empty() || self.current.len() > LONGEST || self.failures > 5
    }

    /// Asks for any of the goals within a few steps of the current state; wanders on when there is none.
    pub fn round(&mut self, goals: &[usize]) -> Lookahead {
        if self.needs_start() {
            self.failures = 0;
        }
        while self.ahead.depth() < self.depth {
            self.ahead.extend();
        }
        let Some(state) = self.current.last().cloned() else {
            return Lookahead::Nothing;
        };
        let mut here: Vec<Literal> = Vec::new();
        for (var, value) in self.circuit.vars.iter().zip(&state) {
            if self.model.var(*var).kind != VarKind::Input {
                here.extend(self.ahead.fix(0, *var, *value));
            }
        }
        let any = self.ahead.fresh();
        let mut clause = vec![!any];
        let mut wanted = Vec::new();
        for goal in goals {
            let transition = self.circuit.goals[*goal].transition;
            for frame in 0..=self.depth.min(self.ahead.depth()) - usize::from(transition) {
                let lit = self.ahead.goal(frame, *goal);
                clause.push(lit);
                wanted.push((frame + usize::from(transition), *goal, lit));
            }
        }
        self.ahead.clause(&clause);
        let mut assumptions = here.clone();
        assumptions.push(any);
        // A hard question is not worth its time here: another state may make it easy.
        self.ahead
            .set_budget(self.budget.within(SECONDS_PER_QUESTION));
        let answer = self.ahead.solve(&assumptions);
        self.ahead.set_budget(self.budget);
        let found = match answer {
            Answer::Unknown if self.budget.over() => Lookahead::OutOfTime,
            Answer::Unknown => {
                self.failures += 2;
                self.depth = (self.depth - 1).max(3);
                Lookahead::Nothing
            }
            Answer::Yes => {
                let hit = wanted
                    .iter()
                    .filter(|(_, _, lit)| self.ahead.value(*lit))
                    .min_by_key(|(last, _, _)| *last);
                match hit {
                    Some((last, goal, _)) => {
                        let (last, goal) = (*last, *goal);
                        self.append(last);
                        self.failures = 0;
                        Lookahead::Goal(goal, self.current.clone())
                    }
                    None => Lookahead::Nothing,
                }
            }
            Answer::No => {
                self.failures += 1;
                self.refused += 1;
                if self.refused.is_multiple_of(20) && self.depth < DEEPEST {
                    self.depth += 1;
                }
                Lookahead::Nothing
            }
        };
        self.ahead.clause(&[!any]);
        if matches!(found, Lookahead::Nothing) {
            self.wander(&here);
        }
        found
    }

    /// The inputs of the state where the prolongation starts are chosen with it.
    fn append(&mut self, last: usize) {
        let trace = self.ahead.trace(last);
        self.current.pop();
        self.current.extend(trace);
    }

    /// A random way of a few steps.
    fn wander(&mut self, here: &[Literal]) {
        let steps = 1 + usize::try_from(self.dice() % self.ahead.depth() as u64).unwrap_or(0);
        let mut dice = Vec::new();
        for frame in 0..=steps {
            for lit in self.ahead.bit_lits(frame).to_vec() {
                let roll = self.dice();
                if roll.is_multiple_of(4) {
                    dice.push(if roll & 16 == 0 { lit } else { !lit });
                }
            }
        }
        for _ in 0..8 {
            let mut assumptions = here.to_vec();
            assumptions.extend(&dice);
            match self.ahead.solve(&assumptions) {
                Answer::Yes => {
                    self.append(steps);
                    return;
                }
                Answer::Unknown => return,
                Answer::No => {
                    let core = self.ahead.core();
                    let before = dice.len();
                    dice.retain(|lit| !core.contains(lit));
                    if dice.len() == before {
                        // The state itself has no way on.
                        self.current.clear();
                        return;
                    }
                }
            }
        }
        if self.ahead.solve(here) == Answer::Yes {
            self.append(steps);
        }
    }
}

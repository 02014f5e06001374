//! `auto`: the stimuli that are worth most, judged by what a fault would change and how it would be seen.
//!
//! * What a step shows for the first time is worth something ([`situations`]): switches, pairs and triples of them,
//!   repetitions, values by kind in combination with switches, comparisons at their limits.
//! * What a fault would have changed is remembered as a state that the system could be in instead ([`suspects`]), and
//!   a stimulus whose response would tell is worth what it would refute.
//! * A few walks through the model ([`rollout`]) show which stimuli gain most for their number; the best is followed
//!   as long as the system answers as it expects, and a restart is one of the choices.
//! * Walks may begin as a test did that took a switch for the first time: access sequences, as the methods for finite
//!   machines have them.
//! * Now and then a test is long and left to chance ([`marathon`]).
//! * Where nothing near is worth much and switches are left, [`Transitions`] leads to the nearest one.

mod candidates;
mod marathon;
mod rollout;
mod situations;
mod suspects;

use std::sync::Arc;

use ioco_sts::{Action, Direction, Semantics, SetId, StateSet, Step, Sts, SwitchId};
use rand::RngExt;

use super::random::Random;
use super::transitions::{Transitions, Wanted};
use super::{Choice, Situation};
use crate::values::SolverSteps;
use marathon::Marathons;
use rollout::{Beginning, Origin, RankedSteps, RolloutContext, rollout, state_taking};
use situations::{History, Limits, Seen, Taken};
use suspects::{Fate, Happened, Suspect};

/// What a stimulus costs before it is given: makes longer ways worth their length.
const BASE_COST: f32 = 0.3;
/// Walks of one search.
const WALKS: usize = 40;
/// Walks for each unit of the rate that the last search found: where little is left, little is spent.
const WALKS_FOR_RATE: f32 = 16.0;
/// Every step of a walk follows all states that the model may be in: so many of them are followed by one search.
const MAX_STATES: usize = 4_000;
/// Below this rate nothing near is worth much.
const LITTLE: f32 = 1.0;
/// A search that has taken so many steps of the solver, or of evaluation, makes no further walks: where a walk is dear, a
/// stimulus that is not the best one costs less than the search for a better one.
const MAX_SOLVER_STEPS: u64 = 5_000;
const MAX_EVALUATED: u64 = 400_000;
const FEW_WALKS: usize = 6;
/// Below this rate half of the steps are left to chance, so that `auto` is never much worse than `random`.
const NOTHING: f32 = 0.3;
/// New suspicions that are worth so much end a plan: the search then looks for what refutes them.
const SUSPICIOUS: f32 = 1.5;
/// Stimuli of an access sequence that are remembered.
const MAX_ACCESS: usize = 40;

pub(crate) struct Auto {
    random: Random,
    transitions: Transitions,
    limits: Limits,
    seen: Seen,
    /// The test that is followed, and how much of its trace was read.
    test: u64,
    read: usize,
    at: Option<Arc<StateSet>>,
    history: History,
    suspects: Vec<Suspect>,
    plan: Plan,
    /// The stimuli of this test, and those that led to each switch for the first time, by the order of discovery.
    given: Vec<Action>,
    access: Vec<Vec<Action>>,
    last_rate: f32,
    marathons: Marathons,
}

/// Steps that were found to be worth taking.
#[derive(Default)]
struct Plan {
    steps: Vec<Step>,
    /// How many of them were taken.
    next: usize,
    /// It begins with the next test.
    after_reset: bool,
}

impl Auto {
    pub fn new(sts: &Sts) -> Auto {
        Auto {
            random: Random::new(&Default::default(), sts),
            transitions: Transitions::new(Wanted::Switches, sts),
            limits: Limits::default(),
            seen: Seen::default(),
            test: 0,
            read: 0,
            at: None,
            history: History::default(),
            suspects: Vec::new(),
            plan: Plan::default(),
            given: Vec::new(),
            access: Vec::new(),
            last_rate: 100.0,
            marathons: Marathons::default(),
        }
    }

    pub fn transitions(&self) -> &Transitions {
        &self.transitions
    }

    pub fn transitions_mut(&mut self) -> &mut Transitions {
        &mut self.transitions
    }

    pub fn choose(&mut self, trace: &[Step], mut situation: Situation<'_>) -> Choice {
        self.catch_up(trace, &mut situation);
        if situation.menu.stimuli.is_empty() {
            return situation.wait_or_end();
        }
        if situation.observes(situation.menu.stimuli.len() as f64) {
            return Choice::Wait;
        }
        if self.marathons.is_on() {
            return self.marathons.choose(situation);
        }
        if let Some(choice) = self.as_planned(&mut situation) {
            return choice;
        }
        let found = self.search(&mut situation, trace);
        if situation.interrupt.is_raised() {
            return situation.wait_or_end();
        }
        let (found, after_reset) = found;
        self.last_rate = found.rate;
        if found.rate < LITTLE && self.transitions.leads_on_from(&situation) {
            return self.transitions.choose(situation);
        }
        if found.rate < NOTHING && situation.rng.random_range(0..2) == 0 {
            return self.random.choose(situation);
        }
        self.plan = Plan {
            steps: found.steps,
            next: 0,
            after_reset,
        };
        if after_reset {
            return Choice::Restart;
        }
        match self.as_planned(&mut situation) {
            Some(choice) => choice,
            None => self.random.choose(situation),
        }
    }

    /// The next step of the plan, if everything went as it expects.
    fn as_planned(&mut self, situation: &mut Situation<'_>) -> Option<Choice> {
        if self.plan.after_reset {
            return None;
        }
        match self.plan.steps.get(self.plan.next)? {
            Step::Stimulus(action) => {
                if !situation.semantics.accepts(situation.set, action) {
                    return None;
                }
                let step = Step::Stimulus(action.clone());
                let followed = situation.semantics.follow(situation.set, &step)?;
                Some(Choice::Give(action.clone(), followed))
            }
            Step::Response(_) if situation.may_wait && situation.is_due() => Some(Choice::Wait),
            Step::Response(_) | Step::Quiescence => None,
        }
    }

    /// Reads what happened since the last choice.
    fn catch_up(&mut self, trace: &[Step], situation: &mut Situation<'_>) {
        if self.test != situation.test || trace.len() < self.read {
            self.test = situation.test;
            self.read = 0;
            self.at = None;
            self.history = History::default();
            self.suspects.clear();
            self.given.clear();
            self.marathons
                .begin(situation.test, situation.restart.is_some());
            match self.plan.after_reset {
                true => self.plan.after_reset = false,
                false => self.plan = Plan::default(),
            }
        }
        let semantics = &mut *situation.semantics;
        let mut at = match &self.at {
            Some(set) => semantics.id_of(set),
            None => semantics.initial(),
        };
        for step in &trace[self.read..] {
            match self.take(semantics, at, step, situation.rng) {
                Some(next) => at = next,
                None => break,
            }
        }
        self.read = trace.len();
        if at != situation.set {
            // A response may have crossed a stimulus: what was suspected is not known any more.
            self.suspects.clear();
        }
        self.at = Some(Arc::clone(semantics.set(situation.set)));
    }

    fn take(
        &mut self,
        semantics: &mut Semantics,
        at: SetId,
        step: &Step,
        rng: &mut crate::random::TestRng,
    ) -> Option<SetId> {
        let followed = semantics.follow(at, step)?;
        if *step != Step::Quiescence {
            match self.plan.steps.get(self.plan.next) == Some(step) {
                true => self.plan.next += 1,
                false => self.plan = Plan::default(),
            }
        }
        self.judge(semantics, step, followed.set);
        if let Step::Stimulus(action) = step {
            self.given.push(action.clone());
            self.marathons.given();
        }
        let Some(action) = step.action() else {
            return Some(followed.set);
        };
        let sts = Arc::clone(semantics.sts());
        let is_stimulus = sts.label(action.label).direction == Direction::Stimulus;
        let (mut found, mut raised) = (Vec::new(), 0.0);
        let is_new = |id: &SwitchId| self.seen.count(situations::of_switch(*id)) == 0;
        if followed.taken.iter().any(is_new) && self.given.len() <= MAX_ACCESS {
            self.access.push(self.given.clone());
        }
        for &switch in followed.taken.iter() {
            let Some(state) = state_taking(semantics, at, switch).cloned() else {
                continue;
            };
            let taken = Taken {
                state: &state,
                switch,
                action,
                is_stimulus,
            };
            situations::situations(&sts, &mut self.limits, &self.history, &taken, &mut found);
            let after = Arc::clone(semantics.set(followed.set));
            if let [after] = &after.states[..] {
                let happened = Happened {
                    before: &state,
                    after,
                    switch,
                    action: Some(action),
                };
                semantics.mute(true);
                let (seen, suspects) = (&mut self.seen, &mut self.suspects);
                let history = &self.history;
                raised += suspects::raise(semantics, seen, history, &happened, rng, suspects);
                semantics.mute(false);
            }
        }
        if raised > SUSPICIOUS {
            self.plan = Plan::default();
        }
        for (key, _) in found {
            self.seen.add(key);
        }
        for &switch in followed.taken.iter() {
            self.history.take(switch, is_stimulus);
        }
        Some(followed.set)
    }

    /// What the step says about the suspicions.
    fn judge(&mut self, semantics: &mut Semantics, step: &Step, right: SetId) {
        semantics.mute(true);
        let seen = &mut self.seen;
        self.suspects.retain_mut(|suspect| {
            let at = semantics.id_of(&suspect.set);
            match suspects::follow(semantics, at, step, right) {
                Fate::Refuted => {
                    for (key, _) in suspect.keys.iter() {
                        seen.add(*key);
                    }
                    false
                }
                Fate::Gone => false,
                Fate::On(next) => {
                    suspect.set = Arc::clone(semantics.set(next));
                    true
                }
            }
        });
        semantics.mute(false);
    }

    /// The steps that are worth most, and whether they begin with a reset.
    fn search(&mut self, situation: &mut Situation<'_>, trace: &[Step]) -> (RankedSteps, bool) {
        let semantics = &mut *situation.semantics;
        let seen = &self.seen;
        let followed = self.suspects.iter();
        let suspects = followed
            .map(|s| (semantics.id_of(&s.set), suspects::worth(seen, s)))
            .collect();
        let here = Origin {
            set: situation.set,
            history: self.history.clone(),
            suspects,
            cost: BASE_COST,
        };
        let start = Origin {
            set: semantics.initial(),
            history: History::default(),
            suspects: Vec::new(),
            cost: BASE_COST + situation.restart.unwrap_or(0.0),
        };
        let offers = situation.menu.stimuli.iter().enumerate();
        let firsts: Vec<_> = offers
            .flat_map(|(index, offer)| offer.switches.iter().map(move |s| (index, *s)))
            .collect();
        let mut context = RolloutContext {
            semantics,
            limits: &mut self.limits,
            seen,
            rng: situation.rng,
            steps: SolverSteps::new(situation.budget),
            interrupt: situation.interrupt,
        };
        let has_given = trace.iter().any(|step| matches!(step, Step::Stimulus(_)));
        let can_restart = has_given && situation.restart.is_some();
        let mut best = (RankedSteps::default(), false);
        let turn = context.rng.random_range(0..firsts.len());
        let states = context.semantics.set(here.set).states.len();
        let before = context.semantics.evaluated();
        for walk in 0..walks(self.last_rate, states) {
            let evaluated = context.semantics.evaluated() - before;
            if context.steps.taken > MAX_SOLVER_STEPS || evaluated > MAX_EVALUATED {
                break;
            }
            let depth = 1 + context.rng.random_range(0..3) * context.rng.random_range(0..4);
            let known = match self.access.len() {
                0 => &[][..],
                count => &self.access[context.rng.random_range(0..count)],
            };
            let restarts = can_restart && walk % 4 == 3;
            let found = if restarts {
                rollout(&mut context, &start, Beginning::Like(known), depth)
            } else if walk % 4 == 1 && !known.is_empty() {
                let ending = &known[context.rng.random_range(0..known.len())..];
                rollout(&mut context, &here, Beginning::Like(ending), depth)
            } else {
                let (index, switch) = firsts[(turn + walk) % firsts.len()];
                rollout(&mut context, &here, Beginning::With(index, switch), depth)
            };
            if found.rate > best.0.rate {
                best = (found, restarts);
            }
        }
        best
    }
}

/// How many walks a search makes, after one that found this rate, where the model may be in so many states.
fn walks(last_rate: f32, states: usize) -> usize {
    let worthwhile = ((last_rate * WALKS_FOR_RATE) as usize).clamp(FEW_WALKS, WALKS);
    worthwhile.min((MAX_STATES / states.max(1)).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_among_many_states_makes_few_walks() {
        assert_eq!(walks(100.0, 1), WALKS);
        assert_eq!(walks(0.0, 1), FEW_WALKS);
        assert_eq!(walks(100.0, MAX_STATES / WALKS), WALKS);
        assert_eq!(walks(100.0, 400), 10);
        assert_eq!(walks(0.0, 4096), 1);
    }
}

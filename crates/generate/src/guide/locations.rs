//! `locations`: towards the nearest location that no test has visited, with values that satisfy
//! all guards on the way; planned anew after every response that was not the expected one
//! (Sietsma 2009, section 7).

use std::collections::BTreeSet;

use ioco_budget::Interrupt;
use ioco_engine::{Advice, Guide, View};
use ioco_sts::{LocationId, State, Step, Sts};
use rand::Rng;

use super::{Planned, advice, limits, observed};
use crate::plan::{Pattern, PatternState, Progress, Search};

/// Observable steps of a plan at most.
const STEPS: u32 = 60;
/// Plans for a location that the system did not let come true, before others come first.
const TRIES: u32 = 12;

/// Leads tests to locations.
#[derive(Default)]
pub struct Locations {
    planned: Planned,
    /// Where the plan under way leads.
    goal: Option<LocationId>,
    /// Per location, the plans that were made for it.
    tries: Vec<u32>,
    /// No way was found from the start.
    out_of_reach: BTreeSet<LocationId>,
}

impl Locations {
    pub fn new() -> Locations {
        Locations::default()
    }

    /// What is left to visit: first what was not tried often, then the rest.
    fn targets(&self, view: &View<'_>) -> Vec<LocationId> {
        let open = |id: &LocationId| {
            !view.coverage.covers_location(*id) && !self.out_of_reach.contains(id)
        };
        let all = (0..view.sts.locations().len()).map(LocationId::from_index);
        let open: Vec<LocationId> = all.filter(open).collect();
        let tries = |id: &LocationId| self.tries.get(id.index()).copied().unwrap_or(0);
        let fresh: Vec<LocationId> = open
            .iter()
            .copied()
            .filter(|id| tries(id) < TRIES)
            .collect();
        if fresh.is_empty() { open } else { fresh }
    }

    /// A way from one of the states to one of the targets.
    fn plan(
        &mut self,
        sts: &Sts,
        states: &[State],
        targets: Vec<LocationId>,
        seen: usize,
        rng: &mut dyn Rng,
        interrupt: &Interrupt,
    ) -> bool {
        let starts: Vec<PatternState> = states
            .iter()
            .map(|state| PatternState {
                state: state.clone(),
                progress: Progress::default(),
            })
            .collect();
        let pattern = Pattern::visits(targets);
        let (way, _) = Search::new(sts, &pattern, limits(STEPS, interrupt)).shortest(&starts, rng);
        let Some(way) = way else { return false };
        self.goal = way.switches().last().map(|id| sts.switch(*id).target);
        if let Some(goal) = self.goal {
            let index = goal.index();
            if self.tries.len() <= index {
                self.tries.resize(sts.locations().len().max(index + 1), 0);
            }
            self.tries[index] += 1;
        }
        self.planned = Planned {
            steps: way.actions(),
            made_at: seen,
        };
        true
    }
}

impl Guide for Locations {
    fn advise(&mut self, view: View<'_>) -> Advice {
        let targets = self.targets(&view);
        let View {
            sts,
            set,
            trace,
            rng,
            may_wait,
            coverage,
            interrupt,
            ..
        } = view;
        if targets.is_empty() {
            return Advice::Chance;
        }
        let still_wanted = self
            .goal
            .is_some_and(|goal| !coverage.covers_location(goal));
        if still_wanted && let Some(next) = self.planned.next(trace) {
            let next = advice(sts, next);
            if next != Advice::Listen || may_wait {
                return next;
            }
        }
        let seen = observed(trace);
        if self.plan(sts, &set.states, targets.clone(), seen, rng, interrupt) {
            return match self.planned.next(trace) {
                Some(next) => advice(sts, next),
                // Internal steps alone lead there.
                None => Advice::Listen,
            };
        }
        self.goal = None;
        let at_start = trace.iter().all(|step| *step == Step::Quiescence);
        let start = [sts.initial_state()];
        if !at_start && self.plan(sts, &start, targets.clone(), 0, rng, interrupt) {
            // From the start there is a way.
            return Advice::End;
        }
        if interrupt.is_raised() {
            // Nothing was shown to be out of reach.
            return Advice::Chance;
        }
        self.out_of_reach.extend(targets);
        Advice::Chance
    }
}

//! A query as a scenario: stimuli are chosen so that the test comes to match the pattern, and the
//! plan is made anew whenever the system answers otherwise.

use ioco_engine::{Advice, Guide, View};
use ioco_sts::Step;

use super::{Planned, advice, limits, observed};
use crate::plan::{Follower, Pattern, PatternState, Search};

/// Leads every test towards a pattern.
pub struct Scenario {
    pattern: Pattern,
    /// Observable steps of a test at most.
    steps: u32,
    follower: Option<Follower>,
    planned: Planned,
    complete: bool,
}

impl Scenario {
    pub fn new(pattern: Pattern, steps: u32) -> Scenario {
        Scenario {
            pattern,
            steps,
            follower: None,
            planned: Planned::default(),
            complete: false,
        }
    }
}

impl Guide for Scenario {
    fn advise(&mut self, view: View<'_>) -> Advice {
        let View {
            sts,
            set,
            trace,
            rng,
            may_wait,
            interrupt,
            ..
        } = view;
        if trace.is_empty() {
            self.complete = false;
            self.planned = Planned::default();
        }
        let follower = self.follower.get_or_insert_with(|| {
            Follower::new(sts, self.pattern.clone(), super::BUDGET, interrupt, rng)
        });
        if self.complete {
            return Advice::Reached;
        }
        follower.catch_up(sts, trace, set, rng);
        if follower.is_complete() {
            self.complete = true;
            return Advice::Reached;
        }
        if let Some(next) = self.planned.next(trace) {
            let next = advice(sts, next);
            if next != Advice::Listen || may_wait {
                return next;
            }
        }
        let seen = observed(trace);
        let left = self.steps.saturating_sub(seen as u32);
        let starts: Vec<PatternState> = follower.beliefs().cloned().collect();
        let search = Search::new(sts, &self.pattern, limits(left, interrupt));
        let (way, searched) = search.shortest(&starts, rng);
        match way {
            Some(way) => {
                self.planned = Planned {
                    steps: way.actions(),
                    made_at: seen,
                };
                match self.planned.next(trace) {
                    Some(next) => advice(sts, next),
                    // Internal steps alone complete it: they come by themselves.
                    None => Advice::Listen,
                }
            }
            None => {
                let after = match trace.last() {
                    None => "at the start".to_owned(),
                    Some(Step::Quiescence) => "after silence".to_owned(),
                    Some(step) => format!("after {}", step.show(sts)),
                };
                let steps = self.steps;
                Advice::Lost(match searched.exhausted {
                    true => format!(
                        "{after} the scenario can no longer be completed within {steps} steps; \
                         the system did nothing wrong"
                    ),
                    false => format!(
                        "{after} ioco found no way to complete the scenario within {steps} steps; \
                         the system did nothing wrong"
                    ),
                })
            }
        }
    }

    fn unfinished(&self) -> Option<String> {
        (!self.complete).then(|| "the test ended before the scenario was complete".to_owned())
    }
}

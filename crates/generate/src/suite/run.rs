//! Leading a test of a suite: the planned steps as long as the system answers as planned; where it
//! answers otherwise and is right, a new plan for the same goal, or inconclusive.

use ioco_engine::{Advice, Guide, View};
use ioco_sts::Step;

use super::ReadTest;
use crate::guide::{BUDGET, Planned, advice, limits, observed};
use crate::plan::{Follower, PatternState, Search};

/// One test of a suite, to be run.
pub struct SuiteTest {
    test: ReadTest,
    follower: Option<Follower>,
    /// The plan that took the place of the steps.
    planned: Option<Planned>,
    reached: bool,
}

impl SuiteTest {
    pub fn new(test: ReadTest) -> SuiteTest {
        SuiteTest {
            test,
            follower: None,
            planned: None,
            reached: false,
        }
    }

    /// How many of the planned steps were followed; `None` where a step differs. A response with
    /// the right label and other values is followed, too: the rest may still fit. Silence counts
    /// where it is planned.
    fn followed(&self, trace: &[Step]) -> Option<usize> {
        let mut done = 0;
        for seen in trace {
            let as_planned = match (seen, self.test.steps.get(done)) {
                (Step::Quiescence, Some(Step::Quiescence)) => true,
                (Step::Quiescence, _) | (_, None) => continue,
                (Step::Response(seen), Some(Step::Response(planned))) => {
                    seen.label == planned.label
                }
                (seen, Some(planned)) => seen == planned,
            };
            if !as_planned {
                return None;
            }
            done += 1;
        }
        Some(done)
    }

    /// A new plan for what the test is for.
    fn plan_anew(&mut self, view: View<'_>) -> Advice {
        let View {
            sts,
            set,
            trace,
            rng,
            interrupt,
            ..
        } = view;
        let after = match trace.last() {
            None => "at the start".to_owned(),
            Some(Step::Quiescence) => "after silence".to_owned(),
            Some(step) => format!("after {}", step.show(sts)),
        };
        let Some((pattern, within)) = &self.test.purpose else {
            return Advice::Lost(format!(
                "{after} the system took another allowed step than the test needs; it did nothing wrong"
            ));
        };
        let mut follower = match self.follower.take() {
            Some(follower) => follower,
            None => Follower::new(sts, (**pattern).clone(), BUDGET, interrupt, rng),
        };
        follower.catch_up(sts, trace, set, rng);
        let seen = observed(trace);
        let starts: Vec<PatternState> = follower.beliefs().cloned().collect();
        let complete = follower.is_complete();
        self.follower = Some(follower);
        if complete {
            self.reached = true;
            return Advice::Reached;
        }
        let left = within.saturating_sub(seen as u32);
        let search = Search::new(sts, pattern, limits(left, interrupt));
        let (way, _) = search.shortest(&starts, rng);
        let Some(way) = way else {
            return Advice::Lost(format!(
                "{after} the goal of the test is out of reach; the system did nothing wrong"
            ));
        };
        let planned = Planned {
            steps: way.actions(),
            made_at: seen,
        };
        let next = planned
            .next(trace)
            .map_or(Advice::Listen, |next| advice(sts, next));
        self.planned = Some(planned);
        next
    }
}

impl Guide for SuiteTest {
    fn advise(&mut self, view: View<'_>) -> Advice {
        if self.reached {
            return Advice::Reached;
        }
        let next = match &self.planned {
            Some(planned) => planned.next(view.trace).cloned(),
            None => match self.followed(view.trace) {
                None => None,
                Some(done) => {
                    let steps = &self.test.steps;
                    // Silence that was seen just now needs no second look.
                    let seen = !view.may_wait && steps.get(done) == Some(&Step::Quiescence);
                    match steps.get(done + usize::from(seen)) {
                        Some(Step::Quiescence) => return Advice::Listen,
                        Some(step) => step.action().cloned(),
                        None => {
                            self.reached = true;
                            return Advice::Reached;
                        }
                    }
                }
            },
        };
        let Some(next) = next else {
            return self.plan_anew(view);
        };
        match advice(view.sts, &next) {
            // Silence came instead of the response.
            Advice::Listen if !view.may_wait => self.plan_anew(view),
            next => next,
        }
    }

    fn unfinished(&self) -> Option<String> {
        (!self.reached).then(|| "the test was cut short before its last step".to_owned())
    }
}

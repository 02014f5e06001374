//! Guides for tests on the fly: they plan with the solver and plan anew when the system chose
//! otherwise (Sietsma 2009, section 7).

mod locations;
mod scenario;

pub use locations::Locations;
pub use scenario::Scenario;

use ioco_budget::Interrupt;
use ioco_engine::Advice;
use ioco_sts::{Action, Direction, Step, Sts};

use crate::plan::Limits;

/// Solver steps for one question while a system waits.
pub(crate) const BUDGET: u64 = 10_000;
/// Ways that one plan may begin.
const PATHS: usize = 4_000;

pub(crate) fn limits(steps: u32, interrupt: &Interrupt) -> Limits {
    Limits {
        steps,
        paths: PATHS,
        budget: BUDGET,
        interrupt: interrupt.clone(),
    }
}

/// A plan under way: the observable steps that are still to come.
#[derive(Default)]
pub(crate) struct Planned {
    pub steps: Vec<Action>,
    /// The length of the trace when it was made, silences left out.
    pub made_at: usize,
}

impl Planned {
    /// What comes next, if everything since the plan was made went as planned.
    pub fn next(&self, trace: &[Step]) -> Option<&Action> {
        let seen: Vec<&Action> = trace.iter().filter_map(Step::action).collect();
        let since = seen.get(self.made_at..)?;
        let as_planned = since.len() < self.steps.len()
            && since
                .iter()
                .zip(&self.steps)
                .all(|(seen, planned)| *seen == planned);
        as_planned.then(|| &self.steps[since.len()])
    }
}

/// Gives a stimulus, or waits for a response.
pub(crate) fn advice(sts: &Sts, next: &Action) -> Advice {
    match sts.label(next.label).direction {
        Direction::Stimulus => Advice::Give(next.clone()),
        Direction::Response | Direction::Internal => Advice::Listen,
    }
}

pub(crate) fn observed(trace: &[Step]) -> usize {
    trace.iter().filter_map(Step::action).count()
}

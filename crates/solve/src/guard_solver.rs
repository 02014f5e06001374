//! Answers the questions that the meaning of a model asks.

use ioco_sts::{Answer, Feasibility, Question, Solved, Value};

use crate::choose::{Unset, holds, parameters_query};
use crate::fast::{self, Reading, Slot};
use crate::outcome::{Deadline, Outcome};
use crate::propose::or_proposed;
use crate::search::Choice;

/// Steps for one question: a few milliseconds at most.
const STEPS: u64 = 60_000;

/// Whether a guard can hold, by known values and ranges first and by search then, under a limit on
/// steps: the same questions always get the same answers.
#[derive(Clone, Debug)]
pub struct GuardSolver {
    steps: u64,
}

impl GuardSolver {
    pub fn new() -> GuardSolver {
        GuardSolver { steps: STEPS }
    }

    /// With another limit on the steps for one question.
    pub fn with_steps(steps: u64) -> GuardSolver {
        GuardSolver { steps }
    }
}

impl Default for GuardSolver {
    fn default() -> GuardSolver {
        GuardSolver::new()
    }
}

impl Feasibility for GuardSolver {
    fn feasible(&mut self, question: Question<'_>) -> Answer {
        let Question {
            sts,
            label,
            guard,
            valuation,
        } = question;
        match fast::read(sts, label, guard, valuation) {
            Reading::Never => return Answer::No,
            // Values that are read off are evaluated like all others.
            Reading::Slots(slots) => {
                let values: Option<Vec<Value>> = slots.iter().map(Slot::witness).collect();
                if let Some(values) = values
                    && holds(sts, guard, valuation, &values)
                {
                    return Answer::Yes;
                }
            }
            Reading::Unclear => {}
        }
        let query = parameters_query(sts, label, guard, valuation, Unset::Allowed);
        let outcome = query.solve(&mut Choice::Plain, &Deadline::steps(self.steps));
        match or_proposed(outcome, &query) {
            Outcome::Sat(_) => Answer::Yes,
            Outcome::Unsat => Answer::No,
            Outcome::Unknown(_) => Answer::Unknown,
        }
    }

    fn solve(&mut self, question: Question<'_>) -> Solved {
        let Question {
            sts,
            label,
            guard,
            valuation,
        } = question;
        let query = parameters_query(sts, label, guard, valuation, Unset::Allowed);
        let outcome = query.solve(&mut Choice::Plain, &Deadline::steps(self.steps));
        match or_proposed(outcome, &query) {
            Outcome::Sat(values) => Solved::Values(values),
            Outcome::Unsat => Solved::None,
            Outcome::Unknown(_) => Solved::Unknown,
        }
    }
}

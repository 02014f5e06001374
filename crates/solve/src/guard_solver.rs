//! Answers the questions that the meaning of a model asks.

use std::sync::Arc;

use ioco_sts::{Answer, Feasibility, Question, Relation, Semantics, Solved, Sts, Value};

use crate::choose::{Unset, holds, parameters_query};
use crate::fast::{self, Reading, Slot};
use crate::outcome::{Deadline, Outcome};
use crate::pipeline::{Part, Pipeline};
use crate::propose::or_proposed;
use crate::search::Choice;

/// Steps for one question: a few milliseconds at most.
const STEPS: u64 = 60_000;

/// The meaning of a model for this relation, with the embedded solver.
pub fn semantics(sts: &Arc<Sts>, relation: Relation) -> Semantics {
    Semantics::new(Arc::clone(sts), Box::new(GuardSolver::new()), relation)
}

/// Whether a guard can hold, by known values and ranges first and by search then, under a limit on
/// steps: the same questions always get the same answers.
#[derive(Clone, Debug)]
pub struct GuardSolver {
    steps: u64,
    pipeline: Pipeline,
}

impl GuardSolver {
    pub fn new() -> GuardSolver {
        GuardSolver::with_steps(STEPS)
    }

    /// With another limit on the steps for one question.
    pub fn with_steps(steps: u64) -> GuardSolver {
        GuardSolver {
            steps,
            pipeline: Pipeline::WHOLE,
        }
    }

    /// With parts of the solver switched off.
    pub fn with_pipeline(self, pipeline: Pipeline) -> GuardSolver {
        GuardSolver { pipeline, ..self }
    }

    /// Whether a guard can hold; the deadline tells afterwards what that took and which part answered.
    pub fn answer(&self, question: Question<'_>, deadline: &Deadline<'_>) -> Answer {
        let Question {
            sts,
            label,
            guard,
            valuation,
        } = question;
        if self.pipeline.has(Part::Box) {
            deadline.answer_by(Part::Box);
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
        }
        match self.search(question, deadline) {
            Outcome::Sat(_) => Answer::Yes,
            Outcome::Unsat => Answer::No,
            Outcome::Unknown(_) => Answer::Unknown,
        }
    }

    fn search(&self, question: Question<'_>, deadline: &Deadline<'_>) -> Outcome<Vec<Value>> {
        let Question {
            sts,
            label,
            guard,
            valuation,
        } = question;
        let mut query = parameters_query(sts, label, guard, valuation, Unset::Allowed);
        query.pipeline = self.pipeline;
        let outcome = query.solve(&mut Choice::Plain, deadline);
        or_proposed(outcome, &query, deadline)
    }
}

impl Default for GuardSolver {
    fn default() -> GuardSolver {
        GuardSolver::new()
    }
}

impl Feasibility for GuardSolver {
    fn feasible(&mut self, question: Question<'_>) -> Answer {
        self.answer(question, &Deadline::steps(self.steps))
    }

    fn solve(&mut self, question: Question<'_>) -> Solved {
        match self.search(question, &Deadline::steps(self.steps)) {
            Outcome::Sat(values) => Solved::Values(values),
            Outcome::Unsat => Solved::None,
            Outcome::Unknown(_) => Solved::Unknown,
        }
    }
}

//! What became of a coverage goal, with the test behind it.

use ioco_generate::cover::{Goal, GoalVerdict, Instance};
use ioco_sts::{Direction, Semantics, Step};
use serde::{Deserialize, Serialize};

use crate::trace::{TraceView, Tracer};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GoalView {
    /// `switch Open ──?close──► Closing (door.aml:14)`.
    pub goal: String,
    /// `location`, `switch`, ...
    pub kind: String,
    /// The number of the location, or of the switch that it is about.
    pub id: Option<u32>,
    /// `covered`, `unreachable` or `unknown`.
    pub verdict: String,
    pub reason: Option<String>,
    pub solver_calls: u64,
    pub seconds: f64,
    pub test: Option<TraceView>,
}

/// The goal as a person sees it.
pub fn goal_of(
    semantics: &mut Semantics,
    goal: Goal,
    verdict: &GoalVerdict,
    test: Option<&Instance>,
    solver_calls: u64,
    seconds: f64,
) -> GoalView {
    let sts = semantics.sts().clone();
    let shown = goal.show(&sts);
    let (verdict, reason) = match verdict {
        GoalVerdict::Covered { .. } => ("covered", None),
        GoalVerdict::Unreachable(reason) => ("unreachable", Some(reason.to_string())),
        GoalVerdict::Unknown(bound) => ("unknown", Some(bound.to_string())),
    };
    let test = test.map(|test| {
        let mut tracer = Tracer::new(semantics);
        for action in test.actions() {
            let step = match sts.label(action.label).direction {
                Direction::Stimulus => Step::Stimulus(action),
                Direction::Response | Direction::Internal => Step::Response(action),
            };
            tracer.step(&step, None);
        }
        tracer.finish(&[])
    });
    GoalView {
        kind: shown.split(' ').next().unwrap_or_default().to_owned(),
        goal: shown,
        id: Some(number_of(goal)),
        verdict: verdict.to_owned(),
        reason,
        solver_calls,
        seconds,
        test,
    }
}

/// The number of the location, or of the switch that a goal is about.
pub fn number_of(goal: Goal) -> u32 {
    match goal {
        Goal::Location(id) => id.0,
        Goal::Switch(switch)
        | Goal::Decision { switch, .. }
        | Goal::Condition { switch, .. }
        | Goal::Independent { switch, .. } => switch.0,
    }
}

//! What became of a coverage goal, with the test behind it.

use ioco_generate::cover::{Goal, GoalVerdict, Instance};
use ioco_sts::{Direction, Semantics, Step, Sts, SwitchId};
use serde::{Deserialize, Serialize};

use crate::run::TestView;
use crate::trace::{TraceView, Tracer};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct GoalView {
    /// `switch Open ──?close──► Closing (door.aml:14)`.
    pub goal: String,
    /// `location`, `switch`, ...
    pub kind: String,
    /// The number of the location, or of the switch that it is about.
    pub id: Option<u32>,
    /// `covered`, `unreachable` or `unknown`.
    #[cfg_attr(
        feature = "schema",
        ts(type = "\"covered\" | \"unreachable\" | \"unknown\"")
    )]
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

impl GoalView {
    /// What became of the goal that a test of a run is for; `None` for a test without one.
    pub fn of_test(test: &TestView, sts: &Sts) -> Option<GoalView> {
        let goal = test.name.clone()?;
        let (kind, what) = goal.split_once(' ')?;
        // One test may do for several goals.
        let what = what.split(" (and ").next().unwrap_or(what);
        let of_switch = |index: &usize| {
            let shown = sts.show_switch(SwitchId::from_index(*index));
            what.strip_prefix(shown.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(" ("))
        };
        let id = match kind {
            "location" => sts.location_named(what).map(|id| id.0),
            "switch" => (0..sts.switches().len())
                .find(of_switch)
                .map(|index| SwitchId::from_index(index).0),
            "guard" | "condition" => None,
            _ => return None,
        };
        let reason = match test.verdict.as_str() {
            "pass" => None,
            "fail" => Some(format!("its test {} failed", test.number)),
            other => Some(test.reason.clone().unwrap_or_else(|| other.to_owned())),
        };
        Some(GoalView {
            kind: kind.to_owned(),
            id,
            verdict: if reason.is_none() {
                "covered"
            } else {
                "unknown"
            }
            .to_owned(),
            reason,
            solver_calls: 0,
            seconds: 0.0,
            test: Some(test.trace.clone()),
            goal,
        })
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

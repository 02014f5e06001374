//! What became of a coverage goal, with the test behind it.

use ioco_generate::cover::{Goal, GoalVerdict, Instance};
use ioco_sts::{Direction, LocationId, Semantics, Step, Sts, SwitchId};
use serde::{Deserialize, Serialize};

use crate::run::TestView;
use crate::trace::{TraceView, Tracer};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct GoalView {
    /// `switch Open ──?close──► Closing (door.aml:14)`, for people.
    pub goal: String,
    /// What its test is called, with the names of the model text.
    pub name: String,
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
        verdict: verdict.to_owned(),
        reason,
        solver_calls,
        seconds,
        test,
        ..GoalView::undecided(goal, &sts)
    }
}

impl GoalView {
    /// A goal that nothing is known about yet.
    pub fn undecided(goal: Goal, sts: &Sts) -> GoalView {
        let name = goal.show(sts);
        GoalView {
            kind: name.split(' ').next().unwrap_or_default().to_owned(),
            goal: goal.title(sts),
            name,
            id: Some(number_of(goal)),
            verdict: "unknown".to_owned(),
            reason: None,
            solver_calls: 0,
            seconds: 0.0,
            test: None,
        }
    }

    /// What became of the goal that a test of a run is for; `None` for a test without one.
    pub fn of_test(test: &TestView, sts: &Sts) -> Option<GoalView> {
        let name = test.name.clone()?;
        let (kind, what) = name.split_once(' ')?;
        // One test may do for several goals.
        let what = what.split(" (and ").next().unwrap_or(what);
        let of_switch = |index: &usize| {
            let id = SwitchId::from_index(*index);
            let shown = [sts.show_switch(id), sts.switch_title(id)];
            let begins = |shown: &String| what.strip_prefix(shown.as_str());
            let mut rests = shown.iter().filter_map(begins);
            rests.any(|rest| rest.is_empty() || rest.starts_with(" ("))
        };
        let id = match kind {
            "location" => (0..sts.locations().len())
                .map(LocationId::from_index)
                .find(|id| sts.location(*id).name == what || sts.location_title(*id) == what)
                .map(|id| id.0),
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
            goal: sts.titled(&name),
            name,
        })
    }
}

/// The number of the location, or of the switch that a goal is about.
fn number_of(goal: Goal) -> u32 {
    match goal {
        Goal::Location(id) => id.0,
        Goal::Switch(switch)
        | Goal::Decision { switch, .. }
        | Goal::Condition { switch, .. }
        | Goal::Independent { switch, .. } => switch.0,
    }
}

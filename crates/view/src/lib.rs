//! What people see of models, traces, failures and runs: plain data that the page of `ioco serve`
//! and the html report share. Views are computed from the model and from what was saved; nothing
//! here knows of a server, of files or of a clock.

mod explore;
mod failure;
mod goal;
mod model;
mod project;
mod request;
mod run;
mod trace;

pub use explore::{Exploration, Given, MenuEntry, Parameter, WalkedStep, explore, explore_taken};
pub use failure::{
    Facts, FailureDetail, FailureStatus, FailureSummary, ModelLine, ProgressPoint, Why,
};
pub use goal::{GoalView, goal_of};
pub use model::{
    DiagnosticView, LabelView, LocationView, ModelView, ParameterView, SourceView, SwitchView,
    VariableView,
};
pub use project::{ConnectionView, DefaultsView, ModelName, ProjectView, SettingsView};
pub use request::RunRequest;
pub use run::{
    CoverageView, Recorded, RequirementView, RunDetail, RunState, RunSummary, RunWalk, SilenceView,
    TestRow, TestView, TrendPoint, extend_trend, known_failure, location_counts, reached,
};
pub use trace::{Change, StateView, StepKind, StepView, TimeSpent, TraceView, Tracer, WireView};

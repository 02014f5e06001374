//! The project as the page first sees it: which models, how to reach the system, and what the
//! settings say.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct ProjectView {
    pub name: String,
    /// Of ioco.
    pub version: String,
    pub models: Vec<ModelName>,
    /// The path of the model that is shown first.
    pub model: String,
    pub connection: Option<ConnectionView>,
    pub strategies: Vec<String>,
    pub strategy: String,
    pub shrinkers: Vec<String>,
    pub settings: SettingsView,
    /// What an empty field means.
    pub defaults: DefaultsView,
}

/// The limits of a run that are not set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct DefaultsView {
    /// Where neither time nor coverage ends the run.
    pub tests: u64,
    pub steps: u64,
    pub failures: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct ModelName {
    /// Relative to the project's folder.
    pub path: String,
    pub name: String,
}

/// How to reach the system: `process` with a command, `tcp` with an address, `simulated` plays the
/// model itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct ConnectionView {
    pub kind: String,
    #[serde(default)]
    pub text: String,
}

/// What ioco.toml says; times as people write them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct SettingsView {
    #[cfg_attr(feature = "schema", ts(type = "Whole | null"))]
    pub seed: Option<u64>,
    pub tests: Option<u64>,
    pub steps: Option<u64>,
    pub time: Option<String>,
    pub coverage: Option<f64>,
    pub failures: Option<u64>,
    pub timeout: Option<String>,
}

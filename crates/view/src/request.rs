//! What a person asks for when a run starts.

use serde::{Deserialize, Serialize};

use crate::explore::Given;
use crate::project::ConnectionView;

/// What a person chose for a run; ioco.toml says the rest.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(default)]
#[cfg_attr(feature = "schema", ts(optional_fields = nullable))]
pub struct RunRequest {
    pub model: String,
    pub connection: Option<ConnectionView>,
    pub strategy: Option<String>,
    #[cfg_attr(feature = "schema", ts(type = "Whole | null", optional = nullable))]
    pub seed: Option<u64>,
    pub tests: Option<u64>,
    pub steps: Option<u64>,
    pub time: Option<String>,
    pub coverage: Option<f64>,
    pub failures: Option<u64>,
    pub timeout: Option<String>,
    /// Systems that are tested side by side.
    pub jobs: Option<usize>,
    pub delay_ms: Option<u64>,
    #[cfg_attr(feature = "schema", ts(as = "Option<bool>", optional))]
    pub paused: bool,
    #[cfg_attr(feature = "schema", ts(as = "Option<Vec<Given>>", optional))]
    pub prefix: Vec<Given>,
}

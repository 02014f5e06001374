//! What the store keeps, as plain data.

use ioco_engine::{FailureCounts, SavedVerdict, Summary};
use serde::{Deserialize, Serialize};

/// A run that begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewRun {
    /// Milliseconds since 1970.
    pub started: u64,
    pub model: StoredModel,
    /// How the model was read; only the writer knows what it means.
    pub options: String,
    /// How the system is reached, for a person.
    pub connection: String,
    pub seed: u64,
    pub strategy: String,
    pub locations: u64,
    pub switches: u64,
    /// The campaign that the run belongs to, where workers on other machines carry out its tests.
    pub campaign: Option<NewCampaign>,
}

/// A campaign that begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewCampaign {
    pub id: String,
    /// JSON: what was asked for; only the writer knows what it means.
    pub plan: String,
}

/// A campaign as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CampaignRow {
    pub id: String,
    pub run: i64,
    pub plan: String,
    /// How many coordinators it has had.
    pub coordinators: u64,
    /// Its run came to its end.
    pub finished: bool,
}

/// What the orders of a campaign add up to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    pub orders: u64,
    /// Orders that a worker carried out, once each.
    pub outcomes: u64,
    /// Orders that the coordinator withdrew.
    pub withdrawn: u64,
    /// Orders with neither: under way, or to be handed out again.
    pub open: u64,
    /// Outcomes that came twice or late, and count for nothing.
    pub discarded: u64,
    /// Outcomes by worker.
    pub workers: Vec<(String, u64)>,
}

/// An order as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderRow {
    pub number: u64,
    /// JSON: what the coordinator wants it for.
    pub purpose: String,
    /// JSON: the order as workers get it.
    pub body: String,
}

/// What became of an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutcomeRow {
    pub number: u64,
    /// Of the order.
    pub purpose: String,
    /// JSON; `None` where the coordinator withdrew the order.
    pub body: Option<String>,
}

/// A model as it was when a run used it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredModel {
    pub hash: String,
    pub name: String,
    pub path: String,
    /// File names and their text.
    pub sources: Vec<(String, String)>,
}

/// A run in one line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunRow {
    pub id: i64,
    /// Milliseconds since 1970.
    pub started: u64,
    pub model: String,
    pub model_hash: String,
    pub options: String,
    pub connection: String,
    pub seed: u64,
    pub strategy: String,
    /// As reported at the end; of a run that goes on or was killed, what its finished tests add up to.
    pub summary: Summary,
    /// What it saw, alike ones counted once.
    pub failures: FailureCounts,
    /// The run came to its end.
    pub finished: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestRow {
    pub number: u64,
    pub seed: u64,
    /// What it is for, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Nanoseconds on the connection's clock.
    pub began: u64,
    pub ended: u64,
    pub steps: u64,
    pub duration: u64,
    /// `None` for a test that did not come to its end.
    #[serde(flatten)]
    pub verdict: Option<SavedVerdict>,
}

/// What one run covered, by names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Covered {
    pub locations: Vec<CoveredLocation>,
    pub switches: Vec<CoveredSwitch>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoveredLocation {
    pub process: String,
    pub name: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoveredSwitch {
    /// `door.aml:14`.
    pub place: String,
    /// `Open ──?close──► Closing`.
    pub switch: String,
    pub count: u64,
}

/// A failure over all runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureRow {
    pub fingerprint: String,
    pub model: String,
    pub code: String,
    pub title: String,
    /// In how many runs it was seen.
    pub runs: u64,
    pub first_run: i64,
    pub last_run: i64,
    /// Milliseconds since 1970.
    pub first_seen: u64,
    pub last_seen: u64,
}

/// A failure in one run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sighting {
    pub fingerprint: String,
    pub code: String,
    pub title: String,
    pub test: u64,
    pub flaky: bool,
    /// A person had accepted it before the run.
    pub accepted: bool,
    /// The text of the failure file.
    pub file: String,
}

/// A point of the trend over runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrendRow {
    pub run: i64,
    pub started: u64,
    pub model_hash: String,
    pub tests: u64,
    pub failed: u64,
    pub failures: u64,
    /// Covered and total.
    pub locations: (u64, u64),
    pub switches: (u64, u64),
    pub boundaries: (u64, u64),
}

//! What a finished test and a finished run say.

use ioco_sts::{Deviation, Execution};
use serde::{Deserialize, Serialize};

/// A group of failures that are alike ([`Deviation::is_like`]), numbered from zero in the order in
/// which a run found them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FailureId(pub u32);

/// One test, from reset to verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestReport {
    /// Counted from one; a script that does not count has the number of the test before it.
    pub number: u64,
    /// Repeats this test alone, given the same responses.
    pub seed: u64,
    /// What it is for, where that is known.
    pub name: Option<String>,
    pub execution: Execution,
    /// Per step of the trace, nanoseconds since the system was ready; for a failed test one more,
    /// the time of the deviation.
    pub times: Vec<u64>,
    /// Nanoseconds from the system being ready to the verdict.
    pub duration: u64,
    /// The test failed, and no failure before it was alike.
    pub is_new_failure: bool,
    /// The group that this failure belongs to.
    pub failure: Option<FailureId>,
}

/// A group of failures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownFailure {
    pub id: FailureId,
    /// As it was first seen.
    pub deviation: Deviation,
    /// The number and seed of the first test that showed it.
    pub test: u64,
    pub seed: u64,
    /// How many tests showed it.
    pub times_seen: u64,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopReason {
    Tests,
    Steps,
    Time,
    Coverage,
    Failures,
    Errors,
    Interrupted,
}

impl StopReason {
    /// For a person: "stopped after ...".
    pub fn words(self) -> &'static str {
        match self {
            StopReason::Tests => "the number of tests was reached",
            StopReason::Steps => "the number of steps was reached",
            StopReason::Time => "the time was up",
            StopReason::Coverage => "the coverage was reached",
            StopReason::Failures => "the number of distinct failures was reached",
            StopReason::Errors => "the system or its adapter could not be used",
            StopReason::Interrupted => "it was interrupted",
        }
    }
}

/// The numbers of a run so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    pub seed: u64,
    pub tests: u64,
    pub passed: u64,
    pub failed: u64,
    pub inconclusive: u64,
    pub errors: u64,
    pub distinct_failures: u64,
    pub stimuli: u64,
    pub responses: u64,
    pub silences: u64,
    /// Nanoseconds from the first test to the end of the last.
    pub duration: u64,
    pub locations: u64,
    pub covered_locations: u64,
    pub switches: u64,
    pub covered_switches: u64,
    pub boundaries: u64,
    pub covered_boundaries: u64,
    pub stopped: Option<StopReason>,
}

impl Summary {
    pub fn steps(&self) -> u64 {
        self.stimuli + self.responses + self.silences
    }
}

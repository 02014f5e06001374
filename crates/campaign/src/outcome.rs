//! What a campaign found, and how it ended.

use std::path::PathBuf;

use ioco_engine::{Explanation, FailureCounts, RequirementCoverage, RunVerdict, Summary};

use crate::note::Note;
use crate::suite::SuiteRow;

/// One failure that a campaign has to report.
#[derive(Clone, Debug)]
pub struct FoundFailure {
    pub id: String,
    pub file: PathBuf,
    pub explanation: Option<Explanation>,
    pub notes: Vec<Note>,
    /// What the person can do about a system that ended.
    pub hint: Option<String>,
    pub flaky: bool,
    /// A person has accepted it.
    pub accepted: bool,
    /// An earlier run found it.
    pub is_known: bool,
    /// Its file is not among those of the project.
    pub is_elsewhere: bool,
}

/// How a campaign ended.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub summary: Summary,
    pub found: Vec<FoundFailure>,
    /// Failures that were seen again.
    pub confirmed: usize,
    pub flaky: usize,
    /// Failures that a person has accepted.
    pub accepted: usize,
    pub interrupted: bool,
    /// The share of the switches that was wanted, and what was reached, in percent.
    pub missed_goal: Option<(f64, f64)>,
    /// The same for the requirements that the model cites.
    pub missed_requirements: Option<(f64, f64)>,
    /// The number of the run in the store; 0 where it could not be recorded.
    pub run: i64,
    /// Everything that the run did and found is on the disk.
    pub is_kept: bool,
    /// The tests of a suite, in order.
    pub suite: Vec<SuiteRow>,
    /// The requirements that the model cites, and how often this run showed each.
    pub requirements: Vec<RequirementCoverage>,
}

impl Outcome {
    /// In one word.
    pub fn verdict(&self) -> RunVerdict {
        let counts = FailureCounts {
            confirmed: self.confirmed as u64,
            flaky: self.flaky as u64,
            accepted: self.accepted as u64,
            ended: 0,
        };
        RunVerdict::of(&self.summary, counts)
    }
}

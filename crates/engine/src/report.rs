//! What a finished test and a finished run say.

use ioco_sts::{Deviation, Execution};
use serde::{Deserialize, Serialize};

use crate::silence::SilencePrice;

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
    Requirements,
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
            StopReason::Requirements => "the requirements were shown",
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
    /// Those that passed and that the strategy ended early, to restart the system. They do not use up the number of
    /// tests of the run.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub restarts: u64,
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
    /// Those that the model cites, and those of which a test may have taken a step.
    #[serde(default)]
    pub requirements: u64,
    #[serde(default)]
    pub covered_requirements: u64,
    pub stopped: Option<StopReason>,
    /// What silence cost; not known where others carried out the tests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub silence: Option<SilencePrice>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Summary {
    /// Tests that the strategy did not end early to restart the system.
    pub fn whole_tests(&self) -> u64 {
        self.tests.saturating_sub(self.restarts)
    }

    pub fn steps(&self) -> u64 {
        // A summary may be read from a file of another person.
        let taken = self.stimuli.saturating_add(self.responses);
        taken.saturating_add(self.silences)
    }
}

/// The failures that a run saw, by what is known of them. That the system ended is an error: it is
/// counted apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureCounts {
    pub confirmed: u64,
    /// Not every run that should confirm it showed it.
    pub flaky: u64,
    /// A person has accepted it.
    pub accepted: u64,
    pub ended: u64,
}

impl FailureCounts {
    pub fn all(&self) -> u64 {
        self.confirmed + self.flaky + self.accepted + self.ended
    }
}

/// What a run says, in one word: the same in the terminal, on the page and in every report, and in
/// the order of the exit codes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunVerdict {
    /// At least one confirmed failure that is not accepted.
    Fail,
    /// Only failures that were not seen in every run that should confirm them.
    Flaky,
    /// The system or its adapter could not be used.
    Error,
    /// It did not come to its end.
    #[default]
    Stopped,
    /// Only failures that a person has accepted.
    Accepted,
    /// No test passed.
    Inconclusive,
    Pass,
}

impl RunVerdict {
    pub fn of(summary: &Summary, failures: FailureCounts) -> RunVerdict {
        let unrecorded = summary.failed > 0 && failures.all() == failures.ended;
        if failures.confirmed > 0 || unrecorded {
            RunVerdict::Fail
        } else if failures.flaky > 0 {
            RunVerdict::Flaky
        } else if summary.errors > 0 {
            RunVerdict::Error
        } else if matches!(summary.stopped, None | Some(StopReason::Interrupted)) {
            RunVerdict::Stopped
        } else if failures.accepted > 0 {
            RunVerdict::Accepted
        } else if summary.passed == 0 {
            RunVerdict::Inconclusive
        } else {
            RunVerdict::Pass
        }
    }

    /// As the terminal and the reports write it.
    pub fn word(self) -> &'static str {
        match self {
            RunVerdict::Fail => "FAIL",
            RunVerdict::Flaky => "FLAKY",
            RunVerdict::Error => "ERROR",
            RunVerdict::Stopped => "STOPPED",
            RunVerdict::Accepted => "ACCEPTED",
            RunVerdict::Inconclusive => "INCONCLUSIVE",
            RunVerdict::Pass => "PASS",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_run_that_came_to_its_end_and_passed_a_test_passes() {
        let none = FailureCounts::default();
        let ended = Summary {
            tests: 3,
            passed: 3,
            stopped: Some(StopReason::Tests),
            ..Summary::default()
        };
        let of = |summary: Summary, failures| RunVerdict::of(&summary, failures);
        assert_eq!(of(ended, none), RunVerdict::Pass);
        for stopped in [None, Some(StopReason::Interrupted)] {
            assert_eq!(of(Summary { stopped, ..ended }, none), RunVerdict::Stopped);
        }
        let nothing = Summary {
            tests: 0,
            passed: 0,
            ..ended
        };
        assert_eq!(of(nothing, none), RunVerdict::Inconclusive);
        assert_eq!(of(Summary { errors: 1, ..ended }, none), RunVerdict::Error);
    }

    #[test]
    fn what_failed_outranks_how_the_run_ended() {
        let failed = Summary {
            tests: 2,
            passed: 1,
            failed: 1,
            errors: 1,
            stopped: Some(StopReason::Interrupted),
            ..Summary::default()
        };
        let counts = |confirmed, flaky, accepted| FailureCounts {
            confirmed,
            flaky,
            accepted,
            ended: 1,
        };
        assert_eq!(RunVerdict::of(&failed, counts(1, 1, 1)), RunVerdict::Fail);
        assert_eq!(RunVerdict::of(&failed, counts(0, 1, 1)), RunVerdict::Flaky);
        assert_eq!(RunVerdict::of(&failed, counts(0, 0, 1)), RunVerdict::Error);
        // The program went away before the failure was recorded.
        assert_eq!(RunVerdict::of(&failed, counts(0, 0, 0)), RunVerdict::Fail);
        let whole = Summary {
            errors: 0,
            stopped: Some(StopReason::Tests),
            ..failed
        };
        assert_eq!(
            RunVerdict::of(&whole, counts(0, 0, 1)),
            RunVerdict::Accepted
        );
    }
}

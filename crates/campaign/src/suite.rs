//! Suites: tests from a file, and what became of each.

use std::path::Path;

use ioco_engine::TestReport;
use ioco_generate::suite::{self, ReadTest};
use ioco_sts::Verdict;
use serde::Serialize;

use crate::error::CampaignError;
use crate::model::Model;
use crate::observer::Observer;
use crate::shard::Shard;

/// One test of a suite that was run.
#[derive(Clone, Debug, Serialize)]
pub struct SuiteRow {
    /// What the test is for.
    pub name: String,
    pub verdict: &'static str,
    /// Why it did not pass, in a few words.
    pub reason: Option<String>,
    pub steps: usize,
    /// Nanoseconds.
    pub duration: u64,
}

impl SuiteRow {
    pub(crate) fn new(name: String, report: &TestReport) -> SuiteRow {
        let (verdict, reason) = match &report.execution.verdict {
            Verdict::Pass => ("pass", None),
            Verdict::Fail(deviation) => ("fail", Some(deviation.kind.code().to_owned())),
            Verdict::Inconclusive(reason) => ("inconclusive", Some(reason.text.clone())),
            Verdict::Error(reason) => ("error", Some(reason.text.clone())),
            Verdict::Ended(deviation) => ("error", Some(deviation.kind.code().to_owned())),
        };
        SuiteRow {
            name,
            verdict,
            reason,
            steps: report.execution.trace.len(),
            duration: report.duration,
        }
    }
}

/// A suite that fits the model.
pub(crate) struct LoadedSuite {
    pub tests: Vec<ReadTest>,
    /// Per test, the suite's file with it alone.
    pub alone: Vec<String>,
}

impl LoadedSuite {
    /// The tests of one shard.
    pub fn shard(self, shard: Shard) -> Result<LoadedSuite, CampaignError> {
        let all = self.tests.len();
        let suite = LoadedSuite {
            tests: shard.share(self.tests),
            alone: shard.share(self.alone),
        };
        if suite.tests.is_empty() {
            return Err(CampaignError::usage(format!(
                "the suite has {all} tests, which leaves none for shard {shard}"
            ))
            .hint(format!("use at most {all} shards")));
        }
        Ok(suite)
    }
}

/// The text of a suite.
pub(crate) fn text(path: &Path, model: &Model) -> Result<String, CampaignError> {
    ioco_outside::file::read_text(path, model.sts.budget())
        .map_err(|error| CampaignError::usage(format!("cannot read {}: {error}", path.display())))
}

/// Reads a suite for a model, from text that was read from `path`. One for another model is refused; one for an older
/// text of the same model is used as far as it fits.
pub(crate) fn parse(
    path: &Path,
    text: &str,
    model: &Model,
    observer: &mut dyn Observer,
) -> Result<LoadedSuite, CampaignError> {
    let suite = suite::read(text, &model.sts, &model.hash)
        .map_err(|error| CampaignError::usage(format!("{}: {error}", path.display())))?;
    if suite.header.model != model.sts.name() {
        return Err(CampaignError::usage(format!(
            "{} is a suite for '{}', not for '{}'",
            path.display(),
            suite.header.model,
            model.sts.name()
        )));
    }
    if suite.header.hash != model.hash {
        observer.warning(&format!(
            "the model has changed since {} was made: its tests are run as far as they fit, and the goals that they \
             were made for are not shown",
            path.display()
        ));
    }
    if suite.tests.is_empty() {
        return Err(CampaignError::usage(format!(
            "{} has no tests",
            path.display()
        )));
    }
    let lines: Vec<&str> = text.lines().filter(|l| !l.trim().is_empty()).collect();
    let (header, own) = lines
        .split_first()
        .map_or(("", &[][..]), |(h, own)| (*h, own));
    Ok(LoadedSuite {
        alone: own
            .iter()
            .map(|test| format!("{header}\n{test}\n"))
            .collect(),
        tests: suite.tests,
    })
}

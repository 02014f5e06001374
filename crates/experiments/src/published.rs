//! Reading the published failing traces and results.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use crate::ExperimentError;

/// What one published shrinker made of the traces of one mutant.
#[derive(Clone, Debug, Deserialize)]
pub struct PublishedResult {
    /// Tests run, summed over the traces.
    pub tests: u64,
    /// Per trace: stimuli sent while shrinking.
    pub sut_inputs: Vec<u64>,
    /// Per trace, in steps.
    pub final_length: Vec<u64>,
}

/// The failing traces of one mutant.
#[derive(Clone, Debug, Deserialize)]
pub struct Case {
    pub experiment: String,
    pub mutant: String,
    pub failing_traces: Vec<Vec<String>>,
    #[serde(default)]
    pub published: BTreeMap<String, PublishedResult>,
}

impl Case {
    /// What van den Broek 2024, Tables 5.2 to 5.4, says of the bug.
    pub fn bug_type(&self) -> &'static str {
        let trace_bugs: &[&str] = match self.experiment.as_str() {
            "smartdoor" => &["m03", "m08"],
            "koopman" => &["m01", "m02", "m04", "m05", "m07", "m08", "m09", "m10"],
            _ => &["m02", "m05"],
        };
        match trace_bugs.contains(&self.mutant.as_str()) {
            true => "trace",
            false => "state",
        }
    }
}

/// Every `.json` file under the folder, in its sub-folders or in itself, by experiment and mutant.
pub fn read_cases(folder: &Path) -> Result<Vec<Case>, ExperimentError> {
    let mut files = Vec::new();
    collect(folder, 0, &mut files)?;
    files.sort();
    let mut cases = Vec::new();
    for path in files {
        let text = std::fs::read_to_string(&path).map_err(|error| ExperimentError::Unreadable {
            path: path.clone(),
            reason: error.to_string(),
        })?;
        let case: Case = serde_json::from_str(&text).map_err(|error| ExperimentError::Format {
            path: path.clone(),
            reason: error.to_string(),
        })?;
        cases.push(case);
    }
    if cases.is_empty() {
        let path = folder.to_owned();
        return Err(ExperimentError::NoTraces { path });
    }
    let rank = |case: &Case| match case.experiment.as_str() {
        "smartdoor" => 0,
        "koopman" => 1,
        _ => 2,
    };
    cases.sort_by(|a, b| (rank(a), &a.mutant).cmp(&(rank(b), &b.mutant)));
    Ok(cases)
}

fn collect(
    folder: &Path,
    depth: usize,
    files: &mut Vec<std::path::PathBuf>,
) -> Result<(), ExperimentError> {
    let unreadable = |error: std::io::Error| ExperimentError::Unreadable {
        path: folder.to_owned(),
        reason: error.to_string(),
    };
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.is_dir() && depth < 2 {
            collect(&path, depth + 1, files)?;
        } else if path.extension().is_some_and(|e| e == "json") {
            files.push(path);
        }
    }
    Ok(())
}

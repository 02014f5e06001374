//! The same task by Hypothesis' `RuleBasedStateMachine`, for comparison: lines, time to the deviation, length
//! of the counterexample.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use super::campaign::isolated;
use super::install::{install, python_with};
use super::systems::System;
use crate::tools::root;

const HYPOTHESIS: &str = "hypothesis==6.115.0";

#[derive(Clone, Debug, Default)]
pub struct Comparison {
    pub lines: usize,
    pub first: Option<Duration>,
    pub time: Duration,
    /// Rules that the smallest example runs.
    pub length: Option<u64>,
}

/// Runs a script that prints one JSON object: `seconds`, `first` and `length`.
pub fn run(system: &System, script: &str, seed: u64) -> Result<Comparison, String> {
    let installed = install(system.name, system.source)?;
    let python = python_with(&[HYPOTHESIS], "hypothesis")?;
    let file = root()
        .join("examples/real")
        .join(system.folder)
        .join(script);
    let mut command = isolated(&python.join("python"))?;
    let output = command
        .arg(&file)
        .arg(seed.to_string())
        .env("PATH", installed.path()?)
        .current_dir(std::env::temp_dir())
        .output()
        .map_err(|error| format!("cannot start Python: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let last = text.lines().last().unwrap_or_default();
    let said: Value = serde_json::from_str(last).map_err(|_| {
        let errors = String::from_utf8_lossy(&output.stderr);
        format!(
            "{script}: {}",
            errors.lines().last().unwrap_or("it said nothing")
        )
    })?;
    let seconds = |key: &str| said[key].as_f64().map(Duration::from_secs_f64);
    Ok(Comparison {
        lines: lines(&file)?,
        first: seconds("first"),
        time: seconds("seconds").unwrap_or_default(),
        length: said["length"].as_u64(),
    })
}

/// Lines that are neither empty nor a comment.
pub fn lines(file: &Path) -> Result<usize, String> {
    let text =
        std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let counts = |line: &&str| {
        let line = line.trim_start();
        !line.is_empty() && !line.starts_with('#') && !line.starts_with("//")
    };
    Ok(text.lines().filter(counts).count())
}

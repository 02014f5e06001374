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
    pub lines: Lines,
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

/// The lines of a file, those without any text aside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lines {
    pub all: usize,
    /// Without those that are a comment and nothing else.
    pub code: usize,
}

pub fn lines(file: &Path) -> Result<Lines, String> {
    let text =
        std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    Ok(count(&text))
}

fn count(text: &str) -> Lines {
    let lines = text.lines().map(str::trim_start);
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    let is_comment = |line: &&&str| line.starts_with('#') || line.starts_with("//");
    Lines {
        all: lines.len(),
        code: lines.len() - lines.iter().filter(is_comment).count(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_counted_apart_and_empty_lines_never() {
        let text = "# one\n\nx = 1  # two\n  // three\n";
        assert_eq!(count(text), Lines { all: 3, code: 1 });
    }
}

//! A long run against a local process: memory over steps, and whether it stays level.

use std::fs;
use std::io::{self, BufRead as _, BufReader};
use std::process::{Command, Stdio};

use crate::model;
use crate::program::{Programs, field};

/// Steps of one test.
const STEPS: u64 = 1000;

/// Rows of the table, and the points of the fit.
const SAMPLES: u64 = 100;

/// Growth over the second half that still counts as level, in per cent: what a page more or less makes.
pub const LEVEL: f64 = 2.0;

/// Memory of the program after so many steps, in KiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    pub steps: u64,
    /// All that is resident.
    pub resident: u64,
    /// Without files that are mapped: what the program allocated itself.
    pub own: u64,
}

/// A straight line through the second half of the samples. The first half fills caches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// Bytes of own memory per million steps.
    pub slope: f64,
    /// What that makes over the second half, in per cent of the memory at its beginning.
    pub growth: f64,
}

impl Fit {
    /// By least squares; `None` for fewer than four samples.
    pub fn of(samples: &[Sample]) -> Option<Fit> {
        let half = &samples[samples.len() / 2..];
        let (first, last) = (half.first()?, half.last()?);
        if samples.len() < 4 || last.steps <= first.steps {
            return None;
        }
        let points = || half.iter().map(|s| (s.steps as f64, s.own as f64 * 1024.0));
        let count = half.len() as f64;
        let (x, y) = points().fold((0.0, 0.0), |(x, y), (a, b)| (x + a / count, y + b / count));
        let (up, across) = points().fold((0.0, 0.0), |(up, across), (a, b)| {
            (up + (a - x) * (b - y), across + (a - x) * (a - x))
        });
        let slope = up / across;
        let begin = y + slope * (first.steps as f64 - x);
        let grown = slope * (last.steps - first.steps) as f64;
        Some(Fit {
            slope: slope * 1e6,
            growth: 100.0 * grown / begin.max(1.0),
        })
    }

    pub fn is_level(&self) -> bool {
        self.growth < LEVEL
    }
}

/// Plays it.
pub fn soak(programs: &Programs, steps: u64) -> io::Result<Vec<Sample>> {
    let folder = tempfile::tempdir()?;
    fs::write(folder.path().join("ping.aml"), model::TEXT)?;
    let sut = format!("exec '{}' quick", programs.peer.display());
    let tests = (steps / STEPS).max(1);
    let mut child = Command::new(&programs.ioco)
        .current_dir(folder.path())
        .args(["test", "ping.aml", "--sut", &sut, "--format", "json"])
        .args(["--tests", &tests.to_string()])
        .args(["--steps", &STEPS.to_string(), "--seed", "1"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()?;
    let Some(out) = child.stdout.take() else {
        return Err(io::ErrorKind::Other.into());
    };
    let pid = child.id().to_string();
    let memory = |name| field(&pid, name).unwrap_or(0);
    let mut samples = Vec::new();
    let (mut done, mut next) = (0, 0);
    for line in BufReader::new(out).lines() {
        if !line?.contains("\"test-finished\"") {
            continue;
        }
        done += STEPS;
        if done >= next {
            samples.push(Sample {
                steps: done,
                resident: memory("VmRSS:"),
                own: memory("RssAnon:"),
            });
            next = done + steps / SAMPLES;
        }
    }
    let status = child.wait()?;
    if !status.success() {
        return Err(io::Error::other(format!("ioco ended with {status}")));
    }
    Ok(samples)
}

/// The samples and the line through them, for a person.
pub fn show(samples: &[Sample]) -> String {
    let mut text = format!("{:>12} {:>14} {:>14}\n", "steps", "resident", "own memory");
    for sample in samples.iter().step_by(5) {
        let Sample {
            steps,
            resident,
            own,
        } = sample;
        text.push_str(&format!("{steps:>12} {resident:>10} KiB {own:>10} KiB\n"));
    }
    match Fit::of(samples) {
        Some(fit) => {
            let (slope, growth) = (fit.slope, fit.growth);
            let level = if fit.is_level() {
                "level"
            } else {
                "memory grows"
            };
            text.push_str(&format!(
                "second half: {slope:+.0} bytes per million steps, {growth:+.2} %: {level}\n"
            ));
        }
        None => text.push_str("too few samples to say anything\n"),
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(own: impl Fn(u64) -> u64) -> Vec<Sample> {
        let of = |number: u64| Sample {
            steps: number * 100_000,
            resident: 0,
            own: own(number),
        };
        (0..100).map(of).collect()
    }

    #[test]
    fn memory_that_settles_is_level_and_a_leak_is_not() {
        // Fills caches first, and trembles afterwards.
        let settles = samples(|number| 40_000 + 100 * number.min(40) + number % 3);
        assert!(
            Fit::of(&settles).is_some_and(|fit| fit.is_level()),
            "{settles:?}"
        );
        // 8 bytes a step.
        let leaks = samples(|number| 40_000 + number * 8 * 100_000 / 1024);
        let fit = Fit::of(&leaks).expect("a fit");
        assert!(!fit.is_level() && (fit.slope - 8e6).abs() < 1e5, "{fit:?}");
        // One jump in the second half.
        let jumps = samples(|number| if number < 80 { 50_000 } else { 75_000 });
        assert!(Fit::of(&jumps).is_some_and(|fit| !fit.is_level()));
        assert_eq!(Fit::of(&leaks[..3]), None);
    }
}

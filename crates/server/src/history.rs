//! Runs of earlier days and of other programs, from the records in `.ioco/runs/`.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use ioco_engine::Event;
use ioco_view::{CoverageView, RunState, RunSummary};

use crate::clock;

/// The end of a record that is read to learn how the run ended.
const TAIL: u64 = 64 * 1024;

pub struct Records {
    folder: PathBuf,
}

impl Records {
    pub fn new(results: &Path) -> Records {
        Records {
            folder: results.join("runs"),
        }
    }

    /// The ids of all runs, newest first.
    pub fn ids(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten();
        let mut ids: Vec<String> = entries
            .filter_map(Result::ok)
            .filter_map(|entry| {
                let name = entry.file_name().to_string_lossy().into_owned();
                name.strip_suffix(".jsonl").map(str::to_owned)
            })
            .collect();
        ids.sort_unstable();
        ids.reverse();
        ids
    }

    /// The record of a run, if there is one.
    fn path(&self, id: &str) -> Option<PathBuf> {
        // An id is a file's name, never a way to somewhere else.
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let path = self.folder.join(format!("{id}.jsonl"));
        (id.chars().all(plain) && path.is_file()).then_some(path)
    }

    /// The numbers of a run, from the two ends of its record.
    pub fn summary(&self, id: &str) -> Option<RunSummary> {
        let mut file = File::open(self.path(id)?).ok()?;
        let mut summary = RunSummary {
            run: id.to_owned(),
            started: started(id),
            state: RunState::Stopped,
            ..RunSummary::default()
        };
        let mut first = String::new();
        BufReader::new(&file).read_line(&mut first).ok()?;
        if let Ok(Event::RunStarted {
            model,
            seed,
            strategy,
            locations,
            switches,
            ..
        }) = serde_json::from_str(&first)
        {
            summary.model = model;
            summary.seed = seed;
            summary.strategy = strategy;
            summary.coverage.locations.1 = locations as u64;
            summary.coverage.switches.1 = switches as u64;
        }
        let length = file.seek(SeekFrom::End(0)).ok()?;
        file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))
            .ok()?;
        let mut tail = Vec::new();
        file.read_to_end(&mut tail).ok()?;
        let tail = String::from_utf8_lossy(&tail);
        for event in tail
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
        {
            take_in(&event, &mut summary);
        }
        Some(summary)
    }

    /// The events of a run, oldest first; lines that cannot be read are left out.
    pub fn events(&self, id: &str) -> Option<impl Iterator<Item = Event> + use<>> {
        let lines = BufReader::new(File::open(self.path(id)?).ok()?).lines();
        Some(
            lines
                .map_while(Result::ok)
                .filter_map(|line| serde_json::from_str(&line).ok()),
        )
    }

    /// The events of one test of a run.
    pub fn test_events(&self, id: &str, test: u64) -> Option<Vec<Event>> {
        let lines = BufReader::new(File::open(self.path(id)?).ok()?).lines();
        let mark = format!("\"test\":{test},");
        let of_test = lines
            .map_while(Result::ok)
            .filter(|line| line.contains(&mark));
        Some(
            of_test
                .filter_map(|line| serde_json::from_str(&line).ok())
                .collect(),
        )
    }
}

fn take_in(event: &Event, summary: &mut RunSummary) {
    match event {
        Event::TestFinished { test, .. } => summary.tests = *test,
        Event::FailureFound { failure, .. } => summary.failures = u64::from(failure.0) + 1,
        Event::CoverageGrew {
            covered_switches,
            covered_locations,
            ..
        } => {
            summary.coverage.switches.0 = *covered_switches as u64;
            summary.coverage.locations.0 = *covered_locations as u64;
        }
        Event::RunFinished { summary: end } => {
            summary.tests = end.tests;
            summary.steps = end.steps();
            summary.failures = end.distinct_failures;
            summary.seconds = end.duration as f64 / 1e9;
            summary.coverage = CoverageView::of_summary(end);
            summary.state = RunState::ended(end.stopped);
            summary.message = end.stopped.map(|reason| reason.words().to_owned());
        }
        _ => {}
    }
}

/// The name of a run begins with the milliseconds at which it started.
fn started(id: &str) -> String {
    let milliseconds = id
        .split('-')
        .next()
        .and_then(|text| text.parse::<u64>().ok());
    milliseconds.map_or_else(String::new, |ms| clock::iso_seconds(ms / 1000))
}

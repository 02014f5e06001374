//! What workers do at the moment, for those who watch. Nothing of this counts: an order has one outcome, and only that is
//! kept.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

/// More workers than this are not shown one by one.
const MAX_SHOWN: usize = 4096;

/// The test that a job of a worker is at, and how far it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Doing {
    pub worker: String,
    /// The number of the test; 0 where a failure is confirmed or shrunk.
    pub test: u64,
    pub steps: u64,
}

/// How far the test of one job is. Written by the job, read by what shows it.
#[derive(Debug, Default)]
pub struct Pace {
    is_busy: AtomicU64,
    test: AtomicU64,
    steps: AtomicU64,
}

impl Pace {
    pub(crate) fn begin(&self, test: u64) {
        self.test.store(test, Ordering::Relaxed);
        self.steps.store(0, Ordering::Relaxed);
        self.is_busy.store(1, Ordering::Relaxed);
    }

    pub(crate) fn step(&self, steps: usize) {
        self.steps.store(steps as u64, Ordering::Relaxed);
    }

    pub(crate) fn end(&self) {
        self.is_busy.store(0, Ordering::Relaxed);
    }

    /// What the job does, if it does anything.
    pub fn now(&self, worker: &str) -> Option<Doing> {
        (self.is_busy.load(Ordering::Relaxed) == 1).then(|| Doing {
            worker: worker.to_owned(),
            test: self.test.load(Ordering::Relaxed),
            steps: self.steps.load(Ordering::Relaxed),
        })
    }
}

/// A worker as it is shown: what it has done for this run, and what it does now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkerRow {
    pub worker: String,
    /// Tests that came back, their steps, and how many of them failed.
    pub tests: u64,
    pub steps: u64,
    pub failed: u64,
    /// Tests under way, and their steps so far.
    pub now: Vec<Doing>,
}

/// What every worker has done for a run.
#[derive(Debug, Default)]
pub(crate) struct WorkerRows(BTreeMap<String, WorkerRow>);

impl WorkerRows {
    pub fn count(&mut self, worker: &str, steps: u64, is_failed: bool) {
        if let Some(row) = self.row(worker) {
            row.tests += 1;
            row.steps += steps;
            row.failed += u64::from(is_failed);
        }
    }

    /// All workers that have done something or do something now.
    pub fn with(&mut self, doing: Vec<Doing>) -> Vec<WorkerRow> {
        for row in self.0.values_mut() {
            row.now.clear();
        }
        for one in doing {
            if let Some(row) = self.row(&one.worker) {
                row.now.push(one);
            }
        }
        self.0.values().cloned().collect()
    }

    fn row(&mut self, worker: &str) -> Option<&mut WorkerRow> {
        if self.0.len() >= MAX_SHOWN && !self.0.contains_key(worker) {
            return None;
        }
        let row = self.0.entry(worker.to_owned()).or_default();
        row.worker = worker.to_owned();
        Some(row)
    }
}

#[cfg(test)]
mod tests {
    use super::{Doing, Pace, WorkerRows};

    #[test]
    fn a_worker_is_shown_with_what_it_did_and_what_it_does() {
        let mut rows = WorkerRows::default();
        rows.count("a", 20, false);
        rows.count("a", 7, true);
        let pace = Pace::default();
        assert_eq!(pace.now("b"), None);
        pace.begin(5);
        pace.step(3);
        let doing: Vec<Doing> = pace.now("b").into_iter().collect();
        let shown = rows.with(doing);
        assert_eq!(shown.len(), 2);
        assert_eq!(
            (shown[0].tests, shown[0].steps, shown[0].failed),
            (2, 27, 1)
        );
        assert_eq!((shown[1].now[0].test, shown[1].now[0].steps), (5, 3));
        pace.end();
        assert!(rows.with(Vec::new())[1].now.is_empty());
    }
}

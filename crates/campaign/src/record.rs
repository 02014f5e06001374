//! The record of the run under way: handed to the store as it happens, told to the observer once it
//! is there.

use std::time::{Duration, Instant};

use ioco_engine::{CoverageSnapshot, Event, FailureFile};
use ioco_store::{NewRun, Place, Recording};

use crate::exit::Stop;
use crate::history::stop;
use crate::observer::Observer;

/// Waiting for the store takes at most one part in so many of the time.
const SHARE: u32 = 20;
/// Waiting more often than this tells nobody anything sooner.
const OFTEN: Duration = Duration::from_millis(5);

pub(crate) struct Record {
    recording: Recording,
    /// Handed over, and not told yet.
    untold: Vec<Event>,
    settled: Instant,
    /// How long the last wait was.
    waited: Duration,
}

impl Record {
    pub fn begin(place: &Place, run: NewRun) -> Result<Record, Stop> {
        Ok(Record {
            recording: Recording::begin(place, run).map_err(stop)?,
            untold: Vec::new(),
            settled: Instant::now(),
            waited: Duration::ZERO,
        })
    }

    pub fn run(&self) -> i64 {
        self.recording.run()
    }

    /// Hands events over.
    pub fn events(&mut self, events: Vec<Event>) -> Result<(), Stop> {
        self.recording.events(&events).map_err(stop)?;
        self.untold.extend(events);
        Ok(())
    }

    /// Whether it is time to wait for the store. Against a system at the usual speed that is so
    /// after every test; a faster one runs ahead by a few milliseconds.
    pub fn is_due(&self) -> bool {
        self.settled.elapsed() >= (self.waited * SHARE).max(OFTEN)
    }

    pub fn failure(&self, file: &FailureFile, test: u64, flaky: bool) -> Result<(), Stop> {
        self.recording.failure(file, test, flaky).map_err(stop)
    }

    pub fn coverage(&self, snapshot: CoverageSnapshot) -> Result<(), Stop> {
        self.recording.coverage(snapshot).map_err(stop)
    }

    /// Waits until everything is in the store, and tells of it.
    pub fn settle(&mut self, observer: &mut dyn Observer) -> Result<(), Stop> {
        let begun = Instant::now();
        self.recording.flush().map_err(stop)?;
        self.settled = Instant::now();
        self.waited = self.settled - begun;
        for event in self.untold.drain(..) {
            observer.event(&event);
        }
        Ok(())
    }
}

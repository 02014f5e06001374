//! Pausing, stepping, slowing down and stopping a run. The run's thread asks after every step; as
//! long as no control is used that costs one look at a flag.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

#[derive(Default)]
pub struct Control {
    /// The run does not go at full speed.
    held: AtomicBool,
    pace: Mutex<Pace>,
    changed: Condvar,
}

#[derive(Default)]
struct Pace {
    paused: bool,
    /// Steps that may be taken although it is paused.
    steps: u64,
    delay: Duration,
    stopped: bool,
}

impl Control {
    pub fn new(paused: bool, delay: Duration) -> Control {
        let control = Control::default();
        control.change(|pace| {
            pace.paused = paused;
            pace.delay = delay;
        });
        control
    }

    pub fn is_free(&self) -> bool {
        !self.held.load(Ordering::Relaxed)
    }

    pub fn delay(&self) -> Duration {
        self.pace().delay
    }

    pub fn is_paused(&self) -> bool {
        self.pace().paused
    }

    pub fn pause(&self) {
        self.change(|pace| pace.paused = true);
    }

    pub fn resume(&self) {
        self.change(|pace| {
            pace.paused = false;
            pace.steps = 0;
        });
    }

    /// One step, then pause.
    pub fn step(&self) {
        self.change(|pace| {
            pace.paused = true;
            pace.steps += 1;
        });
    }

    /// A pause after every step.
    pub fn slow_down(&self, delay: Duration) {
        self.change(|pace| pace.delay = delay);
    }

    /// Releases all who wait here, for good.
    pub fn stop(&self) {
        self.change(|pace| pace.stopped = true);
    }

    /// Called after a step: returns when the next one may be taken.
    pub fn pass(&self) {
        let mut pace = self.pace();
        let delay = pace.delay;
        if !delay.is_zero() {
            let waits = |pace: &mut Pace| !pace.stopped && !pace.paused && pace.delay == delay;
            let waited = self.changed.wait_timeout_while(pace, delay, waits);
            pace = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        while pace.paused && !pace.stopped {
            if pace.steps > 0 {
                pace.steps -= 1;
                return;
            }
            let woken = self.changed.wait(pace);
            pace = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn pace(&self) -> MutexGuard<'_, Pace> {
        self.pace.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, how: impl FnOnce(&mut Pace)) {
        let mut pace = self.pace();
        how(&mut pace);
        let held = !pace.stopped && (pace.paused || !pace.delay.is_zero());
        self.held.store(held, Ordering::Relaxed);
        drop(pace);
        self.changed.notify_all();
    }
}

//! How long a call may wait, and who may end the wait before that.

use std::time::{Duration, Instant};

/// The longest that a wait goes on without asking whether somebody wants to stop.
pub(crate) const SLICE: Duration = Duration::from_millis(50);

/// A deadline and a request to stop. Every call that may block gets one.
#[derive(Clone, Copy)]
pub(crate) struct Until<'a> {
    deadline: Instant,
    stop: &'a dyn Fn() -> bool,
}

impl<'a> Until<'a> {
    pub fn new(deadline: Instant, stop: &'a dyn Fn() -> bool) -> Until<'a> {
        Until { deadline, stop }
    }

    /// From now on for `time`.
    pub fn within(time: Duration, stop: &'a dyn Fn() -> bool) -> Until<'a> {
        // A time that the clock cannot count is as good as a year.
        let year = Duration::from_secs(365 * 24 * 3600);
        Until::new(Instant::now() + time.min(year), stop)
    }

    /// Whether the wait is over: the time is up, or somebody wants to stop.
    pub fn is_over(&self) -> bool {
        Instant::now() >= self.deadline || self.is_stopped()
    }

    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    pub fn is_stopped(&self) -> bool {
        (self.stop)()
    }

    /// When to ask again whether the wait is over.
    pub fn slice(&self) -> Instant {
        self.deadline.min(Instant::now() + SLICE)
    }

    /// The time to wait before asking again.
    pub fn slice_left(&self) -> Duration {
        self.slice().saturating_duration_since(Instant::now())
    }
}

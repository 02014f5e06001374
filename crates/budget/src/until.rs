//! How long a call may wait, and who may end the wait before that: one token for everything that blocks.
//!
//! The clock comes in from the edge with the token, as a function that tells the time.

use std::time::{Duration, Instant};

use crate::Interrupt;

/// The longest that a wait goes on without asking whether it is over.
pub const SLICE: Duration = Duration::from_millis(50);

/// Tells the time: `Instant::now` at the edge.
pub type Clock = fn() -> Instant;

/// A time that the clock cannot count is as good as a year.
const YEAR: Duration = Duration::from_secs(365 * 24 * 3600);

/// Who may want to stop: an [`Interrupt`], or a question to the caller.
pub trait Stop {
    fn is_asked(&self) -> bool;
}

impl Stop for Interrupt {
    fn is_asked(&self) -> bool {
        self.is_raised()
    }
}

impl Stop for &dyn Fn() -> bool {
    fn is_asked(&self) -> bool {
        self()
    }
}

/// A deadline and a request to stop. Every call that may block gets one.
#[derive(Clone, Debug)]
pub struct Until<S = Interrupt> {
    clock: Clock,
    deadline: Option<Instant>,
    stop: S,
}

impl Until {
    /// Without end, until the interrupt is raised.
    pub fn raised(clock: Clock, interrupt: &Interrupt) -> Until {
        Until {
            clock,
            deadline: None,
            stop: interrupt.clone(),
        }
    }

    /// Without end.
    pub fn forever(clock: Clock) -> Until {
        Until::raised(clock, &Interrupt::default())
    }
}

impl<S: Stop + Clone> Until<S> {
    /// From now on for `time`, or until a stop is requested.
    pub fn within(clock: Clock, time: Duration, stop: S) -> Until<S> {
        Until {
            clock,
            deadline: Some(clock() + time.min(YEAR)),
            stop,
        }
    }

    /// The same request to stop with another deadline; `None`: without one.
    pub fn by(&self, deadline: Option<Instant>) -> Until<S> {
        Until {
            deadline,
            ..self.clone()
        }
    }

    pub fn now(&self) -> Instant {
        (self.clock)()
    }

    /// Whether a stop is requested.
    pub fn is_stopped(&self) -> bool {
        self.stop.is_asked()
    }

    /// Whether the time is up.
    pub fn is_late(&self) -> bool {
        self.deadline.is_some_and(|deadline| self.now() >= deadline)
    }

    /// Whether the wait is over: the time is up, or a stop is requested.
    pub fn is_over(&self) -> bool {
        self.is_late() || self.is_stopped()
    }

    /// When to ask again whether the wait is over.
    pub fn slice(&self) -> Instant {
        let slice = self.now() + SLICE;
        self.deadline.map_or(slice, |deadline| deadline.min(slice))
    }

    /// The time to wait before asking again.
    pub fn slice_left(&self) -> Duration {
        self.slice().saturating_duration_since(self.now())
    }

    /// The time to the deadline; as good as a year where there is none.
    pub fn left(&self) -> Duration {
        let left = |deadline: Instant| deadline.saturating_duration_since(self.now());
        self.deadline.map_or(YEAR, left)
    }

    /// A wait for one who may finish what is under way once the wait is over.
    pub fn with_grace(&self, grace: Duration) -> Grace<S> {
        Grace {
            until: self.clone(),
            grace,
            since: None,
        }
    }
}

/// A wait for somebody who does one thing after the other. When the time is up, it goes on while he gets ahead, and
/// ends when nothing has moved for the time of grace. Somebody who wants to stop waits for this time at most.
#[derive(Debug)]
pub struct Grace<S = Interrupt> {
    until: Until<S>,
    grace: Duration,
    /// Since when nothing moved, and how much was done then.
    since: Option<(Instant, u64)>,
}

impl<S: Stop + Clone> Grace<S> {
    /// Whether the wait is over. `done` differs from the last call where something has moved.
    pub fn is_over(&mut self, done: u64) -> bool {
        let is_stopped = self.until.is_stopped();
        if !is_stopped && !self.until.is_late() {
            return false;
        }
        let now = self.until.now();
        let (since, before) = *self.since.get_or_insert((now, done));
        if !is_stopped && done != before {
            self.since = Some((now, done));
            return false;
        }
        now.duration_since(since) >= self.grace
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::LazyLock;

    use super::*;

    thread_local! {
        static MILLISECONDS: Cell<u64> = const { Cell::new(0) };
    }

    /// The beginning of the time that the tests set.
    #[allow(clippy::disallowed_methods)]
    static BEGINNING: LazyLock<Instant> = LazyLock::new(Instant::now);

    fn clock() -> Instant {
        *BEGINNING + Duration::from_millis(MILLISECONDS.get())
    }

    fn at(milliseconds: u64) {
        MILLISECONDS.set(milliseconds);
    }

    #[test]
    fn a_wait_ends_at_its_deadline_and_when_somebody_wants_to_stop() {
        at(0);
        let asked = Cell::new(false);
        let stop: &dyn Fn() -> bool = &|| asked.get();
        let until = Until::within(clock, Duration::from_millis(70), stop);
        assert_eq!(until.slice_left(), SLICE);
        at(69);
        assert!(!until.is_over());
        assert_eq!(until.slice_left(), Duration::from_millis(1));
        asked.set(true);
        assert!(until.is_over() && until.is_stopped() && !until.is_late());
        asked.set(false);
        at(70);
        assert!(until.is_over() && until.is_late() && !until.is_stopped());
        assert!(!until.by(None).is_over());
    }

    #[test]
    fn an_interrupt_ends_a_wait_without_a_deadline() {
        at(0);
        let interrupt = Interrupt::default();
        let until = Until::raised(clock, &interrupt);
        at(1 << 40);
        assert!(!until.is_over());
        interrupt.raise();
        assert!(until.is_over());
    }

    #[test]
    fn once_the_time_is_up_whoever_gets_ahead_is_waited_for() {
        at(0);
        let deadline = clock() + Duration::from_secs(70);
        let until = Until::forever(clock).by(Some(deadline));
        let mut wait = until.with_grace(Duration::from_millis(600));
        at(60_000);
        assert!(!wait.is_over(0));
        for done in 0..100 {
            at(70_000 + 500 * done);
            assert!(!wait.is_over(done));
        }
        at(70_000 + 500 * 99 + 599);
        assert!(!wait.is_over(99));
        at(70_000 + 500 * 99 + 600);
        assert!(wait.is_over(99));
    }

    #[test]
    fn whoever_wants_to_stop_waits_a_moment_even_for_one_who_gets_ahead() {
        at(0);
        let interrupt = Interrupt::default();
        interrupt.raise();
        let until = Until::raised(clock, &interrupt);
        let mut wait = until.with_grace(Duration::from_millis(600));
        assert!(!wait.is_over(0));
        at(599);
        assert!(!wait.is_over(7));
        at(600);
        assert!(wait.is_over(8));
    }
}

//! Systems that live in the same process and run in virtual time: silence costs nothing, and a
//! test of time-outs takes microseconds.
//!
//! [`InProcess`] is the fast level: labels are ids of the model, and a step with a plain label
//! allocates nothing. [`crate::System`] is the friendly level, with names.

use std::collections::VecDeque;

use ioco_sts::Action;

use crate::connection::{AdapterError, Arrival, Arrived, Connection};

/// A system under test at the level of the model's labels. Times are nanoseconds since the reset.
pub trait InProcess {
    /// Back to the initial state. The system may send something at once.
    fn reset(&mut self, out: &mut Outbox);

    /// Takes a stimulus. Taking and answering it costs no time.
    fn give(&mut self, stimulus: &Action, now: u64, out: &mut Outbox);

    /// Lets the time pass from `now` to `until`, at most up to the first moment at which the system
    /// sends something by itself; returns the time reached. A system that only ever answers
    /// stimuli at once has nothing to do here.
    fn elapse(&mut self, now: u64, until: u64, out: &mut Outbox) -> u64 {
        let _ = (now, out);
        until
    }
}

/// What a system in this process has sent and the tester has not taken yet.
#[derive(Debug, Default)]
pub struct Outbox {
    arrivals: VecDeque<Arrival>,
    error: Option<AdapterError>,
}

impl Outbox {
    pub fn send(&mut self, response: Action) {
        self.arrivals.push_back(Arrival::Response(response));
    }

    /// Sends something that the model has no label or no values for.
    pub fn send_unknown(&mut self, text: String) {
        self.arrivals.push_back(Arrival::Unknown(text));
    }

    /// The system cannot go on: the test ends in an error once everything sent before is judged.
    pub fn give_up(&mut self, error: AdapterError) {
        self.error.get_or_insert(error);
    }

    pub fn is_empty(&self) -> bool {
        self.arrivals.is_empty() && self.error.is_none()
    }

    fn clear(&mut self) {
        self.arrivals.clear();
        self.error = None;
    }

    pub(crate) fn take(&mut self) -> Result<Option<Arrival>, AdapterError> {
        match self.arrivals.pop_front() {
            Some(arrival) => Ok(Some(arrival)),
            None => self.error.take().map_or(Ok(None), Err),
        }
    }
}

/// A connection to an [`InProcess`] system, with the virtual clock.
#[derive(Debug)]
pub struct Local<S> {
    system: S,
    now: u64,
    reset_at: u64,
    out: Outbox,
}

impl<S: InProcess> Local<S> {
    pub fn new(system: S) -> Local<S> {
        Local {
            system,
            now: 0,
            reset_at: 0,
            out: Outbox::default(),
        }
    }

    pub fn system(&self) -> &S {
        &self.system
    }
}

impl<S: InProcess> Connection for Local<S> {
    #[inline]
    fn now(&self) -> u64 {
        self.now
    }

    fn reset_until(&mut self, _stop: &dyn Fn() -> bool) -> Result<(), AdapterError> {
        self.out.clear();
        self.reset_at = self.now;
        self.system.reset(&mut self.out);
        // A system that cannot even be reset says so now; responses wait until they are asked for.
        self.out.error.take().map_or(Ok(()), Err)
    }

    #[inline]
    fn give_until(
        &mut self,
        stimulus: &Action,
        _stop: &dyn Fn() -> bool,
    ) -> Result<bool, AdapterError> {
        let now = self.now - self.reset_at;
        self.system.give(stimulus, now, &mut self.out);
        Ok(false)
    }

    #[inline]
    fn poll(&mut self) -> Result<Option<Arrived>, AdapterError> {
        let arrival = self.out.take()?;
        Ok(arrival.map(|what| self.arrived(what)))
    }

    #[inline]
    fn wait(&mut self, until: u64) -> Result<Arrived, AdapterError> {
        if let Some(what) = self.out.take()? {
            return Ok(self.arrived(what));
        }
        if until <= self.now {
            return Ok(self.arrived(Arrival::Silence));
        }
        let (now, end) = (self.now - self.reset_at, until - self.reset_at);
        let reached = self.system.elapse(now, end, &mut self.out).clamp(now, end);
        if self.out.is_empty() {
            self.now = until;
            return Ok(self.arrived(Arrival::Silence));
        }
        self.now = self.reset_at + reached;
        let what = self.out.take()?.unwrap_or(Arrival::Silence);
        Ok(self.arrived(what))
    }

    fn is_virtual(&self) -> bool {
        true
    }

    fn resets_all(&self) -> bool {
        true
    }
}

impl<S> Local<S> {
    #[inline]
    fn arrived(&self, what: Arrival) -> Arrived {
        Arrived {
            what,
            at: self.now,
            raw: Vec::new(),
        }
    }
}

//! The engines: each looks for runs to goals or proves that there are none, within a budget of time.

pub(crate) mod bdd;
pub(crate) mod detached;
pub(crate) mod ic3;
pub(crate) mod induct;
mod lift;
pub(crate) mod order;
pub(crate) mod sat;
pub(crate) mod unroll;

/// How long an engine may go on, and how large a solver may grow. Time and interruption come from outside.
#[derive(Clone, Copy)]
pub struct Budget<'a> {
    /// Seconds since some fixed moment.
    pub clock: &'a (dyn Fn() -> f64 + Sync),
    pub stop: &'a (dyn Fn() -> bool + Sync),
    /// The moment, by the clock, at which to give up.
    pub until: f64,
    /// How many literals the clauses of one solver may have, which limits its memory.
    pub literals: usize,
}

impl Budget<'_> {
    pub fn now(&self) -> f64 {
        (self.clock)()
    }

    pub fn over(&self) -> bool {
        self.now() >= self.until || (self.stop)()
    }

    pub fn left(&self) -> f64 {
        (self.until - self.now()).max(0.0)
    }

    /// The same, but for at most some seconds from now.
    pub fn within(self, seconds: f64) -> Self {
        Self {
            until: self.until.min(self.now() + seconds),
            ..self
        }
    }
}

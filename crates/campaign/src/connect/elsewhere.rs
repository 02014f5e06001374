//! The connection of a process that has no system of its own: workers have theirs. Only its clock is used.

use std::time::Instant;

use ioco_adapters::{AdapterError, Arrived, Connection};
use ioco_sts::Action;

pub(super) struct Elsewhere {
    epoch: Instant,
    /// What the clock showed then.
    first: u64,
}

impl Elsewhere {
    pub fn from(first: u64) -> Elsewhere {
        Elsewhere {
            epoch: Instant::now(),
            first,
        }
    }
}

fn refused() -> AdapterError {
    AdapterError::new("the workers reach the system; this process does not")
}

impl Connection for Elsewhere {
    fn now(&self) -> u64 {
        let since = u64::try_from(self.epoch.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.first.saturating_add(since)
    }

    fn reset_until(&mut self, _stop: &dyn Fn() -> bool) -> Result<(), AdapterError> {
        Err(refused())
    }

    fn give_until(
        &mut self,
        _stimulus: &Action,
        _stop: &dyn Fn() -> bool,
    ) -> Result<bool, AdapterError> {
        Err(refused())
    }

    fn poll(&mut self) -> Result<Option<Arrived>, AdapterError> {
        Err(refused())
    }

    fn wait(&mut self, _until: u64) -> Result<Arrived, AdapterError> {
        Err(refused())
    }
}

//! A connection that takes in only so many bytes in one test.
//!
//! A test keeps what arrived until it is judged, kept and reported, so a system whose responses have no end
//! would fill the memory, however slowly it is read.

use ioco_budget::{Budget, Resource};
use ioco_sts::Action;

use crate::connection::{AdapterError, Arrived, Connection, LogLine};

/// Wraps a connection; more than the budget's bytes between two resets are an error of the test.
pub struct Limited<'a, C: ?Sized> {
    inner: &'a mut C,
    budget: Budget,
    /// Since the last reset.
    taken: u64,
}

impl<'a, C: Connection + ?Sized> Limited<'a, C> {
    pub fn new(inner: &'a mut C, budget: Budget) -> Limited<'a, C> {
        Limited {
            inner,
            budget,
            taken: 0,
        }
    }

    fn count(&mut self, arrived: &Arrived) -> Result<(), AdapterError> {
        self.taken = self.taken.saturating_add(arrived.raw.len() as u64);
        self.budget
            .check(Resource::Bytes, self.taken)
            .map_err(|over| AdapterError::new(format!("what the system sent in this test: {over}")))
    }
}

impl<C: Connection + ?Sized> Connection for Limited<'_, C> {
    fn now(&self) -> u64 {
        self.inner.now()
    }

    fn reset_until(&mut self, stop: &dyn Fn() -> bool) -> Result<(), AdapterError> {
        self.taken = 0;
        self.inner.reset_until(stop)
    }

    fn give_until(
        &mut self,
        stimulus: &Action,
        stop: &dyn Fn() -> bool,
    ) -> Result<bool, AdapterError> {
        self.inner.give_until(stimulus, stop)
    }

    fn poll(&mut self) -> Result<Option<Arrived>, AdapterError> {
        let polled = self.inner.poll()?;
        if let Some(arrived) = &polled {
            self.count(arrived)?;
        }
        Ok(polled)
    }

    fn wait(&mut self, until: u64) -> Result<Arrived, AdapterError> {
        let arrived = self.inner.wait(until)?;
        self.count(&arrived)?;
        Ok(arrived)
    }

    fn sent(&self) -> &[u8] {
        self.inner.sent()
    }

    fn is_virtual(&self) -> bool {
        self.inner.is_virtual()
    }

    fn resets_all(&self) -> bool {
        self.inner.resets_all()
    }

    fn catch_up(&mut self) -> Result<(), AdapterError> {
        self.inner.catch_up()
    }

    fn take_log(&mut self) -> Vec<LogLine> {
        self.inner.take_log()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connection::Arrival;

    /// Has the same response for everybody.
    struct Endless;

    impl Connection for Endless {
        fn now(&self) -> u64 {
            0
        }

        fn reset_until(&mut self, _stop: &dyn Fn() -> bool) -> Result<(), AdapterError> {
            Ok(())
        }

        fn give_until(
            &mut self,
            _: &Action,
            _stop: &dyn Fn() -> bool,
        ) -> Result<bool, AdapterError> {
            Ok(true)
        }

        fn poll(&mut self) -> Result<Option<Arrived>, AdapterError> {
            self.wait(0).map(Some)
        }

        fn wait(&mut self, _: u64) -> Result<Arrived, AdapterError> {
            Ok(Arrived {
                what: Arrival::Unknown("more".to_owned()),
                at: 0,
                raw: vec![0; 100],
            })
        }
    }

    #[test]
    fn a_test_takes_in_so_much_and_no_more() {
        let budget = Budget {
            bytes: 1000,
            ..Budget::default()
        };
        let mut endless = Endless;
        let mut limited = Limited::new(&mut endless, budget);
        for _ in 0..2 {
            limited.reset().unwrap();
            for _ in 0..10 {
                limited.wait(0).unwrap();
            }
            let over = limited.poll().unwrap_err();
            assert!(over.message.contains("--limit bytes=N"), "{}", over.message);
        }
    }
}

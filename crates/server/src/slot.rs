//! One at a time: a run, a replay and a shrinking all want the same system, and a system that two
//! testers talk to at once gives wrong verdicts.

use std::sync::{Arc, Mutex, PoisonError};

use crate::refusal::Refusal;

#[derive(Clone, Default)]
pub struct Slot {
    with: Arc<Mutex<Option<String>>>,
}

/// The system is in use as long as this lives.
pub struct InUse {
    slot: Slot,
}

impl Slot {
    /// Takes the system into use for what `with` says.
    pub fn take(&self, with: &str) -> Result<InUse, Refusal> {
        let mut current = self.with.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(other) = &*current {
            return Err(Refusal::busy(other));
        }
        *current = Some(with.to_owned());
        Ok(InUse { slot: self.clone() })
    }

    pub fn is_free(&self) -> bool {
        self.with
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .is_none()
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        let mut current = self
            .slot
            .with
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *current = None;
    }
}

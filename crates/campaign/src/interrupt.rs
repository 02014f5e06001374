//! A wish to stop, shared between who has it and who does the work.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

#[derive(Clone, Debug, Default)]
pub struct Interrupt {
    asked: Arc<AtomicBool>,
}

impl Interrupt {
    /// Asks the work to stop and write what it has; true if that was asked before.
    pub fn ask(&self) -> bool {
        self.asked.swap(true, Ordering::SeqCst)
    }

    pub fn asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }
}

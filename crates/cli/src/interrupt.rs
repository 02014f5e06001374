//! Ctrl-C: the first asks the work to stop and write what it has; the second ends it at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

#[derive(Clone)]
pub struct Interrupt {
    asked: Arc<AtomicBool>,
}

impl Interrupt {
    pub fn listen() -> Interrupt {
        let asked = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&asked);
        // Where no handler can be set, Ctrl-C ends the program as it always does.
        let _ = ctrlc::set_handler(move || {
            if flag.swap(true, Ordering::SeqCst) {
                std::process::exit(130);
            }
        });
        Interrupt { asked }
    }

    pub fn asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }
}

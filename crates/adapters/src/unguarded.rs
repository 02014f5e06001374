//! A child without a watchdog, where the feature `connections` is off: it ends with its owner, unless we are killed.

use std::io;
use std::process::{Child, Command};

pub struct Guarded {
    child: Child,
}

impl Guarded {
    pub fn spawn(command: &mut Command) -> io::Result<Guarded> {
        command.spawn().map(|child| Guarded { child })
    }

    pub fn child(&mut self) -> &mut Child {
        &mut self.child
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // It may have ended by itself; either way it is gone afterwards.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

//! One live line on the terminal; nothing where standard error is not one.

use std::cell::Cell;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// Drawing more often than this would only slow the work down.
const PAUSE: Duration = Duration::from_millis(80);

pub struct Progress {
    bar: Option<ProgressBar>,
    drawn: Cell<Option<Instant>>,
}

impl Progress {
    pub fn start() -> Progress {
        let bar = std::io::stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template("{spinner} {wide_msg}");
            let bar = ProgressBar::new_spinner();
            match style {
                Ok(style) => bar.with_style(style),
                Err(_) => bar,
            }
        });
        Progress {
            bar,
            drawn: Cell::new(None),
        }
    }

    /// Shows a line, if it is time for a new one.
    pub fn say(&self, line: impl FnOnce() -> String) {
        let Some(bar) = &self.bar else { return };
        if self.drawn.get().is_none_or(|at| at.elapsed() >= PAUSE) {
            self.drawn.set(Some(Instant::now()));
            bar.set_message(line());
            bar.tick();
        }
    }

    /// Takes the line away while `print` writes elsewhere.
    pub fn aside<T>(&self, print: impl FnOnce() -> T) -> T {
        match &self.bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

//! What is going on: one live line on a terminal; elsewhere a line from time to time, so that the log
//! of a build shows that a long run goes on.

use std::cell::Cell;
use std::io::IsTerminal;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use ioco_outside::Untrusted;

/// Drawing more often than this would only slow the work down.
const PAUSE: Duration = Duration::from_millis(80);
/// The time that has passed is drawn this often, whatever happens.
const TICK: Duration = Duration::from_millis(500);
/// How often a line is written where there is no terminal.
const PERIOD: Duration = Duration::from_secs(10);

pub struct Progress {
    shown: Display,
    drawn: Cell<Option<Instant>>,
}

enum Display {
    Bar(ProgressBar),
    Lines(Lines),
}

impl Progress {
    pub fn start() -> Progress {
        let shown = if std::io::stderr().is_terminal() {
            let bar = ProgressBar::new_spinner();
            let style = ProgressStyle::with_template("{spinner} {elapsed} {wide_msg}");
            let bar = match style {
                Ok(style) => bar.with_style(style),
                Err(_) => bar,
            };
            Display::Bar(bar)
        } else {
            Display::Lines(Lines::start(PERIOD, |line| say!("{line}")))
        };
        Progress {
            shown,
            drawn: Cell::new(None),
        }
    }

    /// Shows a line, if it is time for a new one.
    pub fn say(&self, line: impl FnOnce() -> String) {
        if self.drawn.get().is_none_or(|at| at.elapsed() >= PAUSE) {
            self.show(line());
        }
    }

    /// Shows a line at once.
    pub fn show(&self, line: String) {
        let line = Untrusted::new(line).to_string();
        match &self.shown {
            Display::Bar(bar) => {
                // Not before there is something to say: a short command shows nothing.
                if self.drawn.get().is_none() {
                    bar.enable_steady_tick(TICK);
                }
                bar.set_message(line);
                bar.tick();
            }
            Display::Lines(lines) => lines.set(line),
        }
        self.drawn.set(Some(Instant::now()));
    }

    /// Takes the line away while `print` writes elsewhere.
    pub fn aside<T>(&self, print: impl FnOnce() -> T) -> T {
        match &self.shown {
            Display::Bar(bar) => bar.suspend(print),
            Display::Lines(_) => print(),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Display::Bar(bar) = &self.shown {
            bar.finish_and_clear();
        }
    }
}

/// Writes the newest message once a period, with the time that has passed.
struct Lines {
    message: Arc<Mutex<Option<String>>>,
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Lines {
    fn start(period: Duration, write: impl Fn(String) + Send + 'static) -> Lines {
        let message: Arc<Mutex<Option<String>>> = Arc::default();
        let (end, ended) = channel();
        let newest = Arc::clone(&message);
        let thread = std::thread::spawn(move || {
            let begun = Instant::now();
            while ended.recv_timeout(period) == Err(RecvTimeoutError::Timeout) {
                let message = newest
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .clone();
                if let Some(message) = message {
                    write(format!("{} s: {message}", begun.elapsed().as_secs()));
                }
            }
        });
        Lines {
            message,
            end: Some(end),
            thread: Some(thread),
        }
    }

    fn set(&self, line: String) {
        *self.message.lock().unwrap_or_else(PoisonError::into_inner) = Some(line);
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        self.end = None;
        if let Some(thread) = self.thread.take() {
            // It writes at most one more line; nothing of it is needed.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_run_writes_what_it_does_again_and_again() {
        let (written, lines) = channel();
        let progress = Lines::start(Duration::from_millis(1), move |line| {
            let _ = written.send(line);
        });
        progress.set("waiting for the system".to_owned());
        let mut lines = lines.iter();
        for line in [lines.next(), lines.next()].into_iter().flatten() {
            assert!(line.ends_with(" s: waiting for the system"), "{line}");
        }
        drop(progress);
    }
}

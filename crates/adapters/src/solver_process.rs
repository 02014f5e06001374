//! A solver program as a child process, for `ioco_solve::SmtLib`. It waits and reads in a thread of its
//! own, so it lives here and not in the solver's crate, which is pure; that crate's tests include this file.

use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use ioco_solve::{Deadline, Pipe, PipeError};

use super::Guarded;

/// How long to wait between two looks at the deadline.
const WAIT: Duration = Duration::from_millis(2);
/// What such a wait counts for where the deadline is a number of steps.
const STEPS_PER_WAIT: u64 = 200;

/// So many lines wait to be read; then the program waits.
const LINES: usize = 1024;
/// The bytes of the longest line. A program that says more on one has ended for us.
const LINE: u64 = 1 << 20;

/// A running program that reads SMT-LIB from its standard input.
pub struct SolverProcess {
    program: String,
    arguments: Vec<String>,
    running: Option<Running>,
}

struct Running {
    /// Ends the program when it is dropped.
    _child: Guarded,
    input: ChildStdin,
    lines: Receiver<String>,
}

impl SolverProcess {
    /// `z3 -in`, found on the path.
    pub fn z3() -> Result<SolverProcess, PipeError> {
        SolverProcess::start("z3", &["-in"])
    }

    /// `cvc5`, found on the path.
    pub fn cvc5() -> Result<SolverProcess, PipeError> {
        SolverProcess::start("cvc5", &["--incremental", "--produce-models", "--quiet"])
    }

    /// A command as a person types it: a program and its arguments. `z3` and `cvc5` alone get theirs.
    pub fn command(text: &str) -> Result<SolverProcess, PipeError> {
        let mut words = text.split_whitespace();
        let program = words.next().unwrap_or_default();
        let arguments: Vec<&str> = words.collect();
        match (program, arguments.is_empty()) {
            ("z3", true) => SolverProcess::z3(),
            ("cvc5", true) => SolverProcess::cvc5(),
            _ => SolverProcess::start(program, &arguments),
        }
    }

    pub fn start(program: &str, arguments: &[&str]) -> Result<SolverProcess, PipeError> {
        let mut process = SolverProcess {
            program: program.to_owned(),
            arguments: arguments.iter().map(|a| (*a).to_owned()).collect(),
            running: None,
        };
        process.restart()?;
        Ok(process)
    }

    fn stop(&mut self) {
        // It may have ended by itself; either way it is gone afterwards.
        drop(self.running.take());
    }
}

impl Drop for SolverProcess {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Pipe for SolverProcess {
    fn send(&mut self, line: &str) -> Result<(), PipeError> {
        let running = self.running.as_mut().ok_or(PipeError::Ended)?;
        let written = writeln!(running.input, "{line}").and_then(|()| running.input.flush());
        written.map_err(|_| PipeError::Ended)
    }

    fn receive(&mut self, deadline: &Deadline<'_>) -> Result<String, PipeError> {
        let running = self.running.as_mut().ok_or(PipeError::Ended)?;
        loop {
            match running.lines.recv_timeout(WAIT) {
                Ok(line) => return Ok(line),
                Err(RecvTimeoutError::Disconnected) => return Err(PipeError::Ended),
                Err(RecvTimeoutError::Timeout) => {
                    if !deadline.spend(STEPS_PER_WAIT) {
                        return Err(PipeError::Deadline);
                    }
                }
            }
        }
    }

    fn restart(&mut self) -> Result<(), PipeError> {
        self.stop();
        let mut command = Command::new(&self.program);
        command
            .args(&self.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut guarded = Guarded::spawn(&mut command)
            .map_err(|e| PipeError::Failed(format!("{}: {e}", self.program)))?;
        let child = guarded.child();
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(PipeError::Failed("no standard streams".to_owned()));
        };
        let (sender, lines) = sync_channel(LINES);
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            while let Some(line) = next_line(&mut output) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        self.running = Some(Running {
            _child: guarded,
            input,
            lines,
        });
        self.send("(set-option :produce-models true)")?;
        self.send("(set-logic ALL)")
    }
}

/// The next line without its end; `None` at the end, and where a line is no text or too long.
fn next_line(output: &mut impl BufRead) -> Option<String> {
    let mut line = String::new();
    let count = output.by_ref().take(LINE).read_line(&mut line).ok()?;
    let is_cut = count as u64 == LINE && !line.ends_with('\n');
    if count == 0 || is_cut {
        return None;
    }
    line.truncate(line.trim_end_matches(['\n', '\r']).len());
    Some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_without_end_is_the_end_of_a_program() {
        let mut lines = BufReader::new(&b"sat\r\nunsat\nlast"[..]);
        let read: Vec<String> = std::iter::from_fn(|| next_line(&mut lines)).collect();
        assert_eq!(read, ["sat", "unsat", "last"]);
        let endless = vec![b'x'; 2 << 20];
        assert_eq!(next_line(&mut BufReader::new(&endless[..])), None);
    }
}

//! A system under test as a process: the line protocol on its standard input and output.
//!
//! Whatever the process does, a call here returns: it waits no longer than it may, and a
//! process that ends, hangs at a reset or talks rubbish gives [`AdapterError`], with its exit status and
//! the last lines of its standard error. The next reset then starts a fresh one.

use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ioco_budget::Budget;
use ioco_sts::{Action, Sts};

use crate::connection::{AdapterError, Arrived, Connection, LogLine};
use crate::line::Codec;
use crate::session::{LearnedBehaviour, Session, SessionError, nanoseconds};
use crate::stream::{Stream, StreamError};
use crate::supervise::{Guarded, Warnings, within};

/// How the system gets into its initial state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ResetBy {
    /// By asking: `{"reset":true}`, answered by `{"ready":true}`.
    #[default]
    Asking,
    /// By a fresh process, which says `{"ready":true}` once it has started.
    Restarting,
    /// By a fresh process that says nothing of the kind and is given this time to start.
    RestartingAfter(Duration),
}

/// What to start, and how to treat it.
#[derive(Clone, Debug)]
pub struct ProcessOptions {
    pub program: String,
    pub arguments: Vec<String>,
    pub directory: Option<PathBuf>,
    pub environment: Vec<(String, String)>,
    pub reset: ResetBy,
    /// How long a reset may take, the start of the process included, and how long the system may
    /// leave a stimulus unread when its input is full.
    pub patience: Duration,
}

impl ProcessOptions {
    pub fn new(program: &str, arguments: &[&str]) -> ProcessOptions {
        ProcessOptions {
            program: program.to_owned(),
            arguments: arguments.iter().map(|&a| a.to_owned()).collect(),
            directory: None,
            environment: Vec::new(),
            reset: ResetBy::Asking,
            patience: Duration::from_secs(10),
        }
    }

    /// A command line as one would type it: the shell takes it apart.
    pub fn shell(command: &str) -> ProcessOptions {
        ProcessOptions::new("sh", &["-c", command])
    }

    /// Starts the program, which ends with the stream.
    pub(crate) fn start(&self, budget: &Budget) -> Result<Stream, AdapterError> {
        let (stream, group) = self.spawn(budget)?;
        Ok(stream.of_program(group))
    }

    fn spawn(&self, budget: &Budget) -> Result<(Stream, Guarded), AdapterError> {
        let mut command = Command::new(&self.program);
        command
            .args(&self.arguments)
            .envs(self.environment.iter().map(|(k, v)| (k, v)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        let not_started = |error: io::Error| {
            AdapterError::new(format!("the system could not be started: {error}"))
                .hint(format!("the command was: {}", self.shown()))
        };
        let mut group = Guarded::spawn(&mut command).map_err(not_started)?;
        let child = group.child();
        let input = child.stdout.take().map(OwnedFd::from);
        let output = child.stdin.take().map(OwnedFd::from);
        let aside = child.stderr.take().map(OwnedFd::from);
        let (Some(input), Some(output)) = (input, output) else {
            unreachable!("both were asked for as pipes");
        };
        let stream = Stream::new(input, output, aside, budget).map_err(not_started)?;
        Ok((stream, group))
    }

    fn shown(&self) -> String {
        match (self.program.as_str(), self.arguments.as_slice()) {
            ("sh", [flag, command]) if flag == "-c" => command.clone(),
            (program, arguments) => {
                let words: Vec<&str> = std::iter::once(program)
                    .chain(arguments.iter().map(String::as_str))
                    .collect();
                words.join(" ")
            }
        }
    }
}

/// A connection to a process that it starts, and ends when it is dropped.
pub struct Process {
    options: ProcessOptions,
    codec: Arc<Codec>,
    epoch: Instant,
    running: Option<Running>,
    habits: Option<LearnedBehaviour>,
    warnings: Warnings,
    /// The log of a process that has ended.
    log: Vec<LogLine>,
}

impl Process {
    /// Nothing is started before the first reset.
    pub fn new(sts: Arc<Sts>, options: ProcessOptions) -> Process {
        Process {
            options,
            codec: Arc::new(Codec::new(sts)),
            epoch: Instant::now(),
            running: None,
            habits: None,
            warnings: Warnings::default(),
            log: Vec::new(),
        }
    }

    /// Ends the process; the next reset starts a new one.
    pub fn stop(&mut self) {
        self.end(Termination::AtOnce);
    }

    /// What a person should know about the system's side, since the last call.
    pub fn take_warnings(&mut self) -> Vec<String> {
        if let Some(running) = &mut self.running {
            self.warnings.extend(running.session.warnings.take());
        }
        self.warnings.take()
    }

    fn start(&self) -> Result<Running, AdapterError> {
        let (stream, group) = self.options.spawn(self.codec.sts().budget())?;
        let session = Session::new(Arc::clone(&self.codec), stream, self.epoch, self.habits);
        Ok(Running { session, group })
    }

    fn reset_running(&mut self, stop: &dyn Fn() -> bool) -> Result<(), AdapterError> {
        let until = within(self.options.patience, stop);
        let fresh = self.running.is_none() || self.options.reset != ResetBy::Asking;
        if fresh {
            self.end(Termination::Kindly);
            let running = self.start()?;
            self.running = Some(running);
        }
        self.log.clear();
        let Some(running) = &mut self.running else {
            unreachable!("just started");
        };
        let session = &mut running.session;
        if !fresh {
            session.take_log();
        }
        let result = match self.options.reset {
            ResetBy::Asking => session.reset(&until),
            ResetBy::Restarting => session.await_ready(&until),
            ResetBy::RestartingAfter(time) => {
                let started = within(time, stop);
                while !started.is_over() {
                    std::thread::sleep(started.slice_left());
                }
                session.assume_ready()
            }
        };
        result.map_err(|stopped| {
            let phase = if fresh { Phase::Start } else { Phase::Reset };
            self.explain(stopped, phase)
        })
    }

    /// Says why the conversation stopped, and ends the process: it is of no use any more.
    fn explain(&mut self, stopped: SessionError, phase: Phase) -> AdapterError {
        let Some(mut running) = self.running.take() else {
            return not_running();
        };
        self.habits = Some(running.session.habits());
        self.warnings.extend(running.session.warnings.take());
        let patience = self.options.patience;
        let command = Some(format!("the command was: {}", self.options.shown()));
        let ended = matches!(
            stopped,
            SessionError::StreamError(StreamError::Ended | StreamError::Io(_))
        );
        let (message, hint) = match stopped {
            SessionError::AdapterError(AdapterError { message, hint, .. }) => (message, hint),
            SessionError::StreamError(StreamError::Ended) => {
                match running.group.await_exit(EXIT_GRACE) {
                    Some(status) => (
                        format!("the system ended {}: {status}", phase.when()),
                        command,
                    ),
                    None => (
                        format!(
                            "the system closed its standard output or input {} but keeps running",
                            phase.when()
                        ),
                        command,
                    ),
                }
            }
            SessionError::StreamError(StreamError::TimedOut) => match (phase, self.options.reset) {
                (Phase::Test, _) => (
                    format!("the system did not read its input for {patience:?}"),
                    None,
                ),
                (_, ResetBy::Asking) => (
                    format!("the system did not answer the reset within {patience:?}"),
                    Some(
                        "it answers {\"reset\":true} with {\"ready\":true}, and flushes its \
                         output; a system without a reset can be restarted for every test"
                            .to_owned(),
                    ),
                ),
                (..) => (
                    format!("the system was not ready within {patience:?}"),
                    Some("it says {\"ready\":true} once it has started".to_owned()),
                ),
            },
            SessionError::StreamError(StreamError::TooLong(line)) => (
                format!("the system sent {line}"),
                Some("every message ends with a newline".to_owned()),
            ),
            SessionError::StreamError(StreamError::Wrong(why)) => {
                (format!("the system sent {why}"), None)
            }
            SessionError::StreamError(StreamError::Io(error)) => {
                (format!("talking to the system failed: {error}"), command)
            }
        };
        let words = running.session.last_words();
        self.log = running.session.take_log();
        let message = if words.is_empty() {
            message
        } else {
            let words = words.join("\n  ");
            format!("{message}; its last lines on standard error:\n  {words}")
        };
        running.end(Termination::AtOnce);
        AdapterError {
            message,
            hint,
            ended,
        }
    }

    fn end(&mut self, manner: Termination) {
        if let Some(mut running) = self.running.take() {
            self.habits = Some(running.session.habits());
            self.warnings.extend(running.session.warnings.take());
            running.end(manner);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end(Termination::Kindly);
    }
}

impl Connection for Process {
    fn now(&self) -> u64 {
        nanoseconds(self.epoch.elapsed())
    }

    fn reset_until(&mut self, stop: &dyn Fn() -> bool) -> Result<(), AdapterError> {
        self.reset_running(stop)
    }

    fn give_until(
        &mut self,
        stimulus: &Action,
        stop: &dyn Fn() -> bool,
    ) -> Result<bool, AdapterError> {
        let running = self.running.as_mut().ok_or_else(not_running)?;
        let until = within(self.options.patience, stop);
        match running.session.give(stimulus, &until) {
            // Nobody knows when the system reads its input.
            Ok(()) => Ok(true),
            Err(stopped) => Err(self.explain(stopped, Phase::Test)),
        }
    }

    fn poll(&mut self) -> Result<Option<Arrived>, AdapterError> {
        let running = self.running.as_mut().ok_or_else(not_running)?;
        match running.session.poll() {
            Ok(arrived) => Ok(arrived),
            Err(stopped) => Err(self.explain(stopped, Phase::Test)),
        }
    }

    fn wait(&mut self, until: u64) -> Result<Arrived, AdapterError> {
        let running = self.running.as_mut().ok_or_else(not_running)?;
        match running.session.wait(until) {
            Ok(arrived) => Ok(arrived),
            Err(stopped) => Err(self.explain(stopped, Phase::Test)),
        }
    }

    fn catch_up(&mut self) -> Result<(), AdapterError> {
        let running = self.running.as_mut().ok_or_else(not_running)?;
        match running.session.catch_up() {
            Ok(()) => Ok(()),
            Err(stopped) => Err(self.explain(stopped, Phase::Test)),
        }
    }

    fn sent(&self) -> &[u8] {
        self.running.as_ref().map_or(&[], |r| r.session.sent())
    }

    fn resets_all(&self) -> bool {
        self.options.reset != ResetBy::Asking
    }

    fn take_log(&mut self) -> Vec<LogLine> {
        let mut log = std::mem::take(&mut self.log);
        if let Some(running) = &mut self.running {
            log.extend(running.session.take_log());
        }
        log
    }
}

fn not_running() -> AdapterError {
    AdapterError::new("the system is not running")
}

#[derive(Clone, Copy)]
enum Phase {
    Start,
    Reset,
    Test,
}

impl Phase {
    fn when(self) -> &'static str {
        match self {
            Phase::Start => "while it was starting",
            Phase::Reset => "before or during a reset",
            Phase::Test => "during a test",
        }
    }
}

/// How to end a process.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Termination {
    /// Close its input and give it a moment to write down what it has to.
    Kindly,
    AtOnce,
}

/// How long a process may take to end once its input is closed.
const KIND_GRACE: Duration = Duration::from_millis(100);

/// How long the exit status may come after the end of the output.
const EXIT_GRACE: Duration = Duration::from_millis(500);

struct Running {
    session: Session,
    group: Guarded,
}

impl Running {
    fn end(self, manner: Termination) {
        let Running { session, mut group } = self;
        drop(session);
        if manner == Termination::Kindly {
            group.await_exit(KIND_GRACE);
        }
    }
}

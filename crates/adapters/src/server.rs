//! A system that ioco starts beside the connection to it: a server with its port, its hooks and its log.
//!
//! The command is a line for the shell, in the foreground: what it starts ends with it. Nothing connects to
//! find out whether it listens, because a server may count its clients; the operating system's list of
//! listeners says so where there is one.

use std::cell::Cell;
use std::io::{self, PipeReader, PipeWriter, Read as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use ioco_budget::Interrupt;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::ioctl_fionbio;

use crate::connection::{AdapterError, LogLine};
use crate::stream::LAST_LINES;
use crate::supervise::{Guarded, Log, within};

/// Stands for the port in commands and addresses.
pub const PORT: &str = "{port}";

/// How long a system may take to end when it is asked to.
const STOP_GRACE_PERIOD: Duration = Duration::from_millis(500);

/// How long the hook after a system may go on once a stop is requested.
const HOOK_GRACE: Duration = Duration::from_millis(300);

/// How long the end of the system may come after the end of its connection.
const EXIT_GRACE: Duration = Duration::from_millis(100);

/// How long the end of the log may come after the end of the system.
const LOG_GRACE: Duration = Duration::from_secs(2);

/// How often to look whether the system listens.
const LOOKING: Duration = Duration::from_millis(5);

/// What to start, and what to do around it. All are lines for the shell; `{port}` stands for the port.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    pub start: String,
    /// Run to its end before every start.
    pub before: Option<String>,
    /// Run to its end after every stop.
    pub after: Option<String>,
    /// The system has started once its log has this text; without it, once it listens.
    pub ready_log: Option<String>,
    pub directory: PathBuf,
    /// How long a start, and each hook, may take.
    pub patience: Duration,
    /// Bytes of the log that are kept.
    pub log: usize,
}

/// A system that is started and stopped.
pub struct Server {
    options: ServerOptions,
    running: Option<Guarded>,
    /// Of the start before the next stop.
    port: Option<u16>,
    log: Arc<Mutex<Log>>,
    /// What was started last writes its log there.
    reader: Option<Arc<PipeReader>>,
    /// Ends with the log of what was started last.
    log_ends: Option<Receiver<()>>,
    /// Cuts the hook after the system short, also where no user is there to ask.
    interrupt: Interrupt,
    warnings: Vec<String>,
}

impl Server {
    /// Nothing is started yet.
    pub fn new(options: ServerOptions) -> Server {
        let log = Arc::new(Mutex::new(Log::new(options.log)));
        Server {
            options,
            running: None,
            port: None,
            log,
            reader: None,
            log_ends: None,
            interrupt: Interrupt::default(),
            warnings: Vec::new(),
        }
    }

    /// Who can interrupt it.
    pub fn interrupted_by(&mut self, interrupt: Interrupt) {
        self.interrupt = interrupt;
    }

    /// What was not worth an error.
    pub fn take_warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.warnings)
    }

    pub fn is_running(&mut self) -> bool {
        self.running.is_some() && self.exit_status().is_none()
    }

    /// How it ended, if it did by itself.
    pub fn exit_status(&mut self) -> Option<ExitStatus> {
        self.running.as_mut()?.await_exit(Duration::ZERO)
    }

    /// The same, where it is about to end.
    pub fn exit_status_soon(&mut self) -> Option<ExitStatus> {
        self.running.as_mut()?.await_exit(EXIT_GRACE)
    }

    /// Starts it. `port` takes the place of `{port}`; with `listens` the call returns once a program
    /// listens at that port.
    pub fn start(
        &mut self,
        port: Option<u16>,
        listens: Option<u16>,
        stop: &dyn Fn() -> bool,
    ) -> Result<(), AdapterError> {
        self.stop();
        if let Some(before) = self.options.before.clone() {
            self.hook(&before, "before", port, stop)?;
        }
        if let Some(port) = listens
            && is_listening(port)
        {
            return Err(AdapterError::new(format!(
                "another program listens on port {port} before ioco starts the system"
            ))
            .hint("end that program, or let ioco choose a free port: write {port}"));
        }
        let shown = with_port(&self.options.start, port);
        let spawned = self.spawn(&shown, Guarded::spawn);
        self.running = Some(spawned.map_err(|error| {
            AdapterError::new(format!("the system could not be started: {error}"))
                .hint(format!("the command was: {shown}"))
        })?);
        self.port = port;
        let started = self.await_start(listens, stop);
        if started.is_err() {
            self.end();
        }
        started
    }

    fn await_start(
        &mut self,
        listens: Option<u16>,
        stop: &dyn Fn() -> bool,
    ) -> Result<(), AdapterError> {
        let until = within(self.options.patience, stop);
        let text = self.options.ready_log.clone();
        loop {
            let ready = match (&text, listens) {
                (Some(text), _) => self.log().contains(text),
                (None, Some(port)) => is_listening(port),
                (None, None) => true,
            };
            if ready && self.is_running() {
                return Ok(());
            }
            let shown = with_port(&self.options.start, self.port);
            if let Some(status) = self.exit_status() {
                self.await_log();
                let words = self.last_words();
                return Err(AdapterError::new(format!(
                    "the system ended while it was starting: {status}{words}"
                ))
                .hint(format!(
                    "it must run in the foreground; the command was: {shown}"
                )));
            }
            if until.is_over() {
                let what = match (&text, listens) {
                    (Some(text), _) => format!("its log did not say \"{text}\""),
                    (None, Some(port)) => format!("it did not listen at port {port}"),
                    (None, None) => "it did not start".to_owned(),
                };
                let words = self.last_words();
                let patience = self.options.patience;
                return Err(AdapterError::new(format!(
                    "the system was started, but {what} within {patience:?}{words}"
                ))
                .hint(format!(
                    "ready_within in [sut] changes the time; the command was: {shown}"
                )));
            }
            std::thread::sleep(LOOKING);
        }
    }

    /// Asks it to end, ends it if it does not, and runs what belongs after it.
    pub fn stop(&mut self) {
        if self.running.is_none() {
            return;
        }
        self.end();
        if let Some(after) = self.options.after.clone() {
            let port = self.port;
            let interrupt = self.interrupt.clone();
            let noticed = Cell::new(None);
            // It cleans up, so it gets a moment; then somebody who wants to stop is not kept waiting.
            let stop = || {
                interrupt.is_raised() && {
                    let since = noticed.get().unwrap_or_else(Instant::now);
                    noticed.set(Some(since));
                    since.elapsed() >= HOOK_GRACE
                }
            };
            // The system is gone all the same.
            if let Err(error) = self.hook(&after, "after", port, &stop) {
                self.warnings.push(error.message);
            }
        }
    }

    fn end(&mut self) {
        if let Some(mut running) = self.running.take() {
            running.terminate();
            running.await_exit(STOP_GRACE_PERIOD);
        }
    }

    fn spawn(
        &mut self,
        line: &str,
        spawn: fn(&mut Command) -> io::Result<Guarded>,
    ) -> io::Result<Guarded> {
        let (reader, writer) = io::pipe()?;
        let child = spawn(&mut self.command(line, writer)?)?;
        ioctl_fionbio(&reader, true)?;
        let reader = Arc::new(reader);
        let log = Arc::clone(&self.log);
        let (reads, log_ends) = channel();
        self.log_ends = Some(log_ends);
        self.reader = Some(Arc::clone(&reader));
        std::thread::spawn(move || {
            let _reads = reads;
            loop {
                let mut fds = [PollFd::new(&*reader, PollFlags::IN)];
                let _ = poll(&mut fds, None);
                if !drain(&reader, &mut lock(&log)) {
                    return;
                }
            }
        });
        Ok(child)
    }

    fn command(&self, line: &str, writer: PipeWriter) -> io::Result<Command> {
        let mut command = Command::new("sh");
        command
            .args(["-c", line])
            .current_dir(&self.options.directory)
            .stdin(Stdio::null())
            .stdout(writer.try_clone()?)
            .stderr(writer);
        Ok(command)
    }

    /// Runs a hook to its end.
    fn hook(
        &mut self,
        line: &str,
        name: &str,
        port: Option<u16>,
        stop: &dyn Fn() -> bool,
    ) -> Result<(), AdapterError> {
        let line = with_port(line, port);
        let until = within(self.options.patience, stop);
        let spawned = self.spawn(&line, Guarded::spawn_hook);
        let mut running = spawned.map_err(|error| {
            AdapterError::new(format!("'{name}' of [sut] could not be started: {error}"))
        })?;
        loop {
            match running.await_exit(until.slice_left()) {
                Some(status) if status.success() => return Ok(()),
                Some(status) => {
                    self.await_log();
                    let words = self.last_words();
                    return Err(AdapterError::new(format!(
                        "'{name}' of [sut] failed: {status}{words}"
                    ))
                    .hint(format!("the command was: {line}")));
                }
                None if until.is_over() => {
                    let why = match until.is_stopped() {
                        true => "was interrupted".to_owned(),
                        false => format!("did not end within {:?}", self.options.patience),
                    };
                    return Err(
                        AdapterError::new(format!("'{name}' of [sut] {why}: {line}"))
                            .hint(format!("the command was: {line}")),
                    );
                }
                None => {}
            }
        }
    }

    /// With everything that has been written so far.
    fn log(&self) -> MutexGuard<'_, Log> {
        let mut log = lock(&self.log);
        if let Some(reader) = &self.reader {
            drain(reader, &mut log);
        }
        log
    }

    /// What has ended may have last words that are not read yet.
    pub fn await_log(&self) {
        if let Some(log_ends) = &self.log_ends {
            let _ = log_ends.recv_timeout(LOG_GRACE);
        }
    }

    fn last_words(&self) -> String {
        let words = self.log().last(LAST_LINES);
        if words.is_empty() {
            return String::new();
        }
        format!("; its last lines:\n  {}", words.join("\n  "))
    }

    pub fn clear_log(&mut self) {
        self.log().clear();
    }

    /// What it has written since the last call, hooks included.
    pub fn take_log(&mut self, epoch: Instant) -> Vec<LogLine> {
        self.log().take(epoch)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Reads what is there, while no other reads the same log. False at its end.
fn drain(mut reader: &PipeReader, log: &mut Log) -> bool {
    let mut bytes = [0; 4096];
    // A system that writes without end must not keep us here.
    for _ in 0..64 {
        match reader.read(&mut bytes) {
            Ok(0) => return false,
            Ok(count) => log.take_in(&bytes[..count]),
            Err(error) => {
                let comes = [io::ErrorKind::WouldBlock, io::ErrorKind::Interrupted];
                return comes.contains(&error.kind());
            }
        }
    }
    true
}

fn lock(log: &Mutex<Log>) -> MutexGuard<'_, Log> {
    log.lock().unwrap_or_else(PoisonError::into_inner)
}

/// `{port}` filled in.
pub fn with_port(text: &str, port: Option<u16>) -> String {
    match port {
        Some(port) => text.replace(PORT, &port.to_string()),
        None => text.to_owned(),
    }
}

/// The ports that systems get. They lie below those that Linux gives to clients: a port that is free now could
/// otherwise be that of a client when the system is about to listen there.
const PORTS: std::ops::Range<u32> = 10_240..32_768;

/// A port at which no program listens. No other worker of this process gets it: two that start systems at the same time
/// would otherwise both talk to the first one that listens. Another process may take it before it is used; the start
/// of a system there notices and takes another one.
pub fn free_port() -> Result<u16, AdapterError> {
    static NEXT: OnceLock<AtomicU32> = OnceLock::new();
    let next = NEXT.get_or_init(|| {
        // Processes that run side by side begin at different places.
        let clock = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let moment = clock.map_or(0, |time| time.subsec_micros());
        AtomicU32::new(moment ^ std::process::id().rotate_left(7))
    });
    let mut last = None;
    for _ in 0..PORTS.len() {
        let step = next.fetch_add(1, Ordering::Relaxed) % PORTS.len() as u32;
        let port = (PORTS.start + step) as u16;
        match TcpListener::bind((Ipv4Addr::LOCALHOST, port)) {
            Ok(_) => return Ok(port),
            Err(error) => last = Some(error),
        }
    }
    let why = last.map_or_else(String::new, |error| format!(": {error}"));
    Err(AdapterError::new(format!(
        "there is no free port on this machine{why}"
    )))
}

/// Whether a program listens at a port of this machine.
fn is_listening(port: u16) -> bool {
    listed(port).unwrap_or_else(|| {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        TcpStream::connect_timeout(&address, Duration::from_millis(100)).is_ok()
    })
}

/// What the operating system says; `None` where it does not say.
fn listed(port: u16) -> Option<bool> {
    let four = std::fs::read_to_string("/proc/net/tcp").ok()?;
    let six = std::fs::read_to_string("/proc/net/tcp6").unwrap_or_default();
    Some(lists(&four, port) || lists(&six, port))
}

/// `0: 0100007F:1F90 00000000:0000 0A …`: the local address and the state, in hexadecimal digits.
fn lists(table: &str, port: u16) -> bool {
    const LISTEN: &str = "0A";
    table.lines().skip(1).any(|line| {
        let mut words = line.split_whitespace().skip(1);
        let local = words.next().and_then(|address| address.rsplit_once(':'));
        let is_port = local.is_some_and(|(_, digits)| u16::from_str_radix(digits, 16) == Ok(port));
        is_port && words.nth(1) == Some(LISTEN)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(start: &str) -> Server {
        Server::new(ServerOptions {
            start: start.to_owned(),
            before: None,
            after: None,
            ready_log: None,
            directory: PathBuf::from("."),
            patience: Duration::from_secs(60),
            log: 64 << 10,
        })
    }

    #[test]
    fn nobody_gets_a_port_that_somebody_else_has_got() {
        let workers: Vec<_> = (0..4)
            .map(|_| std::thread::spawn(|| (0..200).map(|_| free_port().unwrap()).collect()))
            .collect();
        let ports = workers.into_iter().map(|worker| worker.join().unwrap());
        let mut ports: Vec<u16> = ports.flat_map(|ports: Vec<u16>| ports).collect();
        assert!(ports.iter().all(|port| PORTS.contains(&u32::from(*port))));
        ports.sort_unstable();
        ports.dedup();
        assert_eq!(ports.len(), 800);
    }

    #[test]
    fn listeners_are_found_without_connecting() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        assert!(is_listening(port));
        if listed(port).is_some() {
            listener.set_nonblocking(true).unwrap();
            assert!(listener.accept().is_err(), "nobody connected");
        }
        drop(listener);
        assert!(!is_listening(port));
    }

    #[test]
    fn a_command_that_ends_is_reported_with_its_last_output() {
        let error = server("echo no such option >&2; exit 3").start(None, Some(1), &|| false);
        let error = error.unwrap_err();
        assert!(
            error.message.contains("exit status: 3"),
            "{}",
            error.message
        );
        assert!(
            error.message.contains("no such option"),
            "{}",
            error.message
        );
        assert!(error.hint.unwrap().contains("foreground"));
    }

    #[test]
    fn hooks_run_around_the_system_and_a_failing_hook_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let mut server = server("echo started {port}; sleep 600");
        server.options.directory = folder.path().to_owned();
        server.options.before = Some("echo before {port} >> said".to_owned());
        server.options.after = Some("echo after {port} >> said".to_owned());
        server.options.ready_log = Some("started 7".to_owned());
        server.start(Some(7), None, &|| false).unwrap();
        assert!(server.is_running());
        server.stop();
        assert!(!server.is_running());
        let said = std::fs::read_to_string(folder.path().join("said")).unwrap();
        assert_eq!(said, "before 7\nafter 7\n");
        server.options.before = Some("echo broken; exit 4".to_owned());
        let error = server.start(Some(7), None, &|| false).unwrap_err();
        assert!(
            error.message.contains("'before' of [sut] failed"),
            "{}",
            error.message
        );
        assert!(error.message.contains("broken"), "{}", error.message);
    }

    #[test]
    fn a_hook_that_never_ends_is_cut_short_by_an_interrupt() {
        // Patience beyond that of any test runner: only the interrupt ends it.
        let mut server = server("sleep 3600");
        server.options.patience = Duration::from_secs(3600);
        server.options.after = Some("sleep 3600".to_owned());
        let interrupt = Interrupt::default();
        server.interrupted_by(interrupt.clone());
        server.start(None, None, &|| false).unwrap();
        interrupt.raise();
        server.stop();
        let warnings = server.take_warnings().join("\n");
        assert!(
            warnings.contains("'after' of [sut] was interrupted"),
            "{warnings}"
        );
    }
}

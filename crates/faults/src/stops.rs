//! How long it takes from Ctrl-C, and from the end of `--time`, to the end of the program: one row for each kind of
//! connection with a system that says nothing, and for each long command. Measured and printed, not judged: only a
//! program that does not end at all is a fault, and a case that was over before it was stopped.
//!
//! On a busy machine a program gets little of the processor, and starts and ends late without waiting for anything.
//! So each row also has a control: how long `ioco check` of a small model takes at the same moment. A row is late if
//! it took more than a second beyond what starting, writing the results and ending take by that measure.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::database::Database;
use crate::model;
use crate::program::{Programs, send};

/// Work goes on for so long before the signal, and `--time` is so long.
const WORK: Duration = Duration::from_millis(1500);

/// A run starts, opens a store, writes its results and ends: each costs about as much as the control.
const CONTROLS: u128 = 3;

/// Who has not ended after so long hangs.
const HANG: Duration = Duration::from_secs(30);

/// A command that would go on for minutes, or for ever.
struct Case {
    name: &'static str,
    arguments: Vec<String>,
    /// Whether it has `--time`.
    has_time: bool,
    /// Files of the project.
    files: Vec<(&'static str, String)>,
    /// What to do to a command that serves.
    after: fn(&mut Child) -> io::Result<()>,
    /// What to do to the project before; the files it returns stay open until the command has ended.
    before: fn(&Programs, &Path) -> io::Result<Vec<File>>,
}

impl Case {
    fn new(name: &'static str, arguments: &[&str]) -> Case {
        Case {
            name,
            arguments: arguments.iter().map(|&word| word.to_owned()).collect(),
            has_time: true,
            files: vec![("ping.aml", model::TEXT.to_owned())],
            after: |_| Ok(()),
            before: |_, _| Ok(Vec::new()),
        }
    }

    fn without_time(mut self) -> Case {
        self.has_time = false;
        self
    }

    fn with(mut self, name: &'static str, text: impl Into<String>) -> Case {
        self.files.push((name, text.into()));
        self
    }
}

/// One row of the table, in milliseconds; `None` where there is no such setting.
#[derive(Clone, Debug)]
pub struct Row {
    pub name: &'static str,
    pub interrupt: Ended,
    pub time: Option<Ended>,
    /// How long a command takes that waits for nothing: to start, to read a model and to end.
    pub control: u128,
}

impl Row {
    /// Whether it took longer to stop than promised, whatever else the machine does.
    fn is_late(&self, ended: Ended) -> bool {
        matches!(ended, Ended::After(time) if time > 1000 + CONTROLS * self.control)
    }

    /// Whether it took so long that something else ended it than the wish to stop.
    fn is_far_too_late(&self, ended: Ended) -> bool {
        matches!(ended, Ended::After(time) if time > 5000 + CONTROLS * self.control)
    }

    fn cells(&self) -> impl Iterator<Item = Ended> {
        [Some(self.interrupt), self.time].into_iter().flatten()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    After(u128),
    /// It was over before anybody asked.
    Before,
    Hung,
}

/// Takes connections and says nothing.
fn mute() -> io::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?.to_string();
    std::thread::spawn(move || {
        for mut socket in listener.incoming().flatten() {
            std::thread::spawn(move || socket.read_to_end(&mut Vec::new()));
        }
    });
    Ok(address)
}

/// A way to the server behind `url` on which nothing moves any more soon after somebody has taken it.
fn stalling(url: &str) -> io::Result<String> {
    let (before, after) = url.split_once('@').ok_or(io::ErrorKind::InvalidInput)?;
    let (server, rest) = after.split_once('/').ok_or(io::ErrorKind::InvalidInput)?;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    let server = server.to_owned();
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let Ok(behind) = TcpStream::connect(&server) else {
                return;
            };
            let begun = Instant::now();
            let both = (client.try_clone(), behind.try_clone());
            let (Ok(client_again), Ok(behind_again)) = both else {
                return;
            };
            std::thread::spawn(move || relay(client, behind, begun));
            std::thread::spawn(move || relay(behind_again, client_again, begun));
        }
    });
    Ok(format!("{before}@{address}/{rest}"))
}

/// Passes bytes on for half of [`WORK`], and then holds the line without a word.
fn relay(mut from: TcpStream, mut to: TcpStream, begun: Instant) -> io::Result<()> {
    let mut bytes = [0; 4096];
    loop {
        let length = from.read(&mut bytes)?;
        if length == 0 {
            return to.shutdown(Shutdown::Write);
        }
        if begun.elapsed() > WORK / 2 {
            std::thread::sleep(2 * HANG);
        }
        to.write_all(&bytes[..length])?;
    }
}

const HTTP: &str = "[http]\nreset = { method = \"POST\", path = \"/reset\" }\n\
     [http.stimuli]\nping = { method = \"POST\", path = \"/ping\" }\n";
const ANSWERS: &str = "[http.responses]\npong = { to = \"ping\", status = 200 }\n";

fn cases(programs: &Programs, database: Option<&Database>) -> io::Result<Vec<Case>> {
    let address = mute()?;
    let patient = "[sut]\nready_within = \"3600s\"\n";
    let http = |scheme: &str, more: &str| {
        format!(
            "[sut]\nhttp = \"{scheme}://{address}\"\nready_within = \"3600s\"\n{HTTP}{more}{ANSWERS}"
        )
    };
    let stream = |line: &str, response: &str| {
        let head = HTTP.replace("[http]\n", &format!("[http]\n{line}\n"));
        format!(
            "[sut]\nhttp = \"http://{address}\"\nready_within = \"3600s\"\n{head}[http.responses]\npong = {{ {response} }}\n"
        )
    };
    let lines =
        "[lines]\nreset = \"RESET\"\nready = \"READY\"\n[lines.responses]\npong = \"PONG\"\n";
    let peer = programs.peer.display();
    let (quick, slow) = (
        format!("exec '{peer}' quick"),
        // Two pongs in each test, from a system that takes its time.
        "exec python3 slow.py".to_owned(),
    );
    fn test<'a>(more: &[&'a str]) -> Vec<&'a str> {
        [&["test", "ping.aml"], more].concat()
    }
    let store = format!("postgres://nobody@{address}/nothing");
    let nats = format!("nats://{address}");
    let mut cases = vec![
        Case::new(
            "test, process that is never ready",
            &test(&["--sut", "exec sleep 3600"]),
        )
        .with("ioco.toml", patient),
        Case::new(
            "test, process that answers",
            &test(&["--sut", &quick, "--tests", "1000000000"]),
        ),
        Case::new(
            "test, silence of an hour",
            &test(&["--sut", "exec python3 deaf.py", "--timeout", "3600s"]),
        )
        .with("deaf.py", DEAF),
        Case::new("test, a hook that never ends", &test(&[]))
            .without_time()
            .with(
                "ioco.toml",
                format!(
                    "[sut]\ncommand = [\"{peer}\", \"quick\"]\nstart = \"sleep 3600\"\n\
                     after = \"sleep 3600\"\nready_within = \"3600s\"\n[test]\nsteps = 5\n"
                ),
            ),
        Case::new("test, tcp", &test(&["--tcp", &address])).with("ioco.toml", patient),
        Case::new("test, tcp-listen", &test(&["--tcp-listen", "127.0.0.1:0"]))
            .with("ioco.toml", patient),
        Case::new("test, text lines", &test(&["--tcp", &address]))
            .with("ioco.toml", format!("{patient}{lines}")),
        Case::new(
            "test, http",
            &["test", "ping.aml", "--http", &format!("http://{address}")],
        )
        .with("ioco.toml", http("http", "")),
        Case::new(
            "test, https",
            &["test", "ping.aml", "--http", &format!("https://{address}")],
        )
        .with("ioco.toml", http("https", "")),
        Case::new(
            "test, sse",
            &["test", "ping.aml", "--http", &format!("http://{address}")],
        )
        .with(
            "ioco.toml",
            stream("events = \"/events\"", "event = \"pong\""),
        ),
        Case::new(
            "test, websocket",
            &["test", "ping.aml", "--http", &format!("http://{address}")],
        )
        .with(
            "ioco.toml",
            stream("websocket = \"/socket\"", "message = true"),
        ),
        Case::new("test, amp without an adapter", &test(&["--amp", "0"]))
            .with("ioco.toml", patient),
        Case::new(
            "test, store on a mute server",
            &test(&["--sut", &quick, "--tests", "1000000000", "--store", &store]),
        ),
        Case::new(
            "test, shrinking a slow system",
            &test(&[
                "--sut", &slow, "--tests", "1", "--steps", "400", "--seed", "1",
            ]),
        )
        .with("slow.py", SLOW),
        Case::new(
            "test, planning (locations)",
            &[
                "test",
                "deep.aml",
                "--sut",
                &quick,
                "--strategy",
                "locations",
                "--tests",
                "1000000000",
            ],
        )
        .with("deep.aml", model::deep()),
        Case::new(
            "generate --traces",
            &["generate", "deep.aml", "--traces", "40", "-o", "suite.json"],
        )
        .with("deep.aml", model::deep()),
        Case::new(
            "generate --cover mcdc",
            &[
                "generate",
                "deep.aml",
                "--cover",
                "mcdc",
                "--depth",
                "1000000",
                "-o",
                "suite.json",
            ],
        )
        .with("deep.aml", model::deep()),
        Case::new(
            "check --flatten",
            &["check", "large.aml", "--flatten", "--states", "100000000"],
        )
        .without_time()
        .with("large.aml", model::LARGE),
        Case::new(
            "compare",
            &[
                "compare",
                "large.aml",
                "large.aml",
                "--flatten",
                "--states",
                "100000000",
            ],
        )
        .without_time()
        .with("large.aml", model::LARGE),
        Case::new(
            "record",
            &[
                "record",
                "ping.aml",
                "--listen",
                "127.0.0.1:0",
                "--to",
                &address,
                "-o",
                "trace.jsonl",
            ],
        )
        .without_time(),
        Case::new(
            "test --jobs 4, process that answers",
            &test(&["--sut", &quick, "--tests", "1000000000", "--jobs", "4"]),
        ),
        Case::new(
            "test --watch",
            &test(&["--sut", &quick, "--tests", "1000000000", "--watch"]),
        )
        .without_time(),
        Case::new(
            "connect, a flood",
            &[
                "connect",
                "ping.aml",
                "--sut",
                "exec python3 flood.py",
                "--wait",
                "3600s",
            ],
        )
        .without_time()
        .with("flood.py", FLOOD),
        Case::new(
            "worker, mute NATS server",
            &["worker", "ping.aml", "--sut", &quick, "--nats", &nats],
        )
        .without_time(),
        Case::new(
            "campaign start, mute NATS server",
            &[
                "campaign", "start", "ping.aml", "--sut", &quick, "--nats", &nats,
            ],
        ),
        Case::new("runs, mute server", &["runs", "--store", &store]).without_time(),
        Case::new(
            "store migrate, mute server",
            &["store", "migrate", "--store", &store],
        )
        .without_time(),
        Case::new("serve", &["serve"])
            .without_time()
            .with("ioco.toml", "model = \"ping.aml\"\n"),
    ];
    let mut job = Case::new("serve, a run of the page", &["serve"])
        .without_time()
        .with(
            "ioco.toml",
            format!(
                "model = \"ping.aml\"\n[sut]\ncommand = [\"{peer}\", \"nothing\", \"0\", \"0\"]\n"
            ),
        );
    job.after = start_run;
    cases.push(job);
    let mut locked = Case::new(
        "test, a coverage lock that stays",
        &test(&["--sut", &quick, "--tests", "1000000000"]),
    );
    locked.before = hold_coverage;
    cases.push(locked);
    if let Some(database) = database {
        let store = stalling(&database.url)?;
        cases.push(Case::new(
            "test, store on a server that stalls",
            &test(&["--sut", &quick, "--tests", "1000000000", "--store", &store]),
        ));
    }
    Ok(cases)
}

/// Is ready, and then neither reads nor says anything.
const DEAF: &str = "import sys, time\nsys.stdin.readline()\nprint('{\"ready\": true}', flush=True)\ntime.sleep(3600)\n";

/// Is ready, and then says pong without end.
const FLOOD: &str = "import sys\nsys.stdin.readline()\nprint('{\"ready\": true}', flush=True)\n\
     while True: print('{\"response\": \"pong\"}', flush=True)\n";

/// Answers after a moment, and twice once it has been asked often.
const SLOW: &str = "
import json, sys, time
asked = 0
for line in sys.stdin:
    if json.loads(line).get('reset'):
        asked = 0
        print('{\"ready\": true}', flush=True)
        continue
    asked += 1
    time.sleep(0.01)
    print('{\"response\": \"pong\"}', flush=True)
    if asked > 60:
        print('{\"response\": \"pong\"}', flush=True)
";

/// Runs one test, and locks the coverage files that it wrote.
fn hold_coverage(programs: &Programs, folder: &Path) -> io::Result<Vec<File>> {
    let system = format!("exec '{}' quick", programs.peer.display());
    Command::new(&programs.ioco)
        .current_dir(folder)
        .args(["test", "ping.aml", "--sut", &system, "--tests", "1"])
        .env("XDG_STATE_HOME", folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    let mut held = Vec::new();
    for entry in fs::read_dir(folder.join(".ioco/coverage"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|end| end == "lock") {
            let file = File::open(path)?;
            file.lock()?;
            held.push(file);
        }
    }
    match held.is_empty() {
        true => Err(io::Error::other("the run left no lock of its coverage")),
        false => Ok(held),
    }
}

/// Begins a run by the page's interface.
fn start_run(child: &mut Child) -> io::Result<()> {
    let mut line = Vec::new();
    let out = child.stdout.as_mut().ok_or(io::ErrorKind::Other)?;
    let mut byte = [0];
    while out.read(&mut byte)? == 1 && byte != *b"\n" {
        line.push(byte[0]);
    }
    let url = String::from_utf8_lossy(&line).into_owned();
    let (address, token) = url
        .trim()
        .trim_start_matches("http://")
        .split_once("/?token=")
        .ok_or(io::ErrorKind::InvalidData)?;
    let body = "{\"model\": \"ping.aml\", \"tests\": 1000000000}";
    let mut socket = TcpStream::connect(address)?;
    write!(
        socket,
        "POST /api/runs HTTP/1.1\r\nHost: {address}\r\nX-Ioco-Token: {token}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )?;
    let mut answer = String::new();
    socket.read_to_string(&mut answer)?;
    if !answer.starts_with("HTTP/1.1 2") {
        return Err(io::Error::other(format!(
            "the page starts no run: {answer}"
        )));
    }
    Ok(())
}

fn start(
    programs: &Programs,
    case: &Case,
    folder: &Path,
    more: &[&str],
) -> io::Result<(Child, Vec<File>)> {
    for (name, text) in &case.files {
        fs::write(folder.join(name), text)?;
    }
    let held = (case.before)(programs, folder)?;
    let mut child = Command::new(&programs.ioco)
        .current_dir(folder)
        .args(&case.arguments)
        .args(more)
        .env("XDG_STATE_HOME", folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    (case.after)(&mut child)?;
    Ok((child, held))
}

/// The time from `asked` to the end.
fn ended(child: &mut Child, asked: Instant) -> io::Result<Ended> {
    while asked.elapsed() < HANG {
        if child.try_wait()?.is_some() {
            return Ok(Ended::After(asked.elapsed().as_millis()));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill()?;
    child.wait()?;
    Ok(Ended::Hung)
}

/// How long a command takes now that waits for nothing, in milliseconds.
fn control(programs: &Programs) -> io::Result<u128> {
    let folder = tempfile::tempdir()?;
    fs::write(folder.path().join("ping.aml"), model::TEXT)?;
    let begun = Instant::now();
    Command::new(&programs.ioco)
        .current_dir(folder.path())
        .args(["check", "ping.aml"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    Ok(begun.elapsed().as_millis())
}

/// Measures every case whose name contains `only`, and tells each row at once: one that hangs takes its time.
pub fn measure(
    programs: &Programs,
    database: Option<&Database>,
    only: Option<&str>,
    emit: &mut dyn FnMut(&Row),
) -> io::Result<Vec<Row>> {
    let mut rows = Vec::new();
    let asked = |case: &Case| only.is_none_or(|only| case.name.contains(only));
    for case in cases(programs, database)?.into_iter().filter(asked) {
        let before = control(programs)?;
        let folder = tempfile::tempdir()?;
        let (mut child, _held) = start(programs, &case, folder.path(), &[])?;
        // Nothing reads what it prints; it must not wait for that.
        drain(&mut child);
        std::thread::sleep(WORK);
        let interrupt = match child.try_wait()? {
            Some(_) => Ended::Before,
            None => {
                send("-INT", child.id());
                ended(&mut child, Instant::now())?
            }
        };
        let time = if case.has_time {
            let folder = tempfile::tempdir()?;
            let seconds = format!("{}ms", WORK.as_millis());
            let (mut child, _held) = start(programs, &case, folder.path(), &["--time", &seconds])?;
            let begun = Instant::now();
            drain(&mut child);
            while child.try_wait()?.is_none() && begun.elapsed() < WORK {
                std::thread::sleep(Duration::from_millis(5));
            }
            Some(match child.try_wait()? {
                Some(_) => Ended::Before,
                None => ended(&mut child, Instant::now())?,
            })
        } else {
            None
        };
        let row = Row {
            name: case.name,
            interrupt,
            time,
            control: before.max(control(programs)?),
        };
        emit(&row);
        rows.push(row);
    }
    Ok(rows)
}

fn drain(child: &mut Child) {
    if let Some(mut out) = child.stdout.take() {
        std::thread::spawn(move || io::copy(&mut out, &mut io::sink()));
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ended::After(milliseconds) => write!(f, "{milliseconds} ms"),
            Ended::Before => write!(f, "before"),
            Ended::Hung => write!(f, "hung"),
        }
    }
}

/// The head of the table.
pub const HEAD: &str =
    "to the end of ioco                         Ctrl-C       --time      control";

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = self.time.map_or("-".to_owned(), |time| time.to_string());
        let interrupt = self.interrupt.to_string();
        let control = format!("{} ms", self.control);
        write!(
            f,
            "{:<36} {interrupt:>12} {time:>12} {control:>12}",
            self.name
        )
    }
}

/// The table's last line.
pub fn foot(rows: &[Row]) -> String {
    let cells = || {
        rows.iter()
            .flat_map(|row| row.cells().map(move |cell| (row, cell)))
    };
    format!(
        "{} later than one second and {CONTROLS} controls, {} over before anybody asked",
        cells().filter(|(row, cell)| row.is_late(*cell)).count(),
        cells().filter(|(_, cell)| *cell == Ended::Before).count()
    )
}

/// Rows that show nothing good: it did not end, or far too late, or was over before anybody asked, and nothing was
/// measured.
pub fn wrong(rows: &[Row]) -> u64 {
    let is_wrong = |row: &Row, ended: Ended| {
        matches!(ended, Ended::Hung | Ended::Before) || row.is_far_too_late(ended)
    };
    let wrong = |row: &&Row| row.cells().any(|ended| is_wrong(row, ended));
    rows.iter().filter(wrong).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_machine_makes_no_row_late_and_a_wait_does() {
        let row = |time, control| Row {
            name: "",
            interrupt: Ended::After(10),
            time: Some(Ended::After(time)),
            control,
        };
        let late = |rows: &[Row]| foot(rows).starts_with("1 later");
        assert!(!late(&[row(900, 60)]));
        assert!(!late(&[row(2500, 800)]));
        assert!(late(&[row(2500, 60)]));
        // Late is told, and far too late is wrong.
        assert_eq!(wrong(&[row(2500, 60), row(5100, 60), row(8000, 1100)]), 0);
        assert_eq!(wrong(&[row(5300, 60), row(2500, 60)]), 1);
    }
}

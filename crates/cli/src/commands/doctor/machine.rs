//! The machine: ports, folders, the terminal, and the programs that some commands use.

use std::fs::{self, OpenOptions};
use std::io::{self, IsTerminal as _, Read as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use ioco_campaign::Ledger;

use super::Finding;
use crate::output;

const MACHINE: &str = "machine";
const PROGRAMS: &str = "programs";

/// A program that does not say its version within this time is not waited for.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(3);

struct Tool {
    name: &'static str,
    /// What it is asked to say its version; some have none.
    ask: Option<&'static str>,
    purpose: &'static str,
}

const fn tool(name: &'static str, ask: Option<&'static str>, purpose: &'static str) -> Tool {
    Tool { name, ask, purpose }
}

/// Nothing in ioco itself needs them.
const OPTIONAL: &[Tool] = &[
    tool(
        "python3",
        Some("--version"),
        "the system of `ioco new`; scripts of `ioco export`",
    ),
    tool(
        "node",
        Some("--version"),
        "the system of `ioco new --adapter node`",
    ),
    tool(
        "cargo",
        Some("--version"),
        "the system of `ioco new --adapter rust`",
    ),
    tool(
        "curl",
        Some("--version"),
        "scripts of `ioco export --as curl`",
    ),
    tool(
        "nats-server",
        Some("--version"),
        "campaigns on many machines, where no NATS server runs yet",
    ),
    tool("z3", Some("--version"), "fallback solver: --solver z3"),
    tool("cvc5", Some("--version"), "fallback solver: --solver cvc5"),
    tool(OPENER, None, "`ioco serve --open`"),
];

const OPENER: &str = if cfg!(target_os = "macos") {
    "open"
} else {
    "xdg-open"
};

pub fn findings() -> Vec<Finding> {
    let mut found = vec![
        match which("sh") {
            Some(place) => Finding::ok(MACHINE, "shell", place.display().to_string()),
            None => Finding::unusable(MACHINE, "shell", "sh is not on the search path")
                .hint("ioco starts systems with it, and stops them with it"),
        },
        match TcpListener::bind(("127.0.0.1", 0)) {
            Ok(_) => Finding::ok(MACHINE, "ports", "127.0.0.1 has free ports"),
            Err(error) => Finding::unusable(
                MACHINE,
                "ports",
                format!("cannot listen on 127.0.0.1: {error}"),
            ),
        },
        folder("temporary files", &std::env::temp_dir()),
        ledger(),
        terminal(),
    ];
    found.extend(OPTIONAL.iter().map(look_for));
    found
}

fn folder(name: &'static str, place: &Path) -> Finding {
    match try_writing(place) {
        Ok(()) => Finding::ok(MACHINE, name, place.display().to_string()),
        Err(error) => Finding::unusable(
            MACHINE,
            name,
            format!("cannot write to {}: {error}", place.display()),
        ),
    }
}

/// What the user typed and allowed is remembered in a folder of its own.
fn ledger() -> Finding {
    let name = "your own files";
    let forgets = "ioco asks again for permission that you have already given";
    let ledger = Ledger::of_user();
    let Some(place) = ledger.folder() else {
        return Finding::warning(
            MACHINE,
            name,
            "neither XDG_STATE_HOME nor HOME names a folder",
        )
        .hint(forgets);
    };
    // It is made when it is first needed.
    let there = place.ancestors().find(|folder| folder.exists());
    let Some(there) = there else {
        return Finding::warning(MACHINE, name, format!("{} cannot be made", place.display()))
            .hint(forgets);
    };
    match try_writing(there) {
        Ok(()) => Finding::ok(MACHINE, name, place.display().to_string()),
        Err(error) => {
            let words = format!("cannot write to {}: {error}", there.display());
            Finding::warning(MACHINE, name, words).hint(forgets)
        }
    }
}

fn terminal() -> Finding {
    let colour = match output::colour_on_stdout() {
        true => "in colour",
        false => "without colour",
    };
    let why = ["NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE"];
    let set = why.iter().find(|name| output::is_set(name));
    let why = match set {
        Some(name) => format!(", because {name} is set"),
        None if std::io::stdout().is_terminal() => String::new(),
        None => ", because standard output is not a terminal".to_owned(),
    };
    Finding::ok(MACHINE, "output", format!("{colour}{why}"))
}

fn look_for(tool: &Tool) -> Finding {
    let Some(place) = which(tool.name) else {
        let words = format!("not found; for {}", tool.purpose);
        return Finding::note(PROGRAMS, tool.name, words);
    };
    let version = tool.ask.and_then(|ask| first_line(&place, ask));
    let version = version.unwrap_or_else(|| place.display().to_string());
    Finding::ok(PROGRAMS, tool.name, version)
}

/// The first line that a program says, soon.
fn first_line(program: &Path, ask: &str) -> Option<String> {
    let mut child = Command::new(program)
        .arg(ask)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let begun = Instant::now();
    let ended = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status.success(),
            Ok(None) if begun.elapsed() < ANSWER_TIMEOUT => thread::sleep(Duration::from_millis(5)),
            _ => break false,
        }
    };
    if !ended {
        // It is ours, and nothing needs it any more.
        let _ = child.kill();
        let _ = child.wait();
        return None;
    }
    let mut said = String::new();
    let out = child.stdout.take()?;
    out.take(4096).read_to_string(&mut said).ok()?;
    // Some go on with all their libraries.
    let line = said.lines().next()?.split(" (").next()?.trim();
    (!line.is_empty()).then(|| line.to_owned())
}

/// Where a program is on the search path.
pub fn which(name: &str) -> Option<PathBuf> {
    let paths = std::env::var_os("PATH")?;
    let mut places = std::env::split_paths(&paths).map(|folder| folder.join(name));
    places.find(|place| place.is_file() && is_executable(place))
}

#[cfg(unix)]
pub fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(path).is_ok_and(|data| data.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
pub fn is_executable(path: &Path) -> bool {
    path.is_file()
}

/// Writes a small file and takes it away again: only that shows whether a folder can be written.
pub fn try_writing(folder: &Path) -> io::Result<()> {
    let place = folder.join(format!(".ioco-doctor-{}", std::process::id()));
    let made = OpenOptions::new().write(true).create_new(true).open(&place);
    made?;
    fs::remove_file(&place)
}

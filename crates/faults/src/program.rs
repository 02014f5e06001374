//! The program `ioco` itself, killed and starved: what it reported is kept, what it found is reported, and
//! nothing that it started stays behind.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use serde_json::Value as Json;

use crate::cases::HANG;
use crate::model;

/// The programs under test.
#[derive(Clone, Debug)]
pub struct Programs {
    pub ioco: PathBuf,
    /// `ioco-bad-peer`.
    pub peer: PathBuf,
}

/// What came of the kills.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kills {
    pub kills: u64,
    /// Tests that were reported, and that the store has.
    pub reported: u64,
    /// Tests that were reported, and that the store does not have.
    pub lost: u64,
    /// Systems that outlived ioco.
    pub left: u64,
    pub hung: u64,
}

impl Kills {
    pub fn add(&mut self, other: &Kills) {
        self.kills += other.kills;
        self.reported += other.reported;
        self.lost += other.lost;
        self.left += other.left;
        self.hung += other.hung;
    }
}

const SIGNALS: [&str; 8] = [
    "-KILL", "-KILL", "-KILL", "-KILL", "-TERM", "-INT", "-HUP", "-QUIT",
];

/// Starts a run without end, and ends it by a signal at any moment.
pub fn kill(programs: &Programs, random: &mut ChaCha8Rng, kills: &mut Kills) -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    fs::write(folder.path().join("ping.aml"), model::TEXT)?;
    let sut = format!("exec '{}' nothing 0 0 pid", programs.peer.display());
    let mut child = Command::new(&programs.ioco)
        .current_dir(folder.path())
        .args(["test", "ping.aml", "--sut", &sut, "--format", "json"])
        .args(["--tests", "1000000000", "--steps", "6"])
        .args(["--timeout", "20ms", "--failures", "1000000", "--no-shrink"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let Some(out) = child.stdout.take() else {
        return Err(io::ErrorKind::Other.into());
    };
    let reading = std::thread::spawn(move || {
        let lines = BufReader::new(out).lines().map_while(Result::ok);
        ended(lines)
    });
    // Some are ended before they have started anything.
    let moment = Duration::from_micros(random.random_range(0..1_000_000));
    std::thread::sleep(moment);
    let signal = SIGNALS[random.random_range(0..SIGNALS.len())];
    send(signal, child.id());
    kills.kills += 1;
    if !ends(&mut child)? {
        kills.hung += 1;
        child.kill()?;
        child.wait()?;
    }
    // The system's pid, if it has come so far.
    if let Ok(pid) = fs::read_to_string(folder.path().join("pid"))
        && !is_gone(pid.trim())
    {
        kills.left += 1;
        send("-KILL", pid.trim().parse().unwrap_or(0));
    }
    let reported = reading.join().unwrap_or_default();
    if reported.is_empty() {
        return Ok(());
    }
    let report = Command::new(&programs.ioco)
        .current_dir(folder.path())
        .args(["report", "--format", "jsonl"])
        .stdin(Stdio::null())
        .output()?;
    let text = String::from_utf8_lossy(&report.stdout).into_owned();
    let kept = ended(text.lines().map(str::to_owned));
    kills.reported += reported.intersection(&kept).count() as u64;
    kills.lost += reported.difference(&kept).count() as u64;
    Ok(())
}

/// Kills the system in the middle of a run: that is an error of the system (exit code 3), never a failure of a
/// test. Says what was wrong.
pub fn kill_peer(programs: &Programs, random: &mut ChaCha8Rng) -> io::Result<Option<String>> {
    let folder = tempfile::tempdir()?;
    fs::write(folder.path().join("ping.aml"), model::TEXT)?;
    let sut = format!("exec '{}' nothing 0 0 pid", programs.peer.display());
    let mut child = Command::new(&programs.ioco)
        .current_dir(folder.path())
        .args(["test", "ping.aml", "--sut", &sut])
        .args(["--tests", "1000000000", "--steps", "6"])
        .args(["--timeout", "20s", "--no-shrink"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let file = folder.path().join("pid");
    let begun = Instant::now();
    let pid = loop {
        match fs::read_to_string(&file)
            .ok()
            .and_then(|pid| pid.parse().ok())
        {
            Some(pid) => break pid,
            None if begun.elapsed() > HANG => return Err(io::ErrorKind::TimedOut.into()),
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    std::thread::sleep(Duration::from_micros(random.random_range(0..500_000)));
    send("-KILL", pid);
    if !ends(&mut child)? {
        child.kill()?;
        child.wait()?;
        return Ok(Some("a system was killed, and ioco hung".to_owned()));
    }
    Ok(match child.wait()?.code() {
        Some(3) => None,
        other => Some(format!(
            "a system was killed, and ioco ended with {other:?}"
        )),
    })
}

/// The numbers of the tests that these lines tell the end of.
pub(crate) fn ended(lines: impl Iterator<Item = String>) -> BTreeSet<u64> {
    lines
        .filter_map(|line| serde_json::from_str::<Json>(&line).ok())
        .filter(|event| event["event"] == "test-finished")
        .filter_map(|event| event["test"].as_u64())
        .collect()
}

pub(crate) fn send(signal: &str, pid: u32) {
    let _ = Command::new("kill")
        .args([signal, &pid.to_string()])
        .stderr(Stdio::null())
        .status();
}

pub(crate) fn ends(child: &mut Child) -> io::Result<bool> {
    let begun = Instant::now();
    while begun.elapsed() < HANG {
        if child.try_wait()?.is_some() {
            return Ok(true);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(false)
}

/// Whether a process ends soon; a zombie that nobody has waited for has ended.
fn is_gone(pid: &str) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(20) {
        let shown = Command::new("ps").args(["-o", "stat=", "-p", pid]).output();
        let state = shown.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
        let state = state.unwrap_or_default();
        if state.trim().is_empty() || state.trim().starts_with('Z') {
            return true;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    false
}

/// The most memory that a process had, in KiB.
pub fn peak(pid: &str) -> Option<u64> {
    field(pid, "VmHWM:")
}

/// A number of `/proc/PID/status`, in KiB; only Linux says.
pub(crate) fn field(pid: &str, name: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().trim_end_matches(" kB").trim().parse().ok()
}

/// A program beside this one, where cargo puts them all.
pub fn beside(name: &str) -> Option<PathBuf> {
    let own = std::env::current_exe().ok()?;
    let mut folder: Option<&Path> = own.parent();
    while let Some(here) = folder {
        let path = here.join(name);
        if path.is_file() {
            return Some(path);
        }
        folder = here.parent().filter(|_| here.ends_with("deps"));
    }
    None
}

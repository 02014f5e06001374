//! A PostgreSQL server that dies in the middle of a run: what was reported before the warning is there when the server
//! is back, and the run goes on and ends.

use std::fs;
use std::io::{self, BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;

use crate::model;
use crate::program::{Programs, ended, ends, send};

/// A server that is started elsewhere; `cargo xtask faults` does.
#[derive(Clone, Debug, clap::Args)]
pub struct Database {
    #[arg(long = "database", required = false, requires_all = ["pid", "start"])]
    pub url: String,
    /// The file with the number of its first process
    #[arg(
        long = "database-pid",
        value_name = "FILE",
        required = false,
        requires = "url"
    )]
    pub pid: PathBuf,
    /// The command that starts it again
    #[arg(
        long = "database-start",
        value_name = "COMMAND",
        required = false,
        requires = "url"
    )]
    pub start: String,
}

/// What came of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deaths {
    pub deaths: u64,
    /// Tests that were reported before the warning, and that the store has.
    pub reported: u64,
    /// And that it does not have.
    pub lost: u64,
    pub hung: u64,
}

/// How the server dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Death {
    /// All of it, at once, without writing anything more.
    Whole,
    /// One of its processes is killed; it throws all connections out and recovers.
    OneProcess,
}

/// Runs tests that are recorded by the server, and kills it.
pub fn kill(
    programs: &Programs,
    database: &Database,
    random: &mut ChaCha8Rng,
    deaths: &mut Deaths,
) -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    fs::write(folder.path().join("ping.aml"), model::TEXT)?;
    let sut = format!("exec '{}' nothing 0 0", programs.peer.display());
    // Messages and events in one stream, so that their order is known.
    let mut child = Command::new("sh")
        .current_dir(folder.path())
        .args(["-c", "exec \"$0\" \"$@\" 2>&1"])
        .arg(&programs.ioco)
        .args(["test", "ping.aml", "--sut", &sut, "--format", "json"])
        .args(["--tests", "1000000000", "--steps", "6", "--no-shrink"])
        .args([
            "--timeout",
            "20ms",
            "--time",
            "4s",
            "--store",
            &database.url,
        ])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()?;
    let Some(out) = child.stdout.take() else {
        return Err(io::ErrorKind::Other.into());
    };
    let reading = std::thread::spawn(move || {
        let lines = BufReader::new(out).lines().map_while(Result::ok);
        lines.collect::<Vec<String>>()
    });
    std::thread::sleep(Duration::from_millis(random.random_range(700..2500)));
    let death = [Death::Whole, Death::OneProcess][random.random_range(0..2)];
    database.die(death)?;
    deaths.deaths += 1;
    if !ends(&mut child)? {
        deaths.hung += 1;
        child.kill()?;
        child.wait()?;
    }
    let lines = reading.join().unwrap_or_default();
    database.start_again(death)?;
    let warned = lines.iter().position(|line| line.contains("not recorded"));
    let before = &lines[..warned.unwrap_or(lines.len())];
    let reported = ended(before.iter().cloned());
    let report = Command::new(&programs.ioco)
        .current_dir(folder.path())
        .args(["report", "--format", "jsonl", "--store", &database.url])
        .stdin(Stdio::null())
        .output()?;
    let text = String::from_utf8_lossy(&report.stdout).into_owned();
    let kept = ended(text.lines().map(str::to_owned));
    deaths.reported += reported.intersection(&kept).count() as u64;
    deaths.lost += reported.difference(&kept).count() as u64;
    Ok(())
}

impl Database {
    fn first_process(&self) -> io::Result<u32> {
        let text = fs::read_to_string(&self.pid)?;
        let first = text.lines().next().unwrap_or_default();
        first.trim().parse().map_err(io::Error::other)
    }

    fn die(&self, death: Death) -> io::Result<()> {
        let first = self.first_process()?;
        match death {
            // It ends all its processes and leaves recovery to the next start.
            Death::Whole => send("-QUIT", first),
            Death::OneProcess => {
                if let Some(child) = children(first).last() {
                    send("-KILL", *child);
                }
            }
        }
        Ok(())
    }

    /// Until it answers again.
    fn start_again(&self, death: Death) -> io::Result<()> {
        if death == Death::Whole {
            let begun = std::time::Instant::now();
            while self.pid.exists() && begun.elapsed() < Duration::from_secs(20) {
                std::thread::sleep(Duration::from_millis(20));
            }
            let started = Command::new("sh")
                .args(["-c", &self.start])
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()?;
            if !started.success() {
                return Err(io::Error::other("the database did not start again"));
            }
        }
        let place = ioco_store::Place::new("unused".as_ref(), Some(&self.url));
        let place = place.map_err(|error| io::Error::other(error.to_string()))?;
        let begun = std::time::Instant::now();
        loop {
            match ioco_store::Store::read(&place) {
                Ok(_) => return Ok(()),
                Err(error) if begun.elapsed() > Duration::from_secs(30) => {
                    return Err(io::Error::other(error.to_string()));
                }
                Err(_) => std::thread::sleep(Duration::from_millis(50)),
            }
        }
    }
}

/// The processes that a process has started, oldest first.
fn children(parent: u32) -> Vec<u32> {
    let listed = Command::new("ps")
        .args(["-o", "pid=", "--ppid", &parent.to_string()])
        .output();
    let text = listed.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let text = text.unwrap_or_default();
    text.split_whitespace()
        .filter_map(|pid| pid.parse().ok())
        .collect()
}

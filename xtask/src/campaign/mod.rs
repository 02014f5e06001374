//! `cargo xtask campaign`: campaigns with real servers and worker processes that are killed, paused, cut off and misled.
//! Every one is held against the same tests on one machine. A fixed share runs with the tests.
//!
//! Network cuts are made between network namespaces where this user may make them, and by a proxy otherwise. Delays
//! always go through a proxy: not every kernel has netem. Clocks are moved by libfaketime.

mod arena;
mod check;
pub mod rooms;
mod scale;
mod scenarios;
mod wire;
mod world;

use std::fs;
use std::path::{Path, PathBuf};

use crate::postgres::Postgres;
use crate::tools::{self, cargo, need_nats, target_directory};
use arena::Arena;
use check::Database;
use scenarios::{Amount, Ending, Line, SCENARIOS};

const USAGE: &str = "\
cargo xtask campaign [--kills N] [--tests N] [--only NAME[,NAME]] [--debug]
cargo xtask campaign --scale [--workers N[,N]]";

/// What was typed.
struct Typed {
    amount: Amount,
    tests: u64,
    only: Vec<String>,
    is_debug: bool,
    scale: Option<Vec<usize>>,
}

impl Typed {
    fn read(arguments: &[String]) -> Result<Typed, String> {
        let mut typed = Typed {
            amount: Amount {
                kills: 500,
                pauses: 12,
                cuts: 8,
                jumps: 12,
            },
            tests: 300,
            only: Vec::new(),
            is_debug: false,
            scale: None,
        };
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("{word} needs a value\n{USAGE}"));
            let number = |text: &String| text.parse().map_err(|_| format!("'{text}': {USAGE}"));
            match word.as_str() {
                "--kills" => typed.amount.kills = number(value()?)?,
                "--tests" => typed.tests = u64::from(number(value()?)?),
                "--only" => typed.only = value()?.split(',').map(str::to_owned).collect(),
                "--debug" => typed.is_debug = true,
                "--scale" => typed.scale = Some(vec![1, 2, 4, 8, 16, 32, 64]),
                "--workers" => {
                    let counts = value()?.split(',').map(str::parse);
                    let counts: Result<Vec<usize>, _> = counts.collect();
                    typed.scale = Some(counts.map_err(|_| USAGE.to_owned())?);
                }
                _ => return Err(USAGE.to_owned()),
            }
        }
        let unknown = |name: &&String| SCENARIOS.iter().all(|(known, _)| known != name);
        if let Some(name) = typed.only.iter().find(unknown) {
            let known: Vec<&str> = SCENARIOS.iter().map(|(name, _)| *name).collect();
            return Err(format!("no '{name}'; there are: {}", known.join(", ")));
        }
        Ok(typed)
    }
}

pub fn run(arguments: &[String]) -> Result<(), String> {
    let typed = Typed::read(arguments)?;
    let profile = if typed.is_debug { "debug" } else { "release" };
    let mut build = cargo();
    build.args(["build", "--package", "ioco-cli"]);
    if !typed.is_debug {
        build.arg("--release");
    }
    tools::run("build ioco", &mut build)?;
    let ioco = target_directory().join(profile).join("ioco");
    match typed.scale {
        Some(counts) => scale::run(&ioco, &counts),
        None => play(&ioco, typed.amount, typed.tests, 1, &typed.only),
    }
}

/// What the test command plays: about a minute. `cargo xtask campaign` plays all scenarios, and more of each.
const SHARE: [&str; 5] = ["kills", "replaced", "cuts", "cluster", "duplicates"];

/// The share of the test command, with the program that it has built.
pub fn share() -> Result<(), String> {
    eprintln!("── campaigns that are killed, paused and cut off");
    let amount = Amount {
        kills: 12,
        pauses: 3,
        cuts: 2,
        jumps: 3,
    };
    let ioco = target_directory().join("debug").join("ioco");
    let only = SHARE.map(str::to_owned);
    play(&ioco, amount, 60, 4, &only)
}

/// Plays scenarios, and prints the table. An error where anything does not add up.
fn play(
    ioco: &Path,
    amount: Amount,
    tests: u64,
    reference_jobs: usize,
    only: &[String],
) -> Result<(), String> {
    let Some(nats) = need_nats() else {
        return tools::without("nats-server", "campaigns are not tested");
    };
    let Some(postgres) = Postgres::start()? else {
        return Ok(());
    };
    let folder = Folder::new()?;
    let copy = folder.0.join("ioco");
    // A copy: a build beside the run, which takes long, would exchange the program under it.
    fs::copy(ioco, &copy).map_err(|error| format!("{}: {error}", ioco.display()))?;
    let mut arena = Arena {
        ioco: copy,
        nats,
        database: Database::new(&postgres.program("psql"), &postgres.url(), "campaigns")?,
        socket: postgres.socket_url("campaigns"),
        folder: folder.0.clone(),
        tests,
        reference: 0,
        alone: 0.0,
        campaigns: 0,
        workers: 0,
    };
    arena.run_alone(reference_jobs)?;
    println!(
        "one machine, {reference_jobs} at a time: {tests} tests, {:.1} tests/s",
        arena.alone
    );
    print_head();
    let mut wrong = Vec::new();
    for (name, scenario) in SCENARIOS {
        if !only.is_empty() && !only.iter().any(|wanted| wanted == name) {
            continue;
        }
        match scenario(&mut arena, amount) {
            Ok(Ending::Played(line)) => print_line(name, &line, &arena),
            Ok(Ending::Skipped(why)) => println!("{name:<10}  skipped: {why}"),
            Err(why) => {
                println!("{name:<10}  WRONG  {why}");
                wrong.push(name);
            }
        }
    }
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(format!(
            "campaigns do not add up: {} (logs in {})",
            wrong.join(", "),
            folder.keep().display()
        )),
    }
}

fn print_head() {
    println!(
        "{:<10}  {:>6} {:>8} {:>9} {:>9} {:>6} {:>7} {:>6} {:>6} {:>8} {:>12} {:>8}  what",
        "scenario",
        "orders",
        "outcomes",
        "withdrawn",
        "discarded",
        "losses",
        "doubles",
        "tests",
        "failed",
        "coverage",
        "coordinators",
        "speed-up"
    );
}

fn print_line(name: &str, line: &Line, arena: &Arena) {
    let sums = &line.checked.sums;
    // As fast as so many single machines; kills and pauses included.
    let speed = sums.tests as f64 / line.checked.seconds / arena.alone;
    println!(
        "{name:<10}  {:>6} {:>8} {:>9} {:>9} {:>6} {:>7} {:>6} {:>6} {:>8} {:>12} {speed:>8.1}  {}",
        sums.orders,
        sums.outcomes,
        sums.withdrawn,
        sums.discarded,
        sums.losses,
        sums.doubles,
        sums.tests,
        sums.failed,
        format!("= {}", sums.switches),
        sums.coordinators,
        match line.campaigns {
            1 => line.what.clone(),
            more => format!("{} ({more} campaigns)", line.what),
        }
    );
}

/// Where everything is; goes when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Folder, String> {
        let path = std::env::temp_dir().join(format!("ioco-campaign-{}", std::process::id()));
        fs::create_dir_all(&path).map_err(|error| error.to_string())?;
        Ok(Folder(path))
    }

    /// Leaves it for a person to look at.
    fn keep(self) -> PathBuf {
        let path = self.0.clone();
        std::mem::forget(self);
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

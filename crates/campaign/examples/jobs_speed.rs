//! How much faster N jobs are, for a system that takes 20 ms to answer: in steps, in switches covered and in the
//! time to the first failure. All in one run; `cargo xtask bench jobs` prints the table.
//!
//! The system is this program itself: rooms with four doors each, and one door that is broken.

use std::fmt::Write as _;
use std::io::{BufRead, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

use ioco_campaign::{
    Campaign, CampaignError, ConnectionSpec, Interrupt, ModelOptions, NoObserver, Outcome, Plan,
    Project, TestSettings, Transport, model,
};

const ROOMS: usize = 150;
const DOORS: usize = 4;
const ANSWER: Duration = Duration::from_millis(20);
const JOBS: [usize; 6] = [1, 2, 4, 8, 16, 32];
/// Runs that the time to the first failure is the mean of.
const SEEDS: u64 = 6;
/// The door that is broken, in its room.
const BROKEN: (usize, usize) = (97, 2);

fn main() -> Result<(), String> {
    if std::env::args().nth(1).as_deref() == Some("--system") {
        return system(std::env::args().nth(2).as_deref() == Some("broken"));
    }
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    std::fs::write(folder.path().join("rooms.aut"), rooms()).map_err(|error| error.to_string())?;
    println!(
        "{:>6}  {:>9} {:>6}  {:>12} {:>6}  {:>13} {:>6}",
        "jobs", "steps/s", "/N", "switches/s", "/N", "first failure", "/N"
    );
    let mut first: Option<[f64; 3]> = None;
    for jobs in JOBS {
        let figures = measure(folder.path(), jobs).map_err(|error| error.message)?;
        let one = *first.get_or_insert(figures);
        // As a share of what N times as fast would be.
        let share = |now: f64, before: f64| now / before / jobs as f64;
        println!(
            "{jobs:>6}  {:>9.0} {:>6.2}  {:>12.1} {:>6.2}  {:>11.2} s {:>6.2}",
            figures[0],
            share(figures[0], one[0]),
            figures[1],
            share(figures[1], one[1]),
            figures[2],
            share(one[2], figures[2]),
        );
    }
    Ok(())
}

/// Steps a second, switches covered a second, and seconds to the first failure.
fn measure(folder: &Path, jobs: usize) -> Result<[f64; 3], CampaignError> {
    let steps = TestSettings {
        time: Some("6s".to_owned()),
        ..settings("random", 1)
    };
    let (outcome, took) = run(folder, jobs, steps, false)?;
    let steps = outcome.summary.steps() as f64 / took;
    let cover = TestSettings {
        coverage: Some(90.0),
        ..settings("transitions", 1)
    };
    let (outcome, took) = run(folder, jobs, cover, false)?;
    let switches = outcome.summary.covered_switches as f64 / took;
    let mut found = 0.0;
    for seed in 1..=SEEDS {
        let hunt = TestSettings {
            time: Some("10m".to_owned()),
            ..settings("random", seed)
        };
        let (outcome, took) = run(folder, jobs, hunt, true)?;
        if outcome.summary.distinct_failures == 0 {
            return Err(CampaignError::usage("the broken door was not found"));
        }
        found += took;
    }
    Ok([steps, switches, found / SEEDS as f64])
}

fn settings(strategy: &str, seed: u64) -> TestSettings {
    TestSettings {
        strategy: Some(strategy.to_owned()),
        seed: Some(seed),
        steps: Some(20),
        ..TestSettings::default()
    }
}

fn run(
    folder: &Path,
    jobs: usize,
    test: TestSettings,
    is_broken: bool,
) -> Result<(Outcome, f64), CampaignError> {
    let mut project = Project {
        root: folder.to_owned(),
        model: Some(folder.join("rooms.aut")),
        ..Project::default()
    };
    // Every stimulus has one answer.
    project.sut.silent_once_answered = Some(true);
    let options = ModelOptions::default();
    let program = std::env::current_exe();
    let program = program.map_err(|error| CampaignError::system(error.to_string()))?;
    let mut words = vec![program.display().to_string(), "--system".to_owned()];
    words.extend(is_broken.then(|| "broken".to_owned()));
    let plan = Plan {
        model: model::load(&options, &project, &mut NoObserver)?,
        reach: ConnectionSpec::of_way(Transport::Command(words), false, &project)?,
        options,
        test,
        shrinking: None,
        known: false,
        beginning: Vec::new(),
        jobs,
        shard: None,
        scripts: Vec::new(),
        project,
    };
    let campaign = Campaign::open(plan, Interrupt::default(), &mut NoObserver)?;
    let begun = Instant::now();
    let outcome = campaign.run(&mut NoObserver)?;
    Ok((outcome, begun.elapsed().as_secs_f64()))
}

/// From room `r`, door `d` leads to room `(4r + d + 1) mod ROOMS`.
fn rooms() -> String {
    let mut edges = String::new();
    let (mut between, mut count) = (ROOMS, 0);
    for room in 0..ROOMS {
        for door in 0..DOORS {
            let next = (room * DOORS + door + 1) % ROOMS;
            let _ = writeln!(edges, "({room},\"?door{door}\",{between})");
            let _ = writeln!(edges, "({between},\"!done\",{next})");
            between += 1;
            count += 2;
        }
    }
    format!("des (0,{count},{between})\n{edges}")
}

fn system(is_broken: bool) -> Result<(), String> {
    let mut room = 0;
    let mut out = std::io::stdout();
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(|error| error.to_string())?;
        let message: serde_json::Value =
            serde_json::from_str(&line).map_err(|error| error.to_string())?;
        let name = message["stimulus"].as_str().unwrap_or_default();
        let door = name.strip_prefix("door").and_then(|door| door.parse().ok());
        let answer = match door {
            Some(door) => {
                std::thread::sleep(ANSWER);
                let is_stuck = is_broken && (room, door) == BROKEN;
                room = (room * DOORS + door + 1) % ROOMS;
                match is_stuck {
                    true => "{\"response\":\"stuck\"}",
                    false => "{\"response\":\"done\"}",
                }
            }
            None => {
                room = 0;
                "{\"ready\":true}"
            }
        };
        writeln!(out, "{answer}").map_err(|error| error.to_string())?;
        out.flush().map_err(|error| error.to_string())?;
    }
    Ok(())
}

//! `cargo xtask faults`: the long run of the suite of bad peers. Prints its tables; fails if anything was lost,
//! hung or judged wrongly.

use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use clap::Parser;
use ioco_faults::cases::{ConnectionKind, play};
use ioco_faults::database::{self, Database, Deaths};
use ioco_faults::disks::{self, Disk};
use ioco_faults::fault::Fault;
use ioco_faults::program::{self, Kills, Programs, beside};
use ioco_faults::table::Table;
use ioco_faults::{soak, stops};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

/// One death of the database for so many kills.
const DEATHS: u64 = 25;

/// What was asked for. To look into one complaint: `--only CONNECTION` and `--case N` play nothing but these, with the
/// same seeds; with `--stops`, `--only` takes the rows whose names contain it.
#[derive(Parser)]
#[cfg_attr(test, derive(Default))]
#[command(name = "ioco-faults")]
struct Arguments {
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    faults: u64,
    #[arg(long, value_name = "N", default_value_t = 500)]
    kills: u64,
    #[arg(long, value_name = "N", default_value_t = 0)]
    soak: u64,
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    #[arg(long, value_name = "N", default_value_t = 8)]
    threads: u64,
    #[arg(long)]
    stops: bool,
    #[arg(long, value_name = "CONNECTION")]
    only: Option<String>,
    #[arg(long, value_name = "N")]
    case: Option<u64>,
    #[command(flatten)]
    database: Option<Database>,
    #[arg(long)]
    without_database: bool,
}

impl Arguments {
    /// What was asked for and not played: a run that plays nothing loses nothing.
    fn missing(&self, faults: u64, kills: &Kills, deaths: &Deaths) -> Vec<String> {
        let mut missing = Vec::new();
        if faults < self.faults {
            missing.push(format!("{faults} of {} faults were played", self.faults));
        }
        if self.kills > 0 && kills.reported == 0 {
            missing.push("no killed ioco had reported a test".to_owned());
        }
        match &self.database {
            None if !self.without_database => {
                missing.push("no database was given; --without-database accepts that".to_owned());
            }
            Some(_) if self.kills >= DEATHS && deaths.reported == 0 => {
                missing.push("no test was reported before its database was killed".to_owned());
            }
            _ => {}
        }
        missing
    }

    fn plays(&self, number: u64, way: ConnectionKind) -> bool {
        self.case.is_none_or(|case| case == number)
            && self.only.as_deref().is_none_or(|only| only == way.name())
    }
}

fn main() -> ExitCode {
    let (Some(ioco), Some(peer)) = (beside("ioco"), beside("ioco-bad-peer")) else {
        eprintln!("build the workspace's programs first: cargo build --workspace --bins");
        return ExitCode::FAILURE;
    };
    let programs = Programs { ioco, peer };
    let asked = Arguments::parse();
    if asked.soak > 0 {
        return soak(&programs, asked.soak);
    }
    if asked.stops {
        return match stops(&programs, &asked) {
            Some(0) => ExitCode::SUCCESS,
            _ => ExitCode::FAILURE,
        };
    }
    if asked.only.is_some() || asked.case.is_some() {
        let table = faults(&programs, &asked);
        print!("{}", table.show());
        return match table.wrong() {
            0 => ExitCode::SUCCESS,
            _ => ExitCode::FAILURE,
        };
    }
    // Side by side: nearly all of them wait for each other's time-outs, and none says how long something may
    // take. How soon ioco stops is measured, and comes last, alone.
    let begun = Instant::now();
    let done = |what: &str| eprintln!("{what} done after {} s", begun.elapsed().as_secs());
    let (table, killed, full, died) = std::thread::scope(|scope| {
        let table = scope.spawn(|| {
            let table = faults(&programs, &asked);
            done("faults");
            table
        });
        let killed = scope.spawn(|| {
            let mut complaints = Vec::new();
            let counts = kills(&programs, &asked, &mut complaints);
            done("kills");
            (counts, complaints)
        });
        let mut complaints = Vec::new();
        let full = disks(&programs, &asked, &mut complaints);
        done("disks");
        let died = deaths(&programs, &asked, &mut complaints);
        done("databases");
        let killed = killed.join().unwrap_or_else(|_| panicked("kills"));
        let table = table.join().unwrap_or_else(|_| panicked("faults"));
        (table, killed, (full, complaints), died)
    });
    let ((kills, peers), mut complaints) = killed;
    let (disks, more) = full;
    let deaths = died;
    complaints.extend(table.complaints.iter().cloned().chain(more));
    print!("{}", table.show());
    println!(
        "kills {}: {} hung, {} systems left behind; {} tests reported and kept, {} lost",
        kills.kills, kills.hung, kills.left, kills.reported, kills.lost
    );
    println!("killed systems {}: {} judged wrongly", peers.0, peers.1);
    println!(
        "full and read-only disks {}: {} judged wrongly",
        disks.0, disks.1
    );
    println!(
        "killed databases {}: {} hung; {} tests reported and kept, {} lost",
        deaths.deaths, deaths.hung, deaths.reported, deaths.lost
    );
    let late = stops(&programs, &asked);
    let lost = kills.lost + kills.left + deaths.lost;
    let hung = table.hung() + kills.hung + deaths.hung + late.unwrap_or(1);
    let wrong = table.wrong() + peers.1 + disks.1;
    println!(
        "faults {}, kills {}: {lost} lost, {hung} hung, {wrong} wrong; peak memory {} MiB; {} s",
        table.faults() + disks.0 + deaths.deaths,
        kills.kills + peers.0,
        program::peak("self").unwrap_or(0) >> 10,
        begun.elapsed().as_secs()
    );
    let missing = asked.missing(table.faults(), &kills, &deaths);
    for complaint in complaints.iter().chain(&missing) {
        println!("  {complaint}");
    }
    match lost + hung + wrong + missing.len() as u64 {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

/// A thread of the suite itself panicked: nothing that it counted can be said.
fn panicked<T>(what: &str) -> T {
    eprintln!("the suite itself failed in its {what}");
    std::process::exit(1);
}

/// Plays faults on several threads, most of which wait.
fn faults(programs: &Programs, asked: &Arguments) -> Table {
    let table = Mutex::new(Table::default());
    let next = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..asked.threads {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let is_enough = table.lock().map_or(0, |table| table.faults()) >= asked.faults;
                    if is_enough || number > 4 * asked.faults {
                        return;
                    }
                    let way = ConnectionKind::ALL[number as usize % ConnectionKind::ALL.len()];
                    if !asked.plays(number, way) {
                        continue;
                    }
                    let mut random = ChaCha8Rng::seed_from_u64(asked.seed ^ (number << 20));
                    let fault = Fault::random(&mut random);
                    let played = play(way, fault, &programs.peer);
                    if let Ok(mut table) = table.lock() {
                        let what = format!("case {number}, {fault:?}");
                        // At once: the whole run takes an hour.
                        if let Some(complaint) = table.add(way, &what, &played) {
                            eprintln!("wrong: {complaint}");
                        }
                    }
                }
            });
        }
    });
    table.into_inner().unwrap_or_default()
}

/// Kills ioco, and every fifth time its system instead: counts of those, and how many were judged wrongly.
fn kills(
    programs: &Programs,
    asked: &Arguments,
    complaints: &mut Vec<String>,
) -> (Kills, (u64, u64)) {
    let all = Mutex::new((Kills::default(), (0, 0), Vec::new()));
    let next = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= asked.kills {
                        return;
                    }
                    let mut random = ChaCha8Rng::seed_from_u64(asked.seed ^ (number << 20));
                    let mut kills = Kills::default();
                    let mut peers = (0, 0);
                    let mut complaint = None;
                    let played = if number % 5 == 4 {
                        program::kill_peer(programs, &mut random).map(|wrong| {
                            peers = (1, u64::from(wrong.is_some()));
                            complaint = wrong;
                        })
                    } else {
                        program::kill(programs, &mut random, &mut kills)
                    };
                    if let Err(error) = played {
                        complaint = Some(format!("a kill could not be played: {error}"));
                    }
                    if let Some(complaint) = &complaint {
                        eprintln!("wrong: kill {number}: {complaint}");
                    }
                    if kills.hung + kills.left + kills.lost > 0 {
                        eprintln!("wrong: kill {number}: {kills:?}");
                    }
                    if let Ok(mut all) = all.lock() {
                        all.0.add(&kills);
                        all.1 = (all.1.0 + peers.0, all.1.1 + peers.1);
                        all.2.extend(complaint);
                    }
                }
            });
        }
    });
    let (kills, peers, said) = all.into_inner().unwrap_or_default();
    complaints.extend(said);
    (kills, peers)
}

/// How many disks refused, and how many runs on them were judged wrongly.
fn disks(programs: &Programs, asked: &Arguments, complaints: &mut Vec<String>) -> (u64, u64) {
    let can_mount = disks::can_mount();
    if !can_mount {
        println!("file systems cannot be made here: only limits on files are played");
    }
    let mut random = ChaCha8Rng::seed_from_u64(asked.seed);
    let mut counts = (0, 0);
    for _ in 0..asked.kills / 10 {
        let disk = match can_mount {
            true => Disk::random(&mut random),
            false => Disk::Blocks(random.random_range(0..400)),
        };
        let wrong = match disks::play(programs, disk) {
            Ok(wrong) => wrong,
            Err(error) => Some(format!("a disk could not be played: {error}")),
        };
        if let Some(complaint) = &wrong {
            eprintln!("wrong: {complaint}");
        }
        counts = (counts.0 + 1, counts.1 + u64::from(wrong.is_some()));
        complaints.extend(wrong);
    }
    counts
}

fn deaths(programs: &Programs, asked: &Arguments, complaints: &mut Vec<String>) -> Deaths {
    let mut deaths = Deaths::default();
    let Some(server) = &asked.database else {
        println!("no database was given: none is killed");
        return deaths;
    };
    let mut random = ChaCha8Rng::seed_from_u64(asked.seed);
    for number in 0..asked.kills / DEATHS {
        let before = deaths;
        if let Err(error) = database::kill(programs, server, &mut random, &mut deaths) {
            let complaint = format!("a death of the database could not be played: {error}");
            eprintln!("wrong: {complaint}");
            complaints.push(complaint);
        }
        if (deaths.lost, deaths.hung) != (before.lost, before.hung) {
            eprintln!("wrong: death {number} of the database: {before:?}, then {deaths:?}");
        }
    }
    deaths
}

/// Measures and prints how soon ioco stops; how many cases did not end, or not by being stopped.
fn stops(programs: &Programs, asked: &Arguments) -> Option<u64> {
    println!("{}", stops::HEAD);
    let measured = stops::measure(
        programs,
        asked.database.as_ref(),
        asked.only.as_deref(),
        &mut |row| println!("{row}"),
    );
    match measured {
        Ok(rows) => {
            println!("{}", stops::foot(&rows));
            Some(stops::wrong(&rows))
        }
        Err(error) => {
            println!("stopping could not be measured: {error}");
            None
        }
    }
}

fn soak(programs: &Programs, steps: u64) -> ExitCode {
    let samples = match soak::soak(programs, steps) {
        Ok(samples) => samples,
        Err(error) => {
            eprintln!("the soak failed: {error}");
            return ExitCode::FAILURE;
        }
    };
    print!("{}", soak::show(&samples));
    match soak::Fit::of(&samples).is_some_and(|fit| fit.is_level()) {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_played_less_than_asked_is_a_failure() {
        let asked = Arguments {
            faults: 10,
            kills: 50,
            without_database: true,
            ..Arguments::default()
        };
        let reported = Kills {
            reported: 1,
            ..Kills::default()
        };
        let (none, deaths) = (Kills::default(), Deaths::default());
        assert!(asked.missing(10, &reported, &deaths).is_empty());
        assert_eq!(asked.missing(9, &reported, &deaths).len(), 1);
        assert_eq!(asked.missing(10, &none, &deaths).len(), 1);
        let with = Arguments {
            without_database: false,
            ..asked
        };
        assert_eq!(with.missing(10, &reported, &deaths).len(), 1);
        let database = Database {
            url: String::new(),
            pid: "pid".into(),
            start: String::new(),
        };
        let with = Arguments {
            database: Some(database),
            ..with
        };
        assert_eq!(with.missing(10, &reported, &deaths).len(), 1);
        let kept = Deaths {
            reported: 1,
            ..deaths
        };
        assert!(with.missing(10, &reported, &kept).is_empty());
    }
}

//! `cargo xtask faults`: the long run of the suite of bad peers. Prints its table; fails if anything was lost,
//! hung or judged wrongly.

use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use ioco_faults::cases::{Way, play};
use ioco_faults::fault::Fault;
use ioco_faults::program::{self, Kills, Programs, beside};
use ioco_faults::table::Table;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

/// What was asked for: `--faults N --kills N --soak N --seed N`.
struct Asked {
    faults: u64,
    kills: u64,
    soak: u64,
    seed: u64,
}

fn asked() -> Asked {
    let words: Vec<String> = std::env::args().collect();
    let value = |name: &str, usual: u64| {
        let position = words.iter().position(|word| word == name);
        let next = position.and_then(|position| words.get(position + 1));
        next.and_then(|text| text.parse().ok()).unwrap_or(usual)
    };
    Asked {
        faults: value("--faults", 10_000),
        kills: value("--kills", 500),
        soak: value("--soak", 0),
        seed: value("--seed", 1),
    }
}

fn main() -> ExitCode {
    let (Some(ioco), Some(peer)) = (beside("ioco"), beside("ioco-bad-peer")) else {
        eprintln!("build the workspace's programs first: cargo build --workspace --bins");
        return ExitCode::FAILURE;
    };
    let programs = Programs { ioco, peer };
    let asked = asked();
    if asked.soak > 0 {
        return soak(&programs, asked.soak);
    }
    let table = faults(&programs, &asked);
    print!("{}", table.show());
    let mut random = ChaCha8Rng::seed_from_u64(asked.seed);
    let mut kills = Kills::default();
    let mut disks = (0, 0);
    for number in 0..asked.kills {
        if let Err(error) = program::kill(&programs, &mut random, &mut kills) {
            eprintln!("a kill could not be played: {error}");
        }
        // Every tenth time the disk is full as well.
        if number % 10 == 0 {
            let blocks = random.random_range(0..400);
            let is_reported = program::full_disk(&programs, blocks).unwrap_or(false);
            disks = (disks.0 + 1, disks.1 + u64::from(!is_reported));
        }
    }
    println!(
        "kills {}: {} hung, {} systems left behind; {} tests told and kept, {} lost",
        kills.kills, kills.hung, kills.left, kills.told, kills.lost
    );
    println!(
        "full disks {}: {} deviations not reported",
        disks.0, disks.1
    );
    println!(
        "faults {}, wrong {}, hung {}; peak memory {} MiB",
        table.faults(),
        table.wrong(),
        table.hung() + kills.hung,
        program::peak("self").unwrap_or(0) >> 10
    );
    for complaint in &table.complaints {
        println!("  {complaint}");
    }
    let bad = table.wrong() + kills.hung + kills.left + kills.lost + disks.1;
    if bad == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Plays faults on several threads, most of which wait.
fn faults(programs: &Programs, asked: &Asked) -> Table {
    let table = Mutex::new(Table::default());
    let next = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let is_enough = table.lock().map_or(0, |table| table.faults()) >= asked.faults;
                    if is_enough || number > 4 * asked.faults {
                        return;
                    }
                    let mut random = ChaCha8Rng::seed_from_u64(asked.seed ^ (number << 20));
                    let fault = Fault::random(&mut random);
                    let way = Way::ALL[number as usize % Way::ALL.len()];
                    let played = play(way, fault, &programs.peer);
                    if let Ok(mut table) = table.lock() {
                        table.add(way, &format!("{fault:?}"), &played);
                    }
                }
            });
        }
    });
    table.into_inner().unwrap_or_default()
}

fn soak(programs: &Programs, steps: u64) -> ExitCode {
    let samples = match program::soak(programs, steps) {
        Ok(samples) => samples,
        Err(error) => {
            eprintln!("the soak failed: {error}");
            return ExitCode::FAILURE;
        }
    };
    println!("{:>12} {:>12}", "steps", "memory");
    for (done, memory) in &samples {
        println!("{done:>12} {:>8} KiB", memory);
    }
    // The first quarter fills caches; after that memory stays where it is.
    let settled = samples.get(samples.len() / 4).map_or(0, |sample| sample.1);
    let last = samples.last().map_or(0, |sample| sample.1);
    let is_level = last <= settled + settled / 10 + 4096;
    println!("{}", if is_level { "level" } else { "memory grows" });
    if is_level {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

//! How much recording slows the tester down: a million steps against a system in the same process,
//! which answers at once, with the events thrown away and with the events kept.
//!
//! `cargo run --release -p ioco-store --example store_speed`

#[path = "../../engine/examples/walker/mod.rs"]
mod walker;

use std::sync::Arc;
use std::time::{Duration, Instant};

use ioco_engine::{EventLevel, Settings, StopConditions, StrategyKind, Tester};
use ioco_store::{NewRun, Place, Recording};
use ioco_sts::{EvaluationOnly, Relation, Semantics, Sts};
use walker::{Walker, ring, run_all};

const STEPS: u64 = 1_000_000;
const STEPS_PER_TEST: u64 = 100;
const ROUNDS: usize = 5;

fn main() {
    let sts = Arc::new(ring(300, 8));
    let mut without = Vec::new();
    let mut with = Vec::new();
    let mut size = 0;
    let mut work = (0.0, 0.0);
    // By turns, so that a busy machine is unfair to both.
    for _ in 0..ROUNDS {
        let begun = processor_time();
        without.push(run(&sts, None));
        let between = processor_time();
        let folder = std::env::temp_dir().join(format!("ioco-store-{}", std::process::id()));
        let file = folder.join("ioco.db");
        with.push(run(&sts, Some(&Place::File(file.clone()))));
        work.0 += between - begun;
        work.1 += processor_time() - between;
        size = std::fs::metadata(&file).map_or(0, |file| file.len());
        let _ = std::fs::remove_dir_all(&folder);
    }
    let (without, with) = (median(without), median(with));
    let speed = |time: Duration| STEPS as f64 / time.as_secs_f64();
    println!(
        "  {STEPS} steps without a store   {:>12.0} steps/s",
        speed(without)
    );
    println!(
        "  {STEPS} steps recorded          {:>12.0} steps/s",
        speed(with)
    );
    println!(
        "  share of the speed           {:>12.0} %",
        without.as_secs_f64() * 100.0 / with.as_secs_f64()
    );
    println!(
        "  processor time per step      {:>12.0} ns, recorded {:.0} ns",
        work.0 * 1e9 / (STEPS as f64 * ROUNDS as f64),
        work.1 * 1e9 / (STEPS as f64 * ROUNDS as f64)
    );
    println!(
        "  size of the store            {:>12.1} MB",
        size as f64 / 1e6
    );
}

/// Seconds of all processors together that this process has used; of no use but on Linux.
fn processor_time() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // After the name in brackets; in hundredths of a second.
    let fields = text.rsplit(')').next().unwrap_or_default();
    let ticks = fields.split_whitespace().skip(11).take(2);
    ticks
        .filter_map(|ticks| ticks.parse::<f64>().ok())
        .sum::<f64>()
        / 100.0
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// The time from the first step to everything being in the store.
fn run(sts: &Arc<Sts>, place: Option<&Place>) -> Duration {
    let settings = Settings {
        seed: 1,
        strategy: StrategyKind::uniform(),
        events: EventLevel::Steps,
        stop: StopConditions {
            tests: None,
            steps_per_test: STEPS_PER_TEST,
            total_steps: Some(STEPS),
            ..StopConditions::default()
        },
        ..Settings::default()
    };
    let solver = Box::new(EvaluationOnly);
    let semantics = Semantics::new(Arc::clone(sts), solver, Relation::Ioco);
    let mut tester = Tester::new(semantics, settings);
    let mut recording = place.map(|place| {
        let run = NewRun {
            strategy: "random".to_owned(),
            ..NewRun::default()
        };
        Recording::begin(place, run).expect("a store")
    });
    let mut system = Walker::new(sts);
    let begun = Instant::now();
    run_all(&mut tester, &mut system, |tester| {
        let events = tester.take_events();
        if let Some(recording) = &mut recording {
            recording.events(&events).expect("recorded");
        }
    });
    if let Some(recording) = &mut recording {
        recording.events(&tester.take_events()).expect("recorded");
        recording.flush().expect("recorded");
    }
    begun.elapsed()
}

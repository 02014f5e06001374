//! How long it takes to decide the goals of the examples.
//!
//! `cargo run --release -p ioco-generate --example cover_speed`
//!
//! Beside the time on the clock stands the time that the thread was running, which other work on
//! the machine does not change. Several seeds, because the first test is a random one.

use std::sync::Arc;
use std::time::Instant;

use ioco_generate::Confirm;
use ioco_generate::cover::{Cover, CoverLimits, CoverObserver, Goal, GoalVerdict, Instance};
use ioco_solve::GuardSolver;
use ioco_sts::{Relation, Semantics, Sts};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

const EXAMPLES: &[&str] = &["atm", "blockbuster", "calculator", "koopman", "microscope"];
const SEEDS: std::ops::RangeInclusive<u64> = 1..=5;
const ONE: std::ops::RangeInclusive<u64> = 1..=1;

struct Files;

impl ioco_aml::Sources for Files {
    fn read(&self, path: &str) -> Result<String, String> {
        std::fs::read_to_string(path).map_err(|error| error.to_string())
    }
}

struct Nobody;

impl CoverObserver for Nobody {
    fn decided(&mut self, _: Goal, _: &GoalVerdict, _: Option<&Instance>, _: u64) {}
}

fn main() {
    let only: Vec<String> = std::env::args().skip(1).collect();
    for name in EXAMPLES {
        if !only.is_empty() && !only.iter().any(|wanted| wanted == name) {
            continue;
        }
        let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
        let model = format!("{examples}/{name}/model.aml");
        let Some(sts) = ioco_aml::load(&model, &Files).sts else {
            eprintln!("  {model} cannot be read");
            continue;
        };
        for (what, goals, seeds) in [
            ("locations", Goal::locations(&sts), SEEDS),
            ("switches", Goal::switches(&sts), SEEDS),
            ("conditions", Goal::conditions(&sts), ONE),
            ("mcdc", Goal::mcdc(&sts), ONE),
        ] {
            for seed in seeds {
                measure(name, &sts, what, &goals, seed);
            }
        }
    }
}

fn measure(name: &str, sts: &Arc<Sts>, what: &str, goals: &[Goal], seed: u64) {
    let (start, ran) = (Instant::now(), thread_seconds());
    let semantics = Semantics::new(
        Arc::clone(sts),
        Box::new(GuardSolver::new()),
        Relation::Ioco,
    );
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let confirm = Confirm::new(semantics);
    let cover = Cover::new(sts, goals, CoverLimits::default(), confirm, &mut rng);
    let covered = cover.run(None, &mut Nobody);
    let seconds = start.elapsed().as_secs_f64();
    let running = match thread_seconds().zip(ran) {
        Some((after, before)) => format!("{:>7.3} s of work", after - before),
        None => String::new(),
    };
    let count =
        |wanted: fn(&GoalVerdict) -> bool| covered.goals.values().filter(|v| wanted(v)).count();
    println!(
        "  {name:<11} {what:<10} seed {seed}  {seconds:>7.3} s {running}  {:>3} covered by {:>2} tests, \
         {} unreachable, {} unknown, {} questions",
        count(|v| matches!(v, GoalVerdict::Covered { .. })),
        covered.tests.len(),
        count(|v| matches!(v, GoalVerdict::Unreachable(_))),
        count(|v| matches!(v, GoalVerdict::Unknown(_))),
        covered.calls,
    );
}

/// For how long this thread has been running, where the system tells.
fn thread_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: f64 = text.split(' ').next()?.parse().ok()?;
    Some(nanoseconds / 1e9)
}

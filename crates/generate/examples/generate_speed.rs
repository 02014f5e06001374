//! How many traces a second are found, given values, walked again and written, on one thread and
//! on two; and how much memory ten million of them take.
//!
//! `cargo run --release -p ioco-generate --example generate_speed`
//!
//! Beside the time on the clock stands the time that the threads were running, which other work on
//! the machine does not change.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use ioco_generate::{Confirm, Extent, Path, Tally, Walk};
use ioco_solve::{Embedded, GuardSolver};
use ioco_sts::{Relation, Semantics, Sts};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

struct Files;

impl ioco_aml::Sources for Files {
    fn read(&self, path: &str) -> Result<String, String> {
        std::fs::read_to_string(path).map_err(|error| error.to_string())
    }
}

/// The suite whose memory is measured is cut off here.
const MANY: u64 = 10_000_000;

fn main() {
    let model = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../examples/microscope/model.aml"
    );
    let Some(sts) = ioco_aml::load(model, &Files).sts else {
        eprintln!("  {model} cannot be read");
        return;
    };
    for length in 1..=4 {
        for threads in [1, 2] {
            measure(&sts, length, threads, u64::MAX);
        }
    }
    for most in [MANY / 100, MANY / 10, MANY] {
        measure(&sts, 5, 2, most);
        if let Some(megabytes) = resident() {
            println!("    memory in use at the end {megabytes:>6.1} MB");
        }
    }
}

fn measure(sts: &Arc<Sts>, length: u32, threads: usize, most: u64) {
    let start = Instant::now();
    let (tally, running) = generate(sts, length, threads, most);
    let seconds = start.elapsed().as_secs_f64();
    let traces = tally.paths;
    let running = match running {
        Some(running) => format!("{:>9.0} a second of work", traces as f64 / running),
        None => String::new(),
    };
    println!(
        "  microscope, length {length}, {threads} thread{} {traces:>9} traces {seconds:>8.3} s \
         {:>9.0} a second {running}  {} questions",
        if threads == 1 { " " } else { "s" },
        traces as f64 / seconds,
        tally.solver_calls,
    );
}

fn walk(sts: &Sts, length: u32) -> Walk<'_, Embedded, ChaCha8Rng> {
    let solver = Embedded::new(sts.types(), sts.functions());
    let rng = ChaCha8Rng::seed_from_u64(1);
    Walk::new(sts, Extent::of_length(length), solver, rng)
}

/// The traces, and for how long threads were running in all.
fn generate(sts: &Arc<Sts>, length: u32, threads: usize, most: u64) -> (Tally, Option<f64>) {
    let before = thread_seconds();
    let (shares, mut tally) = walk(sts, length).shares(64, 4);
    let cut = thread_seconds()
        .zip(before)
        .map(|(after, before)| after - before);
    let next = AtomicUsize::new(0);
    let total = AtomicU64::new(0);
    let one_thread = || {
        let mut walk = walk(sts, length);
        let semantics = Semantics::new(
            Arc::clone(sts),
            Box::new(GuardSolver::new()),
            Relation::Ioco,
        );
        let mut confirm = Confirm::new(semantics);
        let mut text = String::new();
        let mut tally = Tally::default();
        while let Some(share) = shares.get(next.fetch_add(1, Ordering::Relaxed)) {
            let mut sink = |path: &Path<'_>| {
                text.clear();
                for action in path.steps().filter_map(|step| step.action) {
                    let _ = write!(text, "{}", action.show(sts));
                }
                if let Err(objection) = confirm.path(path) {
                    println!("  {text}: {objection}");
                }
                total.fetch_add(1, Ordering::Relaxed) < most
            };
            tally.add(walk.run(share, &mut sink));
            if tally.stopped {
                break;
            }
        }
        (tally, thread_seconds())
    };
    let mut running = cut;
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(one_thread)).collect();
        for (part, seconds) in threads.into_iter().filter_map(|t| t.join().ok()) {
            tally.add(part);
            running = running.zip(seconds).map(|(all, one)| all + one);
        }
    });
    (tally, running)
}

/// For how long this thread has been running, where the system tells.
fn thread_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: f64 = text.split(' ').next()?.parse().ok()?;
    Some(nanoseconds / 1e9)
}

/// Memory of this process in megabytes, where the system tells.
fn resident() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find(|line| line.starts_with("VmRSS:"))?;
    let kilobytes: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes / 1e3)
}

//! How many traces a second are found, given values, walked again and written, on one thread and
//! on two.
//!
//! `cargo run --release -p ioco-generate --example generate_speed`

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use ioco_generate::{Confirm, Extent, Path, Walk};
use ioco_solve::{Embedded, Oracle};
use ioco_sts::{Relation, Semantics, Sts};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

struct Files;

impl ioco_aml::Sources for Files {
    fn read(&self, path: &str) -> Result<String, String> {
        std::fs::read_to_string(path).map_err(|error| error.to_string())
    }
}

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
            let start = Instant::now();
            let traces = generate(&sts, length, threads);
            let seconds = start.elapsed().as_secs_f64();
            println!(
                "  microscope, length {length}, {threads} thread{} {traces:>9} traces {seconds:>8.2} s \
                 {:>9.0} traces/s",
                if threads == 1 { " " } else { "s" },
                traces as f64 / seconds
            );
        }
    }
}

fn walk(sts: &Sts, length: u32) -> Walk<'_, Embedded, ChaCha8Rng> {
    let solver = Embedded::new(sts.types(), sts.functions());
    let rng = ChaCha8Rng::seed_from_u64(1);
    Walk::new(sts, Extent::of_length(length), solver, rng)
}

fn generate(sts: &Arc<Sts>, length: u32, threads: usize) -> u64 {
    let (shares, _) = walk(sts, length).shares(64, 4);
    let next = AtomicUsize::new(0);
    let one_thread = || {
        let mut walk = walk(sts, length);
        let semantics = Semantics::new(Arc::clone(sts), Box::new(Oracle::new()), Relation::Ioco);
        let mut confirm = Confirm::new(semantics);
        let mut text = String::new();
        let mut traces = 0;
        while let Some(share) = shares.get(next.fetch_add(1, Ordering::Relaxed)) {
            let mut sink = |path: &Path<'_>| {
                text.clear();
                for action in path.steps().filter_map(|step| step.action) {
                    let _ = write!(text, "{}", action.show(sts));
                }
                if let Err(objection) = confirm.path(path) {
                    println!("  {text}: {objection}");
                }
                true
            };
            traces += walk.run(share, &mut sink).paths;
        }
        traces
    };
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(one_thread)).collect();
        running.into_iter().filter_map(|t| t.join().ok()).sum()
    })
}

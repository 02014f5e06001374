//! Shrinking on a text protocol with a login, counters and strings: no shrinker leaves less than `auto`.

use std::sync::Arc;

use ioco_experiments::mail::{Fault, MODEL, Mail};
use ioco_experiments::{DataRunner, data_semantics, random_walk};
use ioco_shrink::{Ended, Options, Pipeline, Shrunk, shrink};
use ioco_sts::{Execution, Sts};

fn model() -> Arc<Sts> {
    let loaded = ioco_aml::load_text("mail.aml", MODEL);
    assert!(loaded.sts.is_some(), "{:?}", loaded.diagnostics);
    loaded.sts.expect("checked above")
}

/// Long failing traces of one fault.
fn failures(sts: &Arc<Sts>, fault: Fault, seeds: std::ops::Range<u64>) -> Vec<Execution> {
    let texts = ["ann", "bob", "secret", "secret", "secret", ".end"];
    let mut failures = Vec::new();
    for seed in seeds {
        let mut runner = DataRunner::new(sts, Box::new(Mail::new(Some(fault))));
        let execution = random_walk(&mut runner, &texts, seed, 1000);
        if execution.deviation().is_some() {
            failures.push(execution);
        }
    }
    // The longest first.
    failures.sort_by_key(|failure| std::cmp::Reverse(failure.length()));
    failures
}

fn shrunk(name: &str, sts: &Arc<Sts>, fault: Fault, failure: &Execution) -> Shrunk {
    let pipeline: Pipeline = name.parse().expect("a shrinker");
    let mut runner = DataRunner::new(sts, Box::new(Mail::new(Some(fault))));
    let mut model = data_semantics(sts);
    let options = Options {
        runs: Some(2_000),
        simplify_values: false,
        ..Options::default()
    };
    shrink(
        &pipeline,
        &mut model,
        failure,
        &mut runner,
        &options,
        &mut (),
    )
    .expect("a failing trace")
}

#[test]
fn the_right_server_conforms() {
    let sts = model();
    let texts = ["ann", "bob", "secret", ".", "mail.example", ""];
    for seed in 0..5 {
        let mut runner = DataRunner::new(&sts, Box::new(Mail::new(None)));
        let execution = random_walk(&mut runner, &texts, seed, 600);
        assert_eq!(execution.stimuli().count(), 600, "{:?}", execution.verdict);
        assert!(execution.deviation().is_none(), "{:?}", execution.verdict);
    }
}

#[test]
fn nothing_is_shorter_than_auto_on_a_text_protocol() {
    let sts = model();
    for fault in Fault::ALL {
        let failures = failures(&sts, fault, 0..30);
        assert!(!failures.is_empty(), "{fault:?}");
        for failure in failures.iter().take(2) {
            let auto = shrunk("auto", &sts, fault, failure);
            eprintln!(
                "{fault:?}: {} -> {} in {} runs, {} stimuli; {:?}, {:?}",
                failure.length(),
                auto.execution.length(),
                auto.runs,
                auto.stimuli_sent,
                auto.ended,
                auto.minimal
            );
            for other in [
                "cycle+elem",
                "cycle+delta",
                "delta",
                "binary",
                "elem",
                "rough-cycle",
                "koopman-cycle",
            ] {
                let theirs = shrunk(other, &sts, fault, failure);
                eprintln!(
                    "   {other}: {} in {} runs, {} stimuli",
                    theirs.execution.length(),
                    theirs.runs,
                    theirs.stimuli_sent
                );
            }
            assert_eq!(auto.ended, Ended::Finished);
        }
    }
}

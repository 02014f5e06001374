//! Shrinking on a text protocol with a login, counters and strings: no shrinker leaves less than `auto`.

use std::sync::Arc;

use ioco_shrink::{Ended, Options, Pipeline, Shrunk, shrink};
use ioco_sts::{Execution, Sts};

use crate::mail::{Fault, MODEL, Mail};
use crate::walk::{data_runner, data_semantics, random_walk};

fn model() -> Arc<Sts> {
    let loaded = ioco_aml::load_text("mail.aml", MODEL);
    assert!(loaded.sts.is_some(), "{:?}", loaded.diagnostics);
    loaded.sts.expect("checked above")
}

/// A long failing trace of one fault.
fn failure(sts: &Arc<Sts>, fault: Fault, length: usize) -> Option<Execution> {
    let texts = ["ann", "bob", "secret", "secret", "secret", ".end"];
    (0..100).find_map(|seed| {
        let mut runner = data_runner(sts, Box::new(Mail::new(Some(fault))));
        let execution = random_walk(&mut runner, &texts, seed, 1000);
        let is_long = execution.deviation().is_some() && execution.length() >= length;
        is_long.then_some(execution)
    })
}

fn shrunk(name: &str, sts: &Arc<Sts>, fault: Fault, failure: &Execution) -> Shrunk {
    let pipeline: Pipeline = name.parse().expect("a shrinker");
    let mut runner = data_runner(sts, Box::new(Mail::new(Some(fault))));
    let mut model = data_semantics(sts);
    let options = Options {
        runs: (name != "auto").then_some(100),
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
        let mut runner = data_runner(&sts, Box::new(Mail::new(None)));
        let execution = random_walk(&mut runner, &texts, seed, 600);
        assert_eq!(execution.stimuli().count(), 600, "{:?}", execution.verdict);
        assert!(execution.deviation().is_none(), "{:?}", execution.verdict);
    }
}

#[test]
fn nothing_is_shorter_than_auto_on_a_text_protocol() {
    let sts = model();
    for fault in Fault::ALL {
        // These two fail early.
        let is_short = matches!(fault, Fault::SilentRetrieve | Fault::TenthNoop);
        let failure = failure(&sts, fault, if is_short { 20 } else { 100 });
        let failure = &failure.expect("a failing trace");
        let auto = shrunk("auto", &sts, fault, failure);
        assert_eq!(auto.ended, Ended::Finished, "{fault:?}");
        let stimuli = auto.execution.stimuli().count();
        assert_eq!(auto.minimal.map(|m| m.stimuli), Some(stimuli), "{fault:?}");
        assert_eq!(stimuli, fault.shortest(), "{fault:?}: {} runs", auto.runs);
        for other in ["cycle+elem", "delta", "rough-cycle", "koopman-cycle"] {
            let theirs = shrunk(other, &sts, fault, failure).execution.length();
            assert!(
                theirs >= auto.execution.length(),
                "{fault:?}: {other} {theirs}"
            );
        }
    }
}

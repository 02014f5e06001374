//! Shrinking on models with data: the queue that defeats element removal, and small values.

use std::sync::Arc;

use ioco_experiments::ModelRunner;
use ioco_shrink::{Ended, Options, Pipeline, Runner, Shrunk, shrink};
use ioco_sts::{Action, Direction, Sts, Value};

use crate::walk::{data_runner, data_semantics};

fn model(path: &str) -> Arc<Sts> {
    let folder = env!("CARGO_MANIFEST_DIR");
    let text = std::fs::read_to_string(format!("{folder}/../../examples/{path}"));
    let loaded = ioco_aml::load_text(path, &text.expect("a model of the examples"));
    loaded.sts.expect("a model without errors")
}

fn system(name: &str, mutant: &str) -> Box<dyn ioco_examples::System> {
    ioco_examples::system(name, Some(mutant)).expect("a system of the examples")
}

fn shrunk(shrinker: &str, sts: &Arc<Sts>, runner: &mut ModelRunner, stimuli: &[Action]) -> Shrunk {
    let failure = runner.run(stimuli);
    assert!(failure.deviation().is_some(), "a failing trace");
    let pipeline: Pipeline = shrinker.parse().expect("a shrinker");
    let options = Options::default();
    shrink(
        &pipeline,
        &mut data_semantics(sts),
        &failure,
        runner,
        &options,
        &mut (),
    )
    .expect("a trace")
}

/// A stimulus with integers for its parameters.
fn stimulus(sts: &Sts, name: &str, values: &[i64]) -> Action {
    Action {
        label: sts
            .label_named(Direction::Stimulus, name)
            .expect("a stimulus"),
        values: values.iter().map(|v| Value::Int(*v)).collect(),
    }
}

#[test]
fn a_queue_that_stops_at_42_needs_43_of_each_and_no_shrinker_gives_less() {
    let sts = model("queue/model.aml");
    let mut stimuli = Vec::new();
    for number in 0..50 {
        stimuli.push(stimulus(&sts, "enqueue", &[number % 7]));
        if number % 10 == 3 {
            stimuli.push(stimulus(&sts, "dequeue", &[]));
        }
    }
    for _ in 0..45 {
        stimuli.push(stimulus(&sts, "dequeue", &[]));
    }
    for shrinker in ["auto", "elem", "cycle+delta"] {
        let mut runner = data_runner(&sts, system("queue", "m01"));
        let shrunk = shrunk(shrinker, &sts, &mut runner, &stimuli);
        assert_eq!(shrunk.ended, Ended::Finished, "{shrinker}");
        let count = |name: &str| {
            let label = sts.label_named(Direction::Stimulus, name);
            shrunk
                .execution
                .stimuli()
                .filter(|a| Some(a.label) == label)
                .count()
        };
        let counts = (count("enqueue"), count("dequeue"));
        assert!(
            counts.0 >= 43 && counts.1 >= 43,
            "{shrinker}: {counts:?} cannot fail"
        );
        if shrinker == "auto" {
            assert_eq!(counts, (43, 43), "{} runs", shrunk.runs);
        }
    }
}

#[test]
fn values_become_small_and_simple_and_the_failure_stays() {
    let sts = model("smartdoor/model.aml");
    let mut runner = data_runner(&sts, system("smartdoor", "m04"));
    let stimuli = [
        stimulus(&sts, "open", &[]),
        stimulus(&sts, "close", &[]),
        stimulus(&sts, "lock", &[7412]),
        stimulus(&sts, "unlock", &[3391]),
    ];
    let shrunk = shrunk("auto", &sts, &mut runner, &stimuli);
    let shown: Vec<String> = shrunk.execution.stimuli().map(|a| a.show(&sts)).collect();
    assert_eq!(shrunk.execution.length(), 4, "{shown:?}");
    let largest = shrunk
        .execution
        .stimuli()
        .flat_map(|a| &a.values)
        .max()
        .cloned();
    assert!(largest <= Some(Value::Int(1)), "{shown:?}");
}

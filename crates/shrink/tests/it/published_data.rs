//! The published failing traces and results.

use std::collections::BTreeMap;
use std::sync::Arc;

use ioco_shrink::Runner;
use ioco_sts::{Action, Direction, Execution, Sts};
use serde_json::Value;

use crate::flat_model::{bench, door, public_model, sts};
use crate::flat_runner::FlatRunner;
use crate::flat_systems::{FlatSystem, system};

pub struct Published {
    pub tests: u64,
    pub sut_inputs: Vec<u64>,
    pub final_length: Vec<u64>,
}

/// The failing traces of one mutant, and what others made of them.
pub struct Case {
    pub experiment: String,
    pub mutant: String,
    pub sts: Arc<Sts>,
    pub traces: Vec<Vec<String>>,
    pub published: BTreeMap<String, Published>,
}

impl Case {
    pub fn runner(&self) -> FlatRunner<impl FnMut() -> Box<dyn FlatSystem>> {
        let (experiment, mutant) = (self.experiment.clone(), self.mutant.clone());
        FlatRunner::new(&self.sts, move || system(&experiment, &mutant))
    }

    pub fn stimuli(&self, trace: &[String]) -> Vec<Action> {
        let names = trace.iter().filter_map(|step| step.strip_prefix('?'));
        let find = |name| self.sts.label_named(Direction::Stimulus, name);
        names
            .map(|name| Action::plain(find(name).expect("a stimulus of the model")))
            .collect()
    }

    /// The failing executions, run again.
    pub fn failures(&self) -> Vec<Execution> {
        let mut runner = self.runner();
        let stimuli = self.traces.iter().map(|trace| self.stimuli(trace));
        stimuli.map(|stimuli| runner.run(&stimuli)).collect()
    }

    pub fn show(&self, execution: &Execution) -> Vec<String> {
        let steps = execution.trace.iter().filter(|s| s.action().is_some());
        let mut shown: Vec<String> = steps.map(|step| step.show(&self.sts)).collect();
        if let Some(deviation) = execution.deviation()
            && !matches!(deviation.observed, ioco_sts::Observed::Silence(_))
        {
            shown.push(deviation.observed.show(&self.sts));
        }
        shown
    }
}

/// Every mutant in the folder; empty where there is no data.
pub fn cases() -> Vec<Case> {
    let Some(bench) = bench() else {
        eprintln!("skipped: no published data here");
        return Vec::new();
    };
    let mut cases = Vec::new();
    for experiment in ["smartdoor", "koopman", "atm"] {
        let transitions = match experiment {
            "smartdoor" => Some(door()),
            _ => public_model(experiment),
        };
        let Some(transitions) = transitions else {
            continue;
        };
        let sts = sts(experiment, &transitions);
        let Ok(files) = std::fs::read_dir(bench.join("shrinking").join(experiment)) else {
            continue;
        };
        let mut paths: Vec<_> = files.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths {
            let text = std::fs::read_to_string(path).expect("a readable file");
            let json: Value = serde_json::from_str(&text).expect("JSON");
            cases.push(case(experiment, &sts, &json));
        }
    }
    cases
}

fn case(experiment: &str, sts: &Arc<Sts>, json: &Value) -> Case {
    let numbers = |value: &Value| -> Vec<u64> {
        let items = value.as_array().expect("a list").iter();
        items.map(|n| n.as_u64().expect("a number")).collect()
    };
    let published = json["published"].as_object().expect("an object").iter();
    Case {
        experiment: experiment.to_owned(),
        mutant: json["mutant"].as_str().expect("a name").to_owned(),
        sts: Arc::clone(sts),
        traces: serde_json::from_value(json["failing_traces"].clone()).expect("traces"),
        published: published
            .map(|(name, result)| {
                let figures = Published {
                    tests: result["tests"].as_u64().expect("a number"),
                    sut_inputs: numbers(&result["sut_inputs"]),
                    final_length: numbers(&result["final_length"]),
                };
                (name.clone(), figures)
            })
            .collect(),
    }
}

#[test]
fn every_published_failing_trace_fails_again_at_its_last_step() {
    for case in cases() {
        for (execution, trace) in case.failures().iter().zip(&case.traces) {
            assert!(
                execution.deviation().is_some(),
                "{} {}",
                case.experiment,
                case.mutant
            );
            assert_eq!(
                case.show(execution),
                *trace,
                "{} {}",
                case.experiment,
                case.mutant
            );
        }
    }
}

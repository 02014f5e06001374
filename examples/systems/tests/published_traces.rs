//! Every published failing trace replays against our mutants, stimulus by stimulus, exactly as it
//! was recorded; the right system differs from it at the last step, and only there.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use ioco_examples::{Message, System, flat};
use serde_json::Value as Json;

fn data() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/bench/shrinking");
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("skipped: no published traces beside the repository");
    None
}

fn traces(json: &Json) -> Vec<Vec<String>> {
    let step = |step: &Json| step.as_str().expect("a step is a string").to_owned();
    let trace = |trace: &Json| {
        let steps = trace.as_array().expect("a trace is an array");
        steps.iter().map(step).collect()
    };
    json.as_array()
        .map_or(Vec::new(), |all| all.iter().map(trace).collect())
}

struct Published {
    experiment: String,
    mutant: String,
    failing: Vec<Vec<String>>,
    shrunk: Vec<Vec<String>>,
}

fn published(folder: &Path) -> Vec<Published> {
    let mut all = Vec::new();
    for case in flat::Case::ALL {
        let Ok(files) = fs::read_dir(folder.join(case.name())) else {
            continue;
        };
        for file in files {
            let path = file.expect("a readable folder").path();
            if path.extension().is_none_or(|extension| extension != "json") {
                continue;
            }
            let text = fs::read_to_string(&path).expect("a readable file");
            let json: Json = serde_json::from_str(&text).expect("valid JSON");
            let shrinkers = json["published"]
                .as_object()
                .expect("an object of shrinkers");
            all.push(Published {
                experiment: json["experiment"].as_str().expect("a name").to_owned(),
                mutant: json["mutant"].as_str().expect("a name").to_owned(),
                failing: traces(&json["failing_traces"]),
                shrunk: shrinkers
                    .values()
                    .flat_map(|s| traces(&s["final_traces"]))
                    .collect(),
            });
        }
    }
    all
}

/// Where a system leaves a recorded trace: the position of the first step that it did not take.
fn leaves(system: &mut dyn System, trace: &[String]) -> Option<usize> {
    system.reset();
    let mut said: Vec<Message> = Vec::new();
    for (position, step) in trace.iter().enumerate() {
        match step.split_at(1) {
            ("?", label) => {
                // A response that the recording does not have.
                if !said.is_empty() {
                    return Some(position);
                }
                let stimulus = Message::plain(label);
                system
                    .check(&stimulus)
                    .expect("a stimulus of the dictionary");
                said = system.give(&stimulus);
            }
            (_, label) => {
                if said.is_empty() || said.remove(0).label != label {
                    return Some(position);
                }
            }
        }
    }
    // A trace that ends with a stimulus records that no response came.
    let ends_in_silence = trace.last().is_some_and(|step| step.starts_with('?'));
    (ends_in_silence && !said.is_empty()).then_some(trace.len())
}

#[test]
fn every_published_failing_trace_replays_as_recorded() {
    let Some(folder) = data() else { return };
    let all = published(&folder);
    let mut replayed = BTreeMap::new();
    for case in &all {
        let mut mutant =
            flat::system(&case.experiment, Some(&case.mutant)).expect("a known mutant");
        for trace in case.failing.iter().chain(&case.shrunk) {
            assert_eq!(
                leaves(mutant.as_mut(), trace),
                None,
                "{} {} does not do {trace:?}",
                case.experiment,
                case.mutant
            );
            *replayed.entry(&case.experiment).or_insert(0) += 1;
        }
    }
    eprintln!("replayed: {replayed:?}");
    assert!(!replayed.is_empty(), "the folder holds no traces");
}

/// The step at which a right system must leave a failing trace. After a last stimulus it says
/// something that the recording does not have: one step later.
fn deviation(trace: &[String]) -> usize {
    let last = trace.len() - 1;
    if trace[last].starts_with('?') {
        last + 1
    } else {
        last
    }
}

#[test]
fn the_right_system_leaves_a_failing_trace_at_its_last_step_only() {
    let Some(folder) = data() else { return };
    for case in &published(&folder) {
        let mut right = flat::system(&case.experiment, None).expect("a known system");
        for trace in &case.failing {
            assert_eq!(
                leaves(right.as_mut(), trace),
                Some(deviation(trace)),
                "{} {}: {trace:?}",
                case.experiment,
                case.mutant
            );
        }
        for trace in &case.shrunk {
            let left = leaves(right.as_mut(), trace);
            // One published result of the shrinker that ignores the order of labels does not fail
            // at all: the mutant and the right system both take every step of it.
            assert!(
                left.is_none() || left == Some(deviation(trace)),
                "{} {}: {trace:?}",
                case.experiment,
                case.mutant
            );
        }
    }
}

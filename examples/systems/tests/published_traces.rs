//! Every published failing trace replays against our mutants, stimulus by stimulus, exactly as it
//! was recorded; the right system differs from it at the last step, and only there.

mod public;
mod walk;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ioco_examples::flat::Case;
use ioco_examples::{Message, System, flat};
use ioco_sts::{Direction, Step, Sts};
use public::public_model;
use serde_json::Value as Json;
use walk::{examples, model, semantics, step};

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
    case: Case,
    mutant: String,
    failing: Vec<Vec<String>>,
    shrunk: Vec<Vec<String>>,
}

fn published(folder: &Path) -> Vec<Published> {
    let mut all = Vec::new();
    for case in Case::ALL {
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
                case,
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
            flat::system(case.case.name(), Some(&case.mutant)).expect("a known mutant");
        for trace in case.failing.iter().chain(&case.shrunk) {
            assert_eq!(
                leaves(mutant.as_mut(), trace),
                None,
                "{:?} {} does not do {trace:?}",
                case.case,
                case.mutant
            );
            *replayed.entry(case.case.name()).or_insert(0) += 1;
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
        let mut right = flat::system(case.case.name(), None).expect("a known system");
        for trace in &case.failing {
            assert_eq!(
                leaves(right.as_mut(), trace),
                Some(deviation(trace)),
                "{:?} {}: {trace:?}",
                case.case,
                case.mutant
            );
        }
        for trace in &case.shrunk {
            let left = leaves(right.as_mut(), trace);
            // One published result of the shrinker that ignores the order of labels does not fail
            // at all: the mutant and the right system both take every step of it.
            assert!(
                left.is_none() || left == Some(deviation(trace)),
                "{:?} {}: {trace:?}",
                case.case,
                case.mutant
            );
        }
    }
}

/// The flat model of a case: the public one, or ours where there is none.
fn flat_model(case: Case) -> Option<Arc<Sts>> {
    match case {
        Case::SmartDoor => Some(model(&examples().join("smartdoor/flat.aml"))),
        Case::Koopman | Case::Atm => public_model(case),
    }
}

#[test]
fn the_flat_models_allow_a_failing_trace_up_to_its_last_step() {
    let Some(folder) = data() else { return };
    let all = published(&folder);
    for case in Case::ALL {
        let Some(sts) = flat_model(case) else {
            continue;
        };
        let mut semantics = semantics(&sts);
        for published in all.iter().filter(|published| published.case == case) {
            for trace in &published.failing {
                let mut steps: Vec<Step> = Vec::new();
                for text in trace {
                    let (direction, label) = match text.split_at(1) {
                        ("?", label) => (Direction::Stimulus, label),
                        (_, label) => (Direction::Response, label),
                    };
                    steps.extend(step(&sts, direction, &Message::plain(label)));
                }
                assert_eq!(
                    steps.len(),
                    trace.len(),
                    "a label that the model does not have"
                );
                if trace.last().is_some_and(|last| last.starts_with('?')) {
                    steps.push(Step::Quiescence);
                }
                let mut set = semantics.initial();
                let allowed = steps.iter().position(|step| {
                    let next = semantics.after(set, step);
                    set = next.unwrap_or(set);
                    next.is_none()
                });
                let mutant = &published.mutant;
                assert_eq!(
                    allowed,
                    Some(steps.len() - 1),
                    "{case:?} {mutant}: {trace:?}"
                );
            }
        }
    }
}

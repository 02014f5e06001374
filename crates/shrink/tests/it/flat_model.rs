//! A reader for flat models whose text is completely regular: the two public ones and the door of
//! the examples. Enough for tests; the real language has its own crate.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use ioco_sts::{
    Direction, EvaluationOnly, Expr, Gate, Label, Place, Relation, Semantics, Sts, StsBuilder,
};

/// The folder with the material to measure against, where it exists.
pub fn bench() -> Option<PathBuf> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/bench");
    path.is_dir().then_some(path)
}

/// Source state, label with its mark, target state.
pub type Transition = (String, String, String);

/// A plain transition system; the first state named is the initial one.
pub fn sts(name: &str, transitions: &[Transition]) -> Arc<Sts> {
    let mut builder = StsBuilder::new(name);
    let process = builder.process(name);
    let mut locations = BTreeMap::new();
    let mut labels = BTreeMap::new();
    for (source, label, target) in transitions {
        for state in [source, target] {
            if !locations.contains_key(state) {
                locations.insert(state.clone(), builder.named_location(process, state));
            }
        }
        let direction = match label.as_bytes()[0] {
            b'?' => Direction::Stimulus,
            _ => Direction::Response,
        };
        let id = *labels.entry(label.clone()).or_insert_with(|| {
            builder.label(Label {
                name: label[1..].to_owned(),
                channel: "x".to_owned(),
                direction,
                parameters: Vec::new(),
            })
        });
        builder.switch(
            locations[source],
            Gate::Observable(id),
            Expr::TRUE,
            Vec::new(),
            locations[target],
            Place::default(),
        );
    }
    Arc::new(builder.build())
}

pub fn semantics(sts: &Arc<Sts>) -> Semantics {
    Semantics::new(Arc::clone(sts), Box::new(EvaluationOnly), Relation::Ioco)
}

/// The transitions of a public model, with states of the same outgoing behaviour merged, as the
/// published experiments count them.
pub fn public_model(name: &str) -> Option<Vec<Transition>> {
    let path = bench()?.join("aml").join(name).join("model.aml");
    let text = std::fs::read_to_string(path).ok()?;
    Some(merged(read(&text)))
}

fn read(text: &str) -> Vec<Transition> {
    let mut transitions: Vec<Transition> = Vec::new();
    let mut state = String::new();
    // Labels of one option so far; the last of them leads to the target.
    let mut pending: Vec<String> = Vec::new();
    let mut fresh = 0;
    for line in text.lines().map(str::trim) {
        let mut words = line.split('\'');
        let mut before = words.next().unwrap_or_default().trim();
        let starts_option = before.starts_with("o {");
        while let Some(quoted) = words.next() {
            match before.rsplit([';', '{', '}']).next().unwrap_or("").trim() {
                "state" => state = quoted.to_owned(),
                "receive" => pending.push(format!("?{quoted}")),
                "send" => pending.push(format!("!{quoted}")),
                "goto" if !pending.is_empty() => {
                    finish(&mut transitions, &state, &mut pending, quoted, &mut fresh);
                }
                _ => {}
            }
            before = words.next().unwrap_or_default().trim();
        }
        if starts_option && line.ends_with('}') && !pending.is_empty() {
            let target = state.clone();
            finish(&mut transitions, &state, &mut pending, &target, &mut fresh);
        }
    }
    transitions
}

fn finish(
    transitions: &mut Vec<Transition>,
    state: &str,
    pending: &mut Vec<String>,
    target: &str,
    fresh: &mut usize,
) {
    let mut source = state.to_owned();
    let count = pending.len();
    for (index, label) in pending.drain(..).enumerate() {
        let next = if index + 1 == count {
            target.to_owned()
        } else {
            *fresh += 1;
            format!("_{fresh}")
        };
        transitions.push((source, label, next.clone()));
        source = next;
    }
}

/// Merges states with the same outgoing transitions until there are none left.
fn merged(mut transitions: Vec<Transition>) -> Vec<Transition> {
    loop {
        let mut outgoing: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
        let mut order: Vec<String> = Vec::new();
        for (source, label, target) in &transitions {
            let entry = outgoing.entry(source.clone()).or_insert_with(|| {
                order.push(source.clone());
                Vec::new()
            });
            entry.push((label.clone(), target.clone()));
        }
        let mut representative: BTreeMap<Vec<(String, String)>, String> = BTreeMap::new();
        let mut renamed: BTreeMap<String, String> = BTreeMap::new();
        for state in &order {
            let mut behaviour = outgoing[state].clone();
            behaviour.sort_unstable();
            let first = representative.entry(behaviour).or_insert(state.clone());
            renamed.insert(state.clone(), first.clone());
        }
        if renamed.iter().all(|(state, first)| state == first) {
            return transitions;
        }
        transitions.retain(|(source, _, _)| renamed[source] == *source);
        for (_, _, target) in &mut transitions {
            if let Some(first) = renamed.get(target) {
                *target = first.clone();
            }
        }
    }
}

/// The door, in the flat form that the published traces speak of.
pub fn door() -> Vec<Transition> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/smartdoor/flat.aml");
    let text = std::fs::read_to_string(path).expect("the example's flat model");
    merged(read(&text))
}

#[test]
fn public_models_have_the_published_sizes() {
    for (name, states, count) in [("koopman", 273, 1119), ("atm", 1502, 3080)] {
        let Some(transitions) = public_model(name) else {
            eprintln!("skipped: no public models here");
            return;
        };
        let sts = sts(name, &transitions);
        assert_eq!(
            (sts.locations().len(), sts.switches().len()),
            (states, count)
        );
    }
}

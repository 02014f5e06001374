//! The published schema of ioco's own model files says what the program writes and reads.

mod common;

use common::everything::everything;
use common::models::{Model, model};
use ioco_formats::json;
use ioco_sts::flatten;
use proptest::prelude::*;
use serde_json::Value as Json;

const SCHEMA: &str = include_str!("../../../book/src/schema/model.json");

fn validator() -> jsonschema::Validator {
    let schema: Json = serde_json::from_str(SCHEMA).unwrap();
    jsonschema::validator_for(&schema).unwrap()
}

fn check(validator: &jsonschema::Validator, text: &str) {
    let document: Json = serde_json::from_str(text).unwrap();
    let errors: Vec<String> = validator
        .iter_errors(&document)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{errors:#?}\n{text}");
}

#[test]
fn what_is_written_keeps_to_the_schema() {
    check(&validator(), &json::write(&everything()));
}

#[test]
fn what_is_wrong_does_not() {
    let validator = validator();
    let good = json::write(&everything());
    for (from, to) in [
        ("\"format\": \"ioco-sts\"", "\"format\": \"other\""),
        ("\"version\": 1", "\"version\": 2"),
        ("\"timeout\": 123456789", "\"time\": 1"),
        ("\"stimulus\"", "\"input\""),
        ("\"observable\": 0", "\"visible\": 0"),
        ("\"target\": 0", "\"target\": -1"),
        ("\"lt\"", "\"less\""),
    ] {
        assert!(good.contains(from), "{from}");
        let text = good.replacen(from, to, 1);
        let document: Json = serde_json::from_str(&text).unwrap();
        assert!(!validator.is_valid(&document), "{to}");
        assert!(json::read(&text).is_err(), "{to}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 100,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn random_models_keep_to_the_schema(Model(sts) in model()) {
        let validator = validator();
        check(&validator, &json::write(&sts));
        check(&validator, &json::write(&flatten(&sts, 2000).unwrap()));
    }

    /// Whatever reads is valid: the schema forbids nothing that the program takes.
    #[test]
    fn what_reads_keeps_to_the_schema(
        Model(sts) in model(),
        position in any::<prop::sample::Index>(),
        new in prop::sample::select(vec!["0", "1", "null", "\"tau\"", "[]", "{}", "-1", "true"]),
    ) {
        let mut document: Json = serde_json::from_str(&json::write(&sts)).unwrap();
        let mut places = Vec::new();
        pointers(&document, String::new(), &mut places);
        let place = position.get(&places);
        *document.pointer_mut(place).unwrap() = serde_json::from_str(new).unwrap();
        let text = document.to_string();
        if json::read(&text).is_ok() {
            check(&validator(), &text);
        }
    }
}

/// The places of all values inside a document.
fn pointers(value: &Json, at: String, found: &mut Vec<String>) {
    match value {
        Json::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                pointers(item, format!("{at}/{index}"), found);
            }
        }
        Json::Object(fields) => {
            for (name, field) in fields {
                pointers(field, format!("{at}/{name}"), found);
            }
        }
        _ => {}
    }
    if !at.is_empty() {
        found.push(at);
    }
}

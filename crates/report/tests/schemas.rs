//! Reports against the official schemas. `cargo xtask test` fetches them, into the folder that
//! `IOCO_TEST_SCHEMAS` names.

// The ban on files, clocks and threads is for the crate, not for its tests.
#![allow(clippy::disallowed_methods)]

mod shop;

use std::path::PathBuf;
use std::process::{Command, Stdio};

use ioco_report::{Failure, Paths, Run, junit, sarif};
use ioco_view::Facts;

use shop::Shop;

fn schema(name: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("IOCO_TEST_SCHEMAS").map(PathBuf::from);
    let path = folder
        .map(|folder| folder.join(name))
        .filter(|path| path.exists());
    if path.is_none() {
        eprintln!("skipped: IOCO_TEST_SCHEMAS names no folder with {name}");
    }
    path
}

fn reported() -> (Run, Vec<Failure>) {
    let shop = Shop::new();
    let mut run = Run {
        id: "7".to_owned(),
        started: "2026-01-31T12:00:00Z".to_owned(),
        path: "shop.aml".to_owned(),
        ..Run::default()
    };
    shop.events.iter().for_each(|event| run.event(event));
    let mut semantics = shop.semantics();
    let failure = |file: &ioco_engine::FailureFile| {
        let facts = Facts::default();
        Failure::new(&mut semantics, file.clone(), &facts, file.test, true)
    };
    let failures = shop.failures.iter().map(failure).collect();
    (run, failures)
}

#[test]
fn sarif_keeps_to_its_schema() {
    let Some(path) = schema("sarif.json") else {
        return;
    };
    let text = std::fs::read(path).expect("read");
    let mut schema: serde_json::Value = serde_json::from_slice(&text).expect("JSON");
    // The published pattern of languages has a bracket too many; we write no language.
    for part in ["run", "toolComponent"] {
        schema["definitions"][part]["properties"]["language"] = serde_json::json!({});
    }
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let (run, failures) = reported();
    let paths = Paths::default();
    for failures in [&failures[..], &[]] {
        let log = sarif(&run, failures, &paths, "0.1.0");
        let log: serde_json::Value = serde_json::from_str(&log).expect("JSON");
        let errors: Vec<String> = validator
            .iter_errors(&log)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{errors:#?}");
    }
    assert!(!validator.is_valid(&serde_json::json!({"version": "2.1.0"})));
}

#[test]
fn junit_keeps_to_its_schema() {
    let Some(path) = schema("junit.xsd") else {
        return;
    };
    let version = Command::new("xmllint").arg("--version").output();
    if version.is_err() {
        eprintln!("skipped: xmllint is not here");
        return;
    }
    let validate = |text: &str| {
        let mut child = Command::new("xmllint")
            .args(["--noout", "--schema"])
            .arg(&path)
            .arg("-")
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("xmllint starts");
        let mut input = child.stdin.take().expect("its input");
        std::io::Write::write_all(&mut input, text.as_bytes()).expect("written");
        drop(input);
        child.wait_with_output().expect("it ends")
    };
    let (run, failures) = reported();
    let output = validate(&junit(&run, &failures));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(
        !validate("<testsuites><nonsense/></testsuites>")
            .status
            .success()
    );
}

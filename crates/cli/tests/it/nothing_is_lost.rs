//! What was reported finished is on disk, whatever happens next.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value as Json;

use crate::support::{example_program, folder, interrupt, ioco, root, run};

/// The events of the newest run in the store of a folder; nothing where there is none yet.
fn record(folder: &Path) -> String {
    let report = run(ioco()
        .current_dir(folder)
        .args(["report", "--format", "jsonl"]));
    report.out
}

fn finished(folder: &Path) -> usize {
    record(folder).matches("\"test-finished\"").count()
}

fn start(folder: &Path, more: &[&str]) -> std::process::Child {
    let sut = format!("exec {} smartdoor", example_program().display());
    ioco()
        .current_dir(folder)
        .arg("test")
        .arg(
            root()
                .join("examples/smartdoor/model.aml")
                .canonicalize()
                .unwrap(),
        )
        .args(["--sut", &sut, "--seed", "1", "--tests", "1000000"])
        .args(more)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn wait_for_tests(folder: &Path) {
    let begin = Instant::now();
    while finished(folder) < 5 {
        assert!(
            begin.elapsed() < Duration::from_secs(60),
            "no test finished"
        );
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The numbers of the tests that these lines tell the end of.
fn ended<'a>(lines: impl Iterator<Item = &'a str>) -> BTreeSet<u64> {
    let events = lines.filter_map(|line| serde_json::from_str::<Json>(line).ok());
    events
        .filter(|event| event["event"] == "test-finished")
        .filter_map(|event| event["test"].as_u64())
        .collect()
}

#[test]
fn a_killed_run_keeps_every_test_that_it_told_of() {
    let folder = folder();
    let mut child = start(folder.path(), &["--format", "json"]);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut told = Vec::new();
    while told
        .iter()
        .filter(|l: &&String| l.contains("\"test-finished\""))
        .count()
        < 20
    {
        told.push(lines.next().expect("more tests").unwrap());
    }
    child.kill().unwrap();
    child.wait().unwrap();
    // What was on its way when the end came was told as well.
    told.extend(lines.map_while(Result::ok));
    let told = ended(told.iter().map(String::as_str));
    let text = record(folder.path());
    let kept = ended(text.lines());
    assert!(told.len() >= 20);
    assert!(told.is_subset(&kept), "told {told:?}, kept {kept:?}");
    // And the history says that it did not come to its end.
    let runs = run(ioco().current_dir(folder.path()).arg("runs"));
    assert!(runs.out.contains("not finished"), "{}", runs.all());
}

#[test]
fn an_interrupted_run_writes_what_it_has_and_exits_with_130() {
    let folder = folder();
    let child = start(folder.path(), &[]);
    wait_for_tests(folder.path());
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("PASS"), "{text}");
    assert!(record(folder.path()).contains("\"run-finished\""));
    assert!(
        fs::read_dir(folder.path().join(".ioco/coverage"))
            .unwrap()
            .next()
            .is_some()
    );
}

//! What was reported finished is on disk, whatever happens next.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value as Json;

use crate::support::{
    PING, PONG, example_program, folder, folder_with, interrupt, ioco, root, run,
};

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
fn a_killed_run_keeps_every_test_that_it_reported() {
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
    // What was on its way when the end came was reported as well.
    told.extend(lines.map_while(Result::ok));
    let told = ended(told.iter().map(String::as_str));
    let text = record(folder.path());
    let kept = ended(text.lines());
    assert!(told.len() >= 20);
    assert!(told.is_subset(&kept), "told {told:?}, kept {kept:?}");
    // And the history says that it did not finish.
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
    assert!(text.contains("STOPPED"), "{text}");
    assert!(!text.contains("PASS"), "{text}");
    assert!(record(folder.path()).contains("\"run-finished\""));
    assert!(
        fs::read_dir(folder.path().join(".ioco/coverage"))
            .unwrap()
            .next()
            .is_some()
    );
}

/// `ioco` that can write files of at most so many blocks: what a full disk is to it, without one.
fn on_a_disk_with(blocks: &str) -> std::process::Command {
    let mut command = std::process::Command::new("sh");
    command
        .args(["-c", &format!("ulimit -f {blocks}; exec \"$0\" \"$@\"")])
        .arg(ioco().get_program())
        .env("NO_COLOR", "1");
    command
}

#[test]
fn a_deviation_is_reported_whatever_happens_to_the_disk() {
    for blocks in ["0", "2", "40", "100", "300"] {
        let folder = folder_with(&[("ping.aml", PING), ("system.py", PONG)]);
        let ran = run(on_a_disk_with(blocks).current_dir(folder.path()).args([
            "test",
            "ping.aml",
            "--sut",
            "exec python3 system.py quack",
            "--seed",
            "1",
        ]));
        assert_eq!(ran.code, 1, "{blocks} blocks: {}", ran.all());
        assert!(ran.out.contains("D001"), "{blocks} blocks: {}", ran.all());
    }
}

#[test]
fn a_run_that_could_not_be_kept_does_not_pass() {
    let folder = folder_with(&[("ping.aml", PING), ("system.py", PONG)]);
    let ran = run(on_a_disk_with("0").current_dir(folder.path()).args([
        "test",
        "ping.aml",
        "--sut",
        "exec python3 system.py",
        "--tests",
        "2",
    ]));
    assert_eq!(ran.code, 2, "{}", ran.all());
    assert!(ran.out.contains("PASS"), "{}", ran.all());
    assert!(ran.err.contains("not recorded"), "{}", ran.all());
}

/// How often the runs in a folder took each switch.
fn taken(folder: &Path) -> Vec<u64> {
    let files = fs::read_dir(folder.join(".ioco/coverage")).expect("coverage");
    let file = files
        .flatten()
        .map(|entry| entry.path())
        .find(|path| path.extension().is_some_and(|e| e == "json"));
    let text = fs::read_to_string(file.expect("a file")).expect("text");
    let saved: Json = serde_json::from_str(&text).expect("JSON");
    let switches = saved["switches"].as_array().expect("switches");
    switches
        .iter()
        .map(|s| s["count"].as_u64().expect("a count"))
        .collect()
}

#[test]
fn runs_side_by_side_find_the_same_failure_and_add_up_what_they_cover() {
    const RUNS: u64 = 12;
    let test = |folder: &Path| {
        let mut command = ioco();
        command.current_dir(folder).args([
            "test",
            "ping.aml",
            "--sut",
            "exec python3 system.py quack",
            "--no-known",
            "--seed",
            "1",
        ]);
        command
    };
    let alone = folder_with(&[("ping.aml", PING), ("system.py", PONG)]);
    assert_eq!(run(&mut test(alone.path())).code, 1);
    let folder = folder_with(&[("ping.aml", PING), ("system.py", PONG)]);
    let running: Vec<_> = (0..RUNS)
        .map(|_| {
            let mut command = test(folder.path());
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
            command.spawn().expect("ioco starts")
        })
        .collect();
    for child in running {
        let output = child.wait_with_output().expect("it ends");
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{err}");
        assert!(!err.contains("cannot write"), "{err}");
    }
    let once = taken(alone.path());
    let expected: Vec<u64> = once.iter().map(|count| count * RUNS).collect();
    assert_eq!(taken(folder.path()), expected);
    let left = fs::read_dir(folder.path().join(".ioco/failures")).expect("failures");
    let names: Vec<_> = left.flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(names.len(), 1, "{names:?}");
}

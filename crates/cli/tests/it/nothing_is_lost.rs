//! What was reported finished is on disk, whatever happens next.

use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::support::{example_program, folder, ioco, root};

fn record(folder: &std::path::Path) -> String {
    let Ok(runs) = fs::read_dir(folder.join(".ioco/runs")) else {
        return String::new();
    };
    runs.flatten()
        .map(|entry| fs::read_to_string(entry.path()).unwrap_or_default())
        .collect()
}

fn finished(folder: &std::path::Path) -> usize {
    record(folder).matches("\"test-finished\"").count()
}

fn start(folder: &std::path::Path) -> std::process::Child {
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
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn wait_for_tests(folder: &std::path::Path) {
    let begin = Instant::now();
    while finished(folder) < 5 {
        assert!(
            begin.elapsed() < Duration::from_secs(60),
            "no test finished"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_killed_run_keeps_every_finished_test() {
    let folder = folder();
    let mut child = start(folder.path());
    wait_for_tests(folder.path());
    child.kill().unwrap();
    child.wait().unwrap();
    let text = record(folder.path());
    // Every line but perhaps the last is whole.
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    for line in &lines[..lines.len() - 1] {
        serde_json::from_str::<serde_json::Value>(line).expect("a whole line");
    }
    assert!(finished(folder.path()) >= 5);
}

#[test]
fn an_interrupted_run_writes_what_it_has_and_exits_with_130() {
    let folder = folder();
    let child = start(folder.path());
    wait_for_tests(folder.path());
    let killed = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(killed.unwrap().success());
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

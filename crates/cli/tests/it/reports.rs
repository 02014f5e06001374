//! Reports of a recorded run.

use std::fs;

use serde_json::Value as Json;

use crate::support::{PING, PONG, Ran, TempDir, folder, ioco, run};

/// A folder in which a run has found a failure.
fn failed() -> TempDir {
    let folder = folder();
    fs::write(folder.path().join("ping.aml"), PING).unwrap();
    fs::write(folder.path().join("system.py"), PONG).unwrap();
    let ran = test(&folder, &["--seed", "1"]);
    assert_eq!(ran.code, 1, "{}", ran.all());
    folder
}

fn test(folder: &TempDir, more: &[&str]) -> Ran {
    run(ioco()
        .current_dir(folder.path())
        .args(["test", "ping.aml", "--sut", "exec python3 system.py pang"])
        .args(["--tests", "3", "--steps", "6"])
        .args(more))
}

fn ask(folder: &TempDir, arguments: &[&str]) -> Ran {
    run(ioco().current_dir(folder.path()).args(arguments))
}

fn report(folder: &TempDir, format: &str) -> String {
    let ran = ask(folder, &["report", "--format", format]);
    assert_eq!(ran.code, 0, "{}", ran.all());
    ran.out
}

#[test]
fn every_report_has_the_failure() {
    let folder = failed();
    let id = fs::read_dir(folder.path().join(".ioco/failures"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let id = id.file_stem().unwrap().to_string_lossy().into_owned();
    let text = report(&folder, "text");
    assert!(text.contains("D001 unexpected response"), "{text}");
    let junit = report(&folder, "junit");
    assert!(junit.contains("<testsuite name=\"ping\""), "{junit}");
    assert!(junit.contains("type=\"D001\""), "{junit}");
    assert!(junit.contains("the ping sent !pang"), "{junit}");
    let markdown = report(&folder, "markdown");
    assert!(markdown.starts_with("# FAIL ping\n"), "{markdown}");
    assert!(
        markdown.contains("```mermaid\nsequenceDiagram\n"),
        "{markdown}"
    );
    let github = report(&folder, "github");
    assert!(
        github.starts_with("::error file=ping.aml,line="),
        "{github}"
    );
    let sarif: Json = serde_json::from_str(&report(&folder, "sarif")).unwrap();
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!(
        result["partialFingerprints"]["iocoShrunkTrace/v1"],
        id.as_str()
    );
    let flow = &result["codeFlows"][0]["threadFlows"][0]["locations"];
    assert_eq!(flow.as_array().map(Vec::len), Some(4), "{flow}");
    let events = report(&folder, "jsonl");
    let names: Vec<String> = events
        .lines()
        .map(|line| serde_json::from_str::<Json>(line).unwrap()["event"].to_string())
        .collect();
    assert_eq!(names.first().map(String::as_str), Some("\"run-started\""));
    assert_eq!(names.last().map(String::as_str), Some("\"run-finished\""));
    assert!(names.contains(&"\"failure-found\"".to_owned()));
}

#[test]
fn the_html_report_is_one_file_with_the_run_in_it() {
    let folder = failed();
    let ran = ask(&folder, &["report", "--format", "html", "-o", "run.html"]);
    assert_eq!(ran.code, 0, "{}", ran.all());
    let page = fs::read_to_string(folder.path().join("run.html")).unwrap();
    assert!(page.len() < 2_000_000);
    let begin = page.find("id=\"ioco-report\">").unwrap() + "id=\"ioco-report\">".len();
    let end = begin + page[begin..].find("</script>").unwrap();
    let data: Json = serde_json::from_str(&page[begin..end]).unwrap();
    assert_eq!(data["run"]["model"], "ping");
    assert_eq!(data["failures"].as_array().map(Vec::len), Some(1));
    assert_eq!(data["model"]["sources"][0]["text"], PING);
}

#[test]
fn a_test_writes_its_junit_report_itself() {
    let folder = failed();
    let ran = test(&folder, &["--seed", "1", "--junit", "junit.xml"]);
    assert_eq!(ran.code, 1, "{}", ran.all());
    let junit = fs::read_to_string(folder.path().join("junit.xml")).unwrap();
    assert!(junit.contains("<testsuite name=\"ping\""), "{junit}");
}

#[test]
fn without_runs_there_is_nothing_to_report() {
    let folder = folder();
    let ran = ask(&folder, &["report"]);
    assert_eq!(ran.code, 2, "{}", ran.all());
    assert!(
        ran.err.contains("no run has been recorded here"),
        "{}",
        ran.all()
    );
    assert!(
        !folder.path().join(".ioco").exists(),
        "asking leaves nothing behind"
    );
    let ran = ask(&folder, &["check", "x.aml", "--format", "html"]);
    assert_eq!(ran.code, 2, "{}", ran.all());
    assert!(
        ran.err.contains("[possible values: text, json]"),
        "{}",
        ran.all()
    );
}

#[test]
fn a_report_shows_the_model_as_the_run_used_it() {
    let folder = failed();
    fs::write(folder.path().join("ping.aml"), "nonsense").unwrap();
    let html = report(&folder, "html");
    assert!(html.contains("receive 'ping'"));
    fs::remove_file(folder.path().join("ping.aml")).unwrap();
    assert_eq!(report(&folder, "html"), html);
}

#[test]
fn a_model_of_several_files_is_restored_from_the_run() {
    let folder = folder();
    let (inner, outer) = (folder.path().join("models"), folder.path().join("common"));
    fs::create_dir(&inner).unwrap();
    fs::create_dir(&outer).unwrap();
    fs::write(outer.join("ping.aml"), PING).unwrap();
    fs::write(inner.join("main.aml"), "include '../common/ping.aml'\n").unwrap();
    fs::write(folder.path().join("system.py"), PONG).unwrap();
    let toml = "model = \"./models/main.aml\"\n[sut]\ncommand = [\"python3\", \"system.py\"]\n";
    fs::write(folder.path().join("ioco.toml"), toml).unwrap();
    let ran = ask(&folder, &["test", "--tests", "2", "--steps", "4"]);
    assert_eq!(ran.code, 0, "{}", ran.all());
    fs::remove_dir_all(&outer).unwrap();
    assert!(report(&folder, "html").contains("receive 'ping'"));
}

#[test]
fn a_run_is_named_by_its_number() {
    let folder = failed();
    test(&folder, &["--seed", "2"]);
    for (typed, seed) in [("1", "seed 1,"), ("2", "seed 2,")] {
        let ran = ask(&folder, &["report", typed]);
        assert_eq!(ran.code, 0, "{}", ran.all());
        assert!(ran.out.contains(seed), "{}", ran.all());
    }
    let ran = ask(&folder, &["report", "77"]);
    assert_eq!(ran.code, 2, "{}", ran.all());
    assert!(ran.err.contains("there is no run 77"), "{}", ran.all());
    assert!(ran.err.contains("the newest is 2"), "{}", ran.all());
}

#[test]
fn tests_of_a_suite_are_reported_by_their_goals() {
    let folder = folder();
    fs::write(folder.path().join("ping.aml"), PING).unwrap();
    fs::write(folder.path().join("system.py"), PONG).unwrap();
    let ran = ask(
        &folder,
        &[
            "generate", "ping.aml", "--cover", "switches", "-o", "s.jsonl",
        ],
    );
    assert_eq!(ran.code, 0, "{}", ran.all());
    let ran = test_suite(&folder);
    assert_eq!(ran.code, 0, "{}", ran.all());
    let junit = report(&folder, "junit");
    assert!(junit.contains("<testcase name=\"switch "), "{junit}");
    let data: Json = serde_json::from_str(&report(&folder, "json")).unwrap();
    let goals = data["goals"].as_array().unwrap();
    assert!(!goals.is_empty());
    for goal in goals {
        assert_eq!(goal["verdict"], "covered", "{goal}");
        assert_eq!(goal["kind"], "switch", "{goal}");
        assert!(goal["id"].is_u64(), "{goal}");
        assert!(goal["test"]["steps"].is_array(), "{goal}");
    }
    assert_eq!(data["runs"].as_array().map(Vec::len), Some(1));
}

fn test_suite(folder: &TempDir) -> Ran {
    run(ioco()
        .current_dir(folder.path())
        .args(["test", "ping.aml", "--sut", "exec python3 system.py"])
        .args(["--suite", "s.jsonl"]))
}

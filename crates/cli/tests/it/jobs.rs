//! Several systems at once: `ioco test --jobs N`, and shards.

use std::collections::BTreeSet;

use crate::support::{PING, Ran, TempDir, folder_with, ioco, run};

/// Counts its process in `starts`; deviates in the third stimulus of a test if it is told to.
const SYSTEM: &str = r#"
import json, os, sys
with open("starts", "a") as file:
    file.write(f"{os.getpid()} {' '.join(sys.argv[1:])}\n")
wrong = "wrong" in sys.argv
count = 0
if wrong:
    # It is started for every test, and says when it is ready.
    print('{"ready":true}', flush=True)
for line in sys.stdin:
    if json.loads(line).get("reset"):
        count = 0
        print('{"ready":true}', flush=True)
        continue
    count += 1
    word = "wrong" if wrong and count == 3 else "pong"
    print(json.dumps({"response": word}), flush=True)
"#;

fn project(sut: &str, test: &str) -> TempDir {
    let settings = format!("model = \"ping.aml\"\n[test]\nseed = 1\n{test}\n[sut]\n{sut}\n");
    folder_with(&[
        ("ping.aml", PING),
        ("system.py", SYSTEM),
        ("ioco.toml", &settings),
    ])
}

fn test(folder: &TempDir, more: &[&str]) -> Ran {
    run(ioco().current_dir(folder.path()).arg("test").args(more))
}

/// What each process was started with.
fn starts(folder: &TempDir) -> Vec<String> {
    let text = std::fs::read_to_string(folder.path().join("starts")).unwrap_or_default();
    let words = text.lines().filter_map(|line| line.split_once(' '));
    words.map(|(_, words)| words.to_owned()).collect()
}

/// The last line of `--format json`.
fn report(ran: &Ran) -> serde_json::Value {
    let last = ran.out.lines().last().unwrap_or_default();
    serde_json::from_str(last).unwrap_or_else(|_| panic!("no report: {}", ran.all()))
}

fn events(ran: &Ran, kind: &str) -> Vec<serde_json::Value> {
    let lines = ran
        .out
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    lines
        .filter(|event: &serde_json::Value| event["event"] == kind)
        .collect()
}

const OWN: &str = "command = [\"python3\", \"system.py\", \"{job}\"]";
/// Started anew for every test, so that nothing of a failed test is waited for.
const WRONG: &str = "command = [\"python3\", \"system.py\", \"{job}\", \"wrong\"]\nrestart = true";

#[test]
fn every_job_has_a_system_of_its_own_and_the_run_has_as_many_tests_as_were_asked_for() {
    let folder = project(OWN, "tests = 40\nsteps = 6");
    let ran = test(&folder, &["--jobs", "4", "--format", "json"]);
    assert_eq!(ran.code, 0, "{}", ran.all());
    let summary = &report(&ran)["summary"];
    assert_eq!(summary["tests"], 40, "{}", ran.all());
    assert_eq!(summary["passed"], 40);
    assert_eq!(summary["covered_switches"], summary["switches"]);
    let jobs: BTreeSet<String> = starts(&folder).into_iter().collect();
    assert!(jobs.len() <= 4 && !jobs.is_empty(), "{jobs:?}");
    assert_eq!(
        starts(&folder).len(),
        jobs.len(),
        "one process for each job"
    );
    let steps = ["stimuli", "responses", "silences"].map(|k| summary[k].as_u64().unwrap_or(0));
    let reported = events(&ran, "step-taken").len() as u64;
    assert_eq!(
        steps.iter().sum::<u64>(),
        reported,
        "every step is an event"
    );
    let mut numbers: Vec<u64> = events(&ran, "test-finished")
        .iter()
        .filter_map(|event| event["test"].as_u64())
        .collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=40).collect::<Vec<u64>>());
}

#[test]
fn a_failure_that_a_job_finds_is_confirmed_shrunk_kept_and_tried_first_by_the_next_run() {
    let folder = project(WRONG, "tests = 40\nsteps = 12");
    let ran = test(&folder, &["--jobs", "3"]);
    assert_eq!(ran.code, 1, "{}", ran.all());
    assert!(ran.out.contains("!wrong"), "{}", ran.all());
    assert!(ran.out.contains("3 of 3 runs"), "{}", ran.all());
    assert!(
        ran.out.contains("stimuli was left out alone"),
        "{}",
        ran.all()
    );
    let failures = folder.path().join(".ioco/failures");
    let count = |what: &str| {
        let files = std::fs::read_dir(&failures).map_or(0, Iterator::count);
        assert_eq!(files, 1, "{what}");
    };
    count("one failure, whatever number of jobs saw it");
    let again = test(&folder, &["--jobs", "3"]);
    assert_eq!(again.code, 1, "{}", again.all());
    assert!(
        again.out.contains("known from an earlier run"),
        "{}",
        again.all()
    );
    count("the same failure");
}

#[test]
fn with_jobs_each_test_repeats_exactly_given_its_number() {
    let folder = project(OWN, "tests = 12\nsteps = 20");
    let stimuli = |jobs: &str| {
        let ran = test(&folder, &["--jobs", jobs, "--format", "json"]);
        assert_eq!(ran.code, 0, "{}", ran.all());
        let mut tests: Vec<(u64, Vec<String>)> = (1..=12).map(|n| (n, Vec::new())).collect();
        for step in events(&ran, "step-taken") {
            let test = step["test"].as_u64().expect("a number") as usize;
            let shown = format!("{}{}", step["stimulus"], step["response"]);
            tests[test - 1].1.push(shown);
        }
        tests
    };
    let first = stimuli("1");
    assert_eq!(first, stimuli("2"));
    assert_eq!(first, stimuli("4"));
}

#[test]
fn several_jobs_at_one_address_are_refused_with_what_helps() {
    let folder = project("tcp = \"127.0.0.1:1\"", "tests = 2");
    let ran = test(&folder, &["--jobs", "2"]);
    assert_eq!(ran.code, 2, "{}", ran.all());
    assert!(ran.err.contains("2 jobs need 2 systems"), "{}", ran.all());
    assert!(ran.err.contains("{job}"), "{}", ran.all());
    let none = test(&folder, &["--jobs", "0"]);
    assert_eq!(none.code, 2, "{}", none.all());
}

#[test]
fn a_system_that_cannot_be_started_ends_a_run_of_several_jobs_as_an_error() {
    let folder = project("command = [\"./no-such-program\"]", "tests = 20");
    let ran = test(&folder, &["--jobs", "4"]);
    assert_eq!(ran.code, 3, "{}", ran.all());
}

#[test]
fn shards_share_out_the_tests_of_a_campaign() {
    let folder = project(OWN, "tests = 10\nsteps = 6");
    let mut tests = 0;
    let mut seeds = BTreeSet::new();
    for shard in ["1/3", "2/3", "3/3"] {
        let ran = test(&folder, &["--shard", shard, "--format", "json"]);
        assert_eq!(ran.code, 0, "{}", ran.all());
        let summary = &report(&ran)["summary"];
        tests += summary["tests"].as_u64().expect("a number");
        seeds.insert(summary["seed"].as_u64());
    }
    assert_eq!(tests, 10);
    assert_eq!(seeds.len(), 3, "{seeds:?}");
    let ran = test(&folder, &["--shard", "11/12"]);
    assert_eq!(ran.code, 2, "{}", ran.all());
}

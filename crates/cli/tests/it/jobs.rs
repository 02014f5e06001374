//! Several systems at once: `ioco test --jobs N`, and shards.

use std::collections::BTreeSet;

use crate::executors::{ECHO, tests_of};
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
fn every_job_has_a_system_of_its_own() {
    let folder = project(OWN, "tests = 40\nsteps = 6");
    let ran = test(&folder, &["--jobs", "4"]);
    assert_eq!(ran.code, 0, "{}", ran.all());
    let jobs: BTreeSet<String> = starts(&folder).into_iter().collect();
    assert!(jobs.len() <= 4 && !jobs.is_empty(), "{jobs:?}");
    assert_eq!(
        starts(&folder).len(),
        jobs.len(),
        "one process for each job"
    );
}

#[test]
fn with_jobs_each_test_repeats_exactly_given_its_number() {
    let folder = project(OWN, "tests = 12\nsteps = 20");
    let stimuli = |jobs: &str| {
        // Whether `auto` waits for silence depends on times as well.
        let options = ["--strategy", "random", "--format", "json", "--jobs", jobs];
        let ran = test(&folder, &options);
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
fn shards_share_out_the_tests_of_a_suite() {
    let folder = project(OWN, "steps = 6");
    std::fs::write(folder.path().join("ping.aml"), ECHO).expect("written");
    let generate = ["generate", "ping.aml", "--traces", "4", "-o", "suite.jsonl"];
    let made = run(ioco().current_dir(folder.path()).args(generate));
    assert_eq!(made.code, 0, "{}", made.all());
    let stimuli = |more: &[&str]| -> Vec<Vec<String>> {
        let ran = test(
            &folder,
            &[&["--suite", "suite.jsonl", "--format", "json"], more].concat(),
        );
        assert_eq!(ran.code, 0, "{}", ran.all());
        let tests = tests_of(&ran).into_values();
        tests.map(|(stimuli, _)| stimuli).collect()
    };
    let whole = stimuli(&[]);
    let distinct: BTreeSet<&Vec<String>> = whole.iter().collect();
    assert!(
        distinct.len() == whole.len() && whole.len() >= 8,
        "{whole:?}"
    );
    // Test 1 goes to the first shard, test 2 to the second, and so on, also with several jobs.
    for (at, shard) in ["1/3", "2/3", "3/3"].into_iter().enumerate() {
        let mut share: Vec<Vec<String>> = whole.iter().skip(at).step_by(3).cloned().collect();
        assert_eq!(stimuli(&["--shard", shard]), share, "{shard}");
        let mut together = stimuli(&["--shard", shard, "--jobs", "2"]);
        together.sort_unstable();
        share.sort_unstable();
        assert_eq!(together, share, "{shard}");
    }
    let more = whole.len() + 1;
    assert_eq!(stimuli(&["--shard", &format!("1/{more}")]), whole[..1]);
    let none = format!("{more}/{more}");
    let ran = test(&folder, &["--suite", "suite.jsonl", "--shard", &none]);
    assert_eq!(ran.code, 2, "{}", ran.all());
}

#[test]
fn shards_of_a_suite_are_merged_to_the_whole_suite() {
    let folders = ["1/2", "2/2"].map(|shard| {
        let folder = project(OWN, "steps = 6");
        std::fs::write(folder.path().join("ping.aml"), ECHO).expect("written");
        let generate = ["generate", "ping.aml", "--traces", "4", "-o", "suite.jsonl"];
        let made = run(ioco().current_dir(folder.path()).args(generate));
        assert_eq!(made.code, 0, "{}", made.all());
        let ran = test(&folder, &["--suite", "suite.jsonl", "--shard", shard]);
        assert_eq!(ran.code, 0, "{}", ran.all());
        folder
    });
    let whole = project(OWN, "steps = 6");
    std::fs::write(whole.path().join("ping.aml"), ECHO).expect("written");
    let ran = merge(&whole, &folders, &["--format", "json"]);
    assert_eq!(ran.code, 0, "{}", ran.all());
    let text = std::fs::read_to_string(folders[0].path().join("suite.jsonl")).expect("a suite");
    // After the line that names the model.
    let tests = text.lines().skip(1).count();
    assert_eq!(report(&ran)["summary"]["tests"], tests, "{}", ran.all());
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

/// Each shard in a folder of its own, as on machines of its own.
fn shards(sut: &str, settings: &str) -> (Vec<TempDir>, u64) {
    let mut tests = 0;
    let folders = ["1/3", "2/3", "3/3"].map(|shard| {
        let folder = project(sut, settings);
        let ran = test(&folder, &["--shard", shard, "--format", "json"]);
        tests += report(&ran)["summary"]["tests"].as_u64().expect("a number");
        folder
    });
    (folders.into(), tests)
}

fn merge(into: &TempDir, folders: &[TempDir], more: &[&str]) -> Ran {
    let mut command = ioco();
    command.current_dir(into.path()).arg("merge").args(more);
    run(command.args(folders.iter().map(|folder| folder.path())))
}

#[test]
fn merging_shards_gives_one_run_whose_numbers_are_the_sums_of_theirs() {
    let (folders, tests) = shards(OWN, "tests = 10\nsteps = 6");
    let whole = project(OWN, "tests = 10");
    let ran = merge(&whole, &folders, &["--format", "json"]);
    assert_eq!(ran.code, 0, "{}", ran.all());
    let merged = report(&ran);
    assert_eq!(merged["summary"]["tests"], tests);
    assert_eq!(merged["summary"]["passed"], 10);
    assert_eq!(merged["summary"]["covered_switches"], 2);
    assert_eq!(merged["parts"].as_array().map(Vec::len), Some(3));
    let listed = run(ioco()
        .current_dir(whole.path())
        .args(["report", "--format", "jsonl"]));
    let mut numbers: Vec<u64> = events(&listed, "test-finished")
        .iter()
        .filter_map(|event| event["test"].as_u64())
        .collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=10).collect::<Vec<u64>>(), "{}", listed.all());
    let steps = events(&listed, "step-taken").len() as u64;
    let counted = ["stimuli", "responses", "silences"];
    let counted = counted.map(|kind| merged["summary"][kind].as_u64().unwrap_or(0));
    assert_eq!(counted.iter().sum::<u64>(), steps);
    let covered = run(ioco().current_dir(whole.path()).arg("coverage"));
    assert!(covered.out.contains("2 of 2"), "{}", covered.all());
}

#[test]
fn a_failure_of_a_shard_is_a_failure_of_the_merged_run() {
    let (folders, _) = shards(WRONG, "tests = 6\nsteps = 12");
    let whole = project(WRONG, "tests = 6");
    let ran = merge(&whole, &folders, &[]);
    assert_eq!(ran.code, 1, "{}", ran.all());
    let files = std::fs::read_dir(whole.path().join(".ioco/failures"));
    assert_eq!(
        files.map_or(0, Iterator::count),
        1,
        "the same in each shard"
    );
    let shown = run(ioco().current_dir(whole.path()).args(["runs", "show"]));
    assert!(shown.out.contains("FAIL"), "{}", shown.all());
}

#[test]
fn a_run_is_not_merged_with_itself() {
    let (folders, _) = shards(OWN, "tests = 3\nsteps = 4");
    let whole = project(OWN, "tests = 3");
    let twice = [&folders[0], &folders[1], &folders[0]].map(TempDir::path);
    let mut command = ioco();
    let ran = run(command.current_dir(whole.path()).arg("merge").args(twice));
    assert_eq!(ran.code, 2, "{}", ran.all());
    assert!(ran.err.contains("the same run"), "{}", ran.all());
    let listed = run(ioco().current_dir(whole.path()).args(["runs", "list"]));
    assert!(!listed.out.contains("ping"), "{}", listed.all());
}

#[test]
fn a_missing_shard_and_one_that_comes_twice_are_noticed() {
    let (mut folders, _) = shards(OWN, "tests = 3\nsteps = 4");
    let whole = project(OWN, "tests = 3");
    let last = folders.pop().expect("three");
    let ran = merge(&whole, &folders, &[]);
    assert_eq!(ran.code, 2, "{}", ran.all());
    assert!(ran.err.contains("missing: 3/3"), "{}", ran.all());
    let listed = run(ioco().current_dir(whole.path()).args(["runs", "list"]));
    assert!(!listed.out.contains("ping"), "{}", listed.all());
    let ran = merge(&whole, &folders, &["--partial", "--format", "json"]);
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(ran.err.contains("missing: 3/3"), "{}", ran.all());
    assert_eq!(report(&ran)["missing"][0], "3/3", "{}", ran.all());
    // The second one once more, as after a restart of its machine.
    let again = project(OWN, "tests = 3\nsteps = 4");
    assert_eq!(test(&again, &["--shard", "2/3"]).code, 0);
    folders.extend([last, again]);
    let ran = merge(&whole, &folders, &[]);
    assert_eq!(ran.code, 2, "{}", ran.all());
    assert!(ran.err.contains("both hold shard 2/3"), "{}", ran.all());
    // A share of another size.
    let other = project(OWN, "tests = 3\nsteps = 4");
    assert_eq!(test(&other, &["--shard", "2/2"]).code, 0);
    folders.pop();
    folders.push(other);
    let ran = merge(&whole, &folders, &["--partial"]);
    assert_eq!(ran.code, 2, "{}", ran.all());
    assert!(ran.err.contains("not of one campaign"), "{}", ran.all());
}

#[test]
fn runs_of_different_models_and_folders_without_runs_are_not_merged() {
    let (mut folders, _) = shards(OWN, "tests = 3\nsteps = 4");
    let empty = project(OWN, "tests = 3");
    let ran = merge(&empty, &[project(OWN, "")], &[]);
    assert_eq!(ran.code, 2, "{}", ran.all());
    assert!(
        ran.err.contains("no run has been recorded"),
        "{}",
        ran.all()
    );
    let other = project(OWN, "tests = 3\nsteps = 4");
    let changed = PING.replace("timeout 10", "timeout 11");
    std::fs::write(other.path().join("ping.aml"), changed).expect("written");
    assert_eq!(test(&other, &[]).code, 0);
    folders.push(other);
    let ran = merge(&empty, &folders, &[]);
    assert_eq!(ran.code, 2, "{}", ran.all());
    assert!(ran.err.contains("different models"), "{}", ran.all());
}

#[test]
fn a_failure_is_replayed_and_shrunk_on_several_systems() {
    let folder = project(WRONG, "tests = 10\nsteps = 12");
    let ran = test(&folder, &["--no-shrink", "--format", "json"]);
    assert_eq!(ran.code, 1, "{}", ran.all());
    let id = report(&ran)["failures"][0]["id"]
        .as_str()
        .map(str::to_owned);
    let id = id.expect("an id");
    let again = |arguments: &[&str]| run(ioco().current_dir(folder.path()).args(arguments));
    let replayed = again(&["replay", &id, "--times", "6", "--jobs", "3"]);
    assert_eq!(replayed.code, 1, "{}", replayed.all());
    assert!(replayed.out.contains("6 of 6 runs"), "{}", replayed.all());
    let one = again(&["shrink", &id, "--format", "json"]);
    let shrunk = report(&one);
    let id = shrunk["failure"].as_str().expect("an id").to_owned();
    let several = again(&["shrink", &id, "--jobs", "3", "--format", "json"]);
    let reshrunk = report(&several);
    assert_eq!(several.code, 1, "{}", several.all());
    assert_eq!(
        reshrunk["failure"],
        id.as_str(),
        "the same with three systems"
    );
    assert_eq!(reshrunk["to"], shrunk["to"]);
    assert_eq!(reshrunk["confirmed"], serde_json::json!([3, 3]));
    let refused = again(&["replay", &id, "--jobs", "0"]);
    assert_eq!(refused.code, 2, "{}", refused.all());
}

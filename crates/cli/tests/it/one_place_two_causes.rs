//! Two faults that deviate with the same label in the same place: a flaky one hides no certain one, and what passes or
//! was accepted does not speak for what fails now.

use std::fs;
use std::path::Path;

use serde_json::Value as Json;

use crate::support::{Ran, TempDir, folder, folder_with, ioco, run};

const MODEL: &str = "timeout 0.3
external 'c'
process('sums') {
  channel('c') {
    stimulus 'add', {'n' => integer(0..9)}
    stimuli 'get', 'clear'
    response 'sum', {'n' => :integer}
    responses 'ok'
  }
  var 't', :integer, 0
  repeat {
    o { receive 'add', update: 't += n'; send 'ok' }
    o { receive 'get'; send 'sum', constraint: 'n == t' }
    o { receive 'clear', update: 't = 0'; send 'ok' }
  }
}
";

/// Its faults are named in the file `faults`: `clear` leaves 1 of a large sum; `seven` loses one; `once` answers the first
/// question ever wrongly.
const SYSTEM: &str = "import json, os, sys
faults = open('faults').read().split()
def say(**message): print(json.dumps(message), flush=True)
total = 0
for line in sys.stdin:
    message = json.loads(line)
    if 'reset' in message:
        total = 0
        say(ready=True)
    elif message['stimulus'] == 'add':
        n = message['values']['n']
        total += n - (n == 7 and 'seven' in faults)
        say(response='ok')
    elif message['stimulus'] == 'get':
        wrong = 'once' in faults and not os.path.exists('asked')
        open('asked', 'w').close()
        say(response='sum', values={'n': total + wrong})
    else:
        total = 1 if 'clear' in faults and total > 9 else 0
        say(response='ok')
";

fn project(faults: &str) -> TempDir {
    let folder = folder_with(&[("sums.aml", MODEL), ("system.py", SYSTEM)]);
    plant(&folder, faults);
    folder
}

fn plant(folder: &TempDir, faults: &str) {
    fs::write(folder.path().join("faults"), faults).expect("the faults");
}

fn ask(folder: &Path, arguments: &[&str]) -> Ran {
    run(ioco().current_dir(folder).args(arguments))
}

const SUT: [&str; 2] = ["--sut", "exec python3 system.py"];

fn test(folder: &TempDir, more: &[&str]) -> Ran {
    // Each seed finds certain traces, by chance.
    let limits = [
        "--tests",
        "20",
        "--steps",
        "25",
        "--silence",
        "0",
        "--strategy",
        "random",
    ];
    let arguments = [&["test", "sums.aml"], &SUT[..], &limits, more].concat();
    ask(folder.path(), &arguments)
}

fn failures(folder: &TempDir) -> Vec<Json> {
    let listed = ask(folder.path(), &["failures", "--all", "--format", "json"]);
    let lines = listed.out.lines();
    lines
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

/// What a replay of the only failure says.
fn replay(folder: &TempDir) -> Ran {
    let all = failures(folder);
    let [only] = all.as_slice() else {
        panic!("one failure: {all:?}");
    };
    let id = only["id"].as_str().expect("an id");
    ask(folder.path(), &["replay", id, SUT[0], SUT[1]])
}

#[test]
fn a_flaky_failure_hides_no_certain_one_in_the_same_place() {
    let folder = project("once clear");
    let ran = test(&folder, &["--seed", "5", "--failures", "0"]);
    assert_eq!(ran.code, 1, "{}", ran.all());
    assert!(ran.all().contains("confirmed      3 of 3"), "{}", ran.all());
    let again = replay(&folder);
    assert_eq!(again.code, 1, "{}", again.all());
    let report = ask(folder.path(), &["report", "--format", "json"]);
    let report: Json = serde_json::from_str(&report.out).expect("JSON");
    assert_eq!(report["run"]["verdict"], "fail");
}

#[test]
fn the_limit_on_failures_counts_one_that_is_confirmed_at_the_second_sight() {
    let folder = project("once clear");
    let ran = test(
        &folder,
        &["--seed", "5", "--failures", "1", "--format", "json"],
    );
    assert_eq!(ran.code, 1, "{}", ran.all());
    let last = ran.out.lines().last().expect("a line");
    let finished: Json = serde_json::from_str(last).expect("JSON");
    assert_eq!(finished["summary"]["stopped"], "failures", "{last}");
}

#[test]
fn a_trace_that_fails_takes_the_place_of_a_shorter_one_that_passes() {
    let folder = project("seven");
    let ran = test(&folder, &["--seed", "5"]);
    assert_eq!(ran.code, 1, "{}", ran.all());
    let old = failures(&folder)[0]["id"].as_str().map(str::to_owned);
    plant(&folder, "clear");
    let ran = test(&folder, &["--seed", "5"]);
    assert_eq!(ran.code, 1, "{}", ran.all());
    let again = replay(&folder);
    assert_eq!(again.code, 1, "{}", again.all());
    // The old id leads to it.
    let id = old.expect("an id");
    let by_old = ask(folder.path(), &["replay", &id, SUT[0], SUT[1]]);
    assert_eq!(by_old.code, 1, "{}", by_old.all());
}

#[test]
fn an_acceptance_ends_where_its_trace_passes_and_another_fails() {
    let folder = project("clear");
    let ran = test(&folder, &["--seed", "5"]);
    assert_eq!(ran.code, 1, "{}", ran.all());
    let id = failures(&folder)[0]["id"].as_str().map(str::to_owned);
    let id = id.expect("an id");
    let accepted = ask(
        folder.path(),
        &["failures", "accept", &id, "--why", "known"],
    );
    assert_eq!(accepted.code, 0, "{}", accepted.all());
    let same = test(&folder, &["--seed", "6"]);
    assert_eq!(same.code, 0, "{}", same.all());
    plant(&folder, "seven");
    let other = test(&folder, &["--seed", "5"]);
    assert_eq!(other.code, 1, "{}", other.all());
    let kept = failures(&folder);
    assert!(
        kept.iter()
            .any(|one| one["id"] == *id && one["accepted"] == "known"),
        "{kept:?}"
    );
    // In the next run it is known, and not accepted.
    let next = test(&folder, &["--seed", "8"]);
    assert_eq!(next.code, 1, "{}", next.all());
}

#[test]
fn merged_runs_have_the_same_verdict_in_every_order() {
    let certain = project("clear");
    assert_eq!(test(&certain, &["--seed", "5"]).code, 1);
    let flaky = project("once");
    assert_eq!(test(&flaky, &["--seed", "5"]).code, 5);
    for parts in [[&certain, &flaky], [&flaky, &certain]] {
        let here = folder();
        let paths = parts.map(|part| part.path().to_string_lossy().into_owned());
        let merged = ask(here.path(), &["merge", &paths[0], &paths[1]]);
        assert_eq!(merged.code, 1, "{}", merged.all());
        let all = failures(&here);
        assert_eq!(all.len(), 1, "{all:?}");
        assert_eq!(all[0]["flaky"], false, "{all:?}");
        assert_eq!(all[0]["confirmed"], serde_json::json!([3, 3]), "{all:?}");
    }
}

fn accept(folder: &TempDir) -> String {
    let id = failures(folder)[0]["id"].as_str().map(str::to_owned);
    let id = id.expect("an id");
    let accepted = ask(folder.path(), &["accept", &id, "--why", "known"]);
    assert_eq!(accepted.code, 0, "{}", accepted.all());
    id
}

#[test]
fn an_acceptance_holds_for_another_command_only_if_its_trace_fails_there() {
    let folder = project("clear");
    assert_eq!(test(&folder, &["--seed", "5"]).code, 1);
    accept(&folder);
    let elsewhere = |more: &[&str]| {
        let sut = ["--sut", "exec python3 ./system.py"];
        let limits = ["--tests", "20", "--steps", "25", "--silence", "0"];
        let arguments = [
            &["test", "sums.aml", "--seed", "6"],
            &sut[..],
            &limits,
            more,
        ]
        .concat();
        ask(folder.path(), &arguments)
    };
    for more in [&[][..], &["--no-shrink"]] {
        plant(&folder, "clear");
        let same = elsewhere(more);
        assert_eq!(same.code, 0, "{}", same.all());
        plant(&folder, "seven");
        let other = elsewhere(more);
        assert_eq!(other.code, 1, "{}", other.all());
    }
}

#[test]
fn a_merge_extends_an_acceptance_to_no_other_trace_and_loses_none() {
    let accepted = project("clear");
    assert_eq!(test(&accepted, &["--seed", "5"]).code, 1);
    let id = accept(&accepted);
    let same = project("clear");
    assert_eq!(test(&same, &["--seed", "5"]).code, 1);
    assert_eq!(failures(&same)[0]["id"], *id);
    let other = project("seven");
    assert_eq!(test(&other, &["--seed", "5"]).code, 1);
    for (more, code, count) in [(&same, 0, 1), (&other, 1, 2)] {
        for parts in [[&accepted, more], [more, &accepted]] {
            let here = folder();
            let paths = parts.map(|part| part.path().to_string_lossy().into_owned());
            let merged = ask(here.path(), &["merge", &paths[0], &paths[1]]);
            assert_eq!(merged.code, code, "{}", merged.all());
            let all = failures(&here);
            assert_eq!(all.len(), count, "{all:?}");
            let known = all.iter().find(|one| one["id"] == *id);
            assert_eq!(known.expect("it is kept")["accepted"], "known", "{all:?}");
        }
    }
}

#[test]
fn a_goal_that_all_tests_together_miss_is_missed_by_their_merge() {
    let part = project("");
    let little = ["--seed", "5", "--tests", "1", "--steps", "1"];
    let ran = ask(
        part.path(),
        &[&["test", "sums.aml"], &SUT[..], &little].concat(),
    );
    assert_eq!(ran.code, 0, "{}", ran.all());
    let here = folder();
    let path = part.path().to_string_lossy().into_owned();
    assert_eq!(ask(here.path(), &["merge", &path]).code, 0);
    let missed = ask(here.path(), &["merge", &path, "--coverage", "100"]);
    assert_eq!(missed.code, 4, "{}", missed.all());
    assert!(
        missed.all().contains("missed the coverage goal"),
        "{}",
        missed.all()
    );
}

//! `ioco generate`: complete suites and coverage goals.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value as Json;

use crate::support::{Ran, folder, ioco, root, run};

fn generate(model: &str, arguments: &[&str]) -> Ran {
    let model = root().join("examples").join(model);
    run(ioco().arg("generate").arg(model).args(arguments))
}

fn lines(text: &str) -> Vec<Json> {
    text.lines()
        .map(|line| serde_json::from_str(line).expect("a JSON object a line"))
        .collect()
}

/// Generates from model text of its own.
fn from_text(text: &str, arguments: &[&str]) -> Ran {
    let folder = folder();
    let path = folder.path().join("model.aml");
    fs::write(&path, text).expect("a file");
    run(ioco().arg("generate").arg(path).args(arguments))
}

#[test]
fn counting_gives_one_object_and_the_bounds_come_before() {
    let ran = generate(
        "calculator",
        &["--traces", "3", "--count", "--format", "json"],
    );
    assert_eq!(ran.code, 0, "{}", ran.all());
    let counted = lines(&ran.out);
    assert_eq!(counted.len(), 1);
    assert_eq!(counted[0]["traces"], 3);
    assert!(counted[0]["seconds"].is_number());
    assert!(ran.err.starts_with("at most 343 traces"), "{}", ran.err);
    assert!(ran.err.contains("estimate: about 3"), "{}", ran.err);
}

#[test]
fn the_suite_does_not_depend_on_the_number_of_threads() {
    let with = |jobs: &str| {
        let arguments = ["--traces", "2", "--format", "json", "--jobs", jobs];
        let ran = generate("microscope", &arguments);
        assert_eq!(ran.code, 0, "{}", ran.all());
        let tests: BTreeSet<String> = ran.out.lines().map(str::to_owned).collect();
        assert_eq!(tests.len(), ran.out.lines().count(), "a test twice");
        tests
    };
    let one = with("1");
    assert_eq!(one.len(), 3663);
    assert!(one == with("3"), "other values with more threads");
}

#[test]
fn a_suite_goes_into_a_file() {
    let folder = folder();
    let file = folder.path().join("suite.jsonl");
    let name = file.to_str().expect("a name");
    let ran = generate("coffee/figure9.aml", &["--traces", "3", "-o", name]);
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{}", ran.all());
    let tests = lines(&fs::read_to_string(&file).expect("a suite"));
    assert_eq!(tests.len(), 2);
    for test in &tests {
        let coins: i64 = test["steps"]
            .as_array()
            .expect("steps")
            .iter()
            .filter_map(|step| step["values"]["value"].as_i64())
            .sum();
        let drink = test["steps"][2]["response"].as_str().expect("a drink");
        assert_eq!(drink, if coins > 80 { "coffee" } else { "tea" });
    }
}

#[test]
fn every_goal_has_its_line() {
    let ran = generate(
        "calculator",
        &["--cover", "locations,switches", "--format", "json"],
    );
    assert_eq!(ran.code, 0, "{}", ran.all());
    let goals = lines(&ran.out);
    assert_eq!(goals.len(), 14);
    for goal in &goals {
        assert_eq!(goal["verdict"], "covered", "{goal}");
        assert!(goal["test"]["steps"].is_array(), "{goal}");
        assert!(goal["solver_calls"].is_u64(), "{goal}");
        assert!(goal["seconds"].is_number(), "{goal}");
    }
}

#[test]
fn all_locations_of_the_microscope_are_covered() {
    let ran = generate("microscope", &["--cover", "locations", "--minimise"]);
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(ran.err.contains("7 of 7 goals covered"), "{}", ran.err);
}

#[test]
fn three_switches_of_the_microscope_are_proved_unreachable() {
    let ran = generate("microscope", &["--cover", "switches", "--format", "json"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let goals = lines(&ran.out);
    let unreachable = goals.iter().filter(|goal| goal["verdict"] == "unreachable");
    assert_eq!((goals.len(), unreachable.count()), (378, 3), "{}", ran.err);
    assert!(ran.err.contains("0 unknown"), "{}", ran.err);
}

const RUNAWAY: &str = "
external 'c'
process('p') {
  channel('c') { response 'a' }
  var 'n', :integer, 0
  state 'S'
  repeat {
    o { tau update: 'n = n + 1' }
    o { send 'a' }
  }
}
";

#[test]
fn internal_steps_without_end_are_an_error_that_names_the_switch() {
    let ran = from_text(RUNAWAY, &["--traces", "1", "--count"]);
    assert_eq!(ran.code, 2, "{}", ran.all());
    assert!(
        ran.err.contains("internal steps go on without end"),
        "{}",
        ran.err
    );
    assert!(ran.err.contains("model.aml:8"), "{}", ran.err);
}

#[test]
fn internal_steps_in_a_circle_are_left_out_and_said() {
    let circle = RUNAWAY.replace("n + 1", "n * 1");
    let ran = from_text(&circle, &["--traces", "1", "--count", "--format", "json"]);
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(ran.err.contains("internal steps go round"), "{}", ran.err);
    let counted = lines(&ran.out);
    assert_eq!(counted[0]["traces"], 1);
    assert_eq!(counted[0]["circular"], 1);
}

#[test]
fn a_start_that_nothing_satisfies_is_said() {
    let stuck = "
external 'c'
process('p') {
  channel('c') { stimulus 'a', {'n' => integer(0..9)} }
  state 'S'
  receive 'a', constraint: 'n > 9'
  state 'T'
}
";
    let ran = from_text(stuck, &["--traces", "2", "--count"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "1\n"), "{}", ran.all());
    assert!(
        ran.err.contains("can do nothing at the start"),
        "{}",
        ran.err
    );
    let ran = from_text(stuck, &["--cover", "locations", "--format", "json"]);
    assert_eq!(ran.code, 0, "{}", ran.all());
    let goals = lines(&ran.out);
    assert_eq!(goals[1]["verdict"], "unreachable");
    assert_eq!(goals[1]["test"], Json::Null);
    assert!(goals[1]["reason"].is_string());
}

#[test]
fn arguments_that_do_not_go_together_are_refused() {
    for arguments in [
        &[][..],
        &["--traces", "1", "--cover", "locations"],
        &["--cover", "rainbows"],
        &["--cover", "locations", "--count"],
        &["--traces", "1", "--depth", "3"],
        &["--traces", "1", "--loops", "0"],
        &["--traces", "1", "--jobs", "0"],
        &["--traces", "1", "--goal", "x = 1"],
        &["--traces", "1", "--count", "-o", "suite"],
    ] {
        let ran = generate("calculator", arguments);
        assert_eq!(ran.code, 2, "{arguments:?}: {}", ran.all());
        assert!(ran.err.contains("error"), "{arguments:?}: {}", ran.err);
    }
}

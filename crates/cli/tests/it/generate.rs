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
    assert_eq!(tests.len(), 3);
    assert_eq!(
        (&tests[0]["suite"], &tests[0]["model"]),
        (&1.into(), &"Coffee machine".into())
    );
    for test in &tests[1..] {
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

const SIDE_BY_SIDE: &str = "
external 'c'
process('left') {
  channel('c') { stimulus 'a'; stimulus 'b'; stimulus 'd' }
  state 'L'
  repeat { o { receive 'a' } o { receive 'b' } o { receive 'd' } }
}
process('right') {
  channel('c') { stimulus 'a'; stimulus 'b'; stimulus 'd' }
  state 'R'
  repeat { o { receive 'a' } o { receive 'b' } o { receive 'd' } }
}
";

#[test]
fn paths_and_traces_of_parallel_processes_are_counted_apart() {
    let arguments = ["--traces", "1", "--count", "--format", "json"];
    let ran = from_text(SIDE_BY_SIDE, &arguments);
    assert_eq!(ran.code, 0, "{}", ran.all());
    let counted = &lines(&ran.out)[0];
    assert_eq!(
        (&counted["paths"], &counted["traces"]),
        (&6.into(), &3.into())
    );
    assert!(ran.err.contains("from one state: 6;"), "{}", ran.err);
    assert!(ran.err.contains("6 paths: 3 traces of 1"), "{}", ran.err);
}

#[test]
fn a_trace_of_a_hundred_thousand_steps_is_counted() {
    let text = "external 'c'\nprocess('p') { channel('c') { stimulus 'a' }\nstate 'S'\nrepeat { o { receive 'a' } } }\n";
    let ran = from_text(text, &["--traces", "100000", "--count"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "1\n"), "{}", ran.all());
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
    assert!(ran.err.contains("internal steps never end"), "{}", ran.err);
    assert!(ran.err.contains("model.aml:8"), "{}", ran.err);
}

#[test]
fn internal_steps_in_a_circle_are_left_out_and_said() {
    let circle = RUNAWAY.replace("n + 1", "n * 1");
    let ran = from_text(&circle, &["--traces", "1", "--count", "--format", "json"]);
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(ran.err.contains("internal steps form loops"), "{}", ran.err);
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
        ran.err.contains("the initial state allows no step"),
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

#[test]
fn the_smallest_and_largest_values_are_in_the_suite_and_proved_to_be_that() {
    let folder = folder();
    let file = folder.path().join("suite.jsonl");
    let output = file.to_str().expect("a path");
    let arguments = [
        "--traces", "3", "--data", "minmax", "--format", "json", "-o",
    ];
    let arguments = [&arguments[..], &[output]].concat();
    let ran = generate("calculator", &arguments);
    assert_eq!(ran.code, 0, "{}", ran.all());
    let goals = lines(&ran.out);
    assert_eq!(goals.len(), 12);
    assert!(goals.iter().all(|goal| goal["verdict"] == "covered"));
    assert!(goals.iter().all(|goal| goal["proof"].is_string()));
    let shown = |goal: &Json| {
        goal["switch"]
            .as_str()
            .unwrap_or("")
            .contains("5 ──!result")
    };
    let results: Vec<&Json> = goals.iter().filter(|goal| shown(goal)).collect();
    // Twice the sum of 1 and 5, and twice the product of 1000 and 5.
    assert_eq!(results[0]["value"], "12");
    assert_eq!(results[1]["value"], "10000");
    let suite = lines(&fs::read_to_string(&file).expect("a suite"));
    // The first line says what the suite belongs to.
    let has = |wanted: i64| {
        suite[1..].iter().any(|test| {
            let steps = test["steps"].as_array().expect("steps");
            steps.iter().any(|step| step["values"]["value"] == wanted)
        })
    };
    assert!(has(12) && has(10000) && has(1000) && has(1) && has(2));
}

#[test]
fn limits_and_pairs_ask_for_more_than_extremes() {
    let wanted = |data: &str| {
        let ran = generate("calculator", &["--traces", "3", "--data", data]);
        assert_eq!(ran.code, 0, "{}", ran.all());
        let line = ran.err.lines().find(|line| line.contains("values wanted"));
        let line = line.unwrap_or_else(|| panic!("{}", ran.err)).to_owned();
        assert!(line.contains(" 0 unknown"), "{line}");
        let number = line.split(' ').next().and_then(|n| n.parse::<u32>().ok());
        number.expect("a number")
    };
    let (few, more) = (wanted("minmax"), wanted("boundaries"));
    assert!(few < more, "{few} {more}");
    assert!(more <= wanted("pairs"));
}

#[test]
fn every_trace_may_be_given_values_several_times() {
    let ran = generate("calculator", &["--traces", "2", "--data", "5"]);
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert_eq!(ran.out.lines().count(), 10);
}

#[test]
fn minimising_leaves_the_tests_that_values_need() {
    let arguments = ["--traces", "3", "--data", "minmax", "--minimise"];
    let ran = generate("calculator", &arguments);
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(ran.out.lines().count() <= 12, "{}", ran.out);
    let ran = generate("calculator", &["--traces", "3", "--minimise"]);
    assert_eq!(ran.code, 2, "{}", ran.all());
}

#[test]
fn conditions_that_no_step_can_make_false_are_proved_unreachable() {
    let arguments = ["--cover", "conditions,mcdc,decisions", "--format", "json"];
    let ran = generate("calculator", &arguments);
    assert_eq!(ran.code, 0, "{}", ran.all());
    let goals = lines(&ran.out);
    let count = |verdict: &str| goals.iter().filter(|g| g["verdict"] == verdict).count();
    assert!(count("covered") >= 25, "{}", ran.out);
    assert_eq!(count("covered") + count("unreachable"), goals.len());
    for goal in &goals {
        let covered = goal["verdict"] == "covered";
        assert_eq!(goal["test"].is_object(), covered, "{goal}");
        assert_eq!(goal["reason"].is_string(), !covered, "{goal}");
        assert!(goal["solver_calls"].is_number() && goal["seconds"].is_number());
    }
}

const LAMP: &str = "
external 'c'
process('lamp') {
  channel('c') {
    stimulus 'press', {'times' => integer(1..2)}
    response 'lit'
  }
  var 'level', integer(0..3), 0
  state 'Lamp'
  repeat {
    o { receive 'press', constraint: 'times >= 1 && level + times <= 3', update: 'level = level + times' }
    o { send 'lit', constraint: 'level == 3', update: 'level = 0' }
  }
}
";

#[test]
fn states_are_covered_where_data_is_finite_and_refused_where_it_is_not() {
    let ran = from_text(LAMP, &["--cover", "states", "--format", "json"]);
    assert_eq!(ran.code, 0, "{}", ran.all());
    let goals = lines(&ran.out);
    assert_eq!(goals.len(), 4, "{}", ran.out);
    assert!(goals.iter().all(|goal| goal["verdict"] == "covered"));
    let ran = generate("calculator", &["--cover", "states"]);
    assert_eq!(ran.code, 2, "{}", ran.all());
    assert!(
        ran.err
            .contains("the states of this model cannot be listed")
    );
}

#[test]
fn the_covered_model_is_drawn() {
    let folder = folder();
    let file = folder.path().join("covered.svg");
    let path = file.to_str().expect("a path");
    let ran = generate("calculator", &["--cover", "switches", "--svg", path]);
    assert_eq!(ran.code, 0, "{}", ran.all());
    let drawn = fs::read_to_string(&file).expect("a picture");
    assert!(drawn.starts_with("<svg"), "{}", &drawn[..40]);
}

#[test]
fn a_time_limit_ends_a_suite_without_end() {
    let arguments = ["--traces", "9", "--count", "--time", "300ms"];
    let ran = generate("microscope", &arguments);
    assert_eq!(ran.code, 4, "{}", ran.all());
    assert!(
        ran.err.contains("the time limit was reached"),
        "{}",
        ran.err
    );
}

#[test]
fn a_model_that_can_do_nothing_is_answered_at_once() {
    let text = LAMP.replace("times >= 1 &&", "times > 2 &&");
    let ran = from_text(&text, &["--traces", "3"]);
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(ran.err.contains("the initial state allows no step"));
    let ran = from_text(&text, &["--cover", "switches"]);
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert_eq!(
        ran.out
            .lines()
            .filter(|l| l.starts_with("unreachable"))
            .count(),
        2
    );
}

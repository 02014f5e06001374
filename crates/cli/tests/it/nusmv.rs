//! NuSMV models on the command line.

use std::fs;

use crate::support::{folder, ioco, run};

const LIGHT: &str = "MODULE main
VAR
  colour : {red, green, amber};
  broken : boolean;
ASSIGN
  init(colour) := red;
  next(colour) := case
    colour = red & !broken : green;
    colour = green : amber;
    TRUE : red;
  esac;
  init(broken) := FALSE;
  next(broken) := FALSE;
";

#[test]
fn every_goal_ends_with_a_test_or_a_proof() {
    let folder = folder();
    fs::write(folder.path().join("light.smv"), LIGHT).unwrap();
    let ran =
        run(ioco()
            .current_dir(folder.path())
            .args(["check", "light.smv", "--format", "json"]));
    assert_eq!(ran.code, 0, "{}", ran.all());
    let json: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(json["variables"], 2);

    let arguments = [
        "generate",
        "light.smv",
        "--cover",
        "values",
        "--format",
        "json",
    ];
    let ran = run(ioco()
        .current_dir(folder.path())
        .args(arguments)
        .args(["-o", "suite.csv"]));
    assert_eq!(ran.code, 0, "{}", ran.all());
    let verdict = |goal: &str| {
        let lines = ran
            .out
            .lines()
            .map(|l| serde_json::from_str::<serde_json::Value>(l).unwrap());
        let found = lines.into_iter().find(|line| line["goal"] == goal);
        found.unwrap_or_else(|| panic!("no goal {goal} in\n{}", ran.out))
    };
    let amber = verdict("colour = amber");
    assert_eq!(amber["verdict"], "covered");
    assert_eq!(amber["length"], 3);
    assert_eq!(verdict("broken = TRUE")["verdict"], "infeasible");
    assert!(
        fs::read_to_string(folder.path().join("suite.csv"))
            .unwrap()
            .contains("amber")
    );

    let ran = run(ioco().current_dir(folder.path()).args([
        "convert",
        "light.smv",
        "--decompose",
        "colour = amber",
        "-o",
        "tree.svg",
    ]));
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(
        fs::read_to_string(folder.path().join("tree.svg"))
            .unwrap()
            .contains("<svg")
    );
}

#[test]
fn bad_models_and_goals_get_a_clear_answer() {
    let folder = folder();
    fs::write(folder.path().join("light.smv"), LIGHT).unwrap();
    fs::write(folder.path().join("x.m4.smv"), "MODULE main").unwrap();
    fs::write(
        folder.path().join("bad.smv"),
        "MODULE main\nVAR x : 3..1;\n",
    )
    .unwrap();
    let check = |arguments: &[&str], words: &str| {
        let ran = run(ioco().current_dir(folder.path()).args(arguments));
        assert_eq!(ran.code, 2, "{arguments:?}: {}", ran.all());
        assert!(ran.err.contains(words), "no '{words}' in\n{}", ran.err);
    };
    check(&["check", "x.m4.smv"], "template");
    check(&["check", "bad.smv"], "bad.smv:2");
    check(&["generate", "light.smv", "--goal", "colur = red"], "colur");
    check(&["generate", "light.smv"], "--cover");
    check(
        &["generate", "light.smv", "--cover", "switches"],
        "switches",
    );
}

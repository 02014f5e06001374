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

/// Writes the model, runs `ioco` with it, and gives back what it said.
fn answer(model: &str, arguments: &[&str]) -> crate::support::Ran {
    let folder = folder();
    fs::write(folder.path().join("m.smv"), model).unwrap();
    run(ioco().current_dir(folder.path()).args(arguments))
}

#[test]
fn bad_models_are_refused_with_their_place() {
    let check = |model: &str, words: &[&str]| {
        for command in [
            &["check", "m.smv"][..],
            &["generate", "m.smv", "--cover", "values"],
        ] {
            let ran = answer(model, command);
            assert_eq!(ran.code, 2, "{command:?}: {}", ran.all());
            for word in words {
                assert!(ran.err.contains(word), "no '{word}' in\n{}", ran.err);
            }
        }
    };
    check("MODULE main\nVAR x : 3..1;\n", &["m.smv:2:9", "empty"]);
    check("MODULE main\nVAR x : {};\n", &["m.smv:2:9", "empty"]);
    check(
        "MODULE main\nVAR x : 0..3;\nASSIGN next(x) := case x < 2 : 0; esac;\n",
        &["m.smv:3:19", "not exhaustive", "when x = 2"],
    );
    check(
        "MODULE main\nVAR x : 0..3;\nASSIGN next(x) := x + 1;\n",
        &["m.smv:3:19", "outside of its domain 0..3", "when x = 3"],
    );
    check(
        "MODULE main\nVAR x : boolean; y : boolean;\nASSIGN x := y; y := x;\n",
        &["m.smv:3:", "circle: x -> y"],
    );
    check(
        "MODULE main\nVAR x : boolean;\nASSIGN init(x) := TRUE; init(x) := FALSE;\n",
        &["m.smv:3:", "`x` is assigned twice"],
    );
    check(
        "MODULE main\nVAR x : unsigned word[8];\n",
        &["m.smv:2:", "word"],
    );
}

#[test]
fn bad_goals_and_templates_get_a_clear_answer() {
    let check = |arguments: &[&str], words: &str| {
        let ran = answer(LIGHT, arguments);
        assert_eq!(ran.code, 2, "{arguments:?}: {}", ran.all());
        assert!(ran.err.contains(words), "no '{words}' in\n{}", ran.err);
    };
    check(
        &["generate", "m.smv", "--goal", "colur = red"],
        "did you mean `colour`",
    );
    check(
        &["generate", "m.smv", "--goal", "colour ="],
        "error: goal 'colour =', column 9: ",
    );
    check(
        &["generate", "m.smv", "--goal", "colour"],
        "error: goal 'colour', column 1: ",
    );
    check(
        &["convert", "m.smv", "--decompose", "x", "-o", "tree.svg"],
        "column 1: `x` is not declared\n  hint: the variables are ",
    );
    check(&["generate", "m.smv"], "--cover");
    check(&["generate", "m.smv", "--cover", "switches"], "switches");
    let folder = folder();
    fs::write(folder.path().join("x.m4.smv"), "MODULE main").unwrap();
    let ran = run(ioco()
        .current_dir(folder.path())
        .args(["check", "x.m4.smv"]));
    assert_eq!(ran.code, 2, "{}", ran.all());
    assert!(ran.err.contains("macro template"), "{}", ran.err);
}

#[test]
fn a_model_that_deadlocks_is_reported_and_its_goals_are_answered() {
    let blocks =
        "MODULE main\nVAR x : 0..3;\nASSIGN init(x) := 0;\nTRANS x < 2 & next(x) = x + 1\n";
    let ran = answer(
        blocks,
        &["generate", "m.smv", "--cover", "values", "--format", "json"],
    );
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(
        ran.err
            .contains("the relation blocks: no step leads on from the reachable state x = 2"),
        "{}",
        ran.err
    );
    let verdicts: Vec<String> = ran
        .out
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|line| format!("{} {}", line["goal"], line["verdict"]))
        .collect();
    let expected = [
        r#""x = 0" "covered""#,
        r#""x = 1" "covered""#,
        r#""x = 2" "covered""#,
        r#""x = 3" "infeasible""#,
    ];
    for line in expected {
        assert!(verdicts.iter().any(|found| found == line), "{verdicts:?}");
    }
    let none = answer(
        "MODULE main\nVAR x : boolean;\nINIT x\nINIT !x\n",
        &["check", "m.smv"],
    );
    assert_eq!(none.code, 0, "{}", none.all());
    assert!(none.err.contains("no initial state"), "{}", none.err);
}

#[test]
fn a_model_of_four_hundred_bits_stays_within_its_time() {
    let mut text = String::from("MODULE main\nVAR\n");
    for index in 0..400 {
        text.push_str(&format!("  x{index} : boolean;\n"));
    }
    text.push_str("IVAR go : boolean;\nASSIGN\n");
    for index in 0..400 {
        text.push_str(&format!(
            "  init(x{index}) := FALSE;\n  next(x{index}) := case go : x{} xor x{} xor (x{} & !x{}) xor {}; TRUE : x{index}; esac;\n",
            (index * 7 + 3) % 400,
            (index * 13 + 5) % 400,
            (index + 1) % 400,
            (index * 3 + 1) % 400,
            if index == 0 { "TRUE" } else { "FALSE" },
        ));
    }
    // Nobody can answer this in a second: thirty bits come together once in a billion steps, if
    // ever. The answer is that, in time.
    let bits: Vec<String> = (0..30)
        .map(|number| format!("{}x{}", ["", "!"][number % 2], number * 13 + 1))
        .collect();
    let hard = bits.join(" & ");
    let ran = answer(
        &text,
        &[
            "generate",
            "m.smv",
            "--goal",
            &hard,
            "--goal",
            "x0",
            "--time-per-goal",
            "1s",
            "--format",
            "json",
        ],
    );
    assert_eq!(ran.code, 4, "{}", ran.all());
    assert!(ran.out.contains("\"verdict\":\"unknown\""), "{}", ran.out);
    assert!(ran.out.contains("\"verdict\":\"covered\""), "{}", ran.out);
}

#[test]
fn a_line_of_the_answer_has_the_documented_keys() {
    let ran = answer(
        LIGHT,
        &[
            "generate",
            "m.smv",
            "--cover",
            "values,decisions,conditions,mcdc",
            "--format",
            "json",
        ],
    );
    assert_eq!(ran.code, 0, "{}", ran.all());
    for line in ran.out.lines() {
        let json: serde_json::Value = serde_json::from_str(line).unwrap();
        let mut keys: Vec<&String> = json.as_object().unwrap().keys().collect();
        keys.sort_unstable();
        assert_eq!(
            keys,
            ["goal", "length", "method", "seconds", "test", "verdict"]
        );
    }
}

#[test]
fn an_invariant_is_violated_by_a_test_or_proved() {
    let model = format!("{LIGHT}INVARSPEC !broken\nINVARSPEC colour != amber\n");
    let ran = answer(
        &model,
        &[
            "generate",
            "m.smv",
            "--cover",
            "invariants",
            "--format",
            "json",
        ],
    );
    assert_eq!(ran.code, 0, "{}", ran.all());
    let lines: Vec<serde_json::Value> = ran
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 2, "{}", ran.out);
    let verdict = |words: &str| {
        let found = lines
            .iter()
            .find(|line| line["goal"].as_str().unwrap().contains(words));
        found.unwrap()["verdict"].clone()
    };
    assert_eq!(verdict("broken"), "infeasible");
    assert_eq!(verdict("amber"), "covered");
}

/// A lamp whose button is the input, and whose fault, once there, stays.
const LAMP: &str = "MODULE main
VAR
  light : {red, green};
  presses : 0..3;
IVAR button : boolean;
ASSIGN
  init(light) := red;
  next(light) := case button & light = red : green; TRUE : red; esac;
  init(presses) := 0;
  next(presses) := case button & presses < 3 : presses + 1; TRUE : presses; esac;
";

fn lamp(most: u32) -> String {
    format!(
        "import json, sys\n\
         def say(message):\n    print(json.dumps(message), flush=True)\n\
         def state():\n    say({{'response': 'state', 'values': {{'light': light, 'presses': presses}}}})\n\
         for line in sys.stdin:\n    message = json.loads(line)\n    \
         if 'reset' in message:\n        say({{'ready': True}})\n    \
         elif message['stimulus'] == 'start':\n        light, presses = 'red', 0\n        state()\n    \
         else:\n        button = message['values']['button']\n        \
         light = 'green' if button and light == 'red' else 'red'\n        \
         presses = min(presses + 1, {most}) if button else presses\n        state()\n"
    )
}

#[test]
fn the_tests_of_a_model_run_against_a_real_system() {
    let folder = folder();
    fs::write(folder.path().join("lamp.smv"), LAMP).unwrap();
    fs::write(folder.path().join("right.py"), lamp(3)).unwrap();
    fs::write(folder.path().join("wrong.py"), lamp(2)).unwrap();
    let ioco_in = |arguments: &[&str]| run(ioco().current_dir(folder.path()).args(arguments));
    let ran = ioco_in(&[
        "generate",
        "lamp.smv",
        "--cover",
        "values",
        "--minimise",
        "-o",
        "lamp.aml",
    ]);
    assert_eq!(ran.code, 0, "{}", ran.all());
    let checked = ioco_in(&["check", "lamp.aml"]);
    assert_eq!(checked.code, 0, "{}", checked.all());
    let test = |system: &str| {
        let sut = format!("python3 {system}");
        ioco_in(&[
            "test", "lamp.aml", "--sut", &sut, "--tests", "4", "--seed", "1",
        ])
    };
    let right = test("right.py");
    assert_eq!(right.code, 0, "{}", right.all());
    // It never counts to three, which only the whole test shows.
    let wrong = test("wrong.py");
    assert_eq!(wrong.code, 1, "{}", wrong.all());
}

#[test]
fn the_decomposition_of_the_example_is_drawn_as_the_book_shows_it() {
    let folder = folder();
    let model = crate::support::root().join("examples/injection/sis.smv");
    let ran = run(ioco().current_dir(folder.path()).args([
        "convert",
        &model.display().to_string(),
        "-o",
        "tree.svg",
        "--decompose",
        "SafInject = ALERT",
    ]));
    assert_eq!(ran.code, 0, "{}", ran.all());
    let drawn = fs::read_to_string(folder.path().join("tree.svg")).unwrap();
    let book = crate::support::root().join("book/src/nusmv-decomposition.svg");
    let book = fs::read_to_string(book).unwrap();
    assert_eq!(drawn, book, "write book/src/nusmv-decomposition.svg anew");
}

#[test]
fn the_suite_of_a_model_runs_against_the_example_system_and_finds_its_mutant() {
    let folder = folder();
    let example = crate::support::root().join("examples/injection");
    let model = example.join("model.smv").display().to_string();
    let ioco_in = |arguments: &[&str]| run(ioco().current_dir(folder.path()).args(arguments));
    let ran = ioco_in(&[
        "generate",
        &model,
        "--cover",
        "values,decisions",
        "--minimise",
        "-o",
        "tests.aml",
    ]);
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(
        ran.err
            .contains("ioco test tests.aml --suite tests.jsonl --sut 'COMMAND'"),
        "{}",
        ran.err
    );
    let test = |more: &str| {
        let sut = format!("python3 {}/system.py{more}", example.display());
        ioco_in(&[
            "test",
            "tests.aml",
            "--suite",
            "tests.jsonl",
            "--sut",
            &sut,
            "--seed",
            "1",
        ])
    };
    let right = test("");
    assert_eq!(right.code, 0, "{}", right.all());
    assert!(
        right.out.contains("0 failed, 0 inconclusive"),
        "{}",
        right.all()
    );
    let mutant = test(" --mutant");
    assert_eq!(mutant.code, 1, "{}", mutant.all());
}

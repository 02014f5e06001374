//! `ioco test --suite`, and suites as files for other test runners, which are really run.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::{PING, PONG, Ran, TempDir, example_program, folder, ioco, patient, root, run};

fn model(name: &str) -> std::path::PathBuf {
    let path = root().join("examples").join(name).join("model.aml");
    path.canonicalize().expect("the model is there")
}

fn generate(folder: &TempDir, name: &str, arguments: &[&str]) -> Ran {
    let ran = run(ioco()
        .current_dir(folder.path())
        .arg("generate")
        .arg(model(name))
        .args(arguments));
    assert_eq!(ran.code, 0, "{}", ran.all());
    ran
}

fn system(name: &str, mutant: Option<&str>) -> String {
    let program = example_program().display();
    match mutant {
        Some(mutant) => format!("exec {program} {name} --mutant {mutant}"),
        None => format!("exec {program} {name}"),
    }
}

fn test(folder: &TempDir, name: &str, system: &str, more: &[&str]) -> Ran {
    run(ioco()
        .current_dir(folder.path())
        .arg("test")
        .arg(model(name))
        .args(["--suite", "suite.jsonl", "--sut", system, "--seed", "1"])
        .args(more))
}

#[test]
fn the_answer_to_a_query_runs_on_the_right_system_and_fails_on_a_mutant() {
    let folder = folder();
    let query = root().join("examples/blockbuster/figure4.query");
    let query = query.display().to_string();
    generate(
        &folder,
        "blockbuster",
        &["--query", &query, "--seed", "1", "-o", "suite.jsonl"],
    );
    let ran = test(&folder, "blockbuster", &system("blockbuster", None), &[]);
    assert_eq!(ran.code, 0, "{}", ran.all());
    // Both transactions were seen.
    assert!(ran.out.contains("1 passed"), "{}", ran.all());
    let mutant = system("blockbuster", Some("m09"));
    let ran = test(&folder, "blockbuster", &mutant, &["--no-known"]);
    assert_eq!(ran.code, 1, "{}", ran.all());
}

#[test]
fn a_test_for_the_outcome_of_a_guard_says_so_and_is_planned_anew() {
    let folder = folder();
    generate(
        &folder,
        "calculator",
        &["--cover", "decisions", "-o", "suite.jsonl"],
    );
    let text = fs::read_to_string(folder.path().join("suite.jsonl")).expect("the suite");
    assert!(text.contains(r#"{"goal":{"decision":{"switch":"#), "{text}");
    let ran = test(&folder, "calculator", &system("calculator", None), &[]);
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(ran.out.contains("guard"), "{}", ran.all());
    // The system may double a result or not: another plan is found where it does otherwise.
    assert!(
        ran.out.contains("0 failed, 0 inconclusive"),
        "{}",
        ran.all()
    );
}

#[test]
fn a_suite_for_coverage_runs_on_the_right_system_and_finds_mutants() {
    let folder = folder();
    generate(
        &folder,
        "smartdoor",
        &["--cover", "locations", "-o", "suite.jsonl"],
    );
    let ran = test(&folder, "smartdoor", &system("smartdoor", None), &[]);
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(
        ran.out.contains("0 failed, 0 inconclusive"),
        "{}",
        ran.all()
    );
    let mutants = ioco_examples::mutants("smartdoor");
    let found = mutants.iter().take(3).filter(|mutant| {
        test(
            &folder,
            "smartdoor",
            &system("smartdoor", Some(mutant.0)),
            &["--no-known"],
        )
        .code
            == 1
    });
    assert!(found.count() >= 2);
    // Kept as every failure is.
    assert!(
        folder
            .path()
            .join(".ioco/failures")
            .read_dir()
            .expect("failures")
            .count()
            > 0
    );
}

#[test]
fn a_complete_suite_of_traces_runs() {
    let folder = folder();
    generate(
        &folder,
        "calculator",
        &["--traces", "3", "-o", "suite.jsonl"],
    );
    let ran = test(&folder, "calculator", &system("calculator", None), &[]);
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(ran.out.contains("trace"), "{}", ran.all());
}

#[test]
fn the_system_may_choose_and_the_test_is_planned_anew() {
    // The machine gives tea or coffee as it likes; this one gives tea twice first.
    let text = "
timeout 0.2
external 'm'
process('m') {
  channel('m') { stimulus 'coin'; responses 'tea', 'coffee' }
  state 'A'
  receive 'coin'
  choice {
    o { send 'tea'; goto 'A' }
    o { send 'coffee'; goto 'B' }
  }
  state 'B'
}
";
    let program = "
import json, sys
coins = 0
for line in sys.stdin:
    message = json.loads(line)
    if 'reset' in message:
        coins = 0
        print(json.dumps({'ready': True}), flush=True)
    else:
        coins += 1
        name = sys.argv[1 if coins < 3 else 2]
        print(json.dumps({'response': name, 'values': {}}), flush=True)
";
    let folder = folder();
    fs::write(folder.path().join("m.aml"), patient(text)).expect("written");
    fs::write(folder.path().join("system.py"), program).expect("written");
    let generated = run(ioco().current_dir(folder.path()).args([
        "generate",
        "m.aml",
        "--cover",
        "locations",
        "-o",
        "suite.jsonl",
    ]));
    assert_eq!(generated.code, 0, "{}", generated.all());
    let with = |first: &str, then: &str| {
        let system = format!("exec python3 system.py {first} {then}");
        run(ioco().current_dir(folder.path()).args([
            "test",
            "m.aml",
            "--suite",
            "suite.jsonl",
            "--no-known",
            "--sut",
            &system,
        ]))
    };
    let ran = with("tea", "coffee");
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(ran.out.contains("0 inconclusive"), "{}", ran.all());
    // Tea for ever is right, and never what the test is for.
    let ran = with("tea", "tea");
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(!ran.out.contains("0 inconclusive"), "{}", ran.all());
    let ran = with("soup", "soup");
    assert_eq!(ran.code, 1, "{}", ran.all());
}

#[test]
fn a_suite_for_another_text_of_the_model_names_none_of_its_goals() {
    let folder = folder();
    let model = PING.replace("stimulus 'ping'", "stimulus 'ping'\n    stimulus 'poke'");
    let both = model.replace("o { receive", "o { receive 'poke' }\n    o { receive");
    fs::write(folder.path().join("ping.aml"), &both).expect("written");
    fs::write(folder.path().join("system.py"), PONG).expect("written");
    let here = |arguments: &[&str]| run(ioco().current_dir(folder.path()).args(arguments));
    let goals = ["--cover", "switches", "--seed", "1", "-o", "suite.jsonl"];
    let ran = here(&[&["generate", "ping.aml"][..], &goals].concat());
    assert_eq!(ran.code, 0, "{}", ran.all());
    let sut = ["--sut", "exec python3 system.py", "--seed", "1"];
    let suite = ["test", "ping.aml", "--suite", "suite.jsonl"];
    let ran = here(&[&suite[..], &sut].concat());
    assert!(ran.out.contains("switch "), "{}", ran.all());
    // Without the first switch all others have other numbers.
    fs::write(folder.path().join("ping.aml"), model).expect("written");
    for jobs in ["1", "2"] {
        let ran = here(&[&suite[..], &sut, &["--jobs", jobs]].concat());
        assert!(ran.err.contains("the model has changed"), "{}", ran.all());
        assert!(ran.err.contains("are not shown"), "{}", ran.all());
        assert!(ran.out.contains("  test 1  "), "{}", ran.all());
        assert!(!ran.out.contains("switch "), "{}", ran.all());
    }
}

#[test]
fn suites_that_do_not_fit_are_refused() {
    let folder = folder();
    let file = folder.path().join("suite.jsonl");
    for (text, said) in [
        ("", "the suite is empty"),
        ("{\"steps\":[]}\n", "not the first line of a suite"),
        ("{\"suite\":9,\"model\":\"x\",\"hash\":\"\"}\n", "version 9"),
        (
            "{\"suite\":1,\"model\":\"Calculator\",\"hash\":\"\"}\n{\"steps\":[{\"stimulus\":\"z\"}]}\n",
            "line 2: the model has no ?z",
        ),
        (
            "{\"suite\":1,\"model\":\"Door\",\"hash\":\"\"}\n{\"steps\":[]}\n",
            "is a suite for 'Door'",
        ),
    ] {
        fs::write(&file, text).expect("written");
        let ran = test(&folder, "calculator", &system("calculator", None), &[]);
        assert_eq!(ran.code, 2, "{text}: {}", ran.all());
        assert!(ran.err.contains(said), "{text}: {}", ran.err);
    }
}

#[test]
fn a_suite_for_people() {
    let folder = folder();
    let query = "within 3 steps\n?x(value=2)\n?y(value=5)\n!result(value=20)\n";
    fs::write(folder.path().join("door.query"), query).expect("written");
    generate(
        &folder,
        "calculator",
        &["--query", "door.query", "-o", "suite.feature"],
    );
    let text = fs::read_to_string(folder.path().join("suite.feature")).expect("a suite");
    assert_eq!(
        text,
        "Feature: Calculator

  Scenario: 1 an answer to the query
    Given the system is reset
    When \"x\" with value = 2 is given
    And \"y\" with value = 5 is given
    Then \"result\" with value = 20 is seen
      # or \"result\" with value = 14 is observed: allowed, but not what the test is for
"
    );
}

/// Runs a stand-alone suite against the right system and against a mutant: whether it passes.
fn verdicts(name: &str, mutant: &str, mut run_file: impl FnMut(&Path, &str) -> bool, ending: &str) {
    let folder = folder();
    let file = format!("suite.{ending}");
    generate(&folder, name, &["--cover", "locations", "-o", &file]);
    let file = folder.path().join(file);
    assert!(
        run_file(&file, &system(name, None)),
        "the right system passes"
    );
    assert!(
        !run_file(&file, &system(name, Some(mutant))),
        "the mutant fails"
    );
}

#[test]
fn a_pytest_file_judges_without_ioco() {
    let python = std::env::var("IOCO_TEST_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let answers = Command::new(&python)
        .args(["-m", "pytest", "--version"])
        .output();
    if !answers.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: pytest is not here (cargo xtask test installs it)");
        return;
    }
    verdicts(
        "smartdoor",
        "m01",
        |file, system| {
            let output = Command::new(&python)
                .args(["-m", "pytest", "-q", "-p", "no:cacheprovider"])
                .arg(file)
                .env("IOCO_SUT", system)
                .output()
                .expect("pytest starts");
            println!("{}", String::from_utf8_lossy(&output.stdout));
            output.status.success()
        },
        "py",
    );
}

#[test]
fn a_rust_file_judges_without_ioco() {
    verdicts(
        "smartdoor",
        "m01",
        |file, system| {
            let program = file.with_extension("program");
            let built = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
                // As the file says: no edition, and that is the oldest. Another test takes the newest.
                .args(["-D", "warnings", "--test", "-o"])
                .args([&program, &file.to_path_buf()])
                .output()
                .expect("rustc starts");
            assert!(
                built.status.success(),
                "{}",
                String::from_utf8_lossy(&built.stderr)
            );
            let output = Command::new(program)
                .env("IOCO_SUT", system)
                .output()
                .expect("the tests start");
            let said = String::from_utf8_lossy(&output.stdout);
            let names_a_step = said
                .split("step ")
                .any(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
            assert!(output.status.success() || names_a_step, "{said}");
            output.status.success()
        },
        "rs",
    );
}

#[test]
fn a_suite_takes_the_place_of_a_strategy_that_ioco_toml_names() {
    let folder = folder();
    run(ioco().current_dir(folder.path()).args(["new", "door"]));
    let door = folder.path().join("door");
    let settings = fs::read_to_string(door.join("ioco.toml")).expect("settings");
    let named = settings.replace("[test]\n", "[test]\nstrategy = \"transitions\"\n");
    assert_ne!(named, settings);
    fs::write(door.join("ioco.toml"), named).expect("written");
    let cover = ["generate", "--cover", "switches", "-o", "suite.jsonl"];
    // Values with which the planted bug shows.
    run(ioco().current_dir(&door).args(cover).args(["--seed", "2"]));
    let suite = ["test", "--suite", "suite.jsonl", "--no-shrink"];
    let ran = run(ioco().current_dir(&door).args(suite));
    assert_eq!(ran.code, 1, "the planted bug: {}", ran.all());
    let both = run(ioco()
        .current_dir(&door)
        .args(suite)
        .args(["--strategy", "random"]));
    assert_eq!(both.code, 2, "{}", both.all());
}

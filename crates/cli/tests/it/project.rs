//! The first project: made, tested, repaired, replayed.

use std::fs;

use crate::support::{PING, PONG, folder, folder_with, ioco, run};

#[test]
fn a_new_project_finds_its_planted_bug_and_sees_it_fixed() {
    let folder = folder();
    let door = folder.path().join("door");
    let ran = run(ioco().current_dir(folder.path()).args(["new", "door"]));
    assert_eq!(ran.code, 0, "{}", ran.all());

    let ran = run(ioco().current_dir(&door).arg("check"));
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert_eq!(
        run(ioco()
            .current_dir(&door)
            .args(["fmt", "--check", "door.aml"]))
        .code,
        0
    );

    let ran = run(ioco().current_dir(&door).arg("test"));
    assert_eq!(ran.code, 1, "{}", ran.all());
    for words in [
        "D001 unexpected response",
        "door.aml:",
        "expected",
        "because",
    ] {
        assert!(ran.out.contains(words), "no '{words}' in\n{}", ran.out);
    }
    let failures: Vec<_> = fs::read_dir(door.join(".ioco/failures"))
        .unwrap()
        .flatten()
        .collect();
    assert_eq!(failures.len(), 1);
    let id = failures[0]
        .path()
        .file_stem()
        .unwrap()
        .to_string_lossy()
        .into_owned();

    let ran = run(ioco()
        .current_dir(&door)
        .args(["replay", &id[..4], "--times", "2"]));
    assert_eq!(ran.code, 1, "{}", ran.all());
    assert!(
        ran.out.contains("still failing: 2 of 2 runs"),
        "{}",
        ran.out
    );

    let ran = run(ioco()
        .current_dir(&door)
        .args(["coverage", "-o", "coverage.svg"]));
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(
        fs::read_to_string(door.join("coverage.svg"))
            .unwrap()
            .contains("<svg")
    );

    // The known failure runs first and is found at once.
    let ran = run(ioco().current_dir(&door).arg("test"));
    assert_eq!(ran.code, 1, "{}", ran.all());
    assert!(ran.out.contains("known from an earlier run"), "{}", ran.out);

    let program = fs::read_to_string(door.join("door.py")).unwrap();
    let repaired = program.replace(
        "            if self.code is None:\n                self.code = values[\"code\"]\n",
        "            self.code = values[\"code\"]\n",
    );
    assert_ne!(
        program, repaired,
        "the planted bug is where the test expects it"
    );
    fs::write(door.join("door.py"), repaired).unwrap();

    let ran = run(ioco().current_dir(&door).args(["replay", &id]));
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(ran.out.contains("fixed"), "{}", ran.out);
    let ran = run(ioco().current_dir(&door).args(["test", "--tests", "30"]));
    assert_eq!(ran.code, 0, "{}", ran.all());
}

#[test]
fn a_failure_is_known_to_the_model_that_found_it_and_to_no_other() {
    let strict = PING.replace("process('ping')", "process('main')");
    let lenient = strict
        .replace("response 'pong'", "response 'pong'\n    response 'quack'")
        .replace(
            "o { receive 'ping'; send 'pong' }",
            "o { receive 'ping'; send 'pong' }\n    o { receive 'ping'; send 'quack' }",
        );
    let here = folder_with(&[
        ("one.aml", &strict),
        ("two.aml", &lenient),
        ("system.py", PONG),
    ]);
    let test = |model: &str| {
        run(ioco()
            .current_dir(here.path())
            .args(["test", model, "--sut", "exec python3 system.py quack"])
            .args(["--seed", "1", "--tests", "2", "--steps", "6"]))
    };
    let ran = test("one.aml");
    assert_eq!(ran.code, 1, "{}", ran.all());
    // It allows what the other does not: that the failure passes there means nothing.
    let ran = test("two.aml");
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(!ran.all().contains("known"), "{}", ran.all());
    // The same file by another way, and with another text, is the same model.
    fs::write(here.path().join("one.aml"), format!("{strict}# more\n")).unwrap();
    let ran = test("./one.aml");
    assert_eq!(ran.code, 1, "{}", ran.all());
    assert!(
        ran.all().contains("known from an earlier run"),
        "{}",
        ran.all()
    );
}

#[test]
fn the_same_seed_gives_the_same_failure() {
    let folder = folder();
    run(ioco().current_dir(folder.path()).args(["new", "door"]));
    let door = folder.path().join("door");
    let once = run(ioco()
        .current_dir(&door)
        .args(["test", "--no-known", "--seed", "5"]));
    let twice = run(ioco()
        .current_dir(&door)
        .args(["test", "--no-known", "--seed", "5"]));
    let chart = |text: &str| {
        text.lines()
            .filter(|line| line.contains("──"))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert!(!chart(&once.out).is_empty());
    assert_eq!(chart(&once.out), chart(&twice.out));
}

#[test]
fn a_folder_that_is_in_use_is_not_touched() {
    let folder = folder();
    let door = folder.path().join("door");
    fs::create_dir(&door).unwrap();
    fs::write(door.join("door.aml"), "mine").unwrap();
    let ran = run(ioco().current_dir(folder.path()).args(["new", "door"]));
    assert_eq!(ran.code, 2, "{}", ran.all());
    assert_eq!(fs::read_to_string(door.join("door.aml")).unwrap(), "mine");
}

#[test]
fn mistakes_in_the_project_file_are_shown_with_their_line() {
    let folder = folder();
    fs::write(
        folder.path().join("ioco.toml"),
        "model = \"m.aml\"\n[test]\nstep = 3\n",
    )
    .unwrap();
    let ran = run(ioco().current_dir(folder.path()).arg("test"));
    assert_eq!(ran.code, 2, "{}", ran.all());
    assert!(
        ran.err.contains("step") && ran.err.contains('3'),
        "{}",
        ran.err
    );
    fs::remove_file(folder.path().join("ioco.toml")).unwrap();
    let ran = run(ioco().current_dir(folder.path()).arg("test"));
    assert_eq!(ran.code, 2, "{}", ran.all());
    assert!(ran.err.contains("ioco new"), "{}", ran.err);
}

#[test]
fn a_coverage_goal_that_is_missed_has_its_own_exit_code() {
    let folder = folder();
    run(ioco().current_dir(folder.path()).args(["new", "door"]));
    let door = folder.path().join("door");
    let short = [
        "test",
        "--coverage",
        "100",
        "--tests",
        "1",
        "--steps",
        "2",
        "--seed",
        "3",
    ];
    let ran = run(ioco().current_dir(&door).args(short));
    assert_eq!(ran.code, 4, "{}", ran.all());
}

#[test]
fn a_reader_that_goes_away_does_not_change_the_exit_code() {
    let folder = folder();
    run(ioco().current_dir(folder.path()).args(["new", "door"]));
    let script = format!(
        "set -o pipefail; {} test | true",
        env!("CARGO_BIN_EXE_ioco")
    );
    let status = std::process::Command::new("bash")
        .current_dir(folder.path().join("door"))
        .args(["-c", &script])
        .output()
        .expect("bash starts")
        .status;
    assert_eq!(status.code(), Some(1));
}

#[test]
fn known_failures_come_on_top_of_the_tests_asked_for() {
    let folder = folder();
    run(ioco().current_dir(folder.path()).args(["new", "door"]));
    let door = folder.path().join("door");
    assert_eq!(run(ioco().current_dir(&door).arg("test")).code, 1);
    let program = fs::read_to_string(door.join("door.py")).unwrap();
    let repaired = program.replace("if self.code is None:", "if True:");
    fs::write(door.join("door.py"), repaired).unwrap();
    let ran = run(ioco().current_dir(&door).args(["test", "--tests", "1"]));
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(ran.out.contains("2 tests (2 passed"), "{}", ran.out);
}

#[test]
fn flags_that_make_no_sense_are_refused_before_anything_runs() {
    let folder = folder();
    run(ioco().current_dir(folder.path()).args(["new", "door"]));
    let door = folder.path().join("door");
    for flags in [
        ["--shrinker", "magic"],
        ["--timeout", "0"],
        ["--coverage", "101"],
        ["--coverage", "NaN"],
        ["--tests", "0"],
        ["--steps", "0"],
        ["--weight", "fly=3"],
        ["--profile", "none"],
    ] {
        let ran = run(ioco().current_dir(&door).arg("test").args(flags));
        assert_eq!(ran.code, 2, "{flags:?}: {}", ran.all());
        assert!(
            !door.join(".ioco/ioco.db").exists(),
            "{flags:?} started a run"
        );
    }
}

#[test]
fn requirements_are_listed_counted_and_named_by_the_failure_that_touches_them() {
    let folder = folder();
    run(ioco().current_dir(folder.path()).args(["new", "door"]));
    let door = folder.path().join("door");
    let model = fs::read_to_string(door.join("door.aml")).unwrap();
    let cited = model
        .replace(
            "process('door') {",
            "requirement 'R-2', 'Nobody asks for it.'\nprocess('door') {",
        )
        .replace(
            "  state 'closed'\n  repeat {",
            "  state 'closed'\n  requirement 'R-1', 'A closed door opens.'\n  repeat {",
        )
        .replace(
            "  state 'locked'\n  repeat {",
            "  state 'locked'\n  requirement 'R-3', 'A wrong code is refused.'\n  repeat {",
        );
    fs::write(door.join("door.aml"), cited).unwrap();
    let ran = run(ioco().current_dir(&door).arg("check"));
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(ran.out.contains("R-1  ") && ran.out.contains("A closed door opens."));
    assert!(ran.err.contains("A090"), "{}", ran.err);
    let ran = run(ioco()
        .current_dir(&door)
        .args(["test", "--seed", "1", "--tests", "200"]));
    assert_eq!(ran.code, 1, "{}", ran.all());
    assert!(
        ran.out.contains("showed 2 of 3 requirements; not R-2"),
        "{}",
        ran.all()
    );
    assert!(
        ran.out.contains("it touches the requirement R-"),
        "{}",
        ran.all()
    );
    // The page and the html report have them as well: in the run, and in the failure.
    let reported = run(ioco()
        .current_dir(&door)
        .args(["report", "--format", "json"]));
    let report: serde_json::Value = serde_json::from_str(&reported.out).expect("a report");
    let cited = report["run"]["requirements"].as_array().expect("rows");
    let row = |id: &str| cited.iter().find(|row| row["id"] == id).expect("a row");
    assert_eq!(cited.len(), 3, "{cited:?}");
    assert_eq!(row("R-2")["steps"], 0);
    assert!(row("R-1")["steps"].as_u64() > Some(0), "{cited:?}");
    assert_eq!(row("R-1")["text"], "A closed door opens.");
    let touched = report["failures"][0]["requirements"]
        .as_array()
        .expect("names");
    assert!(
        touched.iter().any(|id| id == "R-1" || id == "R-3"),
        "{touched:?}"
    );
    // Warnings take one line here, and none where the project allows them.
    assert!(ran.err.contains("1 warning (A090)"), "{}", ran.err);
    let project = fs::read_to_string(door.join("ioco.toml")).unwrap();
    for (code, exit) in [("A090", 0), ("A999", 2)] {
        let allowed = format!("{project}\n[check]\nallow = [\"{code}\"]\n");
        fs::write(door.join("ioco.toml"), allowed).unwrap();
        let ran = run(ioco().current_dir(&door).arg("check"));
        assert_eq!(ran.code, exit, "{}", ran.all());
        assert_eq!(ran.err.contains("1 allowed"), exit == 0, "{}", ran.err);
    }
}

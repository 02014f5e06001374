//! The history of runs.

use std::fs;
use std::path::Path;

use serde_json::Value as Json;

use crate::support::{PING, PONG, Ran, TempDir, folder, ioco, run};

fn project() -> TempDir {
    let folder = folder();
    fs::write(folder.path().join("ping.aml"), PING).unwrap();
    fs::write(folder.path().join("system.py"), PONG).unwrap();
    folder
}

fn test(folder: &Path, answer: &str, more: &[&str]) -> Ran {
    let system = format!("exec python3 system.py {answer}");
    run(ioco()
        .current_dir(folder)
        .args(["test", "ping.aml", "--sut", &system, "--no-known"])
        .args(["--tests", "3", "--steps", "6"])
        .args(more))
}

fn ask(folder: &Path, arguments: &[&str]) -> Ran {
    run(ioco().current_dir(folder).args(arguments))
}

fn asked(folder: &Path, arguments: &[&str]) -> String {
    let ran = ask(folder, arguments);
    assert_eq!(ran.code, 0, "{arguments:?}: {}", ran.all());
    ran.out
}

#[test]
fn runs_are_listed_shown_compared_and_forgotten() {
    let folder = project();
    let here = folder.path();
    assert_eq!(ask(here, &["runs"]).err, "no runs\n");
    assert!(!here.join(".ioco").exists(), "asking leaves nothing behind");
    assert_eq!(test(here, "pong", &["--seed", "1"]).code, 0);
    let failed = test(here, "pang", &["--seed", "2"]);
    assert_eq!(failed.code, 1);
    assert!(failed.err.contains("; run 2"), "{}", failed.all());
    let listed = asked(here, &["runs"]);
    let lines: Vec<Vec<&str>> = listed
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(lines.len(), 3, "{listed}");
    assert_eq!(lines[1][0], "2");
    assert_eq!(lines[2][..1], ["1"]);
    assert_eq!(lines[1][3], "FAIL");
    assert_eq!(lines[2][2..5], ["ping", "PASS", "3"]);
    let shown = asked(here, &["runs", "show", "2"]);
    assert!(shown.contains("seed 2, strategy auto"), "{shown}");
    assert!(
        shown.contains("D001 unexpected response: the ping sent !pang"),
        "{shown}"
    );
    assert_eq!(asked(here, &["runs", "show"]), shown, "the newest");
    let compared = asked(here, &["runs", "compare", "1", "2"]);
    assert!(compared.contains("new failures: 1"), "{compared}");
    let compared = asked(here, &["runs", "compare", "2", "1"]);
    assert!(
        compared.contains("failures that no longer occur: 1"),
        "{compared}"
    );
    let ran = ask(here, &["runs", "prune"]);
    assert_eq!(ran.code, 2, "{}", ran.all());
    assert!(ran.err.contains("--keep 20"), "{}", ran.all());
    let ran = ask(here, &["runs", "prune", "--keep", "1"]);
    assert_eq!(ran.err, "forgotten: 1 run\n");
    let ran = ask(here, &["runs", "show", "1"]);
    assert_eq!(ran.code, 2, "{}", ran.all());
    assert!(ran.err.contains("there is no run 1"), "{}", ran.all());
    // The failure stays where it can be replayed.
    assert_eq!(
        fs::read_dir(here.join(".ioco/failures")).unwrap().count(),
        1
    );
}

#[test]
fn runs_are_also_there_as_json() {
    let folder = project();
    let here = folder.path();
    test(here, "pang", &["--seed", "2"]);
    let listed = asked(here, &["runs", "--format", "json"]);
    let row: Json = serde_json::from_str(&listed).unwrap();
    assert_eq!((&row["run"], &row["model"]), (&"1".into(), &"ping".into()));
    let shown = asked(here, &["runs", "show", "1", "--format", "json"]);
    let shown: Json = serde_json::from_str(&shown).unwrap();
    assert_eq!(shown["failures"][0]["code"], "D001");
    assert_eq!(shown["tests"][0]["verdict"], "fail");
    let compared = asked(here, &["runs", "compare", "1", "1", "--format", "json"]);
    let compared: Json = serde_json::from_str(&compared).unwrap();
    assert_eq!(compared["same_failures"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_damaged_or_newer_store_stops_the_run_before_it_begins_and_stays_as_it_is() {
    let folder = project();
    let here = folder.path();
    fs::create_dir(here.join(".ioco")).unwrap();
    let file = here.join(".ioco/ioco.db");
    let text = "this is no database, and it is long enough to be seen as one that is damaged";
    fs::write(&file, text).unwrap();
    let asked: [&[&str]; 2] = [&["runs"], &["report"]];
    for ran in [
        test(here, "pong", &[]),
        ask(here, asked[0]),
        ask(here, asked[1]),
    ] {
        assert_eq!(ran.code, 2, "{}", ran.all());
        assert!(ran.err.contains("ioco.db is damaged"), "{}", ran.all());
        assert!(ran.err.contains("does not overwrite it"), "{}", ran.all());
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
}

#[test]
fn a_store_is_upgraded_by_a_command_and_one_of_a_newer_program_is_refused_with_what_to_do() {
    let folder = project();
    let here = folder.path();
    // As a program of an earlier day wrote it.
    let old = include_str!("../../../store/tests/version-1.sql");
    fs::create_dir(here.join(".ioco")).unwrap();
    let change = |text: &str| {
        let script = "import sqlite3, sys\n\
                      store = sqlite3.connect('.ioco/ioco.db')\n\
                      store.executescript(sys.argv[1])\nstore.close()\n";
        let done = std::process::Command::new("python3")
            .current_dir(here)
            .args(["-c", script, text])
            .status();
        assert!(done.expect("python runs").success());
    };
    change(old);
    let ran = ask(here, &["store", "migrate"]);
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(ran.all().contains("up to date"), "{}", ran.all());
    let listed = asked(here, &["runs"]);
    assert!(listed.contains("ping"), "{listed}");
    // A program that knows one migration more was here.
    change(
        "INSERT INTO _sqlx_migrations VALUES (99, 'more', '2026-01-01', 1, X'00', 0);\n\
         CREATE TABLE more (a BIGINT);",
    );
    let file = here.join(".ioco/ioco.db");
    let before = fs::read(&file).unwrap();
    for ran in [
        ask(here, &["store", "migrate"]),
        ask(here, &["runs"]),
        test(here, "pong", &[]),
    ] {
        assert_eq!(ran.code, 2, "{}", ran.all());
        assert!(ran.err.contains("newer ioco"), "{}", ran.all());
        assert!(ran.err.contains("nothing was changed"), "{}", ran.all());
    }
    assert!(before == fs::read(&file).unwrap(), "it was changed");
}

#[test]
fn a_failure_that_only_the_store_has_can_be_replayed() {
    let folder = project();
    let here = folder.path();
    assert_eq!(test(here, "pang", &["--seed", "2"]).code, 1);
    let file = fs::read_dir(here.join(".ioco/failures"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let id = file.file_stem().unwrap().to_string_lossy().into_owned();
    fs::remove_file(&file).unwrap();
    let ran = ask(here, &["replay", &id]);
    assert_eq!(ran.code, 1, "{}", ran.all());
    assert!(file.exists());
    assert_eq!(ask(here, &["replay", "nothing"]).code, 2);
}

#[test]
fn a_team_keeps_its_runs_in_one_database() {
    let Ok(server) = std::env::var("IOCO_TEST_POSTGRES") else {
        eprintln!("skipped: IOCO_TEST_POSTGRES names no PostgreSQL server");
        return;
    };
    let base = server
        .rsplit_once('/')
        .expect("a database in the address")
        .0;
    let name = format!("team_{}", std::process::id());
    let made = run(std::process::Command::new("psql")
        .arg(&server)
        .args(["-c", &format!("CREATE DATABASE {name}")]));
    assert_eq!(made.code, 0, "{}", made.all());
    let url = format!("{base}/{name}");
    let (one, two) = (project(), project());
    let toml = format!("model = \"ping.aml\"\n[store]\nurl = \"{url}\"\n");
    fs::write(one.path().join("ioco.toml"), toml).unwrap();
    assert_eq!(
        test(one.path(), "pang", &["--seed", "2", "--trust"]).code,
        1
    );
    assert_eq!(
        test(two.path(), "pong", &["--seed", "3", "--store", &url]).code,
        0
    );
    for (folder, more) in [(&one, &[][..]), (&two, &["--store", url.as_str()][..])] {
        assert!(!folder.path().join(".ioco/ioco.db").exists());
        let listed = asked(folder.path(), &[&["runs"], more].concat());
        assert_eq!(listed.lines().count(), 3, "{listed}");
        let shown = asked(folder.path(), &[&["runs", "show", "1"], more].concat());
        assert!(
            shown.contains("D001 unexpected response: the ping sent !pang"),
            "{shown}"
        );
    }
    let wrong = test(
        one.path(),
        "pong",
        &["--store", "postgres://u:secret@127.0.0.1:1/x"],
    );
    assert_eq!(wrong.code, 2, "{}", wrong.all());
    assert!(wrong.err.contains("cannot be reached"), "{}", wrong.all());
    assert!(!wrong.all().contains("secret"), "{}", wrong.all());
}

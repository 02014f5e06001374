//! What becomes of failures over runs: the same one is recorded once, keeps its ids, and is new,
//! confirmed, accepted or fixed.

use std::fs;
use std::path::Path;

use serde_json::Value as Json;

use crate::support::{PING, PONG, Ran, TempDir, folder, folder_with, ioco, run};

/// A project whose door keeps the code that it was first locked with.
fn door() -> TempDir {
    let folder = folder();
    let made = run(ioco().current_dir(folder.path()).args(["new", "door"]));
    assert_eq!(made.code, 0, "{}", made.all());
    folder
}

fn ask(folder: &TempDir, arguments: &[&str]) -> Ran {
    let place = folder.path().join("door");
    run(ioco().current_dir(place).args(arguments))
}

fn failures(folder: &TempDir) -> Vec<Json> {
    let listed = ask(folder, &["failures", "--all", "--format", "json"]);
    assert_eq!(listed.code, 0, "{}", listed.all());
    let lines = listed.out.lines();
    lines
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

fn document(folder: &TempDir, run: &str) -> Json {
    let report = ask(folder, &["report", run, "--format", "json"]);
    serde_json::from_str(&report.out).expect("JSON")
}

fn repair(place: &Path) {
    let file = place.join("door.py");
    let text = fs::read_to_string(&file).expect("the door");
    let line = "if self.code is None:\n                self.code";
    let repaired = text.replace(line, "self.code");
    assert_ne!(repaired, text, "{text}");
    fs::write(file, repaired).expect("the repaired door");
}

#[test]
fn failures_that_shrink_to_the_same_are_one() {
    let folder = door();
    for (seed, failures) in [("1", "1"), ("7", "0")] {
        let ran = ask(
            &folder,
            &[
                "test",
                "--no-known",
                "--any",
                "--strategy",
                "random",
                "--seed",
                seed,
                "--failures",
                failures,
            ],
        );
        assert_eq!(ran.code, 1, "{}", ran.all());
    }
    let all = failures(&folder);
    assert_eq!(all.len(), 1, "{all:?}");
    let [one] = all.as_slice() else { return };
    assert_eq!(one["status"], "confirmed");
    assert_eq!(one["seen_in"], 2);
    assert_eq!((&one["run"], &one["last_run"]), (&"1".into(), &"2".into()));
    // Both ways in which tests showed it are this one, in the report too.
    let report = document(&folder, "2");
    assert_eq!(report["run"]["failures"], 1);
    assert_eq!(report["run"]["verdict"], "fail");
    assert_eq!(report["failures"].as_array().map(Vec::len), Some(1));
    let rows = report["run"]["tests_listed"].as_array().expect("tests");
    let failed: Vec<&Json> = rows.iter().filter(|row| row["verdict"] == "fail").collect();
    assert!(failed.iter().all(|row| row["failure"] == one["id"]));
    assert_eq!(one["tests"], failed.len() + 1);
    let runs = ask(&folder, &["runs"]);
    assert!(runs.out.contains("FAIL"), "{}", runs.out);
}

#[test]
fn each_test_is_given_to_the_failure_that_it_showed() {
    let folder = door();
    let ran = ask(&folder, &["test", "--seed", "2", "--failures", "0"]);
    assert_eq!(ran.code, 1, "{}", ran.all());
    let report = document(&folder, "1");
    // One is seen as the other is shrunk, and the other way round.
    assert_eq!(report["run"]["failures"], 2);
    let junit = ask(&folder, &["report", "--format", "junit"]).out;
    let rows = report["run"]["tests_listed"].as_array().expect("tests");
    for failure in failures(&folder) {
        let id = failure["id"].as_str().expect("an id");
        let tests = rows.iter().filter(|row| row["failure"] == id).count();
        assert_eq!(failure["tests"], tests);
        assert!(tests > 1, "{failure}");
        // The test that it is kept for has the whole story instead.
        let told = junit.matches(&format!("shrunk and kept as {id}")).count();
        assert_eq!(told, tests - 1);
    }
    // The curve goes as far as the run went.
    let last = report["run"]["trend"].as_array().and_then(|t| t.last());
    assert_eq!(
        last.map(|point| &point["steps"]),
        Some(&report["run"]["steps"])
    );
}

#[test]
fn a_failure_that_is_shrunk_keeps_its_old_id() {
    let folder = door();
    let ran = ask(&folder, &["test", "--seed", "2", "--no-shrink"]);
    assert_eq!(ran.code, 1, "{}", ran.all());
    let old = failures(&folder)[0]["id"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    let shrunk = ask(&folder, &["shrink", &old]);
    assert_eq!(shrunk.code, 1, "{}", shrunk.all());
    let all = failures(&folder);
    assert_eq!(all.len(), 1);
    assert_ne!(all[0]["id"], old.as_str());
    assert_eq!(all[0]["aliases"], serde_json::json!([old]));
    assert_eq!(all[0]["seen_in"], 1);
    let replayed = ask(&folder, &["replay", &old]);
    assert_eq!(replayed.code, 1, "{}", replayed.all());
    assert!(replayed.out.contains("still failing"), "{}", replayed.out);
}

#[test]
fn an_accepted_failure_is_tried_and_does_not_fail_the_run() {
    let folder = door();
    assert_eq!(ask(&folder, &["test"]).code, 1);
    let all = failures(&folder);
    assert_eq!(all[0]["status"], "new");
    let id = all[0]["id"].as_str().unwrap_or_default();
    let refused = ask(&folder, &["failures", "accept", id, "--reason", " "]);
    assert_eq!(refused.code, 2, "{}", refused.all());
    let reason = "the old lock stays";
    let accepted = ask(
        &folder,
        &["failures", "accept", &id[..4], "--reason", reason],
    );
    assert_eq!(accepted.code, 0, "{}", accepted.all());
    // Two steps do not find it anew.
    let again = ["test", "--tests", "1", "--steps", "2"];
    let ran = ask(&folder, &again);
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(ran.out.contains("ACCEPTED door  2 tests"), "{}", ran.out);
    assert!(
        ran.out.contains(&format!("accepted: {reason}")),
        "{}",
        ran.out
    );
    assert_eq!(failures(&folder)[0]["status"], "accepted");
    assert_eq!(document(&folder, "2")["run"]["verdict"], "accepted");
    let open = ask(&folder, &["failures"]);
    assert_eq!(open.out, "", "{}", open.all());
    assert!(open.err.contains("1 more"), "{}", open.err);
    assert_eq!(ask(&folder, &["failures", "reopen", id]).code, 0);
    assert_eq!(ask(&folder, &again).code, 1);
}

#[test]
fn a_failure_that_passes_was_fixed_in_that_run() {
    let folder = door();
    assert_eq!(ask(&folder, &["test"]).code, 1);
    repair(&folder.path().join("door"));
    let ran = ask(&folder, &["test", "--tests", "3"]);
    assert_eq!(ran.code, 0, "{}", ran.all());
    let all = failures(&folder);
    assert_eq!(
        (&all[0]["status"], &all[0]["fixed_in"]),
        (&"fixed".into(), &"2".into())
    );
    let markdown = ask(&folder, &["report", "1", "--format", "markdown"]);
    assert!(markdown.out.contains("fixed in run 2"), "{}", markdown.out);
}

#[test]
fn a_failure_that_a_changed_model_allows_is_not_called_fixed() {
    let strict = PING.replace("'pong'\n", "'pong'\n    response 'pang'\n");
    let folder = folder_with(&[("ping.aml", &strict), ("system.py", PONG)]);
    let sut = "python3 system.py pang";
    let test = run(ioco()
        .current_dir(folder.path())
        .args(["test", "ping.aml", "--sut", sut, "--seed", "1"]));
    assert_eq!(test.code, 1, "{}", test.all());
    let mut files = fs::read_dir(folder.path().join(".ioco/failures")).expect("failures");
    let path = files.next().expect("one").expect("readable").path();
    let replay = |sut: &str| {
        run(ioco()
            .current_dir(folder.path())
            .arg("replay")
            .arg(&path)
            .args(["--sut", sut]))
    };
    let loose = strict.replace(
        "send 'pong' }",
        "choice { o { send 'pong' } o { send 'pang' } } }",
    );
    assert_ne!(loose, strict);
    fs::write(folder.path().join("ping.aml"), loose).expect("written");
    let ran = replay(sut);
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(ran.out.contains("the model allows it now"), "{}", ran.all());
    assert!(!ran.out.contains("fixed"), "{}", ran.all());
    // The list of failures says the same once a run has tried it.
    let again = run(ioco()
        .current_dir(folder.path())
        .args(["test", "ping.aml", "--sut", sut, "--seed", "1"]));
    assert_eq!(again.code, 0, "{}", again.all());
    assert!(
        again.err.contains("the model allows it now"),
        "{}",
        again.all()
    );
    assert!(!again.all().contains("fixed"), "{}", again.all());
    let listed = ask_in(&folder, &["failures", "--all"]);
    assert!(
        listed.out.contains("allowed by the model since run 2"),
        "{}",
        listed.all()
    );
    assert_eq!(ask_in(&folder, &["failures"]).out, "", "it is not open");
    let report = ask_in(&folder, &["report", "1", "--format", "markdown"]);
    assert!(
        report.out.contains("allowed by the model since run 2"),
        "{}",
        report.all()
    );
    // A system that does something else is fixed, whatever the model allows.
    let ran = replay("python3 system.py pong");
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(ran.out.contains("fixed"), "{}", ran.all());
    // Of what runs said after one another, the last holds.
    fs::write(folder.path().join("ping.aml"), strict).expect("written");
    let fixed_system = PONG.replace("else answer", "else 'pong'");
    fs::write(folder.path().join("system.py"), fixed_system).expect("written");
    for _ in 0..2 {
        let fixed = run(ioco()
            .current_dir(folder.path())
            .args(["test", "ping.aml", "--sut", sut, "--seed", "1"]));
        assert_eq!(fixed.code, 0, "{}", fixed.all());
        assert!(
            fixed.err.contains("fixed  known failure"),
            "{}",
            fixed.all()
        );
    }
    let listed = ask_in(&folder, &["failures", "--all"]);
    assert!(listed.out.contains("fixed in run 3"), "{}", listed.all());
}

#[test]
fn a_failure_whose_place_is_not_reached_is_not_called_fixed_by_a_run() {
    let model = "timeout 0.3\nexternal 'c'\nprocess('main') {\n  \
                 channel('c') { stimuli 'go', 'ask'; responses 'left', 'right', 'ok', 'bad' }\n  state 'I'\n  \
                 receive 'go'\n  choice {\n    o { send 'left' }\n    o { send 'right' }\n  }\n  \
                 receive 'ask'; send 'ok'\n  state 'End'\n}\n";
    let system = r#"
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    way = open("way").read()
    if "reset" in message: say = '{"ready":true}'
    elif message["stimulus"] == "go": say = '{"response":"%s"}' % way
    else: say = '{"response":"%s"}' % ("bad" if way == "left" else "ok")
    print(say, flush=True)
"#;
    let folder = folder_with(&[("m.aml", model), ("s.py", system), ("way", "left")]);
    let test = ["test", "m.aml", "--seed", "1", "--tests", "2"];
    let test = [&test[..], &["--sut", "exec python3 s.py"]].concat();
    let found = ask_in(&folder, &test);
    assert_eq!(found.code, 1, "{}", found.all());
    fs::write(folder.path().join("way"), "right").expect("written");
    let elsewhere = ask_in(&folder, &test);
    assert_eq!(elsewhere.code, 0, "{}", elsewhere.all());
    assert!(!elsewhere.all().contains("fixed"), "{}", elsewhere.all());
    assert!(
        !elsewhere.all().contains("passes now"),
        "{}",
        elsewhere.all()
    );
    let listed = ask_in(&folder, &["failures"]);
    assert!(
        listed.out.contains("confirmed") || listed.out.contains("new"),
        "{}",
        listed.all()
    );
}

fn ask_in(folder: &TempDir, arguments: &[&str]) -> Ran {
    run(ioco().current_dir(folder.path()).args(arguments))
}

/// PING with two wrong answers besides the right one.
fn ping_with_wrong_answers() -> String {
    let more = "'pong'\n    response 'pang'\n    response 'pung'\n";
    PING.replace("'pong'\n", more)
}

fn test_ping_in(folder: &TempDir, sut: &str, more: &[&str]) -> Ran {
    let known = ["test", "ping.aml", "--sut", sut, "--seed", "1"];
    let limits = ["--tests", "6", "--steps", "12"];
    let mut command = ioco();
    command.current_dir(folder.path()).args(known).args(limits);
    run(command.args(more))
}

/// The only failure file, and what it says.
fn only_failure(folder: &TempDir) -> (String, Json) {
    let files = fs::read_dir(folder.path().join(".ioco/failures")).expect("failures");
    let files: Vec<_> = files.map(|file| file.expect("readable").path()).collect();
    assert_eq!(files.len(), 1, "{files:?}");
    let text = fs::read_to_string(&files[0]).expect("read");
    let file: Json = serde_json::from_str(&text).expect("JSON");
    (file["id"].as_str().expect("an id").to_owned(), file)
}

/// A folder with a system that answers pang, which a person has accepted.
fn with_accepted_pang() -> TempDir {
    let model = ping_with_wrong_answers();
    let folder = folder_with(&[("ping.aml", &model), ("system.py", PONG)]);
    let ran = test_ping_in(&folder, "exec python3 system.py pang", &[]);
    assert_eq!(ran.code, 1, "{}", ran.all());
    let (id, _) = only_failure(&folder);
    let accept = ["failures", "accept", &id, "--reason", "an old habit"];
    let accepted = run(ioco().current_dir(folder.path()).args(accept));
    assert_eq!(accepted.code, 0, "{}", accepted.all());
    folder
}

#[test]
fn an_acceptance_outlives_runs_that_reach_the_system_in_another_way() {
    let folder = with_accepted_pang();
    let (id, before) = only_failure(&folder);
    for (sut, more) in [
        ("exec python3 ./system.py pang", &[][..]),
        ("exec python3 ./system.py pang", &["--no-shrink"][..]),
        ("exec python3 ./system.py pang", &["--jobs", "2"][..]),
        ("exec python3 system.py pang", &[][..]),
    ] {
        let ran = test_ping_in(&folder, sut, more);
        assert_eq!(ran.code, 0, "{sut} {more:?}: {}", ran.all());
        assert!(ran.out.contains("ACCEPTED"), "{}", ran.all());
        let (again, file) = only_failure(&folder);
        assert_eq!(again, id);
        assert_eq!(file["accepted"], "an old habit", "{sut} {more:?}");
        assert_eq!(file["connection"], before["connection"], "{sut} {more:?}");
    }
    // Who relies on an acceptance that was given elsewhere is told.
    let ran = test_ping_in(&folder, "exec python3 ./system.py pang", &[]);
    assert!(ran.out.contains("reached in another way"), "{}", ran.all());
}

#[test]
fn an_accepted_failure_is_recognised_without_shrinking_and_without_trying_it_first() {
    let folder = with_accepted_pang();
    for more in [
        &["--no-known"][..],
        &["--no-known", "--no-shrink"][..],
        &["--no-known", "--no-shrink", "--jobs", "2"][..],
    ] {
        let ran = test_ping_in(&folder, "exec python3 system.py pang", more);
        assert_eq!(ran.code, 0, "{more:?}: {}", ran.all());
        assert!(ran.out.contains("accepted: an old habit"), "{}", ran.all());
        only_failure(&folder);
    }
}

#[test]
fn a_new_failure_ends_the_run_although_another_one_is_accepted() {
    // The third answer of a test is wrong now, in another way.
    let later = PONG.replace("if count == 1 else answer", "if count < 3 else 'pung'");
    assert_ne!(later, PONG);
    for jobs in ["1", "2"] {
        let folder = with_accepted_pang();
        fs::write(folder.path().join("system.py"), &later).expect("written");
        let ran = run(ioco()
            .current_dir(folder.path())
            .args(["test", "ping.aml", "--sut", "exec python3 system.py pang"])
            .args([
                "--seed",
                "1",
                "--steps",
                "12",
                "--tests",
                "40",
                "--no-shrink",
            ])
            .args(["--failures", "1", "--jobs", jobs]));
        assert_eq!(ran.code, 1, "{}", ran.all());
        let why = "the number of distinct failures was reached";
        assert!(ran.err.contains(why), "{}", ran.all());
    }
}

#[test]
fn an_accepted_failure_does_not_use_up_the_limit_on_failures() {
    let folder = with_accepted_pang();
    for more in [&[][..], &["--no-known"][..], &["--jobs", "2"][..]] {
        let more = [&["--failures", "1"], more].concat();
        let ran = test_ping_in(&folder, "exec python3 system.py pang", &more);
        assert_eq!(ran.code, 0, "{}", ran.all());
        let why = "the number of tests was reached";
        assert!(ran.err.contains(why), "{}", ran.all());
    }
}

#[test]
fn another_deviation_after_the_stimuli_of_an_accepted_failure_is_not_accepted() {
    let folder = with_accepted_pang();
    let wrong = PONG.replace("else answer", "else 'pung'");
    assert_ne!(wrong, PONG);
    fs::write(folder.path().join("system.py"), wrong).expect("written");
    let ran = test_ping_in(&folder, "exec python3 system.py pang", &[]);
    assert_eq!(ran.code, 1, "{}", ran.all());
    assert!(ran.out.contains("!pung"), "{}", ran.all());
}

#[test]
fn a_failure_whose_stimulus_the_model_lost_cannot_be_replayed_and_says_so() {
    let model = PING
        .replace("stimulus 'ping'", "stimulus 'ping'\n    stimulus 'poke'")
        .replace("o { receive", "o { receive 'poke' }\n    o { receive");
    let folder = folder_with(&[("ping.aml", &model), ("system.py", PONG)]);
    let ran = test_ping_in(&folder, "exec python3 system.py pang", &[]);
    assert_eq!(ran.code, 1, "{}", ran.all());
    let (id, _) = only_failure(&folder);
    let lost = model.replace("o { receive 'ping'; send 'pong' }", "");
    assert_ne!(lost, model);
    fs::write(folder.path().join("ping.aml"), lost).expect("written");
    for jobs in ["1", "2"] {
        let replay = ["replay", &id, "--jobs", jobs];
        let ran = run(ioco().current_dir(folder.path()).args(replay));
        assert_eq!(ran.code, 2, "{}", ran.all());
        assert!(ran.err.contains("cannot be replayed"), "{}", ran.all());
        assert!(ran.err.contains("stimulus ?ping"), "{}", ran.all());
        assert!(!ran.all().contains("FLAKY"), "{}", ran.all());
    }
}

/// Answers `?quiet` with a response that the model does not allow, always.
const NOISY: &str = r#"
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if "reset" in message:
        print('{"ready":true}', flush=True)
    elif message["stimulus"] == "quiet":
        print('{"response":"one"}', flush=True)
    else:
        print('{"response":"answer"}', flush=True)
"#;

#[test]
fn a_wrong_response_that_crosses_a_stimulus_only_once_is_no_flaky_failure() {
    let model = "timeout 0.3\nexternal 'c'\nprocess('main') {\n  \
                 channel('c') { stimuli 'quiet', 'ask'; responses 'answer', 'one' }\n  state 'I'\n  \
                 repeat { o { receive 'quiet' } o { receive 'ask'; send 'answer' } }\n}\n";
    let steps = r#"[{"stimulus":"quiet"},{"stimulus":"ask"},{"response":"answer"}]"#;
    let suite = format!(
        "{{\"suite\":1,\"model\":\"main\",\"hash\":\"0\"}}\n{{\"steps\":{steps},\"switches\":[]}}\n"
    );
    let folder = folder_with(&[("m.aml", model), ("s.jsonl", &suite), ("noisy.py", NOISY)]);
    for arguments in [
        &["--suite", "s.jsonl"][..],
        &["--suite", "s.jsonl", "--jobs", "2"],
    ] {
        let _ = fs::remove_dir_all(folder.path().join(".ioco"));
        let ran = run(ioco()
            .current_dir(folder.path())
            .args(["test", "m.aml", "--sut", "exec python3 noisy.py"])
            .args(arguments));
        assert_eq!(ran.code, 1, "{}", ran.all());
        assert!(!ran.all().contains("FLAKY"), "{}", ran.all());
    }
    let replayed = run(ioco().current_dir(folder.path()).args([
        "replay",
        &only_failure(&folder).0,
        "--times",
        "3",
    ]));
    assert_eq!(replayed.code, 1, "{}", replayed.all());
    assert!(
        replayed.all().contains("still failing"),
        "{}",
        replayed.all()
    );
}

#[test]
fn a_replay_that_does_not_come_to_the_failure_does_not_call_it_fixed() {
    let model = "timeout 0.3\nexternal 'c'\nprocess('main') {\n  \
                 channel('c') { stimuli 'go', 'ask'; responses 'left', 'right', 'ok', 'bad' }\n  state 'I'\n  \
                 receive 'go'\n  choice {\n    o { send 'left' }\n    o { send 'right' }\n  }\n  \
                 receive 'ask'; send 'ok'\n  state 'End'\n}\n";
    // Goes the way that it is started with; the answer on the left is the second word.
    let system = r#"
import json, sys
way, answer = sys.argv[1:3]
for line in sys.stdin:
    message = json.loads(line)
    if "reset" in message: say = '{"ready":true}'
    elif message["stimulus"] == "go": say = '{"response":"%s"}' % way
    else: say = '{"response":"%s"}' % (answer if way == "left" else "ok")
    print(say, flush=True)
"#;
    let folder = folder_with(&[("m.aml", model), ("s.py", system)]);
    let with = |way: &str, arguments: &[&str]| {
        let sut = format!("exec python3 s.py {way}");
        run(ioco()
            .current_dir(folder.path())
            .args(arguments)
            .args(["--sut", &sut]))
    };
    let found = with("left bad", &["test", "m.aml", "--seed", "1"]);
    assert_eq!(found.code, 1, "{}", found.all());
    let replay = ["replay", &only_failure(&folder).0, "--times", "3"];
    let elsewhere = with("right bad", &replay);
    assert!(!elsewhere.all().contains("fixed"), "{}", elsewhere.all());
    assert!(
        elsewhere.all().contains("not reached"),
        "{}",
        elsewhere.all()
    );
    let fixed = with("left ok", &replay);
    assert!(
        fixed.all().contains("fixed: none of 3 runs failed"),
        "{}",
        fixed.all()
    );
}

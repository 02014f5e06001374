//! The same tests for both executors: threads of one process (`ioco test --jobs 2`), and workers of a real NATS server
//! (`ioco campaign start`). What one of them promises, the other keeps too.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};

use serde_json::Value;

use crate::nats::{Process, Server, adds_up, at, last_line, status, worker};
use crate::support::{PING, Ran, TempDir, folder_with, interrupt, ioco, run};

/// Who carries out the tests.
enum Hands {
    Threads,
    Workers(Server),
}

/// Runs a body with threads, and with workers where `cargo xtask test` named a server. What it returned each time.
fn on_both<T>(body: impl Fn(&Hands) -> T) -> Vec<T> {
    let threads = body(&Hands::Threads);
    let workers = Server::start().map(|server| body(&Hands::Workers(server)));
    std::iter::once(threads).chain(workers).collect()
}

impl Hands {
    /// Begins a run with two systems at once. The workers end when they are dropped.
    fn begin(&self, folder: &TempDir, flags: &[&str]) -> (Child, Vec<Process>) {
        let (mut command, workers) = match self {
            Hands::Threads => {
                let mut command = ioco();
                command.current_dir(folder.path());
                command.args(["test", "--jobs", "2"]);
                (command, Vec::new())
            }
            Hands::Workers(server) => {
                let workers = ["one", "two"].map(|name| worker(server, folder, name, "1"));
                let start = ["campaign", "start", "--lease", "2s"];
                let command = at(folder, &start, &server.url(), &[]);
                (command, workers.into())
            }
        };
        let child = command
            .args(flags)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        (child.expect("a run"), workers)
    }

    fn run(&self, folder: &TempDir, flags: &[&str]) -> Ran {
        let (child, _workers) = self.begin(folder, flags);
        crate::nats::end(child)
    }

    fn run_json(&self, folder: &TempDir, flags: &[&str]) -> Ran {
        self.run(folder, &[flags, &["--format", "json"]].concat())
    }

    /// Every order of the campaign has its outcome, and the server knows of none that is under way.
    fn is_at_rest(&self, orders: u64) {
        if let Hands::Workers(server) = self {
            let status = status(server);
            assert_eq!(status["campaigns"][0]["state"], "done", "{status}");
            assert_eq!(status["campaigns"][0]["orders"], orders, "{status}");
            assert_eq!(status["campaigns"][0]["outcomes"], orders, "{status}");
        }
    }
}

/// Deviates in the third stimulus of a test if it is told to.
const SYSTEM: &str = r#"
import json, sys, time
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
    time.sleep(0.005)
    word = "wrong" if wrong and count == 3 else "pong"
    print(json.dumps({"response": word}), flush=True)
"#;

const RIGHT: &str = "command = [\"python3\", \"system.py\", \"{job}\"]";
/// Started anew for every test, so that nothing of a failed test is waited for.
const WRONG: &str = "command = [\"python3\", \"system.py\", \"{job}\", \"wrong\"]\nrestart = true";

/// Three stimuli: 27 traces of three.
pub const ECHO: &str = "
timeout 10
external 'wire'
process('echo') {
  channel('wire') {
    stimuli 'a', 'b', 'c'
    response 'pong'
  }
  state 'idle', timeout: 0.05
  repeat {
    o { receive 'a'; send 'pong' }
    o { receive 'b'; send 'pong' }
    o { receive 'c'; send 'pong' }
  }
}
";

fn project(model: &str, sut: &str) -> TempDir {
    let settings = format!("model = \"model.aml\"\n[test]\nseed = 1\nsteps = 12\n[sut]\n{sut}\n");
    folder_with(&[
        ("model.aml", model),
        ("system.py", SYSTEM),
        ("ioco.toml", &settings),
    ])
}

/// The events of `--format json` of one kind.
fn events(ran: &Ran, kind: &str) -> Vec<Value> {
    let lines = ran.out.lines();
    let events = lines.filter_map(|line| serde_json::from_str::<Value>(line).ok());
    events.filter(|event| event["event"] == kind).collect()
}

#[test]
fn every_test_is_carried_out_once_and_the_counts_add_up() {
    on_both(|hands| {
        let folder = project(PING, RIGHT);
        let ran = hands.run_json(&folder, &["--tests", "30"]);
        adds_up(&ran, 30);
        hands.is_at_rest(30);
    });
}

#[test]
fn a_failure_is_confirmed_shrunk_kept_and_tried_first_by_the_next_run() {
    on_both(|hands| {
        let folder = project(PING, WRONG);
        let ran = hands.run(&folder, &["--tests", "40"]);
        assert_eq!(ran.code, 1, "{}", ran.all());
        assert!(ran.out.contains("!wrong"), "{}", ran.all());
        assert!(ran.out.contains("3 of 3 runs"), "{}", ran.all());
        // Shrinking has run: no stimulus can be left out of the third ping.
        let is_shrunk = ran.out.contains("without any one of its 3 stimuli");
        assert!(is_shrunk, "{}", ran.all());
        let failures = folder.path().join(".ioco/failures");
        let count = |what: &str| {
            let files = std::fs::read_dir(&failures).map_or(0, Iterator::count);
            assert_eq!(files, 1, "{what}");
        };
        count("one failure, however many saw it");
        let again = hands.run_json(&folder, &["--tests", "40"]);
        assert_eq!(again.code, 1, "{}", again.all());
        // Test 1, whichever comes back first.
        let started = events(&again, "test-started");
        let first = started.iter().find(|event| event["test"] == 1);
        let first = first.expect("a first test");
        assert!(first["name"].is_string(), "a known failure: {first}");
        let summary = &last_line(&again)["summary"];
        assert_eq!(summary["distinct_failures"], 1, "{summary}");
        count("the same failure");
    });
}

#[test]
fn every_test_of_a_suite_is_run_once_and_the_verdicts_are_those_of_one_system() {
    let verdicts = on_both(|hands| {
        let folder = project(ECHO, WRONG);
        let generate = [
            "generate",
            "model.aml",
            "--traces",
            "6",
            "-o",
            "suite.jsonl",
        ];
        let made = run(ioco().current_dir(folder.path()).args(generate));
        assert_eq!(made.code, 0, "{}", made.all());
        let suite = ["--suite", "suite.jsonl", "--failures", "0", "--no-shrink"];
        let alone = run(ioco()
            .current_dir(folder.path())
            .args(["test", "--no-known", "--format", "json"])
            .args(suite));
        let both = hands.run_json(&folder, &[&suite[..], &["--no-known"]].concat());
        assert_eq!(both.code, alone.code, "{}", both.all());
        let by_stimuli = |ran: &Ran| -> BTreeMap<Vec<String>, String> {
            let tests = tests_of(ran);
            let count = tests.len();
            let verdicts: BTreeMap<_, _> = tests.into_values().collect();
            assert_eq!(verdicts.len(), count, "no test comes twice");
            verdicts
        };
        let (alone, both) = (by_stimuli(&alone), by_stimuli(&both));
        assert!(both.len() >= 27, "{both:?}");
        assert_eq!(both, alone);
        both
    });
    assert!(verdicts.iter().all(|one| *one == verdicts[0]));
}

/// The stimuli and the verdict of each test.
pub fn tests_of(ran: &Ran) -> BTreeMap<u64, (Vec<String>, String)> {
    let number = |event: &Value| event["test"].as_u64().expect("a number");
    let mut tests: BTreeMap<u64, (Vec<String>, String)> = BTreeMap::new();
    for event in events(ran, "test-finished") {
        let verdict = event["verdict"].as_str().expect("a verdict").to_owned();
        let twice = tests.insert(number(&event), (Vec::new(), verdict));
        assert!(twice.is_none(), "{event}");
    }
    for event in events(ran, "step-taken") {
        let test = tests.get_mut(&number(&event)).expect("a test");
        test.0.extend(event["stimulus"].as_str().map(str::to_owned));
    }
    tests
}

#[test]
fn the_same_seed_gives_the_same_tests_with_the_same_verdicts() {
    let flags = ["--seed", "7", "--tests", "20", "--strategy", "random"];
    let flags = [&flags[..], &["--failures", "0", "--no-shrink"]].concat();
    let tests = |ran: &Ran| -> BTreeMap<u64, (u64, String, u64)> {
        let test = |event: &Value| {
            let number = |key: &str| event[key].as_u64().expect("a number");
            let verdict = event["verdict"].as_str().expect("a verdict").to_owned();
            (number("test"), (number("seed"), verdict, number("steps")))
        };
        events(ran, "test-finished").iter().map(test).collect()
    };
    let folder = project(ECHO, WRONG);
    let alone = run(ioco()
        .current_dir(folder.path())
        .args(["test", "--format", "json"])
        .args(&flags));
    let alone = tests(&alone);
    assert_eq!(alone.len(), 20, "{alone:?}");
    on_both(|hands| {
        let folder = project(ECHO, WRONG);
        let ran = hands.run_json(&folder, &flags);
        assert_eq!(ran.code, 1, "{}", ran.all());
        assert_eq!(tests(&ran), alone);
    });
}

#[test]
fn a_run_that_is_interrupted_keeps_its_results() {
    on_both(|hands| {
        let folder = project(PING, RIGHT);
        let flags = ["--tests", "100000", "--format", "json"];
        let (mut child, _workers) = hands.begin(&folder, &flags);
        let out = child.stdout.take().expect("a pipe");
        let mut lines = BufReader::new(out).lines().map_while(Result::ok);
        let mut said = String::new();
        let mut finished = 0;
        while finished < 5 {
            let line = lines.next().expect("more tests");
            finished += u64::from(line.contains("\"test-finished\""));
            said.push_str(&line);
            said.push('\n');
        }
        interrupt(&child);
        lines.for_each(|line| {
            said.push_str(&line);
            said.push('\n');
        });
        let ended = crate::nats::end(child);
        let ran = Ran { out: said, ..ended };
        assert_eq!(ran.code, 130, "{}", ran.all());
        let tests = last_line(&ran)["summary"]["tests"].as_u64();
        assert!(tests >= Some(5), "{}", ran.all());
        let listed = run(ioco()
            .current_dir(folder.path())
            .args(["runs", "--format", "json"]));
        let row: Value = serde_json::from_str(listed.out.lines().next().unwrap_or_default())
            .unwrap_or_else(|_| panic!("no run: {}", listed.all()));
        assert_eq!(row["tests"].as_u64(), tests, "{row}");
        let coverage = run(ioco().current_dir(folder.path()).arg("coverage"));
        assert!(coverage.out.contains("2 of 2"), "{}", coverage.all());
    });
}

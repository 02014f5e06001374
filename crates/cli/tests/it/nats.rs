//! Campaigns with real NATS servers and worker processes: each ends with the check that orders, outcomes, tests and
//! steps add up. `cargo xtask test` installs the server and names it in `IOCO_TEST_NATS`.

use std::io::{BufRead, BufReader};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{PING, Ran, TempDir, folder_with, ioco, run};

const SYSTEM: &str = r#"
import json, sys, time
for line in sys.stdin:
    if json.loads(line).get("reset"):
        print('{"ready":true}', flush=True)
        continue
    time.sleep(0.02)
    print('{"response":"pong"}', flush=True)
"#;

/// A process that ends with the test.
pub struct Process(pub Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Process {
    pub fn signal(&self, signal: &str) {
        let pid = self.0.id().to_string();
        let sent = Command::new("kill").args([signal, &pid]).status();
        assert!(sent.is_ok_and(|status| status.success()), "kill {signal}");
    }
}

pub struct Server {
    program: PathBuf,
    pub folder: TempDir,
    pub port: u16,
    pub process: Option<Process>,
    /// More lines of its configuration.
    more: String,
}

impl Server {
    /// `None` where `cargo xtask test` did not name a server.
    pub fn start() -> Option<Server> {
        Server::with(|_| String::new())
    }

    /// With more lines of configuration, which may name files in its folder.
    pub fn with(more: impl FnOnce(&std::path::Path) -> String) -> Option<Server> {
        let Some(program) = std::env::var_os("IOCO_TEST_NATS") else {
            eprintln!("skipped: IOCO_TEST_NATS names no server");
            return None;
        };
        let free = TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr());
        let folder = folder_with(&[]);
        let mut server = Server {
            program: program.into(),
            more: more(folder.path()),
            folder,
            port: free.expect("a port").port(),
            process: None,
        };
        server.run();
        Some(server)
    }

    pub fn run(&mut self) {
        let store = self.folder.path().join("store");
        let config = self.folder.path().join("nats.conf");
        let text = format!(
            "listen: \"127.0.0.1:{}\"\njetstream {{ store_dir: \"{}\", sync_interval: always }}\n{}\n",
            self.port,
            store.display(),
            self.more
        );
        std::fs::write(&config, text).expect("written");
        let child = Command::new(&self.program)
            .arg("-c")
            .arg(&config)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        self.process = Some(Process(child.expect("a server")));
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            assert!(
                begun.elapsed() < Duration::from_secs(60),
                "the server does not listen"
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }
}

pub fn project() -> TempDir {
    folder_with(&[
        ("ping.aml", PING),
        ("system.py", SYSTEM),
        (
            "ioco.toml",
            "model = \"ping.aml\"\n[test]\nseed = 1\nsteps = 10\n[sut]\ncommand = [\"python3\", \"system.py\"]\n",
        ),
    ])
}

/// `ioco COMMAND... --nats URL FLAGS...` in a project.
pub fn at(folder: &TempDir, command: &[&str], url: &str, flags: &[String]) -> Command {
    let mut ioco = ioco();
    ioco.current_dir(folder.path())
        .args(command)
        .args(["--nats", url])
        .args(flags);
    ioco
}

/// Starts a worker, whose words nobody reads.
pub fn working(mut command: Command) -> Process {
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    Process(child.expect("a worker"))
}

pub fn worker(server: &Server, folder: &TempDir, name: &str, jobs: &str) -> Process {
    let command = ["worker", "--name", name, "--jobs", jobs];
    working(at(folder, &command, &server.url(), &[]))
}

/// Starts the coordinator of a campaign in the background.
pub fn coordinating(mut command: Command) -> Child {
    command
        .args(["--format", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a campaign")
}

pub fn start(folder: &TempDir, url: &str, flags: &[String], more: &[&str]) -> Child {
    let mut command = at(folder, &["campaign", "start"], url, flags);
    command.args(["--lease", "2s"]).args(more);
    coordinating(command)
}

/// A campaign in the background.
pub fn campaign(server: &Server, folder: &TempDir, tests: &str) -> Child {
    start(folder, &server.url(), &[], &["--tests", tests])
}

/// The report of a run, which is its last line.
pub fn last_line(ran: &Ran) -> serde_json::Value {
    let last = ran.out.lines().last().unwrap_or_default();
    serde_json::from_str(last).unwrap_or_default()
}

pub fn end(child: Child) -> Ran {
    let output = child.wait_with_output().expect("it ends");
    Ran {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

pub fn status(server: &Server) -> serde_json::Value {
    let ran = run(ioco().args([
        "campaign",
        "status",
        "--nats",
        &server.url(),
        "--format",
        "json",
    ]));
    serde_json::from_str(&ran.out).unwrap_or_default()
}

/// Waits until so many outcomes are back.
pub fn until_outcomes(server: &Server, wanted: u64) {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(120) {
        let outcomes = status(server)["campaigns"][0]["outcomes"].as_u64();
        if outcomes.unwrap_or(0) >= wanted {
            return;
        }
    }
    panic!("no {wanted} outcomes: {}", status(server));
}

/// Every test has exactly one outcome, and the numbers of the run are those of its tests.
pub fn adds_up(ran: &Ran, tests: u64) {
    assert_eq!(ran.code, 0, "{}", ran.all());
    let lines = BufReader::new(ran.out.as_bytes()).lines();
    let lines = lines.map_while(Result::ok);
    let events: Vec<serde_json::Value> = lines
        .filter_map(|line| serde_json::from_str(&line).ok())
        .collect();
    let of = |kind: &str| -> Vec<&serde_json::Value> {
        events
            .iter()
            .filter(|event| event["event"] == kind)
            .collect()
    };
    let mut numbers: Vec<u64> = of("test-finished")
        .iter()
        .filter_map(|event| event["test"].as_u64())
        .collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=tests).collect::<Vec<u64>>(), "{}", ran.all());
    let summary = &of("run-reported")[0]["summary"];
    assert_eq!(summary["tests"], tests);
    assert_eq!(summary["passed"], tests);
    let steps = ["stimuli", "responses", "silences"].map(|k| summary[k].as_u64().unwrap_or(0));
    assert_eq!(steps.iter().sum::<u64>(), of("step-taken").len() as u64);
    assert_eq!(summary["covered_switches"], 2);
}

#[test]
fn the_order_of_a_worker_that_is_killed_goes_to_another() {
    let Some(server) = Server::start() else {
        return;
    };
    let folder = project();
    let killed = worker(&server, &folder, "killed", "2");
    let campaign = campaign(&server, &folder, "40");
    until_outcomes(&server, 3);
    killed.signal("-KILL");
    drop(killed);
    let _other = worker(&server, &folder, "other", "2");
    adds_up(&end(campaign), 40);
}

#[test]
fn a_worker_that_was_paused_comes_back_late_and_changes_nothing() {
    let Some(server) = Server::start() else {
        return;
    };
    let folder = project();
    let paused = worker(&server, &folder, "paused", "1");
    let campaign = campaign(&server, &folder, "30");
    until_outcomes(&server, 2);
    paused.signal("-STOP");
    let _other = worker(&server, &folder, "other", "1");
    until_outcomes(&server, 12);
    paused.signal("-CONT");
    adds_up(&end(campaign), 30);
}

#[test]
fn a_server_that_is_restarted_loses_nothing() {
    let Some(mut server) = Server::start() else {
        return;
    };
    let folder = project();
    let _one = worker(&server, &folder, "one", "2");
    let campaign = campaign(&server, &folder, "40");
    until_outcomes(&server, 3);
    server.process = None;
    server.run();
    adds_up(&end(campaign), 40);
}

#[test]
fn a_campaign_ends_when_its_time_is_up_although_the_server_has_gone_mute() {
    let Some(server) = Server::start() else {
        return;
    };
    let folder = project();
    let _worker = worker(&server, &folder, "one", "1");
    let limits = ["--time", "15s", "--tests", "100000"];
    let child = start(&folder, &server.url(), &[], &limits);
    until_outcomes(&server, 2);
    // Its connections stay open, and nothing moves on them any more. Nobody wakes it up.
    let process = server.process.as_ref().expect("a server");
    process.signal("-STOP");
    let ran = end(child);
    assert_eq!(ran.code, 0, "{}", ran.all());
    let summary = &last_line(&ran)["summary"];
    assert_eq!(summary["stopped"], "time", "{}", ran.all());
    assert!(summary["tests"].as_u64() >= Some(2), "{}", ran.all());
    assert_eq!(summary["tests"], summary["passed"], "{}", ran.all());
}

#[test]
fn a_worker_with_another_model_says_so_and_takes_no_order() {
    let Some(server) = Server::start() else {
        return;
    };
    let (folder, other) = (project(), project());
    let changed = PING.replace("timeout 10", "timeout 11");
    std::fs::write(other.path().join("ping.aml"), changed).expect("written");
    let mut child = ioco()
        .current_dir(other.path())
        .args(["worker", "--nats", &server.url(), "--name", "other"])
        .stderr(Stdio::piped())
        .spawn()
        .expect("a worker");
    let campaign = campaign(&server, &folder, "5");
    let said = BufReader::new(child.stderr.take().expect("a pipe")).lines();
    let _child = Process(child);
    let mut said = said.map_while(Result::ok);
    assert!(said.any(|line| line.contains("use the same model file")));
    let _right = worker(&server, &folder, "right", "1");
    adds_up(&end(campaign), 5);
}

#[test]
fn a_campaign_that_is_stopped_ends_and_keeps_its_results() {
    let Some(server) = Server::start() else {
        return;
    };
    let folder = project();
    let _one = worker(&server, &folder, "one", "1");
    let campaign = campaign(&server, &folder, "100000");
    until_outcomes(&server, 3);
    let id = status(&server)["campaigns"][0]["campaign"]
        .as_str()
        .map(str::to_owned);
    let id = id.expect("a name");
    let stopped = run(ioco().args(["campaign", "stop", &id, "--nats", &server.url()]));
    assert_eq!(stopped.code, 0, "{}", stopped.all());
    let ran = end(campaign);
    assert_eq!(ran.code, 130, "{}", ran.all());
    let again = run(ioco().args(["campaign", "stop", &id, "--nats", &server.url()]));
    assert_eq!(again.code, 2, "{}", again.all());
}

#[test]
fn without_a_server_the_message_says_what_helps() {
    let folder = project();
    let ran =
        run(ioco()
            .current_dir(folder.path())
            .args(["worker", "--nats", "nats://127.0.0.1:1"]));
    assert_eq!(ran.code, 3, "{}", ran.all());
    assert!(ran.err.contains("ioco nats"), "{}", ran.all());
}

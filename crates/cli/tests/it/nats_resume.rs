//! Campaigns whose coordinator is killed, paused and replaced: the store alone says what is left to do.

use std::process::{Child, Command};
use std::time::{Duration, Instant};

use crate::executors::ECHO;
use crate::nats::{
    Process, Server, adds_up, at, campaign, coordinating, end, last_line, project, start, status,
    until_outcomes, worker, working,
};
use crate::support::{PING, Ran, TempDir, ioco, run};

/// A database of its own on the PostgreSQL server of the tests, if there is one.
fn database(name: &str) -> Option<String> {
    let Ok(server) = std::env::var("IOCO_TEST_POSTGRES") else {
        eprintln!("skipped: IOCO_TEST_POSTGRES names no PostgreSQL server");
        return None;
    };
    let name = format!("{name}_{}", std::process::id());
    let made = run(Command::new("psql")
        .arg(&server)
        .args(["-c", &format!("CREATE DATABASE {name}")]));
    assert_eq!(made.code, 0, "{}", made.all());
    let base = server.rsplit_once('/').map_or(&*server, |(base, _)| base);
    Some(format!("{base}/{name}"))
}

/// Adds a store to the settings of a project; `None` leaves the file in its folder.
fn keep_in(folder: &TempDir, url: Option<&str>) {
    let Some(url) = url else {
        return;
    };
    let path = folder.path().join("ioco.toml");
    let old = std::fs::read_to_string(&path).expect("settings");
    std::fs::write(path, format!("{old}[store]\nurl = \"{url}\"\n")).expect("written");
    // A store that the project names is used once somebody has agreed to it.
    let agreed = run(ioco().current_dir(folder.path()).args(["runs", "--trust"]));
    assert_eq!(agreed.code, 0, "{}", agreed.all());
}

/// On a file, and on PostgreSQL where there is one.
fn on_both(name: &str, check: impl Fn(Option<&str>)) {
    check(None);
    if let Some(url) = database(name) {
        check(Some(&url));
    }
}

/// The name of the only campaign.
fn name(server: &Server) -> String {
    let status = status(server);
    let name = status["campaigns"][0]["campaign"].as_str();
    name.expect("a campaign").to_owned()
}

fn resume(server: &Server, folder: &TempDir, id: &str) -> Child {
    coordinating(at(folder, &["campaign", "resume", id], &server.url(), &[]))
}

fn shown(folder: &TempDir, id: &str) -> serde_json::Value {
    let shown = run(ioco()
        .current_dir(folder.path())
        .args(["campaign", "show", id, "--format", "json"]));
    serde_json::from_str(&shown.out).unwrap_or_default()
}

/// Waits until the campaign is in the hands of this coordinator; false where that has ended instead.
fn until_coordinators(folder: &TempDir, id: &str, wanted: u64, coordinator: &mut Child) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(120) {
        if shown(folder, id)["coordinators"] == wanted {
            return true;
        }
        if coordinator.try_wait().is_ok_and(|ended| ended.is_some()) {
            return false;
        }
    }
    panic!("no coordinator {wanted}: {}", shown(folder, id));
}

/// Every order has one outcome in the store, and the tests of the run are those that were asked for.
fn store_adds_up(folder: &TempDir, ran: &Ran, id: &str, tests: u64, coordinators: u64) {
    assert_eq!(ran.code, 0, "{}", ran.all());
    let shown = shown(folder, id);
    let tally = &shown["tally"];
    assert_eq!(shown["finished"], true, "{shown}");
    assert_eq!(shown["coordinators"], coordinators, "{shown}");
    assert_eq!(tally["orders"], tests, "{shown}");
    assert_eq!(tally["outcomes"], tests, "{shown}");
    assert_eq!(tally["open"], 0, "{shown}");
    let last = last_line(ran);
    assert_eq!(last["summary"]["tests"], tests, "{last}");
    assert_eq!(last["summary"]["passed"], tests, "{last}");
    assert_eq!(last["summary"]["covered_switches"], 2, "{last}");
    let run_shown = run(ioco()
        .current_dir(folder.path())
        .args(["runs", "--format", "json"]));
    let row: serde_json::Value =
        serde_json::from_str(run_shown.out.lines().next().unwrap_or_default()).expect("JSON");
    assert_eq!(row["tests"], tests, "{row}");
}

#[test]
fn a_coordinator_that_is_killed_is_resumed_from_the_store_alone() {
    on_both("killed", killed_coordinator);
}

fn killed_coordinator(store: Option<&str>) {
    let Some(server) = Server::start() else {
        return;
    };
    let folder = project();
    keep_in(&folder, store);
    let _one = worker(&server, &folder, "one", "2");
    let mut killed = campaign(&server, &folder, "60");
    until_outcomes(&server, 5);
    let id = name(&server);
    killed.kill().expect("killed");
    killed.wait().expect("it ends");
    let mut killed_again = resume(&server, &folder, &id);
    assert!(until_coordinators(&folder, &id, 2, &mut killed_again));
    until_outcomes(&server, 5);
    killed_again.kill().expect("killed");
    killed_again.wait().expect("it ends");
    let ran = end(resume(&server, &folder, &id));
    store_adds_up(&folder, &ran, &id, 60, 3);
    let over = end(resume(&server, &folder, &id));
    assert_eq!(over.code, 2, "{}", over.all());
    assert!(over.err.contains("is over"), "{}", over.all());
}

#[test]
fn a_coordinator_that_was_paused_finds_itself_replaced() {
    on_both("paused", paused_coordinator);
}

fn paused_coordinator(store: Option<&str>) {
    let Some(server) = Server::start() else {
        return;
    };
    let folder = project();
    keep_in(&folder, store);
    let _one = worker(&server, &folder, "one", "2");
    let paused = Process(campaign(&server, &folder, "100"));
    until_outcomes(&server, 5);
    let id = name(&server);
    let mut second;
    loop {
        paused.signal("-STOP");
        second = Process(resume(&server, &folder, &id));
        if until_coordinators(&folder, &id, 2, &mut second.0) {
            break;
        }
        // It was paused while it wrote, and a file stays locked then: the second one says so and changes nothing.
        let refused = end_of(&mut second);
        assert_eq!(refused.code, 2, "{}", refused.all());
        assert!(
            refused.err.contains("another process holds the store"),
            "{}",
            refused.all()
        );
        paused.signal("-CONT");
        std::thread::sleep(Duration::from_millis(7));
    }
    paused.signal("-CONT");
    let first = end_of(&mut { paused });
    assert_eq!(first.code, 2, "{}", first.all());
    // The database ends the transaction of one that was paused in the middle of it.
    let is_replaced = first.err.contains("another coordinator");
    assert!(
        is_replaced || first.err.contains("idle-in-transaction"),
        "{}",
        first.all()
    );
    store_adds_up(&folder, &end_of(&mut second), &id, 100, 2);
}

/// Waits for the end of a process whose output is piped.
fn end_of(process: &mut Process) -> Ran {
    use std::io::Read as _;
    let mut out = Vec::new();
    let mut err = Vec::new();
    let mut stderr = process.0.stderr.take().expect("a pipe");
    let reader = std::thread::spawn(move || {
        let _ = stderr.read_to_end(&mut err);
        err
    });
    let mut stdout = process.0.stdout.take().expect("a pipe");
    let _ = stdout.read_to_end(&mut out);
    let status = process.0.wait().expect("it ends");
    Ran {
        code: status.code().unwrap_or(-1),
        out: String::from_utf8_lossy(&out).into_owned(),
        err: String::from_utf8_lossy(&reader.join().expect("read")).into_owned(),
    }
}

#[test]
fn a_coordinator_that_runs_is_not_replaced_by_mistake() {
    let Some(server) = Server::start() else {
        return;
    };
    let folder = project();
    let _one = worker(&server, &folder, "one", "1");
    let mut first = Process(campaign(&server, &folder, "100000"));
    until_outcomes(&server, 2);
    let id = name(&server);
    let refused = end(resume(&server, &folder, &id));
    assert_eq!(refused.code, 2, "{}", refused.all());
    assert!(refused.err.contains("--take-over"), "{}", refused.all());
    let resume = ["campaign", "resume", &id, "--take-over"];
    let _second = working(at(&folder, &resume, &server.url(), &[]));
    let first = end_of(&mut first);
    assert_eq!(first.code, 2, "{}", first.all());
    assert!(first.err.contains("another coordinator"), "{}", first.all());
}

#[test]
fn a_resumed_campaign_has_the_rest_of_its_time_and_its_share() {
    let Some(server) = Server::start() else {
        return;
    };
    let folder = project();
    let _one = worker(&server, &folder, "one", "2");
    let begin = |more: &[&str]| start(&folder, &server.url(), &[], more);
    let mut killed = begin(&["--campaign", "shared", "--tests", "41", "--shard", "2/2"]);
    until_outcomes(&server, 3);
    killed.kill().expect("killed");
    killed.wait().expect("it ends");
    let ran = end(resume(&server, &folder, "shared"));
    store_adds_up(&folder, &ran, "shared", 20, 2);
    // More time than the test has: what is kept of it shows how much is left.
    let mut killed = begin(&["--campaign", "timed", "--tests", "100000", "--time", "1h"]);
    let used = until_clock(&folder, "timed", 1_500_000_000);
    killed.kill().expect("killed");
    killed.wait().expect("it ends");
    let mut second = resume(&server, &folder, "timed");
    assert!(until_coordinators(&folder, "timed", 2, &mut second));
    let used = until_clock(&folder, "timed", used + 1_500_000_000);
    second.kill().expect("killed");
    second.wait().expect("it ends");
    assert!(used >= 3_000_000_000, "{used}");
}

/// Waits until a campaign has used so many nanoseconds of its time.
fn until_clock(folder: &TempDir, id: &str, wanted: u64) -> u64 {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(120) {
        let used = shown(folder, id)["used"].as_u64().unwrap_or(0);
        if used >= wanted {
            return used;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    panic!("{}", shown(folder, id));
}

#[test]
fn a_campaign_that_no_worker_answers_is_an_error() {
    let Some(server) = Server::start() else {
        return;
    };
    let folder = project();
    // Nobody answers.
    let ran = end(start(&folder, &server.url(), &[], &["--time", "1s"]));
    assert_eq!(ran.code, 3, "{}", ran.all());
    assert!(
        ran.err.contains("before any worker answered"),
        "{}",
        ran.all()
    );
}

#[test]
fn an_order_is_repeated_from_the_store() {
    on_both("repeated", repeated_order);
}

fn repeated_order(store: Option<&str>) {
    let Some(server) = Server::start() else {
        return;
    };
    let folder = project();
    std::fs::write(folder.path().join("system.py"), BROKEN_SYSTEM).expect("written");
    let model = PING.replace("timeout 10", "timeout 0.3");
    std::fs::write(folder.path().join("ping.aml"), model).expect("written");
    keep_in(&folder, store);
    let worker = worker(&server, &folder, "one", "2");
    let ran = end(start(
        &folder,
        &server.url(),
        &[],
        &["--campaign", "night", "--failures", "0", "--tests", "12"],
    ));
    assert_eq!(ran.code, 1, "{}", ran.all());
    drop((worker, server));
    let orders = shown(&folder, "night")["tally"]["orders"].as_u64();
    let orders = orders.expect("orders");
    // More than the tests: those that confirmed and shrank the failure too.
    assert!(orders > 12, "{orders}");
    let repeat = |order: &str, more: &[&str]| {
        run(ioco()
            .current_dir(folder.path())
            .args(["campaign", "repeat", "night", order])
            .args(more))
    };
    let (mut passed, mut failed, mut replayed) = (0, 0, 0);
    for order in 1..=orders {
        let ran = repeat(&order.to_string(), &["--format", "json"]);
        if ran.err.contains("was withdrawn") {
            assert_eq!(ran.code, 2, "{}", ran.all());
            continue;
        }
        assert_eq!(ran.code, 0, "{}", ran.all());
        let report = last_line(&ran);
        assert_eq!(report["result"], "same", "{report}");
        assert_eq!(report["before"]["steps"], report["now"]["steps"]);
        assert!(
            report["now"]["steps"]
                .as_array()
                .is_some_and(|steps| !steps.is_empty())
        );
        match report["now"]["end"].as_str() {
            Some("pass") => passed += 1,
            _ => failed += 1,
        }
        replayed += u64::from(report["now"]["covered"] == report["before"]["covered"]);
    }
    assert!(failed > 0 && passed + failed > 12, "{passed} {failed}");
    assert_eq!(replayed, passed + failed, "the same coverage");
    // The model of the store counts, whatever the file is now.
    std::fs::write(folder.path().join("ping.aml"), "no model").expect("written");
    assert_eq!(repeat("1", &[]).code, 0);
    // Another system: the outcome differs where it answers otherwise.
    let corrected = BROKEN_SYSTEM.replace("count > 2", "count > 1");
    std::fs::write(folder.path().join("system.py"), corrected).expect("written");
    let different = repeat("1", &[]);
    assert_eq!(different.code, 1, "{}", different.all());
    assert!(
        different.out.contains("different from step"),
        "{}",
        different.all()
    );
    assert!(different.out.contains("!pang"), "{}", different.all());
    std::fs::write(folder.path().join("system.py"), "exit(1)").expect("written");
    let unusable = repeat("1", &[]);
    assert_eq!(unusable.code, 3, "{}", unusable.all());
    for (campaign, order, why) in [
        ("day", "1", "no campaign day"),
        ("night", "9999", "no order"),
    ] {
        let arguments = ["campaign", "repeat", campaign, order];
        let ran = run(ioco().current_dir(folder.path()).args(arguments));
        assert_eq!(ran.code, 2, "{}", ran.all());
        assert!(ran.err.contains(why), "{}", ran.all());
    }
}

#[test]
fn failures_survive_a_coordinator() {
    let Some(server) = Server::start() else {
        return;
    };
    let folder = project();
    std::fs::write(folder.path().join("system.py"), BROKEN_SYSTEM).expect("written");
    // What a failed test may have left behind is waited for that long.
    let model = PING.replace("timeout 10", "timeout 0.3");
    std::fs::write(folder.path().join("ping.aml"), model).expect("written");
    let _one = worker(&server, &folder, "one", "2");
    let flags = ["--failures", "0", "--no-shrink", "--tests", "30"];
    let flags = [&flags[..], &["--campaign", "failing"]].concat();
    let mut killed = start(&folder, &server.url(), &[], &flags);
    until_failure(&folder, "failing");
    killed.kill().expect("killed");
    killed.wait().expect("it ends");
    let ran = end(resume(&server, &folder, "failing"));
    assert_eq!(ran.code, 1, "{}", ran.all());
    let last = last_line(&ran);
    assert_eq!(last["summary"]["tests"], 30, "{last}");
    assert_eq!(last["summary"]["distinct_failures"], 1, "{last}");
    let tally = &shown(&folder, "failing")["tally"];
    assert_eq!(tally["open"], 0, "{tally}");
}

#[test]
fn a_suite_survives_a_coordinator() {
    let Some(server) = Server::start() else {
        return;
    };
    let folder = project();
    std::fs::write(folder.path().join("ping.aml"), ECHO).expect("written");
    let made = run(ioco().current_dir(folder.path()).args([
        "generate",
        "ping.aml",
        "--traces",
        "6",
        "-o",
        "suite.jsonl",
    ]));
    assert_eq!(made.code, 0, "{}", made.all());
    let text = std::fs::read_to_string(folder.path().join("suite.jsonl")).expect("a suite");
    // After the line that names the model.
    let tests = text.lines().skip(1).count() as u64;
    assert!(tests > 10, "{tests}");
    let _one = worker(&server, &folder, "one", "1");
    let flags = ["--campaign", "suite", "--suite", "suite.jsonl"];
    let killed = Process(start(&folder, &server.url(), &[], &flags));
    until_outcomes(&server, 3);
    drop(killed);
    // The store has the text of the suite.
    std::fs::remove_file(folder.path().join("suite.jsonl")).expect("removed");
    let ran = end(resume(&server, &folder, "suite"));
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert_eq!(last_line(&ran)["summary"]["tests"], tests, "{}", ran.all());
    let tally = &shown(&folder, "suite")["tally"];
    assert_eq!(tally["outcomes"], tests, "{tally}");
    assert_eq!(tally["open"], 0, "{tally}");
}

/// Waits until a failure of a campaign is in the store.
fn until_failure(folder: &TempDir, id: &str) {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(120) {
        let listed = run(ioco()
            .current_dir(folder.path())
            .args(["failures", "--format", "json"]));
        if listed.out.contains("fingerprint") || listed.out.contains("\"id\"") {
            return;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    panic!("no failure: {}", shown(folder, id));
}

/// Answers wrongly from its third stimulus on.
const BROKEN_SYSTEM: &str = r#"
import json, sys, time
count = 0
for line in sys.stdin:
    if json.loads(line).get("reset"):
        count = 0
        print('{"ready":true}', flush=True)
        continue
    count += 1
    time.sleep(0.02)
    print('{"response":"%s"}' % ("pang" if count > 2 else "pong"), flush=True)
"#;

#[test]
fn watch_shows_a_campaign_until_it_is_over() {
    let Some(server) = Server::start() else {
        return;
    };
    let folder = project();
    let _one = worker(&server, &folder, "one", "2");
    let campaign = campaign(&server, &folder, "30");
    until_outcomes(&server, 1);
    let watched = run(ioco().args(["campaign", "watch", &name(&server), "--nats", &server.url()]));
    assert_eq!(watched.code, 0, "{}", watched.all());
    assert!(watched.out.contains("done"), "{}", watched.all());
    assert!(watched.out.contains("one  2 jobs"), "{}", watched.all());
    adds_up(&end(campaign), 30);
    let none = run(ioco().args(["campaign", "watch", "nothing", "--nats", &server.url()]));
    assert_eq!(none.code, 2, "{}", none.all());
}

#[test]
fn a_server_that_lost_its_disk_gets_the_missing_orders_again() {
    let Some(mut server) = Server::start() else {
        return;
    };
    let folder = project();
    let _one = worker(&server, &folder, "one", "2");
    let campaign = campaign(&server, &folder, "40");
    until_outcomes(&server, 3);
    server.process = None;
    std::fs::remove_dir_all(server.folder.path().join("store")).expect("removed");
    server.run();
    adds_up(&end(campaign), 40);
}

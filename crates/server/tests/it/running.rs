//! Runs as they go on: batches, pausing, stepping, slow motion, stopping, and who may not.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::net::{TcpListener, TcpStream};

use serde_json::{Value as Json, json};

use crate::client::{Server, door, is_over, simulated};

/// Many tests, quickly chosen, and each as long as it may be.
fn long_run() -> Json {
    json!({
        "model": "door.aml", "connection": simulated(), "strategy": "random",
        "tests": 1_000_000, "seed": 1,
    })
}

#[test]
fn a_paused_run_takes_one_step_at_a_time() {
    let server = Server::door();
    let mut request = long_run();
    request["paused"] = json!(true);
    let run = server.post("/api/runs", &request);
    let id = run["run"].as_str().expect("an id");
    assert_eq!(run["state"], "paused");
    let control = |action: Json| server.post(&format!("/api/runs/{id}/control"), &action);
    let one = |server: &Server| {
        let mut first = server.follow(&format!("/api/runs/{id}/events"), |live| {
            !live["current"].is_null()
        });
        first.pop().expect("a batch")
    };
    let before = one(&server);
    assert_eq!((&before["test"], &before["step"]), (&json!(1), &json!(0)));
    assert_eq!(before["current"]["states"][0]["text"], "closed");
    assert!(
        before["current"]["stimuli"]
            .as_array()
            .expect("stimuli")
            .contains(&json!("?open"))
    );
    for expected in 1..=5 {
        control(json!({"action": "step"}));
        let path = format!("/api/runs/{id}/events");
        let seen = server.follow(&path, |live| live["step"].as_u64() == Some(expected));
        let last = seen.last().expect("a batch");
        assert_eq!(last["state"], "paused");
        let recent = last["recent"].as_array().expect("recent");
        assert_eq!(recent.len() as u64, expected, "{last}");
    }
    control(json!({"action": "speed", "delay_ms": 5}));
    assert_eq!(control(json!({"action": "resume"}))["state"], "running");
    server.wait_until(&format!("/api/runs/{id}"), |run| {
        run["steps"].as_u64() > Some(20)
    });
    control(json!({"action": "speed", "delay_ms": 0}));
    server.wait_until(&format!("/api/runs/{id}"), |run| {
        run["tests"].as_u64() > Some(50)
    });
    control(json!({"action": "stop"}));
    let end = server.wait_until(&format!("/api/runs/{id}"), is_over);
    assert_eq!(end["state"], "stopped");
    assert_eq!(end["message"], "it was interrupted");
}

#[test]
fn batches_add_up_however_fast_the_run_goes() {
    let server = Server::door();
    let mut request = long_run();
    request["tests"] = json!(3000);
    let (run, batches) = server.run(&request);
    let detail = server.get(&format!("/api/runs/{run}"));
    let mut counts = std::collections::BTreeMap::new();
    for batch in &batches {
        for pair in batch["switch_counts"].as_array().expect("counts") {
            let (id, count) = (pair[0].as_u64(), pair[1].as_u64());
            let old = counts.insert(id, count);
            assert!(old.flatten() < count, "absolute counts that have grown");
        }
    }
    let added: Vec<Json> = counts
        .iter()
        .map(|(id, count)| json!([id, count]))
        .collect();
    assert_eq!(json!(added), detail["switch_counts"]);
    let steps: Vec<u64> = batches.iter().filter_map(|b| b["steps"].as_u64()).collect();
    assert!(steps.is_sorted(), "{steps:?}");
    assert_eq!(
        batches.last().map(|b| b["steps"].clone()),
        Some(detail["steps"].clone())
    );
    let trend: Vec<u64> = batches
        .iter()
        .flat_map(|b| b["trend"].as_array().expect("a trend"))
        .filter_map(|point| point["steps"].as_u64())
        .collect();
    assert!(trend.is_sorted() && !trend.is_empty(), "{trend:?}");
    assert_eq!(detail["tests_listed"].as_array().map(Vec::len), Some(1000));
}

#[test]
fn the_system_is_used_by_one_run_at_a_time() {
    let server = Server::door();
    let run = server.post("/api/runs", &long_run());
    let refused = server.try_post("/api/runs", &long_run());
    assert_eq!(refused.status, 409, "{}", refused.text);
    assert!(
        refused.json()["hint"]
            .as_str()
            .expect("a hint")
            .contains("stop it")
    );
    let path = format!("/api/runs/{}", run["run"].as_str().expect("an id"));
    server.post(&format!("{path}/control"), &json!({"action": "stop"}));
    server.wait_until(&path, is_over);
    let mut short = long_run();
    short["tests"] = json!(1);
    server.run(&short);
}

#[test]
fn a_reader_that_goes_away_does_not_disturb_the_run() {
    let server = Server::door();
    let run = server.post("/api/runs", &long_run());
    let path = format!("/api/runs/{}", run["run"].as_str().expect("an id"));
    for _ in 0..5 {
        let mut stream = TcpStream::connect(&server.address).expect("connected");
        let (address, token) = (&server.address, &server.token);
        let request =
            format!("GET {path}/events?token={token} HTTP/1.1\r\nHost: {address}\r\n\r\n");
        stream.write_all(request.as_bytes()).expect("written");
        drop(stream);
    }
    let before = server.get(&path)["steps"].as_u64();
    server.wait_until(&path, |run| run["steps"].as_u64() > before);
    server.post(&format!("{path}/control"), &json!({"action": "stop"}));
    server.wait_until(&path, is_over);
}

#[test]
fn a_run_can_begin_where_somebody_walked_to() {
    let server = Server::door();
    let mut request = long_run();
    request["tests"] = json!(5);
    request["prefix"] = json!([{"label": "lock", "values": {"code": 17}}, {"label": "?unlock", "values": {"code": 17}}]);
    let (run, _) = server.run(&request);
    for number in 1..=5 {
        let test = server.get(&format!("/api/runs/{run}/tests/{number}"));
        let steps = test["trace"]["steps"].as_array().expect("steps");
        let stimuli: Vec<&str> = steps
            .iter()
            .filter(|step| step["kind"] == "stimulus")
            .filter_map(|step| step["text"].as_str())
            .collect();
        assert_eq!(stimuli[..2], ["?lock(code=17)", "?unlock(code=17)"]);
        assert!(stimuli.len() > 2, "the strategy goes on: {stimuli:?}");
    }
    let refused = server.try_post(
        "/api/runs",
        &json!({"model": "door.aml", "prefix": [{"label": "fly"}]}),
    );
    assert_eq!(refused.status, 400, "{}", refused.text);
}

#[test]
fn every_strategy_that_is_offered_runs() {
    let server = Server::door();
    let project = server.get("/api/project");
    for strategy in project["strategies"].as_array().expect("strategies") {
        let mut request = long_run();
        request["tests"] = json!(3);
        request["strategy"] = strategy.clone();
        let (run, batches) = server.run(&request);
        assert_eq!(batches.last().expect("a batch")["state"], "finished");
        let detail = server.get(&format!("/api/runs/{run}"));
        assert_eq!(&detail["strategy"], strategy);
        assert_eq!(detail["tests"], 3);
    }
}

/// The points of a curve at which something new is covered.
fn rises(trend: impl Iterator<Item = Json>) -> Vec<Json> {
    let mut last = None;
    let mut found = BTreeMap::new();
    for point in trend {
        let covered = [&point["locations"], &point["switches"], &point["data"]].map(Json::as_u64);
        if last != Some(covered) {
            last = Some(covered);
            // A later point of the same step takes the place of the earlier one.
            found.insert(point["steps"].as_u64(), point);
        }
    }
    found.into_values().collect()
}

#[test]
fn the_live_curve_has_every_step_that_covers_something() {
    let server = Server::door();
    let mut request = long_run();
    request["tests"] = json!(200);
    let (run, batches) = server.run(&request);
    let live = rises(
        batches
            .iter()
            .flat_map(|batch| batch["trend"].as_array().expect("a trend").clone()),
    );
    // The same run from its stored events.
    let server = server.restart();
    let stored = server.get(&format!("/api/runs/{run}"));
    let stored = rises(stored["trend"].as_array().expect("a trend").iter().cloned());
    assert!(stored.len() > 5, "{stored:?}");
    assert_eq!(live, stored);
    // And from the steps of its first test.
    let test = server.get(&format!("/api/runs/{run}/tests/1"));
    let mut taken = std::collections::BTreeSet::new();
    for (index, step) in test["trace"]["steps"]
        .as_array()
        .expect("steps")
        .iter()
        .enumerate()
    {
        let switches = step["switches"].as_array().expect("switches");
        taken.extend(switches.iter().filter_map(Json::as_u64));
        let at = index as u64 + 1;
        let point = live
            .iter()
            .rfind(|point| point["steps"].as_u64() <= Some(at));
        let covered = point.and_then(|point| point["switches"].as_u64());
        assert_eq!(covered, Some(taken.len() as u64), "after step {at}");
    }
}

#[test]
fn a_run_says_what_it_waits_for_until_the_system_is_ready() {
    let folder = door();
    // This door is ready once somebody lets it.
    let text = std::fs::read_to_string(folder.path().join("door.py")).expect("the door");
    let patient = text.replace(
        "door = Door()\nfor line",
        "import os, time\nwhile not os.path.exists('go'):\n    time.sleep(0.01)\ndoor = Door()\nfor line",
    );
    assert_ne!(text, patient);
    std::fs::write(folder.path().join("door.py"), patient).expect("written");
    let settings = folder.path().join("ioco.toml");
    let text = std::fs::read_to_string(&settings).expect("settings");
    let text = text.replace("[sut]\n", "[sut]\nready_within = \"100s\"\n");
    std::fs::write(&settings, text).expect("written");
    let server = Server::start(folder);
    let run = server.post("/api/runs", &json!({"model": "door.aml", "tests": 2}));
    let events = format!("/api/runs/{}/events", run["run"].as_str().expect("an id"));
    let before = server.follow(&events, |live| !live["waiting"].is_null());
    let waiting = &before.last().expect("a batch")["waiting"];
    assert_eq!(waiting["what"], "the system to be ready");
    assert_eq!(waiting["limit"], 100.0);
    assert!(waiting["since"].as_f64() < Some(100.0));
    std::fs::write(server.file("go"), "").expect("written");
    let after = server.follow(&events, is_over);
    let last = after.last().expect("a batch");
    assert!(last["waiting"].is_null(), "{last}");
    assert!(last["tests"].as_u64() > Some(0), "{last}");
}

#[test]
fn a_run_says_who_has_to_connect() {
    let folder = door();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address").to_string();
    drop(listener);
    let settings = format!("model = \"door.aml\"\n[sut]\ntcp_listen = \"{address}\"\n");
    std::fs::write(folder.path().join("ioco.toml"), settings).expect("written");
    let server = Server::start(folder);
    let run = server.post("/api/runs", &json!({"model": "door.aml", "tests": 2}));
    let path = format!("/api/runs/{}", run["run"].as_str().expect("an id"));
    let told = server.wait_until(&path, |run| !run["message"].is_null());
    let message = format!("waiting for the system to connect to {address}");
    assert_eq!(told["message"], json!(message));
    server.post(&format!("{path}/control"), &json!({"action": "stop"}));
    server.wait_until(&path, is_over);
}

#[test]
fn several_jobs_test_side_by_side() {
    let server = Server::door();
    let mut request = long_run();
    request["jobs"] = json!(3);
    let run = server.post("/api/runs", &request);
    let path = format!("/api/runs/{}", run["run"].as_str().expect("an id"));
    let seen = server.follow(&format!("{path}/events"), |live| {
        let workers = live["workers"].as_array().expect("workers");
        workers.len() == 3 && workers.iter().all(|one| one["tests"].as_u64() > Some(0))
    });
    let last = seen.last().expect("a batch");
    let names: Vec<&str> = last["workers"]
        .as_array()
        .expect("workers")
        .iter()
        .filter_map(|worker| worker["worker"].as_str())
        .collect();
    assert_eq!(names, ["job 1", "job 2", "job 3"]);
    assert!(
        last["waiting"].is_null() && last["current"].is_null(),
        "{last}"
    );
    assert_eq!(server.get(&path)["request"]["jobs"], 3);
    for action in ["pause", "step", "resume", "speed"] {
        let control = json!({"action": action, "delay_ms": 5});
        let refused = server.try_post(&format!("{path}/control"), &control);
        assert_eq!(refused.status, 400, "{action}: {}", refused.text);
    }
    server.post(&format!("{path}/control"), &json!({"action": "stop"}));
    let end = server.wait_until(&path, is_over);
    assert_eq!(end["state"], "stopped");
    for (field, value) in [("paused", json!(true)), ("delay_ms", json!(5))] {
        let mut slow = request.clone();
        slow[field] = value;
        assert_eq!(server.try_post("/api/runs", &slow).status, 400, "{field}");
    }
    for jobs in [0, 1000] {
        let refused = server.try_post("/api/runs", &json!({"model": "door.aml", "jobs": jobs}));
        assert_eq!(refused.status, 400, "{jobs}: {}", refused.text);
    }
}

#[test]
fn a_failure_is_replayed_and_shrunk_by_several_jobs() {
    let server = Server::door();
    let (run, _) = server.run(&json!({"model": "door.aml", "seed": 2}));
    let detail = server.get(&format!("/api/runs/{run}"));
    let id = detail["failure_ids"][0]
        .as_str()
        .expect("a failure")
        .to_owned();
    let replayed = server.job(
        &format!("/api/failures/{id}/replay"),
        &json!({"times": 6, "jobs": 3}),
    );
    assert_eq!(replayed["result"]["verdict"], "still-failing", "{replayed}");
    assert_eq!(replayed["result"]["runs"], 6);
    let shrunk = server.job(&format!("/api/failures/{id}/shrink"), &json!({"jobs": 3}));
    assert_eq!(shrunk["state"], "finished", "{shrunk}");
    assert!(shrunk["result"]["to"].as_u64() <= shrunk["result"]["from"].as_u64());
    for what in ["replay", "shrink"] {
        let refused = server.try_post(&format!("/api/failures/{id}/{what}"), &json!({"jobs": 0}));
        assert_eq!(refused.status, 400, "{}", refused.text);
    }
}

#[test]
fn a_run_of_this_server_says_what_was_asked_for() {
    let server = Server::door();
    let request = json!({"model": "door.aml", "connection": simulated(), "tests": 3, "seed": 7});
    let (run, _) = server.run(&request);
    let kept = server.get(&format!("/api/runs/{run}"))["request"].clone();
    for (field, value) in request.as_object().expect("fields") {
        assert_eq!(&kept[field], value, "{field}");
    }
    // The same is asked for once more with it.
    let (again, _) = server.run(&kept);
    let both = [&run, &again].map(|id| server.get(&format!("/api/runs/{id}")));
    assert_eq!(both[0]["steps"], both[1]["steps"]);
    // A run that the terminal started, or an earlier server, has none.
    let server = server.restart();
    let old = server.get(&format!("/api/runs/{run}"));
    assert!(old["request"].is_null(), "{old}");
}

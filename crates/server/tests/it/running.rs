//! Runs as they go on: batches, pausing, stepping, slow motion, stopping, and who may not.

use std::io::Write as _;
use std::net::TcpStream;

use serde_json::{Value as Json, json};

use crate::client::{Server, is_over, simulated};

fn long_run() -> Json {
    json!({"model": "door.aml", "connection": simulated(), "tests": 1_000_000, "seed": 1})
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

//! A live system that fails, is shrunk, explained, replayed, and repaired.

use serde_json::json;

use crate::client::Server;

#[test]
fn a_failure_is_found_shrunk_read_and_repaired_from_the_page() {
    let server = Server::door();
    let (run, batches) = server.run(&json!({"model": "door.aml", "seed": 2}));
    let end = batches.last().expect("a batch");
    assert_eq!(end["state"], "finished", "{end}");
    let told: Vec<&serde_json::Value> = batches
        .iter()
        .flat_map(|batch| batch["failures"].as_array().expect("failures"))
        .collect();
    assert_eq!(told.len(), 1, "the failure is told once: {told:?}");
    let id = told[0]["id"].as_str().expect("an id");
    assert_eq!(told[0]["run"], json!(run));

    let detail = server.get(&format!("/api/runs/{run}"));
    assert_eq!(detail["failure_ids"], json!([id]));
    let failing = &detail["tests_listed"][0];
    assert_eq!(
        (&failing["verdict"], &failing["failure"]),
        (&json!("fail"), &json!(id))
    );
    let test = server.get(&format!("/api/runs/{run}/tests/{}", failing["number"]));
    let steps = test["trace"]["steps"].as_array().expect("steps");
    assert_eq!(steps.last().expect("a step")["kind"], "deviation");

    let failure = server.get(&format!("/api/failures/{id}"));
    let shrunk = failure["shrunk"]["steps"].as_array().expect("steps");
    let kinds: Vec<&str> = shrunk.iter().filter_map(|s| s["kind"].as_str()).collect();
    assert_eq!(kinds.last(), Some(&"deviation"), "{kinds:?}");
    assert!(
        shrunk
            .iter()
            .all(|step| !step["states"].as_array().expect("states").is_empty())
    );
    let changes = |step: &serde_json::Value| step["changes"][0]["variable"] == "secret";
    assert!(shrunk.iter().any(changes), "locking sets the secret");
    for step in shrunk.iter().filter(|step| step["kind"] != "silence") {
        assert!(step["at"].is_u64(), "{step}");
        assert_eq!(step["wire"].as_array().map(Vec::len), Some(1), "{step}");
    }
    let original = failure["original"]["steps"].as_array().expect("steps");
    assert!(
        original
            .iter()
            .any(|step| step["wire"][0]["text"].as_str().is_some())
    );
    assert!(original.iter().all(|step| step["at"].as_u64().is_some()));
    assert!(
        failure["explanation"]
            .as_str()
            .expect("text")
            .contains("expected")
    );
    assert!(!failure["because"].as_array().expect("reasons").is_empty());
    assert_eq!(
        failure["model_lines"][0]["file"]
            .as_str()
            .map(|f| f.ends_with("door.aml")),
        Some(true)
    );
    assert!(
        failure["shrinking_progress"]
            .as_array()
            .expect("points")
            .len()
            > 1
    );

    let again = server.job(&format!("/api/failures/{id}/replay"), &json!({"times": 3}));
    assert_eq!(again["result"]["verdict"], "still-failing", "{again}");
    assert_eq!(again["result"]["failed"], 3);
    assert!(again["result"]["trace"]["length"].as_u64() > Some(0));

    let shrink = server.job(
        &format!("/api/failures/{id}/shrink"),
        &json!({"shrinker": "delta"}),
    );
    assert_eq!(shrink["state"], "finished", "{shrink}");
    let progress = shrink["shrinking_progress"].as_array().expect("points");
    assert_eq!(progress[0]["length"], shrink["result"]["from"]);
    assert_eq!(
        progress[progress.len() - 1]["length"],
        shrink["result"]["to"]
    );
    let id = shrink["result"]["failure"].as_str().expect("an id");
    let listed = server.get("/api/failures?model=door.aml");
    assert_eq!(listed.as_array().map(Vec::len), Some(1), "{listed}");
    assert_eq!(listed[0]["id"], json!(id));

    let system = std::fs::read_to_string(server.file("door.py")).expect("the system");
    let repaired = system.replace("if self.code is None:\n", "if True:\n");
    assert_ne!(system, repaired);
    std::fs::write(server.file("door.py"), repaired).expect("written");
    let fixed = server.job(&format!("/api/failures/{id}/replay"), &json!({}));
    assert_eq!(fixed["result"]["verdict"], "fixed", "{fixed}");
    let nothing = server.job(&format!("/api/failures/{id}/shrink"), &json!({}));
    assert_eq!(nothing["state"], "error");
    assert!(
        nothing["message"]
            .as_str()
            .expect("why")
            .contains("no longer fails")
    );

    let (later, batches) = server.run(&json!({"model": "door.aml", "seed": 3, "tests": 20}));
    assert_eq!(batches.last().expect("a batch")["state"], "finished");
    let compared = server.get(&format!("/api/compare?a={run}&b={later}"));
    assert_eq!(compared["a"]["failures"], 1);
    assert_eq!(compared["b"]["failures"], 0);
    assert!(!compared["gained"].as_array().expect("gained").is_empty());
    let runs = server.get("/api/runs?model=door.aml");
    let ids: Vec<&str> = runs
        .as_array()
        .expect("runs")
        .iter()
        .filter_map(|r| r["run"].as_str())
        .collect();
    assert_eq!(ids, [later.as_str(), run.as_str()], "newest first");
}

#[test]
fn what_a_later_server_reads_from_the_record_is_what_the_run_showed() {
    let server = Server::door();
    let (run, _) = server.run(&json!({"model": "door.aml", "seed": 2, "failures": 0, "tests": 12}));
    let live = server.get(&format!("/api/runs/{run}"));
    let server = server.restart();
    let read = server.get(&format!("/api/runs/{run}"));
    for key in [
        "switch_counts",
        "location_counts",
        "coverage",
        "tests",
        "steps",
        "failures",
        "seed",
        "state",
        "failure_ids",
    ] {
        assert_eq!(live[key], read[key], "{key}");
    }
    let rows = |detail: &serde_json::Value| -> Vec<(u64, String)> {
        let rows = detail["tests_listed"].as_array().expect("rows").clone();
        rows.iter()
            .map(|r| (r["number"].as_u64().unwrap_or(0), r["verdict"].to_string()))
            .collect()
    };
    assert_eq!(rows(&live), rows(&read));
    let events = server.try_get(&format!("/api/runs/{run}/events"));
    assert_eq!(
        events.status, 404,
        "a run of another server is not followed"
    );
}

//! Walking by hand on the real system: both sides, the judgement, what is kept, and who may use the system.

use std::fs;

use serde_json::{Value as Json, json};

use crate::client::Server;

fn give(server: &Server, label: &str, values: &Json) -> Json {
    let step = json!({"action": "give", "label": label, "values": values});
    server.post("/api/walk/step", &step)
}

fn texts(walk: &Json) -> Vec<&str> {
    let steps = walk["exploration"]["trace"]["steps"].as_array();
    let steps = steps.expect("steps").iter();
    steps.filter_map(|step| step["text"].as_str()).collect()
}

#[test]
fn the_system_answers_and_its_bytes_and_log_stand_beside_the_steps() {
    let server = Server::door();
    let file = server.file("door.py");
    let text = fs::read_to_string(&file).expect("read");
    let logs = text.replace(
        "        answer =",
        "        print('asked to', message['stimulus'], file=sys.stderr, flush=True)\n        answer =",
    );
    assert_ne!(logs, text);
    fs::write(&file, logs).expect("written");
    assert_eq!(server.get("/api/walk")["state"], "none");
    let walk = server.post("/api/walk", &json!({"model": "door.aml"}));
    assert_eq!(walk["state"], "going");
    assert_eq!(walk["system"], "python3 door.py");
    let walk = give(&server, "?lock", &json!({"code": 17}));
    assert_eq!(texts(&walk), ["?lock(code=17)", "!locked"]);
    let states = &walk["exploration"]["states"];
    assert!(
        states[0]["text"]
            .as_str()
            .expect("text")
            .contains("secret: 17"),
        "{states}"
    );
    let walk = server.post("/api/walk/step", &json!({"action": "listen"}));
    assert_eq!(texts(&walk).last(), Some(&"silence"));
    // The log is another stream: it may come a moment later than the answer.
    let walk = server.wait_until("/api/walk", |walk| {
        walk.to_string().contains("asked to lock")
    });
    assert!(
        walk.to_string().contains(r#"\"response\": \"locked\""#),
        "{walk}"
    );
    assert_eq!(
        server.post("/api/walk/step", &json!({"action": "end"}))["state"],
        "none"
    );
    let refused = server.try_post("/api/walk/step", &json!({"action": "listen"}));
    assert_eq!(refused.status, 409);
}

#[test]
fn a_deviation_ends_the_walk_and_the_walk_is_kept_as_a_test_that_fails() {
    let server = Server::door();
    server.post("/api/walk", &json!({"model": "door.aml"}));
    for (label, code) in [("?lock", 1), ("?unlock", 1), ("?lock", 2)] {
        assert_eq!(
            give(&server, label, &json!({"code": code}))["state"],
            "going"
        );
    }
    let kept = server.post("/api/walk/keep", &json!({}));
    assert_eq!(
        (&kept["file"], &kept["tests"]),
        (&json!("door-walks.jsonl"), &json!(1))
    );
    let walk = give(&server, "?unlock", &json!({"code": 2}));
    assert_eq!(walk["state"], "failed");
    assert_eq!(texts(&walk).last(), Some(&"!refused"));
    let message = walk["message"].as_str().expect("a message");
    assert!(message.starts_with("D001"), "{message}");
    assert_eq!(walk["exploration"]["menu"], json!([]));
    assert_eq!(server.post("/api/walk/keep", &json!({}))["tests"], 2);
    let suite = fs::read_to_string(server.file("door-walks.jsonl")).expect("kept");
    let lines: Vec<Json> = suite
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!(lines[0]["model"], "door");
    assert_eq!(lines[2]["steps"].as_array().map(Vec::len), Some(7));
    // What is no suite is not written over.
    fs::write(server.file("door-walks.jsonl"), "notes of mine\n").expect("written");
    assert_eq!(server.try_post("/api/walk/keep", &json!({})).status, 400);
    let left = fs::read_to_string(server.file("door-walks.jsonl")).expect("there");
    assert_eq!(left, "notes of mine\n");
}

#[test]
fn what_the_model_does_not_offer_is_not_given() {
    let server = Server::door();
    server.post("/api/walk", &json!({"model": "door.aml"}));
    let walk = give(&server, "?close", &json!({}));
    assert_eq!(walk["state"], "going");
    assert!(texts(&walk).is_empty());
    assert!(
        walk["message"]
            .as_str()
            .expect("why")
            .contains("was not given")
    );
    let unknown = json!({"action": "give", "label": "?explode"});
    assert_eq!(server.try_post("/api/walk/step", &unknown).status, 400);
}

#[test]
fn a_page_names_no_system_and_a_run_takes_the_system_from_a_walk() {
    let server = Server::door();
    let other =
        json!({"model": "door.aml", "connection": {"kind": "process", "text": "touch started"}});
    assert_eq!(server.try_post("/api/walk", &other).status, 400);
    assert!(!server.file("started").exists());
    server.post("/api/walk", &json!({"model": "door.aml"}));
    let (run, _) = server.run(&json!({"model": "door.aml", "tests": 1, "steps": 2}));
    assert_eq!(server.get(&format!("/api/runs/{run}"))["state"], "finished");
    assert_eq!(server.get("/api/walk")["state"], "none");
}

#[test]
fn a_system_that_ends_ends_the_walk_with_its_last_words() {
    let server = Server::door();
    let dies = "import sys\nfor line in sys.stdin:\n    if 'reset' in line:\n        print('{\"ready\": true}', flush=True)\n    else:\n        sys.exit('no such door')\n";
    fs::write(server.file("door.py"), dies).expect("written");
    server.post("/api/walk", &json!({"model": "door.aml"}));
    let walk = give(&server, "?open", &json!({}));
    assert_eq!(walk["state"], "over");
    assert!(walk.to_string().contains("no such door"), "{walk}");
}

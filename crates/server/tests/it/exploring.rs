//! Walking by hand, and tests for goals.

use serde_json::json;

use crate::client::{Server, door, simulated};

#[test]
fn models_in_every_form_are_listed_and_other_files_of_json_are_not() {
    let folder = door();
    let lamp = "des (0, 1, 2)\n(0, \"?press\", 1)\n";
    let lamp = ioco_formats::aut::read("lamp", lamp, &ioco_formats::LabelMap::default())
        .expect("a system");
    let lamp = ioco_formats::json::write(&lamp);
    let files = [
        ("lamp.json", lamp.as_str()),
        ("package.json", r#"{"name": "door", "version": "1.0.0"}"#),
        ("broken.json", "{"),
        ("walk.json", r#"{"models": []}"#),
        (
            "lamp.mmd",
            "stateDiagram-v2\n  [*] --> off\n  off --> on : ?press\n",
        ),
    ];
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).expect("written");
    }
    let server = Server::start(folder);
    let project = server.get("/api/project");
    let paths: Vec<&str> = project["models"]
        .as_array()
        .expect("models")
        .iter()
        .filter_map(|model| model["path"].as_str())
        .collect();
    assert_eq!(paths, ["door.aml", "lamp.json", "lamp.mmd", "walk.json"]);
    let model = server.get("/api/model?path=lamp.json");
    assert_eq!(model["diagnostics"], json!([]));
}

#[test]
fn the_project_and_its_model_are_shown() {
    let server = Server::door();
    let project = server.get("/api/project");
    assert_eq!(project["model"], "door.aml");
    assert_eq!(
        project["models"],
        json!([{"path": "door.aml", "name": "door"}])
    );
    assert_eq!(
        project["connection"],
        json!({"kind": "process", "text": "python3 door.py"})
    );
    assert_eq!(project["settings"]["tests"], 100);
    assert!(
        project["shrinkers"]
            .as_array()
            .expect("shrinkers")
            .contains(&json!("auto"))
    );
    let model = server.get("/api/model?path=door.aml");
    assert_eq!(model["name"], "door");
    let switches = model["switches"].as_array().expect("switches");
    let guarded = switches
        .iter()
        .find(|s| s["guard"] == "code == secret")
        .expect("a guard");
    assert_eq!(guarded["label"], "?unlock(code)");
    let line = guarded["line"].as_u64().expect("a line") as usize;
    let source = model["sources"][0]["text"].as_str().expect("text");
    assert!(
        source
            .lines()
            .nth(line - 1)
            .expect("that line")
            .contains("code == secret")
    );
    assert_eq!(guarded["file"], model["sources"][0]["file"]);
}

#[test]
fn a_walk_goes_where_the_model_allows_with_values_of_the_solver() {
    let server = Server::door();
    let walk = |trace: serde_json::Value| {
        server.post(
            "/api/explore",
            &json!({"model": "door.aml", "seed": 1, "trace": trace}),
        )
    };
    let start = walk(json!([]));
    let label = |entry: &serde_json::Value| entry["label"].as_str().unwrap_or_default().to_owned();
    let menu: Vec<String> = start["menu"]
        .as_array()
        .expect("a menu")
        .iter()
        .map(label)
        .collect();
    assert_eq!(menu, ["?open", "?lock", "silence"]);
    let locked = walk(json!([
        {"kind": "stimulus", "label": "?lock", "values": {"code": 17}},
        {"kind": "response", "label": "!locked", "values": {}},
    ]));
    assert_eq!(locked["states"][0]["text"], "locked {secret: 17}");
    let menu = locked["menu"].as_array().expect("a menu");
    let unlock = menu
        .iter()
        .find(|entry| entry["label"] == "?unlock")
        .expect("unlock");
    let codes = unlock["parameters"][0]["suggestions"]
        .as_array()
        .expect("codes");
    assert!(
        codes.contains(&json!(17)),
        "the solver finds the secret: {codes:?}"
    );
    assert!(codes.len() > 1, "and others: {codes:?}");
    let wrong = walk(json!([{"kind": "response", "label": "!opened"}]));
    assert!(
        wrong["problem"]
            .as_str()
            .expect("a problem")
            .contains("a system that does it fails")
    );
}

#[test]
fn a_test_is_generated_for_one_switch_or_for_all_and_run() {
    let server = Server::door();
    let none = server.try_post("/api/goals/run", &json!({"model": "door.aml"}));
    assert_eq!(none.status, 400, "{}", none.text);
    let one = server.job(
        "/api/generate",
        &json!({"model": "door.aml", "only": {"kind": "switch", "id": 9}}),
    );
    let goal = &one["result"]["goals"][0];
    assert_eq!(goal["verdict"], "covered", "{one}");
    let steps = goal["test"]["steps"].as_array().expect("steps");
    let takes = |step: &serde_json::Value| {
        step["switches"]
            .as_array()
            .is_some_and(|s| s.contains(&json!(9)))
    };
    assert!(steps.iter().any(takes), "the test takes the switch");
    let all = server.job(
        "/api/generate",
        &json!({"model": "door.aml", "cover": "locations,switches"}),
    );
    let goals = all["result"]["goals"].as_array().expect("goals");
    assert!(
        goals.iter().all(|goal| goal["verdict"] == "covered"),
        "{goals:?}"
    );
    assert_eq!(
        server.get("/api/goals?model=door.aml"),
        all["result"]["goals"]
    );
    let run = server.post(
        "/api/goals/run",
        &json!({"model": "door.aml", "connection": simulated()}),
    );
    let id = run["run"].as_str().expect("an id");
    let end = server.wait_until(&format!("/api/runs/{id}"), crate::client::is_over);
    assert_eq!(end["state"], "finished");
    assert_eq!(end["failures"], 0);
    let covered = &end["coverage"]["switches"];
    assert_eq!(covered[0], covered[1], "the suite covers every switch");
    // Another text has other goals.
    let text = std::fs::read_to_string(server.file("door.aml")).expect("the model");
    std::fs::write(server.file("door.aml"), format!("{text}\n# changed\n")).expect("written");
    assert_eq!(server.get("/api/goals?model=door.aml"), json!([]));
}

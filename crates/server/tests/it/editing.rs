//! Editing a model in the page: what is said about a draft, what may be written, and what a page hears of changes.

use serde_json::{Value as Json, json};

use crate::client::{Server, door};

fn file_of(model: &Json) -> String {
    model["sources"][0]["file"]
        .as_str()
        .expect("a file")
        .to_owned()
}

fn text_of(model: &Json) -> String {
    model["sources"][0]["text"]
        .as_str()
        .expect("a text")
        .to_owned()
}

#[test]
fn a_draft_is_checked_and_completed_without_being_written() {
    let server = Server::door();
    let model = server.get("/api/model?path=door.aml");
    let (file, text) = (file_of(&model), text_of(&model));
    let wrong = text.replacen("receive 'open'", "receive 'opne'", 1);
    let ask = |text: &str, at: Option<usize>| {
        let request = json!({"model": "door.aml", "file": file, "text": text, "at": at});
        server.post("/api/model/check", &request)
    };
    assert_eq!(ask(&text, None)["diagnostics"], json!([]));
    let said = ask(&wrong, None);
    let diagnostic = &said["diagnostics"][0];
    assert_eq!(diagnostic["severity"], "error");
    assert_eq!(diagnostic["fix"]["text"], "open");
    let from = diagnostic["fix"]["from"].as_u64().expect("a place") as usize;
    assert!(wrong[from..].starts_with("opne"));
    let at = text.find("receive '").expect("a step") + "receive '".len();
    let completions = ask(&text, Some(at))["completions"].clone();
    let names: Vec<&str> = completions
        .as_array()
        .expect("completions")
        .iter()
        .filter_map(|one| one["text"].as_str())
        .collect();
    assert!(
        names.iter().any(|name| name.contains("unlock")),
        "{names:?}"
    );
    let on_disk = std::fs::read_to_string(server.folder.path().join("door.aml")).expect("read");
    assert_eq!(on_disk, text);
}

#[test]
fn a_saved_text_with_errors_keeps_the_graph_of_the_last_good_one() {
    let server = Server::door();
    let model = server.get("/api/model?path=door.aml");
    let (file, text) = (file_of(&model), text_of(&model));
    let save = |text: &str, before: &str| {
        let request = json!({"model": "door.aml", "file": file, "text": text, "before": before});
        server.post("/api/model/save", &request)
    };
    let wrong = text.replacen("receive 'open'", "receive 'opne'", 1);
    let saved = save(&wrong, &text);
    assert_eq!(saved["stale"], true);
    assert_eq!(saved["locations"], model["locations"]);
    assert_eq!(saved["diagnostics"][0]["severity"], "error");
    assert_eq!(saved["sources"][0]["text"], wrong);
    let on_disk = std::fs::read_to_string(server.folder.path().join("door.aml")).expect("read");
    assert_eq!(on_disk, wrong);
    let run = server.try_post("/api/runs", &json!({"model": "door.aml"}));
    assert_eq!(run.status, 422, "{}", run.text);
    let again = save(&text, &wrong);
    assert_eq!(again["stale"], false);
    assert_eq!(again["diagnostics"], json!([]));
}

#[test]
fn what_another_program_wrote_is_not_overwritten() {
    let server = Server::door();
    let model = server.get("/api/model?path=door.aml");
    let (file, text) = (file_of(&model), text_of(&model));
    let path = server.folder.path().join("door.aml");
    let other = format!("{text}\n# by another program\n");
    std::fs::write(&path, &other).expect("written");
    let request = json!({"model": "door.aml", "file": file, "text": "mine", "before": text});
    let answer = server.try_post("/api/model/save", &request);
    assert_eq!(answer.status, 409, "{}", answer.text);
    assert_eq!(std::fs::read_to_string(&path).expect("read"), other);
}

#[test]
fn only_files_of_the_model_below_the_project_are_written() {
    let outside = tempfile::tempdir().expect("a folder");
    let shared = outside.path().join("shared.aml");
    std::fs::write(&shared, "# shared\n").expect("written");
    let folder = door();
    #[cfg(unix)]
    std::os::unix::fs::symlink(&shared, folder.path().join("link.aml")).expect("a link");
    let server = Server::start(folder);
    let save = |model: &str, file: &str, before: &str| {
        let request = json!({"model": model, "file": file, "text": "# mine\n", "before": before});
        server.try_post("/api/model/save", &request).status
    };
    let root = server.folder.path();
    let python = std::fs::read_to_string(root.join("door.py")).expect("read");
    assert_eq!(
        save(
            "door.aml",
            &root.join("door.py").display().to_string(),
            &python
        ),
        404
    );
    assert_eq!(
        save("door.aml", &root.join("new.aml").display().to_string(), ""),
        404
    );
    assert_eq!(save("door.aml", "../shared.aml", "# shared\n"), 404);
    assert!(
        save(
            "link.aml",
            &root.join("link.aml").display().to_string(),
            "# shared\n"
        ) >= 400
    );
    assert_eq!(
        std::fs::read_to_string(&shared).expect("read"),
        "# shared\n"
    );
    assert!(!root.join("new.aml").exists());
}

#[test]
fn a_page_hears_of_changes_of_the_model_and_of_the_system() {
    let server = Server::door();
    let append = |name: &str| {
        let path = server.file(name);
        let text = std::fs::read_to_string(&path).expect("read");
        std::fs::write(&path, format!("{text}\n# more\n")).expect("written");
    };
    let told = server.follow("/api/model/events?path=door.aml", |event| {
        match (event["model"].as_u64(), event["system"].as_u64()) {
            (Some(0), Some(0)) => append("door.py"),
            (Some(0), Some(1)) => append("door.aml"),
            _ => return true,
        }
        false
    });
    let last = told.last().expect("news");
    assert_eq!((&last["model"], &last["system"]), (&json!(1), &json!(1)));
    assert!(
        last["file"]
            .as_str()
            .is_some_and(|file| file.ends_with("door.aml"))
    );
    assert_eq!(told.len(), 3, "{told:?}");
}

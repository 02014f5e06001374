//! What is refused, and in which words.

use serde_json::json;

use ioco_campaign::{Interrupt, Project, SystemChoice};
use ioco_server::{Options, serve};

use crate::client::{Server, is_over};

#[test]
fn only_this_machine_with_the_token_gets_an_answer() {
    let server = Server::door();
    let ask = |host: &str, path: &str, more: &str| {
        server.raw(&format!(
            "GET {path} HTTP/1.1\r\nHost: {host}\r\n{more}Connection: close\r\n\r\n"
        ))
    };
    let own = server.address.clone();
    let none = ask(&own, "/api/project", "");
    assert_eq!(none.status, 401);
    assert!(
        none.json()["hint"]
            .as_str()
            .expect("a hint")
            .contains("ioco serve")
    );
    assert_eq!(ask(&own, "/api/project?token=0123", "").status, 401);
    assert_eq!(ask(&own, "/api/nothing", "").status, 401);
    let token = &server.token;
    assert_eq!(
        ask(&own, &format!("/api/project?token={token}"), "").status,
        200
    );
    let stranger = format!("X-Ioco-Token: {token}\r\n");
    assert_eq!(
        ask("evil.example:80", "/api/project", &stranger).status,
        403
    );
    assert_eq!(ask("evil.example:80", "/", &stranger).status, 403);
    let page = ask(&own, "/", "");
    assert_eq!(page.status, 200);
    assert!(
        page.head.contains("content-security-policy"),
        "{}",
        page.head
    );
    assert!(page.text.contains("<title>ioco</title>"));
    assert_eq!(ask(&own, "/assets/../../Cargo.toml", "").status, 404);
}

#[test]
fn what_does_not_exist_is_named_with_what_to_do() {
    let server = Server::door();
    for (path, status, words) in [
        ("/api/runs/nothing", 404, "there is no run 'nothing'"),
        ("/api/runs/nothing/events", 404, "there is no run"),
        ("/api/runs/nothing/tests/1", 404, "there is no run"),
        ("/api/failures/0000", 404, "there is no failure '0000'"),
        ("/api/jobs/shrink-1", 404, "there is no job"),
        (
            "/api/model?path=other.aml",
            404,
            "there is no model other.aml",
        ),
        (
            "/api/model?path=../door.aml",
            400,
            "not in the project's folder",
        ),
        (
            "/api/model?path=/etc/passwd",
            400,
            "not in the project's folder",
        ),
        ("/api/model?path=door.py", 422, "is not a model file"),
        ("/api/compare?a=x", 400, "two runs are compared"),
        ("/api/unheard-of", 404, "there is no call"),
    ] {
        let answer = server.try_get(path);
        assert_eq!(answer.status, status, "{path}: {}", answer.text);
        let said = answer.json();
        assert!(
            said["error"].as_str().expect("an error").contains(words),
            "{path}: {said}"
        );
        assert!(!said["hint"].as_str().expect("a hint").is_empty(), "{path}");
    }
    for (body, words) in [
        (
            r#"{"model": "door.aml", "strategy": "clever"}"#,
            "no strategy 'clever'",
        ),
        (r#"{"model": "door.aml", "tests": 0}"#, "must be above 0"),
        (
            r#"{"model": "door.aml", "time": "soon"}"#,
            "'soon' is not a time",
        ),
        (
            r#"{"model": "door.aml", "tests": "many"}"#,
            "cannot be read",
        ),
        (
            r#"{"model": "door.aml", "connection": {"kind": "pigeon", "text": "x"}}"#,
            "no connection 'pigeon'",
        ),
        (
            r#"{"model": "door.aml", "connection": {"kind": "tcp", "text": ""}}"#,
            "is missing",
        ),
        ("{", "cannot be read"),
    ] {
        let answer = server.try_post_text("/api/runs", body);
        assert!(
            (400..500).contains(&answer.status),
            "{body}: {}",
            answer.status
        );
        assert!(
            answer.json()["error"]
                .as_str()
                .expect("an error")
                .contains(words),
            "{body}: {}",
            answer.text
        );
    }
    let get = server.try_get("/api/explore");
    assert_eq!(get.status, 405, "{}", get.text);
}

#[test]
fn a_model_with_errors_is_shown_with_them_and_not_run() {
    let server = Server::door();
    let text = std::fs::read_to_string(server.file("door.aml")).expect("the model");
    std::fs::write(
        server.file("door.aml"),
        text.replace("'secret = code'", "'sekret = code'"),
    )
    .expect("written");
    let model = server.get("/api/model?path=door.aml");
    assert_eq!(model["locations"], json!([]));
    let error = &model["diagnostics"][0];
    assert_eq!(error["severity"], "error");
    assert!(error["line"].as_u64() > Some(1), "{error}");
    let refused = server.try_post("/api/runs", &json!({"model": "door.aml"}));
    assert_eq!(refused.status, 422);
    assert!(refused.text.contains("has errors"), "{}", refused.text);
    std::fs::write(server.file("door.aml"), text).expect("written");
    assert_eq!(
        server.get("/api/model?path=door.aml")["diagnostics"],
        json!([])
    );
}

#[test]
fn a_system_that_cannot_be_started_ends_the_run_with_the_reason() {
    let server = Server::door();
    let connection = json!({"kind": "process", "text": "no-such-program --at all"});
    let run = server.post(
        "/api/runs",
        &json!({"model": "door.aml", "connection": connection}),
    );
    let path = format!("/api/runs/{}", run["run"].as_str().expect("an id"));
    let end = server.wait_until(&path, is_over);
    assert_eq!(end["state"], "error", "{end}");
    assert!(
        end["message"]
            .as_str()
            .expect("why")
            .contains("no-such-program"),
        "{end}"
    );
    assert_eq!(end["failures"], 0, "an error is never a failure");
}

#[test]
fn the_error_of_a_port_in_use_says_what_to_do() {
    let server = Server::door();
    let port = server
        .address
        .rsplit(':')
        .next()
        .and_then(|p| p.parse().ok());
    let options = Options {
        project: Project::find(Some(server.folder.path()), None).expect("a project"),
        system: SystemChoice::default(),
        port,
    };
    let stop = serve(options, &Interrupt::default(), |_| panic!("it cannot")).expect_err("in use");
    assert!(
        stop.message.contains("cannot serve at 127.0.0.1"),
        "{}",
        stop.message
    );
    assert!(stop.hint.expect("a hint").contains("--port"));
}

#[test]
fn files_that_never_end_or_never_begin_do_not_fill_the_memory() {
    let folder = crate::client::door();
    let at = |name: &str| folder.path().join(name);
    for name in ["zero.aml", "zero.json", "zero.aut"] {
        std::os::unix::fs::symlink("/dev/zero", at(name)).expect("linked");
    }
    for name in ["fifo.aml", "fifo.json"] {
        let made = std::process::Command::new("mkfifo").arg(at(name)).status();
        assert!(made.expect("mkfifo runs").success());
    }
    std::fs::write(at("include.aml"), "include '/dev/zero'\n").expect("written");
    let server = Server::start(folder);
    let models = server.get("/api/project")["models"].to_string();
    assert!(
        models.contains("door.aml") && !models.contains("zero.json"),
        "{models}"
    );
    for name in ["zero.aml", "fifo.aml", "zero.aut"] {
        let answer = server.try_get(&format!("/api/model?path={name}"));
        assert!(
            ["it is not a regular file", "is not in the project's folder"]
                .iter()
                .any(|words| answer.text.contains(words)),
            "{name}: {}",
            answer.text
        );
    }
    let shown = server.get("/api/model?path=include.aml")["diagnostics"].to_string();
    assert!(shown.contains("outside of"), "{shown}");
}

#[test]
fn a_failure_file_of_somebody_else_starts_nothing_from_the_page() {
    let server = Server::door();
    let (_, _) = server.run(&serde_json::json!({"model": "door.aml", "seed": 1}));
    let failures = server.get("/api/failures");
    let id = failures[0]["id"].as_str().expect("a failure").to_owned();
    let path = server.file(&format!(".ioco/failures/{id}.json"));
    let text = std::fs::read_to_string(&path).expect("its file");
    let mut file: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let connection = file["connection"].as_object_mut().expect("an object");
    connection.remove("system");
    let way = serde_json::json!({"shell": format!("touch {}", server.file("planted").display())});
    connection.insert(
        "reach".to_owned(),
        serde_json::json!({"way": way, "patience": 1}),
    );
    std::fs::write(&path, file.to_string()).expect("written");
    for call in ["replay", "shrink"] {
        let done = server.job(
            &format!("/api/failures/{id}/{call}"),
            &serde_json::json!({}),
        );
        assert_eq!(done["state"], "error", "{done}");
        assert!(
            done["message"].to_string().contains("not trusted"),
            "{done}"
        );
    }
    assert!(!server.file("planted").exists());
    // An id that is a way out of the project is nobody's.
    let answer = server.try_get("/api/failures/..%2F..%2F..%2Fescaped");
    assert_eq!(answer.status, 404, "{}", answer.text);
}

#[test]
fn a_deeply_nested_model_does_not_end_the_server() {
    let server = Server::door();
    for (name, open, close) in [
        ("a.aml", "(", ")"),
        ("b.aml", "{ ", " }"),
        ("c.aml", "!", ""),
    ] {
        let depth = 10_000;
        let text = format!(
            "process('deep') {{\n  var 'x', :integer, {}1{}\n}}\n",
            open.repeat(depth),
            close.repeat(depth)
        );
        std::fs::write(server.file(name), text).expect("written");
        let _ = server.try_get(&format!("/api/model?path={name}"));
        let answer = server.try_get("/api/project");
        assert_eq!(answer.status, 200, "{name}: {}", answer.text);
    }
    // A sum is as deep as it is long.
    let guard = format!("x == {}", vec!["1"; 100_000].join("+"));
    let model = serde_json::json!({"models": [{
        "name": "m", "startElementId": "a", "vertices": [{"id": "a"}, {"id": "b"}],
        "edges": [{"id": "e", "name": "?go", "sourceVertexId": "a", "targetVertexId": "b", "guard": guard}],
    }]});
    std::fs::write(server.file("sum.json"), model.to_string()).expect("written");
    let answer = server.try_get("/api/model?path=sum.json");
    assert!(answer.text.contains("nested deeper"), "{}", answer.text);
    let nested = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    std::fs::write(server.file("d.json"), &nested).expect("written");
    let _ = server.try_get("/api/model?path=d.json");
    assert_eq!(server.try_post_text("/api/explore", &nested).status, 400);
    assert_eq!(server.try_get("/api/project").status, 200);
}

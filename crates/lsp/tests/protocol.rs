//! The server as an editor sees it: messages in, messages out.

use std::path::Path;
use std::thread::JoinHandle;

use ioco_aml::SourceFile;
use ioco_engine::{CoverageSnapshot, SavedSwitch};
use ioco_store::{NewRun, Place, Recording, StoredModel};
use lsp_server::{Connection, Message, Notification, Request, RequestId};
use serde_json::{Value as Json, json};

const DOOR: &str = "\
external 'door'
process('main') {
  channel('door') {
    stimulus 'open', {'code' => integer(0..9)}
    responses 'opened', 'refused'
  }
  var 'secret', integer(0..9), 4
  state 'Closed'
  choice {
    o { receive 'open', constraint: 'code == secret'; send 'opened' }
    o { receive 'open', constraint: 'code != secret'; send 'refused' }
  }
  goto 'Closed'
}
";

struct Editor {
    connection: Connection,
    server: Option<JoinHandle<Result<(), String>>>,
    last: i32,
    diagnostics: Vec<Json>,
    folder: tempfile::TempDir,
}

impl Editor {
    fn start() -> Editor {
        let (connection, other) = Connection::memory();
        let server = std::thread::spawn(move || ioco_lsp::serve(&other));
        let mut editor = Editor {
            connection,
            server: Some(server),
            last: 0,
            diagnostics: Vec::new(),
            folder: tempfile::tempdir().unwrap(),
        };
        let answer = editor.ask("initialize", json!({ "capabilities": {} }));
        assert_eq!(answer["result"]["capabilities"]["hoverProvider"], true);
        editor.notify("initialized", json!({}));
        editor
    }

    fn uri(&self, file: &str) -> String {
        let path = self.folder.path().canonicalize().unwrap().join(file);
        format!("file://{}", Path::display(&path))
    }

    fn open(&mut self, file: &str, text: &str) {
        let document = json!({
            "uri": self.uri(file), "languageId": "aml", "version": 1, "text": text,
        });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
    }

    fn notify(&mut self, method: &str, params: Json) {
        let method = method.to_owned();
        let message = Message::Notification(Notification { method, params });
        self.connection.sender.send(message).unwrap();
    }

    /// Sends a request and waits for its answer; notifications on the way are kept.
    fn ask(&mut self, method: &str, params: Json) -> Json {
        self.last += 1;
        let id = RequestId::from(self.last);
        let request = Request::new(id.clone(), method.to_owned(), params);
        self.connection
            .sender
            .send(Message::Request(request))
            .unwrap();
        loop {
            match self.connection.receiver.recv().unwrap() {
                Message::Response(answer) if answer.id == id => {
                    return serde_json::to_value(answer).unwrap();
                }
                Message::Notification(received) => {
                    assert_eq!(received.method, "textDocument/publishDiagnostics");
                    self.diagnostics.push(received.params);
                }
                other => panic!("{other:?}"),
            }
        }
    }

    /// Asks about the place right after the first `needle` in `text`.
    fn at(&mut self, method: &str, file: &str, text: &str, needle: &str, more: Json) -> Json {
        let offset = text.find(needle).unwrap() + needle.len();
        let line = text[..offset].matches('\n').count();
        let start = text[..offset].rfind('\n').map_or(0, |at| at + 1);
        let mut params = json!({
            "textDocument": { "uri": self.uri(file) },
            "position": { "line": line, "character": offset - start },
        });
        for (key, value) in more.as_object().unwrap() {
            params[key] = value.clone();
        }
        self.ask(method, params)["result"].clone()
    }

    fn finish(mut self) {
        self.ask("shutdown", Json::Null);
        self.notify("exit", Json::Null);
        self.server.take().unwrap().join().unwrap().unwrap();
    }
}

fn lines(locations: &Json) -> Vec<u64> {
    let all = locations.as_array().unwrap().iter();
    all.map(|l| l["range"]["start"]["line"].as_u64().unwrap())
        .collect()
}

#[test]
fn an_error_inside_a_constraint_is_reported_while_typing_and_withdrawn_when_fixed() {
    let mut editor = Editor::start();
    let wrong = DOOR.replace("code == secret", "code == secrt");
    editor.open("door.aml", &wrong);
    let uri = editor.uri("door.aml");
    let text = json!({
        "textDocument": { "uri": uri, "version": 2 },
        "contentChanges": [{ "text": DOOR }],
    });
    editor.notify("textDocument/didChange", text);
    editor.ask(
        "textDocument/documentSymbol",
        json!({ "textDocument": { "uri": uri } }),
    );
    let first = &editor.diagnostics[0]["diagnostics"][0];
    assert!(
        first["message"].as_str().unwrap().contains("secrt"),
        "{first}"
    );
    assert!(
        first["message"].as_str().unwrap().contains("secret"),
        "{first}"
    );
    assert_eq!(first["range"]["start"]["line"], 9);
    let span = first["range"]["end"]["character"].as_u64().unwrap()
        - first["range"]["start"]["character"].as_u64().unwrap();
    assert_eq!(span, 5, "exactly the mistyped name");
    let last = editor.diagnostics.last().unwrap();
    assert_eq!(last["diagnostics"], json!([]));
    editor.finish();
}

#[test]
fn names_are_followed_to_their_definition_and_all_uses() {
    let mut editor = Editor::start();
    editor.open("door.aml", DOOR);
    let definition = "textDocument/definition";
    let found = editor.at(definition, "door.aml", DOOR, "goto 'Clo", json!({}));
    assert_eq!(lines(&found), [7]);
    let found = editor.at(definition, "door.aml", DOOR, "code == sec", json!({}));
    assert_eq!(lines(&found), [6]);
    let more = json!({ "context": { "includeDeclaration": true } });
    let found = editor.at(
        "textDocument/references",
        "door.aml",
        DOOR,
        "receive 'op",
        more,
    );
    assert_eq!(lines(&found), [3, 9, 10]);
    editor.finish();
}

#[test]
fn a_rename_changes_every_place_in_every_file() {
    let mut editor = Editor::start();
    let (head, rest) = DOOR.split_at(DOOR.find("  var").unwrap());
    let main = format!("{head}  include 'rest.aml'\n}}\n");
    let rest = rest.trim_end().trim_end_matches('}').to_owned();
    editor.open("door.aml", &main);
    editor.open("rest.aml", &rest);
    let more = json!({ "newName": "unlock" });
    let edit = editor.at(
        "textDocument/rename",
        "rest.aml",
        &rest,
        "receive 'op",
        more,
    );
    let changes = edit["changes"].as_object().unwrap();
    assert_eq!(changes.len(), 2, "{edit}");
    let count = |file: &str| changes[&editor.uri(file)].as_array().unwrap().len();
    assert_eq!((count("door.aml"), count("rest.aml")), (1, 2));
    editor.finish();
}

#[test]
fn what_fits_is_offered_and_shown() {
    let mut editor = Editor::start();
    editor.open("door.aml", DOOR);
    let found = editor.at(
        "textDocument/completion",
        "door.aml",
        DOOR,
        "send '",
        json!({}),
    );
    let labels: Vec<&str> = found
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["label"].as_str().unwrap())
        .collect();
    assert_eq!(labels, ["opened", "refused"]);
    let hover = editor.at(
        "textDocument/hover",
        "door.aml",
        DOOR,
        "code == sec",
        json!({}),
    );
    let text = hover["contents"]["value"].as_str().unwrap();
    assert!(text.contains("var 'secret', integer(0..9), 4"), "{text}");
    assert!(text.contains("no run of this model is recorded"), "{text}");
    editor.finish();
}

/// Records a run of [`DOOR`] that took the switch at `line` so many times.
fn record(editor: &Editor, hash: &str, line: u32, count: u64) {
    let place = Place::File(editor.folder.path().join(".ioco/ioco.db"));
    let run = NewRun {
        model: StoredModel {
            hash: hash.to_owned(),
            name: "main".to_owned(),
            ..StoredModel::default()
        },
        ..NewRun::default()
    };
    let mut recording = Recording::begin(&place, run).unwrap();
    let switch = SavedSwitch {
        place: format!("door.aml:{line}"),
        switch: "Closed ──?open──► _1".to_owned(),
        count,
    };
    let covered = CoverageSnapshot {
        version: ioco_engine::COVERAGE_VERSION,
        model: "main".to_owned(),
        locations: Vec::new(),
        switches: vec![switch],
        boundaries: Vec::new(),
    };
    recording.coverage(covered).unwrap();
    recording.flush().unwrap();
}

#[test]
fn hovering_shows_how_often_the_last_run_took_a_switch() {
    let mut editor = Editor::start();
    editor.open("door.aml", DOOR);
    let hash = ioco_campaign::model::hash(&[SourceFile {
        name: "door.aml".to_owned(),
        text: DOOR.to_owned(),
    }]);
    let hover = |editor: &mut Editor| {
        let hover = editor.at(
            "textDocument/hover",
            "door.aml",
            DOOR,
            "code == sec",
            json!({}),
        );
        hover["contents"]["value"].as_str().unwrap().to_owned()
    };
    record(&editor, &hash, 10, 5);
    record(&editor, &hash, 10, 2);
    let text = hover(&mut editor);
    assert!(
        text.contains(
            "Closed ──?open──► Closed, after ?open [code == secret]: taken 2 times in run 2"
        ),
        "{text}"
    );
    // The same switch on another line is another one.
    record(&editor, &hash, 11, 7);
    let text = hover(&mut editor);
    assert!(text.contains("never taken in run 3"), "{text}");
    record(&editor, "another text", 12, 1);
    let text = hover(&mut editor);
    assert!(text.contains("taken once in run 4"), "{text}");
    assert!(text.contains("the text has changed since"), "{text}");
    editor.finish();
}

#[test]
fn the_outline_nests_and_the_format_is_that_of_ioco_fmt() {
    let mut editor = Editor::start();
    let ragged = DOOR.replace("  state 'Closed'", "state   'Closed'");
    editor.open("door.aml", &ragged);
    let document = json!({ "textDocument": { "uri": editor.uri("door.aml") } });
    let symbols = editor.ask("textDocument/documentSymbol", document.clone());
    let main = &symbols["result"][0];
    assert_eq!(main["name"], "main");
    let names: Vec<&str> = main["children"]
        .as_array()
        .unwrap()
        .iter()
        .map(|child| child["name"].as_str().unwrap())
        .collect();
    assert!(
        names.contains(&"secret") && names.contains(&"Closed"),
        "{names:?}"
    );
    let mut format = document;
    format["options"] = json!({ "tabSize": 2, "insertSpaces": true });
    let edits = editor.ask("textDocument/formatting", format);
    assert_eq!(edits["result"][0]["newText"], DOOR);
    editor.finish();
}

#[test]
fn a_model_is_shown_as_a_graph_with_the_place_of_the_cursor() {
    let mut editor = Editor::start();
    editor.open("door.aml", DOOR);
    let place = json!({
        "textDocument": { "uri": editor.uri("door.aml") },
        "position": { "line": 7, "character": 3 },
    });
    let params = json!({ "command": ioco_lsp::SHOW_IN_GRAPH, "arguments": [place] });
    let graph = editor.ask("workspace/executeCommand", params)["result"].clone();
    assert_eq!(graph["location"], "Closed");
    let element = format!("id=\"{}\"", graph["element"].as_str().unwrap());
    assert!(graph["svg"].as_str().unwrap().contains(&element));
    editor.finish();
}

#[test]
fn nonsense_is_refused_and_the_server_lives_on() {
    let mut editor = Editor::start();
    editor.open("door.aml", DOOR);
    let answer = editor.ask("textDocument/hover", json!({ "no": "sense" }));
    assert!(answer["error"]["message"].is_string(), "{answer}");
    let answer = editor.ask("textDocument/foldEverything", json!({}));
    assert!(
        answer["error"]["message"]
            .as_str()
            .unwrap()
            .contains("foldEverything")
    );
    let more = json!({ "newName": "it's" });
    let refused = editor.at("textDocument/rename", "door.aml", DOOR, "goto 'Clo", more);
    assert!(refused.is_null());
    editor.finish();
}

#[test]
fn hovering_over_an_older_store_changes_nothing_and_says_what_to_do() {
    use sqlx::{AnyConnection, Connection as _, Executor as _};
    let mut editor = Editor::start();
    editor.open("door.aml", DOOR);
    record(&editor, "", 10, 5);
    let file = editor.folder.path().join(".ioco/ioco.db");
    let url = format!("sqlite://{}", file.display());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.unwrap().block_on(async {
        let mut store = AnyConnection::connect(&url).await.unwrap();
        let older = "DELETE FROM _sqlx_migrations WHERE version = 2";
        store.execute(older).await.unwrap();
        store.close().await.unwrap();
    });
    let before = std::fs::read(&file).unwrap();
    let hover = editor.at(
        "textDocument/hover",
        "door.aml",
        DOOR,
        "code == sec",
        json!({}),
    );
    let text = hover["contents"]["value"].as_str().unwrap();
    assert!(text.contains("was written by an older ioco"), "{text}");
    assert!(text.contains("`ioco store migrate`"), "{text}");
    assert!(
        before == std::fs::read(&file).unwrap(),
        "the store was changed"
    );
    editor.finish();
}

#[test]
fn hovering_connects_to_no_database_that_the_project_names() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    let mut editor = Editor::start();
    let settings = format!("model = 'door.aml'\n[store]\nurl = 'postgres://me@{address}/runs'\n");
    std::fs::write(editor.folder.path().join("ioco.toml"), settings).unwrap();
    std::fs::write(editor.folder.path().join("door.aml"), DOOR).unwrap();
    editor.open("door.aml", DOOR);
    let hover = editor.at(
        "textDocument/hover",
        "door.aml",
        DOOR,
        "code == sec",
        json!({}),
    );
    let text = hover["contents"]["value"].as_str().unwrap();
    assert!(
        text.contains("not trusted") && text.contains("postgres://me@"),
        "{text}"
    );
    assert!(listener.accept().is_err(), "somebody connected");
    editor.finish();
}

#[test]
fn an_editor_reads_no_files_that_never_end_or_lie_elsewhere() {
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("lib.aml"), "timeout 1\n").unwrap();
    let mut editor = Editor::start();
    let lib = outside.path().join("lib.aml");
    let text = format!("include '/dev/zero'\ninclude '{}'\n{DOOR}", lib.display());
    editor.open("door.aml", &text);
    editor.ask(
        "textDocument/documentSymbol",
        json!({ "textDocument": { "uri": editor.uri("door.aml") } }),
    );
    let received = Json::Array(editor.diagnostics.clone()).to_string();
    assert_eq!(
        received.matches("it is outside of").count(),
        2,
        "{received}"
    );
    editor.finish();
}

#[test]
fn did_you_mean_is_a_quick_fix() {
    let mut editor = Editor::start();
    let text = DOOR.replacen("send 'opened'", "send 'opend'", 1);
    editor.open("door.aml", &text);
    let uri = editor.uri("door.aml");
    let (line, found) = (0..)
        .zip(text.lines())
        .find(|(_, l)| l.contains("opend"))
        .unwrap();
    let at = json!({ "line": line, "character": found.find("opend").unwrap() });
    let answer = editor.ask(
        "textDocument/codeAction",
        json!({
            "textDocument": { "uri": uri }, "range": { "start": at, "end": at },
            "context": { "diagnostics": [] },
        }),
    );
    let action = &answer["result"][0];
    assert_eq!(action["title"], "Write `opened`", "{answer}");
    let edit = &action["edit"]["changes"][&uri][0];
    assert_eq!(edit["newText"], "opened");
    assert_eq!(edit["range"]["start"], at);
    assert_eq!(
        edit["range"]["end"]["character"].as_u64(),
        at["character"].as_u64().map(|c| c + 5)
    );
    let top = json!({ "line": 0, "character": 0 });
    let elsewhere = editor.ask(
        "textDocument/codeAction",
        json!({
            "textDocument": { "uri": uri }, "range": { "start": top, "end": top },
            "context": { "diagnostics": [] },
        }),
    );
    assert_eq!(elsewhere["result"], json!([]));
}

#[test]
fn blocks_fold_and_keep_their_last_line_in_sight() {
    let mut editor = Editor::start();
    editor.open("door.aml", &format!("# one\n# two\n{DOOR}"));
    let uri = editor.uri("door.aml");
    let answer = editor.ask(
        "textDocument/foldingRange",
        json!({ "textDocument": { "uri": uri } }),
    );
    let folds: Vec<(u64, u64)> = answer["result"]
        .as_array()
        .unwrap()
        .iter()
        .map(|fold| {
            (
                fold["startLine"].as_u64().unwrap(),
                fold["endLine"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(folds, [(0, 1), (4, 6), (10, 12), (3, 14)]);
}

#[test]
fn names_are_found_across_the_workspace() {
    let mut editor = Editor::start();
    editor.open("door.aml", DOOR);
    editor.open("lamp.aml", &DOOR.replace("opened", "lit"));
    let answer = editor.ask("workspace/symbol", json!({ "query": "OPENED" }));
    let found = answer["result"].as_array().unwrap();
    assert_eq!(found.len(), 1, "{answer}");
    assert_eq!(found[0]["name"], "opened");
    assert_eq!(found[0]["location"]["uri"], editor.uri("door.aml"));
    let all = editor.ask("workspace/symbol", json!({ "query": "refused" }));
    assert_eq!(all["result"].as_array().unwrap().len(), 2, "{all}");
}

#[test]
fn a_word_of_the_language_shows_its_manual() {
    let mut editor = Editor::start();
    editor.open("door.aml", DOOR);
    let uri = editor.uri("door.aml");
    let mut hover = |line: u32, character: u32| {
        let params = json!({
            "textDocument": { "uri": uri }, "position": { "line": line, "character": character },
        });
        editor.ask("textDocument/hover", params)["result"].to_string()
    };
    assert!(hover(8, 4).contains("One of the options happens, once"));
    assert!(hover(9, 12).contains("accepts a stimulus"));
    assert!(
        !hover(9, 20).contains("accepts a stimulus"),
        "a name in a string is no word"
    );
}

#[test]
fn lenses_run_replay_and_show_the_coverage() {
    let mut editor = Editor::start();
    let folder = editor.folder.path().to_owned();
    std::fs::write(folder.join("ioco.toml"), "model = \"door.aml\"\n").unwrap();
    std::fs::write(folder.join("door.aml"), DOOR).unwrap();
    std::fs::create_dir_all(folder.join(".ioco/failures")).unwrap();
    std::fs::write(folder.join(".ioco/failures/3f2a.json"), "{}").unwrap();
    editor.open("door.aml", DOOR);
    let uri = editor.uri("door.aml");
    let answer = editor.ask(
        "textDocument/codeLens",
        json!({ "textDocument": { "uri": uri } }),
    );
    let lenses = answer["result"].as_array().unwrap();
    let lines: Vec<&str> = lenses
        .iter()
        .filter_map(|lens| lens["command"]["arguments"][0]["line"].as_str())
        .collect();
    assert_eq!(lines, ["ioco test", "ioco replay 3f2a"], "{answer}");
    assert_eq!(lenses[0]["range"]["start"]["line"], 1);
}

//! Scripts that show a failure without ioco: each is run, against the system with the failure and
//! against the repaired one.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::{Ran, TempDir, folder, folder_with, ioco, run, start};

/// A project with one failure.
fn door() -> TempDir {
    let folder = folder();
    assert_eq!(
        run(ioco().current_dir(folder.path()).args(["new", "door"])).code,
        0
    );
    let ran = run(ioco().current_dir(folder.path().join("door")).arg("test"));
    assert_eq!(ran.code, 1, "{}", ran.all());
    folder
}

fn failure(place: &Path) -> String {
    let listed = run(ioco()
        .current_dir(place)
        .args(["failures", "--format", "json"]));
    let line = listed.out.lines().next().unwrap_or_default().to_owned();
    let failure: serde_json::Value = serde_json::from_str(&line).expect("a failure");
    failure["id"].as_str().unwrap_or_default().to_owned()
}

fn export(place: &Path, form: &str, file: &str) {
    let id = failure(place);
    let ran = run(ioco()
        .current_dir(place)
        .args(["export", &id, "--as", form, "-o", file]));
    assert_eq!(ran.code, 0, "{}", ran.all());
}

fn repair(place: &Path) {
    let file = place.join("door.py");
    let text = fs::read_to_string(&file).expect("the door");
    let repaired = text.replace(
        "if self.code is None:\n                self.code",
        "self.code",
    );
    assert_ne!(repaired, text);
    fs::write(file, repaired).expect("the repaired door");
}

/// Runs a script before and after the system is repaired.
fn shows_only_the_bug(place: &Path, script: impl Fn() -> Command, code: i32) {
    let run = |command: &mut Command| -> Ran { run(command.current_dir(place)) };
    let before = run(&mut script());
    assert_eq!(before.code, code, "{}", before.all());
    repair(place);
    let after = run(&mut script());
    assert_eq!(after.code, 0, "{}", after.all());
}

fn command(words: &[&str]) -> Command {
    let mut command = Command::new(words[0]);
    command.args(&words[1..]);
    command
}

#[test]
fn a_python_script_shows_it() {
    let folder = door();
    let place = folder.path().join("door");
    export(&place, "python", "shows.py");
    shows_only_the_bug(&place, || command(&["python3", "shows.py"]), 1);
}

#[test]
fn a_test_for_pytest_fails_as_long_as_the_system_does() {
    let folder = door();
    let place = folder.path().join("door");
    export(&place, "pytest", "test_shows.py");
    let there = run(&mut command(&["python3", "-c", "import pytest"])).code == 0;
    // Without pytest, the function is called as pytest would.
    let call =
        "import test_shows as t; [f() for n, f in list(vars(t).items()) if n.startswith('test_')]";
    let script = match there {
        true => vec!["python3", "-m", "pytest", "-q", "test_shows.py"],
        false => vec!["python3", "-c", call],
    };
    shows_only_the_bug(&place, || command(&script), 1);
}

#[test]
fn a_rust_test_fails_as_long_as_the_system_does() {
    let folder = door();
    let place = folder.path().join("door");
    export(&place, "rust", "shows.rs");
    let built = run(
        command(&["rustc", "--edition", "2024", "--test", "-Dwarnings"])
            .args(["-o", "shows", "shows.rs"])
            .current_dir(&place),
    );
    assert_eq!(built.code, 0, "{}", built.all());
    let program = place.join("shows");
    shows_only_the_bug(&place, || Command::new(&program), 101);
}

#[test]
fn lines_can_be_piped_into_the_system() {
    let folder = door();
    let place = folder.path().join("door");
    export(&place, "jsonl", "lines.jsonl");
    let last = || {
        let lines = fs::File::open(place.join("lines.jsonl")).expect("the lines");
        let mut door = command(&["python3", "door.py"]);
        let said = run(door.current_dir(&place).stdin(Stdio::from(lines)));
        let mut lines = said.out.lines().filter(|line| line.contains("response"));
        lines.next_back().unwrap_or_default().to_owned()
    };
    let before = last();
    repair(&place);
    assert_ne!(before, last());
    assert!(before.contains("response"), "{before}");
}

const COUNTER: &str = "
timeout 10
external 'counter'
process('counter') {
  channel('counter') {
    stimulus 'add'
    responses 'added', 'broken'
  }
  state 'idle', timeout: 0.05
  repeat { o { receive 'add'; send 'added' } }
}
";

const COUNTER_TOML: &str = r#"
model = "counter.aml"

[http]
reset = { method = "POST", path = "/reset" }

[http.stimuli.add]
method = "POST"
path = "/add"
body = { by = 1, note = "it's \"one\"" }

[http.responses]
added = { to = "add", status = 200 }
broken = { to = "add", status = "5xx" }
"#;

/// Breaks at the second request, unless it is set not to.
const COUNTER_PY: &str = r#"
import http.server, sys
class Handler(http.server.BaseHTTPRequestHandler):
    count = 0
    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        Handler.count = 0 if self.path == "/reset" else Handler.count + 1
        self.send_response(503 if Handler.count > 1 and "right" not in sys.argv else 200)
        self.send_header("Content-Length", "0")
        self.end_headers()
    def log_message(self, *words): pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(f"http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
"#;

#[test]
fn requests_show_it_over_http() {
    let here = folder_with(&[
        ("counter.aml", COUNTER),
        ("ioco.toml", COUNTER_TOML),
        ("counter.py", COUNTER_PY),
    ]);
    let file = here.path().join("counter.py");
    let file = file.to_string_lossy();
    let (wrong, url) = start(&mut command(&["python3", &file]));
    let ran = run(ioco()
        .current_dir(here.path())
        .args(["test", "--http", &url]));
    assert_eq!(ran.code, 1, "{}", ran.all());
    export(here.path(), "curl", "shows.sh");
    export(here.path(), "python", "shows.py");
    for script in [["sh", "shows.sh"], ["python3", "shows.py"]] {
        let ran = run(command(&script).current_dir(here.path()));
        assert_eq!(ran.code, 1, "{}", ran.all());
        assert!(ran.out.contains("the failure shows"), "{}", ran.out);
    }
    drop(wrong);
    let (_right, other) = start(&mut command(&["python3", &file, "right"]));
    let ran = run(command(&["sh", "shows.sh", &other]).current_dir(here.path()));
    assert_eq!(ran.code, 0, "{}", ran.all());
    let refused = run(ioco().current_dir(here.path()).args([
        "export",
        &failure(here.path()),
        "--as",
        "rust",
    ]));
    assert_eq!(refused.code, 2, "{}", refused.all());
    assert!(refused.err.contains("--as curl"), "{}", refused.err);
}

/// Changes the only failure file of a project, as somebody with a pull request can.
fn rewrite(place: &Path, change: impl Fn(&mut serde_json::Value)) {
    let path = place.join(format!(".ioco/failures/{}.json", failure(place)));
    let text = fs::read_to_string(&path).expect("a failure file");
    let mut file: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    change(&mut file);
    fs::write(&path, file.to_string()).expect("rewritten");
}

/// Ends comments, strings and words of every language that scripts are written in.
const HOSTILE: &str = "\"\"\"\nimport os; os.system('touch planted')\n\"\"\"\r\n\
    touch planted '; touch planted; ' \"; touch planted; \" `touch planted` $(touch planted) */ \
    \"); std::fs::write(\"planted\", \"\"); (\" {messages} {connect} \u{2028} \u{202e} \\";

#[test]
fn what_a_failure_file_says_is_never_code_in_a_script() {
    let folder = door();
    let place = folder.path().join("door");
    rewrite(&place, |file| {
        let hostile = HOSTILE.into();
        file["model"] = "door {messages} {connect}".into();
        for saved in ["/deviation", "/shrunk/deviation"] {
            if let Some(deviation) = file.pointer_mut(saved) {
                deviation["code"] = HOSTILE.into();
                deviation["observed"] = HOSTILE.into();
            }
        }
        for wire in ["/wire/0", "/shrunk/wire/0"] {
            if let Some(message) = file.pointer_mut(wire) {
                message["text"] = serde_json::Value::clone(&hostile);
            }
        }
    });
    for (form, file) in [
        ("python", "shows.py"),
        ("pytest", "test_shows.py"),
        ("rust", "shows.rs"),
    ] {
        export(&place, form, file);
    }
    let built = run(command(&[
        "rustc",
        "--edition",
        "2024",
        "--test",
        "-o",
        "shows",
        "shows.rs",
    ])
    .current_dir(&place));
    assert_eq!(built.code, 0, "{}", built.all());
    let call =
        "import test_shows as t; [f() for n, f in list(vars(t).items()) if n.startswith('test_')]";
    for script in [
        &["python3", "shows.py"][..],
        &["python3", "-c", call],
        &["./shows", "--nocapture"],
    ] {
        let ran = run(command(script).current_dir(&place));
        // It runs to its end, and the messages go to the system as they are.
        assert!(ran.out.contains("→"), "{}", ran.all());
        assert!(!ran.err.contains("SyntaxError"), "{}", ran.all());
        assert!(!place.join("planted").exists(), "{script:?}");
    }
}

/// Keeps the paths and bodies of its requests in a file.
const KEEPER_PY: &str = r#"
import http.server
class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        open("requests", "a").write(f"{self.path} {body}\n")
        self.send_response(503)
        self.end_headers()
        self.wfile.write(b"\x1b]52;c;ZXZpbA==\x07")
    def log_message(self, *words): pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(f"http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
"#;

#[test]
fn a_script_for_curl_reads_no_files_and_sends_its_stimuli() {
    let here = folder_with(&[
        ("counter.aml", COUNTER),
        ("ioco.toml", COUNTER_TOML),
        ("counter.py", COUNTER_PY),
        ("keeper.py", KEEPER_PY),
        ("secret", "the key of the person"),
    ]);
    let (wrong, url) = start(command(&["python3", "counter.py"]).current_dir(here.path()));
    let ran = run(ioco()
        .current_dir(here.path())
        .args(["test", "--http", &url]));
    assert_eq!(ran.code, 1, "{}", ran.all());
    drop(wrong);
    rewrite(here.path(), |file| {
        for wire in ["/wire", "/shrunk/wire"] {
            for message in file
                .pointer_mut(wire)
                .and_then(|w| w.as_array_mut())
                .into_iter()
                .flatten()
            {
                if message["from"] == "tester" {
                    message["text"] = "POST /a{b,c}[1-3]\n@secret".into();
                }
            }
        }
        file["deviation"]["code"] = HOSTILE.into();
    });
    export(here.path(), "curl", "shows.sh");
    let (_keeper, url) = start(command(&["python3", "keeper.py"]).current_dir(here.path()));
    let ran = run(command(&["sh", "shows.sh", &url]).current_dir(here.path()));
    // The status of the failure, with another body.
    assert_eq!(ran.code, 2, "{}", ran.all());
    assert!(
        !ran.out.contains(|c: char| c.is_control() && c != '\n'),
        "{:?}",
        ran.out
    );
    let requests = fs::read_to_string(here.path().join("requests")).expect("requests");
    let sent: Vec<&str> = requests.lines().skip(1).collect();
    assert!(
        !sent.is_empty() && sent.iter().all(|line| *line == "/a{b,c}[1-3] @secret"),
        "{requests}"
    );
    assert!(!here.path().join("planted").exists());
    // Behind the address of the system, a path may be the address of another one.
    for path in ["@192.0.2.1/", ".example.org/", ":1@192.0.2.1/", ""] {
        rewrite(here.path(), |file| {
            for wire in ["/wire", "/shrunk/wire"] {
                let lines = file.pointer_mut(wire).and_then(|w| w.as_array_mut());
                let sent = lines
                    .into_iter()
                    .flatten()
                    .filter(|m| m["from"] == "tester");
                for message in sent {
                    message["text"] = format!("POST {path}\nx").into();
                }
            }
        });
        for form in ["curl", "python", "pytest"] {
            let id = failure(here.path());
            let refused = run(ioco()
                .current_dir(here.path())
                .args(["export", &id, "--as", form]));
            assert_eq!(refused.code, 2, "{}", refused.all());
            assert!(refused.err.contains("path"), "{}", refused.all());
        }
    }
    rewrite(here.path(), |file| {
        for wire in ["/wire", "/shrunk/wire"] {
            let lines = file.pointer_mut(wire).and_then(|w| w.as_array_mut());
            for message in lines.into_iter().flatten() {
                message["text"] = match &message["from"] {
                    from if from == "tester" => "POST /a".into(),
                    _ => "5' ; touch planted ; '\n".into(),
                };
            }
        }
    });
    let id = failure(here.path());
    let refused = run(ioco()
        .current_dir(here.path())
        .args(["export", &id, "--as", "curl"]));
    assert_eq!(refused.code, 2, "{}", refused.all());
    assert!(refused.err.contains("not an answer"), "{}", refused.all());
}

const LAMP: &str = "
timeout 10
external 'lamp'
process('lamp') {
  channel('lamp') {
    stimulus 'look'
    response 'on', {'level' => :integer}
    responses 'off'
  }
  state 'idle', timeout: 0.05
  repeat { o { receive 'look'; send 'on', constraint: 'level == 5' } }
}
";

const LAMP_TOML: &str = r#"
model = "lamp.aml"

[http.stimuli.look]
method = "GET"
path = "/look"

[http.responses]
on = { to = "look", status = 200, body = { state = "on", level = "{level}" } }
off = { to = "look", status = 200, body = { state = "off" } }
"#;

const LAMP_PY: &str = r#"
import http.server, json, sys
ANSWERS = {
    "right": (200, {"state": "on", "level": 5}),
    "value": (200, {"state": "on", "level": 6}),
    "label": (200, {"state": "off"}),
    "redirect": (303, {}),
}
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        status, body = ANSWERS[sys.argv[1]]
        body = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Location", "/elsewhere")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *words): pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(f"http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
"#;

#[test]
fn scripts_over_http_say_of_no_right_system_that_it_fails() {
    for (fault, of_right) in [("redirect", 0), ("label", 2), ("value", 2)] {
        let here = folder_with(&[
            ("lamp.aml", LAMP),
            ("ioco.toml", LAMP_TOML),
            ("lamp.py", LAMP_PY),
        ]);
        let place = here.path();
        let lamp = |mode: &str| start(command(&["python3", "lamp.py", mode]).current_dir(place));
        let scripts = [
            ("curl", "shows.sh", "sh"),
            ("python", "shows.py", "python3"),
        ];
        let (wrong, url) = lamp(fault);
        let ran = run(ioco().current_dir(place).args(["test", "--http", &url]));
        assert_eq!(ran.code, 1, "{fault}: {}", ran.all());
        let id = failure(place);
        let judge = |url: &str, expected: i32| {
            for (form, file, program) in scripts {
                let written = ["export", &id, "--as", form, "-o", file, "--http", url];
                let written = run(ioco().current_dir(place).args(written));
                assert_eq!(written.code, 0, "{}", written.all());
                let ran = run(command(&[program, file]).current_dir(place));
                assert_eq!(ran.code, expected, "{fault} {form}: {}", ran.all());
            }
        };
        judge(&url, 1);
        drop(wrong);
        let (_right, url) = lamp("right");
        judge(&url, of_right);
    }
}

#[test]
fn a_system_that_cannot_be_used_neither_shows_the_failure_nor_is_free_of_it() {
    let folder = door();
    let place = folder.path().join("door");
    export(&place, "python", "shows.py");
    let door = fs::read_to_string(place.join("door.py")).expect("the door");
    let dying = door.replacen("for line in", "sys.exit(3)\nfor line in", 1);
    for text in ["", "import no_such_module", &dying] {
        fs::write(place.join("door.py"), text).expect("a broken door");
        let ran = run(command(&["python3", "shows.py"]).current_dir(&place));
        assert_eq!(ran.code, 2, "{text}: {}", ran.all());
        assert!(ran.out.contains("cannot be used"), "{}", ran.all());
    }
}

#[test]
fn the_items_of_a_set_in_another_order_are_not_taken_for_a_repair() {
    let model = "timeout 0.2\nexternal 'a'\nprocess('m') {\n  channel('a') { stimuli 'get'; response 'all', {'v' => set(:integer)} }\n  \
                 state 'A'\n  repeat { o { receive 'get'; send 'all', constraint: 'v == Set[1]' } }\n}\n";
    let system = "import json, sys\n\nfor line in sys.stdin:\n    reset = 'reset' in json.loads(line)\n    \
                  print('{\"ready\":true}' if reset else '{\"response\":\"all\",\"values\":{\"v\":[2, 3]}}', flush=True)\n";
    let settings = "model = \"m.aml\"\n\n[sut]\ncommand = [\"python3\", \"s.py\"]\n";
    let folder = folder_with(&[("m.aml", model), ("s.py", system), ("ioco.toml", settings)]);
    let place = folder.path();
    let ran = run(ioco()
        .current_dir(place)
        .args(["test", "--seed", "1", "--tests", "1"]));
    assert_eq!(ran.code, 1, "{}", ran.all());
    export(place, "python", "shows.py");
    let shows = || run(command(&["python3", "shows.py"]).current_dir(place));
    assert_eq!(shows().code, 1);
    let junk = "\"all\"";
    for (old, new, code) in [("2, 3", "3, 2", 2), ("2, 3", "1", 0), (junk, "all", 2)] {
        let changed = system.replace(old, new);
        fs::write(place.join("s.py"), changed).expect("a changed system");
        let ran = shows();
        assert_eq!(ran.code, code, "{new}: {}", ran.all());
    }
}

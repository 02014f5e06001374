//! Systems, adapters and databases that hang or flood: a request to stop, and the time of the run, end every
//! wait; memory and messages stay bounded; what was found stays found.

use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::support::{PING, Ran, TempDir, folder, folder_with, interrupt, ioco, root, run};

/// Nothing waits this long; a hang is found all the same.
const HANG: Duration = Duration::from_secs(120);

/// Without a request to stop, waits in these tests would last an hour.
const PATIENT: &str = "ready_within = \"3600s\"\n";

/// A server; `serve` gets every connection.
fn server(serve: impl Fn(TcpStream) + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("listens");
    let address = listener.local_addr().expect("an address").to_string();
    let serve = std::sync::Arc::new(serve);
    std::thread::spawn(move || {
        for socket in listener.incoming().flatten() {
            let serve = std::sync::Arc::clone(&serve);
            std::thread::spawn(move || serve(socket));
        }
    });
    address
}

/// A server that takes everything and says nothing; it says when somebody has come.
fn mute() -> (String, Receiver<()>) {
    let (sender, receiver) = channel();
    let sender = std::sync::Mutex::new(sender);
    let address = server(move |mut socket| {
        if let Ok(sender) = sender.lock() {
            let _ = sender.send(());
        }
        let _ = socket.read_to_end(&mut Vec::new());
    });
    (address, receiver)
}

fn start(folder: &TempDir, arguments: &[&str]) -> Child {
    ioco()
        .current_dir(folder.path())
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("ioco starts")
}

/// Reads a pipe aside, so that it cannot fill up: a writer to a full one hangs.
fn read_aside(mut pipe: impl Read + Send + 'static) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // What came before a mistake is still worth showing.
        let _ = pipe.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// Waits for the end; a hang ends the test, and shows how far ioco came.
fn finish(mut child: Child) -> Ran {
    let out = read_aside(child.stdout.take().expect("a pipe"));
    let err = read_aside(child.stderr.take().expect("a pipe"));
    let begun = Instant::now();
    let ended = loop {
        match child.try_wait().expect("a status") {
            Some(status) => break Some(status),
            None if begun.elapsed() > HANG => break None,
            None => std::thread::sleep(Duration::from_millis(10)),
        }
    };
    if ended.is_none() {
        child.kill().expect("killed");
        child.wait().expect("it ends");
    }
    let ran = Ran {
        code: ended.and_then(|status| status.code()).unwrap_or(-1),
        out: out.join().expect("read"),
        err: err.join().expect("read"),
    };
    assert!(ended.is_some(), "ioco hangs: {}", ran.all());
    ran
}

const HTTP: &str = "[http]\nreset = { method = \"POST\", path = \"/reset\" }\n\
                    [http.stimuli]\nping = { method = \"POST\", path = \"/ping\" }\n\
                    [http.responses]\n";

fn with_http(responses: &str, sut: &str) -> TempDir {
    let settings = format!("model = \"ping.aml\"\n[sut]\n{sut}{HTTP}{responses}");
    folder_with(&[("ping.aml", PING), ("ioco.toml", &settings)])
}

#[test]
fn a_body_that_never_ends_is_a_missing_response_and_spoils_no_other_test() {
    let address = server(|socket| {
        let mut reader = BufReader::new(&socket);
        let mut line = String::new();
        while reader.read_line(&mut line).is_ok_and(|count| count > 0) {
            let is_ping = line.contains("/ping");
            while !line.trim().is_empty() {
                line.clear();
                if reader.read_line(&mut line).is_err() {
                    return;
                }
            }
            line.clear();
            let answer = match is_ping {
                true => "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{",
                false => "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
            };
            if (&socket).write_all(answer.as_bytes()).is_err() {
                return;
            }
        }
    });
    let folder = with_http("pong = { to = \"ping\", status = 200 }\n", "");
    let url = format!("http://{address}");
    let arguments = ["test", "--http", &url, "--seed", "1", "--timeout", "200ms"];
    let ran = finish(start(&folder, &arguments));
    assert_eq!(ran.code, 1, "{}", ran.all());
    assert!(ran.out.contains("D002"), "{}", ran.all());
    assert!(ran.out.contains("3 of 3 runs"), "{}", ran.all());
}

#[test]
fn a_web_socket_that_is_never_opened_can_be_interrupted() {
    let (address, came) = mute();
    let settings = format!(
        "model = \"ping.aml\"\n[sut]\n{PATIENT}{}",
        HTTP.replace("[http]\n", "[http]\nwebsocket = \"/socket\"\n")
    );
    let settings = format!("{settings}pong = {{ message = true }}\n");
    let folder = folder_with(&[("ping.aml", PING), ("ioco.toml", &settings)]);
    let url = format!("http://{address}");
    let child = start(&folder, &["test", "--http", &url]);
    came.recv_timeout(HANG).expect("ioco connects");
    interrupt(&child);
    assert_eq!(finish(child).code, 130);
}

#[test]
fn a_database_that_says_nothing_can_be_interrupted() {
    let (address, came) = mute();
    let folder = folder_with(&[("ping.aml", PING)]);
    let url = format!("postgres://nobody@{address}/nothing");
    let arguments = ["test", "ping.aml", "--sut", "cat", "--store", &url];
    let child = start(&folder, &arguments);
    came.recv_timeout(HANG).expect("ioco connects");
    interrupt(&child);
    assert_eq!(finish(child).code, 130);
}

/// Takes a stimulus at any time and answers none.
const SINK: &str = "
external 'wire'
process('sink') {
  channel('wire') { stimulus 'take'; response 'never' }
  state 'idle'
  repeat { o { receive 'take' } }
}
";

#[test]
fn a_system_that_does_not_read_its_input_can_be_interrupted() {
    // It is ready, and reads nothing more: the pipe to it fills up.
    let program = "import sys, time\nsys.stdin.buffer.raw.read(16)\nprint('{\"ready\": true}', flush=True)\n\
                   open('asked', 'w').close()\ntime.sleep(3600)\n";
    let settings =
        format!("model = \"sink.aml\"\n[sut]\ncommand = [\"python3\", \"system.py\"]\n{PATIENT}");
    let folder = folder_with(&[
        ("sink.aml", SINK),
        ("system.py", program),
        ("ioco.toml", &settings),
    ]);
    let arguments = [
        "test",
        "--tests",
        "1",
        "--steps",
        "1000000",
        "--timeout",
        "1ms",
        // It gives stimuli without end, whatever they show.
        "--strategy",
        "random",
    ];
    let child = start(&folder, &arguments);
    let begun = Instant::now();
    while !folder.path().join("asked").exists() {
        assert!(begun.elapsed() < HANG, "the system starts");
        std::thread::sleep(Duration::from_millis(10));
    }
    // Whether the pipe is full already or not, it ends.
    std::thread::sleep(Duration::from_millis(500));
    interrupt(&child);
    assert_eq!(finish(child).code, 130);
}

#[test]
fn the_time_of_a_run_ends_a_wait_for_a_system_that_is_never_ready() {
    let settings =
        format!("model = \"ping.aml\"\n[sut]\ncommand = [\"sleep\", \"3600\"]\n{PATIENT}");
    let folder = folder_with(&[("ping.aml", PING), ("ioco.toml", &settings)]);
    for jobs in ["1", "2"] {
        let ran = finish(start(&folder, &["test", "--time", "300ms", "--jobs", jobs]));
        let said = "the run reached its time limit before the system was ready";
        assert!(ran.err.contains(said), "{}", ran.all());
        assert!(ran.out.contains("ERROR"), "{}", ran.all());
        assert_eq!(ran.code, 3, "{}", ran.all());
    }
}

/// A system that gives this answer in the first test, and is never ready again.
fn ready_once(answer: &str) -> String {
    format!(
        "import json, os, sys, time\n\
         for line in sys.stdin:\n    \
         if json.loads(line).get('reset'):\n        \
         if os.path.exists('tested'): time.sleep(3600)\n        \
         open('tested', 'w').close()\n        \
         print('{{\"ready\": true}}', flush=True)\n    \
         else: print('{{\"response\": \"{answer}\"}}', flush=True)\n"
    )
}

#[test]
fn the_time_of_a_run_that_had_a_system_once_is_no_error() {
    let system = ready_once("pong");
    let settings =
        format!("model = \"ping.aml\"\n[sut]\ncommand = [\"python3\", \"system.py\"]\n{PATIENT}");
    for jobs in ["1", "2"] {
        let files = [
            ("ping.aml", PING),
            ("system.py", &system),
            ("ioco.toml", &settings),
        ];
        let folder = folder_with(&files);
        let arguments = ["test", "--time", "6s", "--steps", "4", "--jobs", jobs];
        let ran = finish(start(&folder, &arguments));
        assert_eq!(ran.code, 0, "{}", ran.all());
        assert!(ran.err.contains("the time was up"), "{}", ran.all());
    }
}

#[test]
fn the_time_of_a_run_bounds_confirming_and_shrinking_too() {
    let system = ready_once("quack");
    let folder = folder_with(&[
        ("ping.aml", PING),
        ("system.py", &system),
        (
            "ioco.toml",
            &format!("model = \"ping.aml\"\n[sut]\n{PATIENT}"),
        ),
    ]);
    let arguments = [
        "test",
        ".",
        "--sut",
        "exec python3 system.py",
        "--time",
        "2s",
    ];
    let ran = finish(start(&folder, &arguments));
    assert_eq!(ran.code, 1, "{}", ran.all());
    assert!(ran.out.contains("D001"), "{}", ran.all());
}

#[test]
fn a_flood_of_announcements_is_not_repeated_to_the_person() {
    let program = r#"
import json, sys
for line in sys.stdin:
    if json.loads(line).get("reset"):
        print('{"ready": true}', flush=True)
    else:
        for number in range(30000):
            print('{"labels": ["?strange%d"]}' % number)
        print('{"response": "pong"}', flush=True)
"#;
    let folder = folder_with(&[("ping.aml", PING), ("system.py", program)]);
    let ran = run(ioco().current_dir(folder.path()).args([
        "test",
        "ping.aml",
        "--sut",
        "exec python3 system.py",
        "--timeout",
        "20s",
        "--tests",
        "1",
        "--steps",
        "2",
    ]));
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(ran.err.contains("more warnings"), "{}", ran.err);
    assert!(ran.err.lines().count() < 400, "{}", ran.err.lines().count());
}

#[test]
fn what_a_system_sends_in_one_test_is_limited_by_a_setting() {
    let program = r#"
import json, sys
for line in sys.stdin:
    if json.loads(line).get("reset"):
        print('{"ready": true}', flush=True)
    else:
        print('{"response": "pong", "padding": "%s"}' % ("x" * 100000), flush=True)
"#;
    let folder = folder_with(&[("ping.aml", PING), ("system.py", program)]);
    let ran = run(ioco().current_dir(folder.path()).args([
        "test",
        "ping.aml",
        "--sut",
        "exec python3 system.py",
        "--timeout",
        "20s",
        "--limit",
        "bytes=1000000",
    ]));
    assert_eq!(ran.code, 3, "{}", ran.all());
    assert!(ran.err.contains("--limit bytes=N"), "{}", ran.all());
}

#[test]
fn a_database_whose_answers_make_no_sense_is_an_error_without_a_panic() {
    // No TLS, and then a request for a password that is too short to be one: the driver panics.
    let address = server(|mut socket| {
        let mut bytes = [0; 512];
        for answer in [&b"N"[..], b"R\0\0\0\x04", b"R\0\0\0\x04"] {
            if socket.read(&mut bytes).unwrap_or(0) == 0 || socket.write_all(answer).is_err() {
                return;
            }
        }
    });
    let folder = folder_with(&[("ping.aml", PING)]);
    let url = format!("postgres://nobody@{address}/nothing");
    for command in [
        &["test", "ping.aml", "--sut", "cat"][..],
        &["runs"],
        &["store", "migrate"],
    ] {
        let arguments = [command, &["--store", &url]].concat();
        let ran = finish(start(&folder, &arguments));
        assert_eq!(ran.code, 2, "{command:?}: {}", ran.all());
        assert!(!ran.err.contains("panicked"), "{command:?}: {}", ran.all());
        assert!(
            ran.err.contains("not understood"),
            "{command:?}: {}",
            ran.all()
        );
    }
}

#[test]
fn one_message_is_limited_by_a_setting() {
    let long = "import sys\nfor line in sys.stdin:\n    \
                print('{\"ready\": true}' if 'reset' in line else '{\"response\": \"pong\"' + ' ' * 5000 + '}', flush=True)\n";
    let folder = folder_with(&[("ping.aml", PING), ("system.py", long)]);
    let test = |limit: &str| {
        let arguments = ["test", "ping.aml", "--sut", "exec python3 system.py"];
        let more = ["--tests", "1", "--steps", "2", "--limit", limit];
        finish(start(&folder, &[&arguments[..], &more].concat()))
    };
    let ran = test("message=1000");
    assert_eq!(ran.code, 3, "{}", ran.all());
    assert!(ran.all().contains("--limit message=N"), "{}", ran.all());
    assert_eq!(test("message=10000").code, 0);
}

#[test]
fn files_of_every_kind_are_read_up_to_the_limit() {
    let query = "?ping".to_owned() + &" ".repeat(3000);
    let folder = folder_with(&[
        ("ping.aml", PING),
        ("long.aml", &(PING.to_owned() + &"\n".repeat(3000))),
        ("query", &query),
        ("suite.json", &" ".repeat(3000)),
        ("api.json", &" ".repeat(3000)),
        ("trace.jsonl", &"\n".repeat(3000)),
        ("failure.json", &" ".repeat(3000)),
    ]);
    for command in [
        &["fmt", "--check", "long.aml"][..],
        &["new", "shop", "--openapi", "api.json"],
        &["generate", "ping.aml", "--query", "query"],
        &["test", "ping.aml", "--sut", "cat", "--suite", "suite.json"],
        &["check", "ping.aml", "--trace", "trace.jsonl"],
        &["replay", "failure.json"],
    ] {
        let ran = finish(start(
            &folder,
            &[command, &["--limit", "bytes=2000"]].concat(),
        ));
        assert_eq!(ran.code, 2, "{command:?}: {}", ran.all());
        let words = "larger than 2000 bytes";
        assert!(ran.err.contains(words), "{command:?}: {}", ran.all());
    }
}

#[test]
fn a_failure_file_keeps_a_bounded_part_of_every_message() {
    let model = PING.replace("response 'pong'", "response 'pong', {'text' => :string}");
    assert_ne!(model, PING);
    // One long message that the model allows, and a longer one that it does not.
    let folder = folder_with(&[("ping.aml", &model), ("system.py", LONG)]);
    let sut = format!("exec python3 system.py {} {}", 1 << 19, 6 << 20);
    let ran = finish(start(
        &folder,
        &["test", "ping.aml", "--sut", &sut, "--seed", "1"],
    ));
    assert_eq!(ran.code, 1, "{}", &ran.err);
    let failures = std::fs::read_dir(folder.path().join(".ioco/failures")).expect("failures");
    let mut messages = 0;
    for file in failures.flatten() {
        let text = std::fs::read_to_string(file.path()).expect("a failure");
        assert!(text.len() < 4 << 20, "{}", text.len());
        let file: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        for message in file["wire"].as_array().expect("messages") {
            let text = message["text"].as_str().unwrap_or_default();
            // Those that are kept, and how many more there were.
            assert!(text.len() < (64 << 10) + 100, "{}", text.len());
            messages += usize::from(text.ends_with(" more bytes)"));
        }
    }
    assert_eq!(messages, 2, "both long messages are there, and cut");
}

#[test]
fn models_too_large_for_the_time_or_the_states_allowed_are_given_up() {
    let here = folder();
    let microscope = root().join("examples/microscope/model.aml");
    let microscope = microscope.to_str().expect("a path");
    let arguments = ["generate", microscope, "--cover", "mcdc", "--time", "300ms"];
    let ran = finish(start(&here, &arguments));
    assert_eq!(ran.code, 4, "{}", ran.all());
    assert!(ran.out.contains("interrupted"), "{}", ran.all());

    // A million states.
    let large = "external 'c'\nprocess('p') {\n  channel('c') { stimuli 'a', 'b' }\n  \
                 var 'x', :integer, 0\n  var 'y', :integer, 0\n  state 'S'\n  repeat {\n    \
                 o { receive 'a', constraint: 'x < 1000', update: 'x = x + 1' }\n    \
                 o { receive 'b', constraint: 'y < 1000', update: 'y = y + 1' }\n  }\n}\n";
    let here = folder_with(&[("large.aml", large)]);
    let arguments = ["check", "large.aml", "--flatten", "--states", "5000"];
    let ran = finish(start(&here, &arguments));
    assert_eq!(ran.code, 2, "{}", ran.all());
    assert!(ran.err.contains("more than 5000 states"), "{}", ran.all());
}

/// A system that answers once with so long a text, and then with one that the model does not allow, of its own length.
const LONG: &str = r#"
import json, sys
allowed, wrong = int(sys.argv[1]), int(sys.argv[2])
count = 0
def say(what):
    sys.stdout.write(json.dumps(what) + "\n"); sys.stdout.flush()
for line in sys.stdin:
    if json.loads(line).get("reset"):
        count = 0
        say({"ready": True})
    else:
        count += 1
        name, length = ("pong", allowed) if count == 1 else ("pang", wrong)
        say({"response": name, "values": {"text": "x" * length}})
        say({"quiescent": True})
"#;

#[test]
fn long_values_are_shortened_for_people_and_kept_for_a_replay_within_a_limit() {
    let model = PING.replace("response 'pong'", "response 'pong', {'text' => :string}");
    for (length, limit, has_wire) in [(3 << 20, 64_000_000, true), (1_000_000, 1_900_000, false)] {
        let folder = folder_with(&[("ping.aml", &model), ("system.py", LONG)]);
        let sut = format!("exec python3 system.py {length} 2");
        let bytes = format!("bytes={limit}");
        let limits = ["--limit", "wire=4000000", "--limit", &bytes];
        let test = [
            "test",
            "ping.aml",
            "--sut",
            &sut,
            "--seed",
            "1",
            "--no-shrink",
        ];
        let ran = finish(start(&folder, &[&test[..], &limits].concat()));
        assert_eq!(ran.code, 1, "{}", &ran.err);
        assert!(ran.out.len() + ran.err.len() < 20_000, "{}", ran.out.len());
        assert!(ran.out.contains("characters left out"), "{}", ran.out);
        let without = "does not contain the messages on the wire";
        assert_eq!(ran.err.contains(without), !has_wire, "{}", ran.err);
        let failures = std::fs::read_dir(folder.path().join(".ioco/failures"));
        let files: Vec<_> = failures.into_iter().flatten().flatten().collect();
        assert_eq!(files.len(), 1, "{}", ran.err);
        for file in files {
            let name = file.path();
            let id = name.file_stem().and_then(|id| id.to_str()).expect("an id");
            let replay = finish(start(&folder, &["replay", id, "--sut", &sut]));
            assert_eq!(replay.code, 1, "{}", replay.err);
            assert!(replay.out.len() < 20_000, "{}", replay.out.len());
            let length = file.metadata().expect("a file").len();
            assert!(length <= limit, "{length}");
        }
    }
}

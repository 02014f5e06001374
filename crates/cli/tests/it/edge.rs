//! The border of commands that work with others' stores, servers, files and clients: `merge`, `worker`, `campaign`,
//! `nats`, `connect`, `simulate` and `test --watch`.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{PING, PONG, Ran, TempDir, folder_with, interrupt, ioco, run};

/// Nothing waits this long; a hang is found all the same.
const HANG: Duration = Duration::from_secs(120);

fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < HANG, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn start(folder: &Path, arguments: &[&str]) -> Child {
    ioco()
        .current_dir(folder)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("ioco starts")
}

fn code(mut child: Child) -> Option<i32> {
    let begun = Instant::now();
    while child.try_wait().expect("a status").is_none() {
        if begun.elapsed() > HANG {
            child.kill().expect("killed");
            child.wait().expect("it ends");
            panic!("ioco hangs");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    child.wait().expect("a status").code()
}

/// A folder with one run.
fn tested() -> TempDir {
    let folder = folder_with(&[("ping.aml", PING), ("system.py", PONG)]);
    let ran = run(ioco().current_dir(folder.path()).args([
        "test",
        "ping.aml",
        "--sut",
        "exec python3 system.py",
        "--tests",
        "2",
        "--steps",
        "4",
    ]));
    assert_eq!(ran.code, 0, "{}", ran.all());
    folder
}

/// Changes a store as somebody can who sends one.
fn change(folder: &Path, script: &str) {
    let script = format!(
        "import json, sqlite3\nc = sqlite3.connect('.ioco/ioco.db')\n\
         c.execute('PRAGMA foreign_keys = OFF')\n{script}\nc.commit()\nc.close()\n"
    );
    let changed = run(Command::new("python3")
        .current_dir(folder)
        .args(["-c", &script]));
    assert_eq!(changed.code, 0, "{}", changed.all());
}

fn merge(here: &Path, parts: &[&Path]) -> Ran {
    run(ioco().current_dir(here).arg("merge").args(parts))
}

#[test]
fn a_store_that_is_merged_names_no_file_of_the_project() {
    let part = tested();
    change(
        part.path(),
        "c.execute(\"UPDATE models SET hash = '../../package'\")\n\
         c.execute(\"UPDATE runs SET model_hash = '../../package'\")",
    );
    let coverage = fs::read_dir(part.path().join(".ioco/coverage")).expect("coverage");
    let coverage = coverage
        .flatten()
        .map(|entry| entry.path())
        .find(|path| path.extension().is_some_and(|e| e == "json"));
    // Where the hash leads from the part's own folder.
    fs::copy(coverage.expect("a file"), part.path().join("package.json")).expect("copied");
    let here = folder_with(&[("ping.aml", PING)]);
    let ran = merge(here.path(), &[part.path()]);
    assert_eq!(ran.code, 2, "{}", ran.all());
    for name in ["package.json", "package.lock"] {
        assert!(!here.path().join(name).exists(), "{name}");
    }
}

#[test]
fn numbers_of_a_store_that_cannot_be_are_no_panic() {
    let part = tested();
    change(
        part.path(),
        "s = json.loads(c.execute('SELECT summary FROM runs').fetchone()[0])\n\
         s.update({k: 2**64 - 1 for k in ('tests', 'passed', 'stimuli', 'responses', 'silences')})\n\
         c.execute('UPDATE runs SET summary = ?', (json.dumps(s),))",
    );
    let here = folder_with(&[("ping.aml", PING)]);
    let runs = run(ioco().current_dir(part.path()).arg("runs"));
    let report = run(ioco().current_dir(part.path()).arg("report"));
    for ran in [
        merge(here.path(), &[part.path(), part.path()]),
        runs,
        report,
    ] {
        assert!(ran.code == 0 || ran.code == 2, "{}", ran.all());
        assert!(!ran.err.contains("panicked"), "{}", ran.all());
    }
}

#[test]
fn a_store_with_definitions_of_its_own_is_not_used() {
    // As large as it likes, in a file of a few kilobytes.
    let endless = "DROP TABLE steps; CREATE VIEW steps AS WITH RECURSIVE n(x) AS \
                   (SELECT 1 UNION ALL SELECT x + 1 FROM n) \
                   SELECT 1 AS run, 1 AS test, x AS first, '[]' AS body FROM n";
    let part = tested();
    change(part.path(), &format!("c.executescript(\"{endless}\")"));
    let here = folder_with(&[("ping.aml", PING)]);
    let elsewhere = part.path().display().to_string();
    // Bounded: whoever uses it never ends.
    assert_eq!(code(start(part.path(), &["report"])), Some(2));
    assert_eq!(code(start(here.path(), &["merge", &elsewhere])), Some(2));
    let ran = run(ioco().current_dir(part.path()).arg("report"));
    assert!(ran.err.contains("does not make"), "{}", ran.all());
}

/// A server that takes connections and says nothing.
fn mute() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    (listener, address)
}

#[test]
fn a_nats_server_that_says_nothing_can_be_interrupted() {
    let settings = "model = 'ping.aml'\n[sut]\ncommand = ['python3', 'system.py']\n";
    let folder = folder_with(&[
        ("ping.aml", PING),
        ("system.py", PONG),
        ("ioco.toml", settings),
    ]);
    for command in [
        &["worker"][..],
        &["campaign", "start"],
        &["campaign", "status"],
        &["campaign", "stop", "1"],
    ] {
        let (server, address) = mute();
        let url = format!("nats://{address}");
        let child = start(folder.path(), &[command, &["--nats", &url]].concat());
        let _client = server.accept().expect("ioco connects");
        interrupt(&child);
        assert_eq!(code(child), Some(130), "{command:?}");
    }
}

#[test]
fn a_password_for_nats_does_not_go_over_the_network_unencrypted() {
    let folder = folder_with(&[("ping.aml", PING)]);
    let ran = run(ioco().current_dir(folder.path()).args([
        "campaign",
        "status",
        "--nats",
        "nats://me:secret@192.0.2.1:4222",
    ]));
    assert_eq!(ran.code, 2, "{}", ran.all());
    assert!(ran.err.contains("--insecure"), "{}", ran.all());
    assert!(!ran.err.contains("secret"), "{}", ran.all());
}

#[test]
fn a_nats_server_that_says_nothing_is_waited_for_until_the_time_is_over() {
    let folder = folder_with(&[("ping.aml", PING), ("system.py", PONG)]);
    let (_server, address) = mute();
    let ran = run(ioco().current_dir(folder.path()).args([
        "campaign",
        "start",
        "ping.aml",
        "--sut",
        "exec python3 system.py",
        "--time",
        "100ms",
        "--nats",
        &format!("nats://{address}"),
    ]));
    assert_eq!(ran.code, 3, "{}", ran.all());
    // Not the end of ioco's own patience.
    assert!(ran.err.contains("before the end"), "{}", ran.all());
}

/// What a client says to a NATS server first, and the command's exit code; the server says no more than its INFO.
fn said_to_nats(login: &str, scheme: &str) -> (String, i32) {
    let folder = folder_with(&[("ping.aml", PING)]);
    let (server, address) = mute();
    let heard = std::thread::spawn(move || {
        let (mut client, _) = server.accept().expect("ioco connects");
        let info = r#"{"server_id":"x","server_name":"x","version":"2.10.0","go":"","host":"","port":1,"max_payload":1024,"proto":1,"client_id":1,"headers":true,"auth_required":true}"#;
        client
            .write_all(format!("INFO {info}\r\n").as_bytes())
            .expect("sent");
        let mut line = Vec::new();
        // A client that wants TLS sends no line, and ends with the connection.
        let mut bytes = BufReader::new(client.try_clone().expect("a socket"));
        let mut first = [0];
        if bytes.read_exact(&mut first).is_ok() {
            line.push(first[0]);
            if first[0] == b'C' {
                bytes.read_until(b'\n', &mut line).expect("a line");
                client
                    .write_all(b"-ERR 'Authorization Violation'\r\n")
                    .expect("sent");
            } else {
                client.write_all(b"-ERR 'no TLS here'\r\n").expect("sent");
                drop(server);
                client.shutdown(std::net::Shutdown::Write).expect("the end");
                // Whatever else comes.
                bytes.read_to_end(&mut line).ok();
            }
        }
        String::from_utf8_lossy(&line).into_owned()
    });
    let url = format!("{scheme}://{login}@{address}");
    let ran = run(ioco()
        .current_dir(folder.path())
        .args(["campaign", "status", "--nats", &url]));
    for secret in ["p@ss", "p%40ss", "t%40ken", "t@ken"] {
        assert!(!ran.err.contains(secret), "{}", ran.all());
    }
    (heard.join().expect("a server"), ran.code)
}

#[test]
fn a_nats_server_gets_the_password_of_its_address() {
    let (said, code) = said_to_nats("me:p%40ss", "nats");
    assert_eq!(code, 3);
    let said: serde_json::Value =
        serde_json::from_str(said.strip_prefix("CONNECT ").expect(&said)).expect("JSON");
    assert_eq!(said["user"], "me");
    assert_eq!(said["pass"], "p@ss");
    let (said, _) = said_to_nats("t%40ken", "nats");
    assert!(said.contains("\"auth_token\":\"t@ken\""), "{said}");
}

#[test]
fn a_nats_server_without_tls_gets_no_password_where_the_address_says_tls() {
    let (said, code) = said_to_nats("me:p%40ss", "tls");
    assert_eq!(code, 3);
    assert!(!said.contains("CONNECT"), "{said}");
    assert!(!said.contains("p@ss") && !said.contains("p%40ss"), "{said}");
}

/// A folder with a program `nats-server` that says who it is and goes on for ever; and the path to find it.
fn with_nats() -> (TempDir, String) {
    let folder = folder_with(&[(
        "nats-server",
        "#!/bin/sh\necho $$ > pid.part\nmv pid.part pid\nexec sleep 3600\n",
    )]);
    let program = folder.path().join("nats-server");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("set");
    let path = std::env::var("PATH").expect("a path");
    let path = format!("{}:{path}", folder.path().display());
    (folder, path)
}

#[test]
fn a_killed_ioco_leaves_no_nats_server_behind() {
    let (folder, path) = with_nats();
    let mut command = ioco();
    command
        .env("PATH", path)
        .current_dir(folder.path())
        .arg("nats");
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("ioco starts");
    let file = folder.path().join("pid");
    until("the server starts", || file.exists());
    let pid = fs::read_to_string(file).expect("a pid");
    child.kill().expect("killed");
    child.wait().expect("it ends");
    until("the server ends", || {
        let shown = Command::new("ps")
            .args(["-o", "stat=", "-p", pid.trim()])
            .output();
        let state = String::from_utf8_lossy(&shown.expect("ps runs").stdout).into_owned();
        state.trim().is_empty() || state.trim().starts_with('Z')
    });
}

#[test]
fn the_settings_of_a_nats_server_are_not_written_through_a_link() {
    let victim = folder_with(&[("precious", "kept")]);
    for link in [".ioco/nats/nats.conf", ".ioco/nats"] {
        let (folder, path) = with_nats();
        let link = folder.path().join(link);
        fs::create_dir_all(link.parent().expect("a folder")).expect("made");
        let target = match link.extension() {
            Some(_) => victim.path().join("precious"),
            None => victim.path().to_owned(),
        };
        std::os::unix::fs::symlink(target, &link).expect("linked");
        let ran = run(ioco()
            .env("PATH", path)
            .current_dir(folder.path())
            .arg("nats")
            .stdin(Stdio::null()));
        assert_eq!(ran.code, 2, "{}", ran.all());
        assert!(ran.err.contains("link"), "{}", ran.all());
    }
    let kept = fs::read_to_string(victim.path().join("precious")).expect("it is there");
    assert_eq!(kept, "kept");
    assert_eq!(fs::read_dir(victim.path()).expect("a folder").count(), 1);
}

/// Says pong without end once it is ready.
const FLOOD: &str = "import sys\nsys.stdin.readline()\nprint('{\"ready\": true}', flush=True)\n\
                     while True: print('{\"response\": \"pong\"}', flush=True)\n";

#[test]
fn a_system_that_never_pauses_keeps_connect_neither_waiting_nor_from_being_interrupted() {
    let folder = folder_with(&[("ping.aml", PING), ("flood.py", FLOOD)]);
    let connect = ["connect", "ping.aml", "--sut", "exec python3 flood.py"];
    let child = start(folder.path(), &[&connect[..], &["--wait", "50ms"]].concat());
    assert_eq!(code(child), Some(0));
    let mut child = ioco()
        .current_dir(folder.path())
        .args(connect)
        .args(["--wait", "3600s"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("ioco starts");
    let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut line = String::new();
    out.read_line(&mut line).expect("a response");
    std::thread::spawn(move || out.read_to_end(&mut Vec::new()));
    interrupt(&child);
    assert_eq!(code(child), Some(130));
}

#[test]
fn messages_that_simulate_does_not_understand_do_not_flood_the_terminal() {
    let folder = folder_with(&[("ping.aml", PING)]);
    let mut child = ioco()
        .current_dir(folder.path())
        .args([
            "simulate",
            "ping.aml",
            "--listen",
            "127.0.0.1:0",
            "--clients",
            "1",
        ])
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("ioco starts");
    let mut err = BufReader::new(child.stderr.take().expect("a pipe"));
    let mut line = String::new();
    err.read_line(&mut line).expect("a line");
    let address = line
        .split_whitespace()
        .find(|word| word.starts_with("127.0.0.1:"))
        .expect("an address");
    let mut client = TcpStream::connect(address.trim_end_matches(';')).expect("connected");
    let mut answers = client.try_clone().expect("a socket");
    let reading = std::thread::spawn(move || answers.read_to_end(&mut Vec::new()));
    client
        .write_all("\u{1b}]52;c;ZXZpbA==\u{7}\n".repeat(2000).as_bytes())
        .expect("written");
    client.shutdown(std::net::Shutdown::Write).expect("closed");
    let mut said = String::new();
    err.read_to_string(&mut said).expect("text");
    assert_eq!(child.wait().expect("it ends").code(), Some(0), "{said}");
    let _ = reading.join().expect("read");
    assert!(said.lines().count() < 40, "{}", said.lines().count());
    assert!(said.contains("does not show further"), "{said}");
    assert!(!said.contains('\u{1b}'), "{said:?}");
}

#[test]
fn links_that_lead_round_do_not_keep_watch_from_testing() {
    let settings =
        "model = 'ping.aml'\n[sut]\ncommand = ['python3', 'system.py']\nwatch = ['round']\n";
    let folder = folder_with(&[
        ("ping.aml", PING),
        ("system.py", PONG),
        ("ioco.toml", settings),
    ]);
    fs::create_dir(folder.path().join("round")).expect("made");
    for number in 0..20 {
        let link = folder.path().join(format!("round/{number}"));
        std::os::unix::fs::symlink(".", link).expect("linked");
    }
    let child = start(
        folder.path(),
        &["test", "--watch", "--tests", "1", "--steps", "2"],
    );
    let store = folder.path().join(".ioco/ioco.db");
    until("a test runs", || store.exists());
    interrupt(&child);
    assert_eq!(code(child), Some(130));
}

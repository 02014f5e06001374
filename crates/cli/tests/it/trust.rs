//! The trust boundary: what a cloned project, a failure file, a row of a store, a peer or a page can
//! make ioco run, read, connect to or print.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::support::{
    Listening, PING, PONG, TempDir, folder, folder_with, interrupt, ioco, run, state,
};

const SUT: &str = "python3 system.py pang";

/// A project with a failure that was found with what the person typed.
fn failed() -> (TempDir, String) {
    let folder = folder_with(&[("ping.aml", PING), ("system.py", PONG)]);
    let ran = run(ioco()
        .current_dir(folder.path())
        .args(["test", "ping.aml", "--sut", SUT, "--seed", "1"]));
    assert_eq!(ran.code, 1, "{}", ran.all());
    let id = only_failure(folder.path());
    (folder, id)
}

fn only_failure(folder: &Path) -> String {
    let mut files = fs::read_dir(folder.join(".ioco/failures")).expect("failures");
    let path = files.next().expect("one").expect("readable").path();
    let stem = path.file_stem().expect("a name");
    stem.to_string_lossy().into_owned()
}

/// Puts the way to the system into a failure file, as earlier versions wrote it.
fn make_old(folder: &Path, id: &str, way: &serde_json::Value) {
    let path = folder.join(format!(".ioco/failures/{id}.json"));
    let text = fs::read_to_string(&path).expect("a failure");
    let mut file: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let connection = file["connection"].as_object_mut().expect("an object");
    connection.remove("system");
    connection.insert(
        "reach".to_owned(),
        serde_json::json!({"way": way, "restart": false, "patience": 1_000_000_000u64}),
    );
    fs::write(&path, file.to_string()).expect("written");
}

#[test]
fn a_failure_file_holds_no_command_and_is_replayed_by_whoever_typed_it() {
    let (folder, id) = failed();
    let text = fs::read_to_string(folder.path().join(format!(".ioco/failures/{id}.json")));
    let text = text.expect("a failure");
    assert!(!text.contains("system.py"), "{text}");
    assert!(text.contains("\"typed:"), "{text}");
    let ran = run(ioco().current_dir(folder.path()).args(["replay", &id]));
    assert_eq!(ran.code, 1, "{}", ran.all());

    // Somebody else, who never typed it.
    let other = folder_with(&[]);
    let ran = run(ioco()
        .env("XDG_STATE_HOME", other.path())
        .current_dir(folder.path())
        .args(["replay", &id]));
    assert_eq!(ran.code, 2, "{}", ran.all());
    assert!(ran.err.contains("--sut"), "{}", ran.all());

    // The store does not have it either.
    let store = fs::read(folder.path().join(".ioco/ioco.db")).expect("a store");
    let log = fs::read(folder.path().join(".ioco/ioco.db-wal")).unwrap_or_default();
    for bytes in [store, log] {
        assert!(!bytes.windows(SUT.len()).any(|part| part == SUT.as_bytes()));
    }
    // And what the person typed is the person's.
    let pages = fs::read_dir(state().join("ioco/folders")).expect("a ledger");
    for page in pages {
        let mode = page
            .expect("readable")
            .metadata()
            .expect("a file")
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn a_command_in_a_failure_file_is_not_run_unless_it_is_trusted() {
    let (folder, id) = failed();
    let evil = serde_json::json!({"shell": "touch planted; python3 system.py pang"});
    make_old(folder.path(), &id, &evil);
    let planted = folder.path().join("planted");
    let replay = |more: &[&str]| {
        run(ioco()
            .current_dir(folder.path())
            .args(["replay", &id])
            .args(more)
            .stdin(Stdio::null()))
    };
    let ran = replay(&[]);
    assert_eq!(ran.code, 2, "{}", ran.all());
    assert!(ran.err.contains("touch planted"), "{}", ran.all());
    assert!(ran.err.contains("--trust"), "{}", ran.all());
    assert!(!planted.exists());
    // Shrinking, and testing, which runs known failures first, do not run it either.
    let ran = run(ioco().current_dir(folder.path()).args(["shrink", &id]));
    assert_eq!(ran.code, 2, "{}", ran.all());
    let test = [
        "test", "ping.aml", "--sut", SUT, "--tests", "1", "--steps", "1",
    ];
    run(ioco().current_dir(folder.path()).args(test));
    assert!(!planted.exists());
    // What the person types instead is used.
    let ran = replay(&["--sut", SUT]);
    assert_eq!(ran.code, 1, "{}", ran.all());
    assert!(!planted.exists());
    let ran = replay(&["--trust"]);
    assert_eq!(ran.code, 1, "{}", ran.all());
    assert!(planted.exists());
}

#[test]
fn the_hooks_of_a_failure_file_are_shown_before_they_are_allowed() {
    let (folder, id) = failed();
    let hooks = serde_json::json!({
        "command": "true", "before": "touch planted", "after": "touch planted"
    });
    let inner = serde_json::json!({"started": [hooks, {"tcp": "127.0.0.1:1"}]});
    let outer = serde_json::json!({"started": [{"command": "true"}, inner]});
    for evil in [inner, outer] {
        make_old(folder.path(), &id, &evil);
        for command in [
            &["replay", &id][..],
            &["shrink", &id],
            &["export", &id, "--as", "python"],
        ] {
            let ran = run(ioco()
                .current_dir(folder.path())
                .args(command)
                .stdin(Stdio::null()));
            assert_eq!(ran.code, 2, "{}", ran.all());
            assert!(ran.err.contains("touch planted"), "{}", ran.all());
            assert!(!folder.path().join("planted").exists());
        }
    }
}

#[test]
fn a_failure_file_connects_to_nobody_by_itself() {
    let (folder, id) = failed();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    make_old(folder.path(), &id, &serde_json::json!({"tcp": address}));
    let ran = run(ioco().current_dir(folder.path()).args(["replay", &id]));
    assert_eq!(ran.code, 2, "{}", ran.all());
    listener.set_nonblocking(true).expect("set");
    assert!(listener.accept().is_err(), "somebody connected");
}

#[test]
fn a_failure_file_names_no_model_outside_of_its_project() {
    let (folder, id) = failed();
    let elsewhere = folder_with(&[("secret.aml", "the secret of somebody")]);
    let path = folder.path().join(format!(".ioco/failures/{id}.json"));
    let text = fs::read_to_string(&path).expect("a failure");
    let secret = elsewhere.path().join("secret.aml");
    let text = text.replace(
        "\"ping.aml\"",
        &format!("{:?}", secret.display().to_string()),
    );
    fs::write(&path, text).expect("written");
    let ran = run(ioco().current_dir(folder.path()).args(["replay", &id]));
    assert_eq!(ran.code, 2, "{}", ran.all());
    assert!(!ran.all().contains("the secret"), "{}", ran.all());
    assert!(ran.err.contains("outside of the project"), "{}", ran.all());
}

#[test]
fn a_row_of_a_store_writes_no_file_outside_of_the_project() {
    let (folder, id) = failed();
    // A folder deep enough that the way out ends inside of the test's own folder.
    let project = folder.path().join("a/b/c");
    fs::create_dir_all(&project).expect("made");
    fs::rename(folder.path().join(".ioco"), project.join(".ioco")).expect("moved");
    fs::copy(folder.path().join("ping.aml"), project.join("ping.aml")).expect("copied");
    let database = project.join(".ioco/ioco.db");
    let script = format!(
        "import sqlite3; c = sqlite3.connect({:?}); \
         c.execute('PRAGMA foreign_keys = OFF'); \
         c.execute(\"UPDATE failures SET fingerprint = '../../../escaped'\"); \
         c.execute(\"UPDATE sightings SET fingerprint = '../../../escaped'\"); c.commit()",
        database.display().to_string()
    );
    let changed = run(std::process::Command::new("python3").args(["-c", &script]));
    assert_eq!(changed.code, 0, "{}", changed.all());
    fs::remove_file(project.join(format!(".ioco/failures/{id}.json"))).expect("removed");
    let ran = run(ioco()
        .current_dir(&project)
        .args(["replay", "../../../escaped"]));
    assert_eq!(ran.code, 2, "{}", ran.all());
    let files = files_below(folder.path());
    let is_escaped = |path: &&PathBuf| path.to_string_lossy().contains("escaped");
    assert_eq!(files.iter().find(is_escaped), None);
    assert!(files.contains(&database), "{files:?}");
}

#[test]
fn a_command_in_a_row_of_a_store_is_not_run_unless_it_is_trusted() {
    let (folder, id) = failed();
    let evil = serde_json::json!({"shell": "touch planted; python3 system.py pang"});
    make_old(folder.path(), &id, &evil);
    // The row gets what an earlier version, or somebody else, wrote; the folder has no file of it.
    let script = "import sqlite3, sys; c = sqlite3.connect('.ioco/ioco.db'); \
                  n = c.execute('UPDATE failures SET file = ?', [open(sys.argv[1]).read()]).rowcount; \
                  c.commit(); c.close(); sys.exit(n != 1)";
    let file = folder.path().join(format!(".ioco/failures/{id}.json"));
    let changed = run(std::process::Command::new("python3")
        .current_dir(folder.path())
        .args(["-c", script])
        .arg(&file));
    assert_eq!(changed.code, 0, "{}", changed.all());
    let planted = folder.path().join("planted");
    for command in ["replay", "shrink"] {
        // What was fetched before lies in the folder.
        fs::remove_file(&file).expect("removed");
        let ran = run(ioco()
            .current_dir(folder.path())
            .args([command, &id])
            .stdin(Stdio::null()));
        assert_eq!(ran.code, 2, "{}", ran.all());
        assert!(ran.err.contains("touch planted"), "{}", ran.all());
        assert!(!planted.exists(), "{command}");
    }
    fs::remove_file(&file).expect("removed");
    let trusting = ["replay", &id, "--trust"];
    let ran = run(ioco().current_dir(folder.path()).args(trusting));
    assert_eq!(ran.code, 1, "{}", ran.all());
    assert!(planted.exists());
}

/// All files below a folder, hidden ones included.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        match entry.file_type().expect("a type").is_dir() {
            true => files.extend(files_below(&path)),
            false => files.push(path),
        }
    }
    files
}

#[test]
fn what_ioco_toml_starts_is_said_once_for_a_folder_and_its_settings() {
    let settings = "model = 'ping.aml'\n[sut]\ncommand = ['python3', 'system.py']\n";
    let folder = folder_with(&[
        ("ping.aml", PING),
        ("system.py", PONG),
        ("ioco.toml", settings),
    ]);
    let test = || {
        let ran = run(ioco()
            .current_dir(folder.path())
            .args(["test", "--tests", "1", "--steps", "2"]));
        assert_eq!(ran.code, 0, "{}", ran.all());
        ran.err
    };
    let line = "ioco.toml starts: python3 system.py  (shown once";
    assert!(test().contains(line));
    assert!(!test().contains("shown once"));
    fs::write(
        folder.path().join("ioco.toml"),
        settings.replace("system.py'", "system.py', 'pong'"),
    )
    .expect("written");
    assert!(test().contains("starts: python3 system.py pong  (shown once"));
    assert!(!test().contains("shown once"));
}

#[test]
fn every_command_that_may_start_the_system_says_what_it_starts() {
    let settings = "model = 'ping.aml'\n[sut]\ncommand = ['python3', 'system.py']\n";
    // A port that is taken: the page's server says it and ends.
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("an address").port().to_string();
    for arguments in [
        &["connect"][..],
        &["worker", "--nats", "nats://127.0.0.1:1"],
        &["serve", "--port", &port],
    ] {
        let folder = folder_with(&[
            ("ping.aml", PING),
            ("system.py", PONG),
            ("ioco.toml", settings),
        ]);
        let here = || {
            run(ioco()
                .current_dir(folder.path())
                .args(arguments)
                .stdin(Stdio::null()))
        };
        let line = "ioco.toml starts: python3 system.py  (shown once";
        let first = here();
        assert!(first.err.contains(line), "{arguments:?} {}", first.all());
        let second = here();
        assert!(!second.err.contains(line), "{arguments:?} {}", second.all());
    }
}

/// A folder whose commands leave a file `planted` behind, with a failure that somebody else found in it.
fn folder_with_a_failure() -> (TempDir, PathBuf) {
    let settings = "model = 'ping.aml'\n[sut]\ncommand = ['sh', '-c', 'touch planted; exec python3 system.py pang']\n";
    let folder = folder_with(&[
        ("ping.aml", PING),
        ("system.py", PONG),
        ("ioco.toml", settings),
    ]);
    let maker = folder_with(&[]);
    let ran = run(ioco()
        .env("XDG_STATE_HOME", maker.path())
        .current_dir(folder.path())
        .args(["test", "--seed", "1"]));
    assert_eq!(ran.code, 1, "{}", ran.all());
    fs::remove_file(folder.path().join("planted")).expect("it ran");
    let failure = format!(".ioco/failures/{}.json", only_failure(folder.path()));
    let failure = folder.path().join(failure);
    (folder, failure)
}

#[test]
fn the_commands_of_another_folder_are_asked_about() {
    let (folder, failure) = folder_with_a_failure();
    let planted = folder.path().join("planted");
    // Somebody who got the folder, and is elsewhere.
    let here = folder_with(&[]);
    let replay = |more: &[&str]| {
        run(ioco()
            .env("XDG_STATE_HOME", here.path())
            .current_dir(here.path())
            .arg("replay")
            .arg(&failure)
            .args(more)
            .stdin(Stdio::null()))
    };
    let ran = replay(&[]);
    assert_eq!(ran.code, 2, "{}", ran.all());
    assert!(ran.err.contains("touch planted"), "{}", ran.all());
    assert!(!planted.exists());
    let ran = replay(&["--trust"]);
    assert_eq!(ran.code, 1, "{}", ran.all());
    assert!(planted.exists());
}

/// Runs a command at a terminal of its own, and answers the question it asks. The output follows; the exit code is that
/// of the command.
const AT_TERMINAL: &str = r#"
import os, pty, sys
answer, command = sys.argv[1].encode().decode("unicode_escape"), sys.argv[2:]
child, terminal = pty.fork()
if child == 0:
    os.execvp(command[0], command)
said, asked = b"", False
while True:
    try:
        more = os.read(terminal, 4096)
    except OSError:
        more = b""
    if not more:
        break
    said += more
    if not asked and b"[y/N]" in said:
        asked = True
        os.write(terminal, answer.encode())
os.write(1, said)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"#;

#[test]
fn only_a_yes_at_the_terminal_allows_what_is_asked_about() {
    let (folder, failure) = folder_with_a_failure();
    let planted = folder.path().join("planted");
    // The last answer is the end of the input.
    for (answer, is_yes) in [
        ("y\\n", true),
        ("yes\\n", true),
        ("n\\n", false),
        ("no\\n", false),
        ("\\n", false),
        ("yesterday\\n", false),
        ("\\x04", false),
    ] {
        let here = folder_with(&[("terminal.py", AT_TERMINAL)]);
        let replay = || {
            let _ = fs::remove_file(&planted);
            let mut python = std::process::Command::new("python3");
            python.args(["terminal.py", answer]);
            python.arg(env!("CARGO_BIN_EXE_ioco"));
            python.arg("replay").arg(&failure);
            python.env("XDG_STATE_HOME", here.path());
            run(python.current_dir(here.path()).env("NO_COLOR", "1"))
        };
        let ran = replay();
        let code = if is_yes { 1 } else { 2 };
        assert_eq!(ran.code, code, "{answer}: {}", ran.all());
        assert_eq!(planted.exists(), is_yes, "{answer}: {}", ran.all());
        assert!(ran.out.contains("touch planted"), "{}", ran.all());
        assert!(ran.out.contains("[y/N]"), "{}", ran.all());
        // A yes is for later too; a no is asked again.
        let again = replay();
        assert_eq!(again.out.contains("[y/N]"), !is_yes, "{}", again.all());
        assert_eq!(again.code, code, "{answer}: {}", again.all());
    }
}

#[test]
fn a_database_that_ioco_toml_names_is_not_connected_to_unasked() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    listener.set_nonblocking(true).expect("set");
    let settings = format!(
        "model = 'ping.aml'\n[sut]\ncommand = ['python3', 'system.py']\n\
         [store]\nurl = 'postgres://someone@{address}/runs'\n"
    );
    let folder = folder_with(&[
        ("ping.aml", PING),
        ("system.py", PONG),
        ("ioco.toml", &settings),
    ]);
    let state = folder_with(&[]);
    for command in [
        &["test"][..],
        &["runs"],
        &["serve"],
        &["report"],
        &["store", "migrate"],
    ] {
        let ran = run(ioco()
            .env("XDG_STATE_HOME", state.path())
            .env("PGPASSWORD", "secret")
            .current_dir(folder.path())
            .args(command)
            .stdin(Stdio::null()));
        assert_eq!(ran.code, 2, "{command:?} {}", ran.all());
        assert!(ran.err.contains("postgres://someone@"), "{}", ran.all());
        assert!(ran.err.contains("--trust"), "{}", ran.all());
    }
    assert!(listener.accept().is_err(), "somebody connected");
}

#[test]
fn a_password_does_not_leave_the_machine_unencrypted_because_ioco_toml_says_so() {
    let settings = "model = 'ping.aml'\n[sut]\ncommand = ['python3', 'system.py']\n\
         [store]\nurl = 'postgres://someone@192.0.2.1/runs?sslmode=disable'\n";
    let folder = folder_with(&[
        ("ping.aml", PING),
        ("system.py", PONG),
        ("ioco.toml", settings),
    ]);
    let state = folder_with(&[]);
    let ran = run(ioco()
        .env("XDG_STATE_HOME", state.path())
        .current_dir(folder.path())
        .args(["runs", "--trust"]));
    assert_eq!(ran.code, 2, "{}", ran.all());
    assert!(ran.err.contains("unencrypted"), "{}", ran.all());
}

/// Ends with the test, however that ends.
struct Ended(std::process::Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn serve_hands_its_token_to_the_browser_in_a_file_of_its_own() {
    let folder = folder();
    let made = run(ioco().current_dir(folder.path()).args(["new", "door"]));
    assert_eq!(made.code, 0, "{}", made.all());
    // A desktop that writes down what it was asked to open, and shows the file's permissions.
    let bin = folder.path().join("bin");
    fs::create_dir(&bin).expect("made");
    let opener = "#!/bin/sh\nstat -c %a \"$1\" > opened.mode\ncat \"$1\" > opened.html\n\
                  echo \"$@\" > opened.part && mv opened.part opened\n";
    for name in ["xdg-open", "open"] {
        fs::write(bin.join(name), opener).expect("written");
        fs::set_permissions(bin.join(name), fs::Permissions::from_mode(0o755)).expect("set");
    }
    let path = format!(
        "{}:{}",
        bin.display(),
        std::env::var("PATH").expect("a path")
    );
    let door = folder.path().join("door");
    let state = folder.path().join("state");
    let mut child = Ended(
        ioco()
            .env("PATH", path)
            .env("XDG_STATE_HOME", &state)
            .current_dir(&door)
            .args(["serve", "--open"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("ioco starts"),
    );
    let mut url = String::new();
    let out = child.0.stdout.as_mut().expect("output");
    std::io::BufRead::read_line(&mut std::io::BufReader::new(out), &mut url).expect("a line");
    let (_, token) = url.trim().split_once("token=").expect("a token");
    let opened = door.join("opened");
    while !opened.exists() {
        assert!(
            child.0.try_wait().expect("asked").is_none(),
            "ioco has ended"
        );
        std::thread::yield_now();
    }
    let asked = fs::read_to_string(&opened).expect("what was opened");
    assert!(!asked.contains(token), "{asked}");
    assert_eq!(
        fs::read_to_string(door.join("opened.mode"))
            .expect("a mode")
            .trim(),
        "600"
    );
    let page = fs::read_to_string(door.join("opened.html")).expect("a page");
    assert!(page.contains(token), "{page}");
    interrupt(&child.0);
    assert_eq!(child.0.wait().expect("it ends").code(), Some(0));
    assert!(
        !Path::new(asked.trim()).exists(),
        "the file outlives the server"
    );
}

#[test]
fn listening_on_the_network_needs_encryption_or_a_word() {
    let folder = folder_with(&[("ping.aml", PING), ("ioco.toml", "[amp]\ntoken = 'x'\n")]);
    let refused = |arguments: &[&str]| {
        let ran = run(ioco().current_dir(folder.path()).args(arguments));
        assert_eq!(ran.code, 2, "{arguments:?} {}", ran.all());
        assert!(ran.err.contains("--insecure"), "{}", ran.all());
    };
    refused(&["test", "ping.aml", "--tcp-listen", "0.0.0.0:0"]);
    refused(&["test", "ping.aml", "--amp", "0.0.0.0:0"]);
    refused(&["adapters", "--amp", "0.0.0.0:0"]);
    refused(&[
        "record",
        "ping.aml",
        "--listen",
        "0.0.0.0:0",
        "--to",
        "127.0.0.1:1",
        "-o",
        "x",
    ]);
    for everywhere in ["0.0.0.0:0", "[::]:0"] {
        refused(&["simulate", "ping.aml", "--listen", everywhere]);
    }
    let ran = run(ioco().current_dir(folder.path()).args([
        "adapters",
        "--amp",
        "0.0.0.0:0",
        "--insecure",
        "--wait",
        "1ms",
    ]));
    assert_eq!(ran.code, 3, "{}", ran.all());
}

/// An upgrade request to the address where adapters connect; the status of the answer.
fn upgrade(address: &str, headers: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("connected");
    let request = format!(
        "GET /adapters HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{headers}\r\n"
    );
    stream.write_all(request.as_bytes()).expect("written");
    let mut status = [0; 12];
    stream.read_exact(&mut status).expect("an answer");
    String::from_utf8_lossy(&status[9..]).into_owned()
}

#[test]
fn a_page_that_makes_its_own_name_point_here_is_no_adapter() {
    let folder = folder_with(&[("ping.aml", PING)]);
    let hub = Listening::start(ioco().current_dir(folder.path()).args([
        "adapters",
        "--amp",
        "127.0.0.1:0",
        "--wait",
        "60s",
    ]));
    let address = hub
        .address
        .trim_start_matches("ws://")
        .trim_end_matches("/adapters");
    let (_, port) = address.rsplit_once(':').expect("a port");
    let ask = |host: &str, more: &str| upgrade(address, &format!("Host: {host}\r\n{more}"));
    assert_eq!(ask(&format!("evil.example:{port}"), ""), "403");
    let own = format!("Origin: http://evil.example:{port}\r\n");
    assert_eq!(ask(&format!("evil.example:{port}"), &own), "403");
    for origin in ["http://evil.example", "null", "", "http://évil.example"] {
        let origin = format!("Origin: {origin}\r\n");
        assert_eq!(ask(address, &origin), "403", "{origin}");
    }
    assert_eq!(ask(&format!("localhost:{port}"), ""), "101");
    hub.interrupt();
    let ran = hub.finish();
    assert!(ran.err.contains("evil.example"), "{}", ran.all());
}

#[test]
fn a_database_that_declines_tls_gets_no_more_than_the_question() {
    let folder = folder_with(&[("ping.aml", PING)]);
    for mode in ["require", "verify-full"] {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let server = std::thread::spawn(move || {
            let (mut client, _) = listener.accept().expect("ioco connects");
            drop(listener);
            let mut question = [0; 8];
            client.read_exact(&mut question).expect("a question");
            client.write_all(b"N").expect("declined");
            let mut more = Vec::new();
            client.read_to_end(&mut more).ok();
            (question, more)
        });
        let url = format!("postgres://me:secret@{address}/runs?sslmode={mode}");
        let ran = run(ioco()
            .current_dir(folder.path())
            .args(["runs", "--store", &url]));
        assert_eq!(ran.code, 2, "{}", ran.all());
        assert!(!ran.err.contains("secret"), "{}", ran.all());
        let (question, more) = server.join().expect("a server");
        // The request for TLS of PostgreSQL: its length and its code.
        assert_eq!(question, [0, 0, 0, 8, 4, 210, 22, 47]);
        assert_eq!(String::from_utf8_lossy(&more), "");
    }
}

/// Writes to the clipboard, sets the title, clears the screen, conceals what follows, or has it look like a warning.
const EVIL: &str =
    "\u{1b}]52;c;ZXZpbA==\u{7}\u{1b}]0;title\u{7}\u{1b}[2J\u{9b}2J\u{202e}\u{1b}[8m\u{1b}[33m";

#[test]
fn what_others_write_is_not_obeyed_by_the_terminal() {
    let (folder, id) = failed();
    let failures = folder.path().join(".ioco/failures");
    let good = fs::read_to_string(failures.join(format!("{id}.json"))).expect("a failure");
    let quoted = serde_json::to_string(EVIL).expect("JSON");
    // An id, a name of a system, a name of a model, and something that is no failure at all.
    let with_id = good.replacen(&format!("\"{id}\""), &quoted, 1);
    let with_model = good.replace("\"ping.aml\"", &format!("{:?}", format!("{EVIL}.aml")));
    let with_system = good.replacen("\"typed:", quoted.trim_end_matches('"'), 1);
    for (name, text) in [("a", &with_id), ("b", &with_model), ("c", &with_system)] {
        fs::write(failures.join(format!("{name}.json")), text).expect("written");
    }
    fs::write(failures.join("d.json"), format!("{{\"version\":{EVIL}}}")).expect("written");
    fs::write(failures.join(format!("{EVIL}.json").replace('/', "")), "{}").expect("written");
    let aut = format!("des (0, 1, 2)\n(0, \"{EVIL}\", 9)\n");
    let dot = format!("digraph {{ a -> b [label=\"{EVIL}\" ; x = \"{EVIL}\n");
    let aml = format!("process('x') {{ {EVIL} {EVIL} }}\ninclude '{EVIL}'\n");
    fs::write(folder.path().join("evil.aut"), aut).expect("written");
    fs::write(folder.path().join("evil.dot"), dot).expect("written");
    fs::write(folder.path().join("evil.aml"), aml).expect("written");
    let elsewhere = folder_with(&[("ioco.toml", &format!("\"{EVIL}\" = 1\n"))]);
    let mut runs = Vec::new();
    for arguments in [
        &["replay", "a"][..],
        &["replay", "b"],
        &["replay", "c"],
        &["replay", "d"],
        &["replay", "nothing"],
        &[
            "test", "ping.aml", "--sut", SUT, "--tests", "1", "--steps", "1",
        ],
        &["check", "evil.aut"],
        &["check", "evil.dot"],
        &["check", "evil.aml"],
    ] {
        // As a terminal would get it: nothing is left out because it is none.
        let mut command = ioco();
        command.env_remove("NO_COLOR").env("CLICOLOR_FORCE", "1");
        runs.push(run(command.current_dir(folder.path()).args(arguments)));
    }
    let mut command = ioco();
    command.env_remove("NO_COLOR").env("CLICOLOR_FORCE", "1");
    runs.push(run(command.current_dir(elsewhere.path()).arg("test")));
    for ran in runs {
        for text in [&ran.out, &ran.err] {
            for command in [
                "\u{1b}]",
                "\u{1b}[2J",
                "\u{7}",
                "\u{9b}",
                "\u{202e}",
                "\u{1b}[8m",
                // A colour that ioco uses too.
                "[8m\u{1b}[33m",
            ] {
                assert!(!text.contains(command), "{command:?} in {text:?}");
            }
        }
    }
}

#[test]
fn logs_reasons_and_requirements_of_others_control_no_terminal_and_no_report() {
    const EVIL: &str = "\u{1b}]52;c;ZXZpbA==\u{7}<script>alert(1)</script>\u{202e}";
    let model = PING.replace(
        "external",
        &format!("requirement 'R-1', '{EVIL}'\nexternal"),
    );
    assert_ne!(model, PING);
    let loud = "import sys\nfor line in sys.stdin:\n    \
        sys.stderr.buffer.write(b'\\x1b]52;c;ZXZpbA==\\x07<script>alert(1)</script>\\xff\\x00\\n')\n    \
        sys.stderr.flush()\n    \
        print('{\"ready\": true}' if 'reset' in line else '{\"response\": \"other\"}', flush=True)\n";
    let folder = folder_with(&[("ping.aml", &model), ("system.py", loud)]);
    let here = |arguments: &[&str]| run(ioco().current_dir(folder.path()).args(arguments));
    let mut said = vec![here(&["check", "ping.aml"])];
    said.push(here(&[
        "test",
        "ping.aml",
        "--sut",
        "python3 system.py",
        "--seed",
        "1",
        "--no-shrink",
    ]));
    assert_eq!(said[1].code, 1, "{}", said[1].all());
    let id = only_failure(folder.path());
    said.push(here(&["failures", "accept", &id, "--reason", EVIL]));
    said.push(here(&["failures", "--all"]));
    said.push(here(&["replay", &id]));
    for form in ["html", "markdown", "junit", "sarif", "github"] {
        let report = here(&["report", "--format", form]);
        assert_eq!(report.code, 0, "{}", report.all());
        let marked_up = ["html", "markdown", "junit"].contains(&form);
        assert!(
            !(marked_up && report.out.contains("<script>alert")),
            "{form}"
        );
        said.push(report);
    }
    for ran in said {
        for text in [&ran.out, &ran.err] {
            assert!(!text.contains(['\u{1b}', '\u{7}', '\0']), "{text:?}");
        }
    }
}

#[test]
fn what_never_ends_or_never_begins_is_not_read() {
    let folder = folder_with(&[
        ("zero.aml", "include '/dev/zero'\nprocess('x') { }\n"),
        ("ping.aml", PING),
    ]);
    let at = |name: &str| folder.path().join(name);
    for name in ["link.aml", "link.aut", "link.json", "link.smv"] {
        std::os::unix::fs::symlink("/dev/zero", at(name)).expect("linked");
    }
    let made = std::process::Command::new("mkfifo")
        .arg(at("fifo.aml"))
        .status();
    assert!(made.expect("mkfifo runs").success());
    for name in [
        "zero.aml",
        "link.aml",
        "link.aut",
        "link.json",
        "link.smv",
        "fifo.aml",
    ] {
        let ran = run(ioco().current_dir(folder.path()).args(["check", name]));
        assert_eq!(ran.code, 2, "{name} {}", ran.all());
    }
    for arguments in [
        ["check", "ping.aml", "--trace", "fifo.aml"],
        ["test", "ping.aml", "--suite", "link.json"],
        ["generate", "ping.aml", "--query", "fifo.aml"],
    ] {
        let sut = (arguments[0] == "test").then_some(["--sut", SUT]);
        let ran = run(ioco()
            .current_dir(folder.path())
            .args(arguments)
            .args(sut.into_iter().flatten()));
        assert_eq!(ran.code, 2, "{arguments:?} {}", ran.all());
        assert!(ran.err.contains("not a regular file"), "{}", ran.all());
    }
}

#[test]
fn links_in_the_results_folder_lead_nowhere_else() {
    let victim = folder_with(&[("precious", "kept")]);
    let precious = victim.path().join("precious");
    let file_links = ["ioco.db", "ioco.lock", ".gitignore"];
    for name in file_links {
        for target in [precious.clone(), victim.path().join("made")] {
            let folder = folder_with(&[("ping.aml", PING), ("system.py", PONG)]);
            fs::create_dir(folder.path().join(".ioco")).expect("made");
            std::os::unix::fs::symlink(&target, folder.path().join(".ioco").join(name))
                .expect("linked");
            run(ioco().current_dir(folder.path()).args([
                "test", "ping.aml", "--sut", SUT, "--tests", "1", "--steps", "1",
            ]));
        }
    }
    for name in [".ioco", ".ioco/failures", ".ioco/coverage"] {
        let folder = folder_with(&[("ping.aml", PING), ("system.py", PONG)]);
        let link = folder.path().join(name);
        fs::create_dir_all(link.parent().expect("a folder")).expect("made");
        std::os::unix::fs::symlink(victim.path(), link).expect("linked");
        run(ioco()
            .current_dir(folder.path())
            .args(["test", "ping.aml", "--sut", SUT, "--seed", "1"]));
    }
    assert_eq!(fs::read_to_string(&precious).expect("it is there"), "kept");
    let left: Vec<_> = fs::read_dir(victim.path()).expect("a folder").collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

#[test]
fn includes_stay_inside_of_the_project_unless_allowed() {
    let outside = folder_with(&[("lib.aml", "timeout 0.3\n")]);
    let path = outside.path().display();
    let folder = folder_with(&[("ping.aml", &format!("include '{path}/lib.aml'\n{PING}"))]);
    let check = |more: &[&str]| {
        run(ioco()
            .current_dir(folder.path())
            .args(["check", "ping.aml"])
            .args(more))
    };
    let ran = check(&[]);
    assert_eq!(ran.code, 2, "{}", ran.all());
    assert!(ran.err.contains("--allow-include"), "{}", ran.all());
    let ran = check(&["--allow-include", &path.to_string()]);
    assert!(!ran.err.contains("--allow-include"), "{}", ran.all());
}

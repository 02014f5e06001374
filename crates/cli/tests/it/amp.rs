//! Adapters of the plugin-adapter protocol: one in Python, with nothing of ioco in it, and the
//! SmartDoor behind it.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};

use crate::support::{Ran, TempDir, example_program, folder, ioco, root, run};

/// A process that ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A SmartDoor and where it listens.
fn door(mutant: Option<&str>) -> (Running, String) {
    let mut command = Command::new(example_program());
    command.args(["smartdoor", "--websocket", "127.0.0.1:0"]);
    if let Some(mutant) = mutant {
        command.args(["--mutant", mutant]);
    }
    let mut child = command.stdout(Stdio::piped()).spawn().expect("starts");
    let endpoint = first_line(child.stdout.take());
    (Running(child), endpoint)
}

fn first_line(out: Option<ChildStdout>) -> String {
    let mut line = String::new();
    BufReader::new(out.expect("a pipe"))
        .read_line(&mut line)
        .expect("a line");
    line.trim().to_owned()
}

fn adapter(url: &str, more: &[&str]) -> Running {
    let script = root().join("crates/cli/tests/amp/adapter.py");
    let child = Command::new("python3")
        .arg(script)
        .args(["-u", url])
        .args(more)
        .stderr(Stdio::null())
        .spawn()
        .expect("python3 starts");
    Running(child)
}

fn model() -> PathBuf {
    let path = root().join("examples/smartdoor/model.aml");
    path.canonicalize().expect("the model is there")
}

/// `ioco test` through `--amp`, with one adapter for each list of arguments; `{url}` is not known
/// before ioco listens.
fn test_through(adapters: &[&[&str]], folder: &TempDir, more: &[&str]) -> Ran {
    let mut child = ioco()
        .current_dir(folder.path())
        .arg("test")
        .arg(model())
        .args(["--amp", "0", "--seed", "1"])
        .args(more)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("ioco starts");
    let mut lines = BufReader::new(child.stderr.take().expect("a pipe"));
    let mut err = String::new();
    let mut url = None;
    while url.is_none() {
        let mut line = String::new();
        if lines.read_line(&mut line).expect("a line") == 0 {
            break;
        }
        url = line
            .split_once(" at ws")
            .map(|(_, rest)| format!("ws{}", rest.trim()));
        err.push_str(&line);
    }
    let url = url.unwrap_or_default();
    let _running: Vec<Running> = adapters.iter().map(|more| adapter(&url, more)).collect();
    // Read on aside, so that neither pipe can fill up.
    let reading = std::thread::spawn(move || {
        let mut rest = String::new();
        std::io::Read::read_to_string(&mut lines, &mut rest).expect("text");
        rest
    });
    let output = child.wait_with_output().expect("ioco ends");
    err.push_str(&reading.join().expect("read"));
    Ran {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err,
    }
}

const BUDGET: [&str; 6] = ["--tests", "40", "--steps", "100", "--timeout", "60ms"];

/// The line of the explanation that says what went wrong.
fn deviation(ran: &Ran) -> String {
    let line = ran.out.lines().find(|line| line.starts_with('D'));
    line.unwrap_or_default().to_owned()
}

#[test]
fn every_mutant_of_the_door_is_found_as_it_is_without_an_adapter() {
    for (mutant, ..) in ioco_examples::mutants("smartdoor") {
        let (_door, endpoint) = door(Some(mutant));
        let through = test_through(&[&["--endpoint", &endpoint]], &folder(), &BUDGET);
        assert_eq!(through.code, 1, "{mutant}: {}", through.all());
        let sut = format!(
            "{} smartdoor --mutant {mutant}",
            example_program().display()
        );
        let here = folder();
        let directly = run(ioco()
            .current_dir(here.path())
            .arg("test")
            .arg(model())
            .args(["--sut", &sut, "--seed", "1"])
            .args(BUDGET));
        assert_eq!(directly.code, 1, "{mutant}: {}", directly.all());
        assert_eq!(deviation(&through), deviation(&directly), "{mutant}");
        assert!(deviation(&through).starts_with('D'), "{}", through.all());
    }
}

#[test]
fn the_right_door_passes_also_where_adapters_are_peculiar() {
    // Late: it answers for the last test after a reset. Plain: no bytes, no numbers, no
    // configuration, no labels.
    for behave in ["", "late", "plain", "once"] {
        let (_door, endpoint) = door(None);
        let arguments = ["--endpoint", &endpoint, "--behave", behave];
        let ran = test_through(
            &[&arguments],
            &folder(),
            &["--tests", "6", "--timeout", "40ms"],
        );
        assert_eq!(ran.code, 0, "{behave}: {}", ran.all());
        assert!(ran.out.contains("6 passed"), "{behave}: {}", ran.all());
    }
}

#[test]
fn what_adapters_do_wrong_is_told_with_their_name() {
    let cases = [
        ("vanish-before-announcement", "no adapter has connected"),
        ("text-frame", "sent a text frame"),
        ("garbage", "is not a message of the protocol"),
        ("ready-first", "did not begin with an announcement"),
        ("vanish-before-ready", "Smartdoor@test vanished"),
        ("error-before-ready", "the door is not there"),
        ("vanish-in-reset", "Smartdoor@test vanished"),
        ("hang-in-reset", "Smartdoor@test was not ready within 3s"),
        ("vanish-before-confirmation", "Smartdoor@test vanished"),
        ("vanish-after-confirmation", "Smartdoor@test vanished"),
        ("no-confirmation", "Smartdoor@test did not confirm ?"),
        ("big", "Smartdoor@test sent a message of"),
        (
            "error",
            "Smartdoor@test reported an error during a test: the door is on fire",
        ),
    ];
    for (behave, message) in cases {
        let (_door, endpoint) = door(None);
        let here = folder();
        // Only who never gets so far is waited for in vain.
        let within = if cases[..4].contains(&(behave, message)) {
            4
        } else {
            30
        };
        let settings =
            format!("[sut]\nready_within = \"3s\"\n[amp]\nconnect_within = \"{within}s\"\n");
        std::fs::write(here.path().join("ioco.toml"), settings).expect("written");
        let arguments = ["--endpoint", &endpoint, "--behave", behave];
        let limits = ["--tests", "4", "--steps", "10", "--timeout", "40ms"];
        let ran = test_through(&[&arguments], &here, &limits);
        assert_eq!(ran.code, 3, "{behave}: {}", ran.all());
        assert!(ran.err.contains(message), "{behave}: {}", ran.all());
    }
}

#[test]
fn what_the_model_does_not_know_is_a_deviation() {
    let cases = [("unknown-label", "exploded"), ("wrong-type", "colour")];
    for (behave, shown) in cases {
        let (_door, endpoint) = door(None);
        let arguments = ["--endpoint", &endpoint, "--behave", behave];
        let ran = test_through(
            &[&arguments],
            &folder(),
            &["--tests", "4", "--timeout", "60ms"],
        );
        assert_eq!(ran.code, 1, "{behave}: {}", ran.all());
        assert!(ran.out.contains(shown), "{behave}: {}", ran.all());
    }
}

#[test]
fn differences_between_announcement_and_model_are_told() {
    let (_door, endpoint) = door(None);
    let arguments = ["--endpoint", &endpoint, "--channel", "gate"];
    let ran = test_through(
        &[&arguments],
        &folder(),
        &["--tests", "1", "--timeout", "40ms"],
    );
    let told =
        "adapter Smartdoor@test: the model has ?open on channel 'door', the adapter on 'gate'";
    assert!(ran.err.contains(told), "{}", ran.all());
    // What it then sends on that channel is a response that the model does not have.
    assert_eq!(ran.code, 1, "{}", ran.all());
}

#[test]
fn one_of_several_adapters_is_chosen_by_name() {
    let (_one, first) = door(Some("m01"));
    let (_other, second) = door(None);
    let adapters: [&[&str]; 2] = [
        &["--endpoint", &first, "-n", "Bad@1"],
        &["--endpoint", &second, "-n", "Good@1"],
    ];
    let limits = ["--tests", "5", "--timeout", "40ms"];
    for (name, code) in [("Good", 0), ("Bad@1", 1)] {
        let more = [&["--adapter", name], limits.as_slice()].concat();
        let ran = test_through(&adapters, &folder(), &more);
        assert_eq!(ran.code, code, "{name}: {}", ran.all());
    }
    let more = [&["--adapter", "door=Good@1"], limits.as_slice()].concat();
    let ran = test_through(&adapters, &folder(), &more);
    assert_eq!(ran.code, 0, "{}", ran.all());
}

#[test]
fn the_endpoint_can_be_configured() {
    let (_door, endpoint) = door(None);
    let configured = format!("endpoint={endpoint}");
    let more = [
        "--configure",
        &configured,
        "--tests",
        "2",
        "--timeout",
        "40ms",
    ];
    let ran = test_through(&[&[]], &folder(), &more);
    assert_eq!(ran.code, 0, "{}", ran.all());
}

#[test]
fn a_token_is_asked_for() {
    let (_door, endpoint) = door(None);
    let here = folder();
    let settings = "[amp]\ntoken = \"sesame\"\nconnect_within = \"8s\"\n";
    std::fs::write(here.path().join("ioco.toml"), settings).expect("written");
    let limits = ["--tests", "2", "--timeout", "40ms"];
    let right = ["--endpoint", &endpoint, "-t", "sesame"];
    let ran = test_through(&[&right], &here, &limits);
    assert_eq!(ran.code, 0, "{}", ran.all());
    let wrong = ["--endpoint", &endpoint, "-t", "simsalabim"];
    let ran = test_through(&[&wrong], &here, &limits);
    assert_eq!(ran.code, 3, "{}", ran.all());
    assert!(
        ran.err.contains("turned away: its token is wrong"),
        "{}",
        ran.all()
    );
}

#[test]
fn listening_to_the_network_without_a_token_is_refused() {
    let here = folder();
    let ran = run(ioco()
        .current_dir(here.path())
        .arg("test")
        .arg(model())
        .args(["--amp", "0.0.0.0:0"]));
    assert_eq!(ran.code, 2, "{}", ran.all());
    assert!(ran.err.contains("IOCO_AMP_TOKEN"), "{}", ran.all());
}

#[test]
fn the_connection_can_be_encrypted() {
    let here = folder();
    let made = Command::new("openssl")
        .current_dir(here.path())
        .args([
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
        ])
        .args([
            "-keyout",
            "key.pem",
            "-out",
            "cert.pem",
            "-subj",
            "/CN=127.0.0.1",
        ])
        .args(["-addext", "subjectAltName=IP:127.0.0.1"])
        .output();
    if !made.is_ok_and(|made| made.status.success()) {
        eprintln!("skipped: openssl is not here");
        return;
    }
    let settings = "[amp]\ncertificate = \"cert.pem\"\nkey = \"key.pem\"\n";
    std::fs::write(here.path().join("ioco.toml"), settings).expect("written");
    let (_door, endpoint) = door(None);
    let certificate = here.path().join("cert.pem");
    let certificate = certificate.to_str().expect("text");
    let arguments = ["--endpoint", &endpoint, "--certificate", certificate];
    let ran = test_through(&[&arguments], &here, &["--tests", "2", "--timeout", "40ms"]);
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(ran.err.contains("wss://"), "{}", ran.all());
}

#[test]
fn who_is_connected_is_listed() {
    let here = folder();
    let mut child = ioco()
        .current_dir(here.path())
        .arg("adapters")
        .arg(model())
        .args(["--amp", "0", "--wait", "2s", "--format", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("ioco starts");
    let mut line = String::new();
    let mut err = BufReader::new(child.stderr.take().expect("a pipe"));
    err.read_line(&mut line).expect("a line");
    let url = line.split(' ').find(|word| word.starts_with("ws://"));
    let _adapter = adapter(url.expect("a url"), &[]);
    let output = child.wait_with_output().expect("ioco ends");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let listed: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let adapter = &listed["adapters"][0];
    assert_eq!(adapter["name"], "Smartdoor@test", "{text}");
    assert_eq!(
        adapter["configuration"][0]["default"],
        "ws://localhost:3001"
    );
    assert_eq!(adapter["labels"].as_array().map(Vec::len), Some(12));
    assert!(adapter.get("differences").is_none(), "{text}");
    assert_eq!(output.status.code(), Some(0));
}

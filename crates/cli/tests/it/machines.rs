//! `ioco generate --cover w|wp|hsi`, and the suites really run against systems.

use std::fs;

use crate::support::{Ran, TempDir, bench, folder, ioco, run};

/// A lock with a button; silence after the wrong key.
const LOCK: &str = "digraph lock {
  __start0 -> closed;
  closed -> open [label=\"key / unlocked\"];
  closed -> closed [label=\"push / \"];
  open -> open [label=\"key / \"];
  open -> closed [label=\"push / locked\"];
}
";

/// Plays the table of a machine: state, stimulus, response (or nothing), next state.
const SYSTEM: &str = "
import json, sys
table = json.loads(sys.argv[1])
state = 'closed'
for line in sys.stdin:
    message = json.loads(line)
    if 'reset' in message:
        state = 'closed'
        print(json.dumps({'ready': True}), flush=True)
        continue
    response, state = table[state][message['stimulus']]
    if response:
        print(json.dumps({'response': response, 'values': {}}), flush=True)
    print(json.dumps({'quiescent': True}), flush=True)
";

const RIGHT: &str = "{\"closed\": {\"key\": [\"unlocked\", \"open\"], \"push\": [\"\", \"closed\"]}, \
                     \"open\": {\"key\": [\"\", \"open\"], \"push\": [\"locked\", \"closed\"]}}";

fn lock() -> TempDir {
    let folder = folder();
    fs::write(folder.path().join("lock.dot"), LOCK).expect("written");
    fs::write(folder.path().join("system.py"), SYSTEM).expect("written");
    folder
}

fn generate(folder: &TempDir, arguments: &[&str]) -> Ran {
    run(ioco()
        .current_dir(folder.path())
        .args(["generate", "lock.dot"])
        .args(arguments))
}

fn test(folder: &TempDir, table: &str) -> Ran {
    let system = format!("exec python3 system.py '{table}'");
    run(ioco().current_dir(folder.path()).args([
        "test",
        "lock.dot",
        "--suite",
        "suite.jsonl",
        "--no-known",
        "--no-shrink",
        "--sut",
        &system,
    ]))
}

#[test]
fn the_size_is_in_the_text_and_in_the_json() {
    let folder = lock();
    let ran = generate(&folder, &["--cover", "w", "--extra", "1", "--count"]);
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(ran.out.starts_with("w: "), "{}", ran.out);
    assert!(
        ran.out
            .contains("up to 3 states; the model has 2 states and 2 stimuli"),
        "{}",
        ran.out
    );
    let ran = generate(&folder, &["--cover", "hsi", "--format", "json"]);
    let last = ran.out.lines().last().expect("a line");
    let size: serde_json::Value = serde_json::from_str(last).expect("JSON");
    assert_eq!(size["method"], "hsi");
    assert_eq!(size["states"], 2);
    let tests = ran.out.lines().count() as u64 - 1;
    assert_eq!(size["tests"], tests);
    let stimuli = ran.out.matches("\"stimulus\"").count() as u64;
    assert_eq!(size["stimuli"], stimuli);
}

#[test]
fn the_right_system_passes_and_every_fault_is_found() {
    let folder = lock();
    for method in ["w", "wp", "hsi"] {
        let ran = generate(&folder, &["--cover", method, "-o", "suite.jsonl"]);
        assert_eq!(ran.code, 0, "{}", ran.all());
        let ran = test(&folder, RIGHT);
        assert_eq!(ran.code, 0, "{}", ran.all());
        assert!(
            ran.out.contains("0 failed, 0 inconclusive"),
            "{}",
            ran.all()
        );
        for (from, to) in [
            // Outputs: another one, none, and one where there should be silence.
            ("\"unlocked\"", "\"locked\""),
            ("\"locked\"", "\"\""),
            ("[\"\", \"open\"]", "[\"unlocked\", \"open\"]"),
            // Transfers.
            ("[\"unlocked\", \"open\"]", "[\"unlocked\", \"closed\"]"),
            ("[\"\", \"closed\"]", "[\"\", \"open\"]"),
            ("[\"locked\", \"closed\"]", "[\"locked\", \"open\"]"),
        ] {
            assert!(RIGHT.contains(from), "{from}");
            let ran = test(&folder, &RIGHT.replacen(from, to, 1));
            assert_eq!(ran.code, 1, "{method}, {from} to {to}: {}", ran.all());
        }
    }
}

#[test]
fn a_fault_in_a_third_state_needs_an_extra_state() {
    // The second key in a row opens a door to a state that answers otherwise.
    let table = "{\"closed\": {\"key\": [\"unlocked\", \"open\"], \"push\": [\"\", \"closed\"]}, \
                 \"open\": {\"key\": [\"\", \"worn\"], \"push\": [\"locked\", \"closed\"]}, \
                 \"worn\": {\"key\": [\"\", \"open\"], \"push\": [\"locked\", \"stuck\"]}, \
                 \"stuck\": {\"key\": [\"\", \"stuck\"], \"push\": [\"\", \"stuck\"]}}";
    let folder = lock();
    let ran = generate(
        &folder,
        &["--cover", "hsi", "--extra", "2", "-o", "suite.jsonl"],
    );
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert_eq!(test(&folder, table).code, 1);
}

#[test]
fn models_that_are_no_machines_are_refused_with_what_to_do() {
    let folder = folder();
    let model = folder.path().join("m.dot");
    let check = |text: &str, method: &str, said: &str, hint: &str| {
        fs::write(&model, text).expect("written");
        let ran = run(ioco().arg("generate").arg(&model).args(["--cover", method]));
        assert_eq!(ran.code, 2, "{}", ran.all());
        assert!(
            ran.err.contains(said) && ran.err.contains(hint),
            "{}",
            ran.err
        );
    };
    let partial =
        "digraph { a -> b [label=\"x/y\"]; b -> a [label=\"z/w\"]; b -> b [label=\"x/v\"] }";
    check(partial, "w", "a does not accept ?z", "--cover hsi");
    let forked = "digraph { a -> b [label=\"x/y\"]; a -> a [label=\"x/z\"] }";
    check(
        forked,
        "hsi",
        "may lead to different states",
        "--cover switches",
    );
    fs::write(&model, partial).expect("written");
    let ran = run(ioco().arg("generate").arg(&model).args(["--cover", "hsi"]));
    assert_eq!(ran.code, 0, "{}", ran.all());
    let ran = run(ioco()
        .arg("generate")
        .arg(&model)
        .args(["--cover", "switches", "--extra", "1"]));
    assert_eq!(ran.code, 2, "{}", ran.all());
}

#[test]
fn a_model_with_data_is_a_machine_where_its_values_can_be_listed() {
    let folder = folder();
    let model = folder.path().join("m.aml");
    let text = "external 'c'\nprocess('p') {\n  channel('c') { stimulus 'put', {'n' => :integer}; \
                response 'sum', {'n' => :integer} }\n  var 'total', :integer, 0\n  state 'A'\n  \
                repeat {\n    o { receive 'put', constraint: 'n >= 0 && n <= 1 && total + n <= 2', \
                update: 'total = total + n'; send 'sum', constraint: 'n == total' }\n  }\n}\n";
    fs::write(&model, text).expect("written");
    let ran = run(ioco().arg("generate").arg(&model).args(["--cover", "hsi"]));
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(
        ran.out
            .contains("?put(n=1)  !sum(n=1)  ?put(n=1)  !sum(n=2)"),
        "{}",
        ran.out
    );
}

#[test]
fn exported_suites_judge_silence_too() {
    let folder = lock();
    let ran = generate(&folder, &["--cover", "hsi", "-o", "suite.feature"]);
    assert_eq!(ran.code, 0, "{}", ran.all());
    let text = fs::read_to_string(folder.path().join("suite.feature")).expect("a suite");
    assert!(
        text.contains("When \"push\" is given\n    Then nothing is seen\n"),
        "{text}"
    );
    let ran = generate(&folder, &["--cover", "hsi", "-o", "suite.rs"]);
    assert_eq!(ran.code, 0, "{}", ran.all());
    let program = folder.path().join("suite");
    let built =
        std::process::Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
            .current_dir(folder.path())
            .args(["--edition", "2024", "--test", "-o", "suite", "suite.rs"])
            .output()
            .expect("rustc starts");
    assert!(
        built.status.success(),
        "{}",
        String::from_utf8_lossy(&built.stderr)
    );
    let passes = |table: &str| {
        let output = std::process::Command::new(&program)
            .current_dir(folder.path())
            .env("IOCO_SUT", format!("exec python3 system.py '{table}'"))
            .output()
            .expect("the tests start");
        output.status.success()
    };
    assert!(passes(RIGHT));
    assert!(!passes(&RIGHT.replacen(
        "[\"\", \"open\"]",
        "[\"unlocked\", \"open\"]",
        1
    )));
}

#[test]
fn on_public_machines_w_is_the_largest() {
    for name in [
        "mqtt_mosquitto",
        "tls_openssl_1.0.2_server",
        "ble_nrf52832",
        "ssh_bitvise",
    ] {
        let Some(path) = bench(&format!("lts/{name}.dot")) else {
            return;
        };
        let size = |method: &str| {
            let ran = run(ioco()
                .arg("generate")
                .arg(&path)
                .args(["--cover", method, "--count", "--format", "json"]));
            assert_eq!(ran.code, 0, "{}", ran.all());
            let json: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
            (
                json["tests"].as_u64().unwrap(),
                json["stimuli"].as_u64().unwrap(),
            )
        };
        let largest = size("w");
        for method in ["wp", "hsi"] {
            let (tests, stimuli) = size(method);
            assert!(
                tests <= largest.0 && stimuli <= largest.1,
                "{name}: {method}"
            );
        }
    }
}

#[test]
fn a_suite_for_ioco_passes_what_conforms_and_fails_what_does_not() {
    let folder = lock();
    // The model may answer the key in two ways: no machine, and conforming systems show a part of it.
    let choosing = LOCK.replace(
        "closed -> open [label=\"key / unlocked\"];",
        "closed -> open [label=\"key / unlocked\"];\n  closed -> open [label=\"key / opened\"];",
    );
    fs::write(folder.path().join("lock.dot"), choosing).expect("written");
    let ran = generate(&folder, &["--cover", "hsi"]);
    assert_eq!(ran.code, 2, "{}", ran.all());
    let arguments = ["--cover", "ioco", "--extra", "1", "-o", "suite.jsonl"];
    let ran = generate(&folder, &arguments);
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(ran.out.starts_with("ioco: "), "{}", ran.out);
    assert_eq!(test(&folder, RIGHT).code, 0);
    // After the door was opened once, the key does nothing any more.
    let wrong = RIGHT.replace(
        "[\"locked\", \"closed\"]}",
        "[\"locked\", \"stuck\"]}, \"stuck\": {\"key\": [\"\", \"stuck\"], \"push\": [\"\", \"stuck\"]}",
    );
    assert_eq!(test(&folder, &wrong).code, 1);
}

//! `ioco doctor`: what is missing is named with what helps, and the exit code is that of a run.

use std::net::TcpListener;

use crate::support::{PING, PONG, Ran, folder, folder_with, ioco, run};

const PROJECT: &str = "model = \"ping.aml\"\n[sut]\ncommand = [\"python3\", \"system.py\"]\n";

fn doctor(files: &[(&str, &str)], more: &[&str]) -> Ran {
    let here = folder_with(files);
    run(ioco().current_dir(here.path()).arg("doctor").args(more))
}

/// The finding of a name, from `--format json`.
fn finding(ran: &Ran, name: &str) -> serde_json::Value {
    let report: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
    let findings = report["findings"].as_array().expect("findings");
    let found = findings.iter().find(|finding| finding["name"] == name);
    found
        .unwrap_or_else(|| panic!("{name}: {}", ran.all()))
        .clone()
}

#[test]
fn a_project_that_can_be_tested_is_in_order() {
    let files = [
        ("ioco.toml", PROJECT),
        ("ping.aml", PING),
        ("system.py", PONG),
    ];
    let ran = doctor(&files, &[]);
    assert_eq!(ran.code, 0, "{}", ran.all());
    for word in ["ioco.toml", "ping.aml: 2 locations", "python3", "127.0.0.1"] {
        assert!(ran.out.contains(word), "{word}: {}", ran.all());
    }
    assert!(!ran.out.contains("error"), "{}", ran.all());
}

#[test]
fn a_folder_without_a_project_is_no_mistake() {
    let ran = doctor(&[], &["--format", "json"]);
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert_eq!(finding(&ran, "ioco.toml")["state"], "note");
    assert_eq!(finding(&ran, "ports")["state"], "ok");
}

#[test]
fn a_model_with_errors_is_wrong_usage() {
    let files = [
        ("ioco.toml", PROJECT),
        ("ping.aml", "process('x') {"),
        ("system.py", PONG),
    ];
    let ran = doctor(&files, &["--format", "json"]);
    assert_eq!(ran.code, 2, "{}", ran.all());
    assert_eq!(finding(&ran, "model")["state"], "error");
    let hint = finding(&ran, "model")["hint"].to_string();
    assert!(hint.contains("ioco check ping.aml"), "{hint}");
}

#[test]
fn a_program_that_is_not_there_makes_the_system_unusable() {
    let missing = PROJECT.replace("python3", "no-such-program-here");
    let ran = doctor(
        &[("ioco.toml", &missing), ("ping.aml", PING)],
        &["--format", "json"],
    );
    assert_eq!(ran.code, 3, "{}", ran.all());
    assert_eq!(finding(&ran, "program")["state"], "error");
}

#[test]
fn an_address_is_tried_on_this_machine_only() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    let with = |address: &str| {
        let text = format!("model = \"ping.aml\"\n[sut]\ntcp = \"{address}\"\n");
        doctor(
            &[("ioco.toml", &text), ("ping.aml", PING)],
            &["--format", "json"],
        )
    };
    let ran = with(&address);
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert_eq!(finding(&ran, "address")["state"], "ok");
    drop(listener);
    let ran = with(&address);
    assert_eq!(ran.code, 3, "{}", ran.all());
    assert_eq!(finding(&ran, "address")["state"], "error");
    // An address for documentation, which nobody has: nothing is sent there. Nor is a name looked up.
    for address in ["192.0.2.1:9", "nobody.invalid:9"] {
        let ran = with(address);
        assert_eq!(ran.code, 0, "{}", ran.all());
        assert_eq!(finding(&ran, "address")["state"], "note");
    }
}

#[test]
fn a_port_in_use_is_named_before_the_run() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    let text = format!("model = \"ping.aml\"\n[sut]\ntcp_listen = \"{address}\"\n");
    let ran = doctor(
        &[("ioco.toml", &text), ("ping.aml", PING)],
        &["--format", "json"],
    );
    assert_eq!(ran.code, 3, "{}", ran.all());
    assert_eq!(finding(&ran, "connection")["state"], "error");
}

#[test]
fn a_setting_that_does_not_exist_is_named() {
    let ran = doctor(&[("ioco.toml", "modle = \"x.aml\"\n")], &[]);
    assert_eq!(ran.code, 2, "{}", ran.all());
    assert!(ran.out.contains("modle"), "{}", ran.all());
}

#[test]
fn looking_starts_and_leaves_nothing() {
    let here = folder();
    let touch = "import sys; open('started', 'w')";
    for (name, text) in [
        ("ioco.toml", PROJECT),
        ("ping.aml", PING),
        ("system.py", touch),
    ] {
        std::fs::write(here.path().join(name), text).expect("written");
    }
    let ran = run(ioco().current_dir(here.path()).arg("doctor"));
    assert_eq!(ran.code, 0, "{}", ran.all());
    let mut names: Vec<String> = std::fs::read_dir(here.path())
        .expect("the folder")
        .map(|entry| {
            entry
                .expect("a file")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    names.sort();
    assert_eq!(names, ["ioco.toml", "ping.aml", "system.py"]);
}

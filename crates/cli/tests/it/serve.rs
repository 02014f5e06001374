//! `ioco serve`: the address that it prints, and how it ends.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use crate::support::{folder, interrupt, ioco, run};

fn serve(folder: &std::path::Path) -> (Child, String) {
    let mut child = ioco()
        .current_dir(folder)
        .arg("serve")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("ioco starts");
    let mut line = String::new();
    let out = child.stdout.as_mut().expect("output");
    BufReader::new(out).read_line(&mut line).expect("a line");
    (child, line.trim().to_owned())
}

fn ask(url: &str, path: &str) -> String {
    let (address, token) = url
        .trim_start_matches("http://")
        .split_once("/?token=")
        .expect("an address with a token");
    let mut stream = TcpStream::connect(address).expect("connected");
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: {address}\r\nX-Ioco-Token: {token}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).expect("written");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("read");
    answer
}

#[test]
fn a_new_project_is_served_until_it_is_interrupted() {
    let folder = folder();
    let made = run(ioco().current_dir(folder.path()).args(["new", "door"]));
    assert_eq!(made.code, 0, "{}", made.all());
    let (mut child, url) = serve(&folder.path().join("door"));
    assert!(url.starts_with("http://127.0.0.1:"), "{url}");
    assert!(ask(&url, "/api/project").contains("\"model\":\"door.aml\""));
    assert!(ask(&url, "/").contains("<title>ioco</title>"));
    let port = url
        .split(':')
        .nth(2)
        .and_then(|rest| rest.split('/').next());
    let second = run(ioco().current_dir(folder.path().join("door")).args([
        "serve",
        "--port",
        port.expect("a port"),
    ]));
    assert_eq!(second.code, 2, "{}", second.all());
    assert!(
        second.err.contains("cannot serve at 127.0.0.1"),
        "{}",
        second.all()
    );
    assert!(second.err.contains("--port"), "{}", second.all());
    interrupt(&child);
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}

#[test]
fn a_folder_without_a_project_is_not_served() {
    let folder = folder();
    let ran = run(ioco().current_dir(folder.path()).arg("serve"));
    assert_eq!(ran.code, 2, "{}", ran.all());
    assert!(ran.err.contains("there is no ioco.toml"), "{}", ran.all());
}

#[test]
fn a_model_that_never_begins_is_refused_and_the_server_can_be_interrupted() {
    let folder = folder();
    let settings = "model = \"fifo.aml\"\n";
    std::fs::write(folder.path().join("ioco.toml"), settings).expect("written");
    let made = std::process::Command::new("mkfifo")
        .arg(folder.path().join("fifo.aml"))
        .status();
    assert!(made.expect("mkfifo runs").success());
    let (mut child, url) = serve(folder.path());
    // Each of these would read it, and wait for a writer who never comes.
    for path in [
        "/api/project",
        "/api/model?path=fifo.aml",
        "/api/goals?model=fifo.aml",
    ] {
        let answer = ask(&url, path);
        assert!(answer.starts_with("HTTP/1.1 "), "{path}: {answer}");
        assert!(!answer.starts_with("HTTP/1.1 5"), "{path}: {answer}");
    }
    interrupt(&child);
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}

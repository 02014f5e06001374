//! `ioco test --watch`: follows the model and the system until Ctrl-C.

use std::io::{BufRead as _, BufReader, Lines};
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdout, Stdio};

use crate::support::{PING, PONG, folder_with, interrupt, ioco};

/// `ioco test --watch` in the background.
struct Watching {
    child: Child,
    err: Lines<BufReader<ChildStderr>>,
    out: BufReader<ChildStdout>,
}

impl Watching {
    fn start(folder: &Path) -> Watching {
        let mut child = ioco()
            .current_dir(folder)
            .args([
                "test", "--watch", "--tests", "2", "--steps", "4", "--seed", "1",
            ])
            .args(["--no-shrink", "--failures", "1"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("ioco starts");
        let err = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        let out = BufReader::new(child.stdout.take().expect("a pipe"));
        Watching { child, err, out }
    }

    /// What is said until a line contains a text.
    fn until(&mut self, text: &str) -> String {
        let mut said = String::new();
        for line in self.err.by_ref() {
            let line = line.expect("a line");
            said.push_str(&line);
            said.push('\n');
            if line.contains(text) {
                return said;
            }
        }
        panic!("ioco ended before '{text}': {said}");
    }

    /// The next verdict on standard output.
    fn verdict(&mut self) -> String {
        let mut line = String::new();
        while !["PASS", "FAIL", "STOPPED"]
            .iter()
            .any(|v| line.starts_with(v))
        {
            line.clear();
            let read = self.out.read_line(&mut line).expect("a line");
            assert!(read > 0, "ioco ended without a verdict");
        }
        line.split(' ').next().unwrap_or_default().to_owned()
    }

    fn end(mut self) -> i32 {
        interrupt(&self.child);
        self.child.wait().expect("ioco ends").code().unwrap_or(-1)
    }
}

const PROJECT: &str = "model = \"ping.aml\"\n[sut]\ncommand = [\"python3\", \"system.py\"]\n";

#[test]
fn a_changed_system_a_wrong_model_and_a_right_one_are_followed() {
    let here = folder_with(&[
        ("ioco.toml", PROJECT),
        ("ping.aml", PING),
        ("system.py", PONG),
    ]);
    let write = |name: &str, text: &str| {
        std::fs::write(here.path().join(name), text).expect("written");
    };
    let mut watching = Watching::start(here.path());
    assert_eq!(watching.verdict(), "PASS");
    let said = watching.until("waiting for a change");
    for file in ["ping.aml", "ioco.toml", "system.py"] {
        assert!(said.contains(file), "{said}");
    }
    write("system.py", &PONG.replace("else answer", "else 'pang'"));
    watching.until("system.py changed");
    assert_eq!(watching.verdict(), "FAIL");
    watching.until("waiting for a change");
    write("ping.aml", "process('ping') {");
    watching.until("ping.aml changed");
    watching.until("ping.aml");
    watching.until("waiting for a change");
    write("system.py", PONG);
    watching.until("waiting for a change");
    write("ping.aml", PING);
    assert_eq!(watching.verdict(), "PASS");
    assert_eq!(watching.end(), 130);
}

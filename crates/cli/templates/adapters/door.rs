//! A door with a lock, and with a bug for you to find: the system under test.
//!
//! It reads one JSON object a line and answers with one or more. A door that is a Rust library
//! needs none of this: see "In Rust, in `cargo test`" in the guide.

use std::io::{BufRead, Write};

#[derive(Default)]
struct Door {
    state: State,
    code: Option<i64>,
}

#[derive(Default, PartialEq)]
enum State {
    #[default]
    Closed,
    Opened,
    Locked,
}

impl Door {
    fn give(&mut self, stimulus: &str, code: Option<i64>) -> &'static str {
        match (stimulus, &self.state) {
            ("open", State::Closed) => {
                self.state = State::Opened;
                "opened"
            }
            ("close", State::Opened) => {
                self.state = State::Closed;
                "closed"
            }
            ("lock", State::Closed) => {
                self.state = State::Locked;
                self.code = self.code.or(code);
                "locked"
            }
            ("unlock", State::Locked) if code == self.code => {
                self.state = State::Closed;
                "unlocked"
            }
            _ => "refused",
        }
    }
}

/// The text after `"key":` in a line; enough for names and whole numbers. Use serde_json for more.
fn field<'l>(line: &'l str, key: &str) -> Option<&'l str> {
    let (_, rest) = line.split_once(&format!("\"{key}\":"))?;
    let rest = rest.trim_start_matches('"');
    rest.split(['"', ',', '}']).next()
}

fn main() -> std::io::Result<()> {
    let mut door = Door::default();
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lines() {
        let line = line?;
        if field(&line, "reset").is_some() {
            door = Door::default();
            writeln!(out, "{{\"ready\":true,\"quiescent\":true}}")?;
        } else if let Some(stimulus) = field(&line, "stimulus") {
            let code = field(&line, "code").and_then(|code| code.parse().ok());
            let response = door.give(stimulus, code);
            writeln!(out, "{{\"response\":\"{response}\",\"values\":{{}}}}")?;
            // Nothing more will come by itself: saves the tester the wait.
            writeln!(out, "{{\"quiescent\":true}}")?;
        }
        out.flush()?;
    }
    Ok(())
}

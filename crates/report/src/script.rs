//! A failure as a script that shows it against the system alone, without ioco: the messages of its
//! trace, sent again in order, and what the system did last compared with what it did then.

use std::fmt::Write as _;

use ioco_engine::{FailureFile, Sender, WireLine};

/// Shorter pauses come from ioco itself: only longer ones are kept.
const PAUSE: f64 = 0.05;

/// The language of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScriptForm {
    Curl,
    Python,
    Pytest,
    Jsonl,
    Rust,
}

/// Where the messages go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A program and its arguments, which speaks lines.
    Command(Vec<String>),
    /// `host:port` of a system that speaks lines.
    Tcp(String),
    Http {
        /// `http://host:port`.
        base: String,
        /// The request that resets the system: method, path and body.
        reset: Option<(String, String, String)>,
    },
}

/// One message of the trace.
struct Message<'a> {
    from_tester: bool,
    text: &'a str,
    /// Seconds since the message before.
    pause: f64,
}

struct Script<'a> {
    file: &'a FailureFile,
    target: &'a Target,
    messages: Vec<Message<'a>>,
    /// The system is silent where it should answer: for so many seconds.
    silence: Option<f64>,
    /// Over HTTP, the status and body of the answer that deviates.
    answer: Option<(&'a str, &'a str)>,
}

/// The text of a script, or why there is none and what to do.
pub fn script(form: ScriptForm, file: &FailureFile, target: &Target) -> Result<String, String> {
    let script = Script::new(file, target)?;
    match (form, target) {
        (ScriptForm::Jsonl, _) => Ok(script.jsonl()),
        (_, Target::Http { .. }) if script.silence.is_some() => {
            Err("the failure is an answer that does \
            not come, which no script over HTTP waits for: use `ioco replay`"
                .to_owned())
        }
        (_, Target::Http { .. }) if script.answer.is_none() => {
            Err("the failure is not an answer to a request: use `ioco replay`".to_owned())
        }
        (ScriptForm::Curl, Target::Http { base, reset }) => Ok(script.curl(base, reset.as_ref())),
        (ScriptForm::Curl, _) => Err(
            "this system speaks lines, not HTTP: use --as python, pytest, \
                                      jsonl or rust"
                .to_owned(),
        ),
        (ScriptForm::Rust, Target::Http { .. }) => Err(
            "there is no HTTP in Rust's standard library: use --as curl, python or pytest"
                .to_owned(),
        ),
        (ScriptForm::Rust, _) => Ok(script.rust()),
        (ScriptForm::Python | ScriptForm::Pytest, _) => Ok(script.python(form)),
    }
}

impl<'a> Script<'a> {
    fn new(file: &'a FailureFile, target: &'a Target) -> Result<Script<'a>, String> {
        let (wire, end, silent) = match &file.shrunk {
            Some(shrunk) if !shrunk.wire.is_empty() => {
                let end = shrunk.times.last().copied().unwrap_or(0);
                (&shrunk.wire, end, shrunk.deviation.label == "silence")
            }
            _ => (
                &file.wire,
                file.deviated_at,
                file.deviation.label == "silence",
            ),
        };
        let text = |line: &'a WireLine| line.text.as_deref().map(str::trim_end);
        let mut messages = Vec::new();
        let mut before = None;
        for line in wire.iter().filter(|line| line.from != Sender::Log) {
            let text = text(line).ok_or("the failure has messages that are not text")?;
            let pause = before.map_or(0.0, |before| seconds(before, line.at));
            before = Some(line.at);
            messages.push(Message {
                from_tester: line.from == Sender::Tester,
                text,
                pause: if pause < PAUSE { 0.0 } else { pause },
            });
        }
        if let Target::Http { .. } = target {
            // Behind the address of the system, anything else could be the address of another one: `@host/`.
            let is_path = |message: &&Message<'_>| parts(message.text).1.starts_with('/');
            if !messages
                .iter()
                .filter(|m| m.from_tester)
                .all(|m| is_path(&m))
            {
                return Err("the failure has a request whose path does not begin with /".to_owned());
            }
        }
        if messages.is_empty() {
            return Err(
                "the failure file has no messages: `ioco shrink` runs it once more and \
                        records them"
                    .to_owned(),
            );
        }
        let waited = seconds(before.unwrap_or(0), end);
        let last = messages.last().filter(|last| !last.from_tester);
        let answer = last.and_then(|last| answer(last.text));
        Ok(Script {
            file,
            target,
            messages,
            // A system that says that it is silent says so sooner than one that is waited for.
            silence: silent.then_some(waited.max(1.0)),
            answer,
        })
    }

    /// The code and what it means, for a comment. Both may be of a file that another person wrote: they stay
    /// on one line, end no comment of any language, and look like what they are.
    fn title(&self) -> String {
        let deviation = self.file.last_deviation();
        let title = deviation.title(&self.file.model);
        let plain = |c: char| match c {
            '"' | '\\' => '\'',
            // Invisible characters, and those that turn the direction of text round.
            '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' => ' ',
            '\u{feff}' => ' ',
            control if control.is_control() => ' ',
            other => other,
        };
        let title = format!("{} {title}", deviation.code);
        title.chars().map(plain).collect()
    }

    /// Whether the values of the last response are what is wrong with it.
    fn is_about_values(&self) -> bool {
        self.file.last_deviation().code == "D003"
    }

    /// What the tester sends, one JSON object a line.
    fn jsonl(&self) -> String {
        let mut text = String::new();
        if let Target::Http { reset, .. } = self.target {
            if let Some((method, path, body)) = reset {
                let _ = writeln!(text, "{}", request(method, path, body));
            }
            for message in self.messages.iter().filter(|m| m.from_tester) {
                let (method, path, body) = parts(message.text);
                let _ = writeln!(text, "{}", request(method, path, body));
            }
        } else {
            text.push_str("{\"reset\":true}\n");
            for message in self.messages.iter().filter(|m| m.from_tester) {
                let _ = writeln!(text, "{}", message.text);
            }
        }
        text
    }

    fn curl(&self, base: &str, reset: Option<&(String, String, String)>) -> String {
        let mut text = format!(
            "#!/bin/sh\n# {}\n#\n# Shows failure {} without ioco. Ends with 1 if the system still does it, \
             with 0 if not,\n# and with 2 if its answer is another one with the same status. The first argument is the address of another system.\nset -u\n\
             base=${{1:-}}\n[ -n \"$base\" ] || base={}\n\n{}",
            self.title(),
            self.file.id,
            shell(base),
            include_str!("../files/call.sh")
        );
        let mut call = |method: &str, path: &str, body: &str| {
            let _ = write!(text, "call {} {}", shell(method), shell(path));
            if !body.is_empty() {
                let _ = write!(text, " {}", shell(body));
            }
            text.push('\n');
        };
        if let Some((method, path, body)) = reset {
            call(method, path, body);
        }
        let sent = self.messages.iter().filter(|m| m.from_tester);
        for message in sent {
            let (method, path, body) = parts(message.text);
            call(method, path, body);
        }
        let (status, body) = self.answer.unwrap_or_default();
        let _ = write!(
            text,
            "\nexpected_status={}\nexpected_body={}\n{}",
            shell(status),
            shell(body),
            include_str!("../files/compare.sh")
        );
        text
    }

    fn python(&self, form: ScriptForm) -> String {
        let (kind, reach) = match self.target {
            Target::Command(command) => ("lines", format!("COMMAND = {}\n", literal(command))),
            Target::Tcp(address) => {
                let (host, port) = address.rsplit_once(':').unwrap_or((address, "0"));
                let port: u16 = port.parse().unwrap_or(0);
                ("lines", format!("ADDRESS = ({}, {port})\n", literal(&host)))
            }
            Target::Http { base, reset } => {
                let reset = match reset {
                    Some((method, path, body)) => literal(&format!("{method} {path}\n{body}")),
                    None => "None".to_owned(),
                };
                (
                    "http",
                    format!("BASE = {}\nRESET = {reset}\n", literal(base)),
                )
            }
        };
        let mut messages = String::new();
        for message in &self.messages {
            let who = if message.from_tester {
                "tester"
            } else {
                "system"
            };
            let _ = writeln!(
                messages,
                "    ({}, {}, {:.2}),",
                literal(&who),
                literal(&message.text),
                message.pause
            );
        }
        let silence = self
            .silence
            .map_or("None".to_owned(), |s| format!("{s:.2}"));
        let body = match (kind, self.target) {
            ("http", _) => include_str!("../files/http.py"),
            (_, Target::Tcp(_)) => include_str!("../files/tcp.py"),
            _ => include_str!("../files/process.py"),
        };
        let walk = if kind == "http" {
            ""
        } else {
            include_str!("../files/lines.py")
        };
        let name = self.file.id.replace('-', "_");
        let (how, end) = match form {
            ScriptForm::Pytest => (
                "Fails while the system still shows the failure: run `pytest` in the project's folder.",
                format!("\n\ndef test_failure_{name}():\n    assert not still_fails()\n"),
            ),
            _ => (
                "Exit codes: 1 the system still fails, 0 it does not, 2 undecided. Run it in the \
                 project's folder.",
                include_str!("../files/main.py").to_owned(),
            ),
        };
        format!(
            "#!/usr/bin/env python3\n\"\"\"{}\n\nShows failure {} without ioco. {how}\n\"\"\"\n\
             import decimal, json, queue, socket, subprocess, sys, threading, time\n\
             import http.client, urllib.error, urllib.request\n\n{reach}\
             # Who, what, and the seconds since the message before.\nMESSAGES = [\n{messages}]\n\
             # Seconds of silence where the system should answer, if that is the failure.\n\
             SILENCE = {silence}\n# The values of the last response are what is wrong.\nVALUES = {}\n\
             PATIENCE = 10.0\n\n\n{}{body}{walk}{end}",
            self.title(),
            self.file.id,
            if self.is_about_values() {
                "True"
            } else {
                "False"
            },
            include_str!("../files/common.py"),
        )
    }

    fn rust(&self) -> String {
        let connect = match self.target {
            Target::Tcp(address) => format!(
                "    let system = std::net::TcpStream::connect({address:?}).expect(\"the system listens\");\n    \
                 let mut to = system.try_clone().expect(\"a socket\");\n    let from = system;\n"
            ),
            Target::Command(command) => {
                let (program, arguments) = command
                    .split_first()
                    .map_or(("", &[][..]), |(p, a)| (p.as_str(), a));
                format!(
                    "    let mut system = std::process::Command::new({program:?})\n        \
                     .args({arguments:?} as [&str; {}])\n        .stdin(std::process::Stdio::piped())\n        \
                     .stdout(std::process::Stdio::piped())\n        .spawn()\n        \
                     .expect(\"the system starts\");\n    \
                     let mut to = system.stdin.take().expect(\"a pipe\");\n    \
                     let from = system.stdout.take().expect(\"a pipe\");\n",
                    arguments.len()
                )
            }
            Target::Http { .. } => String::new(),
        };
        let mut messages = String::new();
        for message in &self.messages {
            let _ = writeln!(
                messages,
                "    ({}, {:?}, {:.2}),",
                message.from_tester, message.text, message.pause
            );
        }
        let end = match self.target {
            Target::Command(_) => "    let _ = system.kill();\n    let _ = system.wait();\n",
            _ => "",
        };
        let truth = |value: bool| if value { "true" } else { "false" };
        let silence = self
            .silence
            .map_or("None".to_owned(), |s| format!("Some({s:.2})"));
        fill(
            include_str!("../files/failure.rs.txt"),
            &[
                ("title", &self.title()),
                ("id", &self.file.id),
                ("name", &self.file.id.replace('-', "_")),
                ("silence", &silence),
                ("values", truth(self.is_about_values())),
                ("connect", connect.trim_end()),
                ("end", end),
                ("messages", messages.trim_end()),
            ],
        )
    }
}

/// Puts texts in the place of their names in braces. What a text contains is left as it is: it may be somebody
/// else's, with such a name in it.
fn fill(template: &str, texts: &[(&str, &str)]) -> String {
    let mut filled = String::new();
    let mut rest = template;
    while let Some(at) = rest.find('{') {
        filled.push_str(&rest[..at]);
        rest = &rest[at..];
        let found = texts.iter().find_map(|(name, text)| {
            let after = rest[1..].strip_prefix(name)?.strip_prefix('}')?;
            Some((text, after))
        });
        match found {
            Some((text, after)) => {
                filled.push_str(text);
                rest = after;
            }
            None => {
                filled.push('{');
                rest = &rest[1..];
            }
        }
    }
    filled.push_str(rest);
    filled
}

fn seconds(from: u64, to: u64) -> f64 {
    to.saturating_sub(from) as f64 / 1e9
}

/// `POST /path` and the body below it.
fn parts(text: &str) -> (&str, &str, &str) {
    let (line, body) = text.split_once('\n').unwrap_or((text, ""));
    let (method, path) = line.split_once(' ').unwrap_or(("GET", line));
    (method, path, body)
}

/// The status and the body of an answer.
fn answer(text: &str) -> Option<(&str, &str)> {
    let (status, body) = text.split_once('\n').unwrap_or((text, ""));
    let is_status = status.len() == 3 && status.bytes().all(|b| b.is_ascii_digit());
    is_status.then_some((status, body))
}

fn request(method: &str, path: &str, body: &str) -> serde_json::Value {
    serde_json::json!({ "method": method, "path": path, "body": body })
}

/// A literal of Python: JSON is one.
fn literal(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// A word for the shell.
fn shell(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

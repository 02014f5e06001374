//! A server in a folder of its own, and just enough of HTTP to talk to it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use ioco_campaign::{Interrupt, Ledger, Project, SystemChoice};
use ioco_server::{Options, serve};
use serde_json::{Value as Json, json};
use tempfile::TempDir;

/// Nothing in these tests takes this long.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(120);

pub struct Server {
    pub folder: TempDir,
    pub address: String,
    pub token: String,
    interrupt: Interrupt,
    thread: Option<JoinHandle<()>>,
}

pub struct Answer {
    pub status: u16,
    pub head: String,
    pub text: String,
}

impl Answer {
    pub fn json(&self) -> Json {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("not JSON: {}", self.text))
    }
}

/// The project that `ioco new door` makes.
pub fn door() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let template = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/templates/door");
    for name in ["ioco.toml", "door.aml", "door.py"] {
        std::fs::copy(template.join(name), folder.path().join(name)).expect("copied");
    }
    folder
}

impl Server {
    pub fn door() -> Server {
        Server::start(door())
    }

    pub fn start(folder: TempDir) -> Server {
        let mut project = Project::find(Some(folder.path()), None).expect("a project");
        // What the user of this machine has typed and trusted is not for tests.
        project.ledger = Ledger::at(folder.path().join(".state"));
        let interrupt = Interrupt::default();
        let (sender, receiver) = mpsc::channel();
        let own = interrupt.clone();
        let thread = std::thread::spawn(move || {
            let options = Options {
                project,
                system: SystemChoice::default(),
                port: None,
            };
            serve(options, &own, |url| {
                sender.send(url.to_owned()).expect("heard")
            })
            .expect("served");
        });
        let url = receiver
            .recv_timeout(ANSWER_TIMEOUT)
            .expect("the server starts");
        let (address, token) = url
            .trim_start_matches("http://")
            .split_once("/?token=")
            .expect("an address with a token");
        Server {
            address: address.to_owned(),
            token: token.to_owned(),
            folder,
            interrupt,
            thread: Some(thread),
        }
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Ends this server and starts another one in the same folder.
    pub fn restart(mut self) -> Server {
        self.end();
        let folder = std::mem::replace(&mut self.folder, tempfile::tempdir().expect("a folder"));
        Server::start(folder)
    }

    fn end(&mut self) {
        self.interrupt.raise();
        if let Some(thread) = self.thread.take() {
            thread.join().expect("the server ends");
        }
    }

    /// Writes a whole request and reads the whole answer.
    pub fn raw(&self, request: &str) -> Answer {
        let mut stream = TcpStream::connect(&self.address).expect("connected");
        stream.set_read_timeout(Some(ANSWER_TIMEOUT)).expect("set");
        stream.write_all(request.as_bytes()).expect("written");
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).expect("read");
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").expect("a head");
        let status = head.split(' ').nth(1).and_then(|word| word.parse().ok());
        Answer {
            status: status.expect("a status"),
            head: head.to_lowercase(),
            text: body.to_owned(),
        }
    }

    fn request(&self, method: &str, path: &str, body: Option<&str>) -> String {
        let (address, token) = (&self.address, &self.token);
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {address}\r\nX-Ioco-Token: {token}\r\n\
             Connection: close\r\n"
        );
        match body {
            None => format!("{head}\r\n"),
            Some(body) => {
                let length = body.len();
                format!(
                    "{head}Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
                )
            }
        }
    }

    pub fn try_get(&self, path: &str) -> Answer {
        self.raw(&self.request("GET", path, None))
    }

    pub fn try_post(&self, path: &str, body: &Json) -> Answer {
        self.raw(&self.request("POST", path, Some(&body.to_string())))
    }

    pub fn try_post_text(&self, path: &str, body: &str) -> Answer {
        self.raw(&self.request("POST", path, Some(body)))
    }

    pub fn get(&self, path: &str) -> Json {
        let answer = self.try_get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.text);
        answer.json()
    }

    pub fn post(&self, path: &str, body: &Json) -> Json {
        let answer = self.try_post(path, body);
        assert_eq!(answer.status, 200, "{path}: {}", answer.text);
        answer.json()
    }

    /// Opens a stream of events and hands each on until `last` says that it was the last.
    pub fn follow(&self, path: &str, mut last: impl FnMut(&Json) -> bool) -> Vec<Json> {
        let mut stream = TcpStream::connect(&self.address).expect("connected");
        stream.set_read_timeout(Some(ANSWER_TIMEOUT)).expect("set");
        let request = self.request("GET", path, None);
        stream.write_all(request.as_bytes()).expect("written");
        let mut events = Vec::new();
        for line in BufReader::new(stream).lines() {
            let line = line.expect("a line");
            if let Some(text) = line.strip_prefix("data: ") {
                let event: Json = serde_json::from_str(text).expect("JSON");
                let done = last(&event);
                events.push(event);
                if done {
                    break;
                }
            }
        }
        events
    }

    /// Starts a run and waits for its end; everything that was told on the way.
    pub fn run(&self, request: &Json) -> (String, Vec<Json>) {
        let run = self.post("/api/runs", request);
        let id = run["run"].as_str().expect("an id").to_owned();
        let batches = self.follow(&format!("/api/runs/{id}/events"), is_over);
        (id, batches)
    }

    /// Starts a job and waits for its end.
    pub fn job(&self, path: &str, request: &Json) -> Json {
        let job = self.post(path, request);
        let id = job["job"].as_str().expect("an id");
        let told = self.follow(&format!("/api/jobs/{id}/events"), is_over);
        told.last().expect("a last one").clone()
    }

    pub fn wait_until(&self, path: &str, holds: impl Fn(&Json) -> bool) -> Json {
        let begun = Instant::now();
        loop {
            let seen = self.get(path);
            if holds(&seen) {
                return seen;
            }
            assert!(begun.elapsed() < ANSWER_TIMEOUT, "never: {path} {seen}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

pub fn is_over(event: &Json) -> bool {
    let state = event["state"].as_str().unwrap_or_default();
    matches!(state, "finished" | "stopped" | "error")
}

pub fn simulated() -> Json {
    json!({"kind": "simulated", "text": ""})
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}

//! Running `ioco` and the example systems in a folder of their own.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Output, Stdio};
use std::sync::OnceLock;

pub use tempfile::TempDir;

pub fn ioco() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ioco"));
    command
        .env_remove("CLICOLOR_FORCE")
        .env_remove("FORCE_COLOR")
        .env("NO_COLOR", "1")
        // What the user of this machine has typed and trusted is not for tests.
        .env("XDG_STATE_HOME", state());
    command
}

/// Where `ioco` keeps what its user typed.
pub fn state() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("state")
}

/// The program that plays the example systems; it lies beside `ioco`, and is built if it is not
/// there yet.
pub fn example_program() -> &'static Path {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| {
        let folder = Path::new(env!("CARGO_BIN_EXE_ioco"))
            .parent()
            .expect("a folder")
            .to_owned();
        let path = folder.join("ioco-example");
        if !path.exists() {
            let status = Command::new(env!("CARGO"))
                .args(["build", "--quiet", "--package", "ioco-examples"])
                .status()
                .expect("cargo starts");
            assert!(status.success(), "the example systems can be built");
        }
        path
    })
}

pub fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder for the test")
}

/// The root of the project.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Public models and data, where they exist on this machine.
pub fn bench(path: &str) -> Option<PathBuf> {
    let path = root().join("../shared/bench").join(path);
    if path.exists() {
        Some(path)
    } else {
        eprintln!("skipped: {} is not here", path.display());
        None
    }
}

pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Ran {
    /// Everything at once, for messages of failing tests.
    pub fn all(&self) -> String {
        format!(
            "exit code {}\n── out\n{}\n── err\n{}",
            self.code, self.out, self.err
        )
    }
}

pub fn run(command: &mut Command) -> Ran {
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().expect("ioco starts");
    Ran {
        code: status.code().unwrap_or(-1),
        out: String::from_utf8_lossy(&stdout).into_owned(),
        err: String::from_utf8_lossy(&stderr).into_owned(),
    }
}

/// A process that ends with the test.
pub struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a program in the background.
pub fn background(command: &mut Command) -> Running {
    Running(command.spawn().expect("the program starts"))
}

/// Starts a program in the background, and waits for the first line that it prints.
pub fn start(command: &mut Command) -> (Running, String) {
    let mut running = background(command.stdout(Stdio::piped()));
    let mut line = String::new();
    let out = running.0.stdout.take().expect("a pipe");
    BufReader::new(out).read_line(&mut line).expect("a line");
    (running, line.trim().to_owned())
}

/// `ioco` in the background: others connect to it.
pub struct Listening {
    child: Child,
    err: BufReader<ChildStderr>,
    /// What it has said so far.
    told: String,
    /// Where to connect; empty if it ended before it said so.
    pub address: String,
}

impl Listening {
    /// Starts it and waits until it has said where it listens.
    pub fn start(command: &mut Command) -> Listening {
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("ioco starts");
        let mut err = BufReader::new(child.stderr.take().expect("a pipe"));
        let mut told = String::new();
        let mut address = String::new();
        while address.is_empty() {
            let mut line = String::new();
            if err.read_line(&mut line).expect("a line") == 0 {
                break;
            }
            let mut words = line.split_whitespace();
            let found = words.find(|word| word.contains("127.0.0.1:"));
            address = found.unwrap_or_default().to_owned();
            told.push_str(&line);
        }
        Listening {
            child,
            err,
            told,
            address,
        }
    }

    /// As Ctrl-C does.
    pub fn interrupt(&self) {
        interrupt(&self.child);
    }

    /// Waits for its end.
    pub fn finish(self) -> Ran {
        let Listening {
            child,
            mut err,
            mut told,
            ..
        } = self;
        // Read aside, so that neither pipe can fill up.
        let reading = std::thread::spawn(move || {
            let mut rest = String::new();
            err.read_to_string(&mut rest).expect("text");
            rest
        });
        let output = child.wait_with_output().expect("ioco ends");
        told.push_str(&reading.join().expect("read"));
        Ran {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: told,
        }
    }
}

/// As Ctrl-C does.
pub fn interrupt(child: &Child) {
    let killed = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(killed.expect("kill runs").success());
}

/// A program of the tests, such as a system, written in Python.
pub fn python(script: &str) -> Command {
    let mut command = Command::new("python3");
    command.arg(root().join(script));
    command
}

/// Writes files into a folder of their own.
pub fn folder_with(files: &[(&str, &str)]) -> TempDir {
    let folder = folder();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).expect("written");
    }
    folder
}

/// A copy of the files of an example, so that its results stay out of the sources.
pub fn example(name: &str) -> TempDir {
    let read = |file: &str| {
        let path = root().join("examples").join(name).join(file);
        std::fs::read_to_string(path).expect("an example")
    };
    let (settings, model) = (read("ioco.toml"), patient(&read("model.aml")));
    // A time-out of the settings would hold everywhere.
    let kept: Vec<&str> = settings
        .lines()
        .filter(|line| !line.starts_with("timeout ="))
        .collect();
    folder_with(&[("ioco.toml", &kept.join("\n")), ("model.aml", &model)])
}

/// The model with time-outs for a busy machine: seconds where a response is due, and a moment in the
/// named states, where the system is silent anyway.
pub fn patient(model: &str) -> String {
    let patient = |line: &str| match line.trim() {
        plain if plain.starts_with("timeout ") => "timeout 5".to_owned(),
        state if state.starts_with("state '") && state.ends_with('\'') => {
            format!("{line}, timeout: 0.05")
        }
        _ => line.to_owned(),
    };
    let lines: Vec<String> = model.lines().map(patient).collect();
    lines.join("\n") + "\n"
}

/// A system for [`PING`]: answers the first ping of a test with pong, and the others with the word of
/// its argument, or with pong too.
pub const PONG: &str = r#"
import json, sys
answer = sys.argv[1] if len(sys.argv) > 1 else "pong"
count = 0
def say(what):
    sys.stdout.write(json.dumps(what) + "\n"); sys.stdout.flush()
for line in sys.stdin:
    message = json.loads(line)
    if message.get("reset"):
        count = 0
        say({"ready": True})
    else:
        count += 1
        say({"response": "pong" if count == 1 else answer, "values": {}})
        say({"quiescent": True})
"#;

/// A model of a system that answers every `ping` with a `pong`, for systems that do not. Silence for
/// want of an answer takes longer than a busy machine needs: systems say when they are silent.
pub const PING: &str = "
timeout 10
external 'wire'
process('ping') {
  channel('wire') {
    stimulus 'ping'
    response 'pong'
  }
  state 'idle', timeout: 0.05
  repeat {
    o { receive 'ping'; send 'pong' }
  }
}
";

/// Runs `ioco test` on [`PING`] against a small Python program.
pub fn test_ping(program: &str, steps: &str, more: &[&str]) -> Ran {
    let folder = folder_with(&[("ping.aml", PING), ("system.py", program)]);
    run(ioco()
        .current_dir(folder.path())
        .args([
            "test",
            "ping.aml",
            "--sut",
            "exec python3 system.py",
            "--seed",
            "1",
        ])
        .args(["--tests", "3", "--steps", steps])
        .args(more))
}

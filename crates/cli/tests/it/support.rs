//! Running `ioco` and the example systems in a folder of their own.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

pub use tempfile::TempDir;

pub fn ioco() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ioco"));
    command
        .env_remove("CLICOLOR_FORCE")
        .env_remove("FORCE_COLOR")
        .env("NO_COLOR", "1");
    command
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

/// A model of a system that answers every `ping` with a `pong`, for systems that do not.
pub const PING: &str = "
timeout 0.3
external 'wire'
process('ping') {
  channel('wire') {
    stimulus 'ping'
    response 'pong'
  }
  state 'idle'
  repeat {
    o { receive 'ping'; send 'pong' }
  }
}
";

/// Runs `ioco test` on [`PING`] against a small Python program.
pub fn test_ping(program: &str, steps: &str, more: &[&str]) -> Ran {
    let folder = folder();
    std::fs::write(folder.path().join("ping.aml"), PING).expect("written");
    std::fs::write(folder.path().join("system.py"), program).expect("written");
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

//! `cargo xtask experiment`: builds the experiment with optimisation and runs it.

use std::process::{Command, ExitCode};

/// Runs the program of this name.
pub fn run(program: &str, args: &[String]) -> ExitCode {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args([
            "run",
            "--quiet",
            "--release",
            "--package",
            "ioco-experiments",
            "--bin",
            program,
            "--",
        ])
        .args(args)
        .status();
    match status {
        Ok(status) => {
            let code = status.code().and_then(|code| u8::try_from(code).ok());
            ExitCode::from(code.unwrap_or(1))
        }
        Err(error) => {
            eprintln!("xtask: cargo cannot be started: {error}");
            ExitCode::FAILURE
        }
    }
}

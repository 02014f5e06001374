//! `cargo xtask experiment decomposition`: builds the experiment of the smv crate with optimisation and runs it.

use std::process::{Command, ExitCode};

pub fn run(args: &[String]) -> ExitCode {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args([
            "run",
            "--quiet",
            "--release",
            "--package",
            "ioco-smv",
            "--example",
            "decomposition",
            "--",
        ])
        .args(args)
        .status();
    match status {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(status) => ExitCode::from(
            status
                .code()
                .and_then(|code| u8::try_from(code).ok())
                .unwrap_or(1),
        ),
        Err(error) => {
            eprintln!("xtask: cargo cannot be started: {error}");
            ExitCode::FAILURE
        }
    }
}

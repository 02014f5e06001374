//! `cargo xtask demo`: the first thing to run. Builds ioco and the example systems, then tests a
//! smart door with a planted bug.

use std::process::Command;

use crate::tools::{self, cargo, root, target_directory};

pub fn run() -> Result<(), String> {
    let build = [
        "build",
        "--release",
        "--package",
        "ioco-cli",
        "--package",
        "ioco-examples",
    ];
    tools::run("build ioco and the example systems", cargo().args(build))?;
    let programs = target_directory().join("release");
    let arguments = ["test", "examples/smartdoor"];
    eprintln!("── ioco {}\n", arguments.join(" "));
    let status = Command::new(programs.join("ioco"))
        .args(arguments)
        .current_dir(root())
        .status()
        .map_err(|error| format!("cannot start ioco: {error}"))?;
    match status.code() {
        Some(1) => {
            eprintln!("\nioco found the planted bug (exit code 1: a deviation was found).");
            Ok(())
        }
        _ => Err(format!(
            "ioco should have found the planted bug, but ended with {status}"
        )),
    }
}

//! `cargo xtask differential`: random models on which ioco's answers are held against a second
//! implementation of the theory, with new seeds for as long as it is given.

use crate::tools::{self, cargo, root};

/// The arguments go to the program: `--minutes N`, `--seed S`.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let mut command = cargo();
    command
        .args([
            "run",
            "--profile",
            "differential",
            "--package",
            "ioco-differential",
            "--",
        ])
        .args(arguments)
        .current_dir(root());
    tools::run("comparison with the reference", &mut command)
}

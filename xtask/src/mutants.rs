//! `cargo xtask mutants`: changes the code that verdicts rest on, one place at a time, and reports which
//! changes no test notices. The work is done by `schemata.py`.
//!
//! Each mutant is judged by the tests of the packages next to it alone.

use std::process::Command;

use crate::tools::{self, cargo, root};

/// A part of the code: its name, the files to change by package, and the packages whose tests judge it.
struct Part {
    name: &'static str,
    mutate: &'static [&'static str],
    tests: &'static [&'static str],
}

const PARTS: &[Part] = &[
    Part {
        name: "verdicts",
        mutate: &[
            "ioco-sts=crates/sts/src/semantics/**",
            "ioco-engine=crates/engine/src/tester/**,crates/engine/src/monitor.rs,crates/engine/src/in_flight.rs,crates/engine/src/silence.rs",
        ],
        tests: &["ioco-sts", "ioco-engine"],
    },
    Part {
        name: "solve",
        mutate: &[
            "ioco-solve=crates/solve/src/**",
            "ioco-sts=crates/sts/src/domain/**",
        ],
        tests: &["ioco-solve", "ioco-sts"],
    },
];

/// The arguments: names of parts (all when there is none), and options that go to `schemata.py run`.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let options = arguments.iter().position(|word| word.starts_with("--"));
    let (names, options) = arguments.split_at(options.unwrap_or(arguments.len()));
    if let Some(unknown) = names
        .iter()
        .find(|name| PARTS.iter().all(|part| part.name != *name))
    {
        let known: Vec<&str> = PARTS.iter().map(|part| part.name).collect();
        return Err(format!(
            "there is no part '{unknown}'; there are: {}",
            known.join(", ")
        ));
    }
    need_cargo_mutants()?;
    let mut survived = Vec::new();
    for part in PARTS {
        if names.is_empty() || names.iter().any(|name| name == part.name) {
            let mut build = schemata("build", part);
            for files in part.mutate {
                build.args(["--mutate", files]);
            }
            for package in part.tests {
                build.args(["--test-package", package]);
            }
            tools::run(
                &format!("build the mutants of {}", part.name),
                build.args(["--opt", "1"]),
            )?;
            survived.extend(
                tools::run(
                    &format!("run the mutants of {}", part.name),
                    schemata("run", part).args(options),
                )
                .err(),
            );
        }
    }
    if survived.is_empty() {
        Ok(())
    } else {
        Err(format!(
            "mutants survived without an explanation: {}",
            survived.join(", ")
        ))
    }
}

fn schemata(command: &str, part: &Part) -> Command {
    let mut python = Command::new("python3");
    python
        .arg(root().join("xtask/schemata.py"))
        .args([command, part.name]);
    python
}

fn need_cargo_mutants() -> Result<(), String> {
    if tools::answers(cargo().args(["mutants", "--version"])) {
        return Ok(());
    }
    tools::run(
        "install cargo-mutants",
        cargo().args(["install", "--locked", "cargo-mutants"]),
    )
}

//! `cargo xtask mutants`: changes the code that verdicts rest on, one place at a time, and reports which
//! changes no test notices.
//!
//! A survivor is either a missing test or an equivalent mutant. Equivalent mutants are listed in
//! `equivalent-mutants.txt`, each with the reason why no test can tell it from the original.
//!
//! Each mutant is judged by the tests next to it alone, because every further package is built and
//! linked again for each of them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::tools::{self, cargo, root, target_directory};

/// A part of the code: its name, the package, the files to change, and the packages whose tests judge it.
struct Part {
    name: &'static str,
    package: &'static str,
    files: &'static [&'static str],
    tests: &'static [&'static str],
}

const PARTS: &[Part] = &[
    Part {
        name: "semantics",
        package: "ioco-sts",
        files: &["crates/sts/src/semantics/**"],
        tests: &["ioco-sts", "ioco-engine"],
    },
    Part {
        name: "tester",
        package: "ioco-engine",
        files: &["crates/engine/src/tester/**"],
        tests: &["ioco-engine"],
    },
    Part {
        name: "monitor",
        package: "ioco-engine",
        files: &[
            "crates/engine/src/monitor.rs",
            "crates/engine/src/in_flight.rs",
        ],
        tests: &["ioco-engine"],
    },
    Part {
        name: "solve",
        package: "ioco-solve",
        files: &["crates/solve/src/**"],
        tests: &["ioco-solve"],
    },
];

/// The arguments: names of parts (all when there is none), and options that go to cargo-mutants.
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
    let equivalent = equivalent_mutants()?;
    let mut unexplained = Vec::new();
    let mut rows = Vec::new();
    for part in PARTS {
        if names.is_empty() || names.iter().any(|name| name == part.name) {
            let found = mutate(part, options)?;
            let is_open = |mutant: &&String| !equivalent.contains_key(&without_place(mutant));
            let open: Vec<String> = found.missed.iter().filter(is_open).cloned().collect();
            rows.push((part.name, found, open.len()));
            unexplained.extend(open);
        }
    }
    println!(
        "\n{:<10} {:>7} {:>7} {:>10} {:>9} {:>11}",
        "part", "caught", "missed", "equivalent", "timed out", "did not build"
    );
    for (name, found, open) in &rows {
        let equivalent = found.missed.len() - open;
        println!(
            "{name:<10} {:>7} {open:>7} {equivalent:>10} {:>9} {:>11}",
            found.caught, found.timed_out, found.unviable
        );
    }
    if unexplained.is_empty() {
        return Ok(());
    }
    for mutant in &unexplained {
        println!("survived: {mutant}");
    }
    Err(format!(
        "{} mutants survived without an explanation",
        unexplained.len()
    ))
}

struct Found {
    caught: usize,
    timed_out: usize,
    unviable: usize,
    missed: Vec<String>,
}

fn mutate(part: &Part, options: &[String]) -> Result<Found, String> {
    let output = target_directory().join("mutants").join(part.name);
    fs::create_dir_all(&output).map_err(|error| format!("{}: {error}", output.display()))?;
    let mut command = cargo();
    command.args([
        "mutants",
        "--no-shuffle",
        "--package",
        part.package,
        "--output",
    ]);
    command.arg(&output);
    for file in part.files {
        command.args(["--file", file]);
    }
    command
        .args(["--test-package", &part.tests.join(",")])
        .args(options);
    eprintln!("── mutants of {}", part.name);
    // It exits with an error when a mutant survives; what it wrote says more.
    command
        .status()
        .map_err(|error| format!("cargo mutants: {error}"))?;
    let folder = output.join("mutants.out");
    Ok(Found {
        caught: lines(&folder, "caught.txt")?.len(),
        timed_out: lines(&folder, "timeout.txt")?.len(),
        unviable: lines(&folder, "unviable.txt")?.len(),
        missed: lines(&folder, "missed.txt")?,
    })
}

fn lines(folder: &Path, name: &str) -> Result<Vec<String>, String> {
    let path = folder.join(name);
    let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(text.lines().map(str::to_owned).collect())
}

/// Mutants that behave as the original does, with the reason. A line is `MUTANT  # REASON`; places are left out,
/// because lines move.
fn equivalent_mutants() -> Result<BTreeMap<String, String>, String> {
    let path = root().join("xtask/equivalent-mutants.txt");
    let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut known = BTreeMap::new();
    for line in text
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
    {
        let Some((mutant, reason)) = line.split_once("  # ") else {
            return Err(format!(
                "{}: a line without a reason: {line}",
                path.display()
            ));
        };
        known.insert(mutant.trim().to_owned(), reason.to_owned());
    }
    Ok(known)
}

/// `crates/a/src/b.rs:12:5: replace …` without line and column.
fn without_place(mutant: &str) -> String {
    let mut parts = mutant.splitn(4, ':');
    match (parts.next(), parts.next(), parts.next(), parts.next()) {
        (Some(file), Some(_), Some(_), Some(what)) => format!("{file}:{what}"),
        _ => mutant.to_owned(),
    }
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

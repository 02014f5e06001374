//! `cargo xtask bench`: the speed table. Every figure is measured in this run, on this machine;
//! nothing here passes or fails by a time.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::tools::{self, cargo, root, target_directory};

/// A part of the table: its name, and what measures it.
type Part = (&'static str, fn() -> Result<(), String>);

const PARTS: &[Part] = &[
    ("solver", || example("ioco-solve", "solver_speed", &[])),
    ("ablation", || {
        example("ioco-generate", "solver_ablation", &["record"])
    }),
    ("tester", || example("ioco-engine", "tester_speed", &[])),
    ("process", || example("ioco-adapters", "process_speed", &[])),
    ("generate", || {
        example("ioco-generate", "cover_speed", &[])?;
        example("ioco-generate", "generate_speed", &[])
    }),
    ("store", || example("ioco-store", "store_speed", &[])),
    ("jobs", || example("ioco-campaign", "jobs_speed", &[])),
    ("workers", || {
        example("ioco-campaign", "thousand_workers", &[])
    }),
    ("program", program),
    ("scale", crate::scale::run),
];

pub fn run(only: &[String]) -> Result<(), String> {
    if let Some(unknown) = only
        .iter()
        .find(|name| PARTS.iter().all(|(part, _)| part != name))
    {
        let known: Vec<&str> = PARTS.iter().map(|(name, _)| *name).collect();
        return Err(format!(
            "there is no benchmark '{unknown}'; there are: {}",
            known.join(", ")
        ));
    }
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    println!("cores: {cores}");
    for (name, part) in PARTS {
        if only.is_empty() || only.iter().any(|wanted| wanted == name) {
            println!("\n{name}");
            part()?;
        }
    }
    Ok(())
}

/// A benchmark that a crate keeps beside its code.
fn example(package: &str, name: &str, features: &[&str]) -> Result<(), String> {
    let arguments = [
        "run",
        "--quiet",
        "--release",
        "--package",
        package,
        "--example",
        name,
        "--features",
        &features.join(","),
    ];
    tools::run(name, cargo().args(arguments))
}

/// The program as a user meets it: size, start-up, and the largest public model.
fn program() -> Result<(), String> {
    tools::run(
        "build ioco",
        cargo().args(["build", "--quiet", "--release", "--package", "ioco-cli"]),
    )?;
    let ioco = target_directory().join("release").join("ioco");
    let size = std::fs::metadata(&ioco)
        .map_err(|error| error.to_string())?
        .len();
    println!("  size of the program        {:.1} MB", size as f64 / 1e6);
    let nothing = median(&mut || time(&mut Command::new("true")))?;
    println!(
        "  starting `true`            {:.1} ms",
        milliseconds(nothing)
    );
    let small = root().join("examples/smartdoor/model.aml");
    let check = |model: &Path, reduce: bool| {
        let model = model.to_owned();
        let ioco = ioco.clone();
        median(&mut || {
            let mut command = Command::new(&ioco);
            command.arg("check").arg(&model);
            if reduce {
                command.arg("--reduce");
            }
            time(&mut command)
        })
    };
    let started = check(&small, false)?;
    println!(
        "  ioco check, small model    {:.1} ms ({:.1} times `true`)",
        milliseconds(started),
        started.as_secs_f64() / nothing.as_secs_f64()
    );
    match atm() {
        Some(model) => {
            let reduced = check(&model, true)?;
            println!(
                "  ioco check --reduce, ATM   {:.1} ms",
                milliseconds(reduced)
            );
        }
        None => println!("  ATM: the public model is not here"),
    }
    Ok(())
}

fn atm() -> Option<PathBuf> {
    let path = root().parent()?.join("shared/bench/aml/atm/model.aml");
    path.exists().then_some(path)
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn time(command: &mut Command) -> Result<Duration, String> {
    let start = Instant::now();
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    let taken = start.elapsed();
    match status {
        Ok(status) if status.success() => Ok(taken),
        Ok(status) => Err(format!("{command:?} ended with {status}")),
        Err(error) => Err(format!("{command:?}: {error}")),
    }
}

fn median(measure: &mut dyn FnMut() -> Result<Duration, String>) -> Result<Duration, String> {
    let mut times = (0..21).map(|_| measure()).collect::<Result<Vec<_>, _>>()?;
    times.sort();
    Ok(times[times.len() / 2])
}

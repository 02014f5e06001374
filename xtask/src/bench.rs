//! `cargo xtask bench`: the speed table. Every figure is measured in this run, on this machine;
//! nothing here passes or fails by a time.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::tools::{self, cargo, root, target_directory};

/// A part of the table: its name, and what measures it with the flags that were typed.
type Part = (&'static str, Measure);

#[derive(Clone, Copy)]
enum Measure {
    Fixed(fn() -> Result<(), String>),
    /// It reads flags: `cargo xtask bench jobs --clock virtual`.
    WithFlags(fn(&[String]) -> Result<(), String>),
}
use Measure::{Fixed, WithFlags};

const PARTS: &[Part] = &[
    (
        "solver",
        Fixed(|| example("ioco-solve", "solver_speed", &[], &[])),
    ),
    (
        "ablation",
        Fixed(|| example("ioco-generate", "solver_ablation", &["record"], &[])),
    ),
    (
        "tester",
        Fixed(|| example("ioco-engine", "tester_speed", &[], &[])),
    ),
    (
        "process",
        Fixed(|| example("ioco-adapters", "process_speed", &[], &[])),
    ),
    (
        "generate",
        Fixed(|| {
            example("ioco-generate", "cover_speed", &[], &[])?;
            example("ioco-generate", "generate_speed", &[], &[])
        }),
    ),
    (
        "store",
        Fixed(|| example("ioco-store", "store_speed", &[], &[])),
    ),
    (
        "jobs",
        WithFlags(|flags| example("ioco-campaign", "jobs_speed", &[], flags)),
    ),
    (
        "workers",
        WithFlags(|flags| example("ioco-campaign", "thousand_workers", &[], flags)),
    ),
    ("program", Fixed(program)),
    ("scale", Fixed(crate::scale::run)),
];

/// What was typed: the parts of the table, and the flags of the only one.
struct Typed<'a> {
    parts: Vec<Part>,
    flags: &'a [String],
}

impl Typed<'_> {
    fn read(words: &[String]) -> Result<Typed<'_>, String> {
        let names = words.iter().take_while(|word| !word.starts_with("--"));
        let (names, flags) = words.split_at(names.count());
        let known: Vec<&str> = PARTS.iter().map(|(name, _)| *name).collect();
        if let Some(unknown) = names.iter().find(|name| !known.contains(&name.as_str())) {
            let known = known.join(", ");
            return Err(format!(
                "there is no benchmark '{unknown}'; there are: {known}"
            ));
        }
        let is_wanted = |name: &str| names.is_empty() || names.iter().any(|wanted| wanted == name);
        let parts: Vec<Part> = PARTS
            .iter()
            .copied()
            .filter(|(name, _)| is_wanted(name))
            .collect();
        match parts[..] {
            _ if flags.is_empty() => {}
            [(_, WithFlags(_))] => {}
            _ => {
                let takes = PARTS
                    .iter()
                    .filter(|(_, part)| matches!(part, WithFlags(_)));
                let takes: Vec<&str> = takes.map(|(name, _)| *name).collect();
                return Err(format!(
                    "{}: only one of these takes flags: {}",
                    flags.join(" "),
                    takes.join(", ")
                ));
            }
        }
        Ok(Typed { parts, flags })
    }
}

pub fn run(words: &[String]) -> Result<(), String> {
    let typed = Typed::read(words)?;
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    println!("cores: {cores}");
    for (name, part) in typed.parts {
        println!("\n{name}");
        match part {
            Fixed(measure) => measure()?,
            WithFlags(measure) => measure(typed.flags)?,
        }
    }
    Ok(())
}

/// A benchmark that a crate keeps beside its code.
fn example(package: &str, name: &str, features: &[&str], flags: &[String]) -> Result<(), String> {
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
        "--",
    ];
    tools::run(name, cargo().args(arguments).args(flags))
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

#[cfg(test)]
mod tests {
    use super::Typed;

    fn read(words: &str) -> Result<(Vec<&'static str>, Vec<String>), String> {
        let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
        let typed = Typed::read(&words)?;
        let names = typed.parts.iter().map(|(name, _)| *name).collect();
        Ok((names, typed.flags.to_vec()))
    }

    #[test]
    fn flags_go_to_the_part_that_reads_them() {
        let (parts, flags) = read("jobs --clock virtual --jobs 1,8").expect("typed");
        assert_eq!(parts, ["jobs"]);
        assert_eq!(flags, ["--clock", "virtual", "--jobs", "1,8"]);
        assert!(read("").expect("all").0.len() > 5);
        assert_eq!(read("store jobs").expect("two").0, ["store", "jobs"]);
        for wrong in [
            "store --clock real",
            "jobs store --clock real",
            "--clock real",
            "jbos",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}

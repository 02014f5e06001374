//! `cargo xtask real`: the systems of `examples/real`, which nobody here wrote. Installs their exact versions,
//! runs a campaign against each in a network namespace of its own, and prints one table.

mod campaign;
mod hypothesis;
mod install;
mod systems;
mod table;

use std::path::PathBuf;

use campaign::{Figures, Limits};
use systems::{HYPOTHESIS, SYSTEMS, System};

use crate::tools::{self, cargo, target_directory};

/// Steps of a campaign against a system that conforms, unless it is said otherwise.
const STEPS: u64 = 100_000;

/// The most minutes of a campaign unless it is said otherwise.
const MINUTES: u64 = 30;

struct Options {
    names: Vec<String>,
    limits: Limits,
    /// Built already; otherwise this command builds ioco for speed.
    program: Option<PathBuf>,
    hypothesis: bool,
}

pub fn run(arguments: &[String]) -> Result<(), String> {
    let options = read(arguments)?;
    let program = match &options.program {
        Some(program) => program.clone(),
        None => build()?,
    };
    let wanted = |name: &str| options.names.is_empty() || options.names.iter().any(|n| n == name);
    let mut rows: Vec<(&System, Result<Figures, String>)> = Vec::new();
    for system in SYSTEMS.iter().filter(|system| wanted(system.name)) {
        eprintln!("── {}", system.name);
        let figures = install::install(system.name, system.source)
            .and_then(|installed| campaign::run(&program, system, &installed, options.limits));
        if let Err(why) = &figures {
            eprintln!("   {why}");
        }
        rows.push((system, figures));
    }
    let mut others = Vec::new();
    for (name, script) in HYPOTHESIS.iter().filter(|(name, _)| wanted(name)) {
        if !options.hypothesis {
            continue;
        }
        let system = SYSTEMS.iter().find(|system| system.name == *name);
        let system = system.ok_or(format!("there is no system {name}"))?;
        eprintln!("── {name}, by Hypothesis");
        others.push((system, hypothesis::run(system, script, options.limits.seed)));
    }
    print!("{}", table::show(&rows, &others));
    verdict(&rows)
}

fn build() -> Result<PathBuf, String> {
    let mut build = cargo();
    build.args(["build", "--release", "--package", "ioco-cli"]);
    tools::run("build ioco", &mut build)?;
    Ok(target_directory().join("release/ioco"))
}

/// A conforming system must pass, and a deviating one must be found out.
fn verdict(rows: &[(&System, Result<Figures, String>)]) -> Result<(), String> {
    let wrong = rows.iter().filter_map(|(system, figures)| match figures {
        Err(why) => Some(format!("{}: {why}", system.name)),
        Ok(figures) if !system.conforms && !figures.deviations.is_empty() => {
            let missing = system
                .known
                .iter()
                .filter(|(clause, what)| !figures.shows(clause, what));
            let missing: Vec<&str> = missing.map(|(clause, _)| *clause).collect();
            let name = system.name;
            (!missing.is_empty()).then(|| format!("{name}: not found: {}", missing.join(", ")))
        }
        Ok(figures) if system.conforms && figures.deviations.is_empty() => None,
        Ok(_) if system.conforms => Some(format!("{}: a deviation, or a false alarm", system.name)),
        Ok(_) => Some(format!("{}: its deviations were not found", system.name)),
    });
    let wrong: Vec<String> = wrong.collect();
    if wrong.is_empty() {
        return Ok(());
    }
    Err(wrong.join("\n       "))
}

fn read(arguments: &[String]) -> Result<Options, String> {
    let mut options = Options {
        names: Vec::new(),
        limits: Limits {
            steps: STEPS,
            minutes: MINUTES,
            seed: 1,
        },
        program: None,
        hypothesis: true,
    };
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let mut number = || {
            let value = words
                .next()
                .and_then(|value| value.replace('_', "").parse().ok());
            value.ok_or(format!("{word} needs a number"))
        };
        match word.as_str() {
            "--steps" => options.limits.steps = number()?,
            "--minutes" => options.limits.minutes = number()?,
            "--seed" => options.limits.seed = number()?,
            "--program" => {
                let file = words.next().ok_or("--program needs a file")?;
                let file = std::path::absolute(file).map_err(|error| error.to_string())?;
                options.program = Some(file);
            }
            "--no-hypothesis" => options.hypothesis = false,
            name if SYSTEMS.iter().any(|s| s.name == name || s.folder == name) => {
                let named = SYSTEMS
                    .iter()
                    .filter(|s| s.name == name || s.folder == name);
                options
                    .names
                    .extend(named.map(|system| system.name.to_owned()));
            }
            other => {
                let names: Vec<&str> = SYSTEMS.iter().map(|system| system.name).collect();
                let names = names.join(", ");
                return Err(format!("there is no system '{other}'; there are: {names}"));
            }
        }
    }
    Ok(options)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn systems_are_named_one_by_one_or_by_their_folder() {
        let options = read(&words("smtp memcached --steps 100_000")).unwrap();
        assert_eq!(
            options.names,
            ["aiosmtpd", "smtpd", "memcached", "memcached-first-model"]
        );
        assert_eq!(options.limits.steps, 100_000);
        let options = read(&words("--program bin/ioco --minutes 3")).unwrap();
        assert!(options.program.is_some_and(|file| file.is_absolute()));
        assert_eq!(options.limits.minutes, 3);
        assert!(read(&words("--program")).is_err());
        assert!(read(&words("--steps many")).is_err());
        assert!(read(&words("sendmail")).is_err_and(|why| why.contains("mosquitto")));
    }

    #[test]
    fn a_missing_deviation_is_as_wrong_as_a_false_alarm() {
        for system in SYSTEMS {
            let known = system
                .known
                .iter()
                .map(|(clause, what)| campaign::Deviation {
                    title: format!("the system sent !b{what}0"),
                    clauses: vec![(*clause).to_owned()],
                    ..campaign::Deviation::default()
                });
            let mut deviations: Vec<campaign::Deviation> = known.collect();
            deviations.push(campaign::Deviation::default());
            let found = Figures {
                deviations,
                ..Figures::default()
            };
            let unknown = Figures {
                deviations: vec![campaign::Deviation::default()],
                ..Figures::default()
            };
            if !system.known.is_empty() {
                assert!(
                    verdict(&[(system, Ok(unknown))]).is_err(),
                    "{}",
                    system.name
                );
            }
            let right = if system.conforms {
                Figures::default()
            } else {
                found.clone()
            };
            let wrong = if system.conforms {
                found.clone()
            } else {
                Figures::default()
            };
            assert!(verdict(&[(system, Ok(right))]).is_ok());
            assert!(verdict(&[(system, Ok(wrong))]).is_err());
        }
    }
}

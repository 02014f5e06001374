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
const MINUTES: u64 = 60;

struct Options {
    names: Vec<String>,
    limits: Limits,
    /// Somebody chose how long it takes, so campaigns need not be whole.
    is_short: bool,
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
        eprintln!("── {name}, up to the first deviation");
        let ours = install::install(system.name, system.source).and_then(|installed| {
            campaign::first_deviation(&program, system, &installed, options.limits)
        });
        eprintln!("── {name}, by Hypothesis");
        let theirs = hypothesis::run(system, script, options.limits.seed);
        others.push((system, ours, theirs));
    }
    print!("{}", table::show(&rows, &others));
    verdict(&rows, &options)
}

fn build() -> Result<PathBuf, String> {
    let mut build = cargo();
    build.args(["build", "--release", "--package", "ioco-cli"]);
    tools::run("build ioco", &mut build)?;
    Ok(target_directory().join("release/ioco"))
}

/// A conforming system must pass in as many steps as were asked for, and a deviating one must be found out.
fn verdict(
    rows: &[(&System, Result<Figures, String>)],
    Options {
        limits, is_short, ..
    }: &Options,
) -> Result<(), String> {
    let mut wrong: Vec<String> = Vec::new();
    for (system, figures) in rows {
        let name = system.name;
        let figures = match figures {
            Ok(figures) => figures,
            Err(why) => {
                wrong.push(format!("{name}: {why}"));
                continue;
            }
        };
        if system.conforms && !figures.deviations.is_empty() {
            wrong.push(format!("{name}: a deviation, or a false alarm"));
        }
        if system.conforms && figures.steps < limits.steps {
            let short = format!(
                "{name}: not complete: {} of {} steps",
                figures.steps, limits.steps
            );
            match is_short {
                true => eprintln!("{short}"),
                false => wrong.push(short),
            }
        }
        if !system.conforms && figures.deviations.is_empty() {
            wrong.push(format!("{name}: its deviations were not found"));
            continue;
        }
        let missing = system.known.iter().filter(|known| !figures.shows(known));
        let missing: Vec<&str> = missing.map(|known| known.clause).collect();
        if !missing.is_empty() {
            wrong.push(format!("{name}: not found: {}", missing.join(", ")));
        }
    }
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
        is_short: false,
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
            "--minutes" => {
                options.limits.minutes = number()?;
                options.is_short = true;
            }
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
    use systems::Sign;

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
        let whole = read(&words("--steps 100")).unwrap();
        let deviation = |title: &str, clause: &str| campaign::Deviation {
            title: title.to_owned(),
            clauses: vec![clause.to_owned()],
            ..campaign::Deviation::default()
        };
        let figures = |deviations: Vec<campaign::Deviation>| Figures {
            steps: 100,
            deviations,
            ..Figures::default()
        };
        for system in SYSTEMS {
            let is_right =
                |deviations| verdict(&[(system, Ok(figures(deviations)))], &whole).is_ok();
            let known = system.known.iter();
            let known: Vec<_> = known
                .map(|known| match known.sign {
                    Sign::Clause => deviation("wrong value", known.clause),
                    Sign::Unasked { response, .. } => deviation(&format!("!b{response}"), "none"),
                })
                .collect();
            let other = deviation("another", "none");
            let name = system.name;
            assert_eq!(is_right(Vec::new()), system.conforms, "{name}");
            assert_eq!(
                is_right(vec![other.clone()]),
                !system.conforms && known.is_empty()
            );
            if !system.conforms {
                assert!(is_right([known, vec![other]].concat()), "{name}");
            }
        }
    }

    #[test]
    fn fewer_steps_than_asked_for_are_not_complete_unless_the_time_was_chosen() {
        let conforming = SYSTEMS.iter().find(|system| system.conforms).unwrap();
        let deviating = SYSTEMS
            .iter()
            .find(|s| s.known.is_empty() && !s.conforms)
            .unwrap();
        let of = |steps, deviations| Figures {
            steps,
            deviations,
            ..Figures::default()
        };
        let whole = read(&words("--steps 100")).unwrap();
        let few = |options: &Options| verdict(&[(conforming, Ok(of(99, Vec::new())))], options);
        assert!(few(&whole).is_err_and(|why| why.contains("not complete: 99 of 100 steps")));
        assert!(few(&read(&words("--steps 100 --minutes 1")).unwrap()).is_ok());
        assert!(verdict(&[(conforming, Ok(of(100, Vec::new())))], &whole).is_ok());
        let found = of(5, vec![campaign::Deviation::default()]);
        assert!(verdict(&[(deviating, Ok(found))], &whole).is_ok());
    }
}

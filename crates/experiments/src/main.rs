//! The program behind `cargo xtask experiment shrinking`: the shrinking experiments of van den Broek 2024
//! and Koopman et al. 2013, with the published figures beside ours.

use std::path::PathBuf;
use std::process::ExitCode;

use ioco_experiments::{
    ExperimentError, Setup, Share, flat_model, measure, random_cases, read_cases, show,
    vending_tables,
};

const USAGE: &str = "\
cargo xtask experiment shrinking --data DIR --models DIR [options]

  --data DIR          failing traces and published results, one JSON file per mutant
  --models DIR        koopman/model.aml and atm/model.aml
  --random N          N fresh random traces of every mutant as well
  --generated N       and of N mutants per model that change one switch at random
  --share NAME        seeds and generated mutants of the share `tune` or `report` (the default)
  --rename            give every label a name without meaning
  --shrinkers A,B     only these shrinkers
  --verbose           one line per trace on standard error
  --format json       one JSON object on standard output instead of tables
";

struct Arguments {
    data: PathBuf,
    models: PathBuf,
    random: usize,
    generated: u64,
    share: Share,
    setup: Setup,
    json: bool,
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let arguments = match read(&args) {
        Ok(Some(arguments)) => arguments,
        Ok(None) => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
        Err(argument) => {
            eprintln!("shrinking: `{argument}` is not understood here\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match report(&arguments) {
        Ok(text) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("shrinking: {error}");
            ExitCode::FAILURE
        }
    }
}

/// What was typed; nothing where a folder is missing, and the argument that is wrong as an error.
fn read(args: &[String]) -> Result<Option<Arguments>, String> {
    let (mut data, mut models) = (None, None);
    let (mut random, mut generated, mut share, mut json) = (0, 0, Share::Report, false);
    let mut setup = Setup::default();
    let mut rest = args.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--rename" => setup.rename = true,
            "--verbose" => setup.verbose = true,
            _ => {
                let value = rest.next().ok_or(argument)?;
                let number = || {
                    value
                        .parse::<u64>()
                        .map_err(|_| format!("{argument} {value}"))
                };
                match (argument.as_str(), value.as_str()) {
                    ("--data", _) => data = Some(PathBuf::from(value)),
                    ("--models", _) => models = Some(PathBuf::from(value)),
                    ("--random", _) => random = usize::try_from(number()?).unwrap_or(usize::MAX),
                    ("--generated", _) => generated = number()?,
                    ("--share", "tune") => share = Share::Tune,
                    ("--share", "report") => share = Share::Report,
                    ("--shrinkers", _) => {
                        setup.shrinkers = value.split(',').map(str::to_owned).collect();
                    }
                    ("--format", "json") => json = true,
                    ("--format", "text") => json = false,
                    _ => return Err(format!("{argument} {value}")),
                }
            }
        }
    }
    let (Some(data), Some(models)) = (data, models) else {
        return Ok(None);
    };
    Ok(Some(Arguments {
        data,
        models,
        random,
        generated,
        share,
        setup,
        json,
    }))
}

fn report(arguments: &Arguments) -> Result<String, ExperimentError> {
    let Arguments { models, setup, .. } = arguments;
    let mut cases = read_cases(&arguments.data)?;
    if arguments.random > 0 {
        for experiment in ["smartdoor", "koopman", "atm"] {
            let model = flat_model(experiment, models, false)?;
            let (traces, generated) = (arguments.random, arguments.generated);
            cases.extend(random_cases(&model, arguments.share, traces, generated)?);
        }
    }
    let report = measure(&cases, models, setup)?;
    if arguments.json {
        return report.to_json();
    }
    let vending = match setup.shrinkers.is_empty() {
        true => Some(vending_tables(models)?),
        false => None,
    };
    Ok(show(&report, vending.as_ref()))
}

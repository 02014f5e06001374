//! The program behind `cargo xtask experiment shrinking`: the shrinking experiments of van den Broek 2024
//! and Koopman et al. 2013, with the published figures beside ours.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use ioco_experiments::{ExperimentError, measure, read_cases, show, vending_tables};

const USAGE: &str = "\
cargo xtask experiment shrinking --data DIR --models DIR [--format json]

  --data DIR      failing traces and published results, one JSON file per mutant
  --models DIR    koopman/model.aml and atm/model.aml
  --format json   one JSON object on standard output instead of tables
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (mut data, mut models, mut json) = (None, None, false);
    let mut rest = args.iter();
    while let Some(argument) = rest.next() {
        match (argument.as_str(), rest.next()) {
            ("--data", Some(value)) => data = Some(PathBuf::from(value)),
            ("--models", Some(value)) => models = Some(PathBuf::from(value)),
            ("--format", Some(value)) if value == "json" || value == "text" => {
                json = value == "json";
            }
            _ => {
                eprintln!("shrinking: `{argument}` is not understood here\n\n{USAGE}");
                return ExitCode::from(2);
            }
        }
    }
    let (Some(data), Some(models)) = (data, models) else {
        eprint!("{USAGE}");
        return ExitCode::from(2);
    };
    match report(&data, &models, json) {
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

fn report(data: &Path, models: &Path, json: bool) -> Result<String, ExperimentError> {
    let report = measure(&read_cases(data)?, models)?;
    if json {
        return report.to_json();
    }
    let vending = vending_tables(models)?;
    Ok(show(&report, Some(&vending)))
}

//! The program behind `cargo xtask experiment shrinking`: the shrinking experiments of van den Broek 2024
//! and Koopman et al. 2013, with the published figures beside ours.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use ioco_experiments::{
    ExperimentError, Setup, Share, flat_model, measure, random_cases, read_cases, show,
    vending_tables,
};

#[derive(Parser)]
#[command(name = "cargo xtask experiment shrinking")]
struct Arguments {
    /// Failing traces and published results, one JSON file per mutant
    #[arg(long, value_name = "DIR")]
    data: PathBuf,

    /// koopman/model.aml and atm/model.aml
    #[arg(long, value_name = "DIR")]
    models: PathBuf,

    /// So many fresh random traces of every mutant as well
    #[arg(long, value_name = "N", default_value_t = 0)]
    random: usize,

    /// And of so many mutants per model that change one switch at random
    #[arg(long, value_name = "N", default_value_t = 0)]
    generated: u64,

    /// The share of the seeds and of the generated mutants
    #[arg(long, value_enum, default_value_t = Share::Report)]
    share: Share,

    /// Give every label a name without meaning
    #[arg(long)]
    rename: bool,

    /// Only these shrinkers
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    shrinkers: Vec<String>,

    /// One line per trace on standard error
    #[arg(long)]
    verbose: bool,

    /// Tables, or one JSON object on standard output
    #[arg(long, default_value = "text", value_parser = ["text", "json"])]
    format: String,
}

fn main() -> ExitCode {
    match report(Arguments::parse()) {
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

fn report(arguments: Arguments) -> Result<String, ExperimentError> {
    let models = &arguments.models;
    let setup = Setup {
        rename: arguments.rename,
        shrinkers: arguments.shrinkers,
        verbose: arguments.verbose,
    };
    let mut cases = read_cases(&arguments.data)?;
    if arguments.random > 0 {
        for experiment in ["smartdoor", "koopman", "atm"] {
            let model = flat_model(experiment, models, false)?;
            let (traces, generated) = (arguments.random, arguments.generated);
            cases.extend(random_cases(&model, arguments.share, traces, generated)?);
        }
    }
    let report = measure(&cases, models, &setup)?;
    if arguments.format == "json" {
        return report.to_json();
    }
    let vending = match setup.shrinkers.is_empty() {
        true => Some(vending_tables(models)?),
        false => None,
    };
    Ok(show(&report, vending.as_ref()))
}

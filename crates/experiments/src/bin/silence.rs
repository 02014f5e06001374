//! The program behind `cargo xtask experiment silence`: what waiting for silence costs.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use ioco_experiments::{Share, silence};

#[derive(Parser)]
#[command(name = "cargo xtask experiment silence")]
struct Arguments {
    /// The folder of the examples
    #[arg(long, value_name = "DIR", default_value = "examples")]
    models: PathBuf,

    /// Trials for each mutant and way
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..))]
    seeds: u64,

    /// The share of the seeds
    #[arg(long, value_enum, default_value_t = Share::Report)]
    share: Share,
}

fn main() -> ExitCode {
    let Arguments {
        models,
        seeds,
        share,
    } = Arguments::parse();
    match silence(&models, share, seeds, &mut std::io::stdout()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("silence: {error}");
            ExitCode::FAILURE
        }
    }
}

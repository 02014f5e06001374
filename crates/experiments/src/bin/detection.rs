//! The program behind `cargo xtask experiment detection`: how many stimuli every strategy needs to find every mutant.

use std::process::ExitCode;

use clap::Parser;
use ioco_experiments::detection::{Setup, measure, show};

fn main() -> ExitCode {
    match measure(&Setup::parse()) {
        Ok(report) => {
            println!("{}", show(&report));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("detection: {error}");
            ExitCode::FAILURE
        }
    }
}

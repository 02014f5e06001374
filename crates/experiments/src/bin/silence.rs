//! The program behind `cargo xtask experiment silence`: what waiting for silence costs.

use std::path::PathBuf;
use std::process::ExitCode;

use ioco_experiments::{Share, silence};

const USAGE: &str = "\
cargo xtask experiment silence [options]

  --models DIR        the folder of the examples [examples]
  --seeds N           trials for each mutant and way [20]
  --share NAME        seeds of the share `tune` or `report` (the default)
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (mut models, mut seeds, mut share) = (PathBuf::from("examples"), 20, Share::Report);
    for pair in args.chunks(2) {
        match pair {
            [name, value] if name == "--models" => models = PathBuf::from(value),
            [name, value] if name == "--seeds" && value.parse::<u64>().is_ok_and(|n| n > 0) => {
                seeds = value.parse().unwrap_or(20);
            }
            [name, value] if name == "--share" && value == "tune" => share = Share::Tune,
            [name, value] if name == "--share" && value == "report" => share = Share::Report,
            _ => {
                eprintln!(
                    "silence: `{}` is not understood here\n\n{USAGE}",
                    pair.join(" ")
                );
                return ExitCode::from(2);
            }
        }
    }
    match silence(&models, share, seeds, &mut std::io::stdout()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("silence: {error}");
            ExitCode::FAILURE
        }
    }
}

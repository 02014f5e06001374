//! The program behind `cargo xtask experiment detection`: how many stimuli every strategy needs to find every mutant.

use std::path::PathBuf;
use std::process::ExitCode;

use ioco_experiments::Share;
use ioco_experiments::detection::{STRATEGIES, Setup, measure, show};

const USAGE: &str = "\
cargo xtask experiment detection [options]

  --models DIR        a folder with one folder for each model.aml; the examples where it is left out
  --only A,B          only these models
  --strategies A,B    only these strategies
  --generated N       generated mutants of each model [300]
  --seeds N           trials of each strategy for each mutant [20]
  --stimuli N         a trial ends after so many stimuli [10000]
  --share NAME        seeds and generated mutants of the share `tune` or `report` (the default)
  --verbose           one line per mutant on standard error
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let setup = match read(&args) {
        Ok(setup) => setup,
        Err(argument) => {
            eprintln!("detection: `{argument}` is not understood here\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match measure(&setup) {
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

/// What was typed; the argument that is wrong as an error.
fn read(args: &[String]) -> Result<Setup, String> {
    let names = |list: &str| -> Vec<String> { list.split(',').map(str::to_owned).collect() };
    let mut setup = Setup {
        models: PathBuf::from("examples"),
        only: Vec::new(),
        strategies: STRATEGIES.map(str::to_owned).to_vec(),
        generated: 300,
        seeds: 20,
        share: Share::Report,
        most: 10_000,
        verbose: false,
    };
    let mut rest = args.iter();
    while let Some(argument) = rest.next() {
        if argument == "--verbose" {
            setup.verbose = true;
            continue;
        }
        let value = rest.next().ok_or(argument)?;
        let number = || {
            value
                .parse::<u64>()
                .map_err(|_| format!("{argument} {value}"))
        };
        match (argument.as_str(), value.as_str()) {
            ("--models", _) => setup.models = PathBuf::from(value),
            ("--only", _) => setup.only = names(value),
            ("--strategies", list) if names(list).iter().all(|n| STRATEGIES.contains(&&**n)) => {
                setup.strategies = names(list);
            }
            ("--generated", _) => {
                setup.generated = usize::try_from(number()?).unwrap_or(usize::MAX)
            }
            ("--seeds", _) => setup.seeds = number()?.max(1),
            ("--stimuli", _) => setup.most = number()?.max(1),
            ("--share", "tune") => setup.share = Share::Tune,
            ("--share", "report") => setup.share = Share::Report,
            _ => return Err(format!("{argument} {value}")),
        }
    }
    Ok(setup)
}

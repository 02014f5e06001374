//! The developers' commands. `cargo xtask` lists them.

mod agreement;
mod bench;
mod book;
mod campaign;
mod demo;
mod deployment;
mod differential;
mod editor;
mod experiments;
mod faults;
mod fuzz;
mod library;
mod lines;
mod mutants;
mod postgres;
mod readers;
mod real;
mod release;
mod scale;
mod schemas;
mod signals;
mod solver;
mod test;
mod tools;
mod web;

use std::process::ExitCode;

const USAGE: &str = "\
cargo xtask COMMAND

  demo                    build ioco and test an example system with a planted bug
  test                    every check and test of the project; installs what it needs
  web                     the checks of the page alone
  book                    render the book with mdBook into target/book, and open every chapter in a browser
  editor                  build the extension for Visual Studio Code: target/ioco.vsix
  release                 build the archive for this machine with its checksums and bill of materials: target/dist
  library                 the checks of the library alone: its example outside, other systems, packages
  deployment              the checks of the files in deploy alone
  readers                 open reports and drawings with programs of others
  lines [REV]             lines of Rust, tests apart: now, and at a revision
  fuzz [--minutes N] [TARGET]
                          every reader on new inputs; what fails is kept in fuzz/found
  agreement [--models N]  generated NuSMV models: every technique against enumeration
  bench [NAME [--...]]    print the speed table (all, or one part of it); 'scale': time and memory over size;
                          'jobs' and 'workers' take flags
  mutants [PART] [--...]  change the code that verdicts rest on and report what no test notices (PART: verdicts, solve)
  differential [--minutes N] [--seed S]
                          compare ioco with a second implementation of the theory on new models
  faults [--soak N] [--stops] [--without-database]
                          the long run of the suite of bad peers, or N steps (10 million) against a process, or
                          only how soon everything stops
  campaign [--kills N] [--only NAME] [--scale]
                          campaigns with NATS, PostgreSQL and worker processes that are killed, paused, cut off and
                          misled, held against one machine; or how much they carry with 1 to 64 workers
  real [NAME ...] [--steps N] [--seed S] [--no-hypothesis]
                          install and test the public systems of examples/real, and print one table
  solver [--minutes N]    compare the embedded solver with z3 on new questions
  experiment NAME ...     run an experiment (shrinking, decomposition, detection, silence)
";

fn main() -> ExitCode {
    signals::restore();
    let args: Vec<String> = std::env::args().skip(1).collect();
    let Some((command, rest)) = args.split_first() else {
        eprint!("{USAGE}");
        return ExitCode::from(2);
    };
    let done = match command.as_str() {
        "demo" => demo::run(),
        "test" => test::run(),
        "web" => web::check(),
        "book" => book::render(),
        "editor" => editor::package(),
        "release" => release::make(),
        "library" => library::check(),
        "deployment" => deployment::check(),
        "readers" => readers::check(),
        "bench" => bench::run(rest),
        "lines" => lines::run(rest),
        "fuzz" => fuzz::run(rest),
        "agreement" => agreement::run(rest),
        "faults" => faults::run(rest),
        "campaign" => campaign::run(rest),
        "mutants" => mutants::run(rest),
        "differential" => differential::run(rest),
        "solver" => solver::run(rest),
        "real" => real::run(rest),
        "experiment" => return experiment(rest),
        // The systems under test of `campaign` and `bench scale`.
        "rooms" => return campaign::rooms::play(rest),
        "play" => return scale::play(rest),
        "help" | "--help" | "-h" => {
            print!("{USAGE}");
            Ok(())
        }
        other => {
            eprintln!("xtask: there is no command '{other}'\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}

fn experiment(args: &[String]) -> ExitCode {
    match args.split_first() {
        Some((name, rest)) if name == "shrinking" => experiments::run("ioco-experiments", rest),
        Some((name, rest)) if ["decomposition", "detection", "silence"].contains(&&**name) => {
            experiments::run(name, rest)
        }
        _ => {
            eprintln!("xtask: name an experiment: decomposition, detection, shrinking or silence");
            ExitCode::from(2)
        }
    }
}

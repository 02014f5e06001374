//! The program `ioco`: reads what was typed and wires the parts together.

mod args;
mod commands;
mod connect;
mod exit;
mod failures;
mod interrupt;
mod model;
mod output;
mod progress;
mod project;
mod results;
mod session;
mod shrinking;
mod solver;
mod time;
mod warning;

use std::process::ExitCode;

use clap::Parser;

use args::{Arguments, Command};

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let format = arguments.format;
    let answer = match &arguments.command {
        Command::New(arguments) => commands::new::run(arguments),
        Command::Check(arguments) => commands::check::run(arguments, format),
        Command::Fmt(arguments) => commands::fmt::run(arguments, format),
        Command::Convert(arguments) => commands::convert::run(arguments),
        Command::Explore(arguments) => commands::explore::run(arguments),
        Command::Test(arguments) => commands::test::run(arguments, format),
        Command::Replay(arguments) => commands::replay::run(arguments, format),
        Command::Shrink(arguments) => commands::shrink::run(arguments, format),
        Command::Coverage(arguments) => commands::coverage::run(arguments, format),
        Command::Generate(arguments) => commands::generate::run(arguments, format),
        Command::Explain(arguments) => commands::explain::run(arguments, format),
    };
    match answer {
        Ok(exit::Exit::Conforms) if output::lost() => exit::Exit::Usage.into(),
        Ok(exit) => exit.into(),
        Err(stop) => {
            output::stop(&stop);
            stop.exit.into()
        }
    }
}

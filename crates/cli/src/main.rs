//! The program `ioco`: reads what was typed and wires the parts together.

#[macro_use]
mod output;

mod args;
mod commands;
mod exit;
mod help;
mod interrupt;
mod model;
mod progress;
mod step;
mod typed;
mod watch;
mod words;

use std::process::ExitCode;

use clap::FromArgMatches as _;

use crate::exit::{CommandError, Exit};
use args::{Arguments, Command, Format};

fn main() -> ExitCode {
    output::choose_colour();
    let typed = help::command().get_matches();
    let arguments = match Arguments::from_arg_matches(&typed) {
        Ok(arguments) => arguments,
        Err(error) => error.exit(),
    };
    let format = arguments.format;
    typed::remember(arguments.typed.clone());
    if format.is_report() && !matches!(arguments.command, Command::Report(_)) {
        let stop = CommandError::usage("only `ioco report` has this format")
            .hint("other commands have --format text and --format json");
        output::stop(&stop, Format::Text);
        return stop.exit.into();
    }
    let answer = match &arguments.command {
        Command::Adapters(arguments) => commands::adapters::run(arguments, format),
        Command::New(arguments) => commands::new::run(arguments),
        Command::Check(arguments) => commands::check::run(arguments, format),
        Command::Doctor(arguments) => commands::doctor::run(arguments, format),
        Command::Export(arguments) => commands::export::run(arguments),
        Command::Failures(arguments) => commands::failures::run(arguments, format),
        Command::Accept(arguments) => commands::failures::accept(arguments, format),
        Command::Fmt(arguments) => commands::fmt::run(arguments, format),
        Command::Compare(arguments) => commands::compare::run(arguments, format),
        Command::Convert(arguments) => commands::convert::run(arguments),
        Command::Explore(arguments) => commands::explore::run(arguments),
        Command::Test(arguments) => commands::test::run(arguments, format),
        Command::Connect(arguments) => commands::connect::run(arguments, format),
        Command::Record(arguments) => commands::record::run(arguments),
        Command::Simulate(arguments) => commands::simulate::run(arguments),
        Command::Replay(arguments) => commands::replay::run(arguments, format),
        Command::Shrink(arguments) => commands::shrink::run(arguments, format),
        Command::Coverage(arguments) => commands::coverage::run(arguments, format),
        Command::Report(arguments) => commands::report::run(arguments, format),
        Command::Campaign(arguments) => commands::campaign::run(arguments, format),
        Command::Worker(arguments) => commands::worker::run(arguments),
        Command::Nats(arguments) => commands::nats::run(arguments),
        Command::Merge(arguments) => commands::merge::run(arguments, format),
        Command::Runs(arguments) => commands::runs::run(arguments, format),
        Command::Store(arguments) => commands::store::run(arguments),
        Command::Generate(arguments) => commands::generate::run(arguments, format),
        Command::Serve(arguments) => commands::serve::run(arguments),
        Command::Explain(arguments) => commands::explain::run(arguments, format),
        Command::Completions(arguments) => commands::manual::completions(arguments),
        Command::Man(arguments) => commands::manual::man(arguments),
        Command::Lsp => match ioco_lsp::serve_stdio() {
            Ok(()) => Ok(Exit::Conforms),
            Err(why) => Err(CommandError::usage(why).hint("`ioco lsp` is started by an editor")),
        },
    };
    match answer {
        Ok(Exit::Conforms) if output::lost() => Exit::Usage.into(),
        Ok(exit) => exit.into(),
        Err(stop) => {
            output::stop(&stop, format);
            stop.exit.into()
        }
    }
}

//! What can be typed. Nothing here decides what it means: the commands do. One file per group of commands.

mod campaign;
mod failures;
mod generate;
mod model;
mod project;
mod results;
mod test;

use clap::{Parser, Subcommand, ValueEnum};

pub use self::campaign::*;
pub use self::failures::*;
pub use self::generate::*;
pub use self::model::*;
pub use self::project::*;
pub use self::results::*;
pub use self::test::*;
use crate::typed::TypedArguments;

#[derive(Debug, Parser)]
#[command(
    name = "ioco",
    version,
    about = "Tests whether a running system conforms to a model of it",
    after_help = "Exit codes: 0 no deviation, or only accepted ones; 1 deviation found; 2 wrong usage or an error in the \
                  model; 3 the system or adapter could not be used; 4 a coverage goal was missed; \
                  5 only unconfirmed (flaky) deviations; 130 interrupted, with the results so far \
                  written."
)]
pub struct Arguments {
    /// The format of results on standard output: text or json, and more for `ioco report`; messages always go to
    /// standard error
    #[arg(long, global = true, value_enum, default_value_t = Format::Text, hide_possible_values = true)]
    pub format: Format,

    #[command(flatten)]
    pub typed: TypedArguments,

    #[command(subcommand)]
    pub command: Command,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Text,
    Json,
    /// XML for build servers
    Junit,
    /// A summary with charts
    Markdown,
    /// Annotations for a GitHub workflow
    Github,
    /// Results for code scanning
    Sarif,
    /// All events, one JSON object per line
    Jsonl,
    /// The page of `ioco serve` with this run, in one file
    Html,
}

impl Format {
    /// A form of report, which other commands do not have.
    pub fn is_report(self) -> bool {
        !matches!(self, Format::Text | Format::Json)
    }
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// List the adapters that connect, and what they announce
    Adapters(Adapters),
    /// Create a project: a model, a system with a planted bug, and ioco.toml
    New(New),
    /// Check the tools and settings that a run needs
    Doctor(Doctor),
    /// Report errors in a model, and its size
    Check(Check),
    /// Format model files
    Fmt(Fmt),
    /// Compare two models: are they bisimilar, and does the second conform to the first?
    Compare(Compare),
    /// Write a model in another format: .json .aut .dot .mmd .svg, GraphWalker
    Convert(Convert),
    /// Walk through a model by hand
    Explore(Explore),
    /// Test a running system against a model, on the fly
    Test(Box<Test>),
    /// Test on many machines: start, resume, list, watch and stop campaigns
    Campaign(Campaign),
    /// Run the tests of campaigns
    Worker(Box<Worker>),
    /// Start a local NATS server, which connects campaigns and workers
    Nats(Nats),
    /// Give stimuli by hand, and show labels and bytes in both directions
    Connect(Connect),
    /// Record the traffic between a client and a system as traces
    Record(Record),
    /// Play the model as a system that others connect to, with faults on request
    Simulate(Simulate),
    /// List the recorded failures with their status; accept and reopen them
    Failures(Failures),
    /// Accept a failure: the same as `ioco failures accept`
    Accept(AcceptNow),
    /// Run a recorded failure again
    Replay(Replay),
    /// Shrink a recorded failure
    Shrink(Shrink),
    /// Write a script that shows a recorded failure without ioco
    Export(Export),
    /// Show what the tests have covered so far
    Coverage(Coverage),
    /// Write a report of a run, for people or build servers
    Report(Report),
    /// List the recorded runs; show, compare and delete them
    Runs(Runs),
    /// Merge the newest runs of several folders, such as shards, into one run
    Merge(Merge),
    /// Upgrade the store of runs
    Store(Store),
    /// Write a test suite from the model alone
    Generate(Generate),
    /// Serve the page for a browser: model, runs, failures, exploration and history
    Serve(Serve),
    /// Explain a code such as D002
    Explain(Explain),
    /// The language server for editors, on standard input and output
    Lsp,
    /// Print the completion script for a shell
    Completions(Completions),
    /// Write the manual pages: one of `ioco`, and one of each command
    Man(Man),
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use clap::Parser;
    use clap::error::ErrorKind;

    use super::Arguments;

    /// The words of a command in a chapter, up to where a shell or an explanation goes on.
    fn words(command: &str) -> Vec<String> {
        let end = ["  ", " |", " >", " &", " #", " \\"];
        let end = end.iter().filter_map(|mark| command.find(mark)).min();
        let mut words = vec![String::new()];
        let mut is_quoted = false;
        for c in command[..end.unwrap_or(command.len())].chars() {
            match c {
                '"' | '\'' => is_quoted = !is_quoted,
                ' ' if !is_quoted => words.push(String::new()),
                _ => words.last_mut().expect("never empty").push(c),
            }
        }
        words
    }

    #[test]
    fn every_command_in_the_book_can_be_typed() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut files = vec![root.join("README.md")];
        let book = root.join("book/src").read_dir().expect("the book");
        files.extend(book.map(|entry| entry.expect("an entry").path()));
        let (mut commands, mut wrong) = (0, Vec::new());
        for file in files {
            if file.extension().is_none_or(|ending| ending != "md") {
                continue;
            }
            let text = std::fs::read_to_string(&file).expect("a chapter");
            for line in text.lines() {
                // In a block of its own, with or without a prompt; between back quotes it may be a part of one.
                let indented = line.strip_prefix("    ").or(line.strip_prefix("$ "));
                let Some(line) = indented.filter(|line| line.starts_with("ioco ")) else {
                    continue;
                };
                for command in line.split(" && ").filter(|part| part.starts_with("ioco ")) {
                    // Files of settings are shown indented as well.
                    if command.starts_with("ioco.toml") {
                        continue;
                    }
                    commands += 1;
                    if let Err(error) = Arguments::try_parse_from(words(command)) {
                        // An overview may leave arguments out.
                        let is_short = error.kind() == ErrorKind::MissingRequiredArgument;
                        if error.use_stderr() && !is_short {
                            wrong.push(format!("{}: {command}\n{error}", file.display()));
                        }
                    }
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        assert!(commands > 60, "{commands} commands");
    }
}

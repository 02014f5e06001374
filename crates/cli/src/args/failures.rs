//! Arguments of the commands about recorded failures.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use ioco_campaign::ShrinkSettings;

use super::{LimitArguments, StoreArguments, SystemArguments};

/// How to shrink.
#[derive(Clone, Debug, Args)]
pub struct ShrinkArguments {
    /// The shrinker, or several joined by `+`
    #[arg(long, value_name = "NAME", default_value = "auto")]
    pub shrinker: String,

    /// At most this many runs of the system
    #[arg(long, value_name = "N")]
    pub runs: Option<u64>,

    /// Restrict the model for the sps shrinkers: none (use all of it), or the labels or transitions
    /// of the failing trace
    #[arg(long, value_name = "HOW", default_value = "none")]
    pub pruning: String,

    /// Accept any failure, even in another location or with another observation
    #[arg(long)]
    pub any: bool,

    /// Accept only the same failure; this is the default
    #[arg(long, conflicts_with = "any", hide = true)]
    pub same: bool,

    /// Prove that no shorter trace fails, by trying all shorter traces
    #[arg(long)]
    pub prove: bool,

    /// Run each candidate up to this many times until it fails, for systems that do not always
    /// respond in the same way
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub attempts: u32,

    /// The number of runs that confirm a shrunk failure
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    pub confirm: u32,
}

impl ShrinkArguments {
    pub fn settings(&self) -> ShrinkSettings {
        ShrinkSettings {
            shrinker: self.shrinker.clone(),
            runs: self.runs,
            pruning: self.pruning.clone(),
            same: !self.any,
            prove: self.prove,
            attempts: self.attempts,
            confirm: self.confirm,
            time: None,
        }
    }
}

#[derive(Debug, Args)]
pub struct Export {
    /// The id of the failure, its first characters, or its file
    pub failure: String,

    /// The language of the script
    #[arg(long = "as", value_enum, value_name = "FORM")]
    pub form: ExportForm,

    /// The file to write [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    #[command(flatten)]
    pub system: SystemArguments,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportForm {
    /// A shell script of requests, for systems with an HTTP interface
    Curl,
    /// A program that needs nothing but Python
    Python,
    /// A test for pytest
    Pytest,
    /// The messages to the system, one JSON object per line
    Jsonl,
    /// A test that needs nothing but Rust's standard library
    Rust,
}

#[derive(Debug, Args)]
pub struct Failures {
    #[command(subcommand)]
    pub command: Option<FailuresCommand>,

    /// Also list accepted and fixed failures
    #[arg(long)]
    pub all: bool,

    /// Only failures of the model of this name
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,

    #[command(flatten)]
    pub store: StoreArguments,
}

#[derive(Debug, Subcommand)]
pub enum FailuresCommand {
    /// Accept a failure: `ioco test` still tries it, but does not fail because of it
    Accept(Accept),
    /// Reopen an accepted failure
    Reopen {
        /// The id of the failure, or its first characters
        failure: String,
    },
}

#[derive(Debug, Args)]
pub struct Accept {
    /// The id of the failure, or its first characters
    pub failure: String,

    /// The reason for accepting it
    #[arg(long, visible_alias = "why", value_name = "TEXT")]
    pub reason: String,
}

/// `ioco accept`, which is short for `ioco failures accept`.
#[derive(Debug, Args)]
pub struct AcceptNow {
    #[command(flatten)]
    pub accept: Accept,

    #[command(flatten)]
    pub store: StoreArguments,
}

#[derive(Debug, Args)]
pub struct Replay {
    /// The id of the failure, its first characters, or its file
    pub failure: String,

    #[command(flatten)]
    pub system: SystemArguments,

    /// Run it this many times
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub times: u32,

    /// Run it on this many systems side by side; {job} in commands and addresses is the number of the job
    #[arg(short, long, value_name = "N", default_value_t = 1)]
    pub jobs: usize,

    /// Run the original trace, not the shrunk one
    #[arg(long)]
    pub original: bool,

    /// Ask this solver what the embedded one cannot decide, instead of the solver that found the
    /// failure: z3, cvc5, or a command that reads SMT-LIB
    #[arg(long, value_name = "SOLVER")]
    pub solver: Option<String>,

    #[command(flatten)]
    pub limits: LimitArguments,
}

#[derive(Debug, Args)]
pub struct Shrink {
    /// The id of the failure, its first characters, or its file
    pub failure: String,

    #[command(flatten)]
    pub system: SystemArguments,

    #[command(flatten)]
    pub shrinking: ShrinkArguments,

    /// Try candidates on this many systems side by side; {job} in commands and addresses is the number of the job
    #[arg(short, long, value_name = "N", default_value_t = 1)]
    pub jobs: usize,

    /// Stop after this time and keep the shortest failure so far: 30s, 5m
    #[arg(long, value_name = "TIME")]
    pub time: Option<String>,

    /// Ask this solver what the embedded one cannot decide, instead of the solver that found the
    /// failure: z3, cvc5, or a command that reads SMT-LIB
    #[arg(long, value_name = "SOLVER")]
    pub solver: Option<String>,

    #[command(flatten)]
    pub limits: LimitArguments,
}

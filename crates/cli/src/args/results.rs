//! Arguments of the commands about recorded runs: reports, history, coverage.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::ModelArguments;

#[derive(Debug, Args)]
pub struct Report {
    /// The number of the run [default: the newest]
    pub run: Option<i64>,

    /// The file to write [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    #[command(flatten)]
    pub store: StoreArguments,
}

/// Where runs are kept.
#[derive(Clone, Debug, Default, Args)]
pub struct StoreArguments {
    /// Keep runs in this database (postgres://user@host/database) [default: .ioco/ioco.db]
    #[arg(long, value_name = "URL", global = true)]
    pub store: Option<String>,
}

impl StoreArguments {
    /// The flag overrides ioco.toml.
    pub fn apply(&self, project: &mut ioco_campaign::Project) {
        if self.store.is_some() {
            project.store.url.clone_from(&self.store);
            project.store.chosen_by = ioco_campaign::ChosenBy::Person;
        }
    }
}

#[derive(Debug, Args)]
pub struct Merge {
    /// Folders of projects, or copies of their .ioco folders
    #[arg(required = true, value_name = "FOLDER")]
    pub folders: Vec<PathBuf>,

    /// Merge the shards that there are, although others are missing
    #[arg(long)]
    pub partial: bool,

    /// End with 4 if the merged tests cover less than this percentage of the switches
    #[arg(long, value_name = "PERCENT")]
    pub coverage: Option<f64>,

    /// End with 4 if the merged tests show less than this percentage of the model's requirements
    #[arg(long, value_name = "PERCENT")]
    pub requirements: Option<f64>,

    #[command(flatten)]
    pub store: StoreArguments,
}

#[derive(Debug, Args)]
pub struct Runs {
    #[command(subcommand)]
    pub command: Option<RunsCommand>,

    /// Only runs of the model with this name
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,

    /// Show at most this many, newest first
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub limit: usize,

    #[command(flatten)]
    pub store: StoreArguments,
}

#[derive(Debug, Subcommand)]
pub enum RunsCommand {
    /// Show one run: its numbers, failures and the tests that did not pass; or one test over time
    Show {
        /// The number of the run [default: the newest]
        run: Option<i64>,

        /// Show the steps of this test with how long each took
        #[arg(long, value_name = "NUMBER")]
        test: Option<u64>,
    },
    /// Show what changed from one run to another
    Compare {
        /// The number of the earlier run
        from: i64,
        /// The number of the later run
        to: i64,
    },
    /// Delete old runs; recorded failures and coverage stay
    Prune {
        /// Keep the newest N runs
        #[arg(long, value_name = "N")]
        keep: Option<usize>,

        /// Delete runs that started longer ago than this: 12h, 30d
        #[arg(long, value_name = "TIME")]
        older_than: Option<String>,
    },
}

#[derive(Debug, Args)]
pub struct Store {
    #[command(subcommand)]
    pub command: StoreCommand,

    #[command(flatten)]
    pub store: StoreArguments,
}

#[derive(Debug, Subcommand)]
pub enum StoreCommand {
    /// Upgrade a store that an older ioco wrote; older programs cannot use it afterwards
    Migrate,
}

#[derive(Debug, Args)]
pub struct Coverage {
    #[command(flatten)]
    pub model: ModelArguments,

    /// Draw the model, coloured by coverage, into this .svg file
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Exit with 4 if the tests cover less than this percentage of the switches
    #[arg(long, value_name = "PERCENT")]
    pub minimum: Option<f64>,
}

//! Arguments of `ioco generate`.

use std::path::PathBuf;

use clap::Args;

use super::ModelArguments;

#[derive(Debug, Args)]
pub struct Generate {
    #[command(flatten)]
    pub model: ModelArguments,

    /// Generate every feasible trace of N observable steps, and shorter ones that cannot continue
    #[arg(long, value_name = "N")]
    pub traces: Option<u32>,

    /// What the tests should cover, separated by commas: locations, switches, decisions, conditions,
    /// mcdc, states; for a NuSMV model: values, decisions, conditions, mcdc, invariants. For a finite
    /// model also complete suites, for systems with up to --extra more states: w, wp or hsi if it is deterministic,
    /// ioco otherwise
    #[arg(long, value_name = "WHAT")]
    pub cover: Option<String>,

    /// With --cover w, wp, hsi or ioco: the system may have this many more states than the model
    /// [default: 0]
    #[arg(long, value_name = "K")]
    pub extra: Option<u32>,

    /// With --traces: the values of parameters. minmax: the smallest and the largest on every
    /// switch; boundaries: also the limits of all sub-domains; pairs: also all combinations of these
    /// for two parameters; a number: this many random choices for every trace
    #[arg(long, value_name = "WHICH")]
    pub data: Option<String>,

    /// Generate a test that matches the query in this file
    #[arg(long, value_name = "FILE")]
    pub query: Option<PathBuf>,

    /// With --query: this many different tests
    #[arg(long, value_name = "N", requires = "query", default_value_t = 1)]
    pub number: usize,

    /// With --traces or --cover w, wp, hsi, ioco: only count the tests
    #[arg(long)]
    pub count: bool,

    /// With --traces: visit no location more often than this in one trace
    #[arg(long, value_name = "N")]
    pub loops: Option<u32>,

    /// With --cover: draw the model into this .svg file, with the number of visits
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,

    /// With --cover: search paths of up to this many switches for goals that are hard to reach
    /// [default: 40]; with --query: the maximal length of the test
    #[arg(long, value_name = "N")]
    pub depth: Option<u32>,

    /// Write the suite to this file. The extension selects the format: .feature (text for people),
    /// .py (pytest), .rs (Rust tests), otherwise JSON lines
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// The format of the suite, if the file extension does not select it: gherkin, pytest or rust
    #[arg(long, value_name = "FORM")]
    pub export: Option<String>,

    /// For .py and .rs: the command that starts the system; the variable IOCO_SUT overrides it
    #[arg(long, value_name = "COMMAND")]
    pub sut: Option<String>,

    /// The number of threads [default: one per core]
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,

    /// The seed of the values; the same seed gives the same suite
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,

    #[command(flatten)]
    pub smv: SmvArguments,
}

/// What only NuSMV models have.
#[derive(Debug, Args)]
#[command(next_help_heading = "NuSMV models (.smv)")]
pub struct SmvArguments {
    /// A goal of your own: an expression that some state must make true (may be repeated)
    #[arg(long, value_name = "EXPRESSION")]
    pub goal: Vec<String>,

    /// How to find tests: auto, monolithic, strong or weak
    #[arg(long, value_name = "NAME", default_value = "auto")]
    pub technique: String,

    /// The time for each goal; a step for several goals may use the sum of their times
    #[arg(long, value_name = "TIME", default_value = "10s")]
    pub time_per_goal: String,

    /// The time for all goals or traces, of any model: 30s, 5m
    #[arg(long, value_name = "TIME")]
    pub time: Option<String>,

    /// Use at most this many values of a variable, chosen by the seed
    #[arg(long, value_name = "N")]
    pub max_values: Option<usize>,

    /// Value coverage also counts inputs (IVAR)
    #[arg(long)]
    pub inputs: bool,

    /// A guard counts only where the guards before it are false
    #[arg(long)]
    pub reached_guards: bool,

    /// The right-hand side of an assignment to a boolean is also a decision
    #[arg(long)]
    pub boolean_sides: bool,

    /// Guards in INIT, TRANS and INVAR do not count
    #[arg(long)]
    pub assignments_only: bool,

    /// Drop tests whose goals other tests cover, of any model
    #[arg(long)]
    pub minimise: bool,
}

//! Arguments of the commands about models alone: which model, how to read it, and within which limits.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use ioco_campaign::ModelOptions;
use ioco_campaign::sections::limits::{Limit, Limits};

/// Which model, and how it is read.
#[derive(Clone, Debug, Args)]
pub struct ModelArguments {
    /// The model (.aml .json .dot .aut .mmd .svg; also .smv for check, generate and convert), or a
    /// folder with ioco.toml [default: ioco.toml of the current folder]
    pub model: Option<PathBuf>,

    #[command(flatten)]
    pub reading: ReadingArguments,
}

/// How a model is read.
#[derive(Clone, Debug, Args)]
pub struct ReadingArguments {
    /// Merge locations with the same behaviour (bisimulation)
    #[arg(long)]
    pub reduce: bool,

    /// Remove data by enumerating all values
    #[arg(long)]
    pub flatten: bool,

    /// List at most this many states
    #[arg(long, value_name = "N", default_value_t = 200_000)]
    pub states: usize,

    /// In files of other tools: the labels that are stimuli; `*` matches any text (may be repeated)
    #[arg(long, value_name = "PATTERN")]
    pub stimuli: Vec<String>,

    /// In files of other tools: the labels that are responses; labels that no flag matches are
    /// internal (may be repeated)
    #[arg(long, value_name = "PATTERN")]
    pub responses: Vec<String>,

    /// In files of other tools: the labels that are internal, besides `i` and `tau` (may be repeated)
    #[arg(long, value_name = "PATTERN")]
    pub internal: Vec<String>,

    /// In .dot and .mmd files: an output that means silence, instead of the default ones (may be repeated)
    #[arg(long, value_name = "OUTPUT")]
    pub silent: Vec<String>,

    /// In GraphWalker files: a vertex is also a response, which the system sends on arrival
    #[arg(long)]
    pub vertices: bool,

    #[command(flatten)]
    pub limits: LimitArguments,
}

/// How much one piece of work may use.
#[derive(Clone, Debug, Default, Args)]
pub struct LimitArguments {
    /// Set a limit on work (steps, bytes, depth, states) or on the messages of a system (message, queue,
    /// wire) (may be repeated)
    #[arg(long = "limit", value_name = "NAME=N")]
    limits: Vec<Limit>,
}

impl LimitArguments {
    pub fn limits(&self) -> Limits {
        self.limits.iter().copied().collect()
    }
}

impl ModelArguments {
    pub fn limits(&self) -> Limits {
        self.reading.limits.limits()
    }

    pub fn options(&self) -> ModelOptions {
        self.reading.options()
    }
}

impl ReadingArguments {
    pub fn options(&self) -> ModelOptions {
        ModelOptions {
            reduce: self.reduce,
            flatten: self.flatten,
            states: self.states,
            stimuli: self.stimuli.clone(),
            responses: self.responses.clone(),
            internal: self.internal.clone(),
            silent: self.silent.clone(),
            vertices: self.vertices,
            limits: self.limits.limits(),
        }
    }
}

#[derive(Debug, Args)]
pub struct Compare {
    /// The specification
    pub first: PathBuf,

    /// The implementation
    pub second: PathBuf,

    #[command(flatten)]
    pub reading: ReadingArguments,

    /// Which stimuli conformance considers
    #[arg(long, value_enum, default_value_t = Relation::Ioco)]
    pub relation: Relation,

    /// Strong bisimilarity: also match internal steps
    #[arg(long)]
    pub strong: bool,
}

#[derive(Debug, Args)]
pub struct Check {
    #[command(flatten)]
    pub model: ModelArguments,

    /// Check whether recorded traffic conforms to the model
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,

    /// With --trace, ask this solver what the embedded one cannot decide: z3, cvc5, or a command that reads
    /// SMT-LIB [default: embedded]
    #[arg(long, value_name = "SOLVER", requires = "trace")]
    pub solver: Option<String>,
}

#[derive(Debug, Args)]
pub struct Fmt {
    /// The files to format; `-` is standard input
    #[arg(required = true)]
    pub files: Vec<PathBuf>,

    /// Change nothing; exit with 1 if a file would change
    #[arg(long)]
    pub check: bool,

    #[command(flatten)]
    pub limits: LimitArguments,
}

#[derive(Debug, Args)]
pub struct Convert {
    #[command(flatten)]
    pub model: ModelArguments,

    /// The file to write; its extension selects the format. `-` is standard output and needs --to
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,

    /// For a NuSMV model: draw its decomposition into subsystems for this goal
    #[arg(long, value_name = "GOAL")]
    pub decompose: Option<String>,

    /// The format, if the file extension does not select it: json, aut, dot, mmd, svg or graphwalker
    #[arg(long, value_name = "FORM")]
    pub to: Option<String>,
}

#[derive(Debug, Args)]
pub struct Explore {
    #[command(flatten)]
    pub model: ModelArguments,

    /// The seed of the suggested values
    #[arg(long, default_value_t = 1)]
    pub seed: u64,

    /// When ioco gives a stimulus [default: ioco]
    #[arg(long, value_enum)]
    pub relation: Option<Relation>,

    /// Work line by line instead of on the whole screen
    #[arg(long)]
    pub lines: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Relation {
    /// When some state of the model accepts it
    Ioco,
    /// When every state of the model accepts it
    Uioco,
}

impl Relation {
    pub fn name(self) -> &'static str {
        match self {
            Relation::Ioco => "ioco",
            Relation::Uioco => "uioco",
        }
    }
}

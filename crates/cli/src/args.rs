//! What can be typed. Nothing here decides what it means: the commands do.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use ioco_campaign::sections::limits::{Limit, Limits};
use ioco_campaign::{ModelOptions, ShrinkSettings, SystemChoice};

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
    /// Look at everything that a run needs, and say what is missing
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
    /// Give stimuli by hand: show labels and bytes both ways
    Connect(Connect),
    /// Record the traffic between a client and a system as traces
    Record(Record),
    /// List the recorded failures, and what became of them; accept them
    Failures(Failures),
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
    /// Print what completes commands in a shell
    Completions(Completions),
    /// Write the manual pages: one of `ioco`, and one of each command
    Man(Man),
}

#[derive(Debug, Args)]
pub struct Adapters {
    /// A model, or a folder with ioco.toml, to compare with what adapters announce
    pub model: Option<PathBuf>,

    /// Listen here; a port alone means this machine only [default: the address in ioco.toml]
    #[arg(long, value_name = "ADDRESS")]
    pub amp: Option<String>,

    /// How long to wait for adapters to connect
    #[arg(long, value_name = "TIME", default_value = "5s")]
    pub wait: String,

    /// Use the profile [profile.NAME] of ioco.toml
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,

    #[command(flatten)]
    pub limits: LimitArguments,
}

#[derive(Debug, Args)]
pub struct New {
    /// The folder to create
    pub name: PathBuf,

    /// The language of the example system [default: Python without a library]
    #[arg(long, value_enum)]
    pub adapter: Option<AdapterLanguage>,

    /// Create labels and a first model from this OpenAPI description (JSON or YAML) instead
    #[arg(long, value_name = "FILE", conflicts_with = "adapter")]
    pub openapi: Option<PathBuf>,

    #[command(flatten)]
    pub limits: LimitArguments,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AdapterLanguage {
    Python,
    Node,
    Rust,
}

impl AdapterLanguage {
    /// What runs it.
    pub fn program(self) -> &'static str {
        match self {
            AdapterLanguage::Python => "python3",
            AdapterLanguage::Node => "node",
            AdapterLanguage::Rust => "cargo",
        }
    }
}

#[derive(Debug, Args)]
pub struct Connect {
    #[command(flatten)]
    pub model: ModelArguments,

    #[command(flatten)]
    pub system: SystemArguments,

    /// A stimulus and its values, as in 'lock passcode=1234' (may be repeated) [default: listen only]
    #[arg(short, long, value_name = "STIMULUS")]
    pub give: Vec<String>,

    /// How long to listen after each stimulus [default: the time-out of the model]
    #[arg(long, value_name = "TIME")]
    pub wait: Option<String>,
}

#[derive(Debug, Args)]
pub struct Record {
    #[command(flatten)]
    pub model: ModelArguments,

    /// Where clients connect
    #[arg(long, value_name = "HOST:PORT")]
    pub listen: String,

    /// Where the system listens: HOST:PORT, or http://HOST:PORT
    #[arg(long, value_name = "ADDRESS")]
    pub to: String,

    /// The file to write; `ioco check --trace` reads it
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,

    /// Stop after this many clients instead of at Ctrl-C
    #[arg(long, value_name = "N")]
    pub clients: Option<u64>,
}

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

    /// When ioco gives a stimulus
    #[arg(long, value_enum, default_value_t = Relation::Ioco)]
    pub relation: Relation,

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

/// How to reach the system under test.
#[derive(Clone, Debug, Default, Args)]
pub struct SystemArguments {
    /// The command that starts the system or its adapter, which speaks one JSON object per line
    #[arg(long, value_name = "COMMAND", group = "way")]
    pub sut: Option<String>,

    /// Where the system or its adapter listens; it speaks one JSON object per line
    #[arg(long, value_name = "HOST:PORT", group = "way")]
    pub tcp: Option<String>,

    /// Listen here for the system or its adapter, which speaks one JSON object per line
    #[arg(long, value_name = "HOST:PORT", group = "way")]
    pub tcp_listen: Option<String>,

    /// Listen here for adapters of the Axini platform; a port alone means this machine only
    #[arg(long, value_name = "ADDRESS", group = "way")]
    pub amp: Option<String>,

    /// Where the system answers requests; [http] in ioco.toml maps labels to requests
    #[arg(long, value_name = "URL", group = "way")]
    pub http: Option<String>,

    /// With --amp: the adapter to use, or one for each channel (may be repeated)
    #[arg(long, value_name = "[CHANNEL=]NAME")]
    pub adapter: Vec<String>,

    /// With --amp: a setting of the adapter (may be repeated)
    #[arg(long, value_name = "KEY=VALUE")]
    pub configure: Vec<String>,

    /// Start the system with this command for every test; {port} here and in the address is a free port
    #[arg(long, value_name = "COMMAND")]
    pub start: Option<String>,

    /// Restart the system for every test instead of resetting it
    #[arg(long)]
    pub restart: bool,

    /// Use the profile [profile.NAME] of ioco.toml
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
}

impl SystemArguments {
    pub fn choice(&self) -> SystemChoice {
        SystemChoice {
            sut: self.sut.clone(),
            tcp: self.tcp.clone(),
            tcp_listen: self.tcp_listen.clone(),
            amp: self.amp.clone(),
            http: self.http.clone(),
            adapters: self.adapter.clone(),
            configure: self.configure.clone(),
            start: self.start.clone(),
            restart: self.restart,
            profile: self.profile.clone(),
        }
    }
}

#[derive(Debug, Args)]
pub struct Test {
    #[command(flatten)]
    pub model: ModelArguments,

    #[command(flatten)]
    pub system: SystemArguments,

    /// How to choose the next step [default: random]
    #[arg(long, value_enum)]
    pub strategy: Option<Strategy>,

    /// Run the tests of this suite (from `ioco generate -o`) instead of testing on the fly
    #[arg(long, value_name = "FILE")]
    pub suite: Option<PathBuf>,

    /// With --strategy scenario: the scenario, a query as for `ioco generate`
    #[arg(long, value_name = "FILE")]
    pub query: Option<PathBuf>,

    /// With --strategy random: the weight of a stimulus, such as `open=5` (may be repeated)
    #[arg(long, value_name = "LABEL=N")]
    pub weight: Vec<String>,

    /// The seed of all random choices; the same seed and the same responses give the same run
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,

    /// Stop after this many tests [default: 100]
    #[arg(long, value_name = "N")]
    pub tests: Option<u64>,

    /// End each test after this many steps [default: 100]
    #[arg(long, value_name = "N")]
    pub steps: Option<u64>,

    /// Stop after this time: 30s, 5m, 2h
    #[arg(long, value_name = "TIME")]
    pub time: Option<String>,

    /// Stop when this percentage of the switches is covered; the exit code is 4 if it never is
    #[arg(long, value_name = "PERCENT")]
    pub coverage: Option<f64>,

    /// Stop after this many distinct failures; 0 means never [default: 1]
    #[arg(long, value_name = "N")]
    pub failures: Option<u64>,

    /// When ioco gives a stimulus [default: ioco]
    #[arg(long, value_enum)]
    pub relation: Option<Relation>,

    /// Ask this solver what the embedded one cannot decide: z3, cvc5, or a command that reads
    /// SMT-LIB [default: embedded]
    #[arg(long, value_name = "SOLVER")]
    pub solver: Option<String>,

    /// The time-out after which the system is silent, instead of the model's: 200ms, 2s
    #[arg(long, value_name = "TIME")]
    pub timeout: Option<String>,

    #[command(flatten)]
    pub shrinking: ShrinkArguments,

    /// Do not shrink failures
    #[arg(long)]
    pub no_shrink: bool,

    /// Do not run the recorded failures first
    #[arg(long)]
    pub no_known: bool,

    /// Write a JUnit report of the run to this file
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,

    /// Test again whenever the model, ioco.toml or a file of the system changes, until Ctrl-C
    #[arg(long)]
    pub watch: bool,

    #[command(flatten)]
    pub store: StoreArguments,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Strategy {
    /// Choose any allowed step at random
    Random,
    /// Move towards switches that no test has taken yet
    Transitions,
    /// Move towards locations that no test has visited yet, with values for the whole path
    Locations,
    /// Like transitions, with values at the limits of the guards
    Data,
    /// Make the test match the query of --query
    Scenario,
}

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

    /// Accept any failure, also one in other locations or by another observation
    #[arg(long)]
    pub any: bool,

    /// Accept only the same failure; this is the default
    #[arg(long, conflicts_with = "any", hide = true)]
    pub same: bool,

    /// Prove that nothing shorter fails, by trying everything shorter
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
        }
    }
}

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
#[command(after_help = "Examples:\n  \
    bash        ioco completions bash > ~/.local/share/bash-completion/completions/ioco\n  \
    zsh         ioco completions zsh > \"${fpath[1]}/_ioco\"\n  \
    fish        ioco completions fish > ~/.config/fish/completions/ioco.fish\n  \
    PowerShell  ioco completions powershell >> $PROFILE")]
pub struct Completions {
    /// The shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub struct Man {
    /// The folder to write them to; it is made where it is not there
    pub folder: PathBuf,
}

#[derive(Debug, Args)]
pub struct Export {
    /// The id of the failure, or the beginning of it, or its file
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
    /// The same as a test
    Pytest,
    /// What the system is sent, one JSON object a line
    Jsonl,
    /// A test that needs nothing but Rust's standard library
    Rust,
}

#[derive(Debug, Args)]
pub struct Failures {
    #[command(subcommand)]
    pub command: Option<FailuresCommand>,

    /// Those that are accepted or fixed as well
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
    Accept {
        /// Its id, or the beginning of it
        failure: String,

        /// Why nobody has to look at it again
        #[arg(long, value_name = "TEXT")]
        reason: String,
    },
    /// Take back that a failure was accepted
    Reopen {
        /// Its id, or the beginning of it
        failure: String,
    },
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
    /// Show one run: its numbers, failures and the tests that did not pass
    Show {
        /// The number of the run [default: the newest]
        run: Option<i64>,
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
pub struct Replay {
    /// The id of the failure, its first characters, or its file
    pub failure: String,

    #[command(flatten)]
    pub system: SystemArguments,

    /// Run it this many times
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub times: u32,

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

#[derive(Debug, Args)]
pub struct Generate {
    #[command(flatten)]
    pub model: ModelArguments,

    /// Generate every feasible trace of N observable steps, and shorter ones that cannot continue
    #[arg(long, value_name = "N")]
    pub traces: Option<u32>,

    /// What the tests should cover, separated by commas: locations, switches, decisions, conditions,
    /// mcdc, states; for a NuSMV model: values, decisions, conditions, mcdc, invariants. Or, for a finite
    /// deterministic model, every fault in up to --extra more states, by the method w, wp or hsi
    #[arg(long, value_name = "WHAT")]
    pub cover: Option<String>,

    /// With --cover w, wp or hsi: the system may have this many more states than the model
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

    /// With --traces or --cover w, wp, hsi: only count the tests
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

    /// The time for each goal; work for several goals may use the sum of their times
    #[arg(long, value_name = "TIME", default_value = "10s")]
    pub time_per_goal: String,

    /// The time for all goals or traces, also for other models: 30s, 5m
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

    /// Drop tests whose goals other tests cover, also for other models
    #[arg(long)]
    pub minimise: bool,
}

#[derive(Debug, Args)]
pub struct Doctor {
    /// A model file, or a folder with ioco.toml [default: the current folder]
    pub model: Option<PathBuf>,

    #[command(flatten)]
    pub system: SystemArguments,

    #[command(flatten)]
    pub store: StoreArguments,
}

#[derive(Debug, Args)]
pub struct Explain {
    /// A code such as D002 or A012 [default: list all codes]
    pub code: Option<String>,
}

#[derive(Debug, Args)]
pub struct Serve {
    /// A model file, or a folder with ioco.toml [default: the current folder]
    pub model: Option<PathBuf>,
    /// The port on this machine [default: any free port]
    #[arg(long, value_name = "N")]
    pub port: Option<u16>,
    #[command(flatten)]
    pub system: SystemArguments,
    #[command(flatten)]
    pub store: StoreArguments,
    #[command(flatten)]
    pub limits: LimitArguments,
    /// Also open the page in the browser
    #[arg(long)]
    pub open: bool,
}

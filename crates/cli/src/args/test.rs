//! Arguments of the commands that talk to a system: how to reach it, and how to test it.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use ioco_adapters::FaultRate;
use ioco_campaign::{Shard, SystemChoice};

use super::{LimitArguments, ModelArguments, Relation, ShrinkArguments, StoreArguments};

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

#[derive(Debug, Args)]
pub struct Simulate {
    #[command(flatten)]
    pub model: ModelArguments,

    /// Where clients connect, one after the other [default: one client, on standard input and output];
    /// CHANNEL=HOST:PORT for each channel where clients of several channels connect
    #[arg(long, value_name = "HOST:PORT")]
    pub listen: Vec<String>,

    /// Connect here as an adapter of the Axini platform (ws://HOST:PORT), and again after every run
    #[arg(long, value_name = "URL", conflicts_with = "listen")]
    pub amp: Option<String>,

    /// Stop after this many clients instead of at Ctrl-C
    #[arg(long, value_name = "N")]
    pub clients: Option<u64>,

    /// The same seed and the same messages give the same responses
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,

    /// A fault and its probability: drop, duplicate, value, ignore or end, as in drop=0.1 (may be repeated)
    #[arg(long, value_name = "FAULT=P")]
    pub fault: Vec<FaultRate>,
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

    /// How to choose the next step [default: auto; random with --weight]
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

    /// Stop when this percentage of the model's requirements was shown; the exit code is 4 if it never is
    #[arg(long, value_name = "PERCENT")]
    pub requirements: Option<f64>,

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

    /// The share of the time, from 0 to 1, to spend waiting for silence where no response is due
    #[arg(long, value_name = "SHARE")]
    pub silence: Option<f64>,

    #[command(flatten)]
    pub shrinking: ShrinkArguments,

    /// Stop shrinking a failure after this time, with the shortest trace so far: 30s, 5m
    #[arg(long, value_name = "TIME")]
    pub shrink_time: Option<String>,

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

    /// Test this many systems side by side; {job} in commands and addresses is the number of the job
    #[arg(short, long, value_name = "N", default_value_t = 1)]
    pub jobs: usize,

    /// Run one share of the tests: 3/8 is the third of eight; `ioco merge` puts the shares together
    #[arg(long, value_name = "K/N")]
    pub shard: Option<Shard>,

    #[command(flatten)]
    pub store: StoreArguments,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Strategy {
    /// Prefer the stimuli that reveal the most faults of the model's neighbourhood
    Auto,
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

//! How soon every strategy finds every fault: stimuli and resets until the first failure.
//!
//! Faults are the planted mutants of the examples and generated ones ([`mutate`]), which an interpreter plays in
//! process and in virtual time. A generated mutant that conforms to its model is no fault: `compare` removes it where
//! the model can be flattened. Elsewhere a mutant that no trial of the first seeds finds, whatever the strategy, is left
//! out of the figures and counted.

mod mutate;
mod play;
mod tables;
mod trial;

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use ioco_budget::Interrupt;
use ioco_generate::fsm::{Method, ModelMachine, suite};
use ioco_sts::{CompareOptions, Equivalence, Relation, Sts, compare, flatten};

pub(crate) use mutate::without_response;
pub use mutate::{Mutant, Operator, mutants};
pub use play::{Planted, Play, Played, Sent};
pub use tables::show;
pub use trial::{STRATEGIES, Trial, tester, trial};

use crate::ExperimentError;
use crate::random::Share;
use crate::runner::read_model;

/// What is measured.
#[derive(Clone, Debug, clap::Parser)]
#[command(name = "cargo xtask experiment detection")]
pub struct Setup {
    /// A folder with one folder for each model, as the examples have it
    #[arg(long, value_name = "DIR", default_value = "examples")]
    pub models: PathBuf,

    /// Only these models, by the names of their folders
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub only: Vec<String>,

    /// Only these strategies
    #[arg(long, value_name = "A,B", value_delimiter = ',', default_values = STRATEGIES, value_parser = STRATEGIES)]
    pub strategies: Vec<String>,

    /// Generated mutants of each model
    #[arg(long, value_name = "N", default_value_t = 300)]
    pub generated: usize,

    /// Trials of each strategy for each mutant
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..))]
    pub seeds: u64,

    /// The share of the seeds and of the generated mutants
    #[arg(long, value_enum, default_value_t = Share::Report)]
    pub share: Share,

    /// A trial ends after so many stimuli
    #[arg(long = "stimuli", value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub most: u64,

    /// Mutants that are tested at the same time
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub threads: usize,

    /// One line per mutant on standard error
    #[arg(long)]
    pub verbose: bool,
}

/// The trials of all strategies for one mutant.
#[derive(Clone, Debug)]
pub struct Row {
    pub model: String,
    pub mutant: String,
    /// The operator, or `planted`.
    pub kind: &'static str,
    /// Stimuli of the shortest failing trace: from `compare`, or the shortest that a trial ended with.
    pub shortest: Option<usize>,
    /// The shortest failing trace is certain.
    pub exact: bool,
    /// By strategy, in the order of the setup.
    pub trials: Vec<Vec<Trial>>,
}

impl Row {
    pub fn is_found(&self) -> bool {
        self.trials.iter().flatten().any(|trial| trial.found)
    }
}

/// Everything that was measured.
#[derive(Clone, Debug)]
pub struct Report {
    pub strategies: Vec<String>,
    pub most: u64,
    pub rows: Vec<Row>,
    /// By model: generated mutants that conform, and the cost of its HSI suite as tests and stimuli.
    pub models: Vec<ModelFacts>,
}

#[derive(Clone, Debug)]
pub struct ModelFacts {
    pub name: String,
    pub equivalent: usize,
    pub hsi: Option<(u64, u64)>,
}

/// The systems of the examples that have a model of their own, beside the name of their folder.
const SYSTEMS: [(&str, &str, &str); 13] = [
    ("smartdoor", "smartdoor", "model.aml"),
    ("koopman", "koopman", "model.aml"),
    ("atm", "atm", "model.aml"),
    ("calculator", "calculator", "model.aml"),
    ("retransmission", "retransmission", "model.aml"),
    ("coffee-1", "coffee", "figure1.aml"),
    ("coffee-2", "coffee", "model.aml"),
    ("coffee-8", "coffee", "figure8.aml"),
    ("coffee-9", "coffee", "figure9.aml"),
    ("coffee-10", "coffee", "figure10.aml"),
    ("queue", "queue", "model.aml"),
    ("echo", "echo", "model.aml"),
    ("tcp", "tcp", "model.aml"),
];

/// Most states of a model that is flattened.
const MAX_STATES: usize = 20_000;
/// Most stimuli of an HSI suite.
const MAX_SUITE: usize = 2_000_000;

/// The models of the folder: name and file. Those of the examples first, with their planted mutants.
fn models(setup: &Setup) -> Result<Vec<(String, PathBuf)>, ExperimentError> {
    let mut found: Vec<(String, PathBuf)> = Vec::new();
    for (name, folder, file) in SYSTEMS {
        let path = setup.models.join(folder).join(file);
        if path.is_file() {
            found.push((name.to_owned(), path));
        }
    }
    if found.is_empty() {
        let unreadable = |error: std::io::Error| ExperimentError::Unreadable {
            path: setup.models.clone(),
            reason: error.to_string(),
        };
        let folders = std::fs::read_dir(&setup.models).map_err(unreadable)?;
        for folder in folders {
            let folder = folder.map_err(unreadable)?;
            let path = folder.path().join("model.aml");
            if path.is_file() {
                found.push((folder.file_name().to_string_lossy().into_owned(), path));
            }
        }
        found.sort();
    }
    if !setup.only.is_empty() {
        found.retain(|(name, _)| setup.only.contains(name));
    }
    match found.is_empty() {
        true => Err(ExperimentError::NoModels {
            path: setup.models.clone(),
        }),
        false => Ok(found),
    }
}

/// Runs every trial, on as many threads as the setup asks for. What comes out does not depend on their number.
pub fn measure(setup: &Setup) -> Result<Report, ExperimentError> {
    let mut report = Report {
        strategies: setup.strategies.clone(),
        most: setup.most,
        rows: Vec::new(),
        models: Vec::new(),
    };
    for (name, path) in models(setup)? {
        let sts = read_model(&path)?;
        check_right(setup, &name, &sts)?;
        let is_flat = flatten(&sts, MAX_STATES).is_ok();
        let planted = ioco_examples::mutants(&name)
            .iter()
            .map(|(mutant, _, _)| MutantSource::Planted(mutant));
        let generated = mutants(&sts, setup.share.seed(), setup.generated);
        let mutants: Vec<MutantSource> = planted
            .chain(generated.into_iter().map(|mutant| MutantSource::Generated {
                number: mutant.number,
                operator: mutant.operator,
                sts: Arc::new(mutant.sts),
            }))
            .collect();
        let of = Model {
            name: &name,
            sts: &sts,
            is_flat,
        };
        let rows = on_threads(setup.threads, &mutants, |mutant| detect(setup, &of, mutant));
        let mut equivalent = 0;
        for row in rows {
            match row? {
                Some(row) => report.rows.push(row),
                None => equivalent += 1,
            }
        }
        report.models.push(ModelFacts {
            name,
            equivalent,
            hsi: hsi_cost(&sts),
        });
    }
    Ok(report)
}

/// A model whose mutants are tested.
struct Model<'a> {
    name: &'a str,
    sts: &'a Arc<Sts>,
    /// It has few enough states for `compare`.
    is_flat: bool,
}

enum MutantSource {
    Planted(&'static str),
    Generated {
        number: u64,
        operator: Operator,
        sts: Arc<Sts>,
    },
}

/// All trials of one mutant; `None` if it conforms.
fn detect(
    setup: &Setup,
    model: &Model<'_>,
    mutant: &MutantSource,
) -> Result<Option<Row>, ExperimentError> {
    let row = match mutant {
        MutantSource::Planted(mutant) => {
            let system = |_| -> Result<Box<dyn Play>, ExperimentError> {
                let system = ioco_examples::system(model.name, Some(mutant));
                let system = system.map_err(ExperimentError::System)?;
                Ok(Box::new(Planted::new(model.sts, system)))
            };
            let trials = trials(setup, model.sts, &system)?;
            row(model.name, mutant, "planted", None, trials)
        }
        MutantSource::Generated {
            number,
            operator,
            sts,
        } => {
            let shortest = match model.is_flat.then(|| deviation(model.sts, sts)).flatten() {
                Some(Deviates::Not) => return Ok(None),
                Some(Deviates::After(stimuli)) => Some(stimuli),
                None => None,
            };
            let system = |seed| -> Result<Box<dyn Play>, ExperimentError> {
                Ok(Box::new(Played::new(sts, seed)))
            };
            let trials = trials(setup, model.sts, &system)?;
            let number = format!("g{number}");
            row(model.name, &number, operator.name(), shortest, trials)
        }
    };
    if setup.verbose {
        eprintln!("{}", tables::line(&row));
    }
    Ok(Some(row))
}

/// What `work` makes of each item, in their order.
fn on_threads<T: Sync, R: Send + Sync>(
    threads: usize,
    items: &[T],
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let done: Vec<OnceLock<R>> = items.iter().map(|_| OnceLock::new()).collect();
    std::thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(index) else {
                        return;
                    };
                    // No other got this number.
                    let _ = done[index].set(work(item));
                }
            });
        }
    });
    done.into_iter().filter_map(OnceLock::into_inner).collect()
}

/// Stimuli for the right system.
const RIGHT: u64 = 1_000;

/// Every strategy must pass the right system: otherwise a failure says nothing about a mutant.
fn check_right(setup: &Setup, name: &str, sts: &Arc<Sts>) -> Result<(), ExperimentError> {
    for strategy in &setup.strategies {
        let seed = setup.share.seed();
        let mut system: Box<dyn Play> = match ioco_examples::system(name, None) {
            Ok(system) => Box::new(Planted::new(sts, system)),
            Err(_) => Box::new(Played::new(sts, seed)),
        };
        let trial = trial(&mut tester(sts, strategy, seed), system.as_mut(), RIGHT);
        if trial.found {
            return Err(ExperimentError::RightFails {
                model: name.to_owned(),
                strategy: strategy.clone(),
                shown: trial.shown,
            });
        }
    }
    Ok(())
}

fn row(
    model: &str,
    mutant: &str,
    kind: &'static str,
    shortest: Option<usize>,
    trials: Vec<Vec<Trial>>,
) -> Row {
    let failing = trials.iter().flatten().filter(|trial| trial.found);
    Row {
        model: model.to_owned(),
        mutant: mutant.to_owned(),
        kind,
        exact: shortest.is_some(),
        shortest: shortest.or_else(|| failing.map(|trial| trial.failing.len()).min()),
        trials,
    }
}

/// Seeds after which a mutant that no strategy has found is given up.
const SCREENING: u64 = 2;

/// Every strategy with every seed against one system, which is built anew for each. Most of the time would go into
/// mutants that no test can find: what no strategy finds with the first seeds is not tried with the others.
fn trials(
    setup: &Setup,
    sts: &Arc<Sts>,
    system: &dyn Fn(u64) -> Result<Box<dyn Play>, ExperimentError>,
) -> Result<Vec<Vec<Trial>>, ExperimentError> {
    let mut all: Vec<Vec<Trial>> = vec![Vec::new(); setup.strategies.len()];
    let first = setup.share.seed();
    let screened = first + setup.seeds.min(SCREENING);
    for seeds in [first..screened, screened..first + setup.seeds] {
        for (strategy, own) in setup.strategies.iter().zip(&mut all) {
            for seed in seeds.clone() {
                let mut system = system(seed)?;
                let mut tester = tester(sts, strategy, seed);
                own.push(trial(&mut tester, system.as_mut(), setup.most));
            }
        }
        if !all.iter().flatten().any(|trial| trial.found) {
            break;
        }
    }
    Ok(all)
}

enum Deviates {
    Not,
    /// After so many stimuli.
    After(usize),
}

/// Whether a mutant conforms; `None` where that cannot be decided.
fn deviation(model: &Sts, mutant: &Sts) -> Option<Deviates> {
    let options = CompareOptions {
        equivalence: Equivalence::Weak,
        relation: Relation::Ioco,
        limit: MAX_STATES,
    };
    let found = compare(model, mutant, options).ok()?;
    if found.conforms {
        return Some(Deviates::Not);
    }
    let distinction = found.distinction?;
    let stimuli = distinction
        .trace
        .iter()
        .filter(|step| step.starts_with('?'));
    Some(Deviates::After(stimuli.count()))
}

/// Tests and stimuli of the HSI suite for systems without extra states.
fn hsi_cost(sts: &Sts) -> Option<(u64, u64)> {
    let machine = ModelMachine::new(sts, MAX_STATES, &Interrupt::default()).ok()?;
    let suite = suite(machine.machine(), Method::Hsi, 0, MAX_SUITE).ok()?;
    Some(suite.size())
}

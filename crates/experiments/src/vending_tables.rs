//! Tables 1 and 2 of Koopman et al. 2013: ten seeds and ten mutants of the vending machine, element
//! elimination against cycle elimination, in transitions.

use std::path::Path;

use ioco_shrink::{Options, Pipeline, shrink};
use ioco_sts::Execution;

use crate::ExperimentError;
use crate::flat::{FlatModel, flat_model, flat_runner, semantics};
use crate::random::walk;
use crate::runner::ModelRunner;

/// The rows of one table: lengths in transitions, and transitions executed to get there.
#[derive(Clone, Debug, Default)]
pub struct VendingTable {
    pub columns: Vec<String>,
    pub issue: Vec<f64>,
    pub elems: Vec<f64>,
    pub elems_transitions: Vec<f64>,
    pub cycles: Vec<f64>,
    pub both: Vec<f64>,
    pub both_transitions: Vec<f64>,
    pub auto: Vec<f64>,
    pub auto_transitions: Vec<f64>,
}

impl VendingTable {
    fn series(&mut self) -> [&mut Vec<f64>; 8] {
        [
            &mut self.issue,
            &mut self.elems,
            &mut self.elems_transitions,
            &mut self.cycles,
            &mut self.both,
            &mut self.both_transitions,
            &mut self.auto,
            &mut self.auto_transitions,
        ]
    }

    fn push(&mut self, column: String, figures: [f64; 8]) {
        self.columns.push(column);
        for (series, figure) in self.series().into_iter().zip(figures) {
            series.push(figure);
        }
    }

    fn averages(&mut self) -> [f64; 8] {
        self.series()
            .map(|series| series.iter().sum::<f64>() / series.len().max(1) as f64)
    }
}

/// Table 1 (the first mutant, ten seeds) and Table 2 (ten mutants, averages over ten seeds).
pub fn vending_tables(models: &Path) -> Result<[VendingTable; 2], ExperimentError> {
    let model = flat_model("koopman", models, false)?;
    let mut by_seed = VendingTable::default();
    let mut by_mutant = VendingTable::default();
    for number in 1..=10 {
        let mutant = format!("m{number:02}");
        let mut seeds = VendingTable::default();
        for seed in 1..=10u64 {
            seeds.push(seed.to_string(), one_issue(&model, &mutant, seed)?);
        }
        let averages = seeds.averages();
        if number == 1 {
            by_seed = seeds;
            by_seed.push("avg".to_owned(), averages);
        }
        by_mutant.push(mutant, averages);
    }
    let averages = by_mutant.averages();
    by_mutant.push("avg".to_owned(), averages);
    Ok([by_seed, by_mutant])
}

fn one_issue(model: &FlatModel, mutant: &str, seed: u64) -> Result<[f64; 8], ExperimentError> {
    let mut runner = flat_runner(model, mutant)?;
    let issue = find_issue(model, &mut runner, seed).ok_or_else(|| {
        ExperimentError::System(format!("koopman {mutant}: no issue found with seed {seed}"))
    })?;
    let transitions = |execution: &Execution| execution.stimuli().count() as f64;
    let mut with = |name: &str| -> Result<(f64, f64), ExperimentError> {
        let pipeline: Pipeline = name.parse()?;
        let mut followed = semantics(&model.sts);
        let options = Options::default();
        let shrunk = shrink(
            &pipeline,
            &mut followed,
            &issue,
            &mut runner,
            &options,
            &mut (),
        )?;
        Ok((transitions(&shrunk.execution), shrunk.stimuli_sent as f64))
    };
    let elems = with("koopman-elem")?;
    let cycles = with("koopman-cycle-alone")?;
    let both = with("koopman-cycle")?;
    let auto = with("auto")?;
    let found = transitions(&issue);
    Ok([
        found, elems.0, elems.1, cycles.0, both.0, both.1, auto.0, auto.1,
    ])
}

/// Random walks of 1000 inputs, at most 100 of them, until one fails: the defaults of Koopman et al. 2013.
fn find_issue(model: &FlatModel, runner: &mut ModelRunner, seed: u64) -> Option<Execution> {
    let mut walks = (0..100).map(|walk| self::walk(model, runner, 100 * seed + walk, 1000));
    walks.find(|execution| execution.deviation().is_some())
}

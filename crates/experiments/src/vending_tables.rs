//! Tables 1 and 2 of Koopman et al. 2013: ten seeds and ten mutants of the vending machine, element
//! elimination against cycle elimination, in transitions.

use std::path::Path;
use std::sync::Arc;

use ioco_shrink::{Options, Pipeline, Runner, shrink};
use ioco_sts::{Action, Execution, Step, Sts};

use crate::ExperimentError;
use crate::flat::{FlatRunner, flat_model, semantics};

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

/// Pseudo-random choices that repeat.
struct Choices(u64);

impl Choices {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % bound as u64) as usize
    }
}

/// Table 1 (the first mutant, ten seeds) and Table 2 (ten mutants, averages over ten seeds).
pub fn vending_tables(models: &Path) -> Result<[VendingTable; 2], ExperimentError> {
    let sts = flat_model("koopman", models)?;
    let mut by_seed = VendingTable::default();
    let mut by_mutant = VendingTable::default();
    for number in 1..=10 {
        let mutant = format!("m{number:02}");
        let mut seeds = VendingTable::default();
        for seed in 1..=10u64 {
            seeds.push(seed.to_string(), one_issue(&sts, &mutant, seed)?);
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

fn one_issue(sts: &Arc<Sts>, mutant: &str, seed: u64) -> Result<[f64; 8], ExperimentError> {
    let mut runner = FlatRunner::new(sts, "koopman", mutant)?;
    let issue = find_issue(sts, &mut runner, seed).ok_or_else(|| {
        ExperimentError::System(format!("koopman {mutant}: no issue found with seed {seed}"))
    })?;
    let transitions = |execution: &Execution| execution.stimuli().count() as f64;
    let mut with = |name: &str| -> Result<(f64, f64), ExperimentError> {
        let pipeline: Pipeline = name.parse()?;
        let mut model = semantics(sts);
        let options = Options::default();
        let shrunk = shrink(
            &pipeline,
            &mut model,
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
fn find_issue(sts: &Arc<Sts>, runner: &mut FlatRunner, seed: u64) -> Option<Execution> {
    let mut choices = Choices(seed);
    let mut model = semantics(sts);
    for _ in 0..100 {
        let mut stimuli = Vec::new();
        let mut set = model.initial();
        while stimuli.len() < 1000 {
            let menu = model.menu(set);
            let (offers, is_stimulus) = match menu.silence {
                true => (&menu.stimuli, true),
                false => (&menu.responses, false),
            };
            if offers.is_empty() {
                break;
            }
            let action = Action::plain(offers[choices.below(offers.len())].label);
            let step = if is_stimulus {
                stimuli.push(action.clone());
                Step::Stimulus(action)
            } else {
                Step::Response(action)
            };
            set = model.after(set, &step)?;
        }
        let execution = runner.run(&stimuli);
        if execution.deviation().is_some() {
            return Some(execution);
        }
    }
    None
}

//! Fresh failing traces: random walks through the model, given to every mutant, until enough of them
//! fail. `tune` and `report` are two shares of the seeds and of the generated mutants: what is designed by
//! looking at the one is measured on the other.

use std::collections::BTreeMap;

use ioco_examples::mutants;
use ioco_shrink::Runner;
use ioco_sts::{Action, Execution, Step};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

use crate::ExperimentError;
use crate::flat::{FlatModel, flat_runner, semantics};
use crate::published::Case;
use crate::runner::ModelRunner;

/// Stimuli of one walk.
const WALK: usize = 400;
/// Walks that may pass before a mutant is left alone: it may be equivalent to the model.
const WALKS: u64 = 60;

/// Which seeds and generated mutants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Share {
    Tune,
    Report,
}

impl Share {
    pub(crate) fn seed(self) -> u64 {
        match self {
            Share::Tune => 1,
            Share::Report => 1_000_001,
        }
    }
}

/// Failing traces of every mutant of the example, and of so many generated ones.
pub fn random_cases(
    model: &FlatModel,
    share: Share,
    traces: usize,
    generated: u64,
) -> Result<Vec<Case>, ExperimentError> {
    let planted = mutants(&model.experiment)
        .iter()
        .map(|(name, _, _)| (*name).to_owned());
    let numbers = share.seed()..share.seed() + generated;
    let mut cases = Vec::new();
    for mutant in planted.chain(numbers.map(|number| format!("g{number}"))) {
        let mut runner = flat_runner(model, &mutant)?;
        let mut failing_traces = Vec::new();
        for seed in share.seed()..share.seed() + WALKS {
            if failing_traces.len() == traces {
                break;
            }
            let execution = walk(model, &mut runner, seed, WALK);
            if execution.deviation().is_some() {
                failing_traces.push(named(model, &execution));
            }
        }
        if !failing_traces.is_empty() {
            cases.push(Case {
                experiment: model.experiment.clone(),
                mutant,
                failing_traces,
                published: BTreeMap::new(),
            });
        }
    }
    Ok(cases)
}

/// A trace as the published data writes it.
fn named(model: &FlatModel, execution: &Execution) -> Vec<String> {
    let steps = execution.trace.iter().filter_map(|step| match step {
        Step::Stimulus(action) => Some(format!("?{}", model.names[action.label.index()])),
        Step::Response(action) => Some(format!("!{}", model.names[action.label.index()])),
        Step::Quiescence => None,
    });
    let mut named: Vec<String> = steps.collect();
    named.extend((named.len() < execution.length()).then(|| "!deviation".to_owned()));
    named
}

/// A random walk of the model, with the responses that the model expects, given to the system.
pub(crate) fn walk(
    model: &FlatModel,
    runner: &mut ModelRunner,
    seed: u64,
    length: usize,
) -> Execution {
    let mut choices = Choices::new(seed);
    let mut semantics = semantics(&model.sts);
    let mut stimuli = Vec::new();
    let mut set = semantics.initial();
    while stimuli.len() < length {
        let menu = semantics.menu(set);
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
        match semantics.after(set, &step) {
            Some(next) => set = next,
            None => break,
        }
    }
    runner.run(&stimuli)
}

/// Pseudo-random choices that repeat.
pub struct Choices(SplitMix64);

impl Choices {
    pub fn new(seed: u64) -> Choices {
        Choices(SplitMix64::seed_from_u64(seed))
    }

    pub fn below(&mut self, bound: usize) -> usize {
        (self.0.next_u64() % bound as u64) as usize
    }
}

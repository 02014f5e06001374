//! What a person can choose about shrinking, apart from the shrinker itself.

use ioco_budget::Budget;
use ioco_sts::LabelId;

use crate::shrunk::Confidence;

/// Which part of the model the model-centric shrinkers may use (van den Broek 2024, section 4.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Pruning {
    /// The whole model.
    #[default]
    None,
    /// Only labels that occur in the failing trace.
    Labels,
    /// Only transitions that the failing trace has taken.
    Transitions,
}

impl Pruning {
    /// The three ways of pruning, by the names that a person gives.
    pub const NAMED: [(&'static str, Pruning); 3] = [
        ("none", Pruning::None),
        ("labels", Pruning::Labels),
        ("transitions", Pruning::Transitions),
    ];

    pub fn named(name: &str) -> Option<Pruning> {
        let found = Pruning::NAMED.iter().find(|(known, _)| *known == name);
        found.map(|(_, pruning)| *pruning)
    }
}

#[derive(Clone, Debug)]
pub struct Options {
    /// Accept a candidate only when it shows the same deviation: the same kind, by the same label,
    /// from the same locations. Without it any failure is accepted.
    pub same: bool,
    /// At most this many runs.
    pub runs: Option<usize>,
    pub pruning: Pruning,
    /// Go through every shorter trace of the model at the end and say whether one of them fails.
    pub prove: bool,
    /// At most this many runs for the proof.
    pub prove_runs: usize,
    /// A candidate is run up to this many times until it fails; more than one for systems that do
    /// not always answer the same.
    pub attempts: u32,
    /// How often the final trace is run again. These runs are counted apart.
    pub confirm: u32,
    /// Runs of the failing trace before shrinking. They tell of the final trace too, where nothing was
    /// left out.
    pub seen: Confidence,
    /// Stimuli of the failing trace may have been given before the system had fallen silent, as a tester does that
    /// does not wait everywhere. Then only the silences in the trace show that a prefix of it does not fail.
    pub interrupted: bool,
    /// Makes parameter values small and simple after the steps are shrunk.
    pub simplify_values: bool,
    /// Where pseudo-random choices start (`length-search` only).
    pub seed: u64,
    /// `steps` are the nodes of one search through the model.
    pub budget: Budget,
    /// Stimuli that a person has excluded: no shrinker puts them in.
    pub excluded: Vec<LabelId>,
    /// Paths that a model-centric shrinker may try.
    pub max_candidates: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            same: false,
            runs: None,
            pruning: Pruning::None,
            prove: false,
            prove_runs: 100_000,
            attempts: 1,
            confirm: 0,
            seen: Confidence { failed: 0, runs: 0 },
            interrupted: false,
            simplify_values: true,
            seed: 0,
            budget: Budget::default(),
            excluded: Vec::new(),
            max_candidates: 20_000,
        }
    }
}

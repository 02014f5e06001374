//! Work that one process orders and another one carries out: orders and outcomes as plain, versioned data. An
//! order says everything that its test depends on besides the system, so that it can be repeated from the store.
//!
//! [`Worker`] carries orders out; an [`Executor`] brings orders to workers and outcomes back. [`Threads`] does so
//! in this process.

pub(crate) mod dispatch;
pub(crate) mod doing;
mod executor;
mod outcome;
mod replaying;
mod restoring;
mod threads;
mod worker;

use std::collections::BTreeMap;

use ioco_engine::{Bits, CoverageMap, SavedStep, Settings, StrategyKind, WaitPolicy};
use ioco_sts::{Action, Relation, Step, Sts};
use serde::{Deserialize, Serialize};

use crate::error::CampaignError;
use crate::solver::SemanticsOptions;
use crate::system::SystemName;

pub use doing::{Doing, Pace, WorkerRow};
pub use executor::Executor;
pub use outcome::{Log, Outcome, SavedEnd, SystemError};
pub use threads::Threads;
pub use worker::{Worker, WorkerSetup};

/// The version of orders and outcomes. Workers refuse orders of another version.
pub const WORK_VERSION: u32 = 2;

/// One piece of work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Order {
    pub version: u32,
    pub campaign: String,
    /// The key of the order in its campaign.
    pub number: u64,
    /// The hash of the model.
    pub model: String,
    /// Never a command: the worker's own configuration says how to reach it.
    pub system: SystemName,
    pub recipe: Recipe,
    /// Nanoseconds until the campaign is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<u64>,
    pub task: Task,
}

/// How tests are made and judged: the same for all orders of a campaign.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recipe {
    pub seed: u64,
    pub strategy: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub weights: BTreeMap<String, f64>,
    /// The text of the scenario, for the strategy of that name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// Whether the relation is uioco instead of ioco.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub uioco: bool,
    /// The name of the solver that helps the embedded one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub solver: Option<String>,
    /// Nanoseconds after which silence counts, where not the model says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<u64>,
    /// The share of the time that goes into waits for silence, where every wait is weighed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub silence: Option<f64>,
}

/// What to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Task {
    /// A test by the strategy.
    Strategy {
        test: u64,
        steps: u64,
        /// Stimuli that it begins with.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        beginning: Vec<SavedStep>,
        known: CoverageMap,
        /// Open switches that this worker goes for.
        #[serde(default, skip_serializing_if = "Bits::is_empty")]
        aim: Bits,
        /// Open switches that other workers go for.
        #[serde(default, skip_serializing_if = "Bits::is_empty")]
        reserved: Bits,
        /// Switches that were within reach and could not be taken, and how often.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        lessons: Vec<(u32, u16)>,
    },
    /// A test that is written down.
    Script {
        test: u64,
        name: String,
        stimuli: Vec<SavedStep>,
    },
    /// A test of a suite: the suite's file with this test alone.
    Suite {
        test: u64,
        steps: u64,
        suite: String,
    },
    /// Stimuli that are given once more. Counts towards nothing.
    Replay {
        stimuli: Vec<SavedStep>,
        /// On a system that is started for this alone, where the worker starts it.
        afresh: bool,
    },
}

impl Task {
    /// The number of its test; 0 where nothing counts.
    pub fn test(&self) -> u64 {
        match self {
            Task::Strategy { test, .. } | Task::Script { test, .. } | Task::Suite { test, .. } => {
                *test
            }
            Task::Replay { .. } => 0,
        }
    }
}

impl Recipe {
    /// What the settings of a campaign come to.
    pub fn new(
        settings: &Settings,
        meaning: &SemanticsOptions,
        timeout: Option<u64>,
        query: Option<String>,
    ) -> Recipe {
        let weights = match &settings.strategy {
            StrategyKind::Random { weights } => weights.clone(),
            _ => BTreeMap::new(),
        };
        Recipe {
            seed: settings.seed,
            strategy: settings.strategy.name().to_owned(),
            weights,
            query,
            uioco: meaning.relation == Relation::Uioco,
            solver: meaning.solver.name().map(str::to_owned),
            timeout,
            silence: match settings.wait {
                WaitPolicy::Worthwhile { share } => Some(share),
                WaitPolicy::Sensible { .. } | WaitPolicy::Weighted(_) => None,
            },
        }
    }

    fn wait(&self) -> WaitPolicy {
        match self.silence {
            Some(share) => WaitPolicy::Worthwhile { share },
            None => WaitPolicy::default(),
        }
    }

    fn kind(&self) -> StrategyKind {
        match self.strategy.as_str() {
            "random" => StrategyKind::Random {
                weights: self.weights.clone(),
            },
            "auto" => StrategyKind::Auto,
            "transitions" => StrategyKind::Transitions,
            "data" => StrategyKind::Data,
            name => StrategyKind::Guided {
                name: name.to_owned(),
            },
        }
    }
}

pub(crate) fn saved(stimuli: &[Action], sts: &Sts) -> Vec<SavedStep> {
    let steps = stimuli.iter().cloned().map(Step::Stimulus);
    steps.map(|step| SavedStep::new(&step, sts)).collect()
}

fn restored(stimuli: &[SavedStep], sts: &Sts) -> Result<Vec<Action>, CampaignError> {
    let mut actions = Vec::with_capacity(stimuli.len());
    for step in stimuli {
        let restored = step.restore(sts);
        match restored.map_err(|error| CampaignError::usage(error.to_string()))? {
            Step::Stimulus(action) => actions.push(action),
            Step::Response(_) | Step::Quiescence => {
                return Err(CampaignError::usage("an order gives stimuli only"));
            }
        }
    }
    Ok(actions)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use ioco_engine::{Settings, StrategyKind, WaitPolicy};
    use ioco_sts::Relation;

    use super::Recipe;
    use crate::solver::{SemanticsOptions, SolverChoice};

    #[test]
    fn a_recipe_brings_the_strategy_and_the_waits_to_workers() {
        let weights = BTreeMap::from([("coin".to_owned(), 3.0)]);
        let strategies = [
            StrategyKind::Auto,
            StrategyKind::Transitions,
            StrategyKind::Data,
            StrategyKind::Random { weights },
            StrategyKind::Guided {
                name: "locations".to_owned(),
            },
        ];
        let waits = || {
            [
                WaitPolicy::default(),
                WaitPolicy::Worthwhile { share: 0.25 },
            ]
        };
        for strategy in strategies {
            for wait in waits() {
                let settings = Settings {
                    strategy: strategy.clone(),
                    wait,
                    ..Settings::default()
                };
                let meaning = SemanticsOptions {
                    relation: Relation::Ioco,
                    solver: SolverChoice::Embedded,
                };
                let recipe = Recipe::new(&settings, &meaning, None, None);
                let text = serde_json::to_string(&recipe).expect("plain data");
                let travelled: Recipe = serde_json::from_str(&text).expect("what was written");
                assert_eq!(travelled.kind(), settings.strategy);
                assert_eq!(
                    format!("{:?}", travelled.wait()),
                    format!("{:?}", settings.wait),
                    "{text}"
                );
            }
        }
    }
}

//! How a run walks through the model, and when it stops: two separate choices.

use std::collections::BTreeMap;

use ioco_sts::{Direction, LabelId, Sts};

/// All settings of a run. The same settings and the same responses give
/// the same run.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    pub seed: u64,
    pub strategy: StrategyKind,
    pub stop: StopConditions,
    pub wait: WaitPolicy,
    /// How much work the choice of the values of one stimulus may cost, in steps of the solver.
    /// What is not found within it is not given: another stimulus is tried instead.
    pub step_budget: u64,
    /// Nanoseconds that a scripted test waits between two stimuli where the model allows no
    /// response: long enough to see a response that should not be there.
    pub shortest_wait: u64,
    /// State sets remembered before the oldest knowledge is thrown away; bounds the memory of
    /// long runs over models with data.
    pub remember: usize,
    /// How much of the run becomes events, which the caller must then take.
    pub events: EventLevel,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            seed: 0,
            strategy: StrategyKind::default(),
            stop: StopConditions::default(),
            wait: WaitPolicy::default(),
            step_budget: 10_000,
            shortest_wait: 5_000_000,
            remember: 20_000,
            events: EventLevel::default(),
        }
    }
}

impl Settings {
    /// The names in the weights that are not stimuli of the model.
    pub fn unknown_labels(&self, sts: &Sts) -> Vec<String> {
        match &self.strategy {
            StrategyKind::Random { weights } => weights
                .keys()
                .filter(|name| sts.labels_called(Direction::Stimulus, name).is_empty())
                .cloned()
                .collect(),
            StrategyKind::Auto
            | StrategyKind::Transitions
            | StrategyKind::Data
            | StrategyKind::Guided { .. } => Vec::new(),
        }
    }
}

/// Which events a run produces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum EventLevel {
    None,
    /// Tests, failures and coverage.
    #[default]
    Tests,
    /// Every step as well.
    Steps,
}

/// How the next step is chosen.
#[derive(Clone, Debug, PartialEq)]
pub enum StrategyKind {
    /// Any stimulus that is offered, with a chance in proportion to the weight of its label (by
    /// name, without the mark); labels that are not named weigh one. Weight zero: never given.
    Random { weights: BTreeMap<String, f64> },
    /// The stimuli that are worth most, judged by what a fault would change and how it would be seen.
    Auto,
    /// Towards the nearest switch that has not been taken yet.
    Transitions,
    /// Towards values at the limits of what the guards accept.
    Data,
    /// As a guide says ([`crate::Tester::set_guide`]); by chance as long as there is none.
    Guided { name: String },
}

/// The weight of a label among `weights`: by its name, or by the one that it shares with other channels.
pub fn weight_of(weights: &BTreeMap<String, f64>, sts: &Sts, label: LabelId) -> f64 {
    let own = weights.get(&sts.label(label).name);
    let weight = own.or_else(|| weights.get(sts.plain_name(label)));
    weight.copied().unwrap_or(1.0).max(0.0)
}

impl StrategyKind {
    /// Every stimulus equally likely.
    pub fn uniform() -> StrategyKind {
        StrategyKind::Random {
            weights: BTreeMap::new(),
        }
    }

    pub fn name(&self) -> &str {
        match self {
            StrategyKind::Random { .. } => "random",
            StrategyKind::Auto => "auto",
            StrategyKind::Transitions => "transitions",
            StrategyKind::Data => "data",
            StrategyKind::Guided { name } => name,
        }
    }
}

impl Default for StrategyKind {
    fn default() -> StrategyKind {
        StrategyKind::uniform()
    }
}

/// How often the tester observes instead of giving a stimulus.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WaitPolicy {
    /// With the chance `observe` where a response is possible, so that tester and system rarely
    /// cross; with the chance `idle` where only silence is, which costs a whole time-out.
    Sensible { observe: f64, idle: f64 },
    /// Waiting has this weight among the stimuli that are offered; one makes it as likely as each
    /// of them.
    Weighted(f64),
    /// Until a response comes where one is due. Where silence is allowed, a whole time-out only where silence was not
    /// observed before, and only while such waits take at most this share of the run's time; otherwise a look of
    /// about the time in which the system usually answers.
    Worthwhile { share: f64 },
}

impl WaitPolicy {
    /// The share of a run's time that goes into waits for silence unless settings say otherwise.
    pub const SHARE: f64 = 0.2;

    /// What suits a strategy: `auto` weighs every wait, the others leave it to chance.
    pub fn suiting(strategy: &StrategyKind) -> WaitPolicy {
        match strategy {
            StrategyKind::Auto => WaitPolicy::Worthwhile {
                share: WaitPolicy::SHARE,
            },
            _ => WaitPolicy::default(),
        }
    }
}

impl Default for WaitPolicy {
    fn default() -> WaitPolicy {
        WaitPolicy::Sensible {
            observe: 0.95,
            idle: 0.1,
        }
    }
}

/// When a test and when the whole run end. `None`: this does not stop it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StopConditions {
    pub tests: Option<u64>,
    /// Stimuli, responses and silences of one test. A test goes on a little longer while a
    /// response is due.
    pub steps_per_test: u64,
    pub total_steps: Option<u64>,
    /// Nanoseconds since the first test.
    pub time: Option<u64>,
    /// Percent of the model's switches.
    pub coverage: Option<f64>,
    /// Percent of the requirements that the model cites.
    pub requirements: Option<f64>,
    /// Distinct failures; one stops at the first.
    pub failures: Option<u64>,
    /// Tests that end in an error.
    pub errors: Option<u64>,
}

impl Default for StopConditions {
    fn default() -> StopConditions {
        StopConditions {
            tests: Some(100),
            steps_per_test: 100,
            total_steps: None,
            time: None,
            coverage: None,
            requirements: None,
            failures: Some(1),
            errors: Some(1),
        }
    }
}

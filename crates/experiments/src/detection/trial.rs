//! One trial: a strategy against one system, until the first failure or the last stimulus that it is given.

use std::sync::Arc;

use ioco_engine::{
    Command, EventLevel, Input, Settings, StopConditions, StrategyKind, Tester, WaitPolicy,
};
use ioco_generate::guide::Locations;
use ioco_sts::{Action, Execution, Relation, Step, Sts};

use super::play::{Play, Sent};

/// The strategies that are compared, by name.
pub const STRATEGIES: [&str; 5] = ["random", "transitions", "data", "locations", "auto"];

/// What a trial cost.
#[derive(Clone, Debug)]
pub struct Trial {
    pub found: bool,
    pub stimuli: u64,
    pub resets: u64,
    /// The stimuli of the test that failed.
    pub failing: Vec<Action>,
    /// The failing test and what deviates, as a person reads it.
    pub shown: String,
}

/// Steps of one test, as `ioco test` has it.
const STEPS_PER_TEST: u64 = 100;

pub fn tester(sts: &Arc<Sts>, strategy: &str, seed: u64) -> Tester {
    let kind = match strategy {
        "random" => StrategyKind::uniform(),
        "auto" => StrategyKind::Auto,
        "transitions" => StrategyKind::Transitions,
        "data" => StrategyKind::Data,
        other => StrategyKind::Guided {
            name: other.to_owned(),
        },
    };
    let settings = Settings {
        seed,
        wait: WaitPolicy::suiting(&kind),
        strategy: kind,
        events: EventLevel::None,
        stop: StopConditions {
            tests: None,
            steps_per_test: STEPS_PER_TEST,
            errors: None,
            ..StopConditions::default()
        },
        ..Settings::default()
    };
    let semantics = ioco_solve::semantics(sts, Relation::Ioco);
    let mut tester = Tester::new(semantics, settings);
    if strategy == "locations" {
        tester.set_guide(Box::new(Locations::new()));
    }
    tester
}

/// Tests until something deviates or so many stimuli were given.
pub fn trial(tester: &mut Tester, system: &mut dyn Play, most: u64) -> Trial {
    let mut now = 0;
    while let Some(first) = tester.next_test(now) {
        let mut command = first;
        let mut arrived: std::collections::VecDeque<Sent> = Default::default();
        loop {
            now += 1;
            let input = match command {
                Command::Finished => break,
                Command::Reset { .. } => {
                    arrived = system.reset().into();
                    Input::Ready
                }
                _ if tester.summary().stimuli >= most => Input::Interrupted,
                _ if !arrived.is_empty() => match arrived.pop_front() {
                    Some(Sent::Known(action)) => Input::Response(action),
                    Some(Sent::Unknown(text)) => Input::Unknown(text),
                    None => Input::Silence,
                },
                Command::Give(stimulus) => {
                    arrived = system.give(&stimulus).into();
                    Input::Given { overtaken: false }
                }
                Command::Await { until } => {
                    now = until;
                    Input::Silence
                }
            };
            command = tester.handle(input, now);
        }
        let report = tester.finished_test();
        let found = report.execution.deviation().is_some();
        let summary = tester.summary();
        if found || summary.stimuli >= most {
            let stimuli = report.execution.trace.iter().filter_map(|step| match step {
                Step::Stimulus(action) => Some(action.clone()),
                _ => None,
            });
            return Trial {
                found,
                stimuli: summary.stimuli.min(most),
                resets: summary.tests,
                failing: stimuli.collect(),
                shown: shown(tester, &report.execution),
            };
        }
    }
    let summary = tester.summary();
    Trial {
        found: false,
        stimuli: most,
        resets: summary.tests,
        failing: Vec::new(),
        shown: String::new(),
    }
}

fn shown(tester: &Tester, execution: &Execution) -> String {
    let sts = tester.sts();
    let steps = execution.trace.iter().map(|step| step.show(sts));
    let observed = execution.deviation().map(|d| d.observed.show(sts));
    steps.chain(observed).collect::<Vec<_>>().join(" ")
}

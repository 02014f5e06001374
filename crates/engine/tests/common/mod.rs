//! Systems in memory and a driver in virtual time, for the tests of the tester.
#![allow(dead_code)] // each test file uses its own part

pub mod graph;

use std::collections::VecDeque;
use std::sync::Arc;

use ioco_engine::{Command, Input, Settings, TestReport, Tester};
use ioco_sts::{
    Action, Direction, EvaluationOnly, Expr, Gate, Label, LabelId, Place, Relation, Semantics, Sts,
    StsBuilder,
};

pub const MILLISECOND: u64 = 1_000_000;

/// A plain model from lines `Source gate Target`, where a gate is `?a`, `!b` or `tau`. The first
/// source is the initial location.
pub fn plain(text: &str) -> Arc<Sts> {
    let mut builder = StsBuilder::new("plain");
    let file = builder.file("plain.aml");
    let process = builder.process("main");
    let mut locations: Vec<(String, ioco_sts::LocationId)> = Vec::new();
    let mut labels: Vec<(String, LabelId)> = Vec::new();
    for (index, line) in text.lines().map(str::trim).enumerate() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [source, gate, target] = words[..] else {
            continue;
        };
        let place = Place {
            file,
            line: index as u32,
            column: 1,
        };
        let [source, target] =
            [source, target].map(
                |name| match locations.iter().find(|(known, _)| known == name) {
                    Some((_, id)) => *id,
                    None => {
                        let id = builder.named_location(process, name);
                        locations.push((name.to_owned(), id));
                        id
                    }
                },
            );
        let gate = match gate {
            "tau" => Gate::Tau,
            _ => Gate::Observable(match labels.iter().find(|(known, _)| known == gate) {
                Some((_, id)) => *id,
                None => {
                    let id = builder.label(label(gate, Vec::new()));
                    labels.push((gate.to_owned(), id));
                    id
                }
            }),
        };
        builder.switch(source, gate, Expr::TRUE, Vec::new(), target, place);
    }
    Arc::new(builder.build())
}

pub fn label(marked: &str, parameters: Vec<ioco_sts::Parameter>) -> Label {
    Label {
        name: marked[1..].to_owned(),
        channel: "system".to_owned(),
        direction: match &marked[..1] {
            "?" => Direction::Stimulus,
            _ => Direction::Response,
        },
        parameters,
    }
}

pub fn stimulus(sts: &Sts, name: &str) -> Action {
    Action::plain(sts.label_named(Direction::Stimulus, name).expect(name))
}

pub fn response(sts: &Sts, name: &str) -> Action {
    Action::plain(sts.label_named(Direction::Response, name).expect(name))
}

pub fn tester(sts: &Arc<Sts>, settings: Settings) -> Tester {
    let semantics = Semantics::new(Arc::clone(sts), Box::new(EvaluationOnly), Relation::Ioco);
    Tester::new(semantics, settings)
}

/// A system in memory: what it does with a stimulus, and what it says by itself.
pub trait System {
    fn reset(&mut self) -> Vec<Input>;
    fn give(&mut self, stimulus: &Action) -> Vec<Input>;
    /// What comes while the tester waits and nothing has arrived; `None` is silence.
    fn wait(&mut self) -> Option<Input> {
        None
    }
}

/// Runs the test that was begun with `command` to its end, in virtual time. `overtaken` is what
/// the connection says of every stimulus.
pub fn run(
    tester: &mut Tester,
    mut command: Command,
    system: &mut dyn System,
    overtaken: bool,
    now: &mut u64,
) -> TestReport {
    let mut arrived: VecDeque<Input> = VecDeque::new();
    loop {
        // What has arrived comes before what is asked for.
        if command != Command::Finished
            && !matches!(command, Command::Reset { .. })
            && let Some(input) = arrived.pop_front()
        {
            *now += MILLISECOND;
            command = tester.handle(input, *now);
            continue;
        }
        *now += 1000;
        let input = match command {
            Command::Reset { .. } => {
                arrived.clear();
                arrived.extend(system.reset());
                Input::Ready
            }
            Command::Give(stimulus) => {
                arrived.extend(system.give(&stimulus));
                Input::Given { overtaken }
            }
            Command::Await { until } => system.wait().unwrap_or_else(|| {
                *now = until;
                Input::Silence
            }),
            Command::Finished => return tester.finished_test(),
        };
        command = tester.handle(input, *now);
    }
}

/// Runs a whole campaign.
pub fn campaign(tester: &mut Tester, system: &mut dyn System) -> Vec<TestReport> {
    let mut now = 0;
    let mut reports = Vec::new();
    while let Some(command) = tester.next_test(now) {
        reports.push(run(tester, command, system, false, &mut now));
    }
    reports
}

/// A system from a function of the stimuli given so far to the responses that the last of them
/// (or, before the first, the reset) causes.
pub struct Answers<F>(pub F, Vec<Action>);

impl<F: FnMut(&[Action]) -> Vec<Input>> Answers<F> {
    pub fn new(answer: F) -> Self {
        Answers(answer, Vec::new())
    }
}

impl<F: FnMut(&[Action]) -> Vec<Input>> System for Answers<F> {
    fn reset(&mut self) -> Vec<Input> {
        self.1.clear();
        (self.0)(&self.1)
    }

    fn give(&mut self, stimulus: &Action) -> Vec<Input> {
        self.1.push(stimulus.clone());
        (self.0)(&self.1)
    }
}

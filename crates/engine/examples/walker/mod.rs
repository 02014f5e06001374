//! A large plain model and a system that plays it at once, in the same process: what speeds of the
//! tester are measured with.

use ioco_engine::{Command, Input, Tester};
use ioco_sts::{Action, Direction, Expr, Gate, Label, LabelId, LocationId, Place, Sts, StsBuilder};

pub trait System {
    fn reset(&mut self) -> Option<Action>;
    fn give(&mut self, stimulus: &Action) -> Option<Action>;
}

/// Runs the tests of the tester to its end; `after` is called after each of them.
pub fn run_all(tester: &mut Tester, system: &mut dyn System, mut after: impl FnMut(&mut Tester)) {
    let mut now = 0;
    while let Some(first) = tester.next_test(now) {
        let mut command = first;
        let mut arrived: Option<Action> = None;
        loop {
            let input = match command {
                Command::Finished => break,
                Command::Reset { .. } => {
                    arrived = system.reset();
                    Input::Ready
                }
                _ if arrived.is_some() => arrived.take().map_or(Input::Silence, Input::Response),
                Command::Give(stimulus) => {
                    arrived = system.give(&stimulus);
                    Input::Given { overtaken: false }
                }
                Command::Await { until } => {
                    now = until;
                    Input::Silence
                }
            };
            now += 1;
            command = tester.handle(input, now);
        }
        after(tester);
    }
}

/// A plain model with so many locations: each accepts some of the stimuli, and each stimulus leads
/// to a location that answers.
pub fn ring(locations: usize, labels: usize) -> Sts {
    let mut builder = StsBuilder::new("ring");
    let process = builder.process("main");
    let label = |name: String, direction| Label {
        name,
        channel: "system".to_owned(),
        direction,
        parameters: Vec::new(),
    };
    let stimuli: Vec<LabelId> = (0..labels)
        .map(|i| builder.label(label(format!("s{i}"), Direction::Stimulus)))
        .collect();
    let responses: Vec<LabelId> = (0..labels)
        .map(|i| builder.label(label(format!("r{i}"), Direction::Response)))
        .collect();
    let calm: Vec<LocationId> = (0..locations / 2)
        .map(|i| builder.named_location(process, &format!("Calm{i}")))
        .collect();
    let busy: Vec<LocationId> = (0..locations / 2)
        .map(|i| builder.named_location(process, &format!("Busy{i}")))
        .collect();
    let place = Place::default();
    for (index, (&here, &answering)) in calm.iter().zip(&busy).enumerate() {
        for offset in 0..4 {
            let gate = Gate::Observable(stimuli[(index + offset) % labels]);
            let target = busy[(index * 7 + offset * 31 + 1) % busy.len()];
            builder.switch(here, gate, Expr::TRUE, Vec::new(), target, place);
        }
        let gate = Gate::Observable(responses[index % labels]);
        let target = calm[(index * 3 + 1) % calm.len()];
        builder.switch(answering, gate, Expr::TRUE, Vec::new(), target, place);
    }
    builder.build()
}

/// Plays a plain deterministic model: a table of where each label leads.
pub struct Walker {
    next: Vec<Vec<Option<LocationId>>>,
    answers: Vec<Option<LabelId>>,
    initial: LocationId,
    at: LocationId,
}

impl Walker {
    pub fn new(sts: &Sts) -> Walker {
        let mut next = vec![vec![None; sts.labels().len()]; sts.locations().len()];
        let mut answers = vec![None; sts.locations().len()];
        for switch in sts.switches() {
            if let Gate::Observable(label) = switch.gate {
                next[switch.source.index()][label.index()] = Some(switch.target);
                if sts.label(label).direction == Direction::Response {
                    answers[switch.source.index()] = Some(label);
                }
            }
        }
        let initial = sts.processes()[0].initial;
        Walker {
            next,
            answers,
            initial,
            at: initial,
        }
    }

    fn answer(&mut self) -> Option<Action> {
        let label = self.answers[self.at.index()]?;
        self.walk(label);
        Some(Action::plain(label))
    }

    fn walk(&mut self, label: LabelId) {
        if let Some(target) = self.next[self.at.index()][label.index()] {
            self.at = target;
        }
    }
}

impl System for Walker {
    fn reset(&mut self) -> Option<Action> {
        self.at = self.initial;
        self.answer()
    }

    fn give(&mut self, stimulus: &Action) -> Option<Action> {
        self.walk(stimulus.label);
        self.answer()
    }
}

//! How many steps a second tester, driver and a system in the same process take together, on a
//! plain model: `cargo run --release -p ioco-adapters --example in_process_speed`.

use std::sync::Arc;
use std::time::Instant;

use ioco_adapters::{Connection, InProcess, Local, Outbox, Simulated, drive};
use ioco_engine::{EventLevel, Settings, StopConditions, Tester};
use ioco_sts::{
    Action, Direction, EvaluationOnly, Expr, Gate, Label, LabelId, Place, Relation, Semantics, Sts,
    StsBuilder,
};

const STEPS: u64 = 5_000_000;
const RING: usize = 100;

fn main() {
    let (sts, labels) = ring();
    let sts = Arc::new(sts);
    let mut by_hand = Local::new(Ring { at: 0, labels });
    report("written by hand", &sts, &mut by_hand);
    let mut played = Local::new(Simulated::new(Arc::clone(&sts), 1));
    report("model played as a system", &sts, &mut played);
}

fn report<C: Connection>(name: &str, sts: &Arc<Sts>, connection: &mut C) {
    let semantics = Semantics::new(Arc::clone(sts), Box::new(EvaluationOnly), Relation::Ioco);
    let settings = Settings {
        seed: 1,
        events: EventLevel::None,
        stop: StopConditions {
            tests: None,
            steps_per_test: 1000,
            total_steps: Some(STEPS),
            ..StopConditions::default()
        },
        ..Settings::default()
    };
    let mut tester = Tester::new(semantics, settings);
    let start = Instant::now();
    while let Some(first) = tester.next_test(connection.now()) {
        drive(&mut tester, first, connection, &|| false, &mut |_| {});
        let verdict = tester.finished_test().execution.verdict;
        assert_eq!(verdict, ioco_sts::Verdict::Pass);
    }
    let speed = tester.summary().steps() as f64 / start.elapsed().as_secs_f64();
    println!("{name:<26} {speed:>12.0} steps a second");
}

/// Per position of the ring, the stimuli forward and back, and the response.
type Labels = [LabelId; 3];

/// A ring of positions: `?forward` and `?back` move, and the system says `!moved`.
fn ring() -> (Sts, Labels) {
    let mut builder = StsBuilder::new("ring");
    let labels = [
        ("forward", Direction::Stimulus),
        ("back", Direction::Stimulus),
        ("moved", Direction::Response),
    ]
    .map(|(name, direction)| {
        builder.label(Label {
            name: name.to_owned(),
            channel: "ring".to_owned(),
            direction,
            parameters: Vec::new(),
        })
    });
    let main = builder.process("main");
    let locations: Vec<_> = (0..2 * RING)
        .map(|index| builder.named_location(main, &format!("L{index}")))
        .collect();
    let (resting, moving) = locations.split_at(RING);
    for index in 0..RING {
        for (label, distance) in [(labels[0], 1), (labels[1], RING - 1)] {
            let target = moving[(index + distance) % RING];
            let gate = Gate::Observable(label);
            builder.switch(
                resting[index],
                gate,
                Expr::TRUE,
                vec![],
                target,
                Place::default(),
            );
        }
        let gate = Gate::Observable(labels[2]);
        builder.switch(
            moving[index],
            gate,
            Expr::TRUE,
            vec![],
            resting[index],
            Place::default(),
        );
    }
    (builder.build(), labels)
}

struct Ring {
    at: usize,
    labels: Labels,
}

impl InProcess for Ring {
    fn reset(&mut self, _: &mut Outbox) {
        self.at = 0;
    }

    fn give(&mut self, stimulus: &Action, _: u64, out: &mut Outbox) {
        let distance = if stimulus.label == self.labels[0] {
            1
        } else {
            RING - 1
        };
        self.at = (self.at + distance) % RING;
        out.send(Action::plain(self.labels[2]));
    }
}

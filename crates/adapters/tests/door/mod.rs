//! A door that opens when asked, says how often it did, and closes by itself after a while.

use std::sync::Arc;

use ioco_adapters::{InProcess, Outbox};
use ioco_sts::{
    Action, Assignment, BinaryOp, Direction, Expr, Gate, Label, Parameter, Place, Sts, StsBuilder,
    Type, Value, Variable,
};

/// Silence for so long counts as quiescence.
pub const TIMEOUT: u64 = 500_000_000;

pub fn door() -> Arc<Sts> {
    door_with("opened", "closed", 1)
}

/// The door, with other responses and another way of counting.
pub fn door_with(on_open: &str, on_close: &str, counts_by: i64) -> Arc<Sts> {
    let mut builder = StsBuilder::new("door");
    builder.timeout(TIMEOUT);
    let mut label = |name: &str, direction, parameter: Option<&str>| {
        let parameters = parameter.map(|name| Parameter {
            name: name.to_owned(),
            ty: Type::INTEGER,
        });
        builder.label(Label {
            name: name.to_owned(),
            channel: "door".to_owned(),
            direction,
            parameters: parameters.into_iter().collect(),
        })
    };
    let open = label("open", Direction::Stimulus, None);
    let opened = label("opened", Direction::Response, Some("times"));
    let closed = label("closed", Direction::Response, None);
    let named = |name| if name == "opened" { opened } else { closed };
    let main = builder.process("main");
    let times = builder.variable(Variable {
        name: "times".to_owned(),
        process: main,
        ty: Type::INTEGER,
        initial: Value::Int(0),
        place: Place::default(),
    });
    let [shut, opening, ajar] =
        ["Closed", "Opening", "Open"].map(|name| builder.named_location(main, name));
    let place = Place::default();
    let gate = Gate::Observable;
    builder.switch(shut, gate(open), Expr::TRUE, vec![], opening, place);
    let next = Expr::binary(BinaryOp::Add, Expr::Var(times), Expr::int(counts_by));
    let guard = Expr::binary(BinaryOp::Eq, Expr::Param(0), next.clone());
    let count = Assignment {
        variable: times,
        value: next,
    };
    builder.switch(
        opening,
        gate(named(on_open)),
        guard,
        vec![count],
        ajar,
        place,
    );
    builder.switch(ajar, gate(named(on_close)), Expr::TRUE, vec![], shut, place);
    Arc::new(builder.build())
}

/// The door, without a model inside.
#[derive(Clone, Debug)]
pub struct Door {
    pub answer: &'static str,
    pub counts_by: i64,
    pub close_after: Option<u64>,
    sts: Arc<Sts>,
    times: i64,
    closes_at: Option<u64>,
}

impl Default for Door {
    fn default() -> Door {
        Door {
            answer: "opened",
            counts_by: 1,
            close_after: Some(TIMEOUT / 2),
            sts: door(),
            times: 0,
            closes_at: None,
        }
    }
}

impl Door {
    fn send(&self, name: &str, out: &mut Outbox) {
        let Some(label) = self.sts.label_named(Direction::Response, name) else {
            return out.send_unknown(name.to_owned());
        };
        let parameters = self.sts.label(label).parameters.iter();
        let values = parameters.map(|_| Value::Int(self.times)).collect();
        out.send(Action { label, values });
    }
}

impl InProcess for Door {
    fn reset(&mut self, _: &mut Outbox) {
        self.times = 0;
        self.closes_at = None;
    }

    fn give(&mut self, stimulus: &Action, now: u64, out: &mut Outbox) {
        assert_eq!(self.sts.label(stimulus.label).name, "open");
        self.times += self.counts_by;
        self.closes_at = self.close_after.map(|time| now + time);
        self.send(self.answer, out);
    }

    fn elapse(&mut self, _: u64, until: u64, out: &mut Outbox) -> u64 {
        match self.closes_at.take_if(|at| *at <= until) {
            Some(at) => {
                self.send("closed", out);
                at
            }
            None => until,
        }
    }
}

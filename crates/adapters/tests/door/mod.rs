//! A door that opens when asked, says how often it did, and closes by itself after a while.

use std::sync::Arc;

use ioco_adapters::{Message, System};
use ioco_sts::{
    Assignment, BinaryOp, Direction, Expr, Gate, Label, Parameter, Place, Sts, StsBuilder, Type,
    Value, Variable,
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

/// The door as a person would write it.
#[derive(Clone, Debug)]
pub struct Door {
    pub answer: &'static str,
    pub counts_by: i64,
    pub close_after: Option<u64>,
    times: i64,
    now: u64,
    closes_at: Option<u64>,
}

impl Default for Door {
    fn default() -> Door {
        Door {
            answer: "opened",
            counts_by: 1,
            close_after: Some(TIMEOUT / 2),
            times: 0,
            now: 0,
            closes_at: None,
        }
    }
}

impl System for Door {
    fn reset(&mut self) {
        self.times = 0;
        self.closes_at = None;
    }

    fn give(&mut self, stimulus: &Message) -> Vec<Message> {
        assert_ne!(self.answer, "panic", "the hinge broke");
        if stimulus.label != "open" {
            return Vec::new();
        }
        self.times += self.counts_by;
        self.closes_at = self.close_after.map(|time| self.now + time);
        let answer = Message::plain(self.answer);
        match self.answer {
            "opened" => vec![answer.with("times", self.times)],
            _ => vec![answer],
        }
    }

    fn clock(&mut self, now: u64) {
        self.now = now;
    }

    fn timer(&self) -> Option<u64> {
        self.closes_at
    }

    fn fire(&mut self) -> Vec<Message> {
        self.closes_at = None;
        vec![Message::plain("closed")]
    }
}

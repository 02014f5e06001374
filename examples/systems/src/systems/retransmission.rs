//! The Bounded Retransmission Protocol: a sender and a receiver, with the channels between them left to the tester.
//!
//! The sender repeats a frame when its timer expires, at most twice, and then gives up. Both ends keep an
//! alternating bit, by which the receiver recognises a frame that it has seen.

use crate::System;
use crate::registry::MutantEntry;
use crate::signature::{Kind, Signature, check};
use ioco_sts::Message;

const STIMULI: &[Signature] = &[
    Signature::new(
        "request",
        &[
            ("count", Kind::Integer),
            ("one", Kind::Integer),
            ("two", Kind::Integer),
            ("three", Kind::Integer),
        ],
    ),
    Signature::new("ack", &[("bit", Kind::Integer)]),
    Signature::plain("sender_timeout"),
    Signature::new(
        "deliver",
        &[
            ("first", Kind::Boolean),
            ("last", Kind::Boolean),
            ("bit", Kind::Integer),
            ("data", Kind::Integer),
        ],
    ),
    Signature::plain("receiver_timeout"),
];

#[rustfmt::skip]
pub const MUTANTS: &[MutantEntry] = &[
    ("m01", "state", "The sender gives up after one repetition."),
    ("m02", "trace", "The sender counts repetitions per message, not per frame."),
    ("m03", "state", "The sender reports DontKnow when it gives up in the middle of a message."),
    ("m04", "trace", "The alternating bit changes when the sender gives up."),
    ("m05", "trace", "Every message begins with bit 0."),
    ("m06", "state", "The sender reports NotOk when it gives up at the last chunk."),
    ("m07", "trace", "A repeated third chunk carries the data of the second."),
    ("m08", "state", "The receiver indicates a repeated frame again."),
    ("m09", "trace", "Any acknowledgement completes a message."),
    ("m10", "trace", "The receiver expects bit 0 after its timer expired."),
    ("m11", "state", "A message of one chunk is indicated as First."),
    ("m12", "trace", "A repeated first frame is not marked as the first."),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Bug {
    GivesUpEarly,
    CountsPerMessage,
    DontKnowInTheMiddle,
    FlipsWhenGivingUp,
    BeginsWithZero,
    NotOkAtTheEnd,
    RepeatsSecondChunk,
    IndicatesTwice,
    AnyAckCompletes,
    ExpectsZeroAfterTimeout,
    SingleIsFirst,
    RepetitionIsNotFirst,
}

fn bug(mutant: &str) -> Option<Bug> {
    Some(match mutant {
        "m01" => Bug::GivesUpEarly,
        "m02" => Bug::CountsPerMessage,
        "m03" => Bug::DontKnowInTheMiddle,
        "m04" => Bug::FlipsWhenGivingUp,
        "m05" => Bug::BeginsWithZero,
        "m06" => Bug::NotOkAtTheEnd,
        "m07" => Bug::RepeatsSecondChunk,
        "m08" => Bug::IndicatesTwice,
        "m09" => Bug::AnyAckCompletes,
        "m10" => Bug::ExpectsZeroAfterTimeout,
        "m11" => Bug::SingleIsFirst,
        "m12" => Bug::RepetitionIsNotFirst,
        _ => return None,
    })
}

/// A message on its way.
struct Transfer {
    chunks: Vec<i64>,
    /// The chunk that is being sent, counted from zero.
    position: usize,
    repetitions: u32,
}

#[derive(Default)]
struct Protocol {
    transfer: Option<Transfer>,
    bit: i64,
    expected: i64,
    started: bool,
    bug: Option<Bug>,
}

const MAX_REPETITIONS: u32 = 2;

pub fn build(mutant: Option<&str>) -> Option<Box<dyn System>> {
    let bug = match mutant {
        None => None,
        Some(name) => Some(bug(name)?),
    };
    Some(Box::new(Protocol {
        bug,
        ..Protocol::default()
    }))
}

impl Protocol {
    fn has(&self, bug: Bug) -> bool {
        self.bug == Some(bug)
    }

    fn frame(&self) -> Vec<Message> {
        let Some(transfer) = &self.transfer else {
            return Vec::new();
        };
        let Transfer {
            chunks,
            position,
            repetitions,
        } = transfer;
        let repeated = *repetitions > 0;
        let first = *position == 0 && !(repeated && self.has(Bug::RepetitionIsNotFirst));
        let wrong = repeated && *position == 2 && self.has(Bug::RepeatsSecondChunk);
        let data = chunks[if wrong { 1 } else { *position }];
        let frame = Message::plain("frame")
            .with("first", first)
            .with("last", *position + 1 == chunks.len())
            .with("bit", self.bit)
            .with("data", data);
        vec![frame]
    }

    fn confirm(&mut self, status: &str) -> Vec<Message> {
        self.transfer = None;
        vec![Message::plain("confirm").with("status", status)]
    }

    fn request(&mut self, stimulus: &Message) -> Vec<Message> {
        let values = ["one", "two", "three"].map(|name| stimulus.integer(name));
        let count = stimulus
            .integer("count")
            .and_then(|n| usize::try_from(n).ok());
        let (None, Some(count @ 1..=3)) = (&self.transfer, count) else {
            return Vec::new();
        };
        if self.has(Bug::BeginsWithZero) {
            self.bit = 0;
        }
        self.transfer = Some(Transfer {
            chunks: values[..count].iter().map(|v| v.unwrap_or(0)).collect(),
            position: 0,
            repetitions: 0,
        });
        self.frame()
    }

    fn ack(&mut self, bit: i64) -> Vec<Message> {
        let (any, per_message) = (
            self.has(Bug::AnyAckCompletes),
            self.has(Bug::CountsPerMessage),
        );
        let Some(transfer) = &mut self.transfer else {
            return Vec::new();
        };
        let last = transfer.position + 1 == transfer.chunks.len();
        if bit != self.bit && !(last && any) {
            return Vec::new();
        }
        self.bit = 1 - self.bit;
        if last {
            return self.confirm("Ok");
        }
        transfer.position += 1;
        if !per_message {
            transfer.repetitions = 0;
        }
        self.frame()
    }

    fn sender_timeout(&mut self) -> Vec<Message> {
        let most = MAX_REPETITIONS - u32::from(self.has(Bug::GivesUpEarly));
        let Some(transfer) = &mut self.transfer else {
            return Vec::new();
        };
        if transfer.repetitions < most {
            transfer.repetitions += 1;
            return self.frame();
        }
        let last = transfer.position + 1 == transfer.chunks.len();
        if self.has(Bug::FlipsWhenGivingUp) {
            self.bit = 1 - self.bit;
        }
        let unsure = match last {
            true => !self.has(Bug::NotOkAtTheEnd),
            false => self.has(Bug::DontKnowInTheMiddle),
        };
        self.confirm(if unsure { "DontKnow" } else { "NotOk" })
    }

    fn deliver(&mut self, first: bool, last: bool, bit: i64, data: i64) -> Vec<Message> {
        let mut sent = Vec::new();
        let is_new = bit == self.expected;
        if is_new || self.has(Bug::IndicatesTwice) {
            let kind = match (first, last) {
                (true, true) if self.has(Bug::SingleIsFirst) => "First",
                (_, true) => "Complete",
                (true, false) => "First",
                (false, false) => "Incomplete",
            };
            let indication = Message::plain("indication").with("kind", kind);
            sent.push(indication.with("data", data));
        }
        if is_new {
            self.expected = 1 - self.expected;
            self.started = !last;
        }
        sent.push(Message::plain("acknowledge").with("bit", 1 - self.expected));
        sent
    }

    fn receiver_timeout(&mut self) -> Vec<Message> {
        if !self.started {
            return Vec::new();
        }
        self.started = false;
        if self.has(Bug::ExpectsZeroAfterTimeout) {
            self.expected = 0;
        }
        let indication = Message::plain("indication").with("kind", "NotComplete");
        vec![indication.with("data", 0)]
    }
}

impl System for Protocol {
    fn reset(&mut self) {
        *self = Protocol {
            bug: self.bug,
            ..Protocol::default()
        };
    }

    fn give(&mut self, stimulus: &Message) -> Vec<Message> {
        let integer = |name: &str| stimulus.integer(name);
        let truth = |name: &str| stimulus.boolean(name);
        match stimulus.label.as_str() {
            "request" => self.request(stimulus),
            "ack" => integer("bit").map_or_else(Vec::new, |bit| self.ack(bit)),
            "sender_timeout" => self.sender_timeout(),
            "deliver" => {
                // A repeated frame is recognised by its bit alone, whatever else is set.
                let flags = (truth("first"), truth("last"));
                let repeated = |bit: &i64| *bit != self.expected;
                match (flags, integer("bit"), integer("data")) {
                    ((Some(first), Some(last)), Some(bit), Some(data)) => {
                        self.deliver(first, last, bit, data)
                    }
                    (_, Some(bit), _) if repeated(&bit) => self.deliver(false, false, bit, 0),
                    _ => Vec::new(),
                }
            }
            "receiver_timeout" => self.receiver_timeout(),
            _ => Vec::new(),
        }
    }

    fn check(&self, stimulus: &Message) -> Result<(), String> {
        check(STIMULI, stimulus)
    }
}

//! A first-in, first-out queue of numbers.
//!
//! `enqueue` is silent; `dequeue` gives the oldest number, or says that the queue is empty. The
//! mutant shows itself only after 43 enqueues and 43 dequeues, which no shrinker may get below.

use std::collections::VecDeque;

use crate::System;
use crate::registry::MutantEntry;
use crate::signature::{Kind, Signature, check};
use ioco_sts::Message;

const STIMULI: &[Signature] = &[
    Signature::new("enqueue", &[("value", Kind::Integer)]),
    Signature::plain("dequeue"),
];

pub const MUTANTS: &[MutantEntry] = &[(
    "m01",
    "trace",
    "A queue of 42 elements silently drops what is enqueued.",
)];

struct Queue {
    items: VecDeque<i64>,
    /// What the mutant can hold.
    capacity: Option<usize>,
}

pub fn build(mutant: Option<&str>) -> Option<Box<dyn System>> {
    let capacity = match mutant {
        None => None,
        Some("m01") => Some(42),
        Some(_) => return None,
    };
    Some(Box::new(Queue {
        items: VecDeque::new(),
        capacity,
    }))
}

impl System for Queue {
    fn reset(&mut self) {
        self.items.clear();
    }

    fn give(&mut self, stimulus: &Message) -> Vec<Message> {
        match (stimulus.label.as_str(), stimulus.integer("value")) {
            ("enqueue", Some(value)) => {
                if self.capacity.is_none_or(|most| self.items.len() < most) {
                    self.items.push_back(value);
                }
                Vec::new()
            }
            ("dequeue", _) => vec![match self.items.pop_front() {
                Some(value) => Message::plain("item").with("value", value),
                None => Message::plain("empty"),
            }],
            _ => Vec::new(),
        }
    }

    fn check(&self, stimulus: &Message) -> Result<(), String> {
        check(STIMULI, stimulus)
    }
}

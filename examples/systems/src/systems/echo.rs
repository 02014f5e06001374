//! The smallest system: every `ping` is answered with a `pong` of the same number. What it costs to
//! test it is what the tester and the connection cost.

use crate::System;
use crate::registry::MutantEntry;
use crate::signature::{Kind, Signature, check};
use ioco_sts::Message;

const STIMULI: &[Signature] = &[Signature::new("ping", &[("number", Kind::Integer)])];

pub const MUTANTS: &[MutantEntry] = &[("m01", "state", "The number 13 is answered with 12.")];

struct Echo {
    unlucky: bool,
}

pub fn build(mutant: Option<&str>) -> Option<Box<dyn System>> {
    match mutant {
        None => Some(Box::new(Echo { unlucky: false })),
        Some("m01") => Some(Box::new(Echo { unlucky: true })),
        Some(_) => None,
    }
}

impl System for Echo {
    fn reset(&mut self) {}

    fn give(&mut self, stimulus: &Message) -> Vec<Message> {
        if stimulus.label != "ping" {
            return Vec::new();
        }
        let answer = Message::plain("pong");
        vec![match stimulus.integer("number") {
            Some(13) if self.unlucky => answer.with("number", 12),
            Some(number) => answer.with("number", number),
            None => answer,
        }]
    }

    fn check(&self, stimulus: &Message) -> Result<(), String> {
        check(STIMULI, stimulus)
    }
}

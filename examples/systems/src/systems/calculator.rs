//! A very special calculator: it takes two numbers and adds or multiplies them, as it pleases.
//!
//! Addition needs both numbers to be at least 1, multiplication at least 2. A result of at most 2 is
//! shown; when the second number is 5, twice the result is shown; otherwise the calculator stays
//! silent. One calculation per reset.

use crate::System;
use crate::registry::MutantEntry;
use crate::signature::{Kind, Signature, check};
use crate::systems::chance::Chance;
use ioco_sts::Message;

const VALUE: &[(&str, Kind)] = &[("value", Kind::Integer)];
const STIMULI: &[Signature] = &[Signature::new("x", VALUE), Signature::new("y", VALUE)];

pub const MUTANTS: &[MutantEntry] = &[
    ("m01", "state", "Every result is shown, also one above 2."),
    ("m02", "state", "A result of at most 2 is not shown."),
    (
        "m03",
        "state",
        "The calculator always multiplies, also numbers below 2.",
    ),
    (
        "m04",
        "state",
        "When the second number is 5, three times the result is shown.",
    ),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Bug {
    ShowsEveryResult,
    HidesSmallResults,
    AlwaysMultiplies,
    Triples,
}

fn bug(mutant: &str) -> Option<Bug> {
    Some(match mutant {
        "m01" => Bug::ShowsEveryResult,
        "m02" => Bug::HidesSmallResults,
        "m03" => Bug::AlwaysMultiplies,
        "m04" => Bug::Triples,
        _ => return None,
    })
}

enum Progress {
    Start,
    First(i64),
    Done,
}

struct Calculator {
    progress: Progress,
    chance: Chance,
    bug: Option<Bug>,
}

pub fn build(mutant: Option<&str>) -> Option<Box<dyn System>> {
    let bug = match mutant {
        None => None,
        Some(name) => Some(bug(name)?),
    };
    Some(Box::new(Calculator {
        progress: Progress::Start,
        chance: Chance::new(),
        bug,
    }))
}

impl Calculator {
    fn has(&self, bug: Bug) -> bool {
        self.bug == Some(bug)
    }

    /// The result, or nothing where the numbers are too small or the result too large.
    fn calculate(&mut self, x: i64, y: i64) -> Option<i64> {
        let smallest = x.min(y);
        if smallest < 1 {
            return None;
        }
        let may_multiply = smallest >= 2 && self.chance.flip();
        if may_multiply || self.has(Bug::AlwaysMultiplies) {
            x.checked_mul(y)
        } else {
            x.checked_add(y)
        }
    }

    fn show(&self, result: i64, y: i64) -> Option<i64> {
        if self.has(Bug::ShowsEveryResult) || result <= 2 && !self.has(Bug::HidesSmallResults) {
            Some(result)
        } else if y == 5 {
            result.checked_mul(if self.has(Bug::Triples) { 3 } else { 2 })
        } else {
            None
        }
    }
}

impl System for Calculator {
    fn reset(&mut self) {
        self.progress = Progress::Start;
    }

    fn give(&mut self, stimulus: &Message) -> Vec<Message> {
        let Some(value) = stimulus.integer("value") else {
            return Vec::new();
        };
        match (&self.progress, stimulus.label.as_str()) {
            (Progress::Start, "x") => {
                self.progress = Progress::First(value);
                Vec::new()
            }
            (&Progress::First(x), "y") => {
                self.progress = Progress::Done;
                self.calculate(x, value)
                    .and_then(|result| self.show(result, value))
                    .map(|shown| Message::plain("result").with("value", shown))
                    .into_iter()
                    .collect()
            }
            _ => Vec::new(),
        }
    }

    fn check(&self, stimulus: &Message) -> Result<(), String> {
        check(STIMULI, stimulus)
    }
}

//! Five small machines, after the example figures of a text on symbolic transition systems: a coin
//! for a coffee (1), a machine with a balance (2), one with buttons (8), one that adds two coins
//! (9), and one that is not a coffee machine at all but chooses freely what it remembers (10).

use crate::System;
use crate::registry::MutantEntry;
use crate::signature::{Kind, Signature, check};
use crate::systems::chance::Chance;
use ioco_sts::Message;

const VALUE: &[(&str, Kind)] = &[("value", Kind::Integer)];
const COIN: Signature = Signature::new("coin", VALUE);
const COINS: &[Signature] = &[COIN];
const COIN_AND_BUTTON: &[Signature] =
    &[COIN, Signature::new("button", &[("number", Kind::Integer)])];
const NUMBERS: &[Signature] = &[Signature::new("x", VALUE), Signature::new("y", VALUE)];

/// Which figure a machine plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    Simple,
    Balance,
    Buttons,
    TwoCoins,
    FreeChoice,
}

impl Figure {
    pub const fn mutants(self) -> &'static [MutantEntry] {
        match self {
            Figure::Simple => &[("m01", "state", "A coin below 20 is swallowed.")],
            Figure::Balance => &[
                ("m01", "state", "Coffee is given from a balance of 50 on."),
                (
                    "m02",
                    "trace",
                    "What was paid beyond 60 stays in the balance.",
                ),
            ],
            Figure::Buttons => &[
                ("m01", "state", "A coin of exactly 50 gives tea."),
                ("m02", "state", "The two buttons are swapped."),
            ],
            Figure::TwoCoins => &[
                ("m01", "trace", "Only the second coin counts."),
                ("m02", "state", "A sum of exactly 80 gives coffee."),
            ],
            Figure::FreeChoice => &[
                ("m01", "state", "What was remembered is not looked at."),
                (
                    "m02",
                    "state",
                    "The remembered number is given instead of the second.",
                ),
            ],
        }
    }

    fn stimuli(self) -> &'static [Signature] {
        match self {
            Figure::Simple | Figure::Balance | Figure::TwoCoins => COINS,
            Figure::Buttons => COIN_AND_BUTTON,
            Figure::FreeChoice => NUMBERS,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Bug {
    First,
    Second,
}

enum Progress {
    /// With what was paid so far.
    Paying(i64),
    /// Something was taken, and remembered.
    Taken(i64),
    Done,
}

struct Machine {
    figure: Figure,
    progress: Progress,
    chance: Chance,
    bug: Option<Bug>,
}

pub fn build(figure: Figure, mutant: Option<&str>) -> Option<Box<dyn System>> {
    let bug = match mutant {
        None => None,
        Some(name) => {
            let known = figure.mutants();
            match known.iter().position(|(known, _, _)| *known == name)? {
                0 => Some(Bug::First),
                _ => Some(Bug::Second),
            }
        }
    };
    Some(Box::new(Machine {
        figure,
        progress: Progress::Paying(0),
        chance: Chance::new(),
        bug,
    }))
}

fn drink(name: &str) -> Option<Message> {
    Some(Message::plain(name))
}

impl Machine {
    fn has(&self, bug: Bug) -> bool {
        self.bug == Some(bug)
    }

    fn simple(&mut self, coin: i64) -> Option<Message> {
        if coin < 20 && self.has(Bug::First) {
            return None;
        }
        drink("coffee")
    }

    fn balance(&mut self, coin: i64) -> Option<Message> {
        let Progress::Paying(paid) = self.progress else {
            return None;
        };
        let balance = paid.saturating_add(coin);
        let price = if self.has(Bug::First) { 50 } else { 60 };
        if balance < price {
            self.progress = Progress::Paying(balance);
            return None;
        }
        let rest = if self.has(Bug::Second) {
            balance - 60
        } else {
            0
        };
        self.progress = Progress::Paying(rest);
        drink("coffee")
    }

    fn buttons(&mut self, label: &str, number: i64) -> Option<Message> {
        match (&self.progress, label) {
            (Progress::Paying(_), "coin") => {
                let enough = if self.has(Bug::First) { 51 } else { 50 };
                if number >= enough {
                    self.progress = Progress::Taken(number);
                    None
                } else {
                    self.progress = Progress::Done;
                    drink("tea")
                }
            }
            (Progress::Taken(_), "button") => {
                self.progress = Progress::Done;
                match (number, self.has(Bug::Second)) {
                    (1, false) | (2, true) => drink("coffee"),
                    (1, true) | (2, false) => drink("chocolate"),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn two_coins(&mut self, coin: i64) -> Option<Message> {
        match self.progress {
            Progress::Paying(_) if coin >= 20 => {
                self.progress = Progress::Taken(coin);
                None
            }
            Progress::Taken(first) if coin >= 10 => {
                self.progress = Progress::Done;
                let sum = if self.has(Bug::First) {
                    coin
                } else {
                    first.saturating_add(coin)
                };
                if sum > 80 || sum == 80 && self.has(Bug::Second) {
                    drink("coffee")
                } else {
                    drink("tea")
                }
            }
            _ => None,
        }
    }

    fn free_choice(&mut self, label: &str, number: i64) -> Option<Message> {
        match (&self.progress, label) {
            (Progress::Paying(_), "x") => {
                let offset = if self.chance.flip() { 10 } else { 0 };
                self.progress = Progress::Taken(number.saturating_add(offset));
                None
            }
            (&Progress::Taken(remembered), "y") => {
                self.progress = Progress::Done;
                let shows = number < 10 || remembered >= 10 || self.has(Bug::First);
                let shown = if self.has(Bug::Second) {
                    remembered
                } else {
                    number
                };
                shows.then(|| Message::plain("result").with("value", shown))
            }
            _ => None,
        }
    }
}

impl System for Machine {
    fn reset(&mut self) {
        self.progress = Progress::Paying(0);
    }

    fn give(&mut self, stimulus: &Message) -> Vec<Message> {
        let label = stimulus.label.as_str();
        let parameter = if label == "button" { "number" } else { "value" };
        let Some(number) = stimulus.integer(parameter) else {
            return Vec::new();
        };
        let answer = match self.figure {
            Figure::Simple => self.simple(number),
            Figure::Balance => self.balance(number),
            Figure::Buttons => self.buttons(label, number),
            Figure::TwoCoins => self.two_coins(number),
            Figure::FreeChoice => self.free_choice(label, number),
        };
        answer.into_iter().collect()
    }

    fn check(&self, stimulus: &Message) -> Result<(), String> {
        check(self.figure.stimuli(), stimulus)
    }
}

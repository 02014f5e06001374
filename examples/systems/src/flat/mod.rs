//! The published systems seen through labels without data.
//!
//! Published models and traces of three of the systems write their data into the labels:
//! `Info_Coffee_3`, `Insert_card_valid_55`, `lock_correct_passcode`. A [`Case`] is the dictionary
//! between those labels and messages with data; [`system`] is a system that speaks them.
//!
//! The dictionary maps every flat label to one message. The way back is a function for responses.
//! For stimuli it is not: a flat model offers `?Info_Coffee_3` only in the state *Coffee, 3*, where
//! the model with data has one `?Info`, so the flat name says more than was sent. A [`Narrator`]
//! follows a trace and knows enough of the state to find it.

mod atm;
mod koopman;
mod narrator;
mod smartdoor;

use ioco_sts::Direction;

use crate::System;
use crate::registry;
use ioco_sts::Message;

pub use narrator::Narrator;

/// A case that has a flat view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    SmartDoor,
    Koopman,
    Atm,
}

impl Case {
    pub const ALL: [Case; 3] = [Case::SmartDoor, Case::Koopman, Case::Atm];

    pub fn name(self) -> &'static str {
        match self {
            Case::SmartDoor => "smartdoor",
            Case::Koopman => "koopman",
            Case::Atm => "atm",
        }
    }

    pub fn from_name(name: &str) -> Option<Case> {
        Case::ALL.into_iter().find(|case| case.name() == name)
    }

    /// Every flat label of one direction.
    pub fn labels(self, direction: Direction) -> Vec<String> {
        match (self, direction) {
            (_, Direction::Internal) => Vec::new(),
            (Case::SmartDoor, Direction::Stimulus) => smartdoor::stimuli(),
            (Case::SmartDoor, Direction::Response) => smartdoor::responses(),
            (Case::Koopman, Direction::Stimulus) => koopman::stimuli(),
            (Case::Koopman, Direction::Response) => koopman::responses(),
            (Case::Atm, Direction::Stimulus) => atm::stimuli(),
            (Case::Atm, Direction::Response) => atm::responses(),
        }
    }

    /// The message of a flat label; nothing for a label that is not in the dictionary.
    pub fn to_data(self, direction: Direction, label: &str) -> Option<Message> {
        match (self, direction) {
            (_, Direction::Internal) => None,
            (Case::SmartDoor, Direction::Stimulus) => smartdoor::stimulus_to_data(label),
            (Case::SmartDoor, Direction::Response) => smartdoor::response_to_data(label),
            (Case::Koopman, Direction::Stimulus) => koopman::stimulus_to_data(label),
            (Case::Koopman, Direction::Response) => koopman::response_to_data(label),
            (Case::Atm, Direction::Stimulus) => atm::stimulus_to_data(label),
            (Case::Atm, Direction::Response) => atm::response_to_data(label),
        }
    }

    /// The flat label of a response. A response outside the dictionary (a mutant may say anything)
    /// keeps its own name, with its values behind it.
    pub fn to_flat(self, response: &Message) -> String {
        match self {
            Case::SmartDoor => response.label.clone(),
            Case::Koopman => koopman::response_to_flat(response),
            Case::Atm => atm::response_to_flat(response),
        }
    }
}

/// Builds a system that takes and gives flat labels.
pub fn system(name: &str, mutant: Option<&str>) -> Result<Box<dyn System>, String> {
    let inner = registry::system(name, mutant)?;
    let case = Case::from_name(name).ok_or_else(|| {
        let known: Vec<&str> = Case::ALL.into_iter().map(Case::name).collect();
        format!(
            "system \"{name}\" has no flat view; these have one: {}",
            known.join(", ")
        )
    })?;
    Ok(Box::new(Flat { case, inner }))
}

struct Flat {
    case: Case,
    inner: Box<dyn System>,
}

impl System for Flat {
    fn reset(&mut self) {
        self.inner.reset();
    }

    fn give(&mut self, stimulus: &Message) -> Vec<Message> {
        let Some(data) = self.case.to_data(Direction::Stimulus, &stimulus.label) else {
            return Vec::new();
        };
        let responses = self.inner.give(&data);
        responses
            .iter()
            .map(|response| Message {
                label: self.case.to_flat(response),
                values: Vec::new(),
            })
            .collect()
    }

    fn check(&self, stimulus: &Message) -> Result<(), String> {
        if self
            .case
            .to_data(Direction::Stimulus, &stimulus.label)
            .is_none()
        {
            return Err(format!(
                "unknown flat stimulus \"{}\" of {}",
                stimulus.label,
                self.case.name()
            ));
        }
        match stimulus.values.first() {
            Some((name, _)) => Err(format!(
                "flat stimulus \"{}\" has no parameter \"{name}\"",
                stimulus.label
            )),
            None => Ok(()),
        }
    }
}

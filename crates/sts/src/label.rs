//! Labels: what crosses the border between tester and system, with typed parameters.

use serde::{Deserialize, Serialize};

use crate::types::Type;

/// Who sends a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// The system receives it: `?x`.
    Stimulus,
    /// The system sends it: `!y`.
    Response,
    /// A hand-shake between processes of the model, not seen outside.
    Internal,
}

impl Direction {
    /// The mark before a label's name: `?`, `!`, or nothing.
    pub fn mark(self) -> &'static str {
        match self {
            Direction::Stimulus => "?",
            Direction::Response => "!",
            Direction::Internal => "",
        }
    }
}

/// A named, typed value that a label carries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parameter {
    pub name: String,
    #[serde(rename = "type")]
    pub ty: Type,
}

/// A stimulus, response or hand-shake. A stimulus and a response may share a name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Label {
    pub name: String,
    pub channel: String,
    pub direction: Direction,
    pub parameters: Vec<Parameter>,
}

impl Label {
    /// The label as a person writes it: `?lock`, `!locked`.
    pub fn marked_name(&self) -> String {
        format!("{}{}", self.direction.mark(), self.name)
    }
}

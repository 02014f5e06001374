//! Reading and writing transition systems in the formats of other tools and in ioco's own.
//!
//! | module | format | reads | writes |
//! |---|---|---|---|
//! | [`aut`] | Aldebaran | plain systems | plain systems |
//! | [`dot`] | Graphviz | Mealy machines, plain systems, what it writes | every system |
//! | [`graphwalker`] | GraphWalker's JSON | models with simple guards and actions | systems of one process, where guards speak of no parameters |
//! | [`json`] | ioco's own | everything | everything |
//! | [`mermaid`] | Mermaid `stateDiagram-v2` | as `dot` | every system |
//! | [`svg`] | pictures that carry their model | what it writes | every system |
//!
//! What a format cannot show (guards in a drawing) is written beside what it shows, so that
//! everything written here is read back as the same system.
//!
//! Readers work on text that came from anywhere: what is wrong with it is said with its line.

pub mod aut;
pub mod dot;
pub mod graphwalker;
pub mod json;
mod labels;
mod lines;
pub mod mermaid;
mod plain;
pub mod svg;

use std::fmt;

pub use labels::LabelMap;

/// Why a text could not be read, or a system not be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormatError {
    /// Counts from one; zero where no single line is to blame.
    pub line: u32,
    pub message: String,
}

impl FormatError {
    pub(crate) fn new(line: u32, message: impl Into<String>) -> FormatError {
        FormatError {
            line,
            message: message.into(),
        }
    }
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            write!(f, "line {}: ", self.line)?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for FormatError {}

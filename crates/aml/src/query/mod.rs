//! Queries: a small text in which a person asks for a test, as a pattern of labels, gaps and
//! places in order (Sietsma 2009, section 4.4). The same text serves as a scenario for testing on the
//! fly.
//!
//! ```text
//! within 12 steps
//! ?lock where passcode > 9000
//! ... without ?open
//! 3 times ?unlock or !incorrect_passcode
//! visits shut_off
//! ```
//!
//! [`parse`] resolves every name against a model; what a query means is not its business.

mod read;
mod scan;

use ioco_sts::{Expr, LabelId, LocationId, Sts};

use crate::diagnostic::{self, Diagnostic, SourceFile};

/// A pattern, resolved against one model.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    /// Observable steps of the whole test at most, where the text says so.
    pub within: Option<u32>,
    /// What must happen, in this order.
    pub items: Vec<Item>,
}

/// One part of a pattern.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// One observable step that is one of these.
    Step(Vec<Matcher>),
    /// Observable steps that do not matter.
    Gap {
        least: u32,
        most: Option<u32>,
        /// None of them is one of these.
        without: Vec<Matcher>,
    },
    /// No step: here the model is in one of the locations (anywhere where there are none), and the
    /// condition on its variables holds.
    Here {
        locations: Vec<LocationId>,
        condition: Expr,
    },
}

/// A label, and a condition on its parameters and on the variables as they are before the step.
#[derive(Clone, Debug, PartialEq)]
pub struct Matcher {
    pub label: LabelId,
    pub condition: Expr,
}

/// Reads a query. `name` is the file's, for messages; the diagnostics speak of file 0.
pub fn parse(name: &str, text: &str, sts: &Sts) -> Result<Query, Vec<Diagnostic>> {
    let mut reader = read::QueryReader::new(text, sts);
    let query = reader.query();
    let mut diagnostics = reader.diagnostics;
    if diagnostics.is_empty() {
        return Ok(query);
    }
    let files = [SourceFile {
        name: name.to_owned(),
        text: text.to_owned(),
    }];
    diagnostic::finish(&mut diagnostics, &files);
    Err(diagnostics)
}

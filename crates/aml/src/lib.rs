//! The modelling language AML: text to lossless tree to model, with diagnostics and a formatter.
//!
//! [`load`] reads a model and its included files and gives the transition system, or diagnostics
//! that say what is wrong and where. It never stops at the first mistake.

mod allow;
mod ast;
mod codes;
mod diagnostic;
mod escape;
mod expand;
mod expr;
mod format;
mod include;
mod lower;
mod manual;
mod parser;
#[cfg(test)]
mod properties;
pub mod query;
mod render;
mod ruby;
mod seen;
mod suggest;
mod symbols;
mod syntax;
mod words;

use std::sync::Arc;

use ioco_budget::Budget;
use ioco_sts::{Assignment, Expr, LabelId, Sts};

use crate::ast::Text;
use crate::expr::check::Checker;
use crate::expr::generated::Generated;
use crate::expr::names::Names;
use crate::seen::Seen;

pub use codes::{codes, explain};
pub use diagnostic::{Diagnostic, Severity, SourceFile};
pub use format::format;
pub use include::Sources;
pub use manual::manual;
pub use render::render;
pub use suggest::{Fix, fix};
pub use symbols::{Completion, CompletionKind, Index, Occurrence, Symbol, SymbolKind};

/// What became of a model's text.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The model; `None` when there are errors.
    pub sts: Option<Arc<Sts>>,
    /// Everything there is to say, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
    /// Warnings and hints that comments of the text allow: `# ioco: allow A064`.
    pub silenced: usize,
    /// The files that were read, the main one first.
    pub files: Vec<SourceFile>,
}

/// Loads a model from its main file within the usual limits. Included files are read relative to the
/// including one.
pub fn load(path: &str, sources: &dyn Sources) -> Loaded {
    load_within(path, sources, &Budget::default())
}

/// Loads a model within limits; the model keeps them.
pub fn load_within(path: &str, sources: &dyn Sources, budget: &Budget) -> Loaded {
    match sources.read(path) {
        Ok(text) => load_from(path, text, sources, budget),
        Err(reason) => {
            let files = vec![SourceFile {
                name: path.to_owned(),
                text: String::new(),
            }];
            let message = format!("cannot read `{path}`: {reason}");
            let mut diagnostics = vec![Diagnostic::new(codes::INCLUDE_MISSING, 0, 0..0, message)];
            diagnostic::finish(&mut diagnostics, &files);
            Loaded {
                sts: None,
                diagnostics,
                silenced: 0,
                files,
            }
        }
    }
}

/// Loads a model that is one text; it can include nothing.
pub fn load_text(name: &str, text: &str) -> Loaded {
    struct Nothing;
    impl Sources for Nothing {
        fn read(&self, _: &str) -> Result<String, String> {
            Err("there are no other files".to_owned())
        }
    }
    load_from(name, text.to_owned(), &Nothing, &Budget::default())
}

fn load_from(path: &str, text: String, sources: &dyn Sources, budget: &Budget) -> Loaded {
    let mut read = include::read(path, text, sources);
    let (items, constants) = expand::expand(read.items, &mut read.diagnostics);
    let is_too_large = read
        .diagnostics
        .iter()
        .any(|d| d.code == codes::TOO_LARGE.name);
    let (sts, mut diagnostics) = match is_too_large {
        // What was put in place up to the limit is not the model, and takes long to read.
        true => (None, read.diagnostics),
        false => lower::lower(&read.files, &items, constants, read.diagnostics, budget),
    };
    diagnostic::finish(&mut diagnostics, &read.files);
    let silenced = allow::silence(&mut diagnostics, &read.files);
    Loaded {
        sts,
        diagnostics,
        silenced,
        files: read.files,
    }
}

/// An expression over the variables of a model, and the parameters of `label` if there is one.
///
/// The diagnostics speak of file 0, which is `text` itself.
pub fn parse_expression(
    text: &str,
    sts: &Sts,
    label: Option<LabelId>,
) -> Result<Expr, Vec<Diagnostic>> {
    parse(text, sts, label, |checker| checker.any())
}

/// As [`parse_expression`], for a guard: the expression is a condition.
pub fn parse_condition(
    text: &str,
    sts: &Sts,
    label: Option<LabelId>,
) -> Result<Expr, Vec<Diagnostic>> {
    parse(text, sts, label, |checker| Some(checker.condition()))
}

/// As [`parse_expression`], for an update: `x = 1; y += x`.
pub fn parse_update(
    text: &str,
    sts: &Sts,
    label: Option<LabelId>,
) -> Result<Vec<Assignment>, Vec<Diagnostic>> {
    parse(text, sts, label, |checker| {
        let updates = checker.updates().into_iter();
        let assignments = updates.map(|update| Assignment {
            variable: update.variable,
            value: update.value,
        });
        Some(assignments.collect())
    })
}

fn parse<T>(
    text: &str,
    sts: &Sts,
    label: Option<LabelId>,
    read: impl FnOnce(&mut Checker<'_>) -> Option<T>,
) -> Result<T, Vec<Diagnostic>> {
    let seen = Seen::of(sts);
    let mut diagnostics = Vec::new();
    let parsed = read(&mut Checker {
        names: Names {
            types: sts.types(),
            variables: &seen.variables,
            parameters: label.map_or(&[], |label| &sts.label(label).parameters),
            locals: &[],
            functions: &seen.functions,
            broken: &[],
            constants: &[],
        },
        text: &Text::plain(text, 0),
        file: 0,
        budget: *sts.budget(),
        diagnostics: &mut diagnostics,
        generated: Generated {
            known: sts.functions(),
            first: sts.functions().len(),
            new: None,
        },
    });
    match parsed {
        Some(parsed) if diagnostics.is_empty() => Ok(parsed),
        _ => {
            let files = [SourceFile {
                name: "expression".to_owned(),
                text: text.to_owned(),
            }];
            diagnostic::finish(&mut diagnostics, &files);
            Err(diagnostics)
        }
    }
}

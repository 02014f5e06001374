//! NuSMV models: reading, coverage goals, model checking, decomposition, and tests.
//!
//! The way through the crate: [`load`] reads a text into a flat [`Model`]; goals are derived from it and given to
//! the generator, which answers each with a test, a proof or an honest "unknown".

mod check;
mod circuit;
mod complete;
pub mod decompose;
pub mod depend;
pub mod diagnostic;
mod engine;
pub mod eval;
pub mod explicit;
pub mod expr;
mod flatten;
pub mod generate;
pub mod goal;
pub mod model;
mod print;
pub mod runnable;
mod simulate;
mod stack;
pub mod suite;
mod syntax;
mod system;
mod types;
pub mod value;

pub use diagnostic::{Diagnostic, Place, Severity};
pub use generate::{Edge, Event, GoalResult, Options, Progress, Technique, Verdict, generate};
pub use goal::{Criterion, Goal, GoalOptions, Shortened};
pub use model::{Model, Summary};
pub use syntax::tree::Operator;

use diagnostic::LineIndex;
use ioco_budget::{Budget, Interrupt};

/// Reads a model within the usual limits. There is a model exactly when none of the diagnostics is an error.
pub fn load(text: &str, file_name: &str) -> (Option<Model>, Vec<Diagnostic>) {
    load_within(text, file_name, &Budget::default(), &Interrupt::default())
}

/// Reads a model. Checks that cannot be decided within the limits, or before the interrupt, are warnings.
pub fn load_within(
    text: &str,
    file_name: &str,
    limits: &Budget,
    interrupt: &Interrupt,
) -> (Option<Model>, Vec<Diagnostic>) {
    let lines = LineIndex::new(file_name, text);
    if file_name.ends_with(".m4.smv") || file_name.ends_with(".m4") {
        let problem = diagnostic::Problem::error(
            diagnostic::Span::default(),
            "this is a macro template, not a model",
        )
        .hint("expand it first: m4 FILE.m4.smv > FILE.smv");
        return (None, vec![lines.diagnostic(problem)]);
    }
    let (model, mut problems) = stack::with_room(|| {
        let (modules, problems) = syntax::parser::parse(text);
        if !problems.is_empty() {
            return (None, problems);
        }
        let mut flat = flatten::flatten(&modules, text, file_name);
        let mut problems = std::mem::take(&mut flat.problems);
        if !problems
            .iter()
            .any(|problem| problem.severity == Severity::Error)
        {
            let (found, trusted) = check::check(&flat, limits, interrupt);
            problems.extend(found);
            flat.model.trusted = trusted;
        }
        flat.model.relate();
        (Some(flat.model), problems)
    });
    problems.sort_by_key(|problem| problem.span);
    let diagnostics: Vec<Diagnostic> = problems
        .into_iter()
        .map(|problem| lines.diagnostic(problem))
        .collect();
    let failed = diagnostics
        .iter()
        .any(|diagnostic| diagnostic.severity == Severity::Error);
    (if failed { None } else { model }, diagnostics)
}

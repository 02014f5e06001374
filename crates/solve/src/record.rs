//! Keeps the questions of this thread, so that the ablation can ask them again.

use std::cell::RefCell;

use ioco_sts::{Expr, Type};

use crate::query::Query;
use crate::search::Choice;

/// A question as it was asked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Recorded {
    pub asked: QuestionKind,
    /// With whether it may be void.
    pub unknowns: Vec<(Type, bool)>,
    pub conditions: Vec<Expr>,
}

/// What was wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QuestionKind {
    /// Whether a guard can hold.
    Guard,
    /// The same values each time.
    Plain,
    /// Values at random.
    Random,
}

thread_local! {
    static QUESTIONS: RefCell<Option<Vec<Recorded>>> = const { RefCell::new(None) };
}

/// Calls `run`, and returns the questions that it asked on this thread.
pub fn questions_of(run: impl FnOnce()) -> Vec<Recorded> {
    QUESTIONS.with_borrow_mut(|questions| *questions = Some(Vec::new()));
    run();
    QUESTIONS.with_borrow_mut(|questions| questions.take().unwrap_or_default())
}

pub(crate) fn guard(query: &Query<'_>) {
    keep(QuestionKind::Guard, query);
}

pub(crate) fn question(query: &Query<'_>, choice: &Choice<'_>) {
    let asked = match choice {
        Choice::Plain => QuestionKind::Plain,
        Choice::Random(_) => QuestionKind::Random,
    };
    keep(asked, query);
}

fn keep(asked: QuestionKind, query: &Query<'_>) {
    QUESTIONS.with_borrow_mut(|questions| {
        if let Some(questions) = questions {
            questions.push(Recorded {
                asked,
                unknowns: query
                    .unknowns
                    .iter()
                    .map(|(ty, domain)| (ty.clone(), domain.void))
                    .collect(),
                conditions: query.conditions.clone(),
            });
        }
    });
}

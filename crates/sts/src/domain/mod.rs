//! The abstract domain of values: what an expression can be, and what its unknowns must be.
//!
//! There is one such domain, below everything that reasons about values: the diagnostics of the modelling
//! language, the values of hand-shakes, flattening, the solver, and proofs that a goal cannot be reached.
//!
//! - [`Domain`] is a set of values (`set`): a truth value, an interval of integers, decimals or enum members,
//!   strings and arrays by their length or one of them exactly, each with or without `:void`.
//! - [`View`] computes forwards (`forward`, `arithmetic`): what an expression may come to, and whether it may have
//!   no value, when its unknowns range over their domains.
//! - [`Narrower`] goes backwards (`backward`): which values of the unknowns a condition leaves.
//! - [`Facts`] puts both together for callers that do not search (`facts`): alternatives are followed one by one, and
//!   what they leave is joined.
//!
//! Everything is an approximation from above: a value that is possible is never left out, so that *never* can be
//! believed. Unknowns are written [`crate::Expr::Param`]; [`numbered`] gives numbers to variables, too.

mod arithmetic;
mod backward;
mod facts;
mod forward;
mod goal;
mod set;

use std::cell::Cell;

use ioco_budget::{Budget, Exhausted, Resource};

use crate::eval::{Env, EvalError};
use crate::expr::Expr;
use crate::value::Value;

pub use backward::{Narrower, comparison, without};
pub use facts::{Facts, numbered};
pub use forward::{ExprValues, View};
pub use goal::{Goal, Shape};
pub use set::{Comparison, Domain, Empty, Values, integers_between};

/// Counts the work of looking into calls: one may be as much as all the rest.
pub trait Effort {
    /// Takes one step; false when there is none left.
    fn step(&self) -> bool;

    /// The value of an expression, with the steps of its evaluation counted.
    fn eval(&self, expr: &Expr, env: Env<'_>) -> Result<Value, EvalError>;

    /// As [`Effort::eval`], for a condition.
    fn holds(&self, expr: &Expr, env: Env<'_>) -> Result<bool, EvalError>;
}

/// A number of steps of evaluation.
#[derive(Debug)]
pub struct Steps {
    budget: Budget,
    left: Cell<u64>,
    exhausted: Cell<Option<Exhausted>>,
}

impl Steps {
    /// So many steps in all, and no more for one evaluation than the budget allows.
    pub fn new(budget: Budget, steps: u64) -> Steps {
        Steps {
            budget,
            left: Cell::new(steps),
            exhausted: Cell::new(None),
        }
    }

    pub fn left(&self) -> u64 {
        self.left.get()
    }

    /// Takes `count` steps at once; false when there are not that many left.
    pub fn spend(&self, count: u64) -> bool {
        let left = self.left.get();
        self.left.set(left.saturating_sub(count));
        if left < count {
            let (resource, limit) = (Resource::Steps, self.budget.steps);
            self.exhausted.set(Some(Exhausted { resource, limit }));
        }
        left >= count
    }

    fn within<T>(
        &self,
        evaluate: impl FnOnce(&Budget) -> (Result<T, EvalError>, u64),
    ) -> Result<T, EvalError> {
        let budget = Budget {
            steps: self.budget.steps.min(self.left.get()),
            ..self.budget
        };
        let (result, spent) = evaluate(&budget);
        self.left.set(self.left.get().saturating_sub(spent));
        if let Err(EvalError::Exhausted(exhausted)) = result {
            let limit = exhausted.limit.max(self.budget.limit(exhausted.resource));
            self.exhausted.set(Some(Exhausted { limit, ..exhausted }));
        }
        result
    }

    /// A limit that evaluation reached: then nothing is certain.
    pub fn exhausted(&self) -> Option<Exhausted> {
        self.exhausted.get()
    }
}

impl Default for Steps {
    fn default() -> Steps {
        Steps::new(Budget::default(), u64::MAX)
    }
}

impl Effort for Steps {
    fn step(&self) -> bool {
        self.spend(1)
    }

    fn eval(&self, expr: &Expr, env: Env<'_>) -> Result<Value, EvalError> {
        self.within(|budget| expr.eval_within(env, budget))
    }

    fn holds(&self, expr: &Expr, env: Env<'_>) -> Result<bool, EvalError> {
        self.within(|budget| expr.holds_within(env, budget))
    }
}

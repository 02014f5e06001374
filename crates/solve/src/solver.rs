//! The one trait that all solvers have.

use ioco_sts::{Expr, Type, Value};

use crate::outcome::{Deadline, Outcome};

/// Finds values for unknowns so that conditions hold. A condition that has no value does not hold.
///
/// Conditions are expressions without variables; [`Expr::Param`] `k` is the unknown that the
/// (k+1)-th call of [`Solver::unknown`] declared.
pub trait Solver: Send {
    /// Declares the next unknown. Its value is never `:void`.
    fn unknown(&mut self, ty: &Type) -> u32;

    /// Declares the next unknown, whose value may also be `:void`.
    fn void_unknown(&mut self, ty: &Type) -> u32;

    /// Adds a condition.
    fn assert(&mut self, condition: &Expr);

    /// Remembers the unknowns and conditions for [`Solver::pop`].
    fn push(&mut self);

    /// Forgets what was declared and asserted since the matching push; nothing without one.
    fn pop(&mut self);

    /// Whether all conditions can hold together.
    fn check(&mut self, deadline: &Deadline<'_>) -> Outcome<()> {
        self.model(deadline).map(|_| ())
    }

    /// A value for every unknown, always the same for the same conditions.
    fn model(&mut self, deadline: &Deadline<'_>) -> Outcome<Vec<Value>>;

    /// A value for every unknown, spread over what is possible, bounds included. Not uniform.
    fn random_model(
        &mut self,
        rng: &mut dyn rand::Rng,
        deadline: &Deadline<'_>,
    ) -> Outcome<Vec<Value>>;

    /// The smallest value of a number, boolean or enum member, `:void` left aside.
    fn minimum(&mut self, unknown: u32, deadline: &Deadline<'_>) -> Outcome<Value>;

    /// The largest.
    fn maximum(&mut self, unknown: u32, deadline: &Deadline<'_>) -> Outcome<Value>;
}

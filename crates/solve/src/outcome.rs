//! What a solver can answer, and when it must stop looking for an answer.

use std::cell::Cell;
use std::fmt;

use ioco_budget::Budget;
use ioco_sts::domain::Effort;
use ioco_sts::{Env, EvalError, Expr, Value};

use crate::pipeline::Part;

/// The answer to a question about conditions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome<T> {
    Sat(T),
    Unsat,
    /// Neither was found out. Never to be taken for [`Outcome::Unsat`].
    Unknown(Unknown),
}

/// Why a question has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// The time or the steps that were given are used up.
    Deadline,
    /// The search could not look everywhere; the text says what was left out.
    Incomplete(String),
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unknown::Deadline => f.write_str("no answer in the time given"),
            Unknown::Incomplete(why) => write!(f, "no answer: {why}"),
        }
    }
}

impl<T> Outcome<T> {
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Outcome<U> {
        match self {
            Outcome::Sat(value) => Outcome::Sat(change(value)),
            Outcome::Unsat => Outcome::Unsat,
            Outcome::Unknown(why) => Outcome::Unknown(why),
        }
    }

    /// The value of a satisfiable outcome.
    pub fn sat(self) -> Option<T> {
        match self {
            Outcome::Sat(value) => Some(value),
            Outcome::Unsat | Outcome::Unknown(_) => None,
        }
    }

    pub fn is_sat(&self) -> bool {
        matches!(self, Outcome::Sat(_))
    }

    pub fn is_unsat(&self) -> bool {
        matches!(self, Outcome::Unsat)
    }

    pub(crate) fn incomplete(why: &str) -> Outcome<T> {
        Outcome::Unknown(Unknown::Incomplete(why.to_owned()))
    }
}

/// So many steps of evaluation cost as much as one of a search.
const EVALUATION_PER_STEP: u64 = 8;

/// How many steps pass between two looks at the clock.
const STEPS_PER_LOOK: u64 = 64;

/// Whether to give up. The core has no clock: the edge passes one in as a function, or gives a
/// number of steps, which makes runs repeatable.
pub struct Deadline<'a> {
    expired: Option<&'a dyn Fn() -> bool>,
    steps: Cell<u64>,
    over: Cell<bool>,
    taken: Cell<u64>,
    answered_by: Cell<Option<Part>>,
}

impl<'a> Deadline<'a> {
    /// No limit but the solver's own.
    pub fn never() -> Deadline<'static> {
        Deadline::steps(u64::MAX)
    }

    /// Asks `expired` every few steps.
    pub fn new(expired: &'a dyn Fn() -> bool) -> Deadline<'a> {
        Deadline {
            expired: Some(expired),
            steps: Cell::new(u64::MAX),
            over: Cell::new(false),
            taken: Cell::new(0),
            answered_by: Cell::new(None),
        }
    }

    /// A number of solver steps, the same on every machine.
    pub fn steps(steps: u64) -> Deadline<'static> {
        Deadline {
            expired: None,
            steps: Cell::new(steps),
            over: Cell::new(false),
            taken: Cell::new(0),
            answered_by: Cell::new(None),
        }
    }

    /// This deadline, and also at most `steps` steps from now on.
    pub fn and_steps(self, steps: u64) -> Deadline<'a> {
        self.steps.set(self.steps.get().min(steps));
        self
    }

    /// How many steps were taken under this deadline.
    pub fn taken(&self) -> u64 {
        self.taken.get()
    }

    /// The part of the embedded solver that answered last under this deadline.
    pub fn answered_by(&self) -> Option<Part> {
        self.answered_by.get()
    }

    pub(crate) fn answer_by(&self, part: Part) {
        self.answered_by.set(Some(part));
    }

    /// Takes one step; false when there is none left.
    pub fn step(&self) -> bool {
        self.spend(1)
    }

    /// Takes `count` steps at once; false when there are not that many left.
    pub fn spend(&self, count: u64) -> bool {
        if self.over.get() {
            return false;
        }
        let before = self.taken.get();
        let after = before.saturating_add(count);
        self.taken.set(after);
        let look = before == 0 || before / STEPS_PER_LOOK != after / STEPS_PER_LOOK;
        let late = look && self.expired.is_some_and(|expired| expired());
        if late || self.steps.get() < count {
            self.steps.set(0);
            self.over.set(true);
            return false;
        }
        self.steps.set(self.steps.get() - count);
        true
    }

    pub fn is_over(&self) -> bool {
        self.over.get()
    }
}

impl Effort for Deadline<'_> {
    fn step(&self) -> bool {
        Deadline::step(self)
    }

    fn eval(&self, expr: &Expr, env: Env<'_>) -> Result<Value, EvalError> {
        let (value, spent) = expr.eval_within(env, &Budget::default());
        self.spend(spent / EVALUATION_PER_STEP);
        value
    }

    fn holds(&self, expr: &Expr, env: Env<'_>) -> Result<bool, EvalError> {
        let (holds, spent) = expr.holds_within(env, &Budget::default());
        self.spend(spent / EVALUATION_PER_STEP);
        holds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_counted_until_there_are_none_left() {
        let deadline = Deadline::steps(5);
        assert!(deadline.step() && deadline.spend(3) && !deadline.is_over());
        assert_eq!(deadline.taken(), 4);
        assert!(!deadline.spend(2) && deadline.is_over());
        assert_eq!(deadline.taken(), 6);
        assert!(!deadline.step() && !deadline.spend(0));
        assert_eq!(deadline.taken(), 6);
        let exact = Deadline::steps(5);
        assert!(exact.spend(5) && !exact.is_over() && !exact.step());
        assert!(Deadline::never().spend(u64::MAX));
        let fewer = Deadline::steps(5).and_steps(2);
        assert!(fewer.spend(2) && !fewer.step());
        assert!(!Deadline::steps(5).and_steps(9).spend(6));
    }

    #[test]
    fn a_clock_is_looked_at_first_and_every_few_steps() {
        let looks = Cell::new(0);
        let expired = || {
            looks.set(looks.get() + 1);
            false
        };
        let deadline = Deadline::new(&expired);
        for (steps, seen) in [(1, 1), (62, 1), (1, 2), (63, 2), (1, 3), (640, 4)] {
            assert!(deadline.spend(steps));
            assert_eq!(looks.get(), seen, "{}", deadline.taken());
        }
        let late = || true;
        let deadline = Deadline::new(&late);
        assert!(!deadline.step() && deadline.is_over());
    }

    #[test]
    fn evaluation_costs_steps() {
        let deadline = Deadline::never();
        let env = Env {
            variables: &[],
            parameters: &[],
            functions: &[],
        };
        let sum = (0..99).fold(Expr::int(0), |sum, _| {
            Expr::binary(ioco_sts::BinaryOp::Add, sum, Expr::int(1))
        });
        let (_, spent) = sum.eval_within(env, &Budget::default());
        assert_eq!(deadline.eval(&sum, env), Ok(Value::Int(99)));
        assert_eq!(deadline.taken(), spent / EVALUATION_PER_STEP);
        let condition = Expr::binary(ioco_sts::BinaryOp::Eq, sum.clone(), sum);
        let (_, more) = condition.holds_within(env, &Budget::default());
        assert_eq!(deadline.holds(&condition, env), Ok(true));
        let both = spent / EVALUATION_PER_STEP + more / EVALUATION_PER_STEP;
        assert_eq!(deadline.taken(), both);
    }
}

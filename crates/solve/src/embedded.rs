//! The default solver, which needs no installed program.

use ioco_sts::domain::Domain;
use ioco_sts::{BinaryOp, Expr, Function, Type, Types, Value};

use crate::asserted::{Asserted, asserts};
use crate::optimum::{Sense, optimum};
use crate::outcome::{Deadline, Outcome};
use crate::pipeline::Pipeline;
use crate::search::Choice;
use crate::solver::Solver;

/// Narrowing of domains first, then search under a limit on steps.
pub struct Embedded {
    asserted: Asserted,
}

impl Embedded {
    pub fn new(types: &Types, functions: &[Function]) -> Embedded {
        Embedded {
            asserted: Asserted::new(types, functions),
        }
    }

    /// Declares the next unknown, whose values are those of a domain.
    pub fn unknown_in(&mut self, ty: &Type, domain: Domain) -> u32 {
        self.asserted.unknown_in(ty, domain)
    }

    /// With parts of the solver switched off.
    pub fn with_pipeline(mut self, pipeline: Pipeline) -> Embedded {
        self.asserted.pipeline = pipeline;
        self
    }
}

impl Solver for Embedded {
    asserts!();

    fn model(&mut self, deadline: &Deadline<'_>) -> Outcome<Vec<Value>> {
        self.asserted.query().solve(&mut Choice::Plain, deadline)
    }

    fn random_model(
        &mut self,
        rng: &mut dyn rand::Rng,
        deadline: &Deadline<'_>,
    ) -> Outcome<Vec<Value>> {
        self.asserted
            .query()
            .solve(&mut Choice::Random(rng), deadline)
    }

    fn minimum(&mut self, unknown: u32, deadline: &Deadline<'_>) -> Outcome<Value> {
        optimum(&self.asserted.query(), unknown, Sense::Smallest, deadline)
    }

    fn maximum(&mut self, unknown: u32, deadline: &Deadline<'_>) -> Outcome<Value> {
        optimum(&self.asserted.query(), unknown, Sense::Largest, deadline)
    }
}

/// `unknown != :void`.
pub(crate) fn is_set(unknown: u32) -> Expr {
    Expr::binary(BinaryOp::Ne, Expr::Param(unknown), Expr::Const(Value::Void))
}

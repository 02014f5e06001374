//! The default solver, which needs no installed program.

use ioco_sts::{BinaryOp, Expr, Function, Type, Types, Value};

use crate::optimum::{Sense, optimum};
use crate::outcome::{Deadline, Outcome};
use crate::query::Query;
use crate::search::Choice;
use crate::solver::Solver;

/// Narrowing of domains first, then search under a limit on steps.
pub struct Embedded {
    types: Types,
    functions: Vec<Function>,
    unknowns: Vec<(Type, bool)>,
    conditions: Vec<Expr>,
    marks: Vec<(usize, usize)>,
}

impl Embedded {
    pub fn new(types: &Types, functions: &[Function]) -> Embedded {
        Embedded {
            types: types.clone(),
            functions: functions.to_vec(),
            unknowns: Vec::new(),
            conditions: Vec::new(),
            marks: Vec::new(),
        }
    }

    fn query(&self) -> Query<'_> {
        let mut query = Query::new(&self.types, &self.functions);
        for (ty, void) in &self.unknowns {
            query.unknown(ty, *void);
        }
        query.conditions = self.conditions.clone();
        query
    }
}

impl Solver for Embedded {
    fn unknown(&mut self, ty: &Type) -> u32 {
        self.unknowns.push((ty.clone(), false));
        (self.unknowns.len() - 1) as u32
    }

    fn void_unknown(&mut self, ty: &Type) -> u32 {
        self.unknowns.push((ty.clone(), true));
        (self.unknowns.len() - 1) as u32
    }

    fn assert(&mut self, condition: &Expr) {
        self.conditions.push(condition.clone());
    }

    fn push(&mut self) {
        self.marks
            .push((self.unknowns.len(), self.conditions.len()));
    }

    fn pop(&mut self) {
        if let Some((unknowns, conditions)) = self.marks.pop() {
            self.unknowns.truncate(unknowns);
            self.conditions.truncate(conditions);
        }
    }

    fn check(&mut self, deadline: &Deadline<'_>) -> Outcome<()> {
        self.model(deadline).map(|_| ())
    }

    fn model(&mut self, deadline: &Deadline<'_>) -> Outcome<Vec<Value>> {
        self.query().solve(&mut Choice::Plain, deadline)
    }

    fn random_model(
        &mut self,
        rng: &mut dyn rand::Rng,
        deadline: &Deadline<'_>,
    ) -> Outcome<Vec<Value>> {
        self.query().solve(&mut Choice::Random(rng), deadline)
    }

    fn minimum(&mut self, unknown: u32, deadline: &Deadline<'_>) -> Outcome<Value> {
        optimum(&self.query(), unknown, Sense::Smallest, deadline)
    }

    fn maximum(&mut self, unknown: u32, deadline: &Deadline<'_>) -> Outcome<Value> {
        optimum(&self.query(), unknown, Sense::Largest, deadline)
    }
}

/// `unknown != :void`.
pub(crate) fn is_set(unknown: u32) -> Expr {
    Expr::binary(BinaryOp::Ne, Expr::Param(unknown), Expr::Const(Value::Void))
}

//! The asserted conditions, with the levels to go back to.

use ioco_sts::domain::{Domain, Values};
use ioco_sts::{Expr, Function, Type, Types};

use crate::pipeline::Pipeline;
use crate::query::Query;

/// Unknowns and conditions, in the order in which they came.
pub(crate) struct Asserted {
    pub pipeline: Pipeline,
    types: Types,
    functions: Vec<Function>,
    unknowns: Vec<(Type, Domain)>,
    conditions: Vec<Expr>,
    /// How many of both there were at every level.
    marks: Vec<(usize, usize)>,
}

impl Asserted {
    pub fn new(types: &Types, functions: &[Function]) -> Asserted {
        Asserted {
            pipeline: Pipeline::WHOLE,
            types: types.clone(),
            functions: functions.to_vec(),
            unknowns: Vec::new(),
            conditions: Vec::new(),
            marks: Vec::new(),
        }
    }

    pub fn unknown(&mut self, ty: &Type, void: bool) -> u32 {
        let values = Values::of_type(ty, &self.types);
        self.unknown_in(ty, Domain { values, void })
    }

    pub fn unknown_in(&mut self, ty: &Type, domain: Domain) -> u32 {
        self.unknowns.push((ty.clone(), domain));
        (self.unknowns.len() - 1) as u32
    }

    pub fn assert(&mut self, condition: &Expr) {
        self.conditions.push(condition.clone());
    }

    pub fn push(&mut self) {
        self.marks
            .push((self.unknowns.len(), self.conditions.len()));
    }

    pub fn pop(&mut self) {
        if let Some((unknowns, conditions)) = self.marks.pop() {
            self.unknowns.truncate(unknowns);
            self.conditions.truncate(conditions);
        }
    }

    /// All of it as one question.
    pub fn query(&self) -> Query<'_> {
        let mut query = Query::new(&self.types, &self.functions);
        query.unknowns.clone_from(&self.unknowns);
        query.pipeline = self.pipeline;
        query.conditions = self.conditions.clone();
        query
    }
}

/// The methods of a [`Solver`](crate::solver::Solver) that only change its field `asserted`.
macro_rules! asserts {
    () => {
        fn unknown(&mut self, ty: &Type) -> u32 {
            self.asserted.unknown(ty, false)
        }

        fn void_unknown(&mut self, ty: &Type) -> u32 {
            self.asserted.unknown(ty, true)
        }

        fn assert(&mut self, condition: &Expr) {
            self.asserted.assert(condition);
        }

        fn push(&mut self) {
            self.asserted.push();
        }

        fn pop(&mut self) {
            self.asserted.pop();
        }
    };
}

pub(crate) use asserts;

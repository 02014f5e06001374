//! The flat model: variables with domains, assignments and constraints, all over resolved names.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::diagnostic::Place;
use crate::expr::{ExprId, Exprs, Node, VarId};
use crate::syntax::tree::Operator;
use crate::value::{Domain, Symbols};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum VarKind {
    /// Part of the state.
    State,
    /// Chosen freely on every transition (`IVAR`).
    Input,
    /// Part of the state, never changes (`FROZENVAR`).
    Frozen,
}

#[derive(Clone, Debug)]
pub struct Var {
    pub name: String,
    pub domain: Domain,
    pub kind: VarKind,
    /// `init(x) := e`
    pub init: Option<ExprId>,
    /// `next(x) := e`
    pub next: Option<ExprId>,
    /// `x := e`
    pub always: Option<ExprId>,
    pub place: Place,
}

impl Var {
    /// Nothing in the model decides its next value by assignment.
    pub fn is_free(&self) -> bool {
        self.next.is_none() && self.always.is_none() && self.kind != VarKind::Frozen
    }
}

/// A section `INIT`, `TRANS` or `INVAR`.
#[derive(Clone, Debug)]
pub struct Constraint {
    pub expr: ExprId,
    pub place: Place,
}

/// An `INVARSPEC`, which can be checked.
#[derive(Clone, Debug)]
pub struct Invariant {
    pub name: Option<String>,
    pub expr: ExprId,
    pub place: Place,
}

/// A temporal specification, kept as it was written.
#[derive(Clone, Debug, Serialize)]
pub struct Specification {
    pub keyword: String,
    pub text: String,
}

/// A flat NuSMV model. Tests and goals are finite, so fairness is read and kept but plays no part.
#[derive(Clone, Debug)]
pub struct Model {
    pub file: String,
    pub vars: Vec<Var>,
    pub exprs: Exprs,
    pub symbols: Symbols,
    pub init: Vec<Constraint>,
    pub trans: Vec<Constraint>,
    pub invar: Vec<Constraint>,
    pub defines: Vec<(String, ExprId)>,
    pub invariants: Vec<Invariant>,
    pub specifications: Vec<Specification>,
    pub fairness: Vec<ExprId>,
    /// Says which process runs, when the model has processes.
    pub process_selector: Option<VarId>,
    /// It was proved that every assignment and constraint has a value in every state. Where `check` could not decide that,
    /// nothing may rely on it.
    pub(crate) trusted: bool,
    /// For every variable, its assignments as relations.
    pub(crate) relations: Vec<Relations>,
    pub(crate) modules: usize,
    pub(crate) instances: usize,
    pub(crate) processes: usize,
    pub(crate) features: BTreeSet<&'static str>,
}

/// The assignments of a variable as conditions: it is one of the values of the expression.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Relations {
    pub init: Option<ExprId>,
    pub next: Option<ExprId>,
    pub always: Option<ExprId>,
}

/// What `check` reports of a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Summary {
    pub file: String,
    pub variables: usize,
    pub state_variables: usize,
    pub input_variables: usize,
    pub frozen_variables: usize,
    pub bits: u64,
    pub modules: usize,
    pub instances: usize,
    pub processes: usize,
    pub defines: usize,
    pub init_constraints: usize,
    pub trans_constraints: usize,
    pub invar_constraints: usize,
    pub fairness: usize,
    pub invariants: usize,
    pub specifications: usize,
    pub features: Vec<String>,
}

impl Model {
    pub fn var(&self, id: VarId) -> &Var {
        &self.vars[id.index()]
    }

    pub fn var_ids(&self) -> impl Iterator<Item = VarId> + use<> {
        (0..u32::try_from(self.vars.len()).expect("fewer than 2^32 variables")).map(VarId)
    }

    pub fn var_named(&self, name: &str) -> Option<VarId> {
        self.var_ids().find(|id| self.var(*id).name == name)
    }

    pub fn summary(&self) -> Summary {
        let count = |kind| self.vars.iter().filter(|var| var.kind == kind).count();
        Summary {
            file: self.file.clone(),
            variables: self.vars.len(),
            state_variables: count(VarKind::State),
            input_variables: count(VarKind::Input),
            frozen_variables: count(VarKind::Frozen),
            bits: self
                .vars
                .iter()
                .map(|var| u64::from(var.domain.bits()))
                .sum(),
            modules: self.modules,
            instances: self.instances,
            processes: self.processes,
            defines: self.defines.len(),
            init_constraints: self.init.len(),
            trans_constraints: self.trans.len(),
            invar_constraints: self.invar.len(),
            fairness: self.fairness.len(),
            invariants: self.invariants.len(),
            specifications: self.specifications.len(),
            features: self
                .features
                .iter()
                .map(|feature| (*feature).to_owned())
                .collect(),
        }
    }

    /// Computes the relations that the assignments stand for.
    pub(crate) fn relate(&mut self) {
        let mut relations = Vec::with_capacity(self.vars.len());
        for var in self.var_ids() {
            let (init, next, always, kind) = {
                let entry = self.var(var);
                (entry.init, entry.next, entry.always, entry.kind)
            };
            let current = self.exprs.var(var);
            let later = self.exprs.add(Node::Next(var));
            let mut member = |target, value: Option<ExprId>| {
                value.map(|value| self.exprs.binary(Operator::In, target, value))
            };
            let mut relation = Relations {
                init: member(current, init),
                next: member(later, next),
                always: member(current, always),
            };
            if kind == VarKind::Frozen {
                relation.next = Some(self.exprs.binary(Operator::Equal, later, current));
            }
            relations.push(relation);
        }
        self.relations = relations;
    }
}

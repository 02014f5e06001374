//! Proofs by weakest preconditions: a condition at a location contradicts the guard of every switch that leads
//! there, or what those need in turn contradicts all that come before them, a few steps back.
//!
//! At every place the ranges of the variables and the equations between them are known (see
//! [`super::prove`] and [`super::equations`]). Only models of one process are looked at.

use std::collections::BTreeSet;

use ioco_solve::Solver as _;
use ioco_sts::domain::{Domain, Values};
use ioco_sts::{Expr, LocationId, Sts, Switch, Type, VarId};

use super::conditions::Target;
use super::equations::Equation;
use super::prove::{Analysis, Fixpoint};

/// Steps back at most.
const STEPS: u32 = 3;
/// Questions to the solver for one goal at most.
const MAX_CALLS: u32 = 60;
/// A contradiction shows soon or not at all: this part of the budget.
const SHARE: u64 = 20;

/// What must hold at a location, over variables and the parameters of the steps that follow.
#[derive(Clone)]
struct Precondition {
    location: LocationId,
    conditions: Vec<Expr>,
    parameters: Vec<Type>,
}

pub(super) struct Backward<'p, 'a> {
    sts: &'a Sts,
    analysis: &'p mut Analysis<'a>,
    found: Option<&'p Fixpoint>,
    anything: &'p [Domain],
    equations: &'p [Vec<Equation>],
    calls: u32,
}

impl<'p, 'a> Backward<'p, 'a> {
    pub fn new(
        sts: &'a Sts,
        analysis: &'p mut Analysis<'a>,
        found: Option<&'p Fixpoint>,
        anything: &'p [Domain],
        equations: &'p [Vec<Equation>],
    ) -> Backward<'p, 'a> {
        Backward {
            sts,
            analysis,
            found,
            anything,
            equations,
            calls: 0,
        }
    }

    /// Whether no way at all covers the target.
    pub fn never(&mut self, target: &Target) -> bool {
        let need = match target {
            Target::At(location, expr) => Precondition {
                location: *location,
                conditions: vec![expr.clone()],
                parameters: Vec::new(),
            },
            Target::Taking(id, expr) => {
                let switch = self.sts.switch(*id);
                Precondition {
                    location: switch.source,
                    conditions: vec![switch.enabled.clone(), expr.clone()],
                    parameters: self.types(switch),
                }
            }
        };
        self.calls = 0;
        self.contradicts(&need) || self.refuted(&need, STEPS)
    }

    fn types(&self, switch: &Switch) -> Vec<Type> {
        self.analysis.types(switch).cloned().collect()
    }

    /// Whether the need cannot be met at the start, nor by any switch that leads to its place.
    fn refuted(&mut self, need: &Precondition, steps: u32) -> bool {
        let sts = self.sts;
        let initial = sts.processes().iter().map(|p| p.initial);
        if initial.into_iter().any(|l| l == need.location) && !self.fails_initially(need) {
            return false;
        }
        let arriving: Vec<&Switch> = sts
            .switches()
            .iter()
            .enumerate()
            .filter(|(index, _)| self.found.is_none_or(|found| found.taken[*index]))
            .map(|(_, switch)| switch)
            .filter(|switch| switch.target == need.location)
            .collect();
        arriving.into_iter().all(|switch| {
            let before = self.before(need, switch);
            self.contradicts(&before) || (steps > 1 && self.refuted(&before, steps - 1))
        })
    }

    /// What must hold before a switch so that the need is met after it.
    fn before(&self, need: &Precondition, switch: &Switch) -> Precondition {
        let first = need.parameters.len() as u32;
        let mut conditions = vec![shifted(&switch.enabled, first)];
        for condition in &need.conditions {
            conditions.push(replaced(condition, &|variable| {
                let mut all = switch.update.iter();
                let assigned = all.rfind(|a| a.variable == variable);
                assigned.map_or(Expr::Var(variable), |a| shifted(&a.value, first))
            }));
        }
        let mut parameters = need.parameters.clone();
        parameters.extend(self.types(switch));
        Precondition {
            location: switch.source,
            conditions,
            parameters,
        }
    }

    fn fails_initially(&mut self, need: &Precondition) -> bool {
        let initial = |variable: VarId| Expr::Const(self.sts.variable(variable).initial.clone());
        let all = need.conditions.iter();
        let conditions = all.map(|c| replaced(c, &initial)).collect();
        let need = Precondition {
            conditions,
            ..need.clone()
        };
        self.contradicts(&need)
    }

    /// Whether the conditions exclude each other where they must hold.
    fn contradicts(&mut self, need: &Precondition) -> bool {
        self.calls += 1;
        if self.calls > MAX_CALLS {
            return false;
        }
        let slot = self.analysis.slot(need.location);
        let ranges = self.found.and_then(|found| found.ranges.get(&slot));
        let ranges = ranges.map_or(self.anything, Vec::as_slice);
        let mut solver = self.analysis.solver(ranges, &need.parameters);
        let mut read: BTreeSet<VarId> = BTreeSet::new();
        for condition in &need.conditions {
            solver.assert(&self.analysis.renamed(condition));
            read.extend(condition.vars());
        }
        // More of them would only be more to look at.
        let about = |e: &&Equation| e.variables().filter(|v| read.contains(v)).count() > 1;
        let equations = self.equations[need.location.index()].iter();
        let bounds = |variable: VarId| match ranges.get(variable.index()).map(|r| &r.values) {
            Some(Values::Int { min, max }) => (*min, *max),
            _ => (i64::MIN, i64::MAX),
        };
        let conditions = equations
            .filter(about)
            .filter_map(|equation| equation.condition(bounds));
        for equation in conditions {
            solver.assert(&self.analysis.renamed(&equation));
        }
        self.analysis.calls += 1;
        let mut effort = self.analysis.effort.clone();
        effort.steps /= SHARE;
        effort.ask(|deadline| solver.check(deadline)).is_unsat()
    }
}

fn replaced(expr: &Expr, value: &dyn Fn(VarId) -> Expr) -> Expr {
    expr.substitute(&|part| match part {
        Expr::Var(variable) => Some(value(*variable)),
        _ => None,
    })
}

/// With the parameters numbered from `first`.
fn shifted(expr: &Expr, first: u32) -> Expr {
    expr.substitute(&|part| match part {
        Expr::Param(position) => Some(Expr::Param(first + position)),
        _ => None,
    })
}

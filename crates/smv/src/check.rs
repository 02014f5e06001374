//! Static errors that need a solver: a `case` that is not exhaustive, a value outside of the domain, division by zero.
//! As in NuSMV, they are judged over all values of the domains, whatever can be reached.

use rustc_hash::FxHashMap;

use crate::circuit::Lit;
use crate::circuit::code::{decode, width};
use crate::circuit::encode::{Encoder, TooLarge};
use crate::diagnostic::{Problem, Span};
use crate::engine::Budget;
use crate::engine::sat::{Answer, Frame, Sat};
use crate::expr::{ExprId, Node, VarId};
use crate::flatten::Flat;
use crate::model::Model;
use crate::syntax::tree::Operator;
use crate::value::Value;

pub(crate) fn check(flat: &Flat) -> Vec<Problem> {
    match Checker::new(flat).run() {
        Ok(problems) => problems,
        Err(TooLarge(reason)) => vec![Problem::error(Span::default(), reason)],
    }
}

struct Checker<'m> {
    flat: &'m Flat,
    model: &'m Model,
    encoder: Encoder<'m>,
    sat: Sat<'m>,
    frame: Frame,
    undefined: FxHashMap<ExprId, Lit>,
    problems: Vec<Problem>,
}

/// The questions are small; they need no limit of their own.
const PATIENT: Budget<'static> = Budget {
    clock: &|| 0.0,
    stop: &|| false,
    until: f64::INFINITY,
    literals: usize::MAX,
};

impl<'m> Checker<'m> {
    fn new(flat: &'m Flat) -> Self {
        let model = &flat.model;
        let all: Vec<VarId> = model.var_ids().collect();
        Self {
            flat,
            model,
            encoder: Encoder::new(&model.exprs, &model.vars, &all),
            sat: Sat::new(PATIENT),
            frame: Frame::default(),
            undefined: FxHashMap::default(),
            problems: Vec::new(),
        }
    }

    fn run(mut self) -> Result<Vec<Problem>, TooLarge> {
        for var in self.model.var_ids() {
            for next in [false, true] {
                let lit = self.encoder.in_domain(var, next);
                self.frame
                    .require(&mut self.sat, &self.encoder.aig, lit, None);
            }
        }
        for var in self.model.var_ids() {
            let entry = self.model.var(var);
            for (kind, value) in [
                ("init", entry.init),
                ("always", entry.always),
                ("next", entry.next),
            ] {
                let Some(value) = value else { continue };
                let span = self
                    .flat
                    .assign_spans
                    .get(&(var, kind))
                    .copied()
                    .unwrap_or_default();
                self.defined(value, span)?;
                self.in_range(var, value, span)?;
            }
        }
        let constraints: Vec<ExprId> = self
            .model
            .init
            .iter()
            .chain(&self.model.trans)
            .chain(&self.model.invar)
            .map(|constraint| constraint.expr)
            .chain(self.model.invariants.iter().map(|invariant| invariant.expr))
            .collect();
        for constraint in constraints {
            self.defined(constraint, Span::default())?;
        }
        Ok(self.problems)
    }

    fn possible(&mut self, lit: Lit) -> bool {
        if lit == Lit::FALSE {
            return false;
        }
        let assumption = self.frame.literal(&mut self.sat, &self.encoder.aig, lit);
        self.sat.solve(&[assumption]) == Answer::Yes
    }

    /// The values that the solver found, of the variables that an expression mentions.
    fn example(&mut self, expr: ExprId) -> String {
        let (current, next) = self.model.exprs.variables(expr);
        let mut parts = Vec::new();
        for (vars, is_next) in [(current, false), (next, true)] {
            for var in vars {
                let entry = self.model.var(var);
                let lits = if is_next {
                    &self.encoder.next[var.index()]
                } else {
                    &self.encoder.current[var.index()]
                };
                let bits: Vec<bool> = lits
                    .iter()
                    .take(width(&entry.domain))
                    .map(|lit| {
                        self.frame
                            .lits
                            .get(&lit.gate())
                            .is_some_and(|literal| self.sat.value(*literal))
                    })
                    .collect();
                let value = self.model.symbols.text(decode(&entry.domain, &bits));
                let name = if is_next {
                    format!("next({})", entry.name)
                } else {
                    entry.name.clone()
                };
                parts.push(format!("{name} = {value}"));
            }
        }
        if parts.len() > 6 {
            parts.truncate(6);
            parts.push("...".to_owned());
        }
        parts.join(", ")
    }

    fn defined(&mut self, expr: ExprId, span: Span) -> Result<(), TooLarge> {
        let (case, division) = self.suspects(expr);
        if case.is_empty() && !division {
            return Ok(());
        }
        let lit = self.encoder.undefined(expr, &mut self.undefined)?;
        if !self.possible(lit) {
            return Ok(());
        }
        let example = self.example(expr);
        let hint = if example.is_empty() {
            String::new()
        } else {
            format!("for example when {example}")
        };
        // The innermost case that can fall through is the one to show.
        for inner in case {
            let lit = self.encoder.undefined(inner, &mut self.undefined)?;
            if self.possible(lit) {
                let span = self.flat.case_spans.get(&inner).copied().unwrap_or(span);
                self.problems.push(
                    Problem::error(span, "the conditions of this case are not exhaustive")
                        .hint(hint),
                );
                return Ok(());
            }
        }
        self.problems
            .push(Problem::error(span, "division by zero is possible").hint(hint));
        Ok(())
    }

    /// Open cases below an expression, innermost first, and whether a division may fail.
    fn suspects(&self, expr: ExprId) -> (Vec<ExprId>, bool) {
        let (mut cases, mut division) = (Vec::new(), false);
        self.model.exprs.visit(
            expr,
            &mut crate::expr::Seen::default(),
            &mut |id, node| match node {
                Node::Case(branches) => {
                    let last = branches[branches.len() - 1].0;
                    if !matches!(self.model.exprs.node(last), Node::Const(Value::Bool(true))) {
                        cases.push(id);
                    }
                }
                Node::Binary(Operator::Divide | Operator::Modulo, _, divisor) => {
                    division |= !matches!(self.model.exprs.node(*divisor), Node::Const(_));
                }
                _ => {}
            },
        );
        cases.sort_unstable();
        (cases, division)
    }

    fn in_range(&mut self, var: VarId, value: ExprId, span: Span) -> Result<(), TooLarge> {
        let entry = self.model.var(var);
        let lit = self.encoder.outside(value, &entry.domain)?;
        if self.possible(lit) {
            let example = self.example(value);
            let message = format!(
                "`{}` can get a value outside of its domain {}",
                entry.name,
                entry.domain.text(&self.model.symbols)
            );
            let problem = Problem::error(span, message);
            self.problems.push(if example.is_empty() {
                problem
            } else {
                problem.hint(format!("for example when {example}"))
            });
        }
        Ok(())
    }
}

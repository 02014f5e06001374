//! Static errors that need a solver: a `case` that is not exhaustive, a value outside of the domain, division by zero.
//! As in NuSMV, they are judged over all values of the domains, whatever can be reached.
//!
//! A question may be as hard as factoring a number, so the solver works within a budget of steps; what it leaves open is a
//! warning, and nothing relies on it later.

use std::sync::atomic::{AtomicU64, Ordering};

use ioco_budget::{Budget as Limits, Exhausted, Halted, Interrupt, Resource};
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
use crate::types::Types;
use crate::value::Value;

/// What there is to say, and whether every assignment and constraint was proved to have a value.
pub(crate) fn check(flat: &Flat, limits: &Limits, interrupt: &Interrupt) -> (Vec<Problem>, bool) {
    let spent = AtomicU64::new(0);
    let cost = AtomicU64::new(1);
    let stop = || {
        let cost = cost.load(Ordering::Relaxed);
        interrupt.is_raised() || spent.fetch_add(cost, Ordering::Relaxed) >= limits.steps
    };
    let budget = Budget {
        clock: &|| 0.0,
        stop: &stop,
        until: f64::INFINITY,
        literals: usize::MAX,
    };
    let mut checker = Checker::new(flat, budget, &cost);
    match checker.run() {
        Ok(()) => {}
        Err(TooLarge(reason)) => return (vec![Problem::error(Span::default(), reason)], false),
    }
    let undecided = checker.undecided.len();
    let mut problems = checker.problems;
    let why = match interrupt.is_raised() {
        true => Halted::Interrupted,
        false => Halted::Exhausted(Exhausted {
            resource: Resource::Steps,
            limit: limits.steps,
        }),
    };
    for (span, what) in checker.undecided.into_iter().take(SHOWN_UNDECIDED) {
        problems
            .push(Problem::warning(span, format!("{what} was not decided")).hint(why.to_string()));
    }
    if undecided > SHOWN_UNDECIDED {
        let more = undecided - SHOWN_UNDECIDED;
        let message = format!("{more} more questions were not decided");
        problems.push(Problem::warning(Span::default(), message));
    }
    (problems, undecided == 0 && !may_be_empty(&flat.model))
}

/// Questions that are shown one by one.
const SHOWN_UNDECIDED: usize = 5;

/// A decision in a solver with so many literals counts as one step more.
const LITERALS_PER_STEP: usize = 4096;

/// Whether a range in the model can be empty, which leaves what it belongs to without a value.
fn may_be_empty(model: &Model) -> bool {
    let mut types = Types::default();
    let mut is_full = |low: ExprId, high: ExprId| {
        let low = types.of(&model.exprs, &model.vars, low).integer;
        let high = types.of(&model.exprs, &model.vars, high).integer;
        low.zip(high)
            .is_some_and(|((_, most_low), (least_high, _))| most_low <= least_high)
    };
    model.exprs.nodes().any(|node| match node {
        Node::Range(low, high) => !is_full(*low, *high),
        _ => false,
    })
}

struct Checker<'m> {
    flat: &'m Flat,
    model: &'m Model,
    encoder: Encoder<'m>,
    sat: Sat<'m>,
    frame: Frame,
    undefined: FxHashMap<ExprId, Lit>,
    problems: Vec<Problem>,
    /// What the solver did not decide, and where it stands.
    undecided: Vec<(Span, String)>,
    /// Of one decision of the solver.
    cost: &'m AtomicU64,
}

impl<'m> Checker<'m> {
    fn new(flat: &'m Flat, budget: Budget<'m>, cost: &'m AtomicU64) -> Self {
        let model = &flat.model;
        let all: Vec<VarId> = model.var_ids().collect();
        Self {
            flat,
            model,
            encoder: Encoder::new(&model.exprs, &model.vars, &all),
            sat: Sat::new(budget),
            frame: Frame::default(),
            undefined: FxHashMap::default(),
            problems: Vec::new(),
            undecided: Vec::new(),
            cost,
        }
    }

    fn run(&mut self) -> Result<(), TooLarge> {
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
        Ok(())
    }

    fn possible(&mut self, lit: Lit) -> Answer {
        if lit == Lit::FALSE {
            return Answer::No;
        }
        let assumption = self.frame.literal(&mut self.sat, &self.encoder.aig, lit);
        let cost = 1 + self.sat.literals() / LITERALS_PER_STEP;
        self.cost.store(cost as u64, Ordering::Relaxed);
        self.sat.solve(&[assumption])
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
        match self.possible(lit) {
            Answer::No => return Ok(()),
            Answer::Unknown => {
                let what = match case.is_empty() {
                    true => "whether a division by zero is possible here",
                    false => "whether this has a value in every state",
                };
                self.undecided.push((span, what.to_owned()));
                return Ok(());
            }
            Answer::Yes => {}
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
            if self.possible(lit) == Answer::Yes {
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
        let answer = self.possible(lit);
        if answer == Answer::Unknown {
            let what = format!("whether `{}` stays in its domain", entry.name);
            self.undecided.push((span, what));
        }
        if answer == Answer::Yes {
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

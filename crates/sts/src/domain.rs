//! The values with which a guard can hold, where there are finitely many.

use std::cell::Cell;
use std::collections::BTreeSet;

use ioco_budget::{Budget, Exhausted};

use crate::eval::{Env, EvalError};
use crate::expr::{BinaryOp, Expr, UnaryOp};
use crate::ids::LabelId;
use crate::sts::Sts;
use crate::types::{IntRange, Type};
use crate::value::Value;

/// A parameter of more values than this counts as unbounded.
const MAX_VALUES: usize = 65_536;

/// So many combinations of values are tried for each that may be found.
const TRIES_PER_VALUE: usize = 64;

/// Structures within structures, at most: one that contains itself has no end.
const MAX_NESTING: usize = 16;

/// The range without a number in it.
const NOTHING: IntRange = IntRange {
    min: i64::MAX,
    max: i64::MIN,
};

/// Why the values cannot be listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unlisted {
    /// This parameter has too many values.
    Open(usize),
    /// The guard could not be evaluated.
    Exhausted(Exhausted),
}

/// All values of the label's parameters under which `guard` holds, with the parameters that are not
/// `open` unset; at most `most`. `steps` are those left for evaluation.
pub fn values(
    sts: &Sts,
    label: LabelId,
    guard: &Expr,
    open: &[usize],
    valuation: &[Value],
    most: usize,
    steps: &mut u64,
) -> Result<Vec<Vec<Value>>, Unlisted> {
    let parameters = &sts.label(label).parameters;
    let work = Work {
        budget: *sts.budget(),
        left: Cell::new(*steps),
        exhausted: Cell::new(None),
    };
    let mut search = Search {
        sts,
        types: &parameters.iter().map(|p| &p.ty).collect::<Vec<_>>(),
        guard,
        valuation,
        most,
        found: Vec::new(),
        tries: 0,
        work: &work,
    };
    let mut chosen = vec![Value::Void; parameters.len()];
    let listed = search.choose(&mut chosen, open);
    *steps = work.left.get();
    match (work.exhausted.get(), listed) {
        (Some(exhausted), _) => Err(Unlisted::Exhausted(exhausted)),
        (None, Err(position)) => Err(Unlisted::Open(position)),
        (None, Ok(())) => Ok(search.found),
    }
}

struct Search<'a> {
    sts: &'a Sts,
    /// Of the parameters.
    types: &'a [&'a Type],
    guard: &'a Expr,
    valuation: &'a [Value],
    most: usize,
    found: Vec<Vec<Value>>,
    tries: usize,
    work: &'a Work,
}

/// The work of evaluation.
struct Work {
    budget: Budget,
    left: Cell<u64>,
    /// A limit that evaluation reached: then nothing is certain.
    exhausted: Cell<Option<Exhausted>>,
}

impl Work {
    /// The value, or `None` where there is none.
    fn evaluate(&self, expr: &Expr, env: Env<'_>) -> Option<Value> {
        let budget = Budget {
            steps: self.budget.steps.min(self.left.get()),
            ..self.budget
        };
        let (result, spent) = expr.eval_within(env, &budget);
        self.left.set(self.left.get().saturating_sub(spent));
        if let Err(EvalError::Exhausted(exhausted)) = result {
            let limit = exhausted.limit.max(self.budget.limit(exhausted.resource));
            self.exhausted.set(Some(Exhausted { limit, ..exhausted }));
        }
        result.ok()
    }
}

impl Search<'_> {
    fn env<'b>(&'b self, chosen: &'b [Value]) -> Env<'b> {
        Env {
            variables: self.valuation,
            parameters: chosen,
            functions: self.sts.functions(),
        }
    }

    /// Gives values to the open parameters, one after the other, the most constrained one first:
    /// what it is given may fix the next.
    fn choose(&mut self, chosen: &mut Vec<Value>, open: &[usize]) -> Result<(), usize> {
        if open.is_empty() {
            let value = self.work.evaluate(self.guard, self.env(chosen));
            if value == Some(Value::Bool(true)) {
                self.found.push(chosen.clone());
            }
            return Ok(());
        }
        let mut best: Option<(usize, Vec<Value>)> = None;
        for &position in open {
            let scope = Scope {
                env: self.env(chosen),
                open,
                parameter: position,
                work: self.work,
                most: self.most,
            };
            let candidates = scope.candidates(self.sts, self.guard, self.types[position]);
            if let Some(candidates) = candidates
                && best.as_ref().is_none_or(|b| candidates.len() < b.1.len())
            {
                best = Some((position, candidates));
            }
        }
        let Some((position, candidates)) = best else {
            return Err(open[0]);
        };
        let rest: Vec<usize> = open.iter().copied().filter(|p| *p != position).collect();
        for value in candidates {
            chosen[position] = value;
            self.choose(chosen, &rest)?;
            self.tries += 1;
            let most_tries = self.most.saturating_mul(TRIES_PER_VALUE);
            let ended = self.work.exhausted.get().is_some();
            if ended || self.found.len() > self.most || self.tries > most_tries {
                return Err(position);
            }
        }
        chosen[position] = Value::Void;
        Ok(())
    }
}

struct Scope<'a> {
    env: Env<'a>,
    /// The parameters without a value yet.
    open: &'a [usize],
    parameter: usize,
    work: &'a Work,
    most: usize,
}

impl Scope<'_> {
    /// A list with every value of the parameter that `guard` can hold with, or `None` when there
    /// are too many.
    fn candidates(&self, sts: &Sts, guard: &Expr, ty: &Type) -> Option<Vec<Value>> {
        let listed = self.listed(guard);
        let values: BTreeSet<Value> = match listed {
            Some(values) => values
                .into_iter()
                .filter_map(|value| sts.types().converted(&value, ty))
                .collect(),
            None => {
                let most = self.most.min(MAX_VALUES);
                let mut values = finite(sts, ty, self.interval(guard), most, 0)?;
                values.insert(Value::Void);
                values
            }
        };
        let fitting = values.into_iter().filter(|v| sts.types().fits(v, ty));
        Some(fitting.collect())
    }

    fn is_parameter(&self, expr: &Expr) -> bool {
        matches!(expr, Expr::Param(position) if *position as usize == self.parameter)
    }

    /// The value of an expression that speaks of no open parameter. An error makes the condition
    /// that it stands in false.
    fn known(&self, expr: &Expr) -> Option<Result<Value, ()>> {
        let closed = expr
            .params()
            .iter()
            .all(|p| !self.open.contains(&(*p as usize)));
        closed.then(|| self.work.evaluate(expr, self.env).ok_or(()))
    }

    /// The values of the parameter that `expr` can hold with, where it lists them.
    fn listed(&self, expr: &Expr) -> Option<Vec<Value>> {
        if let Some(known) = self.known(expr) {
            let holds = known == Ok(Value::Bool(true));
            return if holds { None } else { Some(Vec::new()) };
        }
        match expr {
            Expr::Binary(BinaryOp::And, both) => {
                match (self.listed(&both[0]), self.listed(&both[1])) {
                    (Some(a), Some(b)) => Some(if a.len() <= b.len() { a } else { b }),
                    (a, b) => a.or(b),
                }
            }
            Expr::Binary(BinaryOp::Or, both) => {
                let mut values = self.listed(&both[0])?;
                values.extend(self.listed(&both[1])?);
                Some(values)
            }
            Expr::Binary(BinaryOp::Eq, both) => {
                let other = match &**both {
                    [left, right] if self.is_parameter(left) => right,
                    [left, right] if self.is_parameter(right) => left,
                    _ => return None,
                };
                Some(self.known(other)?.into_iter().collect())
            }
            Expr::InSet(subject, items) if self.is_parameter(subject) => {
                let mut values = Vec::new();
                for item in items {
                    // After an item without a value nothing more is looked at.
                    match self.known(item)? {
                        Ok(value) => values.push(value),
                        Err(()) => break,
                    }
                }
                Some(values)
            }
            _ if self.is_parameter(expr) => Some(vec![Value::Bool(true)]),
            Expr::Unary(UnaryOp::Not, inner) if self.is_parameter(inner) => {
                Some(vec![Value::Bool(false)])
            }
            _ => None,
        }
    }

    /// Bounds of the parameter as an integer, where `expr` gives any.
    fn interval(&self, expr: &Expr) -> IntRange {
        if let Some(known) = self.known(expr)
            && known != Ok(Value::Bool(true))
        {
            return NOTHING;
        }
        match expr {
            Expr::Binary(BinaryOp::And, both) => {
                let (a, b) = (self.interval(&both[0]), self.interval(&both[1]));
                IntRange {
                    min: a.min.max(b.min),
                    max: a.max.min(b.max),
                }
            }
            Expr::Binary(BinaryOp::Or, both) => {
                let (a, b) = (self.interval(&both[0]), self.interval(&both[1]));
                IntRange {
                    min: a.min.min(b.min),
                    max: a.max.max(b.max),
                }
            }
            Expr::Binary(op, both) => {
                let (left, right) = (&both[0], &both[1]);
                if self.is_parameter(left) {
                    self.bound(*op, right)
                } else if self.is_parameter(right) {
                    self.bound(mirrored(*op), left)
                } else {
                    IntRange::FULL
                }
            }
            Expr::InRange(all) if self.is_parameter(&all[0]) => IntRange {
                min: self.bound(BinaryOp::Ge, &all[1]).min,
                max: self.bound(BinaryOp::Le, &all[2]).max,
            },
            _ => IntRange::FULL,
        }
    }

    /// `parameter op limit`, strict comparisons taken as if they were not: a value too many is
    /// sorted out when the whole guard is evaluated.
    fn bound(&self, op: BinaryOp, limit: &Expr) -> IntRange {
        let Some(Ok(Value::Int(limit))) = self.known(limit) else {
            return IntRange::FULL;
        };
        match op {
            BinaryOp::Lt | BinaryOp::Le => IntRange {
                max: limit,
                ..IntRange::FULL
            },
            BinaryOp::Gt | BinaryOp::Ge => IntRange {
                min: limit,
                ..IntRange::FULL
            },
            BinaryOp::Eq => IntRange {
                min: limit,
                max: limit,
            },
            _ => IntRange::FULL,
        }
    }
}

fn mirrored(op: BinaryOp) -> BinaryOp {
    match op {
        BinaryOp::Lt => BinaryOp::Gt,
        BinaryOp::Le => BinaryOp::Ge,
        BinaryOp::Gt => BinaryOp::Lt,
        BinaryOp::Ge => BinaryOp::Le,
        other => other,
    }
}

/// All values of a type but `:void`, within bounds where it is one of integers; `None` where there
/// are more than `most`.
fn finite(
    sts: &Sts,
    ty: &Type,
    within: IntRange,
    most: usize,
    nesting: usize,
) -> Option<BTreeSet<Value>> {
    if nesting > MAX_NESTING {
        return None;
    }
    match ty {
        Type::Bool => Some([false, true].map(Value::Bool).into()),
        Type::Enum(id) => {
            let members = sts.types().enums.get(id.index())?.members.len() as u32;
            Some(
                (0..members)
                    .map(|member| Value::Enum(*id, member))
                    .collect(),
            )
        }
        Type::Struct(id) => {
            let mut combinations: Vec<Vec<Value>> = vec![Vec::new()];
            for (_, field) in &sts.types().structs.get(id.index())?.fields {
                let mut choices = finite(sts, field, IntRange::FULL, most, nesting + 1)?;
                choices.insert(Value::Void);
                if combinations.len().saturating_mul(choices.len()) > most {
                    return None;
                }
                combinations = combinations
                    .iter()
                    .flat_map(|start| {
                        choices
                            .iter()
                            .map(move |c| start.iter().chain([c]).cloned().collect())
                    })
                    .collect();
            }
            let values = combinations
                .into_iter()
                .map(|fields| Value::Struct(*id, fields.into()));
            Some(values.collect())
        }
        _ => {
            let range = ty.int_range()?;
            let (min, max) = (range.min.max(within.min), range.max.min(within.max));
            let count = i128::from(max) - i128::from(min) + 1;
            (count <= most as i128).then(|| (min..=max).map(Value::Int).collect())
        }
    }
}

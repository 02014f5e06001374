//! The values that a switch can be taken with, where there are finitely many.

use std::collections::BTreeSet;

use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive as _;

use crate::eval::Env;
use crate::expr::{BinaryOp, Expr, UnaryOp};
use crate::ids::LabelId;
use crate::label::Direction;
use crate::sts::{Sts, Switch};
use crate::types::{IntRange, Type};
use crate::value::Value;

/// A parameter of more values than this counts as unbounded.
const MAX_VALUES: usize = 65_536;

/// More combinations of values than this are not tried.
const MAX_TRIES: usize = 1 << 22;

/// The range without a number in it.
const NOTHING: IntRange = IntRange {
    min: i64::MAX,
    max: i64::MIN,
};

/// All values of the label's parameters under which the switch is enabled, with the parameters of a
/// stimulus that its guard does not mention unset. The error is the position of a parameter that
/// cannot be listed.
pub fn values(
    sts: &Sts,
    label: LabelId,
    switch: &Switch,
    valuation: &[Value],
    limit: usize,
) -> Result<Vec<Vec<Value>>, usize> {
    let label = sts.label(label);
    let mentioned = switch.guard.params();
    let mut open: Vec<usize> = (0..label.parameters.len()).collect();
    if label.direction == Direction::Stimulus {
        open.retain(|position| mentioned.contains(&(*position as u32)));
    }
    let mut search = Search {
        sts,
        types: &label.parameters.iter().map(|p| &p.ty).collect::<Vec<_>>(),
        switch,
        valuation,
        max: MAX_VALUES.max(limit),
        found: Vec::new(),
        tries: 0,
    };
    let mut chosen = vec![Value::Void; label.parameters.len()];
    search.choose(&mut chosen, &open)?;
    Ok(search.found)
}

struct Search<'a> {
    sts: &'a Sts,
    /// Of the parameters.
    types: &'a [&'a Type],
    switch: &'a Switch,
    valuation: &'a [Value],
    max: usize,
    found: Vec<Vec<Value>>,
    tries: usize,
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
            if self.switch.enabled.holds(self.env(chosen)).unwrap_or(false) {
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
            };
            let candidates = scope.candidates(self.sts, &self.switch.enabled, self.types[position]);
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
            if self.found.len() > self.max || self.tries > MAX_TRIES {
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
}

impl Scope<'_> {
    /// A list with every value of the parameter that `guard` can hold with, or `None` when there
    /// are too many.
    fn candidates(&self, sts: &Sts, guard: &Expr, ty: &Type) -> Option<Vec<Value>> {
        let listed = self.listed(guard);
        let values: BTreeSet<Value> = match listed {
            Some(values) => values.into_iter().filter_map(|v| as_type(v, ty)).collect(),
            None => {
                let mut values = finite(sts, ty, self.interval(guard))?;
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
        closed.then(|| expr.eval(self.env).map_err(|_| ()))
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

/// An equal value of another kind, where the type needs it: numbers compare across kinds.
fn as_type(value: Value, ty: &Type) -> Option<Value> {
    match (&value, ty) {
        (Value::Int(number), Type::Decimal) => Some(Value::Decimal(Decimal::from(*number))),
        (Value::Decimal(number), Type::Int(_) | Type::Date | Type::Time) => {
            let whole = number.is_integer().then(|| number.to_i64()).flatten();
            whole.map(Value::Int)
        }
        _ => Some(value),
    }
}

/// All values of a type but `:void`, within bounds where it is one of integers.
fn finite(sts: &Sts, ty: &Type, within: IntRange) -> Option<BTreeSet<Value>> {
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
                let mut choices = finite(sts, field, IntRange::FULL)?;
                choices.insert(Value::Void);
                if combinations.len().saturating_mul(choices.len()) > MAX_VALUES {
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
            (count <= MAX_VALUES as i128).then(|| (min..=max).map(Value::Int).collect())
        }
    }
}

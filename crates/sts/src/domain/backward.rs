//! Narrowing: what the unknowns must be for a condition to come out as wanted. Every value taken
//! away is impossible; what cannot be narrowed is left as it is.

mod arithmetic;

use rust_decimal::Decimal;

use super::Effort;
use super::forward::{ExprValues, View};
use super::set::{Domain, Empty, Values, integers_between};
use crate::expr::{BinaryOp, Expr, UnaryOp};
use crate::sts::Function;
use crate::types::{Type, Types};
use crate::value::Value;

pub struct Narrower<'a> {
    pub domains: &'a mut [Domain],
    pub types: &'a Types,
    /// The types of the unknowns.
    pub type_of: &'a dyn Fn(u32) -> Option<&'a Type>,
    /// The values of variables, where they are known.
    pub variables: &'a [Value],
    pub functions: &'a [Function],
    pub effort: &'a dyn Effort,
    pub changed: bool,
}

type Narrowed = Result<(), Empty>;

impl Narrower<'_> {
    pub(super) fn values_of(&self, expr: &Expr) -> ExprValues {
        View {
            domains: self.domains,
            variables: self.variables,
            functions: self.functions,
            effort: self.effort,
        }
        .values_of(expr)
    }

    /// `expr` has a value, and it is the truth `want`.
    pub fn truth(&mut self, expr: &Expr, want: bool) -> Narrowed {
        match expr {
            Expr::Unary(UnaryOp::Not, inner) => self.truth(inner, !want),
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), both) => {
                // The value of one side that decides the whole.
                let decides = *op == BinaryOp::Or;
                let [left, right] = &**both;
                if want != decides {
                    self.truth(left, want)?;
                    return self.truth(right, want);
                }
                if !self.values_of(left).may_be(decides) {
                    self.truth(left, !decides)?;
                    self.truth(right, decides)
                } else if !self.values_of(right).may_be(decides) {
                    self.truth(left, decides)
                } else {
                    Ok(())
                }
            }
            Expr::Binary(op, both) => match comparison(*op, want) {
                Some(op) => self.compare(op, &both[0], &both[1]),
                None => self.value(expr, &Domain::set(Values::truth(want))),
            },
            Expr::InSet(subject, items) => self.in_set(subject, items, want),
            Expr::InRange(all) => {
                let [subject, low, high] = &**all;
                if want {
                    self.compare(BinaryOp::Le, low, subject)?;
                    return self.compare(BinaryOp::Le, subject, high);
                }
                // Outside: one of the two comparisons fails; narrow where it must be the other.
                let above = Expr::binary(BinaryOp::Le, low.clone(), subject.clone());
                let below = Expr::binary(BinaryOp::Le, subject.clone(), high.clone());
                match (
                    self.values_of(&above).may_be(false),
                    self.values_of(&below).may_be(false),
                ) {
                    (false, false) => Err(Empty),
                    (false, true) => self.compare(BinaryOp::Gt, subject, high),
                    (true, false) => self.compare(BinaryOp::Gt, low, subject),
                    (true, true) => Ok(()),
                }
            }
            _ => self.value(expr, &Domain::set(Values::truth(want))),
        }
    }

    /// `left op right`, both having values that can be compared; `op` is a comparison.
    pub fn compare(&mut self, op: BinaryOp, left: &Expr, right: &Expr) -> Narrowed {
        let (a, b) = (self.values_of(left), self.values_of(right));
        match op {
            BinaryOp::Eq => {
                if left == right {
                    return Ok(());
                }
                let void = a.void && b.void;
                let values = equal_target(&a.values, &b.values);
                self.value(left, &Domain { values, void })?;
                let values = equal_target(&b.values, &a.values);
                self.value(right, &Domain { values, void })
            }
            BinaryOp::Ne => {
                if left == right {
                    return Err(Empty);
                }
                if let Some(only) = b.domain().only() {
                    let without = without(&a.domain(), &only);
                    self.value(left, &without)?;
                }
                if let Some(only) = a.domain().only() {
                    let without = without(&b.domain(), &only);
                    self.value(right, &without)?;
                }
                Ok(())
            }
            BinaryOp::Gt => self.less(right, &b, left, &a, true),
            BinaryOp::Ge => self.less(right, &b, left, &a, false),
            BinaryOp::Lt => self.less(left, &a, right, &b, true),
            _ => self.less(left, &a, right, &b, false),
        }
    }

    fn less(
        &mut self,
        small: &Expr,
        a: &ExprValues,
        large: &Expr,
        b: &ExprValues,
        strict: bool,
    ) -> Narrowed {
        if small == large && strict {
            return Err(Empty);
        }
        if matches!(a.values, Values::Any) || matches!(b.values, Values::Any) {
            return Ok(());
        }
        self.value(
            small,
            &Domain::set(a.values.ordered(&b.values, false, strict)),
        )?;
        self.value(
            large,
            &Domain::set(b.values.ordered(&a.values, true, strict)),
        )
    }

    fn in_set(&mut self, subject: &Expr, items: &[Expr], want: bool) -> Narrowed {
        let domain = self.values_of(subject).domain();
        if !want {
            for item in items {
                if let Some(only) = self.values_of(item).domain().only() {
                    let rest = without(&self.values_of(subject).domain(), &only);
                    self.value(subject, &rest)?;
                }
            }
            return Ok(());
        }
        let mut union = Domain::set(Values::None);
        let mut last = None;
        let mut possible = 0;
        for item in items {
            let found = self.values_of(item);
            let common = Domain {
                values: domain.values.equal_to(&found.values),
                void: domain.void && found.void,
            };
            if !common.is_empty() {
                union = union.join(&common);
                last = Some(item);
                possible += 1;
            }
        }
        if union.is_empty() {
            return Err(Empty);
        }
        if !is_mixed(&domain.values, &union.values) {
            self.value(subject, &union)?;
        }
        match last {
            Some(item) if possible == 1 => self.compare(BinaryOp::Eq, subject, item),
            _ => Ok(()),
        }
    }

    /// `expr` has a value, and it is in `target`.
    fn value(&mut self, expr: &Expr, target: &Domain) -> Narrowed {
        if target.is_empty() {
            return Err(Empty);
        }
        match expr {
            Expr::Const(value) => {
                let fits = if value.is_void() {
                    target.void
                } else {
                    !Values::exactly(value).meet(&target.values).is_none()
                };
                if fits { Ok(()) } else { Err(Empty) }
            }
            Expr::Param(position) => match self.domains.get_mut(*position as usize) {
                Some(domain) => {
                    self.changed |= match (&target.values, (self.type_of)(*position)) {
                        // Equal arrays and structs may hold numbers of other kinds; those of an
                        // unknown have the kinds of its type.
                        (Values::One(value), Some(ty)) => {
                            let values = self.types.converted(value, ty);
                            domain.narrow(&Domain {
                                values: values.map_or(Values::None, Values::One),
                                void: target.void,
                            })?
                        }
                        _ => domain.narrow(target)?,
                    };
                    Ok(())
                }
                None if target.void => Ok(()),
                None => Err(Empty),
            },
            Expr::Unary(op, inner) => self.unary(*op, inner, target, expr),
            Expr::Binary(op, both) => {
                let boolean =
                    matches!(op, BinaryOp::And | BinaryOp::Or) || comparison(*op, true).is_some();
                if boolean {
                    self.boolean(expr, target)
                } else {
                    self.arithmetic(*op, &both[0], &both[1], target)
                }
            }
            Expr::InSet(..) | Expr::InRange(_) | Expr::Matches(..) => self.boolean(expr, target),
            Expr::If(all) => {
                let [condition, then, otherwise] = &**all;
                let fits = |branch: &Expr, this: &Self| {
                    let found = this.values_of(branch);
                    !Domain {
                        values: found.values.meet(&target.values),
                        void: found.void && target.void,
                    }
                    .is_empty()
                };
                let decision = self.values_of(condition);
                let yes = decision.may_be(true) && fits(then, self);
                let no = decision.may_be(false) && fits(otherwise, self);
                match (yes, no) {
                    (false, false) => Err(Empty),
                    (true, false) => {
                        self.truth(condition, true)?;
                        self.value(then, target)
                    }
                    (false, true) => {
                        self.truth(condition, false)?;
                        self.value(otherwise, target)
                    }
                    (true, true) => Ok(()),
                }
            }
            Expr::Array(_)
            | Expr::Struct(..)
            | Expr::Field(..)
            | Expr::Call(..)
            | Expr::Local(_)
            | Expr::Var(_) => {
                let found = self.values_of(expr);
                if found.domain().meet(target).is_empty() {
                    return Err(Empty);
                }
                if let (Expr::Array(items), Values::One(Value::Array(values))) =
                    (expr, &target.values)
                {
                    if items.len() != values.len() {
                        return Err(Empty);
                    }
                    // By equality: an integer there may stand for a decimal here.
                    for (item, value) in items.iter().zip(values.iter()) {
                        self.compare(BinaryOp::Eq, item, &Expr::Const(value.clone()))?;
                    }
                }
                Ok(())
            }
        }
    }

    fn boolean(&mut self, expr: &Expr, target: &Domain) -> Narrowed {
        match (target.values.may_be(true), target.values.may_be(false)) {
            (true, true) => Ok(()),
            (true, false) => self.condition(expr, true),
            (false, true) => self.condition(expr, false),
            (false, false) => Err(Empty),
        }
    }

    /// As [`Narrower::truth`], where that would come back here.
    fn condition(&mut self, expr: &Expr, want: bool) -> Narrowed {
        match expr {
            Expr::Matches(inner, _) => {
                if !self.values_of(expr).may_be(want) {
                    return Err(Empty);
                }
                let strings = Values::Str {
                    min: 0,
                    max: i64::MAX,
                };
                self.value(inner, &Domain::set(strings))
            }
            _ => self.truth(expr, want),
        }
    }

    fn unary(&mut self, op: UnaryOp, inner: &Expr, target: &Domain, whole: &Expr) -> Narrowed {
        let found = self.values_of(inner);
        match (op, &target.values, &found.values) {
            (UnaryOp::Not, _, _) => self.boolean(whole, target),
            (UnaryOp::Neg, Values::Int { min, max }, Values::Int { .. }) => {
                self.integers(inner, -i128::from(*max), -i128::from(*min))
            }
            (UnaryOp::Neg, Values::Decimal { min, max }, Values::Decimal { .. }) => {
                self.value(inner, &Domain::set(Values::decimal(-*max, -*min)))
            }
            (
                UnaryOp::Abs,
                Values::Int { min, max },
                Values::Int {
                    min: low,
                    max: high,
                },
            ) => {
                let (min, max) = (i128::from(*min).max(0), i128::from(*max));
                let mut pieces = Values::None;
                for (from, to) in [(-max, -min), (min, max)] {
                    let (from, to) = (from.max(i128::from(*low)), to.min(i128::from(*high)));
                    if from <= to {
                        pieces = pieces.join(&Values::int(from as i64, to as i64));
                    }
                }
                self.value(inner, &Domain::set(pieces))
            }
            (UnaryOp::Abs, Values::Decimal { max, .. }, Values::Decimal { .. }) => {
                self.value(inner, &Domain::set(Values::decimal(-*max, *max)))
            }
            (UnaryOp::Length, Values::Int { min, max }, Values::Str { .. }) => {
                self.sized(inner, *min, *max, |min, max| Values::Str { min, max })
            }
            (UnaryOp::Length, Values::Int { min, max }, Values::Array { .. }) => {
                self.sized(inner, *min, *max, |min, max| Values::Array { min, max })
            }
            (UnaryOp::Last, _, Values::Array { .. }) => {
                if let Expr::Array(items) = inner {
                    return match items.last() {
                        Some(last) => self.value(last, target),
                        None => Err(Empty),
                    };
                }
                self.sized(inner, 1, i64::MAX, |min, max| Values::Array { min, max })
            }
            _ => self.check(whole, target),
        }
    }

    fn sized(&mut self, inner: &Expr, min: i64, max: i64, set: fn(i64, i64) -> Values) -> Narrowed {
        let min = min.max(0);
        if min > max {
            return Err(Empty);
        }
        self.value(inner, &Domain::set(set(min, max)))
    }

    /// No narrowing of the parts: only see whether the whole can still be in `target`.
    fn check(&mut self, expr: &Expr, target: &Domain) -> Narrowed {
        let found = self.values_of(expr);
        let common = Domain {
            values: found.values.equal_to(&target.values),
            void: found.void && target.void,
        };
        if common.is_empty() {
            Err(Empty)
        } else {
            Ok(())
        }
    }

    fn index(&mut self, array: &Expr, position: &Expr, target: &Domain) -> Narrowed {
        let whole = Expr::binary(BinaryOp::Index, array.clone(), position.clone());
        self.check(&whole, target)?;
        let (of_array, found) = (self.values_of(array), self.values_of(position));
        let Values::Int { min, max } = found.values else {
            return Ok(());
        };
        let fits = |domain: &Domain| {
            !domain.values.equal_to(&target.values).is_none() || (domain.void && target.void)
        };
        let possible: Vec<bool> = match (array, &of_array.values) {
            (Expr::Array(items), _) => items
                .iter()
                .map(|i| fits(&self.values_of(i).domain()))
                .collect(),
            (_, Values::One(Value::Array(items))) => {
                items.iter().map(|i| fits(&Domain::exactly(i))).collect()
            }
            (_, Values::Array { .. }) => {
                // The array is longer than the smallest index.
                self.integers(position, 0, i128::from(i64::MAX))?;
                let shortest = min.max(0).saturating_add(1);
                return self.sized(array, shortest, i64::MAX, |min, max| Values::Array {
                    min,
                    max,
                });
            }
            _ => return Ok(()),
        };
        let within = |index: &usize| (*index as i64) >= min && (*index as i64) <= max;
        let mut indices = (0..possible.len()).filter(|i| possible[*i]).filter(within);
        let first = indices.next().ok_or(Empty)?;
        let last = indices.next_back().unwrap_or(first);
        self.integers(position, first as i128, last as i128)?;
        match array {
            Expr::Array(items) if first == last => self.value(&items[first], target),
            _ => Ok(()),
        }
    }
}

/// A side that may be an integer or a decimal cannot be narrowed to the kind of the other.
fn is_mixed(values: &Values, other: &Values) -> bool {
    matches!(values, Values::Any) && matches!(other, Values::Int { .. } | Values::Decimal { .. })
}

fn equal_target(values: &Values, other: &Values) -> Values {
    if is_mixed(values, other) {
        Values::Any
    } else {
        values.equal_to(other)
    }
}

/// The comparison that must hold for `op` to come out as `want`.
pub fn comparison(op: BinaryOp, want: bool) -> Option<BinaryOp> {
    use BinaryOp::{Eq, Ge, Gt, Le, Lt, Ne};
    Some(match (op, want) {
        (Eq, true) | (Ne, false) => Eq,
        (Eq, false) | (Ne, true) => Ne,
        (Lt, true) | (Ge, false) => Lt,
        (Le, true) | (Gt, false) => Le,
        (Gt, true) | (Le, false) => Gt,
        (Ge, true) | (Lt, false) => Ge,
        _ => return None,
    })
}

/// Numbers of the kind of `like` within decimal bounds.
fn numbers(like: &Values, min: Decimal, max: Decimal) -> Domain {
    Domain::set(match like {
        Values::Int { .. } => integers_between(min, max),
        _ => Values::decimal(min, max),
    })
}

/// `domain` without one value, as far as its shape can say so.
pub fn without(domain: &Domain, value: &Value) -> Domain {
    let mut rest = domain.clone();
    match (&mut rest.values, value) {
        (_, Value::Void) => rest.void = false,
        (Values::Bool { no, yes }, Value::Bool(value)) => {
            if *value {
                *yes = false;
            } else {
                *no = false;
            }
            if !*no && !*yes {
                rest.values = Values::None;
            }
        }
        (Values::Int { min, max }, Value::Int(value)) => {
            if min == max && min == value {
                rest.values = Values::None;
            } else if min == value {
                *min += 1;
            } else if max == value {
                *max -= 1;
            }
        }
        (Values::Member { of, min, max }, Value::Enum(id, member)) if of == id => {
            if min == max && min == member {
                rest.values = Values::None;
            } else if min == member {
                *min += 1;
            } else if max == member {
                *max -= 1;
            }
        }
        (Values::Decimal { min, max }, Value::Decimal(value)) if min == max && min == value => {
            rest.values = Values::None;
        }
        (Values::One(only), value) if only == value => rest.values = Values::None,
        _ => {}
    }
    rest
}

#[cfg(test)]
mod tests;

//! Operations on sets of values: equality, order and arithmetic, exactly as evaluation computes.

use std::cmp::Ordering;

use rust_decimal::Decimal;

use super::forward::ExprValues;
use super::set::Values;
use crate::eval::Env;
use crate::expr::{BinaryOp, Expr};
use crate::value::Value;

pub(super) fn absolute<N: Copy + Ord + std::ops::Neg<Output = N>>(
    min: N,
    max: N,
    zero: N,
) -> (N, N) {
    if min >= zero {
        (min, max)
    } else if max <= zero {
        (-max, -min)
    } else {
        (zero, max.max(-min))
    }
}

/// Integers between bounds that may lie outside 64 bits; what lies outside is an error.
pub(super) fn integers(min: i128, max: i128) -> ExprValues {
    let (least, greatest) = (i128::from(i64::MIN), i128::from(i64::MAX));
    if max < least || min > greatest {
        return ExprValues::FAILS;
    }
    ExprValues::of(Values::int(min.max(least) as i64, max.min(greatest) as i64))
        .with_error(min < least || max > greatest)
}

pub(super) fn binary(op: BinaryOp, left: &ExprValues, right: &ExprValues) -> ExprValues {
    let error = left.error || right.error;
    match op {
        BinaryOp::Eq | BinaryOp::Ne => {
            let common = left.values.equal_to(&right.values);
            let same_void = left.void && right.void;
            let may_equal = !common.is_none() || same_void;
            // Equal for certain only where both are one and the same.
            let one = match (left.domain().only(), right.domain().only()) {
                (Some(_), Some(_)) => may_equal,
                _ => false,
            };
            let (yes, no) = if op == BinaryOp::Eq {
                (may_equal, !one)
            } else {
                (!one, may_equal)
            };
            ExprValues::of(Values::Bool { no, yes }).with_error(error)
        }
        BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => {
            let Some(comparison) = left.values.comparison(&right.values) else {
                return ExprValues::FAILS;
            };
            let (yes, no) = match op {
                BinaryOp::Lt => (
                    comparison.least == Ordering::Less,
                    comparison.greatest != Ordering::Less,
                ),
                BinaryOp::Le => (
                    comparison.least != Ordering::Greater,
                    comparison.greatest == Ordering::Greater,
                ),
                BinaryOp::Gt => (
                    comparison.greatest == Ordering::Greater,
                    comparison.least != Ordering::Greater,
                ),
                _ => (
                    comparison.greatest != Ordering::Less,
                    comparison.least == Ordering::Less,
                ),
            };
            let unclear = matches!(left.values, Values::Any) || matches!(right.values, Values::Any);
            ExprValues::of(Values::Bool { no, yes })
                .with_error(error || left.void || right.void || unclear)
        }
        _ => arithmetic(op, left, right),
    }
}

fn arithmetic(op: BinaryOp, left: &ExprValues, right: &ExprValues) -> ExprValues {
    let error = left.error || right.error || left.void || right.void;
    let result = match (&left.values, &right.values) {
        (Values::Int { min: a, max: b }, Values::Int { min: c, max: d }) => {
            integer_arithmetic(op, (*a, *b), (*c, *d))
        }
        (
            Values::Int { .. } | Values::Decimal { .. },
            Values::Int { .. } | Values::Decimal { .. },
        ) => match (left.values.decimal_bounds(), right.values.decimal_bounds()) {
            (Some(a), Some(b)) => decimal_arithmetic(op, a, b),
            _ => ExprValues::ANYTHING,
        },
        (Values::One(Value::Str(a)), Values::One(Value::Str(b))) => match op {
            BinaryOp::Add => ExprValues::of(Values::One(Value::from(format!("{a}{b}").as_str()))),
            BinaryOp::Min => ExprValues::of(Values::One(Value::Str(a.min(b).clone()))),
            BinaryOp::Max => ExprValues::of(Values::One(Value::Str(a.max(b).clone()))),
            _ => ExprValues::FAILS,
        },
        (Values::One(Value::Array(a)), Values::One(Value::Array(b))) if op == BinaryOp::Add => {
            let items = a.iter().chain(b.iter()).cloned().collect();
            ExprValues::of(Values::One(Value::Array(items)))
        }
        (
            Values::Str { .. } | Values::One(Value::Str(_)),
            Values::Str { .. } | Values::One(Value::Str(_)),
        ) => {
            let ((a, b), (c, d)) = (left.values.lengths(), right.values.lengths());
            match op {
                BinaryOp::Add => ExprValues::of(Values::Str {
                    min: a.saturating_add(c),
                    max: b.saturating_add(d),
                }),
                BinaryOp::Min | BinaryOp::Max => ExprValues::of(Values::Str {
                    min: a.min(c),
                    max: b.max(d),
                }),
                _ => ExprValues::FAILS,
            }
        }
        (
            Values::Array { .. } | Values::One(Value::Array(_)),
            Values::Array { .. } | Values::One(Value::Array(_)),
        ) if op == BinaryOp::Add => {
            let ((a, b), (c, d)) = (left.values.lengths(), right.values.lengths());
            ExprValues::of(Values::Array {
                min: a.saturating_add(c),
                max: b.saturating_add(d),
            })
        }
        (
            Values::Member { of, min: a, max: b },
            Values::Member {
                of: other,
                min: c,
                max: d,
            },
        ) if of == other && matches!(op, BinaryOp::Min | BinaryOp::Max) => {
            let (min, max) = if op == BinaryOp::Min {
                (*a.min(c), *b.min(d))
            } else {
                (*a.max(c), *b.max(d))
            };
            ExprValues::of(Values::Member { of: *of, min, max })
        }
        (Values::Any, _) | (_, Values::Any) => ExprValues {
            values: Values::Any,
            void: false,
            error: true,
        },
        _ => ExprValues::FAILS,
    };
    result.with_error(error)
}

fn integer_arithmetic(op: BinaryOp, (a, b): (i64, i64), (c, d): (i64, i64)) -> ExprValues {
    let wide = i128::from;
    match op {
        BinaryOp::Add => integers(wide(a) + wide(c), wide(b) + wide(d)),
        BinaryOp::Sub => integers(wide(a) - wide(d), wide(b) - wide(c)),
        BinaryOp::Mul => {
            let corners = [
                wide(a) * wide(c),
                wide(a) * wide(d),
                wide(b) * wide(c),
                wide(b) * wide(d),
            ];
            let min = corners.iter().min().copied().unwrap_or_default();
            let max = corners.iter().max().copied().unwrap_or_default();
            integers(min, max)
        }
        BinaryOp::Min => integers(wide(a.min(c)), wide(b.min(d))),
        BinaryOp::Max => integers(wide(a.max(c)), wide(b.max(d))),
        BinaryOp::Div => {
            let mut reached = ExprValues {
                values: Values::None,
                void: false,
                error: c <= 0 && d >= 0,
            };
            for (low, high) in [(c, d.min(-1)), (c.max(1), d)] {
                if low <= high {
                    let corners =
                        [(a, low), (a, high), (b, low), (b, high)].map(|(x, y)| wide(x) / wide(y));
                    let min = corners.iter().min().copied().unwrap_or_default();
                    let max = corners.iter().max().copied().unwrap_or_default();
                    reached = reached.join(&integers(min, max));
                }
            }
            reached
        }
        BinaryOp::Rem => {
            let error = c <= 0 && d >= 0;
            if c == 0 && d == 0 {
                return ExprValues::FAILS;
            }
            if a == b && c == d {
                let rest = a.wrapping_rem(c);
                return ExprValues::of(Values::int(rest, rest));
            }
            let largest = wide(c).abs().max(wide(d).abs()) - 1;
            let min = if a >= 0 { 0 } else { wide(a).max(-largest) };
            let max = if b <= 0 { 0 } else { wide(b).min(largest) };
            integers(min, max).with_error(error)
        }
        _ => ExprValues::FAILS,
    }
}

/// Quotients by numbers of one sign. A corner that is rounded counts with one unit of its last place on either
/// side; a quotient that does not fit is an error, and the bound towards it the largest number.
fn quotients((a, b): (Decimal, Decimal), (c, d): (Decimal, Decimal)) -> ExprValues {
    let (mut min, mut max, mut error) = (Decimal::MAX, Decimal::MIN, false);
    for (x, y) in [(a, c), (a, d), (b, c), (b, d)] {
        let (low, high) = match x.checked_div(y) {
            Some(quotient) => {
                // A product with all its digits was not rounded.
                let whole = |product: &Decimal| product.scale() == quotient.scale() + y.scale();
                let is_exact = quotient.checked_mul(y).filter(whole) == Some(x);
                let unit = match is_exact {
                    true => Decimal::ZERO,
                    false => Decimal::new(1, quotient.scale()),
                };
                (quotient.saturating_sub(unit), quotient.saturating_add(unit))
            }
            None => {
                error = true;
                let end = match x.is_sign_positive() == y.is_sign_positive() {
                    true => Decimal::MAX,
                    false => Decimal::MIN,
                };
                (end, end)
            }
        };
        min = min.min(low);
        max = max.max(high);
    }
    ExprValues::of(Values::decimal(min, max)).with_error(error)
}

fn decimal_arithmetic(
    op: BinaryOp,
    (a, b): (Decimal, Decimal),
    (c, d): (Decimal, Decimal),
) -> ExprValues {
    // Exactly as evaluation computes.
    let exact = |x: Decimal, y: Decimal| {
        let both = [x, y].map(|n| Expr::Const(Value::Decimal(n)));
        let env = Env {
            variables: &[],
            parameters: &[],
            functions: &[],
        };
        match Expr::Binary(op, Box::new(both)).eval(env) {
            Ok(Value::Decimal(value)) => Some(value),
            _ => None,
        }
    };
    if a == b && c == d {
        return match exact(a, c) {
            Some(value) => ExprValues::of(Values::decimal(value, value)),
            None => ExprValues::FAILS,
        };
    }
    // Operands, what they come to, perhaps rounded, and whether that lies above zero.
    let between = |corners: &[(Decimal, Decimal, Option<Decimal>, bool)]| {
        let mut error = false;
        let mut ends: Vec<Decimal> = Vec::new();
        for (x, y, rounded, up) in corners {
            match (exact(*x, *y), rounded) {
                (Some(value), _) => ends.push(value),
                // What was rounded lies within one unit of its last place.
                (None, Some(rounded)) => {
                    error = true;
                    let unit = Decimal::new(1, rounded.scale());
                    ends.push(rounded.saturating_sub(unit));
                    ends.push(rounded.saturating_add(unit));
                }
                // A corner that does not fit is an error there; towards it the bound is the largest
                // number.
                (None, None) => {
                    error = true;
                    ends.push(if *up { Decimal::MAX } else { Decimal::MIN });
                }
            }
        }
        let min = ends.iter().min().copied().unwrap_or(Decimal::MIN);
        let max = ends.iter().max().copied().unwrap_or(Decimal::MAX);
        // Between the corners lie sums and products with more digits than fit, too; the values that
        // are tried seldom have as many, and what is found is evaluated.
        ExprValues::of(Values::decimal(min, max)).with_error(error)
    };
    match op {
        BinaryOp::Add => between(&[
            (a, c, a.checked_add(c), a.is_sign_positive()),
            (b, d, b.checked_add(d), b.is_sign_positive()),
        ]),
        BinaryOp::Sub => between(&[
            (a, d, a.checked_sub(d), a.is_sign_positive()),
            (b, c, b.checked_sub(c), b.is_sign_positive()),
        ]),
        BinaryOp::Mul => {
            let corner = |x: Decimal, y: Decimal| {
                let up = x.is_sign_positive() == y.is_sign_positive();
                (x, y, x.checked_mul(y), up)
            };
            between(&[corner(a, c), corner(a, d), corner(b, c), corner(b, d)])
        }
        BinaryOp::Min => ExprValues::of(Values::decimal(a.min(c), b.min(d))),
        BinaryOp::Max => ExprValues::of(Values::decimal(a.max(c), b.max(d))),
        BinaryOp::Div | BinaryOp::Rem if c.is_zero() && d.is_zero() => ExprValues::FAILS,
        BinaryOp::Div if c > Decimal::ZERO || d < Decimal::ZERO => quotients((a, b), (c, d)),
        BinaryOp::Div | BinaryOp::Rem => ExprValues::of(Values::DECIMAL).with_error(true),
        _ => ExprValues::FAILS,
    }
}

#[cfg(test)]
mod tests;

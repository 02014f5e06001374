//! Narrowing of what is computed with: the operands of arithmetic, from its result.

use rust_decimal::Decimal;

use super::{Narrowed, Narrower, numbers};
use crate::domain::set::{Domain, Empty, Values};
use crate::expr::{BinaryOp, Expr};
use crate::value::Value;

impl Narrower<'_> {
    pub(super) fn integers(&mut self, expr: &Expr, min: i128, max: i128) -> Narrowed {
        let (least, greatest) = (i128::from(i64::MIN), i128::from(i64::MAX));
        if min > max || max < least || min > greatest {
            return Err(Empty);
        }
        let values = Values::int(min.max(least) as i64, max.min(greatest) as i64);
        self.value(expr, &Domain::set(values))
    }

    pub(super) fn arithmetic(
        &mut self,
        op: BinaryOp,
        left: &Expr,
        right: &Expr,
        target: &Domain,
    ) -> Narrowed {
        let (a, b) = (self.values_of(left), self.values_of(right));
        match (&a.values, &b.values, &target.values) {
            (
                Values::Int { min: a, max: b },
                Values::Int { min: c, max: d },
                Values::Int { min, max },
            ) => self.integer_arithmetic(op, left, right, (*a, *b), (*c, *d), (*min, *max)),
            (
                Values::Int { .. } | Values::Decimal { .. },
                Values::Int { .. } | Values::Decimal { .. },
                Values::Decimal { min, max },
            ) if matches!(op, BinaryOp::Add | BinaryOp::Sub) => {
                self.decimal_arithmetic(op, left, right, (&a.values, &b.values), (*min, *max))
            }
            _ if op == BinaryOp::Index => self.index(left, right, target),
            (Values::Str { .. }, Values::One(Value::Str(end)), Values::One(Value::Str(text)))
                if op == BinaryOp::Add =>
            {
                let rest = text.strip_suffix(&**end).ok_or(Empty)?;
                self.value(left, &Domain::exactly(&Value::str(rest)))
            }
            (Values::One(Value::Str(start)), Values::Str { .. }, Values::One(Value::Str(text)))
                if op == BinaryOp::Add =>
            {
                let rest = text.strip_prefix(&**start).ok_or(Empty)?;
                self.value(right, &Domain::exactly(&Value::str(rest)))
            }
            _ => {
                let whole = Expr::binary(op, left.clone(), right.clone());
                self.check(&whole, target)
            }
        }
    }

    fn integer_arithmetic(
        &mut self,
        op: BinaryOp,
        left: &Expr,
        right: &Expr,
        (a, b): (i64, i64),
        (c, d): (i64, i64),
        (min, max): (i64, i64),
    ) -> Narrowed {
        let wide = i128::from;
        match op {
            BinaryOp::Add => {
                self.integers(left, wide(min) - wide(d), wide(max) - wide(c))?;
                self.integers(right, wide(min) - wide(b), wide(max) - wide(a))
            }
            BinaryOp::Sub => {
                self.integers(left, wide(min) + wide(c), wide(max) + wide(d))?;
                self.integers(right, wide(a) - wide(max), wide(b) - wide(min))
            }
            BinaryOp::Mul if left == right => {
                let largest = u64::try_from(max).map_err(|_| Empty)?.isqrt();
                self.integers(left, -i128::from(largest), i128::from(largest))
            }
            BinaryOp::Mul => {
                self.factor(left, (a, b), (c, d), (min, max))?;
                self.factor(right, (c, d), (a, b), (min, max))
            }
            BinaryOp::Div => {
                if c == 0 && d == 0 {
                    return Err(Empty);
                }
                self.not_zero(right, (c, d))?;
                let largest = wide(c).abs().max(wide(d).abs());
                // |x| <= |q| * |y| + |y| - 1
                let quotient = wide(min).abs().max(wide(max).abs());
                let bound = quotient * largest + largest - 1;
                let (mut low, mut high) = (-bound, bound);
                if c > 0 {
                    // The sign of the quotient is that of the dividend.
                    if min > 0 {
                        low = wide(min) * wide(c);
                    }
                    if max < 0 {
                        high = wide(max) * wide(c);
                    }
                    if min >= 0 {
                        low = low.max(1 - largest);
                    }
                    if max <= 0 {
                        high = high.min(largest - 1);
                    }
                }
                self.integers(left, low, high)
            }
            BinaryOp::Rem => {
                if c == 0 && d == 0 {
                    return Err(Empty);
                }
                self.not_zero(right, (c, d))?;
                if min > 0 {
                    self.integers(left, wide(min), wide(i64::MAX))?;
                }
                if max < 0 {
                    self.integers(left, wide(i64::MIN), wide(max))?;
                }
                if c == d && c != i64::MIN {
                    self.congruent(left, (a, b), c.abs(), (min, max))?;
                }
                let whole = Expr::binary(op, left.clone(), right.clone());
                self.check(&whole, &Domain::set(Values::int(min, max)))
            }
            BinaryOp::Min => {
                self.integers(left, wide(min), wide(i64::MAX))?;
                self.integers(right, wide(min), wide(i64::MAX))?;
                // One of the two is at most `max`.
                if c > max {
                    self.integers(left, wide(i64::MIN), wide(max))?;
                }
                if a > max {
                    self.integers(right, wide(i64::MIN), wide(max))?;
                }
                Ok(())
            }
            BinaryOp::Max => {
                self.integers(left, wide(i64::MIN), wide(max))?;
                self.integers(right, wide(i64::MIN), wide(max))?;
                if d < min {
                    self.integers(left, wide(min), wide(i64::MAX))?;
                }
                if b < min {
                    self.integers(right, wide(min), wide(i64::MAX))?;
                }
                Ok(())
            }
            _ => Err(Empty),
        }
    }

    /// Moves the bounds of `expr` to the next numbers whose remainder by `modulus` can be in the
    /// range, where the sign allows a simple answer.
    fn congruent(
        &mut self,
        expr: &Expr,
        (low, high): (i64, i64),
        modulus: i64,
        (min, max): (i64, i64),
    ) -> Narrowed {
        if low < 0 {
            return Ok(());
        }
        let (min, max) = (min.max(0), max.min(modulus - 1));
        if min > max {
            return Err(Empty);
        }
        let (low, high) = (i128::from(low), i128::from(high));
        let (modulus, min, max) = (i128::from(modulus), i128::from(min), i128::from(max));
        let rest = low % modulus;
        let low = if rest > max {
            low - rest + modulus + min
        } else {
            low.max(low - rest + min)
        };
        let rest = high % modulus;
        let high = if rest < min {
            high - rest - modulus + max
        } else {
            high.min(high - rest + max)
        };
        self.integers(expr, low, high)
    }

    fn not_zero(&mut self, expr: &Expr, (low, high): (i64, i64)) -> Narrowed {
        if low == 0 {
            self.integers(expr, 1, i128::from(i64::MAX))
        } else if high == 0 {
            self.integers(expr, i128::from(i64::MIN), -1)
        } else {
            Ok(())
        }
    }

    /// Bounds of one factor from the product and the other factor.
    fn factor(
        &mut self,
        expr: &Expr,
        (low, high): (i64, i64),
        (c, d): (i64, i64),
        (min, max): (i64, i64),
    ) -> Narrowed {
        if c <= 0 && d >= 0 {
            // The other factor may be zero: only a product that cannot be zero says something.
            if min <= 0 && max >= 0 {
                return self.integers(expr, i128::from(low), i128::from(high));
            }
            let largest = i128::from(min).abs().max(i128::from(max).abs());
            return self.integers(expr, -largest, largest);
        }
        // x = p / y for real p and y; rounded inwards, since x is an integer.
        let (mut from, mut to) = (i128::MAX, i128::MIN);
        for product in [min, max] {
            for other in [c, d] {
                let (product, other) = (i128::from(product), i128::from(other));
                let floor = product.div_euclid(other)
                    - i128::from(other < 0 && product.rem_euclid(other) != 0);
                let ceiling = floor + i128::from(product % other != 0);
                from = from.min(ceiling);
                to = to.max(floor);
            }
        }
        // All corners may round away from each other although zero lies between them.
        if min <= 0 && max >= 0 {
            from = from.min(0);
            to = to.max(0);
        }
        self.integers(expr, from.max(i128::from(low)), to.min(i128::from(high)))
    }

    fn decimal_arithmetic(
        &mut self,
        op: BinaryOp,
        left: &Expr,
        right: &Expr,
        (a, b): (&Values, &Values),
        (min, max): (Decimal, Decimal),
    ) -> Narrowed {
        let (Some((low_a, high_a)), Some((low_b, high_b))) =
            (a.decimal_bounds(), b.decimal_bounds())
        else {
            return Ok(());
        };
        // Decimals round beyond 28 digits: a bound counts only where it can be undone exactly.
        let plus = |x: Decimal, y: Decimal| {
            x.checked_add(y)
                .filter(|sum| sum.checked_sub(y) == Some(x) && sum.checked_sub(x) == Some(y))
        };
        let minus = |x: Decimal, y: Decimal| plus(x, -y);
        let (least, greatest) = (Decimal::MIN, Decimal::MAX);
        let (left_bounds, right_bounds) = if op == BinaryOp::Add {
            (
                (minus(min, high_b), minus(max, low_b)),
                (minus(min, high_a), minus(max, low_a)),
            )
        } else {
            (
                (plus(min, low_b), plus(max, high_b)),
                (minus(low_a, max), minus(high_a, min)),
            )
        };
        let domain = |values: &Values, (low, high): (Option<Decimal>, Option<Decimal>)| {
            numbers(values, low.unwrap_or(least), high.unwrap_or(greatest))
        };
        self.value(left, &domain(a, left_bounds))?;
        self.value(right, &domain(b, right_bounds))
    }
}

//! Operations on values that are known.

use std::cmp::Ordering;

use rust_decimal::Decimal;

use super::EvalError;
use crate::decimal;
use crate::expr::BinaryOp;
use crate::value::Value;

/// Bytes of text that cost one step to compare, to join or to search.
pub const BYTES_PER_STEP: u64 = 64;

/// The steps that an operation on a value costs beyond the first.
pub fn size(value: &Value) -> u64 {
    match value {
        Value::Str(text) => text.len() as u64 / BYTES_PER_STEP,
        Value::Array(items) => items.len() as u64 / 8,
        _ => 0,
    }
}

/// A variable or parameter that has no slot is unset.
pub fn slot(values: &[Value], index: usize) -> &Value {
    values.get(index).unwrap_or(&Value::Void)
}

pub fn binary(op: BinaryOp, left: &Value, right: &Value) -> Result<Value, EvalError> {
    let ordered = |symbol, test: fn(Ordering) -> bool| {
        compare(symbol, left, right).map(|ordering| Value::Bool(test(ordering)))
    };
    match op {
        BinaryOp::Eq => Ok(Value::Bool(equal(left, right))),
        BinaryOp::Ne => Ok(Value::Bool(!equal(left, right))),
        BinaryOp::Lt => ordered("<", Ordering::is_lt),
        BinaryOp::Le => ordered("<=", Ordering::is_le),
        BinaryOp::Gt => ordered(">", Ordering::is_gt),
        BinaryOp::Ge => ordered(">=", Ordering::is_ge),
        BinaryOp::Index => match (left, right) {
            (Value::Array(items), Value::Int(index)) => usize::try_from(*index)
                .ok()
                .and_then(|index| items.get(index))
                .cloned()
                .ok_or(EvalError::BadIndex(*index, items.len())),
            (Value::Array(_), other) => Err(EvalError::Kind("an index", other.kind())),
            (other, _) => Err(EvalError::Kind("[ ]", other.kind())),
        },
        BinaryOp::Min => compare("min()", left, right).map(|ordering| {
            let smaller = if ordering.is_gt() { right } else { left };
            alike(smaller, left, right)
        }),
        BinaryOp::Max => compare("max()", left, right).map(|ordering| {
            let larger = if ordering.is_lt() { right } else { left };
            alike(larger, left, right)
        }),
        BinaryOp::Add => arithmetic(
            "+",
            left,
            right,
            i64::checked_add,
            [decimal::add, Decimal::checked_add],
        ),
        BinaryOp::Sub => arithmetic(
            "-",
            left,
            right,
            i64::checked_sub,
            [decimal::subtract, Decimal::checked_sub],
        ),
        BinaryOp::Mul => arithmetic(
            "*",
            left,
            right,
            i64::checked_mul,
            [decimal::multiply, Decimal::checked_mul],
        ),
        BinaryOp::Div | BinaryOp::Rem => {
            let zero = match right {
                Value::Int(divisor) => *divisor == 0,
                Value::Decimal(divisor) => divisor.is_zero(),
                _ => false,
            };
            if zero {
                Err(EvalError::DivisionByZero)
            } else if op == BinaryOp::Div {
                arithmetic(
                    "/",
                    left,
                    right,
                    i64::checked_div,
                    [decimal::divide, Decimal::checked_div],
                )
            } else {
                arithmetic(
                    "%",
                    left,
                    right,
                    // The smallest integer by -1 leaves 0, although its quotient does not fit.
                    |left, right| Some(left.wrapping_rem(right)),
                    [decimal::remainder, Decimal::checked_rem],
                )
            }
        }
        BinaryOp::And | BinaryOp::Or => unreachable!("decided by `truth`"),
    }
}

/// One of two numbers, as a decimal where the other is one: the operation has one type.
fn alike(chosen: &Value, left: &Value, right: &Value) -> Value {
    match (chosen, left, right) {
        (Value::Int(number), Value::Decimal(_), _) | (Value::Int(number), _, Value::Decimal(_)) => {
            Value::Decimal(Decimal::from(*number))
        }
        _ => chosen.clone(),
    }
}

/// Equality over all kinds; an integer equals the decimal of the same size, also in an array or a
/// structure.
pub fn equal(left: &Value, right: &Value) -> bool {
    let all = |a: &[Value], b: &[Value]| {
        a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| equal(a, b))
    };
    match (left, right) {
        (Value::Int(a), Value::Decimal(b)) | (Value::Decimal(b), Value::Int(a)) => {
            Decimal::from(*a) == *b
        }
        (Value::Array(a), Value::Array(b)) => all(a, b),
        (Value::Struct(a, x), Value::Struct(b, y)) => a == b && all(x, y),
        _ => left == right,
    }
}

pub fn compare(
    operation: &'static str,
    left: &Value,
    right: &Value,
) -> Result<Ordering, EvalError> {
    match (left, right) {
        (Value::Int(a), Value::Int(b)) => Ok(a.cmp(b)),
        (Value::Decimal(a), Value::Decimal(b)) => Ok(a.cmp(b)),
        (Value::Int(a), Value::Decimal(b)) => Ok(Decimal::from(*a).cmp(b)),
        (Value::Decimal(a), Value::Int(b)) => Ok(a.cmp(&Decimal::from(*b))),
        (Value::Str(a), Value::Str(b)) => Ok(a.cmp(b)),
        // Members of an enumeration are ordered as they are declared.
        (Value::Enum(a, x), Value::Enum(b, y)) if a == b => Ok(x.cmp(y)),
        (Value::Int(_) | Value::Decimal(_), other) | (other, _) => {
            Err(EvalError::Kind(operation, other.kind()))
        }
    }
}

type OnDecimals = fn(Decimal, Decimal) -> Option<Decimal>;

fn arithmetic(
    operation: &'static str,
    left: &Value,
    right: &Value,
    integers: fn(i64, i64) -> Option<i64>,
    // Exact, and rounded.
    decimals: [OnDecimals; 2],
) -> Result<Value, EvalError> {
    let decimal = |a, b| {
        let exact = decimals[0](a, b).map(Value::Decimal);
        exact.ok_or_else(|| match decimals[1](a, b) {
            Some(_) => EvalError::Inexact,
            None => EvalError::Overflow,
        })
    };
    match (left, right) {
        (Value::Int(a), Value::Int(b)) => {
            integers(*a, *b).map(Value::Int).ok_or(EvalError::Overflow)
        }
        (Value::Decimal(a), Value::Decimal(b)) => decimal(*a, *b),
        (Value::Int(a), Value::Decimal(b)) => decimal(Decimal::from(*a), *b),
        (Value::Decimal(a), Value::Int(b)) => decimal(*a, Decimal::from(*b)),
        (Value::Int(_) | Value::Decimal(_), other) | (other, _) => {
            Err(EvalError::Kind(operation, other.kind()))
        }
    }
}

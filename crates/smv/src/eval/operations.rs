//! Operators on values. What an operator has no meaning for has no value.

use super::Values;
use crate::syntax::tree::Operator;
use crate::value::Value;

pub(super) fn not(value: Value) -> Option<Value> {
    match value {
        Value::Bool(truth) => Some(Value::Bool(!truth)),
        _ => None,
    }
}

pub(super) fn negate(value: Value) -> Option<Value> {
    match value {
        Value::Int(number) => Some(Value::Int(-number)),
        _ => None,
    }
}

pub(super) fn absolute(value: Value) -> Option<Value> {
    match value {
        Value::Int(number) => Some(Value::Int(number.abs())),
        _ => None,
    }
}

pub(super) fn to_integer(value: Value) -> Option<Value> {
    match value {
        Value::Bool(truth) => Some(Value::Int(i64::from(truth))),
        Value::Int(_) => Some(value),
        Value::Symbol(_) => None,
    }
}

pub(super) fn to_boolean(value: Value) -> Option<Value> {
    match value {
        Value::Int(number) => Some(Value::Bool(number != 0)),
        Value::Bool(_) => Some(value),
        Value::Symbol(_) => None,
    }
}

pub(super) fn smaller(left: Value, right: Value) -> Option<Value> {
    integers(left, right).map(|(a, b)| Value::Int(a.min(b)))
}

pub(super) fn larger(left: Value, right: Value) -> Option<Value> {
    integers(left, right).map(|(a, b)| Value::Int(a.max(b)))
}

fn integers(left: Value, right: Value) -> Option<(i64, i64)> {
    match (left, right) {
        (Value::Int(a), Value::Int(b)) => Some((a, b)),
        _ => None,
    }
}

fn truths(left: Value, right: Value) -> Option<(bool, bool)> {
    match (left, right) {
        (Value::Bool(a), Value::Bool(b)) => Some((a, b)),
        _ => None,
    }
}

/// An operator on two values; sets are not for it.
pub(super) fn apply(operator: Operator, left: Value, right: Value) -> Option<Value> {
    let truth =
        |test: fn(bool, bool) -> bool| truths(left, right).map(|(a, b)| Value::Bool(test(a, b)));
    let compare = |test: fn(&i64, &i64) -> bool| {
        integers(left, right).map(|(a, b)| Value::Bool(test(&a, &b)))
    };
    let number = |compute: fn(i64, i64) -> Option<i64>| {
        integers(left, right)
            .and_then(|(a, b)| compute(a, b))
            .map(Value::Int)
    };
    match operator {
        Operator::Xor => truth(|a, b| a != b),
        Operator::Xnor | Operator::Iff => truth(|a, b| a == b),
        Operator::Implies => truth(|a, b| !a || b),
        Operator::Equal => Some(Value::Bool(left == right)),
        Operator::Unequal => Some(Value::Bool(left != right)),
        Operator::Less => compare(i64::lt),
        Operator::LessEqual => compare(i64::le),
        Operator::Greater => compare(i64::gt),
        Operator::GreaterEqual => compare(i64::ge),
        Operator::Add => number(i64::checked_add),
        Operator::Subtract => number(i64::checked_sub),
        Operator::Multiply => number(i64::checked_mul),
        Operator::Divide => number(i64::checked_div),
        Operator::Modulo => number(i64::checked_rem),
        Operator::Union | Operator::In => None,
    }
}

pub(super) fn map(values: &[Value], apply: impl Fn(Value) -> Option<Value>) -> Values {
    match values {
        [value] => apply(*value).into(),
        _ => Values::of(values.iter().copied().filter_map(apply).collect()),
    }
}

pub(super) fn pairs(
    left: &[Value],
    right: &[Value],
    apply: impl Fn(Value, Value) -> Option<Value>,
) -> Values {
    if let ([a], [b]) = (left, right) {
        return apply(*a, *b).into();
    }
    let mut all = Vec::with_capacity(left.len() * right.len());
    for a in left {
        for b in right {
            all.extend(apply(*a, *b));
        }
    }
    Values::of(all)
}

//! Equations read backwards through the arithmetic: at which value of its one unknown a term has a value.

use ioco_sts::domain::Effort as _;
use ioco_sts::{BinaryOp, Env, Expr, UnaryOp, Value};

use crate::goal::each_unknown;
use crate::outcome::Deadline;

/// The one unknown of `subject`, and a value at which `subject` is about `value`. `inverse` says which operations
/// can be undone.
pub(crate) fn backwards(
    mut subject: &Expr,
    mut value: Value,
    env: Env<'_>,
    inverse: fn(BinaryOp) -> Option<BinaryOp>,
    deadline: &Deadline<'_>,
) -> Option<(u32, Value)> {
    loop {
        match subject {
            Expr::Param(unknown) => return Some((*unknown, value)),
            Expr::Unary(UnaryOp::Neg, inner) => {
                let negated = Expr::unary(UnaryOp::Neg, Expr::Const(value));
                value = negated.eval(env).ok()?;
                subject = inner;
            }
            Expr::Binary(op, both) => {
                let inverse = inverse(*op)?;
                let [left, right] = &**both;
                let (inner, op, first, second) =
                    match (known(left, env, deadline), known(right, env, deadline)) {
                        (None, Some(right)) => (left, inverse, value, right),
                        (Some(left), None) => match op {
                            // `k - x == v` is `x == k - v`, and likewise for quotients.
                            BinaryOp::Sub | BinaryOp::Div => (right, *op, left, value),
                            _ => (right, inverse, value, left),
                        },
                        _ => return None,
                    };
                let moved = Expr::binary(op, Expr::Const(first), Expr::Const(second));
                value = moved.eval(env).ok()?;
                subject = inner;
            }
            _ => return None,
        }
    }
}

/// Sums and differences.
pub(crate) fn exact_inverse(op: BinaryOp) -> Option<BinaryOp> {
    match op {
        BinaryOp::Add => Some(BinaryOp::Sub),
        BinaryOp::Sub => Some(BinaryOp::Add),
        _ => None,
    }
}

/// Products and quotients too, whose inverse may be rounded.
pub(crate) fn rounded_inverse(op: BinaryOp) -> Option<BinaryOp> {
    match op {
        BinaryOp::Mul => Some(BinaryOp::Div),
        BinaryOp::Div => Some(BinaryOp::Mul),
        _ => exact_inverse(op),
    }
}

/// The value of an expression without unknowns.
pub(crate) fn known(expr: &Expr, env: Env<'_>, deadline: &Deadline<'_>) -> Option<Value> {
    let mut open = false;
    each_unknown(expr, &mut |_| open = true);
    if open || deadline.is_over() {
        return None;
    }
    deadline.eval(expr, env).ok()
}

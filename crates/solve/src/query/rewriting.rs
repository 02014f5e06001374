//! Conditions written in another way: calls as what they come to, and unknowns as their parts.

use ioco_sts::{BinaryOp, Expr, Function, UnaryOp, Value};

/// Functions that call each other are written out so deep.
pub(super) const MAX_CALLS: u32 = 4;
/// Larger expressions are not made of calls.
pub(super) const MAX_INLINED: usize = 400;

/// Sets of one as equalities, and calls as what they come to, where that is the same: an argument without a value is an error also
/// where the function does not use it.
pub(super) fn inlined(expr: &Expr, functions: &[Function], depth: u32) -> Expr {
    let expr = expr.map_children(|child| inlined(child, functions, depth));
    if let Expr::InSet(subject, items) = &expr
        && let [item] = items.as_slice()
    {
        return Expr::binary(BinaryOp::Eq, (**subject).clone(), item.clone());
    }
    let Expr::Call(function, arguments) = &expr else {
        return expr;
    };
    let id = *function;
    let Some(function) = functions.get(id.index()) else {
        return expr;
    };
    let same = |(position, argument): (u32, &Expr)| {
        matches!(argument, Expr::Const(_) | Expr::Param(_))
            || always_evaluates(&function.body, position)
    };
    if depth >= MAX_CALLS || function.is_branching(id) || !(0..).zip(arguments).all(same) {
        return expr;
    }
    let body = function.body.with_arguments(arguments);
    let mut size = 0;
    body.walk(&mut |_| size += 1);
    if size > MAX_INLINED {
        return expr;
    }
    inlined(&body, functions, depth + 1)
}

/// Whether the value of a local is needed wherever the expression is evaluated.
fn always_evaluates(expr: &Expr, local: u32) -> bool {
    match expr {
        Expr::Local(position) => *position == local,
        Expr::Binary(BinaryOp::And | BinaryOp::Or, both) => always_evaluates(&both[0], local),
        Expr::If(all) => {
            always_evaluates(&all[0], local)
                || (always_evaluates(&all[1], local) && always_evaluates(&all[2], local))
        }
        Expr::InSet(subject, _) => always_evaluates(subject, local),
        _ => expr
            .children()
            .into_iter()
            .any(|e| always_evaluates(e, local)),
    }
}

pub(super) fn replace(expr: &Expr, unknown: u32, replacement: &Expr) -> Expr {
    match expr {
        Expr::Param(position) if *position == unknown => replacement.clone(),
        _ => item_of(expr.map_children(|child| replace(child, unknown, replacement))),
    }
}

/// `[a, b][1]` as `b` and `length([a, b])` as 2, where all items have values for sure: then the fields
/// of a structure among them can stand for it.
fn item_of(expr: Expr) -> Expr {
    let is_safe = |items: &[Expr]| {
        let mut items = items.iter();
        items.all(|item| matches!(item, Expr::Param(_) | Expr::Const(_)))
    };
    match &expr {
        Expr::Binary(BinaryOp::Index, both) => match &**both {
            [Expr::Array(items), Expr::Const(Value::Int(index))] if is_safe(items) => {
                let index = usize::try_from(*index).ok();
                index.and_then(|i| items.get(i)).cloned().unwrap_or(expr)
            }
            _ => expr,
        },
        Expr::Unary(UnaryOp::Length, inner) => match &**inner {
            Expr::Array(items) if is_safe(items) => Expr::int(items.len() as i64),
            _ => expr,
        },
        _ => expr,
    }
}

pub(super) fn replace_fields(expr: &Expr, unknown: u32, parts: &[u32]) -> Option<Expr> {
    let is_it = |e: &Expr| matches!(e, Expr::Param(p) if *p == unknown);
    match expr {
        Expr::Field(inner, field) if is_it(inner) => {
            Some(Expr::Param(*parts.get(*field as usize)?))
        }
        Expr::Binary(op @ (BinaryOp::Eq | BinaryOp::Ne), both) if both.iter().any(is_it) => {
            let other = if is_it(&both[0]) { &both[1] } else { &both[0] };
            let equal = match other {
                Expr::Param(p) if *p == unknown => Expr::TRUE,
                Expr::Const(Value::Struct(_, fields)) if fields.len() == parts.len() => parts
                    .iter()
                    .zip(fields.iter())
                    .map(|(p, v)| {
                        Expr::binary(BinaryOp::Eq, Expr::Param(*p), Expr::Const(v.clone()))
                    })
                    .fold(Expr::TRUE, Expr::and),
                Expr::Const(_) => Expr::FALSE,
                Expr::Struct(_, fields) if fields.len() == parts.len() => {
                    let fields = fields.iter().map(|f| replace_fields(f, unknown, parts));
                    let fields: Vec<Expr> = fields.collect::<Option<_>>()?;
                    let pairs = parts.iter().zip(fields);
                    pairs
                        .map(|(p, field)| Expr::binary(BinaryOp::Eq, Expr::Param(*p), field))
                        .fold(Expr::TRUE, Expr::and)
                }
                _ => return None,
            };
            Some(if *op == BinaryOp::Eq {
                equal
            } else {
                Expr::unary(UnaryOp::Not, equal)
            })
        }
        Expr::Param(p) if *p == unknown => None,
        _ => {
            let mut failed = false;
            let replaced = expr.map_children(|child| {
                replace_fields(child, unknown, parts).unwrap_or_else(|| {
                    failed = true;
                    Expr::FALSE
                })
            });
            (!failed).then_some(replaced)
        }
    }
}

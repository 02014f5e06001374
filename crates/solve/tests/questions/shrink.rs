//! Smaller questions on which two answers still exclude each other.

use ioco_sts::{BinaryOp, Expr, Type, UnaryOp, Value};

use super::{Question, functions, types};

/// Applies small steps while `fails` stays true.
pub fn shrunk(question: &Question, fails: &mut dyn FnMut(&Question) -> bool) -> Question {
    let mut best = question.clone();
    loop {
        let Some(next) = candidates(&best).into_iter().find(|q| fails(q)) else {
            return best;
        };
        best = next;
    }
}

fn candidates(question: &Question) -> Vec<Question> {
    let mut found = Vec::new();
    for index in 0..question.conditions.len() {
        if question.conditions.len() > 1 {
            let mut fewer = question.clone();
            fewer.conditions.remove(index);
            found.push(fewer);
        }
    }
    for unknown in 0..question.unknowns.len() {
        let last = question.unknowns.len() - 1;
        let used = question
            .conditions
            .iter()
            .any(|c| c.params().contains(&(unknown as u32)));
        if !used && unknown == last && last > 0 {
            let mut fewer = question.clone();
            fewer.unknowns.pop();
            found.push(fewer);
        }
        if question.unknowns[unknown].1 {
            let mut set = question.clone();
            set.unknowns[unknown].1 = false;
            found.push(set);
        }
    }
    for index in 0..question.conditions.len() {
        for smaller in smaller(&question.conditions[index], question) {
            let mut next = question.clone();
            next.conditions[index] = smaller;
            found.push(next);
        }
    }
    found
}

/// The expression with one part of it replaced by something simpler of the same kind.
fn smaller(expr: &Expr, question: &Question) -> Vec<Expr> {
    let mut found = Vec::new();
    let kind = kind(expr, question);
    for child in expr.children() {
        if self::kind(child, question) == kind {
            found.push(child.clone());
        }
    }
    if let Expr::Binary(BinaryOp::And, both) = expr {
        found.push(both[0].clone());
        found.push(both[1].clone());
    }
    if !matches!(expr, Expr::Const(_) | Expr::Param(_)) {
        let simple: &[Value] = match kind {
            Some(Kind::Bool) => &[Value::Bool(true), Value::Bool(false)],
            Some(Kind::Int) => &[Value::Int(0), Value::Int(1)],
            Some(Kind::Str) => &[],
            _ => &[],
        };
        found.extend(simple.iter().cloned().map(Expr::Const));
        if kind == Some(Kind::Str) {
            found.push(Expr::Const(Value::str("")));
            found.push(Expr::Const(Value::str("a")));
        }
    }
    if let Expr::Const(Value::Int(n)) = expr
        && *n != 0
    {
        found.push(Expr::int(0));
        if n.unsigned_abs() > 1 {
            found.push(Expr::int(n / 2));
        }
    }
    if let Expr::InSet(subject, items) = expr {
        for index in 0..items.len() {
            let mut fewer = items.clone();
            fewer.remove(index);
            found.push(Expr::InSet(subject.clone(), fewer));
        }
    }
    let children: Vec<Expr> = expr.children().into_iter().cloned().collect();
    for (index, child) in children.iter().enumerate() {
        for replacement in smaller(child, question) {
            let mut position = 0;
            found.push(expr.map_children(|child| {
                position += 1;
                if position == index + 1 {
                    replacement.clone()
                } else {
                    child.clone()
                }
            }));
        }
    }
    found
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Bool,
    Int,
    Decimal,
    Str,
    Member,
    Array,
    Struct,
}

fn of_type(ty: &Type) -> Kind {
    match ty {
        Type::Bool => Kind::Bool,
        Type::Int(_) | Type::Date | Type::Time => Kind::Int,
        Type::Decimal => Kind::Decimal,
        Type::Str => Kind::Str,
        Type::Enum(_) => Kind::Member,
        Type::Array(_) => Kind::Array,
        Type::Struct(_) => Kind::Struct,
    }
}

fn kind(expr: &Expr, question: &Question) -> Option<Kind> {
    Some(match expr {
        Expr::Const(value) => match value {
            Value::Void => return None,
            Value::Bool(_) => Kind::Bool,
            Value::Int(_) => Kind::Int,
            Value::Decimal(_) => Kind::Decimal,
            Value::Str(_) => Kind::Str,
            Value::Enum(..) => Kind::Member,
            Value::Array(_) => Kind::Array,
            Value::Struct(..) => Kind::Struct,
        },
        Expr::Param(unknown) => of_type(&question.unknowns.get(*unknown as usize)?.0),
        Expr::Var(_) | Expr::Local(_) => return None,
        Expr::Unary(UnaryOp::Not, _) | Expr::InSet(..) | Expr::InRange(_) | Expr::Matches(..) => {
            Kind::Bool
        }
        Expr::Unary(UnaryOp::Length, _) => Kind::Int,
        Expr::Unary(UnaryOp::Last, _) => return None,
        Expr::Unary(_, inner) => kind(inner, question)?,
        Expr::Binary(op, both) => match op {
            BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Mul
            | BinaryOp::Div
            | BinaryOp::Rem
            | BinaryOp::Min
            | BinaryOp::Max => match (kind(&both[0], question)?, kind(&both[1], question)?) {
                (Kind::Decimal, _) | (_, Kind::Decimal) => Kind::Decimal,
                (kind, _) => kind,
            },
            BinaryOp::Index => return None,
            _ => Kind::Bool,
        },
        Expr::If(all) => kind(&all[1], question)?,
        Expr::Array(_) => Kind::Array,
        Expr::Field(_, field) => of_type(&types().structs[0].fields.get(*field as usize)?.1),
        Expr::Call(function, _) => of_type(&functions().get(function.index())?.result),
        Expr::Struct(..) => return None,
    })
}

//! What is known of the type of an expression, and which types go together.

use ioco_sts::{BinaryOp, EnumId, Expr, IntRange, StructId, Type, UnaryOp, Value};
use rust_decimal::Decimal;

/// What is known of the type of an expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Known {
    /// Nothing, because a mistake was reported: it must not lead to more.
    Wrong,
    /// `:void`, which every type has.
    Void,
    /// `[]`.
    EmptyArray,
    Of(Type),
}

/// The type around an expression, where it decides what the expression means: between members of the same name, and
/// for what a set or a hash that is written out holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpectedType {
    Member(EnumId),
    Struct(StructId),
}

impl ExpectedType {
    pub fn member(self) -> Option<EnumId> {
        match self {
            ExpectedType::Member(id) => Some(id),
            ExpectedType::Struct(_) => None,
        }
    }
}

pub fn wanted(known: &Known) -> Option<ExpectedType> {
    match known {
        Known::Of(ty) => wanted_by(ty),
        _ => None,
    }
}

pub fn wanted_by(ty: &Type) -> Option<ExpectedType> {
    match ty {
        Type::Enum(id) => Some(ExpectedType::Member(*id)),
        Type::Struct(id) => Some(ExpectedType::Struct(*id)),
        _ => None,
    }
}

pub fn is_array(known: &Known) -> bool {
    matches!(known, Known::EmptyArray | Known::Of(Type::Array(_)))
}

pub fn is_number(known: &Known) -> bool {
    matches!(
        known,
        Known::Of(Type::Int(_) | Type::Decimal | Type::Date | Type::Time)
    )
}

/// Whether values of the two types can be equal.
pub fn comparable(left: &Known, right: &Known) -> bool {
    match (left, right) {
        (Known::Wrong | Known::Void, _) | (_, Known::Wrong | Known::Void) => true,
        (Known::EmptyArray, other) | (other, Known::EmptyArray) => is_array(other),
        (Known::Of(left), Known::Of(right)) => same_kind(left, right),
    }
}

fn same_kind(left: &Type, right: &Type) -> bool {
    match (left, right) {
        (Type::Int(_), Type::Int(_) | Type::Decimal | Type::Date | Type::Time)
        | (Type::Decimal | Type::Date | Type::Time, Type::Int(_)) => true,
        (Type::Array(left), Type::Array(right)) => same_kind(left, right),
        _ => left == right,
    }
}

/// The type that has the values of both.
pub fn joined(left: &Known, right: &Known) -> Known {
    match (left, right) {
        (Known::Void | Known::EmptyArray, other) | (other, Known::Void | Known::EmptyArray) => {
            other.clone()
        }
        (Known::Of(left), Known::Of(right)) => Known::Of(joined_type(left, right)),
        (Known::Wrong, _) | (_, Known::Wrong) => Known::Wrong,
    }
}

fn joined_type(left: &Type, right: &Type) -> Type {
    match (left, right) {
        (Type::Int(a), Type::Int(b)) => Type::Int(IntRange {
            min: a.min.min(b.min),
            max: a.max.max(b.max),
        }),
        (Type::Int(_), other) | (other, Type::Int(_)) => other.clone(),
        (Type::Array(left), Type::Array(right)) => Type::Array(Box::new(joined_type(left, right))),
        _ => left.clone(),
    }
}

/// The type of `+ - * / %` on two numbers.
pub fn arithmetic(left: &Known, right: &Known) -> Known {
    let either = |ty: Type| *left == Known::Of(ty.clone()) || *right == Known::Of(ty);
    let result = if either(Type::Decimal) {
        Type::Decimal
    } else if left == right && (either(Type::Date) || either(Type::Time)) {
        // The difference of two dates is a number of seconds.
        Type::INTEGER
    } else if either(Type::Date) {
        Type::Date
    } else if either(Type::Time) {
        Type::Time
    } else {
        Type::INTEGER
    };
    Known::Of(result)
}

/// The expression as a value of type `ty`, with integers turned into decimals where needed, also
/// within arrays. An array that is not written out (a variable, a result) cannot be turned.
pub fn coerce(expr: Expr, known: &Known, ty: &Type) -> Result<Expr, ()> {
    match (known, ty) {
        (Known::Wrong | Known::Void, _) | (Known::EmptyArray, Type::Array(_)) => Ok(expr),
        (Known::Of(Type::Int(_)), Type::Decimal) => Ok(as_decimal(expr)),
        (Known::Of(Type::Int(_) | Type::Date | Type::Time), ty) if ty.int_range().is_some() => {
            Ok(expr)
        }
        (Known::Of(Type::Array(item)), Type::Array(wanted)) => coerce_array(expr, item, wanted),
        (Known::Of(found), wanted) if found == wanted => Ok(expr),
        _ => Err(()),
    }
}

fn coerce_array(expr: Expr, item: &Type, wanted: &Type) -> Result<Expr, ()> {
    let again = |expr: Expr| coerce_array(expr, item, wanted);
    match expr {
        other if item == wanted => Ok(other),
        other if item.int_range().is_some() && wanted.int_range().is_some() => Ok(other),
        Expr::Array(items) => {
            let known = Known::Of(item.clone());
            let items = items.into_iter().map(|i| coerce(i, &known, wanted));
            items.collect::<Result<_, _>>().map(Expr::Array)
        }
        Expr::Const(Value::Void) => Ok(Expr::Const(Value::Void)),
        Expr::Binary(BinaryOp::Add, both) => {
            let [left, right] = *both;
            Ok(Expr::binary(BinaryOp::Add, again(left)?, again(right)?))
        }
        Expr::If(all) => {
            let [condition, then, otherwise] = *all;
            let branches = [condition, again(then)?, again(otherwise)?];
            Ok(Expr::If(Box::new(branches)))
        }
        _ => Err(()),
    }
}

/// An integer as a decimal; `:void` stays what it is.
fn as_decimal(expr: Expr) -> Expr {
    match expr {
        Expr::Const(Value::Int(value)) => Expr::Const(Value::Decimal(Decimal::from(value))),
        Expr::Const(Value::Void) => expr,
        other => {
            let zero = Expr::Const(Value::Decimal(Decimal::ZERO));
            let sum = Expr::binary(BinaryOp::Add, other.clone(), zero);
            if is_never_void(&other) {
                return sum;
            }
            let void = Expr::Const(Value::Void);
            let is_void = Expr::binary(BinaryOp::Eq, other, void.clone());
            Expr::If(Box::new([is_void, void, sum]))
        }
    }
}

/// Whether the expression is a number wherever it has a value.
fn is_never_void(expr: &Expr) -> bool {
    match expr {
        Expr::Const(value) => *value != Value::Void,
        Expr::Unary(op, _) => *op != UnaryOp::Last,
        Expr::Binary(op, _) => *op != BinaryOp::Index,
        Expr::If(parts) => is_never_void(&parts[1]) && is_never_void(&parts[2]),
        _ => false,
    }
}

/// Both expressions as values of the type that has the values of both; the error is that one of them
/// cannot be turned.
pub fn coerce_both(
    left: (Expr, &Known),
    right: (Expr, &Known),
    joint: &Known,
) -> Result<[Expr; 2], ()> {
    match joint {
        Known::Of(ty) => Ok([coerce(left.0, left.1, ty)?, coerce(right.0, right.1, ty)?]),
        _ => Ok([left.0, right.0]),
    }
}

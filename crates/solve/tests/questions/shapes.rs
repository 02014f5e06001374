//! Questions of a fixed shape: guards as models have them, and systems of linear conditions.

use ioco_sts::{BinaryOp, Expr, IntRange, Type, UnaryOp, Value};
use rand::{Rng, RngExt as _};
use rust_decimal::Decimal;

use super::generate::small;
use super::{COLOUR, Question};

use BinaryOp::{Add, Eq, Ge, Gt, Le, Lt, Mul, Ne, Or, Sub};

const RELATIONS: [BinaryOp; 6] = [Eq, Ne, Lt, Le, Gt, Ge];

/// A conjunction whose parts speak of one parameter each, compared with something known.
pub fn guard(rng: &mut dyn Rng) -> Question {
    let count = rng.random_range(1..=2);
    let unknowns: Vec<(Type, bool)> = (0..count)
        .map(|_| {
            let ty = match rng.random_range(0..10_u32) {
                0..=3 => small(),
                4 | 5 => Type::INTEGER,
                6 => Type::Decimal,
                7 => Type::Enum(COLOUR),
                8 => Type::Bool,
                _ => Type::Str,
            };
            (ty, true)
        })
        .collect();
    let parts = rng.random_range(1..=4);
    let guard = (0..parts)
        .map(|_| {
            let about = rng.random_range(0..count);
            part(about as u32, &unknowns[about].0, rng)
        })
        .fold(Expr::TRUE, Expr::and);
    Question {
        unknowns,
        conditions: vec![guard],
    }
}

fn part(unknown: u32, ty: &Type, rng: &mut dyn Rng) -> Expr {
    let p = || Expr::Param(unknown);
    let not = |e: Expr| Expr::unary(UnaryOp::Not, e);
    let op = RELATIONS[rng.random_range(0..6)];
    let equality = [Eq, Ne][rng.random_range(0..2)];
    match rng.random_range(0..16_u32) {
        0 => Expr::binary(equality, p(), Expr::Const(Value::Void)),
        1 => Expr::binary(equality, p(), p()),
        2 => {
            let items = (0..rng.random_range(1..5)).map(|_| constant(ty, rng));
            Expr::InSet(Box::new(p()), items.collect())
        }
        3 => {
            let items = (0..rng.random_range(1..4)).map(|_| constant(ty, rng));
            not(Expr::InSet(Box::new(p()), items.collect()))
        }
        4 => Expr::binary(op, constant(ty, rng), constant(ty, rng)),
        5 => {
            // What an update demands that stores the parameter.
            let unset = Expr::binary(Eq, p(), Expr::Const(Value::Void));
            let bounds = [p(), constant(ty, rng), constant(ty, rng)];
            Expr::binary(Or, unset, Expr::InRange(Box::new(bounds)))
        }
        6 => {
            let first = Expr::binary(op, Expr::int(rng.random_range(0..4)), Expr::int(2));
            Expr::binary(Or, first, part(unknown, ty, rng))
        }
        7 => {
            let both = [part(unknown, ty, rng), part(unknown, ty, rng)];
            not(Expr::Binary(Or, Box::new(both)))
        }
        8 | 9 => {
            let bounds = [
                subject(unknown, ty, rng),
                constant(ty, rng),
                constant(ty, rng),
            ];
            Expr::InRange(Box::new(bounds))
        }
        _ if *ty == Type::Bool => match rng.random() {
            true => p(),
            false => not(p()),
        },
        _ => {
            let (subject, value) = (subject(unknown, ty, rng), constant(ty, rng));
            match (ty, rng.random()) {
                (Type::Str, _) => Expr::binary(equality, subject, value),
                (_, true) => Expr::binary(op, subject, value),
                (_, false) => Expr::binary(op, value, subject),
            }
        }
    }
}

/// A parameter, or a number made of it.
fn subject(unknown: u32, ty: &Type, rng: &mut dyn Rng) -> Expr {
    let mut subject = Expr::Param(unknown);
    if !matches!(ty, Type::Int(_)) {
        return subject;
    }
    for _ in 0..rng.random_range(0..3) {
        let known = Expr::int(rng.random_range(-3..=4));
        subject = match rng.random_range(0..8_u32) {
            0 => Expr::unary(UnaryOp::Neg, subject),
            1 => Expr::binary(Add, subject, known),
            2 => Expr::binary(Add, known, subject),
            3 => Expr::binary(Sub, subject, known),
            4 => Expr::binary(Sub, known, subject),
            5 => Expr::binary(Mul, subject, known),
            6 => Expr::binary(Mul, known, subject),
            _ => Expr::binary(Mul, subject.clone(), subject),
        };
    }
    subject
}

fn constant(ty: &Type, rng: &mut dyn Rng) -> Expr {
    Expr::Const(match ty {
        Type::Bool => Value::Bool(rng.random()),
        Type::Decimal if rng.random_range(0..4) == 0 => Value::Int(rng.random_range(-3..=3)),
        Type::Decimal => Value::Decimal(Decimal::new(rng.random_range(-30..=30), 1)),
        Type::Enum(id) => Value::Enum(*id, rng.random_range(0..3)),
        Type::Str => Value::str(["", "a", "b", "ab"][rng.random_range(0..4)]),
        _ => match rng.random_range(0..16_u32) {
            0 => Value::Int(i64::MAX),
            1 => Value::Int(i64::MIN),
            2 => Value::Decimal(Decimal::new(rng.random_range(-30..=30), 1)),
            _ => Value::Int(rng.random_range(-6..=8)),
        },
    })
}

/// Three to five integers and as many linear conditions or more: too many values to try.
pub fn linear(rng: &mut dyn Rng) -> Question {
    let count = rng.random_range(3..=5_u32);
    let ty = Type::Int(IntRange { min: -20, max: 20 });
    let conditions = (0..rng.random_range(count..=count + 2))
        .map(|_| {
            let term = |rng: &mut dyn Rng| {
                let factor = Expr::int(rng.random_range(-7..=7));
                Expr::binary(Mul, factor, Expr::Param(rng.random_range(0..count)))
            };
            let sum = (0..rng.random_range(1..4))
                .fold(term(rng), |sum, _| Expr::binary(Add, sum, term(rng)));
            let op = [Eq, Eq, Le, Lt, Ne, Ge][rng.random_range(0..6)];
            let bound = Expr::int(rng.random_range(-30..=30));
            Expr::binary(op, sum, bound)
        })
        .collect();
    Question {
        unknowns: vec![(ty, false); count as usize],
        conditions,
    }
}

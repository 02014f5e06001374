//! Values of all kinds: structs, arrays, strings, decimals, and the spread of random models.

use std::collections::BTreeSet;

use ioco_solve::{Deadline, Embedded, Outcome, Part, Pipeline, Solver, Unknown};
use ioco_sts::{BinaryOp, Env, Expr, IntRange, StructId, StructType, Type, Types, UnaryOp, Value};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use rust_decimal::Decimal;

fn bin(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    Expr::binary(op, left, right)
}

fn x(unknown: u32) -> Expr {
    Expr::Param(unknown)
}

fn text(text: &str) -> Expr {
    Expr::Const(Value::str(text))
}

fn number(text: &str) -> Value {
    Value::Decimal(text.parse().expect("a decimal"))
}

fn decimal(text: &str) -> Expr {
    Expr::Const(number(text))
}

fn integer(min: i64, max: i64) -> Type {
    Type::Int(IntRange { min, max })
}

fn ask(types: &Types, unknowns: &[Type], conditions: &[Expr]) -> Embedded {
    let mut solver = Embedded::new(types, &[]);
    for ty in unknowns {
        solver.unknown(ty);
    }
    for condition in conditions {
        solver.assert(condition);
    }
    solver
}

fn model(unknowns: &[Type], conditions: &[Expr]) -> Outcome<Vec<Value>> {
    ask(&Types::default(), unknowns, conditions).model(&Deadline::never())
}

#[test]
fn strings_compared_for_equality_are_decided_completely() {
    use BinaryOp::{Eq, Ne, Or};
    let either = bin(Or, bin(Eq, x(0), text("a")), bin(Eq, x(0), text("b")));
    let not_a = bin(Ne, x(0), text("a"));
    let not_b = bin(Ne, x(0), text("b"));
    assert_eq!(
        model(&[Type::Str], &[either.clone(), not_a.clone()]),
        Outcome::Sat(vec![Value::str("b")])
    );
    assert_eq!(model(&[Type::Str], &[either, not_a, not_b]), Outcome::Unsat);
    // Three strings, all different and none of them named.
    let different = [
        bin(Ne, x(0), x(1)),
        bin(Ne, x(1), x(2)),
        bin(Ne, x(0), x(2)),
        bin(Ne, x(0), text("a")),
    ];
    let found = model(&[Type::Str, Type::Str, Type::Str], &different);
    assert!(found.is_sat(), "{found:?}");
}

#[test]
fn joined_strings_are_taken_apart() {
    let joined = bin(BinaryOp::Add, text("user-"), x(0));
    let equal = bin(BinaryOp::Eq, joined, text("user-17"));
    assert_eq!(
        model(&[Type::Str], &[equal]),
        Outcome::Sat(vec![Value::str("17")])
    );
    let other = bin(BinaryOp::Add, text("user-"), x(0));
    let never = bin(BinaryOp::Eq, other, text("admin"));
    assert_eq!(model(&[Type::Str], &[never]), Outcome::Unsat);
}

#[test]
fn strings_have_the_length_asked_for() {
    let length = || Expr::unary(UnaryOp::Length, x(0));
    let found = model(
        &[Type::Str],
        &[
            bin(BinaryOp::Gt, length(), Expr::int(20)),
            bin(BinaryOp::Lt, length(), Expr::int(23)),
        ],
    );
    assert!(found.is_sat(), "{found:?}");
    assert_eq!(
        model(&[Type::Str], &[bin(BinaryOp::Lt, length(), Expr::int(0))]),
        Outcome::Unsat
    );
}

#[test]
fn arrays_are_built_from_their_items() {
    let numbers = Type::Array(Box::new(integer(0, 9)));
    let at = |index: i64| bin(BinaryOp::Index, x(0), Expr::int(index));
    let conditions = [
        bin(
            BinaryOp::Eq,
            Expr::unary(UnaryOp::Length, x(0)),
            Expr::int(3),
        ),
        bin(
            BinaryOp::Eq,
            bin(BinaryOp::Add, at(0), at(1)),
            Expr::int(18),
        ),
        bin(BinaryOp::Lt, Expr::unary(UnaryOp::Last, x(0)), Expr::int(1)),
    ];
    let items = [Value::Int(9), Value::Int(9), Value::Int(0)];
    assert_eq!(
        model(std::slice::from_ref(&numbers), &conditions),
        Outcome::Sat(vec![Value::Array(items.into())])
    );
    let beyond = [
        bin(
            BinaryOp::Eq,
            Expr::unary(UnaryOp::Length, x(0)),
            Expr::int(2),
        ),
        bin(BinaryOp::Gt, at(2), Expr::int(1)),
    ];
    assert_eq!(model(&[numbers], &beyond), Outcome::Unsat);
}

/// An array of integers equals one of decimals, and its items stay integers: `1 / 2` is `0`.
#[test]
fn items_of_equal_arrays_keep_their_kind() {
    use BinaryOp::{Div, Eq, Ge, Index};
    let integers = Type::Array(Box::new(integer(0, 9)));
    let of_decimals = Expr::Const(Value::Array([number("1.0")].into()));
    let last = Expr::unary(UnaryOp::Last, x(0));
    let first = bin(Index, x(0), Expr::int(0));
    for item in [last, first] {
        let half = bin(Div, item, Expr::int(2));
        for (expected, conditions) in [
            (
                true,
                [
                    bin(Eq, x(0), of_decimals.clone()),
                    bin(Eq, half.clone(), Expr::int(0)),
                ],
            ),
            (
                true,
                [
                    bin(Eq, half.clone(), Expr::int(0)),
                    bin(Eq, of_decimals.clone(), x(0)),
                ],
            ),
            (
                false,
                [
                    bin(Eq, x(0), of_decimals.clone()),
                    bin(Ge, half.clone(), Expr::int(1)),
                ],
            ),
        ] {
            let found = model(std::slice::from_ref(&integers), &conditions);
            assert_ne!(found.is_unsat(), expected, "{conditions:?}: {found:?}");
            assert_eq!(found.is_sat(), expected, "{conditions:?}: {found:?}");
        }
    }
    // By way of another unknown.
    let decimals = Type::Array(Box::new(Type::Decimal));
    let half = bin(Div, Expr::unary(UnaryOp::Last, x(0)), Expr::int(2));
    let conditions = [
        bin(Eq, x(0), x(1)),
        bin(Eq, x(1), of_decimals),
        bin(Eq, half, Expr::int(0)),
    ];
    let found = model(&[integers, decimals], &conditions);
    assert!(found.is_sat(), "{found:?}");
}

fn shop() -> Types {
    Types {
        enums: Vec::new(),
        structs: vec![StructType {
            name: "Order".to_owned(),
            fields: vec![
                ("amount".to_owned(), integer(0, 100)),
                ("name".to_owned(), Type::Str),
                ("price".to_owned(), Type::Decimal),
            ],
            kind: ioco_sts::StructKind::Plain,
        }],
    }
}

#[test]
fn structs_are_built_from_their_fields() {
    let order = Type::Struct(StructId(0));
    let field = |f: u32| Expr::Field(Box::new(x(0)), f);
    let conditions = [
        bin(BinaryOp::Gt, field(0), Expr::int(98)),
        bin(BinaryOp::Ne, field(0), Expr::int(99)),
        bin(BinaryOp::Eq, field(1), text("tea")),
        bin(BinaryOp::Lt, field(2), decimal("0.5")),
        bin(BinaryOp::Gt, field(2), decimal("0.4")),
    ];
    let found = ask(&shop(), std::slice::from_ref(&order), &conditions)
        .model(&Deadline::never())
        .sat()
        .expect("satisfiable");
    match &found[0] {
        Value::Struct(_, fields) => {
            assert_eq!(fields[..2], [Value::Int(100), Value::str("tea")]);
        }
        other => panic!("{other:?}"),
    }
    let wanted = Value::Struct(
        StructId(0),
        [Value::Int(3), Value::str("x"), number("1.5")].into(),
    );
    let equal = bin(BinaryOp::Eq, x(0), Expr::Const(wanted.clone()));
    let same = ask(&shop(), &[order], &[equal]).model(&Deadline::never());
    assert_eq!(same, Outcome::Sat(vec![wanted]));
}

#[test]
fn decimals_are_exact_and_compare_with_integers() {
    let between = [
        bin(BinaryOp::Gt, x(0), decimal("1.25")),
        bin(BinaryOp::Lt, x(0), decimal("1.26")),
    ];
    let found = model(&[Type::Decimal], &between);
    assert!(found.is_sat(), "{found:?}");
    let sum = bin(BinaryOp::Add, x(0), x(1));
    let mixed = [
        bin(BinaryOp::Eq, sum, decimal("10.5")),
        bin(BinaryOp::Ge, x(0), Expr::int(10)),
        bin(BinaryOp::Gt, x(1), Expr::int(0)),
    ];
    let found = model(&[Type::INTEGER, Type::Decimal], &mixed);
    assert_eq!(found, Outcome::Sat(vec![Value::Int(10), number("0.5")]));
    let crossed = [bin(BinaryOp::Lt, x(0), x(1)), bin(BinaryOp::Lt, x(1), x(0))];
    assert_eq!(
        model(&[Type::Decimal, Type::Decimal], &crossed),
        Outcome::Unsat
    );
}

#[test]
fn a_decimal_next_to_a_strict_bound_has_no_smallest_value() {
    let above = bin(BinaryOp::Gt, x(0), decimal("1.5"));
    let mut strict = ask(&Types::default(), &[Type::Decimal], &[above]);
    let outcome = strict.minimum(0, &Deadline::never());
    assert!(
        matches!(outcome, Outcome::Unknown(Unknown::Incomplete(_))),
        "{outcome:?}"
    );
    let at_least = bin(BinaryOp::Ge, x(0), decimal("1.5"));
    let mut closed = ask(&Types::default(), &[Type::Decimal], &[at_least]);
    assert_eq!(
        closed.minimum(0, &Deadline::never()),
        Outcome::Sat(number("1.5"))
    );
}

#[test]
fn integers_without_bounds_have_the_extremes_of_64_bits() {
    let below = bin(BinaryOp::Le, x(0), Expr::int(5));
    let mut solver = ask(&Types::default(), &[Type::INTEGER], &[below]);
    assert_eq!(
        solver.minimum(0, &Deadline::never()),
        Outcome::Sat(Value::Int(i64::MIN))
    );
    assert_eq!(
        solver.maximum(0, &Deadline::never()),
        Outcome::Sat(Value::Int(5))
    );
}

#[test]
fn overflow_does_not_hold() {
    let next = bin(BinaryOp::Add, x(0), Expr::int(1));
    let wraps = [bin(BinaryOp::Lt, next, x(0))];
    assert_eq!(model(&[Type::INTEGER], &wraps), Outcome::Unsat);
    let next = bin(BinaryOp::Add, x(0), Expr::int(1));
    let mut solver = ask(
        &Types::default(),
        &[Type::INTEGER],
        &[bin(BinaryOp::Gt, next, Expr::int(0))],
    );
    assert_eq!(
        solver.maximum(0, &Deadline::never()),
        Outcome::Sat(Value::Int(i64::MAX - 1))
    );
}

/// How many of `count` random models of one integer fall into each of ten parts of 0..=999.
fn spread(conditions: &[Expr], unknowns: &[Type], count: u64) -> ([u64; 10], u64, u64) {
    let mut parts = [0; 10];
    let (mut lowest, mut highest) = (0, 0);
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let mut solver = ask(&Types::default(), unknowns, conditions);
    for _ in 0..count {
        let found = solver
            .random_model(&mut rng, &Deadline::never())
            .sat()
            .expect("satisfiable");
        let Value::Int(value) = found[0] else {
            panic!("{found:?}");
        };
        parts[(value / 100) as usize] += 1;
        lowest += u64::from(value == 0);
        highest += u64::from(value == 999);
    }
    (parts, lowest, highest)
}

#[test]
fn random_models_reach_every_part_and_both_bounds() {
    let bounds = [
        bin(BinaryOp::Ge, x(0), Expr::int(0)),
        bin(BinaryOp::Le, x(0), Expr::int(999)),
    ];
    let (parts, lowest, highest) = spread(&bounds, &[Type::INTEGER], 1_000);
    assert!(parts.iter().all(|n| *n > 20), "{parts:?}");
    assert!(lowest > 50 && highest > 50, "{lowest} {highest}");
    // Tied to another unknown, and in two islands.
    let tied = [
        bin(BinaryOp::Eq, bin(BinaryOp::Add, x(0), x(1)), Expr::int(999)),
        bin(BinaryOp::Ge, x(1), Expr::int(0)),
        bin(BinaryOp::Ge, x(0), Expr::int(0)),
    ];
    let (parts, ..) = spread(&tied, &[Type::INTEGER, Type::INTEGER], 500);
    assert!(parts.iter().all(|n| *n > 5), "{parts:?}");
    let islands = [bin(
        BinaryOp::Or,
        bin(BinaryOp::Lt, x(0), Expr::int(100)),
        bin(BinaryOp::Ge, x(0), Expr::int(900)),
    )];
    let (parts, ..) = spread(&islands, &[integer(0, 999)], 500);
    assert!(parts[0] > 100 && parts[9] > 100, "{parts:?}");
}

#[test]
fn the_same_seed_gives_the_same_models() {
    let run = || {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let product = bin(BinaryOp::Mul, x(0), x(1));
        let mut solver = ask(
            &Types::default(),
            &[integer(1, 1000), integer(1, 1000), Type::Str],
            &[
                bin(BinaryOp::Le, product, Expr::int(5000)),
                bin(BinaryOp::Ne, x(2), text("a")),
            ],
        );
        (0..50)
            .map(|_| solver.random_model(&mut rng, &Deadline::never()).sat())
            .collect::<Vec<_>>()
    };
    assert_eq!(run(), run());
    let distinct: BTreeSet<_> = run().into_iter().collect();
    assert!(distinct.len() > 40, "{}", distinct.len());
}

#[test]
fn a_value_that_may_be_unset_is_set_where_it_can_be() {
    let mut solver = Embedded::new(&Types::default(), &[]);
    solver.void_unknown(&integer(1, 5));
    solver.void_unknown(&Type::Decimal);
    let unset = bin(BinaryOp::Eq, x(1), Expr::Const(Value::Void));
    solver.assert(&unset);
    assert_eq!(
        solver.model(&Deadline::never()),
        Outcome::Sat(vec![Value::Int(1), Value::Void])
    );
}

fn half_steps(rng: &mut ChaCha8Rng) -> Expr {
    Expr::Const(Value::Decimal(Decimal::new(
        rng.random_range(-8..=8) * 5,
        1,
    )))
}

fn decimal_term(depth: u32, rng: &mut ChaCha8Rng) -> Expr {
    if depth == 0 || rng.random_range(0..3) == 0 {
        return match rng.random_range(0..4) {
            0 => half_steps(rng),
            1 => Expr::int(rng.random_range(-3..=3)),
            unknown => x(unknown - 2),
        };
    }
    use BinaryOp::{Add, Div, Max, Min, Mul, Rem, Sub};
    let op = [Add, Sub, Mul, Add, Sub, Div, Rem, Min, Max][rng.random_range(0..9)];
    let left = decimal_term(depth - 1, rng);
    bin(op, left, decimal_term(depth - 1, rng))
}

/// Decimals are too many to try, but what a coarse grid finds must not be called impossible.
#[test]
fn decimals_that_a_grid_finds_are_never_called_impossible() {
    use BinaryOp::{Eq, Ge, Gt, Le, Lt, Ne};
    let grid: Vec<Value> = (-6..=6)
        .map(|n| Value::Decimal(Decimal::new(n * 5, 1)))
        .collect();
    let (mut found, mut refuted) = (0, 0);
    for seed in 0..1_500 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let conditions: Vec<Expr> = (0..rng.random_range(1..=3))
            .map(|_| {
                let op = [Eq, Ne, Lt, Le, Gt, Ge, Lt, Gt][rng.random_range(0..8)];
                let left = decimal_term(2, &mut rng);
                bin(op, left, decimal_term(1, &mut rng))
            })
            .collect();
        let holds = |values: &[Value]| {
            let env = Env {
                variables: &[],
                parameters: values,
                functions: &[],
            };
            conditions.iter().all(|c| c.holds(env) == Ok(true))
        };
        let on_grid = grid
            .iter()
            .any(|a| grid.iter().any(|b| holds(&[a.clone(), b.clone()])));
        let mut solver = ask(
            &Types::default(),
            &[Type::Decimal, Type::Decimal],
            &conditions,
        );
        match solver.model(&Deadline::steps(1_000)) {
            Outcome::Sat(values) => {
                assert!(holds(&values));
                found += 1;
            }
            Outcome::Unsat => {
                assert!(!on_grid, "{conditions:#?}");
                refuted += 1;
            }
            Outcome::Unknown(_) => {}
        }
    }
    assert!(found > 500 && refuted > 100, "{found} {refuted}");
}

/// Halving ends also where narrowing does not move the bounds.
#[test]
fn extremes_are_what_enumeration_says_with_and_without_narrowing() {
    let square = || bin(BinaryOp::Mul, x(0), x(0));
    let conditions = [
        bin(BinaryOp::Ge, x(0), Expr::int(13)),
        bin(BinaryOp::Lt, square(), Expr::int(1_700)),
        bin(BinaryOp::Gt, square(), Expr::int(1_600)),
        bin(
            BinaryOp::Eq,
            bin(BinaryOp::Rem, x(0), Expr::int(7)),
            Expr::int(2),
        ),
        bin(BinaryOp::Ne, square(), Expr::int(2_500)),
    ];
    for condition in conditions {
        let holds = |n: &i64| {
            let env = Env {
                variables: &[],
                parameters: &[Value::Int(*n)],
                functions: &[],
            };
            condition.holds(env) == Ok(true)
        };
        let all: Vec<i64> = (-50..=60).filter(holds).collect();
        for pipeline in [Pipeline::WHOLE, Pipeline::WHOLE.without(Part::Narrowing)] {
            let conditions = std::slice::from_ref(&condition);
            let mut solver =
                ask(&Types::default(), &[integer(-50, 60)], conditions).with_pipeline(pipeline);
            let deadline = Deadline::steps(100_000);
            let found = [solver.minimum(0, &deadline), solver.maximum(0, &deadline)];
            let expected =
                [all.first(), all.last()].map(|n| Outcome::Sat(Value::Int(*n.expect("some"))));
            assert_eq!(found, expected, "{condition:?}");
        }
    }
}

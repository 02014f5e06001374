//! Strings that are compared with each other, have lengths and match patterns.

use ioco_solve::{Deadline, Embedded, Outcome, Solver};
use ioco_sts::{BinaryOp, Env, Expr, Pattern, Type, Types, UnaryOp, Value};

fn bin(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    Expr::binary(op, left, right)
}

fn x(unknown: u32) -> Expr {
    Expr::Param(unknown)
}

fn text(text: &str) -> Expr {
    Expr::Const(Value::str(text))
}

fn matches(subject: Expr, pattern: &str) -> Expr {
    Expr::Matches(
        Box::new(subject),
        Pattern::new(pattern).expect("a regular expression"),
    )
}

fn length(of: Expr) -> Expr {
    Expr::unary(UnaryOp::Length, of)
}

fn not(inner: Expr) -> Expr {
    Expr::unary(UnaryOp::Not, inner)
}

fn model(unknowns: usize, conditions: &[Expr]) -> Outcome<Vec<Value>> {
    let mut solver = Embedded::new(&Types::default(), &[]);
    for _ in 0..unknowns {
        solver.unknown(&Type::Str);
    }
    for condition in conditions {
        solver.assert(condition);
    }
    let outcome = solver.model(&Deadline::steps(60_000));
    if let Outcome::Sat(values) = &outcome {
        let env = Env {
            variables: &[],
            parameters: values,
            functions: &[],
        };
        for condition in conditions {
            assert_eq!(condition.holds(env), Ok(true), "{values:?} {condition:?}");
        }
    }
    outcome
}

#[track_caller]
fn satisfiable(unknowns: usize, conditions: &[Expr]) {
    let found = model(unknowns, conditions);
    assert!(found.is_sat(), "{found:?}");
}

/// What equals a string is bound by everything that binds that string, in whatever order they were
/// declared.
#[test]
fn equal_strings_share_their_conditions() {
    use BinaryOp::{Eq, Ne};
    let digits = |subject: Expr| matches(subject, "^[0-9]+$");
    satisfiable(2, &[bin(Eq, x(0), x(1)), digits(x(1))]);
    satisfiable(2, &[bin(Eq, x(0), x(1)), digits(x(0))]);
    satisfiable(3, &[bin(Eq, x(0), x(1)), bin(Eq, x(1), x(2)), digits(x(2))]);
    satisfiable(2, &[not(bin(Ne, x(0), x(1))), digits(x(1))]);
    satisfiable(
        2,
        &[
            bin(Eq, x(0), x(1)),
            bin(Eq, length(x(1)), Expr::int(7)),
            not(digits(x(1))),
        ],
    );
    satisfiable(2, &[bin(Ne, x(0), x(1)), digits(x(1)), digits(x(0))]);
    let one_of = Expr::InSet(Box::new(x(0)), vec![x(1), text("-")]);
    satisfiable(2, &[one_of, digits(x(1)), bin(Ne, x(0), text("-"))]);
}

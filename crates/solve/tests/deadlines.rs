//! Questions that make bounds propagation crawl end after a number of steps that does not grow with
//! the domains, and a deadline is kept by counting steps.

use std::cell::Cell;

use ioco_budget::Budget;
use ioco_solve::{Deadline, Embedded, Outcome, Solver, Unknown};
use ioco_sts::{BinaryOp, Env, Expr, Function, FunctionId, IntRange, Type, Types, Value};
use rust_decimal::Decimal;

fn x(unknown: u32) -> Expr {
    Expr::Param(unknown)
}

fn bin(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    Expr::binary(op, left, right)
}

fn times(factor: i64, unknown: u32) -> Expr {
    bin(BinaryOp::Mul, Expr::int(factor), x(unknown))
}

fn solver(width: i64, unknowns: usize, conditions: &[Expr]) -> Embedded {
    let mut solver = Embedded::new(&Types::default(), &[]);
    for _ in 0..unknowns {
        solver.unknown(&Type::Int(IntRange {
            min: -width,
            max: width,
        }));
    }
    for condition in conditions {
        solver.assert(condition);
    }
    solver
}

/// `x < y && y < x`
fn cycle() -> Vec<Expr> {
    vec![bin(BinaryOp::Lt, x(0), x(1)), bin(BinaryOp::Lt, x(1), x(0))]
}

/// `2x + z <= 2y && 2y + 1 <= 2x && z >= 0`
fn halves() -> Vec<Expr> {
    let left = bin(BinaryOp::Add, times(2, 0), x(2));
    let right = bin(BinaryOp::Add, times(2, 1), Expr::int(1));
    vec![
        bin(BinaryOp::Le, left, times(2, 1)),
        bin(BinaryOp::Le, right, times(2, 0)),
        bin(BinaryOp::Ge, x(2), Expr::int(0)),
    ]
}

/// `2x == 2y + 1`
fn parity() -> Vec<Expr> {
    let odd = bin(BinaryOp::Add, times(2, 1), Expr::int(1));
    vec![bin(BinaryOp::Eq, times(2, 0), odd)]
}

#[test]
fn crawling_questions_are_refuted_in_few_steps_at_every_width() {
    for width in [1_000, 1_000_000, 1_000_000_000, i64::MAX / 8] {
        for conditions in [cycle(), halves(), parity()] {
            let deadline = Deadline::steps(5_000);
            let mut solver = solver(width, 3, &conditions);
            assert_eq!(
                solver.check(&deadline),
                Outcome::Unsat,
                "{conditions:?} at {width}"
            );
            assert!(deadline.taken() < 2_000, "{} steps", deadline.taken());
        }
    }
}

#[test]
fn crawling_questions_under_an_alternative_are_refuted_too() {
    for width in [1_000_000, 1_000_000_000, i64::MAX / 8] {
        for conditions in [cycle(), halves(), parity()] {
            let all = conditions
                .into_iter()
                .reduce(|a, b| bin(BinaryOp::And, a, b))
                .expect("not empty");
            let other = cycle()
                .into_iter()
                .reduce(|a, b| bin(BinaryOp::And, a, b))
                .expect("not empty");
            let either = bin(BinaryOp::Or, all, other);
            let deadline = Deadline::steps(10_000);
            assert_eq!(solver(width, 3, &[either]).check(&deadline), Outcome::Unsat);
        }
    }
}

/// Squares that add up to one that is no such sum: nothing here sees that without trying.
fn hard() -> Vec<Expr> {
    let square = |u: u32| bin(BinaryOp::Mul, x(u), x(u));
    let cube = |u: u32| bin(BinaryOp::Mul, square(u), x(u));
    let sum = bin(BinaryOp::Add, bin(BinaryOp::Add, cube(0), cube(1)), cube(2));
    vec![bin(BinaryOp::Eq, sum, Expr::int(114))]
}

#[test]
fn a_hard_question_ends_within_the_solvers_own_limits() {
    let deadline = Deadline::never();
    let outcome = solver(1_000_000_000, 3, &hard()).check(&deadline);
    assert!(
        matches!(outcome, Outcome::Unknown(Unknown::Incomplete(_))),
        "{outcome:?}"
    );
    assert!(deadline.taken() < 300_000, "{} steps", deadline.taken());
}

#[test]
fn a_deadline_in_steps_is_kept_and_named() {
    for steps in [1, 10, 100, 1_000] {
        let deadline = Deadline::steps(steps);
        let outcome = solver(1_000_000_000, 3, &hard()).check(&deadline);
        assert_eq!(outcome, Outcome::Unknown(Unknown::Deadline));
        // What is asked for after the end is not granted: the overshoot is one request.
        assert!(
            deadline.taken() <= steps + 200,
            "{} of {steps}",
            deadline.taken()
        );
    }
}

#[test]
fn a_deadline_by_a_clock_is_looked_at_often_and_ends_the_search() {
    let looks = Cell::new(0);
    let expired = || {
        looks.set(looks.get() + 1);
        looks.get() > 10
    };
    let deadline = Deadline::new(&expired);
    let outcome = solver(1_000_000_000, 3, &hard()).check(&deadline);
    assert_eq!(outcome, Outcome::Unknown(Unknown::Deadline));
    assert_eq!(looks.get(), 11);
    assert!(deadline.taken() < 11 * 300, "{} steps", deadline.taken());
}

#[test]
fn the_same_question_takes_the_same_steps() {
    let taken = || {
        let deadline = Deadline::never();
        let outcome = solver(1_000_000, 3, &hard()).model(&deadline);
        (outcome, deadline.taken())
    };
    assert_eq!(taken(), taken());
}

#[test]
fn what_was_searched_only_in_part_is_not_called_unsatisfiable() {
    // x * x == 10^12 + 1 has no solution, but the squares up to 64 bits are too many to try; and
    // what lies outside the usual range is found where narrowing leads there.
    let square = bin(BinaryOp::Mul, x(0), x(0));
    let far = [bin(
        BinaryOp::Eq,
        square,
        Expr::int(4_000_000_000_000_000_000),
    )];
    let mut solver = solver(i64::MAX, 1, &far);
    let model = solver.model(&Deadline::never());
    assert!(model.is_sat(), "{model:?}");
}

/// The steps of the first narrowing are not those of the question.
#[test]
fn more_conditions_than_narrowing_has_steps_are_solved_all_the_same() {
    let unequal = |value| bin(BinaryOp::Ne, x(0), Expr::int(value));
    let conditions: Vec<Expr> = (0..700).map(unequal).collect();
    let model = solver(700, 1, &conditions).model(&Deadline::steps(60_000));
    let value = model.sat().and_then(|values| values.first().cloned());
    assert!(
        matches!(value, Some(Value::Int(-700..0 | 700))),
        "{value:?}"
    );
    let conditions: Vec<Expr> = (-350..=350).map(unequal).collect();
    let outcome = solver(350, 1, &conditions).check(&Deadline::never());
    assert_eq!(outcome, Outcome::Unsat);
}

/// `f(n)` calls itself twice for every `n` above 0.
fn doubling() -> Function {
    let integer = Type::Int(IntRange {
        min: i64::MIN,
        max: i64::MAX,
    });
    let call = || {
        let less = bin(BinaryOp::Sub, Expr::Local(0), Expr::int(1));
        Expr::Call(FunctionId(0), vec![less])
    };
    let stop = bin(BinaryOp::Le, Expr::Local(0), Expr::int(0));
    let twice = bin(BinaryOp::Add, call(), call());
    Function {
        name: "f".to_owned(),
        parameters: vec![("n".to_owned(), integer.clone())],
        result: integer,
        body: Expr::If(Box::new([stop, Expr::int(1), twice])),
    }
}

#[test]
fn the_steps_of_evaluation_count() {
    let functions = [doubling()];
    let call = |argument: Expr| Expr::Call(FunctionId(0), vec![argument]);
    let env = Env {
        variables: &[],
        parameters: &[],
        functions: &functions,
    };
    let (_, spent) = call(Expr::int(12)).eval_within(env, &Budget::default());
    let mut solver = Embedded::new(&Types::default(), &functions);
    let range = |min, max| Type::Int(IntRange { min, max });
    let (value, argument) = (
        solver.unknown(&range(0, 9000)),
        solver.unknown(&range(12, 13)),
    );
    solver.assert(&bin(BinaryOp::Eq, x(value), call(x(argument))));
    let deadline = Deadline::never();
    assert!(solver.model(&deadline).is_sat());
    assert!(deadline.taken() > spent / 10, "{}", deadline.taken());
    // With fewer steps than one evaluation takes, the search ends after it.
    let deadline = Deadline::steps(spent / 100);
    assert_eq!(solver.model(&deadline), Outcome::Unknown(Unknown::Deadline));
}

/// Without bounds for quotients of decimals every such question took the whole search.
#[test]
fn a_bound_on_a_quotient_of_decimals_is_met_in_few_steps() {
    let half = bin(BinaryOp::Div, x(0), Expr::int(2));
    let tenths = |tenths: i64| Expr::Const(Value::Decimal(Decimal::new(tenths, 1)));
    let quarter = bin(BinaryOp::Div, x(0), Expr::int(4));
    let rest = bin(
        BinaryOp::Sub,
        Expr::int(3),
        bin(BinaryOp::Mul, quarter, Expr::int(2)),
    );
    let cases = [
        bin(BinaryOp::Gt, half.clone(), Expr::int(1)),
        bin(BinaryOp::Lt, half.clone(), Expr::int(-1_000)),
        bin(BinaryOp::Eq, half, Expr::int(7)),
        bin(BinaryOp::Ge, rest, tenths(1005)),
        bin(
            BinaryOp::Eq,
            bin(BinaryOp::Div, Expr::int(10), x(0)),
            Expr::int(4),
        ),
        bin(
            BinaryOp::Eq,
            bin(BinaryOp::Div, x(0), tenths(3)),
            Expr::int(4),
        ),
        bin(
            BinaryOp::Eq,
            bin(BinaryOp::Div, Expr::int(-1), x(0)),
            tenths(4),
        ),
    ];
    for condition in cases {
        let mut solver = Embedded::new(&Types::default(), &[]);
        solver.unknown(&Type::Decimal);
        solver.assert(&condition);
        let deadline = Deadline::steps(400);
        let outcome = solver.model(&deadline);
        assert!(outcome.is_sat(), "{condition:?}: {outcome:?}");
    }
}

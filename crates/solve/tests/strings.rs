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

#[track_caller]
fn unsatisfiable(unknowns: usize, conditions: &[Expr]) {
    assert_eq!(model(unknowns, conditions), Outcome::Unsat);
}

#[test]
fn strings_that_equal_joined_strings_are_found() {
    use BinaryOp::{Add, Eq};
    let digits = |subject: Expr| matches(subject, "^[0-9]+$");
    let marked = || bin(Add, x(1), text("!"));
    satisfiable(2, &[bin(Eq, x(0), marked()), digits(x(1))]);
    unsatisfiable(2, &[bin(Eq, x(0), marked()), digits(x(0))]);
    satisfiable(2, &[bin(Eq, marked(), x(0)), matches(x(0), "^[a-c]+!$")]);
    let user = |inner: Expr| bin(Add, text("user-"), inner);
    satisfiable(1, &[matches(user(x(0)), "^user-[0-9]{3}$")]);
    unsatisfiable(1, &[matches(user(x(0)), "^admin")]);
    satisfiable(
        2,
        &[
            matches(bin(Add, x(0), x(1)), "^a+b+$"),
            bin(Eq, length(x(0)), Expr::int(2)),
        ],
    );
}

#[test]
fn several_patterns_on_one_string_are_met_together() {
    use BinaryOp::{And, Eq, Ge, Gt, Le, Lt, Ne, Or};
    let name = || matches(x(0), "^[a-z][a-z0-9_]{2,7}$");
    satisfiable(1, &[name(), matches(x(0), "[0-9]"), matches(x(0), "_")]);
    unsatisfiable(1, &[name(), matches(x(0), "[A-Z]")]);
    unsatisfiable(1, &[name(), bin(Lt, length(x(0)), Expr::int(3))]);
    satisfiable(1, &[name(), bin(Eq, length(x(0)), Expr::int(8))]);
    unsatisfiable(1, &[name(), bin(Gt, length(x(0)), Expr::int(8))]);
    satisfiable(
        1,
        &[
            name(),
            not(matches(x(0), "^[a-y]")),
            bin(Ne, x(0), text("zaa")),
        ],
    );
    unsatisfiable(
        1,
        &[
            matches(x(0), "^[ab]$"),
            bin(Ne, x(0), text("a")),
            bin(Ne, x(0), text("b")),
        ],
    );
    satisfiable(
        1,
        &[
            bin(Ge, x(0), text("m")),
            bin(Lt, x(0), text("n")),
            matches(x(0), "x$"),
        ],
    );
    unsatisfiable(1, &[bin(Gt, x(0), text("b")), bin(Le, x(0), text("b"))]);
    let set = Expr::InSet(Box::new(x(0)), vec![text("ab"), text("a1"), text("zz")]);
    satisfiable(1, &[set.clone(), matches(x(0), "[0-9]")]);
    unsatisfiable(1, &[set.clone(), matches(x(0), "^q")]);
    unsatisfiable(1, &[not(set.clone()), matches(x(0), "^(ab|a1|zz)$")]);
    let either = bin(
        Or,
        matches(x(0), "^[0-9]+$"),
        bin(And, name(), bin(Eq, x(0), x(1))),
    );
    unsatisfiable(2, &[either.clone(), matches(x(0), "^-")]);
    satisfiable(2, &[either, matches(x(0), "_"), matches(x(1), "5$")]);
}

#[test]
fn an_empty_string_and_a_long_one_are_values() {
    use BinaryOp::{Eq, Ge, Ne};
    satisfiable(
        2,
        &[bin(Ne, x(0), x(1)), bin(Eq, length(x(1)), Expr::int(0))],
    );
    satisfiable(
        1,
        &[
            bin(Ge, length(x(0)), Expr::int(300)),
            matches(x(0), "^(ab)+$"),
        ],
    );
    let one = Expr::InSet(Box::new(x(0)), vec![bin(BinaryOp::Add, x(1), text("b"))]);
    satisfiable(2, &[one.clone(), matches(x(0), "^a+b$")]);
    unsatisfiable(2, &[one, matches(x(0), "c$")]);
}

/// Two strings of a language with two words differ in one way only; three cannot differ.
#[test]
fn strings_that_differ_need_enough_words() {
    use BinaryOp::Ne;
    let bit = |subject: Expr| matches(subject, "^[01]$");
    let two = [bit(x(0)), bit(x(1)), bin(Ne, x(0), x(1))];
    satisfiable(2, &two);
    let mut three = two.to_vec();
    three.extend([bit(x(2)), bin(Ne, x(0), x(2)), bin(Ne, x(1), x(2))]);
    unsatisfiable(3, &three);
    unsatisfiable(
        2,
        &[
            matches(x(0), "^[01]$"),
            matches(x(1), "^[12]$"),
            bin(BinaryOp::Eq, x(0), x(1)),
            bin(Ne, x(1), text("1")),
        ],
    );
}

#[test]
fn an_if_and_a_function_on_strings_are_looked_into() {
    let chosen = Expr::If(Box::new([
        matches(x(0), "^a"),
        bin(BinaryOp::Add, x(0), text("1")),
        text("no"),
    ]));
    satisfiable(1, &[matches(chosen.clone(), "[0-9]")]);
    unsatisfiable(1, &[matches(chosen, "[0-9]"), not(matches(x(0), "^a"))]);
    let same = bin(BinaryOp::Eq, matches(x(0), "^a"), matches(x(0), "b$"));
    satisfiable(1, std::slice::from_ref(&same));
    unsatisfiable(1, &[same, matches(x(0), "^a$")]);
}

#[test]
fn a_string_matches_what_the_regular_expression_says_of_its_characters() {
    satisfiable(1, &[matches(x(0), r"^\p{Greek}{3}$")]);
    satisfiable(1, &[matches(x(0), r"\bword\b"), matches(x(0), "^a")]);
    unsatisfiable(1, &[matches(x(0), r"^\w+$"), matches(x(0), r"\W")]);
    unsatisfiable(
        1,
        &[
            matches(x(0), r"\bab"),
            matches(x(0), "^[a-c]+ab[a-c]*$"),
            not(matches(x(0), "^ab")),
        ],
    );
    satisfiable(1, &[matches(x(0), "(?m)^b$"), matches(x(0), "^a")]);
}

/// The steps are counted inside products of patterns too.
#[test]
fn steps_bound_the_work_on_patterns() {
    let hard: Vec<Expr> = (2..9)
        .map(|n| matches(x(0), &format!("^(a{{{n}}})*b(a|b)*a(a|b){{9}}$")))
        .collect();
    let mut solver = Embedded::new(&Types::default(), &[]);
    solver.unknown(&Type::Str);
    hard.iter().for_each(|c| solver.assert(c));
    let deadline = Deadline::steps(20_000);
    let outcome = solver.model(&deadline);
    assert!(!outcome.is_unsat(), "{outcome:?}");
    assert!(deadline.taken() < 40_000, "{} steps", deadline.taken());
}

/// A constant that does not fit the type of an array or a struct is no value of it.
#[test]
fn values_fit_their_types() {
    let small = Type::Int(ioco_sts::IntRange { min: 0, max: 5 });
    let array = |items: &[i64]| {
        let items: Vec<Value> = items.iter().map(|i| Value::Int(*i)).collect();
        Expr::Const(Value::Array(items.into()))
    };
    let ask = |condition: Expr| {
        let mut solver = Embedded::new(&Types::default(), &[]);
        solver.unknown(&Type::Array(Box::new(small.clone())));
        solver.assert(&condition);
        solver.model(&Deadline::never())
    };
    assert_eq!(ask(bin(BinaryOp::Eq, x(0), array(&[0, 7]))), Outcome::Unsat);
    assert!(ask(bin(BinaryOp::Eq, x(0), array(&[0, 5]))).is_sat());
    let set = Expr::InSet(Box::new(x(0)), vec![array(&[7]), array(&[6, 6])]);
    assert!(!ask(set).is_sat());
}

/// So many strings that equal each other are too many, which is said.
#[test]
fn strings_within_each_other_are_followed_up_to_a_limit() {
    let chain = |count: u32| -> Vec<Expr> {
        let equal = |i: u32| bin(BinaryOp::Eq, x(i), x(i + 1));
        (0..count - 1).map(equal).collect()
    };
    satisfiable(40, &chain(40));
    let outcome = model(80, &chain(80));
    assert!(matches!(outcome, Outcome::Unknown(_)), "{outcome:?}");
}

/// A string that must be one of two others is in the language of that one.
#[test]
fn a_string_among_others_shares_the_language_of_one() {
    use BinaryOp::Ne;
    for (other, equal) in [(1, 2), (2, 1)] {
        for (first, second) in [(1, 2), (2, 1)] {
            let among = Expr::InSet(Box::new(x(0)), vec![x(first), x(second)]);
            let digits = matches(x(equal), "^[0-9]{3}$");
            let letters = matches(x(other), "^[a-c]{3}$");
            let conditions = [among, bin(Ne, x(0), x(other)), digits, letters];
            satisfiable(3, &conditions);
            let too_short = bin(BinaryOp::Lt, length(x(0)), Expr::int(3));
            unsatisfiable(3, &[&conditions[..], &[too_short]].concat());
        }
    }
}

/// Of long words only one is made, which is not all there are.
#[test]
fn two_long_strings_that_differ_are_not_called_impossible() {
    let long = |unknown| matches(x(unknown), "^[ab]{300}$");
    let conditions = [bin(BinaryOp::Ne, x(0), x(1)), long(0), long(1)];
    let outcome = model(2, &conditions);
    assert!(!outcome.is_unsat(), "{outcome:?}");
    // The one that is made may be the one that it must differ from.
    for only in ["^a{300}$", "^b{300}$"] {
        let conditions = [conditions[0].clone(), long(0), matches(x(1), only)];
        let outcome = model(2, &conditions);
        assert!(!outcome.is_unsat(), "{outcome:?}");
    }
}

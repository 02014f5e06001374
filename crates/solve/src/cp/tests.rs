//! What aries says must be what enumeration says, within its limits on numbers, and nothing is said of what
//! has no counterpart.

use ioco_sts::{EnumId, IntRange, Type};
use rand::SeedableRng as _;

use super::common::{functions, problem, types};
use super::*;
use crate::search::{Choice, concrete};

fn moderate(expr: &Expr) -> Expr {
    match expr {
        Expr::Const(Value::Int(value)) => Expr::int((*value).clamp(-9, 9)),
        _ => expr.map_children(moderate),
    }
}

/// Every answer that aries gives must be what enumeration says; and it must give some.
#[test]
fn answers_are_what_enumeration_says() {
    let (types, functions) = (types(), functions());
    let (mut models, mut refuted) = (0, 0);
    for seed in 0..8_000 {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
        let mut problem = problem(&mut rng);
        // Aries takes neither unset values nor numbers at the edge of 64 bits.
        for unknown in &mut problem.unknowns {
            unknown.1 = false;
            if let Type::Int(range) = &mut unknown.0 {
                *range = IntRange { min: -5, max: 6 };
            }
        }
        problem.conditions = problem.conditions.iter().map(moderate).collect();
        let domains: Vec<Domain> = problem
            .unknowns
            .iter()
            .map(|(ty, _)| Domain::set(Values::of_type(ty, &types)))
            .collect();
        let goals: Vec<Goal<'_>> = problem.conditions.iter().map(Goal::holds).collect();
        let constants = Constants::of(&problem.conditions, &functions);
        let deadline = Deadline::never();
        match solve(&goals, &domains, &functions, &constants, &deadline) {
            Solved::Model(model) => {
                let values = concrete(&model, &constants, &mut Choice::Plain);
                assert!(
                    problem.holds(&values, &functions),
                    "{values:?} for {:#?}",
                    problem.conditions
                );
                models += 1;
            }
            Solved::Nothing { cut } => {
                assert!(!cut);
                assert!(
                    problem.solutions(&functions).is_empty(),
                    "{:#?}",
                    problem.conditions
                );
                refuted += 1;
            }
            Solved::GaveUp | Solved::Unfit => {}
        }
    }
    assert!(
        models > 800 && refuted > 400,
        "{models} models, {refuted} refuted"
    );
}

const COLOUR: EnumId = EnumId(0);

fn bin(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    Expr::binary(op, left, right)
}

fn x(unknown: u32) -> Expr {
    Expr::Param(unknown)
}

fn decimal(text: &str) -> Expr {
    Expr::Const(Value::Decimal(text.parse().expect("a decimal")))
}

fn either(condition: Expr, then: Expr, otherwise: Expr) -> Expr {
    Expr::If(Box::new([condition, then, otherwise]))
}

fn set(values: Values) -> Domain {
    Domain::set(values)
}

/// What is said, in a word; the values of a model are checked.
fn said(domains: &[Domain], conditions: &[Expr], deadline: &Deadline<'_>) -> String {
    let goals: Vec<Goal<'_>> = conditions.iter().map(Goal::holds).collect();
    let constants = Constants::of(conditions, &[]);
    match solve(&goals, domains, &[], &constants, deadline) {
        Solved::Model(model) => {
            let values = concrete(&model, &constants, &mut Choice::Plain);
            let met = |goal: &Goal<'_>| goal.is_met(&values, &[], deadline) == Ok(true);
            assert!(goals.iter().all(met), "{values:?} for {conditions:?}");
            let values = values.iter().map(|value| format!("{value:?}"));
            values.collect::<Vec<_>>().join(" ")
        }
        Solved::Nothing { cut: false } => "nothing".to_owned(),
        Solved::Nothing { cut: true } => "nothing close".to_owned(),
        Solved::GaveUp => "gave up".to_owned(),
        Solved::Unfit => "unfit".to_owned(),
    }
}

fn answer(domains: &[Domain], condition: &Expr) -> String {
    said(domains, std::slice::from_ref(condition), &Deadline::never())
}

#[test]
fn values_of_each_kind_are_read_back() {
    use BinaryOp::{Add, And, Eq, Ge, Lt, Ne};
    let ints = |min, max| set(Values::int(min, max));
    let member = |member| Expr::Const(Value::Enum(COLOUR, member));
    let colours = set(Values::Member {
        of: COLOUR,
        min: 0,
        max: 2,
    });
    let decimals = set(Values::decimal(Decimal::ONE, Decimal::TWO));
    let cases = [
        (set(Values::BOOL), x(0), "Bool(true)"),
        (
            set(Values::BOOL),
            bin(Eq, x(0), Expr::Const(Value::Bool(false))),
            "Bool(false)",
        ),
        (
            colours.clone(),
            Expr::and(bin(Ne, x(0), member(0)), bin(Lt, x(0), member(2))),
            "Enum(EnumId(0), 1)",
        ),
        (
            colours,
            bin(Eq, x(0), Expr::Const(Value::Enum(EnumId(1), 1))),
            "unfit",
        ),
        (
            decimals.clone(),
            bin(Eq, bin(Add, x(0), decimal("0.25")), decimal("1.5")),
            "Decimal(1.25)",
        ),
        // Between two of the grid there may be something: nothing is refuted.
        (decimals, bin(Lt, x(0), decimal("1")), "nothing close"),
        (
            ints(3, 9),
            bin(
                And,
                bin(Ge, x(0), Expr::int(7)),
                bin(Lt, x(0), Expr::int(8)),
            ),
            "Int(7)",
        ),
        (ints(3, 9), bin(Lt, x(0), Expr::int(3)), "nothing"),
    ];
    for (domain, condition, expected) in cases {
        assert_eq!(
            answer(std::slice::from_ref(&domain), &condition),
            expected,
            "{condition:?} over {domain:?}"
        );
    }
}

#[test]
fn wide_domains_are_cut_and_then_nothing_is_refuted() {
    use BinaryOp::{Eq, Ge};
    let above = |number: i64| bin(Ge, x(0), Expr::int(number));
    let half = MAX_WIDTH / 2;
    for (min, max, number, expected) in [
        (-half, half, half + 1, "nothing"),
        (-half - 1, half, half + 1, "nothing close"),
        (-half, half + 1, half + 1, "nothing close"),
        (0, i64::MAX, half, "Int(10000)"),
        (7, i64::MAX, half + 7, "Int(10007)"),
        (7, i64::MAX, half + 8, "nothing close"),
    ] {
        let domain = set(Values::int(min, max));
        assert_eq!(answer(&[domain], &above(number)), expected, "{min}..{max}");
    }
    // Two thousand units of the last digit but one on either side of zero.
    for (text, expected) in [
        ("200.0", "Decimal(200)"),
        ("-200.0", "Decimal(-200)"),
        ("200.1", "nothing close"),
        ("-200.1", "nothing close"),
    ] {
        let domain = set(Values::DECIMAL);
        let bound = bin(Ge, x(0), decimal("-999.9"));
        let equal = Expr::and(bin(Eq, x(0), decimal(text)), bound);
        assert_eq!(answer(&[domain], &equal), expected, "{text}");
    }
    for (min, max, text, expected) in [
        ("500.1", "900", "700.1", "Decimal(700.1)"),
        ("500.1", "900", "700.2", "nothing close"),
        ("-900", "-500.1", "-700.1", "Decimal(-700.1)"),
        ("-900", "-500.1", "-700.2", "nothing close"),
    ] {
        let [min, max] = [min, max].map(|text| text.parse().expect("a decimal"));
        let domain = set(Values::decimal(min, max));
        let equal = bin(Eq, x(0), decimal(text));
        assert_eq!(answer(&[domain], &equal), expected, "{text}");
    }
}

/// Each construct has a counterpart: one solution, and the wish beside it has none.
#[test]
fn every_construct_is_decided() {
    use BinaryOp::{Add, Div, Eq, Ge, Lt, Max, Min, Mul, Ne, Rem, Sub};
    let truth = || set(Values::BOOL);
    let small = || set(Values::int(0, 9));
    let below = || set(Values::int(-9, -1));
    let large = || set(Values::int(1 << 40, (1 << 40) + 9));
    let bool = |value| Expr::Const(Value::Bool(value));
    let both = Expr::and;
    let is = |subject: Expr, number: i64| bin(Eq, subject, Expr::int(number));
    let times = |factor, subject| bin(Mul, Expr::int(factor), subject);
    let cases = [
        (
            vec![small(), truth()],
            both(x(1), either(x(1), is(x(0), 4), is(x(0), 5))),
            "Int(4) Bool(true)",
        ),
        (
            vec![small(), truth()],
            both(
                Expr::unary(UnaryOp::Not, x(1)),
                Expr::unary(
                    UnaryOp::Not,
                    either(x(1), x(1), bin(Lt, x(0), Expr::int(9))),
                ),
            ),
            "Int(9) Bool(false)",
        ),
        (
            vec![truth(), truth()],
            both(x(0), bin(Ne, x(0), x(1))),
            "Bool(true) Bool(false)",
        ),
        (
            vec![truth(), truth()],
            both(bin(Eq, x(0), bool(false)), bin(Eq, x(0), x(1))),
            "Bool(false) Bool(false)",
        ),
        (
            vec![truth(), truth()],
            both(bin(Ne, x(0), x(1)), bin(Eq, x(0), x(1))),
            "nothing",
        ),
        // A comparison of truths that need not hold.
        (
            vec![truth(), truth(), small()],
            both(
                both(x(0), x(1)),
                bin(BinaryOp::Or, bin(Ne, x(0), x(1)), is(x(2), 6)),
            ),
            "Bool(true) Bool(true) Int(6)",
        ),
        (
            vec![below()],
            is(Expr::unary(UnaryOp::Neg, x(0)), 3),
            "Int(-3)",
        ),
        (
            vec![below()],
            is(Expr::unary(UnaryOp::Abs, x(0)), 3),
            "Int(-3)",
        ),
        (
            vec![small()],
            is(Expr::unary(UnaryOp::Abs, x(0)), 3),
            "Int(3)",
        ),
        (
            vec![small(), small()],
            both(is(bin(Mul, x(0), x(1)), 63), bin(Lt, x(0), x(1))),
            "Int(7) Int(9)",
        ),
        (
            vec![small()],
            bin(Eq, bin(Mul, decimal("2.5"), x(0)), decimal("7.5")),
            "Int(3)",
        ),
        (
            vec![small()],
            bin(Eq, bin(Mul, x(0), decimal("2.5")), decimal("7.5")),
            "Int(3)",
        ),
        (
            vec![small()],
            is(bin(Div, times(3, x(0)), Expr::int(2)), 7),
            "Int(5)",
        ),
        (
            vec![below()],
            is(bin(Div, times(-3, x(0)), Expr::int(2)), 7),
            "Int(-5)",
        ),
        (
            vec![below()],
            is(bin(Div, x(0), Expr::int(-3)), 3),
            "Int(-9)",
        ),
        (
            vec![below()],
            is(bin(Rem, x(0), Expr::int(-9)), 0),
            "Int(-9)",
        ),
        (
            vec![large()],
            both(
                is(bin(Rem, x(0), Expr::int(1 << 30)), 5),
                is(bin(Div, x(0), Expr::int(1 << 30)), 1 << 10),
            ),
            "Int(1099511627781)",
        ),
        (vec![small()], is(bin(Max, x(0), Expr::int(3)), 8), "Int(8)"),
        (vec![small()], is(bin(Min, x(0), Expr::int(3)), 1), "Int(1)"),
        (
            vec![small(), truth()],
            is(
                bin(Sub, either(x(1), x(0), Expr::int(20)), Expr::int(1)),
                19,
            ),
            "Int(0) Bool(false)",
        ),
        (
            vec![small()],
            Expr::unary(
                UnaryOp::Not,
                Expr::InRange(Box::new([x(0), Expr::int(0), Expr::int(8)])),
            ),
            "Int(9)",
        ),
        (
            vec![small()],
            Expr::InSet(
                Box::new(bin(Add, x(0), Expr::int(2))),
                vec![Expr::int(1), Expr::int(10)],
            ),
            "Int(8)",
        ),
        (vec![small()], bin(Ge, x(0), Expr::int(10)), "nothing"),
    ];
    for (domains, condition, expected) in cases {
        assert_eq!(answer(&domains, &condition), expected, "{condition:?}");
    }
}

/// Whoever takes `:void` for a number, or leaves out that a part has no value, refutes what is possible.
#[test]
fn what_may_be_unset_or_have_no_value_is_left_to_others() {
    use BinaryOp::{Add, Div, Eq, Ge, Gt, Lt, Max, Mul, Ne, Rem};
    let void = || Expr::Const(Value::Void);
    let small = || set(Values::int(-3, 4));
    let unset = || Domain {
        values: Values::int(-3, 4),
        void: true,
    };
    let edge = || set(Values::int(i64::MAX - 3, i64::MAX));
    let truth = || set(Values::BOOL);
    let is_one = || bin(Eq, x(0), Expr::int(1));
    let cases = [
        (vec![unset()], is_one()),
        (vec![small()], bin(Ne, x(0), void())),
        (
            vec![truth(), truth()],
            bin(Ne, either(x(0), x(1), void()), x(1)),
        ),
        (
            vec![small(), truth()],
            bin(Ne, either(x(1), x(0), void()), Expr::int(1)),
        ),
        (
            vec![small()],
            Expr::InSet(
                Box::new(x(0)),
                vec![Expr::int(1), bin(Div, Expr::int(1), x(0))],
            ),
        ),
        (
            vec![edge()],
            bin(Gt, bin(Add, x(0), Expr::int(1)), Expr::int(0)),
        ),
        (
            vec![edge()],
            bin(Gt, bin(Mul, x(0), Expr::int(2)), Expr::int(0)),
        ),
        (vec![edge()], bin(Gt, x(0), Expr::int(0))),
        (
            vec![set(Values::int(i64::MIN, i64::MIN + 2))],
            bin(Gt, Expr::unary(UnaryOp::Neg, x(0)), Expr::int(0)),
        ),
        (
            vec![set(Values::int(i64::MIN, i64::MIN + 2))],
            bin(Gt, Expr::unary(UnaryOp::Abs, x(0)), Expr::int(0)),
        ),
        (
            vec![small()],
            bin(Eq, bin(Div, Expr::int(4), x(0)), Expr::int(2)),
        ),
        // Decimals are not cut off to integers.
        (
            vec![small()],
            bin(Eq, bin(Div, x(0), decimal("2.0")), decimal("1.5")),
        ),
        (
            vec![small()],
            bin(Eq, bin(Rem, x(0), decimal("2.0")), decimal("1")),
        ),
        (
            vec![set(Values::decimal(Decimal::ZERO, Decimal::TWO))],
            bin(Eq, bin(Max, x(0), Expr::int(1)), decimal("1.5")),
        ),
        (
            vec![small(), truth()],
            bin(Eq, either(x(1), x(0), decimal("1.5")), decimal("1.5")),
        ),
        (vec![truth(), truth()], bin(Lt, x(0), x(1))),
        (
            vec![set(Values::Str { min: 0, max: 3 })],
            bin(Ge, x(0), Expr::Const(Value::str("a"))),
        ),
        (vec![small()], x(7)),
        // A truth is no number.
        (
            vec![truth(), truth()],
            bin(
                Eq,
                Expr::int(-1),
                either(x(0), Expr::unary(UnaryOp::Neg, x(1)), Expr::int(1)),
            ),
        ),
        (
            vec![truth(), truth()],
            bin(
                Eq,
                Expr::int(1),
                either(x(0), Expr::unary(UnaryOp::Abs, x(1)), Expr::int(2)),
            ),
        ),
    ];
    for (domains, condition) in cases {
        let said = answer(&domains, &condition);
        assert_eq!(said, "unfit", "{condition:?} over {domains:?}");
    }
    // What does not occur may be anything.
    assert_eq!(answer(&[small(), unset()], &is_one()), "Int(1) Int(0)");
}

#[test]
fn numbers_and_sums_go_to_aries_up_to_the_limit() {
    let mut model = Model::new();
    let most = MAX_NUMBER;
    for (min, max, fits) in [
        (-most, most, true),
        (-most - 1, 0, false),
        (0, most + 1, false),
    ] {
        let variable = variable_between(&mut model, min, max);
        assert_eq!(variable.is_ok(), fits, "{min}..{max}");
    }
    let [none, five] = [(0, 0), (-5, 3)].map(|(min, max)| model.new_variable(min, max));
    let builder = Builder {
        model,
        view: View {
            domains: &[],
            functions: &[],
            variables: &[],
            effort: &Deadline::never(),
        },
        variables: Vec::new(),
        scale: 1,
    };
    for (terms, constant, fits) in [
        (vec![], most, true),
        (vec![], -most - 1, false),
        (vec![(none, most)], 0, true),
        (vec![(none, -most - 1)], 0, false),
        (vec![(five, most / 5)], most % 5, true),
        (vec![(five, most / 5)], most % 5 + 1, false),
        (vec![(five, -most / 5), (none, 1)], most % 5, false),
        (vec![(five, i128::MAX), (none, i128::MAX)], i128::MIN, false),
    ] {
        let mut terms = terms;
        terms.sort_unstable();
        let form = Form {
            terms,
            constant,
            scale: 0,
        };
        assert_eq!(builder.sum(&form).is_ok(), fits, "{form:?}");
    }
}

/// Ten pigeons in nine holes.
#[test]
fn a_hard_question_ends_with_the_decisions_or_the_deadline() {
    let pigeons = 10;
    let domains = vec![set(Values::int(1, pigeons - 1)); pigeons as usize];
    let mut conditions = Vec::new();
    for one in 0..pigeons as u32 {
        for other in 0..one {
            conditions.push(bin(BinaryOp::Ne, x(one), x(other)));
        }
    }
    let deadline = Deadline::steps(1_000_000);
    assert_eq!(said(&domains, &conditions, &deadline), "gave up");
    assert_eq!(deadline.taken(), MAX_DECISIONS * STEPS_PER_DECISION);
    let deadline = Deadline::steps(3 * SLICE * STEPS_PER_DECISION - 1);
    assert_eq!(said(&domains, &conditions, &deadline), "gave up");
    assert!(deadline.is_over());
}

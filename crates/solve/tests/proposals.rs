//! Values that the search cannot find, because they have more digits than the conditions: they are read
//! backwards off the comparisons, and evaluated.

use ioco_solve::{Deadline, GuardSolver, Outcome, Part, Pipeline, choose_values};
use ioco_sts::{
    Answer, BinaryOp, Direction, Expr, Label, LabelId, Parameter, Question, Sts, StsBuilder, Type,
    UnaryOp, Value,
};
use rand::SeedableRng as _;
use rust_decimal::Decimal;

use BinaryOp::{Add, Div, Eq, Ge, Gt, Le, Lt, Mul, Ne, Rem, Sub};

fn bin(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    Expr::binary(op, left, right)
}

fn number(number: i64) -> Expr {
    Expr::int(number)
}

fn tenths(tenths: i64) -> Expr {
    Expr::Const(Value::Decimal(Decimal::new(tenths, 1)))
}

/// Eight times the decimal.
fn eightfold() -> Expr {
    bin(Mul, Expr::Param(0), number(8))
}

/// A label with a decimal and an integer.
fn model() -> (Sts, LabelId) {
    let mut builder = StsBuilder::new("proposals");
    let parameter = |name: &str, ty: Type| Parameter {
        name: name.to_owned(),
        ty,
    };
    let label = builder.label(Label {
        name: "ask".to_owned(),
        channel: String::new(),
        direction: Direction::Stimulus,
        parameters: vec![parameter("v", Type::Decimal), parameter("n", Type::INTEGER)],
    });
    (builder.build(), label)
}

/// Who answers, and what.
fn asked(guard: &Expr, pipeline: Pipeline) -> (Answer, Option<Part>) {
    let (sts, label) = model();
    let question = Question {
        sts: &sts,
        label,
        guard,
        valuation: &[],
    };
    let deadline = Deadline::steps(60_000);
    let solver = GuardSolver::new().with_pipeline(pipeline);
    (solver.answer(question, &deadline), deadline.answered_by())
}

/// The decimal that is chosen.
fn chosen(guard: &Expr) -> Outcome<Value> {
    let (sts, label) = model();
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(1);
    let deadline = Deadline::steps(60_000);
    match choose_values(&sts, label, guard, &[], &mut rng, &deadline) {
        Outcome::Sat(values) => Outcome::Sat(values[0].clone()),
        Outcome::Unsat => Outcome::Unsat,
        Outcome::Unknown(why) => Outcome::Unknown(why),
    }
}

#[test]
fn the_value_of_an_equation_is_read_off_through_every_operation() {
    let neg = |inner| Expr::unary(UnaryOp::Neg, inner);
    let cases = [
        (bin(Eq, eightfold(), number(1)), "0.125"),
        (bin(Eq, number(1), eightfold()), "0.125"),
        (
            bin(Eq, bin(Mul, number(8), Expr::Param(0)), number(1)),
            "0.125",
        ),
        (
            bin(Eq, bin(Add, eightfold(), number(2)), number(3)),
            "0.125",
        ),
        (
            bin(Eq, bin(Add, number(2), eightfold()), number(3)),
            "0.125",
        ),
        (
            bin(Eq, bin(Sub, eightfold(), number(2)), number(3)),
            "0.625",
        ),
        (
            bin(Eq, bin(Sub, number(2), eightfold()), number(3)),
            "-0.125",
        ),
        (bin(Eq, neg(eightfold()), number(1)), "-0.125"),
        (
            bin(Eq, bin(Div, eightfold(), tenths(7)), number(1)),
            "0.0875",
        ),
        (
            bin(Eq, bin(Div, number(1), eightfold()), number(4)),
            "0.03125",
        ),
        (
            Expr::and(
                bin(Ge, eightfold(), number(1)),
                bin(Le, eightfold(), number(1)),
            ),
            "0.125",
        ),
        (
            Expr::and(
                bin(Ne, Expr::Param(1), number(3)),
                bin(Eq, eightfold(), number(1)),
            ),
            "0.125",
        ),
    ];
    for (guard, value) in cases {
        let answer = asked(&guard, Pipeline::WHOLE);
        assert_eq!(answer, (Answer::Yes, Some(Part::Proposals)), "{guard:?}");
        let without = Pipeline::WHOLE.without(Part::Proposals);
        assert_eq!(asked(&guard, without).0, Answer::Unknown, "{guard:?}");
        let value = Value::Decimal(value.parse().expect("a decimal"));
        assert_eq!(chosen(&guard), Outcome::Sat(value), "{guard:?}");
    }
}

/// Quotients of integers are cut off: `3 * n <= 3000001` proposes a million. The square's remainder keeps the
/// search from finding it.
#[test]
fn integers_are_proposed_as_integers() {
    let n = || Expr::Param(1);
    let square = bin(Rem, bin(Mul, n(), n()), number(999_983));
    let guard = Expr::and(
        Expr::and(
            bin(Le, bin(Mul, number(3), n()), number(3_000_001)),
            bin(Eq, square, number(289)),
        ),
        bin(Gt, n(), number(900_000)),
    );
    let answer = asked(&guard, Pipeline::WHOLE);
    assert_eq!(answer, (Answer::Yes, Some(Part::Proposals)));
}

#[test]
fn proposals_are_evaluated_and_refute_nothing() {
    // A seventh has no end: no decimal times seven is one.
    let seventh = bin(Eq, bin(Mul, Expr::Param(0), number(7)), number(1));
    assert_eq!(asked(&seventh, Pipeline::WHOLE).0, Answer::Unknown);
    let other = Expr::and(
        bin(Eq, eightfold(), number(1)),
        bin(Gt, Expr::Param(0), number(1)),
    );
    assert_eq!(asked(&other, Pipeline::WHOLE).0, Answer::No);
}

/// Every proposal costs a search, so there are sixteen, without repetitions.
#[test]
fn sixteen_values_are_proposed() {
    let far = |tenth: i64| bin(Lt, Expr::Param(0), tenths(1000 + tenth));
    let root = || bin(Eq, eightfold(), number(1));
    for (others, repeated, answer) in [
        (15, false, Answer::Yes),
        (16, false, Answer::Unknown),
        (40, true, Answer::Yes),
    ] {
        let others = (0..others).map(|n| far(if repeated { 0 } else { n }));
        let guard = others.chain([root()]).reduce(Expr::and).expect("some");
        assert_eq!(asked(&guard, Pipeline::WHOLE).0, answer, "{guard:?}");
    }
}

//! Evaluation over sets of numbers misses no value: decimals where evaluation rounds, integers where it overflows.

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::*;

const NOTHING: Env<'_> = Env {
    variables: &[],
    parameters: &[],
    functions: &[],
};

/// A number of any size, with any number of places after the point.
fn number(rng: &mut ChaCha8Rng) -> Decimal {
    let bits = rng.random_range(0..=96_u32);
    let digits = match rng.random_range(0..4_u8) {
        0 => rng.random_range(0..=12),
        1 => i128::from(10_u8).pow(rng.random_range(0..=28)),
        _ => rng.random_range(0..1_i128 << bits),
    };
    let sign = if rng.random_bool(0.5) { 1 } else { -1 };
    let scale = rng.random_range(0..=28);
    Decimal::from_i128_with_scale(sign * digits, scale)
}

/// Its ends, what lies next to them, the middle, and numbers between.
fn some_of((min, max): (Decimal, Decimal), rng: &mut ChaCha8Rng) -> Vec<Decimal> {
    let unit = Decimal::new(1, rng.random_range(0..=28));
    let mut some = vec![min, max, Decimal::ZERO, Decimal::ONE];
    some.extend(min.checked_add(unit));
    some.extend(max.checked_sub(unit));
    some.extend(max.checked_sub(min).map(|width| min + width / Decimal::TWO));
    some.extend((0..3).map(|_| number(rng)));
    some.retain(|number| (min..=max).contains(number));
    some
}

fn between(rng: &mut ChaCha8Rng) -> (Decimal, Decimal) {
    let (one, other) = (number(rng), number(rng));
    (one.min(other), one.max(other))
}

#[test]
fn quotients_of_decimals_lie_within_their_bounds() {
    let mut bounded = 0;
    for seed in 0..4_000 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let (left, right) = (between(&mut rng), between(&mut rng));
        let found = decimal_arithmetic(BinaryOp::Div, left, right);
        bounded += u32::from(found.values != Values::DECIMAL);
        for x in some_of(left, &mut rng) {
            for y in some_of(right, &mut rng) {
                let both = [x, y].map(|n| Expr::Const(Value::Decimal(n)));
                let foreseen = match Expr::Binary(BinaryOp::Div, Box::new(both)).eval(NOTHING) {
                    Ok(quotient) => found.values.contains(&quotient),
                    Err(_) => found.error,
                };
                assert!(foreseen, "{x} / {y} of {left:?} / {right:?}: {found:?}");
            }
        }
    }
    assert!(bounded > 1_600, "{bounded} quotients have bounds");
}

/// Where integers change sign or end.
const ENDS: [i64; 11] = [
    i64::MIN,
    i64::MIN + 1,
    i64::MIN + 2,
    -2,
    -1,
    0,
    1,
    2,
    i64::MAX - 2,
    i64::MAX - 1,
    i64::MAX,
];

/// The ends of a range and zero are where an operation fails, if it does anywhere in the range.
#[test]
fn results_of_integers_at_their_ends_lie_within_their_bounds() {
    let ranges: Vec<(i64, i64)> = ENDS
        .iter()
        .enumerate()
        .flat_map(|(index, min)| ENDS[index..].iter().map(|max| (*min, *max)))
        .collect();
    let within = |(min, max): (i64, i64)| ENDS.into_iter().filter(move |n| (min..=max).contains(n));
    for op in [
        BinaryOp::Add,
        BinaryOp::Sub,
        BinaryOp::Mul,
        BinaryOp::Div,
        BinaryOp::Rem,
        BinaryOp::Min,
        BinaryOp::Max,
    ] {
        for left in &ranges {
            for right in &ranges {
                let found = integer_arithmetic(op, *left, *right);
                let mut fails = false;
                for x in within(*left) {
                    for y in within(*right) {
                        let both = [x, y].map(|n| Expr::Const(Value::Int(n)));
                        let foreseen = match Expr::Binary(op, Box::new(both)).eval(NOTHING) {
                            Ok(result) => found.values.contains(&result),
                            Err(_) => {
                                fails = true;
                                found.error
                            }
                        };
                        assert!(foreseen, "{op:?} of {x} and {y}: {found:?}");
                    }
                }
                assert_eq!(found.error, fails, "{op:?} of {left:?} and {right:?}");
            }
        }
    }
}

#[test]
fn a_divisor_that_may_be_zero_bounds_nothing() {
    let [zero, one, two] = [0, 1, 2].map(Decimal::from);
    let anything = ExprValues::of(Values::DECIMAL).with_error(true);
    for divisors in [(zero, one), (-one, zero), (-one, one)] {
        let found = decimal_arithmetic(BinaryOp::Div, (one, two), divisors);
        assert_eq!(found, anything, "{divisors:?}");
    }
}

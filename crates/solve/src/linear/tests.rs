//! What elimination refutes has no solution, and it refutes as much as it did.

use ioco_sts::Env;
use rand::{RngExt as _, SeedableRng as _};
use rust_decimal::Decimal;

use super::*;

use BinaryOp::{Add, Eq, Ge, Gt, Le, Lt, Mul, Ne, Sub};

fn bin(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    Expr::binary(op, left, right)
}

fn tenths(tenths: i64) -> Expr {
    Expr::Const(Value::Decimal(Decimal::new(tenths, 1)))
}

/// Two integers and a decimal.
fn domains() -> Vec<Domain> {
    let decimals = Values::decimal(Decimal::new(-10, 1), Decimal::new(15, 1));
    vec![
        Domain::set(Values::int(-2, 3)),
        Domain::set(Values::int(-1, 4)),
        Domain::set(decimals),
    ]
}

fn refuted(conditions: &[Expr], domains: &[Domain], steps: u64) -> bool {
    let goals: Vec<Goal<'_>> = conditions.iter().map(Goal::holds).collect();
    refutes(&goals, domains, &[], &Deadline::steps(steps))
}

fn has_solution(conditions: &[Expr]) -> bool {
    for x in -2..=3 {
        for y in -1..=4 {
            for z in -2..=3 {
                let z = Value::Decimal(Decimal::new(z * 5, 1));
                let parameters = [Value::Int(x), Value::Int(y), z];
                let env = Env {
                    variables: &[],
                    parameters: &parameters,
                    functions: &[],
                };
                if conditions.iter().all(|c| c.holds(env) == Ok(true)) {
                    return true;
                }
            }
        }
    }
    false
}

struct Maker(rand_chacha::ChaCha8Rng);

impl Maker {
    fn term(&mut self) -> Expr {
        let unknown = Expr::Param(self.0.random_range(0..3));
        match self.0.random_range(0..8) {
            0 => Expr::unary(UnaryOp::Neg, unknown),
            1 => bin(Mul, Expr::int(self.0.random_range(-3..4)), unknown),
            2 => bin(Mul, unknown, Expr::int(self.0.random_range(-3..4))),
            3 => bin(Mul, tenths(self.0.random_range(-15..15)), unknown),
            4 => Expr::int(self.0.random_range(-4..5)),
            5 => bin(Mul, unknown.clone(), unknown),
            _ => unknown,
        }
    }

    fn sum(&mut self) -> Expr {
        let (left, right) = (self.term(), self.term());
        match self.0.random_range(0..3) {
            0 => bin(Add, left, right),
            1 => bin(Sub, left, right),
            _ => left,
        }
    }

    fn condition(&mut self) -> Expr {
        let condition = match self.0.random_range(0..8) {
            0 => Expr::InRange(Box::new([self.sum(), self.sum(), self.sum()])),
            1 => bin(Eq, self.sum(), self.sum()),
            2 => bin(Ne, self.sum(), self.sum()),
            _ => {
                let op = [Lt, Le, Gt, Ge][self.0.random_range(0..4)];
                bin(op, self.sum(), self.sum())
            }
        };
        match self.0.random_range(0..4) {
            0 => Expr::unary(UnaryOp::Not, condition),
            _ => condition,
        }
    }
}

#[test]
fn what_is_refuted_has_no_solution() {
    let mut maker = Maker(rand_chacha::ChaCha8Rng::seed_from_u64(11));
    let (mut refuted_count, mut without_solution) = (0, 0);
    for _ in 0..3_000 {
        let count = maker.0.random_range(1..5);
        let conditions: Vec<Expr> = (0..count).map(|_| maker.condition()).collect();
        let possible = has_solution(&conditions);
        let parts = crate::strings::parts(&conditions);
        let is_refuted = refutes(&parts, &domains(), &[], &Deadline::never());
        assert!(!(possible && is_refuted), "{conditions:?}");
        refuted_count += usize::from(is_refuted);
        without_solution += usize::from(!possible);
    }
    assert_eq!((refuted_count, without_solution), (631, 862));
}

#[test]
fn contradictions_are_seen_and_near_misses_are_not() {
    let p = Expr::Param;
    let wide = |_| Domain::set(Values::int(i64::MIN, i64::MAX));
    let integers: Vec<Domain> = (0..80).map(wide).collect();
    let decimals = vec![Domain::set(Values::DECIMAL); 4];
    let twice = |u| bin(Mul, Expr::int(2), p(u));
    // Two ways from the first to the second, which is not above it.
    let both_ways = |one: BinaryOp, other: BinaryOp| {
        let way = |op, through| [bin(op, p(0), p(through)), bin(Le, p(through), p(1))];
        let back = [bin(Le, p(1), p(0))];
        [&way(one, 2)[..], &way(other, 3), &back].concat()
    };
    let one_more = |e| bin(Add, e, Expr::int(1));
    for (conditions, of_integers, of_decimals) in [
        (vec![bin(Lt, p(0), p(1)), bin(Lt, p(1), p(0))], true, true),
        (vec![bin(Lt, p(0), p(1)), bin(Le, p(1), p(0))], true, true),
        (vec![bin(Le, p(0), p(1)), bin(Le, p(1), p(0))], false, false),
        (vec![bin(Eq, twice(0), one_more(twice(1)))], true, false),
        (
            vec![bin(Lt, p(0), p(1)), bin(Lt, p(1), one_more(p(0)))],
            true,
            false,
        ),
        (vec![bin(Le, p(0), p(1)), bin(Gt, p(0), p(1))], true, true),
        (both_ways(Le, Lt), true, true),
        (both_ways(Lt, Le), true, true),
        (both_ways(Le, Le), false, false),
        (vec![bin(Ge, p(0), p(1)), bin(Lt, p(0), p(1))], true, true),
        (vec![bin(Eq, p(0), p(1)), bin(Ne, p(0), p(1))], true, true),
        (
            vec![bin(Eq, p(0), p(1)), bin(Ne, p(0), one_more(p(1)))],
            false,
            false,
        ),
        (
            vec![
                bin(Lt, p(0), p(1)),
                bin(Lt, p(1), p(2)),
                bin(Lt, p(2), one_more(one_more(p(0)))),
            ],
            true,
            false,
        ),
        (
            vec![
                bin(Lt, p(0), p(1)),
                bin(Lt, p(1), p(2)),
                bin(Lt, p(2), one_more(p(0))),
            ],
            true,
            false,
        ),
    ] {
        assert_eq!(
            refuted(&conditions, &integers, 9_999),
            of_integers,
            "{conditions:?}"
        );
        assert_eq!(
            refuted(&conditions, &decimals, 9_999),
            of_decimals,
            "{conditions:?}"
        );
        assert!(!refuted(&conditions, &integers, 0) || conditions.len() == 1);
    }
    // What may be unset is no number.
    let unset = vec![
        Domain {
            void: true,
            ..integers[0].clone()
        };
        2
    ];
    assert!(!refuted(
        &[bin(Lt, p(0), p(1)), bin(Lt, p(1), p(0))],
        &unset,
        9_999
    ));
    // A circle of twelve is seen, one of thirteen is too large, also next to a small one.
    let circle = |first: u32, count: u32| -> Vec<Expr> {
        let next = |i: u32| bin(Lt, p(first + i), p(first + (i + 1) % count));
        (0..count).map(next).collect()
    };
    assert!(refuted(&circle(0, 12), &integers, 9_999));
    assert!(!refuted(&circle(0, 13), &integers, 9_999));
    assert!(refuted(
        &[circle(0, 13), circle(20, 3)].concat(),
        &integers,
        9_999
    ));
    let pairs = (10..30).map(|i| bin(Lt, p(2 * i), p(2 * i + 1)));
    let pairs: Vec<Expr> = pairs.chain(circle(0, 2)).collect();
    assert!(refuted(&pairs, &integers, 9_999));
    // Four comparisons with `!=` are looked at, the fifth is not.
    let unequal = |count: u32| -> Vec<Expr> {
        let other = (1..count).map(|i| bin(Ne, p(i), p(i + 20)));
        let both = [bin(Ne, p(0), p(50)), bin(Eq, p(0), p(50))];
        other.chain(both).collect()
    };
    assert!(refuted(&unequal(4), &integers, 9_999));
    assert!(!refuted(&unequal(5), &integers, 9_999));
}

/// Of numbers that do not fit nothing is concluded.
#[test]
fn bounds_come_from_the_domains() {
    let p = Expr::Param;
    let small = domains();
    for (condition, is_refuted) in [
        (bin(Gt, bin(Add, p(0), p(1)), Expr::int(7)), true),
        (bin(Ge, bin(Add, p(0), p(1)), Expr::int(7)), false),
        (bin(Lt, bin(Add, p(0), p(1)), Expr::int(-3)), true),
        (bin(Le, bin(Add, p(0), p(1)), Expr::int(-3)), false),
        (bin(Gt, bin(Add, p(0), p(2)), tenths(45)), true),
        (bin(Ge, bin(Add, p(0), p(2)), tenths(45)), false),
        (bin(Lt, bin(Sub, p(2), p(0)), tenths(-40)), true),
        (bin(Le, bin(Sub, p(2), p(0)), tenths(-40)), false),
        (bin(Gt, bin(Mul, p(0), p(0)), Expr::int(9)), true),
        (bin(Ge, bin(Mul, p(0), p(0)), Expr::int(9)), false),
    ] {
        let found = refuted(std::slice::from_ref(&condition), &small, 9_999);
        assert_eq!(found, is_refuted, "{condition:?}");
    }
}

//! Larger linear questions: many conditions at once, with alternatives among them.

use ioco_sts::{BinaryOp, Expr, IntRange, Type};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

/// Twenty integers, 26 linear conditions, ten of them disjunctions; always satisfiable.
pub fn block(seed: u64) -> (Vec<Type>, Vec<Expr>) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let hidden: Vec<i64> = (0..20).map(|_| rng.random_range(0..=100)).collect();
    let mut conditions = Vec::new();
    for index in 0..26 {
        let mut row = |satisfied: bool| {
            let terms: Vec<(i64, u32)> = (0..3)
                .map(|_| (rng.random_range(-5..=5), rng.random_range(0..20)))
                .collect();
            let value: i64 = terms.iter().map(|(c, u)| c * hidden[*u as usize]).sum();
            let slack = rng.random_range(0..20);
            let bound = if satisfied {
                value + slack
            } else {
                value - slack - 1
            };
            let sum = terms
                .iter()
                .map(|(c, u)| Expr::binary(BinaryOp::Mul, Expr::int(*c), Expr::Param(*u)))
                .reduce(|a, b| Expr::binary(BinaryOp::Add, a, b))
                .expect("three terms");
            Expr::binary(BinaryOp::Le, sum, Expr::int(bound))
        };
        conditions.push(if index < 16 {
            row(true)
        } else {
            let (first, second) = (row(index % 2 == 0), row(index % 2 == 1));
            Expr::binary(BinaryOp::Or, first, second)
        });
    }
    let ty = Type::Int(IntRange { min: 0, max: 100 });
    (vec![ty; 20], conditions)
}

//! Prints microseconds per question for the kinds of questions that testing asks, and for the ones
//! that make bounds propagation crawl: `cargo run --release -p ioco-solve --example solver_speed`.
#![allow(
    clippy::disallowed_methods,
    reason = "a program that measures reads the clock"
)]

#[path = "../tests/questions/blocks.rs"]
mod blocks;

use std::time::Instant;

use blocks::block;
use ioco_solve::{Deadline, Embedded, GuardSolver, Outcome, Solver, choose_values};
use ioco_sts::{
    BinaryOp, Direction, Expr, Feasibility as _, IntRange, Label, LabelId, Parameter, Question,
    StsBuilder, Type, Types, Value, VarId,
};
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;

fn integer(min: i64, max: i64) -> Type {
    Type::Int(IntRange { min, max })
}

fn times(factor: i64, unknown: u32) -> Expr {
    Expr::binary(BinaryOp::Mul, Expr::int(factor), Expr::Param(unknown))
}

fn plus(left: Expr, right: Expr) -> Expr {
    Expr::binary(BinaryOp::Add, left, right)
}

fn at_most(left: Expr, right: Expr) -> Expr {
    Expr::binary(BinaryOp::Le, left, right)
}

fn less(left: Expr, right: Expr) -> Expr {
    Expr::binary(BinaryOp::Lt, left, right)
}

fn shown<T>(outcome: &Outcome<T>) -> &'static str {
    match outcome {
        Outcome::Sat(_) => "sat",
        Outcome::Unsat => "unsat",
        Outcome::Unknown(_) => "unknown",
    }
}

/// Seconds that this program has computed, where the system tells, so that a busy machine does not
/// count; else seconds that have passed.
fn seconds(start: Instant) -> f64 {
    let on_cpu = std::fs::read_to_string("/proc/self/schedstat").ok();
    let nanoseconds = on_cpu.and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(|| start.elapsed().as_secs_f64(), |n| n * 1e-9)
}

/// Runs `question` for each seed and prints the mean time and how often each answer came.
fn measure(name: &str, count: u64, mut question: impl FnMut(u64) -> &'static str) {
    let mut answers = std::collections::BTreeMap::new();
    let clock = Instant::now();
    let start = seconds(clock);
    for seed in 0..count {
        *answers.entry(question(seed)).or_insert(0_u64) += 1;
    }
    let mean = (seconds(clock) - start) * 1e6 / count as f64;
    println!("{name:<40} {mean:>10.2} µs   {answers:?}");
}

fn solver(unknowns: &[Type], conditions: &[Expr]) -> Embedded {
    let mut solver = Embedded::new(&Types::default(), &[]);
    for ty in unknowns {
        solver.unknown(ty);
    }
    for condition in conditions {
        solver.assert(condition);
    }
    solver
}

fn main() {
    let mut builder = StsBuilder::new("speed");
    let label = builder.label(Label {
        name: "withdraw".to_owned(),
        channel: "atm".to_owned(),
        direction: Direction::Stimulus,
        parameters: vec![
            Parameter {
                name: "amount".to_owned(),
                ty: Type::INTEGER,
            },
            Parameter {
                name: "code".to_owned(),
                ty: Type::INTEGER,
            },
        ],
    });
    let sts = builder.build();
    let label = LabelId(label.0);
    // amount >= 1 && amount <= balance && code == pin
    let guard = Expr::and(
        Expr::and(
            at_most(Expr::int(1), Expr::Param(0)),
            at_most(Expr::Param(0), Expr::Var(VarId(0))),
        ),
        Expr::binary(BinaryOp::Eq, Expr::Param(1), Expr::Var(VarId(1))),
    );
    let valuation = [Value::Int(500), Value::Int(1234)];
    let mut oracle = GuardSolver::new();
    measure("guard: can it hold?", 200_000, |_| {
        let answer = oracle.feasible(Question {
            sts: &sts,
            label,
            guard: &guard,
            valuation: &valuation,
        });
        if answer == ioco_sts::Answer::Yes {
            "yes"
        } else {
            "?"
        }
    });
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    measure("guard: choose values", 200_000, |_| {
        let deadline = Deadline::never();
        shown(&choose_values(
            &sts, label, &guard, &valuation, &mut rng, &deadline,
        ))
    });

    let wide = integer(-1_000_000, 1_000_000);
    let sum = |k: i64| {
        vec![
            at_most(Expr::int(1), Expr::Param(0)),
            at_most(Expr::int(1), Expr::Param(1)),
            at_most(plus(Expr::Param(0), Expr::Param(1)), Expr::int(k)),
        ]
    };
    measure("sum: x, y >= 1, x + y <= k", 2_000, |seed| {
        shown(&solver(&[wide.clone(), wide.clone()], &sum(seed as i64)).model(&Deadline::never()))
    });
    measure("sum, random model", 2_000, |seed| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut solver = solver(&[wide.clone(), wide.clone()], &sum(seed as i64 + 2));
        shown(&solver.random_model(&mut rng, &Deadline::never()))
    });
    measure("mul: x, y >= 2, x * y == k", 500, |seed| {
        let product = Expr::binary(BinaryOp::Mul, Expr::Param(0), Expr::Param(1));
        let conditions = [
            at_most(Expr::int(2), Expr::Param(0)),
            at_most(Expr::int(2), Expr::Param(1)),
            Expr::binary(BinaryOp::Eq, product, Expr::int(seed as i64 + 100)),
        ];
        shown(&solver(&[wide.clone(), wide.clone()], &conditions).model(&Deadline::never()))
    });
    measure("block20", 200, |seed| {
        let (unknowns, conditions) = block(seed);
        shown(&solver(&unknowns, &conditions).model(&Deadline::never()))
    });
    measure("block20, random model", 100, |seed| {
        let (unknowns, conditions) = block(seed);
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        shown(&solver(&unknowns, &conditions).random_model(&mut rng, &Deadline::never()))
    });
    measure("block20, minimum", 20, |seed| {
        let (unknowns, conditions) = block(seed);
        shown(&solver(&unknowns, &conditions).minimum(0, &Deadline::never()))
    });
    measure("hard: x³ + y³ + z³ == 114", 3, |_| {
        let square = |u: u32| Expr::binary(BinaryOp::Mul, Expr::Param(u), Expr::Param(u));
        let cube = |u: u32| Expr::binary(BinaryOp::Mul, square(u), Expr::Param(u));
        let sum = plus(plus(cube(0), cube(1)), cube(2));
        let conditions = [Expr::binary(BinaryOp::Eq, sum, Expr::int(114))];
        let unknowns = vec![integer(-1_000_000_000, 1_000_000_000); 3];
        shown(&solver(&unknowns, &conditions).check(&Deadline::never()))
    });
    for width in [1_000_000, 1_000_000_000, i64::MAX] {
        let domain = integer(-width, width);
        measure(&format!("trap: x < y, y < x; {width:.1e}"), 2_000, |_| {
            let conditions = [
                less(Expr::Param(0), Expr::Param(1)),
                less(Expr::Param(1), Expr::Param(0)),
            ];
            shown(&solver(&[domain.clone(), domain.clone()], &conditions).check(&Deadline::never()))
        });
        measure(
            &format!("trap: 2x+z <= 2y, 2y+1 <= 2x; {width:.1e}"),
            2_000,
            |_| {
                let conditions = [
                    at_most(plus(times(2, 0), Expr::Param(2)), times(2, 1)),
                    at_most(plus(times(2, 1), Expr::int(1)), times(2, 0)),
                    at_most(Expr::int(0), Expr::Param(2)),
                ];
                let unknowns = [domain.clone(), domain.clone(), domain.clone()];
                shown(&solver(&unknowns, &conditions).check(&Deadline::never()))
            },
        );
    }
}

//! The embedded solver against pumpkin, a solver by others, on linear problems too large to
//! enumerate.

use ioco_solve::{Deadline, Embedded, Outcome, Solver};
use ioco_sts::{BinaryOp, Expr, IntRange, Type, Types, Value};
use pumpkin_solver::conflict_resolvers::resolvers::ResolutionResolver;
use pumpkin_solver::core::results::SatisfactionResult;
use pumpkin_solver::core::termination::Indefinite;
use pumpkin_solver::core::variables::{DomainId, TransformableVariable as _};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    AtMost,
    Equal,
    Different,
}

#[derive(Debug)]
struct Row {
    terms: Vec<(i32, usize)>,
    kind: Kind,
    bound: i32,
}

const UNKNOWNS: usize = 6;
const WIDTH: i32 = 50;

fn rows(rng: &mut ChaCha8Rng) -> Vec<Row> {
    (0..rng.random_range(4..=9))
        .map(|_| {
            let mut terms: Vec<(i32, usize)> = Vec::new();
            for unknown in 0..UNKNOWNS {
                if rng.random_range(0..2) == 0 {
                    let factor = [-7, -3, -2, -1, 1, 2, 3, 5][rng.random_range(0..8)];
                    terms.push((factor, unknown));
                }
            }
            if terms.is_empty() {
                terms.push((1, 0));
            }
            Row {
                terms,
                kind: [Kind::AtMost, Kind::AtMost, Kind::Equal, Kind::Different]
                    [rng.random_range(0..4)],
                bound: rng.random_range(-120..=60),
            }
        })
        .collect()
}

fn by_pumpkin(rows: &[Row], extra: Option<(usize, i32)>) -> bool {
    let mut solver = pumpkin_solver::Solver::default();
    let unknowns: Vec<DomainId> = (0..UNKNOWNS)
        .map(|_| solver.new_bounded_integer(-WIDTH, WIDTH))
        .collect();
    for row in rows {
        let terms: Vec<_> = row
            .terms
            .iter()
            .map(|(factor, unknown)| unknowns[*unknown].scaled(*factor))
            .collect();
        let tag = solver.new_constraint_tag();
        match row.kind {
            Kind::AtMost => solver
                .add_constraint(pumpkin_solver::less_than_or_equals(terms, row.bound, tag))
                .post(),
            Kind::Equal => solver
                .add_constraint(pumpkin_solver::equals(terms, row.bound, tag))
                .post(),
            Kind::Different => solver
                .add_constraint(pumpkin_solver::not_equals(terms, row.bound, tag))
                .post(),
        }
    }
    if let Some((unknown, below)) = extra {
        let tag = solver.new_constraint_tag();
        let terms = vec![unknowns[unknown].scaled(1)];
        solver
            .add_constraint(pumpkin_solver::less_than_or_equals(terms, below, tag))
            .post();
    }
    let mut brancher = solver.default_brancher();
    let mut resolver = ResolutionResolver::default();
    let result = solver.satisfy(&mut brancher, &mut Indefinite, &mut resolver);
    matches!(result, SatisfactionResult::Satisfiable(_))
}

fn embedded(rows: &[Row]) -> Embedded {
    let mut solver = Embedded::new(&Types::default(), &[]);
    for _ in 0..UNKNOWNS {
        solver.unknown(&Type::Int(IntRange {
            min: i64::from(-WIDTH),
            max: i64::from(WIDTH),
        }));
    }
    for row in rows {
        let sum = row
            .terms
            .iter()
            .map(|(factor, unknown)| {
                let factor = Expr::int(i64::from(*factor));
                Expr::binary(BinaryOp::Mul, factor, Expr::Param(*unknown as u32))
            })
            .reduce(|a, b| Expr::binary(BinaryOp::Add, a, b))
            .expect("terms");
        let op = match row.kind {
            Kind::AtMost => BinaryOp::Le,
            Kind::Equal => BinaryOp::Eq,
            Kind::Different => BinaryOp::Ne,
        };
        solver.assert(&Expr::binary(op, sum, Expr::int(i64::from(row.bound))));
    }
    solver
}

#[test]
fn two_solvers_agree_on_linear_problems() {
    let (mut sat, mut unsat) = (0, 0);
    for seed in 0..400 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let rows = rows(&mut rng);
        let expected = by_pumpkin(&rows, None);
        let mut solver = embedded(&rows);
        match solver.check(&Deadline::never()) {
            Outcome::Sat(()) => {
                assert!(expected, "{rows:#?}");
                sat += 1;
                if seed % 8 == 0 {
                    // The smallest value is possible, and the other solver finds nothing below it.
                    let found = solver.minimum(0, &Deadline::never());
                    let Outcome::Sat(Value::Int(least)) = found else {
                        panic!("{found:?} for {rows:#?}");
                    };
                    let least = least as i32;
                    assert!(by_pumpkin(&rows, Some((0, least))), "{rows:#?}");
                    assert!(!by_pumpkin(&rows, Some((0, least - 1))), "{rows:#?}");
                }
            }
            Outcome::Unsat => {
                assert!(!expected, "{rows:#?}");
                unsat += 1;
            }
            Outcome::Unknown(why) => panic!("{why}: {rows:#?}"),
        }
    }
    assert!(sat > 50 && unsat > 50, "{sat} {unsat}");
}

//! The embedded solver against trying everything, on thousands of small random problems.

mod common;

use common::{Problem, functions, problem, types};
use ioco_solve::{Deadline, Embedded, Outcome, Solver};
use ioco_sts::{Function, Value};
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;

const PROBLEMS: u64 = 3_000;

fn solver(problem: &Problem, functions: &[Function]) -> Embedded {
    let mut solver = Embedded::new(&types(), functions);
    for (ty, void) in &problem.unknowns {
        if *void {
            solver.void_unknown(ty);
        } else {
            solver.unknown(ty);
        }
    }
    for condition in &problem.conditions {
        solver.assert(condition);
    }
    solver
}

fn each_problem(check: impl Fn(&Problem, &[Vec<Value>], &mut ChaCha8Rng, &[Function])) {
    let functions = functions();
    let mut solvable = 0;
    for seed in 0..PROBLEMS {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let problem = problem(&mut rng);
        let solutions = problem.solutions(&functions);
        check(&problem, &solutions, &mut rng, &functions);
        solvable += u64::from(!solutions.is_empty());
    }
    // Both kinds of problems, or the comparison says little.
    assert!(
        solvable > PROBLEMS / 5 && solvable < PROBLEMS * 4 / 5,
        "{solvable}"
    );
}

#[test]
fn sat_and_unsat_are_what_enumeration_says() {
    each_problem(|problem, solutions, _, functions| {
        let outcome = solver(problem, functions).model(&Deadline::never());
        match outcome {
            Outcome::Sat(model) => assert!(
                problem.holds(&model, functions) && solutions.contains(&model),
                "{:#?} is no solution of {:#?}",
                model,
                problem.conditions
            ),
            other => assert_eq!(
                (other, solutions.first()),
                (Outcome::Unsat, None),
                "{:#?} {:?}",
                problem.conditions,
                problem.unknowns
            ),
        }
    });
}

#[test]
fn random_models_are_solutions() {
    each_problem(|problem, solutions, rng, functions| {
        let outcome = solver(problem, functions).random_model(rng, &Deadline::never());
        match outcome {
            Outcome::Sat(model) => assert!(
                solutions.contains(&model),
                "{:?} is no solution of {:#?}",
                model,
                problem.conditions
            ),
            other => assert_eq!((other, solutions.len()), (Outcome::Unsat, 0)),
        }
    });
}

#[test]
fn extremes_are_what_enumeration_says() {
    each_problem(|problem, solutions, _, functions| {
        for unknown in 0..problem.unknowns.len() {
            let set = solutions
                .iter()
                .map(|s| &s[unknown])
                .filter(|v| !v.is_void());
            let mut solver = solver(problem, functions);
            for (found, expected) in [
                (
                    solver.minimum(unknown as u32, &Deadline::never()),
                    set.clone().min(),
                ),
                (
                    solver.maximum(unknown as u32, &Deadline::never()),
                    set.clone().max(),
                ),
            ] {
                let expected = match expected {
                    Some(value) => Outcome::Sat(value.clone()),
                    None => Outcome::Unsat,
                };
                assert_eq!(found, expected, "{:#?}", problem.conditions);
            }
        }
    });
}

#[test]
fn no_answer_is_wrong_when_steps_run_out() {
    each_problem(|problem, solutions, _, functions| {
        for steps in [0, 1, 3, 10, 40] {
            match solver(problem, functions).model(&Deadline::steps(steps)) {
                Outcome::Sat(model) => assert!(solutions.contains(&model)),
                Outcome::Unsat => assert!(solutions.is_empty(), "{:#?}", problem.conditions),
                Outcome::Unknown(_) => {}
            }
        }
    });
}

#[test]
fn popping_forgets_what_was_pushed() {
    let functions = functions();
    for seed in 0..500 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let problem = problem(&mut rng);
        let mut solver = solver(&problem, &functions);
        let before = solver.model(&Deadline::never());
        solver.push();
        solver.unknown(&ioco_sts::Type::Bool);
        solver.assert(&ioco_sts::Expr::FALSE);
        assert_eq!(solver.check(&Deadline::never()), Outcome::Unsat);
        solver.pop();
        assert_eq!(solver.model(&Deadline::never()), before);
    }
}

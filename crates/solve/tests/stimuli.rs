//! Feasibility, values of stimuli and boundary values against trying everything, on random guards
//! over parameters and variables.

mod common;

use std::collections::BTreeSet;

use common::{Problem, functions, problem, types};
use ioco_solve::{Deadline, GuardSolver, Outcome, boundary_values, choose_values};
use ioco_sts::{
    Answer, BinaryOp, Direction, Env, Expr, Feasibility as _, IntRange, Label, LabelId, Parameter,
    Place, ProcessId, Question, Sts, StsBuilder, Type, Value, VarId, Variable,
};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

fn model_with(types_of: &[Type], variables: &[(Type, Value)]) -> (Sts, LabelId) {
    let mut builder = StsBuilder::new("guards");
    *builder.types() = types();
    for function in functions() {
        builder.function(function);
    }
    for (index, (ty, initial)) in variables.iter().enumerate() {
        builder.variable(Variable {
            name: format!("v{index}"),
            process: ProcessId(0),
            ty: ty.clone(),
            initial: initial.clone(),
            place: Place::default(),
        });
    }
    let label = builder.label(Label {
        name: "stimulus".to_owned(),
        channel: "c".to_owned(),
        direction: Direction::Stimulus,
        parameters: types_of
            .iter()
            .enumerate()
            .map(|(index, ty)| Parameter {
                name: format!("p{index}"),
                ty: ty.clone(),
            })
            .collect(),
    });
    (builder.build(), label)
}

struct Case {
    sts: Sts,
    label: LabelId,
    guard: Expr,
    valuation: Vec<Value>,
    /// All parameter values under which the guard holds, unset ones included.
    solutions: Vec<Vec<Value>>,
}

/// The last unknown of a random problem becomes a variable with some value.
fn case(seed: u64) -> (Case, ChaCha8Rng) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut problem = problem(&mut rng);
    for unknown in &mut problem.unknowns {
        unknown.1 = true;
    }
    let last = problem.unknowns.len() - 1;
    let choices = problem.values(last);
    let value = choices[rng.random_range(0..choices.len())].clone();
    let (ty, _) = problem.unknowns.pop().expect("at least one");
    let guard = problem
        .conditions
        .iter()
        .map(|c| with_variable(c, last as u32))
        .reduce(Expr::and)
        .expect("at least one");
    let parameters: Vec<Type> = problem.unknowns.iter().map(|(ty, _)| ty.clone()).collect();
    let (sts, label) = model_with(&parameters, &[(ty, value.clone())]);
    let valuation = vec![value];
    let everything = Problem {
        unknowns: problem.unknowns,
        conditions: Vec::new(),
    };
    let mut solutions = everything.solutions(sts.functions());
    solutions.retain(|parameters| holds(&sts, &guard, &valuation, parameters));
    let case = Case {
        sts,
        label,
        guard,
        valuation,
        solutions,
    };
    (case, rng)
}

fn holds(sts: &Sts, guard: &Expr, valuation: &[Value], parameters: &[Value]) -> bool {
    let env = Env {
        variables: valuation,
        parameters,
        functions: sts.functions(),
    };
    guard.holds(env) == Ok(true)
}

fn with_variable(expr: &Expr, unknown: u32) -> Expr {
    match expr {
        Expr::Param(p) if *p == unknown => Expr::Var(VarId(0)),
        _ => expr.map_children(|child| with_variable(child, unknown)),
    }
}

impl Case {
    /// Solutions in which all parameters are set.
    fn proper(&self) -> Vec<&Vec<Value>> {
        let is_proper = |values: &&Vec<Value>| !values.iter().any(Value::is_void);
        self.solutions.iter().filter(is_proper).collect()
    }
}

#[test]
fn feasibility_is_what_enumeration_says() {
    let mut oracle = GuardSolver::new();
    let mut yes = 0;
    for seed in 0..4_000 {
        let (case, _) = case(seed);
        let answer = oracle.feasible(Question {
            sts: &case.sts,
            label: case.label,
            guard: &case.guard,
            valuation: &case.valuation,
        });
        let expected = if case.solutions.is_empty() {
            Answer::No
        } else {
            Answer::Yes
        };
        assert_eq!(answer, expected, "{:#?} {:?}", case.guard, case.valuation);
        yes += u32::from(answer == Answer::Yes);
    }
    assert!(yes > 800 && yes < 3_200, "{yes}");
}

#[test]
fn chosen_values_make_the_guard_true_and_are_set_where_they_can_be() {
    for seed in 0..4_000 {
        let (case, mut rng) = case(seed);
        let outcome = choose_values(
            &case.sts,
            case.label,
            &case.guard,
            &case.valuation,
            &mut rng,
            &Deadline::never(),
        );
        match outcome {
            Outcome::Sat(values) => {
                assert!(
                    case.solutions.contains(&values),
                    "{values:?} {:#?}",
                    case.guard
                );
                let proper = case.proper();
                if !proper.is_empty() {
                    assert!(proper.contains(&&values), "{values:?} {:#?}", case.guard);
                }
            }
            other => assert_eq!((other, case.solutions.len()), (Outcome::Unsat, 0)),
        }
    }
}

#[test]
fn boundary_values_are_the_extremes_and_feasible() {
    for seed in 0..700 {
        let (case, _) = case(seed);
        let proper = case.proper();
        for boundaries in boundary_values(
            &case.sts,
            case.label,
            &case.guard,
            &case.guard.params(),
            &case.valuation,
            &Deadline::never(),
        ) {
            let index = boundaries.parameter as usize;
            let feasible: BTreeSet<&Value> = proper.iter().map(|s| &s[index]).collect();
            let expected = |value: Option<&&Value>| match value {
                Some(value) => Outcome::Sat((*value).clone()),
                None => Outcome::Unsat,
            };
            assert_eq!(boundaries.minimum, expected(feasible.first()));
            assert_eq!(boundaries.maximum, expected(feasible.last()));
            assert!(boundaries.limits.iter().all(|v| feasible.contains(v)));
            for extreme in feasible.first().iter().chain(&feasible.last()) {
                assert!(boundaries.limits.contains(extreme));
            }
        }
    }
}

fn integer(min: i64, max: i64) -> Type {
    Type::Int(IntRange { min, max })
}

fn bin(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    Expr::binary(op, left, right)
}

#[test]
fn limits_are_the_constants_and_their_neighbours() {
    let (sts, label) = model_with(&[integer(0, 9_999)], &[(Type::INTEGER, Value::Int(0))]);
    let amount = || Expr::Param(0);
    // amount + v0 < 100 || amount == 1234
    let guard = bin(
        BinaryOp::Or,
        bin(
            BinaryOp::Lt,
            bin(BinaryOp::Add, amount(), Expr::Var(VarId(0))),
            Expr::int(100),
        ),
        bin(BinaryOp::Eq, amount(), Expr::int(1_234)),
    );
    let found = boundary_values(
        &sts,
        label,
        &guard,
        &guard.params(),
        &[Value::Int(10)],
        &Deadline::never(),
    );
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].minimum, Outcome::Sat(Value::Int(0)));
    assert_eq!(found[0].maximum, Outcome::Sat(Value::Int(1_234)));
    let limits: Vec<Value> = [0, 89, 1_234].into_iter().map(Value::Int).collect();
    assert_eq!(found[0].limits, limits);
}

#[test]
fn a_parameter_that_is_only_stored_has_a_value_that_fits() {
    let (sts, label) = model_with(&[integer(0, 9), integer(0, 9)], &[]);
    let unset = bin(BinaryOp::Eq, Expr::Param(1), Expr::Const(Value::Void));
    let fits = Expr::InRange(Box::new([Expr::Param(1), Expr::int(0), Expr::int(5)]));
    let stored = bin(BinaryOp::Or, unset, fits);
    let product = bin(BinaryOp::Mul, Expr::Param(0), Expr::Param(0));
    let simple = bin(BinaryOp::Gt, Expr::Param(0), Expr::int(3));
    let searched = bin(BinaryOp::Gt, product, Expr::int(30));
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for guard in [simple, searched] {
        let guard = Expr::and(guard, stored.clone());
        for _ in 0..20 {
            let values = choose_values(&sts, label, &guard, &[], &mut rng, &Deadline::never())
                .sat()
                .expect("satisfiable");
            let fits = matches!(values[1], Value::Int(0..=5));
            assert!(!values[0].is_void() && fits, "{values:?}");
        }
    }
}

#[test]
fn a_choice_covers_the_whole_of_a_small_range() {
    let (sts, label) = model_with(&[integer(0, 9_999)], &[(Type::INTEGER, Value::Int(0))]);
    let guard = Expr::and(
        bin(BinaryOp::Le, Expr::int(1), Expr::Param(0)),
        bin(BinaryOp::Le, Expr::Param(0), Expr::Var(VarId(0))),
    );
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let seen: BTreeSet<Value> = (0..500)
        .map(|_| {
            let valuation = [Value::Int(20)];
            let mut values = choose_values(
                &sts,
                label,
                &guard,
                &valuation,
                &mut rng,
                &Deadline::never(),
            )
            .sat()
            .expect("satisfiable");
            values.remove(0)
        })
        .collect();
    assert_eq!(seen, (1..=20).map(Value::Int).collect());
}

/// A login whose name is repeated, in both orders of the parameters: it is a stimulus, and a response
/// that a silent system owes.
#[test]
fn equal_strings_with_a_pattern_are_feasible_and_chosen() {
    let (sts, label) = model_with(&[Type::Str, Type::Str], &[]);
    let pattern = ioco_sts::Pattern::new("^[0-9]+$").expect("a regular expression");
    let same = Expr::binary(BinaryOp::Eq, Expr::Param(0), Expr::Param(1));
    for bound in [0, 1] {
        let digits = Expr::Matches(Box::new(Expr::Param(bound)), pattern.clone());
        let guard = Expr::and(same.clone(), digits);
        let answer = GuardSolver::new().feasible(Question {
            sts: &sts,
            label,
            guard: &guard,
            valuation: &[],
        });
        assert_eq!(answer, Answer::Yes);
        let mut seen = BTreeSet::new();
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for _ in 0..20 {
            let deadline = Deadline::steps(60_000);
            let chosen = choose_values(&sts, label, &guard, &[], &mut rng, &deadline);
            let Outcome::Sat(values) = chosen else {
                panic!("{chosen:?}");
            };
            assert_eq!(values[0], values[1]);
            seen.insert(values[0].clone());
        }
        assert!(seen.len() > 5, "{seen:?}");
    }
}

/// Between two decimals that differ in the last place there is none: a range that is read off is not
/// yet a value.
#[test]
fn a_range_without_a_value_is_not_feasible() {
    let (sts, label) = model_with(&[Type::Decimal], &[]);
    let number = |text: &str| Expr::Const(Value::Decimal(text.parse().expect("a decimal")));
    let bound = |op, text: &str| Expr::binary(op, Expr::Param(0), number(text));
    let guard = Expr::and(
        bound(BinaryOp::Gt, "1.0000000000000000000000000000"),
        bound(BinaryOp::Lt, "1.0000000000000000000000000001"),
    );
    let answer = GuardSolver::new().feasible(Question {
        sts: &sts,
        label,
        guard: &guard,
        valuation: &[],
    });
    assert_ne!(answer, Answer::Yes);
}

/// `p0`'s limits, as far as they lie inside of its range.
fn limits_of(ty: Type, guard: &Expr) -> Vec<Value> {
    let (sts, label) = model_with(&[ty, integer(0, 9)], &[]);
    let mut found = boundary_values(&sts, label, guard, &guard.params(), &[], &Deadline::never());
    assert_eq!(found.len(), 1, "{guard:?}");
    found.remove(0).limits
}

#[test]
fn limits_are_read_through_sums_differences_and_signs() {
    let p = || Expr::Param(0);
    let three = || Expr::int(3);
    for (subject, limit) in [
        (p(), 8),
        (bin(BinaryOp::Add, p(), three()), 5),
        (bin(BinaryOp::Add, three(), p()), 5),
        (bin(BinaryOp::Sub, p(), three()), 11),
        (bin(BinaryOp::Sub, three(), p()), -5),
        (Expr::unary(ioco_sts::UnaryOp::Neg, p()), -8),
        (
            bin(
                BinaryOp::Sub,
                bin(BinaryOp::Add, p(), three()),
                Expr::int(1),
            ),
            6,
        ),
    ] {
        let expected: Vec<Value> = [-90, limit - 1, limit + 1, 90].map(Value::Int).to_vec();
        for (left, right) in [
            (subject.clone(), Expr::int(8)),
            (Expr::int(8), subject.clone()),
        ] {
            let guard = bin(BinaryOp::Ne, left, right);
            assert_eq!(limits_of(integer(-90, 90), &guard), expected, "{guard:?}");
        }
    }
}

#[test]
fn limits_of_ranges_and_sets_are_their_ends_and_items() {
    let not = |inner| Expr::unary(ioco_sts::UnaryOp::Not, inner);
    let p = || Expr::Param(0);
    let range = Expr::InRange(Box::new([p(), Expr::int(30), Expr::int(50)]));
    let items = Expr::InSet(Box::new(p()), vec![Expr::int(30), Expr::int(50)]);
    for (guard, limits) in [
        (range.clone(), vec![30, 31, 49, 50]),
        (not(range), vec![0, 29, 51, 90]),
        (items.clone(), vec![30, 50]),
        (not(items), vec![0, 29, 31, 49, 51, 90]),
    ] {
        let limits: Vec<Value> = limits.into_iter().map(Value::Int).collect();
        assert_eq!(limits_of(integer(0, 90), &guard), limits, "{guard:?}");
    }
}

/// An integer is compared with a decimal, or the other way round.
#[test]
fn limits_have_the_type_of_the_parameter() {
    let number = |tenths| Value::Decimal(rust_decimal::Decimal::new(tenths, 1));
    let at_most = |value: Value| bin(BinaryOp::Le, Expr::Param(0), Expr::Const(value));
    let found = limits_of(integer(0, 9), &at_most(number(40)));
    assert_eq!(found, [0, 4].map(Value::Int));
    let between = Expr::and(
        at_most(Value::Int(4)),
        bin(BinaryOp::Ge, Expr::Param(0), Expr::Const(number(-5))),
    );
    let found = limits_of(Type::Decimal, &between);
    assert_eq!(found, [-5, -4, 39, 40].map(number));
    let colour = |member| Value::Enum(ioco_sts::EnumId(0), member);
    let found = limits_of(Type::Enum(ioco_sts::EnumId(0)), &at_most(colour(2)));
    assert_eq!(found, [0, 1, 2].map(colour));
}

#[test]
fn only_the_parameters_that_are_asked_for_have_limits() {
    let (sts, label) = model_with(&[integer(0, 9), integer(0, 9)], &[]);
    let less = bin(BinaryOp::Lt, Expr::Param(1), Expr::int(5));
    let guard = Expr::and(bin(BinaryOp::Gt, Expr::Param(0), Expr::int(3)), less);
    let found = boundary_values(&sts, label, &guard, &[0].into(), &[], &Deadline::never());
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].limits, [4, 9].map(Value::Int));
}

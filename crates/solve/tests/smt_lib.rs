//! The embedded solver and z3, each through the same trait, on the same questions. Without a z3
//! program these tests say so and pass; `pip install z3-solver` brings one.

mod common;
#[path = "../../adapters/src/solver_process.rs"]
#[allow(
    dead_code,
    clippy::disallowed_methods,
    reason = "shared with the program; the edge"
)]
mod process;
#[path = "../../adapters/src/unguarded.rs"]
#[allow(
    clippy::disallowed_methods,
    reason = "shared with the program; the edge"
)]
mod unguarded;

use common::{functions, problem, types};
use ioco_solve::{Deadline, Embedded, Outcome, Pipe, PipeError, SmtLib, Solver, Unknown};
use ioco_sts::{
    BinaryOp, EnumId, EnumType, Env, Expr, Function, IntRange, Pattern, Type, Types, UnaryOp, Value,
};
use process::SolverProcess;
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;
use unguarded::Guarded;

fn z3(types: &Types, functions: &[Function]) -> Option<SmtLib> {
    match SolverProcess::z3() {
        Ok(process) => Some(SmtLib::new(types, functions, Box::new(process))),
        Err(error) => {
            eprintln!("skipped: {error}");
            None
        }
    }
}

#[test]
fn z3_and_enumeration_agree_on_random_problems() {
    let functions = functions();
    let Some(mut z3) = z3(&types(), &functions) else {
        return;
    };
    let mut answered = 0;
    for seed in 0..400 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let problem = problem(&mut rng);
        let solutions = problem.solutions(&functions);
        z3.push();
        for (ty, void) in &problem.unknowns {
            if *void {
                z3.void_unknown(ty);
            } else {
                z3.unknown(ty);
            }
        }
        for condition in &problem.conditions {
            z3.assert(condition);
        }
        match z3.model(&Deadline::never()) {
            Outcome::Sat(model) => {
                assert!(
                    solutions.contains(&model),
                    "{model:?} {:#?}",
                    problem.conditions
                );
                answered += 1;
            }
            Outcome::Unsat => {
                assert!(solutions.is_empty(), "{:#?}", problem.conditions);
                answered += 1;
            }
            Outcome::Unknown(why) => eprintln!("seed {seed}: {why}"),
        }
        z3.pop();
    }
    assert!(answered > 350, "{answered}");
}

fn string_question(solver: &mut dyn Solver) {
    let text = || Expr::Param(0);
    solver.unknown(&Type::Str);
    let pattern = Pattern::new("^[A-Z]{2}[0-9]+$").expect("a pattern");
    solver.assert(&Expr::Matches(Box::new(text()), pattern));
    let length = Expr::unary(UnaryOp::Length, text());
    solver.assert(&Expr::binary(BinaryOp::Eq, length, Expr::int(7)));
    solver.assert(&Expr::binary(
        BinaryOp::Ne,
        text(),
        Expr::Const(Value::str("AA00000")),
    ));
}

#[test]
fn both_solvers_find_strings_by_pattern_and_length() {
    let mut embedded = Embedded::new(&Types::default(), &[]);
    let external = z3(&Types::default(), &[]);
    let mut solvers: Vec<Box<dyn Solver>> = vec![];
    if let Some(external) = external {
        solvers.push(Box::new(external));
    }
    string_question(&mut embedded);
    let found = embedded.model(&Deadline::never());
    assert!(found.is_sat(), "{found:?}");
    for mut solver in solvers {
        string_question(&mut *solver);
        let found = solver.model(&Deadline::never());
        assert!(found.is_sat(), "{found:?}");
        // A pattern that excludes the length.
        let short = Pattern::new("^.{0,3}$").expect("a pattern");
        solver.assert(&Expr::Matches(Box::new(Expr::Param(0)), short));
        assert_eq!(solver.check(&Deadline::never()), Outcome::Unsat);
    }
}

#[test]
fn z3_decides_what_the_embedded_solver_gives_up() {
    let Some(mut z3) = z3(&Types::default(), &[]) else {
        return;
    };
    // Two strings of different lengths that are the same.
    let mut embedded = Embedded::new(&Types::default(), &[]);
    let solvers: [&mut dyn Solver; 2] = [&mut embedded, &mut z3];
    let mut outcomes = Vec::new();
    for solver in solvers {
        let a = Expr::Param(solver.unknown(&Type::Str));
        let b = Expr::Param(solver.unknown(&Type::Str));
        let join = |x: &Expr, y: &Expr| Expr::binary(BinaryOp::Add, x.clone(), y.clone());
        let length = |x: &Expr| Expr::unary(UnaryOp::Length, x.clone());
        solver.assert(&Expr::binary(BinaryOp::Eq, join(&a, &b), join(&b, &a)));
        solver.assert(&Expr::binary(BinaryOp::Ne, a.clone(), b.clone()));
        solver.assert(&Expr::binary(BinaryOp::Eq, length(&a), length(&b)));
        outcomes.push(solver.check(&Deadline::never()));
    }
    assert!(!outcomes[0].is_sat());
    assert_eq!(outcomes[1], Outcome::Unsat);
}

#[test]
fn extremes_and_random_models_come_from_z3_too() {
    let Some(mut z3) = z3(&Types::default(), &[]) else {
        return;
    };
    z3.unknown(&Type::INTEGER);
    z3.unknown(&Type::Decimal);
    let square = Expr::binary(BinaryOp::Mul, Expr::Param(0), Expr::Param(0));
    z3.assert(&Expr::binary(BinaryOp::Le, square, Expr::int(1_000_000)));
    let twice = Expr::binary(BinaryOp::Add, Expr::Param(1), Expr::Param(1));
    z3.assert(&Expr::binary(BinaryOp::Eq, twice, Expr::Param(0)));
    let never = Deadline::never();
    assert_eq!(z3.minimum(0, &never), Outcome::Sat(Value::Int(-1000)));
    assert_eq!(z3.maximum(0, &never), Outcome::Sat(Value::Int(1000)));
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..8 {
        let model = z3.random_model(&mut rng, &never);
        seen.insert(model.sat().expect("satisfiable"));
    }
    assert!(seen.len() > 3, "{seen:?}");
}

/// A pipe whose program answers from a list, or never.
struct Scripted {
    answers: Vec<&'static str>,
    restarts: u32,
}

impl Pipe for Scripted {
    fn send(&mut self, _: &str) -> Result<(), PipeError> {
        Ok(())
    }

    fn receive(&mut self, deadline: &Deadline<'_>) -> Result<String, PipeError> {
        if self.answers.is_empty() {
            while deadline.step() {}
            return Err(PipeError::Deadline);
        }
        Ok(self.answers.remove(0).to_owned())
    }

    fn restart(&mut self) -> Result<(), PipeError> {
        self.restarts += 1;
        Ok(())
    }
}

fn scripted(answers: &[&'static str]) -> SmtLib {
    let pipe = Scripted {
        answers: answers.to_vec(),
        restarts: 0,
    };
    let mut solver = SmtLib::new(&Types::default(), &[], Box::new(pipe));
    solver.unknown(&Type::INTEGER);
    solver.assert(&Expr::binary(BinaryOp::Gt, Expr::Param(0), Expr::int(3)));
    solver
}

#[test]
fn a_program_that_lies_is_not_believed() {
    let mut solver = scripted(&["sat", "((x1 3))"]);
    let outcome = solver.model(&Deadline::never());
    assert!(
        matches!(outcome, Outcome::Unknown(Unknown::Incomplete(_))),
        "{outcome:?}"
    );
}

/// What a program says must fit the types, also where the conditions do not ask for that.
#[test]
fn values_that_do_not_fit_the_types_are_not_believed() {
    let small = Type::Int(IntRange { min: 0, max: 9 });
    let colours = EnumType {
        name: "Colour".to_owned(),
        members: vec!["Red".to_owned(), "Green".to_owned()],
    };
    let types = Types {
        enums: vec![colours],
        structs: Vec::new(),
    };
    for (ty, said, value) in [
        (small.clone(), "9", Some(Value::Int(9))),
        (small, "12", None),
        (Type::Enum(EnumId(0)), "1", Some(Value::Enum(EnumId(0), 1))),
        (Type::Enum(EnumId(0)), "2", None),
    ] {
        let answer: &'static str = format!("((x1 {said}))").leak();
        let pipe = Scripted {
            answers: vec!["sat", answer],
            restarts: 0,
        };
        let mut solver = SmtLib::new(&types, &[], Box::new(pipe));
        solver.unknown(&ty);
        let found = solver.model(&Deadline::never()).sat();
        assert_eq!(found, value.map(|v| vec![v]), "{said}");
    }
}

/// Where SMT-LIB means less than we do, *unsatisfiable* there says nothing.
#[test]
fn unsat_is_believed_only_where_the_translation_is_exact() {
    let wide = Pattern::new(r"^\x{30000}$").expect("a pattern");
    let plain = Pattern::new("^a$").expect("a pattern");
    let third = Expr::binary(BinaryOp::Div, Expr::Param(0), Expr::int(3));
    for (ty, condition, believed) in [
        (
            Type::Str,
            Expr::Matches(Box::new(Expr::Param(0)), plain),
            true,
        ),
        (
            Type::Str,
            Expr::Matches(Box::new(Expr::Param(0)), wide),
            false,
        ),
        (
            Type::Decimal,
            Expr::binary(BinaryOp::Eq, Expr::Param(0), Expr::int(3)),
            true,
        ),
        (
            Type::Decimal,
            Expr::binary(BinaryOp::Eq, third, Expr::int(3)),
            false,
        ),
    ] {
        let pipe = Scripted {
            answers: vec!["unsat"],
            restarts: 0,
        };
        let mut solver = SmtLib::new(&Types::default(), &[], Box::new(pipe));
        solver.unknown(&ty);
        solver.assert(&condition);
        let outcome = solver.model(&Deadline::never());
        assert_eq!(outcome.is_unsat(), believed, "{condition:?}: {outcome:?}");
        assert!(!outcome.is_sat());
    }
}

#[test]
fn a_program_that_is_silent_or_broken_gives_unknown() {
    let outcome = scripted(&[]).model(&Deadline::steps(1_000));
    assert_eq!(outcome, Outcome::Unknown(Unknown::Deadline));
    for answers in [
        &["(error \"no\")"][..],
        &["sat", "((x1"][..],
        &["sat", "((x1 99999999999999999999))"],
        &["sat", ")"],
        &["unknown"],
    ] {
        let outcome = scripted(answers).model(&Deadline::steps(1_000));
        assert!(
            matches!(outcome, Outcome::Unknown(_)),
            "{answers:?}: {outcome:?}"
        );
    }
}

#[test]
fn an_answer_over_several_lines_is_read() {
    let mut solver = scripted(&["sat", "((x1", " (- (- 7))))"]);
    assert_eq!(
        solver.model(&Deadline::never()),
        Outcome::Sat(vec![Value::Int(7)])
    );
}

#[test]
fn models_of_the_embedded_solver_hold_in_evaluation() {
    let mut embedded = Embedded::new(&Types::default(), &[]);
    string_question(&mut embedded);
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..20 {
        let model = embedded
            .random_model(&mut rng, &Deadline::never())
            .sat()
            .expect("satisfiable");
        let env = Env {
            variables: &[],
            parameters: &model,
            functions: &[],
        };
        let pattern = Pattern::new("^[A-Z]{2}[0-9]{5}$").expect("a pattern");
        let matches = Expr::Matches(Box::new(Expr::Param(0)), pattern);
        assert_eq!(matches.holds(env), Ok(true), "{model:?}");
        seen.insert(model);
    }
    assert!(seen.len() > 10, "{seen:?}");
}

/// Keeps the assertions that are sent, and knows no answer.
struct Recorded(std::sync::Arc<std::sync::Mutex<Vec<String>>>);

impl Pipe for Recorded {
    fn send(&mut self, text: &str) -> Result<(), PipeError> {
        let asserted = text.lines().filter(|line| line.starts_with("(assert"));
        let mut kept = self.0.lock().expect("one thread");
        kept.extend(asserted.map(str::to_owned));
        Ok(())
    }

    fn receive(&mut self, _: &Deadline<'_>) -> Result<String, PipeError> {
        Ok("unknown".to_owned())
    }

    fn restart(&mut self) -> Result<(), PipeError> {
        Ok(())
    }
}

/// Every operation on values of every two kinds: the text says that it has no value exactly where evaluation
/// says so, unless it is refused.
#[test]
fn what_has_no_value_is_translated_as_false() {
    use BinaryOp::{Add, Div, Eq, Ge, Gt, Index, Le, Lt, Max, Min, Mul, Ne, Rem, Sub};
    let number = |tenths| Value::Decimal(rust_decimal::Decimal::new(tenths, 1));
    let array = |items: &[i64]| Value::Array(items.iter().map(|n| Value::Int(*n)).collect());
    let kinds = [
        Value::Void,
        Value::Bool(true),
        Value::Int(1),
        number(15),
        Value::str("a"),
        Value::Enum(EnumId(0), 1),
        Value::Enum(EnumId(1), 1),
        array(&[]),
        array(&[1, 2]),
    ];
    let nothing = Env {
        variables: &[],
        parameters: &[],
        functions: &[],
    };
    let mut refused = 0;
    let mut expressions = Vec::new();
    for op in [
        Eq, Ne, Lt, Le, Gt, Ge, Add, Sub, Mul, Div, Rem, Min, Max, Index,
    ] {
        for left in &kinds {
            for right in &kinds {
                let both = [left, right].map(|value| Expr::Const(value.clone()));
                expressions.push(Expr::Binary(op, Box::new(both)));
            }
        }
    }
    for op in [UnaryOp::Neg, UnaryOp::Abs, UnaryOp::Length, UnaryOp::Last] {
        expressions.extend(
            kinds
                .iter()
                .map(|v| Expr::unary(op, Expr::Const(v.clone()))),
        );
    }
    let failing = Expr::binary(Add, Expr::TRUE, Expr::int(0));
    expressions.push(Expr::unary(
        UnaryOp::Last,
        Expr::Array(vec![failing, Expr::int(3)]),
    ));
    for expr in expressions {
        let kept = std::sync::Arc::default();
        let pipe = Recorded(std::sync::Arc::clone(&kept));
        let mut solver = SmtLib::new(&Types::default(), &[], Box::new(pipe));
        solver.assert(&Expr::binary(Eq, expr.clone(), expr.clone()));
        let outcome = solver.model(&Deadline::never());
        let asserted = kept.lock().expect("one thread").join(" ");
        if asserted.is_empty() {
            let reason = "an operation on decimals or strings";
            assert!(
                format!("{outcome:?}").contains(reason),
                "{expr:?}: {outcome:?}"
            );
            assert!(expr.eval(nothing).is_ok(), "{expr:?}");
            refused += 1;
            continue;
        }
        let has_no_value = expr.eval(nothing).is_err();
        assert_eq!(
            asserted == "(assert false)",
            has_no_value,
            "{expr:?}: {asserted}"
        );
    }
    // Remainders with a decimal, the smaller and the larger string.
    assert_eq!(refused, 5);
}

/// What is asserted, or why the question is refused.
fn asserted(unknowns: &[Type], functions: &[Function], condition: &Expr) -> String {
    let kept = std::sync::Arc::default();
    let pipe = Recorded(std::sync::Arc::clone(&kept));
    let mut solver = SmtLib::new(&Types::default(), functions, Box::new(pipe));
    for ty in unknowns {
        solver.unknown(ty);
    }
    solver.assert(condition);
    let outcome = solver.model(&Deadline::never());
    let last = kept.lock().expect("one thread").last().cloned();
    last.unwrap_or_else(|| format!("{outcome:?}"))
}

#[test]
fn values_that_cannot_be_equal_are_not_compared() {
    let one = || Expr::Array(vec![Expr::Param(0)]);
    let two = Expr::Array(vec![Expr::Param(0), Expr::int(2)]);
    for (left, right, same) in [
        (Expr::Param(0), Expr::Const(Value::str("a")), false),
        (Expr::Param(0), Expr::TRUE, false),
        (Expr::Param(0), Expr::int(3), true),
        (one(), two, false),
        (one(), one(), true),
    ] {
        let equal = Expr::binary(BinaryOp::Eq, left, right);
        let text = asserted(&[Type::INTEGER], &[], &equal);
        assert_eq!(text != "(assert false)", same, "{equal:?}: {text}");
    }
}

#[test]
fn quotes_and_backslashes_of_strings_are_escaped() {
    for (text, written) in [
        ("\"", r#"(assert (= x1 """"))"#),
        ("\\", r#"(assert (= x1 "\u{5c}"))"#),
    ] {
        let equal = Expr::binary(BinaryOp::Eq, Expr::Param(0), Expr::Const(Value::str(text)));
        assert_eq!(asserted(&[Type::Str], &[], &equal), written);
    }
}

#[test]
fn alternatives_may_be_void_but_not_of_two_sorts() {
    let either = |otherwise: Value| {
        let branches = [Expr::Param(0), Expr::int(1), Expr::Const(otherwise)];
        Expr::binary(BinaryOp::Eq, Expr::If(Box::new(branches)), Expr::int(1))
    };
    let with_void = asserted(&[Type::Bool], &[], &either(Value::Void));
    assert!(with_void.starts_with("(assert "), "{with_void}");
    let mixed = asserted(&[Type::Bool], &[], &either(Value::str("a")));
    assert!(mixed.contains("different shapes"), "{mixed}");
}

#[test]
fn a_function_that_calls_itself_is_refused() {
    let further = Expr::Call(ioco_sts::FunctionId(0), vec![Expr::Local(0)]);
    let functions = [Function {
        name: "again".to_owned(),
        parameters: vec![("x".to_owned(), Type::INTEGER)],
        result: Type::INTEGER,
        body: Expr::binary(BinaryOp::Add, further, Expr::int(1)),
    }];
    let call = Expr::Call(ioco_sts::FunctionId(0), vec![Expr::Param(0)]);
    let equal = Expr::binary(BinaryOp::Eq, call, Expr::int(1));
    let refused = asserted(&[Type::INTEGER], &functions, &equal);
    assert!(refused.contains("call each other deeply"), "{refused}");
}

/// A program that knows one integer and its bounds, and counts the questions that have no answer.
struct Interval {
    low: i64,
    high: i64,
    unsat: std::sync::Arc<std::sync::atomic::AtomicU32>,
    answers: Vec<String>,
}

impl Pipe for Interval {
    fn send(&mut self, text: &str) -> Result<(), PipeError> {
        for line in text.lines() {
            let words: Vec<&str> = line
                .split(['(', ')', ' '])
                .filter(|w| !w.is_empty())
                .collect();
            let number = |word: &str| word.parse::<i64>().expect("a number");
            match words.as_slice() {
                ["push", _] => (self.low, self.high) = (i64::MIN, i64::MAX),
                ["assert", "<=", low, "x1", high] => {
                    (self.low, self.high) =
                        (self.low.max(number(low)), self.high.min(number(high)));
                }
                ["assert", "<=", "x1", high] => self.high = self.high.min(number(high)),
                ["assert", ">", "x1", low] => self.low = self.low.max(number(low) + 1),
                ["check-sat"] if self.low > self.high => {
                    self.unsat
                        .fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    self.answers.push("unsat".to_owned());
                }
                ["check-sat"] => self.answers.push("sat".to_owned()),
                ["get-value", "x1"] => self.answers.push(format!("((x1 {}))", self.low)),
                _ => {}
            }
        }
        Ok(())
    }

    fn receive(&mut self, _: &Deadline<'_>) -> Result<String, PipeError> {
        Ok(self.answers.remove(0))
    }

    fn restart(&mut self) -> Result<(), PipeError> {
        Ok(())
    }
}

/// Both halves of what is left have values, so a program that finds them never says no.
#[test]
fn random_models_halve_what_is_left() {
    let unsat = std::sync::Arc::default();
    let pipe = Interval {
        low: 0,
        high: 0,
        unsat: std::sync::Arc::clone(&unsat),
        answers: Vec::new(),
    };
    let mut solver = SmtLib::new(&Types::default(), &[], Box::new(pipe));
    solver.unknown(&Type::Int(IntRange { min: 0, max: 40 }));
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..200 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let model = solver.random_model(&mut rng, &Deadline::never());
        seen.extend(model.sat().expect("satisfiable"));
    }
    assert!(seen.len() > 30, "{seen:?}");
    assert_eq!(unsat.load(std::sync::atomic::Ordering::Relaxed), 0);
}

/// Conditions after a push are gone after the pop; unset values and strings are read.
#[test]
fn a_program_is_asked_what_is_asserted_now_and_all_its_values_are_read() {
    let pipe = Scripted {
        answers: vec![
            "sat",
            "((v1 true) (x2 5) (x3 \"a\"))",
            "sat",
            "((v1 false) (x2 5) (x3 \"a\"))",
            "sat",
            "((v1 true) (x2 5) (x3 \"b\"))",
        ],
        restarts: 0,
    };
    let mut solver = SmtLib::new(&Types::default(), &[], Box::new(pipe));
    assert_eq!(solver.void_unknown(&Type::INTEGER), 0);
    assert_eq!(solver.unknown(&Type::Str), 1);
    let found = |text| Outcome::Sat(vec![Value::Void, Value::str(text)]);
    assert_eq!(solver.model(&Deadline::never()), found("a"));
    solver.push();
    let is_five = Expr::binary(BinaryOp::Eq, Expr::Param(0), Expr::int(5));
    solver.assert(&is_five);
    let five = Outcome::Sat(vec![Value::Int(5), Value::str("a")]);
    assert_eq!(solver.model(&Deadline::never()), five);
    solver.pop();
    // With the condition, a value that is unset would not be believed.
    assert_eq!(solver.model(&Deadline::never()), found("b"));
}

//! Another solver, asked where the embedded one does not know.

use ioco_sts::{Answer, Expr, Feasibility, Question, Solved, Value};

use crate::guard_solver::GuardSolver;
use crate::outcome::{Deadline, Outcome};
use crate::solver::Solver;

/// Steps for one question to the second solver. A solver program counts its waiting in steps: this
/// is about two seconds.
const STEPS: u64 = 200_000;

/// The embedded solver first, and another one for what it leaves open.
pub struct FallbackSolver {
    first: GuardSolver,
    second: Box<dyn Solver>,
}

impl FallbackSolver {
    pub fn new(second: Box<dyn Solver>) -> FallbackSolver {
        FallbackSolver {
            first: GuardSolver::new(),
            second,
        }
    }
}

impl Feasibility for FallbackSolver {
    fn feasible(&mut self, question: Question<'_>) -> Answer {
        match self.first.feasible(question) {
            Answer::Unknown => match ask(&mut *self.second, question) {
                Outcome::Sat(_) => Answer::Yes,
                Outcome::Unsat => Answer::No,
                Outcome::Unknown(_) => Answer::Unknown,
            },
            answer => answer,
        }
    }

    fn example(&mut self, question: Question<'_>) -> Option<Vec<Value>> {
        ask(&mut *self.second, question).sat()
    }

    fn solve(&mut self, question: Question<'_>) -> Solved {
        match self.first.solve(question) {
            Solved::Unknown => match ask(&mut *self.second, question) {
                Outcome::Sat(values) => Solved::Values(values),
                Outcome::Unsat => Solved::None,
                Outcome::Unknown(_) => Solved::Unknown,
            },
            solved => solved,
        }
    }
}

/// Values for all parameters of `label`: set where the guard mentions them, if that is possible.
fn ask(solver: &mut dyn Solver, question: Question<'_>) -> Outcome<Vec<Value>> {
    match ask_once(solver, question, false) {
        Outcome::Unsat => ask_once(solver, question, true),
        answer => answer,
    }
}

fn ask_once(solver: &mut dyn Solver, question: Question<'_>, void: bool) -> Outcome<Vec<Value>> {
    let Question {
        sts,
        label,
        guard,
        valuation,
    } = question;
    let mentioned = guard.params();
    let parameters = &sts.label(label).parameters;
    solver.push();
    let unknowns: Vec<Option<u32>> = (0u32..)
        .zip(parameters)
        .map(|(position, parameter)| {
            mentioned.contains(&position).then(|| {
                if void {
                    solver.void_unknown(&parameter.ty)
                } else {
                    solver.unknown(&parameter.ty)
                }
            })
        })
        .collect();
    solver.assert(&in_terms_of(guard, valuation, &unknowns));
    let model = solver.model(&Deadline::steps(STEPS));
    solver.pop();
    model.map(|values| {
        let value = |unknown: Option<u32>| {
            unknown
                .and_then(|u| values.get(u as usize).cloned())
                .unwrap_or_default()
        };
        unknowns.into_iter().map(value).collect()
    })
}

fn in_terms_of(expr: &Expr, valuation: &[Value], unknowns: &[Option<u32>]) -> Expr {
    let asked = expr.with_values(valuation);
    asked.substitute(&|part| match part {
        Expr::Param(position) => {
            let unknown = unknowns.get(*position as usize).copied().flatten();
            Some(unknown.map_or(Expr::Const(Value::Void), Expr::Param))
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use ioco_sts::{BinaryOp, Direction, Env, IntRange, Label, Parameter, StsBuilder, Type};

    use super::*;
    use crate::embedded::Embedded;

    /// The embedded solver in the place of the second one: what it says must be right and complete.
    #[test]
    fn values_come_back_in_the_order_of_the_parameters() {
        let mut builder = StsBuilder::new("model");
        let small = Type::Int(IntRange { min: 0, max: 9 });
        let parameter = |name: &str| Parameter {
            name: name.to_owned(),
            ty: small.clone(),
        };
        let label = builder.label(Label {
            name: "give".to_owned(),
            channel: String::new(),
            direction: Direction::Stimulus,
            parameters: vec![parameter("unused"), parameter("x"), parameter("y")],
        });
        let sts = builder.build();
        let sum = Expr::binary(BinaryOp::Add, Expr::Param(1), Expr::Param(2));
        let guard = Expr::binary(BinaryOp::Eq, sum, Expr::int(18));
        let second = Embedded::new(sts.types(), sts.functions());
        let mut solver = FallbackSolver::new(Box::new(second));
        let question = || Question {
            sts: &sts,
            label,
            guard: &guard,
            valuation: &[],
        };
        assert_eq!(solver.feasible(question()), Answer::Yes);
        let values = solver.example(question()).expect("9 + 9 is 18");
        assert_eq!(values, [Value::Void, Value::Int(9), Value::Int(9)]);
        let env = Env {
            variables: &[],
            parameters: &values,
            functions: &[],
        };
        assert_eq!(guard.holds(env), Ok(true));
        let impossible = Expr::binary(BinaryOp::Lt, Expr::Param(1), Expr::int(0));
        let none = Question {
            sts: &sts,
            label,
            guard: &impossible,
            valuation: &[],
        };
        assert_eq!(solver.example(none), None);
    }

    /// Gives the same answer to every question, and keeps the questions.
    struct Says {
        outcome: Outcome<Vec<Value>>,
        commands: Arc<Mutex<Vec<String>>>,
    }

    impl Says {
        fn keep(&self, what: String) {
            self.commands.lock().expect("one thread").push(what);
        }
    }

    impl Solver for Says {
        fn unknown(&mut self, ty: &Type) -> u32 {
            self.keep(format!("{ty:?}"));
            0
        }

        fn void_unknown(&mut self, ty: &Type) -> u32 {
            self.keep(format!("{ty:?} or unset"));
            0
        }

        fn assert(&mut self, condition: &Expr) {
            self.keep(format!("{condition:?}"));
        }

        fn push(&mut self) {
            self.keep("push".to_owned());
        }

        fn pop(&mut self) {
            self.keep("pop".to_owned());
        }

        fn model(&mut self, deadline: &Deadline<'_>) -> Outcome<Vec<Value>> {
            assert!(deadline.spend(STEPS) && !deadline.step());
            self.outcome.clone()
        }

        fn random_model(
            &mut self,
            _: &mut dyn rand::Rng,
            deadline: &Deadline<'_>,
        ) -> Outcome<Vec<Value>> {
            self.model(deadline)
        }

        fn minimum(&mut self, _: u32, _: &Deadline<'_>) -> Outcome<Value> {
            Outcome::Unsat
        }

        fn maximum(&mut self, _: u32, _: &Deadline<'_>) -> Outcome<Value> {
            Outcome::Unsat
        }
    }

    /// The embedded solver does not know whether a decimal squared is 2, and is not asked what it knows.
    #[test]
    fn the_second_solver_decides_what_the_first_leaves_open() {
        let mut builder = StsBuilder::new("model");
        let parameter = |name: &str| Parameter {
            name: name.to_owned(),
            ty: Type::Decimal,
        };
        let label = builder.label(Label {
            name: "give".to_owned(),
            channel: String::new(),
            direction: Direction::Stimulus,
            parameters: vec![parameter("unused"), parameter("x")],
        });
        let sts = builder.build();
        let x = || Expr::Param(1);
        let square = Expr::binary(BinaryOp::Mul, x(), x());
        let two = Expr::Var(ioco_sts::VarId(0));
        let open = Expr::binary(BinaryOp::Eq, square, two);
        let clear = Expr::binary(BinaryOp::Eq, x(), Expr::int(2));
        let never = Expr::binary(BinaryOp::Ne, x(), x());
        let root = vec![Value::Decimal(14.into())];
        let why = Outcome::incomplete("it says so");
        for (outcome, answer, values) in [
            (
                Outcome::Sat(root.clone()),
                Answer::Yes,
                Some(vec![Value::Void, root[0].clone()]),
            ),
            (Outcome::Unsat, Answer::No, None),
            (why, Answer::Unknown, None),
        ] {
            let commands = Arc::new(Mutex::new(Vec::new()));
            let says = Says {
                outcome: outcome.clone(),
                commands: Arc::clone(&commands),
            };
            let mut solver = FallbackSolver::new(Box::new(says));
            let question = |guard| Question {
                sts: &sts,
                label,
                guard,
                valuation: &[Value::Int(2)],
            };
            assert_eq!(solver.feasible(question(&clear)), Answer::Yes);
            assert_eq!(solver.feasible(question(&never)), Answer::No);
            assert!(matches!(solver.solve(question(&clear)), Solved::Values(_)));
            assert!(matches!(solver.solve(question(&never)), Solved::None));
            assert!(commands.lock().expect("one thread").is_empty());
            assert_eq!(solver.feasible(question(&open)), answer);
            let commands = std::mem::take(&mut *commands.lock().expect("one thread"));
            let square = Expr::binary(BinaryOp::Mul, Expr::Param(0), Expr::Param(0));
            let asked = Expr::binary(BinaryOp::Eq, square, Expr::int(2));
            let once = |ty: &str| {
                [
                    "push".to_owned(),
                    ty.to_owned(),
                    format!("{asked:?}"),
                    "pop".to_owned(),
                ]
            };
            let mut expected = once("Decimal").to_vec();
            if outcome == Outcome::Unsat {
                expected.extend(once("Decimal or unset"));
            }
            assert_eq!(commands, expected);
            let solved = solver.solve(question(&open));
            match answer {
                Answer::Yes => assert_eq!(Some(solved), values.clone().map(Solved::Values)),
                Answer::No => assert_eq!(solved, Solved::None),
                Answer::Unknown => assert_eq!(solved, Solved::Unknown),
            }
            assert_eq!(solver.example(question(&open)), values);
        }
    }
}

//! A second opinion: another solver, asked where the embedded one does not know.

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
    match expr {
        Expr::Var(variable) => {
            Expr::Const(valuation.get(variable.index()).cloned().unwrap_or_default())
        }
        Expr::Param(position) => match unknowns.get(*position as usize).copied().flatten() {
            Some(unknown) => Expr::Param(unknown),
            None => Expr::Const(Value::Void),
        },
        _ => expr.map_children(|child| in_terms_of(child, valuation, unknowns)),
    }
}

#[cfg(test)]
mod tests {
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
}

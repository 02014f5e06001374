//! The values of hand-shakes that only a solver can list, and solvers that are mistaken.

use std::sync::Arc;

use ioco_budget::Budget;
use ioco_sts::{
    Answer, Assignment, BinaryOp, Direction, Env, Expr, Feasibility, Gate, IntRange, Label,
    Parameter, Place, Question, Relation, Semantics, Solved, StateSet, Sts, StsBuilder, Type,
    Value, Variable, Warning,
};

/// Where the square of the value is less than that of a number, say, written such that bounds alone do not show it.
fn squares(op: BinaryOp, root: i64, budget: Budget) -> Arc<Sts> {
    let plus = |n: i64| Expr::binary(BinaryOp::Add, Expr::Param(0), Expr::int(n));
    let product = Expr::binary(BinaryOp::Mul, plus(root), plus(-root));
    model(Expr::binary(op, product, Expr::int(0)), budget)
}

/// Two processes that shake hands once; the receiver keeps the value, which the sender's guard allows.
fn model(guard: Expr, budget: Budget) -> Arc<Sts> {
    let mut builder = StsBuilder::new("squares");
    let place = Place::default();
    let label = builder.label(Label {
        name: "h".to_owned(),
        channel: "c".to_owned(),
        direction: Direction::Stimulus,
        parameters: vec![Parameter {
            name: "v".to_owned(),
            ty: Type::Int(IntRange::FULL),
        }],
    });
    let (sender, receiver) = (builder.process("sender"), builder.process("receiver"));
    let kept = builder.variable(Variable {
        name: "kept".to_owned(),
        process: receiver,
        ty: Type::INTEGER,
        initial: Value::Int(0),
        place,
    });
    let keep = vec![Assignment {
        variable: kept,
        value: Expr::Param(0),
    }];
    for (process, gate, guard, update) in [
        (sender, Gate::Send(label), guard, Vec::new()),
        (receiver, Gate::Receive(label), Expr::TRUE, keep),
    ] {
        let name = format!("{process:?}");
        let before = builder.named_location(process, &format!("{name} before"));
        let after = builder.named_location(process, &format!("{name} after"));
        builder.initial(process, before);
        builder.switch(before, gate, guard, update, after, place);
    }
    let mut sts = builder.build();
    sts.set_budget(budget);
    Arc::new(sts)
}

/// Tries small numbers, the smallest first.
struct Tries;

impl Feasibility for Tries {
    fn feasible(&mut self, _: Question<'_>) -> Answer {
        Answer::Unknown
    }

    fn solve(&mut self, question: Question<'_>) -> Solved {
        let holds = |value: &i64| {
            let env = Env {
                variables: question.valuation,
                parameters: &[Value::Int(*value)],
                functions: question.sts.functions(),
            };
            question.guard.holds(env) == Ok(true)
        };
        match (-50..=50).find(holds) {
            Some(value) => Solved::Values(vec![Value::Int(value)]),
            None => Solved::None,
        }
    }
}

/// Says this, whatever it is asked, and then that there is nothing more.
struct Mistaken(Option<Vec<Value>>);

impl Feasibility for Mistaken {
    fn feasible(&mut self, _: Question<'_>) -> Answer {
        Answer::Unknown
    }

    fn solve(&mut self, _: Question<'_>) -> Solved {
        self.0.take().map_or(Solved::None, Solved::Values)
    }
}

fn initial(sts: &Arc<Sts>, solver: impl Feasibility + Send + 'static) -> (Arc<StateSet>, bool) {
    let mut semantics = Semantics::new(Arc::clone(sts), Box::new(solver), Relation::Ioco);
    let open = |warning: &Warning| matches!(warning, Warning::OpenHandshake { .. });
    let warned = semantics.take_warnings().iter().any(open);
    (Arc::clone(semantics.set(semantics.initial())), warned)
}

/// The values that were kept, that of the state before the hand-shake left out.
fn kept(set: &StateSet) -> Vec<i64> {
    let after = set.states.iter().filter(|s| s.locations[0].index() == 1);
    let mut kept: Vec<i64> = after
        .map(|state| match state.valuation[0] {
            Value::Int(kept) => kept,
            ref other => panic!("{other:?}"),
        })
        .collect();
    kept.sort_unstable();
    kept
}

#[test]
fn a_solver_lists_the_values_of_a_hand_shake() {
    let sts = squares(BinaryOp::Eq, 3, Budget::default());
    let (set, warned) = initial(&sts, Tries);
    assert_eq!(kept(&set), [-3, 3]);
    assert!(!set.truncated && !warned);
}

#[test]
fn a_hand_shake_with_sixteen_values_or_more_is_open_and_some_are_followed() {
    // 15 values.
    let (set, warned) = initial(&squares(BinaryOp::Le, 7, Budget::default()), Tries);
    assert_eq!(kept(&set), (-7..=7).collect::<Vec<_>>());
    assert!(!set.truncated && !warned);
    // 16 values: whether that is all is not asked any more.
    let plus = |n: i64| Expr::binary(BinaryOp::Add, Expr::Param(0), Expr::int(n));
    let product = Expr::binary(BinaryOp::Mul, plus(7), plus(-8));
    let guard = Expr::binary(BinaryOp::Le, product, Expr::int(0));
    let (set, warned) = initial(&model(guard, Budget::default()), Tries);
    assert_eq!(kept(&set).len(), 8);
    assert!(set.truncated && warned);
}

#[test]
fn questions_to_the_solver_count_as_steps() {
    // One set has 64 times the steps of an evaluation, which are three questions here.
    let budget = Budget {
        steps: 1_000,
        ..Budget::default()
    };
    let (two, _) = initial(&squares(BinaryOp::Eq, 3, budget), Tries);
    assert_eq!(kept(&two), [-3, 3]);
    assert!(!two.truncated);
    let (three, warned) = initial(&squares(BinaryOp::Le, 1, budget), Tries);
    assert_eq!(kept(&three), [-1, 0, 1]);
    assert!(three.truncated && warned);
}

#[test]
fn a_solver_that_is_mistaken_makes_the_hand_shake_open() {
    let wrong = vec![Value::Int(4)];
    let too_many = vec![Value::Int(3), Value::Int(3)];
    for answer in [wrong, too_many] {
        let sts = squares(BinaryOp::Eq, 3, Budget::default());
        let (set, warned) = initial(&sts, Mistaken(Some(answer.clone())));
        assert_eq!(kept(&set), [], "{answer:?}");
        assert!(set.truncated && warned, "{answer:?}");
    }
}

/// What bounds and alternatives leave is listed without a solver.
#[test]
fn values_that_bounds_and_alternatives_leave_need_no_solver() {
    let v = || Expr::Param(0);
    let binary = |op, right| Expr::binary(op, v(), right);
    let is = |n: i64| binary(BinaryOp::Eq, Expr::int(n));
    let either = |a, b| Expr::binary(BinaryOp::Or, a, b);
    let not = |e| Expr::unary(ioco_sts::UnaryOp::Not, e);
    let square = Expr::binary(BinaryOp::Mul, v(), v());
    let far = 1_000_000_000;
    for (guard, expected) in [
        (
            Expr::binary(BinaryOp::Lt, square, Expr::int(5)),
            vec![-2, -1, 0, 1, 2],
        ),
        (either(is(3), is(far)), vec![3, far]),
        (
            Expr::InSet(Box::new(v()), [far, -far, 5, 5].map(Expr::int).to_vec()),
            vec![-far, 5, far],
        ),
        (
            not(Expr::and(
                not(is(far)),
                binary(BinaryOp::Ne, Expr::int(-far)),
            )),
            vec![-far, far],
        ),
        (
            Expr::and(
                either(is(7), binary(BinaryOp::Gt, Expr::int(far))),
                binary(BinaryOp::Lt, Expr::int(far + 3)),
            ),
            vec![7, far + 1, far + 2],
        ),
    ] {
        let sts = model(guard.clone(), Budget::default());
        let (set, warned) = initial(&sts, Mistaken(None));
        assert_eq!(kept(&set), expected, "{guard:?}");
        assert!(!set.truncated && !warned, "{guard:?}");
    }
}

#[test]
fn unset_is_a_value_as_any_other() {
    let v_is = |value: Value| Expr::binary(BinaryOp::Eq, Expr::Param(0), Expr::Const(value));
    let either = Expr::binary(BinaryOp::Or, v_is(Value::Void), v_is(Value::Int(3)));
    for (guard, expected) in [
        (v_is(Value::Void), vec![Value::Void]),
        (either, vec![Value::Void, Value::Int(3)]),
    ] {
        let (set, _) = initial(&model(guard, Budget::default()), Tries);
        assert!(!set.truncated);
        let after = set.states.iter().filter(|s| s.locations[0].index() == 1);
        let kept: Vec<Value> = after.map(|state| state.valuation[0].clone()).collect();
        assert_eq!(kept, expected);
    }
}

//! How many steps a second the tester takes on one core, against systems in the same process.
//!
//! `cargo run --release -p ioco-engine --example tester_speed`

mod walker;

use std::sync::Arc;
use std::time::Instant;

use ioco_engine::{EventLevel, Settings, StopConditions, StrategyKind, Tester};
use ioco_solve::GuardSolver;
use ioco_sts::{
    Action, Assignment, BinaryOp, Direction, EvaluationOnly, Expr, Feasibility, Gate, IntRange,
    Label, LabelId, LocationId, Parameter, Place, Relation, Semantics, Sts, StsBuilder, Type,
    Value, Variable,
};
use walker::{System, Walker, ring, run_all};

const STEPS: u64 = 5_000_000;

fn main() {
    let sts = Arc::new(ring(300, 8));
    for (name, strategy) in [
        ("random", StrategyKind::uniform()),
        ("transitions", StrategyKind::Transitions),
    ] {
        let mut system = Walker::new(&sts);
        let speed = measure(&sts, Box::new(EvaluationOnly), strategy, STEPS, &mut system);
        println!("  plain, 300 locations, {name:<12} {speed:>12.0} steps/s");
    }
    let sts = Arc::new(calculator());
    for (name, strategy) in [
        ("random", StrategyKind::uniform()),
        ("transitions", StrategyKind::Transitions),
    ] {
        let mut system = Calculator::new(&sts);
        let solver = Box::new(GuardSolver::new());
        let speed = measure(&sts, solver, strategy, STEPS / 20, &mut system);
        println!("  calculator with data, {name:<12} {speed:>12.0} steps/s");
    }
}

/// Runs tests of 1000 steps until so many steps were taken; steps a second.
fn measure(
    sts: &Arc<Sts>,
    solver: Box<dyn Feasibility + Send>,
    strategy: StrategyKind,
    steps: u64,
    system: &mut dyn System,
) -> f64 {
    let settings = Settings {
        seed: 1,
        strategy,
        events: EventLevel::None,
        stop: StopConditions {
            tests: None,
            steps_per_test: 1000,
            total_steps: Some(steps),
            ..StopConditions::default()
        },
        ..Settings::default()
    };
    let semantics = Semantics::new(Arc::clone(sts), solver, Relation::Ioco);
    let mut tester = Tester::new(semantics, settings);
    // A benchmark is at the edge: here the time comes from.
    #[allow(clippy::disallowed_methods)]
    let begun = Instant::now();
    run_all(&mut tester, system, |tester| {
        let report = tester.finished_test();
        assert!(report.execution.deviation().is_none(), "{report:?}");
    });
    tester.summary().steps() as f64 / begun.elapsed().as_secs_f64()
}

/// A calculator that adds or multiplies two numbers, as it pleases, shows the result or, where the
/// second number is 5, perhaps twice the result, and starts again.
fn calculator() -> Sts {
    let mut builder = StsBuilder::new("calculator");
    let process = builder.process("main");
    let place = Place::default();
    let mut variable = |name: &str| {
        builder.variable(Variable {
            name: name.to_owned(),
            process,
            ty: Type::INTEGER,
            initial: Value::Int(0),
            place,
        })
    };
    let (m, n) = (variable("m"), variable("n"));
    let number = Type::Int(IntRange {
        min: -1000,
        max: 1000,
    });
    let mut label = |name: &str, direction, ty: &Type| {
        builder.label(Label {
            name: name.to_owned(),
            channel: "keys".to_owned(),
            direction,
            parameters: vec![Parameter {
                name: "value".to_owned(),
                ty: ty.clone(),
            }],
        })
    };
    let x = Gate::Observable(label("x", Direction::Stimulus, &number));
    let y = Gate::Observable(label("y", Direction::Stimulus, &number));
    let result = Gate::Observable(label("result", Direction::Response, &Type::INTEGER));
    let at: Vec<LocationId> = (0..5)
        .map(|i| builder.named_location(process, &i.to_string()))
        .collect();
    let value = || Expr::Param(0);
    let at_least = |bound| Expr::binary(BinaryOp::Ge, value(), Expr::int(bound));
    let set = |variable, value| Assignment { variable, value };
    let with_m = |op| set(m, Expr::binary(op, Expr::Var(m), value()));
    let shows_m = || Expr::binary(BinaryOp::Eq, value(), Expr::Var(m));
    let double = Expr::binary(BinaryOp::Mul, Expr::Var(m), Expr::int(2));
    let five = Expr::binary(BinaryOp::Eq, Expr::Var(n), Expr::int(5));
    let keep = set(n, value());
    builder.switch(at[0], x, at_least(2), vec![set(m, value())], at[1], place);
    builder.switch(at[0], x, at_least(1), vec![set(m, value())], at[2], place);
    let times = vec![with_m(BinaryOp::Mul), keep.clone()];
    builder.switch(at[1], y, at_least(2), times, at[3], place);
    let plus = vec![with_m(BinaryOp::Add), keep];
    builder.switch(at[2], y, at_least(1), plus, at[3], place);
    builder.switch(at[3], result, shows_m(), vec![], at[0], place);
    builder.switch(at[3], Gate::Tau, five, vec![set(m, double)], at[4], place);
    builder.switch(at[4], result, shows_m(), vec![], at[0], place);
    builder.build()
}

/// A calculator that always adds.
struct Calculator {
    x: LabelId,
    result: LabelId,
    first: i64,
}

impl Calculator {
    fn new(sts: &Sts) -> Calculator {
        let find = |direction, name| sts.label_named(direction, name).expect("a label");
        Calculator {
            x: find(Direction::Stimulus, "x"),
            result: find(Direction::Response, "result"),
            first: 0,
        }
    }
}

impl System for Calculator {
    fn reset(&mut self) -> Option<Action> {
        None
    }

    fn give(&mut self, stimulus: &Action) -> Option<Action> {
        let [Value::Int(value)] = stimulus.values[..] else {
            return None;
        };
        if stimulus.label == self.x {
            self.first = value;
            return None;
        }
        Some(Action {
            label: self.result,
            values: vec![Value::Int(self.first + value)],
        })
    }
}

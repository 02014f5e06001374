//! How the strategies walk, what they cover, and when a run stops.

mod common;

use std::collections::BTreeMap;
use std::sync::Arc;

use common::graph::{Graph, Player};
use common::*;
use ioco_engine::{
    Coverage, CoverageSnapshot, Event, EventLevel, Settings, StopConditions, StopReason,
    StrategyKind, Tester, WaitPolicy,
};
use ioco_solve::GuardSolver;
use ioco_sts::{
    Assignment, BinaryOp, Direction, Expr, Gate, IntRange, Parameter, Place, Relation, Semantics,
    Step, Sts, StsBuilder, Type, Value, Variable,
};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

fn silent() -> Answers<impl FnMut(&[ioco_sts::Action]) -> Vec<ioco_engine::Input>> {
    Answers::new(|_| Vec::new())
}

fn run_with(sts: &Arc<Sts>, settings: Settings, system: &mut dyn System) -> Tester {
    let semantics = Semantics::new(
        Arc::clone(sts),
        Box::new(GuardSolver::new()),
        Relation::Ioco,
    );
    let mut tester = Tester::new(semantics, settings);
    for report in campaign(&mut tester, system) {
        assert_eq!(report.execution.deviation(), None);
    }
    tester
}

fn steps(strategy: StrategyKind, total: u64) -> Settings {
    Settings {
        seed: 5,
        strategy,
        stop: StopConditions {
            tests: None,
            steps_per_test: 100,
            total_steps: Some(total),
            coverage: Some(100.0),
            ..StopConditions::default()
        },
        ..Settings::default()
    }
}

/// A lock with a long code: one wrong digit leads back to the start.
fn lock(digits: usize) -> Arc<Sts> {
    let mut lines = Vec::new();
    for position in 0..digits {
        for digit in 0..4 {
            let target = if digit == position % 4 {
                position + 1
            } else {
                0
            };
            lines.push(format!("At{position} ?press{digit} At{target}"));
        }
    }
    lines.push(format!("At{digits} ?close At0"));
    plain(&lines.join("\n"))
}

#[test]
fn transitions_plans_through_a_lock_that_chance_does_not_open() {
    let sts = lock(10);
    let planned = run_with(&sts, steps(StrategyKind::Transitions, 2000), &mut silent());
    assert_eq!(planned.stop_reason(), Some(StopReason::Coverage));
    let random = run_with(&sts, steps(StrategyKind::uniform(), 2000), &mut silent());
    assert_eq!(random.stop_reason(), Some(StopReason::Steps));
    assert!(random.coverage().percent() < 90.0);
}

#[test]
fn a_run_ends_when_its_requirements_were_shown() {
    let mut builder = StsBuilder::new("two");
    let process = builder.process("p");
    let here = builder.named_location(process, "here");
    let labels = ["a", "b"].map(|name| {
        builder.label(ioco_sts::Label {
            name: name.to_owned(),
            channel: "c".to_owned(),
            direction: Direction::Stimulus,
            parameters: Vec::new(),
        })
    });
    let switches = labels.map(|label| {
        let gate = Gate::Observable(label);
        builder.switch(here, gate, Expr::TRUE, Vec::new(), here, Place::default())
    });
    // One can be shown, the other has no step.
    for (id, switches) in [("R-1", vec![switches[0]]), ("R-2", Vec::new())] {
        builder.requirement(ioco_sts::Requirement {
            id: id.to_owned(),
            text: String::new(),
            switches,
            place: Place::default(),
        });
    }
    let sts = Arc::new(builder.build());
    let until = |percent| {
        let mut settings = steps(StrategyKind::uniform(), 300);
        settings.stop.coverage = None;
        settings.stop.requirements = Some(percent);
        run_with(&sts, settings, &mut silent())
    };
    let half = until(50.0);
    assert_eq!(half.stop_reason(), Some(StopReason::Requirements));
    assert!(half.coverage().covers_switch(switches[0]));
    let summary = half.summary();
    assert_eq!((summary.requirements, summary.covered_requirements), (2, 1));
    assert_eq!(
        until(100.0).stop_reason(),
        Some(StopReason::Steps),
        "one is never shown"
    );
}

#[test]
fn transitions_covers_what_the_system_lets_it_cover() {
    // On random models with a system that plays them, planning never covers less than chance does
    // by far, and finishes sooner in sum.
    let (mut planned_steps, mut random_steps) = (0, 0);
    for seed in 0..40 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let graph = Graph::random(&mut rng, true);
        let sts = graph.sts();
        let mut covered = [0, 0];
        for (index, strategy) in [StrategyKind::uniform(), StrategyKind::Transitions]
            .into_iter()
            .enumerate()
        {
            let mut player = Player::new(&graph, seed, false);
            let tester = run_with(&sts, steps(strategy, 3000), &mut player);
            covered[index] = tester.coverage().covered_switches();
            let taken = tester.summary().steps();
            *[&mut random_steps, &mut planned_steps][index] += taken;
        }
        assert!(
            covered[1] >= covered[0],
            "seed {seed}: {covered:?} {graph:?}"
        );
    }
    assert!(
        planned_steps <= random_steps,
        "{planned_steps} against {random_steps}"
    );
}

/// Coins of 1 to 5 add up; the door opens from 20 on, and a key of just that sum closes it.
fn turnstile() -> Arc<Sts> {
    let mut builder = StsBuilder::new("turnstile");
    let process = builder.process("main");
    let place = Place::default();
    let sum = builder.variable(Variable {
        name: "sum".to_owned(),
        process,
        ty: Type::INTEGER,
        initial: Value::Int(0),
        place,
    });
    let parameter = |name: &str, min, max| {
        vec![Parameter {
            name: name.to_owned(),
            ty: Type::Int(IntRange { min, max }),
        }]
    };
    let coin = builder.label(label("?coin", parameter("value", 0, 1000)));
    let push = builder.label(label("?push", vec![]));
    let key = builder.label(label("?key", parameter("number", -1_000_000, 1_000_000)));
    let shut = builder.named_location(process, "Shut");
    let open = builder.named_location(process, "Open");
    let small = Expr::InRange(Box::new([Expr::Param(0), Expr::int(1), Expr::int(5)]));
    let not_full = Expr::binary(BinaryOp::Lt, Expr::Var(sum), Expr::int(100));
    let more = Assignment {
        variable: sum,
        value: Expr::binary(BinaryOp::Add, Expr::Var(sum), Expr::Param(0)),
    };
    let accepts = Expr::and(small, not_full);
    builder.switch(
        shut,
        Gate::Observable(coin),
        accepts,
        vec![more],
        shut,
        place,
    );
    let enough = Expr::binary(BinaryOp::Ge, Expr::Var(sum), Expr::int(20));
    builder.switch(shut, Gate::Observable(push), enough, vec![], open, place);
    let exact = Expr::binary(BinaryOp::Eq, Expr::Param(0), Expr::Var(sum));
    let clear = Assignment {
        variable: sum,
        value: Expr::int(0),
    };
    builder.switch(open, Gate::Observable(key), exact, vec![clear], shut, place);
    Arc::new(builder.build())
}

#[test]
fn both_strategies_get_through_guards_on_data() {
    let sts = turnstile();
    for strategy in [StrategyKind::uniform(), StrategyKind::Transitions] {
        let tester = run_with(&sts, steps(strategy.clone(), 2000), &mut silent());
        assert_eq!(tester.coverage().percent(), 100.0, "{strategy:?}");
    }
}

#[test]
fn boundary_values_of_stimuli_are_given_and_counted() {
    let sts = turnstile();
    let mut settings = steps(StrategyKind::uniform(), 2000);
    settings.stop.coverage = None;
    let tester = run_with(&sts, settings, &mut silent());
    let coverage = tester.coverage();
    let values: Vec<&Value> = coverage.boundaries().iter().map(|b| &b.value).collect();
    assert!(
        values.contains(&&Value::Int(1)) && values.contains(&&Value::Int(5)),
        "{values:?}"
    );
    assert!(
        values
            .iter()
            .all(|v| (&&Value::Int(1)..=&&Value::Int(5)).contains(&v))
    );
    assert_eq!(coverage.covered_boundaries(), values.len());
    let summary = tester.summary();
    assert_eq!(summary.boundaries, values.len() as u64);
    assert_eq!(summary.covered_boundaries, values.len() as u64);
}

#[test]
fn memory_stays_bounded_on_data_that_never_repeats() {
    let sts = turnstile();
    let mut settings = steps(StrategyKind::uniform(), 3000);
    settings.remember = 50;
    settings.stop.coverage = None;
    let mut tester = run_with(&sts, settings.clone(), &mut silent());
    assert!(tester.semantics().remembered() <= 60);
    // Also within one test.
    settings.stop.steps_per_test = 3000;
    let mut tester = run_with(&sts, settings, &mut silent());
    assert_eq!(tester.summary().tests, 1);
    assert!(tester.semantics().remembered() <= 60);
}

#[test]
fn weights_decide_how_often_a_stimulus_is_given() {
    let sts = plain("A ?often A\nA ?seldom A\nA ?never A");
    let weights = [("often", 9.0), ("never", 0.0)];
    let weights: BTreeMap<String, f64> = weights
        .into_iter()
        .map(|(name, weight)| (name.to_owned(), weight))
        .collect();
    let settings = Settings {
        strategy: StrategyKind::Random { weights },
        wait: WaitPolicy::Weighted(10.0),
        ..Settings::default()
    };
    assert!(settings.unknown_labels(&sts).is_empty());
    let mut tester = tester(&sts, settings);
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for report in campaign(&mut tester, &mut silent()) {
        for step in report.execution.trace {
            *counts.entry(step.show(&sts)).or_default() += 1;
        }
    }
    let count = |name: &str| counts.get(name).copied().unwrap_or(0);
    assert_eq!(count("?never"), 0);
    let ratio = count("?often") as f64 / count("?seldom") as f64;
    assert!((6.0..13.0).contains(&ratio), "{counts:?}");
    // Waiting weighs as much as all stimuli together; never twice in a row, so a third.
    let silences = count("δ") as f64 / counts.values().sum::<usize>() as f64;
    assert!((0.28..0.39).contains(&silences), "{counts:?}");
}

#[test]
fn a_misspelt_weight_is_noticed() {
    let sts = plain("A ?coin A");
    let weights = BTreeMap::from([("cion".to_owned(), 2.0)]);
    let settings = Settings {
        strategy: StrategyKind::Random { weights },
        ..Settings::default()
    };
    assert_eq!(settings.unknown_labels(&sts), ["cion"]);
}

#[test]
fn the_tester_does_not_wait_twice_for_the_same_silence() {
    let sts = plain("A ?a A");
    let mut tester = tester(&sts, Settings::default());
    for report in campaign(&mut tester, &mut silent()) {
        let silences = |pair: &[Step]| pair == [Step::Quiescence, Step::Quiescence];
        assert!(!report.execution.trace.windows(2).any(silences));
    }
}

#[test]
fn a_run_stops_when_its_time_is_up() {
    let sts = plain("A ?a A");
    let settings = Settings {
        stop: StopConditions {
            tests: None,
            time: Some(3_000 * MILLISECOND),
            ..StopConditions::default()
        },
        ..Settings::default()
    };
    let mut tester = tester(&sts, settings);
    campaign(&mut tester, &mut silent());
    assert_eq!(tester.stop_reason(), Some(StopReason::Time));
    // At most the wait under way comes on top.
    assert!(tester.summary().duration <= 3_600 * MILLISECOND);
}

#[test]
fn coverages_of_the_same_model_add_up_and_survive_saving() {
    let sts = plain("A ?a B\nB ?b A\nA ?c C");
    let cover = |names: &[&str]| {
        let mut tester = tester(&sts, Settings::default());
        let stimuli = names.iter().map(|name| stimulus(&sts, name)).collect();
        let command = tester.scripted_test(stimuli, 0);
        run(&mut tester, command, &mut silent(), false, &mut 0);
        tester.coverage().clone()
    };
    let (mut left, right) = (cover(&["a"]), cover(&["c"]));
    assert_eq!((left.covered_switches(), left.covered_locations()), (1, 2));
    left.merge(&right).expect("the same model");
    assert_eq!((left.covered_switches(), left.covered_locations()), (2, 3));
    let text = serde_json::to_string(&left.snapshot(&sts)).expect("JSON");
    let saved: CoverageSnapshot = serde_json::from_str(&text).expect("JSON");
    assert_eq!(Coverage::restore(&sts, &saved), Ok(left.clone()));
    let other = plain("A ?a B");
    assert!(Coverage::restore(&other, &saved).is_err());
    assert!(Coverage::new(&other).merge(&left).is_err());
}

#[test]
fn both_sides_of_a_hand_shake_count_as_covered() {
    let mut builder = StsBuilder::new("pair");
    let place = Place::default();
    let go = builder.label(label("?go", vec![]));
    let mut inner = label("!inner", vec![]);
    inner.direction = Direction::Internal;
    let inner = builder.label(inner);
    let one = builder.process("one");
    let a = builder.named_location(one, "A");
    let b = builder.named_location(one, "B");
    let two = builder.process("two");
    let x = builder.named_location(two, "X");
    let y = builder.named_location(two, "Y");
    builder.switch(a, Gate::Observable(go), Expr::TRUE, vec![], b, place);
    builder.switch(b, Gate::Send(inner), Expr::TRUE, vec![], a, place);
    builder.switch(x, Gate::Receive(inner), Expr::TRUE, vec![], y, place);
    let sts = Arc::new(builder.build());
    let mut tester = tester(&sts, Settings::default());
    let command = tester.scripted_test(vec![stimulus(&sts, "go")], 0);
    run(&mut tester, command, &mut silent(), false, &mut 0);
    assert_eq!(tester.coverage().covered_switches(), 3);
}

#[test]
fn events_describe_the_run_as_json_lines() {
    let sts = plain("Idle ?coin Paid\nPaid !coffee Idle");
    let settings = Settings {
        seed: 1,
        events: EventLevel::Steps,
        stop: StopConditions {
            tests: Some(1),
            steps_per_test: 3,
            ..StopConditions::default()
        },
        ..Settings::default()
    };
    let mut tester = tester(&sts, settings);
    campaign(&mut tester, &mut silent());
    let lines: Vec<String> = tester
        .take_events()
        .iter()
        .map(|event| {
            let line = serde_json::to_string(event).expect("JSON");
            let again: Event = serde_json::from_str(&line).expect("JSON");
            assert_eq!(again, *event);
            line
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
}

//! Views of a small shop with data: every number and text that the page shows.

use std::sync::Arc;

use ioco_adapters::{Local, Simulated, drive};
use ioco_aml::load_text;
use ioco_engine::{
    Coverage, Event, EventLevel, FailureContext, FailureFile, Sender, Settings, StopConditions,
    TestReport, Tester, WireLine,
};
use ioco_generate::cover::Goal;
use ioco_solve::GuardSolver;
use ioco_sts::{
    Action, Deviation, DeviationKind, Direction, Execution, Observed, Relation, Semantics, Step,
    Sts, SwitchId, Value, Verdict,
};
use ioco_view::{
    Facts, FailureDetail, GoalView, ModelView, RunSummary, RunWalk, StepKind, TestView, Tracer,
    WalkedStep, explore,
};

const SHOP: &str = "\
timeout 0.5
external 'shop'
process('shop') {
  channel('shop') {
    stimulus 'pay', {'amount' => :integer}
    stimulus 'leave'
    response 'thanks', {'total' => :integer}
    response 'bye'
  }
  var 'paid', :integer, 0
  state 'open'
  repeat {
    o { receive 'pay', constraint: 'amount > 0 && amount <= 20', update: 'paid = paid + amount'
        send 'thanks', constraint: 'total == paid' }
    o { receive 'leave'; send 'bye'; goto 'closed' }
  }
  state 'closed'
  repeat { o { receive 'leave'; send 'bye' } }
}
";

fn shop() -> Arc<Sts> {
    let loaded = load_text("shop.aml", SHOP);
    let messages: Vec<&String> = loaded.diagnostics.iter().map(|d| &d.message).collect();
    loaded.sts.unwrap_or_else(|| panic!("{messages:?}"))
}

fn semantics(sts: &Arc<Sts>) -> Semantics {
    Semantics::new(
        Arc::clone(sts),
        Box::new(GuardSolver::new()),
        Relation::Ioco,
    )
}

fn action(sts: &Sts, direction: Direction, name: &str, values: &[i64]) -> Action {
    Action {
        label: sts.label_named(direction, name).expect("a label"),
        values: values.iter().map(|v| Value::Int(*v)).collect(),
    }
}

fn pay(sts: &Sts, amount: i64) -> Step {
    Step::Stimulus(action(sts, Direction::Stimulus, "pay", &[amount]))
}

fn thanks(sts: &Sts, total: i64) -> Step {
    Step::Response(action(sts, Direction::Response, "thanks", &[total]))
}

/// The shop forgets what was paid before.
fn failure(sts: &Arc<Sts>) -> FailureFile {
    let trace = vec![pay(sts, 3), thanks(sts, 3), Step::Quiescence, pay(sts, 4)];
    let mut semantics = semantics(sts);
    let mut set = semantics.initial();
    for step in &trace {
        set = semantics.after(set, step).expect("allowed");
    }
    let observed = action(sts, Direction::Response, "thanks", &[4]);
    let report = TestReport {
        name: None,
        number: 2,
        seed: 77,
        execution: Execution {
            trace,
            verdict: Verdict::Fail(Deviation {
                kind: DeviationKind::WrongValue,
                observed: Observed::Response(observed),
                states: Arc::clone(semantics.set(set)),
            }),
        },
        times: vec![10, 20, 520, 530, 540],
        duration: 540,
        is_new_failure: true,
        failure: None,
    };
    let line = |at, from, text: &str| WireLine::new(at, from, text.as_bytes());
    let context = FailureContext {
        model_hash: "abc".to_owned(),
        seed: 7,
        wire: vec![
            line(10, Sender::Tester, "pay 3\n"),
            line(20, Sender::System, "thanks 3\n"),
            line(530, Sender::Tester, "pay 4\n"),
            line(540, Sender::System, "thanks 4\n"),
        ],
        confirmed: Some((3, 3)),
        ..FailureContext::default()
    };
    let file = FailureFile::new(sts, &report, context).expect("it failed");
    FailureFile::read(&file.write()).expect("reads back")
}

#[test]
fn a_model_is_a_graph_with_its_text() {
    let loaded = load_text("shop.aml", SHOP);
    let view = ModelView::new(
        "shop.aml",
        "abc",
        loaded.sts.as_deref(),
        &loaded.files,
        &loaded.diagnostics,
    );
    let mut json = serde_json::to_value(&view).expect("json");
    json["sources"][0]["text"] = "...".into();
    insta::assert_snapshot!(serde_json::to_string_pretty(&json).expect("json"));
}

#[test]
fn a_model_with_errors_has_its_text_and_what_is_wrong() {
    let loaded = load_text("bad.aml", "process('x') {\n  receive 'nothing'\n}\n");
    let view = ModelView::new("bad.aml", "", None, &loaded.files, &loaded.diagnostics);
    assert!(view.locations.is_empty());
    assert_eq!(view.sources[0].file, "bad.aml");
    let error = view.diagnostics.iter().find(|d| d.severity == "error");
    assert_eq!(
        error.map(|d| (d.line, d.file.as_str())),
        Some((2, "bad.aml"))
    );
}

#[test]
fn a_failure_shows_states_changes_bytes_and_reasons() {
    let sts = shop();
    let facts = Facts {
        connection: "python3 shop.py".to_owned(),
        ..Facts::default()
    };
    let detail = FailureDetail::new(&mut semantics(&sts), &failure(&sts), &facts);
    insta::assert_snapshot!(serde_json::to_string_pretty(&detail).expect("json"));
}

#[test]
fn a_failure_of_a_model_that_changed_is_shown_without_states() {
    let sts = shop();
    let changed = load_text("shop.aml", &SHOP.replace("amount <= 20", "amount <= 2"));
    let changed = changed.sts.expect("a model");
    let facts = Facts::default();
    let detail = FailureDetail::new(&mut semantics(&changed), &failure(&sts), &facts);
    assert!(
        detail
            .explanation
            .contains("step 1, ?pay(amount=3), is not allowed"),
        "{}",
        detail.explanation
    );
    assert_eq!(detail.original.steps.len(), 5);
    assert!(detail.original.steps[0].states.is_empty());
    // What was saved still tells where it went wrong.
    assert_eq!(
        detail.original.steps[4].states[0].text,
        "open, after ?pay {paid: 7}"
    );
}

#[test]
fn a_response_that_crossed_a_stimulus_is_followed_before_it() {
    let sts = shop();
    let mut semantics = semantics(&sts);
    let mut tracer = Tracer::new(&mut semantics);
    let leave = Step::Stimulus(action(&sts, Direction::Stimulus, "leave", &[]));
    for step in [pay(&sts, 3), leave, thanks(&sts, 3)] {
        tracer.step(&step, None);
    }
    let trace = tracer.finish(&[]);
    let texts: Vec<&str> = trace.steps.iter().map(|s| s.text.as_str()).collect();
    assert_eq!(texts, ["?pay(amount=3)", "?leave", "!thanks(total=3)"]);
    assert_eq!(trace.steps[2].states.len(), 1);
    assert!(
        trace.steps[2].allowed.is_empty(),
        "nothing is known in between"
    );
}

#[test]
fn every_suggestion_is_accepted_by_the_model() {
    let sts = shop();
    let walk = |kind, label: &str, values: &[(&str, i64)]| WalkedStep {
        kind,
        label: label.to_owned(),
        values: values
            .iter()
            .map(|(n, v)| ((*n).to_owned(), (*v).into()))
            .collect(),
    };
    let begun = vec![
        walk(StepKind::Stimulus, "?pay", &[("amount", 3)]),
        walk(StepKind::Response, "thanks", &[("total", 3)]),
    ];
    let mut semantics = semantics(&sts);
    let here = explore(&mut semantics, &begun, 5);
    assert_eq!(here.problem, None);
    let pay = here.menu.iter().find(|e| e.label == "?pay").expect("pay");
    let amounts = &pay.parameters[0].suggestions;
    assert!(
        amounts.contains(&1.into()) && amounts.contains(&20.into()),
        "{amounts:?}"
    );
    for amount in amounts {
        let mut further = begun.clone();
        let amount = amount.as_i64().expect("a number");
        further.push(walk(StepKind::Stimulus, "pay", &[("amount", amount)]));
        let there = explore(&mut semantics, &further, 5);
        assert_eq!(there.problem, None, "amount {amount}");
        let thanks = &there.menu[0];
        assert_eq!(thanks.text, format!("!thanks(total={})", 3 + amount));
    }
}

#[test]
fn a_walk_that_the_model_refuses_ends_with_the_reason() {
    let sts = shop();
    let wrong = |label: &str, json: &str| WalkedStep {
        kind: StepKind::Stimulus,
        label: label.to_owned(),
        values: serde_json::from_str(json).expect("values"),
    };
    let problem = |step: WalkedStep| {
        let here = explore(&mut semantics(&sts), &[step], 0);
        assert_eq!(here.trace.steps.len(), 0);
        assert!(!here.menu.is_empty());
        here.problem.expect("a problem")
    };
    assert_eq!(
        problem(wrong("pay", r#"{"amount": 21}"#)),
        "step 1: ?pay(amount=21) is not offered here"
    );
    assert_eq!(
        problem(wrong("pay", r#"{"amount": "much"}"#)),
        "step 1: parameter 'amount' of ?pay is :integer, which \"much\" is not"
    );
    assert_eq!(
        problem(wrong("sell", "{}")),
        "step 1: the model has no ?sell (any more)"
    );
}

#[test]
fn the_events_of_a_run_give_the_coverage_that_the_tester_counted() {
    let sts = shop();
    let settings = Settings {
        seed: 3,
        stop: StopConditions {
            tests: Some(40),
            steps_per_test: 30,
            ..StopConditions::default()
        },
        events: EventLevel::Steps,
        ..Settings::default()
    };
    let mut tester = Tester::new(semantics(&sts), settings);
    let mut system = Local::new(Simulated::new(Arc::clone(&sts), 3));
    let mut now = 0;
    while let Some(first) = tester.next_test(now) {
        drive(
            &mut tester,
            first,
            &mut system,
            &|| false,
            &mut |crossing| now = crossing.at,
        );
        tester.finished_test();
    }
    let events = tester.take_events();
    let mut walk = RunWalk::new(semantics(&sts), RunSummary::default(), Vec::new());
    for event in &events {
        walk.event(event);
    }
    let detail = walk.finish();
    let counted: &Coverage = tester.coverage();
    let expected: Vec<(u32, u64)> = (0..sts.switches().len() as u32)
        .map(|id| (id, counted.count(SwitchId(id))))
        .filter(|(_, count)| *count > 0)
        .collect();
    assert_eq!(detail.switch_counts, expected);
    assert_eq!(detail.summary.tests, 40);
    assert_eq!(detail.tests_listed.len(), 40);
    // Every step that covers something is a point of the curve, and there are no others but the end.
    let mut again = RunWalk::new(semantics(&sts), RunSummary::default(), Vec::new());
    let mut risen = Vec::new();
    let mut steps = 0;
    for event in &events {
        again.event(event);
        steps += u64::from(matches!(event, Event::StepTaken { .. }));
        let now = again.covered();
        if risen.last().is_none_or(|(_, before)| *before != now) {
            risen.retain(|(at, _)| *at != steps);
            risen.push((steps, now));
        }
    }
    let mut points: Vec<_> = detail.trend.iter().collect();
    points.dedup_by(|later, before| later.same(before));
    let points: Vec<_> = points
        .iter()
        .map(|point| (point.steps, (point.locations, point.switches, point.data)))
        .collect();
    assert_eq!(points, risen);
    let last = detail.trend.last().expect("a trend");
    assert_eq!(last.data, counted.covered_boundaries() as u64);
    assert_eq!(last.locations, counted.covered_locations() as u64);

    let steps = |test: u64| {
        let of_test = |e: &&Event| matches!(e, Event::StepTaken { test: t, .. } if *t == test);
        events.iter().filter(of_test).count()
    };
    let mut semantics = semantics(&sts);
    let seventh = TestView::new(&mut semantics, 7, events.iter(), &[]).expect("test 7");
    assert_eq!(seventh.verdict, "pass");
    assert_eq!(seventh.trace.steps.len(), steps(7));
    assert!(
        seventh
            .trace
            .steps
            .iter()
            .all(|step| !step.states.is_empty())
    );
    assert!(TestView::new(&mut semantics, 41, events.iter(), &[]).is_none());
}

#[test]
fn goals_have_titles_for_people_and_names_for_files() {
    let sts = shop();
    let unnamed = |id: &SwitchId| !sts.is_named(sts.switch(*id).target);
    let switch = (0..sts.switches().len() as u32).map(SwitchId).find(unnamed);
    let switch = switch.expect("a switch to a location without a name");
    let target = sts.switch(switch).target;
    for (goal, id) in [
        (Goal::Switch(switch), switch.0),
        (Goal::Location(target), target.0),
    ] {
        let view = GoalView::undecided(goal, &sts);
        assert!(view.goal.contains("open, after ?pay"), "{}", view.goal);
        assert!(!view.goal.contains('_'), "{}", view.goal);
        assert!(
            view.name.contains(&sts.location(target).name),
            "{}",
            view.name
        );
        assert_eq!(sts.titled(&view.name), view.goal);
        // A test is known by the name that a store has, and by what people are shown.
        for name in [
            view.name.clone(),
            view.goal.clone(),
            format!("{} (and 2 more)", view.name),
        ] {
            let test = TestView {
                number: 1,
                seed: 1,
                name: Some(name),
                verdict: "pass".to_owned(),
                reason: None,
                failure: None,
                trace: ioco_view::TraceView::default(),
            };
            let found = GoalView::of_test(&test, &sts).expect("a goal");
            assert_eq!((found.id, &*found.kind), (Some(id), &*view.kind));
            assert!(found.goal.starts_with(&view.goal), "{}", found.goal);
        }
    }
}

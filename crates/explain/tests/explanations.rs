//! What a person reads: one golden text per kind of failure.

#[path = "../../engine/tests/common/mod.rs"]
mod common;

use std::sync::Arc;

use common::*;
use ioco_engine::{
    Context, FailureContext, FailureFile, Input, Replayed, Sender, Settings, Shrunk, TestReport,
    WireLine, explain,
};
use ioco_explain::{TextOptions, mermaid, text};
use ioco_sts::{
    Action, Assignment, BinaryOp, Direction, Expr, Gate, IntRange, LabelId, Parameter, Place,
    Relation, Requirement, Semantics, Sts, StsBuilder, Type, Value, VarId, Variable,
};

/// `?pay(amount: 1..100)` adds to what is due; `?refund` must be answered by `!refunded` with just
/// that, or by `!denied` where it is over 50.
fn shop() -> Arc<Sts> {
    let mut builder = StsBuilder::new("shop");
    let file = builder.file("shop.aml");
    let process = builder.process("main");
    let place = |line| Place {
        file,
        line,
        column: 1,
    };
    let due = builder.variable(Variable {
        name: "due".to_owned(),
        process,
        ty: Type::INTEGER,
        initial: Value::Int(0),
        place: place(3),
    });
    let amount = || {
        vec![Parameter {
            name: "amount".to_owned(),
            ty: Type::INTEGER,
        }]
    };
    let pay = builder.label(label("?pay", amount()));
    let refund = builder.label(label("?refund", vec![]));
    let refunded = builder.label(label("!refunded", amount()));
    let denied = builder.label(label("!denied", vec![]));
    builder.label(label("!bell", vec![]));
    let open = builder.named_location(process, "Open");
    let paying = builder.named_location(process, "Paying");
    let binary = Expr::binary;
    let sum = binary(BinaryOp::Add, Expr::Var(due), Expr::Param(0));
    let in_range = Expr::InRange(Box::new([Expr::Param(0), Expr::int(1), Expr::int(100)]));
    let add = Assignment {
        variable: due,
        value: sum,
    };
    let clear = || Assignment {
        variable: due,
        value: Expr::int(0),
    };
    builder.switch(
        open,
        Gate::Observable(pay),
        in_range,
        vec![add],
        open,
        place(8),
    );
    let something = binary(BinaryOp::Gt, Expr::Var(due), Expr::int(0));
    let asked = builder.switch(
        open,
        Gate::Observable(refund),
        something,
        vec![],
        paying,
        place(9),
    );
    builder.note(asked, "#green asked for $due");
    let same = binary(BinaryOp::Eq, Expr::Param(0), Expr::Var(due));
    builder.switch(
        paying,
        Gate::Observable(refunded),
        same,
        vec![clear()],
        open,
        place(12),
    );
    let large = binary(BinaryOp::Gt, Expr::Var(due), Expr::int(50));
    builder.switch(
        paying,
        Gate::Observable(denied),
        large,
        vec![clear()],
        open,
        place(13),
    );
    Arc::new(builder.build())
}

fn id(sts: &Sts, direction: Direction, name: &str) -> LabelId {
    sts.label_named(direction, name).expect(name)
}

fn with(label: LabelId, value: i64) -> Action {
    Action {
        label,
        values: vec![Value::Int(value)],
    }
}

fn semantics(sts: &Arc<Sts>) -> Semantics {
    let solver = Box::new(ioco_solve::GuardSolver::new());
    Semantics::new(Arc::clone(sts), solver, Relation::Ioco)
}

/// Pays 7, asks for a refund, and gets `answer`.
fn refunded(sts: &Arc<Sts>, answer: Vec<Input>) -> TestReport {
    let mut tester = ioco_engine::Tester::new(semantics(sts), Settings::default());
    let stimuli = vec![
        with(id(sts, Direction::Stimulus, "pay"), 7),
        Action::plain(id(sts, Direction::Stimulus, "refund")),
    ];
    let command = tester.script(stimuli, 0);
    let mut system = Answers::new(move |given| match given.len() {
        2 => answer.clone(),
        _ => Vec::new(),
    });
    run(&mut tester, command, &mut system, false, &mut 0)
}

fn shown(sts: &Arc<Sts>, report: &TestReport, options: TextOptions) -> String {
    let context = Context {
        test: Some(9),
        seed: Some(7),
        system: "till".to_owned(),
        shrunk: Some(Shrunk {
            from: 41,
            to: 3,
            runs: 6,
            minimal: false,
        }),
        confirmed: Some((5, 5)),
        replay: Some("ioco replay 3f2a".to_owned()),
    };
    let explanation = explain(&mut semantics(sts), &report.execution, &context);
    text(&explanation.expect("a test that did not pass"), options)
}

#[test]
fn a_missing_response_says_what_must_come() {
    let sts = shop();
    let report = refunded(&sts, vec![]);
    insta::assert_snapshot!(shown(&sts, &report, TextOptions::default()));
}

#[test]
fn a_wrong_value_names_the_condition_and_what_was_sent() {
    let sts = shop();
    let sent = with(id(&sts, Direction::Response, "refunded"), 8);
    let report = refunded(&sts, vec![Input::Response(sent)]);
    insta::assert_snapshot!(shown(&sts, &report, TextOptions::default()));
}

#[test]
fn an_unexpected_response_names_the_guard_that_forbids_it() {
    let sts = shop();
    let sent = Action::plain(id(&sts, Direction::Response, "denied"));
    let report = refunded(&sts, vec![Input::Response(sent)]);
    insta::assert_snapshot!(shown(&sts, &report, TextOptions::default()));
}

#[test]
fn a_response_that_nothing_mentions_is_unexpected() {
    let sts = shop();
    let sent = Action::plain(id(&sts, Direction::Response, "bell"));
    let report = refunded(&sts, vec![Input::Response(sent)]);
    insta::assert_snapshot!(shown(&sts, &report, TextOptions::default()));
}

#[test]
fn an_unknown_response_lists_the_known_ones() {
    let sts = shop();
    let report = refunded(&sts, vec![Input::Unknown("soup(hot=true)".to_owned())]);
    insta::assert_snapshot!(shown(&sts, &report, TextOptions::default()));
}

#[test]
fn a_narrow_terminal_wraps_and_loses_nothing() {
    let sts = shop();
    let report = refunded(&sts, vec![]);
    let options = TextOptions {
        width: 48,
        ..TextOptions::default()
    };
    insta::assert_snapshot!(shown(&sts, &report, options));
}

#[test]
fn colour_adds_marks_and_changes_no_words() {
    let sts = shop();
    let report = refunded(&sts, vec![]);
    let options = TextOptions {
        colour: true,
        ..TextOptions::default()
    };
    let coloured = shown(&sts, &report, options);
    assert!(coloured.contains("\u{1b}[1m\u{1b}[31mFAIL"));
    let mut plain = String::new();
    let mut parts = coloured.split('\u{1b}');
    plain.push_str(parts.next().unwrap_or_default());
    for part in parts {
        plain.push_str(part.split_once('m').map_or("", |(_, rest)| rest));
    }
    assert_eq!(plain, shown(&sts, &report, TextOptions::default()));
}

#[test]
fn an_error_is_explained_with_its_code() {
    let sts = shop();
    let report = refunded(
        &sts,
        vec![Input::AdapterError("the system died".to_owned())],
    );
    insta::assert_snapshot!(shown(&sts, &report, TextOptions::default()));
}

#[test]
fn a_sequence_diagram_for_pages() {
    let sts = shop();
    let sent = with(id(&sts, Direction::Response, "refunded"), 8);
    let report = refunded(&sts, vec![Input::Response(sent)]);
    let explanation = explain(&mut semantics(&sts), &report.execution, &Context::default());
    insta::assert_snapshot!(mermaid(&explanation.expect("a failure")));
}

#[test]
fn a_long_test_shows_its_beginning_and_its_end() {
    let sts = plain("Idle ?coin Paid\nPaid !coffee Idle");
    let mut tester = tester(&sts, Settings::default());
    let command = tester.script(vec![stimulus(&sts, "coin"); 100], 0);
    let coffee = response(&sts, "coffee");
    let mut system = Answers::new(move |given| match given.len() {
        0 | 100 => vec![],
        _ => vec![Input::Response(coffee.clone())],
    });
    let report = run(&mut tester, command, &mut system, false, &mut 0);
    let options = TextOptions {
        max_rows: 12,
        ..TextOptions::default()
    };
    let explanation = explain(tester.semantics(), &report.execution, &Context::default());
    insta::assert_snapshot!(text(&explanation.expect("a failure"), options));
}

fn failure_file(sts: &Arc<Sts>, report: &TestReport) -> FailureFile {
    let context = FailureContext {
        model_hash: "1234".to_owned(),
        seed: 7,
        wire: vec![
            WireLine::new(1, Sender::Tester, b"{\"stimulus\":\"refund\"}\n"),
            WireLine::new(2, Sender::System, &[0xFF, 0x00]),
        ],
        shrunk: None,
        minimal: false,
        confirmed: Some((3, 3)),
        connection: serde_json::json!({"way": {"shell": "./till"}}),
    };
    FailureFile::new(sts, report, context).expect("a failure")
}

#[test]
fn a_failure_file_reads_back_and_gives_the_stimuli() {
    let sts = shop();
    let sent = with(id(&sts, Direction::Response, "refunded"), 8);
    let report = refunded(&sts, vec![Input::Response(sent)]);
    let file = failure_file(&sts, &report);
    insta::assert_snapshot!(file.write());
    let again = FailureFile::read(&file.write()).expect("readable");
    assert_eq!(again, file);
    let stimuli: Vec<Action> = report.execution.stimuli().cloned().collect();
    assert_eq!(again.stimuli(&sts), Ok(stimuli));
}

#[test]
fn a_failure_file_for_another_model_says_what_is_gone() {
    let sts = shop();
    let report = refunded(&sts, vec![]);
    let file = failure_file(&sts, &report);
    let other = plain("A ?refund A");
    let error = file.stimuli(&other).expect_err("no ?pay there");
    assert_eq!(
        error.to_string(),
        "the failure does not fit the model: the model has no ?pay (any more)"
    );
}

#[test]
fn a_failure_file_of_the_future_is_refused() {
    let text = "{\"version\": 99, \"anything\": true}";
    let error = FailureFile::read(text).expect_err("from the future");
    assert!(error.to_string().contains("newer ioco"), "{error}");
    assert!(FailureFile::read("{}").is_err());
}

#[test]
fn a_replay_is_fixed_still_failing_different_or_flaky() {
    let sts = shop();
    let answer = |name, value| Input::Response(with(id(&sts, Direction::Response, name), value));
    let wrong = refunded(&sts, vec![answer("refunded", 8)]);
    let wrong_too = refunded(&sts, vec![answer("refunded", 9)]).execution;
    let right = refunded(&sts, vec![answer("refunded", 7)]).execution;
    let silent = refunded(&sts, vec![]).execution;
    let dead = refunded(&sts, vec![Input::AdapterError("it died".to_owned())]).execution;
    let file = failure_file(&sts, &wrong);
    let compare = |runs: &[&ioco_sts::Execution]| {
        let runs: Vec<_> = runs.iter().map(|run| (*run).clone()).collect();
        file.compare(&sts, &runs)
    };
    assert_eq!(compare(&[&right, &right]), Replayed::Fixed);
    assert_eq!(compare(&[&wrong_too]), Replayed::StillFailing);
    assert_eq!(
        compare(&[&right, &wrong_too, &right]),
        Replayed::Flaky { failed: 1, runs: 3 }
    );
    // One that was seen in two of five runs passes three times in five by itself.
    let mut flaky = file.clone();
    flaky.confirmed = Some((2, 5));
    let runs = |count| vec![right.clone(); count];
    let unseen = Replayed::Unseen { needed: 6 };
    assert_eq!(flaky.compare(&sts, &runs(1)), unseen);
    assert_eq!(flaky.compare(&sts, &runs(5)), unseen);
    assert_eq!(flaky.compare(&sts, &runs(6)), Replayed::Fixed);
    assert_eq!(
        flaky.compare(&sts, &[wrong_too.clone(), right.clone()]),
        Replayed::Flaky { failed: 1, runs: 2 }
    );
    flaky.confirmed = Some((0, 3));
    assert_eq!(
        flaky.compare(&sts, &runs(6)),
        Replayed::Unseen { needed: 11 }
    );
    assert!(matches!(compare(&[&silent]), Replayed::Different(_)));
    assert_eq!(compare(&[&dead]), Replayed::Unusable("it died".to_owned()));
}

/// `?order` is answered by `!bill` and `!goods`, in any order; each has a clause of its own.
fn delivery() -> Arc<Sts> {
    let mut builder = StsBuilder::new("delivery");
    let process = builder.process("main");
    let order = builder.label(label("?order", vec![]));
    let bill = builder.label(label("!bill", vec![]));
    let goods = builder.label(label("!goods", vec![]));
    let [idle, ordered, billed, sent] =
        ["Idle", "Ordered", "Billed", "Sent"].map(|name| builder.named_location(process, name));
    let mut switch = |from, label, to| {
        let place = Place::default();
        builder.switch(from, Gate::Observable(label), Expr::TRUE, vec![], to, place)
    };
    switch(idle, order, ordered);
    let bills = vec![switch(ordered, bill, billed), switch(sent, bill, idle)];
    let sends = vec![switch(ordered, goods, sent), switch(billed, goods, idle)];
    for (id, switches) in [("bill", bills), ("goods", sends)] {
        builder.requirement(Requirement {
            id: id.to_owned(),
            text: String::new(),
            switches,
            place: Place::default(),
        });
    }
    Arc::new(builder.build())
}

#[test]
fn a_failure_names_the_requirement_of_the_response_that_is_missing() {
    let sts = delivery();
    let [bill, goods] = ["bill", "goods"].map(|name| response(&sts, name));
    // One of them is missing, or both are, or one comes twice.
    for answers in [
        vec![bill.clone()],
        vec![goods],
        vec![],
        vec![bill.clone(), bill],
    ] {
        let mut tester = tester(&sts, Settings::default());
        let command = tester.script(vec![stimulus(&sts, "order")], 0);
        let answers: Vec<Input> = answers.into_iter().map(Input::Response).collect();
        let mut system = Answers::new(move |given| match given.len() {
            0 => vec![],
            _ => answers.clone(),
        });
        let report = run(&mut tester, command, &mut system, false, &mut 0);
        let explanation = explain(tester.semantics(), &report.execution, &Context::default());
        let because = explanation.expect("a failure").because;
        for id in ["bill", "goods"] {
            let line = format!("it touches the requirement {id}");
            assert!(because.contains(&line), "{id}: {because:?}");
        }
    }
}

/// No guard forbids it: the update does, and is named.
#[test]
fn a_value_that_an_update_cannot_take_names_the_update() {
    let place = Place::default();
    for (change, refused) in [
        (
            Expr::binary(BinaryOp::Add, Expr::Var(VarId(0)), Expr::Param(0)),
            "the model demands that held = held + n is in 0..9, here 7 + n; the system sent n=5",
        ),
        (
            Expr::binary(
                BinaryOp::Div,
                Expr::int(9),
                Expr::binary(BinaryOp::Sub, Expr::Param(0), Expr::int(5)),
            ),
            "the model demands that held = 9 / (n - 5) is in 0..9; the system sent n=5 (division by zero)",
        ),
        (
            Expr::Param(0),
            "the model demands that held = n is in 0..9; the system sent n=50",
        ),
    ] {
        let mut builder = StsBuilder::new("wallet");
        let process = builder.process("main");
        let held = builder.variable(Variable {
            name: "held".to_owned(),
            process,
            ty: Type::Int(IntRange { min: 0, max: 9 }),
            initial: Value::Int(7),
            place,
        });
        let n = Parameter {
            name: "n".to_owned(),
            ty: Type::INTEGER,
        };
        let (play, won) = (
            builder.label(label("?play", vec![])),
            builder.label(label("!won", vec![n])),
        );
        let [idle, played] = ["Idle", "Played"].map(|name| builder.named_location(process, name));
        let update = vec![Assignment {
            variable: held,
            value: change.clone(),
        }];
        let gate = Gate::Observable;
        builder.switch(idle, gate(play), Expr::TRUE, vec![], played, place);
        builder.switch(played, gate(won), Expr::TRUE, update, idle, place);
        let sts = Arc::new(builder.build());
        let mut tester = ioco_engine::Tester::new(semantics(&sts), Settings::default());
        let command = tester.script(vec![Action::plain(play)], 0);
        let sent = if matches!(change, Expr::Param(_)) {
            50
        } else {
            5
        };
        let mut system = Answers::new(move |given| match given.len() {
            1 => vec![Input::Response(with(won, sent))],
            _ => Vec::new(),
        });
        let report = run(&mut tester, command, &mut system, false, &mut 0);
        let said = shown(&sts, &report, TextOptions::default());
        let words: Vec<&str> = said.split_whitespace().collect();
        assert!(words.join(" ").contains(refused), "{said}");
    }
}

//! What the tester says of systems that are right, wrong, dead or talkative.

mod common;

use std::sync::Arc;

use common::*;
use ioco_engine::{
    Command, EventLevel, FailureContext, FailureFile, Input, Replayed, Settings, StopConditions,
    StopReason, Tester,
};
use ioco_sts::{
    DeviationKind, EvaluationOnly, Execution, Observed, Relation, Semantics, Step, Sts, Verdict,
};

const COFFEE: &str = "
    Idle ?coin Paid
    Paid ?button Brewing
    Brewing !coffee Idle
    Paid !refund Idle";

fn run_script(sts: &Arc<Sts>, names: &[&str], system: &mut dyn System) -> Execution {
    let mut tester = tester(sts, Settings::default());
    let stimuli = names.iter().map(|name| stimulus(sts, name)).collect();
    let command = tester.script(stimuli, 0);
    run(&mut tester, command, system, false, &mut 0).execution
}

fn answers(
    sts: &Arc<Sts>,
    table: &[(&'static str, &'static str)],
) -> Answers<impl FnMut(&[ioco_sts::Action]) -> Vec<Input> + use<>> {
    let sts = Arc::clone(sts);
    let table = table.to_vec();
    Answers::new(move |given| {
        let last = given
            .last()
            .map_or("", |a| sts.label(a.label).name.as_str());
        let found = table.iter().filter(|(stimulus, _)| *stimulus == last);
        found
            .map(|(_, r)| Input::Response(response(&sts, r)))
            .collect()
    })
}

fn kind(execution: &Execution) -> Option<DeviationKind> {
    execution.deviation().map(|d| d.kind)
}

const LISTENER: &str = "
    Idle ?coin Paid
    Paid ?button Brewing
    Brewing !coffee Idle
    Never !tea Never";

#[test]
fn a_response_that_the_model_allows_passes() {
    let sts = plain(COFFEE);
    let mut system = answers(&sts, &[("coin", "refund")]);
    let execution = run_script(&sts, &["coin"], &mut system);
    assert_eq!(execution.verdict, Verdict::Pass);
    let shown: Vec<String> = execution.trace.iter().map(|s| s.show(&sts)).collect();
    assert_eq!(shown, ["?coin", "!refund", "δ"]);
}

#[test]
fn silence_is_a_failure_where_no_state_is_quiescent() {
    let sts = plain("Idle ?coin Paid\nPaid !coffee Idle");
    let execution = run_script(&sts, &["coin"], &mut Answers::new(|_| Vec::new()));
    assert_eq!(kind(&execution), Some(DeviationKind::MissingResponse));
    let deviation = execution.deviation().unwrap();
    assert_eq!(deviation.observed, Observed::Silence(500 * MILLISECOND));
}

#[test]
fn an_announced_silence_is_judged_without_waiting() {
    let sts = plain("Idle ?coin Paid\nPaid !coffee Idle");
    let mut tester = tester(&sts, Settings::default());
    let command = tester.script(vec![stimulus(&sts, "coin")], 0);
    let mut now = 0;
    let mut system = Answers::new(|given| match given.len() {
        0 => Vec::new(),
        _ => vec![Input::Quiescent],
    });
    let report = run(&mut tester, command, &mut system, false, &mut now);
    assert_eq!(
        kind(&report.execution),
        Some(DeviationKind::MissingResponse)
    );
    assert!(now < 100 * MILLISECOND);
}

#[test]
fn a_response_that_no_state_allows_fails() {
    let sts = plain(LISTENER);
    let mut system = answers(&sts, &[("coin", "tea")]);
    let execution = run_script(&sts, &["coin", "button"], &mut system);
    assert_eq!(kind(&execution), Some(DeviationKind::UnexpectedResponse));
    assert_eq!(execution.stimuli().count(), 1);
}

#[test]
fn an_unexpected_response_after_the_last_stimulus_is_seen() {
    let sts = plain("Idle ?coin Paid\nNever !tea Never");
    let mut system = answers(&sts, &[("coin", "tea")]);
    let execution = run_script(&sts, &["coin"], &mut system);
    assert_eq!(kind(&execution), Some(DeviationKind::UnexpectedResponse));
}

#[test]
fn a_label_that_the_model_does_not_have_is_an_unexpected_response() {
    let sts = plain(COFFEE);
    let mut system = Answers::new(|given| match given.len() {
        1 => vec![Input::Unknown("soup(hot=true)".to_owned())],
        _ => Vec::new(),
    });
    let execution = run_script(&sts, &["coin"], &mut system);
    assert_eq!(kind(&execution), Some(DeviationKind::UnexpectedResponse));
    assert_eq!(
        execution.deviation().unwrap().observed.show(&sts),
        "!soup(hot=true)"
    );
}

#[test]
fn a_known_label_with_values_of_the_wrong_type_is_a_wrong_value() {
    let sts = plain(COFFEE);
    for (text, expected) in [
        ("refund(amount=\"x\")", DeviationKind::WrongValue),
        // A label of the model, where it does not belong.
        ("coffee(hot=\"x\")", DeviationKind::UnexpectedResponse),
    ] {
        let mut system = Answers::new(|given| match given.len() {
            1 => vec![Input::Unknown(text.to_owned())],
            _ => Vec::new(),
        });
        let execution = run_script(&sts, &["coin"], &mut system);
        assert_eq!(kind(&execution), Some(expected));
    }
}

#[test]
fn a_stimulus_that_is_not_offered_makes_a_script_inconclusive() {
    let sts = plain(COFFEE);
    let execution = run_script(&sts, &["button"], &mut Answers::new(|_| Vec::new()));
    let Verdict::Inconclusive(reason) = &execution.verdict else {
        panic!("{:?}", execution.verdict);
    };
    assert!(
        reason.text.contains("stimulus 1 of the test, ?button"),
        "{reason}"
    );
}

#[test]
fn under_uioco_a_script_does_not_give_what_one_of_the_states_refuses() {
    let sts =
        plain("Idle ?coin Paid\nIdle ?coin Stuck\nPaid ?button Brewing\nBrewing !coffee Idle");
    for (relation, given) in [(Relation::Ioco, 2), (Relation::Uioco, 1)] {
        let semantics = Semantics::new(Arc::clone(&sts), Box::new(EvaluationOnly), relation);
        let mut tester = Tester::new(semantics, Settings::default());
        let script = ["coin", "button"].map(|name| stimulus(&sts, name));
        let command = tester.script(script.into(), 0);
        let mut system = answers(&sts, &[("button", "coffee")]);
        let report = run(&mut tester, command, &mut system, false, &mut 0);
        assert_eq!(report.execution.stimuli().count(), given, "{report:?}");
        let refused = matches!(report.execution.verdict, Verdict::Inconclusive(_));
        assert_eq!(refused, given == 1, "{report:?}");
    }
}

#[test]
fn an_adapter_error_is_an_error_and_stops_the_run() {
    let sts = plain(COFFEE);
    let mut tester = tester(&sts, Settings::default());
    let mut system = Answers::new(|given| match given.len() {
        1 => vec![Input::AdapterError("the system died".to_owned())],
        _ => Vec::new(),
    });
    let reports = campaign(&mut tester, &mut system);
    assert_eq!(reports.len(), 1);
    let verdict = &reports[0].execution.verdict;
    assert_eq!(*verdict, Verdict::unusable("the system died"));
    assert_eq!(tester.stop_reason(), Some(StopReason::Errors));
    assert_eq!(tester.summary().failed, 0);
}

#[test]
fn the_end_of_the_system_is_an_error_that_can_be_kept() {
    let sts = plain(COFFEE);
    let mut tester = tester(&sts, Settings::default());
    let mut system = Answers::new(|given| match given.len() {
        1 => vec![Input::Ended("exit status: 7".to_owned())],
        _ => Vec::new(),
    });
    let reports = campaign(&mut tester, &mut system);
    assert_eq!(reports.len(), 1);
    let report = &reports[0];
    assert!(matches!(report.execution.verdict, Verdict::Ended(_)));
    assert!(report.is_new_failure);
    // The stimulus; the end is no step.
    assert_eq!(report.execution.length(), 1);
    assert_eq!(tester.stop_reason(), Some(StopReason::Errors));
    let summary = tester.summary();
    assert_eq!((summary.failed, summary.errors), (0, 1));
    let file = FailureFile::new(&sts, report, FailureContext::default()).expect("a file");
    let file = FailureFile::read(&file.write()).expect("read back");
    let restored = file.execution(tester.semantics(), true).expect("it fits");
    assert_eq!(restored.verdict, report.execution.verdict);
    let again = file.compare(&sts, std::slice::from_ref(&restored));
    assert_eq!(again, Replayed::StillFailing);
}

#[test]
fn an_interrupted_test_is_inconclusive_and_ends_the_run() {
    let sts = plain(COFFEE);
    let mut tester = tester(&sts, Settings::default());
    assert_eq!(tester.next_test(0), Some(Command::Reset { drain: 0 }));
    tester.handle(Input::Ready, 1);
    assert_eq!(tester.handle(Input::Interrupted, 2), Command::Finished);
    let verdict = tester.finished_test().execution.verdict;
    assert!(matches!(verdict, Verdict::Inconclusive(_)));
    assert_eq!(tester.next_test(3), None);
    assert_eq!(tester.stop_reason(), Some(StopReason::Interrupted));
}

#[test]
fn an_interrupt_between_two_tests_ends_the_run() {
    let sts = plain(COFFEE);
    let second = 1000 * MILLISECOND;
    for (at, reason) in [
        (second - 1, StopReason::Interrupted),
        // Whoever watches the time interrupts when it is up.
        (second, StopReason::Time),
    ] {
        for finished in [false, true] {
            let stop = StopConditions {
                time: Some(second),
                errors: None,
                ..StopConditions::default()
            };
            let settings = Settings {
                stop,
                ..Settings::default()
            };
            let mut tester = tester(&sts, settings);
            tester.next_test(0);
            tester.handle(Input::Ready, 0);
            if finished {
                tester.handle(Input::AdapterError("gone".to_owned()), 0);
                tester.finished_test();
            }
            assert_eq!(tester.handle(Input::Interrupted, at), Command::Finished);
            let stopped = (tester.next_test(at), tester.stop_reason());
            assert_eq!(stopped, (None, Some(reason)), "{at} {finished}");
        }
    }
}

#[test]
fn a_flood_of_allowed_responses_ends_with_the_test() {
    let sts = plain("Up !tick Up\nUp ?stop Down");
    let mut tester = tester(&sts, Settings::default());
    let tick = response(&sts, "tick");
    let mut flood = Answers::new(move |_| vec![Input::Response(tick.clone()); 10_000]);
    let reports = campaign(&mut tester, &mut flood);
    assert_eq!(reports.len(), 100);
    for report in reports {
        assert_eq!(report.execution.verdict, Verdict::Pass);
        assert!(report.execution.trace.len() <= 116);
    }
}

#[test]
fn a_script_goes_on_when_the_system_never_stops_talking() {
    let sts = plain("Up !tick Up\nUp ?stop Down\nDown !tick Down");
    let tick = response(&sts, "tick");
    let mut flood = Answers::new(move |_| vec![Input::Response(tick.clone()); 10_000]);
    let execution = run_script(&sts, &["stop"], &mut flood);
    assert_eq!(execution.verdict, Verdict::Pass);
    assert_eq!(execution.stimuli().count(), 1);
}

#[test]
fn a_set_of_states_that_is_not_complete_never_fails() {
    use ioco_sts::{Assignment, BinaryOp, Expr, Gate, Place, StsBuilder, Type, Value, Variable};
    let mut builder = StsBuilder::new("counter");
    let process = builder.process("main");
    let place = Place::default();
    let count = builder.variable(Variable {
        name: "count".to_owned(),
        process,
        ty: Type::INTEGER,
        initial: Value::Int(0),
        place,
    });
    let up = builder.named_location(process, "Up");
    let go = builder.label(label("?go", vec![]));
    let done = builder.label(label("!done", vec![]));
    let one_more = Assignment {
        variable: count,
        value: Expr::binary(BinaryOp::Add, Expr::Var(count), Expr::int(1)),
    };
    builder.switch(up, Gate::Tau, Expr::TRUE, vec![one_more], up, place);
    builder.switch(up, Gate::Observable(go), Expr::TRUE, vec![], up, place);
    let far = Expr::binary(BinaryOp::Gt, Expr::Var(count), Expr::int(1_000_000));
    builder.switch(up, Gate::Observable(done), far, vec![], up, place);
    let sts = Arc::new(builder.build());
    let mut system = answers(&sts, &[("go", "done")]);
    let execution = run_script(&sts, &["go"], &mut system);
    assert!(
        matches!(execution.verdict, Verdict::Inconclusive(_)),
        "{execution:?}"
    );
}

#[test]
fn what_comes_before_a_stimulus_is_carried_out_replaces_it() {
    let sts = plain("A !x B\nA ?s S\nB ?t T");
    let mut tester = tester_about_to_give(&sts, "s");
    let next = tester.handle(Input::Response(response(&sts, "x")), 2);
    assert!(
        next == Command::Give(stimulus(&sts, "t")) || matches!(next, Command::Await { .. }),
        "{next:?}"
    );
    tester.handle(Input::Interrupted, 3);
    let trace = tester.finished_test().execution.trace;
    assert_eq!(trace, [Step::Response(response(&sts, "x"))]);
}

/// A tester that wants to give this stimulus first, although the system may speak.
fn tester_about_to_give(sts: &Arc<Sts>, name: &str) -> Tester {
    let mut tester = tester(sts, Settings::default());
    let give = Command::Give(stimulus(sts, name));
    for number in 1..10_000 {
        tester.repeat_test(number, 0);
        if tester.handle(Input::Ready, 0) == give {
            return tester;
        }
    }
    panic!("{name} was never given first");
}

#[test]
fn distinct_failures_are_counted_once_and_the_run_goes_on() {
    let sts = plain("A ?a B\nB !x A\nA ?c C\nC !y A");
    let stop = StopConditions {
        tests: Some(200),
        failures: None,
        ..StopConditions::default()
    };
    let settings = Settings {
        stop,
        ..Settings::default()
    };
    let mut tester = tester(&sts, settings);
    let reports = campaign(&mut tester, &mut Answers::new(|_| Vec::new()));
    assert_eq!(reports.len(), 200);
    assert_eq!(tester.failures().len(), 2);
    assert_eq!(reports.iter().filter(|r| r.is_new_failure).count(), 2);
    let seen: u64 = tester.failures().iter().map(|f| f.times_seen).sum();
    assert_eq!(seen, 200);
    assert_eq!(tester.stop_reason(), Some(StopReason::Tests));
}

#[test]
fn the_same_seed_and_responses_give_the_same_run_and_each_test_repeats_alone() {
    let sts = plain(COFFEE);
    let table = [("coin", "refund"), ("button", "coffee")];
    let settings = Settings {
        seed: 17,
        events: EventLevel::Steps,
        ..Settings::default()
    };
    let runs: Vec<_> = (0..2)
        .map(|_| {
            let mut tester = tester(&sts, settings.clone());
            let reports = campaign(&mut tester, &mut answers(&sts, &table));
            (reports, tester.take_events())
        })
        .collect();
    assert_eq!(runs[0], runs[1]);
    let mut alone = tester(&sts, settings);
    let command = alone.repeat_test(42, 0);
    let report = run(
        &mut alone,
        command,
        &mut answers(&sts, &table),
        false,
        &mut 0,
    );
    assert_eq!(report.execution, runs[0].0[41].execution);
}

#[test]
fn a_test_does_not_end_while_a_response_is_due() {
    let sts = plain("Idle ?coin Paid\nPaid !coffee Idle");
    let settings = Settings {
        stop: StopConditions {
            tests: Some(20),
            steps_per_test: 1,
            ..StopConditions::default()
        },
        ..Settings::default()
    };
    let mut tester = tester(&sts, settings);
    let reports = campaign(&mut tester, &mut Answers::new(|_| Vec::new()));
    let last = &reports.last().unwrap().execution;
    assert_eq!(kind(last), Some(DeviationKind::MissingResponse));
}

#[test]
fn a_response_may_have_crossed_the_stimulus() {
    // A talks by itself; the tester interrupts it before it heard anything.
    let sts = plain("A !x B\nA ?s S\nB ?s T\nT !y T2\nS !z S2");
    let mut tester = tester_about_to_give(&sts, "s");
    tester.handle(Input::Given { overtaken: true }, 1);
    tester.handle(Input::Response(response(&sts, "x")), 2);
    tester.handle(Input::Response(response(&sts, "y")), 3);
    tester.handle(Input::Interrupted, 4);
    let report = tester.finished_test();
    assert!(matches!(report.execution.verdict, Verdict::Inconclusive(_)));
    // The trace tells the only order that explains it.
    let shown: Vec<String> = report
        .execution
        .trace
        .iter()
        .map(|s| s.show(&sts))
        .collect();
    assert_eq!(shown, ["!x", "?s", "!y"]);
}

#[test]
fn where_nothing_can_cross_the_order_is_exact() {
    let sts = plain("A !x B\nA ?s S\nB ?s T\nT !y T2\nS !z S2");
    let mut tester = tester_about_to_give(&sts, "s");
    tester.handle(Input::Given { overtaken: false }, 1);
    tester.handle(Input::Response(response(&sts, "x")), 2);
    let execution = tester.finished_test().execution;
    assert_eq!(kind(&execution), Some(DeviationKind::UnexpectedResponse));
}

#[test]
fn both_orders_are_followed_while_the_model_cannot_tell() {
    // x may come before or after s; only later does the system show which it was.
    let sts = plain("A !x B\nA ?s S\nS !x S1\nS1 !after E\nB ?s T\nT !before E");
    for last in ["after", "before"] {
        let mut tester = tester_about_to_give(&sts, "s");
        tester.handle(Input::Given { overtaken: true }, 1);
        tester.handle(Input::Response(response(&sts, "x")), 2);
        tester.handle(Input::Response(response(&sts, last)), 3);
        tester.handle(Input::Interrupted, 4);
        let execution = tester.finished_test().execution;
        assert_eq!(execution.deviation(), None);
        assert_eq!(execution.trace.len(), 3, "{last}");
    }
}

#[test]
fn silence_ends_the_doubt_about_the_order() {
    let sts = plain("A !x A\nA tau Q\nA ?s S\nQ ?s S\nS ?t S");
    let mut tester = tester_about_to_give(&sts, "s");
    tester.handle(Input::Given { overtaken: true }, 1);
    // An announcement may be as old as a response that crossed the stimulus; time is not.
    tester.handle(Input::Quiescent, 2);
    tester.handle(Input::Response(response(&sts, "x")), 3);
    let execution = tester.finished_test().execution;
    assert_eq!(kind(&execution), Some(DeviationKind::UnexpectedResponse));
}

#[test]
fn a_crossing_that_the_model_says_nothing_about_is_inconclusive() {
    let sts = plain("A !x B\nA ?s S\nS !z A");
    let mut tester = tester_about_to_give(&sts, "s");
    tester.handle(Input::Given { overtaken: true }, 1);
    let done = tester.handle(Input::Response(response(&sts, "x")), 2);
    assert_eq!(done, Command::Finished);
    let execution = tester.finished_test().execution;
    assert!(matches!(execution.verdict, Verdict::Inconclusive(_)));
    assert_eq!(execution.trace, [Step::Stimulus(stimulus(&sts, "s"))]);
}

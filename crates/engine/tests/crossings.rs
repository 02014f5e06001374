//! Responses that cross stimuli: the tester and the monitor follow every order, and take none for
//! certain that they did not see.

mod common;

use std::sync::Arc;

use common::*;
use ioco_engine::{
    Advice, Command, Guide, Input, Recorded, Settings, TestReport, Tester, View, monitor,
};
use ioco_solve::GuardSolver;
use ioco_sts::{
    Action, Assignment, BinaryOp, DeviationKind, EvaluationOnly, Execution, Expr, Gate, Parameter,
    Place, Relation, Semantics, Sts, StsBuilder, Type, Value, Variable, Verdict,
};

/// `repeat { receive 'a' update k += 1 | send 'count' constraint 'n == k && k > 0' }`
fn counter() -> Arc<Sts> {
    let mut builder = StsBuilder::new("counter");
    let process = builder.process("main");
    let place = Place::default();
    let k = builder.variable(Variable {
        name: "k".to_owned(),
        process,
        ty: Type::INTEGER,
        initial: Value::Int(0),
        place,
    });
    let up = builder.named_location(process, "Up");
    let a = builder.label(label("?a", vec![]));
    let n = Parameter {
        name: "n".to_owned(),
        ty: Type::INTEGER,
    };
    let count = builder.label(label("!count", vec![n]));
    let one_more = Assignment {
        variable: k,
        value: Expr::binary(BinaryOp::Add, Expr::Var(k), Expr::int(1)),
    };
    builder.switch(
        up,
        Gate::Observable(a),
        Expr::TRUE,
        vec![one_more],
        up,
        place,
    );
    let guard = Expr::and(
        Expr::binary(BinaryOp::Eq, Expr::Param(0), Expr::Var(k)),
        Expr::binary(BinaryOp::Gt, Expr::Var(k), Expr::int(0)),
    );
    builder.switch(up, Gate::Observable(count), guard, vec![], up, place);
    Arc::new(builder.build())
}

fn semantics(sts: &Arc<Sts>) -> Semantics {
    Semantics::new(
        Arc::clone(sts),
        Box::new(GuardSolver::new()),
        Relation::Ioco,
    )
}

fn count(sts: &Sts, n: i64) -> Action {
    Action {
        values: vec![Value::Int(n)],
        ..response(sts, "count")
    }
}

/// So many `?a`, then `!count(n)`, recorded within a microsecond.
fn recorded(stimuli: usize, n: i64) -> Verdict {
    let sts = counter();
    let mut recorded = vec![Recorded::Stimulus(stimulus(&sts, "a")); stimuli];
    recorded.push(Recorded::Response(count(&sts, n)));
    let recorded: Vec<(u64, Recorded)> = (0..).zip(recorded).collect();
    monitor(&mut semantics(&sts), &recorded).verdict
}

#[test]
fn a_response_may_answer_any_stimulus_in_flight() {
    for stimuli in [1, 8, 9, 20, 64, 65] {
        assert_eq!(recorded(stimuli, 1), Verdict::Pass, "{stimuli}");
        assert_eq!(recorded(stimuli, stimuli as i64), Verdict::Pass);
        let wrong = recorded(stimuli, stimuli as i64 + 1);
        assert_eq!(
            matches!(wrong, Verdict::Fail(_)),
            stimuli <= 64,
            "{wrong:?}"
        );
    }
}

#[test]
fn more_stimuli_in_flight_than_are_followed_prove_nothing() {
    let verdict = recorded(70, 1);
    let Verdict::Inconclusive(reason) = &verdict else {
        panic!("{verdict:?}");
    };
    assert!(
        reason.text.contains("more than 64 stimuli were in flight"),
        "{reason}"
    );
    assert_eq!(ioco_engine::code_of(&verdict), Some("I002"));
    // A deviation that no order would explain, had all of them been followed.
    assert!(matches!(recorded(70, 71), Verdict::Inconclusive(_)));
    assert_eq!(recorded(70, 69), Verdict::Pass);
}

#[test]
fn a_pause_settles_what_was_in_flight() {
    let sts = counter();
    let a = || Recorded::Stimulus(stimulus(&sts, "a"));
    let mut recorded: Vec<(u64, Recorded)> = (0..70).map(|at| (at, a())).collect();
    // The model's time-out is over: the counter must have spoken.
    recorded.push((10_000 * MILLISECOND, Recorded::End));
    let execution = monitor(&mut semantics(&sts), &recorded);
    assert_eq!(
        execution.deviation().map(|d| d.kind),
        Some(DeviationKind::MissingResponse)
    );
}

/// Gives `?a` so often without waiting, then hears `!count(n)`, as a script of the tester.
fn scripted(stimuli: usize, n: i64) -> Execution {
    // Without a response in the menu a script gives one stimulus after the other.
    let sts = plain("Up ?a Up\nNever !count Never");
    let mut tester = tester(&sts, Settings::default());
    let script = vec![stimulus(&sts, "a"); stimuli];
    tester.script(script, 0);
    let mut command = tester.handle(Input::Ready, 0);
    let mut now = 0;
    let mut given = 0;
    loop {
        now += 1;
        command = match command {
            Command::Give(_) => {
                given += 1;
                tester.handle(Input::Given { overtaken: true }, now)
            }
            Command::Await { .. } if given < stimuli => tester.handle(Input::Silence, now),
            Command::Await { .. } if n > 0 => {
                tester.handle(Input::Response(response(&sts, "count")), now)
            }
            _ => return tester.finished_test().execution,
        };
    }
}

#[test]
fn the_tester_follows_as_many_as_the_monitor() {
    let certain = scripted(64, 1);
    assert!(matches!(certain.verdict, Verdict::Fail(_)), "{certain:?}");
    let doubtful = scripted(65, 1);
    assert!(
        matches!(&doubtful.verdict, Verdict::Inconclusive(reason) if reason.text.contains("in flight")),
        "{doubtful:?}"
    );
}

#[test]
fn a_step_keeps_its_time_when_the_order_turns_out_to_be_another() {
    let sts = plain("A !x B\nA ?s S\nB ?s T\nT !y T2\nS !z S2");
    let mut tester = tester(&sts, Settings::default());
    let give = Command::Give(stimulus(&sts, "s"));
    let number = (1..10_000).find(|number| {
        tester.repeat_test(*number, 0);
        tester.handle(Input::Ready, 0) == give
    });
    assert!(number.is_some());
    tester.handle(Input::Given { overtaken: true }, 10);
    tester.handle(Input::Response(response(&sts, "x")), 20);
    tester.handle(Input::Response(response(&sts, "y")), 30);
    tester.handle(Input::Interrupted, 40);
    let report = tester.finished_test();
    let shown: Vec<(String, u64)> = report
        .execution
        .trace
        .iter()
        .map(|step| step.show(&sts))
        .zip(report.times)
        .collect();
    let expected = [("!x", 20), ("?s", 10), ("!y", 30)];
    assert_eq!(shown, expected.map(|(step, at)| (step.to_owned(), at)));
}

#[test]
fn the_monitor_reports_the_order_that_explains_a_recording() {
    let sts = plain("A !x B\nA ?s S\nB ?s T\nT !y T2\nS !z S2");
    let recorded = [
        (0, Recorded::Stimulus(stimulus(&sts, "s"))),
        (1, Recorded::Response(response(&sts, "x"))),
        (2, Recorded::Response(response(&sts, "z"))),
    ];
    let execution = monitor(&mut semantics(&sts), &recorded);
    assert!(
        matches!(execution.verdict, Verdict::Fail(_)),
        "{execution:?}"
    );
    let shown: Vec<String> = execution.trace.iter().map(|s| s.show(&sts)).collect();
    assert_eq!(shown, ["!x", "?s"]);
}

#[test]
fn stimuli_move_behind_every_response_that_was_sent_before_them() {
    let sts = plain("A !x B\nB !y C\nC ?s D\nD ?t E\nB ?s F\nF ?t G\nA ?s S\nS ?t T");
    let stimuli = ["s", "t"].map(|name| Recorded::Stimulus(stimulus(&sts, name)));
    let responses = ["x", "y"].map(|name| Recorded::Response(response(&sts, name)));
    let recorded: Vec<(u64, Recorded)> = (0..).zip(stimuli.into_iter().chain(responses)).collect();
    let execution = monitor(&mut semantics(&sts), &recorded);
    let shown: Vec<String> = execution.trace.iter().map(|s| s.show(&sts)).collect();
    assert_eq!(shown, ["!x", "!y", "?s", "?t"]);
}

#[test]
fn the_monitor_does_not_judge_a_crossing_that_the_model_says_nothing_about() {
    let sts = plain("A !x B\nA ?s S\nS !z A");
    let recorded = [
        (0, Recorded::Stimulus(stimulus(&sts, "s"))),
        (1, Recorded::Response(response(&sts, "x"))),
    ];
    let execution = monitor(&mut semantics(&sts), &recorded);
    assert_eq!(ioco_engine::code_of(&execution.verdict), Some("I002"));
}

/// `?s` and `!x` cross: `x` then `s` leads to `T`, `s` then `x` to `U`. Both may be silent, and only
/// `T` accepts `?t`, after which something is due.
const TWO_WAYS: &str = "A !x B\nB ?s T\nA ?s S\nS !x U\nT ?t Due\nDue !y End";

fn after_a_crossing(model: &str, pause: u64, then: &[(u64, Recorded)]) -> Execution {
    let sts = plain(model);
    let mut recorded = vec![
        (0, Recorded::Stimulus(stimulus(&sts, "s"))),
        (1, Recorded::Response(response(&sts, "x"))),
        (pause, Recorded::Stimulus(stimulus(&sts, "t"))),
    ];
    recorded.extend_from_slice(then);
    monitor(&mut semantics(&sts), &recorded)
}

#[test]
fn an_order_that_does_not_accept_a_later_stimulus_leaves_a_doubt() {
    // Also when everything in flight has arrived long ago.
    for pause in [2, 10_000 * MILLISECOND] {
        let silent = [(30_000 * MILLISECOND, Recorded::End)];
        let execution = after_a_crossing(TWO_WAYS, pause, &silent);
        let code = ioco_engine::code_of(&execution.verdict);
        assert_eq!(code, Some("I002"), "{execution:?}");
    }
}

#[test]
fn orders_that_lead_to_the_same_states_leave_no_doubt() {
    for pause in [2, 10_000 * MILLISECOND] {
        let silent = [(30_000 * MILLISECOND, Recorded::End)];
        let execution = after_a_crossing(&TWO_WAYS.replace('U', "T"), pause, &silent);
        let kind = execution.deviation().map(|d| d.kind);
        assert_eq!(kind, Some(DeviationKind::MissingResponse), "{execution:?}");
        // Orders that differ, but all accept what is given: no doubt either.
        let both = format!("{TWO_WAYS}\nU ?t Due");
        let execution = after_a_crossing(&both, pause, &silent);
        assert!(execution.deviation().is_some(), "{execution:?}");
    }
}

/// `n` times `?s` and a `!x` that may come before, between or after them; each place leads to states
/// of its own.
fn one_response_among(n: usize) -> Execution {
    let mut lines = Vec::new();
    for seen in 0..=n {
        lines.push(format!("P{seen} !x Q{seen}_{seen}"));
        if seen < n {
            lines.push(format!("P{seen} ?s P{}", seen + 1));
        }
        for later in seen..n {
            lines.push(format!("Q{seen}_{later} ?s Q{seen}_{}", later + 1));
        }
    }
    lines.push("Never !bad Never".to_owned());
    let sts = plain(&lines.join("\n"));
    let mut recorded = vec![Recorded::Stimulus(stimulus(&sts, "s")); n];
    recorded.push(Recorded::Response(response(&sts, "x")));
    recorded.push(Recorded::Response(response(&sts, "bad")));
    let recorded: Vec<(u64, Recorded)> = (0..).zip(recorded).collect();
    monitor(&mut semantics(&sts), &recorded)
}

#[test]
fn more_orders_than_are_followed_prove_nothing() {
    let sixteen = one_response_among(15);
    let kind = sixteen.deviation().map(|d| d.kind);
    assert_eq!(kind, Some(DeviationKind::UnexpectedResponse), "{sixteen:?}");
    let seventeen = one_response_among(16).verdict;
    assert_eq!(ioco_engine::code_of(&seventeen), Some("I002"));
    assert!(
        matches!(&seventeen, Verdict::Inconclusive(reason) if reason.text.contains("16 orders")),
        "{seventeen:?}"
    );
}

/// Gives these stimuli one after the other without listening, and then ends the test.
struct Gives(Vec<Action>);

impl Guide for Gives {
    fn advise(&mut self, view: View<'_>) -> Advice {
        let given = view.trace.iter();
        let given = given.filter(|s| matches!(s, ioco_sts::Step::Stimulus(_)));
        match self.0.get(given.count()) {
            Some(next) => Advice::Give(next.clone()),
            None => Advice::Reached,
        }
    }
}

/// A test that gives stimuli without listening, each `(name, overtaken)`, and then takes these inputs
/// and nothing more.
fn given(tester: &mut Tester, stimuli: &[(&str, bool)], then: Vec<Input>) -> TestReport {
    let sts = Arc::clone(tester.sts());
    let guide = Gives(
        stimuli
            .iter()
            .map(|(name, _)| stimulus(&sts, name))
            .collect(),
    );
    let mut command = tester.guided_test(Box::new(guide), 0).expect("a test");
    let (mut overtaken, mut then) = (stimuli.iter(), then.into_iter());
    let mut now = 0;
    loop {
        now += 1;
        let input = match command {
            Command::Reset { .. } => Input::Ready,
            Command::Give(_) => Input::Given {
                overtaken: overtaken.next().expect("as many as given").1,
            },
            Command::Await { until } => then.next().unwrap_or_else(|| {
                now = until;
                Input::Silence
            }),
            Command::Finished => return tester.finished_test(),
        };
        command = tester.handle(input, now);
    }
}

#[test]
fn what_has_arrived_is_not_overtaken_any_more() {
    let sts = plain("A !x B\nB ?s C\nC ?t D\nA ?s S\nS ?t T");
    let x = || vec![Input::Response(response(&sts, "x"))];
    for (last_overtaken, fails) in [(true, false), (false, true)] {
        let mut tester = tester(&sts, Settings::default());
        let report = given(&mut tester, &[("s", true), ("t", last_overtaken)], x());
        let deviates = report.execution.deviation().is_some();
        assert_eq!(deviates, fails, "{report:?}");
    }
}

#[test]
fn a_silence_announced_before_a_stimulus_arrived_is_not_taken_for_the_answer_to_it() {
    let sts = plain("A ?s S\nS !y A");
    let mut tester = tester(&sts, Settings::default());
    let report = given(&mut tester, &[("s", true)], vec![Input::Quiescent]);
    let kind = report.execution.deviation().map(|d| d.kind);
    assert_eq!(kind, Some(DeviationKind::MissingResponse), "{report:?}");
}

#[test]
fn what_is_in_flight_is_kept_when_state_sets_are_forgotten() {
    let sts = plain("A !x B\nB ?s T\nT !y End\nA ?s S\nS !z End");
    let settings = Settings {
        remember: 0,
        ..Settings::default()
    };
    for (last, fails) in [("y", false), ("z", true)] {
        let mut tester = tester(&sts, settings.clone());
        let responses = ["x", last].map(|name| Input::Response(response(&sts, name)));
        let report = given(&mut tester, &[("s", true)], responses.into());
        let deviates = report.execution.deviation().is_some();
        assert_eq!(deviates, fails, "{report:?}");
    }
}

#[test]
fn a_strategy_waits_when_eight_stimuli_are_in_flight() {
    let sts = plain("Up ?s Up\nNever !x Never");
    let mut tester = tester(&sts, Settings::default());
    let guide = Gives(vec![stimulus(&sts, "s"); 20]);
    tester.guided_test(Box::new(guide), 0).expect("a test");
    let mut command = tester.handle(Input::Ready, 0);
    let mut in_a_row = Vec::new();
    for now in 1..30 {
        let input = match command {
            Command::Give(_) => {
                in_a_row.push(now);
                Input::Given { overtaken: true }
            }
            _ => break,
        };
        command = tester.handle(input, now);
    }
    assert_eq!(in_a_row.len(), 8);
    assert!(matches!(command, Command::Await { .. }), "{command:?}");
}

/// After `?s` a response is possible whose guard a solver that knows nothing leaves open.
fn open_after_s(before: &str) -> Tester {
    let text = format!(
        "external 'c'
         process('p') {{
           channel('c') {{ stimulus 's'; response 'x'; response 'r', {{'n' => :integer}} }}
           state 'Start'
           choice {{
             o {{ receive 's'; send 'r', constraint: 'n == 4'; goto 'End' }}
             {before}
           }}
           state 'End'
         }}"
    );
    let sts = ioco_aml::load_text("model.aml", &text).sts.expect("right");
    let semantics = Semantics::new(sts, Box::new(EvaluationOnly), Relation::Ioco);
    Tester::new(semantics, Settings::default())
}

#[test]
fn a_silence_that_only_an_open_order_explains_is_no_pass() {
    for (before, code) in [
        // Silent before `?s` arrived.
        ("", None),
        // It had to speak before `?s`, so that it was silent after it, which is not known to be right.
        ("o { send 'x'; goto 'End' }", Some("I005")),
    ] {
        let mut tester = open_after_s(before);
        let four = Action {
            values: vec![Value::Int(4)],
            ..response(tester.sts(), "r")
        };
        let heard = vec![Input::Quiescent, Input::Response(four)];
        let report = given(&mut tester, &[("s", true)], heard);
        let verdict = &report.execution.verdict;
        assert_eq!(ioco_engine::code_of(verdict), code, "{report:?}");
        assert_eq!(*verdict == Verdict::Pass, code.is_none(), "{report:?}");
    }
}

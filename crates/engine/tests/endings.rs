//! When a test ends: never while a response is due, and soon after a limit is reached.

mod common;

use std::sync::Arc;

use common::*;
use ioco_engine::{
    Advice, Command, Guide, Input, Settings, StopConditions, StopReason, StrategyKind, TestReport,
    Tester, View, WaitPolicy,
};
use ioco_solve::GuardSolver;
use ioco_sts::{Action, DeviationKind, Relation, Semantics, Step, Sts, Verdict};

fn settings(strategy: StrategyKind, stop: StopConditions) -> Settings {
    Settings {
        wait: WaitPolicy::suiting(&strategy),
        strategy,
        stop,
        ..Settings::default()
    }
}

fn strategies() -> [StrategyKind; 4] {
    [
        StrategyKind::uniform(),
        StrategyKind::Transitions,
        StrategyKind::Data,
        StrategyKind::Auto,
    ]
}

fn tester_of(sts: &Arc<Sts>, settings: Settings) -> Tester {
    let semantics = Semantics::new(
        Arc::clone(sts),
        Box::new(GuardSolver::new()),
        Relation::Ioco,
    );
    Tester::new(semantics, settings)
}

/// Ten stimuli that must all be answered.
fn ten() -> Arc<Sts> {
    let lines = (0..10).map(|n| format!("Idle ?ask{n} Asked{n}\nAsked{n} !answer Idle\n"));
    plain(&lines.collect::<String>())
}

/// As [`ten`], once only; and a response that never comes keeps the planning strategies busy at the
/// start, so that they end a test wherever nothing new lies ahead.
fn ten_once() -> Arc<Sts> {
    let lines = (0..10).map(|n| format!("Idle ?ask{n} Asked{n}\nAsked{n} !answer Done\n"));
    let rest = "Idle ?go Going\nGoing tau Gone\nGoing !never Gone\n";
    plain(&lines.chain([rest.to_owned()]).collect::<String>())
}

/// Answers all of them but one.
fn deaf_to_one(sts: &Arc<Sts>) -> impl System + use<> {
    let sts = Arc::clone(sts);
    Answers::new(move |given: &[Action]| match given.last() {
        None => Vec::new(),
        Some(last) => match sts.label(last.label).name.as_str() {
            "ask7" | "go" => Vec::new(),
            _ => vec![Input::Response(response(&sts, "answer"))],
        },
    })
}

fn ends_with_a_response_due(sts: &Arc<Sts>, report: &TestReport) -> bool {
    let mut semantics = Semantics::new(
        Arc::clone(sts),
        Box::new(GuardSolver::new()),
        Relation::Ioco,
    );
    let mut set = semantics.initial();
    for step in &report.execution.trace {
        set = semantics.after(set, step).unwrap();
    }
    report.execution.verdict == Verdict::Pass && !semantics.menu(set).silence
}

#[test]
fn no_strategy_ends_a_test_while_a_response_is_due() {
    for (sts, strategy) in [ten(), ten_once()]
        .into_iter()
        .flat_map(|sts| strategies().map(|strategy| (Arc::clone(&sts), strategy)))
    {
        for (steps, total, coverage) in [
            (3, None, None),
            (4, None, None),
            (100, Some(333), None),
            (100, None, Some(35.0)),
        ] {
            let stop = StopConditions {
                tests: Some(200),
                steps_per_test: steps,
                total_steps: total,
                coverage,
                failures: None,
                ..StopConditions::default()
            };
            let mut tester = tester_of(&sts, settings(strategy.clone(), stop));
            let reports = campaign(&mut tester, &mut deaf_to_one(&sts));
            for report in &reports {
                let name = strategy.name();
                assert!(
                    !ends_with_a_response_due(&sts, report),
                    "{name}: {report:?}"
                );
            }
        }
    }
}

#[test]
fn planning_strategies_find_a_missing_response_as_often_as_chance() {
    let sts = ten_once();
    for strategy in strategies() {
        let stop = StopConditions {
            tests: Some(2000),
            steps_per_test: 10,
            failures: None,
            ..StopConditions::default()
        };
        let mut tester = tester_of(&sts, settings(strategy.clone(), stop));
        let reports = campaign(&mut tester, &mut deaf_to_one(&sts));
        let given = |report: &&TestReport| {
            let asked =
                |step: &Step| matches!(step, Step::Stimulus(_)) && step.show(&sts) == "?ask7";
            report.execution.trace.iter().any(asked)
        };
        let asked = reports.iter().filter(given).count();
        let failed = reports.iter().filter(|r| r.execution.deviation().is_some());
        let failed = failed.count();
        let name = strategy.name();
        assert!(asked > 50, "{name}: given in {asked} tests");
        // One time in a while the tester interrupts the system instead.
        assert!(
            failed * 10 >= asked * 9,
            "{name}: {failed} of {asked} tests fail"
        );
    }
}

#[test]
fn no_guide_ends_a_test_while_a_response_is_due() {
    let sts = ten();
    for advice in [
        Advice::End,
        Advice::Reached,
        Advice::Lost("no way".to_owned()),
    ] {
        let mut tester = tester_of(&sts, Settings::default());
        let guide = Box::new(OneOf("ask7", advice.clone()));
        let first = tester.guided_test(guide, 0).unwrap();
        let report = run(&mut tester, first, &mut deaf_to_one(&sts), false, &mut 0);
        let kind = report.execution.deviation().map(|d| d.kind);
        assert_eq!(kind, Some(DeviationKind::MissingResponse), "{advice:?}");
    }
}

#[test]
fn a_script_whose_stimulus_is_not_offered_still_hears_what_is_due() {
    // `?b` is not offered after `?a`, where the system never stops to talk.
    let sts = plain("Idle ?a Talks\nTalks !x Talks\nOther ?b Other");
    let mut tester = tester_of(&sts, Settings::default());
    let script = vec![stimulus(&sts, "a"), stimulus(&sts, "b")];
    let first = tester.script(script, 0);
    let x = response(&sts, "x");
    let mut system = Answers::new(move |given: &[Action]| match given.len() {
        0 => Vec::new(),
        _ => vec![Input::Response(x.clone()); 260],
    });
    let report = run(&mut tester, first, &mut system, false, &mut 0);
    let kind = report.execution.deviation().map(|d| d.kind);
    assert_eq!(kind, Some(DeviationKind::MissingResponse));
}

/// A system that ticks ten times a second.
struct Clock {
    sts: Arc<Sts>,
}

const TICK: u64 = 100 * MILLISECOND;

/// Runs it for one test, in virtual time; returns the time at its end.
fn ticking(tester: &mut Tester, mut command: Command, clock: &Clock, from: u64) -> u64 {
    let mut now = from;
    let mut next = from + TICK;
    loop {
        let input = match command {
            Command::Reset { .. } => Input::Ready,
            Command::Give(_) => Input::Given { overtaken: false },
            Command::Await { until } if next <= until => {
                now = next;
                next += TICK;
                Input::Response(response(&clock.sts, "tick"))
            }
            Command::Await { until } => {
                now = until;
                Input::Silence
            }
            Command::Finished => return now,
        };
        command = tester.handle(input, now);
        assert!(now < from + 60_000 * MILLISECOND, "the test does not end");
    }
}

#[test]
fn a_limit_on_time_ends_a_test_of_a_system_that_never_stops_talking() {
    let sts = plain("Up !tick Up\nUp ?poke Up");
    let clock = Clock {
        sts: Arc::clone(&sts),
    };
    for strategy in strategies() {
        let stop = StopConditions {
            steps_per_test: 1_000_000,
            time: Some(1000 * MILLISECOND),
            tests: None,
            ..StopConditions::default()
        };
        let mut tester = tester_of(&sts, settings(strategy, stop));
        let first = tester.next_test(0).unwrap();
        let ended = ticking(&mut tester, first, &clock, 0);
        // A few responses more are listened to while one is due.
        assert!(ended <= 1000 * MILLISECOND + 20 * TICK, "{ended}");
        assert_eq!(tester.next_test(ended), None);
        assert_eq!(tester.stop_reason(), Some(StopReason::Time));
    }
}

#[test]
fn a_limit_on_time_also_ends_what_is_written_down_and_says_so() {
    let sts = plain("Up !tick Up\nUp ?poke Up");
    let clock = Clock {
        sts: Arc::clone(&sts),
    };
    let stop = StopConditions {
        time: Some(1000 * MILLISECOND),
        tests: None,
        ..StopConditions::default()
    };
    let mut tester = tester_of(&sts, settings(StrategyKind::uniform(), stop));
    let first = tester.scripted_test(vec![stimulus(&sts, "poke"); 100], 0);
    let ended = ticking(&mut tester, first, &clock, 0);
    assert!(ended <= 1000 * MILLISECOND + 20 * TICK, "{ended}");
    let verdict = tester.finished_test().execution.verdict;
    assert_eq!(ioco_engine::code_of(&verdict), Some("I003"), "{verdict:?}");
    // Shrinking and replay do not count towards the run, and have limits of their own.
    let first = tester.script(vec![stimulus(&sts, "poke")], ended);
    let later = ticking(&mut tester, first, &clock, ended);
    assert!(later > ended + 100 * TICK);
    assert_eq!(tester.finished_test().execution.verdict, Verdict::Pass);
}

#[test]
fn a_limit_on_time_does_not_wait_for_a_silence_that_nobody_needs() {
    let sts = Arc::new(plain("Idle ?a Idle\nNever !x Never").with_timeout(3_600_000 * MILLISECOND));
    let stop = StopConditions {
        time: Some(1000 * MILLISECOND),
        tests: None,
        ..StopConditions::default()
    };
    let mut tester = tester_of(&sts, settings(StrategyKind::uniform(), stop));
    let mut now = 0;
    while let Some(first) = tester.next_test(now) {
        let report = run(
            &mut tester,
            first,
            &mut Answers::new(|_| Vec::new()),
            false,
            &mut now,
        );
        assert_eq!(report.execution.verdict, Verdict::Pass);
    }
    assert!(now < 1100 * MILLISECOND, "{now}");
}

#[test]
fn a_limit_on_time_ends_the_wait_for_a_silence_that_never_comes() {
    // After `?go` it may tick, or not.
    let sts = plain("Idle ?go Up\nUp !tick Up\nUp tau Rest");
    let clock = Clock {
        sts: Arc::clone(&sts),
    };
    let stop = StopConditions {
        time: Some(1000 * MILLISECOND),
        ..StopConditions::default()
    };
    let mut tester = tester_of(&sts, settings(StrategyKind::uniform(), stop));
    let first = tester.scripted_test(vec![stimulus(&sts, "go")], 0);
    let ended = ticking(&mut tester, first, &clock, 0);
    assert!(ended <= 1000 * MILLISECOND, "{ended}");
    assert_eq!(tester.finished_test().execution.verdict, Verdict::Pass);
}

/// The end of the first wait of a script, begun when the run has so much time left.
fn first_wait(left: u64, counts: bool) -> (Tester, u64) {
    let sts = plain("Idle ?go Up\nUp !tick Up\nUp tau Rest\nRest ?go Rest");
    let timeout = sts.timeout();
    let stop = StopConditions {
        time: Some(10 * timeout),
        ..StopConditions::default()
    };
    let mut tester = tester_of(&sts, settings(StrategyKind::uniform(), stop));
    let from = 10 * timeout - left;
    tester.end_run(0);
    let script = vec![stimulus(&sts, "go"); 2];
    match counts {
        true => tester.scripted_test(script, from),
        false => tester.script(script, from),
    };
    tester.handle(Input::Ready, from);
    match tester.handle(Input::Given { overtaken: false }, from) {
        Command::Await { until } => (tester, until - from),
        other => panic!("{other:?}"),
    }
}

#[test]
fn silence_counts_where_the_time_of_the_run_is_enough_for_it() {
    let timeout = plain("A ?a A").timeout();
    for (left, counts, waits, judged) in [
        (timeout - 1, true, timeout - 1, false),
        (timeout, true, timeout, true),
        // A script that does not count has all the time that it needs.
        (timeout - 1, false, timeout, true),
    ] {
        let (mut tester, waited) = first_wait(left, counts);
        assert_eq!(waited, waits);
        tester.handle(Input::Silence, 10 * timeout);
        let silent = tester.trace().contains(&Step::Quiescence);
        assert_eq!(silent, judged, "{left} {counts}");
    }
}

#[test]
fn a_test_of_a_suite_is_not_cut_short_by_its_length_or_by_coverage() {
    let sts = plain("Idle ?poke Idle\nNever !tick Never");
    let stop = StopConditions {
        steps_per_test: 1,
        coverage: Some(0.0),
        ..StopConditions::default()
    };
    let mut tester = tester_of(&sts, settings(StrategyKind::uniform(), stop));
    let first = tester.scripted_test(vec![stimulus(&sts, "poke"); 3], 0);
    let mut silent = Answers::new(|_| Vec::new());
    let report = run(&mut tester, first, &mut silent, false, &mut 0);
    assert_eq!(report.execution.verdict, Verdict::Pass);
    assert_eq!(report.execution.stimuli().count(), 3);
}

#[test]
fn a_script_looks_for_a_response_that_is_not_allowed_unless_configured_not_to() {
    let sts = plain("Idle ?poke Idle\nNever !tick Never");
    for shortest_wait in [0, 1] {
        let settings = Settings {
            shortest_wait,
            ..Settings::default()
        };
        let mut tester = tester_of(&sts, settings);
        tester.script(vec![stimulus(&sts, "poke"); 2], 0);
        tester.handle(Input::Ready, 0);
        let next = tester.handle(Input::Given { overtaken: false }, 0);
        let expected = match shortest_wait {
            0 => Command::Give(stimulus(&sts, "poke")),
            _ => Command::Await {
                until: shortest_wait,
            },
        };
        assert_eq!(next, expected);
    }
}

#[test]
fn a_test_that_begins_with_given_stimuli_goes_on_by_the_strategy() {
    let sts = plain("A ?first B\nB ?second C\nC ?third C\nNever ?not Never\nNever !x Never");
    let stop = StopConditions {
        steps_per_test: 20,
        ..StopConditions::default()
    };
    let settings = settings(StrategyKind::uniform(), stop);
    for beginning in [&["first", "second"][..], &["first", "not"], &["not"], &[]] {
        let mut tester = tester_of(&sts, settings.clone());
        let stimuli = beginning.iter().map(|name| stimulus(&sts, name)).collect();
        let first = tester.next_test_after(stimuli, 0).expect("a test");
        let mut silent = Answers::new(|_| Vec::new());
        let report = run(&mut tester, first, &mut silent, false, &mut 0);
        assert_eq!(report.execution.verdict, Verdict::Pass, "{beginning:?}");
        let given: Vec<String> = report
            .execution
            .stimuli()
            .map(|s| s.show(&sts).to_string())
            .collect();
        assert!(given.len() > 5, "{beginning:?}: {given:?}");
        assert_eq!(given[..3], ["?first", "?second", "?third"]);
    }
}

#[test]
fn failures_that_are_discounted_do_not_use_up_the_limit() {
    let lines = (0..10).map(|n| format!("Idle ?ask{n} Asked{n}\nAsked{n} !answer{n} Idle\n"));
    let sts = plain(&lines.collect::<String>());
    let stop = StopConditions {
        tests: Some(1000),
        failures: Some(2),
        ..StopConditions::default()
    };
    let mut tester = tester_of(&sts, settings(StrategyKind::uniform(), stop));
    let mut silent = Answers::new(|_: &[Action]| Vec::new());
    let (mut now, mut left) = (0, 3);
    while let Some(command) = tester.next_test(now) {
        let report = run(&mut tester, command, &mut silent, false, &mut now);
        if report.is_new_failure && left > 0 {
            tester.discount_failure();
            left -= 1;
        }
    }
    assert_eq!(tester.stop_reason(), Some(StopReason::Failures));
    assert_eq!(tester.failures().len(), 5);
}

#[test]
fn a_guide_may_lead_one_test_or_all() {
    let sts = ten();
    let mut tester = tester_of(&sts, Settings::default());
    let asks = |tester: &mut Tester, first: Command, number: u64| {
        let report = run(tester, first, &mut deaf_to_one(&sts), false, &mut 0);
        assert_eq!(report.number, number);
        report.execution.trace[0].show(&sts)
    };
    for number in [1, 2] {
        let guide = Box::new(OneOf("ask3", Advice::End));
        let first = tester.guided_test(guide, 0).unwrap();
        assert_eq!(asks(&mut tester, first, number), "?ask3");
    }
    tester.set_guide(Box::new(OneOf("ask4", Advice::End)));
    for number in [3, 4] {
        let first = tester.next_test(0).unwrap();
        assert_eq!(asks(&mut tester, first, number), "?ask4");
    }
}

#[test]
fn a_guide_says_itself_when_to_wait() {
    let sts = plain("Idle ?press Idle");
    let settings = Settings {
        wait: WaitPolicy::Worthwhile { share: 1.0 },
        ..Settings::default()
    };
    let mut tester = tester_of(&sts, settings);
    let press = || Box::new(OneOf("press", Advice::End));
    let mut silent = Answers::new(|_: &[Action]| Vec::new());
    let first = tester.guided_test(press(), 0).unwrap();
    run(&mut tester, first, &mut silent, false, &mut 0);
    assert_eq!(tester.silence_price().waited, 0);
    tester.set_guide(press());
    let first = tester.next_test(0).unwrap();
    run(&mut tester, first, &mut silent, false, &mut 0);
    assert_eq!(tester.silence_price().waited, 0);
}

/// Searches until somebody interrupts it.
struct Endless;

impl Guide for Endless {
    fn advise(&mut self, view: View<'_>) -> Advice {
        while !view.interrupt.is_raised() {}
        Advice::Chance
    }
}

#[test]
fn a_guide_that_searches_is_interrupted() {
    let sts = ten();
    let mut tester = tester_of(&sts, Settings::default());
    let interrupt = ioco_budget::Interrupt::default();
    tester.interrupted_by(interrupt.clone());
    let first = tester.guided_test(Box::new(Endless), 0).unwrap();
    interrupt.raise();
    let report = run(&mut tester, first, &mut deaf_to_one(&sts), false, &mut 0);
    assert_eq!(
        ioco_engine::code_of(&report.execution.verdict),
        Some("I003")
    );
    assert_eq!(tester.next_test(1), None);
    assert_eq!(tester.stop_reason(), Some(StopReason::Interrupted));
}

#[test]
fn what_a_test_may_have_left_behind_is_let_go_before_the_next() {
    let sts = plain(
        "Idle ?ask Asked\nAsked !answer Idle\nIdle ?maybe Maybe\nMaybe tau Idle\nMaybe !answer Idle",
    );
    let timeout = sts.timeout();
    let drain = |advice: Advice, name: &'static str, answers: bool| {
        let mut tester = tester_of(&sts, Settings::default());
        let guide = Box::new(OneOf(name, advice));
        let first = tester.guided_test(guide, 0).unwrap();
        assert_eq!(first, Command::Reset { drain: 0 });
        let answer = response(&sts, "answer");
        let mut system = Answers::new(move |given: &[Action]| match given.len() {
            1 if answers => vec![Input::Response(answer.clone())],
            _ => Vec::new(),
        });
        run(&mut tester, first, &mut system, false, &mut 0);
        match tester.script(Vec::new(), 0) {
            Command::Reset { drain } => drain,
            other => panic!("{other:?}"),
        }
    };
    // A missing response may come late.
    assert_eq!(drain(Advice::End, "ask", false), timeout);
    assert_eq!(drain(Advice::End, "ask", true), 0);
    // The response that may come was not waited for, or silence was seen.
    assert_eq!(drain(Advice::End, "maybe", false), timeout);
    assert_eq!(drain(Advice::Reached, "maybe", false), 0);
}

/// Waits for a response that it wants, whatever comes.
struct Waits;

impl Guide for Waits {
    fn advise(&mut self, _: View<'_>) -> Advice {
        Advice::Listen
    }

    fn unfinished(&self) -> Option<String> {
        Some("what was wanted did not come".to_owned())
    }
}

#[test]
fn a_guide_that_waits_in_vain_has_not_reached_its_goal() {
    // Silence is allowed, and the response that the guide wants stays possible after it.
    let sts = plain("Idle tau Idle\nIdle !answer Idle");
    let mut tester = tester_of(&sts, Settings::default());
    let first = tester.guided_test(Box::new(Waits), 0).unwrap();
    let mut system = Answers::new(|_: &[Action]| Vec::new());
    let report = run(&mut tester, first, &mut system, false, &mut 0);
    assert_eq!(report.execution.trace, [Step::Quiescence]);
    let lost = Verdict::inconclusive(ioco_sts::Cause::GoalMissed, "what was wanted did not come");
    assert_eq!(report.execution.verdict, lost);
}

/// Gives this stimulus and then says this.
struct OneOf(&'static str, Advice);

impl Guide for OneOf {
    fn advise(&mut self, view: View<'_>) -> Advice {
        match view.trace {
            [] => Advice::Give(stimulus(view.sts, self.0)),
            _ => self.1.clone(),
        }
    }
}

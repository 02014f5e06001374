//! What a run says about itself: its numbers, its events and the reports of its tests.

mod common;

use std::sync::Arc;

use common::*;
use ioco_engine::{
    Command, Event, EventLevel, FailureId, Input, Settings, StopConditions, StopReason, Summary,
    TestReport, Tester,
};
use ioco_sts::{Action, Sts, Verdict};

const ASK: &str = "Idle ?ask Asked\nAsked !answer Idle\nIdle ?go Gone\nGone !other Idle";

fn settings(events: EventLevel) -> Settings {
    Settings {
        seed: 5,
        events,
        stop: StopConditions {
            failures: None,
            errors: None,
            ..StopConditions::default()
        },
        ..Settings::default()
    }
}

/// One test, begun at `from`: the system is ready 10 later, and each input comes 1 after the other.
fn take(tester: &mut Tester, first: Command, from: u64, inputs: Vec<Input>) -> TestReport {
    assert!(matches!(first, Command::Reset { .. }), "{first:?}");
    let mut command = tester.handle(Input::Ready, from + 10);
    for (now, input) in (from + 11..).zip(inputs) {
        assert_ne!(command, Command::Finished);
        command = tester.handle(input, now);
    }
    assert_eq!(command, Command::Finished);
    tester.finished_test()
}

fn given() -> Input {
    Input::Given { overtaken: false }
}

/// A test that passes, three that fail, two of them alike, an error and a test that is interrupted;
/// and in between a script, which does not count.
fn suite(sts: &Arc<Sts>, events: EventLevel) -> (Tester, Vec<TestReport>) {
    let mut tester = tester(sts, settings(events));
    let ask = || vec![stimulus(sts, "ask")];
    let answer = || Input::Response(response(sts, "answer"));
    let silent = || Input::Silence;
    let mut reports = Vec::new();
    let tests: [(Vec<Action>, Vec<Input>); 5] = [
        (ask(), vec![given(), answer(), silent()]),
        (ask(), vec![given(), silent()]),
        (ask(), vec![given(), answer(), answer()]),
        (ask(), vec![given(), silent()]),
        (ask(), vec![given(), Input::AdapterError("gone".to_owned())]),
    ];
    for (number, (stimuli, inputs)) in (1..).zip(tests) {
        if number == 2 {
            tester.name_next("the answer comes".to_owned());
        }
        let from = number * 1000;
        let first = tester.scripted_test(stimuli, from);
        assert_eq!(tester.test_number(), number);
        reports.push(take(&mut tester, first, from, inputs));
        let first = tester.script(ask(), from + 500);
        let script = take(&mut tester, first, from + 500, vec![given(), silent()]);
        assert_eq!(script.number, number);
        assert!(!script.is_new_failure);
        assert_eq!(script.name, None);
    }
    let first = tester.scripted_test(vec![stimulus(sts, "go"); 2], 6000);
    let other = Input::Response(response(sts, "other"));
    let twice = vec![
        given(),
        other.clone(),
        silent(),
        given(),
        Input::Interrupted,
    ];
    reports.push(take(&mut tester, first, 6000, twice));
    tester.end_run(7000);
    (tester, reports)
}

#[test]
fn the_numbers_of_a_run_are_those_of_its_tests() {
    let sts = plain(ASK);
    let (tester, _) = suite(&sts, EventLevel::Tests);
    let expected = Summary {
        seed: 5,
        tests: 6,
        restarts: 0,
        passed: 1,
        failed: 3,
        inconclusive: 1,
        errors: 1,
        distinct_failures: 2,
        stimuli: 7,
        responses: 3,
        silences: 1,
        // From the first test at 1000.
        duration: 5015,
        locations: 3,
        covered_locations: 3,
        switches: 4,
        covered_switches: 4,
        boundaries: 0,
        covered_boundaries: 0,
        requirements: 0,
        covered_requirements: 0,
        stopped: Some(StopReason::Interrupted),
        silence: None,
    };
    assert_eq!(tester.summary(), expected);
    let failures = tester.failures().iter();
    let failures: Vec<_> = failures.map(|f| (f.id, f.test, f.times_seen)).collect();
    assert_eq!(failures, [(FailureId(0), 2, 2), (FailureId(1), 3, 1)]);
}

#[test]
fn a_report_says_which_failure_was_seen_and_when() {
    let sts = plain(ASK);
    let (_, reports) = suite(&sts, EventLevel::None);
    let failures: Vec<_> = reports
        .iter()
        .map(|r| (r.failure, r.is_new_failure))
        .collect();
    let [first, second] = [FailureId(0), FailureId(1)];
    assert_eq!(
        failures,
        [
            (None, false),
            (Some(first), true),
            (Some(second), true),
            (Some(first), false),
            (None, false),
            (None, false),
        ]
    );
    let times: Vec<_> = reports
        .iter()
        .map(|r| (r.times.clone(), r.duration))
        .collect();
    assert_eq!(times[0], (vec![1, 2, 3], 3));
    // One time more than steps: that of the deviation.
    assert_eq!(times[1], (vec![1, 2], 2));
    assert_eq!(times[2], (vec![1, 2, 3], 3));
    let names: Vec<_> = reports.iter().map(|r| r.name.as_deref()).collect();
    assert_eq!(names[..3], [None, Some("the answer comes"), None]);
    let verdict = &reports[4].execution.verdict;
    assert_eq!(*verdict, Verdict::unusable("gone"));
}

/// An event in a few words.
fn shown(event: &Event) -> String {
    match event {
        Event::RunStarted {
            model,
            locations,
            switches,
            at,
            ..
        } => format!("run of {model}, {locations} locations, {switches} switches at {at}"),
        Event::TestStarted { test, name, at, .. } => format!("test {test} {name:?} at {at}"),
        Event::StepTaken { test, step, at, .. } => format!("step {step} of {test} at {at}"),
        Event::TestFinished {
            test,
            steps,
            duration,
            at,
            ..
        } => format!("finished {test}, {steps} steps in {duration} at {at}"),
        Event::FailureFound { test, failure, .. } => format!("failure {} in {test}", failure.0),
        Event::CoverageGrew {
            test,
            covered_switches,
            covered_locations,
            ..
        } => format!("{test} covers {covered_switches} switches, {covered_locations} locations"),
        Event::RunFinished { summary } => format!("end after {} tests", summary.tests),
    }
}

#[test]
fn events_report_what_happened_in_order() {
    let sts = plain(ASK);
    let (mut tester, reports) = suite(&sts, EventLevel::Steps);
    let events = tester.take_events();
    let told: Vec<String> = events.iter().map(shown).collect();
    let expected = [
        "run of plain, 3 locations, 4 switches at 1000",
        "test 1 None at 1000",
        "step 1 of 1 at 1011",
        "step 2 of 1 at 1012",
        "step 3 of 1 at 1013",
        "finished 1, 3 steps in 3 at 1013",
        "1 covers 2 switches, 2 locations",
        "test 2 Some(\"the answer comes\") at 2000",
        "step 1 of 2 at 2011",
        "finished 2, 1 steps in 2 at 2012",
        "failure 0 in 2",
        "test 3 None at 3000",
        "step 1 of 3 at 3011",
        "step 2 of 3 at 3012",
        "finished 3, 2 steps in 3 at 3013",
        "failure 1 in 3",
        "test 4 None at 4000",
        "step 1 of 4 at 4011",
        "finished 4, 1 steps in 2 at 4012",
        "test 5 None at 5000",
        "step 1 of 5 at 5011",
        "finished 5, 1 steps in 2 at 5012",
        "test 6 None at 6000",
        "step 1 of 6 at 6011",
        "step 2 of 6 at 6012",
        // At 6013 it looked whether something comes that the model does not allow: no step.
        "step 3 of 6 at 6014",
        "finished 6, 3 steps in 5 at 6015",
        "6 covers 4 switches, 3 locations",
        "end after 6 tests",
    ];
    assert_eq!(told, expected);
    let seeds: Vec<u64> = events
        .iter()
        .filter_map(|event| match event {
            Event::TestFinished { seed, .. } => Some(*seed),
            _ => None,
        })
        .collect();
    assert_eq!(seeds, reports.iter().map(|r| r.seed).collect::<Vec<_>>());
    assert_eq!(tester.take_events(), []);
}

#[test]
fn events_of_steps_are_emitted_only_on_request() {
    let sts = plain(ASK);
    let (mut tester, _) = suite(&sts, EventLevel::Tests);
    let events = tester.take_events();
    let step = |event: &&Event| matches!(event, Event::StepTaken { .. });
    assert_eq!(events.iter().filter(step).count(), 0);
    let finished = |event: &&Event| matches!(event, Event::TestFinished { .. });
    assert_eq!(events.iter().filter(finished).count(), 6);
    let (mut tester, _) = suite(&sts, EventLevel::None);
    assert_eq!(tester.take_events(), []);
}

#[test]
fn a_test_under_way_shows_its_steps() {
    let sts = plain(ASK);
    let mut tester = tester(&sts, settings(EventLevel::None));
    assert_eq!(tester.settings().seed, 5);
    tester.script(vec![stimulus(&sts, "ask")], 0);
    tester.handle(Input::Ready, 1);
    assert_eq!(tester.trace(), []);
    tester.handle(given(), 2);
    tester.handle(Input::Response(response(&sts, "answer")), 3);
    let shown: Vec<String> = tester.trace().iter().map(|s| s.show(&sts)).collect();
    assert_eq!(shown, ["?ask", "!answer"]);
}

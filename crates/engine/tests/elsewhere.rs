//! Tests that one tester orders and another one carries out.

mod common;

use std::collections::BTreeSet;
use std::sync::Arc;

use common::*;
use ioco_engine::{
    Bits, Carried, Conditions, Coverage, Covered, Event, EventLevel, Input, SavedStep, Settings,
    StopConditions, StrategyKind, TestContext, TestReport, Tester, WaitPolicy, test_seed,
};
use ioco_sts::{Step, Sts, SwitchId};

const ROOMS: &str = "A ?a A\nA ?b A\nA ?c B\nB !x A\nA ?d C\nC !y A\nC !z C";

fn rooms() -> Answers<impl FnMut(&[ioco_sts::Action]) -> Vec<Input>> {
    let sts = plain(ROOMS);
    Answers::new(move |given| match given.last() {
        Some(last) if *last == stimulus(&sts, "c") => vec![Input::Response(response(&sts, "x"))],
        // Every third time it is wrong.
        Some(last) if *last == stimulus(&sts, "d") && given.len() % 3 == 0 => {
            vec![Input::Response(response(&sts, "x"))]
        }
        Some(last) if *last == stimulus(&sts, "d") => vec![Input::Response(response(&sts, "y"))],
        _ => Vec::new(),
    })
}

fn settings(strategy: StrategyKind) -> Settings {
    Settings {
        seed: 3,
        strategy,
        stop: StopConditions {
            tests: Some(20),
            steps_per_test: 8,
            failures: None,
            ..StopConditions::default()
        },
        ..Settings::default()
    }
}

/// A tester that carries out what others order.
fn worker(sts: &Arc<Sts>, strategy: StrategyKind) -> Tester {
    let mut settings = settings(strategy);
    settings.stop.tests = None;
    settings.events = EventLevel::None;
    tester(sts, settings)
}

fn carry_out(worker: &mut Tester, context: &TestContext<'_>) -> (TestReport, Covered) {
    worker.prepare(context).expect("the same model");
    let mut now = 0;
    let command = worker.next_test(now).expect("a test");
    let report = run(worker, command, &mut rooms(), false, &mut now);
    (report, worker.coverage().covered_items())
}

fn carried(report: TestReport, covered: Covered) -> Carried {
    Carried {
        number: report.number,
        seed: report.seed,
        name: report.name,
        execution: report.execution,
        times: report.times,
        duration: report.duration,
        covered,
        lessons: Vec::new(),
    }
}

#[test]
fn a_test_that_was_carried_out_elsewhere_counts_as_one_of_our_own() {
    let sts = plain(ROOMS);
    let mut alone = tester(&sts, settings(StrategyKind::uniform()));
    let own = campaign(&mut alone, &mut rooms());
    let mut coordinator = tester(&sts, settings(StrategyKind::uniform()));
    let mut worker = worker(&sts, StrategyKind::uniform());
    for number in 1..=20 {
        let known = coordinator.coverage().map(number);
        let nobody = Bits::default();
        let context = TestContext {
            number,
            known: &known,
            aim: &Bits::default(),
            reserved: &nobody,
            lessons: &[],
            steps: 8,
            time: None,
        };
        assert!(!coordinator.is_over(0));
        let (report, covered) = carry_out(&mut worker, &context);
        assert_eq!(report.seed, test_seed(3, number));
        let absorbed = coordinator.absorb(carried(report, covered), 1_000_000_000 * number);
        let absorbed = absorbed.expect("the same model");
        let expected = &own[number as usize - 1];
        assert_eq!(absorbed.execution, expected.execution, "test {number}");
        assert_eq!(absorbed.failure, expected.failure, "test {number}");
        assert_eq!(absorbed.is_new_failure, expected.is_new_failure);
    }
    assert!(coordinator.is_over(0), "all tests are done");
    coordinator.end_run(0);
    assert_eq!(coordinator.coverage(), alone.coverage());
    let mut summary = coordinator.summary();
    summary.duration = alone.summary().duration;
    assert_eq!(summary, alone.summary());
    assert!(summary.distinct_failures > 0, "something failed");
    let names = |tester: &mut Tester| -> Vec<String> {
        let events = tester.take_events().into_iter();
        let json = events.map(|event| serde_json::to_value(event).expect("JSON"));
        json.map(|event| event["event"].to_string()).collect()
    };
    assert_eq!(names(&mut coordinator), names(&mut alone));
}

#[test]
fn the_steps_of_a_test_that_ran_elsewhere_are_reported_one_by_one() {
    let sts = plain(ROOMS);
    let mut settings = settings(StrategyKind::uniform());
    settings.events = EventLevel::Steps;
    let mut coordinator = tester(&sts, settings);
    let known = Coverage::new(&sts).map(0);
    let context = TestContext {
        number: 1,
        known: &known,
        aim: &Bits::default(),
        reserved: &Bits::default(),
        lessons: &[],
        steps: 8,
        time: None,
    };
    let (report, covered) = carry_out(&mut worker(&sts, StrategyKind::uniform()), &context);
    let (trace, times) = (report.execution.trace.clone(), report.times.clone());
    let later = 1_000_000_000;
    coordinator
        .absorb(carried(report, covered), later)
        .expect("the same model");
    let told = coordinator.take_events().into_iter();
    let told: Vec<(u64, u64)> = told
        .filter_map(|event| match event {
            Event::StepTaken { step, at, .. } => Some((step, at)),
            _ => None,
        })
        .collect();
    assert!(trace.len() > 1);
    assert_eq!(told.len(), trace.len());
    let begun = told[0].1 - times[0];
    let expected = times.iter().map(|time| begun + time);
    assert_eq!(told, (1..).zip(expected).collect::<Vec<_>>());
}

#[test]
fn an_errand_gives_the_same_test_whatever_the_worker_did_before() {
    let sts = plain(ROOMS);
    let known = Coverage::new(&sts).map(0);
    let nobody = Bits::default();
    let context = |number| TestContext {
        number,
        known: &known,
        aim: &nobody,
        reserved: &nobody,
        lessons: &[(3, 5)],
        steps: 8,
        time: None,
    };
    for strategy in [StrategyKind::uniform(), StrategyKind::Transitions] {
        let fresh = carry_out(&mut worker(&sts, strategy.clone()), &context(9));
        let mut used = worker(&sts, strategy);
        for number in 1..9 {
            carry_out(&mut used, &context(number));
        }
        assert_eq!(fresh, carry_out(&mut used, &context(9)));
    }
}

#[test]
fn a_worker_knows_the_seed_and_the_lessons_of_its_errand_and_no_others() {
    let sts = plain(ROOMS);
    let known = Coverage::new(&sts).map(0);
    let nobody = Bits::default();
    let mut worker = worker(&sts, StrategyKind::Transitions);
    // Switch 99 is none of this model.
    for (given, kept) in [
        (&[(3, 5), (1, 2), (99, 1)][..], &[(1, 2), (3, 5)][..]),
        (&[], &[]),
    ] {
        let context = TestContext {
            number: 7,
            known: &known,
            aim: &Bits::default(),
            reserved: &nobody,
            lessons: given,
            steps: 8,
            time: None,
        };
        worker.prepare(&context).expect("the same model");
        assert_eq!(worker.lessons(), kept);
        let summary = worker.summary();
        assert_eq!((summary.seed, summary.tests), (3, 6));
    }
}

#[test]
fn switches_that_others_go_for_are_left_to_them_while_others_are_open() {
    let sts = plain("A ?a A\nA ?b A\nA ?c A\nA ?d A\nA ?e A\nA ?f A");
    let known = Coverage::new(&sts).map(0);
    let given = |reserved: &[u32], number: u64, steps: u64| -> Vec<String> {
        let reserved: BTreeSet<u32> = reserved.iter().copied().collect();
        let reserved = Bits::of_numbers(&reserved, 6);
        let context = TestContext {
            number,
            known: &known,
            aim: &Bits::default(),
            reserved: &reserved,
            lessons: &[],
            steps,
            time: None,
        };
        let mut worker = worker(&sts, StrategyKind::Transitions);
        worker.prepare(&context).expect("the same model");
        let mut now = 0;
        let command = worker.next_test(now).expect("a test");
        let mut silent = Answers::new(|_| Vec::new());
        let report = run(&mut worker, command, &mut silent, false, &mut now);
        let actions = report.execution.trace.iter().filter_map(Step::action);
        actions.map(|a| sts.label(a.label).name.clone()).collect()
    };
    let first = |reserved: &[u32], number| given(reserved, number, 1).concat();
    let count = |reserved: &[u32]| (1..=40).filter(|n| first(reserved, *n) == "e").count();
    // One step in twelve is left to chance.
    let (own, any) = (count(&[0, 1, 2, 3, 5]), count(&[]));
    assert!(own >= 30, "{own} of 40");
    assert!(any <= 20, "{any} of 40");
    assert!(
        count(&[0, 1, 2, 3, 4, 5]) <= 20,
        "all reserved means none is"
    );
    // With the own one done, the others are open in the same test.
    let is_whole = |number: &u64| {
        let given: BTreeSet<String> = given(&[0, 1, 2, 3, 5], *number, 12).into_iter().collect();
        given.len() == 6
    };
    let whole = (1..=40).filter(is_whole).count();
    assert!(whole >= 30, "{whole} of 40");
}

/// A chain of rooms with a side door each, numbered in the order of the model.
const CHAIN: &str = "A ?a B\nA ?b A\nB ?c C\nB ?d B\nC ?e A\nC ?f C";

#[test]
fn a_tour_is_the_walk_of_one_test_and_leaves_out_the_tours_of_others() {
    let sts = plain(CHAIN);
    let tester = worker(&sts, StrategyKind::Transitions);
    let numbers = |others: &[usize], steps: u64| -> BTreeSet<usize> {
        let others = others.iter().map(|index| SwitchId::from_index(*index));
        let tour = tester.tour(&others.collect(), steps);
        tour.into_iter().map(SwitchId::index).collect()
    };
    assert_eq!(numbers(&[], 12), BTreeSet::from([0, 1, 2, 3, 4, 5]));
    // As long as the test, and no longer.
    assert_eq!(numbers(&[], 2).len(), 2);
    // It passes through what others go for, and goes for the rest.
    assert_eq!(numbers(&[0, 1, 2], 2), BTreeSet::from([3]));
    assert_eq!(numbers(&[0, 1, 2, 3, 4], 3), BTreeSet::from([5]));
    assert_eq!(numbers(&[0, 1, 2, 3, 4, 5], 3), BTreeSet::new());
    let random = worker(&sts, StrategyKind::uniform());
    assert_eq!(random.tour(&BTreeSet::new(), 6), []);
}

#[test]
fn a_worker_follows_its_tour_and_passes_by_what_is_nearer() {
    let sts = plain(CHAIN);
    let known = Coverage::new(&sts).map(0);
    let bits = |numbers: &[u32]| Bits::of_numbers(&numbers.iter().copied().collect(), 6);
    let (aim, reserved) = (bits(&[5]), bits(&[0, 1, 3]));
    let follows = |number: &u64| {
        let context = TestContext {
            number: *number,
            known: &known,
            aim: &aim,
            reserved: &reserved,
            lessons: &[],
            steps: 3,
            time: None,
        };
        let mut worker = worker(&sts, StrategyKind::Transitions);
        worker.prepare(&context).expect("the same model");
        let mut now = 0;
        let command = worker.next_test(now).expect("a test");
        let mut silent = Answers::new(|_| Vec::new());
        let report = run(&mut worker, command, &mut silent, false, &mut now);
        let actions = report.execution.trace.iter().filter_map(Step::action);
        actions
            .map(|a| sts.label(a.label).name.as_str())
            .collect::<String>()
            == "acf"
    };
    let followed = (1..=40).filter(follows).count();
    // One step in twelve is left to chance.
    assert!(followed >= 25, "{followed} of 40");
}

#[test]
fn an_aim_at_switches_of_another_model_is_refused() {
    let sts = plain(CHAIN);
    let known = Coverage::new(&sts).map(0);
    let far = Bits::of_numbers(&BTreeSet::from([40]), 41);
    let nobody = Bits::default();
    for (aim, reserved) in [(&far, &nobody), (&nobody, &far)] {
        let context = TestContext {
            number: 1,
            known: &known,
            aim,
            reserved,
            lessons: &[],
            steps: 3,
            time: None,
        };
        let mut worker = worker(&sts, StrategyKind::Transitions);
        assert!(worker.prepare(&context).is_err());
    }
}

#[test]
fn coverage_of_another_model_is_refused_and_changes_nothing() {
    let sts = plain(ROOMS);
    let mut coverage = Coverage::new(&sts);
    let foreign = Covered {
        switches: vec![(99, 1)],
        ..Covered::default()
    };
    assert!(coverage.add(&foreign).is_err());
    assert_eq!(coverage, Coverage::new(&sts));
    let other = Coverage::new(&plain(
        "A ?a B\nB ?b A\nA ?c B\nB ?d A\nA ?e A\nA ?f A\nA ?g A\nA ?h A\nA ?i A",
    ));
    assert!(coverage.as_in(&other.map(0)).is_err());
}

#[test]
fn a_map_says_what_is_covered_and_reads_back() {
    let sts = plain(ROOMS);
    let mut coverage = Coverage::new(&sts);
    let some = Covered {
        locations: vec![0, 2],
        switches: vec![(0, 4), (5, 1)],
        boundaries: Vec::new(),
    };
    coverage.add(&some).expect("fits");
    let text = serde_json::to_string(&coverage.map(7)).expect("JSON");
    let map = serde_json::from_str(&text).expect("a map");
    let back = Coverage::new(&sts).as_in(&map).expect("fits");
    assert_eq!(back.covered_switches(), 2);
    assert_eq!(back.covered_locations(), 2);
    let open: Vec<usize> = back.open_switches().map(|switch| switch.index()).collect();
    assert_eq!(open, [1, 2, 3, 4, 6]);
    assert_eq!(coverage.covered_items(), some);
}

#[test]
fn a_test_that_is_repeated_waits_for_silence_where_it_did() {
    let sts = plain(ROOMS);
    let strategy = StrategyKind::Auto;
    let mut settings = settings(strategy.clone());
    settings.stop.tests = None;
    settings.wait = WaitPolicy::suiting(&strategy);
    let mut worker = tester(&sts, settings);
    let known = Coverage::new(&sts).map(0);
    let nobody = Bits::default();
    // A reset that takes long makes waits affordable: their share is one of the time that has passed.
    let mut carry_out = |number: u64, reset: u64, before: Option<&Vec<Step>>| -> Vec<Step> {
        let context = TestContext {
            number,
            known: &known,
            aim: &nobody,
            reserved: &nobody,
            lessons: &[],
            steps: 12,
            time: None,
        };
        worker.prepare(&context).expect("the same model");
        if let Some(steps) = before {
            let steps: Vec<SavedStep> = steps.iter().map(|s| SavedStep::new(s, &sts)).collect();
            worker.repeat(Conditions::of(&steps));
        }
        let mut now = 0;
        let command = worker.next_test(now).expect("a test");
        now += reset;
        let report = run(&mut worker, command, &mut rooms(), false, &mut now);
        report.execution.trace
    };
    const HOUR: u64 = 3_600_000_000_000;
    let mut different = 0;
    for number in 1..=20 {
        let slow = carry_out(number, HOUR, None);
        let fast = carry_out(number, 0, None);
        different += usize::from(slow != fast);
        assert_eq!(carry_out(number, 0, Some(&slow)), slow, "test {number}");
        assert_eq!(carry_out(number, HOUR, Some(&fast)), fast, "test {number}");
    }
    assert!(different > 10, "times decide in {different} of 20 tests");
}

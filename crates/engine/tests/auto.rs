//! Strategy `auto`: it reaches what chance does not reach, asks where the system is, repeats with its seed; and silence is
//! waited for only where that is worth its time.

mod common;

use std::sync::Arc;

use common::*;
use ioco_engine::{
    Command, EventLevel, Input, Settings, SilencePrice, StopConditions, StopReason, StrategyKind,
    Tester, WaitPolicy,
};
use ioco_sts::{Action, DeviationKind, Sts};

fn settings(strategy: StrategyKind, seed: u64, steps: u64) -> Settings {
    Settings {
        seed,
        wait: WaitPolicy::suiting(&strategy),
        strategy,
        events: EventLevel::Steps,
        stop: StopConditions {
            tests: None,
            total_steps: Some(steps),
            ..StopConditions::default()
        },
        ..Settings::default()
    }
}

/// A lamp among thirty buttons that do nothing; only `?ask` shows whether it is on.
fn lamp() -> Arc<Sts> {
    let mut text = String::from(
        "Off ?on On\nOn ?off Off\nOff ?ask AskedOff\nAskedOff !no Off\nOn ?ask AskedOn\nAskedOn !yes On\n",
    );
    for button in 0..30 {
        text += &format!("Off ?button{button} Off\nOn ?button{button} On\n");
    }
    plain(&text)
}

/// The lamp; a broken one does not switch off.
fn play(sts: &Arc<Sts>, broken: bool) -> impl FnMut(&[Action]) -> Vec<Input> {
    let sts = Arc::clone(sts);
    move |given: &[Action]| {
        let [on, off, ask] = ["on", "off", "ask"].map(|name| stimulus(&sts, name));
        if given.last() != Some(&ask) {
            return Vec::new();
        }
        let switched = given
            .iter()
            .rev()
            .find(|a| **a == on || !broken && **a == off);
        let answer = if switched == Some(&on) { "yes" } else { "no" };
        vec![Input::Response(response(&sts, answer))]
    }
}

fn stimuli_to_detection(sts: &Arc<Sts>, strategy: &StrategyKind) -> u64 {
    let trial = |seed| {
        let mut tester = tester(sts, settings(strategy.clone(), seed, 20_000));
        let mut system = Answers::new(play(sts, true));
        campaign(&mut tester, &mut system);
        assert_eq!(
            tester.stop_reason(),
            Some(StopReason::Failures),
            "seed {seed}"
        );
        tester.summary().stimuli
    };
    (0..4).map(trial).sum()
}

#[test]
fn auto_asks_where_the_system_is_after_what_may_have_gone_wrong() {
    let sts = lamp();
    let random = stimuli_to_detection(&sts, &StrategyKind::uniform());
    let auto = stimuli_to_detection(&sts, &StrategyKind::Auto);
    assert!(2 * auto < random, "{auto} stimuli against {random}");
}

#[test]
fn auto_plans_through_a_lock_that_chance_does_not_open() {
    let lines = (0..10).flat_map(|position| {
        (0..4).map(move |digit| {
            let target = if digit == position % 4 {
                position + 1
            } else {
                0
            };
            format!("At{position} ?press{digit} At{target}\n")
        })
    });
    let sts = plain(&(lines.collect::<String>() + "At10 ?close At0"));
    let mut settings = settings(StrategyKind::Auto, 5, 2000);
    settings.stop.coverage = Some(100.0);
    let mut tester = tester(&sts, settings);
    campaign(&mut tester, &mut Answers::new(|_| Vec::new()));
    assert_eq!(tester.stop_reason(), Some(StopReason::Coverage));
}

#[test]
fn auto_repeats_a_run_with_the_same_seed() {
    let sts = lamp();
    let run = |seed| {
        let mut tester = tester(&sts, settings(StrategyKind::Auto, seed, 150));
        let reports = campaign(&mut tester, &mut Answers::new(play(&sts, false)));
        assert!(
            reports
                .iter()
                .all(|report| report.execution.deviation().is_none())
        );
        reports
            .into_iter()
            .map(|report| report.execution.trace)
            .collect::<Vec<_>>()
    };
    assert_eq!(run(3), run(3));
    assert_ne!(run(3), run(4));
}

/// The lamp with this policy, for so many steps.
fn waited(wait: WaitPolicy) -> Tester {
    let sts = lamp();
    let settings = Settings {
        wait,
        ..settings(StrategyKind::uniform(), 1, 1_000)
    };
    let mut tester = tester(&sts, settings);
    campaign(&mut tester, &mut Answers::new(play(&sts, false)));
    tester
}

#[test]
fn silence_is_not_observed_twice_where_only_silence_is_possible() {
    let tester = waited(WaitPolicy::Worthwhile { share: 1.0 });
    let price = tester.silence_price();
    assert!(price.observed > 0);
    assert_eq!(price.observed, price.new);
    assert_eq!(price.observed, tester.summary().silences);
}

#[test]
fn waits_for_silence_keep_to_their_share_of_the_time() {
    let tester = waited(WaitPolicy::Worthwhile { share: 0.0 });
    assert_eq!(tester.silence_price().observed, 0);
    let everywhere = waited(WaitPolicy::Weighted(1e18)).silence_price();
    let some = waited(WaitPolicy::Worthwhile { share: 0.2 }).silence_price();
    assert!(0 < some.observed && 10 * some.waited < everywhere.waited);
}

/// What silence costs in one test of so many steps, where no time is to spare for it.
fn price_of(model: &str, steps: u64) -> SilencePrice {
    let sts = plain(model);
    let mut settings = settings(StrategyKind::uniform(), 1, steps);
    settings.wait = WaitPolicy::Worthwhile { share: 0.0 };
    settings.stop.tests = Some(1);
    let mut tester = tester(&sts, settings);
    let answer = |given: &[Action]| match given.last() {
        Some(last) if sts.label(last.label).name == "ask" => {
            vec![Input::Response(response(&sts, "answer"))]
        }
        _ => Vec::new(),
    };
    campaign(&mut tester, &mut Answers::new(answer));
    assert_eq!(tester.summary().passed, 1);
    tester.silence_price()
}

#[test]
fn after_an_answer_nothing_is_looked_for_where_nothing_more_is_allowed() {
    let model = "Idle ?ask Asked\nAsked !answer Idle";
    let [short, long] = [10, 90].map(|steps| price_of(model, steps));
    assert!(short.waited > 0, "a look before the first stimulus");
    assert_eq!(short, long);
}

#[test]
fn a_test_ends_without_silence_where_nothing_else_can_come() {
    let price = price_of("Idle ?go Over", 10);
    assert!(price.waited > 0);
    assert_eq!(price.observed, 0);
}

#[test]
fn a_missing_response_is_found_without_any_budget_for_silence() {
    let sts = lamp();
    for strategy in [StrategyKind::uniform(), StrategyKind::Auto] {
        let settings = Settings {
            wait: WaitPolicy::Worthwhile { share: 0.0 },
            ..settings(strategy, 1, 20_000)
        };
        let mut tester = tester(&sts, settings);
        campaign(&mut tester, &mut Answers::new(|_| Vec::new()));
        let found = tester.failures().iter().map(|f| f.deviation.kind);
        assert_eq!(found.collect::<Vec<_>>(), [DeviationKind::MissingResponse]);
    }
}

#[test]
fn auto_gives_stimuli_where_the_system_may_speak_first() {
    // After `!stop` nothing can be given: a search that lets the system speak first must not count on its menu.
    // Until then it may also be silent.
    let sts = plain(
        "Start tau Idle\nStart tau Ending\nIdle ?go Idle\nIdle ?go Ending\nIdle ?wait Idle\nIdle ?wait Ending\n\
         Ending ?go Ending\nEnding ?wait Ending\nEnding !stop Over",
    );
    for seed in 0..10 {
        for wait in [
            WaitPolicy::Weighted(0.1),
            WaitPolicy::suiting(&StrategyKind::Auto),
        ] {
            let mut settings = settings(StrategyKind::Auto, seed, 60);
            settings.wait = wait;
            let mut tester = tester(&sts, settings);
            let spoke = |given: &[Action]| match given.len() {
                6 => vec![Input::Response(response(&sts, "stop"))],
                _ => Vec::new(),
            };
            let reports = campaign(&mut tester, &mut Answers::new(spoke));
            assert_eq!(tester.stop_reason(), Some(StopReason::Steps), "seed {seed}");
            for report in reports {
                assert!(report.execution.stimuli().count() > 0, "seed {seed}");
                assert_eq!(report.execution.deviation(), None, "seed {seed}");
            }
        }
    }
}

/// A model that demands `!stop` and a system that never sends it: silence is the failure, and `auto` finds it.
#[test]
fn auto_finds_a_missing_response_before_the_first_stimulus() {
    let sts = plain("Idle ?go Idle\nIdle ?wait Idle\nIdle !stop Over");
    for seed in 0..20 {
        let mut tester = tester(&sts, settings(StrategyKind::Auto, seed, 60));
        campaign(&mut tester, &mut Answers::new(|_| Vec::new()));
        let found = tester.failures().iter().map(|f| f.deviation.kind);
        assert_eq!(
            found.collect::<Vec<_>>(),
            [DeviationKind::MissingResponse],
            "seed {seed}"
        );
    }
}

/// A clock that ticks as long as it runs; a broken one is not done when it is stopped.
struct Clock {
    sts: Arc<Sts>,
    runs: bool,
    broken: bool,
    /// How often it ticked between a start and what came next.
    ticks: Vec<u32>,
}

impl System for Clock {
    fn reset(&mut self) -> Vec<Input> {
        self.runs = false;
        Vec::new()
    }

    fn give(&mut self, given: &Action) -> Vec<Input> {
        self.runs = *given == stimulus(&self.sts, "start");
        if self.runs {
            self.ticks.push(0);
        }
        match self.runs || self.broken {
            true => Vec::new(),
            false => vec![Input::Response(response(&self.sts, "done"))],
        }
    }

    fn wait(&mut self) -> Option<Input> {
        let ticks = self.ticks.last_mut().filter(|_| self.runs)?;
        *ticks += 1;
        Some(Input::Response(response(&self.sts, "tick")))
    }
}

/// A response is due for as long as the clock runs: a strategy that always waits for it never stops the clock.
#[test]
fn auto_interrupts_a_system_that_never_stops_speaking() {
    let text = "Off ?start On\nOn !tick On\nOn ?stop Ending\nEnding !tick Ending\nEnding !done Off";
    let sts = plain(text);
    for seed in 0..5 {
        for broken in [false, true] {
            let mut clock = Clock {
                sts: Arc::clone(&sts),
                runs: false,
                broken,
                ticks: Vec::new(),
            };
            let mut tester = tester(&sts, settings(StrategyKind::Auto, seed, 600));
            campaign(&mut tester, &mut clock);
            let found = tester.failures().iter().map(|f| f.deviation.kind);
            let expected = broken.then_some(DeviationKind::MissingResponse);
            assert_eq!(
                found.collect::<Vec<_>>(),
                Vec::from_iter(expected),
                "seed {seed}"
            );
            // The last one may have been cut off by the end of the run.
            clock.ticks.pop();
            let starts = clock.ticks.len() as u32;
            assert!(clock.ticks.iter().all(|ticks| *ticks > 0), "seed {seed}");
            assert!(
                broken || clock.ticks.iter().sum::<u32>() > 3 * starts,
                "seed {seed}: seldom enough"
            );
        }
    }
}

/// After a choice between two clocks that cannot be stopped, the other one needs a new test; but one that ended while a
/// tick is due would pass whether it comes or not.
#[test]
fn no_test_ends_by_itself_while_the_system_must_go_on_speaking() {
    let clocks =
        (0..6).map(|n| format!("Off ?start{n} On{n}\nOn{n} !tick On{n}\nOn{n} ?look On{n}\n"));
    let sts = plain(&clocks.collect::<String>());
    for seed in 0..5 {
        let mut settings = settings(StrategyKind::Auto, seed, 3_000);
        settings.stop.steps_per_test = 60;
        let mut tester = tester(&sts, settings);
        let mut clock = Endless {
            tick: response(&sts, "tick"),
            runs: false,
        };
        let mut reports = campaign(&mut tester, &mut clock);
        reports.pop();
        assert!(reports.len() > 10);
        for report in reports {
            assert!(report.execution.trace.len() >= 60, "seed {seed}");
        }
    }
}

/// A clock that ticks once it has been started.
struct Endless {
    tick: Action,
    runs: bool,
}

impl System for Endless {
    fn reset(&mut self) -> Vec<Input> {
        self.runs = false;
        Vec::new()
    }

    fn give(&mut self, _: &Action) -> Vec<Input> {
        self.runs = true;
        Vec::new()
    }

    fn wait(&mut self) -> Option<Input> {
        self.runs.then(|| Input::Response(self.tick.clone()))
    }
}

/// Thirty rooms that can be left for the cellar alone: another room takes a new test.
fn rooms() -> Arc<Sts> {
    let rooms = (0..30).map(|n| format!("Hall ?enter{n} Room{n}\nRoom{n} ?down Cellar\n"));
    plain(&(rooms.collect::<String>() + "Cellar ?wait Cellar"))
}

#[test]
fn a_restart_by_choice_does_not_use_up_the_tests_of_a_run() {
    let sts = rooms();
    let mut settings = settings(StrategyKind::Auto, 1, 0);
    settings.stop.total_steps = None;
    settings.stop.tests = Some(4);
    settings.stop.steps_per_test = 50;
    let mut tester = tester(&sts, settings);
    let reports = campaign(&mut tester, &mut Answers::new(|_| Vec::new()));
    let summary = tester.summary();
    assert!(summary.restarts > 4, "{summary:?}");
    assert_eq!(tester.stop_reason(), Some(StopReason::Tests));
    assert!((200..=210).contains(&summary.steps()), "{summary:?}");
    assert_eq!(summary.tests, reports.len() as u64);
    let numbers: Vec<u64> = reports.iter().map(|report| report.number).collect();
    assert_eq!(numbers, (1..=summary.tests).collect::<Vec<_>>());
}

#[test]
fn who_asks_for_one_test_gets_one() {
    let mut settings = settings(StrategyKind::Auto, 1, 0);
    settings.stop.total_steps = None;
    settings.stop.tests = Some(1);
    settings.stop.steps_per_test = 80;
    let mut tester = tester(&rooms(), settings);
    campaign(&mut tester, &mut Answers::new(|_| Vec::new()));
    let summary = tester.summary();
    assert_eq!((summary.tests, summary.restarts), (1, 0));
    assert!(summary.steps() >= 80, "{summary:?}");
}

/// The system takes its time for a reset or for an answer; the first four tests say how much.
#[test]
fn times_after_the_first_tests_do_not_change_a_run() {
    let sts = rooms();
    let run = |slow_from: usize| {
        let mut settings = settings(StrategyKind::Auto, 1, 300);
        settings.wait = WaitPolicy::Weighted(0.0);
        let mut tester = tester(&sts, settings);
        let mut now = 0;
        let mut traces = Vec::new();
        while let Some(mut command) = tester.next_test(now) {
            let slow = traces.len() >= slow_from;
            loop {
                let (input, took) = match command {
                    Command::Finished => break,
                    Command::Reset { .. } => {
                        (Input::Ready, if slow { 90_000_000 } else { 1_000_000 })
                    }
                    Command::Give(_) => (Input::Given { overtaken: false }, 1_000_000),
                    Command::Await { until } => (Input::Silence, until.saturating_sub(now)),
                };
                now += took;
                command = tester.handle(input, now);
            }
            traces.push(tester.finished_test().execution.trace);
        }
        traces
    };
    let quick = run(usize::MAX);
    assert_eq!(quick, run(4));
    assert_ne!(quick, run(0), "what a restart costs matters");
}

/// The last step of the test uses up its steps; what comes after it is a failure all the same.
#[test]
fn a_test_does_not_end_before_a_response_that_should_not_come() {
    for (model, steps, sent) in [
        ("Idle ?go Idle\nOther !answer Other", 1, 1),
        ("Idle ?go Asked\nAsked !answer Idle", 2, 2),
    ] {
        let sts = plain(model);
        let mut settings = settings(StrategyKind::uniform(), 1, 1_000);
        settings.wait = WaitPolicy::Worthwhile { share: 0.0 };
        settings.stop.tests = Some(1);
        settings.stop.steps_per_test = steps;
        let answers = |_: &[Action]| vec![Input::Response(response(&sts, "answer")); sent];
        let mut tester = tester(&sts, settings);
        campaign(&mut tester, &mut Answers::new(answers));
        let found = tester.failures().iter().map(|f| f.deviation.kind);
        let expected = [DeviationKind::UnexpectedResponse];
        assert_eq!(found.collect::<Vec<_>>(), expected, "{model}");
    }
}

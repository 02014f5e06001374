//! Strategy `auto`: it reaches what chance does not reach, asks where the system is, repeats with its seed; and silence is
//! waited for only where that is worth its time.

mod common;

use std::sync::Arc;

use common::*;
use ioco_engine::{
    EventLevel, Input, Settings, StopConditions, StopReason, StrategyKind, Tester, WaitPolicy,
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
fn auto_searches_where_the_system_may_speak_first() {
    // After `!stop` nothing can be given: a search that lets the system speak first must not count on its menu.
    let sts = plain("Idle ?go Idle\nIdle ?wait Idle\nIdle !stop Over");
    for seed in 0..20 {
        let mut settings = settings(StrategyKind::Auto, seed, 60);
        settings.wait = WaitPolicy::Weighted(0.1);
        let mut tester = tester(&sts, settings);
        let spoke = |given: &[Action]| match given.len() % 7 {
            6 => vec![Input::Response(response(&sts, "stop"))],
            _ => Vec::new(),
        };
        let reports = campaign(&mut tester, &mut Answers::new(spoke));
        assert!(!reports.is_empty());
    }
}

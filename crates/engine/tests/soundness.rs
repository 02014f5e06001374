//! Verdicts against slow, obvious reasoning: conforming systems never fail, every failure is one by
//! explicit enumeration, and wrong systems are found.

mod common;

use std::sync::Arc;

use common::graph::{Graph, Player, act_of_observed, act_of_step};
use common::*;
use ioco_engine::{Settings, StopConditions, StrategyKind, TestReport, Tester, WaitPolicy};
use ioco_sts::{EvaluationOnly, Relation, Semantics, Sts, Verdict};
use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

fn settings(seed: u64, tests: u64, strategy: StrategyKind) -> Settings {
    Settings {
        seed,
        wait: match strategy {
            StrategyKind::Auto => WaitPolicy::suiting(&strategy),
            _ => WaitPolicy::Weighted(1.0),
        },
        strategy,
        stop: StopConditions {
            tests: Some(tests),
            steps_per_test: 30,
            failures: None,
            ..StopConditions::default()
        },
        ..Settings::default()
    }
}

fn run_all(
    sts: &Arc<Sts>,
    relation: Relation,
    settings: Settings,
    system: &mut Player,
    overtaken: bool,
) -> Vec<TestReport> {
    let semantics = Semantics::new(Arc::clone(sts), Box::new(EvaluationOnly), relation);
    let mut tester = Tester::new(semantics, settings);
    let mut now = 0;
    let mut reports = Vec::new();
    while let Some(command) = tester.next_test(now) {
        reports.push(run(&mut tester, command, system, overtaken, &mut now));
    }
    reports
}

fn strategies() -> impl Strategy<Value = StrategyKind> {
    prop_oneof![
        Just(StrategyKind::uniform()),
        Just(StrategyKind::Auto),
        Just(StrategyKind::Transitions)
    ]
}

fn assert_no_failure(model: &Graph, reports: &[TestReport]) {
    for report in reports {
        let verdict = &report.execution.verdict;
        assert!(
            matches!(verdict, Verdict::Pass | Verdict::Inconclusive(_)),
            "{model:?}\n{report:?}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 100,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_system_that_does_what_the_model_says_never_fails(
        seed: u64,
        overtaken: bool,
        strategy in strategies(),
    ) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let model = Graph::random(&mut rng, true);
        let mut system = Player::new(&model, seed, overtaken);
        let settings = settings(seed, 20, strategy);
        let reports = run_all(&model.sts(), Relation::Ioco, settings, &mut system, overtaken);
        assert_no_failure(&model, &reports);
        let tests = reports.iter();
        let inconclusive = tests.filter(|r| r.execution.verdict != Verdict::Pass).count();
        // Every stimulus is accepted everywhere, so nothing can go unspecified.
        assert_eq!(inconclusive, 0);
    }

    #[test]
    fn under_uioco_a_partial_model_never_fails_its_own_system(
        seed: u64,
        overtaken: bool,
        strategy in strategies(),
    ) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let model = Graph::random(&mut rng, false);
        let mut system = Player::new(&model, seed, overtaken);
        let settings = settings(seed, 20, strategy);
        let reports = run_all(&model.sts(), Relation::Uioco, settings, &mut system, overtaken);
        assert_no_failure(&model, &reports);
    }

    #[test]
    fn every_step_and_every_failure_stands_up_to_enumeration(
        seed: u64,
        strategy in strategies(),
    ) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let model = Graph::random(&mut rng, true);
        let mutant = model.mutated(&mut rng);
        let sts = model.sts();
        let mut system = Player::new(&mutant, seed, false);
        let settings = settings(seed, 20, strategy);
        for report in run_all(&sts, Relation::Ioco, settings, &mut system, false) {
            let mut set = model.initial();
            for step in &report.execution.trace {
                set = model.after(&set, act_of_step(&sts, step));
                assert!(!set.is_empty(), "{model:?}\n{report:?}");
            }
            match report.execution.deviation() {
                Some(deviation) => {
                    let act = act_of_observed(&sts, &deviation.observed);
                    assert!(model.after(&set, act).is_empty(), "{model:?}\n{report:?}");
                    assert!(model.can_fail(&mutant));
                }
                None => assert_eq!(report.execution.verdict, Verdict::Pass),
            }
        }
    }
}

#[test]
fn what_can_fail_is_found() {
    let (mut wrong, mut found) = (0, 0);
    for seed in 0..150 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let model = Graph::random(&mut rng, true);
        let mutant = model.mutated(&mut rng);
        let mut system = Player::new(&mutant, seed, false);
        let mut settings = settings(seed, 200, StrategyKind::uniform());
        settings.stop.failures = Some(1);
        let reports = run_all(&model.sts(), Relation::Ioco, settings, &mut system, false);
        let failed = reports.iter().any(|r| r.execution.deviation().is_some());
        let can_fail = model.can_fail(&mutant);
        assert!(can_fail || !failed);
        wrong += u32::from(can_fail);
        found += u32::from(failed);
        assert!(failed || !can_fail, "missed: {model:?}\n{mutant:?}");
    }
    assert!(wrong > 50 && found == wrong, "{found} of {wrong}");
}

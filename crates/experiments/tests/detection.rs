//! The experiment on detection: mutants are faults of every kind, repeat by their number, and are hunted.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use ioco_aml::load_text;
use ioco_engine::{EventLevel, Settings, StopConditions, StrategyKind, Tester, WaitPolicy};
use ioco_experiments::Share;
use ioco_experiments::detection::{
    Operator, Planted, Setup, measure, mutants, show, tester, trial,
};
use ioco_sts::{Relation, Sts};

const KOOPMAN: &str = include_str!("../../../examples/koopman/model.aml");

const ATM: &str = include_str!("../../../examples/atm/model.aml");

fn koopman() -> Arc<Sts> {
    load_text("model.aml", KOOPMAN).sts.expect("a model")
}

#[test]
fn every_operator_has_its_mutants_and_numbers_repeat_them() {
    // Its stimuli lead to other locations, so that a lost update is not the same as a lost switch.
    let sts = load_text("model.aml", ATM).sts.expect("a model");
    let found = mutants(&sts, 1, 60);
    let operators: BTreeSet<Operator> = found.iter().map(|mutant| mutant.operator).collect();
    assert_eq!(operators, BTreeSet::from(Operator::ALL));
    let again = mutants(&sts, 1, 60);
    for (one, other) in found.iter().zip(&again) {
        assert_eq!(one.number, other.number);
        assert_eq!(one.sts.switches(), other.sts.switches());
    }
    let others = mutants(&sts, 1_000_001, 60);
    assert!(
        others
            .iter()
            .all(|mutant| found.iter().all(|m| m.number != mutant.number))
    );
}

#[test]
fn every_strategy_passes_the_right_system_and_finds_a_mutant() {
    let sts = koopman();
    for strategy in ["random", "transitions", "data", "locations", "auto"] {
        let run = |mutant: Option<&str>| {
            let system = ioco_examples::system("koopman", mutant).expect("a system");
            let mut system = Planted::new(&sts, system);
            trial(&mut tester(&sts, strategy, 1), &mut system, 400)
        };
        assert!(!run(None).found, "{strategy}");
        let found = run(Some("m03"));
        assert!(found.found && found.stimuli < 400, "{strategy}");
        assert!(found.resets >= 1 && !found.failing.is_empty(), "{strategy}");
    }
}

/// A fault that shows only after many stimuli without a reset between them: restarts must not use up the run.
#[test]
fn auto_finds_in_the_tests_of_a_run_what_random_finds_there() {
    let text = include_str!("../../../examples/queue/model.aml");
    let sts = load_text("model.aml", text).sts.expect("a model");
    for strategy in [StrategyKind::uniform(), StrategyKind::Auto] {
        for seed in 1..=3 {
            let settings = Settings {
                seed,
                wait: WaitPolicy::suiting(&strategy),
                strategy: strategy.clone(),
                events: EventLevel::None,
                stop: StopConditions {
                    tests: Some(20),
                    steps_per_test: 1_000,
                    ..StopConditions::default()
                },
                ..Settings::default()
            };
            let semantics = ioco_solve::semantics(&sts, Relation::Ioco);
            let mut tester = Tester::new(semantics, settings);
            let system = ioco_examples::system("queue", Some("m01")).expect("a system");
            let found = trial(&mut tester, &mut Planted::new(&sts, system), u64::MAX);
            let (name, summary) = (strategy.name(), tester.summary());
            assert!(found.found, "{name}, seed {seed}: {summary:?}");
        }
    }
}

#[test]
fn every_strategy_passes_the_right_retransmission_protocol() {
    let text = include_str!("../../../examples/retransmission/model.aml");
    let sts = load_text("model.aml", text).sts.expect("a model");
    for strategy in ["random", "transitions", "data", "locations", "auto"] {
        let system = ioco_examples::system("retransmission", None).expect("a system");
        let mut system = Planted::new(&sts, system);
        let trial = trial(&mut tester(&sts, strategy, 1), &mut system, 100);
        assert!(!trial.found, "{strategy}: {}", trial.shown);
    }
}

#[test]
fn mutants_that_conform_are_left_out_of_the_figures() {
    let setup = Setup {
        models: PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples")),
        only: vec!["koopman".to_owned()],
        strategies: vec!["random".to_owned()],
        generated: 30,
        seeds: 1,
        share: Share::Tune,
        most: 50,
        threads: 2,
        verbose: false,
    };
    let report = measure(&setup).expect("a report");
    let generated = report.rows.iter().filter(|row| row.kind != "planted");
    assert!(generated.clone().all(|row| row.exact));
    assert_eq!(generated.count() + report.models[0].equivalent, 30);
    assert!(report.models[0].equivalent > 0);
    let text = show(&report);
    assert!(
        text.contains("HSI suite") && text.contains("koopman, planted mutants: "),
        "{text}"
    );
    let alone = Setup {
        threads: 1,
        ..setup
    };
    let same = measure(&alone).expect("a report");
    assert_eq!(show(&same), text, "threads change no figure");
}

//! Systems that never stop speaking by themselves. A response is always due, so a tester that always waits for it
//! never gives the stimulus behind which the fault is: every strategy must interrupt the system at some time.

use std::fmt::Write as _;
use std::sync::Arc;

use ioco_adapters::{Connection as _, drive};
use ioco_differential::generate::{Behaviour, Dice, System, dice};
use ioco_engine::{Settings, StopConditions, StrategyKind, Tester, WaitPolicy};
use ioco_generate::guide::{Locations, Scenario};
use ioco_generate::plan::Pattern;
use ioco_solve::semantics;
use ioco_sts::{DeviationKind, Relation, Sts};
use rand::RngExt as _;

/// What the system does instead of `!done` behind the last `?stop`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    /// It falls silent.
    Silent,
    /// It ticks once more.
    Ticks,
}

/// A model in which the system speaks in every state but a few, and stages that only `?stop` ends.
struct Chatter {
    /// How many kinds of responses go round in each stage.
    rounds: Vec<usize>,
    /// Stimuli that change nothing.
    others: usize,
    /// The system speaks only once it is started.
    starts: bool,
}

impl Chatter {
    fn random(dice: &mut Dice) -> Chatter {
        let stages = dice.random_range(1..4);
        Chatter {
            rounds: (0..stages).map(|_| dice.random_range(1..4)).collect(),
            others: dice.random_range(0..3),
            starts: dice.random(),
        }
    }

    fn text(&self, fault: Fault) -> String {
        let mut text = String::from(
            "timeout 0.1\nexternal 'door'\nprocess('main') {\n  channel('door') {\n    stimuli 'start', 'stop'\n    \
             responses 'done', 'tick0', 'tick1', 'tick2'\n",
        );
        for other in 0..self.others {
            let _ = writeln!(text, "    stimulus 'other{other}'");
        }
        text += "  }\n";
        if self.starts {
            text += "  state 'Off'\n  choice { o { receive 'start'; goto 'T00' } }\n";
        }
        for (stage, rounds) in self.rounds.iter().enumerate() {
            let behind = match stage + 1 == self.rounds.len() {
                true => "Ending".to_owned(),
                false => format!("T{}0", stage + 1),
            };
            for round in 0..*rounds {
                let next = (round + 1) % rounds;
                let _ = writeln!(text, "  state 'T{stage}{round}'\n  choice {{");
                let _ = writeln!(
                    text,
                    "    o {{ send 'tick{round}'; goto 'T{stage}{next}' }}"
                );
                let _ = writeln!(text, "    o {{ receive 'stop'; goto '{behind}' }}");
                for other in 0..self.others {
                    let _ = writeln!(
                        text,
                        "    o {{ receive 'other{other}'; goto 'T{stage}{round}' }}"
                    );
                }
                text += "  }\n";
            }
        }
        let first = if self.starts { "Off" } else { "T00" };
        let ending = match fault {
            Fault::None => format!("send 'done'; goto '{first}'"),
            Fault::Silent => format!("receive 'stop'; goto '{first}'"),
            Fault::Ticks => "send 'tick0'; goto 'Ending'".to_owned(),
        };
        let _ = writeln!(
            text,
            "  state 'Ending'\n  choice {{ o {{ {ending} }} }}\n}}"
        );
        text
    }
}

fn model(text: &str) -> Arc<Sts> {
    let loaded = ioco_aml::load_text("model.aml", text);
    loaded
        .sts
        .unwrap_or_else(|| panic!("{text}\n{:?}", loaded.diagnostics))
}

fn guided(name: &str) -> StrategyKind {
    StrategyKind::Guided {
        name: name.to_owned(),
    }
}

fn strategies() -> Vec<(StrategyKind, WaitPolicy)> {
    let kinds = [
        StrategyKind::uniform(),
        StrategyKind::Auto,
        StrategyKind::Transitions,
        StrategyKind::Data,
        guided("locations"),
        guided("scenario"),
    ];
    let mut all = Vec::new();
    for kind in kinds {
        let suiting = WaitPolicy::suiting(&kind);
        if kind != StrategyKind::Auto {
            all.push((kind.clone(), WaitPolicy::Weighted(1.0)));
            let share = WaitPolicy::SHARE;
            all.push((kind.clone(), WaitPolicy::Worthwhile { share }));
        }
        all.push((kind, suiting));
    }
    all
}

/// The deviation that a run finds.
fn found(
    sts: &Arc<Sts>,
    played: &Arc<Sts>,
    (strategy, wait): (StrategyKind, WaitPolicy),
    seed: u64,
    tests: u64,
) -> Option<DeviationKind> {
    let name = strategy.name().to_owned();
    let settings = Settings {
        seed,
        strategy,
        wait,
        stop: StopConditions {
            tests: Some(tests),
            steps_per_test: 250,
            ..StopConditions::default()
        },
        ..Settings::default()
    };
    let mut tester = Tester::new(semantics(sts, Relation::Ioco), settings);
    if name == "locations" {
        tester.set_guide(Box::new(Locations::new()));
    } else if name == "scenario" {
        let text = "within 40 steps\n...\n?stop\n";
        let query = ioco_aml::query::parse("scenario", text, sts);
        let pattern = Pattern::from(&query.unwrap_or_else(|errors| panic!("{errors:?}")));
        tester.set_guide(Box::new(Scenario::new(pattern, 40)));
    }
    let behaviour = Behaviour::calm(sts);
    let mut system = System::new(Arc::clone(played), Arc::clone(sts), behaviour, seed);
    while let Some(first) = tester.next_test(system.now()) {
        let error = drive(&mut tester, first, &mut system, &|| false, &mut |_| {});
        assert!(error.is_none());
        tester.finished_test();
    }
    tester.failures().first().map(|f| f.deviation.kind)
}

#[test]
fn every_strategy_finds_a_fault_behind_a_stimulus_that_interrupts_the_system() {
    for seed in 0..5 {
        let chatter = Chatter::random(&mut dice(seed));
        let sts = model(&chatter.text(Fault::None));
        let kinds = [
            (Fault::None, None),
            (Fault::Silent, Some(DeviationKind::MissingResponse)),
            (Fault::Ticks, Some(DeviationKind::UnexpectedResponse)),
        ];
        for (fault, expected) in kinds {
            let played = model(&chatter.text(fault));
            for strategy in strategies() {
                // A scenario ends at its last step; one stage and one step more is all that it shows.
                let asks = strategy.0 != guided("scenario") || chatter.rounds.len() == 1;
                let shown = format!(
                    "seed {seed}, {fault:?}, {strategy:?}\n{}",
                    chatter.text(fault)
                );
                let tests = if fault == Fault::None { 3 } else { 40 };
                let found = found(&sts, &played, strategy, seed, tests);
                if asks || found.is_some() {
                    assert_eq!(found, expected, "{shown}");
                }
            }
        }
    }
}

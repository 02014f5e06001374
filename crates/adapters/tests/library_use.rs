//! ioco as a library: a small system in Rust, tested by `cargo test` against a model in text.
//!
//! The model says what a piggy bank does: it takes coins, tells what is in it, and gives everything
//! back when it is broken. The time that passes in the model's time-outs is virtual.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use ioco_adapters::{Bound, Local, Message, System, check};
use ioco_engine::{Settings, StopConditions, StrategyKind};
use ioco_sts::{DeviationKind, Sts};

const MODEL: &str = r#"
timeout 0.5
external 'bank'

process('piggy') {
  channel('bank') {
    stimulus 'insert', { 'cents' => integer(1..200) }
    stimulus 'break'
    response 'contains', { 'cents' => :integer }
    response 'refused'
    response 'coins', { 'cents' => :integer }
  }
  var 'total', :integer, 0

  state 'whole'
  repeat {
    o {
      receive 'insert', constraint: 'cents in [1, 2, 5, 10, 20, 50, 100, 200]', update: 'total += cents'
      send 'contains', constraint: 'cents == total'
    }
    o {
      receive 'insert', constraint: '!(cents in [1, 2, 5, 10, 20, 50, 100, 200])'
      send 'refused'
    }
    o {
      receive 'break'
      send 'coins', constraint: 'cents == total'
      goto 'broken'
    }
  }
  state 'broken'
}
"#;

/// The system under test.
#[derive(Default)]
struct PiggyBank {
    total: i64,
    broken: bool,
    /// Planted: forgets what is in it when it gets the same coin twice in a row.
    forgetful: bool,
    last: Option<i64>,
}

impl System for PiggyBank {
    fn reset(&mut self) {
        let forgetful = self.forgetful;
        *self = PiggyBank {
            forgetful,
            ..PiggyBank::default()
        };
    }

    fn give(&mut self, stimulus: &Message) -> Vec<Message> {
        match (stimulus.label.as_str(), stimulus.integer("cents")) {
            _ if self.broken => vec![],
            ("break", _) => {
                self.broken = true;
                vec![Message::plain("coins").with("cents", self.total)]
            }
            ("insert", Some(cents)) if [1, 2, 5, 10, 20, 50, 100, 200].contains(&cents) => {
                if self.forgetful && self.last == Some(cents) {
                    self.total = 0;
                }
                self.last = Some(cents);
                self.total += cents;
                vec![Message::plain("contains").with("cents", self.total)]
            }
            _ => vec![Message::plain("refused")],
        }
    }
}

fn model() -> Arc<Sts> {
    let loaded = ioco_aml::load_text("piggy.aml", MODEL);
    loaded
        .sts
        .unwrap_or_else(|| panic!("{:?}", loaded.diagnostics))
}

fn settings() -> Settings {
    Settings {
        seed: 1,
        strategy: StrategyKind::Transitions,
        stop: StopConditions {
            tests: Some(300),
            ..StopConditions::default()
        },
        ..Settings::default()
    }
}

#[test]
fn the_piggy_bank_conforms_to_its_model() {
    let model = model();
    let bank = Bound::new(Arc::clone(&model), PiggyBank::default());
    let summary = check(&model, &mut Local::new(bank), settings()).unwrap();
    assert_eq!(summary.passed, 300);
    assert_eq!(summary.covered_switches, summary.switches);
}

#[test]
fn a_forgetful_piggy_bank_is_found_out_and_explained() {
    let model = model();
    let forgetful = PiggyBank {
        forgetful: true,
        ..PiggyBank::default()
    };
    let bank = Bound::new(Arc::clone(&model), forgetful);
    let found = check(&model, &mut Local::new(bank), settings()).unwrap_err();
    let deviation = found.execution.deviation().unwrap();
    assert_eq!(deviation.kind, DeviationKind::WrongValue);
    // The same coin twice, and the wrong answer to the second: nothing shorter shows it.
    assert_eq!(found.execution.length(), 4);
    let text = found.to_string();
    assert!(text.contains("D003 wrong value"), "{text}");
    assert!(text.contains("piggy.aml:"), "{text}");
    assert!(text.contains("confirmed      5 of 5 runs"), "{text}");
}

/// Says the wrong sum once in its life, and counts how often it is reset.
#[derive(Default)]
struct WrongOnce {
    bank: PiggyBank,
    was_wrong: bool,
    resets: Rc<Cell<u32>>,
}

impl System for WrongOnce {
    fn reset(&mut self) {
        self.resets.set(self.resets.get() + 1);
        self.bank.reset();
    }

    fn give(&mut self, stimulus: &Message) -> Vec<Message> {
        let answer = self.bank.give(stimulus);
        if answer[..].iter().any(|m| m.label == "contains") && !self.was_wrong {
            self.was_wrong = true;
            return vec![Message::plain("contains").with("cents", 777)];
        }
        answer
    }
}

#[test]
fn what_cannot_be_seen_again_is_not_shrunk() {
    let model = model();
    let system = WrongOnce::default();
    let resets = Rc::clone(&system.resets);
    let bank = Bound::new(Arc::clone(&model), system);
    let found = check(&model, &mut Local::new(bank), settings()).unwrap_err();
    let text = found.to_string();
    assert!(text.contains("D003 wrong value"), "{text}");
    assert!(text.contains("0 of 3 runs"), "{text}");
    // The test that failed, and three runs to see it again.
    let tests = found.explanation.test.expect("a number");
    assert_eq!(u64::from(resets.get()), tests + 3);
}

//! A small system in Rust against a model in text: a piggy bank takes coins, tells what is in it, and
//! gives everything back when it is broken.

use ioco::{Check, Response, Stimulus, Strategy, System};

use crate::failure;

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

    fn give(&mut self, stimulus: &Stimulus) -> Vec<Response> {
        if self.broken {
            return vec![];
        }
        if stimulus.name() == "break" {
            self.broken = true;
            return vec![Response::new("coins").with("cents", self.total)];
        }
        let cents = stimulus.integer("cents");
        if ![1, 2, 5, 10, 20, 50, 100, 200].contains(&cents) {
            return vec!["refused".into()];
        }
        if self.forgetful && self.last == Some(cents) {
            self.total = 0;
        }
        self.last = Some(cents);
        self.total += cents;
        vec![Response::new("contains").with("cents", self.total)]
    }
}

fn check() -> Check {
    let check = Check::new(MODEL).unwrap();
    check.seed(1).tests(300).strategy(Strategy::Transitions)
}

#[test]
fn the_piggy_bank_conforms_to_its_model() {
    let report = check().run(PiggyBank::default()).unwrap();
    assert_eq!(report.passed(), 300);
    assert_eq!(report.covered_switches(), report.switches());
}

#[test]
fn a_forgetful_piggy_bank_is_found_and_explained() {
    let forgetful = PiggyBank {
        forgetful: true,
        ..PiggyBank::default()
    };
    let found = failure(check().run(forgetful));
    // The same coin twice, and the wrong answer to the second: nothing shorter shows it.
    assert_eq!(found.trace().len(), 4);
    assert!(!found.is_flaky());
    let text = found.to_string();
    for part in [
        "FAIL piggy",
        "D003 wrong value: the piggy sent !contains(cents=1)",
        "model.aml:",
        "tester",
        "expected       !contains(cents=2)",
        "because",
        "confirmed      5 of 5 runs",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    // What `?` and `unwrap` show.
    assert_eq!(format!("{found:?}"), format!("\n{text}"));
}

/// Writes down what it is given.
#[derive(Default)]
struct Recording {
    bank: PiggyBank,
    given: Vec<String>,
}

impl System for Recording {
    fn reset(&mut self) {
        self.bank.reset();
    }

    fn give(&mut self, stimulus: &Stimulus) -> Vec<Response> {
        self.given.push(stimulus.to_string());
        self.bank.give(stimulus)
    }
}

#[test]
fn the_same_seed_gives_the_same_tests_and_another_seed_others() {
    let stimuli = |seed: u64| {
        let mut recording = Recording::default();
        let check = Check::new(MODEL).unwrap().seed(seed).tests(10);
        check.run(&mut recording).unwrap();
        recording.given
    };
    assert_eq!(stimuli(1), stimuli(1));
    assert_ne!(stimuli(1), stimuli(2));
}

//! The adapter and the models that the book shows do what the book says.

use std::sync::Arc;

use ioco_adapters::{Connection, Local, Process, ProcessOptions, Simulated, drive};
use ioco_engine::{Settings, StopConditions, Tester, WaitPolicy};
use ioco_solve::GuardSolver;
use ioco_sts::{Relation, Semantics, Sts, Verdict};

const BOOK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../book/src");

const MODEL: &str = r#"
timeout 5
external 'lock'
process('lock') {
  channel('lock') {
    stimulus 'lock', { 'passcode' => integer(0..9999) }
    stimulus 'unlock', { 'passcode' => integer(0..9999) }
    responses 'locked', 'unlocked', 'incorrect'
  }
  var 'code', :integer
  state 'open'
  receive 'lock', constraint: 'passcode == passcode', update: 'code = passcode'
  send 'locked'
  state 'closed'
  choice {
    o { receive 'unlock', constraint: 'passcode == code'
        send 'unlocked'
        goto 'open' }
    o { receive 'unlock', constraint: 'passcode != code'
        send 'incorrect'
        goto 'closed' }
  }
}
"#;

/// The first program of the chapter in this language.
fn program(language: &str) -> String {
    let chapter = std::fs::read_to_string(format!("{BOOK}/connecting.md")).unwrap();
    let start = format!("```{language}\n");
    let (_, rest) = chapter.split_once(&start).unwrap();
    rest.split_once("```").unwrap().0.to_owned()
}

fn model() -> Arc<Sts> {
    let loaded = ioco_aml::load_text("lock.aml", MODEL);
    loaded
        .sts
        .unwrap_or_else(|| panic!("{:?}", loaded.diagnostics))
}

fn test(program: &str) -> Verdict {
    let sts = model();
    let options = ProcessOptions::new("python3", &["-c", program]);
    let mut connection = Process::new(Arc::clone(&sts), options);
    first_that_does_not_pass(&sts, &mut connection, 20)
}

/// The verdict of the first test that does not pass.
fn first_that_does_not_pass(
    sts: &Arc<Sts>,
    connection: &mut dyn Connection,
    tests: u64,
) -> Verdict {
    let settings = Settings {
        stop: StopConditions {
            tests: Some(tests),
            ..StopConditions::default()
        },
        // Waiting out a silence of five seconds shows nothing here.
        wait: WaitPolicy::Sensible {
            observe: 1.0,
            idle: 0.0,
        },
        ..Settings::default()
    };
    let solver = Box::new(GuardSolver::new());
    let semantics = Semantics::new(Arc::clone(sts), solver, Relation::Ioco);
    let mut tester = Tester::new(semantics, settings);
    while let Some(first) = tester.next_test(connection.now()) {
        drive(&mut tester, first, connection, &|| false, &mut |_| {});
        let verdict = tester.finished_test().execution.verdict;
        if verdict != Verdict::Pass {
            return verdict;
        }
    }
    Verdict::Pass
}

#[test]
fn the_adapter_in_the_book_works() {
    if std::process::Command::new("python3")
        .arg("--version")
        .output()
        .is_err()
    {
        eprintln!("skipped: python3 is not installed");
        return;
    }
    let program = program("python");
    assert_eq!(test(&program), Verdict::Pass);
    let wrong = program.replace("\"unlocked\" if right", "\"unlocked\" if not right");
    assert_ne!(wrong, program);
    assert!(matches!(test(&wrong), Verdict::Fail(_)));
}

#[test]
fn every_model_in_the_book_conforms_to_itself() {
    let mut models = 0;
    for chapter in ["language", "cookbook", "glossary"] {
        let text = std::fs::read_to_string(format!("{BOOK}/{chapter}.md")).unwrap();
        for rest in text.split("```aml\n").skip(1) {
            let (model, _) = rest.split_once("```").unwrap();
            let loaded = ioco_aml::load_text("book.aml", model);
            let sts = loaded.sts.expect("a model");
            let mut itself = Local::new(Simulated::new(Arc::clone(&sts), 1));
            let verdict = first_that_does_not_pass(&sts, &mut itself, 1);
            assert_eq!(verdict, Verdict::Pass, "{chapter}: {model}");
            models += 1;
        }
    }
    assert!(models > 12, "{models} models");
}

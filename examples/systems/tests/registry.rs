//! The registry tests itself: every system and mutant that is listed can be built, resets, and no
//! mutant is the right system under another name.

mod frames;
mod shops;

use ioco_examples::{Message, System, mutants, names, system};
use ioco_sts::Value;

/// A word that wakes the bug of every mutant of a system: (label, values) in order, with resets.
fn messages(name: &str) -> Vec<Message> {
    let m = Message::plain;
    match name {
        "smartdoor" => {
            let lock = |code: i64| m("lock").with("passcode", code);
            let unlock = |code: i64| m("unlock").with("passcode", code);
            vec![
                m("open"),
                m("open"),
                m("close"),
                m("close"),
                m("open"),
                m("close"),
                lock(-1),
                lock(7),
                lock(8),
                unlock(7),
                lock(7),
                unlock(8),
                unlock(7),
                lock(7),
                unlock(10_000),
                unlock(-1),
                unlock(10_000),
                unlock(8),
                unlock(8),
                unlock(8),
                m("open"),
            ]
        }
        "koopman" => {
            let coin = |value: i64| m("Coin").with("value", value);
            let choice = |product: &str| m("Choice").with("product", product);
            vec![
                choice("Espresso"),
                m("Go"),
                m("Info"),
                coin(2),
                m("Info"),
                coin(2),
                m("Go"),
                m("Info"),
                choice("Coffee"),
                coin(2),
                m("Go"),
                m("Info"),
                choice("Espresso"),
                coin(2),
                coin(2),
                coin(1),
                m("Go"),
                m("Info"),
                choice("Wiener"),
                m("Reset"),
                m("Info"),
            ]
        }
        "atm" => {
            let bill = |label: &str, bill: i64| m(label).with("bill", bill);
            let pin = |correct: bool| m("PIN").with("correct", correct);
            vec![
                m("Insert_card").with("valid", true).with("balance", 45),
                pin(false),
                pin(true),
                bill("Withdraw", 100),
                bill("Deposit", 100),
                m("Balance"),
                bill("Withdraw", 100),
                m("Balance"),
                m("Exit"),
            ]
        }
        "echo" => (0..20).map(|n| m("ping").with("number", n)).collect(),
        "queue" => {
            let enqueue = (0..50).map(|n| m("enqueue").with("value", n));
            enqueue
                .chain(std::iter::repeat_n(m("dequeue"), 51))
                .collect()
        }
        _ => Vec::new(),
    }
}

/// For systems that end after one short run: the runs to make, each after a reset.
fn runs(name: &str) -> Vec<Vec<Message>> {
    let m = Message::plain;
    let numbers = |x: i64, y: i64| vec![m("x").with("value", x), m("y").with("value", y)];
    let coins = |values: &[i64]| values.iter().map(|v| m("coin").with("value", *v)).collect();
    match name {
        "blockbuster" => {
            let mut word = vec![shops::example_1()];
            word.extend((0..60).map(shops::shop));
            for profile in shops::profiles() {
                word.push(profile);
                word.extend((0..60).map(shops::shop));
            }
            vec![word]
        }
        "retransmission" => {
            let timeout = || m("sender_timeout");
            use frames::{ack, deliver, request};
            vec![
                // The first frame and the third are repeated, and the message is complete after all.
                vec![
                    request(&[1, 0, 1]),
                    timeout(),
                    timeout(),
                    ack(0),
                    ack(1),
                    timeout(),
                    timeout(),
                    ack(1),
                    ack(0),
                    request(&[1]),
                ],
                // The sender gives up in the middle, and at the end.
                vec![
                    request(&[1, 0]),
                    timeout(),
                    timeout(),
                    timeout(),
                    request(&[1]),
                ],
                vec![
                    request(&[1]),
                    timeout(),
                    timeout(),
                    timeout(),
                    request(&[1]),
                ],
                vec![
                    deliver(true, true, 0, 1),
                    deliver(true, true, 0, 1),
                    deliver(true, false, 1, 0),
                    deliver(false, false, 0, 0),
                    m("receiver_timeout"),
                    deliver(false, false, 1, 0),
                ],
            ]
        }
        "calculator" => vec![numbers(1, 1), numbers(1, 5), numbers(1, 7)],
        "coffee-1" => vec![coins(&[5, 50])],
        "coffee-2" => vec![coins(&[50, 50, 55])],
        "coffee-8" => vec![
            vec![m("coin").with("value", 50), m("button").with("number", 1)],
            vec![m("coin").with("value", 49)],
        ],
        "coffee-9" => vec![coins(&[40, 40]), coins(&[80, 10])],
        "coffee-10" => vec![numbers(-1, 20), numbers(30, 20)],
        _ => vec![messages(name)],
    }
}

fn observe(system: &mut dyn System, runs: &[Vec<Message>]) -> Vec<Vec<Message>> {
    let mut said = Vec::new();
    for run in runs {
        system.reset();
        for stimulus in run {
            system.check(stimulus).expect("a stimulus of the system");
            said.push(system.give(stimulus));
        }
    }
    said
}

#[test]
fn every_listed_mutant_differs_from_the_right_system() {
    for name in names() {
        let runs = runs(name);
        let mut right = system(name, None).expect("a listed system");
        let expected = observe(right.as_mut(), &runs);
        assert!(!mutants(name).is_empty(), "{name} has no mutant");
        for (mutant, bug_type, description) in mutants(name) {
            let mut wrong = system(name, Some(mutant)).expect("a listed mutant");
            assert_ne!(expected, observe(wrong.as_mut(), &runs), "{name} {mutant}");
            assert!(["state", "trace"].contains(bug_type), "{name} {mutant}");
            assert!(description.ends_with('.'), "{name} {mutant}");
        }
    }
}

#[test]
fn a_reset_brings_a_system_back() {
    // The two systems that choose freely are left out: a choice may differ from test to test.
    for name in names()
        .iter()
        .filter(|name| !["calculator", "coffee-10"].contains(name))
    {
        for mutant in [None]
            .into_iter()
            .chain(mutants(name).iter().map(|m| Some(m.0)))
        {
            let mut system = system(name, mutant).expect("a listed system");
            let first = observe(system.as_mut(), &runs(name));
            assert_eq!(
                first,
                observe(system.as_mut(), &runs(name)),
                "{name} {mutant:?}"
            );
        }
    }
}

#[test]
fn unknown_names_are_refused_with_the_known_ones() {
    let error = |name, mutant| system(name, mutant).err().expect("an error");
    assert!(error("toaster", None).contains("smartdoor"));
    assert!(error("atm", Some("m09")).contains("m01, m02, m03, m04, m05"));
    assert!(error("coffee-2", Some("m03")).contains("m01, m02"));
}

#[test]
fn a_stimulus_is_checked_before_it_is_given() {
    let door = system("smartdoor", None).expect("a listed system");
    let check = |stimulus: Message| door.check(&stimulus).err().unwrap_or_default();
    assert!(check(Message::plain("knock")).contains("open, close, lock, unlock"));
    assert!(check(Message::plain("open").with("speed", 1)).contains("no parameter \"speed\""));
    let word = Message::plain("lock").with("passcode", "1234");
    assert!(check(word).contains("must be an integer, not a string"));
    assert_eq!(
        check(Message::plain("lock").with("passcode", Value::Void)),
        ""
    );
}

#[test]
fn the_free_choices_of_the_calculator_show_both_ways() {
    let mut calculator = system("calculator", None).expect("a listed system");
    let run = vec![vec![
        Message::plain("x").with("value", 3),
        Message::plain("y").with("value", 5),
    ]];
    let shown: std::collections::HashSet<_> = (0..100)
        .map(|_| observe(calculator.as_mut(), &run))
        .collect();
    assert_eq!(shown.len(), 2, "16 and 30 are both right");
}

#[test]
fn three_attempts_with_an_invalid_one_shut_the_eighth_door_off() {
    let mut door = system("smartdoor", Some("m08")).expect("a listed mutant");
    let unlock = |code: i64| Message::plain("unlock").with("passcode", code);
    let mut last_answer = |codes: [i64; 3]| {
        door.reset();
        door.give(&Message::plain("lock").with("passcode", 1));
        let said = codes.map(|code| door.give(&unlock(code)));
        said[2].iter().map(|m| m.label.clone()).collect::<Vec<_>>()
    };
    assert_eq!(last_answer([-1, -1, -1]), ["invalid_passcode", "shut_off"]);
    assert_eq!(last_answer([-1, 2, 2]), ["incorrect_passcode", "shut_off"]);
    assert_eq!(last_answer([2, 2, -1]), ["invalid_passcode", "shut_off"]);
    assert_eq!(last_answer([2, 2, 2]), ["shut_off"]);
}

//! The dictionary between flat labels and messages with data.

use std::collections::HashSet;

use ioco_examples::flat::{Case, Narrator};
use ioco_examples::{Message, flat};
use ioco_sts::Direction::{Response, Stimulus};

#[test]
fn the_flat_interfaces_have_the_published_sizes() {
    let sizes = Case::ALL.map(|case| (case.labels(Stimulus).len(), case.labels(Response).len()));
    // Koopman's interface declares one more of each that its model never uses.
    assert_eq!(sizes, [(7, 8), (105, 116), (416, 213)]);
}

#[test]
fn every_flat_response_comes_back_as_it_was() {
    for case in Case::ALL {
        let mut seen = HashSet::new();
        for label in case.labels(Response) {
            let message = case
                .to_data(Response, &label)
                .expect("a label of the dictionary");
            assert_eq!(case.to_flat(&message), label);
            assert!(
                seen.insert(message),
                "{label} means the same as another response"
            );
        }
    }
}

#[test]
fn labels_outside_the_dictionary_are_refused() {
    for (case, label) in [
        (Case::SmartDoor, "lock_incorrect_passcode"),
        (Case::Koopman, "Info_Tea_3"),
        (Case::Koopman, "Info_Coffee_16"),
        (Case::Koopman, "Choice_None"),
        (Case::Atm, "Insert_card_valid_3"),
        (Case::Atm, "Withdraw_500"),
    ] {
        assert_eq!(case.to_data(Stimulus, label), None, "{label}");
        let system = flat::system(case.name(), None).expect("a flat system");
        assert!(system.check(&Message::plain(label)).is_err(), "{label}");
    }
}

/// Plays flat stimuli on a right system, narrates the messages with data, and expects the flat
/// trace back.
fn narrates(case: Case, flat_stimuli: &[&str]) -> Vec<String> {
    let mut system = ioco_examples::system(case.name(), None).expect("a listed system");
    let mut narrator = Narrator::new(case);
    let mut trace = Vec::new();
    for label in flat_stimuli {
        let stimulus = case.to_data(Stimulus, label).expect("a flat stimulus");
        assert_eq!(narrator.name(Stimulus, &stimulus).as_deref(), Some(*label));
        for response in system.give(&stimulus) {
            trace.extend(narrator.name(Response, &response));
        }
    }
    trace
}

#[test]
fn a_narrator_finds_the_flat_names_of_stimuli() {
    let said = narrates(
        Case::Koopman,
        &[
            "Choice_Coffee",
            "Coin2",
            "Coin1",
            "Info_Coffee_3",
            "Go",
            "Info_None_1",
            "Reset",
            "Info_None_0",
        ],
    );
    assert_eq!(
        said,
        [
            "Info_Coffee_3",
            "Cup_Coffee",
            "Info_None_1",
            "Change_1",
            "Info_None_0"
        ]
    );
    let said = narrates(
        Case::Atm,
        &[
            "Insert_card_invalid_5",
            "Insert_card_valid_55",
            "Incorrect_PIN_55",
            "Correct_PIN_55",
            "Withdraw_20",
            "Balance",
            "Exit",
        ],
    );
    assert_eq!(said.last().map(String::as_str), Some("Card_35"));
    narrates(
        Case::SmartDoor,
        &[
            "open",
            "close",
            "lock_invalid_passcode",
            "lock_correct_passcode",
            "unlock_incorrect_passcode",
            "unlock_correct_passcode",
        ],
    );
}

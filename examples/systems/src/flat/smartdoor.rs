//! SmartDoor's flat labels: one correct, one incorrect and one invalid passcode.

use ioco_sts::Message;

/// Stands for every valid passcode that locks the door.
pub const CORRECT: i64 = 1234;
/// Stands for every valid passcode that is not the one of the lock.
pub const INCORRECT: i64 = 4321;
/// Stands for every number that is no passcode.
pub const INVALID: i64 = 10_000;

const STIMULI: [&str; 7] = [
    "open",
    "close",
    "lock_correct_passcode",
    "lock_invalid_passcode",
    "unlock_correct_passcode",
    "unlock_incorrect_passcode",
    "unlock_invalid_passcode",
];

const RESPONSES: [&str; 8] = [
    "opened",
    "closed",
    "locked",
    "unlocked",
    "invalid_command",
    "invalid_passcode",
    "incorrect_passcode",
    "shut_off",
];

pub fn stimuli() -> Vec<String> {
    STIMULI.map(str::to_owned).to_vec()
}

pub fn responses() -> Vec<String> {
    RESPONSES.map(str::to_owned).to_vec()
}

pub fn stimulus_to_data(label: &str) -> Option<Message> {
    Some(match label {
        "open" | "close" => Message::plain(label),
        "lock_correct_passcode" => Message::plain("lock").with("passcode", CORRECT),
        "lock_invalid_passcode" => Message::plain("lock").with("passcode", INVALID),
        "unlock_correct_passcode" => Message::plain("unlock").with("passcode", CORRECT),
        "unlock_incorrect_passcode" => Message::plain("unlock").with("passcode", INCORRECT),
        "unlock_invalid_passcode" => Message::plain("unlock").with("passcode", INVALID),
        _ => return None,
    })
}

pub fn response_to_data(label: &str) -> Option<Message> {
    RESPONSES.contains(&label).then(|| Message::plain(label))
}

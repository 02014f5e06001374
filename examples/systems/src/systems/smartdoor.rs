//! SmartDoor: a door that an app opens, closes, locks and unlocks with a passcode.
//!
//! It is the first experiment of a published study of shrinking, whose recorded traces fix the
//! details. The third incorrect passcode in a row is answered `shut_off` and nothing else; after
//! that the door is silent. A passcode is valid from 0 to 9999. Whether a command is possible at
//! all is checked before its passcode.

use crate::System;
use crate::registry::MutantEntry;
use crate::signature::{Kind, Signature, check};
use ioco_sts::Message;

const PASSCODE: &[(&str, Kind)] = &[("passcode", Kind::Integer)];
const STIMULI: &[Signature] = &[
    Signature::plain("open"),
    Signature::plain("close"),
    Signature::new("lock", PASSCODE),
    Signature::new("unlock", PASSCODE),
];

pub const MUTANTS: &[MutantEntry] = &[
    (
        "m01",
        "state",
        "An opened door cannot be closed: ?close is answered !opened.",
    ),
    (
        "m02",
        "state",
        "?open is accepted when opened, and ?close when closed.",
    ),
    (
        "m03",
        "trace",
        "A locked door can be locked again; the passcode is checked first.",
    ),
    ("m04", "state", "Any valid passcode unlocks the door."),
    (
        "m05",
        "state",
        "An invalid passcode is answered !invalid_command.",
    ),
    (
        "m06",
        "state",
        "Passcodes are not checked for validity: any number locks the door.",
    ),
    ("m07", "state", "The door never shuts off."),
    (
        "m08",
        "trace",
        "An invalid passcode counts as an attempt to unlock the door.",
    ),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Bug {
    OpenedCannotClose,
    RepeatsOpenAndClose,
    LocksTwice,
    AnyPasscodeUnlocks,
    InvalidPasscodeIsInvalidCommand,
    NoValidityCheck,
    NeverShutsOff,
    CountsInvalidPasscodes,
}

fn bug(mutant: &str) -> Option<Bug> {
    Some(match mutant {
        "m01" => Bug::OpenedCannotClose,
        "m02" => Bug::RepeatsOpenAndClose,
        "m03" => Bug::LocksTwice,
        "m04" => Bug::AnyPasscodeUnlocks,
        "m05" => Bug::InvalidPasscodeIsInvalidCommand,
        "m06" => Bug::NoValidityCheck,
        "m07" => Bug::NeverShutsOff,
        "m08" => Bug::CountsInvalidPasscodes,
        _ => return None,
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Door {
    Opened,
    Closed,
    Locked {
        passcode: i64,
        incorrect: u32,
        /// Only the mutant that counts invalid passcodes has any.
        invalid: u32,
    },
    ShutOff,
}

struct SmartDoor {
    door: Door,
    bug: Option<Bug>,
}

pub fn build(mutant: Option<&str>) -> Option<Box<dyn System>> {
    let bug = match mutant {
        None => None,
        Some(name) => Some(bug(name)?),
    };
    Some(Box::new(SmartDoor {
        door: Door::Closed,
        bug,
    }))
}

const MAX_ATTEMPTS: u32 = 3;

impl SmartDoor {
    fn has(&self, bug: Bug) -> bool {
        self.bug == Some(bug)
    }

    fn open(&mut self) -> &'static str {
        match self.door {
            Door::Closed => {
                self.door = Door::Opened;
                "opened"
            }
            Door::Opened if self.has(Bug::RepeatsOpenAndClose) => "opened",
            _ => "invalid_command",
        }
    }

    fn close(&mut self) -> &'static str {
        match self.door {
            Door::Opened if self.has(Bug::OpenedCannotClose) => "opened",
            Door::Opened => {
                self.door = Door::Closed;
                "closed"
            }
            Door::Closed if self.has(Bug::RepeatsOpenAndClose) => "closed",
            _ => "invalid_command",
        }
    }

    fn is_valid(&self, passcode: Option<i64>) -> bool {
        match passcode {
            Some(passcode) => (0..=9999).contains(&passcode) || self.has(Bug::NoValidityCheck),
            None => false,
        }
    }

    fn invalid_passcode(&self) -> &'static str {
        if self.has(Bug::InvalidPasscodeIsInvalidCommand) {
            "invalid_command"
        } else {
            "invalid_passcode"
        }
    }

    fn lock(&mut self, passcode: Option<i64>) -> &'static str {
        let possible = match self.door {
            Door::Closed => true,
            Door::Locked { .. } => self.has(Bug::LocksTwice),
            Door::Opened | Door::ShutOff => false,
        };
        if !possible {
            return "invalid_command";
        }
        match passcode {
            Some(passcode) if self.is_valid(Some(passcode)) => {
                self.door = Door::Locked {
                    passcode,
                    incorrect: 0,
                    invalid: 0,
                };
                "locked"
            }
            _ => self.invalid_passcode(),
        }
    }

    fn unlock(&mut self, given: Option<i64>) -> Vec<&'static str> {
        let Door::Locked {
            passcode,
            mut incorrect,
            mut invalid,
        } = self.door
        else {
            return vec!["invalid_command"];
        };
        let answer = if !self.is_valid(given) {
            if self.has(Bug::CountsInvalidPasscodes) {
                invalid += 1;
            }
            self.invalid_passcode()
        } else if given == Some(passcode) || self.has(Bug::AnyPasscodeUnlocks) {
            self.door = Door::Closed;
            return vec!["unlocked"];
        } else {
            incorrect += 1;
            "incorrect_passcode"
        };
        if incorrect + invalid < MAX_ATTEMPTS || self.has(Bug::NeverShutsOff) {
            self.door = Door::Locked {
                passcode,
                incorrect,
                invalid,
            };
            return vec![answer];
        }
        self.door = Door::ShutOff;
        // The right door says nothing but `shut_off`; a door that has counted an invalid passcode
        // still answers the attempt itself, as the published data has it.
        if invalid == 0 {
            vec!["shut_off"]
        } else {
            vec![answer, "shut_off"]
        }
    }
}

impl System for SmartDoor {
    fn reset(&mut self) {
        self.door = Door::Closed;
    }

    fn give(&mut self, stimulus: &Message) -> Vec<Message> {
        if self.door == Door::ShutOff {
            return Vec::new();
        }
        let passcode = stimulus.integer("passcode");
        let answers = match stimulus.label.as_str() {
            "open" => vec![self.open()],
            "close" => vec![self.close()],
            "lock" => vec![self.lock(passcode)],
            "unlock" => self.unlock(passcode),
            _ => Vec::new(),
        };
        answers.into_iter().map(Message::plain).collect()
    }

    fn check(&self, stimulus: &Message) -> Result<(), String> {
        check(STIMULI, stimulus)
    }
}

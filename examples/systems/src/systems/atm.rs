//! A cash machine: insert a card, enter its PIN, ask for the balance, deposit and withdraw bills.
//!
//! The balance comes with the card, from 0 to 500 in steps of 5, and goes with it. The third
//! incorrect PIN is answered `PIN_incorrect` and then `Card_blocked`. A deposit is answered with
//! the new balance, a withdrawal with the bill.

use crate::System;
use crate::registry::MutantEntry;
use crate::signature::{Kind, Signature, check};
use ioco_sts::Message;

const BILL: &[(&str, Kind)] = &[("bill", Kind::Integer)];
const STIMULI: &[Signature] = &[
    Signature::new(
        "Insert_card",
        &[("valid", Kind::Boolean), ("balance", Kind::Integer)],
    ),
    Signature::new("PIN", &[("correct", Kind::Boolean)]),
    Signature::plain("Balance"),
    Signature::new("Withdraw", BILL),
    Signature::new("Deposit", BILL),
    Signature::plain("Exit"),
];

pub const MUTANTS: &[MutantEntry] = &[
    (
        "m01",
        "state",
        "A withdrawal is not checked against the balance.",
    ),
    (
        "m02",
        "trace",
        "A withdrawal does not decrease the balance.",
    ),
    ("m03", "state", "A withdrawal of 100 gives a bill of 10."),
    ("m04", "state", "An incorrect PIN is accepted."),
    (
        "m05",
        "trace",
        "After a deposit, ?Balance is answered with the bill deposited last, not the balance.",
    ),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Bug {
    NoBalanceCheck,
    WithdrawKeepsBalance,
    Bill100Is10,
    AcceptsIncorrectPin,
    BalanceIsLastDeposit,
}

fn bug(mutant: &str) -> Option<Bug> {
    Some(match mutant {
        "m01" => Bug::NoBalanceCheck,
        "m02" => Bug::WithdrawKeepsBalance,
        "m03" => Bug::Bill100Is10,
        "m04" => Bug::AcceptsIncorrectPin,
        "m05" => Bug::BalanceIsLastDeposit,
        _ => return None,
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Session {
    Idle,
    /// A valid card is in; its PIN is asked for.
    Pin {
        balance: i64,
        incorrect: u32,
    },
    Open {
        balance: i64,
        /// Of this session: what is remembered goes with the card.
        last_deposit: Option<i64>,
    },
}

const BILLS: [i64; 5] = [5, 10, 20, 50, 100];
const MAX_BALANCE: i64 = 500;
const MAX_INCORRECT: u32 = 3;

struct Atm {
    session: Session,
    bug: Option<Bug>,
}

pub fn build(mutant: Option<&str>) -> Option<Box<dyn System>> {
    let bug = match mutant {
        None => None,
        Some(name) => Some(bug(name)?),
    };
    Some(Box::new(Atm {
        session: Session::Idle,
        bug,
    }))
}

fn shown_balance(amount: i64) -> Vec<Message> {
    vec![Message::plain("Balance").with("amount", amount)]
}

impl Atm {
    fn has(&self, bug: Bug) -> bool {
        self.bug == Some(bug)
    }

    fn idle(&mut self, stimulus: &Message) -> Vec<Message> {
        if stimulus.label != "Insert_card" {
            return Vec::new();
        }
        match (stimulus.boolean("valid"), stimulus.integer("balance")) {
            (Some(true), Some(balance)) if (0..=MAX_BALANCE).contains(&balance) => {
                self.session = Session::Pin {
                    balance,
                    incorrect: 0,
                };
                vec![Message::plain("Card_valid")]
            }
            _ => vec![Message::plain("Card_invalid")],
        }
    }

    fn pin(&mut self, stimulus: &Message, balance: i64, incorrect: u32) -> Vec<Message> {
        let correct = match (stimulus.label.as_str(), stimulus.boolean("correct")) {
            ("PIN", Some(correct)) => correct,
            _ => return Vec::new(),
        };
        if correct || self.has(Bug::AcceptsIncorrectPin) {
            self.session = Session::Open {
                balance,
                last_deposit: None,
            };
            return vec![Message::plain("PIN_correct")];
        }
        let incorrect = incorrect + 1;
        if incorrect < MAX_INCORRECT {
            self.session = Session::Pin { balance, incorrect };
            return vec![Message::plain("PIN_incorrect")];
        }
        self.session = Session::Idle;
        vec![
            Message::plain("PIN_incorrect"),
            Message::plain("Card_blocked"),
        ]
    }

    fn open(
        &mut self,
        stimulus: &Message,
        balance: i64,
        last_deposit: Option<i64>,
    ) -> Vec<Message> {
        let bill = stimulus.integer("bill").filter(|bill| BILLS.contains(bill));
        match (stimulus.label.as_str(), bill) {
            ("Balance", _) => match last_deposit {
                Some(bill) if self.has(Bug::BalanceIsLastDeposit) => shown_balance(bill),
                _ => shown_balance(balance),
            },
            ("Exit", _) => {
                self.session = Session::Idle;
                vec![Message::plain("Card").with("balance", balance)]
            }
            ("Deposit", Some(bill)) => {
                // More than the most an account may hold is not taken.
                if balance + bill > MAX_BALANCE {
                    return shown_balance(balance);
                }
                self.session = Session::Open {
                    balance: balance + bill,
                    last_deposit: Some(bill),
                };
                shown_balance(balance + bill)
            }
            ("Withdraw", Some(bill)) => self.withdraw(bill, balance, last_deposit),
            _ => Vec::new(),
        }
    }

    fn withdraw(&mut self, bill: i64, balance: i64, last_deposit: Option<i64>) -> Vec<Message> {
        if bill > balance && !self.has(Bug::NoBalanceCheck) {
            return vec![Message::plain("Insufficient_balance")];
        }
        if !self.has(Bug::WithdrawKeepsBalance) {
            self.session = Session::Open {
                balance: (balance - bill).max(0),
                last_deposit,
            };
        }
        let given = if bill == 100 && self.has(Bug::Bill100Is10) {
            10
        } else {
            bill
        };
        vec![Message::plain("Cash").with("bill", given)]
    }
}

impl System for Atm {
    fn reset(&mut self) {
        self.session = Session::Idle;
    }

    fn give(&mut self, stimulus: &Message) -> Vec<Message> {
        match self.session {
            Session::Idle => self.idle(stimulus),
            Session::Pin { balance, incorrect } => self.pin(stimulus, balance, incorrect),
            Session::Open {
                balance,
                last_deposit,
            } => self.open(stimulus, balance, last_deposit),
        }
    }

    fn check(&self, stimulus: &Message) -> Result<(), String> {
        check(STIMULI, stimulus)
    }
}

//! Flat names for the steps of a trace with data.

use ioco_sts::{Direction, Value};

use super::{Case, smartdoor};
use ioco_sts::Message;

/// Follows a conforming trace from a reset on and names its steps as a flat model would.
///
/// It remembers just what flat stimuli carry and messages do not: the passcode of the lock, the
/// product and balance of the vending machine, the balance of the card.
pub struct Narrator {
    case: Case,
    passcode: i64,
    product: String,
    amount: i64,
    last_stimulus: Option<Message>,
}

impl Narrator {
    pub fn new(case: Case) -> Narrator {
        Narrator {
            case,
            passcode: smartdoor::CORRECT,
            product: "None".to_owned(),
            amount: 0,
            last_stimulus: None,
        }
    }

    /// The flat label of the next step; nothing for a message that the dictionary does not know.
    pub fn name(&mut self, direction: Direction, message: &Message) -> Option<String> {
        match direction {
            Direction::Internal => None,
            Direction::Stimulus => {
                let label = self.stimulus(message);
                self.last_stimulus = Some(message.clone());
                label
            }
            Direction::Response => {
                self.response(message);
                Some(self.case.to_flat(message))
            }
        }
    }

    fn stimulus(&mut self, stimulus: &Message) -> Option<String> {
        let label = stimulus.label.as_str();
        match (self.case, label) {
            (Case::SmartDoor, "lock" | "unlock") => {
                let passcode = stimulus.integer("passcode")?;
                let kind = if !(0..=9999).contains(&passcode) {
                    "invalid"
                } else if label == "lock" || passcode == self.passcode {
                    "correct"
                } else {
                    "incorrect"
                };
                Some(format!("{label}_{kind}_passcode"))
            }
            (Case::Koopman, "Coin") => {
                let value = stimulus.integer("value")?;
                self.amount += value;
                Some(format!("Coin{value}"))
            }
            (Case::Koopman, "Choice") => {
                self.product = stimulus.text("product")?.to_owned();
                Some(format!("Choice_{}", self.product))
            }
            (Case::Koopman, "Info") => Some(format!("Info_{}_{}", self.product, self.amount)),
            (Case::Koopman, "Reset") => {
                self.product = "None".to_owned();
                self.amount = 0;
                Some("Reset".to_owned())
            }
            (Case::Atm, "Insert_card") => {
                let kind = if stimulus.boolean("valid")? {
                    "valid"
                } else {
                    "invalid"
                };
                self.amount = stimulus.integer("balance")?;
                Some(format!("Insert_card_{kind}_{}", self.amount))
            }
            (Case::Atm, "PIN") => {
                let kind = if stimulus.boolean("correct")? {
                    "Correct"
                } else {
                    "Incorrect"
                };
                Some(format!("{kind}_PIN_{}", self.amount))
            }
            (Case::Atm, "Withdraw" | "Deposit") => {
                Some(format!("{label}_{}", stimulus.integer("bill")?))
            }
            _ => Some(label.to_owned()),
        }
    }

    fn response(&mut self, response: &Message) {
        match (self.case, response.label.as_str()) {
            (Case::SmartDoor, "locked") => {
                let given = self.last_stimulus.as_ref().map(|s| s.value("passcode"));
                if let Some(Value::Int(passcode)) = given {
                    self.passcode = *passcode;
                }
            }
            (Case::Koopman, "Cup") => {
                self.amount -= if self.product == "Coffee" { 2 } else { 3 };
                self.product = "None".to_owned();
            }
            _ => {}
        }
    }
}

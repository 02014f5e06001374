//! The three systems of van den Broek 2024 with their mutants, on flat labels, written down from the
//! descriptions and the published traces.

/// Every mutant of van den Broek 2024, Tables 5.2 to 5.4.
pub const MUTANTS: [(&str, u32); 3] = [("smartdoor", 8), ("koopman", 10), ("atm", 5)];

/// A system under test that answers at once.
pub trait FlatSystem: std::fmt::Debug {
    fn give(&mut self, stimulus: &str) -> Vec<String>;
    fn fork(&self) -> Box<dyn FlatSystem>;
}

pub fn system(experiment: &str, mutant: &str) -> Box<dyn FlatSystem> {
    let mutant: u32 = mutant[1..].parse().expect("mutants are m01, m02, ...");
    match experiment {
        "smartdoor" => Box::new(Door {
            mutant,
            state: DoorState::Closed,
            attempts: 0,
        }),
        "koopman" => Box::new(Vending {
            mutant,
            product: "None".to_owned(),
            balance: 0,
        }),
        _ => Box::new(Atm {
            mutant,
            balance: 0,
            wrong: 0,
            deposited: None,
        }),
    }
}

#[derive(PartialEq, Clone, Copy, Debug)]
enum DoorState {
    Closed,
    Opened,
    Locked,
    Off,
}

#[derive(Clone, Debug)]
struct Door {
    mutant: u32,
    state: DoorState,
    attempts: u32,
}

impl Door {
    fn attempt(&mut self, usual: &str) -> Vec<String> {
        self.attempts += 1;
        if self.attempts < 3 || self.mutant == 7 {
            return vec![usual.to_owned()];
        }
        self.state = DoorState::Off;
        let mut answers = vec!["shut_off".to_owned()];
        if self.mutant == 8 {
            answers.insert(0, usual.to_owned());
        }
        answers
    }
}

impl FlatSystem for Door {
    fn fork(&self) -> Box<dyn FlatSystem> {
        Box::new(self.clone())
    }

    fn give(&mut self, stimulus: &str) -> Vec<String> {
        use DoorState::{Closed, Locked, Off, Opened};
        let m = self.mutant;
        let answer = match (self.state, stimulus) {
            (Off, _) => return Vec::new(),
            (Closed, "open") => {
                self.state = Opened;
                "opened"
            }
            (Opened, "open") if m == 2 => "opened",
            (Closed, "close") if m == 2 => "closed",
            (Opened, "close") if m == 1 => "opened",
            (Opened, "close") => {
                self.state = Closed;
                "closed"
            }
            (Closed | Locked, "lock_invalid_passcode" | "unlock_invalid_passcode") if m == 5 => {
                "invalid_command"
            }
            (Closed, "lock_correct_passcode") => {
                self.state = Locked;
                self.attempts = 0;
                "locked"
            }
            (Locked, "lock_correct_passcode") if m == 3 => "locked",
            (Closed, "lock_invalid_passcode") if m == 6 => "locked",
            (Closed, "lock_invalid_passcode") => "invalid_passcode",
            (Locked, "lock_invalid_passcode") if m == 3 => "invalid_passcode",
            (Locked, "unlock_correct_passcode") => {
                self.state = Closed;
                "unlocked"
            }
            (Locked, "unlock_incorrect_passcode") if m == 4 => {
                self.state = Closed;
                "unlocked"
            }
            (Locked, "unlock_incorrect_passcode") => return self.attempt("incorrect_passcode"),
            (Locked, "unlock_invalid_passcode") if m == 6 => "incorrect_passcode",
            (Locked, "unlock_invalid_passcode") if m == 8 => {
                return self.attempt("invalid_passcode");
            }
            (Locked, "unlock_invalid_passcode") => "invalid_passcode",
            _ => "invalid_command",
        };
        vec![answer.to_owned()]
    }
}

#[derive(Clone, Debug)]
struct Vending {
    mutant: u32,
    product: String,
    balance: i64,
}

impl Vending {
    fn go(&mut self) -> Vec<String> {
        let m = self.mutant;
        let price = if self.product == "Coffee" && m != 5 {
            2
        } else {
            3
        };
        if self.product == "None" || (self.balance < price && m != 9) {
            return Vec::new();
        }
        let cup = if m == 6 { "Coffee" } else { &self.product };
        let answer = format!("Cup_{cup}");
        self.balance = if m == 2 { 0 } else { self.balance - price };
        let remembers = m == 1 || (m == 10 && self.balance > 0);
        if !remembers {
            self.product = "None".to_owned();
        }
        vec![answer]
    }
}

impl FlatSystem for Vending {
    fn fork(&self) -> Box<dyn FlatSystem> {
        Box::new(self.clone())
    }

    fn give(&mut self, stimulus: &str) -> Vec<String> {
        let m = self.mutant;
        match stimulus {
            "Coin1" => self.balance += 1,
            "Coin2" => {
                self.balance += if m == 3 { 1 } else { 2 };
                match m {
                    7 => self.product = "None".to_owned(),
                    8 => self.product = "Coffee".to_owned(),
                    _ => {}
                }
            }
            "Go" => return self.go(),
            "Reset" => {
                let change = std::mem::take(&mut self.balance);
                if m != 4 {
                    self.product = "None".to_owned();
                }
                if change > 0 {
                    return vec![format!("Change_{change}")];
                }
            }
            _ if stimulus.starts_with("Info_") => {
                return vec![format!("Info_{}_{}", self.product, self.balance)];
            }
            _ => self.product = stimulus.trim_start_matches("Choice_").to_owned(),
        }
        Vec::new()
    }
}

#[derive(Clone, Debug)]
struct Atm {
    mutant: u32,
    balance: i64,
    wrong: u32,
    deposited: Option<i64>,
}

impl FlatSystem for Atm {
    fn fork(&self) -> Box<dyn FlatSystem> {
        Box::new(self.clone())
    }

    fn give(&mut self, stimulus: &str) -> Vec<String> {
        let m = self.mutant;
        let (name, number) = match stimulus.rsplit_once('_') {
            Some((name, number)) => (name, number.parse().unwrap_or(0)),
            None => (stimulus, 0),
        };
        let answer = match name {
            "Insert_card_valid" => {
                self.balance = number;
                self.wrong = 0;
                "Card_valid".to_owned()
            }
            "Insert_card_invalid" => "Card_invalid".to_owned(),
            "Incorrect_PIN" if m != 4 => {
                self.wrong += 1;
                if self.wrong == 3 {
                    return vec!["PIN_incorrect".to_owned(), "Card_blocked".to_owned()];
                }
                "PIN_incorrect".to_owned()
            }
            "Correct_PIN" | "Incorrect_PIN" => "PIN_correct".to_owned(),
            "Withdraw" if number > self.balance && m != 1 => "Insufficient_balance".to_owned(),
            "Withdraw" => {
                let bill = if m == 3 && number == 100 { 10 } else { number };
                if m != 2 {
                    self.balance -= bill;
                }
                bill.to_string()
            }
            "Deposit" => {
                self.balance += number;
                self.deposited = Some(number);
                format!("Balance: {}", self.balance)
            }
            "Balance" => {
                let shown = match self.deposited {
                    Some(bill) if m == 5 => bill,
                    _ => self.balance,
                };
                format!("Balance: {shown}")
            }
            _ => format!("Card_{}", self.balance),
        };
        vec![answer]
    }
}

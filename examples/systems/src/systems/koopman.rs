//! A vending machine for hot drinks that takes two kinds of coins and keeps a balance.
//!
//! Every product costs 3, coffee 2. A balance above 15 is refused: the coin falls through with a
//! message, which no model here asks for. A cup is dispensed when the chosen product can be paid;
//! the choice is then forgotten and the rest of the balance kept.

use crate::System;
use crate::registry::MutantEntry;
use crate::signature::{Kind, Signature, check};
use ioco_sts::Message;

const STIMULI: &[Signature] = &[
    Signature::new("Coin", &[("value", Kind::Integer)]),
    Signature::new("Choice", &[("product", Kind::Text)]),
    Signature::plain("Go"),
    Signature::plain("Reset"),
    Signature::plain("Info"),
];

pub const MUTANTS: &[MutantEntry] = &[
    (
        "m01",
        "trace",
        "The chosen product is remembered after a cup.",
    ),
    (
        "m02",
        "trace",
        "The rest of the balance is lost after a cup.",
    ),
    ("m03", "state", "A coin of 2 adds 1 to the balance."),
    ("m04", "trace", "?Reset keeps the chosen product."),
    ("m05", "trace", "All products cost 3, coffee too."),
    (
        "m06",
        "state",
        "Every cup is coffee, whatever was chosen; the price is that of the choice.",
    ),
    (
        "m07",
        "trace",
        "A coin of 2 sets the chosen product to None.",
    ),
    (
        "m08",
        "trace",
        "A coin of 2 sets the chosen product to Coffee.",
    ),
    ("m09", "trace", "?Go does not look at the balance."),
    (
        "m10",
        "trace",
        "The chosen product is remembered after a cup when balance is left.",
    ),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Bug {
    KeepsProductAfterCup,
    LosesBalanceAfterCup,
    Coin2AddsOne,
    ResetKeepsProduct,
    UniformPrice,
    AlwaysCoffee,
    Coin2ClearsProduct,
    Coin2ChoosesCoffee,
    NoBalanceCheck,
    KeepsProductWithBalance,
}

fn bug(mutant: &str) -> Option<Bug> {
    Some(match mutant {
        "m01" => Bug::KeepsProductAfterCup,
        "m02" => Bug::LosesBalanceAfterCup,
        "m03" => Bug::Coin2AddsOne,
        "m04" => Bug::ResetKeepsProduct,
        "m05" => Bug::UniformPrice,
        "m06" => Bug::AlwaysCoffee,
        "m07" => Bug::Coin2ClearsProduct,
        "m08" => Bug::Coin2ChoosesCoffee,
        "m09" => Bug::NoBalanceCheck,
        "m10" => Bug::KeepsProductWithBalance,
        _ => return None,
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Product {
    Coffee,
    Espresso,
    Double,
    French,
    Wiener,
}

impl Product {
    const ALL: [Product; 5] = [
        Product::Coffee,
        Product::Espresso,
        Product::Double,
        Product::French,
        Product::Wiener,
    ];

    fn name(self) -> &'static str {
        match self {
            Product::Coffee => "Coffee",
            Product::Espresso => "Espresso",
            Product::Double => "Double",
            Product::French => "French",
            Product::Wiener => "Wiener",
        }
    }

    fn from_name(name: &str) -> Option<Product> {
        Product::ALL.into_iter().find(|p| p.name() == name)
    }
}

/// Also the fullest that the published model lets the machine get.
const MAX_BALANCE: i64 = 15;

struct Machine {
    product: Option<Product>,
    balance: i64,
    bug: Option<Bug>,
}

pub fn build(mutant: Option<&str>) -> Option<Box<dyn System>> {
    let bug = match mutant {
        None => None,
        Some(name) => Some(bug(name)?),
    };
    Some(Box::new(Machine {
        product: None,
        balance: 0,
        bug,
    }))
}

impl Machine {
    fn has(&self, bug: Bug) -> bool {
        self.bug == Some(bug)
    }

    fn price(&self, product: Product) -> i64 {
        match product {
            Product::Coffee if !self.has(Bug::UniformPrice) => 2,
            _ => 3,
        }
    }

    fn coin(&mut self, value: i64) -> Option<Message> {
        let worth = match value {
            1 => 1,
            2 if self.has(Bug::Coin2AddsOne) => 1,
            2 => 2,
            _ => return None,
        };
        if self.balance + worth > MAX_BALANCE {
            return Some(Message::plain("Max_balance_reached"));
        }
        self.balance += worth;
        if value == 2 && self.has(Bug::Coin2ClearsProduct) {
            self.product = None;
        }
        if value == 2 && self.has(Bug::Coin2ChoosesCoffee) {
            self.product = Some(Product::Coffee);
        }
        None
    }

    fn go(&mut self) -> Option<Message> {
        let product = self.product?;
        let rest = self.balance - self.price(product);
        if rest < 0 && !self.has(Bug::NoBalanceCheck) {
            return None;
        }
        // Without the check a cup may cost more than there is; a balance is never negative.
        self.balance = if self.has(Bug::LosesBalanceAfterCup) {
            0
        } else {
            rest.max(0)
        };
        let keeps = self.has(Bug::KeepsProductAfterCup)
            || self.has(Bug::KeepsProductWithBalance) && self.balance > 0;
        if !keeps {
            self.product = None;
        }
        let cup = if self.has(Bug::AlwaysCoffee) {
            Product::Coffee
        } else {
            product
        };
        Some(Message::plain("Cup").with("product", cup.name()))
    }

    fn cancel(&mut self) -> Option<Message> {
        if !self.has(Bug::ResetKeepsProduct) {
            self.product = None;
        }
        let change = std::mem::take(&mut self.balance);
        (change > 0).then(|| Message::plain("Change").with("amount", change))
    }

    fn info(&self) -> Message {
        Message::plain("Info")
            .with("product", self.product.map_or("None", Product::name))
            .with("amount", self.balance)
    }
}

impl System for Machine {
    fn reset(&mut self) {
        self.product = None;
        self.balance = 0;
    }

    fn give(&mut self, stimulus: &Message) -> Vec<Message> {
        let answer = match stimulus.label.as_str() {
            "Coin" => stimulus.integer("value").and_then(|value| self.coin(value)),
            "Choice" => {
                if let Some(product) = stimulus.text("product").and_then(Product::from_name) {
                    self.product = Some(product);
                }
                None
            }
            "Go" => self.go(),
            "Reset" => self.cancel(),
            "Info" => Some(self.info()),
            _ => None,
        };
        answer.into_iter().collect()
    }

    fn check(&self, stimulus: &Message) -> Result<(), String> {
        check(STIMULI, stimulus)
    }
}

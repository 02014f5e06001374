//! The shop of videos of Sietsma 2009, section 4: which movies to buy and which to sell.
//!
//! `categories` and `classes` set the profile, `shop` says what is in stock. The answer is a sequence
//! of transactions after which every category has its best percentage: Algorithm 1 of the paper. Each
//! transaction takes the largest major deviations first, and so do the classes within it.
//!
//! Where a class' percentage is no whole number of movies it is rounded down, and the last class gets
//! what is left. Where two deviations are equally large, the one listed first is taken.

use crate::System;
use crate::registry::MutantEntry;
use crate::signature::{Kind, Signature, check};
use ioco_sts::Message;

const CATEGORIES: [(&str, &str); 4] = [
    ("action", "Action"),
    ("drama", "Drama"),
    ("documentary", "Documentary"),
    ("music", "Music"),
];
const CLASSES: [&str; 3] = ["top40", "new", "other"];

const STIMULI: &[Signature] = &[
    Signature::new(
        "categories",
        &[
            ("action_min", Kind::Integer),
            ("action_opt", Kind::Integer),
            ("action_max", Kind::Integer),
            ("drama_min", Kind::Integer),
            ("drama_opt", Kind::Integer),
            ("drama_max", Kind::Integer),
            ("documentary_min", Kind::Integer),
            ("documentary_opt", Kind::Integer),
            ("documentary_max", Kind::Integer),
            ("music_min", Kind::Integer),
            ("music_opt", Kind::Integer),
            ("music_max", Kind::Integer),
        ],
    ),
    Signature::new(
        "classes",
        &[
            ("top40_min", Kind::Integer),
            ("top40_opt", Kind::Integer),
            ("top40_max", Kind::Integer),
            ("new_min", Kind::Integer),
            ("new_opt", Kind::Integer),
            ("new_max", Kind::Integer),
            ("other_min", Kind::Integer),
            ("other_opt", Kind::Integer),
            ("other_max", Kind::Integer),
        ],
    ),
    Signature::new(
        "shop",
        &[
            ("hundreds", Kind::Integer),
            ("action_top40", Kind::Integer),
            ("action_new", Kind::Integer),
            ("action_other", Kind::Integer),
            ("drama_top40", Kind::Integer),
            ("drama_new", Kind::Integer),
            ("drama_other", Kind::Integer),
            ("documentary_top40", Kind::Integer),
            ("documentary_new", Kind::Integer),
            ("documentary_other", Kind::Integer),
            ("music_top40", Kind::Integer),
            ("music_new", Kind::Integer),
            ("music_other", Kind::Integer),
        ],
    ),
];

pub const MUTANTS: &[MutantEntry] = &[
    (
        "m01",
        "state",
        "The smallest of several major shortages comes first.",
    ),
    (
        "m02",
        "state",
        "The largest shortage comes first, be it major or minor.",
    ),
    (
        "m03",
        "state",
        "The largest excess comes first, be it major or minor.",
    ),
    (
        "m04",
        "state",
        "The whole shortage is bought, even where the excess is smaller.",
    ),
    (
        "m05",
        "state",
        "Classes to buy are measured against the category as it was before.",
    ),
    (
        "m06",
        "state",
        "Classes to sell are measured against the category as it was before.",
    ),
    (
        "m07",
        "state",
        "Classes are bought in the order Top 40, new, other.",
    ),
    (
        "m08",
        "state",
        "Within a category the largest excess comes first, be it major or minor.",
    ),
    (
        "m09",
        "state",
        "Everything is bought in the class that comes first.",
    ),
    ("m10", "trace", "There is no third transaction."),
    (
        "m11",
        "trace",
        "What is sold stays in the stock of its class.",
    ),
    (
        "m12",
        "trace",
        "New maxima of categories are not taken over.",
    ),
    (
        "m13",
        "state",
        "The percentage of new releases is rounded up.",
    ),
    (
        "m14",
        "trace",
        "The last transaction is followed by one of no movies.",
    ),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Bug {
    SmallestFirst,
    MajorShortagesIgnored,
    MajorExcessesIgnored,
    WholeShortage,
    BuysByOldNumber,
    SellsByOldNumber,
    FixedOrder,
    MajorClassesIgnored,
    OneClass,
    TwoTransactions,
    SoldStays,
    OldMaxima,
    RoundsUp,
    EmptyTransaction,
}

fn bug(mutant: &str) -> Option<Bug> {
    Some(match mutant {
        "m01" => Bug::SmallestFirst,
        "m02" => Bug::MajorShortagesIgnored,
        "m03" => Bug::MajorExcessesIgnored,
        "m04" => Bug::WholeShortage,
        "m05" => Bug::BuysByOldNumber,
        "m06" => Bug::SellsByOldNumber,
        "m07" => Bug::FixedOrder,
        "m08" => Bug::MajorClassesIgnored,
        "m09" => Bug::OneClass,
        "m10" => Bug::TwoTransactions,
        "m11" => Bug::SoldStays,
        "m12" => Bug::OldMaxima,
        "m13" => Bug::RoundsUp,
        "m14" => Bug::EmptyTransaction,
        _ => return None,
    })
}

/// What is wanted of a category or class, in percent.
#[derive(Clone, Copy)]
struct Wanted {
    min: i64,
    opt: i64,
    max: i64,
}

const fn wanted(min: i64, opt: i64, max: i64) -> Wanted {
    Wanted { min, opt, max }
}

/// The profile before any other is set: Table 2 of the paper.
const USUAL_CATEGORIES: [Wanted; 4] = [
    wanted(15, 25, 70),
    wanted(5, 25, 35),
    wanted(5, 25, 45),
    wanted(20, 25, 35),
];
const USUAL_CLASSES: [Wanted; 3] = [wanted(10, 40, 50), wanted(20, 30, 45), wanted(5, 30, 40)];

/// How far something is from its best number, and whether that is major. Negative is no deviation
/// in the direction asked for.
#[derive(Clone, Copy)]
struct Deviation {
    amount: i64,
    major: bool,
}

/// The largest major deviation, or the largest; the first of equals.
fn largest(deviations: &[Deviation], major_first: bool) -> usize {
    let mut best = 0;
    for (index, deviation) in deviations.iter().enumerate() {
        let is_better = |than: Deviation| match deviation.major == than.major || !major_first {
            true => deviation.amount > than.amount,
            false => deviation.major,
        };
        if is_better(deviations[best]) {
            best = index;
        }
    }
    best
}

/// Movies of one category, per class.
type Classes = [i64; 3];

struct Blockbuster {
    categories: [Wanted; 4],
    classes: [Wanted; 3],
    bug: Option<Bug>,
}

pub fn build(mutant: Option<&str>) -> Option<Box<dyn System>> {
    let bug = match mutant {
        None => None,
        Some(name) => Some(bug(name)?),
    };
    Some(Box::new(Blockbuster {
        categories: USUAL_CATEGORIES,
        classes: USUAL_CLASSES,
        bug,
    }))
}

/// Three percentages each; `None` where one is missing.
fn read_wanted<const N: usize>(stimulus: &Message, names: [&str; N]) -> Option<[Wanted; N]> {
    let mut read = [wanted(0, 0, 0); N];
    for (slot, name) in read.iter_mut().zip(names) {
        let part = |limit: &str| stimulus.integer(&format!("{name}_{limit}"));
        *slot = wanted(part("min")?, part("opt")?, part("max")?);
    }
    Some(read)
}

impl Blockbuster {
    fn has(&self, bug: Bug) -> bool {
        self.bug == Some(bug)
    }

    fn optimise(&self, hundreds: i64, mut stock: [Classes; 4]) -> Vec<Message> {
        let mut transactions = Vec::new();
        let mut totals = stock.map(|classes| classes.iter().sum::<i64>());
        let missing = |totals: &[i64; 4], c: usize| self.categories[c].opt * hundreds - totals[c];
        let most = match self.has(Bug::TwoTransactions) {
            true => 2,
            false => 3,
        };
        // Every transaction makes one category right, and the last one two.
        while transactions.len() < most && (0..4).any(|c| missing(&totals, c) != 0) {
            let shortages = [0, 1, 2, 3].map(|c| Deviation {
                amount: missing(&totals, c),
                major: totals[c] < self.categories[c].min * hundreds,
            });
            let excesses = [0, 1, 2, 3].map(|c| Deviation {
                amount: -missing(&totals, c),
                major: totals[c] > self.categories[c].max * hundreds,
            });
            let buying = self.buying(&shortages);
            let selling = largest(&excesses, !self.has(Bug::MajorExcessesIgnored));
            let (shortage, excess) = (shortages[buying].amount, excesses[selling].amount);
            let number = match self.has(Bug::WholeShortage) {
                true => shortage,
                false => shortage.min(excess),
            };
            let buy = self.buy(stock[buying], number);
            let sell = self.sell(stock[selling], number);
            for class in 0..3 {
                stock[buying][class] += buy[class];
                if !self.has(Bug::SoldStays) {
                    stock[selling][class] -= sell[class];
                }
            }
            totals[buying] += number;
            totals[selling] -= number;
            transactions.push(transaction([buying, selling], number, buy, sell));
        }
        if self.has(Bug::EmptyTransaction) && !transactions.is_empty() {
            transactions.push(transaction([0, 1], 0, [0; 3], [0; 3]));
        }
        transactions
    }

    fn buying(&self, shortages: &[Deviation; 4]) -> usize {
        if self.has(Bug::SmallestFirst) && shortages.iter().any(|s| s.major) {
            let smallest = (0..4).filter(|c| shortages[*c].major);
            return smallest.min_by_key(|c| shortages[*c].amount).unwrap_or(0);
        }
        largest(shortages, !self.has(Bug::MajorShortagesIgnored))
    }

    /// The best numbers of movies per class in a category of `total`.
    fn best(&self, total: i64) -> Classes {
        let top40 = self.classes[0].opt * total / 100;
        let new = match self.has(Bug::RoundsUp) {
            true => (self.classes[1].opt * total + 99) / 100,
            false => self.classes[1].opt * total / 100,
        };
        [top40, new, total - top40 - new]
    }

    /// How many movies to buy per class.
    fn buy(&self, stock: Classes, number: i64) -> Classes {
        let before: i64 = stock.iter().sum();
        let after = match self.has(Bug::BuysByOldNumber) {
            true => before,
            false => before + number,
        };
        let best = self.best(after);
        let mut plan = [0; 3];
        let mut open = [true; 3];
        let mut left = number;
        while left > 0 {
            let shortages = [0, 1, 2].map(|class| Deviation {
                amount: if open[class] {
                    best[class] - stock[class]
                } else {
                    0
                },
                major: open[class] && stock[class] < self.classes[class].min * after / 100,
            });
            let class = match self.has(Bug::FixedOrder) {
                true => (0..3).find(|c| shortages[*c].amount > 0).unwrap_or(2),
                false => largest(&shortages, true),
            };
            // With wrong numbers the shortages may not be enough.
            if shortages[class].amount <= 0 {
                break;
            }
            let most = match self.has(Bug::OneClass) {
                true => left,
                false => shortages[class].amount,
            };
            plan[class] = most.min(left);
            left -= plan[class];
            open[class] = false;
        }
        plan
    }

    /// How many movies to sell per class.
    fn sell(&self, stock: Classes, number: i64) -> Classes {
        let before: i64 = stock.iter().sum();
        let after = match self.has(Bug::SellsByOldNumber) {
            true => before,
            false => before - number,
        };
        let best = self.best(after);
        let mut plan = [0; 3];
        let mut open = [true; 3];
        let mut left = number;
        while left > 0 {
            let excesses = [0, 1, 2].map(|class| {
                let most = self.classes[class].max * after / 100;
                Deviation {
                    amount: if open[class] {
                        stock[class] - best[class]
                    } else {
                        0
                    },
                    major: open[class] && stock[class] > most.max(best[class]),
                }
            });
            let class = largest(&excesses, !self.has(Bug::MajorClassesIgnored));
            if excesses[class].amount <= 0 {
                break;
            }
            plan[class] = excesses[class].amount.min(left);
            left -= plan[class];
            open[class] = false;
        }
        plan
    }
}

fn transaction(categories: [usize; 2], number: i64, buy: Classes, sell: Classes) -> Message {
    let [buying, selling] = categories.map(|c| CATEGORIES[c].1);
    let mut message = Message::plain("transaction")
        .with("buy", buying)
        .with("sell", selling)
        .with("number", number);
    for (direction, plan) in [("buy", buy), ("sell", sell)] {
        for (class, movies) in CLASSES.iter().zip(plan) {
            message = message.with(&format!("{direction}_{class}"), movies);
        }
    }
    message
}

impl System for Blockbuster {
    fn reset(&mut self) {
        self.categories = USUAL_CATEGORIES;
        self.classes = USUAL_CLASSES;
    }

    fn give(&mut self, stimulus: &Message) -> Vec<Message> {
        match stimulus.label.as_str() {
            "categories" => {
                let names = CATEGORIES.map(|(name, _)| name);
                if let Some(mut new) = read_wanted(stimulus, names) {
                    if self.has(Bug::OldMaxima) {
                        for (new, old) in new.iter_mut().zip(&self.categories) {
                            new.max = old.max;
                        }
                    }
                    self.categories = new;
                }
                Vec::new()
            }
            "classes" => {
                if let Some(new) = read_wanted(stimulus, CLASSES) {
                    self.classes = new;
                }
                Vec::new()
            }
            "shop" => {
                let mut stock = [[0; 3]; 4];
                for (classes, (category, _)) in stock.iter_mut().zip(CATEGORIES) {
                    for (slot, class) in classes.iter_mut().zip(CLASSES) {
                        let Some(movies) = stimulus.integer(&format!("{category}_{class}")) else {
                            return Vec::new();
                        };
                        *slot = movies;
                    }
                }
                let Some(hundreds) = stimulus.integer("hundreds") else {
                    return Vec::new();
                };
                self.optimise(hundreds, stock)
            }
            _ => Vec::new(),
        }
    }

    fn check(&self, stimulus: &Message) -> Result<(), String> {
        check(STIMULI, stimulus)
    }
}

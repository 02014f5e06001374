//! Strings to try: the ones that conditions name, samples of their patterns, and words of the
//! lengths they ask for.

use ioco_sts::{BinaryOp, Expr, Value};
use rand::RngExt as _;
use regex_syntax::hir::{Class, Hir, HirKind};

use crate::goal::Constants;
use crate::search::Choice;

/// Samples of one pattern that are made; the ones that do not fit the rest are dropped.
const SAMPLES: u32 = 96;
/// Longer strings are not made up.
const MAX_LENGTH: i64 = 4096;

/// Random numbers for samples: the caller's, or a fixed sequence where the answer must not depend
/// on any.
struct Dice<'c, 'r> {
    choice: &'c mut Choice<'r>,
    state: u64,
}

impl Dice<'_, '_> {
    fn below(&mut self, count: u32) -> u32 {
        match self.choice {
            Choice::Random(rng) => rng.random_range(0..count.max(1)),
            Choice::Plain => {
                // SplitMix64: well mixed and the same everywhere.
                self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
                let mut mixed = self.state;
                mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
                mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
                ((mixed ^ (mixed >> 31)) % u64::from(count.max(1))) as u32
            }
        }
    }
}

/// Strings for one unknown, and whether no other string could do better.
pub(crate) struct Candidates {
    pub strings: Vec<Value>,
    pub complete: bool,
}

pub(crate) fn candidates(
    unknown: u32,
    (min, max): (i64, i64),
    conditions: &[Expr],
    constants: &Constants,
    strings_in_all: usize,
    choice: &mut Choice<'_>,
) -> Candidates {
    let mut found: Vec<String> = Vec::new();
    let mut named: Vec<&str> = constants
        .others
        .iter()
        .filter_map(|v| match v {
            Value::Str(text) => Some(&**text),
            _ => None,
        })
        .collect();
    named.sort_unstable();
    let only_equalities = equal_group(conditions, unknown)
        .iter()
        .all(|member| conditions.iter().all(|c| compared_only(c, *member)));
    if only_equalities {
        // Strings that are only compared for equality differ in nothing else: the named ones and
        // as many others as there are unknowns stand for all.
        let mut fresh: Vec<String> = fresh_words(&named, strings_in_all);
        found.extend(named.iter().map(|s| (*s).to_owned()));
        if let Choice::Random(_) = choice {
            // Fresh words carry the spread: more of them, and any order.
            let mut dice = Dice { choice, state: 0 };
            for _ in 0..4 {
                let length = 1 + dice.below(8);
                let text = word(&mut dice, length);
                fresh.push(text);
            }
        }
        found.extend(fresh);
    } else {
        let mut dice = Dice {
            choice,
            state: u64::from(unknown),
        };
        found.extend(named.iter().map(|s| (*s).to_owned()));
        pieces(conditions, &named, &mut found);
        for condition in conditions {
            condition.walk(&mut |e| {
                if let Expr::Matches(_, pattern) = e
                    && let Ok(hir) = regex_syntax::parse(pattern.text())
                {
                    for round in 0..SAMPLES {
                        let mut text = String::new();
                        sample(&hir, &mut dice, round, &mut text);
                        found.push(text);
                    }
                }
            });
        }
        fit_lengths(&mut found, (min, max), constants, &mut dice);
    }
    let mut seen = std::collections::BTreeSet::new();
    found.retain(|text| {
        let length = text.chars().count() as i64;
        min <= length && length <= max && seen.insert(text.clone())
    });
    if let Choice::Random(rng) = choice {
        for index in (1..found.len()).rev() {
            let other = rng.random_range(0..=index);
            found.swap(index, other);
        }
    }
    Candidates {
        strings: found.iter().map(|s| Value::str(s)).collect(),
        complete: only_equalities,
    }
}

/// `unknown`, and all the unknowns that it is compared with for equality, directly or through others:
/// what binds one of them binds all.
fn equal_group(conditions: &[Expr], unknown: u32) -> Vec<u32> {
    let mut links: Vec<Vec<u32>> = Vec::new();
    for condition in conditions {
        condition.walk(&mut |e| {
            let operands: Vec<&Expr> = match e {
                Expr::Binary(BinaryOp::Eq | BinaryOp::Ne, both) => both.iter().collect(),
                Expr::InSet(subject, items) => {
                    std::iter::once(&**subject).chain(items.iter()).collect()
                }
                _ => return,
            };
            links.push(
                operands
                    .into_iter()
                    .filter_map(|o| match o {
                        Expr::Param(position) => Some(*position),
                        _ => None,
                    })
                    .collect(),
            );
        });
    }
    let mut group = vec![unknown];
    let mut next = 0;
    while let Some(member) = group.get(next).copied() {
        next += 1;
        for link in links.iter().filter(|link| link.contains(&member)) {
            for other in link {
                if !group.contains(other) {
                    group.push(*other);
                }
            }
        }
    }
    group
}

/// Whether `unknown` occurs only next to `==`, `!=` and in sets, against constants and unknowns.
fn compared_only(expr: &Expr, unknown: u32) -> bool {
    let is_operand = |e: &Expr| matches!(e, Expr::Const(_) | Expr::Param(_));
    match expr {
        Expr::Param(position) => *position != unknown,
        Expr::Binary(BinaryOp::Eq | BinaryOp::Ne, both) if both.iter().all(is_operand) => true,
        Expr::InSet(subject, items) if is_operand(subject) && items.iter().all(is_operand) => true,
        _ => expr
            .children()
            .into_iter()
            .all(|child| compared_only(child, unknown)),
    }
}

fn fresh_words(named: &[&str], count: usize) -> Vec<String> {
    let mut words = Vec::new();
    let mut number = 0_usize;
    while words.len() < count {
        let mut text = String::new();
        let mut rest = number;
        loop {
            text.push(char::from(b'a' + (rest % 26) as u8));
            rest /= 26;
            if rest == 0 {
                break;
            }
        }
        if !named.contains(&text.as_str()) {
            words.push(text);
        }
        number += 1;
    }
    words
}

fn word(dice: &mut Dice<'_, '_>, length: u32) -> String {
    const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCXYZ0123456789 _-";
    (0..length)
        .map(|_| char::from(LETTERS[dice.below(LETTERS.len() as u32) as usize]))
        .collect()
}

/// Where strings are joined, parts of the named strings may be what is asked for.
fn pieces(conditions: &[Expr], named: &[&str], found: &mut Vec<String>) {
    let mut joins = false;
    for condition in conditions {
        condition.walk(&mut |e| joins |= matches!(e, Expr::Binary(BinaryOp::Add, _)));
    }
    if !joins {
        return;
    }
    for text in named {
        for (cut, _) in text.char_indices().take(32) {
            found.push(text[..cut].to_owned());
            found.push(text[cut..].to_owned());
        }
    }
}

/// Adds strings of the lengths in question: at the bounds, at the constants, and next to them.
fn fit_lengths(
    found: &mut Vec<String>,
    (min, max): (i64, i64),
    constants: &Constants,
    dice: &mut Dice<'_, '_>,
) {
    let mut lengths: Vec<i64> = vec![min, min.saturating_add(1), max];
    for constant in &constants.integers {
        lengths.extend([
            constant.saturating_sub(1),
            *constant,
            constant.saturating_add(1),
        ]);
    }
    lengths.extend([0, 1, 2, 3, 5, 8]);
    lengths.retain(|l| *l >= min.max(0) && *l <= max.min(MAX_LENGTH));
    lengths.sort_unstable();
    lengths.dedup();
    let samples: Vec<String> = found.iter().take(64).cloned().collect();
    for &length in lengths.iter().take(16) {
        found.push("a".repeat(length as usize));
        let text = word(dice, length as u32);
        found.push(text);
        for text in &samples {
            // Patterns match a part: what matches may be made longer on either side.
            let missing = length - text.chars().count() as i64;
            if missing > 0 {
                let padding = "a".repeat(missing as usize);
                found.push(format!("{text}{padding}"));
                found.push(format!("{padding}{text}"));
            }
        }
    }
    // Ordered comparisons look for neighbours of the named strings.
    for text in &samples {
        found.push(format!("{text}a"));
        let mut shorter = text.clone();
        if shorter.pop().is_some() {
            found.push(shorter);
        }
    }
}

/// Appends a string that the expression matches, but for its assertions.
fn sample(hir: &Hir, dice: &mut Dice<'_, '_>, round: u32, text: &mut String) {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => text.push_str(&String::from_utf8_lossy(&literal.0)),
        HirKind::Class(Class::Unicode(class)) => {
            let ranges = class.ranges();
            if ranges.is_empty() {
                return;
            }
            // Readable characters where the class has them, any others now and then.
            let readable: Vec<(char, char)> = ranges
                .iter()
                .map(|r| (r.start().max(' '), r.end().min('~')))
                .filter(|(start, end)| start <= end)
                .collect();
            let (start, end) = if readable.is_empty() || dice.below(16) == 0 {
                let range = ranges[dice.below(ranges.len() as u32) as usize];
                (range.start(), range.end())
            } else {
                readable[dice.below(readable.len() as u32) as usize]
            };
            let span = u32::from(end) - u32::from(start) + 1;
            let picked = char::from_u32(u32::from(start) + dice.below(span)).unwrap_or(start);
            text.push(picked);
        }
        HirKind::Class(Class::Bytes(class)) => {
            if let Some(range) = class.ranges().first() {
                text.push(char::from(range.start()));
            }
        }
        HirKind::Repetition(repetition) => {
            // The first samples are short, later ones longer, so that lengths are covered.
            let spare = match repetition.max {
                Some(most) => most.saturating_sub(repetition.min),
                None => u32::MAX,
            };
            let extra = dice.below(spare.min(round / 4).saturating_add(1));
            for _ in 0..repetition.min.saturating_add(extra).min(MAX_LENGTH as u32) {
                sample(&repetition.sub, dice, round, text);
            }
        }
        HirKind::Capture(capture) => sample(&capture.sub, dice, round, text),
        HirKind::Concat(parts) => parts.iter().for_each(|p| sample(p, dice, round, text)),
        HirKind::Alternation(parts) => {
            let index = dice.below(parts.len() as u32) as usize;
            sample(&parts[index], dice, round, text);
        }
    }
}

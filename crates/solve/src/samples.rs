//! Strings to try where the conditions are no regular language: the ones that they name, samples of
//! their patterns, and words of the lengths they ask for.

use ioco_sts::{BinaryOp, Expr, Value};
use rand::{Rng, RngExt as _};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::SeedableRng as _;
use regex_syntax::hir::{Class, Hir, HirKind};

use crate::goal::Constants;
use crate::outcome::Deadline;
use crate::search::Choice;

/// Samples of one pattern that are made; the ones that do not fit the rest are dropped.
const SAMPLES: u32 = 96;
/// Longer strings are not made up.
pub(crate) const MAX_LENGTH: u32 = 4096;

/// Random numbers for samples: the caller's, or a fixed sequence where the answer must not depend
/// on any.
pub(crate) struct Dice<'c, 'r> {
    choice: &'c mut Choice<'r>,
    fixed: SplitMix64,
}

impl<'c, 'r> Dice<'c, 'r> {
    pub fn new(choice: &'c mut Choice<'r>, seed: u32) -> Dice<'c, 'r> {
        Dice {
            choice,
            fixed: SplitMix64::seed_from_u64(u64::from(seed)),
        }
    }

    pub fn below(&mut self, count: u32) -> u32 {
        match self.choice {
            Choice::Random(rng) => rng.random_range(0..count.max(1)),
            Choice::Plain => (self.fixed.next_u64() % u64::from(count.max(1))) as u32,
        }
    }
}

/// Strings that may do, for conditions that are no regular language.
pub(crate) fn samples(
    unknown: u32,
    lengths: (i64, i64),
    conditions: &[Expr],
    constants: &Constants,
    choice: &mut Choice<'_>,
    deadline: &Deadline<'_>,
) -> Vec<String> {
    let mut found: Vec<String> = named(constants).map(str::to_owned).collect();
    let named = found.clone();
    let mut dice = Dice::new(choice, unknown);
    pieces(conditions, &named, &mut found);
    for condition in conditions {
        condition.walk(&mut |e| {
            if let Expr::Matches(_, pattern) = e
                && let Ok(hir) = regex_syntax::parse(pattern.text())
            {
                for round in 0..SAMPLES {
                    let mut text = Vec::new();
                    sample(&hir, &mut dice, round, &Filling::NONE, &mut text);
                    let text = String::from_utf8_lossy(&text).into_owned();
                    if !deadline.spend(1 + text.len() as u64 / 16) {
                        return;
                    }
                    found.push(text);
                }
            }
        });
    }
    fit_lengths(&mut found, lengths, constants, &mut dice, deadline);
    found
}

/// The strings that conditions name.
pub(crate) fn named(constants: &Constants) -> impl Iterator<Item = &str> {
    constants.others.iter().filter_map(|v| match v {
        Value::Str(text) => Some(&**text),
        _ => None,
    })
}

/// A string that nothing is asked of but its length: at least `shortest`, at most `spare` more.
pub(crate) fn any_word(shortest: u32, spare: u32, choice: &mut Choice<'_>) -> String {
    match choice {
        Choice::Plain => "a".repeat(shortest.max(spare.min(1)) as usize),
        Choice::Random(_) => {
            let mut dice = Dice::new(choice, 0);
            let length = shortest.max(spare.min(1)) + dice.below(spare.max(1));
            word(&mut dice, length)
        }
    }
}

fn word(dice: &mut Dice<'_, '_>, length: u32) -> String {
    const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCXYZ0123456789 _-";
    (0..length)
        .map(|_| char::from(LETTERS[dice.below(LETTERS.len() as u32) as usize]))
        .collect()
}

/// Where strings are joined, parts of the named strings may be what is asked for.
pub(crate) fn pieces(conditions: &[Expr], named: &[String], found: &mut Vec<String>) {
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
    deadline: &Deadline<'_>,
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
    lengths.retain(|l| *l >= min.max(0) && *l <= max.min(i64::from(MAX_LENGTH)));
    lengths.sort_unstable();
    lengths.dedup();
    let samples: Vec<String> = found.iter().take(64).cloned().collect();
    for &length in lengths.iter().take(16) {
        found.push("a".repeat(length as usize));
        let text = word(dice, length as u32);
        found.push(text);
        if !deadline.spend(1 + length as u64) {
            return;
        }
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

/// A regular expression, to make up what it matches.
pub struct Sampler(Hir);

impl Sampler {
    /// An expression over bytes, which may match what is no text.
    pub fn new(pattern: &str) -> Result<Sampler, String> {
        let mut parser = regex_syntax::ParserBuilder::new().utf8(false).build();
        parser
            .parse(pattern)
            .map(Sampler)
            .map_err(|error| error.to_string())
    }

    /// Bytes that the expression probably matches: its assertions are not looked at, so the caller must try. Named
    /// groups are what `group` says. Early rounds give short ones. Where blanks may repeat, `newline` is one of them.
    pub fn sample(
        &self,
        rng: &mut dyn Rng,
        round: u32,
        newline: &[u8],
        group: &dyn Fn(&str) -> Option<Vec<u8>>,
    ) -> Vec<u8> {
        let mut choice = Choice::Random(rng);
        let mut dice = Dice::new(&mut choice, 0);
        let mut bytes = Vec::new();
        sample(
            &self.0,
            &mut dice,
            round,
            &Filling { group, newline },
            &mut bytes,
        );
        bytes
    }
}

/// What parts of a sample are, where the caller knows better than chance.
struct Filling<'f> {
    group: &'f dyn Fn(&str) -> Option<Vec<u8>>,
    newline: &'f [u8],
}

impl Filling<'_> {
    const NONE: Filling<'static> = Filling {
        group: &|_| None,
        newline: b"",
    };

    /// Whether the end of a line may stand where this is repeated.
    fn has_newline(&self, repeated: &Hir) -> bool {
        let has = |byte: &u8| match repeated.kind() {
            HirKind::Class(Class::Unicode(class)) => {
                let ranges = class.ranges().iter();
                ranges
                    .into_iter()
                    .any(|r| (r.start()..=r.end()).contains(&char::from(*byte)))
            }
            HirKind::Class(Class::Bytes(class)) => {
                let ranges = class.ranges().iter();
                ranges
                    .into_iter()
                    .any(|r| (r.start()..=r.end()).contains(byte))
            }
            _ => false,
        };
        !self.newline.is_empty() && self.newline.iter().all(has)
    }
}

/// Appends what the expression matches, but for its assertions.
fn sample(
    hir: &Hir,
    dice: &mut Dice<'_, '_>,
    round: u32,
    filling: &Filling<'_>,
    out: &mut Vec<u8>,
) {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => out.extend(&literal.0),
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
            out.extend(picked.encode_utf8(&mut [0; 4]).as_bytes());
        }
        HirKind::Class(Class::Bytes(class)) => {
            let ranges = class.ranges();
            if !ranges.is_empty() {
                let range = ranges[dice.below(ranges.len() as u32) as usize];
                let span = u32::from(range.end() - range.start()) + 1;
                out.push(range.start() + dice.below(span) as u8);
            }
        }
        HirKind::Repetition(repetition) => {
            // The first samples are short, later ones longer, so that lengths are covered.
            let spare = match repetition.max {
                Some(most) => most.saturating_sub(repetition.min),
                None => u32::MAX,
            };
            let extra = dice.below(spare.min(round / 4).saturating_add(1));
            let has_newline = filling.has_newline(&repetition.sub);
            for _ in 0..repetition.min.saturating_add(extra).min(MAX_LENGTH) {
                if has_newline && dice.below(2) == 0 {
                    out.extend(filling.newline);
                } else {
                    sample(&repetition.sub, dice, round, filling, out);
                }
            }
        }
        HirKind::Capture(capture) => {
            let name = capture.name.as_deref();
            match name.and_then(|name| (filling.group)(name)) {
                Some(given) => out.extend(given),
                None => sample(&capture.sub, dice, round, filling, out),
            }
        }
        HirKind::Concat(parts) => {
            for part in parts {
                sample(part, dice, round, filling, out);
            }
        }
        HirKind::Alternation(parts) => {
            let index = dice.below(parts.len() as u32) as usize;
            sample(&parts[index], dice, round, filling, out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_have_the_groups_that_are_given_and_match() {
        let text = r"(?s)\AVALUE (?<length>\d+)\s+(?<number>\d+)\s+END\z";
        let sampler = Sampler::new(text).unwrap();
        let pattern = ioco_sts::Pattern::new(text).unwrap();
        let mut rng = SplitMix64::seed_from_u64(1);
        let group = |name: &str| {
            Some(if name == "length" {
                b"2".to_vec()
            } else {
                b"9".to_vec()
            })
        };
        let mut wanted = 0;
        for round in 0..400 {
            let sample = sampler.sample(&mut rng, round % 32, b"\r\n", &group);
            let read = std::str::from_utf8(&sample).unwrap();
            assert!(pattern.matches(read), "{read:?}");
            wanted += usize::from(sample == b"VALUE 2\r\n9 \r\nEND");
        }
        assert!(wanted > 0);
    }
}

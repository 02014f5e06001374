//! Classes of characters that no literal tells apart.

use rustc_hash::FxHashMap;

use super::{MAX_CHARACTERS, MAX_SETS, Ranges, Unfit};
use crate::outcome::Deadline;

pub(super) fn rank(c: char) -> (u8, char) {
    let group = match c {
        'a'..='z' => 0,
        '0'..='9' => 1,
        'A'..='Z' => 2,
        ' '..='~' => 3,
        _ => 4,
    };
    (group, c)
}

/// Some characters of a class, and whether these are all.
pub(super) fn readable(ranges: &Ranges) -> (Vec<char>, bool) {
    let most = MAX_CHARACTERS;
    let mut found: Vec<char> = Vec::new();
    let size: u64 = ranges.iter().map(|(a, b)| u64::from(b - a) + 1).sum();
    if size <= most as u64 {
        let all = ranges.iter().flat_map(|(a, b)| *a..=*b);
        found.extend(all.filter_map(char::from_u32));
        return (found, true);
    }
    for wanted in [('a', 'z'), ('0', '9'), ('A', 'Z'), (' ', '~')] {
        for (low, high) in ranges {
            let (low, high) = (
                (*low).max(u32::from(wanted.0)),
                (*high).min(u32::from(wanted.1)),
            );
            let rest = most.saturating_sub(found.len());
            let some = (low..=high).filter_map(char::from_u32);
            let new: Vec<char> = some.filter(|c| !found.contains(c)).take(rest).collect();
            found.extend(new);
        }
    }
    for (low, high) in ranges {
        let rest = most.saturating_sub(found.len());
        let some = (*low..=*high).filter_map(char::from_u32);
        let new: Vec<char> = some
            .filter(|c| !c.is_ascii() || c.is_ascii_control())
            .take(rest)
            .collect();
        found.extend(new);
    }
    (found, false)
}

/// The sets of characters that literals speak of.
#[derive(Default)]
pub(super) struct Sets {
    sets: Vec<Ranges>,
}

impl Sets {
    pub(super) fn add(&mut self, ranges: Ranges) -> Result<usize, Unfit> {
        if let Some(known) = self.sets.iter().position(|s| *s == ranges) {
            return Ok(known);
        }
        if self.sets.len() >= MAX_SETS {
            return Err(Unfit);
        }
        self.sets.push(ranges);
        Ok(self.sets.len() - 1)
    }

    pub(super) fn character(&mut self, c: char) -> Result<usize, Unfit> {
        self.add(vec![(u32::from(c), u32::from(c))])
    }

    /// The classes of characters that are in the same sets, and by set which classes are in it.
    pub(super) fn classes(
        self,
        deadline: &Deadline<'_>,
    ) -> Result<(Vec<Ranges>, Vec<Vec<bool>>), Unfit> {
        let mut cuts: Vec<u32> = vec![0, 0xD800, 0xE000, 0x11_0000];
        for (low, high) in self.sets.iter().flatten() {
            cuts.extend([*low, high + 1]);
        }
        cuts.sort_unstable();
        cuts.dedup();
        let work = cuts.len() as u64 * (1 + self.sets.len() as u64);
        if !deadline.spend(work / 64) {
            return Err(Unfit);
        }
        let mut found: FxHashMap<Vec<bool>, usize> = FxHashMap::default();
        let mut classes: Vec<Ranges> = Vec::new();
        let mut signatures: Vec<Vec<bool>> = Vec::new();
        for pair in cuts.windows(2) {
            let (low, high) = (pair[0], pair[1] - 1);
            // Half of a surrogate pair is no character.
            if low == 0xD800 {
                continue;
            }
            let within = |set: &Ranges| {
                let after = set.partition_point(|(start, _)| *start <= low);
                after > 0 && set[after - 1].1 >= low
            };
            let signature: Vec<bool> = self.sets.iter().map(within).collect();
            let class = *found.entry(signature).or_insert_with_key(|signature| {
                signatures.push(signature.clone());
                classes.push(Vec::new());
                classes.len() - 1
            });
            classes[class].push((low, high));
        }
        let members = (0..self.sets.len())
            .map(|set| signatures.iter().map(|s| s[set]).collect())
            .collect();
        Ok((classes, members))
    }
}

pub(super) struct Alphabet {
    pub(super) classes: Vec<Ranges>,
    pub(super) members: Vec<Vec<bool>>,
}

impl Alphabet {
    pub(super) fn class_of(&self, c: char) -> usize {
        let code = u32::from(c);
        let holds = |ranges: &Ranges| ranges.iter().any(|(a, b)| *a <= code && code <= *b);
        self.classes.iter().position(holds).unwrap_or_default()
    }
}

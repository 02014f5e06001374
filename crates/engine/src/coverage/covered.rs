//! Coverage as it travels between testers of the same model: by the numbers of its locations, switches and
//! boundary values, which the model's hash fixes.

use serde::{Deserialize, Serialize};

use super::{Coverage, CoverageMismatch};
use ioco_sts::SwitchId;

/// What one test covered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Covered {
    pub locations: Vec<u32>,
    /// Switches, and how often each may have been taken.
    pub switches: Vec<(u32, u64)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub boundaries: Vec<u32>,
}

/// What is covered so far, without counts: all that a strategy needs to choose.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoverageMap {
    /// Grows with every test that was added.
    pub revision: u64,
    pub locations: Bits,
    pub switches: Bits,
    pub boundaries: Bits,
}

/// Truth values by number, written as hexadecimal digits: four values a digit, the first in the lowest bit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Bits(String);

impl Bits {
    fn of(values: impl Iterator<Item = bool>) -> Bits {
        let values: Vec<bool> = values.collect();
        let digit = |four: &[bool]| {
            let sum = four
                .iter()
                .rev()
                .fold(0, |sum, bit| sum * 2 + u32::from(*bit));
            char::from_digit(sum, 16).unwrap_or('0')
        };
        Bits(values.chunks(4).map(digit).collect())
    }

    /// True for these numbers of so many.
    pub fn of_numbers(numbers: &std::collections::BTreeSet<u32>, length: usize) -> Bits {
        Bits::of((0..length as u32).map(|number| numbers.contains(&number)))
    }

    /// The numbers that are true.
    pub fn numbers(&self) -> impl Iterator<Item = u32> + '_ {
        let all = 0..self.0.len() * 4;
        all.filter(|index| self.get(*index))
            .map(|index| index as u32)
    }

    /// The numbers that are true, as those of switches of a model that has so many. No bits at all are none.
    pub(crate) fn switches(
        &self,
        length: usize,
    ) -> Result<impl Iterator<Item = SwitchId> + '_, CoverageMismatch> {
        if !self.is_empty() && !self.fits(length) {
            return Err(CoverageMismatch);
        }
        let numbers = self.numbers().map(|number| number as usize);
        let numbers = numbers.filter(move |number| *number < length);
        Ok(numbers.map(SwitchId::from_index))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether there is a digit for each of so many values, and no more.
    fn fits(&self, length: usize) -> bool {
        self.0.len() == length.div_ceil(4) && self.0.bytes().all(|b| b.is_ascii_hexdigit())
    }

    fn get(&self, index: usize) -> bool {
        let digit = self.0.as_bytes().get(index / 4).copied().unwrap_or(b'0');
        char::from(digit).to_digit(16).unwrap_or(0) >> (index % 4) & 1 == 1
    }
}

impl Coverage {
    /// Everything that is counted here.
    pub fn covered_items(&self) -> Covered {
        let seen = self.locations.iter().enumerate();
        let taken = self.switches.iter().enumerate();
        let given = self.boundaries.iter().enumerate();
        Covered {
            locations: seen
                .filter(|(_, seen)| **seen)
                .map(|(i, _)| i as u32)
                .collect(),
            switches: taken
                .filter(|(_, count)| **count > 0)
                .map(|(i, count)| (i as u32, *count))
                .collect(),
            boundaries: given
                .filter(|(_, b)| b.covered)
                .map(|(i, _)| i as u32)
                .collect(),
        }
    }

    /// Adds what a test elsewhere covered. What does not fit the model changes nothing.
    pub fn add(&mut self, covered: &Covered) -> Result<(), CoverageMismatch> {
        let within =
            |numbers: &[u32], length: usize| numbers.iter().all(|n| (*n as usize) < length);
        let switches = covered
            .switches
            .iter()
            .all(|(n, _)| (*n as usize) < self.switches.len());
        if !within(&covered.locations, self.locations.len())
            || !within(&covered.boundaries, self.boundaries.len())
            || !switches
        {
            return Err(CoverageMismatch);
        }
        for index in &covered.locations {
            self.locations[*index as usize] = true;
        }
        for (index, count) in &covered.switches {
            let mine = &mut self.switches[*index as usize];
            *mine = mine.saturating_add(*count);
        }
        for index in &covered.boundaries {
            self.boundaries[*index as usize].covered = true;
        }
        self.recount();
        Ok(())
    }

    pub fn map(&self, revision: u64) -> CoverageMap {
        CoverageMap {
            revision,
            locations: Bits::of(self.locations.iter().copied()),
            switches: Bits::of(self.switches.iter().map(|count| *count > 0)),
            boundaries: Bits::of(self.boundaries.iter().map(|b| b.covered)),
        }
    }

    /// The same items, covered as the map says: each switch once.
    pub fn as_in(&self, map: &CoverageMap) -> Result<Coverage, CoverageMismatch> {
        let fits = map.locations.fits(self.locations.len())
            && map.switches.fits(self.switches.len())
            && map.boundaries.fits(self.boundaries.len());
        if !fits {
            return Err(CoverageMismatch);
        }
        let mut known = self.clone();
        for (index, seen) in known.locations.iter_mut().enumerate() {
            *seen = map.locations.get(index);
        }
        for (index, count) in known.switches.iter_mut().enumerate() {
            *count = u64::from(map.switches.get(index));
        }
        for (index, boundary) in known.boundaries.iter_mut().enumerate() {
            boundary.covered = map.boundaries.get(index);
        }
        known.recount();
        Ok(known)
    }

    /// The switches that no test took yet.
    pub fn open_switches(&self) -> impl Iterator<Item = SwitchId> + '_ {
        let all = self.switches.iter().enumerate();
        all.filter(|(_, count)| **count == 0)
            .map(|(index, _)| SwitchId::from_index(index))
    }
}

//! Mutations of a kept input: bytes, words of the format, and whole stretches, by a generator that starts from a seed.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

/// Longer inputs are cut: a reader's mistakes are in what it reads, not in how much.
const LONGEST: usize = 4096;

/// Makes inputs from others. The same seed makes the same inputs.
pub struct Mutator<'a> {
    random: SplitMix64,
    tokens: &'a [&'a str],
}

impl<'a> Mutator<'a> {
    pub fn new(seed: u64, tokens: &'a [&'a str]) -> Mutator<'a> {
        Mutator {
            random: SplitMix64::seed_from_u64(seed),
            tokens,
        }
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.random.next_u64() % bound.max(1) as u64) as usize
    }

    /// A new input from one of `corpus`, changed in one to six places.
    pub fn mutate(&mut self, corpus: &[Vec<u8>]) -> Vec<u8> {
        let pick = self.below(corpus.len());
        let mut data = corpus.get(pick).cloned().unwrap_or_default();
        for _ in 0..=self.below(6) {
            self.change(&mut data, corpus);
            data.truncate(LONGEST);
        }
        data
    }

    fn change(&mut self, data: &mut Vec<u8>, corpus: &[Vec<u8>]) {
        let at = self.below(data.len() + 1);
        let end = (at + self.below(32)).min(data.len());
        match self.below(10) {
            0 if at < data.len() => data[at] ^= 1 << self.below(8),
            1 => {
                let byte = self.random.next_u64() as u8;
                data.insert(at, byte);
            }
            2 => {
                data.drain(at..end);
            }
            3 => {
                let part = data[at..end].to_vec();
                let to = self.below(data.len() + 1);
                data.splice(to..to, part);
            }
            // Nesting is where readers recurse.
            4 => {
                let part = data[at..end].to_vec();
                let times = 1 << self.below(9);
                let repeated = part.repeat(times);
                data.splice(at..at, repeated);
            }
            5 => {
                let pick = self.below(corpus.len());
                let other = corpus.get(pick).map_or(&[][..], Vec::as_slice);
                let from = self.below(other.len() + 1);
                let to = (from + self.below(64)).min(other.len());
                data.splice(at..end, other[from..to].iter().copied());
            }
            6 => {
                let number = [0, 1, 127, 128, 255, 65_535, i64::MAX][self.below(7)];
                data.splice(at..at, number.to_string().into_bytes());
            }
            _ => {
                let pick = self.below(self.tokens.len());
                let token = self.tokens.get(pick).copied().unwrap_or(" ");
                let times = if self.below(16) == 0 { 300 } else { 1 };
                data.splice(at..at, token.repeat(times).into_bytes());
            }
        }
    }
}

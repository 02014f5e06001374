//! The free choices of a system that a specification leaves open.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

/// Pseudo-random bits that are the same in every run of the program, and go on over resets, so that
/// repeating one test shows both choices and repeating one campaign shows the same ones.
pub struct Chance {
    bits: SplitMix64,
}

impl Chance {
    pub fn new() -> Chance {
        Chance {
            bits: SplitMix64::seed_from_u64(0x9e37_79b9_7f4a_7c15),
        }
    }

    /// Heads or tails.
    pub fn flip(&mut self) -> bool {
        self.bits.next_u64() & 1 == 1
    }
}

//! The free choices of a system that a specification leaves open.

/// Pseudo-random bits that are the same in every run of the program, and go on over resets, so that
/// repeating one test shows both choices and repeating one campaign shows the same ones.
pub struct Chance {
    state: u64,
}

impl Chance {
    pub fn new() -> Chance {
        Chance {
            state: 0x9e37_79b9_7f4a_7c15,
        }
    }

    /// Heads or tails, by the SplitMix64 generator.
    pub fn flip(&mut self) -> bool {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) & 1 == 1
    }
}

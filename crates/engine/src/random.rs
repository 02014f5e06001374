//! Random bits: one generator per test, made from the run's seed and the test's number alone, so
//! that each test can be repeated without the ones before it.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng};
use rand_xoshiro::SplitMix64;

/// The generator of one test.
pub(crate) type TestRng = ChaCha8Rng;

/// The seed of test `number` (counted from one) of a run: the output of SplitMix64 at that
/// position of the run's own stream.
pub fn test_seed(run_seed: u64, number: u64) -> u64 {
    // What SplitMix64 adds for every number that it gives.
    const STRIDE: u64 = 0x9E37_79B9_7F4A_7C15;
    let before = run_seed.wrapping_add(number.wrapping_sub(1).wrapping_mul(STRIDE));
    SplitMix64::seed_from_u64(before).next_u64()
}

pub(crate) fn test_rng(seed: u64) -> TestRng {
    ChaCha8Rng::seed_from_u64(seed)
}

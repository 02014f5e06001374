//! Random bits: one generator per test, made from the run's seed and the test's number alone, so
//! that each test can be repeated without the ones before it.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// The generator of one test.
pub(crate) type TestRng = ChaCha8Rng;

/// The seed of test `number` (counted from one) of a run: the output of SplitMix64 at that
/// position of the run's own stream.
pub fn test_seed(run_seed: u64, number: u64) -> u64 {
    let mut z = run_seed.wrapping_add(number.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

pub(crate) fn test_rng(seed: u64) -> TestRng {
    ChaCha8Rng::seed_from_u64(seed)
}

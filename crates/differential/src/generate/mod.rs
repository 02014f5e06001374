//! Random models as AML text, and random systems to test against them.

mod collections;
mod draft;
mod expressions;
mod keyed;
mod models;
mod sugar;
mod system;

pub(crate) use draft::state_name;
pub use draft::{Draft, Edge, Gate, HOLE, LabelDraft, ProcessDraft, StateDraft, Ty, VarDraft};
pub use models::{Flavour, draft, mutated};
pub(crate) use system::simple_values;
pub use system::{Behaviour, Entry, Log, System};

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;

/// The one source of randomness: everything about a case follows from its seed.
pub type Dice = ChaCha8Rng;

pub fn dice(seed: u64) -> Dice {
    Dice::seed_from_u64(seed)
}

/// True once in `n` times on average.
pub(crate) fn one_in(dice: &mut Dice, n: u32) -> bool {
    dice.random_range(0..n) == 0
}

pub(crate) fn pick<'a, T>(dice: &mut Dice, items: &'a [T]) -> &'a T {
    &items[dice.random_range(0..items.len())]
}

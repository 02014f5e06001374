//! Long histories: now and then a test goes on by chance for as long as it may. Faults that show only after many steps
//! lie behind everything that is worth something by itself.
//!
//! The labels have other weights in every phase (swarm testing, Groce et al. 2012): what fills up in one phase is
//! emptied in another.

use ioco_sts::Sts;
use rand::RngExt;

use super::super::random::Random;
use super::super::{Choice, Situation};
use crate::random::TestRng;
use crate::settings::WaitPolicy;

/// The first tests show what is near.
const FIRST: u64 = 3;
/// At most one stimulus in so many is given by such a test.
const SHARE: u64 = 5;
/// Weights are powers of two from one over two to this exponent up to two to it.
const MAX_EXPONENT: i32 = 3;
/// A phase has so many stimuli to the power of two, at least and at most.
const PHASES: std::ops::RangeInclusive<u32> = 3..=7;

#[derive(Default)]
pub(super) struct Marathons {
    /// Stimuli of all tests, and of those that were marathons.
    given: u64,
    run: u64,
    is_on: bool,
    phase: Option<Random>,
    /// Stimuli until the next phase.
    left: u32,
}

impl Marathons {
    /// A test begins. One that was ordered from elsewhere knows of no others: there its number decides.
    pub fn begin(&mut self, test: u64, knows_others: bool) {
        self.phase = None;
        self.is_on = test > FIRST
            && match knows_others {
                true => SHARE * self.run <= self.given,
                false => test.is_multiple_of(SHARE),
            };
    }

    pub fn is_on(&self) -> bool {
        self.is_on
    }

    /// A stimulus was given.
    pub fn given(&mut self) {
        self.given += 1;
        self.run += u64::from(self.is_on);
        self.left = self.left.saturating_sub(1);
    }

    pub fn choose(&mut self, mut situation: Situation<'_>) -> Choice {
        // Whether to observe was decided before.
        situation.wait = WaitPolicy::Weighted(0.0);
        if self.left == 0 {
            self.phase = None;
        }
        let sts = situation.semantics.sts();
        let phase = self.phase.get_or_insert_with(|| {
            self.left = 1 << situation.rng.random_range(PHASES);
            phase(sts, situation.rng)
        });
        phase.choose(situation)
    }
}

fn phase(sts: &Sts, rng: &mut TestRng) -> Random {
    let weight = |_| 2_f64.powi(rng.random_range(-MAX_EXPONENT..=MAX_EXPONENT));
    Random::weighted((0..sts.labels().len()).map(weight).collect())
}

//! A test for every coverage goal, or a proof that there is none: the search that the terminal and the page share.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ioco_budget::Interrupt;
use ioco_generate::Confirm;
use ioco_generate::cover::{Cover, CoverLimits, CoverObserver, Covered, Goal};
use ioco_sts::Sts;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;

use crate::error::CampaignError;
use crate::solver::SemanticsOptions;

/// How goals are searched for.
pub struct GoalSearch<'a> {
    pub sts: &'a Arc<Sts>,
    /// The tests are for this relation, and followed with this solver.
    pub meaning: &'a SemanticsOptions,
    pub seed: u64,
    /// Moves of a path in the search from the start; the usual number where it is not given.
    pub depth: Option<u32>,
    /// Steps of a test through a part of the model without data; the usual number where it is not given.
    pub length: Option<usize>,
    /// Ends the search, and every question to the solver.
    pub stop: &'a StopFlag,
}

impl GoalSearch<'_> {
    pub fn run(
        &self,
        goals: &[Goal],
        observer: &mut dyn CoverObserver,
    ) -> Result<Covered, CampaignError> {
        let usual = CoverLimits::default();
        let limits = CoverLimits {
            interrupt: self.stop.raised(),
            depth: self.depth.unwrap_or(usual.depth),
            length: self.length.unwrap_or(usual.length),
            ..usual
        };
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        let confirm = Confirm::new(self.meaning.semantics(self.sts)?);
        Ok(Cover::new(self.sts, goals, limits, confirm, &mut rng).run(None, observer))
    }
}

/// How often the clock and the person are looked at.
const LOOK: Duration = Duration::from_millis(20);

/// A flag that is raised when the deadline has passed or a stop is requested: whatever searches or solves only
/// has to look at it. The thread behind it ends with the flag's owner.
pub struct StopFlag(Interrupt);

impl StopFlag {
    pub fn new(deadline: Option<Instant>, interrupt: &Interrupt) -> StopFlag {
        let flag = Interrupt::default();
        let (raised, interrupt) = (flag.clone(), interrupt.clone());
        std::thread::spawn(move || {
            let is_over = || deadline.is_some_and(|at| Instant::now() >= at);
            while !raised.is_raised() && !interrupt.is_raised() && !is_over() {
                std::thread::sleep(LOOK);
            }
            raised.raise();
        });
        StopFlag(flag)
    }

    /// For those who watch it.
    pub fn raised(&self) -> Interrupt {
        self.0.clone()
    }

    pub fn is_raised(&self) -> bool {
        self.0.is_raised()
    }
}

impl Drop for StopFlag {
    fn drop(&mut self) {
        self.0.raise();
    }
}

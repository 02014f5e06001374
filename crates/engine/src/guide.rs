//! Guides: plans that come from outside the tester. A guide says what to do next; the tester still
//! follows the model, judges the system, and gives nothing that the model does not accept.
//!
//! Planning with a solver is not the tester's business, so the trait stands here and what
//! implements it elsewhere.

use ioco_budget::Interrupt;
use ioco_sts::{Action, Menu, StateSet, Step, Sts};

use crate::coverage::Coverage;

/// What a guide sees when it is asked.
pub struct View<'a> {
    pub sts: &'a Sts,
    /// The states that the model may be in.
    pub set: &'a StateSet,
    pub menu: &'a Menu,
    /// Everything from the reset on. Where a response crossed a stimulus, the end of it may be in
    /// another order than last time.
    pub trace: &'a [Step],
    pub coverage: &'a Coverage,
    pub rng: &'a mut dyn rand::Rng,
    /// Waiting can show something new: the last thing seen was not silence.
    pub may_wait: bool,
    /// A guide that searches ends its search when this is raised; what it then says is of no interest.
    pub interrupt: &'a Interrupt,
}

/// What a guide wants done next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Advice {
    Give(Action),
    /// Wait for the system.
    Listen,
    /// Whatever chance suggests.
    Chance,
    /// Nothing more to do in this test.
    End,
    /// The goal is reached. What the system still has to say is judged, and the test ends.
    Reached,
    /// What the test is for cannot be reached any more, although the system did nothing wrong: the
    /// test is inconclusive, for this reason.
    Lost(String),
}

/// Leads a test somewhere.
pub trait Guide: Send {
    fn advise(&mut self, view: View<'_>) -> Advice;

    /// Why a test that ends now says nothing, because a limit cuts it short or a response that was
    /// waited for does not come; `None` where it passes all the same.
    fn unfinished(&self) -> Option<String> {
        None
    }
}

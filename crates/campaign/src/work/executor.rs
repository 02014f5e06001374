//! Who brings orders to workers, and outcomes back.

use std::time::{Duration, Instant};

use super::{Doing, Order, Outcome};
use crate::error::CampaignError;

/// Carries out orders, many at a time. Every order that is submitted comes back as one outcome, in any order; one
/// that comes twice or late is the caller's to discard.
pub trait Executor {
    /// How many orders can be under way at the same time.
    fn capacity(&self) -> usize;

    /// How it was set up, as text for the next coordinator of the campaign.
    fn settings(&self) -> String {
        String::new()
    }

    /// This process coordinates from now on, as number `coordinator` of the campaign: what those before it left with
    /// workers is now this one's.
    fn lead(&mut self, coordinator: u64) -> Result<(), CampaignError> {
        let _ = coordinator;
        Ok(())
    }

    /// When the run is over, as far as that is known: nothing waits for anything longer.
    fn ends_at(&mut self, at: Option<Instant>) {
        let _ = at;
    }

    fn submit(&mut self, order: Order) -> Result<(), CampaignError>;

    /// The next outcome; `None` if none came within this time. An error ends the campaign.
    fn next(&mut self, wait: Duration) -> Result<Option<Outcome>, CampaignError>;

    /// Every outcome so far is kept: nothing needs to bring it again.
    fn acknowledge(&mut self) {}

    /// The campaign is over. An executor that is dropped without this leaves everything as it is, so that another
    /// coordinator can go on.
    fn close(&mut self) {}

    /// The run is to end: orders that no worker has begun need not be carried out.
    fn cancel(&mut self) {}

    /// How long outcomes are waited for once the run has to end.
    fn grace(&self) -> Duration {
        Duration::from_secs(10)
    }

    /// What workers do at the moment, as far as that is known.
    fn doing(&mut self) -> Vec<Doing> {
        Vec::new()
    }

    /// What happened to workers since the last call, for a person.
    fn take_notices(&mut self) -> Vec<String> {
        Vec::new()
    }
}

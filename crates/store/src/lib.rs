//! The history of runs: models, runs, tests, steps, coverage and failures, in one file beside the
//! results or in a PostgreSQL database that a team shares. Both get the same tables from the same
//! migrations, and the same questions.
//!
//! [`Store`] answers questions; [`Store::record`] begins a [`Recording`], which a thread of its own
//! writes in batches while the tester goes on. What [`Recording::flush`] has returned for survives
//! the end of the process, however it comes. The database is asynchronous inside; nothing of that
//! shows outside.

mod body;
mod campaigns;
mod caught;
mod compare;
mod encode;
mod error;
mod migrations;
mod place;
mod query;
mod read;
mod record;
mod rows;
mod schema;
mod write;

pub use compare::Comparison;
pub use error::StoreError;
pub use place::Place;
pub use query::Store;
pub use record::Recording;
pub use rows::{
    CampaignRow, Covered, CoveredLocation, CoveredSwitch, FailureRow, NewCampaign, NewRun,
    OrderRow, OutcomeRow, RunRow, Sighting, StoredModel, Tally, TestRow, TrendRow,
};

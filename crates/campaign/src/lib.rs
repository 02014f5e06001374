//! A campaign of tests: the project, its model, the connection, the tester and the results folder,
//! put together. What `ioco test`, `replay` and `shrink` share with the page. Nothing here prints:
//! the caller watches a campaign through an [`Observer`].

mod campaign;
pub mod connect;
pub mod coverage;
mod error;
pub mod failures;
mod goals;
pub mod hand;
pub mod history;
mod ledger;
pub mod lifecycle;
pub mod merge;
pub mod model;
mod note;
mod observer;
mod order;
mod outcome;
mod plan;
mod project;
pub mod query;
mod record;
mod results;
pub mod sections;
mod session;
mod shard;
pub mod shrinking;
mod solver;
mod suite;
pub mod system;
pub mod time;
pub mod trust;
mod warning;
pub mod watch;
pub mod work;

pub use campaign::{
    Campaign, Difference, ExecutorKind, Interrupted, KeptOrder, Repeated, shown_end,
};
pub use connect::{ConnectionSpec, Fresh, Link, Start, SystemChoice, Transport};
pub use error::{CampaignError, ErrorKind, Remedy};
pub use failures::{Opened, Origin};
pub use goals::{GoalSearch, StopFlag};
pub use ioco_adapters::Guarded;
pub use ioco_budget::Interrupt;
pub use ledger::Ledger;
pub use model::{Model, ModelOptions, Read};
pub use note::Note;
pub use observer::{NoObserver, Observer};
pub use order::Script;
pub use outcome::{FoundFailure, Outcome};
pub use plan::Plan;
pub use project::{
    ChosenBy, DEFAULT_FAILURES, DEFAULT_STEPS, DEFAULT_TESTS, FILE_NAME, Project, StoreSettings,
    Sut, TestSettings,
};
pub use results::Results;
pub use sections::lines::AMBIGUOUS;
pub use session::{Session, sizes};
pub use shard::Shard;
pub use shrinking::ShrinkSettings;
pub use solver::{SemanticsOptions, SolverChoice};
pub use suite::SuiteRow;
pub use system::{KeptSystem, SystemName};

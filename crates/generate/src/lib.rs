//! Offline test generation on symbolic transition systems.
//!
//! A path is a sequence of [`Move`]s; [`Symbolic`] says under which condition on the parameters it
//! can be walked. [`Walk`] enumerates all paths of a length, [`bounds`] says beforehand how many
//! there can be, and [`Confirm`] walks every path again before it is handed out. [`cover`] finds
//! tests for goals instead, [`data`] for values of parameters along the paths, and [`answer`] for
//! queries. [`fsm`] makes suites that find every fault in systems of a bounded size, [`suspension`] those that find
//! every implementation that does not conform. [`plan`] is what queries and the guides of tests on the fly ([`guide`]) search with.

pub mod answer;
pub mod bounds;
mod confirm;
pub mod cover;
pub mod data;
mod distinct;
mod feasible;
pub mod fsm;
pub mod guide;
mod moves;
pub mod plan;
mod search;
pub mod suite;
pub mod suspension;
mod symbolic;
mod traces;
pub mod tree;

pub use confirm::{Confirm, PathError};
pub use distinct::{Distinct, Traces};
pub use moves::{Move, moves_from};
pub use symbolic::{Extension, Symbolic};
pub use traces::{Extent, Path, PathStep, Share, Sink, Tally, Walk};

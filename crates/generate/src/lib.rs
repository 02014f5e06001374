//! Offline test generation on symbolic transition systems.
//!
//! A path is a sequence of [`Move`]s; [`Symbolic`] says under which condition on the parameters it
//! can be walked. [`Walk`] enumerates all paths of a length, [`bounds`] says beforehand how many
//! there can be, and [`Confirm`] walks every path again before it is handed out. [`cover`] finds
//! tests for goals instead, and [`data`] for values of parameters along the paths.

pub mod bounds;
mod confirm;
pub mod cover;
pub mod data;
mod feasible;
mod moves;
mod symbolic;
mod traces;

pub use confirm::{Confirm, Objection};
pub use moves::{Move, moves_from};
pub use symbolic::{Extension, Symbolic};
pub use traces::{Extent, Path, PathStep, Share, Sink, Tally, Walk};

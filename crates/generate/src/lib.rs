//! Offline test generation on symbolic transition systems.
//!
//! A path is a sequence of [`Move`]s; [`Symbolic`] says under which condition on the parameters it
//! can be walked. [`bounds`] are the upper bounds on the number of paths.

pub mod bounds;
mod moves;
mod symbolic;
mod traces;

pub use moves::{Move, moves_from};
pub use symbolic::{Extension, Symbolic};
pub use traces::{Extent, PathStep, Sink, Tally, Walk};

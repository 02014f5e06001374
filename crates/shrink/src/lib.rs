//! Shrinking failing traces.

mod run;

pub use run::Runner;

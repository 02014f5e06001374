//! Shrinking on models with data.

mod mail;
mod protocol;
mod queue;
mod walk;

//! Random small models, and a slow and obvious meaning for them.

// Every test file compiles this for itself and uses its own part of it.
#![allow(dead_code)]

pub mod models;
pub mod public;
pub mod reference;

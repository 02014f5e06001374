//! On-the-fly testing as a pure state machine: time, observations and random bits in; commands and
//! events out. Nothing here waits, reads a clock or touches a file.

mod port;

pub use port::{Command, Input};

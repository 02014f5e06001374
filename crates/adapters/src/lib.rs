//! Connections to systems under test: the only place that waits.

mod connection;

pub use connection::{Arrival, Arrived, Connection, Trouble};

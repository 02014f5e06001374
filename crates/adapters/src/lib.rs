//! Connections to systems under test: the only place that waits.

#[cfg(not(unix))]
compile_error!("ioco-adapters waits with poll(2) and needs Linux, macOS or another Unix");

mod connection;
mod line;
mod process;
mod session;
mod stream;
mod values;

pub use connection::{Arrival, Arrived, Connection, Trouble};
pub use line::{Codec, Line, RESET};
pub use process::{Process, ProcessOptions, ResetBy};
pub use values::{Mismatch, read_value, write_value};

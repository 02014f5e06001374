//! Connections to systems under test, and the driver that carries out the tester's commands: the only
//! place that waits.
//!
//! Systems in this process need nothing but the driver and a virtual clock. Everything that waits for
//! other processes (programs, sockets, HTTP) is behind the feature `connections`, and needs a Unix.

#[cfg(all(feature = "connections", not(unix)))]
compile_error!(
    "the feature `connections` waits with poll(2) and needs Linux, macOS or another Unix"
);

#[cfg(feature = "connections")]
mod amp;
#[cfg(feature = "connections")]
mod channels;
#[cfg(feature = "connections")]
mod claims;
mod connection;
mod drive;
#[cfg(feature = "connections")]
mod endpoint;
#[cfg(feature = "connections")]
#[doc(hidden)]
pub mod fuzzing;
#[cfg(feature = "connections")]
mod http;
mod in_process;
#[cfg(feature = "connections")]
mod line;
#[cfg(feature = "connections")]
mod player;
#[cfg(feature = "connections")]
mod process;
#[cfg(feature = "connections")]
mod relay;
mod semantics;
#[cfg(feature = "connections")]
mod server;
#[cfg(feature = "connections")]
mod session;
mod simulated;
mod solver_process;
#[cfg(feature = "connections")]
mod stage;
#[cfg(feature = "connections")]
mod stream;
#[cfg(feature = "connections")]
mod supervise;
#[cfg(feature = "connections")]
mod tcp;
#[cfg(feature = "connections")]
mod template;
#[cfg(feature = "connections")]
mod text;
#[cfg(feature = "connections")]
mod trace;
#[cfg(not(feature = "connections"))]
mod unguarded;
#[cfg(feature = "connections")]
mod values;

#[cfg(feature = "connections")]
pub use amp::{
    Amp, AmpOptions, AmpPlayer, AnnouncedItem, AnnouncedLabel, AnnouncedParameter, Choice, Chosen,
    Hub, HubOptions, Presence, Units,
};
#[cfg(feature = "connections")]
pub use channels::ChannelPlayer;
pub use connection::{AdapterError, Arrival, Arrived, Connection, LogLine};
pub use drive::{
    Crossed, Crossing, Exchange, Recorder, ScriptRunner, drive, drive_watched, listen,
};
#[cfg(feature = "connections")]
pub use http::{
    Http, HttpMapping, HttpPlayer, HttpRelay, NO_RESET, OneOrMore, RequestMapping, ResponseMapping,
    Statuses,
};
pub use in_process::{InProcess, Local, Outbox};
#[cfg(feature = "connections")]
pub use line::{Codec, Line, RESET};
#[cfg(feature = "connections")]
pub use player::{Left, Player};
#[cfg(feature = "connections")]
pub use process::{Process, ProcessOptions, ResetBy};
#[cfg(feature = "connections")]
pub use relay::{LineRelay, Relay};
pub use semantics::semantics;
#[cfg(feature = "connections")]
pub use server::{PORT, Server, ServerOptions, free_port, with_port};
pub use simulated::Simulated;
pub use solver_process::SolverProcess;
#[cfg(feature = "connections")]
pub use stage::{FaultRate, PlayedFault};
#[cfg(feature = "connections")]
pub use supervise::{Guarded, Limited, kill_guarded};
#[cfg(feature = "connections")]
pub use tcp::{Tcp, TcpOptions};
#[cfg(feature = "connections")]
pub use text::{
    Continued, FORMATS, Format, Framing, Integer, Mapping, MappingError, Pattern, Shape,
    SocketAction, Sockets, TextLines,
};
#[cfg(feature = "connections")]
pub use trace::{Recording, read_traces, write_recorded};
#[cfg(not(feature = "connections"))]
use unguarded::Guarded;
#[cfg(feature = "connections")]
pub use values::{Mismatch, read_value, write_value};

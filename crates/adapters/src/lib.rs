//! Connections to systems under test: the only place that waits.

#[cfg(not(unix))]
compile_error!("ioco-adapters waits with poll(2) and needs Linux, macOS or another Unix");

mod amp;
mod check;
mod connection;
mod dial;
mod drive;
#[doc(hidden)]
pub mod fuzzing;
mod http;
mod in_process;
mod line;
mod process;
mod relay;
mod session;
mod simulated;
mod stream;
mod supervise;
mod system;
mod tcp;
mod template;
mod text;
mod trace;
mod values;

pub use amp::{
    Amp, AmpOptions, AnnouncedItem, AnnouncedLabel, AnnouncedParameter, Choice, Chosen, Hub,
    HubOptions, Presence, Units,
};
pub use check::{NotConforming, check};
pub use connection::{AdapterError, Arrival, Arrived, Connection};
pub use drive::{Crossed, Crossing, Exchange, Recorder, ScriptRunner, drive, drive_watched};
pub use http::{
    Http, HttpMapping, HttpRelay, OneOrMore, RequestMapping, ResponseMapping, Statuses,
};
pub use in_process::{InProcess, Local, Outbox};
pub use ioco_sts::Message;
pub use line::{Codec, Line, RESET};
pub use process::{Process, ProcessOptions, ResetBy};
pub use relay::{LineRelay, Relay};
pub use simulated::Simulated;
pub use supervise::{Limited, kill_guarded};
pub use system::{Bound, System};
pub use tcp::{Tcp, TcpOptions};
pub use text::{Mapping, Sockets, TextLines};
pub use trace::{Recording, read_traces, write_recorded};
pub use values::{Mismatch, read_value, write_value};

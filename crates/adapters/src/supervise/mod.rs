//! What every connection needs to outlive a peer that misbehaves: a limit on waiting ([`Until`]), on what
//! is queued ([`queue`]), on a line ([`Lines`]) and on what is said about it ([`Warnings`]), and a guard
//! that ends the processes we start, however we end ([`Guarded`]). [`Limited`] bounds what one test takes in.
//!
//! A peer that floods is slowed down by the operating system's own buffers, because nothing reads on while a
//! queue is full. A peer that hangs costs at most the time that was allowed, and a request to stop ends the
//! wait within [`SLICE`].

mod guard;
mod limited;
mod lines;
mod log;
mod queue;
mod until;
mod warnings;

pub use guard::{Guarded, kill_guarded};
pub(crate) use ioco_budget::{SLICE, size};
pub use limited::Limited;
pub(crate) use lines::{Lines, TooLong};
pub(crate) use log::Log;
pub(crate) use queue::{Received, Receiver, Sender, queue};
pub(crate) use until::{Until, within};
pub(crate) use warnings::Warnings;

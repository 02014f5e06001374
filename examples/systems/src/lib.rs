//! The systems under test of the examples, each with planted bugs.
//!
//! A [`System`] is synchronous: it takes a stimulus and says at once everything that it will say
//! before the next one. [`system`] builds one by name, right or as a mutant. [`flat`] is the same
//! systems seen through labels without data, as published traces write them, and [`mod@line`] lets any
//! of them speak the line protocol of adapters.

pub mod flat;
pub mod line;
pub mod misbehaving;
mod registry;
mod signature;
mod systems;
pub mod websocket;

pub use ioco_sts::Message;
pub use registry::{MutantEntry, mutants, names, system};
pub use signature::{Kind, Signature};

/// A system under test that answers at once.
pub trait System: Send {
    /// Back to the initial state. What a system chooses freely may differ from test to test.
    fn reset(&mut self);

    /// Gives a stimulus and returns the responses to it, in order; none means silence.
    ///
    /// A stimulus that [`System::check`] refuses, and a value that the system has no use for, are
    /// ignored in silence.
    fn give(&mut self, stimulus: &Message) -> Vec<Message>;

    /// Whether the system knows this stimulus, with these parameters of these types.
    fn check(&self, stimulus: &Message) -> Result<(), String>;
}

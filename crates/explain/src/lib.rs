//! Explanations for people: the engine says why a test did not pass as data; here it becomes text for a terminal,
//! or a diagram for a page.

mod mermaid;
mod replayed;
mod text;

pub use mermaid::mermaid;
pub use replayed::replayed;
pub use text::{TextOptions, text};

//! The sections of ioco.toml that say how one kind of connection works.

pub mod amp;
pub mod lines;

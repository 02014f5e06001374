//! Sections of ioco.toml: how one kind of connection works, and the limits on work.

pub mod amp;
pub mod limits;
pub mod lines;

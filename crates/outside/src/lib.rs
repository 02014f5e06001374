//! The border to the outside: text of others on its way to a terminal ([`Untrusted`]), files of
//! others on their way into memory ([`file`]), and callers who show a secret ([`access`]).
//!
//! Everything that ioco did not write itself and the person did not type comes from outside: models,
//! `ioco.toml`, failure files, rows of a store, messages of systems and adapters, requests.

pub mod access;
pub mod file;
mod text;

pub use text::{Untrusted, for_terminal};

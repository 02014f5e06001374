//! The readers of bytes from outside as functions, for fuzzing. Not a part of the interface.

use std::sync::Arc;

use ioco_sts::Sts;

use crate::{amp, http};

/// Decodes a message of the plugin-adapter protocol, and reads the label in it. Whether there is a label or an
/// announcement in it.
pub fn amp_message(bytes: &[u8], sts: &Arc<Sts>) -> bool {
    amp::read_message(bytes, sts)
}

/// The heads and bodies that are found in the bytes of one direction, and what is wrong at the end.
pub fn http_messages(parts: &[&[u8]], answers: bool) -> (Vec<String>, Option<String>) {
    http::read_messages(parts, answers)
}

/// The server-sent events that are found in bytes.
pub fn events(parts: &[&[u8]]) -> Vec<(String, String)> {
    http::read_events(parts)
}

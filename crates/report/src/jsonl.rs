//! Everything that happened, one JSON object a line, and the schema of those lines.

use ioco_engine::Event;

/// The JSON schema of a line, as published in the book.
pub const EVENTS_SCHEMA: &str = include_str!("../files/events.json");

/// One event as a line, with its end.
pub fn json_line(event: &Event) -> String {
    // Strings, numbers and maps with string keys: always JSON.
    let mut line = serde_json::to_string(event).unwrap_or_default();
    line.push('\n');
    line
}

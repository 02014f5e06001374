//! Where in a text something stands.

use super::FormatError;

/// The line, counted from one, on which a part of a text begins; `part` must be a slice of it.
pub(super) fn line_of_part(text: &str, part: &str) -> u32 {
    let offset = (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    let before = text.as_bytes().get(..offset).unwrap_or_default();
    before.iter().filter(|byte| **byte == b'\n').count() as u32 + 1
}

/// What is wrong with JSON, without the line that the error tells besides.
pub(super) fn json_error(error: &serde_json::Error) -> FormatError {
    let line = u32::try_from(error.line()).unwrap_or(0);
    let text = error.to_string();
    let end = format!(" at line {} column {}", error.line(), error.column());
    let message = match text.strip_suffix(&end) {
        Some(message) => format!("{message} (column {})", error.column()),
        None => text,
    };
    FormatError::new(line, message)
}

//! Between byte offsets, which the parser knows, and the editor's positions: lines from zero, and
//! columns that count UTF-16 units.

use gen_lsp_types::{Position, Range};

/// The position of a byte offset.
pub fn position(text: &str, offset: usize) -> Position {
    let offset = floor(text, offset);
    let before = &text[..offset];
    let line = before.bytes().filter(|b| *b == b'\n').count();
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let character = before[start..].encode_utf16().count();
    Position {
        line: line as u32,
        character: character as u32,
    }
}

pub fn range(text: &str, span: &std::ops::Range<usize>) -> Range {
    Range {
        start: position(text, span.start),
        end: position(text, span.end),
    }
}

/// The byte offset of a position; the nearest one where the text has none.
pub fn offset(text: &str, position: Position) -> usize {
    let mut start = 0;
    for _ in 0..position.line {
        match text[start..].find('\n') {
            Some(at) => start += at + 1,
            None => return text.len(),
        }
    }
    let line = text[start..].split('\n').next().unwrap_or("");
    let mut units = 0;
    for (at, character) in line.char_indices() {
        if units >= position.character as usize {
            return start + at;
        }
        units += character.len_utf16();
    }
    start + line.len()
}

fn floor(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_utf_16_units_and_come_back() {
        let text = "aß\n𝄞b\n\nend";
        for (at, _) in text.char_indices() {
            assert_eq!(offset(text, position(text, at)), at);
        }
        let clef_end = text.find('b').unwrap();
        let expected = Position {
            line: 1,
            character: 2,
        };
        assert_eq!(position(text, clef_end), expected);
    }

    #[test]
    fn a_position_outside_the_text_is_taken_to_its_edge() {
        let far = Position {
            line: 9,
            character: 9,
        };
        assert_eq!(offset("ab\ncd", far), 5);
        let beside = Position {
            line: 0,
            character: 9,
        };
        assert_eq!(offset("ab\ncd", beside), 2);
    }
}

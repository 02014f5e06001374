//! Texts in a picture: escaped, wrapped, and measured without a font.

/// The width of a character of the fixed-width fonts that the pictures ask for, per pixel of size.
const CHARACTER_WIDTH: f64 = 0.61;

pub const SIZE: f64 = 12.0;
pub const LINE_HEIGHT: f64 = 16.0;

/// Text as content or attribute of XML. Characters that XML cannot hold are replaced.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\n' | '\t' => escaped.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

/// The width of a line in pixels.
pub fn width(line: &str) -> f64 {
    let columns: usize = line.chars().map(columns).sum();
    columns as f64 * SIZE * CHARACTER_WIDTH
}

/// Letters of East Asian scripts and pictures take the room of two.
fn columns(c: char) -> usize {
    match u32::from(c) {
        0x1100..=0x115f | 0x2e80..=0xa4cf | 0xac00..=0xd7a3 | 0xf900..=0xfaff => 2,
        0xfe30..=0xfe6f | 0xff00..=0xff60 | 0xffe0..=0xffe6 | 0x1f300..=0x1faff => 2,
        _ => 1,
    }
}

/// Breaks a text at spaces into lines of at most `most` characters, and words that are longer
/// anywhere. After `lines` lines the rest is cut off, with an ellipsis.
pub fn wrap(text: &str, most: usize, lines: usize) -> Vec<String> {
    let mut wrapped: Vec<String> = Vec::new();
    let mut line = String::new();
    let mut length = 0;
    for word in text.split_whitespace() {
        let mut word: Vec<char> = word.chars().collect();
        loop {
            let space = usize::from(length > 0);
            if length + space + word.len() <= most {
                if length > 0 {
                    line.push(' ');
                }
                length += space + word.len();
                line.extend(word);
                break;
            }
            if length > 0 {
                wrapped.push(std::mem::take(&mut line));
                length = 0;
            } else {
                let rest = word.split_off(most);
                wrapped.push(word.into_iter().collect());
                word = rest;
            }
        }
    }
    if length > 0 || wrapped.is_empty() {
        wrapped.push(line);
    }
    if wrapped.len() > lines {
        wrapped.truncate(lines);
        if let Some(last) = wrapped.last_mut() {
            last.push('…');
        }
    }
    wrapped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_and_control_characters_are_escaped() {
        assert_eq!(
            escape("a<b & \"c\"\u{1}'"),
            "a&lt;b &amp; &quot;c&quot;\u{fffd}&#39;"
        );
    }

    #[test]
    fn long_texts_are_broken_at_spaces_and_long_words_anywhere() {
        assert_eq!(wrap("ab cd ef", 5, 9), ["ab cd", "ef"]);
        assert_eq!(wrap("abcdefgh", 3, 9), ["abc", "def", "gh"]);
        assert_eq!(wrap("a b c d", 1, 2), ["a", "b…"]);
        assert_eq!(wrap("", 5, 2), [""]);
    }
}

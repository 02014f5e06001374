//! Escapes in quoted text, with the meaning that they have in Ruby's double quotes. An escape without a meaning
//! is a mistake here: Ruby leaves out its backslash, so that `"\d"` would be `d` without a word.

use std::str::Chars;

/// The character that an escape stands for; `rest` begins after the backslash and is read to the end of the
/// escape. `None` where the escape means nothing: then one character is read.
pub fn read(rest: &mut Chars<'_>) -> Option<char> {
    let before = rest.clone();
    let meant = meaning(rest);
    if meant.is_none() {
        *rest = before;
        rest.next();
    }
    meant
}

fn meaning(rest: &mut Chars<'_>) -> Option<char> {
    match rest.next()? {
        'n' => Some('\n'),
        't' => Some('\t'),
        'r' => Some('\r'),
        's' => Some(' '),
        '0' if !rest.as_str().starts_with(|c: char| c.is_ascii_digit()) => Some('\0'),
        'a' => Some('\x07'),
        'b' => Some('\x08'),
        'e' => Some('\x1b'),
        'f' => Some('\x0c'),
        'v' => Some('\x0b'),
        'x' => {
            // A byte of more than seven bits is no character by itself.
            let code = hexadecimal(rest, 2)?;
            char::from_u32(code).filter(char::is_ascii)
        }
        'u' if rest.as_str().starts_with('{') => {
            rest.next();
            let (digits, after) = rest.as_str().split_once('}')?;
            if digits.is_empty() || digits.len() > 6 {
                return None;
            }
            let code = hexadecimal(rest, digits.len())?;
            *rest = after.chars();
            char::from_u32(code)
        }
        'u' => char::from_u32(hexadecimal(rest, 4)?),
        letter if letter.is_alphanumeric() => None,
        other => Some(other),
    }
}

fn hexadecimal(rest: &mut Chars<'_>, digits: usize) -> Option<u32> {
    (0..digits).try_fold(0, |code, _| Some(code * 16 + rest.next()?.to_digit(16)?))
}

/// What to say of an escape that means nothing, by the character after its backslash, and how to help; `quotes`
/// says what else there is to know about a backslash in these quotes.
pub fn unknown(after: Option<char>, quotes: &str) -> (String, String) {
    let after = after.map_or_else(String::new, String::from);
    let message = match after.as_str() {
        "u" => "`\\u` is followed by four hexadecimal digits of a character, or by some in braces"
            .to_owned(),
        "x" => "`\\x` is followed by two hexadecimal digits, at most 7f".to_owned(),
        _ => format!("the escape `\\{after}` means nothing"),
    };
    let hint = match after.as_str() {
        "u" => "such as `\\u0041` or `\\u{1f600}`".to_owned(),
        "x" => "write other characters as `\\u00e9`".to_owned(),
        _ => format!("a backslash is written `\\\\`; {quotes}"),
    };
    (message, hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_escape_is_a_character_and_is_read_to_its_end() {
        for (text, meant, left) in [
            ("nx", '\n', "x"),
            ("sx", ' ', "x"),
            ("0x", '\0', "x"),
            ("u00411", 'A', "1"),
            ("u{41}1", 'A', "1"),
            ("u{1f600}", '\u{1f600}', ""),
            ("x411", 'A', "1"),
            ("ex", '\x1b', "x"),
            ("\"x", '"', "x"),
            ("\\x", '\\', "x"),
            ("#{", '#', "{"),
        ] {
            let mut rest = text.chars();
            assert_eq!(read(&mut rest), Some(meant), "{text}");
            assert_eq!(rest.as_str(), left, "{text}");
        }
    }

    #[test]
    fn an_escape_without_a_meaning_is_none_of_them() {
        for text in [
            "d",
            "q",
            "u004",
            "u00g1",
            "ud83d",
            "u{}",
            "u{110000}",
            "u{0000041}",
            "u{41",
            "u{+41}",
            "x4",
            "xe9",
            "07",
            "12",
            "é",
            "",
        ] {
            let mut rest = text.chars();
            assert_eq!(read(&mut rest), None, "{text}");
            let first = text.chars().next().map_or(0, char::len_utf8);
            assert_eq!(rest.as_str(), &text[first..], "{text}");
        }
    }
}

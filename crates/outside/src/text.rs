//! Text from outside. A terminal obeys what is hidden in it: escape sequences write to the clipboard
//! (OSC 52), change the title, clear the screen or turn the order of letters round. [`Untrusted`]
//! prints such characters as `\u001b`, so that they are seen and not obeyed.

use std::fmt::{self, Write as _};

use serde::{Deserialize, Serialize};

/// Text that another person wrote. Its only printable form is the escaped one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Untrusted(String);

impl Untrusted {
    pub fn new(text: impl Into<String>) -> Untrusted {
        Untrusted(text.into())
    }

    /// Escapes what something says of itself: an error that quotes a file, for instance.
    pub fn of(said: impl fmt::Display) -> Untrusted {
        Untrusted(said.to_string())
    }

    /// The text as it came, for comparing and storing; never for a terminal.
    pub fn raw(&self) -> &str {
        &self.0
    }

    /// Escaped, but with its line breaks: for messages of several lines.
    pub fn lines(&self) -> String {
        let mut shown = String::with_capacity(self.0.len());
        for character in self.0.chars() {
            if matches!(character, '\n' | '\t') {
                shown.push(character);
            } else {
                put(&mut shown, character);
            }
        }
        shown
    }
}

impl fmt::Display for Untrusted {
    /// On one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = String::with_capacity(self.0.len());
        self.0.chars().for_each(|c| put(&mut shown, c));
        f.pad(&shown)
    }
}

/// Whether a terminal does something else with it than draw it.
fn is_command(character: char) -> bool {
    character.is_control()
        // What changes the direction of text, or has no width, makes text look like other text.
        || matches!(character, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

fn put(shown: &mut String, character: char) {
    if is_command(character) {
        // The form of JSON, so that escaped JSON is the same JSON.
        let _ = write!(shown, "\\u{:04x}", u32::from(character));
    } else {
        shown.push(character);
    }
}

/// What may be written to a terminal: text with line breaks and the colours that ioco uses, and every
/// other command escaped. The last line of defence, behind [`Untrusted`]: it cannot tell our own
/// colours from the same colours of others.
pub fn for_terminal(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        if let Some(length) = colour(rest) {
            shown.push_str(&rest[..length]);
            rest = &rest[length..];
            continue;
        }
        if matches!(character, '\n' | '\t') {
            shown.push(character);
        } else if rest.starts_with("\r\n") {
            // The line break follows.
        } else {
            put(&mut shown, character);
        }
        rest = &rest[character.len_utf8()..];
    }
    shown
}

/// The colours of ioco and of its pictures of source text: the end of a style, bold, faint and
/// letters in a colour. None hides text, as concealed letters or black ones do.
const COLOURS: [&str; 11] = [
    "0", "1", "2", "31", "32", "33", "91", "92", "93", "94", "96",
];

/// The length of the colour sequence that a text begins with.
fn colour(text: &str) -> Option<usize> {
    let (parameters, _) = text.strip_prefix("\u{1b}[")?.split_once('m')?;
    let length = "\u{1b}[".len() + parameters.len() + 1;
    COLOURS.contains(&parameters).then_some(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_shown_and_not_obeyed() {
        let evil = "a\u{1b}]52;c;ZXZpbA==\u{7}b\u{9b}2Jc\u{202e}d\ne";
        assert_eq!(
            Untrusted::new(evil).to_string(),
            r"a\u001b]52;c;ZXZpbA==\u0007b\u009b2Jc\u202ed\u000ae"
        );
        assert!(Untrusted::new(evil).lines().ends_with("d\ne"));
    }

    #[test]
    fn letters_of_all_languages_stay() {
        let text = "Türschloß 門 → δ ✗ «é»";
        assert_eq!(Untrusted::new(text).to_string(), text);
        assert_eq!(for_terminal(text), text);
    }

    #[test]
    fn a_terminal_gets_colours_and_no_other_commands() {
        assert_eq!(
            for_terminal("\u{1b}[1m\u{1b}[31mred\u{1b}[0m\r\n"),
            "\u{1b}[1m\u{1b}[31mred\u{1b}[0m\n"
        );
        for evil in [
            "\u{1b}]0;title\u{7}",
            "\u{1b}[2J",
            "\u{1b}[31",
            "\u{1b}",
            "\u{1b}[",
            "\u{1b}[?1049h",
            // Concealed, black, white on white, blinking, reverse, and one of ours with one of those.
            "\u{1b}[8m",
            "\u{1b}[30m",
            "\u{1b}[97;107m",
            "\u{1b}[5m",
            "\u{1b}[7m",
            "\u{1b}[31;8m",
            "\u{1b}[m",
            "\rover",
            "\u{8}\u{7f}",
        ] {
            let shown = for_terminal(evil);
            assert!(!shown.contains(char::is_control), "{shown:?}");
        }
    }
}

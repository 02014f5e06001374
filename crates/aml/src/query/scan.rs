//! The lines and words of a query, with their places.

use std::ops::Range;

/// The text with comments made blank, so that places stay what they are.
pub fn without_comments(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut quote = None;
    let mut comment = false;
    for character in text.chars() {
        match (character, quote) {
            ('\n', _) => (quote, comment) = (None, false),
            _ if comment => {}
            ('#', None) => comment = true,
            ('\'' | '"', None) => quote = Some(character),
            (_, Some(open)) if open == character => quote = None,
            _ => {}
        }
        if comment {
            // As many bytes as the character has.
            clean.extend(std::iter::repeat_n(' ', character.len_utf8()));
        } else {
            clean.push(character);
        }
    }
    clean
}

/// The lines that say something. One that ends in `,`, `&&`, `||`, or within brackets goes on.
pub fn lines(clean: &str) -> Vec<Range<usize>> {
    let mut lines = Vec::new();
    let mut start: Option<usize> = None;
    let mut depth = 0i32;
    let mut offset = 0;
    for line in clean.split_inclusive('\n') {
        let said = line.trim();
        if !said.is_empty() {
            let from = offset + (line.len() - line.trim_start().len());
            let begin = *start.get_or_insert(from);
            depth = (depth + brackets(said)).max(0);
            let goes_on = depth > 0 || said.ends_with([',', '&']) || said.ends_with("||");
            if !goes_on {
                lines.push(begin..offset + line.trim_end().len());
                start = None;
            }
        }
        offset += line.len();
    }
    if let Some(begin) = start {
        lines.push(begin..clean.trim_end().len());
    }
    lines
}

/// Brackets opened and not closed, outside of strings.
fn brackets(text: &str) -> i32 {
    let mut depth = 0;
    let mut quote = None;
    for character in text.chars() {
        match (character, quote) {
            ('\'' | '"', None) => quote = Some(character),
            (_, Some(open)) if open == character => quote = None,
            ('(' | '[', None) => depth += 1,
            (')' | ']', None) => depth -= 1,
            _ => {}
        }
    }
    depth
}

/// A place in one line of the text.
#[derive(Clone, Copy)]
pub struct Cursor<'t> {
    text: &'t str,
    pub at: usize,
    pub end: usize,
}

impl<'t> Cursor<'t> {
    pub fn new(text: &'t str, line: Range<usize>) -> Cursor<'t> {
        Cursor {
            text,
            at: line.start,
            end: line.end,
        }
    }

    pub fn rest(&self) -> &'t str {
        &self.text[self.at..self.end]
    }

    pub fn slice(&self, span: Range<usize>) -> &'t str {
        &self.text[span]
    }

    pub fn skip_space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    pub fn is_done(&mut self) -> bool {
        self.skip_space();
        self.at >= self.end
    }

    /// Takes this text if it comes next.
    pub fn takes(&mut self, text: &str) -> bool {
        self.skip_space();
        let comes = self.rest().starts_with(text);
        if comes {
            self.at += text.len();
        }
        comes
    }

    /// Takes this word if it comes next, whole.
    pub fn takes_word(&mut self, word: &str) -> bool {
        self.skip_space();
        let comes = self.word() == word;
        if comes {
            self.at += word.len();
        }
        comes
    }

    /// The word that comes next: letters, digits and `_`.
    pub fn word(&self) -> &'t str {
        let rest = self.rest().trim_start();
        let length = rest.find(|c: char| !(c.is_alphanumeric() || c == '_'));
        &rest[..length.unwrap_or(rest.len())]
    }

    /// A number, if one comes next.
    pub fn number(&mut self) -> Option<(u32, Range<usize>)> {
        self.skip_space();
        let rest = self.rest();
        let length = rest.find(|c: char| !c.is_ascii_digit());
        let digits = &rest[..length.unwrap_or(rest.len())];
        let span = self.at..self.at + digits.len();
        let number = digits.parse().ok()?;
        self.at = span.end;
        Some((number, span))
    }

    /// A name: in quotes, or up to a space or an opening bracket.
    pub fn name(&mut self) -> (&'t str, Range<usize>) {
        self.skip_space();
        let rest = self.rest();
        let start = self.at;
        if let Some(quote) = rest.chars().next().filter(|c| matches!(c, '\'' | '"'))
            && let Some(length) = rest[1..].find(quote)
        {
            self.at += length + 2;
            return (&rest[1..=length], start..self.at);
        }
        let length = rest.find(|c: char| c.is_whitespace() || matches!(c, '(' | ','));
        let name = &rest[..length.unwrap_or(rest.len())];
        self.at += name.len();
        (name, start..self.at)
    }

    /// Up to the next one of these words outside of brackets and strings, or to the end.
    pub fn until_word(&mut self, words: &[&str]) -> Range<usize> {
        self.skip_space();
        let start = self.at;
        let mut depth = 0;
        let mut quote = None;
        let mut before = ' ';
        for (position, character) in self.rest().char_indices() {
            if depth == 0 && quote.is_none() && !(before.is_alphanumeric() || before == '_') {
                let here = Cursor {
                    at: start + position,
                    ..*self
                };
                if character.is_alphabetic() && words.contains(&here.word()) {
                    self.at = here.at;
                    return start..self.at;
                }
            }
            match (character, quote) {
                ('\'' | '"', None) => quote = Some(character),
                (_, Some(open)) if open == character => quote = None,
                ('(' | '[', None) => depth += 1,
                (')' | ']', None) => depth -= 1,
                _ => {}
            }
            before = character;
        }
        self.at = self.end;
        start..self.end
    }

    /// The parts between an opening bracket, which was taken, and its closing one, cut at commas.
    /// `None` where it is not closed.
    pub fn arguments(&mut self) -> Option<Vec<Range<usize>>> {
        let mut parts = Vec::new();
        let mut start = self.at;
        let mut depth = 0;
        let mut quote = None;
        for (position, character) in self.rest().char_indices() {
            let here = self.at + position;
            match (character, quote) {
                ('\'' | '"', None) => quote = Some(character),
                (_, Some(open)) if open == character => quote = None,
                (')', None) if depth == 0 => {
                    parts.push(start..here);
                    self.at = here + 1;
                    parts.retain(|part| !self.text[part.clone()].trim().is_empty());
                    return Some(parts);
                }
                ('(' | '[', None) => depth += 1,
                (')' | ']', None) => depth -= 1,
                (',', None) if depth == 0 => {
                    parts.push(start..here);
                    start = here + 1;
                }
                _ => {}
            }
        }
        None
    }
}

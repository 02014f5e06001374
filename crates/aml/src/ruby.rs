//! Recognises Ruby that is legal in the original language and not part of ours, so that it is
//! reported as such and not as a row of strange mistakes.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ruby {
    /// Goes on to an `end`.
    Block,
    /// One line.
    Line,
}

/// Whether a statement that starts with `word` is other Ruby.
pub fn starts_ruby(word: &str) -> Option<Ruby> {
    match word {
        "if" | "unless" | "while" | "until" | "for" | "case" | "begin" | "class" | "module" => {
            Some(Ruby::Block)
        }
        "loop" | "puts" | "print" | "p" | "require" | "require_relative" | "load" | "lambda"
        | "proc" | "raise" | "return" | "else" | "elsif" | "when" | "then" | "yield" | "next"
        | "break" | "rescue" | "ensure" | "alias" => Some(Ruby::Line),
        _ => None,
    }
}

/// The text from `from` to the end of its line, without the comment's or line's trailing spaces.
pub fn line_from(text: &str, from: usize) -> &str {
    let rest = &text[from..];
    rest.split('\n').next().unwrap_or("").trim_end()
}

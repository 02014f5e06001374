//! The kinds of tokens and nodes of the lossless tree, and the lexer that makes the tokens.
//!
//! Lexing never fails: what is no token of the language becomes [`SyntaxKind::Other`], and a string
//! that is not closed ends on its own line, so that the lines after it are read as they stand.

use std::ops::Range;

use logos::Logos;

/// The enumeration, and all kinds by number, so that the tree's raw kinds turn back without unsafe code.
macro_rules! kinds {
    ($($(#[$about:meta])* $kind:ident,)*) => {
        #[derive(Logos, Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u16)]
        pub enum SyntaxKind {
            $($(#[$about])* $kind,)*
        }

        const KINDS: &[SyntaxKind] = &[$(SyntaxKind::$kind,)*];
    };
}

kinds! {
    /// Spaces, tabs and a line that is continued by a backslash.
    #[regex(r"([ \t\r]|\\\r?\n)+")]
    Whitespace,
    #[token("\n")]
    Newline,
    #[regex(r"#[^\n]*", allow_greedy = true)]
    Comment,
    #[regex(r"[A-Za-z_\u{a1}-\u{10FFFF}][A-Za-z0-9_\u{a1}-\u{10FFFF}]*\??")]
    Ident,
    #[regex(r":[A-Za-z_][A-Za-z0-9_]*")]
    Symbol,
    #[regex(r"[0-9][0-9_]*(\.[0-9]+)?")]
    Number,
    #[token("'")]
    #[token("\"")]
    #[token("%(")]
    String,
    /// A string without its closing quote.
    UnclosedString,
    #[token("def")]
    Def,
    #[token("do")]
    Do,
    #[token("end")]
    End,
    #[token("(")]
    LParen,
    #[token(")")]
    RParen,
    #[token("{")]
    LBrace,
    #[token("}")]
    RBrace,
    #[token("[")]
    LBracket,
    #[token("]")]
    RBracket,
    #[token(",")]
    Comma,
    #[token(";")]
    Semicolon,
    #[token(":")]
    Colon,
    #[token("=>")]
    FatArrow,
    #[token("..")]
    DotDot,
    #[token("|")]
    Pipe,
    #[token("-")]
    Minus,
    /// Any other character.
    Other,
    EndOfFile,

    /// A whole file.
    File,
    /// `name args block`: every declaration and statement.
    Command,
    /// `def name() ... end`.
    Macro,
    /// The parenthesised arguments of a command or call.
    Arguments,
    /// `{ ... }` or `do ... end` with statements in it.
    Block,
    /// The parameters of a function, `|x, y|`.
    BlockParameters,
    /// The expression of a function, as it stands.
    Body,
    /// A string, symbol, number or name.
    Literal,
    /// `0..9`.
    IntegerRange,
    Array,
    Hash,
    /// `'p' => :integer`.
    Pair,
    /// `constraint: '...'`.
    Keyword,
    /// `integer(0..9)`.
    Call,
    /// Text that could not be understood; a diagnostic stands for it.
    Error,
}

impl SyntaxKind {
    pub fn is_trivia(self) -> bool {
        matches!(self, SyntaxKind::Whitespace | SyntaxKind::Comment)
    }
}

/// The language of the tree, for rowan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Aml {}

impl rowan::Language for Aml {
    type Kind = SyntaxKind;

    fn kind_from_raw(raw: rowan::SyntaxKind) -> SyntaxKind {
        KINDS[raw.0 as usize]
    }

    fn kind_to_raw(kind: SyntaxKind) -> rowan::SyntaxKind {
        rowan::SyntaxKind(kind as u16)
    }
}

pub type SyntaxNode = rowan::SyntaxNode<Aml>;
pub type SyntaxToken = rowan::SyntaxToken<Aml>;
pub type SyntaxElement = rowan::NodeOrToken<SyntaxNode, SyntaxToken>;

/// Splits a text into tokens that together are the text.
pub fn lex(text: &str) -> Vec<(SyntaxKind, Range<usize>)> {
    let mut tokens = Vec::with_capacity(text.len() / 3);
    let mut lexer = SyntaxKind::lexer(text);
    let mut before = SyntaxKind::Newline;
    while let Some(result) = lexer.next() {
        let mut kind = result.unwrap_or(SyntaxKind::Other);
        if kind == SyntaxKind::String {
            // A quote that is forgotten would turn all text after it inside out. Only the strings
            // that follow a `key:` are seen to span lines, so only those may.
            let may_span_lines = before == SyntaxKind::Colon;
            let (length, closed) = string_end(lexer.slice(), lexer.remainder(), may_span_lines);
            lexer.bump(length);
            if !closed {
                kind = SyntaxKind::UnclosedString;
            }
        }
        if !kind.is_trivia() {
            before = kind;
        }
        tokens.push((kind, lexer.span()));
    }
    tokens
}

/// How far the string goes that was opened by `opening`, and whether it is closed there.
fn string_end(opening: &str, rest: &str, may_span_lines: bool) -> (usize, bool) {
    let close = match opening {
        "'" => b'\'',
        "\"" => b'"',
        _ => b')',
    };
    let nests = close == b')';
    let mut depth = 0;
    let mut line_end = None;
    let mut bytes = rest.bytes().enumerate();
    while let Some((position, byte)) = bytes.next() {
        match byte {
            b'\\' => {
                // The escaped character is one of the string, whatever it is.
                bytes.next();
            }
            b'(' if nests => depth += 1,
            b')' if nests && depth > 0 => depth -= 1,
            _ if byte == close => return (position + 1, true),
            b'\n' if may_span_lines || nests => line_end = line_end.or(Some(position)),
            b'\n' => return (unclosed_end(&rest[..position]), false),
            _ => {}
        }
    }
    let line_end = line_end.unwrap_or(rest.len());
    (unclosed_end(&rest[..line_end]), false)
}

/// An unclosed string ends with its line, but leaves the brackets that close the line to the
/// parser: they most likely belong to the blocks around.
fn unclosed_end(line: &str) -> usize {
    line.trim_end_matches([' ', '\t', '\r', '}', ')', ';'])
        .len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rowan::Language as _;

    #[test]
    fn raw_kinds_turn_back_into_themselves() {
        for kind in KINDS {
            assert_eq!(Aml::kind_from_raw(Aml::kind_to_raw(*kind)), *kind);
        }
        assert_eq!(KINDS.len(), SyntaxKind::Error as usize + 1);
    }

    fn kinds(text: &str) -> Vec<SyntaxKind> {
        lex(text)
            .into_iter()
            .map(|(kind, _)| kind)
            .filter(|kind| !kind.is_trivia())
            .collect()
    }

    #[test]
    fn a_forgotten_quote_spoils_its_own_line_only() {
        use SyntaxKind::*;
        assert_eq!(
            kinds("o { send 'a }\nsend 'b'"),
            [
                Ident,
                LBrace,
                Ident,
                UnclosedString,
                RBrace,
                Newline,
                Ident,
                String
            ]
        );
    }

    #[test]
    fn a_string_after_a_key_may_span_lines() {
        use SyntaxKind::*;
        assert_eq!(kinds("constraint: 'a\nb'"), [Ident, Colon, String]);
        assert_eq!(kinds("constraint: %(a (b)\n c)"), [Ident, Colon, String]);
    }
}

//! Tokens of expressions. Lexing never fails: what is no token is [`Token::Other`].

use std::ops::Range;

use logos::Logos;

#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
#[logos(skip r"[ \t\r\n]+")]
pub enum Token {
    #[regex(r"[A-Za-z_\u{a1}-\u{10FFFF}][A-Za-z0-9_\u{a1}-\u{10FFFF}]*\??")]
    Name,
    #[regex(r"[0-9][0-9_]*")]
    Integer,
    #[regex(r"[0-9][0-9_]*\.[0-9]+")]
    Decimal,
    #[regex(r#""([^"\\]|\\(.|\n))*""#)]
    #[regex(r#"'([^'\\]|\\(.|\n))*'"#)]
    Str,
    #[token(":void")]
    Void,
    /// `/pattern/`, after `=~` only.
    Pattern,
    #[token("==")]
    EqEq,
    #[token("!=")]
    NotEq,
    #[token("<=")]
    LessEq,
    #[token(">=")]
    GreaterEq,
    #[token("<")]
    Less,
    #[token(">")]
    Greater,
    #[token("&&")]
    AndAnd,
    #[token("||")]
    OrOr,
    #[token("!")]
    Not,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token("*")]
    Star,
    #[token("/")]
    Slash,
    #[token("%")]
    Percent,
    #[token("=")]
    Assign,
    #[token("+=")]
    PlusAssign,
    #[token("-=")]
    MinusAssign,
    #[token("*=")]
    TimesAssign,
    #[token("=~")]
    Match,
    #[token("=>")]
    Arrow,
    #[token("&")]
    Ampersand,
    #[token("<~")]
    PrefixOf,
    #[token("{")]
    LBrace,
    #[token("}")]
    RBrace,
    #[token("|")]
    Pipe,
    #[token(":")]
    Colon,
    #[token("(")]
    LParen,
    #[token(")")]
    RParen,
    #[token("[")]
    LBracket,
    #[token("]")]
    RBracket,
    #[token(",")]
    Comma,
    #[token(";")]
    Semicolon,
    #[token(".")]
    Dot,
    #[token("..")]
    DotDot,
    Other,
    End,
}

pub fn lex(text: &str) -> Vec<(Token, Range<usize>)> {
    let mut tokens = Vec::new();
    let mut lexer = Token::lexer(text);
    while let Some(result) = lexer.next() {
        let mut token = result.unwrap_or(Token::Other);
        if token == Token::Slash && matches!(tokens.last(), Some((Token::Match, _))) {
            token = Token::Pattern;
            let length = pattern_end(lexer.remainder());
            lexer.bump(length);
        }
        tokens.push((token, lexer.span()));
    }
    tokens
}

/// How far a pattern goes after its first slash: over its closing slash, or to the end of the line.
fn pattern_end(rest: &str) -> usize {
    let mut escaped = false;
    for (position, character) in rest.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '/' => return position + 1,
            '\n' => return position,
            _ => {}
        }
    }
    rest.len()
}

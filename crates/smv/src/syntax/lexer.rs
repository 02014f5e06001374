//! Cuts the text into tokens. In NuSMV `a-b` is one identifier and `a - b` a subtraction, and `--` starts a comment.

use crate::diagnostic::{Problem, Span};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    Name(String),
    Number(i64),
    /// An operator or bracket, as written.
    Sign(&'static str),
    End,
}

#[derive(Clone, Debug)]
pub(crate) struct Lexeme {
    pub token: Token,
    pub span: Span,
}

const SIGNS: [&str; 40] = [
    "<->", ":=", "..", "->", "!=", "<=", ">=", "<<", ">>", "::", "||", "&&", "==", "{|", "(", ")",
    "[", "]", "{", "}", ",", ";", ":", "?", ".", "+", "-", "*", "/", "%", "=", "<", ">", "&", "|",
    "!", "^", "@", "~", "'",
];

pub(crate) fn lex(text: &str) -> (Vec<Lexeme>, Vec<Problem>) {
    let bytes = text.as_bytes();
    let mut lexemes = Vec::new();
    let mut problems = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        if byte.is_ascii_whitespace() {
            at += 1;
            continue;
        }
        if bytes[at..].starts_with(b"--") {
            at += bytes[at..]
                .iter()
                .position(|b| *b == b'\n')
                .unwrap_or(bytes.len() - at);
            continue;
        }
        if bytes[at..].starts_with(b"/--") {
            match text.get(at + 3..).and_then(|rest| rest.find("--/")) {
                Some(length) => at += 3 + length + 3,
                None => {
                    problems.push(Problem::error(
                        Span::new(at, at + 3),
                        "this comment is not closed with `--/`",
                    ));
                    break;
                }
            }
            continue;
        }
        if byte == b'#' {
            // Left behind by a preprocessor; NuSMV skips such lines as well.
            at += bytes[at..]
                .iter()
                .position(|b| *b == b'\n')
                .unwrap_or(bytes.len() - at);
            continue;
        }
        if byte.is_ascii_alphabetic() || byte == b'_' {
            let length = bytes[at..]
                .iter()
                .position(|b| !(b.is_ascii_alphanumeric() || b"_$#-\\".contains(b)))
                .unwrap_or(bytes.len() - at);
            lexemes.push(Lexeme {
                token: Token::Name(text[at..at + length].to_owned()),
                span: Span::new(at, at + length),
            });
            at += length;
            continue;
        }
        if byte.is_ascii_digit() {
            let length = bytes[at..]
                .iter()
                .position(|b| !b.is_ascii_alphanumeric() && *b != b'_')
                .unwrap_or(bytes.len() - at);
            let digits = &text[at..at + length];
            let span = Span::new(at, at + length);
            match digits.parse::<i64>() {
                Ok(number) => lexemes.push(Lexeme {
                    token: Token::Number(number),
                    span,
                }),
                Err(_)
                    if digits.starts_with("0u")
                        || digits.starts_with("0s")
                        || digits.starts_with("0b")
                        || digits.starts_with("0d") =>
                {
                    problems.push(Problem::error(
                        span,
                        format!("`{digits}` is a word constant; words are not supported"),
                    ));
                }
                Err(_) => problems.push(Problem::error(
                    span,
                    format!("`{digits}` is not a number that fits in 64 bits"),
                )),
            }
            at += length;
            continue;
        }
        if byte == b'"' {
            // A string in a specification; kept as a name so that the text around it can be skipped.
            let length = bytes[at + 1..]
                .iter()
                .position(|b| *b == b'"')
                .map_or(bytes.len() - at, |l| l + 2);
            lexemes.push(Lexeme {
                token: Token::Name(text.get(at..at + length).unwrap_or_default().to_owned()),
                span: Span::new(at, at + length),
            });
            at += length;
            continue;
        }
        match SIGNS
            .iter()
            .find(|sign| bytes[at..].starts_with(sign.as_bytes()))
        {
            Some(sign) => {
                lexemes.push(Lexeme {
                    token: Token::Sign(sign),
                    span: Span::new(at, at + sign.len()),
                });
                at += sign.len();
            }
            None => {
                let length = text
                    .get(at..)
                    .and_then(|rest| rest.chars().next())
                    .map_or(1, char::len_utf8);
                problems.push(Problem::error(
                    Span::new(at, at + length),
                    format!(
                        "`{}` does not belong to the language",
                        text.get(at..at + length).unwrap_or("?")
                    ),
                ));
                at += length;
            }
        }
    }
    lexemes.push(Lexeme {
        token: Token::End,
        span: Span::new(text.len(), text.len()),
    });
    (lexemes, problems)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<Token> {
        lex(text).0.into_iter().map(|l| l.token).collect()
    }

    #[test]
    fn a_minus_without_spaces_belongs_to_the_identifier() {
        assert_eq!(tokens("a-b"), vec![Token::Name("a-b".into()), Token::End]);
        assert_eq!(
            tokens("a - b -- rest"),
            vec![
                Token::Name("a".into()),
                Token::Sign("-"),
                Token::Name("b".into()),
                Token::End
            ]
        );
    }

    #[test]
    fn a_range_is_two_numbers_and_a_sign() {
        assert_eq!(
            tokens("1..7"),
            vec![
                Token::Number(1),
                Token::Sign(".."),
                Token::Number(7),
                Token::End
            ]
        );
    }

    #[test]
    fn a_word_constant_is_refused_with_a_message() {
        assert!(lex("0ud8_5").1[0].message.contains("word"));
    }
}

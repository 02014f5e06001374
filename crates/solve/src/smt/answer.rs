//! Reading a solver's answers: parenthesised lists and the values in them.

use rust_decimal::Decimal;

/// A list or a word of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Word(String),
    /// A string literal, with its escapes undone.
    Text(String),
    List(Vec<Answer>),
}

/// How deep parentheses are open after `text`, strings left aside; zero when it is complete.
pub(super) fn open_parentheses(text: &str) -> i64 {
    let (mut open, mut quoted) = (0, false);
    for c in text.chars() {
        match c {
            '"' => quoted = !quoted,
            '(' if !quoted => open += 1,
            ')' if !quoted => open -= 1,
            _ => {}
        }
    }
    // A string that goes on in the next line is not complete either.
    if quoted { open.max(1) } else { open }
}

pub(super) fn parse(text: &str) -> Option<Answer> {
    let characters: Vec<char> = text.chars().collect();
    let mut position = 0;
    parse_at(&characters, &mut position, 0)
}

fn parse_at(text: &[char], position: &mut usize, depth: u32) -> Option<Answer> {
    while text.get(*position).is_some_and(|c| c.is_whitespace()) {
        *position += 1;
    }
    match text.get(*position)? {
        '(' if depth < 200 => {
            *position += 1;
            let mut items = Vec::new();
            loop {
                while text.get(*position).is_some_and(|c| c.is_whitespace()) {
                    *position += 1;
                }
                if *text.get(*position)? == ')' {
                    *position += 1;
                    return Some(Answer::List(items));
                }
                items.push(parse_at(text, position, depth + 1)?);
            }
        }
        '(' | ')' => None,
        '"' => {
            *position += 1;
            let mut raw = String::new();
            loop {
                match text.get(*position)? {
                    '"' if text.get(*position + 1) == Some(&'"') => {
                        raw.push('"');
                        *position += 2;
                    }
                    '"' => {
                        *position += 1;
                        return Some(Answer::Text(unescaped(&raw)));
                    }
                    c => {
                        raw.push(*c);
                        *position += 1;
                    }
                }
            }
        }
        _ => {
            let start = *position;
            while text
                .get(*position)
                .is_some_and(|c| !c.is_whitespace() && *c != '(' && *c != ')')
            {
                *position += 1;
            }
            Some(Answer::Word(text[start..*position].iter().collect()))
        }
    }
}

/// `\u{61}`, `\u0061` and `\x61` as the characters they stand for.
fn unescaped(raw: &str) -> String {
    let mut text = String::new();
    let mut rest = raw;
    while let Some(start) = rest.find('\\') {
        text.push_str(&rest[..start]);
        let escape = &rest[start..];
        let braces = escape.strip_prefix("\\u{").and_then(|e| e.split_once('}'));
        let fixed = |prefix: &str, count: usize| {
            let digits = escape.strip_prefix(prefix)?;
            Some((digits.get(..count)?, digits.get(count..)?))
        };
        let found = braces
            .or_else(|| fixed("\\u", 4))
            .or_else(|| fixed("\\x", 2));
        let character = found.and_then(|(digits, after)| {
            let code = u32::from_str_radix(digits, 16).ok()?;
            Some((char::from_u32(code)?, after))
        });
        match character {
            Some((c, after)) => {
                text.push(c);
                rest = after;
            }
            None => {
                text.push('\\');
                rest = &escape[1..];
            }
        }
    }
    text.push_str(rest);
    text
}

impl Answer {
    pub fn boolean(&self) -> Option<bool> {
        match self {
            Answer::Word(word) => word.parse().ok(),
            _ => None,
        }
    }

    pub fn integer(&self) -> Option<i128> {
        match self {
            Answer::Word(word) => word.parse().ok(),
            Answer::List(items) => match items.as_slice() {
                [Answer::Word(minus), number] if minus == "-" => number.integer()?.checked_neg(),
                _ => None,
            },
            Answer::Text(_) => None,
        }
    }

    /// A number that a decimal can hold exactly.
    pub fn decimal(&self) -> Option<Decimal> {
        match self {
            Answer::Word(word) => {
                let word = word.strip_suffix('?').unwrap_or(word);
                Decimal::from_str_exact(word).ok().map(|d| d.normalize())
            }
            Answer::List(items) => match items.as_slice() {
                [Answer::Word(minus), number] if minus == "-" => Some(-number.decimal()?),
                [Answer::Word(slash), over, under] if slash == "/" => {
                    let (over, under) = (over.decimal()?, under.decimal()?);
                    let value = over.checked_div(under)?;
                    (value.checked_mul(under)? == over).then(|| value.normalize())
                }
                _ => None,
            },
            Answer::Text(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(text: &str) -> Answer {
        Answer::Word(text.to_owned())
    }

    fn text(text: &str) -> Answer {
        Answer::Text(text.to_owned())
    }

    #[test]
    fn answers_are_read_as_they_are_written() {
        let list = |items: &[Answer]| Some(Answer::List(items.to_vec()));
        assert_eq!(parse(" sat"), Some(word("sat")));
        assert_eq!(parse("()"), list(&[]));
        let inner = Answer::List(vec![word("-"), word("7")]);
        assert_eq!(
            parse(" ( x1 \n(- 7) \"a b\")"),
            list(&[word("x1"), inner, text("a b")])
        );
        assert_eq!(
            parse("(a(b)c)"),
            list(&[word("a"), Answer::List(vec![word("b")]), word("c")])
        );
        for (written, meant) in [
            (r#""""#, ""),
            (r#""a""b""#, r#"a"b"#),
            (r#""""""#, r#"""#),
            (r#""(;)""#, "(;)"),
            (r#""x\u{61}y""#, "xay"),
            (r#""\u00e9t\u00e9""#, "été"),
            (r#""\x41b""#, "Ab"),
            (r#""\n\u{zz}\u12""#, r"\n\u{zz}\u12"),
            (r#""\u{110000}""#, r"\u{110000}"),
            (r#""a\""#, r"a\"),
        ] {
            assert_eq!(parse(written), Some(text(meant)), "{written}");
        }
        for broken in ["", " ", "(", "(a", ")", "\"a", "(\"a\"", "(()"] {
            assert_eq!(parse(broken), None, "{broken}");
        }
        let nested = |depth: usize| format!("{}{}", "(".repeat(depth), ")".repeat(depth));
        assert!(parse(&nested(200)).is_some());
        assert_eq!(parse(&nested(201)), None);
    }

    #[test]
    fn an_answer_is_complete_when_its_parentheses_and_quotes_are_closed() {
        for (text, open) in [
            ("", 0),
            ("((a)", 1),
            ("((a))", 0),
            ("(()((", 3),
            ("a)", -1),
            ("(\"(\")", 0),
            ("(\")\"", 1),
            ("((\"", 2),
            ("\"", 1),
        ] {
            assert_eq!(open_parentheses(text), open, "{text}");
        }
    }

    #[test]
    fn numbers_and_truths_are_exact_or_none() {
        let read = |written: &str| parse(written).expect(written);
        for (written, integer) in [
            ("12", Some(12)),
            ("(- 12)", Some(-12)),
            ("(- (- 12))", Some(12)),
            ("(+ 12)", None),
            ("(- 1 2)", None),
            ("1.5", None),
            ("\"1\"", None),
        ] {
            assert_eq!(read(written).integer(), integer, "{written}");
        }
        for (written, decimal) in [
            ("12", Some("12")),
            ("1.50", Some("1.5")),
            ("(- 1.5)", Some("-1.5")),
            ("(+ 1.5)", None),
            ("(/ 1.0 4.0)", Some("0.25")),
            ("(- (/ 3.0 2.0))", Some("-1.5")),
            ("(/ 1.0 3.0)", None),
            ("(/ 1.0 0.0)", None),
            ("(* 1.0 2.0)", None),
            ("0.25?", Some("0.25")),
            ("x", None),
            ("\"1\"", None),
        ] {
            let decimal = decimal.map(|d| d.parse().expect("a decimal"));
            assert_eq!(read(written).decimal(), decimal, "{written}");
        }
        assert_eq!(read("true").boolean(), Some(true));
        assert_eq!(read("false").boolean(), Some(false));
        assert_eq!(read("1").boolean(), None);
        assert_eq!(read("(true)").boolean(), None);
    }
}

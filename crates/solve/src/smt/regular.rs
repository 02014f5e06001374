//! Regular expressions of models as SMT-LIB regular languages.

use regex_syntax::hir::{Class, Hir, HirKind, Look};

use super::translate::string;

/// The language of all strings a part of which matches `pattern`.
///
/// Assertions are understood at the two ends only: `^` first and `$` last, in every alternative.
/// With it comes whether characters that SMT-LIB does not have are told apart, and so left out.
pub(super) fn regular(pattern: &str) -> Result<(String, bool), String> {
    let hir = regex_syntax::parse(pattern).map_err(|e| e.to_string())?;
    Ok((around(&hir)?, is_wide(&hir)))
}

/// The last character of SMT-LIB.
const LAST: char = '\u{2FFFF}';

fn is_wide(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Literal(literal) => {
            std::str::from_utf8(&literal.0).is_ok_and(|text| text.chars().any(|c| c > LAST))
        }
        HirKind::Class(Class::Unicode(class)) => (class.ranges().iter())
            .any(|r| r.end() > LAST && (r.start() > LAST || r.end() < char::MAX)),
        HirKind::Repetition(repetition) => is_wide(&repetition.sub),
        HirKind::Capture(capture) => is_wide(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().any(is_wide),
        _ => false,
    }
}

fn around(hir: &Hir) -> Result<String, String> {
    if let HirKind::Capture(capture) = hir.kind() {
        return around(&capture.sub);
    }
    if let HirKind::Alternation(parts) = hir.kind() {
        let parts = parts.iter().map(around).collect::<Result<Vec<_>, _>>()?;
        return Ok(format!("(re.union {})", parts.join(" ")));
    }
    let mut parts: &[Hir] = match hir.kind() {
        HirKind::Concat(parts) => parts,
        _ => std::slice::from_ref(hir),
    };
    let is = |hir: &Hir, look: Look| matches!(hir.kind(), HirKind::Look(l) if *l == look);
    let mut languages: Vec<String> = Vec::new();
    let from_start = parts.first().is_some_and(|p| is(p, Look::Start));
    if from_start {
        parts = &parts[1..];
    } else {
        languages.push("re.all".to_owned());
    }
    let to_end = parts.last().is_some_and(|p| is(p, Look::End));
    if to_end {
        parts = &parts[..parts.len() - 1];
    }
    for part in parts {
        languages.push(language(part)?);
    }
    if !to_end {
        languages.push("re.all".to_owned());
    }
    Ok(join("re.++", "(str.to_re \"\")", languages))
}

fn join(operator: &str, empty: &str, mut parts: Vec<String>) -> String {
    match parts.len() {
        0 => empty.to_owned(),
        1 => parts.remove(0),
        _ => format!("({operator} {})", parts.join(" ")),
    }
}

fn language(hir: &Hir) -> Result<String, String> {
    Ok(match hir.kind() {
        HirKind::Empty => "(str.to_re \"\")".to_owned(),
        HirKind::Literal(literal) => {
            let text = std::str::from_utf8(&literal.0).map_err(|e| e.to_string())?;
            format!("(str.to_re {})", string(text))
        }
        HirKind::Class(Class::Unicode(class)) => {
            let ranges = class
                .ranges()
                .iter()
                .filter(|r| r.start() <= LAST)
                .map(|r| {
                    let (start, end) = (r.start().to_string(), r.end().min(LAST).to_string());
                    format!("(re.range {} {})", string(&start), string(&end))
                })
                .collect();
            join("re.union", "re.none", ranges)
        }
        HirKind::Class(Class::Bytes(_)) => return Err("a pattern over bytes".to_owned()),
        HirKind::Look(_) => return Err("a pattern with an assertion inside".to_owned()),
        HirKind::Repetition(repetition) => {
            let inner = language(&repetition.sub)?;
            let min = repetition.min;
            match repetition.max {
                None if min == 0 => format!("(re.* {inner})"),
                None => format!("(re.++ ((_ re.loop {min} {min}) {inner}) (re.* {inner}))"),
                Some(max) => format!("((_ re.loop {min} {max}) {inner})"),
            }
        }
        HirKind::Capture(capture) => language(&capture.sub)?,
        HirKind::Concat(parts) => {
            let parts = parts.iter().map(language).collect::<Result<Vec<_>, _>>()?;
            join("re.++", "(str.to_re \"\")", parts)
        }
        HirKind::Alternation(parts) => {
            let parts = parts.iter().map(language).collect::<Result<Vec<_>, _>>()?;
            join("re.union", "re.none", parts)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_have_their_languages() {
        for (pattern, language) in [
            ("^a$", r#"(str.to_re "a")"#),
            ("^$", r#"(str.to_re "")"#),
            ("", r#"(re.++ re.all (str.to_re "") re.all)"#),
            ("a", r#"(re.++ re.all (str.to_re "a") re.all)"#),
            ("^a", r#"(re.++ (str.to_re "a") re.all)"#),
            ("(a$)", r#"(re.++ re.all (str.to_re "a"))"#),
            ("^a*$", r#"(re.* (str.to_re "a"))"#),
            (
                "^a{2,}$",
                r#"(re.++ ((_ re.loop 2 2) (str.to_re "a")) (re.* (str.to_re "a")))"#,
            ),
            ("^a{2,3}$", r#"((_ re.loop 2 3) (str.to_re "a"))"#),
            ("^[a-c]$", r#"(re.range "a" "c")"#),
            (
                "^(ab|cd|)$",
                r#"(re.union (str.to_re "ab") (str.to_re "cd") (str.to_re ""))"#,
            ),
            (
                "^ab|c$",
                r#"(re.union (re.++ (str.to_re "ab") re.all) (re.++ re.all (str.to_re "c")))"#,
            ),
            (
                "^(a[bc])*$",
                r#"(re.* (re.++ (str.to_re "a") (re.range "b" "c")))"#,
            ),
        ] {
            let found = regular(pattern);
            assert_eq!(found, Ok((language.to_owned(), false)), "{pattern}");
        }
        for pattern in ["a^b", "a$b", r"\ba", "(?m)^a", "("] {
            assert!(regular(pattern).is_err(), "{pattern}");
        }
    }

    #[test]
    fn characters_that_smt_lib_lacks_are_seen_wherever_they_are() {
        let last = string(&LAST.to_string());
        for (pattern, wide) in [
            (r"\x{2FFFF}", false),
            (r"\x{30000}", true),
            (r"a(\x{30000}|b)", true),
            (r"(\x{30000}c)*", true),
            (r"[a\x{2FFFF}]", false),
            (r"[a\x{30000}]", true),
            (r"[a-\x{30000}]", true),
            (r"[\x{30000}-\x{10FFFF}]", true),
            (r"[b-\x{10FFFF}]", false),
            (r"[\x{2FFFF}-\x{10FFFF}]", false),
        ] {
            let found = regular(pattern).map(|(_, wide)| wide);
            assert_eq!(found, Ok(wide), "{pattern}");
        }
        let cut = regular(r"^[b-\x{10FFFF}]$").map(|(language, _)| language);
        assert_eq!(cut, Ok(format!(r#"(re.range "b" {last})"#)));
        let none = regular(r"^[\x{30000}-\x{40000}]$").map(|(language, _)| language);
        assert_eq!(none, Ok("re.none".to_owned()));
        let one = regular(r"^[\x{2FFFF}-\x{40000}]$").map(|(language, _)| language);
        assert_eq!(one, Ok(format!("(re.range {last} {last})")));
    }
}

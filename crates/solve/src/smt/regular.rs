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
const LAST: u32 = 0x2_FFFF;

fn is_wide(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Literal(literal) => std::str::from_utf8(&literal.0)
            .is_ok_and(|text| text.chars().any(|c| u32::from(c) > LAST)),
        HirKind::Class(Class::Unicode(class)) => class.ranges().iter().any(|r| {
            let (start, end) = (u32::from(r.start()), u32::from(r.end()));
            end > LAST && (start > LAST || end < u32::from(char::MAX))
        }),
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
                // Characters of SMT-LIB end at 2FFFF.
                .filter(|r| u32::from(r.start()) <= 0x2_FFFF)
                .map(|r| {
                    let end = if u32::from(r.end()) > 0x2_FFFF {
                        '\u{2FFFF}'
                    } else {
                        r.end()
                    };
                    let (start, end) = (r.start().to_string(), end.to_string());
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

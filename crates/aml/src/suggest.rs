//! "Did you mean": the known name that is nearest to an unknown one, and the edit that writes it.

use std::ops::Range;

use crate::diagnostic::{Diagnostic, SourceFile};

/// The nearest of `known`, if it is near enough to be a slip of the hand.
pub fn nearest<'a>(unknown: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = unknown.chars().count();
    let limit = (length / 3).max(1);
    let lower = unknown.to_lowercase();
    known
        .into_iter()
        .filter(|name| !name.is_empty() && *name != unknown)
        // A swap of neighbours is one edit, and case counts nothing.
        .map(|name| (strsim::osa_distance(&lower, &name.to_lowercase()), name))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// A hint for a message: "did you mean ...?".
pub fn did_you_mean<'a>(unknown: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(unknown, known).map(|name| format!("did you mean `{name}`?"))
}

/// An edit of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// Bytes of the diagnostic's file.
    pub span: Range<usize>,
    pub text: String,
}

/// The edit that a diagnostic with "did you mean" suggests: the word in its place that is near to the suggested one.
pub fn fix(diagnostic: &Diagnostic, files: &[SourceFile]) -> Option<Fix> {
    let (_, rest) = diagnostic.hint.as_ref()?.split_once("did you mean `")?;
    let (wanted, _) = rest.split_once("`?")?;
    let text = &files.get(diagnostic.file)?.text;
    let place = text.get(diagnostic.span.clone())?;
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut near = place
        .split(|c: char| !is_word(c))
        .filter(|word| nearest(word, [wanted]).is_some());
    let word = near.next()?;
    // With two such words it is not clear which is meant.
    if near.next().is_some() {
        return None;
    }
    let start = diagnostic.span.start + (word.as_ptr() as usize - place.as_ptr() as usize);
    Some(Fix {
        span: start..start + word.len(),
        text: wanted.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Text(&'static str);

    impl crate::Sources for Text {
        fn read(&self, _: &str) -> Result<String, String> {
            Ok(self.0.to_owned())
        }
    }

    #[test]
    fn the_suggested_name_takes_the_place_of_the_unknown_one() {
        let text = Text(
            "external 'door'\nprocess('main') {\n  channel('door') {\n stimulus 'open'\n  response 'opened'\n }\n  \
             state 'start'\n  receive 'opne'\n  send 'opened'\n  goto 'start'\n}\n",
        );
        let loaded = crate::load("door.aml", &text);
        let fixes: Vec<Fix> = (loaded.diagnostics.iter())
            .filter_map(|d| fix(d, &loaded.files))
            .collect();
        assert_eq!(fixes.len(), 1, "{:?}", loaded.diagnostics);
        assert_eq!(&text.0[fixes[0].span.clone()], "opne");
        assert_eq!(fixes[0].text, "open");
    }

    #[test]
    fn a_slip_of_the_hand_is_recognised() {
        assert_eq!(nearest("passcod", ["passcode", "tries"]), Some("passcode"));
        assert_eq!(nearest("Lokced", ["Locked", "Open"]), Some("Locked"));
        assert_eq!(nearest("LOCKED", ["locked"]), Some("locked"));
        assert_eq!(nearest("x", ["passcode", "tries"]), None);
    }
}

//! What a person should know about the system's side: each thing once, and not more than can be read.

use std::collections::BTreeSet;

/// Different warnings that are kept; a peer can make up any number.
const MAX_WARNINGS: usize = 100;

/// Characters of one warning.
const LONGEST: usize = 2000;

#[derive(Debug, Default)]
pub(crate) struct Warnings {
    /// Said before, or about to be.
    known: BTreeSet<String>,
    fresh: Vec<String>,
    is_full: bool,
}

impl Warnings {
    pub fn push(&mut self, warning: impl Into<String>) {
        let mut warning: String = warning.into();
        if self.is_full || self.known.contains(&warning) {
            return;
        }
        if self.known.len() >= MAX_WARNINGS {
            self.is_full = true;
            self.fresh
                .push("there are more warnings of this kind, which are not shown".to_owned());
            return;
        }
        if let Some((cut, _)) = warning.char_indices().nth(LONGEST) {
            warning.truncate(cut);
            warning.push('…');
        }
        if self.known.insert(warning.clone()) {
            self.fresh.push(warning);
        }
    }

    pub fn extend(&mut self, warnings: impl IntoIterator<Item = String>) {
        for warning in warnings {
            self.push(warning);
        }
    }

    /// Since the last call.
    pub fn take(&mut self) -> Vec<String> {
        std::mem::take(&mut self.fresh)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_is_given_once_and_a_flood_of_them_is_cut() {
        let mut warnings = Warnings::default();
        warnings.push("a");
        warnings.push("a");
        assert_eq!(warnings.take(), ["a"]);
        warnings.push("a");
        assert!(warnings.take().is_empty());
        for number in 0..10_000 {
            warnings.push(format!("{number}{}", "x".repeat(LONGEST)));
        }
        let taken = warnings.take();
        assert_eq!(taken.len(), MAX_WARNINGS);
        assert!(taken.iter().all(|text| text.chars().count() <= LONGEST + 1));
        assert!(taken[MAX_WARNINGS - 1].contains("more warnings"));
        // What is kept in order not to repeat it is bounded too, however much comes.
        let bytes: usize = warnings.known.iter().map(String::capacity).sum();
        assert!(bytes <= MAX_WARNINGS * 2 * (LONGEST + 10), "{bytes}");
    }
}

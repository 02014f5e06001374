//! The id of a failure. It names a file in `.ioco/failures` and a row of a store, and it comes back
//! from both: so it is a type that cannot hold a path, a control character or a command.

use std::fmt;
use std::ops::Deref;

use serde::{Deserialize, Serialize};

/// Letters, digits, `-` and `_`; at least one and at most 64 of them.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Fingerprint(String);

/// The text is not the id of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoFingerprint;

impl fmt::Display for NoFingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Without the text: it may be anything.
        f.write_str("an id of a failure is 1 to 64 letters, digits, '-' or '_'")
    }
}

impl std::error::Error for NoFingerprint {}

impl Fingerprint {
    pub fn new(text: &str) -> Result<Fingerprint, NoFingerprint> {
        let fits = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
        if (1..=64).contains(&text.len()) && text.bytes().all(fits) {
            return Ok(Fingerprint(text.to_owned()));
        }
        Err(NoFingerprint)
    }

    /// Of a hash.
    pub(crate) fn of_hash(hash: u64) -> Fingerprint {
        Fingerprint(format!("{hash:08x}"))
    }

    /// The name of its file.
    pub fn file_name(&self) -> String {
        format!("{}.json", self.0)
    }
}

impl Deref for Fingerprint {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl TryFrom<String> for Fingerprint {
    type Error = NoFingerprint;

    fn try_from(text: String) -> Result<Fingerprint, NoFingerprint> {
        Fingerprint::new(&text)
    }
}

impl From<Fingerprint> for String {
    fn from(fingerprint: Fingerprint) -> String {
        fingerprint.0
    }
}

impl PartialEq<str> for Fingerprint {
    fn eq(&self, other: &str) -> bool {
        self.0 == other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_holds_no_path() {
        assert_eq!(Fingerprint::new("3f2a").unwrap().file_name(), "3f2a.json");
        let long = "a".repeat(65);
        for text in [
            "",
            ".",
            "..",
            "../../../escaped",
            "/etc/passwd",
            "a/b",
            "a\\b",
            "a\0",
            "a\n",
            "é",
            "a.json",
            "\u{1b}]52;c;x\u{7}",
            &long,
        ] {
            assert_eq!(Fingerprint::new(text), Err(NoFingerprint), "{text:?}");
        }
        assert!(serde_json::from_str::<Fingerprint>("\"../x\"").is_err());
    }
}

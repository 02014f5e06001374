//! Names of systems. Failure files, rows of a store and recordings hold the *name* of the system that
//! they are about, never how it is reached: that is known to the project's `ioco.toml` and to the
//! person. So a file from another person cannot start anything.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::connect::{ConnectionSpec, Transport};

/// The name of a system under test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum SystemName {
    /// What `[sut]` of ioco.toml says.
    Project,
    /// What `[profile.NAME.sut]` of ioco.toml says.
    Profile(String),
    /// What a person typed; the digest of it, by which that person's ledger finds it.
    Typed(String),
    /// The model plays the system; a generator with this seed chooses.
    Simulated(u64),
}

/// The text is not the name of a system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoSystem;

impl fmt::Display for NoSystem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a system is named project, profile:NAME, typed:DIGEST or simulated:SEED")
    }
}

impl std::error::Error for NoSystem {}

impl fmt::Display for SystemName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SystemName::Project => f.write_str("project"),
            SystemName::Profile(name) => write!(f, "profile:{name}"),
            SystemName::Typed(digest) => write!(f, "typed:{digest}"),
            SystemName::Simulated(seed) => write!(f, "simulated:{seed}"),
        }
    }
}

impl From<SystemName> for String {
    fn from(name: SystemName) -> String {
        name.to_string()
    }
}

impl TryFrom<String> for SystemName {
    type Error = NoSystem;

    fn try_from(text: String) -> Result<SystemName, NoSystem> {
        let (kind, rest) = text.split_once(':').unwrap_or((&text, ""));
        let is_hex = |b: u8| matches!(b, b'0'..=b'9' | b'a'..=b'f');
        match kind {
            "project" if rest.is_empty() => Ok(SystemName::Project),
            "profile" if !rest.is_empty() && rest.len() <= 100 => {
                let plain = !rest.contains(char::is_control);
                plain
                    .then(|| SystemName::Profile(rest.to_owned()))
                    .ok_or(NoSystem)
            }
            "typed" if rest.len() == 16 && rest.bytes().all(is_hex) => {
                Ok(SystemName::Typed(rest.to_owned()))
            }
            "simulated" => rest
                .parse()
                .map(SystemName::Simulated)
                .map_err(|_| NoSystem),
            _ => Err(NoSystem),
        }
    }
}

impl SystemName {
    /// The name of a system that a person typed.
    pub fn of_typed(way: &Transport) -> SystemName {
        if let Transport::Simulated(seed) = way {
            return SystemName::Simulated(*seed);
        }
        // Plain data: always JSON.
        let text = serde_json::to_string(way).unwrap_or_default();
        SystemName::Typed(digest(&[&text]))
    }
}

/// A short name for exactly these texts.
pub(crate) fn digest(texts: &[&str]) -> String {
    use sha2::{Digest, Sha256};
    let mut hasher = Sha256::new();
    for text in texts {
        hasher.update((text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    }
    let hash = hasher.finalize();
    hash.iter().take(8).map(|b| format!("{b:02x}")).collect()
}

/// What a failure file says of the system that showed the failure.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptSystem {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<SystemName>,
    /// A fresh start for every test instead of a reset.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub restart: bool,
    /// Files of earlier versions hold a command. It is read, shown and asked about; never written.
    #[serde(default, skip_serializing, rename = "reach")]
    pub old: Option<OldConnectionSpec>,
}

/// How files of earlier versions say how a system is reached.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct OldConnectionSpec {
    pub way: Transport,
    #[serde(default)]
    pub restart: bool,
}

impl KeptSystem {
    pub fn new(reach: &ConnectionSpec) -> KeptSystem {
        KeptSystem {
            system: Some(reach.name.clone()),
            restart: reach.restart,
            old: None,
        }
    }

    /// Whether this is the system that `reach` leads to.
    pub fn is(&self, reach: &ConnectionSpec) -> bool {
        match (&self.system, &self.old) {
            (Some(name), _) => *name == reach.name,
            (None, Some(old)) => old.way == reach.way,
            (None, None) => false,
        }
    }

    /// The profile that says how to reach it.
    pub fn profile(&self) -> Option<&str> {
        match &self.system {
            Some(SystemName::Profile(name)) => Some(name),
            _ => None,
        }
    }

    /// For a person.
    pub fn show(&self) -> String {
        match (&self.system, &self.old) {
            (Some(SystemName::Project), _) => "the project's system".to_owned(),
            (Some(name), _) => name.to_string(),
            (None, Some(old)) => old.way.show(),
            (None, None) => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back_and_nothing_else_is_a_name() {
        for name in [
            SystemName::Project,
            SystemName::Profile("ci".to_owned()),
            SystemName::of_typed(&Transport::Shell("./door".to_owned())),
            SystemName::Simulated(7),
        ] {
            assert_eq!(SystemName::try_from(name.to_string()), Ok(name));
        }
        for text in [
            "",
            "sh -c x",
            "typed:../../etc",
            "typed:12",
            "profile:",
            "simulated:x",
            "project:x",
        ] {
            assert_eq!(
                SystemName::try_from(text.to_owned()),
                Err(NoSystem),
                "{text}"
            );
        }
    }

    #[test]
    fn an_old_file_is_read_and_its_command_is_not_written_again() {
        let old = r#"{"reach":{"way":{"shell":"touch /tmp/x"},"restart":true,"patience":1}}"#;
        let kept: KeptSystem = serde_json::from_str(old).unwrap();
        assert_eq!(kept.show(), "touch /tmp/x");
        assert_eq!(serde_json::to_string(&kept).unwrap(), "{}");
    }
}

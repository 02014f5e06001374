//! Suites for people and for other test runners: Gherkin-like text, and stand-alone test files in
//! Python (pytest) and Rust that speak the line protocol to an adapter, without ioco.
//!
//! Every form is a beginning and then one piece of text per test, so that suites of any size can be
//! written as they are found.

mod code;
mod gherkin;
mod python;
mod rust;

use ioco_sts::Sts;

use crate::tree::Tree;

/// A form of suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Export {
    /// Text for people, in the manner of Gherkin.
    Gherkin,
    /// A file for pytest.
    Python,
    /// A file for `rustc --test`, or for the `tests` folder of a crate.
    Rust,
}

impl Export {
    pub const NAMES: &[&str] = &["gherkin", "pytest", "rust"];

    pub fn named(name: &str) -> Option<Export> {
        Some(match name {
            "gherkin" => Export::Gherkin,
            "pytest" => Export::Python,
            "rust" => Export::Rust,
            _ => return None,
        })
    }

    /// The form that a file's ending stands for.
    pub fn by_ending(ending: &str) -> Option<Export> {
        Some(match ending {
            "feature" => Export::Gherkin,
            "py" => Export::Python,
            "rs" => Export::Rust,
            _ => return None,
        })
    }

    /// What comes before the tests. `command` starts the system where the environment names none.
    pub fn begin(self, sts: &Sts, command: Option<&str>) -> String {
        match self {
            Export::Gherkin => gherkin::begin(sts),
            Export::Python => python::begin(sts, command),
            Export::Rust => rust::begin(sts, command),
        }
    }

    /// One test; `name` says what it is for.
    pub fn test(self, sts: &Sts, number: u64, name: &str, tree: &Tree) -> String {
        match self {
            Export::Gherkin => gherkin::test(sts, number, name, tree),
            Export::Python => python::test(sts, number, name, tree),
            Export::Rust => rust::test(sts, number, name, tree),
        }
    }
}

/// What a stand-alone file knows of a test: the tree as JSON, and the conditions that it names by
/// number.
struct Flat {
    json: String,
    conditions: Vec<String>,
}

fn flat(sts: &Sts, tree: &Tree, language: &dyn code::Language) -> Flat {
    let mut conditions = Vec::new();
    let mut labels = code::Labels::new(sts);
    let json = code::tree(&mut labels, tree, language, &mut conditions);
    Flat { json, conditions }
}

//! Suites for people and for other test runners: Gherkin-like text, and stand-alone test files in
//! Python (pytest) and Rust that speak the line protocol to an adapter, without ioco.
//!
//! Every form is a beginning and then one piece of text per test, so that suites of any size can be
//! written as they are found.

mod code;
mod gherkin;
mod python;
mod rust;

use ioco_sts::{Label, Sts, Type, Types};

use crate::tree::Tree;

/// Whether a set or a hash is in values of a type. Types of a model do not hold themselves.
fn has_keys(ty: &Type, types: &Types) -> bool {
    match ty {
        Type::Array(item) => has_keys(item, types),
        Type::Struct(id) => {
            let declared = types.structs.get(id.index());
            types.item_of(*id).is_some()
                || declared.is_some_and(|s| s.fields.iter().any(|(_, ty)| has_keys(ty, types)))
        }
        _ => false,
    }
}

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

    /// The first label of the model whose values the file could not judge: sets and hashes need the model.
    pub fn refuses(self, sts: &Sts) -> Option<String> {
        let is_keyed = |ty: &Type| has_keys(ty, sts.types());
        let refused = |label: &&Label| label.parameters.iter().any(|p| is_keyed(&p.ty));
        match self {
            Export::Gherkin => None,
            Export::Python | Export::Rust => {
                sts.labels().iter().find(refused).map(Label::marked_name)
            }
        }
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

//! What changed from one run to another.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::rows::{Covered, Sighting};

/// What the later run has that the earlier one has not, and the other way round.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comparison {
    /// Locations and switches.
    pub gained: Vec<String>,
    pub lost: Vec<String>,
    pub new_failures: Vec<Sighting>,
    pub fixed_failures: Vec<Sighting>,
    pub same_failures: Vec<Sighting>,
}

impl Comparison {
    /// From what each of the two covered and saw.
    pub fn new(before: (Covered, Vec<Sighting>), after: (Covered, Vec<Sighting>)) -> Comparison {
        let (old, new) = (items(before.0), items(after.0));
        let within = |all: &[Sighting], one: &Sighting| {
            all.iter().any(|other| other.fingerprint == one.fingerprint)
        };
        let (before, after) = (before.1, after.1);
        let (same, fresh): (Vec<Sighting>, Vec<Sighting>) =
            after.into_iter().partition(|one| within(&before, one));
        Comparison {
            gained: only(&new, &old),
            lost: only(&old, &new),
            new_failures: fresh,
            fixed_failures: (before.into_iter())
                .filter(|one| !within(&same, one))
                .collect(),
            same_failures: same,
        }
    }
}

/// In words: they outlive the numbers of a model.
fn items(covered: Covered) -> Vec<String> {
    let switches = covered
        .switches
        .into_iter()
        .map(|switch| match switch.place.as_str() {
            "" => switch.switch,
            place => format!("{place}  {}", switch.switch),
        });
    let locations = (covered.locations.iter())
        .map(|location| format!("location {} of {}", location.name, location.process));
    locations.chain(switches).collect()
}

fn only(these: &[String], those: &[String]) -> Vec<String> {
    let those: HashSet<&String> = those.iter().collect();
    let own = these.iter().filter(|item| !those.contains(item));
    own.cloned().collect()
}

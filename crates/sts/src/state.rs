//! States and sets of states.

use crate::ids::LocationId;
use crate::sts::Sts;
use crate::value::Value;

/// A location per process and a value per variable.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct State {
    pub locations: Box<[LocationId]>,
    pub valuation: Box<[Value]>,
}

impl State {
    /// About how much memory it takes.
    pub(crate) fn bytes(&self) -> usize {
        let values: usize = self.valuation.iter().map(Value::bytes).sum();
        size_of::<State>() + size_of_val(&*self.locations) + size_of_val(&*self.valuation) + values
    }

    /// The names of the locations, and the variables that are set: `Locked {code: 17, tries: 1}`. Files keep it.
    pub fn show(&self, sts: &Sts) -> String {
        self.drawn(sts, |location| &sts.location(location).name)
    }

    /// The same for people: `Locked, after ?unlock {tries: 1}`.
    pub fn title(&self, sts: &Sts) -> String {
        self.drawn(sts, |location| sts.location_title(location))
    }

    fn drawn<'a>(&self, sts: &'a Sts, name: impl Fn(LocationId) -> &'a str) -> String {
        let locations: Vec<&str> = self.locations.iter().map(|id| name(*id)).collect();
        let variables: Vec<String> = sts
            .variables()
            .iter()
            .zip(&self.valuation)
            .filter(|(_, value)| !value.is_void())
            .map(|(variable, value)| format!("{}: {}", variable.name, value.display(sts.types())))
            .collect();
        let mut text = locations.join(" | ");
        if !variables.is_empty() {
            text.push_str(&format!(" {{{}}}", variables.join(", ")));
        }
        text
    }
}

/// The states that a model may be in after a trace: sorted, without duplicates, closed under τ.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StateSet {
    pub states: Vec<State>,
    /// A τ-cycle can be reached from here without an observable step, so that the model may stay
    /// silent for ever although it is not quiescent.
    pub divergent: bool,
    /// States may be missing here, so an observation that this set does not allow proves nothing: a
    /// limit was reached here or in a set before this one, or the values of a hand-shake could not
    /// be listed. The states that are here are certain.
    pub truncated: bool,
}

impl StateSet {
    /// No state is known. Only a truncated set can be empty: something was observed there that none
    /// of its known states allows, so that nothing can be concluded from then on.
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }
}

//! Concrete labels and the traces they form.

use std::fmt::Write as _;

use crate::ids::LabelId;
use crate::sts::Sts;
use crate::value::Value;

/// A label with a value for each of its parameters, in the order of the label's declaration.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Action {
    pub label: LabelId,
    pub values: Vec<Value>,
}

impl Action {
    pub fn plain(label: LabelId) -> Action {
        Action {
            label,
            values: Vec::new(),
        }
    }

    /// `?lock(passcode=1234)`; parameters that are unset are left out.
    pub fn show(&self, sts: &Sts) -> String {
        let label = sts.label(self.label);
        let mut text = label.marked_name();
        let mut separator = "(";
        for (parameter, value) in label.parameters.iter().zip(&self.values) {
            if !value.is_void() {
                let shown = value.display(sts.types());
                // Writing into a String cannot fail.
                let _ = write!(text, "{separator}{}={shown}", parameter.name);
                separator = ", ";
            }
        }
        if separator == ", " {
            text.push(')');
        }
        text
    }
}

/// One observable step of a trace.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Step {
    Stimulus(Action),
    Response(Action),
    /// δ: the system stayed silent for the time-out.
    Quiescence,
}

impl Step {
    pub fn action(&self) -> Option<&Action> {
        match self {
            Step::Stimulus(action) | Step::Response(action) => Some(action),
            Step::Quiescence => None,
        }
    }

    pub fn show(&self, sts: &Sts) -> String {
        self.action()
            .map_or_else(|| "δ".to_owned(), |action| action.show(sts))
    }
}

/// What was observed from a reset on, in order.
pub type Trace = Vec<Step>;

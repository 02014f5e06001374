//! A label by name, with named values: how systems that know nothing of a model speak.

use crate::value::Value;

/// A stimulus or a response with its values. Members of an enumeration are strings here: a system
/// under test knows nothing of the types of a model.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Message {
    pub label: String,
    pub values: Vec<(String, Value)>,
}

impl Message {
    pub fn plain(label: &str) -> Message {
        Message {
            label: label.to_owned(),
            values: Vec::new(),
        }
    }

    /// Adds a value.
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Message {
        self.values.push((name.to_owned(), value.into()));
        self
    }

    /// The value of a parameter; `:void` when it is not there.
    pub fn value(&self, name: &str) -> &Value {
        self.values
            .iter()
            .find(|(given, _)| given == name)
            .map_or(&Value::Void, |(_, value)| value)
    }

    pub fn integer(&self, name: &str) -> Option<i64> {
        match self.value(name) {
            Value::Int(value) => Some(*value),
            _ => None,
        }
    }

    pub fn boolean(&self, name: &str) -> Option<bool> {
        match self.value(name) {
            Value::Bool(value) => Some(*value),
            _ => None,
        }
    }

    pub fn text(&self, name: &str) -> Option<&str> {
        match self.value(name) {
            Value::Str(value) => Some(value),
            _ => None,
        }
    }
}

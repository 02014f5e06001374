//! What crosses the border between the tester and a system: labels by name, with named values.

use std::fmt;

use rust_decimal::Decimal;

use crate::value::Value;

/// What the tester gives to a system.
///
/// ```
/// use ioco::{Response, Stimulus};
///
/// fn give(shelf: &mut Vec<i64>, stimulus: &Stimulus) -> Vec<Response> {
///     match stimulus.name() {
///         "put" => shelf.push(stimulus.integer("item")),
///         other => panic!("{other} is not a stimulus of the model"),
///     }
///     vec![]
/// }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Stimulus {
    name: String,
    channel: String,
    values: Vec<(String, Value)>,
}

impl Stimulus {
    pub(crate) fn new(name: &str, channel: &str, values: Vec<(String, Value)>) -> Stimulus {
        Stimulus {
            name: name.to_owned(),
            channel: channel.to_owned(),
            values,
        }
    }

    /// The name of the label, without its mark: `open` for `?open`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The name of the channel that the model declares the label on.
    pub fn channel(&self) -> &str {
        &self.channel
    }

    /// The value of a parameter; `None` when the model has no such parameter, or has left it unset.
    pub fn get(&self, parameter: &str) -> Option<&Value> {
        find(&self.values, parameter)
    }

    /// All values, in the order of the model. Parameters that are unset are left out.
    pub fn values(&self) -> &[(String, Value)] {
        &self.values
    }

    /// The value of an integer parameter.
    ///
    /// # Panics
    ///
    /// If there is no such integer: the test and its model disagree. The tester reports this as it
    /// reports any panic of a system.
    #[track_caller]
    pub fn integer(&self, parameter: &str) -> i64 {
        match self.get(parameter) {
            Some(Value::Integer(value)) => *value,
            _ => self.refuse("integer", parameter),
        }
    }

    /// The value of a boolean parameter.
    ///
    /// # Panics
    ///
    /// If there is no such boolean.
    #[track_caller]
    pub fn boolean(&self, parameter: &str) -> bool {
        match self.get(parameter) {
            Some(Value::Boolean(value)) => *value,
            _ => self.refuse("boolean", parameter),
        }
    }

    /// The value of a decimal parameter.
    ///
    /// # Panics
    ///
    /// If there is no such decimal.
    #[track_caller]
    pub fn decimal(&self, parameter: &str) -> Decimal {
        match self.get(parameter) {
            Some(Value::Decimal(value)) => *value,
            _ => self.refuse("decimal", parameter),
        }
    }

    /// The value of a string parameter, or the name of a member of an enumeration.
    ///
    /// # Panics
    ///
    /// If there is no such string.
    #[track_caller]
    pub fn string(&self, parameter: &str) -> &str {
        match self.get(parameter) {
            Some(Value::String(value)) => value,
            _ => self.refuse("string", parameter),
        }
    }

    #[track_caller]
    fn refuse(&self, wanted: &str, parameter: &str) -> ! {
        panic!("the stimulus {self} has no {wanted} `{parameter}`")
    }
}

/// `?put(item=3)`.
impl fmt::Display for Stimulus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("?")?;
        show(f, &self.name, &self.values)
    }
}

/// What a system sends.
///
/// ```
/// use ioco::Response;
///
/// let taken = Response::new("taken").with("item", 3);
/// assert_eq!(taken.to_string(), "!taken(item=3)");
/// // A response without values is its name.
/// assert_eq!(Response::from("empty"), Response::new("empty"));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    name: String,
    values: Vec<(String, Value)>,
}

impl Response {
    /// A response without values. Where several channels of the model have a response of this name,
    /// `channel.name` says which.
    pub fn new(name: impl Into<String>) -> Response {
        Response {
            name: name.into(),
            values: Vec::new(),
        }
    }

    /// Adds the value of a parameter.
    #[must_use]
    pub fn with(mut self, parameter: impl Into<String>, value: impl Into<Value>) -> Response {
        self.values.push((parameter.into(), value.into()));
        self
    }

    /// The name of the label, without its mark.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The value of a parameter, if it was given.
    pub fn get(&self, parameter: &str) -> Option<&Value> {
        find(&self.values, parameter)
    }

    /// All values, in the order in which they were added.
    pub fn values(&self) -> &[(String, Value)] {
        &self.values
    }
}

impl From<&str> for Response {
    fn from(name: &str) -> Response {
        Response::new(name)
    }
}

/// `!taken(item=3)`.
impl fmt::Display for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("!")?;
        show(f, &self.name, &self.values)
    }
}

fn find<'a>(values: &'a [(String, Value)], parameter: &str) -> Option<&'a Value> {
    let found = values.iter().find(|(name, _)| name == parameter);
    found.map(|(_, value)| value)
}

fn show(f: &mut fmt::Formatter<'_>, name: &str, values: &[(String, Value)]) -> fmt::Result {
    f.write_str(name)?;
    for (index, (parameter, value)) in values.iter().enumerate() {
        let before = if index > 0 { ", " } else { "(" };
        write!(f, "{before}{parameter}={value}")?;
    }
    match values {
        [] => Ok(()),
        _ => f.write_str(")"),
    }
}

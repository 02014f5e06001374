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
    ///
    /// ```
    /// # use ioco::{Model, Switch, Type};
    /// # let model = Model::builder("shelf").stimulus("put", [("item", Type::Range(1, 9))])
    /// #     .switch(Switch::from("shelf").on("?put")).build()?;
    /// let shelf = ioco::from_fn(|| (), |_, put| {
    ///     assert_eq!(put.name(), "put");
    ///     vec![]
    /// });
    /// ioco::check(model, shelf)?;
    /// # Ok::<(), ioco::Error>(())
    /// ```
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The name of the channel that the model declares the label on.
    ///
    /// ```
    /// # use ioco::{Model, Switch, Type};
    /// # let model = Model::builder("shelf").stimulus("put", [("item", Type::Range(1, 9))])
    /// #     .switch(Switch::from("shelf").on("?put")).build()?;
    /// let shelf = ioco::from_fn(|| (), |_, put| {
    ///     assert_eq!(put.channel(), "system");
    ///     vec![]
    /// });
    /// ioco::check(model, shelf)?;
    /// # Ok::<(), ioco::Error>(())
    /// ```
    pub fn channel(&self) -> &str {
        &self.channel
    }

    /// The value of a parameter; `None` when the model has no such parameter, or has left it unset.
    ///
    /// ```
    /// # use ioco::{Model, Switch, Type};
    /// # let model = Model::builder("shelf").stimulus("put", [("item", Type::Range(1, 9))])
    /// #     .switch(Switch::from("shelf").on("?put")).build()?;
    /// let shelf = ioco::from_fn(|| (), |_, put| {
    ///     assert!(put.get("item").is_some() && put.get("price").is_none());
    ///     vec![]
    /// });
    /// ioco::check(model, shelf)?;
    /// # Ok::<(), ioco::Error>(())
    /// ```
    pub fn get(&self, parameter: &str) -> Option<&Value> {
        find(&self.values, parameter)
    }

    /// All values, in the order of the model. Parameters that are unset are left out.
    ///
    /// ```
    /// # use ioco::{Model, Switch, Type};
    /// # let model = Model::builder("shelf").stimulus("put", [("item", Type::Range(1, 9))])
    /// #     .switch(Switch::from("shelf").on("?put")).build()?;
    /// let shelf = ioco::from_fn(|| (), |_, put| {
    ///     assert_eq!(put.values().len(), 1);
    ///     vec![]
    /// });
    /// ioco::check(model, shelf)?;
    /// # Ok::<(), ioco::Error>(())
    /// ```
    pub fn values(&self) -> &[(String, Value)] {
        &self.values
    }

    /// The value of an integer parameter.
    ///
    /// ```
    /// # use ioco::{Model, Switch, Type};
    /// # let model = Model::builder("shelf").stimulus("put", [("item", Type::Range(1, 9))])
    /// #     .switch(Switch::from("shelf").on("?put")).build()?;
    /// let shelf = ioco::from_fn(|| (), |_, put| {
    ///     assert!((1..=9).contains(&put.integer("item")));
    ///     vec![]
    /// });
    /// ioco::check(model, shelf)?;
    /// # Ok::<(), ioco::Error>(())
    /// ```
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
    /// ```
    /// # use ioco::{Model, Switch, Type};
    /// # let model = Model::builder("shelf").stimulus("put", [("heavy", Type::Boolean)])
    /// #     .switch(Switch::from("shelf").on("?put")).build()?;
    /// let shelf = ioco::from_fn(|| (), |_, put| {
    ///     let is_heavy: bool = put.boolean("heavy");
    ///     vec![]
    /// });
    /// ioco::check(model, shelf)?;
    /// # Ok::<(), ioco::Error>(())
    /// ```
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
    /// ```
    /// # use ioco::{Model, Switch, Type};
    /// # let model = Model::builder("shelf").stimulus("put", [("weight", Type::Decimal)])
    /// #     .switch(Switch::from("shelf").on("?put")).build()?;
    /// let shelf = ioco::from_fn(|| (), |_, put| {
    ///     let weight: ioco::Decimal = put.decimal("weight");
    ///     vec![]
    /// });
    /// ioco::check(model, shelf)?;
    /// # Ok::<(), ioco::Error>(())
    /// ```
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
    /// ```
    /// # use ioco::{Model, Switch, Type};
    /// # let model = Model::builder("shelf").stimulus("put", [("colour", Type::enumeration("Colour", ["red", "green"]))])
    /// #     .switch(Switch::from("shelf").on("?put")).build()?;
    /// let shelf = ioco::from_fn(|| (), |_, put| {
    ///     assert!(["red", "green"].contains(&put.string("colour")));
    ///     vec![]
    /// });
    /// ioco::check(model, shelf)?;
    /// # Ok::<(), ioco::Error>(())
    /// ```
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
    ///
    /// ```
    /// let empty = ioco::Response::new("empty");
    /// assert_eq!(empty.to_string(), "!empty");
    /// ```
    pub fn new(name: impl Into<String>) -> Response {
        Response {
            name: name.into(),
            values: Vec::new(),
        }
    }

    /// Adds the value of a parameter.
    ///
    /// ```
    /// let taken = ioco::Response::new("taken").with("item", 3).with("heavy", false);
    /// assert_eq!(taken.to_string(), "!taken(item=3, heavy=false)");
    /// ```
    #[must_use]
    pub fn with(mut self, parameter: impl Into<String>, value: impl Into<Value>) -> Response {
        self.values.push((parameter.into(), value.into()));
        self
    }

    /// The name of the label, without its mark.
    ///
    /// ```
    /// assert_eq!(ioco::Response::new("taken").name(), "taken");
    /// ```
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The value of a parameter, if it was given.
    ///
    /// ```
    /// let taken = ioco::Response::new("taken").with("item", 3);
    /// assert_eq!(taken.get("item"), Some(&ioco::Value::Integer(3)));
    /// ```
    pub fn get(&self, parameter: &str) -> Option<&Value> {
        find(&self.values, parameter)
    }

    /// All values, in the order in which they were added.
    ///
    /// ```
    /// let taken = ioco::Response::new("taken").with("item", 3);
    /// assert_eq!(taken.values(), [("item".to_owned(), ioco::Value::Integer(3))]);
    /// ```
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

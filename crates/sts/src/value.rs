//! Exact values: 64-bit integers, decimals that are not floats, and `:void` for what is unset.

use std::fmt;
use std::sync::Arc;

use rust_decimal::Decimal;

use crate::ids::{EnumId, StructId};
use crate::types::{StructKind, Types};

/// A value of a variable or of a parameter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Value {
    /// Unset, `:void` in a model.
    #[default]
    Void,
    Bool(bool),
    /// Also dates (seconds) and times (nanoseconds): the type tells them apart.
    Int(i64),
    Decimal(Decimal),
    Str(Arc<str>),
    /// An enumeration and the position of the member in it.
    Enum(EnumId, u32),
    Array(Arc<[Value]>),
    Struct(StructId, Arc<[Value]>),
}

impl Value {
    pub fn str(text: &str) -> Value {
        Value::Str(Arc::from(text))
    }

    pub fn is_void(&self) -> bool {
        matches!(self, Value::Void)
    }

    /// What kind of value this is, in the words of a message to a person.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Void => ":void",
            Value::Bool(_) => "a boolean",
            Value::Int(_) => "an integer",
            Value::Decimal(_) => "a decimal",
            Value::Str(_) => "a string",
            Value::Enum(..) => "an enum member",
            Value::Array(_) => "an array",
            Value::Struct(..) => "a struct",
        }
    }

    /// About how much memory it takes beside its own place.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Value::Str(text) => text.len(),
            Value::Array(items) | Value::Struct(_, items) => items
                .iter()
                .map(|item| size_of::<Value>() + item.bytes())
                .sum(),
            _ => 0,
        }
    }

    /// The value as it would be written in a model.
    pub fn display<'a>(&'a self, types: &'a Types) -> impl fmt::Display + 'a {
        DisplayValue { value: self, types }
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Value::Bool(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Value::Int(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Value::str(value)
    }
}

impl From<Decimal> for Value {
    fn from(value: Decimal) -> Self {
        Value::Decimal(value.normalize())
    }
}

struct DisplayValue<'a> {
    value: &'a Value,
    types: &'a Types,
}

impl fmt::Display for DisplayValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, items: &[Value]| {
            for (position, item) in items.iter().enumerate() {
                if position > 0 {
                    f.write_str(", ")?;
                }
                DisplayValue {
                    value: item,
                    types: self.types,
                }
                .fmt(f)?;
            }
            Ok(())
        };
        match self.value {
            Value::Void => f.write_str(":void"),
            Value::Bool(value) => write!(f, "{value}"),
            Value::Int(value) => write!(f, "{value}"),
            // A decimal always shows its point, so that it reads back as a decimal. Equal values look
            // the same: 3.0 and 3.00 are one value.
            Value::Decimal(value) => {
                let value = value.normalize();
                match value.scale() {
                    0 => write!(f, "{value}.0"),
                    _ => write!(f, "{value}"),
                }
            }
            Value::Str(value) => write!(f, "{value:?}"),
            Value::Enum(id, member) => f.write_str(self.types.member_name(*id, *member)),
            Value::Array(items) => {
                f.write_str("[")?;
                list(f, items)?;
                f.write_str("]")
            }
            Value::Struct(id, _) if self.types.item_of(*id).is_some() => {
                let items = self.types.items_in(self.value).unwrap_or_default();
                let is_set = self.types.kind_of(*id) == StructKind::Set;
                f.write_str(if is_set { "Set[" } else { "{" })?;
                list(f, items)?;
                f.write_str(if is_set { "]" } else { "}" })
            }
            Value::Struct(id, fields) if self.types.kind_of(*id) == StructKind::Entry => {
                let side = |at: usize| DisplayValue {
                    value: fields.get(at).unwrap_or(&Value::Void),
                    types: self.types,
                };
                write!(f, "{} => {}", side(0), side(1))
            }
            Value::Struct(id, fields) => {
                f.write_str("{")?;
                let names = self
                    .types
                    .structs
                    .get(id.index())
                    .map(|s| s.fields.as_slice());
                for (position, field) in fields.iter().enumerate() {
                    if position > 0 {
                        f.write_str(", ")?;
                    }
                    if let Some((name, _)) = names.and_then(|names| names.get(position)) {
                        write!(f, "{name}: ")?;
                    }
                    DisplayValue {
                        value: field,
                        types: self.types,
                    }
                    .fmt(f)?;
                }
                f.write_str("}")
            }
        }
    }
}

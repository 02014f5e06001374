//! Values that stimuli and responses carry, without the numbers by which a model knows its types.

use std::fmt;
use std::sync::Arc;

use ioco_sts::{Type, Types};
use rust_decimal::Decimal;

/// A value of a parameter.
///
/// Integers, booleans, strings, decimals and vectors of them convert into values, so that a response
/// rarely needs to name this type:
///
/// ```
/// use ioco::{Response, Value};
///
/// let response = Response::new("sold").with("price", 250).with("to", "Ada");
/// assert_eq!(response.get("price"), Some(&Value::Integer(250)));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Value {
    /// Unset: `:void` in a model.
    Void,
    /// True or false.
    Boolean(bool),
    /// An integer. Dates are seconds, times nanoseconds.
    Integer(i64),
    /// A decimal number, exact.
    Decimal(Decimal),
    /// A string, or the name of a member of an enumeration.
    String(String),
    /// Several values of the same type.
    Array(Vec<Value>),
    /// Named fields.
    Struct(Vec<(String, Value)>),
}

macro_rules! from_integer {
    ($($small:ty),*) => {
        $(impl From<$small> for Value {
            fn from(value: $small) -> Value {
                Value::Integer(value.into())
            }
        })*
    };
}

from_integer!(i8, i16, i32, i64, u8, u16, u32);

/// A number that no model can have, because integers of models have 64 bits with a sign, stays visible
/// as a decimal: it fits no integer parameter, and so the response fails the test.
macro_rules! from_wide_integer {
    ($($wide:ty),*) => {
        $(impl From<$wide> for Value {
            fn from(value: $wide) -> Value {
                match i64::try_from(value) {
                    Ok(value) => Value::Integer(value),
                    Err(_) => Value::Decimal(Decimal::from(value)),
                }
            }
        })*
    };
}

from_wide_integer!(isize, u64, usize);

impl From<bool> for Value {
    fn from(value: bool) -> Value {
        Value::Boolean(value)
    }
}

impl From<Decimal> for Value {
    fn from(value: Decimal) -> Value {
        Value::Decimal(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Value {
        Value::String(value.to_owned())
    }
}

impl From<String> for Value {
    fn from(value: String) -> Value {
        Value::String(value)
    }
}

/// Nothing is [`Value::Void`].
impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Value {
        value.map_or(Value::Void, Into::into)
    }
}

impl<T: Into<Value>> From<Vec<T>> for Value {
    fn from(items: Vec<T>) -> Value {
        Value::Array(items.into_iter().map(Into::into).collect())
    }
}

/// As it would be written in a model.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Void => f.write_str(":void"),
            Value::Boolean(value) => write!(f, "{value}"),
            Value::Integer(value) => write!(f, "{value}"),
            Value::Decimal(value) => write!(f, "{value}"),
            Value::String(value) => write!(f, "{value:?}"),
            Value::Array(items) => {
                f.write_str("[")?;
                for (index, item) in items.iter().enumerate() {
                    let comma = if index > 0 { ", " } else { "" };
                    write!(f, "{comma}{item}")?;
                }
                f.write_str("]")
            }
            Value::Struct(fields) => {
                f.write_str("{")?;
                for (index, (name, value)) in fields.iter().enumerate() {
                    let comma = if index > 0 { ", " } else { "" };
                    write!(f, "{comma}{name}: {value}")?;
                }
                f.write_str("}")
            }
        }
    }
}

impl Value {
    /// As a system sees it.
    pub(crate) fn of_model(value: &ioco_sts::Value, types: &Types) -> Value {
        match value {
            ioco_sts::Value::Void => Value::Void,
            ioco_sts::Value::Bool(value) => Value::Boolean(*value),
            ioco_sts::Value::Int(value) => Value::Integer(*value),
            ioco_sts::Value::Decimal(value) => Value::Decimal(*value),
            ioco_sts::Value::Str(text) => Value::String(text.to_string()),
            ioco_sts::Value::Enum(id, member) => {
                Value::String(types.member_name(*id, *member).to_owned())
            }
            ioco_sts::Value::Array(items) => {
                Value::Array(items.iter().map(|v| Value::of_model(v, types)).collect())
            }
            ioco_sts::Value::Struct(id, fields) => {
                let declared = types.structs.get(id.index());
                let names = declared.map_or(&[][..], |declared| &declared.fields);
                let named = names.iter().zip(fields.iter());
                Value::Struct(
                    named
                        .map(|((name, _), value)| (name.clone(), Value::of_model(value, types)))
                        .collect(),
                )
            }
        }
    }

    /// As a value of type `ty`; `None` when it is not one.
    pub(crate) fn to_model(&self, ty: &Type, types: &Types) -> Option<ioco_sts::Value> {
        let value = match (self, ty) {
            (Value::Void, _) => ioco_sts::Value::Void,
            (Value::Boolean(value), Type::Bool) => ioco_sts::Value::Bool(*value),
            (Value::Integer(value), Type::Decimal) => ioco_sts::Value::from(Decimal::from(*value)),
            (Value::Integer(value), _) => ioco_sts::Value::Int(*value),
            (Value::Decimal(value), Type::Decimal) => ioco_sts::Value::from(*value),
            (Value::String(text), Type::Str) => ioco_sts::Value::str(text),
            (Value::String(name), Type::Enum(id)) => {
                let members = &types.enums.get(id.index())?.members;
                let member = members.iter().position(|member| member == name)?;
                ioco_sts::Value::Enum(*id, u32::try_from(member).ok()?)
            }
            (Value::Array(items), Type::Array(item)) => {
                let items = items.iter().map(|value| value.to_model(item, types));
                ioco_sts::Value::Array(items.collect::<Option<_>>()?)
            }
            (Value::Struct(given), Type::Struct(id)) => {
                let declared = &types.structs.get(id.index())?.fields;
                let is_declared = |(name, _): &(String, Value)| {
                    declared.iter().any(|(declared, _)| declared == name)
                };
                if !given.iter().all(is_declared) {
                    return None;
                }
                let fields = declared.iter().map(|(name, ty)| {
                    let field = given.iter().find(|(given, _)| given == name);
                    field.map_or(Some(ioco_sts::Value::Void), |(_, value)| {
                        value.to_model(ty, types)
                    })
                });
                ioco_sts::Value::Struct(*id, fields.collect::<Option<Arc<[_]>>>()?)
            }
            _ => return None,
        };
        types.fits(&value, ty).then_some(value)
    }
}

//! Values as JSON and back, exactly: a number never passes through a float.
//!
//! Integers, dates and times are JSON numbers, decimals too; a member of an enumeration is its
//! name; a structure is an object, an array and a set are arrays, and `null` is what is unset. A hash is an object if
//! its keys are text, else an array of pairs. Reading is led
//! by the type that the model gives: what does not fit it is a [`Mismatch`], which the tester
//! judges as an observation.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::Arc;

use ioco_sts::{Parameter, StructId, StructKind, Type, Types, Value, read_decimal};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// Why a JSON value is not one of the type asked for, in words for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch(pub String);

/// Appends `value` as JSON.
pub fn write_value(value: &Value, types: &Types, out: &mut Vec<u8>) {
    match value {
        Value::Void => out.extend_from_slice(b"null"),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        Value::Int(number) => write_shown(number, out),
        Value::Decimal(number) => write_shown(number, out),
        Value::Str(text) => write_text(text, out),
        Value::Enum(id, member) => write_text(types.member_name(*id, *member), out),
        Value::Array(items) => {
            out.push(b'[');
            for (position, item) in items.iter().enumerate() {
                if position > 0 {
                    out.push(b',');
                }
                write_value(item, types, out);
            }
            out.push(b']');
        }
        Value::Struct(id, _) if types.item_of(*id).is_some() => write_keyed(value, *id, types, out),
        Value::Struct(id, fields) => {
            let names = types.structs.get(id.index()).map(|s| s.fields.as_slice());
            out.push(b'{');
            let named = names.unwrap_or_default().iter().zip(fields.iter());
            for (position, ((name, _), field)) in named.enumerate() {
                if position > 0 {
                    out.push(b',');
                }
                write_text(name, out);
                out.push(b':');
                write_value(field, types, out);
            }
            out.push(b'}');
        }
    }
}

/// A set is an array. A hash is an object if its keys are text, else an array of pairs.
fn write_keyed(value: &Value, id: StructId, types: &Types, out: &mut Vec<u8>) {
    let is_object = has_text_keys(id, types);
    let [open, close] = if is_object { *b"{}" } else { *b"[]" };
    out.push(open);
    let items = types.items_in(value).unwrap_or_default();
    for (position, item) in items.iter().enumerate() {
        if position > 0 {
            out.push(b',');
        }
        match item {
            Value::Struct(entry, fields) if types.kind_of(*entry) == StructKind::Entry => {
                let (before, between, after) = match is_object {
                    true => ("", ":", ""),
                    false => ("[", ",", "]"),
                };
                out.extend_from_slice(before.as_bytes());
                write_value(&fields[0], types, out);
                out.extend_from_slice(between.as_bytes());
                write_value(&fields[1], types, out);
                out.extend_from_slice(after.as_bytes());
            }
            other => write_value(other, types, out),
        }
    }
    out.push(close);
}

fn has_text_keys(id: StructId, types: &Types) -> bool {
    matches!(types.entry_of(id), Some((Type::Str | Type::Enum(_), _)))
}

/// The items of a set, or the entries of a hash.
fn read_keyed(json: &str, id: StructId, types: &Types) -> Result<Vec<Value>, Mismatch> {
    let wrong = || {
        let expected = types.type_name(&Type::Struct(id));
        Mismatch(format!("{} is not {expected}", shorten(json, 60)))
    };
    let item = types.item_of(id).ok_or_else(wrong)?;
    let (Some((key, value)), Type::Struct(entry)) = (types.entry_of(id), item) else {
        let items: Vec<&RawValue> = serde_json::from_str(json).map_err(|_| wrong())?;
        let items = items.iter().map(|raw| read_value(raw.get(), item, types));
        return items.collect();
    };
    let pairs: Vec<(String, &RawValue)> = if has_text_keys(id, types) {
        let pairs = serde_json::from_str::<Pairs<'_>>(json).map_err(|_| wrong())?;
        let quoted = |key: String| serde_json::Value::String(key).to_string();
        pairs
            .0
            .into_iter()
            .map(|(key, value)| (quoted(key), value))
            .collect()
    } else {
        let pairs: Vec<(&RawValue, &RawValue)> = serde_json::from_str(json).map_err(|_| wrong())?;
        let pair = |(key, value): (&RawValue, _)| (key.get().to_owned(), value);
        pairs.into_iter().map(pair).collect()
    };
    let entries = pairs.iter().map(|(own, raw)| {
        let fields = [
            read_value(own, key, types)?,
            read_value(raw.get(), value, types)?,
        ];
        Ok(Value::Struct(*entry, Arc::from(fields)))
    });
    entries.collect()
}

/// The members of a JSON object as they come, also those whose name is there twice.
struct Pairs<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Pairs<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Vec<(String, &'de RawValue)>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(pairs)
            }
        }
        deserializer.deserialize_map(Members).map(Pairs)
    }
}

/// Appends a number as it shows itself: the shortest exact text.
fn write_shown(number: &impl std::fmt::Display, out: &mut Vec<u8>) {
    write!(out, "{number}").expect("writing to memory does not fail");
}

/// Appends `text` as a JSON string.
pub(crate) fn write_text(text: &str, out: &mut Vec<u8>) {
    serde_json::to_writer(out, text).expect("writing to memory does not fail");
}

/// The value of type `ty` that the JSON text `json` stands for. `json` must be well-formed.
pub fn read_value(json: &str, ty: &Type, types: &Types) -> Result<Value, Mismatch> {
    let json = json.trim();
    let wrong = || {
        let expected = types.type_name(ty);
        Mismatch(format!("{} is not {expected}", shorten(json, 60)))
    };
    if json == "null" {
        return Ok(Value::Void);
    }
    let value = match ty {
        Type::Bool => match json {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            _ => return Err(wrong()),
        },
        Type::Int(_) | Type::Date | Type::Time => Value::Int(read_integer(json).ok_or_else(wrong)?),
        Type::Decimal => Value::Decimal(read_decimal(json).ok_or_else(wrong)?),
        Type::Str => Value::Str(Arc::from(read_text(json).ok_or_else(wrong)?)),
        Type::Enum(id) => {
            let name = read_text(json).ok_or_else(wrong)?;
            let members = types.enums.get(id.index()).map(|e| e.members.as_slice());
            let member = members
                .unwrap_or_default()
                .iter()
                .position(|m| *m == name)
                .ok_or_else(wrong)?;
            Value::Enum(*id, member as u32)
        }
        Type::Array(item) => {
            let items: Vec<&RawValue> = serde_json::from_str(json).map_err(|_| wrong())?;
            let items = items.iter().map(|raw| read_value(raw.get(), item, types));
            Value::Array(items.collect::<Result<Arc<[_]>, _>>()?)
        }
        Type::Struct(id) if types.item_of(*id).is_some() => {
            let items = read_keyed(json, *id, types)?;
            types.keyed(*id, items).ok_or_else(wrong)?
        }
        Type::Struct(id) => {
            let fields = read_object(json).ok_or_else(wrong)?;
            let declared = types.structs.get(id.index()).map(|s| s.fields.as_slice());
            let names = declared.unwrap_or_default();
            let typed = names.iter().map(|(name, ty)| (name.as_str(), ty));
            Value::Struct(*id, read_fields(&fields, typed, types)?.into())
        }
    };
    if types.fits(&value, ty) {
        Ok(value)
    } else {
        Err(wrong())
    }
}

/// The values of a label's parameters, in the order of their declaration, from the `values` of a
/// line. A parameter that is left out is unset.
pub(crate) fn read_parameters(
    values: &Object<'_>,
    parameters: &[Parameter],
    types: &Types,
) -> Result<Vec<Value>, Mismatch> {
    let typed = parameters.iter().map(|p| (p.name.as_str(), &p.ty));
    read_fields(values, typed, types)
}

fn read_fields<'t>(
    fields: &Object<'_>,
    declared: impl Iterator<Item = (&'t str, &'t Type)> + Clone,
    types: &Types,
) -> Result<Vec<Value>, Mismatch> {
    for name in fields.keys() {
        if !declared.clone().any(|(known, _)| known == name) {
            return Err(Mismatch(format!("the model has no \"{name}\" here")));
        }
    }
    declared
        .map(|(name, ty)| match fields.get(name) {
            None => Ok(Value::Void),
            Some(raw) => read_value(raw.get(), ty, types)
                .map_err(|Mismatch(why)| Mismatch(format!("{name}: {why}"))),
        })
        .collect()
}

/// A JSON object whose members are not read yet.
pub(crate) type Object<'a> = BTreeMap<String, &'a RawValue>;

pub(crate) fn read_object(json: &str) -> Option<Object<'_>> {
    serde_json::from_str(json).ok()
}

pub(crate) fn read_text(json: &str) -> Option<String> {
    serde_json::from_str(json).ok()
}

/// JSON does not tell `5` from `5.0` or `5e0`: all of them are the integer.
fn read_integer(json: &str) -> Option<i64> {
    json.parse().ok().or_else(|| {
        let number = read_decimal(json)?;
        (number.scale() == 0)
            .then(|| number.mantissa().try_into().ok())
            .flatten()
    })
}

/// `text`, cut to at most `limit` characters.
pub(crate) fn shorten(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

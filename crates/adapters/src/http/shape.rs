//! JSON in the shape that a label has: written with the label's values in it, and read to find
//! them.
//!
//! A string that is `{name}` alone stands for the value of that parameter; other strings may have
//! `{name}` in the middle.

use ioco_sts::{Label, Type, Types, Value};
use serde_json::Value as Json;

use crate::template::Template;
use crate::values::{Mismatch, read_object, read_value, write_text, write_value};

/// A piece of JSON with places for parameters.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shape {
    /// The value of the parameter at this position.
    Parameter(usize),
    Object(Vec<(String, Shape)>),
    Array(Vec<Shape>),
    /// Text with parameters in it.
    Text(Template),
    Literal(Json),
}

fn position(name: &str, label: &Label) -> Result<usize, String> {
    let found = label.parameters.iter().position(|p| p.name == name);
    found.ok_or_else(|| format!("{} has no parameter '{name}'", label.marked_name()))
}

impl Shape {
    pub fn parse(json: &Json, label: &Label) -> Result<Shape, String> {
        Ok(match json {
            Json::String(text) => {
                let alone = text.strip_prefix('{').and_then(|t| t.strip_suffix('}'));
                match alone.filter(|name| !name.contains(['{', '}'])) {
                    Some(name) => Shape::Parameter(position(name, label)?),
                    None if text.contains('{') => Shape::Text(Template::parse(text, label)?),
                    None => Shape::Literal(json.clone()),
                }
            }
            Json::Object(members) => {
                let members = members
                    .iter()
                    .map(|(name, member)| Ok((name.clone(), Shape::parse(member, label)?)));
                Shape::Object(members.collect::<Result<_, String>>()?)
            }
            Json::Array(items) => {
                let items = items.iter().map(|item| Shape::parse(item, label));
                Shape::Array(items.collect::<Result<_, String>>()?)
            }
            other => Shape::Literal(other.clone()),
        })
    }

    /// An object with these parameters under their own names.
    pub fn of_parameters(positions: impl Iterator<Item = usize>, label: &Label) -> Shape {
        let members = positions.map(|position| {
            let name = label.parameters[position].name.clone();
            (name, Shape::Parameter(position))
        });
        Shape::Object(members.collect())
    }

    pub fn write(&self, values: &[Value], types: &Types, out: &mut Vec<u8>) {
        match self {
            Shape::Parameter(position) => match values.get(*position) {
                Some(value) => write_value(value, types, out),
                None => out.extend_from_slice(b"null"),
            },
            Shape::Object(members) => {
                out.push(b'{');
                for (index, (name, member)) in members.iter().enumerate() {
                    if index > 0 {
                        out.push(b',');
                    }
                    write_text(name, out);
                    out.push(b':');
                    member.write(values, types, out);
                }
                out.push(b'}');
            }
            Shape::Array(items) => {
                out.push(b'[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        out.push(b',');
                    }
                    item.write(values, types, out);
                }
                out.push(b']');
            }
            Shape::Text(words) => write_text(&words.write(values, types, str::to_owned), out),
            Shape::Literal(json) => out.extend_from_slice(json.to_string().as_bytes()),
        }
    }

    /// How much of the JSON it fixes: the more, the earlier it is tried.
    pub fn fixed(&self) -> usize {
        match self {
            Shape::Parameter(_) => 1,
            Shape::Text(_) | Shape::Literal(_) => 3,
            Shape::Object(members) => members.iter().map(|(_, m)| 1 + m.fixed()).sum(),
            Shape::Array(items) => items.iter().map(|i| 1 + i.fixed()).sum(),
        }
    }

    /// Finds the values in `json`. `None`: it has another shape. Members that the shape does not
    /// mention are of no interest.
    pub fn read(
        &self,
        json: &str,
        label: &Label,
        types: &Types,
        values: &mut [Value],
    ) -> Option<Result<(), Mismatch>> {
        match self {
            Shape::Parameter(position) => {
                let parameter = &label.parameters[*position];
                Some(match read_loosely(json, &parameter.ty, types) {
                    Ok(value) => {
                        values[*position] = value;
                        Ok(())
                    }
                    Err(Mismatch(why)) => Err(Mismatch(format!("{}: {why}", parameter.name))),
                })
            }
            Shape::Object(members) => {
                let there = read_object(json)?;
                for (name, member) in members {
                    match (there.get(name.as_str()), member) {
                        (Some(raw), _) => {
                            if let Err(mismatch) = member.read(raw.get(), label, types, values)? {
                                return Some(Err(mismatch));
                            }
                        }
                        // A parameter that is left out is unset.
                        (None, Shape::Parameter(_)) => {}
                        (None, _) => return None,
                    }
                }
                Some(Ok(()))
            }
            Shape::Array(items) => {
                let there: Vec<&serde_json::value::RawValue> = serde_json::from_str(json).ok()?;
                if there.len() != items.len() {
                    return None;
                }
                for (raw, item) in there.iter().zip(items) {
                    if let Err(mismatch) = item.read(raw.get(), label, types, values)? {
                        return Some(Err(mismatch));
                    }
                }
                Some(Ok(()))
            }
            Shape::Text(template) => {
                let text: String = serde_json::from_str(json).ok()?;
                match template.read(&text, label, types)? {
                    Ok(found) => {
                        for position in template.parameters() {
                            values[position] = found[position].clone();
                        }
                        Some(Ok(()))
                    }
                    Err(mismatch) => Some(Err(mismatch)),
                }
            }
            Shape::Literal(expected) => {
                let there: Json = serde_json::from_str(json).ok()?;
                (there == *expected).then_some(Ok(()))
            }
        }
    }
}

/// As the model's type; a structure may have members that the model does not speak of.
fn read_loosely(json: &str, ty: &Type, types: &Types) -> Result<Value, Mismatch> {
    let Type::Struct(id) = ty else {
        return read_value(json, ty, types);
    };
    let (Some(there), Some(declared)) = (read_object(json), types.structs.get(id.index())) else {
        return read_value(json, ty, types);
    };
    let fields = declared
        .fields
        .iter()
        .map(|(name, ty)| match there.get(name) {
            None => Ok(Value::Void),
            Some(raw) => read_loosely(raw.get(), ty, types)
                .map_err(|Mismatch(why)| Mismatch(format!("{name}: {why}"))),
        });
    Ok(Value::Struct(*id, fields.collect::<Result<_, _>>()?))
}

//! Values and steps as they are saved and sent: JSON by names, so that a file outlives the
//! numbering of a model.

use std::fmt;
use std::sync::Arc;

use ioco_sts::{Action, Direction, Step, StructKind, Sts, Type, Types, Value, read_decimal};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

/// One step by names: `{"stimulus":"lock","values":{"passcode":1234}}`,
/// `{"response":"locked"}` or `{"silence":true}`. Parameters that are unset are left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum SavedStep {
    Stimulus {
        stimulus: String,
        #[serde(default, skip_serializing_if = "Map::is_empty")]
        values: Map<String, Json>,
    },
    Response {
        response: String,
        #[serde(default, skip_serializing_if = "Map::is_empty")]
        values: Map<String, Json>,
    },
    Silence {
        silence: bool,
    },
}

/// Why something saved does not fit the model any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelChanged {
    /// The label with its mark.
    NoLabel(String),
    NoParameter {
        label: String,
        parameter: String,
    },
    /// The value does not have the parameter's type.
    BadValue {
        label: String,
        parameter: String,
        expected: String,
        found: String,
    },
}

impl fmt::Display for ModelChanged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ModelChanged::NoLabel(label) => {
                write!(f, "the model has no {label} (any more)")
            }
            ModelChanged::NoParameter { label, parameter } => {
                write!(f, "{label} has no parameter '{parameter}' (any more)")
            }
            ModelChanged::BadValue {
                label,
                parameter,
                expected,
                found,
            } => write!(
                f,
                "parameter '{parameter}' of {label} is {expected}, which {found} is not"
            ),
        }
    }
}

impl std::error::Error for ModelChanged {}

impl SavedStep {
    pub fn new(step: &Step, sts: &Sts) -> SavedStep {
        match step {
            Step::Stimulus(action) => SavedStep::Stimulus {
                stimulus: sts.label(action.label).name.clone(),
                values: saved_values(action, sts),
            },
            Step::Response(action) => SavedStep::Response {
                response: sts.label(action.label).name.clone(),
                values: saved_values(action, sts),
            },
            Step::Quiescence => SavedStep::Silence { silence: true },
        }
    }

    /// The step in terms of `sts`.
    pub fn restore(&self, sts: &Sts) -> Result<Step, ModelChanged> {
        match self {
            SavedStep::Stimulus { stimulus, values } => {
                restored_action(sts, Direction::Stimulus, stimulus, values).map(Step::Stimulus)
            }
            SavedStep::Response { response, values } => {
                restored_action(sts, Direction::Response, response, values).map(Step::Response)
            }
            SavedStep::Silence { .. } => Ok(Step::Quiescence),
        }
    }
}

pub(crate) fn saved_values(action: &Action, sts: &Sts) -> Map<String, Json> {
    let parameters = &sts.label(action.label).parameters;
    parameters
        .iter()
        .zip(&action.values)
        .filter(|(_, value)| !value.is_void())
        .map(|(parameter, value)| (parameter.name.clone(), value_to_json(value, sts.types())))
        .collect()
}

fn restored_action(
    sts: &Sts,
    direction: Direction,
    name: &str,
    saved: &Map<String, Json>,
) -> Result<Action, ModelChanged> {
    let shown = || format!("{}{name}", direction.mark());
    let id = sts
        .label_named(direction, name)
        .ok_or_else(|| ModelChanged::NoLabel(shown()))?;
    let parameters = &sts.label(id).parameters;
    let mut values = vec![Value::Void; parameters.len()];
    for (parameter, json) in saved {
        let Some(position) = parameters.iter().position(|p| p.name == *parameter) else {
            return Err(ModelChanged::NoParameter {
                label: shown(),
                parameter: parameter.clone(),
            });
        };
        let ty = &parameters[position].ty;
        values[position] =
            value_from_json(json, ty, sts.types()).ok_or_else(|| ModelChanged::BadValue {
                label: shown(),
                parameter: parameter.clone(),
                expected: sts.types().type_name(ty),
                found: json.to_string(),
            })?;
    }
    Ok(Action { label: id, values })
}

/// A value as JSON. Decimals are strings, because numbers of JSON readers are often floats; enum
/// members are their names. A set is an array, a hash an array of pairs.
pub fn value_to_json(value: &Value, types: &Types) -> Json {
    match value {
        Value::Void => Json::Null,
        Value::Bool(value) => Json::Bool(*value),
        Value::Int(value) => Json::from(*value),
        Value::Decimal(value) => Json::String(value.to_string()),
        Value::Str(text) => Json::String(text.to_string()),
        Value::Enum(id, member) => Json::String(types.member_name(*id, *member).to_owned()),
        Value::Array(items) => items.iter().map(|v| value_to_json(v, types)).collect(),
        Value::Struct(id, _) if types.item_of(*id).is_some() => {
            let items = types.items_in(value).unwrap_or_default();
            items.iter().map(|v| value_to_json(v, types)).collect()
        }
        Value::Struct(id, fields) if types.kind_of(*id) == StructKind::Entry => {
            fields.iter().map(|v| value_to_json(v, types)).collect()
        }
        Value::Struct(id, fields) => {
            let names = types.structs.get(id.index()).map(|s| s.fields.as_slice());
            let named = names.unwrap_or_default().iter().zip(fields.iter());
            named
                .map(|((name, _), value)| (name.clone(), value_to_json(value, types)))
                .collect::<Map<_, _>>()
                .into()
        }
    }
}

/// The value of type `ty` that `json` stands for, if it stands for one.
pub fn value_from_json(json: &Json, ty: &Type, types: &Types) -> Option<Value> {
    let value = match (ty, json) {
        (_, Json::Null) => Value::Void,
        (Type::Bool, Json::Bool(value)) => Value::Bool(*value),
        (Type::Int(_) | Type::Date | Type::Time, Json::Number(number)) => {
            Value::Int(number.as_i64()?)
        }
        (Type::Decimal, Json::String(text)) => Value::Decimal(read_decimal(text)?),
        (Type::Decimal, Json::Number(number)) => Value::Decimal(read_decimal(&number.to_string())?),
        (Type::Str, Json::String(text)) => Value::str(text),
        (Type::Enum(id), Json::String(name)) => {
            let members = &types.enums.get(id.index())?.members;
            Value::Enum(*id, members.iter().position(|m| m == name)? as u32)
        }
        (Type::Array(item), Json::Array(items)) => Value::Array(
            items
                .iter()
                .map(|json| value_from_json(json, item, types))
                .collect::<Option<Arc<[_]>>>()?,
        ),
        (Type::Struct(id), Json::Array(items)) => match (types.item_of(*id), items.as_slice()) {
            (Some(item), items) => {
                let items = items.iter().map(|json| value_from_json(json, item, types));
                types.keyed(*id, items.collect::<Option<_>>()?)?
            }
            (None, [key, value]) if types.kind_of(*id) == StructKind::Entry => {
                let fields = &types.structs.get(id.index())?.fields;
                let side = |at: usize, json| value_from_json(json, &fields.get(at)?.1, types);
                Value::Struct(*id, Arc::from([side(0, key)?, side(1, value)?]))
            }
            _ => return None,
        },
        (Type::Struct(id), Json::Object(object)) => {
            let fields = &types.structs.get(id.index())?.fields;
            if object
                .keys()
                .any(|key| fields.iter().all(|(name, _)| name != key))
            {
                return None;
            }
            Value::Struct(
                *id,
                fields
                    .iter()
                    .map(|(name, ty)| {
                        let json = object.get(name).unwrap_or(&Json::Null);
                        value_from_json(json, ty, types)
                    })
                    .collect::<Option<Arc<[_]>>>()?,
            )
        }
        _ => return None,
    };
    types.fits(&value, ty).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decimal_is_read_whatever_zeros_it_ends_with() {
        let zeros = "0".repeat(29);
        let text = Json::String(format!("7.5{zeros}"));
        let read = |json: &Json| value_from_json(json, &Type::Decimal, &Types::default());
        assert_eq!(read(&text), read(&Json::String("7.5".to_owned())));
        assert!(read(&text).is_some());
        assert_eq!(read(&Json::String(format!("7.{zeros}5"))), None);
    }
}

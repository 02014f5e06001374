//! Values of the model as values of the protocol, and back.
//!
//! Reading is led by the type that the model gives, as in the line protocol: what does not fit is
//! a [`Mismatch`], which the tester judges as an observation.

use std::collections::BTreeMap;
use std::sync::Arc;

use ioco_sts::{StructId, StructKind, Type, Types, Value, read_decimal};
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive as _;

use super::wire::{self, Kind};
use crate::values::{Mismatch, shorten};

/// In which units an adapter counts dates and times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Units {
    /// Those of the protocol until the adapter is seen to use the others, as the public Python
    /// adapter does.
    #[default]
    Learned,
    /// Seconds and nanoseconds, as the protocol says.
    Protocol,
    /// Milliseconds and microseconds.
    Thousandths,
}

impl Units {
    pub fn named(name: &str) -> Option<Units> {
        Some(match name {
            "auto" => Units::Learned,
            "protocol" => Units::Protocol,
            "thousandths" => Units::Thousandths,
            _ => return None,
        })
    }
}

/// What is known about the units of one adapter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clocks {
    units: Units,
    dates_in_milliseconds: bool,
    times_in_microseconds: bool,
}

/// The end of the year 9999 in seconds. Received as milliseconds it lies in January 1978: a larger
/// number is a date in milliseconds, because no system speaks of the years after 9999.
const LAST_SECOND: u64 = 253_402_300_799;

/// The same for times: between January 1978 and the year 9999 in microseconds. In nanoseconds that
/// is between three days and eight years after 1970, which is neither a time of day nor a moment
/// that a system of today speaks of.
const MICROSECONDS: std::ops::Range<u64> = 253_402_300_799_000..253_402_300_799_000_000;

impl Clocks {
    pub fn new(units: Units) -> Clocks {
        let thousandths = units == Units::Thousandths;
        Clocks {
            units,
            dates_in_milliseconds: thousandths,
            times_in_microseconds: thousandths,
        }
    }

    /// Looks at a value for its units only.
    pub fn learn(&mut self, value: &wire::Value) {
        match &value.kind {
            Some(Kind::Date(number)) => {
                self.seconds(*number);
            }
            Some(Kind::Time(number)) => {
                self.nanoseconds(*number);
            }
            Some(Kind::Array(array)) => array.values.iter().for_each(|v| self.learn(v)),
            Some(Kind::Struct(hash) | Kind::Hash(hash)) => {
                for entry in &hash.entries {
                    entry.value.iter().for_each(|v| self.learn(v));
                }
            }
            _ => {}
        }
    }

    fn seconds(&mut self, number: u64) -> Option<i64> {
        if self.units == Units::Learned && number > LAST_SECOND {
            self.dates_in_milliseconds = true;
        }
        let is_thousandth = match self.units {
            Units::Learned => number > LAST_SECOND,
            Units::Protocol => false,
            Units::Thousandths => true,
        };
        let number = if is_thousandth { number / 1000 } else { number };
        number.try_into().ok()
    }

    fn nanoseconds(&mut self, number: u64) -> Option<i64> {
        if self.units == Units::Learned && MICROSECONDS.contains(&number) {
            self.times_in_microseconds = true;
        }
        let is_thousandth = match self.units {
            Units::Learned => MICROSECONDS.contains(&number),
            Units::Protocol => false,
            Units::Thousandths => true,
        };
        let number = if is_thousandth {
            number.checked_mul(1000)?
        } else {
            number
        };
        number.try_into().ok()
    }
}

/// `value`, which is one of type `ty`, for the wire.
pub(crate) fn write(value: &Value, ty: &Type, types: &Types, clocks: &Clocks) -> wire::Value {
    let kind = match (value, ty) {
        (Value::Void, _) => None,
        (Value::Bool(value), _) => Some(Kind::Boolean(*value)),
        // The type's range begins at zero.
        (Value::Int(number), Type::Date) => Some(Kind::Date(if clocks.dates_in_milliseconds {
            number.unsigned_abs().saturating_mul(1000)
        } else {
            number.unsigned_abs()
        })),
        (Value::Int(number), Type::Time) => Some(Kind::Time(if clocks.times_in_microseconds {
            number.unsigned_abs() / 1000
        } else {
            number.unsigned_abs()
        })),
        (Value::Int(number), _) => Some(Kind::Integer(*number)),
        (Value::Decimal(number), _) => Some(Kind::Decimal(nearest(number))),
        (Value::Str(text), _) => Some(Kind::Text(text.to_string())),
        (Value::Enum(id, member), _) => {
            Some(Kind::Text(types.member_name(*id, *member).to_owned()))
        }
        (Value::Array(items), ty) => {
            let item = match ty {
                Type::Array(item) => item.as_ref(),
                other => other,
            };
            let values = items.iter().map(|v| write(v, item, types, clocks));
            Some(Kind::Array(wire::Array {
                values: values.collect(),
            }))
        }
        (Value::Struct(id, _), _) if types.item_of(*id).is_some() => {
            Some(write_keyed(value, *id, types, clocks))
        }
        (Value::Struct(id, fields), _) => {
            let declared = types.structs.get(id.index()).map(|s| s.fields.as_slice());
            let named = declared.unwrap_or_default().iter().zip(fields.iter());
            let entries = named.map(|((name, ty), field)| wire::Entry {
                key: Some(text(name)),
                value: Some(write(field, ty, types, clocks)),
            });
            Some(Kind::Struct(wire::Hash {
                entries: entries.collect(),
            }))
        }
    };
    wire::Value { kind }
}

/// A set as an array, a hash as a hash.
fn write_keyed(value: &Value, id: StructId, types: &Types, clocks: &Clocks) -> Kind {
    let items = types.items_in(value).unwrap_or_default();
    let Some((key, of)) = types.entry_of(id) else {
        let item = types.item_of(id);
        let values = items.iter().zip(item.iter().cycle());
        let values = values.map(|(v, item)| write(v, item, types, clocks));
        return Kind::Array(wire::Array {
            values: values.collect(),
        });
    };
    let entries = items.iter().filter_map(|entry| match entry {
        Value::Struct(_, fields) => Some(wire::Entry {
            key: Some(write(&fields[0], key, types, clocks)),
            value: Some(write(&fields[1], of, types, clocks)),
        }),
        _ => None,
    });
    Kind::Hash(wire::Hash {
        entries: entries.collect(),
    })
}

fn text(text: &str) -> wire::Value {
    wire::Value {
        kind: Some(Kind::Text(text.to_owned())),
    }
}

fn nearest(number: &Decimal) -> f64 {
    number.to_f64().unwrap_or_default()
}

/// Whether a decimal has more digits than the protocol's floating-point number can carry.
pub(crate) fn loses_digits(value: &Value) -> bool {
    match value {
        Value::Decimal(number) => exact(nearest(number)) != Some(*number),
        Value::Array(items) => items.iter().any(loses_digits),
        Value::Struct(_, fields) => fields.iter().any(loses_digits),
        _ => false,
    }
}

/// The decimal with the fewest digits that stands for this number: what a person typed.
fn exact(number: f64) -> Option<Decimal> {
    if !number.is_finite() {
        return None;
    }
    read_decimal(&number.to_string())
}

/// The value of type `ty` that came over the wire; a value with nothing set is `:void`.
pub(crate) fn read(
    value: &wire::Value,
    ty: &Type,
    types: &Types,
    clocks: &mut Clocks,
) -> Result<Value, Mismatch> {
    let wrong = || {
        let expected = types.type_name(ty);
        Mismatch(format!(
            "{} is {}, not {expected}",
            shorten(&show(value), 60),
            kind_name(value)
        ))
    };
    let Some(kind) = &value.kind else {
        return Ok(Value::Void);
    };
    let read = match (kind, ty) {
        (Kind::Text(text), Type::Str) => Value::Str(Arc::from(text.as_str())),
        (Kind::Text(text), Type::Enum(id)) => {
            let members = types.enums.get(id.index()).map(|e| e.members.as_slice());
            let member = members.unwrap_or_default().iter().position(|m| m == text);
            Value::Enum(*id, member.ok_or_else(wrong)? as u32)
        }
        (Kind::Integer(number), Type::Int(_)) => Value::Int(*number),
        (Kind::Integer(number), Type::Decimal) => Value::Decimal(Decimal::from(*number)),
        (Kind::Decimal(number), Type::Decimal) => Value::Decimal(exact(*number).ok_or_else(wrong)?),
        (Kind::Boolean(value), Type::Bool) => Value::Bool(*value),
        (Kind::Date(number), Type::Date) => Value::Int(clocks.seconds(*number).ok_or_else(wrong)?),
        (Kind::Time(number), Type::Time) => {
            Value::Int(clocks.nanoseconds(*number).ok_or_else(wrong)?)
        }
        (Kind::Array(array), Type::Array(item)) => {
            let items = array.values.iter().map(|v| read(v, item, types, clocks));
            Value::Array(items.collect::<Result<Arc<[_]>, _>>()?)
        }
        (Kind::Array(array), Type::Struct(id)) if types.kind_of(*id) == StructKind::Set => {
            let item = types.item_of(*id).ok_or_else(wrong)?;
            let items = array.values.iter().map(|v| read(v, item, types, clocks));
            let items = items.collect::<Result<_, _>>()?;
            types.keyed(*id, items).ok_or_else(wrong)?
        }
        (Kind::Struct(hash) | Kind::Hash(hash), Type::Struct(id))
            if types.kind_of(*id) == StructKind::Hash =>
        {
            let (key, of) = types.entry_of(*id).ok_or_else(wrong)?;
            let Some(Type::Struct(entry)) = types.item_of(*id) else {
                return Err(wrong());
            };
            let mut entries = Vec::new();
            for pair in &hash.entries {
                let key = read(pair.key.as_ref().ok_or_else(wrong)?, key, types, clocks)?;
                let value = match &pair.value {
                    Some(value) => read(value, of, types, clocks)?,
                    None => Value::Void,
                };
                entries.push(Value::Struct(*entry, Arc::from([key, value])));
            }
            types.keyed(*id, entries).ok_or_else(wrong)?
        }
        (Kind::Struct(hash) | Kind::Hash(hash), Type::Struct(id))
            if types.kind_of(*id) == StructKind::Plain =>
        {
            let declared = types.structs.get(id.index()).map(|s| s.fields.as_slice());
            let declared = declared.unwrap_or_default();
            let mut fields = BTreeMap::new();
            for entry in &hash.entries {
                let key = match entry.key.as_ref().and_then(|key| key.kind.as_ref()) {
                    Some(Kind::Text(key)) => key.as_str(),
                    _ => return Err(wrong()),
                };
                if !declared.iter().any(|(name, _)| name == key) {
                    return Err(Mismatch(format!("the model has no \"{key}\" here")));
                }
                fields.insert(key, entry.value.as_ref());
            }
            let fields = declared.iter().map(|(name, ty)| {
                match fields.get(name.as_str()).copied().flatten() {
                    None => Ok(Value::Void),
                    Some(value) => read(value, ty, types, clocks)
                        .map_err(|Mismatch(why)| Mismatch(format!("{name}: {why}"))),
                }
            });
            Value::Struct(*id, fields.collect::<Result<Arc<[_]>, _>>()?)
        }
        _ => return Err(wrong()),
    };
    if types.fits(&read, ty) {
        Ok(read)
    } else {
        Err(wrong())
    }
}

/// A value as it came, for a person.
pub(crate) fn show(value: &wire::Value) -> String {
    match &value.kind {
        None => ":void".to_owned(),
        Some(Kind::Text(text)) => format!("{text:?}"),
        Some(Kind::Integer(number)) => number.to_string(),
        Some(Kind::Decimal(number)) => format!("{number:?}"),
        Some(Kind::Boolean(value)) => value.to_string(),
        Some(Kind::Date(number) | Kind::Time(number)) => number.to_string(),
        Some(Kind::Array(array)) => {
            let items: Vec<String> = array.values.iter().map(show).collect();
            format!("[{}]", items.join(", "))
        }
        Some(Kind::Struct(hash) | Kind::Hash(hash)) => {
            let side = |value: &Option<wire::Value>| value.as_ref().map(show).unwrap_or_default();
            let entries: Vec<String> = hash
                .entries
                .iter()
                .map(|entry| format!("{}: {}", side(&entry.key), side(&entry.value)))
                .collect();
            format!("{{{}}}", entries.join(", "))
        }
    }
}

/// What kind of value came, in the words of a message to a person.
pub(crate) fn kind_name(value: &wire::Value) -> &'static str {
    match &value.kind {
        None => ":void",
        Some(Kind::Text(_)) => "a string",
        Some(Kind::Integer(_)) => "an integer",
        Some(Kind::Decimal(_)) => "a decimal",
        Some(Kind::Boolean(_)) => "a boolean",
        Some(Kind::Date(_)) => "a date",
        Some(Kind::Time(_)) => "a time",
        Some(Kind::Array(_)) => "an array",
        Some(Kind::Struct(_)) => "a struct",
        Some(Kind::Hash(_)) => "a hash",
    }
}

/// The type that a value carries, as a model would write it.
pub(crate) fn type_name(value: &wire::Value) -> String {
    match &value.kind {
        None => ":void".to_owned(),
        Some(Kind::Text(_)) => ":string".to_owned(),
        Some(Kind::Integer(_)) => ":integer".to_owned(),
        Some(Kind::Decimal(_)) => ":decimal".to_owned(),
        Some(Kind::Boolean(_)) => ":boolean".to_owned(),
        Some(Kind::Date(_)) => ":date".to_owned(),
        Some(Kind::Time(_)) => ":time".to_owned(),
        Some(Kind::Array(array)) => {
            let item = array
                .values
                .first()
                .map_or_else(|| "?".to_owned(), type_name);
            format!("[{item}]")
        }
        Some(Kind::Struct(_)) => "struct".to_owned(),
        Some(Kind::Hash(_)) => "hash".to_owned(),
    }
}

/// Whether a dummy value of an announcement is of the kind that the model's type has on the wire.
pub(crate) fn agrees(dummy: &wire::Value, ty: &Type, types: &Types) -> bool {
    let Some(kind) = &dummy.kind else {
        return true;
    };
    match (kind, ty) {
        (Kind::Text(_), Type::Str | Type::Enum(_))
        | (Kind::Integer(_), Type::Int(_))
        | (Kind::Decimal(_), Type::Decimal)
        | (Kind::Boolean(_), Type::Bool)
        | (Kind::Date(_), Type::Date)
        | (Kind::Time(_), Type::Time)
        | (Kind::Struct(_) | Kind::Hash(_), Type::Struct(_)) => true,
        // What a set holds is not looked at.
        (Kind::Array(_), Type::Struct(id)) => types.kind_of(*id) == StructKind::Set,
        (Kind::Array(array), Type::Array(item)) => {
            array.values.iter().all(|v| agrees(v, item, types))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use ioco_sts::{EnumId, EnumType, IntRange, StructId, StructType};
    use proptest::prelude::*;

    use super::*;

    fn types() -> Types {
        Types {
            enums: vec![EnumType {
                name: "Colour".to_owned(),
                members: vec!["red".to_owned(), "blue".to_owned()],
            }],
            structs: vec![StructType {
                name: "Shop".to_owned(),
                fields: vec![
                    ("open".to_owned(), Type::Bool),
                    ("since".to_owned(), Type::Date),
                ],
                kind: StructKind::Plain,
            }],
        }
    }

    fn typed_value() -> impl Strategy<Value = (Type, Value)> {
        let moment = 1_000_000_000..4_000_000_000i64;
        let plain = prop_oneof![
            any::<i64>().prop_map(|n| (Type::INTEGER, n.into())),
            any::<bool>().prop_map(|b| (Type::Bool, b.into())),
            "\\PC{0,8}".prop_map(|s| (Type::Str, s.as_str().into())),
            (-99_999_999..99_999_999i64, 0..6u32)
                .prop_map(|(n, scale)| (Type::Decimal, Decimal::new(n, scale).normalize().into())),
            (0..2u32).prop_map(|m| (Type::Enum(EnumId(0)), Value::Enum(EnumId(0), m))),
            moment.clone().prop_map(|n| (Type::Date, n.into())),
            moment
                .clone()
                .prop_map(|n| (Type::Time, (n * 1_000_000_000).into())),
            (any::<bool>(), moment).prop_map(|(open, since)| {
                let fields = [open.into(), since.into()];
                let id = StructId(0);
                (Type::Struct(id), Value::Struct(id, Arc::from(fields)))
            }),
            Just((Type::Str, Value::Void)),
        ];
        (plain, 0..4usize).prop_map(|((ty, value), count)| match count {
            0 => (ty, value),
            count => {
                let items = vec![value; count];
                (Type::Array(Box::new(ty)), Value::Array(items.into()))
            }
        })
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back_in_every_unit((ty, value) in typed_value()) {
            let types = types();
            for units in [Units::Learned, Units::Protocol, Units::Thousandths] {
                let mut clocks = Clocks::new(units);
                let wire = write(&value, &ty, &types, &clocks);
                prop_assert!(agrees(&wire, &ty, &types));
                prop_assert_eq!(read(&wire, &ty, &types, &mut clocks), Ok(value.clone()));
            }
        }
    }

    fn kind(kind: Kind) -> wire::Value {
        wire::Value { kind: Some(kind) }
    }

    #[test]
    fn moments_in_thousandths_are_noticed_and_answered_in_kind() {
        let types = types();
        let mut clocks = Clocks::new(Units::Learned);
        let date = kind(Kind::Date(1_700_000_000_000));
        assert_eq!(
            read(&date, &Type::Date, &types, &mut clocks),
            Ok(Value::Int(1_700_000_000))
        );
        let time = kind(Kind::Time(1_700_000_000_000_000));
        assert_eq!(
            read(&time, &Type::Time, &types, &mut clocks),
            Ok(Value::Int(1_700_000_000_000_000_000))
        );
        // From now on it gets what it sends.
        let written = write(&Value::Int(1_700_000_000), &Type::Date, &types, &clocks);
        assert_eq!(written, date);
    }

    #[test]
    fn a_time_of_day_is_in_nanoseconds() {
        let mut clocks = Clocks::new(Units::Learned);
        let noon = 12 * 3600 * 1_000_000_000;
        let read = read(&kind(Kind::Time(noon)), &Type::Time, &types(), &mut clocks);
        assert_eq!(read, Ok(Value::Int(noon as i64)));
    }

    #[test]
    fn what_has_another_type_does_not_fit() {
        let small = Type::Int(IntRange { min: 0, max: 9 });
        for (value, ty) in [
            (kind(Kind::Text("5".to_owned())), Type::INTEGER),
            (kind(Kind::Decimal(5.0)), Type::INTEGER),
            (kind(Kind::Integer(10)), small),
            (kind(Kind::Decimal(f64::NAN)), Type::Decimal),
            (kind(Kind::Text("green".to_owned())), Type::Enum(EnumId(0))),
            (kind(Kind::Integer(1)), Type::Date),
        ] {
            let mut clocks = Clocks::new(Units::Learned);
            assert!(
                read(&value, &ty, &types(), &mut clocks).is_err(),
                "{value:?}"
            );
        }
    }

    #[test]
    fn a_hash_is_a_hash_and_a_set_an_array() {
        let mut types = types();
        let structs = [
            (
                "set(:integer)",
                vec![("items", Type::Array(Box::new(Type::INTEGER)))],
                StructKind::Set,
            ),
            (
                "e",
                vec![("key", Type::INTEGER), ("value", Type::Str)],
                StructKind::Entry,
            ),
            (
                "h",
                vec![("entries", Type::Array(Box::new(Type::Struct(StructId(2)))))],
                StructKind::Hash,
            ),
        ];
        for (name, fields, kind) in structs {
            let fields = fields.into_iter().map(|(name, ty)| (name.to_owned(), ty));
            types.structs.push(StructType {
                name: name.to_owned(),
                fields: fields.collect(),
                kind,
            });
        }
        let integer = |number| kind(Kind::Integer(number));
        let entry = |key, value: &str| wire::Entry {
            key: Some(integer(key)),
            value: Some(text(value)),
        };
        let hash = |entries: Vec<wire::Entry>| kind(Kind::Hash(wire::Hash { entries }));
        let array = |values: Vec<wire::Value>| kind(Kind::Array(wire::Array { values }));
        let mut clocks = Clocks::new(Units::Learned);
        let mut read = |value: &wire::Value, id: u32| {
            read(value, &Type::Struct(StructId(id)), &types, &mut clocks)
        };
        let value = read(&hash(vec![entry(7, "b"), entry(2, "a")]), 3).unwrap();
        assert_eq!(
            value.display(&types).to_string(),
            "{2 => \"a\", 7 => \"b\"}"
        );
        let sent = write(
            &value,
            &Type::Struct(StructId(3)),
            &types,
            &Clocks::new(Units::Learned),
        );
        assert_eq!(sent, hash(vec![entry(2, "a"), entry(7, "b")]));
        assert!(agrees(&sent, &Type::Struct(StructId(3)), &types));
        let value = read(&array(vec![integer(3), integer(1)]), 1).unwrap();
        let sent = write(
            &value,
            &Type::Struct(StructId(1)),
            &types,
            &Clocks::new(Units::Learned),
        );
        assert_eq!(sent, array(vec![integer(1), integer(3)]));
        assert!(
            read(&hash(vec![entry(2, "a"), entry(2, "b")]), 3).is_err(),
            "a key twice"
        );
        assert!(
            read(&array(vec![integer(1), integer(1)]), 1).is_err(),
            "an item twice"
        );
        assert!(read(&hash(Vec::new()), 1).is_err(), "no set");
    }

    #[test]
    fn lost_digits_are_noticed() {
        let long = Decimal::from_str_exact("0.12345678901234567890").unwrap();
        assert!(loses_digits(&Value::Decimal(long)));
        assert!(!loses_digits(&Value::Decimal(Decimal::new(123, 2))));
    }
}

//! Types of variables and parameters, and which values fit them.

use std::cmp::Ordering;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::eval::compare;
use crate::ids::{EnumId, StructId};
use crate::value::Value;

use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive as _;

/// An inclusive range of integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct IntRange {
    pub min: i64,
    pub max: i64,
}

impl IntRange {
    pub const FULL: IntRange = IntRange {
        min: i64::MIN,
        max: i64::MAX,
    };

    pub fn contains(self, value: i64) -> bool {
        self.min <= value && value <= self.max
    }

    pub fn is_full(self) -> bool {
        self == IntRange::FULL
    }
}

/// The type of a variable, a parameter or a field. Every type also has the value `:void`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Type {
    Bool,
    Int(IntRange),
    Decimal,
    Str,
    /// Seconds since the epoch.
    Date,
    /// Nanoseconds.
    Time,
    Enum(EnumId),
    Array(Box<Type>),
    Struct(StructId),
}

impl Type {
    pub const INTEGER: Type = Type::Int(IntRange::FULL);

    /// The integers that this type allows, for every type whose values are integers.
    pub fn int_range(&self) -> Option<IntRange> {
        match self {
            Type::Int(range) => Some(*range),
            Type::Date | Type::Time => Some(IntRange {
                min: 0,
                max: i64::MAX,
            }),
            _ => None,
        }
    }
}

/// An enumeration: `enum 'Product', 'Coffee', 'Tea'`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnumType {
    pub name: String,
    pub members: Vec<String>,
}

/// What a structure stands for.
///
/// Sets and hashes are structures around one array, whose items are in order of their keys, each key once. So equal
/// sets are equal values, and evaluation and solvers need nothing new: what they know of structures and arrays holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StructKind {
    /// A structure of the model.
    #[default]
    Plain,
    /// Its one field is the array of the items.
    Set,
    /// Its one field is the array of the entries.
    Hash,
    /// An entry of a hash: its key and its value.
    Entry,
}

/// A structure: `struct 'Shop', {'action' => :integer}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StructType {
    /// For a set or a hash, how the type is written: `set(:integer)`.
    pub name: String,
    pub fields: Vec<(String, Type)>,
    #[serde(default)]
    pub kind: StructKind,
}

impl StructType {
    pub fn plain(name: &str, fields: Vec<(String, Type)>) -> StructType {
        StructType {
            name: name.to_owned(),
            fields,
            kind: StructKind::Plain,
        }
    }
}

/// The named types of a model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Types {
    pub enums: Vec<EnumType>,
    pub structs: Vec<StructType>,
}

impl Types {
    pub fn kind_of(&self, id: StructId) -> StructKind {
        self.structs
            .get(id.index())
            .map_or(StructKind::Plain, |declared| declared.kind)
    }

    /// The type of the items of a set, or of the entries of a hash.
    pub fn item_of(&self, id: StructId) -> Option<&Type> {
        let declared = self.structs.get(id.index())?;
        match (declared.kind, declared.fields.as_slice()) {
            (StructKind::Set | StructKind::Hash, [(_, Type::Array(item))]) => Some(item),
            _ => None,
        }
    }

    /// The types of the keys and of the values of a hash.
    pub fn entry_of(&self, id: StructId) -> Option<(&Type, &Type)> {
        let Type::Struct(entry) = self.item_of(id)? else {
            return None;
        };
        match self.structs.get(entry.index())?.fields.as_slice() {
            [(_, key), (_, value)] => Some((key, value)),
            _ => None,
        }
    }

    /// Whether a value of this type can be an item of a set or a key of a hash: it has an order.
    pub fn is_ordered(ty: &Type) -> bool {
        ty.int_range().is_some() || matches!(ty, Type::Decimal | Type::Str | Type::Enum(_))
    }

    /// The set or the hash that has these items, in whatever order they come; `None` where an item is unset, is
    /// there twice, or has no order.
    pub fn keyed(&self, id: StructId, mut items: Vec<Value>) -> Option<Value> {
        let order = |a: &Value, b: &Value| compare("order", self.key(a), self.key(b));
        let first = items.first().cloned();
        // Values of one kind have one order; sorting must not meet others.
        if first.is_some_and(|first| items.iter().any(|item| order(&first, item).is_err())) {
            return None;
        }
        items.sort_by(|a, b| order(a, b).unwrap_or(Ordering::Equal));
        let keyed = Value::Struct(id, Arc::from([Value::Array(items.into())]));
        self.is_in_order(&keyed).then_some(keyed)
    }

    /// The items of a set, or the entries of a hash; `None` for any other value.
    pub fn items_in<'v>(&self, value: &'v Value) -> Option<&'v [Value]> {
        match value {
            Value::Struct(id, fields) if self.item_of(*id).is_some() => match &fields[..] {
                [Value::Array(items)] => Some(items),
                _ => None,
            },
            _ => None,
        }
    }

    /// The key of an entry of a hash; an item of a set is its own.
    pub fn key<'v>(&self, item: &'v Value) -> &'v Value {
        match item {
            Value::Struct(id, fields) if self.kind_of(*id) == StructKind::Entry => {
                fields.first().unwrap_or(item)
            }
            _ => item,
        }
    }

    /// Whether the items of a set or a hash have keys, in their order, each once.
    fn is_in_order(&self, value: &Value) -> bool {
        let Some(items) = self.items_in(value) else {
            return false;
        };
        let keys: Vec<&Value> = items.iter().map(|item| self.key(item)).collect();
        !keys.iter().any(|key| key.is_void())
            && keys
                .windows(2)
                .all(|pair| compare("order", pair[0], pair[1]).is_ok_and(Ordering::is_lt))
    }

    pub fn member_name(&self, id: EnumId, member: u32) -> &str {
        self.enums
            .get(id.index())
            .and_then(|e| e.members.get(member as usize))
            .map_or("?", String::as_str)
    }

    /// Whether `value` is one that a variable or parameter of type `ty` may hold.
    /// `:void` fits every type.
    pub fn fits(&self, value: &Value, ty: &Type) -> bool {
        match (value, ty) {
            (Value::Void, _)
            | (Value::Bool(_), Type::Bool)
            | (Value::Decimal(_), Type::Decimal)
            | (Value::Str(_), Type::Str) => true,
            (Value::Int(value), ty) => ty.int_range().is_some_and(|range| range.contains(*value)),
            (Value::Enum(id, member), Type::Enum(expected)) => {
                id == expected
                    && self
                        .enums
                        .get(id.index())
                        .is_some_and(|e| (*member as usize) < e.members.len())
            }
            (Value::Array(items), Type::Array(item)) => items.iter().all(|v| self.fits(v, item)),
            (Value::Struct(id, fields), Type::Struct(expected)) => {
                id == expected
                    && self.structs.get(id.index()).is_some_and(|s| {
                        s.fields.len() == fields.len()
                            && fields
                                .iter()
                                .zip(&s.fields)
                                .all(|(v, (_, ty))| self.fits(v, ty))
                    })
                    && (self.item_of(*id).is_none() || self.is_in_order(value))
            }
            _ => false,
        }
    }

    /// The value of type `ty` that equals `value`: numbers are equal across kinds, also in arrays and
    /// structures. `None` where no value of the type equals it.
    pub fn converted(&self, value: &Value, ty: &Type) -> Option<Value> {
        let converted = match (value, ty) {
            (Value::Int(number), Type::Decimal) => Value::Decimal(Decimal::from(*number)),
            (Value::Decimal(number), Type::Int(_) | Type::Date | Type::Time) => {
                let whole = number.is_integer().then(|| number.to_i64()).flatten();
                Value::Int(whole?)
            }
            (Value::Array(items), Type::Array(item)) => {
                let items = items.iter().map(|value| self.converted(value, item));
                Value::Array(items.collect::<Option<_>>()?)
            }
            (Value::Struct(id, fields), Type::Struct(_)) => {
                let types = &self.structs.get(id.index())?.fields;
                let fields = fields.iter().zip(types);
                let fields = fields.map(|(value, (_, ty))| self.converted(value, ty));
                Value::Struct(*id, fields.collect::<Option<_>>()?)
            }
            _ => value.clone(),
        };
        self.fits(&converted, ty).then_some(converted)
    }

    /// For every structure, how many structures are inside each other in it; `None` for one in which
    /// this has no end.
    pub fn nesting(&self) -> Vec<Option<u64>> {
        #[derive(Clone, Copy, PartialEq)]
        enum Mark {
            New,
            Open,
            Done(Option<u64>),
        }
        fn held(ty: &Type) -> Option<usize> {
            let mut ty = ty;
            while let Type::Array(item) = ty {
                ty = item;
            }
            match ty {
                Type::Struct(id) => Some(id.index()),
                _ => None,
            }
        }
        let mut marks = vec![Mark::New; self.structs.len()];
        // No recursion: the structures of a file may be a long chain.
        for root in 0..self.structs.len() {
            let mut open = vec![root];
            while let Some(&index) = open.last() {
                let inner = self.structs[index]
                    .fields
                    .iter()
                    .filter_map(|(_, ty)| held(ty));
                let inner: Vec<usize> = inner.filter(|i| *i < marks.len()).collect();
                match marks[index] {
                    Mark::Done(_) => {
                        open.pop();
                    }
                    Mark::New => {
                        marks[index] = Mark::Open;
                        open.extend(inner.into_iter().filter(|i| marks[*i] == Mark::New));
                    }
                    Mark::Open => {
                        let depth = inner.iter().try_fold(0, |deepest: u64, i| match marks[*i] {
                            Mark::Done(Some(depth)) => Some(deepest.max(depth)),
                            // What is still open holds this one.
                            _ => None,
                        });
                        marks[index] = Mark::Done(depth.map(|depth| depth + 1));
                        open.pop();
                    }
                }
            }
        }
        let depth = |mark: &Mark| match mark {
            Mark::Done(depth) => *depth,
            Mark::New | Mark::Open => None,
        };
        marks.iter().map(depth).collect()
    }

    /// The type as it is written in a model.
    pub fn type_name(&self, ty: &Type) -> String {
        match ty {
            Type::Bool => ":boolean".to_owned(),
            Type::Int(range) if range.is_full() => ":integer".to_owned(),
            Type::Int(range) => format!("integer({}..{})", range.min, range.max),
            Type::Decimal => ":decimal".to_owned(),
            Type::Str => ":string".to_owned(),
            Type::Date => ":date".to_owned(),
            Type::Time => ":time".to_owned(),
            Type::Enum(id) => {
                format!(
                    "'{}'",
                    self.enums.get(id.index()).map_or("?", |e| e.name.as_str())
                )
            }
            Type::Struct(id) => match self.structs.get(id.index()) {
                Some(declared) if declared.kind == StructKind::Plain => {
                    format!("'{}'", declared.name)
                }
                Some(declared) => declared.name.clone(),
                None => "'?'".to_owned(),
            },
            Type::Array(item) => format!("[{}]", self.type_name(item)),
        }
    }
}

//! Values with one kind of number: an integer and a decimal of the same size are the same number.
//! What distinguishes them (division, range) is the static type of the expression.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use ioco_sts::{EnumId, StructId, StructKind, Type, Types, Value};
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{Signed as _, ToPrimitive as _, Zero as _};
use rust_decimal::Decimal;

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Val {
    Void,
    Bool(bool),
    Num(BigRational),
    Text(String),
    Member(u32, u32),
    List(Vec<Val>),
    Record(u32, Vec<Val>),
    /// What a text means by a set or a hash. ioco has a structure around an array in the order of the keys, which
    /// [`Val::of`] leaves as it is; [`Val::unordered`] reads it.
    Set(BTreeSet<Val>),
    Hash(BTreeMap<Val, Val>),
}

impl Val {
    pub fn int(number: i64) -> Val {
        Val::Num(BigRational::from_integer(number.into()))
    }

    pub fn of(value: &Value) -> Val {
        match value {
            Value::Void => Val::Void,
            Value::Bool(b) => Val::Bool(*b),
            Value::Int(n) => Val::int(*n),
            Value::Decimal(d) => Val::Num(BigRational::new(
                BigInt::from(d.mantissa()),
                BigInt::from(10u8).pow(d.scale()),
            )),
            Value::Str(text) => Val::Text(text.to_string()),
            Value::Enum(id, member) => Val::Member(id.0, *member),
            Value::Array(items) => Val::List(items.iter().map(Val::of).collect()),
            Value::Struct(id, fields) => Val::Record(id.0, fields.iter().map(Val::of).collect()),
        }
    }

    /// The value with sets and hashes in place of structures that stand for them.
    pub fn unordered(&self, types: &Types) -> Val {
        let all = |parts: &[Val]| parts.iter().map(|part| part.unordered(types)).collect();
        match self {
            Val::List(items) => Val::List(all(items)),
            Val::Record(id, fields) => match (types.kind_of(StructId(*id)), fields.as_slice()) {
                (StructKind::Set, [Val::List(items)]) => {
                    Val::Set(items.iter().map(|item| item.unordered(types)).collect())
                }
                (StructKind::Hash, [Val::List(entries)]) => {
                    let pairs = entries.iter().filter_map(|entry| match entry {
                        Val::Record(_, pair) => Some((
                            pair.first()?.unordered(types),
                            pair.get(1)?.unordered(types),
                        )),
                        _ => None,
                    });
                    Val::Hash(pairs.collect())
                }
                _ => Val::Record(*id, all(fields)),
            },
            other => other.clone(),
        }
    }

    /// The value as ioco has it for this type.
    pub fn ordered(&self, ty: &Type, types: &Types) -> Option<Val> {
        Some(Val::of(&self.to_value(ty, types)?))
    }

    /// The value in the form that ioco has for this type; `None` where it does not fit.
    pub fn to_value(&self, ty: &Type, types: &Types) -> Option<Value> {
        Some(match (self, ty) {
            (Val::Void, _) => Value::Void,
            (Val::Bool(b), Type::Bool) => Value::Bool(*b),
            (Val::Num(n), Type::Decimal) => Value::Decimal(decimal(n)?),
            (Val::Num(n), ty) => {
                let range = ty.int_range()?;
                let whole = whole(n)?;
                range.contains(whole).then_some(Value::Int(whole))?
            }
            (Val::Text(text), Type::Str) => Value::str(text),
            (Val::Member(id, member), Type::Enum(expected)) if expected.0 == *id => {
                Value::Enum(EnumId(*id), *member)
            }
            (Val::List(items), Type::Array(item)) => {
                let items: Option<Vec<Value>> =
                    items.iter().map(|v| v.to_value(item, types)).collect();
                Value::Array(items?.into())
            }
            (Val::Set(items), Type::Struct(id)) if types.kind_of(*id) == StructKind::Set => {
                let items = items.iter().map(|item| match item {
                    Val::Void => None,
                    item => item.to_value(types.item_of(*id)?, types),
                });
                let items: Option<Vec<Value>> = items.collect();
                Value::Struct(*id, [Value::Array(items?.into())].into())
            }
            (Val::Hash(pairs), Type::Struct(id)) if types.kind_of(*id) == StructKind::Hash => {
                let Type::Struct(entry) = types.item_of(*id)? else {
                    return None;
                };
                let (key, value) = types.entry_of(*id)?;
                let entries = pairs.iter().map(|pair| match pair {
                    (Val::Void, _) => None,
                    (k, v) => {
                        let pair = [k.to_value(key, types)?, v.to_value(value, types)?];
                        Some(Value::Struct(*entry, pair.into()))
                    }
                });
                let entries: Option<Vec<Value>> = entries.collect();
                Value::Struct(*id, [Value::Array(entries?.into())].into())
            }
            (Val::Record(id, fields), Type::Struct(expected)) if expected.0 == *id => {
                let declared = &types.structs.get(expected.index())?.fields;
                if declared.len() != fields.len() || !in_order(*expected, fields, types) {
                    return None;
                }
                let both = fields.iter().zip(declared);
                let fields: Option<Vec<Value>> =
                    both.map(|(v, (_, ty))| v.to_value(ty, types)).collect();
                Value::Struct(StructId(*id), fields?.into())
            }
            _ => return None,
        })
    }

    /// How much work it is to copy or compare the value, in small values.
    pub fn weight(&self) -> u64 {
        match self {
            Val::Void | Val::Bool(_) | Val::Member(..) => 1,
            Val::Num(n) => 1 + (n.numer().bits() + n.denom().bits()) / 256,
            Val::Text(text) => 1 + text.len() as u64 / 32,
            Val::List(parts) | Val::Record(_, parts) => 1 + weight(parts),
            Val::Set(items) => 1 + items.iter().map(Val::weight).sum::<u64>(),
            Val::Hash(pairs) => {
                1 + pairs
                    .iter()
                    .map(|(k, v)| k.weight() + v.weight())
                    .sum::<u64>()
            }
        }
    }

    /// Whether a variable or parameter of this type can hold the value.
    pub fn fits(&self, ty: &Type, types: &Types) -> bool {
        self.to_value(ty, types).is_some()
    }
}

/// Whether what stands for a set or a hash has its keys in their order, each once and none unset.
fn in_order(id: StructId, fields: &[Val], types: &Types) -> bool {
    if !matches!(types.kind_of(id), StructKind::Set | StructKind::Hash) {
        return true;
    }
    let [Val::List(items)] = fields else {
        return false;
    };
    let keys = items.iter().map(|item| match item {
        Val::Record(_, pair) => pair.first().unwrap_or(&Val::Void),
        item => item,
    });
    let keys: Vec<&Val> = keys.collect();
    !keys.contains(&&Val::Void) && keys.windows(2).all(|pair| pair[0] < pair[1])
}

/// The weight of all these values.
pub fn weight(values: &[Val]) -> u64 {
    values.iter().map(Val::weight).sum()
}

/// The number as a 64-bit integer, if it is one.
pub fn whole(number: &BigRational) -> Option<i64> {
    number.is_integer().then(|| number.to_integer().to_i64())?
}

/// The quotient as a decimal holds it: rounded half to even, to as many places as 96 bits have room for, 28 at most.
pub fn quotient(dividend: &BigRational, divisor: &BigRational) -> Option<BigRational> {
    let exact = dividend / divisor;
    let half = BigRational::new(1.into(), 2.into());
    (0..=28u32).rev().find_map(|scale| {
        let power = BigRational::from_integer(BigInt::from(10u8).pow(scale));
        let scaled = &exact * &power;
        let below = scaled.floor();
        let up = match (&scaled - &below).cmp(&half) {
            Ordering::Less => false,
            Ordering::Greater => true,
            Ordering::Equal => below.to_integer().bit(0),
        };
        let rounded = if up { below + BigInt::from(1u8) } else { below };
        let fits = rounded.numer().abs().bits() <= 96;
        fits.then(|| rounded / power)
    })
}

/// The number as an exact decimal: at most 28 places and 96 bits.
pub fn decimal(number: &BigRational) -> Option<Decimal> {
    let mut scaled = number.clone();
    let ten = BigRational::from_integer(10.into());
    for scale in 0..=28 {
        if scaled.is_integer() {
            let mantissa = scaled.to_integer();
            if mantissa.abs().bits() > 96 {
                return None;
            }
            let mantissa = mantissa.to_i128()?;
            return Decimal::try_from_i128_with_scale(mantissa, scale).ok();
        }
        scaled *= &ten;
    }
    None
}

pub fn is_zero(number: &BigRational) -> bool {
    number.is_zero()
}

//! Values with one kind of number: an integer and a decimal of the same size are the same number.
//! What distinguishes them (division, range) is the static type of the expression.

use ioco_sts::{EnumId, StructId, Type, Types, Value};
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
            (Val::Record(id, fields), Type::Struct(expected)) if expected.0 == *id => {
                let declared = &types.structs.get(expected.index())?.fields;
                if declared.len() != fields.len() {
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
        }
    }

    /// Whether a variable or parameter of this type can hold the value.
    pub fn fits(&self, ty: &Type, types: &Types) -> bool {
        self.to_value(ty, types).is_some()
    }
}

/// The weight of all these values.
pub fn weight(values: &[Val]) -> u64 {
    values.iter().map(Val::weight).sum()
}

/// The number as a 64-bit integer, if it is one.
pub fn whole(number: &BigRational) -> Option<i64> {
    number.is_integer().then(|| number.to_integer().to_i64())?
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

//! Sets of values that an unknown, or an expression over unknowns, may have: always at least the
//! values that are really possible, never fewer.

use std::cmp::Ordering;

use rust_decimal::Decimal;

use crate::eval::equal;
use crate::ids::EnumId;
use crate::types::{Type, Types};
use crate::value::Value;

/// A set of values other than `:void`.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    None,
    Bool {
        no: bool,
        yes: bool,
    },
    Int {
        min: i64,
        max: i64,
    },
    Decimal {
        min: Decimal,
        max: Decimal,
    },
    Member {
        of: EnumId,
        min: u32,
        max: u32,
    },
    /// Strings by their number of characters.
    Str {
        min: i64,
        max: i64,
    },
    /// Arrays by their number of items.
    Array {
        min: i64,
        max: i64,
    },
    /// Exactly this string, array or struct.
    One(Value),
    /// Anything.
    Any,
}

/// The values of an unknown, `:void` among them or not.
#[derive(Clone, Debug, PartialEq)]
pub struct Domain {
    pub values: Values,
    pub void: bool,
}

/// There is no value left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Empty;

impl Values {
    pub const BOOL: Values = Values::Bool {
        no: true,
        yes: true,
    };
    pub const DECIMAL: Values = Values::Decimal {
        min: Decimal::MIN,
        max: Decimal::MAX,
    };

    pub fn truth(value: bool) -> Values {
        Values::Bool {
            no: !value,
            yes: value,
        }
    }

    pub fn int(min: i64, max: i64) -> Values {
        if min <= max {
            Values::Int { min, max }
        } else {
            Values::None
        }
    }

    pub fn decimal(min: Decimal, max: Decimal) -> Values {
        if min <= max {
            Values::Decimal { min, max }
        } else {
            Values::None
        }
    }

    pub fn of_type(ty: &Type, types: &Types) -> Values {
        match ty {
            Type::Bool => Values::BOOL,
            Type::Int(_) | Type::Date | Type::Time => {
                let range = ty.int_range().expect("a type of integers");
                Values::int(range.min, range.max)
            }
            Type::Decimal => Values::DECIMAL,
            Type::Str => Values::Str {
                min: 0,
                max: i64::MAX,
            },
            Type::Enum(id) => match types.enums.get(id.index()).map_or(0, |e| e.members.len()) {
                0 => Values::None,
                members => Values::Member {
                    of: *id,
                    min: 0,
                    max: (members - 1) as u32,
                },
            },
            Type::Array(_) => Values::Array {
                min: 0,
                max: i64::MAX,
            },
            Type::Struct(_) => Values::Any,
        }
    }

    /// The set of this one value.
    pub fn exactly(value: &Value) -> Values {
        match value {
            Value::Void => Values::None,
            Value::Bool(value) => Values::truth(*value),
            Value::Int(value) => Values::int(*value, *value),
            Value::Decimal(value) => Values::decimal(*value, *value),
            Value::Enum(of, member) => Values::Member {
                of: *of,
                min: *member,
                max: *member,
            },
            Value::Str(_) | Value::Array(_) | Value::Struct(..) => Values::One(value.clone()),
        }
    }

    /// The only value, where there is only one.
    pub fn only(&self) -> Option<Value> {
        match self {
            Values::Bool {
                no: false,
                yes: true,
            } => Some(Value::Bool(true)),
            Values::Bool {
                no: true,
                yes: false,
            } => Some(Value::Bool(false)),
            Values::Int { min, max } if min == max => Some(Value::Int(*min)),
            Values::Decimal { min, max } if min == max => Some(Value::Decimal(*min)),
            Values::Member { of, min, max } if min == max => Some(Value::Enum(*of, *min)),
            Values::Str { max: 0, .. } => Some(Value::str("")),
            Values::Array { max: 0, .. } => Some(Value::Array(std::sync::Arc::from([]))),
            Values::One(value) => Some(value.clone()),
            _ => None,
        }
    }

    /// The values in ascending order, where there are at most `most`.
    pub fn members(&self, most: usize) -> Option<Vec<Value>> {
        if self.size() > most as u128 {
            return None;
        }
        Some(match self {
            Values::None => Vec::new(),
            Values::Bool { .. } => [false, true]
                .into_iter()
                .filter(|value| self.may_be(*value))
                .map(Value::Bool)
                .collect(),
            Values::Int { min, max } => (*min..=*max).map(Value::Int).collect(),
            Values::Member { of, min, max } => (*min..=*max).map(|m| Value::Enum(*of, m)).collect(),
            _ => self.only().into_iter().collect(),
        })
    }

    pub fn is_none(&self) -> bool {
        matches!(self, Values::None)
    }

    pub fn may_be(&self, value: bool) -> bool {
        match self {
            Values::Bool { no, yes } => {
                if value {
                    *yes
                } else {
                    *no
                }
            }
            Values::Any => true,
            _ => false,
        }
    }

    /// Some order of size, for choosing what to look at first.
    pub fn size(&self) -> u128 {
        match self {
            Values::None => 0,
            Values::Bool { no, yes } => u128::from(*no) + u128::from(*yes),
            Values::Int { min, max } => (*max as i128 - *min as i128) as u128 + 1,
            Values::Member { min, max, .. } => u128::from(*max - *min) + 1,
            Values::Decimal { min, max } if min == max => 1,
            Values::One(_) => 1,
            Values::Str { max: 0, .. } | Values::Array { max: 0, .. } => 1,
            Values::Decimal { .. } | Values::Str { .. } | Values::Array { .. } | Values::Any => {
                u128::MAX
            }
        }
    }

    /// The values in both, where integers and decimals are different things.
    pub fn meet(&self, other: &Values) -> Values {
        use Values::{Any, Array, Bool, Decimal, Int, Member, None, One, Str};
        match (self, other) {
            (Any, x) | (x, Any) => x.clone(),
            (Bool { no: a, yes: b }, Bool { no: c, yes: d }) => {
                let (no, yes) = (*a && *c, *b && *d);
                if no || yes { Bool { no, yes } } else { None }
            }
            (Int { min: a, max: b }, Int { min: c, max: d }) => Values::int(*a.max(c), *b.min(d)),
            (Decimal { min: a, max: b }, Decimal { min: c, max: d }) => {
                Values::decimal(*a.max(c), *b.min(d))
            }
            (
                Member { of, min: a, max: b },
                Member {
                    of: other,
                    min: c,
                    max: d,
                },
            ) if of == other && a.max(c) <= b.min(d) => Member {
                of: *of,
                min: *a.max(c),
                max: *b.min(d),
            },
            (Str { min: a, max: b }, Str { min: c, max: d }) if a.max(c) <= b.min(d) => Str {
                min: *a.max(c),
                max: *b.min(d),
            },
            (Array { min: a, max: b }, Array { min: c, max: d }) if a.max(c) <= b.min(d) => Array {
                min: *a.max(c),
                max: *b.min(d),
            },
            (One(value), set) | (set, One(value)) if set.contains(value) => One(value.clone()),
            _ => None,
        }
    }

    /// The smallest set here that has the values of both.
    pub fn join(&self, other: &Values) -> Values {
        use Values::{Any, Array, Bool, Decimal, Int, Member, None, One, Str};
        match (self, other) {
            (None, x) | (x, None) => x.clone(),
            (Bool { no: a, yes: b }, Bool { no: c, yes: d }) => Bool {
                no: *a || *c,
                yes: *b || *d,
            },
            (Int { min: a, max: b }, Int { min: c, max: d }) => Int {
                min: *a.min(c),
                max: *b.max(d),
            },
            (Decimal { min: a, max: b }, Decimal { min: c, max: d }) => Decimal {
                min: *a.min(c),
                max: *b.max(d),
            },
            (
                Member { of, min: a, max: b },
                Member {
                    of: other,
                    min: c,
                    max: d,
                },
            ) if of == other => Member {
                of: *of,
                min: *a.min(c),
                max: *b.max(d),
            },
            (One(a), One(b)) if a == b => One(a.clone()),
            (Str { .. } | One(Value::Str(_)), Str { .. } | One(Value::Str(_))) => {
                let ((a, b), (c, d)) = (self.lengths(), other.lengths());
                Str {
                    min: a.min(c),
                    max: b.max(d),
                }
            }
            (Array { .. } | One(Value::Array(_)), Array { .. } | One(Value::Array(_))) => {
                let ((a, b), (c, d)) = (self.lengths(), other.lengths());
                Array {
                    min: a.min(c),
                    max: b.max(d),
                }
            }
            _ => Any,
        }
    }

    /// The numbers of characters or items that are possible.
    pub fn lengths(&self) -> (i64, i64) {
        match self {
            Values::Str { min, max } | Values::Array { min, max } => (*min, *max),
            Values::One(Value::Str(text)) => {
                let length = text.chars().count() as i64;
                (length, length)
            }
            Values::One(Value::Array(items)) => (items.len() as i64, items.len() as i64),
            _ => (0, i64::MAX),
        }
    }

    /// Whether a value that is not `:void` is in the set; an integer is not a decimal.
    pub fn contains(&self, value: &Value) -> bool {
        match (self, value) {
            (_, Value::Void) | (Values::None, _) => false,
            (Values::Any, _) => true,
            (Values::Bool { .. }, Value::Bool(value)) => self.may_be(*value),
            (Values::Int { min, max }, Value::Int(value)) => min <= value && value <= max,
            (Values::Decimal { min, max }, Value::Decimal(value)) => min <= value && value <= max,
            (Values::Member { of, min, max }, Value::Enum(id, member)) => {
                of == id && min <= member && member <= max
            }
            (Values::Str { min, max }, Value::Str(text)) => {
                let length = text.chars().count() as i64;
                *min <= length && length <= *max
            }
            (Values::Array { min, max }, Value::Array(items)) => {
                let length = items.len() as i64;
                *min <= length && length <= *max
            }
            (Values::One(only), value) => equal(only, value),
            _ => false,
        }
    }

    /// The bounds as decimals, for every set of numbers.
    pub fn decimal_bounds(&self) -> Option<(Decimal, Decimal)> {
        match self {
            Values::Int { min, max } => Some((Decimal::from(*min), Decimal::from(*max))),
            Values::Decimal { min, max } => Some((*min, *max)),
            _ => None,
        }
    }

    /// The values here that can equal one of `other`: as [`Values::meet`], but an integer may equal
    /// a decimal.
    pub fn equal_to(&self, other: &Values) -> Values {
        match (self, other) {
            (Values::Int { .. }, Values::Decimal { min, max }) => {
                self.meet(&integers_between(*min, *max))
            }
            (Values::Decimal { .. }, Values::Int { min, max }) => {
                self.meet(&Values::decimal(Decimal::from(*min), Decimal::from(*max)))
            }
            _ => self.meet(other),
        }
    }

    /// The smallest and largest that compare in order with each other, or `None` where values of
    /// the two sets cannot be compared.
    pub fn comparison(&self, other: &Values) -> Option<Comparison> {
        let by = |min_max: Ordering, max_min: Ordering| {
            Some(Comparison {
                least: min_max,
                greatest: max_min,
            })
        };
        match (self, other) {
            (Values::Int { min: a, max: b }, Values::Int { min: c, max: d }) => {
                by(a.cmp(d), b.cmp(c))
            }
            (
                Values::Int { .. } | Values::Decimal { .. },
                Values::Int { .. } | Values::Decimal { .. },
            ) => {
                let ((a, b), (c, d)) = (self.decimal_bounds()?, other.decimal_bounds()?);
                by(a.cmp(&d), b.cmp(&c))
            }
            (
                Values::Member { of, min: a, max: b },
                Values::Member {
                    of: other,
                    min: c,
                    max: d,
                },
            ) if of == other => by(a.cmp(d), b.cmp(c)),
            (Values::One(Value::Str(a)), Values::One(Value::Str(b))) => by(a.cmp(b), a.cmp(b)),
            (
                Values::Str { .. } | Values::One(Value::Str(_)) | Values::Any,
                Values::Str { .. } | Values::One(Value::Str(_)) | Values::Any,
            )
            | (Values::Any, _)
            | (_, Values::Any) => by(Ordering::Less, Ordering::Greater),
            _ => None,
        }
    }
}

impl Values {
    /// The values here that are less than one of `other`, or, with `up`, more than one; none where values of the two
    /// sets cannot be compared. Decimals that are equal to a bound stay, also where the order is strict.
    pub fn ordered(&self, other: &Values, up: bool, strict: bool) -> Values {
        match (self, other) {
            (Values::Int { .. }, Values::Int { min, max }) => {
                let step = i64::from(strict);
                let bounds = match up {
                    true => min.checked_add(step).map(|min| (min, i64::MAX)),
                    false => max.checked_sub(step).map(|max| (i64::MIN, max)),
                };
                bounds.map_or(Values::None, |(min, max)| self.meet(&Values::int(min, max)))
            }
            (Values::Member { of, .. }, Values::Member { of: id, min, max }) if of == id => {
                let step = u32::from(strict);
                let bounds = match up {
                    true => min.checked_add(step).map(|min| (min, u32::MAX)),
                    false => max.checked_sub(step).map(|max| (0, max)),
                };
                bounds.map_or(Values::None, |(min, max)| {
                    self.meet(&Values::Member { of: *of, min, max })
                })
            }
            (
                Values::Int { .. } | Values::Decimal { .. },
                Values::Int { .. } | Values::Decimal { .. },
            ) => {
                let (Some((a, b)), Some((c, d))) = (self.decimal_bounds(), other.decimal_bounds())
                else {
                    return Values::None;
                };
                let (min, max, touches) = match up {
                    true => (c, Decimal::MAX, b == c),
                    false => (Decimal::MIN, d, a == d),
                };
                match (strict && touches, self) {
                    (true, _) => Values::None,
                    (false, Values::Int { .. }) => self.meet(&integers_between(min, max)),
                    (false, _) => self.meet(&Values::decimal(min, max)),
                }
            }
            // Strings are compared by their text, of which the length says nothing.
            (Values::Any, _)
            | (_, Values::Any)
            | (
                Values::Str { .. } | Values::One(Value::Str(_)),
                Values::Str { .. } | Values::One(Value::Str(_)),
            ) => self.clone(),
            _ => Values::None,
        }
    }
}

/// How the values of two sets can stand to each other.
#[derive(Clone, Copy, Debug)]
pub struct Comparison {
    /// The smallest of the left against the largest of the right.
    pub least: Ordering,
    /// The largest of the left against the smallest of the right.
    pub greatest: Ordering,
}

/// The integers in a range of decimals.
pub fn integers_between(min: Decimal, max: Decimal) -> Values {
    let (low, high) = (min.ceil(), max.floor());
    let (least, greatest) = (Decimal::from(i64::MIN), Decimal::from(i64::MAX));
    if low > high || high < least || low > greatest {
        return Values::None;
    }
    let clamp = |value: Decimal| {
        use rust_decimal::prelude::ToPrimitive as _;
        value.max(least).min(greatest).to_i64().unwrap_or_default()
    };
    Values::int(clamp(low), clamp(high))
}

impl Domain {
    pub fn set(values: Values) -> Domain {
        Domain {
            values,
            void: false,
        }
    }

    /// All values of a type, and `:void`.
    pub fn of_type(ty: &Type, types: &Types) -> Domain {
        Domain {
            values: Values::of_type(ty, types),
            void: true,
        }
    }

    pub fn exactly(value: &Value) -> Domain {
        Domain {
            values: Values::exactly(value),
            void: value.is_void(),
        }
    }

    pub fn contains(&self, value: &Value) -> bool {
        match value.is_void() {
            true => self.void,
            false => self.values.contains(value),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.values.is_none() && !self.void
    }

    /// The only value, `:void` included, where there is only one.
    pub fn only(&self) -> Option<Value> {
        match (&self.values, self.void) {
            (Values::None, true) => Some(Value::Void),
            (values, false) => values.only(),
            _ => None,
        }
    }

    pub fn meet(&self, other: &Domain) -> Domain {
        Domain {
            values: self.values.meet(&other.values),
            void: self.void && other.void,
        }
    }

    pub fn join(&self, other: &Domain) -> Domain {
        Domain {
            values: self.values.join(&other.values),
            void: self.void || other.void,
        }
    }

    /// Replaces the domain by its meet with `other`; whether that changed anything.
    pub fn narrow(&mut self, other: &Domain) -> Result<bool, Empty> {
        let met = self.meet(other);
        if met.is_empty() {
            return Err(Empty);
        }
        let changed = met != *self;
        if changed {
            *self = met;
        }
        Ok(changed)
    }

    pub fn size(&self) -> u128 {
        self.values.size().saturating_add(u128::from(self.void))
    }
}

#[cfg(test)]
mod tests;

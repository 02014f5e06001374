//! The linear form that elimination and learning share: `(sum of terms + constant) / 10^scale`.
//!
//! Every operation is exact; one whose numbers do not fit has no result, and then nothing is concluded.

use ioco_sts::Value;

/// A factor for each key, sorted by key, without zeros.
pub(crate) type Terms<K> = Vec<(K, i128)>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Form<K> {
    pub terms: Terms<K>,
    pub constant: i128,
    pub scale: u32,
}

impl<K: Copy + Ord> Form<K> {
    /// One unknown, with `scale` digits after the point.
    pub fn of(key: K, scale: u32) -> Form<K> {
        Form {
            terms: vec![(key, 1)],
            constant: 0,
            scale,
        }
    }

    /// A number; `None` for other values.
    pub fn number(value: &Value) -> Option<Form<K>> {
        let (constant, scale) = match value {
            Value::Int(value) => (i128::from(*value), 0),
            Value::Decimal(value) => {
                let value = value.normalize();
                (value.mantissa(), value.scale())
            }
            _ => return None,
        };
        Some(Form {
            terms: Vec::new(),
            constant,
            scale,
        })
    }

    /// The form times `factor / 10^digits`.
    pub fn times(&self, factor: i128, digits: u32) -> Option<Form<K>> {
        Some(Form {
            terms: multiplied(&self.terms, factor)?,
            constant: self.constant.checked_mul(factor)?,
            scale: self.scale + digits,
        })
    }

    pub fn plus(&self, other: &Form<K>) -> Option<Form<K>> {
        let scale = self.scale.max(other.scale);
        let left = self.times(10_i128.checked_pow(scale - self.scale)?, 0)?;
        let right = other.times(10_i128.checked_pow(scale - other.scale)?, 0)?;
        Some(Form {
            terms: sum(left.terms, &right.terms)?,
            constant: left.constant.checked_add(right.constant)?,
            scale,
        })
    }

    pub fn minus(&self, other: &Form<K>) -> Option<Form<K>> {
        self.plus(&other.times(-1, 0)?)
    }
}

pub(crate) fn multiplied<K: Copy>(terms: &[(K, i128)], factor: i128) -> Option<Terms<K>> {
    terms
        .iter()
        .filter(|_| factor != 0)
        .map(|&(key, c)| Some((key, c.checked_mul(factor)?)))
        .collect()
}

pub(crate) fn sum<K: Copy + Ord>(mut left: Terms<K>, right: &[(K, i128)]) -> Option<Terms<K>> {
    for &(key, c) in right {
        match left.binary_search_by_key(&key, |term| term.0) {
            Ok(index) => left[index].1 = left[index].1.checked_add(c)?,
            Err(index) => left.insert(index, (key, c)),
        }
    }
    left.retain(|term| term.1 != 0);
    Some(left)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Form<u8> {
        Form::number(&Value::Decimal(text.parse().expect("a decimal"))).expect("a number")
    }

    #[test]
    fn forms_add_up_exactly_and_lose_what_cancels() {
        let x = Form::of('x', 1);
        let both = x.plus(&Form::of('y', 0)).expect("small");
        assert_eq!(both.terms, [('x', 1), ('y', 10)]);
        assert_eq!(both.scale, 1);
        assert_eq!(both.minus(&x).expect("small").terms, [('y', 10)]);
        let none = both.times(0, 0).expect("small");
        assert_eq!((none.terms, none.constant), (Vec::new(), 0));
        let sum = decimal("1.50").plus(&decimal("-0.25")).expect("small");
        assert_eq!((sum.constant, sum.scale), (125, 2));
        assert_eq!(
            decimal("2.50").times(3, 1).map(|f| (f.constant, f.scale)),
            Some((75, 2))
        );
        assert_eq!(Form::<u8>::number(&Value::Bool(true)), None);
    }

    #[test]
    fn numbers_that_do_not_fit_give_no_form() {
        let large = Form::of('x', 0).times(i128::MAX, 0).expect("fits");
        assert_eq!(large.times(2, 0), None);
        assert_eq!(large.plus(&Form::of('x', 0)), None);
        assert_eq!(large.plus(&Form::of('x', 1)), None);
        assert_eq!(large.plus(&Form::of('x', 40)), None);
    }
}

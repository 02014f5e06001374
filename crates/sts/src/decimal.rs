//! Exact arithmetic on decimals.
//!
//! A decimal has 96 bits for its digits and at most 28 places after the point; the operations of
//! `rust_decimal` round what does not fit. A rounded sum would make a guard true or false by mistake, so
//! sums, products and remainders that cannot be represented exactly are `None` here. Quotients cannot
//! be exact in general: they are rounded to what fits.
//!
//! [`read`] is the one reader of decimals written by others: it judges the number and not the way it
//! is written.

use rust_decimal::Decimal;

/// The number that `text` stands for, written as in JSON: `-12.50`, `1.25e3`. `None` for what is no
/// number, and for what has more digits than a decimal holds: nothing is rounded. Zeros at
/// the end and exponents are part of the writing only, however many or large they are.
pub fn read(text: &str) -> Option<Decimal> {
    let (base, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let unsigned = base.strip_prefix('-').unwrap_or(base);
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let exponent_digits = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
    let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_number = all_digits(whole) && all_digits(fraction) && all_digits(exponent_digits);
    if !is_number || whole.is_empty() || exponent_digits.is_empty() {
        return None;
    }
    let digits = format!("{whole}{fraction}");
    let significant = digits.trim_end_matches('0');
    let zeros = digits.len() - significant.len();
    let significant = significant.trim_start_matches('0');
    if significant.is_empty() {
        return Some(Decimal::ZERO);
    }
    // An exponent that overflows here is larger than any text could make up for with zeros.
    let exponent: i64 = exponent.parse().ok()?;
    let shift = i64::try_from(zeros).ok()? - i64::try_from(fraction.len()).ok()?;
    let exponent = exponent.checked_add(shift)?;
    let magnitude: i128 = significant.parse().ok()?;
    let places = u32::try_from(exponent.unsigned_abs()).ok()?;
    let (magnitude, scale) = if exponent < 0 {
        (magnitude, places)
    } else {
        (magnitude.checked_mul(10i128.checked_pow(places)?)?, 0)
    };
    let signed = if base.starts_with('-') {
        -magnitude
    } else {
        magnitude
    };
    Decimal::try_from_i128_with_scale(signed, scale).ok()
}

pub fn add(left: Decimal, right: Decimal) -> Option<Decimal> {
    let (left, right) = (left.normalize(), right.normalize());
    let scale = left.scale().max(right.scale());
    // Where this overflows the sum does not fit either: the last place of the other number is not
    // zero, and so is that of the sum.
    let sum = raised(left, scale)?.checked_add(raised(right, scale)?)?;
    exact(sum, scale)
}

pub fn subtract(left: Decimal, right: Decimal) -> Option<Decimal> {
    add(left, -right)
}

pub fn multiply(left: Decimal, right: Decimal) -> Option<Decimal> {
    let (left, right) = (left.normalize(), right.normalize());
    let mut scale = left.scale() + right.scale();
    let (mut a, mut b) = (left.mantissa(), right.mantissa());
    if a == 0 || b == 0 {
        return Some(Decimal::ZERO);
    }
    // Every two and five make a zero at the end, which needs no place after the point.
    while scale > 0 && (a % 2 == 0 || b % 2 == 0) && (a % 5 == 0 || b % 5 == 0) {
        for factor in [2, 5] {
            if a % factor == 0 {
                a /= factor;
            } else {
                b /= factor;
            }
        }
        scale -= 1;
    }
    exact(a.checked_mul(b)?, scale)
}

/// Rounded to what fits; `None` where the whole part does not.
pub fn divide(left: Decimal, right: Decimal) -> Option<Decimal> {
    left.checked_div(right).map(|quotient| quotient.normalize())
}

/// The remainder of a division that rounds towards zero; it has the sign of `left`.
pub fn remainder(left: Decimal, right: Decimal) -> Option<Decimal> {
    let (left, right) = (left.normalize(), right.normalize());
    if right.is_zero() {
        return None;
    }
    let scale = left.scale().max(right.scale());
    // A divisor that overflows at the common scale is larger than the dividend.
    let Some(divisor) = raised(right, scale) else {
        return Some(left);
    };
    let mut rest = left.mantissa() % divisor;
    for _ in left.scale()..scale {
        rest = rest.checked_mul(10)? % divisor;
    }
    exact(rest, scale)
}

/// The digits of a number with so many places after the point.
fn raised(number: Decimal, scale: u32) -> Option<i128> {
    let more = scale - number.scale();
    10i128.checked_pow(more)?.checked_mul(number.mantissa())
}

fn exact(mut digits: i128, mut scale: u32) -> Option<Decimal> {
    while scale > 0 && digits % 10 == 0 {
        digits /= 10;
        scale -= 1;
    }
    Decimal::try_from_i128_with_scale(digits, scale).ok()
}

#[cfg(test)]
mod tests {
    use std::str::FromStr as _;

    use proptest::prelude::*;

    use super::*;

    fn decimal(text: &str) -> Decimal {
        Decimal::from_str(text).unwrap()
    }

    #[test]
    fn a_quotient_has_as_many_places_as_there_is_room_for() {
        for (left, right, expected) in [
            ("1", "3", "0.3333333333333333333333333333"),
            ("10", "3", "3.3333333333333333333333333333"),
            ("20", "3", "6.6666666666666666666666666667"),
            ("100", "3", "33.333333333333333333333333333"),
            // Half to even.
            ("0.0000000000000000000000000001", "2", "0"),
            (
                "0.0000000000000000000000000003",
                "2",
                "0.0000000000000000000000000002",
            ),
        ] {
            let quotient = divide(decimal(left), decimal(right));
            assert_eq!(quotient, Some(decimal(expected)), "{left} / {right}");
        }
    }

    #[test]
    fn a_number_is_read_however_it_is_written() {
        let zeros = |many: usize| "0".repeat(many);
        for (text, expected) in [
            (format!("100.{}", zeros(27)), "100"),
            (format!("1.{}", zeros(29)), "1"),
            (format!("0.{}", zeros(29)), "0"),
            (format!("-0.{}", zeros(29)), "0"),
            (format!("7.5{}", zeros(29)), "7.5"),
            (format!("-{}7.5", zeros(40)), "-7.5"),
            (format!("1{}e-40", zeros(40)), "1"),
            (format!("0.{}1e+41", zeros(40)), "1"),
            ("0e-999999999999".to_owned(), "0"),
            ("0e99999999999999999999999".to_owned(), "0"),
            ("1.25E3".to_owned(), "1250"),
            ("1e-28".to_owned(), "0.0000000000000000000000000001"),
            (
                "79228162514264337593543950335".to_owned(),
                "79228162514264337593543950335",
            ),
        ] {
            let read = read(&text).map(|number| number.to_string());
            assert_eq!(read.as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_does_not_fit_and_what_is_no_number_is_not_read() {
        for text in [
            "79228162514264337593543950336",
            "0.12345678901234567890123456789",
            "1e-29",
            "1e29",
            "1e999999999999",
            "1e-99999999999999999999999",
            "1e9223372036854775807",
            "10e9223372036854775807",
            "1.5e-9223372036854775808",
            "",
            "-",
            "--1",
            "+1",
            ".5",
            "1_0",
            "1e",
            "1e+-1",
            "1e1.5",
            "1.2.3",
            "0x10",
            "\"1\"",
            "true",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    fn check(
        operation: fn(Decimal, Decimal) -> Option<Decimal>,
        left: &str,
        right: &str,
        expected: Option<&str>,
    ) {
        let result = operation(decimal(left), decimal(right));
        let shown = result.map(|r| r.to_string());
        assert_eq!(shown.as_deref(), expected, "{left} and {right}");
    }

    #[test]
    fn results_are_exact_or_none() {
        check(add, "0.1", "0.2", Some("0.3"));
        check(add, "1.50", "1.5", Some("3"));
        check(add, "1.5", "-1.50", Some("0"));
        check(add, "79228162514264337593543950335", "1", None);
        check(
            add,
            "79228162514264337593543950334",
            "1",
            Some("79228162514264337593543950335"),
        );
        check(add, "7922816251426433759354395033.5", "0.1", None);
        check(
            add,
            "7922816251426433759354395033.5",
            "0.5",
            Some("7922816251426433759354395034"),
        );
        check(add, "1000000000000000000000000000", "0.001", None);
        check(subtract, "79228162514264337593543950335", "0.1", None);
        check(multiply, "0.00000000000001", "0.000000000000001", None);
        check(
            multiply,
            "0.00000000000002",
            "0.000000000000005",
            Some("0.0000000000000000000000000001"),
        );
        check(multiply, "1.0000000000001", "1.0000000000000001", None);
        check(
            multiply,
            "1152921504606846976",
            "0.0000000037252902984619140625",
            Some("4294967296"),
        );
        check(multiply, "-2.5", "4", Some("-10"));
        check(multiply, "0", "-4", Some("0"));
        check(divide, "1", "3", Some("0.3333333333333333333333333333"));
        check(divide, "3.00", "2", Some("1.5"));
        check(remainder, "7.5", "2", Some("1.5"));
        check(remainder, "-7.5", "2", Some("-1.5"));
        check(
            remainder,
            "1",
            "0.0000000000000000000000000003",
            Some("0.0000000000000000000000000001"),
        );
        check(
            remainder,
            "0.0000000000000000000000000003",
            "79228162514264337593543950335",
            Some("0.0000000000000000000000000003"),
        );
        check(
            remainder,
            "79228162514264337593543950335",
            "0.0000000000000000000000000007",
            Some("0"),
        );
    }

    proptest! {
        /// Small numbers: digits of the result computed as integers.
        #[test]
        fn small_numbers_agree_with_integers(a in -99_999i64..99_999, b in -99_999i64..99_999, s in 0u32..6, t in 0u32..6) {
            let (x, y) = (Decimal::new(a, s), Decimal::new(b, t));
            prop_assert_eq!(add(x, y), Some(x + y));
            prop_assert_eq!(subtract(x, y), Some(x - y));
            prop_assert_eq!(multiply(x, y), Some(x * y));
            if b != 0 {
                prop_assert_eq!(remainder(x, y), Some(x % y));
            }
        }

        /// Large numbers: what comes out can be taken back.
        #[test]
        fn sums_can_be_taken_back(a in any::<i64>(), b in any::<i64>(), s in 0u32..28, t in 0u32..28) {
            let (x, y) = (Decimal::from_i128_with_scale(i128::from(a), s), Decimal::from_i128_with_scale(i128::from(b), t));
            if let Some(sum) = add(x, y) {
                prop_assert_eq!(subtract(sum, y), Some(x));
            }
        }
    }
}

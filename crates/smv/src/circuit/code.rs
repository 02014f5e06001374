//! How many bits a variable takes and which value a row of bits stands for.

use crate::value::{Domain, Value};

/// How the bits of a variable stand for its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Code {
    Bool,
    /// The bits are the number itself; signed when the range has negative numbers.
    Direct {
        signed: bool,
    },
    /// The bits are the position in the domain.
    Position,
}

pub(super) fn code(domain: &Domain) -> (Code, usize) {
    match domain {
        Domain::Bool => (Code::Bool, 1),
        Domain::Range(low, high) => {
            let signed = *low < 0;
            let magnitude = (*high).max(if signed { !*low } else { *high });
            let wide = (64 - magnitude.leading_zeros()) as usize + usize::from(signed);
            if wide <= domain.bits() as usize + 1 {
                (Code::Direct { signed }, wide)
            } else {
                (Code::Position, domain.bits() as usize)
            }
        }
        Domain::Enum(_) => (Code::Position, domain.bits() as usize),
    }
}

/// How many bits a variable takes in the circuit.
pub(crate) fn width(domain: &Domain) -> usize {
    code(domain).1
}

/// The value that a row of bits stands for. Bits outside of the domain give its last value.
pub(crate) fn decode(domain: &Domain, bits: &[bool]) -> Value {
    let (code, wide) = code(domain);
    let mut number = 0_i64;
    for (index, bit) in bits.iter().enumerate().take(wide) {
        if *bit {
            let negative = index + 1 == wide && code == Code::Direct { signed: true };
            number += if negative { -(1 << index) } else { 1 << index };
        }
    }
    match code {
        Code::Bool => Value::Bool(number == 1),
        Code::Direct { .. } => Value::Int(number),
        Code::Position => domain.value(number.unsigned_abs().min(domain.len() - 1)),
    }
}

/// The bits that stand for a value of the domain.
pub(crate) fn encode_value(domain: &Domain, value: Value) -> Vec<bool> {
    let (code, wide) = code(domain);
    let number = match (code, value) {
        (Code::Direct { .. }, Value::Int(number)) => number,
        (_, value) => domain
            .position(value)
            .and_then(|position| i64::try_from(position).ok())
            .unwrap_or(0),
    };
    (0..wide).map(|index| number >> index & 1 == 1).collect()
}

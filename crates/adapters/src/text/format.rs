//! How a value looks inside a message: as text, in hexadecimal digits, in base64, as JSON, as bytes, or as an
//! integer of some width and byte order.

use std::sync::Arc;

use data_encoding::{BASE64, HEXLOWER, HEXLOWER_PERMISSIVE};
use ioco_sts::{Type, Types, Value};

use crate::template::{plain, read_text};
use crate::values::{Mismatch, read_value, shorten, write_value};

/// An integer in binary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Integer {
    /// So many bytes, at most eight; the most significant first, unless `little`.
    Fixed {
        bytes: usize,
        signed: bool,
        little: bool,
    },
    /// Seven bits a byte, the least significant first, the highest bit says that more follow: as MQTT does.
    Varint,
}

/// The most bytes of a [`Integer::Varint`].
const VARINT_BYTES: usize = 9;

impl Integer {
    /// `u8`, `i24`, `u16le`, `varint`.
    pub fn named(name: &str) -> Option<Integer> {
        if name == "varint" {
            return Some(Integer::Varint);
        }
        let (name, little) = match name.strip_suffix("le") {
            Some(name) => (name, true),
            None => (name.strip_suffix("be").unwrap_or(name), false),
        };
        let signed = match name.get(..1)? {
            "u" => false,
            "i" => true,
            _ => return None,
        };
        let bits: usize = name[1..].parse().ok()?;
        let is_width = bits > 0 && bits <= 64 && bits.is_multiple_of(8);
        is_width.then_some(Integer::Fixed {
            bytes: bits / 8,
            signed,
            little,
        })
    }

    pub fn write(self, number: i128, out: &mut Vec<u8>) -> Result<(), String> {
        let too_large = || format!("{number} does not fit");
        match self {
            Integer::Varint => {
                let mut rest = u64::try_from(number).map_err(|_| too_large())?;
                if rest >> (7 * VARINT_BYTES) != 0 {
                    return Err(too_large());
                }
                loop {
                    let low = (rest & 0x7f) as u8;
                    rest >>= 7;
                    if rest == 0 {
                        out.push(low);
                        return Ok(());
                    }
                    out.push(low | 0x80);
                }
            }
            Integer::Fixed {
                bytes,
                signed,
                little,
            } => {
                let bits = 8 * bytes as u32;
                let (least, most) = if signed {
                    (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)
                } else {
                    (0, (1i128 << bits) - 1)
                };
                if number < least || number > most {
                    return Err(too_large());
                }
                let all = number.to_be_bytes();
                let mut used = all[all.len() - bytes..].to_vec();
                if little {
                    used.reverse();
                }
                out.extend(used);
                Ok(())
            }
        }
    }

    /// The number at the beginning, and how many bytes it takes. `None`: there are too few.
    pub fn read(self, bytes: &[u8]) -> Option<Result<(i128, usize), Mismatch>> {
        match self {
            Integer::Varint => {
                let mut number = 0i128;
                for (index, byte) in bytes.iter().take(VARINT_BYTES).enumerate() {
                    number |= i128::from(byte & 0x7f) << (7 * index);
                    if byte & 0x80 == 0 {
                        return Some(Ok((number, index + 1)));
                    }
                }
                let is_long = bytes.len() >= VARINT_BYTES;
                is_long.then(|| Err(Mismatch(format!("a varint of over {VARINT_BYTES} bytes"))))
            }
            Integer::Fixed {
                bytes: width,
                signed,
                little,
            } => {
                let mut used = bytes.get(..width)?.to_vec();
                if little {
                    used.reverse();
                }
                let number = used
                    .iter()
                    .fold(0i128, |number, byte| number << 8 | i128::from(*byte));
                let bits = 8 * width as u32;
                let is_negative = signed && number >> (bits - 1) & 1 == 1;
                let number = if is_negative {
                    number - (1i128 << bits)
                } else {
                    number
                };
                Some(Ok((number, width)))
            }
        }
    }
}

/// How a value looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// As a person writes it: strings and names without quotes.
    Text,
    /// The text in hexadecimal digits.
    Hex,
    /// The text in base64.
    Base64,
    Json,
    /// The bytes themselves; the model has them as hexadecimal digits.
    Bytes,
    Integer(Integer),
}

pub const FORMATS: &str =
    "text, hex, base64, json, bytes, varint, or an integer such as u8, i16 or u32le";

impl Format {
    pub fn named(name: &str) -> Option<Format> {
        Some(match name {
            "text" => Format::Text,
            "hex" => Format::Hex,
            "base64" => Format::Base64,
            "json" => Format::Json,
            "bytes" => Format::Bytes,
            other => Format::Integer(Integer::named(other)?),
        })
    }

    pub fn write(self, value: &Value, types: &Types) -> Result<Vec<u8>, String> {
        let text = || plain(value, types);
        Ok(match self {
            Format::Text => text().into_bytes(),
            Format::Hex => HEXLOWER.encode(text().as_bytes()).into_bytes(),
            Format::Base64 => BASE64.encode(text().as_bytes()).into_bytes(),
            Format::Json => {
                let mut out = Vec::new();
                write_value(value, types, &mut out);
                out
            }
            Format::Bytes => {
                let digits = text();
                let decoded = HEXLOWER_PERMISSIVE.decode(digits.as_bytes());
                let why = || format!("\"{}\" is not hexadecimal digits", shorten(&digits, 60));
                decoded.map_err(|_| why())?
            }
            Format::Integer(integer) => {
                let number = match value {
                    Value::Int(number) => i128::from(*number),
                    Value::Bool(flag) => i128::from(*flag),
                    other => return Err(format!("{} is not an integer", plain(other, types))),
                };
                let mut out = Vec::new();
                integer.write(number, &mut out)?;
                out
            }
        })
    }

    pub fn read(self, bytes: &[u8], ty: &Type, types: &Types) -> Result<Value, Mismatch> {
        let decoded = |decoded: Result<Vec<u8>, data_encoding::DecodeError>, what: &str| {
            let decoded =
                decoded.map_err(|_| Mismatch(format!("{} is not {what}", show(bytes))))?;
            read_text(utf8(&decoded)?, ty, types)
        };
        match self {
            Format::Text => read_text(utf8(bytes)?, ty, types),
            Format::Hex => decoded(HEXLOWER_PERMISSIVE.decode(bytes), "hexadecimal digits"),
            Format::Base64 => decoded(BASE64.decode(bytes), "base64"),
            Format::Json => {
                let text = utf8(bytes)?;
                if serde_json::from_str::<serde::de::IgnoredAny>(text).is_err() {
                    return Err(Mismatch(format!("{} is not JSON", show(bytes))));
                }
                read_value(text, ty, types)
            }
            Format::Bytes => match ty {
                Type::Str => Ok(Value::Str(Arc::from(HEXLOWER.encode(bytes)))),
                other => Err(Mismatch(format!(
                    "{} is not {}",
                    show(bytes),
                    types.type_name(other)
                ))),
            },
            Format::Integer(integer) => match integer.read(bytes) {
                Some(Ok((number, used))) if used == bytes.len() => match ty {
                    Type::Bool if number == 0 || number == 1 => Ok(Value::Bool(number == 1)),
                    _ => read_text(&number.to_string(), ty, types),
                },
                Some(Err(why)) => Err(why),
                _ => Err(Mismatch(format!("{} is not an integer", show(bytes)))),
            },
        }
    }

    /// Whether values of this type can be written so.
    pub fn suits(self, ty: &Type) -> bool {
        match self {
            Format::Integer(_) => matches!(ty, Type::Int(_) | Type::Bool | Type::Date | Type::Time),
            Format::Bytes => matches!(ty, Type::Str),
            _ => true,
        }
    }
}

fn utf8(bytes: &[u8]) -> Result<&str, Mismatch> {
    std::str::from_utf8(bytes).map_err(|_| Mismatch(format!("{} is not text", show(bytes))))
}

/// Bytes for a person: as text where they are, else in hexadecimal digits.
pub fn show(bytes: &[u8]) -> String {
    let is_text = |c: char| !c.is_control() || matches!(c, '\r' | '\n' | '\t');
    match std::str::from_utf8(bytes) {
        Ok(text) if text.chars().all(is_text) => format!("\"{}\"", shorten(text, 100)),
        _ => {
            let shown = &bytes[..bytes.len().min(100)];
            let more = if shown.len() < bytes.len() { "…" } else { "" };
            format!("0x{}{more}", HEXLOWER.encode(shown))
        }
    }
}

//! How one label looks as a message: text and bytes with parameters in them.
//!
//! ```text
//! LOCK {passcode}                    a parameter as text
//! AUTH {secret:base64}               in another format
//! {0x10}{id:u16}{name:u16+text}      bytes; an integer; text after its length in two bytes
//! ${#key}\r\n{key}                   the length of a parameter in decimal digits
//! {{ and }}                          braces
//! ```

use std::collections::BTreeMap;

use data_encoding::HEXLOWER_PERMISSIVE;
use ioco_sts::{Label, Types, Value};

use super::format::{FORMATS, Format, Integer};
use crate::values::Mismatch;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Bytes(Vec<u8>),
    Field {
        position: usize,
        /// The length of what follows stands before it.
        prefix: Option<Integer>,
        format: Format,
    },
    /// The length of a parameter that stands later: in decimal digits, or in binary.
    Length(usize, Option<Integer>),
}

/// Why a message has no parameters in the places of a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoMatch {
    /// It has another shape.
    Other,
    /// It ends where the template goes on.
    Unfinished,
}

/// How one label looks as a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Template {
    pieces: Vec<Piece>,
}

/// What stands in a message in place of a parameter: the parameter's position, how to read it, its bytes.
type Place<'m> = (usize, Format, &'m [u8]);

impl Template {
    /// Reads a template for a label; every parameter may stand in it once. A newline in it is `newline`
    /// on the wire.
    pub fn parse(text: &str, label: &Label, newline: &[u8]) -> Result<Template, String> {
        let name = label.marked_name();
        let mut pieces: Vec<Piece> = Vec::new();
        let mut fixed: Vec<u8> = Vec::new();
        let mut rest = text;
        while let Some(next) = rest.chars().next() {
            if let Some(after) = rest.strip_prefix("{{").or_else(|| rest.strip_prefix("}}")) {
                fixed.push(next as u8);
                rest = after;
            } else if next == '{' {
                let (inside, after) = rest[1..]
                    .split_once('}')
                    .ok_or_else(|| format!("{name}: \"{text}\" has a brace that is not closed"))?;
                rest = after;
                if let Some(digits) = inside.strip_prefix("0x") {
                    let digits: String = digits.split_whitespace().collect();
                    let bytes = HEXLOWER_PERMISSIVE.decode(digits.as_bytes());
                    let bytes = bytes.map_err(|_| {
                        format!("{name}: {{{inside}}} is not bytes, as {{0x0a1f}} is")
                    })?;
                    fixed.extend(bytes);
                    continue;
                }
                if !fixed.is_empty() {
                    pieces.push(Piece::Bytes(std::mem::take(&mut fixed)));
                }
                pieces.push(piece(inside, label)?);
            } else if next == '\n' && fixed.last() != Some(&b'\r') {
                fixed.extend(newline);
                rest = &rest[1..];
            } else {
                let end = next.len_utf8();
                fixed.extend(&rest.as_bytes()[..end]);
                rest = &rest[end..];
            }
        }
        if !fixed.is_empty() {
            pieces.push(Piece::Bytes(fixed));
        }
        let template = Template { pieces };
        template.check(text, label)?;
        Ok(template)
    }

    fn check(&self, text: &str, label: &Label) -> Result<(), String> {
        let name = label.marked_name();
        let parameter = |position: usize| label.parameters[position].name.as_str();
        let mut seen: Vec<usize> = Vec::new();
        let mut lengths: Vec<usize> = Vec::new();
        for (index, piece) in self.pieces.iter().enumerate() {
            match piece {
                Piece::Bytes(_) => {}
                Piece::Length(position, _) => {
                    let has_field = self.pieces[index..].iter().any(
                        |later| matches!(later, Piece::Field { position: p, .. } if p == position),
                    );
                    let length = parameter(*position);
                    if !has_field {
                        return Err(format!(
                            "{name}: {{#{length}}} must come before {{{length}}}"
                        ));
                    }
                    if lengths.contains(position) {
                        return Err(format!("{name}: {{#{length}}} appears twice"));
                    }
                    lengths.push(*position);
                }
                Piece::Field {
                    position, format, ..
                } => {
                    let ty = &label.parameters[*position].ty;
                    if seen.contains(position) {
                        let twice = parameter(*position);
                        return Err(format!("{name}: {{{twice}}} appears twice"));
                    }
                    if !format.suits(ty) {
                        return Err(format!(
                            "{name}: the type of {} cannot be written in this format",
                            parameter(*position)
                        ));
                    }
                    seen.push(*position);
                    let is_open = self.is_open(piece) && !lengths.contains(position);
                    let next = self.pieces.get(index + 1);
                    if is_open && next.is_some_and(|next| !matches!(next, Piece::Bytes(_))) {
                        return Err(format!(
                            "{name}: no text or length marks where {{{}}} of \"{text}\" ends",
                            parameter(*position)
                        ));
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether a field does not say itself where it ends.
    fn is_open(&self, piece: &Piece) -> bool {
        matches!(piece, Piece::Field { prefix: None, format, .. } if !matches!(format, Format::Integer(_)))
    }

    /// The label's name within its channel and its values, with spaces between: what a label without a template is.
    pub fn usual(label: &Label, name: &str) -> Template {
        let mut pieces = Vec::new();
        let mut text = name.to_owned();
        for position in 0..label.parameters.len() {
            text.push(' ');
            pieces.push(Piece::Bytes(std::mem::take(&mut text).into_bytes()));
            pieces.push(Piece::Field {
                position,
                prefix: None,
                format: Format::Text,
            });
        }
        if !text.is_empty() {
            pieces.push(Piece::Bytes(text.into_bytes()));
        }
        Template { pieces }
    }

    /// Whether it has several lines of its own, or says how long its values are: then a value may hold what ends
    /// other messages.
    pub fn spans_lines(&self) -> bool {
        self.pieces.iter().any(|piece| match piece {
            Piece::Bytes(bytes) => bytes.contains(&b'\n'),
            Piece::Field { prefix, format, .. } => {
                prefix.is_some() || matches!(format, Format::Integer(_))
            }
            Piece::Length(..) => true,
        })
    }

    /// The parameters that end where the bytes after them first stand, and those bytes.
    pub fn open_texts(&self) -> impl Iterator<Item = (usize, &[u8])> {
        let middle = self.pieces.len().saturating_sub(2);
        let pairs = self.pieces.windows(2).take(middle);
        pairs.filter_map(|pair| match pair {
            [
                Piece::Field {
                    position,
                    prefix: None,
                    format: Format::Text,
                },
                Piece::Bytes(after),
            ] if !self.has_length(*position) => Some((*position, after.as_slice())),
            _ => None,
        })
    }

    fn has_length(&self, position: usize) -> bool {
        let mut pieces = self.pieces.iter();
        pieces.any(|piece| matches!(piece, Piece::Length(of, _) if *of == position))
    }

    /// How many bytes of a message it fixes.
    pub fn fixed(&self) -> usize {
        let fixed = self.pieces.iter().map(|piece| match piece {
            Piece::Bytes(bytes) => bytes.len(),
            _ => 0,
        });
        fixed.sum()
    }

    /// The message with these values.
    pub fn write(&self, values: &[Value], types: &Types) -> Result<Vec<u8>, String> {
        let value = |position: usize| values.get(position).unwrap_or(&Value::Void);
        let mut out = Vec::new();
        for piece in &self.pieces {
            match piece {
                Piece::Bytes(bytes) => out.extend(bytes),
                Piece::Field {
                    position,
                    prefix,
                    format,
                } => {
                    let bytes = format.write(value(*position), types)?;
                    if let Some(prefix) = prefix {
                        prefix.write(bytes.len() as i128, &mut out)?;
                    }
                    out.extend(bytes);
                }
                Piece::Length(position, integer) => {
                    let field = self.pieces.iter().find_map(|piece| match piece {
                        Piece::Field {
                            position: p,
                            format,
                            ..
                        } if p == position => Some(format),
                        _ => None,
                    });
                    let format = field.unwrap_or(&Format::Text);
                    let length = format.write(value(*position), types)?.len();
                    match integer {
                        Some(integer) => integer.write(length as i128, &mut out)?,
                        None => out.extend(length.to_string().as_bytes()),
                    }
                }
            }
        }
        Ok(out)
    }

    /// The bytes in place of the parameters, if the message has this shape.
    pub(super) fn take_apart<'m>(&self, message: &'m [u8]) -> Result<Vec<Place<'m>>, NoMatch> {
        let mut found = Vec::new();
        let mut lengths: BTreeMap<usize, usize> = BTreeMap::new();
        let mut rest = message;
        for (index, piece) in self.pieces.iter().enumerate() {
            match piece {
                Piece::Bytes(bytes) => {
                    let is_beginning = bytes.starts_with(rest);
                    let after = rest.strip_prefix(bytes.as_slice());
                    rest = after.ok_or(if is_beginning {
                        NoMatch::Unfinished
                    } else {
                        NoMatch::Other
                    })?;
                }
                Piece::Length(position, integer) => {
                    let (length, used) = match integer {
                        Some(integer) => length(*integer, rest)?,
                        None => {
                            let used = rest.iter().take_while(|b| b.is_ascii_digit()).count();
                            let digits = std::str::from_utf8(&rest[..used]).unwrap_or_default();
                            match digits.parse() {
                                Ok(length) => (length, used),
                                Err(_) if rest.is_empty() => return Err(NoMatch::Unfinished),
                                Err(_) => return Err(NoMatch::Other),
                            }
                        }
                    };
                    lengths.insert(*position, length);
                    rest = &rest[used..];
                }
                Piece::Field {
                    position,
                    prefix,
                    format,
                } => {
                    if let Some(prefix) = prefix {
                        let (length, used) = length(*prefix, rest)?;
                        rest = &rest[used..];
                        lengths.insert(*position, length);
                    }
                    let end = match (lengths.get(position), format, self.pieces.get(index + 1)) {
                        (Some(length), ..) => *length,
                        (None, Format::Integer(integer), _) => match integer.read(rest) {
                            None => return Err(NoMatch::Unfinished),
                            Some(Err(_)) => return Err(NoMatch::Other),
                            Some(Ok((_, used))) => used,
                        },
                        // The last text ends the message; others stand where they first do.
                        (None, _, Some(Piece::Bytes(next))) => {
                            let end = if index + 2 == self.pieces.len() {
                                let end = rest.len().checked_sub(next.len());
                                end.filter(|_| rest.ends_with(next))
                            } else {
                                find(rest, next)
                            };
                            end.ok_or(NoMatch::Unfinished)?
                        }
                        (None, ..) => rest.len(),
                    };
                    found.push((
                        *position,
                        *format,
                        rest.get(..end).ok_or(NoMatch::Unfinished)?,
                    ));
                    rest = &rest[end..];
                }
            }
        }
        match rest {
            [] => Ok(found),
            _ => Err(NoMatch::Other),
        }
    }

    /// `None`: the message has another shape. A parameter that does not stand in the template is unset.
    pub fn read(
        &self,
        message: &[u8],
        label: &Label,
        types: &Types,
    ) -> Option<Result<Vec<Value>, Mismatch>> {
        let mut values = vec![Value::Void; label.parameters.len()];
        for (position, format, bytes) in self.take_apart(message).ok()? {
            let parameter = &label.parameters[position];
            match format.read(bytes, &parameter.ty, types) {
                Ok(value) => values[position] = value,
                Err(Mismatch(why)) => {
                    return Some(Err(Mismatch(format!("{}: {why}", parameter.name))));
                }
            }
        }
        Some(Ok(values))
    }
}

/// A length at the beginning, and how many bytes say it.
fn length(integer: Integer, bytes: &[u8]) -> Result<(usize, usize), NoMatch> {
    let (number, used) = match integer.read(bytes) {
        None => return Err(NoMatch::Unfinished),
        Some(Err(_)) => return Err(NoMatch::Other),
        Some(Ok(read)) => read,
    };
    Ok((usize::try_from(number).map_err(|_| NoMatch::Other)?, used))
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes
        .windows(wanted.len())
        .position(|window| window == wanted)
}

/// What stands in braces.
fn piece(inside: &str, label: &Label) -> Result<Piece, String> {
    let name = label.marked_name();
    let (parameter, format) = match inside.split_once(':') {
        Some((parameter, format)) => (parameter, Some(format)),
        None => (inside, None),
    };
    let (parameter, is_length) = match parameter.strip_prefix('#') {
        Some(parameter) => (parameter, true),
        None => (parameter, false),
    };
    let position = label.parameters.iter().position(|p| p.name == parameter);
    let position = position.ok_or_else(|| format!("{name} has no parameter '{parameter}'"))?;
    let unknown =
        |format: &str, known: &str| format!("{name}: there is no format '{format}'; write {known}");
    if is_length {
        let integer = format.map(|format| {
            let widths = "an integer such as u8 or u32le, or varint";
            Integer::named(format).ok_or_else(|| unknown(format, widths))
        });
        return Ok(Piece::Length(position, integer.transpose()?));
    }
    let format = format.unwrap_or("text");
    let (prefix, format) = match format.split_once('+') {
        Some((prefix, format)) => {
            let prefix = Integer::named(prefix).ok_or_else(|| unknown(prefix, FORMATS))?;
            (Some(prefix), format)
        }
        None => (None, format),
    };
    Ok(Piece::Field {
        position,
        prefix,
        format: Format::named(format).ok_or_else(|| unknown(format, FORMATS))?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::template::tests::label;
    use ioco_sts::Type;
    use proptest::prelude::*;

    #[test]
    fn what_is_wrong_with_a_template_is_said() {
        let label = label(&[Type::INTEGER, Type::Str]);
        for (text, why) in [
            ("PUT {p0", "not closed"),
            ("PUT {q}", "no parameter 'q'"),
            ("PUT {p1}{p0}", "ends"),
            ("PUT {p0} {p0}", "twice"),
            ("{p0:u7}", "no format 'u7'"),
            ("{p0:u72}", "no format 'u72'"),
            ("{p1:u8}", "cannot be written"),
            ("{0x1}", "is not bytes"),
            ("{p1} {#p1}", "must come before"),
            ("{p1:word+text}", "no format 'word'"),
        ] {
            let error = Template::parse(text, &label, b"\n").unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn messages_are_written_byte_by_byte() {
        let label = label(&[Type::INTEGER, Type::Str]);
        let values = [Value::Int(258), Value::from("hi")];
        for (text, expected) in [
            ("{{{p0}}} {p1}", &b"{258} hi"[..]),
            (
                "{0x10 ff}{p0:u16}{p1:u16+text}",
                b"\x10\xff\x01\x02\x00\x02hi",
            ),
            ("{p0:u24le}{p1:u8+hex}", b"\x02\x01\x00\x046869"),
            ("{p0:varint}{p1}", b"\x82\x02hi"),
            ("${#p1}\r\n{p1} {p0}", b"$2\r\nhi 258"),
            ("{#p1:u16}{p1:base64}{p0:i16}", b"\x00\x04aGk=\x01\x02"),
            ("a\n{p1:json}\n{p0}", b"a\r\n\"hi\"\r\n258"),
        ] {
            let template = Template::parse(text, &label, b"\r\n").unwrap();
            let written = template.write(&values, &Types::default()).unwrap();
            assert_eq!(written, expected, "{text}");
            let read = template.read(&written, &label, &Types::default());
            assert_eq!(read, Some(Ok(values.to_vec())), "{text}");
            for end in 0..written.len() {
                let cut = template.read(&written[..end], &label, &Types::default());
                assert_ne!(cut, Some(Ok(values.to_vec())), "{text} cut at {end}");
            }
        }
        let narrow = Template::parse("{p0:u8}", &label, b"\n").unwrap();
        let error = narrow.write(&values, &Types::default()).unwrap_err();
        assert!(error.contains("258 does not fit"), "{error}");
    }

    #[test]
    fn another_shape_is_not_a_wrong_value() {
        let label = label(&[Type::INTEGER]);
        let types = Types::default();
        let template = Template::parse("PUT {p0} NOW", &label, b"\n").unwrap();
        assert!(template.read(b"GET 5 NOW", &label, &types).is_none());
        assert!(template.read(b"PUT 5 LATER", &label, &types).is_none());
        assert!(
            template
                .read(b"PUT x NOW", &label, &types)
                .unwrap()
                .is_err()
        );
        let negative = template.read(b"PUT -5 NOW", &label, &types).unwrap();
        assert_eq!(negative, Ok(vec![Value::Int(-5)]));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(number: i64, flag: bool, text in "[a-z ]{0,12}") {
            let label = label(&[Type::INTEGER, Type::Bool, Type::Str]);
            let types = Types::default();
            let values = vec![number.into(), flag.into(), text.as_str().into()];
            for template in [
                Template::usual(&label, &label.name),
                Template::parse("{p0};{p1} of {p2}!", &label, b"\n").unwrap(),
                Template::parse("{p0:i64le}{p1:u8}{p2:u16+base64}", &label, b"\n").unwrap(),
            ] {
                let message = template.write(&values, &types).unwrap();
                prop_assert_eq!(template.read(&message, &label, &types), Some(Ok(values.clone())));
            }
        }

        #[test]
        fn no_message_makes_reading_panic(message in proptest::collection::vec(any::<u8>(), 0..40)) {
            let label = label(&[Type::INTEGER, Type::Bool, Type::Str]);
            for text in ["{p0:varint}{p2:u64+hex}{p1}", "{#p2}{p2} {p0} ", "{#p2:i8}{p2:bytes}{p1:i8}"] {
                let template = Template::parse(text, &label, b"\n").unwrap();
                let _ = template.read(&message, &label, &Types::default());
            }
        }
    }
}

//! Text with parameters in it, such as the path of a request, `/orders/{id}`.
//!
//! What stands in braces is a parameter; `{{` and `}}` are braces. Writing fills the values in;
//! reading finds them again, led by the types of the model.

use std::sync::Arc;

use ioco_sts::{Label, Type, Types, Value};

use crate::values::{Mismatch, read_value, shorten, write_value};

/// A piece of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    /// The position of a parameter.
    Parameter(usize),
}

/// How one label looks as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Template {
    pieces: Vec<Piece>,
}

impl Template {
    /// Reads a template for a label; every parameter may stand in it once.
    pub fn parse(text: &str, label: &Label) -> Result<Template, String> {
        let name = label.marked_name();
        let mut pieces = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(next) = rest.chars().next() {
            if let Some(after) = rest.strip_prefix("{{").or_else(|| rest.strip_prefix("}}")) {
                plain.push(next);
                rest = after;
            } else if next == '{' {
                let (parameter, after) = rest[1..]
                    .split_once('}')
                    .ok_or_else(|| format!("{name}: \"{text}\" has a brace that is not closed"))?;
                let position = label.parameters.iter().position(|p| p.name == parameter);
                let position =
                    position.ok_or_else(|| format!("{name} has no parameter '{parameter}'"))?;
                if pieces.contains(&Piece::Parameter(position)) {
                    return Err(format!("{name}: {{{parameter}}} appears twice"));
                }
                if !plain.is_empty() {
                    pieces.push(Piece::Text(std::mem::take(&mut plain)));
                } else if matches!(pieces.last(), Some(Piece::Parameter(_))) {
                    return Err(format!(
                        "{name}: two parameters of \"{text}\" have no text between them"
                    ));
                }
                pieces.push(Piece::Parameter(position));
                rest = after;
            } else {
                plain.push(next);
                rest = &rest[next.len_utf8()..];
            }
        }
        if !plain.is_empty() {
            pieces.push(Piece::Text(plain));
        }
        if text.contains('\n') {
            return Err(format!("{name}: a template is one line"));
        }
        Ok(Template { pieces })
    }

    /// How much of a line it fixes: the more, the earlier it is tried.
    pub fn fixed(&self) -> usize {
        let texts = self.pieces.iter().map(|piece| match piece {
            Piece::Text(text) => text.len(),
            Piece::Parameter(_) => 0,
        });
        texts.sum()
    }

    /// The positions of the parameters in it.
    pub fn parameters(&self) -> impl Iterator<Item = usize> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Parameter(position) => Some(*position),
            Piece::Text(_) => None,
        })
    }

    /// Whether this stands in what is not a parameter.
    pub fn contains(&self, mark: char) -> bool {
        self.pieces
            .iter()
            .any(|piece| matches!(piece, Piece::Text(text) if text.contains(mark)))
    }

    /// With the values in it, each passed through `encode`.
    pub fn write(&self, values: &[Value], types: &Types, encode: fn(&str) -> String) -> String {
        let mut out = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Parameter(position) => {
                    let value = values.get(*position).map(|value| plain(value, types));
                    out.push_str(&encode(&value.unwrap_or_default()));
                }
            }
        }
        out
    }

    /// The texts in place of the parameters, if the line has this shape.
    pub fn take_apart<'l>(&self, line: &'l str) -> Option<Vec<(usize, &'l str)>> {
        let mut found = Vec::new();
        let mut rest = line;
        let mut open = None;
        for (index, piece) in self.pieces.iter().enumerate() {
            match (piece, open.take()) {
                (Piece::Text(text), None) => rest = rest.strip_prefix(text.as_str())?,
                (Piece::Text(text), Some(position)) => {
                    let is_last = index + 1 == self.pieces.len();
                    let at = if is_last {
                        rest.ends_with(text.as_str())
                            .then(|| rest.len() - text.len())?
                    } else {
                        rest.find(text.as_str())?
                    };
                    found.push((position, &rest[..at]));
                    rest = &rest[at + text.len()..];
                }
                (Piece::Parameter(position), _) => open = Some(*position),
            }
        }
        match open {
            Some(position) => found.push((position, rest)),
            None if !rest.is_empty() => return None,
            None => {}
        }
        Some(found)
    }

    /// `None`: the line has another shape. A parameter that does not stand in the template is unset.
    pub fn read(
        &self,
        line: &str,
        label: &Label,
        types: &Types,
    ) -> Option<Result<Vec<Value>, Mismatch>> {
        let mut values = vec![Value::Void; label.parameters.len()];
        for (position, text) in self.take_apart(line)? {
            let parameter = &label.parameters[position];
            match read_text(text, &parameter.ty, types) {
                Ok(value) => values[position] = value,
                Err(Mismatch(why)) => {
                    return Some(Err(Mismatch(format!("{}: {why}", parameter.name))));
                }
            }
        }
        Some(Ok(values))
    }
}

/// A value as text in text: strings and names without quotes, nothing for what is unset.
pub(crate) fn plain(value: &Value, types: &Types) -> String {
    match value {
        Value::Void => String::new(),
        Value::Str(text) => text.to_string(),
        Value::Enum(id, member) => types.member_name(*id, *member).to_owned(),
        other => {
            let mut out = Vec::new();
            write_value(other, types, &mut out);
            String::from_utf8_lossy(&out).into_owned()
        }
    }
}

/// The value that stands as text in text.
pub(crate) fn read_text(text: &str, ty: &Type, types: &Types) -> Result<Value, Mismatch> {
    let wrong = || {
        let expected = types.type_name(ty);
        Mismatch(format!("\"{}\" is not {expected}", shorten(text, 60)))
    };
    match ty {
        Type::Str => Ok(Value::Str(Arc::from(text))),
        Type::Enum(_) => {
            let quoted = serde_json::to_string(text).unwrap_or_default();
            read_value(&quoted, ty, types)
        }
        // Nothing may stand around these, and `null` is none of them.
        Type::Int(_) | Type::Date | Type::Time => {
            let number = integer_json(text).ok_or_else(wrong)?;
            read_value(&number, ty, types).map_err(|_| wrong())
        }
        Type::Decimal => {
            let number = decimal_json(text).ok_or_else(wrong)?;
            read_value(&number, ty, types).map_err(|_| wrong())
        }
        Type::Bool if !matches!(text, "true" | "false") => Err(wrong()),
        _ if serde_json::from_str::<serde::de::IgnoredAny>(text).is_err() => Err(wrong()),
        _ => read_value(text, ty, types),
    }
}

/// The sign where it is a minus, and what follows the sign.
fn without_plus(text: &str) -> (&'static str, &str) {
    match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    }
}

/// An integer as JSON has it: a sign or none, and digits.
fn integer_json(text: &str) -> Option<String> {
    let (sign, digits) = without_plus(text);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| format!("{sign}{digits}"))
}

/// A decimal as [`ioco_sts::read_decimal`] reads it: a sign or none, digits with a point among them, before
/// them, after them or nowhere, and an exponent or none.
fn decimal_json(text: &str) -> Option<String> {
    let (sign, rest) = without_plus(text);
    let (number, exponent) = match rest.find(['e', 'E']) {
        Some(position) => rest.split_at(position),
        None => (rest, ""),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let is_unsigned = number.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let has_digits = !whole.is_empty() || !fraction.is_empty();
    (is_unsigned && has_digits).then(|| format!("{sign}0{whole}.{fraction}{exponent}"))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use ioco_sts::{Direction, Parameter};
    use proptest::prelude::*;

    /// `!put`, with parameters p0, p1, … of these types.
    pub(crate) fn label(types: &[Type]) -> Label {
        let parameters = types.iter().enumerate().map(|(index, ty)| Parameter {
            name: format!("p{index}"),
            ty: ty.clone(),
        });
        Label {
            name: "put".to_owned(),
            channel: "c".to_owned(),
            direction: Direction::Response,
            parameters: parameters.collect(),
        }
    }

    #[test]
    fn what_is_wrong_with_a_template_is_said() {
        let label = label(&[Type::INTEGER, Type::INTEGER]);
        for (text, why) in [
            ("PUT {p0", "not closed"),
            ("PUT {q}", "no parameter 'q'"),
            ("PUT {p0}{p1}", "no text between them"),
            ("PUT {p0} {p0}", "twice"),
        ] {
            let error = Template::parse(text, &label).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn braces_are_doubled() {
        let label = label(&[Type::INTEGER]);
        let template = Template::parse("{{{p0}}}", &label).unwrap();
        let written = template.write(&[Value::Int(5)], &Types::default(), str::to_owned);
        assert_eq!(written, "{5}");
    }

    #[test]
    fn another_shape_is_not_a_wrong_value() {
        let label = label(&[Type::INTEGER]);
        let types = Types::default();
        let template = Template::parse("PUT {p0} NOW", &label).unwrap();
        assert!(template.read("GET 5 NOW", &label, &types).is_none());
        assert!(template.read("PUT 5 LATER", &label, &types).is_none());
        assert!(template.read("PUT x NOW", &label, &types).unwrap().is_err());
        assert_eq!(
            template.read("PUT -5 NOW", &label, &types).unwrap(),
            Ok(vec![Value::Int(-5)])
        );
    }

    /// The type decides how a text is read, and nothing stands around the value.
    #[test]
    fn numbers_are_read_as_people_write_them() {
        let types = Types::default();
        let read = |text: &str, ty: &Type| read_text(text, ty, &types).ok();
        for (text, number) in [
            ("7", 7),
            ("07", 7),
            ("+7", 7),
            ("-007", -7),
            ("-0", 0),
            ("9223372036854775807", i64::MAX),
            ("-9223372036854775808", i64::MIN),
        ] {
            assert_eq!(
                read(text, &Type::INTEGER),
                Some(Value::Int(number)),
                "{text}"
            );
        }
        for text in [
            "",
            " 7",
            "7 ",
            "7\t",
            "1e2",
            "7.0",
            "7.",
            "+",
            "-",
            "+-7",
            "--7",
            "0x7",
            "1_000",
            "٧",
            "null",
            "true",
            "9223372036854775808",
        ] {
            assert_eq!(read(text, &Type::INTEGER), None, "{text:?}");
        }
        for (text, json) in [
            ("1.50", "1.5"),
            (".5", "0.5"),
            ("5.", "5"),
            ("+5.25", "5.25"),
            ("-.5", "-0.5"),
            ("-0.0", "0"),
            ("007", "7"),
            ("12e2", "1200"),
            ("+.5E-1", "0.05"),
            ("5.e+1", "50"),
        ] {
            let number = ioco_sts::read_decimal(json).map(Value::Decimal);
            assert_eq!(read(text, &Type::Decimal), number, "{text}");
        }
        for text in [
            "", ".", "+", "-.", ".e1", "e1", "1e", "1e+", " 1.5", "1.5 ", "1,5", "1.5.", "+-1",
            "-+1", "null", "NaN", "1e-40",
        ] {
            assert_eq!(read(text, &Type::Decimal), None, "{text:?}");
        }
        assert_eq!(read("true", &Type::Bool), Some(Value::Bool(true)));
        for text in ["", " true", "true ", "TRUE", "1", "null"] {
            assert_eq!(read(text, &Type::Bool), None, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(number: i64, flag: bool, text in "[a-z ]{0,12}") {
            let label = label(&[Type::INTEGER, Type::Bool, Type::Str]);
            let types = Types::default();
            let values = vec![number.into(), flag.into(), text.as_str().into()];
            let template = Template::parse("{p0};{p1} of {p2}!", &label).unwrap();
            let line = template.write(&values, &types, str::to_owned);
            prop_assert_eq!(template.read(&line, &label, &types), Some(Ok(values.clone())));
        }
    }
}

//! Messages that could be several labels, or one label with several values: nothing is wrong with them, because it is
//! written down how they are read, but a person should know.
//!
//! Found by example: every template of a response is filled in and read again. A regular expression cannot be filled
//! in, so two of them are only compared with each other as text.

use ioco_sts::{Direction, Label, LabelId, Sts, Type, Value};

use super::format::show;
use super::labels::{Form, MappingError, Templates, read};

/// Reports every pair once, and every parameter once. `shares` says whether two channels have one socket.
pub(super) fn find(
    templates: &Templates,
    shares: &dyn Fn(&str, &str) -> bool,
) -> Vec<MappingError> {
    let sts = templates.sts();
    let responses: Vec<LabelId> = sts.labels_of(Direction::Response).collect();
    let mut found = Vec::new();
    for (index, &label) in responses.iter().enumerate() {
        if let Some(message) = example(templates, label) {
            for &other in &responses {
                let before = responses[..index].contains(&other);
                if other == label || !shares(&sts.label(label).channel, &sts.label(other).channel) {
                    continue;
                }
                found.extend(overlap(templates, [label, other], before, &message));
            }
        }
        for &other in &responses[index + 1..] {
            if shares(&sts.label(label).channel, &sts.label(other).channel)
                && let [
                    Some(Form::Regex { regex: one, .. }),
                    Some(Form::Regex { regex: two, .. }),
                ] = [templates.form(label), templates.form(other)]
                && one.as_str() == two.as_str()
                && templates.is_tie(label, other)
            {
                let names = [label, other].map(|id| sts.label(id).marked_name());
                found.push(MappingError {
                    key: templates.key(label),
                    message: format!(
                        "{} and {} have the same expression, so the order in the model decides: every message is \
                         {}; set `prefer`",
                        names[0], names[1], names[0]
                    ),
                });
            }
        }
        found.extend(within(templates, label));
    }
    found
}

/// What is to be said if the message of one label is also one of another.
fn overlap(
    templates: &Templates,
    [label, other]: [LabelId; 2],
    reported: bool,
    message: &[u8],
) -> Option<MappingError> {
    let sts = templates.sts();
    let form = templates.form(other)?;
    let fits = read(form, message, sts.label(other), sts).is_some_and(|read| read.is_ok());
    if !fits {
        return None;
    }
    let [name, other_name] = [label, other].map(|id| sts.label(id).marked_name());
    let shown = show(message);
    let message = if templates.is_tie(label, other) {
        // Seen from the other label, it is the same pair.
        if reported && example(templates, other).is_some_and(|m| is_read(templates, label, &m)) {
            return None;
        }
        let first = if templates.comes_first(label, other) {
            &name
        } else {
            &other_name
        };
        format!(
            "{shown} fits {name} and {other_name}, so the order in the model decides: it is {first}; set `prefer`"
        )
    } else if templates.comes_first(other, label) && !templates.is_preferred(other) {
        format!(
            "{shown} is read as {other_name}, so {name} is never seen; `prefer` can change that"
        )
    } else {
        return None;
    };
    Some(MappingError {
        key: templates.key(label),
        message,
    })
}

fn is_read(templates: &Templates, label: LabelId, message: &[u8]) -> bool {
    let sts = templates.sts();
    let form = templates.form(label);
    form.and_then(|form| read(form, message, sts.label(label), sts))
        .is_some_and(|read| read.is_ok())
}

/// A text in the middle of a template that may hold what comes after it.
fn within(templates: &Templates, label: LabelId) -> Option<MappingError> {
    let sts = templates.sts();
    let Some(Form::Template(template)) = templates.form(label) else {
        return None;
    };
    let declared = sts.label(label);
    for (position, after) in template.open_texts() {
        if declared.parameters[position].ty != Type::Str || after.contains(&b'\n') {
            continue;
        }
        let Ok(after) = std::str::from_utf8(after) else {
            continue;
        };
        let mut values = samples(declared, sts);
        values[position] = Value::from(format!("x{after}x").as_str());
        let Ok(message) = template.write(&values, sts.types()) else {
            continue;
        };
        if template.read(&message, declared, sts.types()) != Some(Ok(values)) {
            let (name, parameter) = (declared.marked_name(), &declared.parameters[position].name);
            return Some(MappingError {
                key: templates.key(label),
                message: format!(
                    "{name}: a value of {parameter} that contains {after:?} ends there; use a length, `json` or a \
                     regular expression"
                ),
            });
        }
    }
    None
}

/// A message of a label that is written by a template.
fn example(templates: &Templates, label: LabelId) -> Option<Vec<u8>> {
    let sts = templates.sts();
    match templates.form(label)? {
        Form::Template(template) => template
            .write(&samples(sts.label(label), sts), sts.types())
            .ok(),
        _ => None,
    }
}

fn samples(label: &Label, sts: &Sts) -> Vec<Value> {
    let sample = |ty: &Type| match ty {
        Type::Bool => Value::Bool(true),
        Type::Decimal => Value::from(rust_decimal::Decimal::new(15, 1)),
        Type::Str => Value::from("x"),
        Type::Enum(id) => Value::Enum(*id, 0),
        Type::Array(_) => Value::Array([].into()),
        Type::Struct(id) => {
            let fields = sts
                .types()
                .structs
                .get(id.index())
                .map_or(0, |s| s.fields.len());
            Value::Struct(*id, vec![Value::Void; fields].into())
        }
        ty => Value::Int(
            ty.int_range()
                .map_or(7, |range| 7_i64.clamp(range.min, range.max)),
        ),
    };
    label.parameters.iter().map(|p| sample(&p.ty)).collect()
}

//! A live system as saved types.

use std::io;

use serde::Serialize as _;
use serde_json::ser::{Formatter, Serializer};

use ioco_sts::{
    Direction, Expr, Gate, LabelId, Parameter, Place, Requirement, StructKind, Sts, Type, Value,
};

use super::expression;
use super::saved::{
    FORMAT, SavedAssignment, SavedDirection, SavedEnum, SavedField, SavedFunction, SavedGate,
    SavedKind, SavedLabel, SavedLocation, SavedPlace, SavedProcess, SavedRequirement, SavedStruct,
    SavedSts, SavedSwitch, SavedType, SavedValue, SavedVariable, VERSION,
};

/// Writes a system; the text ends with a newline and is the same for equal systems.
pub fn write(sts: &Sts) -> String {
    let mut bytes = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut bytes, OneItemALine::default());
    save(sts)
        .serialize(&mut serializer)
        .expect("saved types have text for keys, and memory takes every write");
    bytes.push(b'\n');
    String::from_utf8(bytes).expect("JSON is written as UTF-8")
}

/// A line for each location, each switch and so on: short enough to read, and a change of one thing
/// is a change of one line.
#[derive(Default)]
struct OneItemALine {
    depth: usize,
}

/// The document, and its lists.
const DEPTH_OF_LINES: usize = 2;

impl OneItemALine {
    fn line(&self, depth: usize, writer: &mut (impl io::Write + ?Sized)) -> io::Result<()> {
        if self.depth <= DEPTH_OF_LINES {
            writer.write_all(b"\n")?;
            writer.write_all(&b"    "[..2 * depth])?;
        }
        Ok(())
    }

    fn next_item(&self, writer: &mut (impl io::Write + ?Sized), first: bool) -> io::Result<()> {
        if !first {
            let lines = self.depth <= DEPTH_OF_LINES;
            writer.write_all(if lines { b"," } else { b", " })?;
        }
        self.line(self.depth.min(DEPTH_OF_LINES), writer)
    }
}

impl Formatter for OneItemALine {
    fn begin_array<W: io::Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth += 1;
        writer.write_all(b"[")
    }

    fn end_array<W: io::Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.line(self.depth.min(DEPTH_OF_LINES) - 1, writer)?;
        self.depth -= 1;
        writer.write_all(b"]")
    }

    fn begin_array_value<W: io::Write + ?Sized>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.next_item(writer, first)
    }

    fn begin_object<W: io::Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth += 1;
        writer.write_all(b"{")
    }

    fn end_object<W: io::Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.line(self.depth.min(DEPTH_OF_LINES) - 1, writer)?;
        self.depth -= 1;
        writer.write_all(b"}")
    }

    fn begin_object_key<W: io::Write + ?Sized>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.next_item(writer, first)
    }

    fn begin_object_value<W: io::Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }
}

/// The system as saved types.
pub fn save(sts: &Sts) -> SavedSts {
    SavedSts {
        format: FORMAT.to_owned(),
        version: VERSION,
        name: sts.name().to_owned(),
        files: sts.files().to_vec(),
        timeout: sts.timeout(),
        enums: sts
            .types()
            .enums
            .iter()
            .map(|e| SavedEnum {
                name: e.name.clone(),
                members: e.members.clone(),
            })
            .collect(),
        structs: sts
            .types()
            .structs
            .iter()
            .map(|s| SavedStruct {
                name: s.name.clone(),
                fields: save_fields(&s.fields),
                kind: match s.kind {
                    StructKind::Plain => SavedKind::Plain,
                    StructKind::Set => SavedKind::Set,
                    StructKind::Hash => SavedKind::Hash,
                    StructKind::Entry => SavedKind::Entry,
                },
            })
            .collect(),
        functions: sts
            .functions()
            .iter()
            .map(|f| SavedFunction {
                name: f.name.clone(),
                parameters: save_fields(&f.parameters),
                result: save_type(&f.result),
                body: expression::save(&f.body),
            })
            .collect(),
        labels: save_labels(sts),
        variables: sts
            .variables()
            .iter()
            .map(|v| SavedVariable {
                name: v.name.clone(),
                process: v.process.0,
                ty: save_type(&v.ty),
                initial: save_value(&v.initial),
                place: save_place(v.place),
            })
            .collect(),
        processes: sts
            .processes()
            .iter()
            .map(|p| SavedProcess {
                name: p.name.clone(),
                initial: p.initial.0,
            })
            .collect(),
        locations: sts
            .locations()
            .iter()
            .map(|l| SavedLocation {
                name: l.name.clone(),
                process: l.process.0,
                timeout: l.timeout,
                place: save_place(l.place),
            })
            .collect(),
        switches: save_switches(sts),
        requirements: sts.requirements().iter().map(save_requirement).collect(),
    }
}

fn save_requirement(requirement: &Requirement) -> SavedRequirement {
    SavedRequirement {
        id: requirement.id.clone(),
        text: requirement.text.clone(),
        switches: requirement.switches.iter().map(|s| s.0).collect(),
        place: save_place(requirement.place),
    }
}

fn save_labels(sts: &Sts) -> Vec<SavedLabel> {
    let saved = sts.labels().iter().enumerate().map(|(index, label)| {
        let participants = sts.participants(LabelId::from_index(index));
        SavedLabel {
            name: label.name.clone(),
            channel: label.channel.clone(),
            direction: match label.direction {
                Direction::Stimulus => SavedDirection::Stimulus,
                Direction::Response => SavedDirection::Response,
                Direction::Internal => SavedDirection::Internal,
            },
            parameters: label.parameters.iter().map(save_parameter).collect(),
            participants: participants.iter().map(|p| p.0).collect(),
        }
    });
    saved.collect()
}

fn save_switches(sts: &Sts) -> Vec<SavedSwitch> {
    let saved = sts.switches().iter().map(|switch| SavedSwitch {
        source: switch.source.0,
        gate: match switch.gate {
            Gate::Tau => SavedGate::Tau,
            Gate::Observable(label) => SavedGate::Observable(label.0),
            Gate::Send(label) => SavedGate::Send(label.0),
            Gate::Receive(label) => SavedGate::Receive(label.0),
        },
        guard: if switch.guard == Expr::TRUE {
            Vec::new()
        } else {
            expression::save(&switch.guard)
        },
        update: switch
            .update
            .iter()
            .map(|a| SavedAssignment {
                variable: a.variable.0,
                value: expression::save(&a.value),
            })
            .collect(),
        target: switch.target.0,
        note: switch.note.clone(),
        place: save_place(switch.place),
    });
    saved.collect()
}

fn save_parameter(parameter: &Parameter) -> SavedField {
    SavedField {
        name: parameter.name.clone(),
        ty: save_type(&parameter.ty),
    }
}

fn save_fields(fields: &[(String, Type)]) -> Vec<SavedField> {
    let saved = fields.iter().map(|(name, ty)| SavedField {
        name: name.clone(),
        ty: save_type(ty),
    });
    saved.collect()
}

fn save_place(place: Place) -> SavedPlace {
    SavedPlace(place.file, place.line, place.column)
}

fn save_type(ty: &Type) -> SavedType {
    match ty {
        Type::Bool => SavedType::Bool,
        Type::Int(range) if range.is_full() => SavedType::Integer,
        Type::Int(range) => SavedType::Range(range.min, range.max),
        Type::Decimal => SavedType::Decimal,
        Type::Str => SavedType::String,
        Type::Date => SavedType::Date,
        Type::Time => SavedType::Time,
        Type::Enum(id) => SavedType::Enum(id.0),
        Type::Array(item) => SavedType::Array(Box::new(save_type(item))),
        Type::Struct(id) => SavedType::Struct(id.0),
    }
}

pub fn save_value(value: &Value) -> SavedValue {
    match value {
        Value::Void => SavedValue::Void,
        Value::Bool(value) => SavedValue::Bool(*value),
        Value::Int(value) => SavedValue::Int(*value),
        Value::Decimal(value) => SavedValue::Decimal(value.to_string()),
        Value::Str(text) => SavedValue::String(text.to_string()),
        Value::Enum(id, member) => SavedValue::Enum(id.0, *member),
        Value::Array(items) => SavedValue::Array(items.iter().map(save_value).collect()),
        Value::Struct(id, fields) => {
            SavedValue::Struct(id.0, fields.iter().map(save_value).collect())
        }
    }
}

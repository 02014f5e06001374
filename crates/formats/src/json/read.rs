//! Saved types to a live system. Nothing in the file is trusted: every position, type and value
//! is checked, so that no file can make the rest of the program fail.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr as _;
use std::sync::Arc;

use ioco_budget::{Budget, Resource};
use rust_decimal::Decimal;
use serde_json::value::RawValue;

use ioco_sts::{
    Assignment, Direction, EnumId, EnumType, Expr, Function, Gate, IntRange, Label, LabelId,
    Location, LocationId, Parameter, Place, ProcessId, Requirement, StructId, StructKind,
    StructType, Sts, StsBuilder, SwitchId, Type, Types, Value, VarId, Variable,
};

use super::super::{FormatError, lines};
use super::expression::{self, ExprScope};
use super::saved::{
    FORMAT, Header, SavedDirection, SavedField, SavedFunction, SavedGate, SavedKind, SavedPlace,
    SavedSts, SavedSwitch, SavedToken, SavedType, SavedValue, VERSION,
};

/// What the parts of a file are checked against.
#[derive(Clone, Copy)]
pub struct Known<'a> {
    pub types: &'a Types,
    pub functions: &'a [SavedFunction],
    pub budget: &'a Budget,
}

/// Reads a system that [`super::write`] has written, within the usual limits.
pub fn read(text: &str) -> Result<Sts, FormatError> {
    read_within(text, &Budget::default())
}

/// Reads a system within limits, which it keeps.
pub fn read_within(text: &str, budget: &Budget) -> Result<Sts, FormatError> {
    let wrong = |error: serde_json::Error| lines::json_error(&error);
    let header: Header = serde_json::from_str(text).map_err(wrong)?;
    let message = if header.format != FORMAT {
        Some(format!("the format is {:?}, not {FORMAT:?}", header.format))
    } else if header.version != VERSION {
        Some(format!(
            "this is version {} of the format, and this program reads version {VERSION}",
            header.version
        ))
    } else {
        None
    };
    if let Some(message) = message {
        return Err(FormatError::new(0, message));
    }
    let saved: SavedSts = serde_json::from_str(text).map_err(wrong)?;
    revive(&saved, budget).map_err(|wrong| {
        let line = wrong
            .place
            .and_then(|(list, item)| line_of(text, list, item));
        FormatError::new(line.unwrap_or(0), wrong.to_string())
    })
}

/// The line on which an item of one of the document's lists begins.
fn line_of(text: &str, list: &str, item: usize) -> Option<u32> {
    let document: BTreeMap<String, &RawValue> = serde_json::from_str(text).ok()?;
    let items: Vec<&RawValue> = serde_json::from_str(document.get(list)?.get()).ok()?;
    Some(lines::line_of_part(text, items.get(item)?.get()))
}

/// What is wrong with a document, and with which item of which of its lists.
pub struct Wrong {
    pub place: Option<(&'static str, usize)>,
    pub message: String,
}

impl Wrong {
    fn at(list: &'static str, index: usize) -> impl Fn(String) -> Wrong + Copy {
        move |message| Wrong {
            place: Some((list, index)),
            message,
        }
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((list, index)) = self.place {
            write!(f, "{list}[{index}]: ")?;
        }
        f.write_str(&self.message)
    }
}

/// A live system, where everything in the document fits together.
pub fn revive(saved: &SavedSts, budget: &Budget) -> Result<Sts, Wrong> {
    let mut builder = StsBuilder::new(&saved.name);
    for file in &saved.files {
        builder.file(file);
    }
    builder.timeout(saved.timeout);
    let types = read_types(saved, budget)?;
    *builder.types() = types.clone();
    let known = Known {
        types: &types,
        functions: &saved.functions,
        budget,
    };
    read_functions(saved, known, &mut builder)?;
    read_labels(saved, &types, &mut builder)?;
    read_variables(saved, known, &mut builder)?;
    read_processes(saved, &mut builder)?;
    for (index, switch) in saved.switches.iter().enumerate() {
        read_switch(saved, known, switch, &mut builder).map_err(Wrong::at("switches", index))?;
    }
    read_requirements(saved, &mut builder)?;
    let mut sts = builder.build();
    sts.set_budget(*budget);
    Ok(sts)
}

fn read_types(saved: &SavedSts, budget: &Budget) -> Result<Types, Wrong> {
    let mut types = Types {
        enums: saved
            .enums
            .iter()
            .map(|e| EnumType {
                name: e.name.clone(),
                members: e.members.clone(),
            })
            .collect(),
        // Structures may contain each other, so all are known before their fields are read.
        structs: saved
            .structs
            .iter()
            .map(|s| StructType {
                name: s.name.clone(),
                fields: Vec::new(),
                kind: match s.kind {
                    SavedKind::Plain => StructKind::Plain,
                    SavedKind::Set => StructKind::Set,
                    SavedKind::Hash => StructKind::Hash,
                    SavedKind::Entry => StructKind::Entry,
                },
            })
            .collect(),
    };
    for (index, structure) in saved.structs.iter().enumerate() {
        let fields = read_fields(&structure.fields, &types).map_err(Wrong::at("structs", index))?;
        types.structs[index].fields = fields;
    }
    for index in 0..types.structs.len() {
        read_kind(&types, index).map_err(Wrong::at("structs", index))?;
    }
    for (index, depth) in types.nesting().into_iter().enumerate() {
        let at = Wrong::at("structs", index);
        let Some(depth) = depth else {
            let name = &types.structs[index].name;
            return Err(at(format!(
                "the structure {name} holds one that holds itself"
            )));
        };
        let limited = budget.check(Resource::Depth, depth);
        limited.map_err(|exhausted| at(exhausted.to_string()))?;
    }
    Ok(types)
}

/// Whether a structure has the fields of what it stands for.
fn read_kind(types: &Types, index: usize) -> Result<(), String> {
    let id = StructId::from_index(index);
    let declared = &types.structs[index];
    let name = &declared.name;
    let is_entry =
        |ty: &Type| matches!(ty, Type::Struct(id) if types.kind_of(*id) == StructKind::Entry);
    let right = match declared.kind {
        StructKind::Plain => true,
        StructKind::Set => types.item_of(id).is_some_and(Types::is_ordered),
        StructKind::Hash => types.item_of(id).is_some_and(is_entry),
        StructKind::Entry => {
            let key = declared.fields.first();
            declared.fields.len() == 2 && key.is_some_and(|(_, key)| Types::is_ordered(key))
        }
    };
    right.then_some(()).ok_or_else(|| {
        format!("the structure {name} does not have the fields of a set, a hash or an entry")
    })
}

fn read_functions(
    saved: &SavedSts,
    known: Known<'_>,
    builder: &mut StsBuilder,
) -> Result<(), Wrong> {
    for (index, function) in saved.functions.iter().enumerate() {
        let at = Wrong::at("functions", index);
        let scope = ExprScope {
            variables: 0,
            parameters: 0,
            locals: function.parameters.len(),
        };
        builder.function(Function {
            name: function.name.clone(),
            parameters: read_fields(&function.parameters, known.types).map_err(at)?,
            result: read_type(&function.result, known.types).map_err(at)?,
            body: expression::read(&function.body, known, scope).map_err(at)?,
        });
    }
    Ok(())
}

fn read_labels(saved: &SavedSts, types: &Types, builder: &mut StsBuilder) -> Result<(), Wrong> {
    for (index, label) in saved.labels.iter().enumerate() {
        let at = Wrong::at("labels", index);
        let parameters = read_fields(&label.parameters, types).map_err(at)?;
        let direction = match label.direction {
            SavedDirection::Stimulus => Direction::Stimulus,
            SavedDirection::Response => Direction::Response,
            SavedDirection::Internal => Direction::Internal,
        };
        let id = builder.label(Label {
            name: label.name.clone(),
            channel: label.channel.clone(),
            direction,
            parameters: parameters
                .into_iter()
                .map(|(name, ty)| Parameter { name, ty })
                .collect(),
        });
        if direction != Direction::Internal && !label.participants.is_empty() {
            return Err(at("only a hand-shake has participants".to_owned()));
        }
        for process in &label.participants {
            within("process", *process, saved.processes.len()).map_err(at)?;
            builder.participant(id, ProcessId(*process));
        }
    }
    Ok(())
}

fn read_variables(
    saved: &SavedSts,
    known: Known<'_>,
    builder: &mut StsBuilder,
) -> Result<(), Wrong> {
    for (index, variable) in saved.variables.iter().enumerate() {
        let at = Wrong::at("variables", index);
        within("process", variable.process, saved.processes.len()).map_err(at)?;
        let ty = read_type(&variable.ty, known.types).map_err(at)?;
        let initial = read_value(&variable.initial, known).map_err(at)?;
        if !known.types.fits(&initial, &ty) {
            return Err(at(format!(
                "the initial value {} does not fit the type {}",
                initial.display(known.types),
                known.types.type_name(&ty)
            )));
        }
        builder.variable(Variable {
            name: variable.name.clone(),
            process: ProcessId(variable.process),
            ty,
            initial,
            place: read_place(variable.place),
        });
    }
    Ok(())
}

fn read_processes(saved: &SavedSts, builder: &mut StsBuilder) -> Result<(), Wrong> {
    if saved.processes.is_empty() {
        return Err(Wrong {
            place: None,
            message: "there is no process".to_owned(),
        });
    }
    for (index, process) in saved.processes.iter().enumerate() {
        let at = Wrong::at("processes", index);
        let Some(initial) = saved.locations.get(process.initial as usize) else {
            return Err(at(format!("there is no location {}", process.initial)));
        };
        if initial.process as usize != index {
            return Err(at(format!(
                "its initial location {} is one of process {}",
                process.initial, initial.process
            )));
        }
        let id = builder.process(&process.name);
        builder.initial(id, LocationId(process.initial));
    }
    for (index, location) in saved.locations.iter().enumerate() {
        within("process", location.process, saved.processes.len())
            .map_err(Wrong::at("locations", index))?;
        builder.location(Location {
            name: location.name.clone(),
            process: ProcessId(location.process),
            timeout: location.timeout,
            place: read_place(location.place),
        });
    }
    Ok(())
}

fn read_switch(
    saved: &SavedSts,
    known: Known<'_>,
    switch: &SavedSwitch,
    builder: &mut StsBuilder,
) -> Result<(), String> {
    within("location", switch.source, saved.locations.len())?;
    within("location", switch.target, saved.locations.len())?;
    let process = saved.locations[switch.source as usize].process;
    if saved.locations[switch.target as usize].process != process {
        return Err(format!(
            "it leads from location {} to location {} of another process",
            switch.source, switch.target
        ));
    }
    let gate = read_gate(saved, switch.gate)?;
    let parameters = gate
        .label()
        .map_or(0, |label| saved.labels[label.index()].parameters.len());
    let scope = ExprScope {
        variables: saved.variables.len(),
        parameters,
        locals: 0,
    };
    let read_expr = |tokens: &[SavedToken], what: &str| {
        expression::read(tokens, known, scope).map_err(|message| format!("{what}: {message}"))
    };
    let guard = if switch.guard.is_empty() {
        Expr::TRUE
    } else {
        read_expr(&switch.guard, "guard")?
    };
    let mut update = Vec::with_capacity(switch.update.len());
    for assignment in &switch.update {
        within("variable", assignment.variable, saved.variables.len())?;
        update.push(Assignment {
            variable: VarId(assignment.variable),
            value: read_expr(&assignment.value, "update")?,
        });
    }
    let id = builder.switch(
        LocationId(switch.source),
        gate,
        guard,
        update,
        LocationId(switch.target),
        read_place(switch.place),
    );
    if let Some(note) = &switch.note {
        builder.note(id, note);
    }
    Ok(())
}

fn read_requirements(saved: &SavedSts, builder: &mut StsBuilder) -> Result<(), Wrong> {
    for (index, requirement) in saved.requirements.iter().enumerate() {
        for switch in &requirement.switches {
            within("switch", *switch, saved.switches.len())
                .map_err(Wrong::at("requirements", index))?;
        }
        builder.requirement(Requirement {
            id: requirement.id.clone(),
            text: requirement.text.clone(),
            switches: requirement.switches.iter().map(|s| SwitchId(*s)).collect(),
            place: read_place(requirement.place),
        });
    }
    Ok(())
}

fn read_gate(saved: &SavedSts, gate: SavedGate) -> Result<Gate, String> {
    let label = |index: u32, handshake: bool| {
        within("label", index, saved.labels.len())?;
        let label = &saved.labels[index as usize];
        if handshake == matches!(label.direction, SavedDirection::Internal) {
            Ok(LabelId(index))
        } else if handshake {
            Err(format!("the label {} is not a hand-shake", label.name))
        } else {
            Err(format!("the label {} is not observable", label.name))
        }
    };
    Ok(match gate {
        SavedGate::Tau => Gate::Tau,
        SavedGate::Observable(index) => Gate::Observable(label(index, false)?),
        SavedGate::Send(index) => Gate::Send(label(index, true)?),
        SavedGate::Receive(index) => Gate::Receive(label(index, true)?),
    })
}

fn within(what: &str, index: u32, count: usize) -> Result<(), String> {
    if (index as usize) < count {
        Ok(())
    } else {
        Err(format!("there is no {what} {index}"))
    }
}

fn read_place(place: SavedPlace) -> Place {
    Place {
        file: place.0,
        line: place.1,
        column: place.2,
    }
}

fn read_fields(fields: &[SavedField], types: &Types) -> Result<Vec<(String, Type)>, String> {
    let read = |field: &SavedField| Ok((field.name.clone(), read_type(&field.ty, types)?));
    fields.iter().map(read).collect()
}

fn read_type(ty: &SavedType, types: &Types) -> Result<Type, String> {
    Ok(match ty {
        SavedType::Bool => Type::Bool,
        SavedType::Integer => Type::INTEGER,
        SavedType::Range(min, max) if min <= max => Type::Int(IntRange {
            min: *min,
            max: *max,
        }),
        SavedType::Range(min, max) => {
            return Err(format!("the range {min}..{max} is empty"));
        }
        SavedType::Decimal => Type::Decimal,
        SavedType::String => Type::Str,
        SavedType::Date => Type::Date,
        SavedType::Time => Type::Time,
        SavedType::Enum(id) => {
            within("enumeration", *id, types.enums.len())?;
            Type::Enum(EnumId(*id))
        }
        SavedType::Array(item) => Type::Array(Box::new(read_type(item, types)?)),
        SavedType::Struct(id) => {
            within("structure", *id, types.structs.len())?;
            Type::Struct(StructId(*id))
        }
    })
}

pub fn read_value(value: &SavedValue, known: Known<'_>) -> Result<Value, String> {
    let list = |items: &[SavedValue]| {
        let read = |item| read_value(item, known);
        items.iter().map(read).collect::<Result<Arc<[Value]>, _>>()
    };
    Ok(match value {
        SavedValue::Void => Value::Void,
        SavedValue::Bool(value) => Value::Bool(*value),
        SavedValue::Int(value) => Value::Int(*value),
        SavedValue::Decimal(text) => {
            // `from_str` alone would round what is too long.
            let exact = Decimal::from_str_exact(text).or_else(|_| Decimal::from_str(text));
            match exact {
                Ok(value) if value.to_string() == *text => Value::Decimal(value),
                _ => return Err(format!("{text:?} is not a decimal")),
            }
        }
        SavedValue::String(text) => Value::str(text),
        SavedValue::Enum(id, member) => {
            within("enumeration", *id, known.types.enums.len())?;
            let members = known.types.enums[*id as usize].members.len();
            within("member", *member, members)?;
            Value::Enum(EnumId(*id), *member)
        }
        SavedValue::Array(items) => Value::Array(list(items)?),
        SavedValue::Struct(id, fields) => {
            within("structure", *id, known.types.structs.len())?;
            let expected = known.types.structs[*id as usize].fields.len();
            if fields.len() != expected {
                return Err(format!(
                    "the structure has {expected} fields, not {}",
                    fields.len()
                ));
            }
            Value::Struct(StructId(*id), list(fields)?)
        }
    })
}

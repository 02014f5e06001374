//! Trees as JSON for stand-alone test files, and conditions as code of their languages.

use ioco_engine::value_to_json;
use ioco_sts::{
    BinaryOp, Direction, Expr, Label, LabelId, Parameter, Step, Sts, Type, Types, UnaryOp, Value,
};
use rustc_hash::FxHashMap;
use serde_json::{Map, Value as Json, json};

use crate::tree::{Allowed, Tree};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Joint {
    And,
    Or,
}

/// How a language writes what conditions are made of. The operations themselves are functions of
/// the runner, so that they mean what they mean in a model: with unset values, with 64 bits.
pub trait Language {
    /// The value of a parameter; `None` where its type is not supported.
    fn parameter(&self, parameter: &Parameter) -> Option<String>;
    fn constant(&self, value: &Value, types: &Types) -> Option<String>;
    /// A value that has to be true or false, as a truth value of the language.
    fn truth(&self, operand: &str) -> String;
    fn not(&self, truth: &str) -> String;
    /// The first truth that decides ends it.
    fn joined(&self, op: Joint, truths: &[String]) -> String;
    /// A function of the runner.
    fn call(&self, function: &str, operands: &[String]) -> String;
    /// The whole condition as a function of the values.
    fn function(&self, truth: &str) -> String;
}

/// The parameters of all responses and the fields of all structures with their types, as JSON. A
/// type is its name and what it is of. `names` has the responses by their names with their channels.
pub fn types(sts: &Sts) -> String {
    let types = sts.types();
    let fields = |fields: &mut dyn Iterator<Item = (&String, &Type)>| -> Map<String, Json> {
        fields
            .map(|(name, ty)| (name.clone(), kind(ty, types)))
            .collect()
    };
    let mut responses: Map<String, Json> = Map::new();
    let wire = |id: LabelId| wire_name(sts, sts.label(id));
    for id in sts.labels_of(Direction::Response) {
        let label = sts.label(id);
        let mut parameters = label.parameters.iter().map(|p| (&p.name, &p.ty));
        responses.insert(wire(id), fields(&mut parameters).into());
    }
    let mut names: Map<String, Json> = Map::new();
    for id in sts.labels_of(Direction::Response) {
        let (name, qualified) = (wire(id), qualified(sts.label(id)));
        if !responses.contains_key(&qualified) {
            names.insert(qualified, name.into());
        }
    }
    let structs: Vec<Json> = types
        .structs
        .iter()
        .map(|declared| fields(&mut declared.fields.iter().map(|(n, t)| (n, t))).into())
        .collect();
    json!({"responses": responses, "names": names, "structs": structs}).to_string()
}

/// A label's name in the line protocol: with its channel where two labels of one direction share a
/// name.
fn wire_name(sts: &Sts, label: &Label) -> String {
    let same = |other: &&Label| other.direction == label.direction && other.name == label.name;
    match sts.labels().iter().filter(same).count() {
        0 | 1 => label.name.clone(),
        _ => qualified(label),
    }
}

fn qualified(label: &Label) -> String {
    format!("{}.{}", label.channel, label.name)
}

/// What is written of the labels of one test, found out once for each.
pub struct Labels<'s> {
    sts: &'s Sts,
    known: FxHashMap<LabelId, Written>,
}

#[derive(Clone)]
struct Written {
    /// Its name in the line protocol, as JSON.
    name: String,
    /// Per parameter, whether no condition and no update of the model mentions it: the system sets it
    /// as it likes.
    free: Vec<bool>,
}

impl<'s> Labels<'s> {
    pub fn new(sts: &'s Sts) -> Labels<'s> {
        let known = FxHashMap::default();
        Labels { sts, known }
    }

    fn written(&mut self, id: LabelId) -> Written {
        let sts = self.sts;
        let written = self.known.entry(id).or_insert_with(|| Written {
            name: Json::from(wire_name(sts, sts.label(id))).to_string(),
            free: free(sts, id),
        });
        written.clone()
    }
}

fn free(sts: &Sts, id: LabelId) -> Vec<bool> {
    let mut free = vec![true; sts.label(id).parameters.len()];
    if free.is_empty() {
        return free;
    }
    for switch in sts.switches() {
        if switch.gate.label() == Some(id) {
            let updates = switch.update.iter().map(|assignment| &assignment.value);
            for expr in [&switch.guard, &switch.enabled].into_iter().chain(updates) {
                for position in expr.params() {
                    if let Some(free) = free.get_mut(position as usize) {
                        *free = false;
                    }
                }
            }
        }
    }
    free
}

fn kind(ty: &Type, types: &Types) -> Json {
    if let Some(range) = ty.int_range() {
        return json!(["integer", [range.min, range.max]]);
    }
    match ty {
        Type::Bool => json!(["boolean", null]),
        Type::Int(_) | Type::Date | Type::Time => json!(["integer", [i64::MIN, i64::MAX]]),
        Type::Decimal => json!(["decimal", null]),
        Type::Str => json!(["string", null]),
        Type::Enum(id) => json!(["enum", types.enums.get(id.index()).map(|e| &e.members)]),
        Type::Array(item) => json!(["array", kind(item, types)]),
        Type::Struct(id) => json!(["struct", id.index()]),
    }
}

/// A tree with everything that a file without a model needs to judge a system.
pub fn tree(
    labels: &mut Labels<'_>,
    tree: &Tree,
    language: &dyn Language,
    conditions: &mut Vec<String>,
) -> String {
    let sts = labels.sts;
    let steps = tree.steps.iter().map(|step| complete(labels, step));
    let steps: Vec<String> = steps.collect();
    let points: Vec<String> = tree
        .points
        .iter()
        .map(|point| json!({"silence": point.silence, "seconds": point.timeout as f64 / 1e9}))
        .map(|point| point.to_string())
        .collect();
    let mut branches = Vec::new();
    for branch in &tree.branches {
        let label = sts.label(branch.label);
        let name = labels.written(branch.label).name;
        let mut saved = format!("\"after\":{},\"response\":{name}", branch.after);
        match &branch.allowed {
            Allowed::Values(values) => {
                let values = named(sts, &label.parameters, values, false);
                saved.push_str(&format!(",\"values\":{values}"));
            }
            Allowed::Where(condition) => {
                let code = truth(sts, &label.parameters, condition, language);
                // A condition that cannot be written here is left to the reader: inconclusive.
                let number = match code {
                    Some(code) => {
                        conditions.push(language.function(&code));
                        (conditions.len() - 1).to_string()
                    }
                    None => "null".to_owned(),
                };
                saved.push_str(&format!(",\"where\":{number}"));
            }
        }
        if let Some(then) = &branch.then {
            let then = self::tree(labels, then, language, conditions);
            saved.push_str(&format!(",\"then\":{then}"));
        }
        branches.push(format!("{{{saved}}}"));
    }
    format!(
        "{{\"branches\":[{}],\"points\":[{}],\"steps\":[{}]}}",
        branches.join(","),
        points.join(","),
        steps.join(",")
    )
}

/// A stimulus names all of its parameters, as ioco itself does. A response names those that the plan
/// leaves unset and the model leaves to the system.
fn complete(labels: &mut Labels<'_>, step: &Step) -> String {
    let Some(action) = step.action() else {
        return "{\"silence\":true}".to_owned();
    };
    let Written { name, free } = labels.written(action.label);
    let parameters = &labels.sts.label(action.label).parameters;
    let is_stimulus = matches!(step, Step::Stimulus(_));
    let values = named(labels.sts, parameters, &action.values, is_stimulus);
    if is_stimulus {
        return format!("{{\"stimulus\":{name},\"values\":{values}}}");
    }
    let given = parameters.iter().zip(&action.values).zip(free);
    let free: Vec<&str> = given
        .filter(|((_, value), free)| *free && value.is_void())
        .map(|((parameter, _), _)| parameter.name.as_str())
        .collect();
    let free = match free.is_empty() {
        true => String::new(),
        false => format!(",\"free\":{}", Json::from(free)),
    };
    format!("{{\"response\":{name},\"values\":{values}{free}}}")
}

fn named(sts: &Sts, parameters: &[Parameter], values: &[Value], all: bool) -> String {
    let pairs = parameters.iter().zip(values);
    object(
        pairs
            .filter(|(_, value)| all || !value.is_void())
            .map(|(parameter, value)| (parameter.name.as_str(), value)),
        sts.types(),
    )
}

fn object<'v>(fields: impl Iterator<Item = (&'v str, &'v Value)>, types: &Types) -> String {
    let fields: Vec<String> = fields
        .map(|(name, value)| format!("{}:{}", Json::from(name), exact(value, types)))
        .collect();
    format!("{{{}}}", fields.join(","))
}

/// A value as the line protocol has it. Decimals are numbers with all of their digits, which
/// `serde_json` would round.
fn exact(value: &Value, types: &Types) -> String {
    match value {
        Value::Decimal(number) => number.to_string(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| exact(item, types)).collect();
            format!("[{}]", items.join(","))
        }
        Value::Struct(id, fields) => {
            let names = types.structs.get(id.index()).map(|s| s.fields.as_slice());
            let names = names
                .unwrap_or_default()
                .iter()
                .map(|(name, _)| name.as_str());
            object(names.zip(fields.iter()), types)
        }
        _ => value_to_json(value, types).to_string(),
    }
}

/// A condition as code; `None` where it uses what is not supported.
fn truth(
    sts: &Sts,
    parameters: &[Parameter],
    expr: &Expr,
    language: &dyn Language,
) -> Option<String> {
    Some(language.truth(&expression(sts, parameters, expr, language)?))
}

fn expression(
    sts: &Sts,
    parameters: &[Parameter],
    expr: &Expr,
    language: &dyn Language,
) -> Option<String> {
    let sub = |expr: &Expr| expression(sts, parameters, expr, language);
    let truth = |expr: &Expr| truth(sts, parameters, expr, language);
    let is_enum = |expr: &Expr| match expr {
        Expr::Const(value) => matches!(value, Value::Enum(..)),
        Expr::Param(position) => {
            let parameter = parameters.get(*position as usize);
            parameter.is_some_and(|p| matches!(p.ty, Type::Enum(_)))
        }
        _ => false,
    };
    Some(match expr {
        Expr::Const(value) => language.constant(value, sts.types())?,
        Expr::Param(position) => language.parameter(parameters.get(*position as usize)?)?,
        Expr::Unary(UnaryOp::Not, operand) => language.not(&truth(operand)?),
        Expr::Unary(UnaryOp::Neg, operand) => language.call("negative", &[sub(operand)?]),
        Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), _) => {
            // Long conditions nest to the left, deeper than compilers like.
            let mut operands = Vec::new();
            let mut first = expr;
            while let Expr::Binary(inner, both) = first
                && inner == op
            {
                operands.push(truth(&both[1])?);
                first = &both[0];
            }
            operands.push(truth(first)?);
            operands.reverse();
            let joint = if *op == BinaryOp::And {
                Joint::And
            } else {
                Joint::Or
            };
            language.joined(joint, &operands)
        }
        Expr::Binary(op, both) => {
            let function = match op {
                BinaryOp::Eq => "equal",
                BinaryOp::Ne => "unequal",
                // Members are ordered as they are declared, and are texts here.
                _ if both.iter().any(is_enum) => return None,
                BinaryOp::Lt => "less",
                BinaryOp::Le => "at_most",
                BinaryOp::Gt => "more",
                BinaryOp::Ge => "at_least",
                BinaryOp::Add => "plus",
                BinaryOp::Sub => "minus",
                BinaryOp::Mul => "times",
                _ => return None,
            };
            language.call(function, &[sub(&both[0])?, sub(&both[1])?])
        }
        Expr::InRange(all) if !all.iter().any(is_enum) => {
            let operands = [sub(&all[0])?, sub(&all[1])?, sub(&all[2])?];
            language.call("within", &operands)
        }
        Expr::InSet(subject, items) if !items.is_empty() => {
            let subject = sub(subject)?;
            let mut parts = Vec::new();
            for item in items {
                let part = language.call("equal", &[subject.clone(), sub(item)?]);
                parts.push(language.truth(&part));
            }
            language.joined(Joint::Or, &parts)
        }
        _ => return None,
    })
}

/// Types whose values all languages here compare in the same way.
pub fn is_supported(ty: &Type) -> bool {
    matches!(ty, Type::Bool | Type::Int(_) | Type::Str | Type::Enum(_))
}

//! Trees as JSON for stand-alone test files, and conditions as code of their languages.

use ioco_engine::{SavedStep, value_to_json};
use ioco_sts::{BinaryOp, Expr, Parameter, Sts, Type, UnaryOp, Value};
use serde_json::{Map, Value as Json, json};

use crate::tree::{Allowed, Tree};

/// How a language writes what conditions are made of.
pub trait Language {
    /// The value of a parameter; `None` where its type is not supported.
    fn parameter(&self, parameter: &Parameter) -> Option<String>;
    fn is_set(&self, name: &str) -> String;
    fn text(&self, text: &str) -> String;
    fn boolean(&self, value: bool) -> &'static str;
    fn and(&self) -> &'static str;
    fn or(&self) -> &'static str;
    fn not(&self, operand: &str) -> String;
    /// The whole condition as a function of the values.
    fn function(&self, condition: &str) -> String;
}

/// A tree with everything that a file without a model needs to judge a system.
pub fn tree(sts: &Sts, tree: &Tree, language: &dyn Language, conditions: &mut Vec<String>) -> Json {
    let steps: Vec<Json> = tree.steps.iter().map(|step| complete(sts, step)).collect();
    let points: Vec<Json> = tree
        .points
        .iter()
        .map(|point| json!({"silence": point.silence, "seconds": point.timeout as f64 / 1e9}))
        .collect();
    let mut branches = Vec::new();
    for branch in &tree.branches {
        let label = sts.label(branch.label);
        let mut saved = json!({"after": branch.after, "response": label.name});
        match &branch.allowed {
            Allowed::Values(values) => {
                saved["values"] = named(sts, &label.parameters, values, false).into();
            }
            Allowed::Where(condition) => {
                let code = expression(sts, &label.parameters, condition, language);
                // A condition that cannot be written here is left to the reader: inconclusive.
                saved["where"] = match code {
                    Some(code) => {
                        conditions.push(language.function(&code));
                        (conditions.len() - 1).into()
                    }
                    None => Json::Null,
                };
            }
        }
        if let Some(then) = &branch.then {
            saved["then"] = self::tree(sts, then, language, conditions);
        }
        branches.push(saved);
    }
    json!({"steps": steps, "points": points, "branches": branches})
}

/// A stimulus names all of its parameters, as ioco itself does.
fn complete(sts: &Sts, step: &ioco_sts::Step) -> Json {
    let mut json = serde_json::to_value(SavedStep::new(step, sts)).unwrap_or_default();
    if let Some(action) = step.action() {
        let parameters = &sts.label(action.label).parameters;
        let all = matches!(step, ioco_sts::Step::Stimulus(_));
        json["values"] = named(sts, parameters, &action.values, all).into();
    }
    json
}

fn named(sts: &Sts, parameters: &[Parameter], values: &[Value], all: bool) -> Map<String, Json> {
    parameters
        .iter()
        .zip(values)
        .filter(|(_, value)| all || !value.is_void())
        .map(|(parameter, value)| {
            let json = match (value, value_to_json(value, sts.types())) {
                // The line protocol has decimals as numbers.
                (Value::Decimal(_), Json::String(text)) => {
                    serde_json::from_str(&text).unwrap_or(Json::String(text))
                }
                (_, json) => json,
            };
            (parameter.name.clone(), json)
        })
        .collect()
}

/// A condition as code; `None` where it uses what is not supported.
fn expression(
    sts: &Sts,
    parameters: &[Parameter],
    expr: &Expr,
    language: &dyn Language,
) -> Option<String> {
    let sub = |expr: &Expr| expression(sts, parameters, expr, language);
    let name = |expr: &Expr| match expr {
        Expr::Param(position) => Some(parameters.get(*position as usize)?.name.clone()),
        _ => None,
    };
    Some(match expr {
        Expr::Const(Value::Bool(value)) => language.boolean(*value).to_owned(),
        Expr::Const(Value::Int(value)) if *value < 0 => format!("({value})"),
        Expr::Const(Value::Int(value)) => value.to_string(),
        Expr::Const(Value::Str(text)) => language.text(text),
        Expr::Const(Value::Enum(id, member)) => {
            language.text(sts.types().member_name(*id, *member))
        }
        Expr::Param(position) => language.parameter(parameters.get(*position as usize)?)?,
        Expr::Unary(UnaryOp::Not, operand) => language.not(&sub(operand)?),
        Expr::Unary(UnaryOp::Neg, operand) => format!("(-{})", sub(operand)?),
        Expr::Binary(op, both) => {
            let void = Expr::Const(Value::Void);
            match (op, &both[0], &both[1]) {
                (BinaryOp::Ne, side, other) | (BinaryOp::Ne, other, side) if *other == void => {
                    language.is_set(&name(side)?)
                }
                (BinaryOp::Eq, side, other) | (BinaryOp::Eq, other, side) if *other == void => {
                    language.not(&language.is_set(&name(side)?))
                }
                _ => {
                    let symbol = match op {
                        BinaryOp::And => language.and(),
                        BinaryOp::Or => language.or(),
                        BinaryOp::Eq
                        | BinaryOp::Ne
                        | BinaryOp::Lt
                        | BinaryOp::Le
                        | BinaryOp::Gt
                        | BinaryOp::Ge
                        | BinaryOp::Add
                        | BinaryOp::Sub
                        | BinaryOp::Mul => op.symbol()?,
                        // Division rounds differently in different languages.
                        BinaryOp::Div
                        | BinaryOp::Rem
                        | BinaryOp::Min
                        | BinaryOp::Max
                        | BinaryOp::Index => return None,
                    };
                    format!("({} {symbol} {})", sub(&both[0])?, sub(&both[1])?)
                }
            }
        }
        Expr::InRange(all) => {
            let [subject, low, high] = [sub(&all[0])?, sub(&all[1])?, sub(&all[2])?];
            format!(
                "({low} <= {subject} {} {subject} <= {high})",
                language.and()
            )
        }
        Expr::InSet(subject, items) => {
            let subject = sub(subject)?;
            let mut parts = Vec::new();
            for item in items {
                parts.push(format!("{subject} == {}", sub(item)?));
            }
            let joiner = format!(" {} ", language.or());
            match parts.is_empty() {
                true => language.boolean(false).to_owned(),
                false => format!("({})", parts.join(&joiner)),
            }
        }
        _ => return None,
    })
}

/// Types whose values all languages here compare in the same way.
pub fn is_supported(ty: &Type) -> bool {
    matches!(ty, Type::Bool | Type::Int(_) | Type::Str | Type::Enum(_))
}

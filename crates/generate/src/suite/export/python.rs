//! A suite as a file for pytest. It needs pytest and an adapter, and nothing else.

use ioco_sts::{Parameter, Sts, Type, Types, Value};

use super::code::{Joint, Language, is_supported, types};
use super::flat;
use crate::tree::Tree;

const RUNNER: &str = include_str!("runner.py");

struct Python;

impl Language for Python {
    fn parameter(&self, parameter: &Parameter) -> Option<String> {
        let known = is_supported(&parameter.ty) || parameter.ty == Type::Decimal;
        known.then(|| format!("v[{}]", quoted(&parameter.name)))
    }

    fn constant(&self, value: &Value, types: &Types) -> Option<String> {
        Some(match value {
            Value::Void => "None".to_owned(),
            Value::Bool(true) => "True".to_owned(),
            Value::Bool(false) => "False".to_owned(),
            Value::Int(number) => number.to_string(),
            Value::Decimal(number) => format!("decimal.Decimal(\"{number}\")"),
            Value::Str(text) => quoted(text),
            Value::Enum(id, member) => quoted(types.member_name(*id, *member)),
            Value::Array(_) | Value::Struct(..) => return None,
        })
    }

    fn truth(&self, operand: &str) -> String {
        format!("truth({operand})")
    }

    fn not(&self, truth: &str) -> String {
        format!("(not {truth})")
    }

    fn joined(&self, op: Joint, truths: &[String]) -> String {
        let word = match op {
            Joint::And => " and ",
            Joint::Or => " or ",
        };
        format!("({})", truths.join(word))
    }

    fn call(&self, function: &str, operands: &[String]) -> String {
        format!("{function}({})", operands.join(", "))
    }

    fn function(&self, truth: &str) -> String {
        format!("lambda v: {truth}")
    }
}

/// A JSON string is a string of Python, too.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

pub fn begin(sts: &Sts, command: Option<&str>) -> String {
    RUNNER
        .replace("MODEL_NAME", &sts.name().replace(['"', '\\'], "'"))
        .replace("\"SYSTEM_COMMAND\"", &quoted(command.unwrap_or("")))
        .replace("\"MODEL_TYPES\"", &format!("'{}'", escaped(&types(sts))))
}

/// JSON in a string of Python with single quotes, which JSON itself does not use.
fn escaped(json: &str) -> String {
    json.replace('\\', "\\\\").replace('\'', "\\'")
}

pub fn test(sts: &Sts, number: u64, name: &str, tree: &Tree) -> String {
    let flat = flat(sts, tree, &Python);
    let name = name.replace(['"', '\\', '\n'], "'");
    let mut text = format!("\n\ndef test_{number}(system):\n    \"\"\"{name}\"\"\"\n");
    let json = escaped(&flat.json);
    text.push_str(&format!("    tree = read('{json}')\n"));
    let conditions = flat.conditions.join(", ");
    text.push_str(&format!("    run(system, tree, [{conditions}])\n"));
    text
}

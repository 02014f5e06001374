//! A suite as a file for pytest. It needs pytest and an adapter, and nothing else.

use ioco_sts::{Parameter, Sts};

use super::code::{Language, is_supported};
use super::flat;
use crate::tree::Tree;

const RUNNER: &str = include_str!("runner.py");

struct Python;

impl Language for Python {
    fn parameter(&self, parameter: &Parameter) -> Option<String> {
        is_supported(&parameter.ty).then(|| format!("v[{}]", quoted(&parameter.name)))
    }

    fn is_set(&self, name: &str) -> String {
        format!("(v.get({}) is not None)", quoted(name))
    }

    fn text(&self, text: &str) -> String {
        quoted(text)
    }

    fn boolean(&self, value: bool) -> &'static str {
        if value { "True" } else { "False" }
    }

    fn and(&self) -> &'static str {
        "and"
    }

    fn or(&self) -> &'static str {
        "or"
    }

    fn not(&self, operand: &str) -> String {
        format!("(not {operand})")
    }

    fn function(&self, condition: &str) -> String {
        format!("lambda v: {condition}")
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
}

pub fn test(sts: &Sts, number: u64, name: &str, tree: &Tree) -> String {
    let flat = flat(sts, tree, &Python);
    let name = name.replace(['"', '\\', '\n'], "'");
    let mut text = format!("\n\ndef test_{number}(system):\n    \"\"\"{name}\"\"\"\n");
    // A string within a string: JSON has no single quotes of its own.
    let json = flat.json.replace('\\', "\\\\").replace('\'', "\\'");
    text.push_str(&format!("    tree = json.loads('{json}')\n"));
    let conditions = flat.conditions.join(", ");
    text.push_str(&format!("    run(system, tree, [{conditions}])\n"));
    text
}

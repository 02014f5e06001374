//! A suite as a file of Rust tests. It needs the standard library and an adapter, and nothing
//! else.

use ioco_sts::{Parameter, Sts, Types, Value};

use super::code::{Joint, Language, is_supported, types};
use super::flat;
use crate::tree::Tree;

const RUNNER: &str = include_str!("runner.rs.txt");

struct Rust;

impl Language for Rust {
    fn parameter(&self, parameter: &Parameter) -> Option<String> {
        let name = quoted(&parameter.name);
        is_supported(&parameter.ty).then(|| format!("v.of({name})"))
    }

    fn constant(&self, value: &Value, types: &Types) -> Option<String> {
        let text = |text: &str| format!("Json::Text({}.to_owned())", quoted(text));
        Some(match value {
            Value::Void => "Json::Null".to_owned(),
            Value::Bool(value) => format!("Json::Bool({value})"),
            Value::Int(number) => format!("Json::Number(\"{number}\".to_owned())"),
            Value::Str(value) => text(value),
            Value::Enum(id, member) => text(types.member_name(*id, *member)),
            Value::Decimal(_) | Value::Array(_) | Value::Struct(..) => return None,
        })
    }

    fn truth(&self, operand: &str) -> String {
        format!("{operand}.truth()?")
    }

    fn not(&self, truth: &str) -> String {
        format!("Json::Bool(!{truth})")
    }

    fn joined(&self, op: Joint, truths: &[String]) -> String {
        let symbol = match op {
            Joint::And => " && ",
            Joint::Or => " || ",
        };
        format!("Json::Bool({})", truths.join(symbol))
    }

    fn call(&self, function: &str, operands: &[String]) -> String {
        format!("Json::{function}({})?", operands.join(", "))
    }

    fn function(&self, truth: &str) -> String {
        format!("|v| Some({truth})")
    }
}

fn quoted(text: &str) -> String {
    format!("{text:?}")
}

pub fn begin(sts: &Sts, command: Option<&str>) -> String {
    RUNNER
        .replace("MODEL_NAME", &sts.name().replace('\n', " "))
        .replace("\"SYSTEM_COMMAND\"", &quoted(command.unwrap_or("")))
        .replace("\"MODEL_TYPES\"", &raw(&types(sts)))
}

/// A raw string, with as many marks as no string of the JSON has.
fn raw(json: &str) -> String {
    let mut marks = "#".to_owned();
    while json.contains(&format!("\"{marks}")) {
        marks.push('#');
    }
    format!("r{marks}\"{json}\"{marks}")
}

pub fn test(sts: &Sts, number: u64, name: &str, tree: &Tree) -> String {
    let flat = flat(sts, tree, &Rust);
    let name = name.replace('\n', " ");
    let json = raw(&flat.json);
    let conditions = flat.conditions.join(", ");
    format!(
        "\n/// {name}\n#[test]\nfn test_{number}() {{\n    run({json}, \
         &[{conditions}]);\n}}\n"
    )
}

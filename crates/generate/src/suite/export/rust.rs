//! A suite as a file of Rust tests. It needs the standard library and an adapter, and nothing
//! else.

use ioco_sts::{Parameter, Sts, Type};

use super::code::Language;
use super::flat;
use crate::tree::Tree;

const RUNNER: &str = include_str!("runner.rs.txt");

struct Rust;

impl Language for Rust {
    fn parameter(&self, parameter: &Parameter) -> Option<String> {
        let name = quoted(&parameter.name);
        match parameter.ty {
            Type::Bool => Some(format!("v.flag({name})?")),
            Type::Int(_) => Some(format!("v.number({name})?")),
            Type::Str | Type::Enum(_) => Some(format!("v.text({name})?")),
            _ => None,
        }
    }

    fn is_set(&self, name: &str) -> String {
        format!("v.is_set({})", quoted(name))
    }

    fn text(&self, text: &str) -> String {
        quoted(text)
    }

    fn boolean(&self, value: bool) -> &'static str {
        if value { "true" } else { "false" }
    }

    fn and(&self) -> &'static str {
        "&&"
    }

    fn or(&self) -> &'static str {
        "||"
    }

    fn not(&self, operand: &str) -> String {
        format!("!{operand}")
    }

    fn function(&self, condition: &str) -> String {
        format!("|v| Some({condition})")
    }
}

fn quoted(text: &str) -> String {
    format!("{text:?}")
}

pub fn begin(sts: &Sts, command: Option<&str>) -> String {
    RUNNER
        .replace("MODEL_NAME", &sts.name().replace('\n', " "))
        .replace("\"SYSTEM_COMMAND\"", &quoted(command.unwrap_or("")))
}

pub fn test(sts: &Sts, number: u64, name: &str, tree: &Tree) -> String {
    let flat = flat(sts, tree, &Rust);
    let name = name.replace('\n', " ");
    // As many marks as no string of the JSON has.
    let mut marks = "#".to_owned();
    while flat.json.contains(&format!("\"{marks}")) {
        marks.push('#');
    }
    let json = &flat.json;
    let conditions = flat.conditions.join(", ");
    format!(
        "\n/// {name}\n#[test]\nfn test_{number}() {{\n    run(r{marks}\"{json}\"{marks}, \
         &[{conditions}]);\n}}\n"
    )
}

//! From an OpenAPI description, in JSON or YAML, to labels, a mapping and a first model.
//!
//! Every operation becomes a stimulus, every status that it describes a response. The model allows
//! every described answer to every operation, at any time: a beginning, to be refined by hand.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use crate::exit::CommandError;
use ioco_budget::Budget;
use serde_json::Value as Json;

const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

/// A parameter of a label.
struct Field {
    name: String,
    type_name: &'static str,
    /// What the description says about its values, as a condition of the model.
    condition: Option<String>,
}

struct Operation {
    name: String,
    method: String,
    /// With the parameters of the label in braces.
    path: String,
    fields: Vec<Field>,
    /// The members of the body, by the field's name.
    answers: Vec<(Status, Vec<Field>)>,
}

/// Which answers a description speaks of.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Status {
    Code(u16),
    /// `4XX`: a hundred of them.
    Class(char),
    /// `default`: those that are not mentioned.
    Other,
}

impl Status {
    fn read(text: &str) -> Option<Status> {
        if text == "default" {
            return Some(Status::Other);
        }
        if let Ok(code) = text.parse() {
            return Some(Status::Code(code));
        }
        let class = text.chars().next().filter(char::is_ascii_digit)?;
        text[1..]
            .eq_ignore_ascii_case("xx")
            .then_some(Status::Class(class))
    }
}

/// The files of a project: ioco.toml, model.aml and a page of text.
pub fn import(file: &Path, budget: &Budget) -> Result<Vec<(String, String)>, CommandError> {
    let text = ioco_outside::file::read_text(file, budget)
        .map_err(|error| CommandError::usage(format!("cannot read {}: {error}", file.display())))?;
    let description = read(&text)
        .map_err(|why| CommandError::usage(format!("{} cannot be read: {why}", file.display())))?;
    let operations = operations(&description);
    if operations.is_empty() {
        return Err(
            CommandError::usage(format!("{} describes no operation", file.display()))
                .hint("an OpenAPI description has \"paths\" with methods in them"),
        );
    }
    let server = description["servers"][0]["url"]
        .as_str()
        .unwrap_or_default();
    let server = if server.starts_with("http") {
        server
    } else {
        "http://localhost:8000"
    };
    Ok(vec![
        ("ioco.toml".to_owned(), settings(&operations, server)),
        ("model.aml".to_owned(), model(&operations)),
    ])
}

/// JSON where it begins as JSON does, else YAML.
fn read(text: &str) -> Result<Json, String> {
    if text.trim_start().starts_with('{') {
        return serde_json::from_str(text).map_err(|error| error.to_string());
    }
    // YAML 1.2, in which `yes` and `no` are words.
    let options = serde_saphyr::options! { strict_booleans: true, with_snippet: false };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| error.to_string())
}

fn operations(description: &Json) -> Vec<Operation> {
    let mut operations = Vec::new();
    let mut names = BTreeSet::new();
    for (path, item) in description["paths"].as_object().into_iter().flatten() {
        for method in METHODS {
            let Some(operation) = item.get(method) else {
                continue;
            };
            let id = operation["operationId"].as_str();
            let mut name = identifier(&id.map_or_else(|| format!("{method}{path}"), str::to_owned));
            while !names.insert(name.clone()) {
                name.push('_');
            }
            let mut fields = Vec::new();
            let mut query = Vec::new();
            let own = operation["parameters"].as_array().into_iter().flatten();
            for parameter in item["parameters"]
                .as_array()
                .into_iter()
                .flatten()
                .chain(own)
            {
                let parameter = resolve(parameter, description);
                let place = parameter["in"].as_str().unwrap_or_default();
                let parameter_name = parameter["name"].as_str().unwrap_or_default();
                if place != "path" && place != "query" {
                    continue;
                }
                if let Some(field) = field(parameter_name, &parameter["schema"], description) {
                    if place == "query" {
                        query.push(field.name.clone());
                    }
                    fields.push(field);
                }
            }
            let body = &operation["requestBody"]["content"]["application/json"]["schema"];
            let in_url: BTreeSet<String> = fields.iter().map(|f| f.name.clone()).collect();
            let in_body = members(body, description);
            fields.extend(in_body.into_iter().filter(|f| !in_url.contains(&f.name)));
            let mut full_path = braces(path);
            if !METHODS[..1].contains(&method) && method != "delete" {
                for (index, name) in query.iter().enumerate() {
                    let mark = if index == 0 { '?' } else { '&' };
                    let _ = write!(full_path, "{mark}{name}={{{name}}}");
                }
            }
            let answers = operation["responses"].as_object().into_iter().flatten();
            let answers = answers.filter_map(|(status, answer)| {
                let answer = resolve(answer, description);
                let schema = &answer["content"]["application/json"]["schema"];
                Some((Status::read(status)?, members(schema, description)))
            });
            operations.push(Operation {
                name,
                method: method.to_uppercase(),
                path: full_path,
                fields,
                answers: answers.collect(),
            });
        }
    }
    operations
}

/// The parameters of a path, under the names that they have in the model.
fn braces(path: &str) -> String {
    let mut out = String::new();
    let mut rest = path;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}').unwrap_or((after, ""));
        let _ = write!(out, "{before}{{{}}}", identifier(name));
        rest = after;
    }
    out + rest
}

/// Follows a reference within the description.
fn resolve<'d>(json: &'d Json, description: &'d Json) -> &'d Json {
    let target = json["$ref"].as_str().and_then(|r| r.strip_prefix('#'));
    target
        .and_then(|pointer| description.pointer(pointer))
        .unwrap_or(json)
}

/// How deep schemas may be put together from others; deeper they go round.
const MAX_DEPTH: usize = 16;

/// The members of an object that the model can speak of: numbers, texts and truths.
fn members(schema: &Json, description: &Json) -> Vec<Field> {
    let mut fields = Vec::new();
    collect(schema, description, MAX_DEPTH, &mut fields);
    fields
}

fn collect(schema: &Json, description: &Json, depth: usize, fields: &mut Vec<Field>) {
    let schema = resolve(schema, description);
    for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
        let is_new = fields.iter().all(|field| field.name != *name);
        fields.extend(field(name, schema, description).filter(|_| is_new));
    }
    let parts = schema["allOf"].as_array().filter(|_| depth > 0);
    for part in parts.into_iter().flatten() {
        collect(part, description, depth - 1, fields);
    }
}

fn field(name: &str, schema: &Json, description: &Json) -> Option<Field> {
    let schema = resolve(schema, description);
    let name_in_model = identifier(name);
    // The mapping finds members by their names.
    if name_in_model != name {
        return None;
    }
    let (type_name, condition) = match schema["type"].as_str()? {
        "integer" => {
            let low = schema["minimum"].as_i64();
            let high = schema["maximum"].as_i64();
            let condition = match (low, high) {
                (Some(low), Some(high)) => Some(format!("{name} in {low}..{high}")),
                (Some(low), None) => Some(format!("{name} >= {low}")),
                (None, Some(high)) => Some(format!("{name} <= {high}")),
                (None, None) => None,
            };
            (":integer", condition)
        }
        "number" => (":decimal", None),
        "boolean" => (":boolean", None),
        "string" => {
            let members = schema["enum"].as_array().into_iter().flatten();
            let members: Vec<String> = members
                .filter_map(Json::as_str)
                // What a condition inside quotes cannot say is left to the person.
                .filter(|member| !member.contains(['"', '\'', '\\', '\n']))
                .map(|member| format!("{name} == \"{member}\""))
                .collect();
            (
                ":string",
                (!members.is_empty()).then(|| members.join(" || ")),
            )
        }
        _ => return None,
    };
    Some(Field {
        name: name_in_model,
        type_name,
        condition,
    })
}

/// A name that AML takes.
fn identifier(text: &str) -> String {
    let mut name: String = text
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect();
    while name.contains("__") {
        name = name.replace("__", "_");
    }
    let name = name.trim_matches('_').to_owned();
    match name.chars().next() {
        Some(first) if !first.is_ascii_digit() => name,
        _ => format!("op_{name}"),
    }
}

fn answer_name(operation: &Operation, status: &Status) -> String {
    let name = &operation.name;
    match status {
        Status::Code(code) => format!("{name}_{code}"),
        Status::Class(class) => format!("{name}_{class}xx"),
        Status::Other => format!("{name}_default"),
    }
}

fn settings(operations: &[Operation], server: &str) -> String {
    let mut out = format!(
        "model = \"model.aml\"\n\n[sut]\nhttp = {server:?}\n\n[http]\n\
         # The request that brings the system into its initial state:\n\
         # reset = {{ method = \"POST\", path = \"/reset\" }}\n"
    );
    for operation in operations {
        let _ = write!(
            out,
            "\n[http.stimuli.{}]\nmethod = {:?}\npath = {:?}\n",
            operation.name, operation.method, operation.path
        );
        for (status, _) in &operation.answers {
            let name = answer_name(operation, status);
            let _ = write!(
                out,
                "\n[http.responses.{name}]\nto = {:?}\n",
                operation.name
            );
            let _ = match status {
                Status::Code(code) => writeln!(out, "status = {code}"),
                Status::Class(class) => writeln!(out, "status = \"{class}xx\""),
                Status::Other => Ok(()),
            };
        }
    }
    out
}

fn declare(fields: &[Field]) -> String {
    if fields.is_empty() {
        return String::new();
    }
    let fields: Vec<String> = fields
        .iter()
        .map(|field| format!("'{}' => {}", field.name, field.type_name))
        .collect();
    format!(", {{{}}}", fields.join(", "))
}

fn model(operations: &[Operation]) -> String {
    let mut out = String::from(
        "# A first model: every described answer to every operation, at any time. Say more: which\n\
         # answer is right when, and with which values.\n\n\
         timeout 1.0\n\nexternal 'http'\n\nprocess('service') {\n  channel('http') {\n",
    );
    for operation in operations {
        let _ = writeln!(
            out,
            "    stimulus '{}'{}",
            operation.name,
            declare(&operation.fields)
        );
        for (status, fields) in &operation.answers {
            let name = answer_name(operation, status);
            let _ = writeln!(out, "    response '{name}'{}", declare(fields));
        }
    }
    out.push_str("  }\n\n  state 'ready'\n  repeat {\n");
    for operation in operations {
        let conditions: Vec<String> = operation
            .fields
            .iter()
            .map(|f| {
                let any = format!("{} == {}", f.name, f.name);
                format!("({})", f.condition.clone().unwrap_or(any))
            })
            .collect();
        let constraint = match conditions.as_slice() {
            [] => String::new(),
            some => format!(", constraint: '{}'", some.join(" && ")),
        };
        let _ = write!(
            out,
            "    o {{\n      receive '{}'{constraint}\n",
            operation.name
        );
        if !operation.answers.is_empty() {
            out.push_str("      choice {\n");
            for (status, _) in &operation.answers {
                let _ = writeln!(
                    out,
                    "        o {{ send '{}' }}",
                    answer_name(operation, status)
                );
            }
            out.push_str("      }\n");
        }
        out.push_str("    }\n");
    }
    out.push_str("  }\n}\n");
    out
}

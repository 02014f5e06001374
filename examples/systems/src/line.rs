//! The line protocol: one JSON object a line, from the tester on standard input, to it on standard
//! output.

use std::io::{self, BufRead, Write};

use ioco_sts::Value;
use serde_json::{Map, Value as Json, json};

use crate::System;
use ioco_sts::Message;

/// What a line of the tester asks for.
#[derive(Debug, PartialEq)]
pub enum Request {
    Reset,
    Stimulus(Message),
}

/// Reads one line of the tester.
pub fn parse(line: &str) -> Result<Request, String> {
    let json: Json =
        serde_json::from_str(line).map_err(|error| format!("not a JSON object: {error}"))?;
    let Json::Object(mut object) = json else {
        return Err("not a JSON object".to_owned());
    };
    match (object.remove("stimulus"), object.remove("reset")) {
        (None, Some(Json::Bool(true))) => Ok(Request::Reset),
        (Some(Json::String(label)), None) => {
            let values = match object.remove("values") {
                None | Some(Json::Null) => Vec::new(),
                Some(Json::Object(values)) => values
                    .into_iter()
                    .map(|(name, value)| from_json(&name, value).map(|value| (name, value)))
                    .collect::<Result<_, _>>()?,
                Some(_) => return Err("\"values\" must be an object".to_owned()),
            };
            Ok(Request::Stimulus(Message { label, values }))
        }
        (Some(_), None) => Err("\"stimulus\" must be a string".to_owned()),
        _ => Err("expected {\"stimulus\": ...} or {\"reset\": true}".to_owned()),
    }
}

fn from_json(name: &str, json: Json) -> Result<Value, String> {
    match json {
        Json::Null => Ok(Value::Void),
        Json::Bool(value) => Ok(Value::Bool(value)),
        Json::String(text) => Ok(Value::str(&text)),
        Json::Number(number) => number
            .as_i64()
            .map(Value::Int)
            .ok_or_else(|| format!("value {number} of \"{name}\" is not an integer of 64 bits")),
        Json::Array(_) | Json::Object(_) => Err(format!(
            "value of \"{name}\" must be an integer, a boolean or a string"
        )),
    }
}

fn to_json(value: &Value) -> Json {
    match value {
        Value::Bool(value) => json!(value),
        Value::Int(value) => json!(value),
        Value::Str(text) => json!(text.as_ref()),
        Value::Array(items) => items.iter().map(to_json).collect(),
        // No system here answers with anything else.
        _ => Json::Null,
    }
}

/// A response as a line, with its newline.
pub fn response(response: &Message) -> String {
    let values: Map<String, Json> = response
        .values
        .iter()
        .map(|(name, value)| (name.clone(), to_json(value)))
        .collect();
    format!(
        "{{\"response\":{},\"values\":{}}}\n",
        json!(response.label),
        Json::Object(values)
    )
}

/// An error as a line.
pub fn error(message: &str) -> String {
    format!("{}\n", json!({ "error": message }))
}

pub const READY: &str = "{\"ready\":true}\n";

/// The same from a system that also says that nothing will come by itself.
pub const READY_AND_QUIESCENT: &str = "{\"ready\":true,\"quiescent\":true}\n";
pub const QUIESCENT: &str = "{\"quiescent\":true}\n";

/// Everything that `system` says to one line of the tester.
pub fn answer(system: &mut dyn System, line: &str, announces_quiescence: bool) -> String {
    let stimulus = match parse(line) {
        Ok(Request::Reset) => {
            system.reset();
            let ready = if announces_quiescence {
                READY_AND_QUIESCENT
            } else {
                READY
            };
            return ready.to_owned();
        }
        Ok(Request::Stimulus(stimulus)) => stimulus,
        Err(message) => return error(&message),
    };
    if let Err(message) = system.check(&stimulus) {
        return error(&message);
    }
    let mut text: String = system.give(&stimulus).iter().map(response).collect();
    if announces_quiescence {
        text.push_str(QUIESCENT);
    }
    text
}

/// Serves a system until the input ends: one write and one flush for each line of the tester.
pub fn serve(
    system: &mut dyn System,
    mut input: impl BufRead,
    mut output: impl Write,
    announces_quiescence: bool,
) -> io::Result<()> {
    let mut line = String::new();
    loop {
        line.clear();
        if input.read_line(&mut line)? == 0 {
            return Ok(());
        }
        if line.trim().is_empty() {
            continue;
        }
        output.write_all(answer(system, &line, announces_quiescence).as_bytes())?;
        output.flush()?;
    }
}

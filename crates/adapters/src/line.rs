//! The line protocol: one JSON object a line, both ways.
//!
//! ```text
//! {"reset":true}                                   →
//!                                                  ←  {"ready":true}
//! {"stimulus":"lock","values":{"passcode":1234}}   →
//!                                                  ←  {"response":"locked","values":{}}
//! ```
//!
//! The other side may also say `{"error":"..."}`, `{"quiescent":true}` once after each stimulus
//! (and after `ready`), and announce what it knows: `{"labels":["?lock","!locked"]}`. Everything
//! here is a pure function of its input; waiting and reading happen in the connections.

use std::sync::Arc;

use ioco_sts::{Action, Direction, Label, LabelId, Sts};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::connection::AdapterError;
use crate::values::{Mismatch, read_object, read_parameters, read_text, shorten, write_text};
use crate::values::{Object, write_value};

/// What the tester says to bring the system into its initial state.
pub const RESET: &[u8] = b"{\"reset\":true}\n";

/// Unknown labels of an announcement that are named, and characters of each: a system can announce any number.
const MAX_ANNOUNCED: usize = 100;
const LONGEST_ANNOUNCED: usize = 200;

/// A line from the system's side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    Response(Action),
    /// A response that the model has no label for, or whose values do not have its types.
    Unknown(String),
    /// The system will stay silent until the next stimulus.
    Quiescent,
    /// The reset is done; `quiescent` where the same line also says that.
    Ready {
        quiescent: bool,
    },
    /// The adapter or the system has a problem of its own.
    Error(String),
    /// The labels that the other side knows, with their marks.
    Labels(Vec<String>),
    /// Nothing but white space.
    Blank,
}

/// The keys of all lines that may come. Others are ignored, so that the protocol can grow.
#[derive(Deserialize)]
struct Keys<'a> {
    #[serde(borrow)]
    response: Option<&'a RawValue>,
    #[serde(borrow)]
    values: Option<&'a RawValue>,
    ready: Option<bool>,
    quiescent: Option<bool>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    labels: Option<Vec<String>>,
}

/// Encodes stimuli and decodes lines for one model.
#[derive(Debug)]
pub struct Codec {
    sts: Arc<Sts>,
    /// Per label, its name on the line.
    names: Vec<String>,
    /// Per label, the text up to the value of its first parameter, and from there to each next.
    prefixes: Vec<Vec<Vec<u8>>>,
    responses: FxHashMap<String, LabelId>,
}

impl Codec {
    pub fn new(sts: Arc<Sts>) -> Codec {
        let names = wire_names(&sts);
        let prefixes = sts
            .labels()
            .iter()
            .zip(&names)
            .map(|(label, name)| prefixes(label, name))
            .collect();
        let mut responses = FxHashMap::default();
        for id in sts.labels_of(Direction::Response) {
            responses.insert(names[id.index()].clone(), id);
        }
        // With its channel a label is understood everywhere, also where that is not needed.
        for id in sts.labels_of(Direction::Response) {
            responses.entry(qualified(sts.label(id))).or_insert(id);
        }
        Codec {
            sts,
            names,
            prefixes,
            responses,
        }
    }

    pub fn sts(&self) -> &Arc<Sts> {
        &self.sts
    }

    /// Appends a stimulus as one line, newline included. Every parameter is there; those that are
    /// unset are `null`.
    pub fn write_stimulus(&self, stimulus: &Action, out: &mut Vec<u8>) {
        let prefixes = &self.prefixes[stimulus.label.index()];
        out.extend_from_slice(&prefixes[0]);
        for (position, prefix) in prefixes[1..].iter().enumerate() {
            out.extend_from_slice(prefix);
            match stimulus.values.get(position) {
                Some(value) => write_value(value, self.sts.types(), out),
                None => out.extend_from_slice(b"null"),
            }
        }
        out.extend_from_slice(b"}}\n");
    }

    /// Appends a response as one line, newline included: what a system says.
    pub(crate) fn write_response(&self, response: &Action, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"response\":");
        write_text(&self.names[response.label.index()], out);
        out.extend_from_slice(b",\"values\":{");
        let parameters = &self.sts.label(response.label).parameters;
        for (position, (parameter, value)) in parameters.iter().zip(&response.values).enumerate() {
            if position > 0 {
                out.push(b',');
            }
            write_text(&parameter.name, out);
            out.push(b':');
            write_value(value, self.sts.types(), out);
        }
        out.extend_from_slice(b"}}\n");
    }

    /// Reads one line, with or without its end. What cannot be understood is an error of the
    /// adapter; what can be understood but not matched to the model is [`Line::Unknown`].
    pub fn read_line(&self, line: &[u8]) -> Result<Line, AdapterError> {
        let line = line.trim_ascii();
        if line.is_empty() {
            return Ok(Line::Blank);
        }
        if line[0] != b'{' {
            return Err(not_understood(line, "it is not a JSON object"));
        }
        let keys: Keys<'_> = serde_json::from_slice(line).map_err(|error| {
            // The error counts columns; the line number is always one and says nothing.
            let reason = error.to_string();
            let reason = reason.split(" at line ").next().unwrap_or_default();
            not_understood(line, &format!("{reason} (column {})", error.column()))
        })?;
        if let Some(name) = keys.response {
            return self.read_response(line, name.get(), keys.values);
        }
        if let Some(error) = keys.error {
            let text = read_text(error.get()).unwrap_or_else(|| error.get().to_owned());
            return Ok(Line::Error(text));
        }
        let quiescent = keys.quiescent == Some(true);
        if keys.ready == Some(true) {
            return Ok(Line::Ready { quiescent });
        }
        if quiescent {
            return Ok(Line::Quiescent);
        }
        if let Some(labels) = keys.labels {
            return Ok(Line::Labels(labels));
        }
        Err(not_understood(line, "it has none of the known keys"))
    }

    fn read_response(
        &self,
        line: &[u8],
        name: &str,
        values: Option<&RawValue>,
    ) -> Result<Line, AdapterError> {
        let inner = name
            .strip_prefix('"')
            .and_then(|rest| rest.strip_suffix('"'));
        let owned;
        let name = match inner {
            Some(plain) if !plain.contains('\\') => plain,
            _ => {
                owned = read_text(name).ok_or_else(|| {
                    not_understood(line, "the name of a response must be a string")
                })?;
                &owned
            }
        };
        let label = self.responses.get(name).copied();
        let text = values.map_or("{}", RawValue::get);
        if let (Some(label), "{}") = (label, text) {
            let unset = self.sts.label(label).parameters.len();
            return Ok(Line::Response(Action {
                label,
                values: vec![Default::default(); unset],
            }));
        }
        let values = read_object(text)
            .ok_or_else(|| not_understood(line, "\"values\" must be an object"))?;
        let Some(label) = label else {
            return Ok(Line::Unknown(show_unknown(name, &values)));
        };
        let parameters = &self.sts.label(label).parameters;
        Ok(
            match read_parameters(&values, parameters, self.sts.types()) {
                Ok(values) => Line::Response(Action { label, values }),
                Err(Mismatch(why)) => {
                    Line::Unknown(format!("{} ({why})", show_unknown(name, &values)))
                }
            },
        )
    }

    /// How an announcement differs from the model. These are hints for a person: what counts is
    /// what is sent.
    pub fn compare_announcement(&self, announced: &[String]) -> Vec<String> {
        let known: FxHashSet<&str> = announced.iter().map(String::as_str).collect();
        let mut differences = Vec::new();
        let mut in_model = FxHashSet::default();
        for (label, name) in self.sts.labels().iter().zip(&self.names) {
            let mark = label.direction.mark();
            let marked = [
                format!("{mark}{name}"),
                format!("{mark}{}", qualified(label)),
            ];
            let announced = marked.iter().any(|m| known.contains(m.as_str()));
            if label.direction != Direction::Internal && !announced {
                differences.push(format!(
                    "the model has {}, which the adapter does not announce",
                    marked[0]
                ));
            }
            in_model.extend(marked);
        }
        let mut unknown = announced.iter().filter(|name| !in_model.contains(*name));
        for name in unknown.by_ref().take(MAX_ANNOUNCED) {
            let name = shorten(name, LONGEST_ANNOUNCED);
            differences.push(format!(
                "the adapter announces {name}, which the model does not have"
            ));
        }
        match unknown.count() {
            0 => {}
            more => differences.push(format!(
                "the adapter announces {more} more labels that the model does not have"
            )),
        }
        differences
    }
}

/// A label's own name, or `channel.name` where two labels of one direction share a name.
fn wire_names(sts: &Sts) -> Vec<String> {
    let mut count: FxHashMap<(Direction, &str), usize> = FxHashMap::default();
    for label in sts.labels() {
        *count.entry((label.direction, &label.name)).or_default() += 1;
    }
    let shared = |label: &Label| count[&(label.direction, label.name.as_str())] > 1;
    sts.labels()
        .iter()
        .map(|label| {
            if shared(label) {
                qualified(label)
            } else {
                label.name.clone()
            }
        })
        .collect()
}

fn qualified(label: &Label) -> String {
    format!("{}.{}", label.channel, label.name)
}

fn prefixes(label: &Label, name: &str) -> Vec<Vec<u8>> {
    let mut head = b"{\"stimulus\":".to_vec();
    write_text(name, &mut head);
    head.extend_from_slice(b",\"values\":{");
    let keys = label.parameters.iter().enumerate().map(|(position, p)| {
        let mut key = if position > 0 { vec![b','] } else { Vec::new() };
        write_text(&p.name, &mut key);
        key.push(b':');
        key
    });
    std::iter::once(head).chain(keys).collect()
}

/// `locked(passcode="x")`: a response as it came, in the shape of a model's label.
pub(crate) fn show_unknown(name: &str, values: &Object<'_>) -> String {
    if values.is_empty() {
        return name.to_owned();
    }
    let values: Vec<String> = values
        .iter()
        .map(|(key, value)| format!("{key}={}", shorten(value.get(), 60)))
        .collect();
    format!("{name}({})", shorten(&values.join(", "), 200))
}

fn not_understood(line: &[u8], reason: &str) -> AdapterError {
    let text = String::from_utf8_lossy(line);
    AdapterError::new(format!(
        "the system sent a line that is not of the protocol, because {reason}: {}",
        shorten(&text, 120)
    ))
    .hint(
        "every line on its standard output is one JSON object, such as \
             {\"response\":\"opened\",\"values\":{}}; anything else, such as logging, goes to \
             standard error",
    )
}

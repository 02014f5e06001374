//! Which request a stimulus is, and which response label an answer or an event is.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::Arc;

use ioco_sts::{Action, Direction, Label, LabelId, Sts};
use serde::Deserialize;
use serde_json::Value as Json;

use super::shape::Shape;
use crate::connection::Arrival;
use crate::template::{Template, plain};
use crate::values::{Mismatch, shorten};

/// How labels look over HTTP; `[http]` of ioco.toml.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HttpMapping {
    /// The request that brings the system into its initial state.
    pub reset: Option<RequestMapping>,
    /// Sent with every request.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// A file with the certificates (PEM) of the authorities that a system over https:// is checked against,
    /// instead of the public ones.
    pub certificate: Option<PathBuf>,
    /// A path with server-sent events.
    pub events: Option<String>,
    /// A path with a web socket whose text frames are JSON.
    pub websocket: Option<String>,
    #[serde(default)]
    pub stimuli: BTreeMap<String, RequestMapping>,
    #[serde(default)]
    pub responses: BTreeMap<String, ResponseMapping>,
}

/// A stimulus as a request.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequestMapping {
    pub method: Option<String>,
    /// With parameters in braces.
    pub path: String,
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// JSON with parameters in braces. Without it: the parameters that are not in the path, as an
    /// object, or as the query of a GET, HEAD or DELETE.
    pub body: Option<Json>,
    /// Answers with one of these codes are no response.
    #[serde(default)]
    pub silent: Vec<u16>,
}

/// A response label as an answer, or as an event.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResponseMapping {
    /// Only in answer to one of these stimuli.
    #[serde(default)]
    pub to: OneOrMore<String>,
    #[serde(default)]
    pub status: OneOrMore<Statuses>,
    /// The name of a server-sent event; such a label is no answer to a request.
    pub event: Option<String>,
    /// A message of the web socket; such a label is no answer to a request.
    #[serde(default)]
    pub message: bool,
    /// JSON with parameters in braces. Without it: the members with the parameters' names.
    pub body: Option<Json>,
}

/// A code, or a hundred of them: `"4xx"`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Statuses {
    Code(u16),
    Class(String),
}

impl Statuses {
    fn range(&self) -> Result<RangeInclusive<u16>, String> {
        match self {
            Statuses::Code(code) => Ok(*code..=*code),
            Statuses::Class(text) => {
                let digit = text.strip_suffix("xx").and_then(|d| d.parse::<u16>().ok());
                let digit = digit.filter(|digit| (1..=5).contains(digit));
                let first = digit.ok_or_else(|| {
                    format!("status is a number such as 404, or \"4xx\", not \"{text}\"")
                })?;
                Ok(first * 100..=first * 100 + 99)
            }
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum OneOrMore<T> {
    One(T),
    More(Vec<T>),
}

impl<T> Default for OneOrMore<T> {
    fn default() -> OneOrMore<T> {
        OneOrMore::More(Vec::new())
    }
}

impl<T> OneOrMore<T> {
    fn items(&self) -> &[T] {
        match self {
            OneOrMore::One(item) => std::slice::from_ref(item),
            OneOrMore::More(items) => items,
        }
    }
}

/// A request, ready to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub method: String,
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Option<Vec<u8>>,
}

impl Request {
    /// For the record of the test.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = format!("{} {}\n", self.method, self.path).into_bytes();
        if let Some(body) = &self.body {
            bytes.extend_from_slice(body);
        }
        bytes
    }
}

pub(super) struct Stimulus {
    pub method: String,
    pub path: Template,
    headers: Vec<(String, String)>,
    pub query: Vec<usize>,
    pub body: Option<Shape>,
    silent: Vec<u16>,
}

struct Response {
    label: LabelId,
    to: Vec<LabelId>,
    statuses: Vec<RangeInclusive<u16>>,
    source: Source,
    body: Shape,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Source {
    Answer,
    Event(String),
    Message,
}

/// A response as a service sends it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ServiceMessage {
    Answer { status: u16, body: Vec<u8> },
    Event { name: String, data: String },
    Message(String),
}

/// The mapping, checked against the model.
pub(crate) struct Mapped {
    pub(super) sts: Arc<Sts>,
    pub(super) stimuli: BTreeMap<LabelId, Stimulus>,
    /// Those that fix most first.
    responses: Vec<Response>,
    pub reset: Option<Request>,
}

const WITH_QUERY: [&str; 3] = ["GET", "HEAD", "DELETE"];

impl Mapped {
    pub fn new(sts: Arc<Sts>, mapping: &HttpMapping) -> Result<Mapped, String> {
        let mut stimuli = BTreeMap::new();
        for (name, request) in &mapping.stimuli {
            let id = named(&sts, Direction::Stimulus, name)?;
            let in_section = |why: String| format!("[http.stimuli.{name}]: {why}");
            let stimulus =
                stimulus(request, sts.label(id), &mapping.headers).map_err(in_section)?;
            stimuli.insert(id, stimulus);
        }
        for id in sts.labels_of(Direction::Stimulus) {
            if !stimuli.contains_key(&id) {
                let name = &sts.label(id).name;
                return Err(format!(
                    "no HTTP request is mapped to ?{name}: add [http.stimuli.{name}]"
                ));
            }
        }
        let mut responses = Vec::new();
        for (name, response) in &mapping.responses {
            let id = named(&sts, Direction::Response, name)?;
            let label = sts.label(id);
            let to = response.to.items().iter();
            let to = to.map(|name| named(&sts, Direction::Stimulus, name));
            let in_section = |why: String| format!("[http.responses.{name}]: {why}");
            let statuses = response.status.items().iter().map(Statuses::range);
            let body = match &response.body {
                Some(json) => Shape::parse(json, label).map_err(in_section)?,
                None => Shape::of_parameters(0..label.parameters.len(), label),
            };
            responses.push(Response {
                label: id,
                to: to.collect::<Result<_, _>>()?,
                statuses: statuses.collect::<Result<_, _>>().map_err(in_section)?,
                source: match (&response.event, response.message) {
                    (Some(event), _) => Source::Event(event.clone()),
                    (None, true) => Source::Message,
                    (None, false) => Source::Answer,
                },
                body,
            });
        }
        responses.sort_by_key(|response| {
            let exact = |range: &RangeInclusive<u16>| range.start() == range.end();
            let status = match response.statuses.as_slice() {
                [] => 0,
                ranges if ranges.iter().all(exact) => 2,
                _ => 1,
            };
            let narrow = 2 * usize::from(!response.to.is_empty()) + status;
            std::cmp::Reverse((narrow, response.body.fixed()))
        });
        let reset = mapping.reset.as_ref().map(|request| Request {
            method: request.method.clone().unwrap_or_else(|| "POST".to_owned()),
            path: request.path.clone(),
            headers: headers(&mapping.headers, &request.headers),
            body: request
                .body
                .as_ref()
                .map(|body| body.to_string().into_bytes()),
        });
        Ok(Mapped {
            sts,
            stimuli,
            responses,
            reset,
        })
    }

    pub fn request(&self, action: &Action) -> Option<Request> {
        let stimulus = self.stimuli.get(&action.label)?;
        let types = self.sts.types();
        let mut path = stimulus.path.write(&action.values, types, encode);
        let label = self.sts.label(action.label);
        for position in &stimulus.query {
            let Some(value) = action.values.get(*position).filter(|v| !v.is_void()) else {
                continue;
            };
            let mark = if path.contains('?') { '&' } else { '?' };
            let name = encode(&label.parameters[*position].name);
            path.push_str(&format!("{mark}{name}={}", encode(&plain(value, types))));
        }
        let body = stimulus.body.as_ref().map(|shape| {
            let mut out = Vec::new();
            shape.write(&action.values, types, &mut out);
            out
        });
        Some(Request {
            method: stimulus.method.clone(),
            path,
            headers: stimulus.headers.clone(),
            body,
        })
    }

    /// What an answer is to the model; `None` where it is no response.
    pub fn answer(&self, to: LabelId, status: u16, body: &str) -> Option<Arrival> {
        let silent = self
            .stimuli
            .get(&to)
            .is_some_and(|s| s.silent.contains(&status));
        if silent {
            return None;
        }
        let fits = |response: &Response| {
            response.source == Source::Answer
                && (response.to.is_empty() || response.to.contains(&to))
                && (response.statuses.is_empty() || has(&response.statuses, status))
        };
        let shown = format!("{status} {}", shorten(body.trim(), 120));
        Some(self.find(body, fits, shown.trim_end()))
    }

    pub fn event(&self, event: &str, data: &str) -> Arrival {
        let fits = |response: &Response| response.source == Source::Event(event.to_owned());
        let shown = format!("event {event}: {}", shorten(data, 120));
        self.find(data, fits, &shown)
    }

    pub fn message(&self, data: &str) -> Arrival {
        let fits = |response: &Response| response.source == Source::Message;
        self.find(data, fits, &format!("message {}", shorten(data, 120)))
    }

    /// Whether every response can be written, for a simulator of the system.
    pub fn can_play(&self) -> Result<(), String> {
        for id in self.sts.labels_of(Direction::Response) {
            if !self.responses.iter().any(|response| response.label == id) {
                let name = self.sts.label(id).marked_name();
                return Err(format!("no HTTP message is mapped to {name}"));
            }
        }
        Ok(())
    }

    /// What a response is over HTTP; `None` where it is the answer to another request than this.
    pub fn play(&self, action: &Action, to: Option<LabelId>) -> Option<ServiceMessage> {
        let mut known = self.responses.iter();
        let response = known.find(|response| response.label == action.label)?;
        let mut body = Vec::new();
        response
            .body
            .write(&action.values, self.sts.types(), &mut body);
        let text = |body| String::from_utf8_lossy(body).into_owned();
        match &response.source {
            Source::Event(name) => Some(ServiceMessage::Event {
                name: name.clone(),
                data: text(&body),
            }),
            Source::Message => Some(ServiceMessage::Message(text(&body))),
            Source::Answer => {
                let to = to?;
                let status = response
                    .statuses
                    .first()
                    .map_or(200, |range| *range.start());
                let fits = response.to.is_empty() || response.to.contains(&to);
                fits.then_some(ServiceMessage::Answer { status, body })
            }
        }
    }

    /// A code that is no response to a stimulus.
    pub fn silent_code(&self, stimulus: LabelId) -> Option<u16> {
        self.stimuli.get(&stimulus)?.silent.first().copied()
    }

    fn find(&self, body: &str, fits: impl Fn(&Response) -> bool, shown: &str) -> Arrival {
        let types = self.sts.types();
        let body = match body.trim() {
            "" => "{}",
            text => text,
        };
        let mut rejected = None;
        for response in self.responses.iter().filter(|response| fits(response)) {
            let label = self.sts.label(response.label);
            let mut values = vec![ioco_sts::Value::Void; label.parameters.len()];
            // An answer that is not JSON fits a label that asks for nothing in it.
            let asks = !matches!(&response.body, Shape::Object(members) if members.is_empty());
            let read = if asks {
                response.body.read(body, label, types, &mut values)
            } else {
                Some(Ok(()))
            };
            match read {
                None => {}
                Some(Ok(())) => {
                    return Arrival::Response(Action {
                        label: response.label,
                        values,
                    });
                }
                Some(Err(Mismatch(why))) => {
                    rejected.get_or_insert_with(|| format!("{shown} (!{}: {why})", label.name));
                }
            }
        }
        Arrival::Unknown(rejected.unwrap_or_else(|| shown.to_owned()))
    }
}

fn has(ranges: &[RangeInclusive<u16>], status: u16) -> bool {
    ranges.iter().any(|range| range.contains(&status))
}

fn named(sts: &Sts, direction: Direction, name: &str) -> Result<LabelId, String> {
    let mark = direction.mark();
    let found = sts.label_named(direction, name);
    found.ok_or_else(|| format!("[http]: the model has no {mark}{name}"))
}

fn headers(
    all: &BTreeMap<String, String>,
    own: &BTreeMap<String, String>,
) -> Vec<(String, String)> {
    let mut headers = all.clone();
    headers.extend(own.clone());
    headers.into_iter().collect()
}

fn stimulus(
    request: &RequestMapping,
    label: &Label,
    common: &BTreeMap<String, String>,
) -> Result<Stimulus, String> {
    let path = Template::parse(&request.path, label)?;
    let default = if label.parameters.is_empty() {
        "GET"
    } else {
        "POST"
    };
    let method = request.method.as_deref().unwrap_or(default).to_uppercase();
    let used: Vec<usize> = path.parameters().collect();
    let rest: Vec<usize> = (0..label.parameters.len())
        .filter(|p| !used.contains(p))
        .collect();
    let in_query = WITH_QUERY.contains(&method.as_str());
    let body = match &request.body {
        Some(json) => Some(Shape::parse(json, label)?),
        None if in_query || rest.is_empty() => None,
        None => Some(Shape::of_parameters(rest.iter().copied(), label)),
    };
    Ok(Stimulus {
        method,
        path,
        headers: headers(common, &request.headers),
        query: if request.body.is_none() && in_query {
            rest
        } else {
            Vec::new()
        },
        body,
        silent: request.silent.clone(),
    })
}

/// Text as a part of a path or a query.
fn encode(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

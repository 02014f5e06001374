//! Labels and the messages that they are: [`Mapping`] is what a person wrote, [`Templates`] is what it means
//! for one model.
//!
//! Which label a message is, where several fit, is written down: those of `prefer` first, in that order; then
//! templates, the one that fixes the most bytes first; then regular expressions; then templates that fix
//! nothing. Among equals the model's order decides.

use std::collections::BTreeMap;
use std::sync::Arc;

use ioco_budget::Budget;
use ioco_solve::Sampler;
use ioco_sts::{Action, Direction, Label, LabelId, Sts, Types, Value};
use rand_chacha::ChaCha8Rng;
use regex::bytes::Regex;

use super::format::{FORMATS, Format, show};
use super::frame::Framing;
use super::template::Template;
use crate::connection::AdapterError;
use crate::values::Mismatch;

/// How labels look as messages. A label that is not mentioned is its name and its values.
#[derive(Clone, Debug, Default)]
pub struct Mapping {
    /// By the stimulus' name. A `*` in a key stands for any text, so that one shape is that of several
    /// labels; a key without it comes first.
    pub stimuli: BTreeMap<String, Shape>,
    pub responses: BTreeMap<String, Shape>,
    /// Names of labels that are tried first.
    pub prefer: Vec<String>,
    /// The message that asks for a reset; without it, connecting anew resets.
    pub reset: Option<String>,
    /// The message that says that the system is in its initial state; without it, it is at once.
    pub ready: Option<Pattern>,
    /// What the system greets every new connection with, and ioco does not judge.
    pub banner: Option<Pattern>,
    pub framing: Framing,
}

/// How one label looks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// `LOCK {passcode}`.
    Template(String),
    /// The named groups are parameters, each in its format (text where none is given).
    Regex {
        regex: String,
        formats: BTreeMap<String, String>,
    },
    /// A stimulus that is no message.
    Action(SocketAction),
    /// A stimulus of several messages and actions, one after the other.
    Several(Vec<Shape>),
    /// The response that the system closed the connection.
    Closed,
}

impl From<&str> for Shape {
    fn from(template: &str) -> Shape {
        Shape::Template(template.to_owned())
    }
}

/// What the client does with its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SocketAction {
    Connect,
    Close,
    /// Closes so that the system sees a reset.
    Abort,
    /// Sends nothing more and still reads: the system sees the end, and we see what it does then.
    Shutdown,
}

/// One part of giving a stimulus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SendPart {
    /// The content of a message.
    Message(Vec<u8>),
    Action(SocketAction),
}

/// One of several messages.
#[derive(Clone, Debug)]
pub enum Pattern {
    Exact(String),
    /// Must fit the whole message.
    Regex(Regex),
}

impl Pattern {
    pub fn regex(text: &str) -> Result<Pattern, String> {
        whole(text).map(Pattern::Regex)
    }

    pub fn fits(&self, message: &[u8]) -> bool {
        match self {
            Pattern::Exact(text) => message.trim_ascii() == text.as_bytes(),
            Pattern::Regex(regex) => regex.is_match(message),
        }
    }

    /// The message on the wire, for a simulator of the system.
    pub(crate) fn write(&self, framing: &Framing, rng: &mut ChaCha8Rng) -> Result<Vec<u8>, String> {
        let content = match self {
            Pattern::Exact(text) => text.clone().into_bytes(),
            Pattern::Regex(regex) => {
                let is_read = |message: &[u8]| regex.is_match(message);
                let sampler = Sampler::new(regex.as_str())?;
                framing
                    .sampled(&sampler, rng, &|_| None, &is_read)
                    .ok_or_else(|| format!("no message was found that fits {regex}"))?
            }
        };
        framing.wrap(content)
    }

    pub(crate) fn show(&self) -> String {
        match self {
            Pattern::Exact(text) => format!("\"{text}\""),
            Pattern::Regex(regex) => format!("what fits {regex}"),
        }
    }
}

impl From<&str> for Pattern {
    fn from(text: &str) -> Pattern {
        Pattern::Exact(text.to_owned())
    }
}

/// A regular expression that must fit a whole message.
fn whole(text: &str) -> Result<Regex, String> {
    Regex::new(&format!(r"\A(?:{text})\z")).map_err(|error| {
        // The last line says what is wrong; those before it draw a picture of our own text.
        let said = error.to_string();
        let why = said.lines().last().unwrap_or_default();
        format!(
            "'{text}' is not a regular expression: {}",
            why.trim_start_matches("error: ")
        )
    })
}

/// What is wrong with a mapping, and with which of its keys, such as `stimuli.lock`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MappingError {
    pub key: String,
    pub message: String,
}

impl From<MappingError> for AdapterError {
    fn from(error: MappingError) -> AdapterError {
        AdapterError::new(format!("[lines] {}: {}", error.key, error.message))
            .hint("[lines] of ioco.toml says how labels look as messages")
    }
}

pub(super) enum Form {
    Template(Template),
    Regex {
        regex: Regex,
        /// Per parameter that is a group.
        groups: Vec<(usize, String, Format)>,
        sampler: Sampler,
    },
    Action(SocketAction),
    Several(Vec<Form>),
    Closed,
}

/// The messages of all labels of a model.
pub(crate) struct Templates {
    sts: Arc<Sts>,
    framing: Framing,
    /// Per label.
    forms: Vec<Option<Form>>,
    /// In which order labels are tried.
    order: Vec<LabelId>,
    /// Those that `prefer` names.
    preferred: Vec<LabelId>,
    /// Per label, the key of its shape.
    keys: Vec<String>,
}

impl Templates {
    pub fn new(sts: Arc<Sts>, mapping: &Mapping) -> Result<Templates, MappingError> {
        for (section, names, direction) in [
            ("stimuli", &mapping.stimuli, Direction::Stimulus),
            ("responses", &mapping.responses, Direction::Response),
        ] {
            for key in names.keys() {
                let mut labels = sts.labels_of(direction);
                if !labels.any(|id| names_of(&sts, id).iter().any(|name| names_label(key, name))) {
                    return Err(MappingError {
                        key: format!("{section}.{key}"),
                        message: format!("the model has no {}{key}", direction.mark()),
                    });
                }
            }
        }
        let newline = mapping.framing.newline();
        let mut forms = Vec::new();
        let mut keys = Vec::new();
        for (index, label) in sts.labels().iter().enumerate() {
            let names = names_of(&sts, LabelId::from_index(index));
            let (section, mapped) = match label.direction {
                Direction::Stimulus => ("stimuli", shape_of(&mapping.stimuli, names)),
                Direction::Response => ("responses", shape_of(&mapping.responses, names)),
                Direction::Internal => {
                    forms.push(None);
                    keys.push(String::new());
                    continue;
                }
            };
            let (key, made) = match mapped {
                Some((key, shape)) => (key, form(shape, label, newline)),
                None => {
                    let usual = Template::usual(label, names[1]);
                    (&label.name, Ok(Form::Template(usual)))
                }
            };
            let key = format!("{section}.{key}");
            keys.push(key.clone());
            forms.push(Some(made.map_err(|message| MappingError { key, message })?));
        }
        let mut preferred: Vec<LabelId> = Vec::new();
        for name in &mapping.prefer {
            let mut called = sts.labels_called(Direction::Response, name);
            if called.is_empty() {
                called = sts.labels_called(Direction::Stimulus, name);
            }
            if called.is_empty() {
                return Err(MappingError {
                    key: "prefer".to_owned(),
                    message: format!("the model has no stimulus or response '{name}'"),
                });
            }
            preferred.extend(called);
        }
        let stimuli = sts.labels_of(Direction::Stimulus);
        let mut order: Vec<LabelId> = stimuli.chain(sts.labels_of(Direction::Response)).collect();
        order.sort_by_key(|id| {
            let place = preferred.iter().position(|preferred| preferred == id);
            (
                place.unwrap_or(preferred.len()),
                rank(forms[id.index()].as_ref()),
            )
        });
        Ok(Templates {
            sts,
            framing: mapping.framing.clone(),
            forms,
            order,
            preferred,
            keys,
        })
    }

    pub(super) fn sts(&self) -> &Sts {
        &self.sts
    }

    pub(super) fn form(&self, label: LabelId) -> Option<&Form> {
        self.forms[label.index()].as_ref()
    }

    /// The key of a label's shape, such as `responses.locked`.
    pub(super) fn key(&self, label: LabelId) -> String {
        self.keys[label.index()].clone()
    }

    pub(super) fn is_preferred(&self, label: LabelId) -> bool {
        self.preferred.contains(&label)
    }

    /// Whether nothing but the order of the model decides between two labels.
    pub(super) fn is_tie(&self, one: LabelId, other: LabelId) -> bool {
        let rank = |id: LabelId| rank(self.forms[id.index()].as_ref());
        !self.is_preferred(one) && !self.is_preferred(other) && rank(one) == rank(other)
    }

    /// Whether the first label is tried before the second.
    pub(super) fn comes_first(&self, first: LabelId, second: LabelId) -> bool {
        let mut tried = self.order.iter().filter(|id| [first, second].contains(id));
        tried.next() == Some(&first)
    }

    pub fn budget(&self) -> &Budget {
        self.sts.budget()
    }

    pub fn types(&self) -> &Types {
        self.sts.types()
    }

    /// In which order labels are tried.
    pub fn order(&self) -> &[LabelId] {
        &self.order
    }

    /// What stands between two lines of one message, where lines are messages of their own.
    pub fn newline(&self) -> Option<&[u8]> {
        match &self.framing {
            Framing::Delimited { end, .. } if matches!(end.as_slice(), b"\n" | b"\r\n") => {
                Some(self.framing.newline())
            }
            _ => None,
        }
    }

    pub fn label(&self, id: LabelId) -> &Label {
        self.sts.label(id)
    }

    /// The label that a message on one of these channels is; otherwise the message, and why it is none.
    pub fn read(
        &self,
        direction: Direction,
        message: &[u8],
        is_channel: &dyn Fn(&str) -> bool,
    ) -> Result<Action, String> {
        let mut rejected = None;
        for &label in &self.order {
            let known = self.sts.label(label);
            let Some(form) = &self.forms[label.index()] else {
                continue;
            };
            if known.direction != direction || !is_channel(&known.channel) {
                continue;
            }
            match read(form, message, known, &self.sts) {
                None => {}
                Some(Ok(values)) => return Ok(Action { label, values }),
                Some(Err(Mismatch(why))) => {
                    rejected.get_or_insert_with(|| format!("{} ({why})", show(message)));
                }
            }
        }
        Err(rejected.unwrap_or_else(|| show(message)))
    }

    /// What giving a stimulus is: messages, and what is done with the connection.
    pub fn write(&self, action: &Action) -> Result<Vec<SendPart>, String> {
        let form = self.forms[action.label.index()].as_ref();
        let parts = match form {
            Some(Form::Several(parts)) => parts.as_slice(),
            Some(form) => std::slice::from_ref(form),
            None => &[],
        };
        let parts = parts.iter().map(|part| match part {
            Form::Template(template) => Ok(SendPart::Message(self.content(template, action)?)),
            Form::Action(what) => Ok(SendPart::Action(*what)),
            Form::Regex { .. } | Form::Closed | Form::Several(_) => {
                Err("it cannot be written".to_owned())
            }
        });
        parts.collect()
    }

    /// The stimulus of a channel that is the first of these actions that one is.
    pub fn does(&self, channel: &str, actions: &[SocketAction]) -> Option<Action> {
        let is = |label: &LabelId, action: SocketAction| {
            let form = &self.forms[label.index()];
            self.sts.label(*label).channel == channel
                && matches!(form, Some(Form::Action(own)) if *own == action)
        };
        let mut actions = actions.iter();
        actions.find_map(|action| {
            let label = (self.order.iter().copied()).find(|label| is(label, *action))?;
            let values = vec![Value::Void; self.sts.label(label).parameters.len()];
            Some(Action { label, values })
        })
    }

    /// Whether a response is the end of the connection.
    pub fn closes(&self, label: LabelId) -> bool {
        matches!(self.forms[label.index()], Some(Form::Closed))
    }

    /// The content of the message that a response is, for a simulator of the system on these channels.
    pub fn write_message(
        &self,
        action: &Action,
        is_channel: &dyn Fn(&str) -> bool,
        rng: &mut ChaCha8Rng,
    ) -> Result<Vec<u8>, String> {
        match &self.forms[action.label.index()] {
            Some(Form::Template(template)) => self.content(template, action),
            Some(Form::Regex {
                groups, sampler, ..
            }) => {
                let types = self.sts.types();
                let mut given: BTreeMap<&str, Vec<u8>> = BTreeMap::new();
                let mut read_back = action.clone();
                read_back.values.fill(Value::Void);
                for (position, group, format) in groups {
                    let value = action.values.get(*position).unwrap_or(&Value::Void);
                    if !value.is_void() {
                        given.insert(group, format.write(value, types)?);
                        read_back.values[*position] = value.clone();
                    }
                }
                let is_read = |message: &[u8]| {
                    let read = self.read(Direction::Response, message, is_channel);
                    read.as_ref() == Ok(&read_back)
                };
                let name = self.sts.label(action.label).marked_name();
                self.framing
                    .sampled(sampler, rng, &|group| given.get(group).cloned(), &is_read)
                    .ok_or_else(|| {
                        format!("no message was found that is read as {name} with these values")
                    })
            }
            _ => Err("it cannot be written".to_owned()),
        }
    }

    fn content(&self, template: &Template, action: &Action) -> Result<Vec<u8>, String> {
        let content = template.write(&action.values, self.sts.types())?;
        match self.framing.misread(&content) {
            Some(why) if !template.spans_lines() => Err(why.to_owned()),
            _ => Ok(content),
        }
    }

    /// The response that says that the system closed the connection of a channel.
    pub fn closed(&self, is_channel: &dyn Fn(&str) -> bool) -> Option<Action> {
        let labels = self.sts.labels_of(Direction::Response);
        let mut closed = labels.filter(|id| matches!(self.forms[id.index()], Some(Form::Closed)));
        let label = closed.find(|id| is_channel(&self.sts.label(*id).channel))?;
        Some(Action {
            label,
            values: vec![Value::Void; self.sts.label(label).parameters.len()],
        })
    }

    /// Whether a channel is connected by a stimulus, and not before the test.
    pub fn connects(&self, is_channel: &dyn Fn(&str) -> bool) -> bool {
        let labels = self.sts.labels_of(Direction::Stimulus);
        let is_connect = |form: &Form| matches!(form, Form::Action(SocketAction::Connect));
        let connects = |id: &LabelId| match &self.forms[id.index()] {
            Some(Form::Several(parts)) => parts.iter().any(is_connect),
            Some(form) => is_connect(form),
            None => false,
        };
        labels
            .filter(connects)
            .any(|id| is_channel(&self.sts.label(id).channel))
    }
}

impl Mapping {
    /// Whether it can be used with a model; what is wrong otherwise.
    pub fn check(&self, sts: &Arc<Sts>) -> Result<(), MappingError> {
        Templates::new(Arc::clone(sts), self).map(|_| ())
    }

    /// Messages that a person may read otherwise than ioco does. `shares` says whether two channels have one socket.
    pub fn ambiguities(
        &self,
        sts: &Arc<Sts>,
        shares: &dyn Fn(&str, &str) -> bool,
    ) -> Result<Vec<MappingError>, MappingError> {
        let templates = Templates::new(Arc::clone(sts), self)?;
        Ok(super::ambiguous::find(&templates, shares))
    }
}

/// Where a shape stands in the order in which labels are tried.
fn rank(form: Option<&Form>) -> (u8, std::cmp::Reverse<usize>) {
    match form {
        Some(Form::Several(parts)) => messages(parts)
            .next()
            .map_or((2, std::cmp::Reverse(0)), |message| rank(Some(message))),
        Some(Form::Template(template)) if template.fixed() > 0 => {
            (0, std::cmp::Reverse(template.fixed()))
        }
        Some(Form::Regex { .. }) => (1, std::cmp::Reverse(0)),
        _ => (2, std::cmp::Reverse(0)),
    }
}

/// Whether a key of the mapping means a label: by its name, or by a pattern with `*`.
fn names_label(key: &str, name: &str) -> bool {
    match key.split_once('*') {
        None => key == name,
        Some((before, after)) => {
            name.len() >= before.len() + after.len()
                && name.starts_with(before)
                && name.ends_with(after)
        }
    }
}

/// What a key may call a label: its name, and its name within its channel.
fn names_of(sts: &Sts, id: LabelId) -> [&str; 2] {
    [&sts.label(id).name, sts.plain_name(id)]
}

/// The shape of a label, and its key. The label's own name comes before the one that it shares with other channels,
/// both before a pattern, and a long pattern before a short one.
fn shape_of<'m>(
    shapes: &'m BTreeMap<String, Shape>,
    names: [&str; 2],
) -> Option<(&'m String, &'m Shape)> {
    let fits = |key: &str| names.iter().any(|name| names_label(key, name));
    let fitting = shapes.iter().filter(|(key, _)| fits(key));
    fitting.max_by_key(|(key, _)| (*key == names[0], !key.contains('*'), key.len()))
}

fn form(shape: &Shape, label: &Label, newline: &[u8]) -> Result<Form, String> {
    let name = label.marked_name();
    let is_stimulus = label.direction == Direction::Stimulus;
    match shape {
        Shape::Template(text) => Ok(Form::Template(Template::parse(text, label, newline)?)),
        Shape::Regex { .. } if is_stimulus => Err(format!(
            "{name}: a regular expression cannot be sent; write a template"
        )),
        Shape::Regex { regex, formats } => {
            let regex = whole(regex).map_err(|why| format!("{name}: {why}"))?;
            let position = |wanted: &str| label.parameters.iter().position(|p| p.name == wanted);
            let mut groups = Vec::new();
            for group in regex.capture_names().flatten() {
                let position =
                    position(group).ok_or_else(|| format!("{name} has no parameter '{group}'"))?;
                let format = formats.get(group).map_or("text", String::as_str);
                let format = Format::named(format).ok_or_else(|| {
                    format!("{name}: there is no format '{format}'; write {FORMATS}")
                })?;
                groups.push((position, group.to_owned(), format));
            }
            for format in formats.keys() {
                if !groups.iter().any(|(_, group, _)| group == format) {
                    return Err(format!("{name}: the expression has no group '{format}'"));
                }
            }
            let sampler = Sampler::new(regex.as_str()).map_err(|why| format!("{name}: {why}"))?;
            Ok(Form::Regex {
                regex,
                groups,
                sampler,
            })
        }
        Shape::Several(_) if !is_stimulus => Err(format!(
            "{name}: a response is one message; describe each as a response of its own"
        )),
        Shape::Several(parts) if parts.is_empty() => {
            Err(format!("{name}: a stimulus needs at least one message"))
        }
        Shape::Several(parts) => {
            let parts = parts.iter().map(|part| match part {
                // Its parameters stand in the messages beside it.
                Shape::Action(action) => Ok(Form::Action(*action)),
                Shape::Several(_) => Err(format!("{name}: a list in a list")),
                part => form(part, label, newline),
            });
            Ok(Form::Several(parts.collect::<Result<_, String>>()?))
        }
        Shape::Action(_) if !is_stimulus => Err(format!(
            "{name}: an action is what a client does; write event = \"closed\""
        )),
        Shape::Closed if is_stimulus => Err(format!(
            "{name}: an event is what a system does; write action = \"close\""
        )),
        Shape::Action(_) | Shape::Closed if !label.parameters.is_empty() => Err(format!(
            "{name} has parameters, and this shape gives them no values"
        )),
        Shape::Action(action) => Ok(Form::Action(*action)),
        Shape::Closed => Ok(Form::Closed),
    }
}

/// `None`: the message has another shape.
pub(super) fn read(
    form: &Form,
    message: &[u8],
    label: &Label,
    sts: &Sts,
) -> Option<Result<Vec<Value>, Mismatch>> {
    match form {
        Form::Template(template) => template.read(message, label, sts.types()),
        Form::Regex { regex, groups, .. } => {
            let found = regex.captures(message)?;
            let mut values = vec![Value::Void; label.parameters.len()];
            for (position, group, format) in groups {
                let Some(bytes) = found.name(group) else {
                    continue;
                };
                let parameter = &label.parameters[*position];
                match format.read(bytes.as_bytes(), &parameter.ty, sts.types()) {
                    Ok(value) => values[*position] = value,
                    Err(Mismatch(why)) => {
                        return Some(Err(Mismatch(format!("{}: {why}", parameter.name))));
                    }
                }
            }
            Some(Ok(values))
        }
        // Nobody can tell where several messages end.
        Form::Several(parts) => {
            let mut messages = messages(parts);
            let one = messages.next().filter(|_| messages.next().is_none())?;
            read(one, message, label, sts)
        }
        Form::Action(_) | Form::Closed => None,
    }
}

/// Those parts of a stimulus that are messages.
pub(super) fn messages(parts: &[Form]) -> impl Iterator<Item = &Form> {
    let is_message = |part: &&Form| matches!(part, Form::Template(_) | Form::Regex { .. });
    parts.iter().filter(is_message)
}

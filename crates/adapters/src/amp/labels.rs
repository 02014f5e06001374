//! The model's labels as labels of the protocol, and back; and how an adapter's announcement
//! differs from the model.

use std::sync::Arc;

use ioco_budget::Budget;
use ioco_sts::{Action, Direction, Label, LabelId, Sts};

use super::player::some_value;
use super::values::{self, Clocks};
use super::wire;
use crate::connection::Arrival;
use crate::values::{Mismatch, shorten};

/// More differences than this are counted, not listed.
const LISTED: usize = 12;

/// Encodes stimuli and decodes responses for one model.
pub(crate) struct Labels {
    sts: Arc<Sts>,
}

impl Labels {
    pub fn budget(&self) -> &Budget {
        self.sts.budget()
    }

    pub fn new(sts: Arc<Sts>) -> Labels {
        Labels { sts }
    }

    pub fn channel(&self, action: &Action) -> &str {
        &self.sts.label(action.label).channel
    }

    /// `?lock`, for messages.
    pub fn name(&self, action: &Action) -> String {
        self.sts.label(action.label).marked_name()
    }

    /// The channels that stimuli or responses of the model use, each once.
    pub fn channels(&self) -> Vec<&str> {
        let mut channels: Vec<&str> = self
            .observable()
            .map(|(_, label)| label.channel.as_str())
            .collect();
        channels.sort_unstable();
        channels.dedup();
        channels
    }

    fn observable(&self) -> impl Iterator<Item = (LabelId, &Label)> {
        [Direction::Stimulus, Direction::Response]
            .into_iter()
            .flat_map(|direction| self.sts.labels_of(direction))
            .map(|id| (id, self.sts.label(id)))
    }

    pub fn write(&self, stimulus: &Action, correlation: u64, clocks: &Clocks) -> wire::Label {
        wire::Label {
            correlation_id: correlation,
            ..self.written(stimulus, wire::Direction::Stimulus, clocks)
        }
    }

    /// A response, for a simulator of an adapter.
    pub fn write_response(&self, response: &Action, clocks: &Clocks) -> wire::Label {
        self.written(response, wire::Direction::Response, clocks)
    }

    /// All labels, with values for their types only.
    pub fn announced(&self, clocks: &Clocks) -> Vec<wire::Label> {
        let types = self.sts.types();
        let labels = self.observable().map(|(id, label)| {
            let values = label.parameters.iter();
            let values = values.map(|parameter| some_value(&parameter.ty, types));
            let action = Action {
                label: id,
                values: values.collect(),
            };
            let direction = match label.direction {
                Direction::Stimulus => wire::Direction::Stimulus,
                _ => wire::Direction::Response,
            };
            self.written(&action, direction, clocks)
        });
        labels.collect()
    }

    fn written(&self, action: &Action, direction: wire::Direction, clocks: &Clocks) -> wire::Label {
        let label = self.sts.label(action.label);
        let parameters = label.parameters.iter().enumerate();
        let parameters = parameters.map(|(position, parameter)| {
            let value = action.values.get(position);
            let value = value.map(|v| values::write(v, &parameter.ty, self.sts.types(), clocks));
            wire::Parameter {
                name: parameter.name.clone(),
                value: Some(value.unwrap_or_default()),
            }
        });
        wire::Label {
            direction: direction as i32,
            label: self.sts.plain_name(action.label).to_owned(),
            channel: label.channel.clone(),
            parameters: parameters.collect(),
            timestamp: 0,
            physical_label: Vec::new(),
            correlation_id: 0,
        }
    }

    /// Whether `echo` is the confirmation of the stimulus with this number. Some adapters echo the
    /// label without the number.
    pub fn confirms(&self, echo: &wire::Label, stimulus: &Action, correlation: u64) -> bool {
        let label = self.sts.label(stimulus.label);
        let same_channel = echo.channel.is_empty() || echo.channel == label.channel;
        echo.correlation_id == correlation
            || (echo.correlation_id == 0
                && echo.label == self.sts.plain_name(stimulus.label)
                && same_channel)
    }

    /// What a response is to the model.
    pub fn read(&self, response: &wire::Label, clocks: &mut Clocks) -> Arrival {
        match self.action(Direction::Response, response, clocks) {
            Ok(action) => Arrival::Response(action),
            Err(Mismatch(why)) => unknown(response, &why),
        }
    }

    /// A stimulus, for a simulator of an adapter; otherwise the label, and why it is none.
    pub fn read_stimulus(
        &self,
        stimulus: &wire::Label,
        clocks: &mut Clocks,
    ) -> Result<Action, String> {
        let action = self.action(Direction::Stimulus, stimulus, clocks);
        action.map_err(|Mismatch(why)| format!("{} ({why})", marked(stimulus)))
    }

    fn action(
        &self,
        direction: Direction,
        given: &wire::Label,
        clocks: &mut Clocks,
    ) -> Result<Action, Mismatch> {
        let id = self.find(direction, given)?;
        let label = self.sts.label(id);
        let mut read = vec![ioco_sts::Value::Void; label.parameters.len()];
        for parameter in &given.parameters {
            let name = &parameter.name;
            let Some(position) = label.parameters.iter().position(|p| p.name == *name) else {
                return Err(Mismatch(format!("the model has no \"{name}\" here")));
            };
            let Some(value) = &parameter.value else {
                continue;
            };
            let ty = &label.parameters[position].ty;
            match values::read(value, ty, self.sts.types(), clocks) {
                Ok(value) => read[position] = value,
                Err(Mismatch(why)) => return Err(Mismatch(format!("{name}: {why}"))),
            }
        }
        Ok(Action {
            label: id,
            values: read,
        })
    }

    /// By channel and name; without a channel by name alone, where that is unique.
    fn find(&self, direction: Direction, response: &wire::Label) -> Result<LabelId, Mismatch> {
        let named: Vec<(LabelId, &Label)> = self
            .sts
            .labels_of(direction)
            .map(|id| (id, self.sts.label(id)))
            .filter(|(id, _)| self.sts.plain_name(*id) == response.label)
            .collect();
        let on_channel = named.iter().find(|(_, l)| l.channel == response.channel);
        match (on_channel, named.as_slice()) {
            (Some((id, _)), _) => Ok(*id),
            (None, [(id, _)]) if response.channel.is_empty() => Ok(*id),
            (None, []) => Err(Mismatch(String::new())),
            (None, several) => {
                let channels: Vec<String> = several
                    .iter()
                    .map(|(_, l)| format!("'{}'", l.channel))
                    .collect();
                let channels = channels.join(" and ");
                Err(Mismatch(if response.channel.is_empty() {
                    format!("without a channel; the model has it on {channels}")
                } else {
                    format!(
                        "on channel '{}'; the model has it on {channels}",
                        response.channel
                    )
                }))
            }
        }
    }

    /// How an announcement differs from what the model has on `channels`. These are hints for a
    /// person: what counts is what is sent.
    pub fn compare(&self, announced: &wire::Announcement, channels: &[&str]) -> Vec<String> {
        if announced.labels.is_empty() {
            return vec!["it announces no labels".to_owned()];
        }
        let mut differences = Vec::new();
        for (id, label) in self.observable() {
            if !channels.contains(&label.channel.as_str()) {
                continue;
            }
            differences.extend(compare_label(id, label, announced, &self.sts));
        }
        for label in &announced.labels {
            let name = |id| self.sts.plain_name(id);
            let known = self
                .observable()
                .any(|(id, own)| matches(own, name(id), label));
            let elsewhere = self
                .observable()
                .any(|(id, own)| same_direction(own, label) && alike(name(id), &label.label));
            // Where the names are alike the difference is told already, from the model's side.
            if !known && !elsewhere {
                differences.push(format!(
                    "it announces {}, which the model does not have",
                    marked(label)
                ));
            }
        }
        if differences.len() > LISTED {
            let more = differences.len() - LISTED;
            differences.truncate(LISTED);
            differences.push(format!("{more} more differences"));
        }
        differences
    }
}

fn same_direction(own: &Label, label: &wire::Label) -> bool {
    label.is_response() == (own.direction == Direction::Response)
}

fn matches(own: &Label, name: &str, label: &wire::Label) -> bool {
    let same_channel = label.channel.is_empty() || label.channel == own.channel;
    same_direction(own, label) && name == label.label && same_channel
}

/// The same but for capitals and what joins words.
fn alike(one: &str, other: &str) -> bool {
    let plain = |text: &str| -> String {
        let letters = text.chars().filter(|c| c.is_alphanumeric());
        letters.flat_map(char::to_lowercase).collect()
    };
    plain(one) == plain(other)
}

fn compare_label(
    id: LabelId,
    own: &Label,
    announced: &wire::Announcement,
    sts: &Sts,
) -> Vec<String> {
    let name = own.marked_name();
    let plain = sts.plain_name(id);
    let candidates: Vec<&wire::Label> = announced
        .labels
        .iter()
        .filter(|label| same_direction(own, label))
        .collect();
    let Some(found) = candidates.iter().find(|label| matches(own, plain, label)) else {
        let elsewhere = candidates.iter().find(|label| label.label == plain);
        let similar = candidates.iter().find(|label| alike(&label.label, plain));
        return vec![match (elsewhere, similar) {
            (Some(label), _) => format!(
                "the model has {name} on channel '{}', the adapter on '{}'",
                own.channel, label.channel
            ),
            (None, Some(label)) => {
                format!("the model calls it {name}, the adapter {}", marked(label))
            }
            (None, None) => format!("the model has {name}, which it does not announce"),
        }];
    };
    let mut differences = Vec::new();
    for parameter in &own.parameters {
        let there = found.parameters.iter().find(|p| p.name == parameter.name);
        let Some(there) = there else {
            differences.push(format!(
                "the model's {name} has the parameter {}, the adapter's has not",
                parameter.name
            ));
            continue;
        };
        let dummy = there.value.clone().unwrap_or_default();
        if !values::agrees(&dummy, &parameter.ty, sts.types()) {
            differences.push(format!(
                "{} of {name} is {} in the model and {} to the adapter",
                parameter.name,
                sts.types().type_name(&parameter.ty),
                values::type_name(&dummy)
            ));
        }
    }
    for parameter in &found.parameters {
        if !own.parameters.iter().any(|p| p.name == parameter.name) {
            differences.push(format!(
                "the adapter's {name} has the parameter {}, the model's has not",
                parameter.name
            ));
        }
    }
    differences
}

pub(crate) fn marked(label: &wire::Label) -> String {
    let mark = if label.is_response() { "!" } else { "?" };
    format!("{mark}{}", label.label)
}

/// A response that the model has no place for, in the shape of a model's label.
fn unknown(response: &wire::Label, why: &str) -> Arrival {
    let values: Vec<String> = response
        .parameters
        .iter()
        .map(|parameter| {
            let value = parameter.value.as_ref().map(values::show);
            let value = value.unwrap_or_else(|| ":void".to_owned());
            format!("{}={}", parameter.name, shorten(&value, 60))
        })
        .collect();
    let mut text = response.label.clone();
    if !values.is_empty() {
        text.push_str(&format!("({})", shorten(&values.join(", "), 200)));
    }
    if !why.is_empty() {
        text.push_str(&format!(" ({why})"));
    }
    Arrival::Unknown(text)
}

//! Who is connected and what they announce, as plain data for a person or a program.

use std::sync::Arc;

use ioco_sts::Sts;
use serde::Serialize;

use super::hub::Hub;
use super::labels::{Labels, marked};
use super::values;
use super::wire::{self, Setting};

/// An adapter that is connected.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Presence {
    pub name: String,
    /// Where it connects from.
    pub address: String,
    pub configuration: Vec<AnnouncedItem>,
    pub labels: Vec<AnnouncedLabel>,
    /// How it differs from the model, where there is one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<String>,
}

/// A setting of an adapter.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AnnouncedItem {
    pub key: String,
    pub description: String,
    pub default: serde_json::Value,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AnnouncedLabel {
    /// With its mark: `?lock`, `!locked`.
    pub label: String,
    pub channel: String,
    pub parameters: Vec<AnnouncedParameter>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AnnouncedParameter {
    pub name: String,
    /// As a model writes it.
    #[serde(rename = "type")]
    pub type_name: String,
}

impl Hub {
    /// All adapters that are connected, compared with a model if one is given.
    pub fn present(&self, model: Option<&Arc<Sts>>) -> Vec<Presence> {
        let labels = model.map(|sts| Labels::new(Arc::clone(sts)));
        let peers = self.peers();
        let presences = peers.iter().map(|peer| {
            let announcement = &peer.announcement;
            let differences = labels.as_ref().map(|labels| {
                let channels = labels.channels();
                labels.compare(announcement, &channels)
            });
            Presence {
                name: announcement.name.clone(),
                address: peer.address.to_string(),
                configuration: items(announcement),
                labels: announcement.labels.iter().map(label).collect(),
                differences: differences.unwrap_or_default(),
            }
        });
        presences.collect()
    }
}

fn items(announcement: &wire::Announcement) -> Vec<AnnouncedItem> {
    let configuration = announcement.configuration.as_ref();
    let items = configuration.map(|c| c.items.as_slice());
    let items = items.unwrap_or_default().iter().map(|item| AnnouncedItem {
        key: item.key.clone(),
        description: item.description.clone(),
        default: match &item.setting {
            None => serde_json::Value::Null,
            Some(Setting::Text(text)) => text.as_str().into(),
            Some(Setting::Integer(number)) => (*number).into(),
            Some(Setting::Float(number)) => f64::from(*number).into(),
            Some(Setting::Boolean(value)) => (*value).into(),
        },
    });
    items.collect()
}

fn label(label: &wire::Label) -> AnnouncedLabel {
    let parameters = label.parameters.iter().map(|parameter| AnnouncedParameter {
        name: parameter.name.clone(),
        type_name: parameter
            .value
            .as_ref()
            .map_or_else(|| ":void".to_owned(), values::type_name),
    });
    AnnouncedLabel {
        label: marked(label),
        channel: label.channel.clone(),
        parameters: parameters.collect(),
    }
}

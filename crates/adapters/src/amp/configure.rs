//! What an adapter is configured with: the items that it announces, with the values that the user chose.

use std::collections::BTreeMap;

use super::wire::{self, Setting};
use crate::connection::AdapterError;

/// A value for an item of an adapter's configuration.
#[derive(Clone, Debug, PartialEq)]
pub enum Choice {
    Text(String),
    Integer(i64),
    Float(f64),
    Boolean(bool),
}

/// The announced items with the chosen values in place of the defaults.
pub(super) fn configuration(
    announcement: &wire::Announcement,
    mut choices: BTreeMap<String, Choice>,
    warnings: &mut Vec<String>,
) -> Result<wire::Configuration, AdapterError> {
    let name = &announcement.name;
    let announced = announcement.configuration.clone().unwrap_or_default();
    if announced.items.is_empty() {
        // Some announce nothing and take what they get.
        let items = choices.iter().map(|(key, choice)| wire::Item {
            key: key.clone(),
            description: String::new(),
            setting: Some(match choice {
                Choice::Text(text) => Setting::Text(text.clone()),
                Choice::Integer(number) => Setting::Integer(*number),
                Choice::Float(number) => Setting::Float(*number as f32),
                Choice::Boolean(value) => Setting::Boolean(*value),
            }),
        });
        return Ok(wire::Configuration {
            items: items.collect(),
        });
    }
    let mut configuration = announced;
    for item in &mut configuration.items {
        if let Some(choice) = choices.remove(&item.key) {
            item.setting = Some(fit(&choice, item).ok_or_else(|| {
                AdapterError::new(format!(
                    "the adapter {name} does not take {} for {}",
                    show_choice(&choice),
                    item.key
                ))
                .hint(format!(
                    "its {} is {}",
                    item.key,
                    show_setting(item.setting.as_ref())
                ))
            })?);
        }
    }
    let known: Vec<&str> = configuration.items.iter().map(|i| i.key.as_str()).collect();
    let known = known.join(", ");
    warnings.extend(choices.keys().map(|key| {
        format!("adapter {name} has no setting '{key}', so it is not sent; it has: {known}")
    }));
    Ok(configuration)
}

fn fit(choice: &Choice, item: &wire::Item) -> Option<Setting> {
    Some(match (choice, item.setting.as_ref()) {
        (Choice::Text(text), Some(Setting::Text(_)) | None) => Setting::Text(text.clone()),
        (Choice::Integer(number), Some(Setting::Integer(_)) | None) => Setting::Integer(*number),
        (Choice::Integer(number), Some(Setting::Float(_))) => Setting::Float(*number as f32),
        (Choice::Float(number), Some(Setting::Float(_)) | None) => Setting::Float(*number as f32),
        (Choice::Boolean(value), Some(Setting::Boolean(_)) | None) => Setting::Boolean(*value),
        // Typed on the command line everything is text.
        (Choice::Text(text), Some(Setting::Integer(_))) => Setting::Integer(text.parse().ok()?),
        (Choice::Text(text), Some(Setting::Float(_))) => Setting::Float(text.parse().ok()?),
        (Choice::Text(text), Some(Setting::Boolean(_))) => Setting::Boolean(text.parse().ok()?),
        _ => return None,
    })
}

fn show_choice(choice: &Choice) -> String {
    match choice {
        Choice::Text(text) => format!("{text:?}"),
        Choice::Integer(number) => number.to_string(),
        Choice::Float(number) => number.to_string(),
        Choice::Boolean(value) => value.to_string(),
    }
}

fn show_setting(setting: Option<&Setting>) -> String {
    match setting {
        None => "of no type".to_owned(),
        Some(Setting::Text(text)) => format!("a string, {text:?} unless you say otherwise"),
        Some(Setting::Integer(number)) => format!("an integer, {number} unless you say otherwise"),
        Some(Setting::Float(number)) => format!("a number, {number} unless you say otherwise"),
        Some(Setting::Boolean(value)) => format!("true or false, {value} unless you say otherwise"),
    }
}

//! `[amp]`: adapters of the plugin-adapter protocol.
//!
//! ```toml
//! [amp]
//! token = "..."                     # or the environment's IOCO_AMP_TOKEN
//! adapter = "Smartdoor@office"      # which one, where several connect
//! certificate = "ioco.pem"          # wss:// instead of ws://
//! key = "ioco.key"
//!
//! [amp.channels]                    # or one for each channel
//! door = "Smartdoor@office"
//!
//! [amp.configuration]               # instead of the adapters' defaults
//! endpoint = "ws://localhost:3001"
//!
//! [amp.configuration."Smartdoor@office"]  # for this one alone
//! endpoint = "ws://office:3001"
//! ```

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use ioco_adapters::{AmpOptions, Choice, Chosen, HubOptions, Units};
use serde::{Deserialize, Serialize};

use crate::error::{CampaignError, Remedy};
use crate::project::Project;
use crate::time;

/// The environment's name for the token.
pub const TOKEN: &str = "IOCO_AMP_TOKEN";

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AmpSection {
    token: Option<String>,
    adapter: Option<String>,
    #[serde(default)]
    channels: BTreeMap<String, String>,
    #[serde(default)]
    configuration: BTreeMap<String, toml::Value>,
    certificate: Option<PathBuf>,
    key: Option<PathBuf>,
    units: Option<String>,
    connect_within: Option<String>,
}

/// Where to listen and which adapter to use; kept in failure files. Secrets are not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct AmpWay {
    pub listen: String,
    /// As typed: `NAME`, or `CHANNEL=NAME` for each channel.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub adapters: Vec<String>,
    /// As typed: `KEY=VALUE`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub configure: Vec<String>,
}

impl AmpWay {
    /// What is typed and written, checked.
    pub fn hub(&self, project: &Project) -> Result<HubOptions, CampaignError> {
        let section = &project.amp;
        let certificate = match (&section.certificate, &section.key) {
            (Some(certificate), Some(key)) => {
                Some((project.root.join(certificate), project.root.join(key)))
            }
            (None, None) => None,
            _ => {
                return Err(CampaignError::usage(
                    "[amp] needs both certificate and key, or neither",
                ));
            }
        };
        let from_environment = std::env::var(TOKEN).ok();
        let token = from_environment.or_else(|| section.token.clone());
        let options = HubOptions {
            token: token.filter(|token| !token.is_empty()),
            certificate,
            message: project.limits.budget().message,
            ..HubOptions::new(&self.listen)
        };
        match options.check() {
            Ok(sockets) => {
                let outside = sockets.iter().find(|socket| !socket.ip().is_loopback());
                if let (Some(outside), None, false) =
                    (outside, &options.certificate, project.insecure)
                {
                    return Err(CampaignError::usage(format!(
                        "adapters would send their token to {outside} unencrypted (ws://)"
                    ))
                    .remedy(Remedy::AllowInsecure {
                        instead: "give [amp] certificate and key, for wss://",
                    }));
                }
                Ok(options)
            }
            Err(error) => Err(CampaignError {
                hint: error.hint,
                ..CampaignError::usage(error.message)
            }),
        }
    }

    pub fn options(
        &self,
        project: &Project,
        patience: Duration,
    ) -> Result<AmpOptions, CampaignError> {
        let section = &project.amp;
        let defaults = AmpOptions::default();
        let units = match &section.units {
            None => Units::default(),
            Some(name) => Units::named(name).ok_or_else(|| {
                CampaignError::usage(format!("[amp] units: there is no '{name}'"))
                    .hint("use auto, protocol or thousandths")
            })?,
        };
        let connect_within = match &section.connect_within {
            Some(text) => Duration::from_nanos(time::parse(text)?),
            None => defaults.connect_within,
        };
        let (mut configuration, configuration_of) = section.choices()?;
        for typed in &self.configure {
            let (key, value) = typed.split_once('=').ok_or_else(|| {
                CampaignError::usage(format!("'{typed}' is not a setting"))
                    .hint("write it as in endpoint=ws://localhost:3001")
            })?;
            configuration.insert(key.to_owned(), Choice::Text(value.to_owned()));
        }
        Ok(AmpOptions {
            chosen: self.chosen(section)?,
            configuration,
            configuration_of,
            units,
            patience,
            connect_within,
            is_last: !project.hubs.are_kept(),
        })
    }

    fn chosen(&self, section: &AmpSection) -> Result<Chosen, CampaignError> {
        let named = |name: &String| Chosen::Named(name.clone());
        match self.adapters.as_slice() {
            [] if !section.channels.is_empty() => Ok(Chosen::PerChannel(section.channels.clone())),
            [] => Ok(section.adapter.as_ref().map_or(Chosen::Only, named)),
            [name] if !name.contains('=') => Ok(named(name)),
            several => {
                let mut channels = BTreeMap::new();
                for typed in several {
                    let (channel, name) = typed.split_once('=').ok_or_else(|| {
                        CampaignError::usage("several adapters need a channel each").hint(
                            "name each with its channel, as in door=Smartdoor and bell=Smartbell",
                        )
                    })?;
                    channels.insert(channel.to_owned(), name.to_owned());
                }
                Ok(Chosen::PerChannel(channels))
            }
        }
    }
}

type Choices = BTreeMap<String, Choice>;

impl AmpSection {
    /// For all adapters, and by the name of one.
    fn choices(&self) -> Result<(Choices, BTreeMap<String, Choices>), CampaignError> {
        let mut all = BTreeMap::new();
        let mut by_name = BTreeMap::new();
        for (key, value) in &self.configuration {
            match value {
                toml::Value::Table(table) => {
                    let own: Result<Choices, CampaignError> = table
                        .iter()
                        .map(|(key, value)| Ok((key.clone(), choice(key, value)?)))
                        .collect();
                    by_name.insert(key.clone(), own?);
                }
                plain => {
                    all.insert(key.clone(), choice(key, plain)?);
                }
            }
        }
        Ok((all, by_name))
    }
}

fn choice(key: &str, value: &toml::Value) -> Result<Choice, CampaignError> {
    match value {
        toml::Value::String(text) => Ok(Choice::Text(text.clone())),
        toml::Value::Integer(number) => Ok(Choice::Integer(*number)),
        toml::Value::Float(number) => Ok(Choice::Float(*number)),
        toml::Value::Boolean(value) => Ok(Choice::Boolean(*value)),
        _ => Err(CampaignError::usage(format!(
            "[amp.configuration] {key} must be a string, a number, or true or false"
        ))),
    }
}

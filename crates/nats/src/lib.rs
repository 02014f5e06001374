//! Campaigns on many machines. The coordinator publishes orders, workers on other machines take and carry them out,
//! and their outcomes come back: all over NATS JetStream, which keeps messages on disk and delivers them at least
//! once. The coordinator keeps one outcome for every order in its store, and discards what comes twice or late.
//!
//! | subject | what |
//! |---|---|
//! | `ioco.orders.CAMPAIGN` | orders; each goes to one worker, which holds it by a lease |
//! | `ioco.outcomes.CAMPAIGN` | outcomes, for the coordinator |
//! | bucket `ioco-campaigns` | what campaigns there are, and how far they are |
//! | bucket `ioco-workers` | who works; an entry that is not renewed goes away |
//!
//! From the outside everything blocks; the runtime of the client stays in here.

mod access;
mod bus;
mod executor;
mod local;
mod serve;
mod watched;

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use ioco_campaign::work::Doing;
use ioco_campaign::{CampaignError, SystemName};

pub use access::Access;
pub use bus::Bus;
pub use executor::NatsExecutor;
pub use local::{LocalServer, find_server};
pub use serve::{Report, serve};

/// Messages with more bytes are not read, whatever the server takes.
pub(crate) const MAX_BYTES: usize = 8 << 20;
/// Workers that a campaign counts one by one.
pub(crate) const MAX_WORKERS: usize = 4096;
/// The longest name of a campaign or a worker.
const LONGEST_NAME: usize = 100;

/// Whether a text can be the name of a campaign or a worker: it becomes part of subjects, and is shown.
pub fn is_name(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    (1..=LONGEST_NAME).contains(&text.len()) && text.chars().all(fits)
}

/// Where workers of a campaign say how far their tests are. The server keeps nothing of it.
pub(crate) fn live_subject(campaign: &str) -> String {
    format!("ioco.live.{campaign}")
}

/// How the server keeps orders, and who may take them: the same for all coordinators of a campaign.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Queues {
    /// A worker that says nothing about its order for so many milliseconds loses it.
    pub lease: u64,
    /// So many servers of a cluster keep each message.
    pub replicas: usize,
    /// Only workers that have all of these take part.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
}

impl Queues {
    /// As a coordinator before this one kept it.
    pub fn read(text: &str) -> Result<Queues, CampaignError> {
        serde_json::from_str(text).map_err(|error| {
            CampaignError::usage(format!("how the campaign reaches workers: {error}"))
                .hint("resume it with the version of ioco that began it")
        })
    }

    pub(crate) fn lease(&self) -> Duration {
        Duration::from_millis(self.lease)
    }
}

/// A campaign as everybody can see it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Announced {
    /// Of orders and outcomes.
    pub version: u32,
    pub campaign: String,
    /// The hash of the model, and its name for a person.
    pub model: String,
    pub name: String,
    pub system: SystemName,
    pub state: State,
    /// Only workers that have all of these take part.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    /// How many coordinators the campaign has had; the last one announces it.
    #[serde(default)]
    pub coordinator: u64,
    /// Orders that were published, and outcomes that came back.
    pub orders: u64,
    pub outcomes: u64,
    /// Outcomes by worker, since the coordinator began.
    #[serde(default)]
    pub workers: BTreeMap<String, u64>,
    /// What workers do at the moment.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doing: Vec<Doing>,
}

impl Default for Announced {
    fn default() -> Announced {
        Announced {
            version: 0,
            campaign: String::new(),
            model: String::new(),
            name: String::new(),
            system: SystemName::Project,
            state: State::Running,
            labels: Vec::new(),
            coordinator: 0,
            orders: 0,
            outcomes: 0,
            workers: BTreeMap::new(),
            doing: Vec::new(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    Running,
    /// Somebody wants it to stop.
    Stopping,
    Done,
}

/// A worker as it shows itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Present {
    pub worker: String,
    pub system: SystemName,
    pub model: String,
    pub version: u32,
    /// Orders that it carries out at the same time.
    pub jobs: usize,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
}

impl Present {
    /// The first label that a campaign asks for and this worker does not have.
    pub(crate) fn lacks<'a>(&self, campaign: &'a Announced) -> Option<&'a str> {
        let lacks = |label: &&String| !self.labels.contains(label);
        campaign.labels.iter().find(lacks).map(String::as_str)
    }
}

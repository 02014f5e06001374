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

mod bus;
mod executor;
mod local;
mod serve;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use ioco_campaign::SystemName;

pub use bus::{Access, Bus};
pub use executor::NatsExecutor;
pub use local::{LocalServer, find_server};
pub use serve::{Report, serve};

/// Messages with more bytes are not read, whatever the server takes.
pub(crate) const MOST_BYTES: usize = 8 << 20;
/// Workers that a campaign counts one by one.
pub(crate) const MOST_WORKERS: usize = 4096;
/// The longest name of a campaign or a worker.
const LONGEST_NAME: usize = 100;

/// Whether a text can be the name of a campaign or a worker: it becomes part of subjects, and is shown.
pub fn is_name(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    (1..=LONGEST_NAME).contains(&text.len()) && text.chars().all(fits)
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
    /// Orders that were published, and outcomes that came back.
    pub orders: u64,
    pub outcomes: u64,
    /// Outcomes by worker, since the coordinator began.
    #[serde(default)]
    pub workers: BTreeMap<String, u64>,
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
            orders: 0,
            outcomes: 0,
            workers: BTreeMap::new(),
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
}

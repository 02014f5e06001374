//! The connection to NATS, and the streams and buckets that campaigns use there.

use std::future::Future;
use std::path::PathBuf;
use std::time::Duration;

use async_nats::ConnectOptions;
use async_nats::jetstream::stream::{self, RetentionPolicy};
use async_nats::jetstream::{self, kv};
use futures_util::TryStreamExt;
use ioco_campaign::CampaignError;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{Announced, Present, is_name};

/// How long a request to the server may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// A worker that does not renew its entry is gone after this time.
pub(crate) const PRESENCE: Duration = Duration::from_secs(6);
/// Messages with the same id within this time are one.
const DUPLICATES: Duration = Duration::from_secs(600);
/// Outcomes and orders that nobody took go away after this time.
const KEPT: Duration = Duration::from_secs(7 * 24 * 3600);

/// The most jobs of one worker: what one worker says of itself must not flood the queue.
const MOST_JOBS: usize = 1024;

/// How to reach the server, and as whom.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// `nats://host:4222`, or `tls://...`.
    pub url: String,
    /// A file with a JWT and its key.
    pub credentials: Option<PathBuf>,
    /// Certificates of the authority that signed the server's.
    pub ca: Option<PathBuf>,
    /// Our own certificate and its key.
    pub certificate: Option<(PathBuf, PathBuf)>,
}

impl Access {
    /// The address without the user and the password, and these. The address is shown; they are not.
    fn server(&self) -> (String, Option<(String, String)>) {
        let (scheme, rest) = match self.url.split_once("://") {
            Some((scheme, rest)) => (format!("{scheme}://"), rest),
            None => (String::new(), self.url.as_str()),
        };
        match rest.rsplit_once('@') {
            None => (self.url.clone(), None),
            Some((who, host)) => {
                let (user, password) = who.split_once(':').unwrap_or((who, ""));
                (
                    format!("{scheme}{host}"),
                    Some((decoded(user), decoded(password))),
                )
            }
        }
    }
}

/// Text with `%40` for `@`, as addresses have it.
fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut index = 0;
    while index < bytes.len() {
        let code = text.get(index + 1..index + 3);
        let code = code.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match (bytes[index], code) {
            (b'%', Some(byte)) => {
                plain.push(byte);
                index += 3;
            }
            (byte, _) => {
                plain.push(byte);
                index += 1;
            }
        }
    }
    String::from_utf8_lossy(&plain).into_owned()
}

pub struct Bus {
    pub(crate) runtime: tokio::runtime::Runtime,
    pub(crate) context: jetstream::Context,
    pub(crate) orders: stream::Stream,
    pub(crate) outcomes: stream::Stream,
    pub(crate) campaigns: kv::Store,
    pub(crate) workers: kv::Store,
    /// Bytes of the largest message that the server takes.
    pub(crate) limit: usize,
}

/// What the server or the way to it does not allow.
pub(crate) fn trouble(doing: &str, error: impl std::fmt::Display) -> CampaignError {
    CampaignError::system(format!("NATS: cannot {doing}: {error}"))
}

impl Bus {
    pub fn open(access: &Access, name: &str) -> Result<Bus, CampaignError> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .map_err(|error| trouble("start", error))?;
        let opened = runtime.block_on(async {
            tokio::time::timeout(PATIENCE, open(access, name))
                .await
                .map_err(|_| trouble("connect", "it did not answer in time"))?
        });
        let (context, [orders, outcomes], [campaigns, workers], limit) =
            opened.map_err(|error| {
                error.hint(format!(
                    "is a NATS server with JetStream at {}? `ioco nats` starts one",
                    access.server().0
                ))
            })?;
        Ok(Bus {
            runtime,
            context,
            orders,
            outcomes,
            campaigns,
            workers,
            limit,
        })
    }

    /// Waits for an answer, not for ever.
    pub(crate) fn wait<T, E: std::fmt::Display>(
        &self,
        doing: &str,
        answer: impl Future<Output = Result<T, E>>,
    ) -> Result<T, CampaignError> {
        let answered = self
            .runtime
            .block_on(async { tokio::time::timeout(PATIENCE, answer).await });
        answered
            .map_err(|_| trouble(doing, "the server did not answer in time"))?
            .map_err(|error| trouble(doing, error))
    }

    /// Makes the streams and buckets that are not there: a server may have been set up anew.
    pub(crate) fn make_queues(&mut self) -> Result<(), CampaignError> {
        let context = self.context.clone();
        let made = self
            .runtime
            .block_on(async { tokio::time::timeout(PATIENCE, make(&context)).await });
        let made =
            made.map_err(|_| trouble("make the queues", "the server did not answer in time"));
        let ([orders, outcomes], [campaigns, workers]) = made??;
        (self.orders, self.outcomes) = (orders, outcomes);
        (self.campaigns, self.workers) = (campaigns, workers);
        Ok(())
    }

    pub(crate) fn announce(&self, announced: &Announced) -> Result<(), CampaignError> {
        let bytes = json(announced)?;
        let put = self.campaigns.put(&announced.campaign, bytes.into());
        self.wait("announce the campaign", put).map(|_| ())
    }

    pub(crate) fn show_up(&self, present: &Present) -> Result<(), CampaignError> {
        let bytes = json(present)?;
        let put = self.workers.put(&present.worker, bytes.into());
        self.wait("announce the worker", put).map(|_| ())
    }

    /// All campaigns that the server knows.
    pub fn campaigns(&self) -> Result<Vec<Announced>, CampaignError> {
        let mut campaigns: Vec<Announced> = self.entries(&self.campaigns)?;
        campaigns.retain(|campaign| is_name(&campaign.campaign));
        Ok(campaigns)
    }

    /// All workers that are there now.
    pub fn workers(&self) -> Result<Vec<Present>, CampaignError> {
        let mut workers: Vec<Present> = self.entries(&self.workers)?;
        workers.retain(|worker| is_name(&worker.worker));
        for worker in &mut workers {
            worker.jobs = worker.jobs.min(MOST_JOBS);
        }
        Ok(workers)
    }

    pub fn campaign(&self, id: &str) -> Result<Option<Announced>, CampaignError> {
        if !is_name(id) {
            return Ok(None);
        }
        let got = self.wait("read the campaign", self.campaigns.get(id))?;
        Ok(got.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
    }

    /// Asks a campaign to stop; false where it is over, or nobody knows it.
    pub fn ask_to_stop(&self, id: &str) -> Result<bool, CampaignError> {
        match self.campaign(id)? {
            Some(announced) if announced.state == crate::State::Running => {
                self.announce(&Announced {
                    state: crate::State::Stopping,
                    ..announced
                })?;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    fn entries<T: DeserializeOwned>(&self, bucket: &kv::Store) -> Result<Vec<T>, CampaignError> {
        self.wait("list entries", async {
            let keys: Vec<String> = match bucket.keys().await {
                Ok(keys) => keys
                    .try_collect()
                    .await
                    .map_err(|error| error.to_string())?,
                Err(error) => return Err(error.to_string()),
            };
            let mut entries = Vec::new();
            for key in keys {
                let value = bucket.get(key).await.map_err(|error| error.to_string())?;
                // Entries of other versions are not for us.
                entries.extend(value.and_then(|bytes| serde_json::from_slice(&bytes).ok()));
            }
            Ok(entries)
        })
    }
}

pub(crate) fn json(value: &impl Serialize) -> Result<Vec<u8>, CampaignError> {
    serde_json::to_vec(value).map_err(|error| CampaignError::usage(error.to_string()))
}

type Opened = (
    jetstream::Context,
    [stream::Stream; 2],
    [kv::Store; 2],
    usize,
);

async fn open(access: &Access, name: &str) -> Result<Opened, CampaignError> {
    let mut options = ConnectOptions::new().name(name);
    if let Some(file) = &access.credentials {
        options = options
            .credentials_file(file)
            .await
            .map_err(|error| trouble(&format!("read {}", file.display()), error))?;
    }
    if let Some(file) = &access.ca {
        options = options
            .add_root_certificates(file.clone())
            .require_tls(true);
    }
    if let Some((certificate, key)) = &access.certificate {
        options = options.add_client_certificate(certificate.clone(), key.clone());
    }
    let (server, who) = access.server();
    if let Some((user, password)) = who {
        options = options.user_and_password(user, password);
    }
    let client = options
        .connect(&server)
        .await
        .map_err(|error| trouble("connect", error))?;
    let limit = client.server_info().max_payload;
    let context = jetstream::new(client);
    let (streams, buckets) = make(&context).await?;
    Ok((context, streams, buckets, limit))
}

/// The streams and buckets of campaigns; made where they are not there.
async fn make(
    context: &jetstream::Context,
) -> Result<([stream::Stream; 2], [kv::Store; 2]), CampaignError> {
    let stream = |name: &str, subjects: &str| stream::Config {
        name: name.to_owned(),
        subjects: vec![subjects.to_owned()],
        retention: RetentionPolicy::WorkQueue,
        duplicate_window: DUPLICATES,
        max_age: KEPT,
        ..stream::Config::default()
    };
    let orders = context.get_or_create_stream(stream("ioco-orders", "ioco.orders.*"));
    let orders = orders
        .await
        .map_err(|error| trouble("make the stream of orders", error))?;
    let outcomes = context.get_or_create_stream(stream("ioco-outcomes", "ioco.outcomes.*"));
    let outcomes = outcomes
        .await
        .map_err(|error| trouble("make the stream of outcomes", error))?;
    let bucket = |name: &str, max_age: Duration| kv::Config {
        bucket: name.to_owned(),
        max_age,
        ..kv::Config::default()
    };
    let campaigns = bucket_of(context, bucket("ioco-campaigns", KEPT)).await?;
    let workers = bucket_of(context, bucket("ioco-workers", PRESENCE)).await?;
    Ok(([orders, outcomes], [campaigns, workers]))
}

async fn bucket_of(
    context: &jetstream::Context,
    config: kv::Config,
) -> Result<kv::Store, CampaignError> {
    if let Ok(bucket) = context.get_key_value(&config.bucket).await {
        return Ok(bucket);
    }
    let made = context.create_key_value(config).await;
    made.map_err(|error| trouble("make a bucket", error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_password_of_an_address_is_used_and_not_shown() {
        for (url, server, who) in [
            ("nats://host:4222", "nats://host:4222", None),
            ("nats://me:a%40b@host", "nats://host", Some(("me", "a@b"))),
            (
                "tls://me:50%@[::1]:4222",
                "tls://[::1]:4222",
                Some(("me", "50%")),
            ),
            ("me:x@host:1", "host:1", Some(("me", "x"))),
        ] {
            let access = Access {
                url: url.to_owned(),
                ..Access::default()
            };
            let who = who.map(|(user, word)| (user.to_owned(), word.to_owned()));
            assert_eq!(access.server(), (server.to_owned(), who), "{url}");
        }
    }
}

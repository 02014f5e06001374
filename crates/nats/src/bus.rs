//! The connection to NATS, and the streams and buckets that campaigns use there.

use std::future::Future;
use std::net::IpAddr;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use async_nats::ConnectOptions;
use async_nats::jetstream::stream::{self, RetentionPolicy};
use async_nats::jetstream::{self, kv};
use futures_util::TryStreamExt;
use futures_util::future::{Either, select};
use ioco_budget::{Interrupt, SLICE, Until};
use ioco_campaign::CampaignError;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{Announced, MOST_BYTES, Present, is_name};

/// How long a request to the server may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// The same, after one that failed: the run looks at its own time in between.
const SHORT_PATIENCE: Duration = Duration::from_secs(2);
/// How long all requests together may take once somebody wants to stop.
const HURRY: Duration = Duration::from_millis(400);
/// More entries of a bucket than this are not read: anybody at the server can write there.
const ENTRIES: usize = 10_000;
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
    /// The person accepts that a password goes over the network unencrypted.
    pub insecure: bool,
}

impl Access {
    /// The address without a password, for messages.
    pub fn show(&self) -> String {
        match self.url.rsplit_once('@') {
            Some((before, host)) => {
                let scheme = before.split_once("://").map_or("", |(scheme, _)| scheme);
                format!("{scheme}://{host}")
            }
            None => self.url.clone(),
        }
    }

    /// Refuses to send a password or a token unencrypted over the network.
    fn check(&self) -> Result<(), CampaignError> {
        let Some((_, host)) = self.rest().rsplit_once('@') else {
            return Ok(());
        };
        if self.insecure || self.is_encrypted() || is_loopback(host) {
            return Ok(());
        }
        Err(CampaignError::usage(format!(
            "the password in the address would go to {host} unencrypted"
        ))
        .hint("use tls://, or accept it with --insecure"))
    }

    /// The address without its scheme.
    fn rest(&self) -> &str {
        let url = self.url.as_str();
        url.split_once("://").map_or(url, |(_, rest)| rest)
    }

    fn is_encrypted(&self) -> bool {
        let is_named = |scheme: &str| {
            let start = self.url.get(..scheme.len());
            start.is_some_and(|start| start.eq_ignore_ascii_case(scheme))
        };
        self.ca.is_some() || is_named("tls://") || is_named("wss://")
    }

    /// The secrets that the address contains.
    fn login(&self) -> Result<Option<Login>, CampaignError> {
        let Some((login, _)) = self.rest().rsplit_once('@') else {
            return Ok(None);
        };
        let plain = |text: &str| {
            percent_decoded(text).ok_or_else(|| {
                CampaignError::usage("the user or password in the address is not percent-encoded")
                    .hint("write %25 for %, %40 for @ and %2F for /")
            })
        };
        Ok(Some(match login.split_once(':') {
            Some((user, password)) => Login::User(plain(user)?, plain(password)?),
            None => Login::Token(plain(login)?),
        }))
    }
}

/// Who we are. The client takes this from its options only, never from the address.
#[cfg_attr(test, derive(Debug, PartialEq))]
enum Login {
    User(String, String),
    Token(String),
}

/// `None` where a `%` does not begin the code of a byte, or the bytes are no text.
fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let [high, low, after @ ..] = rest else {
            return None;
        };
        let digit = |byte: u8| char::from(byte).to_digit(16);
        bytes.push(u8::try_from(digit(*high)? * 16 + digit(*low)?).ok()?);
        rest = after;
    }
    String::from_utf8(bytes).ok()
}

/// Whether `host:port` is on this machine.
fn is_loopback(host: &str) -> bool {
    let host = host.split('/').next().unwrap_or_default();
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => host,
    };
    let name = name.trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

pub struct Bus {
    pub(crate) runtime: Runtime,
    pub(crate) context: jetstream::Context,
    pub(crate) orders: stream::Stream,
    pub(crate) outcomes: stream::Stream,
    pub(crate) campaigns: kv::Store,
    pub(crate) workers: kv::Store,
    /// Bytes of the largest message that the server takes.
    pub(crate) limit: usize,
    /// How long requests are waited for. The deadline is that of the first ones.
    until: Until,
    /// When the last ones are over, once somebody wants to stop.
    last: OnceLock<Instant>,
    /// The last request failed.
    is_failing: AtomicBool,
}

/// The threads of the client. Nobody waits for their end: a server that floods keeps them busy.
pub(crate) struct Runtime(Option<tokio::runtime::Runtime>);

impl Runtime {
    pub fn block_on<T>(&self, work: impl Future<Output = T>) -> T {
        self.handle().block_on(work)
    }

    pub fn handle(&self) -> &tokio::runtime::Handle {
        match &self.0 {
            Some(runtime) => runtime.handle(),
            None => unreachable!("it is there until it is dropped"),
        }
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// A wait for an answer, for so long as `until` and the moment that is left allow. Returns when it is over.
async fn over(until: &Until, last: &OnceLock<Instant>) {
    let is_asked = || last.get().is_some() || until.is_stopped();
    let is_over = || until.is_late() || (is_asked() && until.now() >= hurry(until, last));
    while !is_over() {
        tokio::time::sleep(SLICE).await;
    }
}

/// When the last requests are over, from the first time that this was asked.
fn hurry(until: &Until, last: &OnceLock<Instant>) -> Instant {
    *last.get_or_init(|| until.now() + HURRY)
}

/// Waits for an answer, not for ever.
async fn answered<T, E: std::fmt::Display>(
    until: &Until,
    last: &OnceLock<Instant>,
    patience: Duration,
    doing: &str,
    answer: impl Future<Output = Result<T, E>>,
) -> Result<T, CampaignError> {
    let answered = pin!(tokio::time::timeout(patience, answer));
    match select(answered, pin!(over(until, last))).await {
        Either::Left((Ok(answer), _)) => answer.map_err(|error| trouble(doing, error)),
        Either::Left((Err(_), _)) => Err(trouble(doing, "the server did not answer in time")),
        Either::Right(_) => Err(trouble(doing, "the server did not answer before the end")),
    }
}

/// What the server or the way to it does not allow.
pub(crate) fn trouble(doing: &str, error: impl std::fmt::Display) -> CampaignError {
    CampaignError::system(format!("NATS: cannot {doing}: {error}"))
}

impl Bus {
    /// Connects. Once the interrupt is raised, no request is waited for any longer.
    pub fn open(access: &Access, name: &str, interrupt: &Interrupt) -> Result<Bus, CampaignError> {
        Bus::open_until(access, name, Until::raised(Instant::now, interrupt))
    }

    /// Connects. The deadline also bounds the requests up to the announcement of a campaign.
    pub fn open_until(access: &Access, name: &str, until: Until) -> Result<Bus, CampaignError> {
        access.check()?;
        let last = OnceLock::new();
        // While a flood keeps one of them busy, the other looks at the clock.
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .map_err(|error| trouble("start", error))?;
        let runtime = Runtime(Some(runtime));
        let opened = runtime.block_on(async {
            let opened = async { Ok::<_, String>(open(access, name).await) };
            answered(&until, &last, PATIENCE, "connect", opened).await?
        });
        let (context, [orders, outcomes], [campaigns, workers], limit) = match opened {
            Ok(opened) => opened,
            Err(_) if until.is_stopped() => return Err(CampaignError::interrupted()),
            Err(error) => {
                return Err(error.hint(format!(
                    "is a NATS server with JetStream at {}? `ioco nats` starts one",
                    access.show()
                )));
            }
        };
        Ok(Bus {
            runtime,
            context,
            orders,
            outcomes,
            campaigns,
            workers,
            limit,
            until,
            last,
            is_failing: AtomicBool::new(false),
        })
    }

    /// Waits for an answer, not for ever.
    pub(crate) fn wait<T, E: std::fmt::Display>(
        &self,
        doing: &str,
        answer: impl Future<Output = Result<T, E>>,
    ) -> Result<T, CampaignError> {
        let patience = match self.is_failing.load(Ordering::Relaxed) {
            true => SHORT_PATIENCE,
            false => PATIENCE,
        };
        let answered = answered(&self.until, &self.last, patience, doing, answer);
        let answered = self.runtime.block_on(answered);
        self.is_failing.store(answered.is_err(), Ordering::Relaxed);
        answered
    }

    /// From now on, the run says when requests are over.
    pub(crate) fn forget_end(&mut self) {
        self.until = self.until.by(None);
    }

    /// From now on, requests together get no more than a moment.
    pub(crate) fn hurry(&self) {
        hurry(&self.until, &self.last);
    }

    pub(crate) fn is_hurried(&self) -> bool {
        self.last.get().is_some() || self.until.is_stopped()
    }

    /// Makes the streams and buckets that are not there: a server may have been set up anew.
    pub(crate) fn make_queues(&mut self) -> Result<(), CampaignError> {
        let made = self.wait("make the queues", async {
            Ok::<_, String>(make(&self.context).await)
        });
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
            for key in keys.into_iter().take(ENTRIES) {
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
    let login = access.login()?;
    if access.is_encrypted() {
        options = options.require_tls(true);
    } else if login.is_some() {
        // They would get the password too, and may be anywhere.
        options = options.ignore_discovered_servers();
    }
    match login {
        Some(Login::User(user, password)) => options = options.user_and_password(user, password),
        Some(Login::Token(token)) => options = options.token(token),
        None => {}
    }
    if let Some(file) = &access.ca {
        options = options.add_root_certificates(file.clone());
    }
    if let Some((certificate, key)) = &access.certificate {
        options = options.add_client_certificate(certificate.clone(), key.clone());
    }
    let client = options
        .connect(&access.url)
        .await
        .map_err(|error| trouble("connect", error))?;
    let limit = client.server_info().max_payload.min(MOST_BYTES);
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
    fn a_password_goes_over_the_network_encrypted_or_on_request() {
        let access = |url: &str| Access {
            url: url.to_owned(),
            ..Access::default()
        };
        for url in [
            "nats://10.0.0.1:4222",
            "nats://me:secret@127.0.0.1:4222",
            "nats://me:secret@localhost:4222",
            "nats://me:secret@[::1]:4222",
            "tls://me:secret@db.example:4222",
            "TLS://me:secret@db.example:4222",
        ] {
            assert!(access(url).check().is_ok(), "{url}");
        }
        for url in [
            "nats://me:secret@db.example:4222",
            "nats://token@10.0.0.1",
            "me:secret@db.example",
            "nats://me:secret@localhost.example:4222",
            "ws://me:secret@[2001:db8::1]:4222",
        ] {
            let refused = access(url).check().expect_err(url);
            assert!(!refused.message.contains("secret"), "{}", refused.message);
            let accepted = Access {
                insecure: true,
                ..access(url)
            };
            assert!(accepted.check().is_ok(), "{url}");
        }
    }

    #[test]
    fn the_secrets_of_an_address_are_what_was_encoded() {
        let login = |url: &str| {
            let access = Access {
                url: url.to_owned(),
                ..Access::default()
            };
            access.login()
        };
        let user = |user: &str, password: &str| Login::User(user.to_owned(), password.to_owned());
        for (url, expected) in [
            ("nats://db:4222", None),
            ("nats://me:secret@db:4222", Some(user("me", "secret"))),
            ("me:a%40b%2f%25:c@db", Some(user("me", "a@b/%:c"))),
            ("tls://me:%C3%9F@db", Some(user("me", "ß"))),
            ("nats://me:@db", Some(user("me", ""))),
            ("nats://to%6ben@db", Some(Login::Token("token".to_owned()))),
        ] {
            assert_eq!(login(url).expect(url), expected, "{url}");
        }
        for url in ["nats://me:50%@db", "nats://me:%zz@db", "nats://%ff@db"] {
            let refused = login(url).expect_err(url);
            assert!(refused.message.contains("percent-encoded"), "{url}");
        }
    }

    #[test]
    fn a_password_is_never_shown() {
        for (url, shown) in [
            ("nats://me:secret@db:4222", "nats://db:4222"),
            ("nats://me:a@b@db:4222", "nats://db:4222"),
            ("nats://db:4222", "nats://db:4222"),
        ] {
            let access = Access {
                url: url.to_owned(),
                ..Access::default()
            };
            assert_eq!(access.show(), shown);
        }
    }
}

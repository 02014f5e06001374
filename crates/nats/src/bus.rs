//! The connection to NATS, and the streams and buckets that campaigns use there.

use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
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

use crate::access::{Access, Login};
use crate::watched::Watched;
use crate::{Announced, MAX_BYTES, Present, is_name};

/// How long a request to the server may take.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// The same, after one that failed: the run looks at its own time in between.
const RETRY_TIMEOUT: Duration = Duration::from_secs(2);
/// How long all requests together may take once a stop is requested.
const STOP_TIMEOUT: Duration = Duration::from_millis(400);
/// More entries of a bucket than this are not read: anybody at the server can write there.
pub(crate) const ENTRIES: usize = 10_000;
/// A worker that does not renew its entry is gone after this time.
pub(crate) const PRESENCE: Duration = Duration::from_secs(6);
/// Messages with the same id within this time are one.
const DUPLICATES: Duration = Duration::from_secs(600);
/// Outcomes and orders that nobody took go away after this time.
const KEPT: Duration = Duration::from_secs(7 * 24 * 3600);

/// A coordinator that runs renews the announcement of its campaign within this time.
const RENEWED: Duration = Duration::from_millis(1500);

/// The buckets.
const CAMPAIGNS: &str = "ioco-campaigns";
const WORKERS: &str = "ioco-workers";

/// The most jobs of one worker: what one worker says of itself must not flood the queue.
const MAX_JOBS: usize = 1024;

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
    /// When the last ones are over, once a stop is requested.
    last: Moment,
    /// The last request failed.
    is_failing: AtomicBool,
    /// So many servers keep the queues.
    replicas: usize,
    /// What the buckets have, for those who look again and again.
    watched_campaigns: OnceLock<Watched<Announced>>,
    watched_workers: OnceLock<Watched<Present>>,
}

/// The threads of the client. Nothing waits for their end: a server that floods keeps them busy.
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
async fn over(until: &Until, last: &Moment) {
    let is_asked = || lock(last).is_some() || until.is_stopped();
    let is_over = || until.is_late() || (is_asked() && until.now() >= stop_deadline(until, last));
    while !is_over() {
        tokio::time::sleep(SLICE).await;
    }
}

/// When the last requests are over, from the first time that this was asked.
fn stop_deadline(until: &Until, last: &Moment) -> Instant {
    *lock(last).get_or_insert_with(|| until.now() + STOP_TIMEOUT)
}

/// When the last requests are over, once a stop is requested.
type Moment = Mutex<Option<Instant>>;

fn lock(moment: &Moment) -> MutexGuard<'_, Option<Instant>> {
    moment.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits for an answer, not for ever.
async fn answered<T, E: std::fmt::Display>(
    until: &Until,
    last: &Moment,
    patience: Duration,
    doing: &str,
    answer: impl Future<Output = Result<T, E>>,
) -> Result<T, CampaignError> {
    let answered = pin!(tokio::time::timeout(patience, answer));
    match select(answered, pin!(over(until, last))).await {
        Either::Left((Ok(answer), _)) => answer.map_err(|error| bus_error(doing, error)),
        Either::Left((Err(_), _)) => Err(bus_error(doing, "the server did not answer in time")),
        Either::Right(_) => Err(bus_error(doing, "the server did not answer before the end")),
    }
}

/// What the server or the way to it does not allow.
pub(crate) fn bus_error(doing: &str, error: impl std::fmt::Display) -> CampaignError {
    CampaignError::system(format!("NATS: cannot {doing}: {error}"))
}

impl Bus {
    /// Connects. Once the interrupt is raised, no request is waited for any longer.
    pub fn open(access: &Access, name: &str, interrupt: &Interrupt) -> Result<Bus, CampaignError> {
        Bus::open_until(access, name, 1, Until::raised(Instant::now, interrupt))
    }

    /// Connects. Queues that are made are kept by so many servers of the cluster. The deadline also bounds the
    /// requests up to the announcement of a campaign.
    pub fn open_until(
        access: &Access,
        name: &str,
        replicas: usize,
        until: Until,
    ) -> Result<Bus, CampaignError> {
        access.check()?;
        let last = Moment::default();
        // While a flood keeps one of them busy, the other looks at the clock.
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .map_err(|error| bus_error("start", error))?;
        let runtime = Runtime(Some(runtime));
        let opened = runtime.block_on(async {
            let opened = async { Ok::<_, String>(open(access, name, replicas).await) };
            answered(&until, &last, REQUEST_TIMEOUT, "connect", opened).await?
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
            watched_campaigns: OnceLock::new(),
            watched_workers: OnceLock::new(),
            replicas,
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
            true => RETRY_TIMEOUT,
            false => REQUEST_TIMEOUT,
        };
        let answered = answered(&self.until, &self.last, patience, doing, answer);
        let answered = self.runtime.block_on(answered);
        self.is_failing.store(answered.is_err(), Ordering::Relaxed);
        answered
    }

    /// From now on, no request goes on beyond this time; `None`: as long as the server's patience.
    pub(crate) fn end_at(&mut self, at: Option<Instant>) {
        self.until = self.until.by(at);
    }

    /// From now on, requests together get no more than a moment.
    pub(crate) fn start_stop_deadline(&self) {
        stop_deadline(&self.until, &self.last);
    }

    /// One more such moment for a server that answers.
    pub(crate) fn extend_stop_deadline(&self) {
        if !self.is_failing.load(Ordering::Relaxed) {
            *lock(&self.last) = Some(self.until.now() + STOP_TIMEOUT);
        }
        self.start_stop_deadline();
    }

    pub(crate) fn is_hurried(&self) -> bool {
        lock(&self.last).is_some() || self.until.is_stopped() || self.until.is_late()
    }

    /// Makes the streams and buckets that are not there: a server may have been set up anew.
    pub(crate) fn make_queues(&mut self) -> Result<(), CampaignError> {
        let made = self.wait("make the queues", async {
            Ok::<_, String>(make(&self.context, self.replicas).await)
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
        Ok(named_campaigns(self.entries(&self.campaigns)?))
    }

    /// All workers that are there now.
    pub fn workers(&self) -> Result<Vec<Present>, CampaignError> {
        Ok(named_workers(self.entries(&self.workers)?))
    }

    /// The same for those who look again and again: the server says what changes, and is asked only where it says
    /// nothing for a while.
    pub(crate) fn watch_campaigns(&self) -> Result<Vec<Announced>, CampaignError> {
        let (handle, context) = (self.runtime.handle(), &self.context);
        let watched = self
            .watched_campaigns
            .get_or_init(|| Watched::start(handle, context, CAMPAIGNS, KEPT));
        match watched.now() {
            Some(campaigns) => Ok(named_campaigns(campaigns)),
            None => self.campaigns(),
        }
    }

    pub(crate) fn watch_workers(&self) -> Result<Vec<Present>, CampaignError> {
        let (handle, context) = (self.runtime.handle(), &self.context);
        let watched = self
            .watched_workers
            .get_or_init(|| Watched::start(handle, context, WORKERS, PRESENCE));
        match watched.now() {
            Some(workers) => Ok(named_workers(workers)),
            None => self.workers(),
        }
    }

    pub fn campaign(&self, id: &str) -> Result<Option<Announced>, CampaignError> {
        if !is_name(id) {
            return Ok(None);
        }
        let got = self.wait("read the campaign", self.campaigns.get(id))?;
        Ok(got.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
    }

    /// Whether somebody leads a campaign now: a coordinator renews its announcement. One that is paused or slow may
    /// seem to be gone; the store then keeps it from writing.
    pub fn is_led(&self, id: &str) -> Result<bool, CampaignError> {
        if !is_name(id) {
            return Ok(false);
        }
        let revision = || {
            let entry = self.wait("read the campaign", self.campaigns.entry(id))?;
            Ok(entry.map(|entry| entry.revision))
        };
        let first = revision()?;
        let looked = Instant::now();
        while first.is_some() && looked.elapsed() < RENEWED && !self.until.is_over() {
            std::thread::sleep(SLICE);
            if revision()? != first {
                return Ok(true);
            }
        }
        Ok(false)
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

fn named_campaigns(mut campaigns: Vec<Announced>) -> Vec<Announced> {
    campaigns.retain(|campaign| is_name(&campaign.campaign));
    campaigns
}

fn named_workers(mut workers: Vec<Present>) -> Vec<Present> {
    workers.retain(|worker| is_name(&worker.worker));
    for worker in &mut workers {
        worker.jobs = worker.jobs.min(MAX_JOBS);
    }
    workers
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

async fn open(access: &Access, name: &str, replicas: usize) -> Result<Opened, CampaignError> {
    let mut options = ConnectOptions::new().name(name);
    if let Some(file) = &access.credentials {
        options = options
            .credentials_file(file)
            .await
            .map_err(|error| bus_error(&format!("read {}", file.display()), error))?;
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
        .connect(access.addresses().collect::<Vec<&str>>())
        .await
        .map_err(|error| bus_error("connect", error))?;
    let limit = client.server_info().max_payload.min(MAX_BYTES);
    let context = jetstream::new(client);
    let (streams, buckets) = make(&context, replicas).await?;
    Ok((context, streams, buckets, limit))
}

/// The streams and buckets of campaigns; made where they are not there. More servers keep those that are there if more
/// are asked for.
async fn make(
    context: &jetstream::Context,
    replicas: usize,
) -> Result<([stream::Stream; 2], [kv::Store; 2]), CampaignError> {
    let stream = |name: &str, subjects: &str| stream::Config {
        name: name.to_owned(),
        subjects: vec![subjects.to_owned()],
        retention: RetentionPolicy::WorkQueue,
        duplicate_window: DUPLICATES,
        max_age: KEPT,
        num_replicas: replicas,
        ..stream::Config::default()
    };
    let orders = stream_of(context, stream("ioco-orders", "ioco.orders.*"))
        .await
        .map_err(|error| bus_error("make the stream of orders", error))?;
    let outcomes = stream_of(context, stream("ioco-outcomes", "ioco.outcomes.*"))
        .await
        .map_err(|error| bus_error("make the stream of outcomes", error))?;
    let bucket = |name: &str, max_age: Duration| kv::Config {
        bucket: name.to_owned(),
        max_age,
        num_replicas: replicas,
        ..kv::Config::default()
    };
    let campaigns = bucket_of(context, bucket(CAMPAIGNS, KEPT)).await?;
    let workers = bucket_of(context, bucket(WORKERS, PRESENCE)).await?;
    Ok(([orders, outcomes], [campaigns, workers]))
}

async fn stream_of(
    context: &jetstream::Context,
    wanted: stream::Config,
) -> Result<stream::Stream, String> {
    let stream = context.get_or_create_stream(wanted.clone());
    let stream = stream.await.map_err(|error| error.to_string())?;
    replicate(context, &stream, wanted.num_replicas).await?;
    Ok(stream)
}

/// Lets so many servers keep a stream, where fewer do.
async fn replicate(
    context: &jetstream::Context,
    stream: &stream::Stream,
    replicas: usize,
) -> Result<(), String> {
    let config = &stream.cached_info().config;
    if config.num_replicas < replicas {
        let config = stream::Config {
            num_replicas: replicas,
            ..config.clone()
        };
        let updated = context.update_stream(config);
        updated.await.map_err(|error| error.to_string())?;
    }
    Ok(())
}

async fn bucket_of(
    context: &jetstream::Context,
    config: kv::Config,
) -> Result<kv::Store, CampaignError> {
    let replicas = config.num_replicas;
    let bucket = match context.get_key_value(&config.bucket).await {
        Ok(bucket) => bucket,
        Err(_) => {
            let made = context.create_key_value(config).await;
            made.map_err(|error| bus_error("make a bucket", error))?
        }
    };
    replicate(context, &bucket.stream, replicas)
        .await
        .map_err(|error| bus_error("replicate a bucket", error))?;
    Ok(bucket)
}

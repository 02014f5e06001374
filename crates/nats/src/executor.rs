//! The coordinator's end: publishes orders, and takes outcomes as they come. The server may be gone for a while: orders
//! wait here until it is back, outcomes wait there until the coordinator has kept them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::{Duration, Instant};

use async_nats::jetstream;
use async_nats::jetstream::consumer::{AckPolicy, PullConsumer, pull};
use async_nats::jetstream::message::PublishMessage;
use futures_util::{FutureExt, StreamExt, TryStreamExt};
use ioco_campaign::work::{Doing, Executor, Order, Outcome, WORK_VERSION};
use ioco_campaign::{CampaignError, Interrupt};

use crate::bus::{Bus, json};
use crate::{Announced, MAX_BYTES, MAX_WORKERS, Present, Queues, State, is_name, live_subject};

/// How often to look who works, and whether a stop is requested.
const LOOK: Duration = Duration::from_millis(500);
/// How long to wait before a server that does not answer is asked again.
const RETRY_DELAY: Duration = Duration::from_millis(500);

/// Orders that are published before the server's answers are waited for.
const TOGETHER: usize = 64;

/// Bytes of what a worker says of its test.
const MAX_LIVE: usize = 1024;

/// So many orders are under way at most, whatever workers say of themselves.
const CAPACITY: usize = 4096;
/// What a worker said of its test is forgotten after this time.
const LIVE: Duration = Duration::from_secs(2);

/// Workers far away may be gone: how long their outcomes are waited for once the run has to end.
const OUTCOME_GRACE_PERIOD: Duration = Duration::from_millis(300);

pub struct NatsExecutor {
    bus: Bus,
    announced: Announced,
    queues: Queues,
    outcomes: Option<pull::Stream>,
    /// Where workers say how far they are; `None` where the server does not let us listen.
    live: Option<async_nats::Subscriber>,
    /// What they said last, by worker and test.
    doing: BTreeMap<(String, u64), (Doing, Instant)>,
    /// Outcomes that are not acknowledged yet.
    taken: Vec<jetstream::Message>,
    /// Orders that the server does not have yet.
    outbox: VecDeque<Order>,
    /// Orders without an outcome, and how often each was published.
    under_way: BTreeMap<u64, (Order, u32)>,
    /// When something came back last, or was handed out.
    moved: Instant,
    /// Since when the server has had nothing of this campaign.
    empty: bool,
    /// Raised when somebody stops the campaign.
    interrupt: Interrupt,
    capacity: usize,
    looked: Option<Instant>,
    tried: Option<Instant>,
    present: BTreeSet<String>,
    notices: Vec<String>,
    /// The server did not answer the last time.
    is_gone: bool,
    /// A later coordinator announces the campaign.
    is_replaced: bool,
}

impl NatsExecutor {
    /// A worker that says nothing about its order for the time of the lease loses it. Nothing is announced before
    /// this coordinator leads the campaign.
    pub fn open(
        bus: Bus,
        announced: Announced,
        queues: Queues,
        interrupt: Interrupt,
    ) -> NatsExecutor {
        NatsExecutor {
            bus,
            announced: Announced {
                labels: queues.labels.clone(),
                ..announced
            },
            queues,
            outcomes: None,
            live: None,
            doing: BTreeMap::new(),
            taken: Vec::new(),
            outbox: VecDeque::new(),
            under_way: BTreeMap::new(),
            moved: Instant::now(),
            empty: false,
            interrupt,
            capacity: 0,
            looked: None,
            tried: None,
            present: BTreeSet::new(),
            notices: Vec::new(),
            is_gone: false,
            is_replaced: false,
        }
    }

    /// Makes the queues of the campaign, where they are not there, and listens for outcomes. The queue of orders is
    /// that of the campaign: workers hold orders of it by their leases, whoever coordinates. The queue of outcomes
    /// is that of one coordinator.
    fn listen(&mut self) -> Result<(), CampaignError> {
        self.bus.make_queues()?;
        let campaign = &self.announced.campaign;
        let consumer = |name: String, subject: &str| pull::Config {
            durable_name: Some(name),
            filter_subject: format!("ioco.{subject}.{campaign}"),
            ack_policy: AckPolicy::Explicit,
            ack_wait: self.queues.lease(),
            max_ack_pending: CAPACITY as i64,
            ..pull::Config::default()
        };
        let own = consumer(campaign.clone(), "orders");
        let orders = self.bus.orders.create_consumer(own);
        self.bus.wait("make the queue of orders", orders)?;
        let own = consumer(self.own_queue(), "outcomes");
        let outcomes = self.bus.outcomes.create_consumer(own);
        let outcomes = self.bus.wait("make the queue of outcomes", outcomes)?;
        self.outcomes = Some(self.bus.wait("listen for outcomes", outcomes.messages())?);
        // Nobody depends on it: without it, workers are seen by their outcomes alone.
        let client = self.bus.context.client();
        let live = client.subscribe(live_subject(campaign));
        self.live = self.bus.wait("listen to workers", live).ok();
        Ok(())
    }

    /// The name of the queue of outcomes of this coordinator.
    fn own_queue(&self) -> String {
        format!("{}-{}", self.announced.campaign, self.announced.coordinator)
    }

    /// Takes the outcomes from the coordinators before this one: those that they have not acknowledged come here.
    fn take_over(&self) -> Result<(), CampaignError> {
        let prefix = format!("{}-", self.announced.campaign);
        self.bus.wait("take over the outcomes", async {
            let names: Vec<String> = self
                .bus
                .outcomes
                .consumer_names()
                .try_collect()
                .await
                .map_err(|error| error.to_string())?;
            let is_before = |name: &&String| {
                let number = name.strip_prefix(&prefix);
                number.is_some_and(|number| number.parse::<u64>().is_ok())
            };
            for name in names.iter().filter(is_before) {
                // Another one may have done so at the same moment.
                let _ = self.bus.outcomes.delete_consumer(name).await;
            }
            Ok::<_, String>(())
        })
    }

    /// Whether the campaign is announced by a later coordinator. The store says so too; this is sooner.
    fn look_who_leads(&mut self) -> Result<Option<Announced>, CampaignError> {
        let now = self.bus.campaign(&self.announced.campaign)?;
        let is_later = |now: &Announced| now.coordinator > self.announced.coordinator;
        self.is_replaced |= now.as_ref().is_some_and(is_later);
        Ok(now)
    }

    fn replaced(&self) -> CampaignError {
        CampaignError::usage(format!(
            "another coordinator has resumed campaign {}",
            self.announced.campaign
        ))
        .hint("the other coordinator continues the campaign; `ioco campaign status` shows its progress")
    }

    /// Takes what workers have said of their tests.
    fn hear(&mut self) {
        if let Some(live) = &mut self.live {
            for _ in 0..CAPACITY {
                let Some(Some(message)) = live.next().now_or_never() else {
                    break;
                };
                if message.payload.len() > MAX_LIVE {
                    continue;
                }
                let Ok(doing) = serde_json::from_slice::<Doing>(&message.payload) else {
                    continue;
                };
                if is_name(&doing.worker) && self.doing.len() < CAPACITY {
                    let key = (doing.worker.clone(), doing.test);
                    self.doing.insert(key, (doing, Instant::now()));
                }
            }
        }
        self.doing.retain(|_, (_, at)| at.elapsed() < LIVE);
    }

    fn fits(&self, worker: &Present) -> bool {
        worker.version == WORK_VERSION
            && worker.model == self.announced.model
            && worker.system == self.announced.system
            && worker.lacks(&self.announced).is_none()
    }

    /// Notes whether the server answers; says so when that changes.
    fn heard<T>(&mut self, answer: Result<T, CampaignError>) -> Option<T> {
        match answer {
            Ok(answer) => {
                if std::mem::replace(&mut self.is_gone, false) {
                    self.notices
                        .push("the NATS server answers again".to_owned());
                }
                Some(answer)
            }
            // The run ends anyway, and what it has is kept.
            Err(_) if self.bus.is_hurried() => None,
            Err(error) => {
                if !std::mem::replace(&mut self.is_gone, true) {
                    self.notices
                        .push(format!("{}; trying again", error.message));
                }
                None
            }
        }
    }

    /// Looks who works, and whether a stop is requested.
    fn look(&mut self) {
        if self.looked.is_some_and(|at| at.elapsed() < LOOK) || self.bus.is_hurried() {
            return;
        }
        // A server that was set up anew has no queues and no buckets.
        let looked = self.look_now().or_else(|_| self.listen());
        self.looked = Some(Instant::now());
        self.heard(looked);
    }

    fn look_now(&mut self) -> Result<(), CampaignError> {
        let workers = self.bus.watch_workers()?;
        let fitting: Vec<&Present> = workers.iter().filter(|w| self.fits(w)).collect();
        self.capacity = capacity(fitting.iter().map(|worker| worker.jobs));
        let present: BTreeSet<String> = fitting.iter().map(|w| w.worker.clone()).collect();
        for gone in self.present.difference(&present) {
            self.notices.push(format!("worker {gone} left"));
        }
        for new in present.difference(&self.present) {
            self.notices.push(format!("worker {new} joined"));
        }
        self.present = present;
        let now = self.look_who_leads()?;
        if self.is_replaced {
            return Ok(());
        }
        if now.is_some_and(|now| now.state == State::Stopping) {
            self.announced.state = State::Stopping;
            self.interrupt.raise();
        }
        self.hear();
        let doing = self.doing.values().map(|(doing, _)| doing.clone());
        self.announced.doing = doing.take(MAX_WORKERS).collect();
        self.bus.announce(&self.announced)?;
        self.look_for_losses()
    }

    /// Publishes orders again that the server has lost: it has neither them nor their outcomes.
    fn look_for_losses(&mut self) -> Result<(), CampaignError> {
        if self.under_way.is_empty()
            || self.moved.elapsed() < self.queues.lease()
            || !self.taken.is_empty()
        {
            self.empty = false;
            return Ok(());
        }
        let queues = [
            (&self.bus.orders, self.announced.campaign.clone()),
            (&self.bus.outcomes, self.own_queue()),
        ];
        let waiting = self.bus.wait("look at the queues", async {
            let mut waiting = 0;
            for (stream, name) in queues {
                let consumer: Result<PullConsumer, _> = stream.get_consumer(&name).await;
                // A server that was set up anew has no such queue.
                let Ok(mut consumer) = consumer else {
                    return Ok(None);
                };
                let info = consumer.info().await.map_err(|error| error.to_string())?;
                waiting += info.num_pending + info.num_ack_pending as u64;
            }
            Ok::<_, String>(Some(waiting))
        })?;
        if waiting.is_none() {
            self.listen()?;
        }
        // Twice in a row: an outcome may be on its way between the two looks.
        if waiting.unwrap_or(0) > 0 || !std::mem::replace(&mut self.empty, true) {
            return Ok(());
        }
        self.moved = Instant::now();
        self.empty = false;
        let count = self.under_way.len();
        let plural = if count == 1 { "" } else { "s" };
        self.notices.push(format!(
            "the NATS server has lost {count} order{plural}; publishing again"
        ));
        for (order, published) in self.under_way.values_mut() {
            *published += 1;
            self.outbox.push_back(order.clone());
        }
        Ok(())
    }

    /// Publishes what waits, as long as the server takes it.
    fn send(&mut self) -> Result<(), CampaignError> {
        if self.is_gone && self.tried.is_some_and(|at| at.elapsed() < RETRY_DELAY) {
            return Ok(());
        }
        self.tried = Some(Instant::now());
        while !self.outbox.is_empty() {
            let together = self.outbox.iter().take(TOGETHER);
            let messages: Vec<_> = together
                .map(|order| self.message(order))
                .collect::<Result<_, _>>()?;
            let (bus, count) = (&self.bus, messages.len());
            // The server writes to its disk before it answers: it does so once for all that it has by then.
            let sent = bus.wait("publish orders", async {
                let mut answers = Vec::with_capacity(count);
                for (subject, message) in messages {
                    let sent = bus.context.send_publish(subject, message).await;
                    answers.push(sent.map_err(|error| error.to_string())?);
                }
                for answer in answers {
                    answer.await.map_err(|error| error.to_string())?;
                }
                Ok::<_, String>(())
            });
            // Those that it took all the same are known to it by their ids when they come again.
            if self.heard(sent).is_none() {
                return Ok(());
            }
            self.outbox.drain(..count);
            self.moved = Instant::now();
            self.announced.orders += count as u64;
        }
        Ok(())
    }

    /// An order as a message, and its subject.
    fn message(&self, order: &Order) -> Result<(String, PublishMessage), CampaignError> {
        let published = self.under_way.get(&order.number).map_or(1, |(_, n)| *n);
        let bytes = json(order)?;
        if bytes.len() > self.bus.limit {
            return Err(CampaignError::usage(format!(
                "an order of {} bytes is more than the server takes ({})",
                bytes.len(),
                self.bus.limit
            ))
            .hint("raise max_payload of the NATS server, up to 8 MB"));
        }
        let message = PublishMessage::build()
            .payload(bytes.into())
            .message_id(format!("{}.{}.{published}", order.campaign, order.number));
        Ok((format!("ioco.orders.{}", order.campaign), message))
    }

    /// An outcome of this campaign in a message, if it is one.
    fn read(&self, payload: &[u8]) -> Option<Outcome> {
        if payload.len() > MAX_BYTES {
            return None;
        }
        let outcome: Outcome = serde_json::from_slice(payload).ok()?;
        let fits = outcome.version == WORK_VERSION
            && outcome.campaign == self.announced.campaign
            && is_name(&outcome.worker);
        fits.then_some(outcome)
    }
}

/// How many orders these workers take together.
fn capacity(jobs: impl Iterator<Item = usize>) -> usize {
    jobs.fold(0, usize::saturating_add).min(CAPACITY)
}

impl Executor for NatsExecutor {
    fn capacity(&self) -> usize {
        self.capacity
    }

    fn settings(&self) -> String {
        // Plain data: always JSON.
        serde_json::to_string(&self.queues).unwrap_or_default()
    }

    fn lead(&mut self, coordinator: u64) -> Result<(), CampaignError> {
        self.announced.coordinator = coordinator;
        self.look_who_leads()?;
        if self.is_replaced {
            return Err(self.replaced());
        }
        self.take_over()?;
        self.listen()?;
        self.bus.announce(&self.announced)?;
        self.bus.end_at(None);
        Ok(())
    }

    fn ends_at(&mut self, at: Option<Instant>) {
        self.bus.end_at(at);
    }

    fn submit(&mut self, order: Order) -> Result<(), CampaignError> {
        self.under_way.insert(order.number, (order.clone(), 1));
        // Sent together with others, when the coordinator next waits for outcomes.
        self.outbox.push_back(order);
        Ok(())
    }

    fn next(&mut self, wait: Duration) -> Result<Option<Outcome>, CampaignError> {
        self.look();
        if self.is_replaced {
            return Err(self.replaced());
        }
        self.send()?;
        let Some(outcomes) = &mut self.outcomes else {
            let listening = self.listen();
            if self.heard(listening).is_none() {
                std::thread::sleep(wait.min(RETRY_DELAY));
            }
            return Ok(None);
        };
        let next = self
            .bus
            .runtime
            .block_on(async { tokio::time::timeout(wait, outcomes.next()).await });
        let message = match next {
            Err(_) => return Ok(None),
            Ok(None) => {
                self.outcomes = None;
                return Ok(None);
            }
            Ok(Some(Err(error))) => {
                // The client connects again by itself; outcomes wait at the server. The queue may be gone.
                self.heard::<()>(Err(crate::bus::bus_error("listen for outcomes", error)));
                self.outcomes = None;
                return Ok(None);
            }
            Ok(Some(Ok(message))) => message,
        };
        let outcome = self.read(&message.payload);
        // One that is none is acknowledged with the next: nobody can use it.
        self.taken.push(message);
        if let Some(outcome) = &outcome {
            self.moved = Instant::now();
            let test = self.under_way.remove(&outcome.order);
            if let Some((order, _)) = test {
                let key = (outcome.worker.clone(), order.task.test());
                self.doing.remove(&key);
            }
            self.announced.outcomes += 1;
            let workers = &mut self.announced.workers;
            if workers.len() < MAX_WORKERS || workers.contains_key(&outcome.worker) {
                *workers.entry(outcome.worker.clone()).or_default() += 1;
            }
        }
        Ok(outcome)
    }

    fn acknowledge(&mut self) {
        let taken = std::mem::take(&mut self.taken);
        let acknowledged = self.bus.wait("acknowledge outcomes", async {
            for message in &taken {
                message.ack().await.map_err(|error| error.to_string())?;
            }
            Ok::<_, String>(())
        });
        // Those that the server does not hear of come again, and are discarded.
        self.heard(acknowledged);
    }

    fn doing(&mut self) -> Vec<Doing> {
        self.hear();
        self.doing
            .values()
            .map(|(doing, _)| doing.clone())
            .collect()
    }

    fn take_notices(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notices)
    }

    fn grace(&self) -> Duration {
        OUTCOME_GRACE_PERIOD
    }

    fn cancel(&mut self) {
        self.bus.end_at(None);
        self.bus.start_stop_deadline();
        self.outbox.clear();
        self.under_way.clear();
        // A coordinator that slept through its end takes back nothing that is another one's.
        if self.look_who_leads().is_err() || self.is_replaced {
            return;
        }
        let subject = format!("ioco.orders.{}", self.announced.campaign);
        let purge = self.bus.orders.purge().filter(subject);
        // What is not taken back runs in vain; nothing waits for it.
        let _ = self.bus.wait("take orders back", async { purge.await });
    }

    fn close(&mut self) {
        self.announced.state = State::Done;
        self.announced.doing.clear();
        self.bus.end_at(None);
        self.bus.extend_stop_deadline();
        // A server that is gone learns nothing more.
        if self.bus.announce(&self.announced).is_err() {
            return;
        }
        self.cancel();
        let campaign = &self.announced.campaign;
        let orders = self.bus.orders.delete_consumer(campaign);
        let _ = self.bus.wait("end the queue of orders", orders);
        let own = self.own_queue();
        let outcomes = self.bus.outcomes.delete_consumer(&own);
        let _ = self.bus.wait("end the queue of outcomes", outcomes);
        let subject = format!("ioco.outcomes.{campaign}");
        let purge = self.bus.outcomes.purge().filter(subject);
        let _ = self
            .bus
            .wait("end the queue of outcomes", async { purge.await });
    }
}

#[cfg(test)]
mod tests {
    use super::{CAPACITY, capacity};

    #[test]
    fn a_worker_that_promises_too_much_gets_no_flood_of_orders() {
        assert_eq!(capacity([2, 3].into_iter()), 5);
        assert_eq!(capacity([usize::MAX, 3].into_iter()), CAPACITY);
    }
}

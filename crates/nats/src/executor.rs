//! The coordinator's end: publishes orders, and takes outcomes as they come.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use async_nats::jetstream::consumer::{AckPolicy, pull};
use futures_util::StreamExt;
use ioco_campaign::work::{Executor, Order, Outcome, WORK_VERSION};
use ioco_campaign::{CampaignError, Interrupt};

use crate::bus::{Bus, json, trouble};
use crate::{Announced, Present, State};

/// How often to look who works, and whether somebody wants to stop.
const LOOK: Duration = Duration::from_millis(500);

/// So many orders are under way at most, whatever workers say of themselves.
const CAPACITY: usize = 4096;
/// Workers far away may be gone: how long their outcomes are waited for once the run has to end.
const GRACE: Duration = Duration::from_millis(300);

pub struct NatsExecutor {
    bus: Bus,
    announced: Announced,
    outcomes: pull::Stream,
    /// Raised when somebody stops the campaign.
    interrupt: Interrupt,
    capacity: usize,
    looked: Option<Instant>,
    present: BTreeSet<String>,
    notices: Vec<String>,
}

impl NatsExecutor {
    /// Announces a campaign. A worker that says nothing about its order for the time of the lease loses it.
    pub fn open(
        mut bus: Bus,
        announced: Announced,
        lease: Duration,
        interrupt: Interrupt,
    ) -> Result<NatsExecutor, CampaignError> {
        let campaign = announced.campaign.clone();
        let consumer = |subject: &str| pull::Config {
            durable_name: Some(campaign.clone()),
            filter_subject: format!("ioco.{subject}.{campaign}"),
            ack_policy: AckPolicy::Explicit,
            ack_wait: lease,
            ..pull::Config::default()
        };
        let orders = bus.orders.create_consumer(consumer("orders"));
        bus.wait("make the queue of orders", orders)?;
        let outcomes = bus.outcomes.create_consumer(consumer("outcomes"));
        let outcomes = bus.wait("make the queue of outcomes", outcomes)?;
        let outcomes = bus.wait("listen for outcomes", outcomes.messages())?;
        bus.announce(&announced)?;
        bus.forget_end();
        Ok(NatsExecutor {
            bus,
            announced,
            outcomes,
            interrupt,
            capacity: 0,
            looked: None,
            present: BTreeSet::new(),
            notices: Vec::new(),
        })
    }

    fn fits(&self, worker: &Present) -> bool {
        worker.version == WORK_VERSION
            && worker.model == self.announced.model
            && worker.system == self.announced.system
    }

    /// Looks who works, and whether somebody wants to stop.
    fn look(&mut self) -> Result<(), CampaignError> {
        if self.looked.is_some_and(|at| at.elapsed() < LOOK) || self.bus.is_hurried() {
            return Ok(());
        }
        self.looked = Some(Instant::now());
        let workers = self.bus.workers()?;
        let fitting: Vec<&Present> = workers.iter().filter(|w| self.fits(w)).collect();
        self.capacity = capacity(fitting.iter().map(|worker| worker.jobs));
        let present: BTreeSet<String> = fitting.iter().map(|w| w.worker.clone()).collect();
        for gone in self.present.difference(&present) {
            self.notices.push(format!("worker {gone} is gone"));
        }
        for new in present.difference(&self.present) {
            self.notices.push(format!("worker {new} takes part"));
        }
        self.present = present;
        let now = self.bus.campaign(&self.announced.campaign)?;
        if now.is_some_and(|now| now.state == State::Stopping) {
            self.announced.state = State::Stopping;
            self.interrupt.raise();
        }
        self.bus.announce(&self.announced)
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

    fn submit(&mut self, order: Order) -> Result<(), CampaignError> {
        let bytes = json(&order)?;
        if bytes.len() > self.bus.limit {
            return Err(CampaignError::usage(format!(
                "an order of {} bytes is more than the server takes ({})",
                bytes.len(),
                self.bus.limit
            ))
            .hint("raise max_payload of the NATS server"));
        }
        let message = async_nats::jetstream::message::PublishMessage::build()
            .payload(bytes.into())
            .message_id(format!("{}.{}", order.campaign, order.number));
        let subject = format!("ioco.orders.{}", order.campaign);
        let bus = &self.bus;
        let published = bus.wait("publish an order", async {
            let sent = bus.context.send_publish(subject, message).await;
            sent.map_err(|error| error.to_string())?
                .await
                .map_err(|error| error.to_string())
        });
        match published {
            // Nobody waits for its outcome any more.
            Err(_) if bus.is_hurried() => {}
            published => drop(published?),
        }
        self.announced.orders += 1;
        Ok(())
    }

    fn next(&mut self, wait: Duration) -> Result<Option<Outcome>, CampaignError> {
        match self.look() {
            // The run ends anyway, and what it has is kept.
            Err(_) if self.bus.is_hurried() => {}
            looked => looked?,
        }
        let outcomes = &mut self.outcomes;
        let next = self
            .bus
            .runtime
            .block_on(async { tokio::time::timeout(wait, outcomes.next()).await });
        let message = match next {
            Err(_) => return Ok(None),
            Ok(None) => return Err(trouble("listen for outcomes", "the connection ended")),
            Ok(Some(Err(error))) => {
                // The client connects again by itself; outcomes wait at the server.
                self.notices.push(format!("NATS: {error}"));
                return Ok(None);
            }
            Ok(Some(Ok(message))) => message,
        };
        let outcome: Option<Outcome> = serde_json::from_slice(&message.payload).ok();
        match self.bus.wait("acknowledge an outcome", message.ack()) {
            // It is here, and nobody needs it a second time.
            Err(_) if self.bus.is_hurried() => {}
            acknowledged => acknowledged?,
        }
        let outcome =
            outcome.filter(|o| o.version == WORK_VERSION && o.campaign == self.announced.campaign);
        self.announced.outcomes += u64::from(outcome.is_some());
        Ok(outcome)
    }

    fn take_notices(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notices)
    }

    fn grace(&self) -> Duration {
        GRACE
    }

    fn cancel(&mut self) {
        self.bus.hurry();
        let subject = format!("ioco.orders.{}", self.announced.campaign);
        let purge = self.bus.orders.purge().filter(subject);
        // What is not taken back runs in vain; nobody waits for it.
        let _ = self.bus.wait("take orders back", async { purge.await });
    }
}

impl Drop for NatsExecutor {
    fn drop(&mut self) {
        self.announced.state = State::Done;
        // A server that is gone learns nothing more.
        let _ = self.bus.announce(&self.announced);
        let campaign = &self.announced.campaign;
        let _ = self
            .bus
            .wait("end the queue", self.bus.orders.delete_consumer(campaign));
        let _ = self
            .bus
            .wait("end the queue", self.bus.outcomes.delete_consumer(campaign));
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

//! The worker's end: takes orders of campaigns that it can serve, one for each of its jobs, and holds each by a lease
//! until its outcome is at the server.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_nats::jetstream::{self, AckKind};
use futures_util::StreamExt;
use ioco_campaign::work::{Doing, Order, Outcome, SavedEnd, WORK_VERSION, Worker, WorkerSetup};
use ioco_campaign::{CampaignError, Interrupt};

use crate::bus::{Bus, PRESENCE, bus_error, json};
use crate::{Announced, MAX_BYTES, Present, State, live_subject};

/// How long one request for an order waits at the server.
const FETCH: Duration = Duration::from_secs(1);
/// How often a worker says that it still works on its order.
const IN_PROGRESS: Duration = Duration::from_millis(500);
/// An order that was taken more often ends its workers, or the network: somebody has to look at it.
const MAX_DELIVERIES: i64 = 50;
/// How often a worker looks for campaigns.
const LOOK: Duration = Duration::from_millis(500);

/// What a worker has to say to a person.
pub trait Report: Sync {
    fn say(&self, message: &str);
}

/// Serves campaigns until the interrupt is raised. Returns how many orders were carried out.
pub fn serve(
    bus: &Bus,
    setup: &WorkerSetup,
    jobs: usize,
    labels: &[String],
    interrupt: &Interrupt,
    report: &dyn Report,
) -> Result<u64, CampaignError> {
    let present = Present {
        worker: setup.name.clone(),
        system: setup.reach.name.clone(),
        model: setup.model.hash.clone(),
        version: WORK_VERSION,
        jobs,
        labels: labels.to_vec(),
    };
    let campaigns: Mutex<Vec<String>> = Mutex::default();
    let (done, is_over) = (AtomicU64::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        for job in 1..=jobs {
            let setup = WorkerSetup {
                reach: setup.reach.for_job(job),
                ..setup.clone()
            };
            let (campaigns, done, is_over) = (&campaigns, &done, &is_over);
            scope.spawn(move || {
                let mut worker = Worker::new(setup);
                while !is_over.load(Ordering::SeqCst) && !interrupt.is_raised() {
                    match take_one(bus, &mut worker, campaigns, interrupt) {
                        Ok(carried_out) => {
                            done.fetch_add(u64::from(carried_out), Ordering::SeqCst);
                        }
                        Err(error) => report.say(&error.message),
                    }
                }
            });
        }
        let looked = look(bus, &present, setup, interrupt, &campaigns, report);
        is_over.store(true, Ordering::SeqCst);
        looked
    })?;
    Ok(done.into_inner())
}

/// Shows that this worker is there, and looks for campaigns, until the interrupt is raised.
fn look(
    bus: &Bus,
    present: &Present,
    setup: &WorkerSetup,
    interrupt: &Interrupt,
    campaigns: &Mutex<Vec<String>>,
    report: &dyn Report,
) -> Result<(), CampaignError> {
    let mut shown: Option<Instant> = None;
    let mut refused: BTreeSet<String> = BTreeSet::new();
    while !interrupt.is_raised() {
        let looked = (|| {
            if shown.is_none_or(|at| at.elapsed() > PRESENCE / 3) {
                bus.show_up(present)?;
                shown = Some(Instant::now());
            }
            bus.watch_campaigns()
        })();
        match looked {
            // The server may be restarted; the client connects again by itself.
            Err(error) => report.say(&error.message),
            Ok(found) => {
                let running = found.into_iter().filter(|c| c.state != State::Done);
                let mut own = Vec::new();
                for campaign in running {
                    match refusal(&campaign, present, setup) {
                        None => own.push(campaign.campaign),
                        Some(why) => {
                            if refused.insert(campaign.campaign.clone()) {
                                report.say(&format!(
                                    "takes no orders of campaign {}: {why}",
                                    campaign.campaign
                                ));
                            }
                        }
                    }
                }
                *campaigns.lock().unwrap_or_else(PoisonError::into_inner) = own;
            }
        }
        std::thread::sleep(LOOK);
    }
    Ok(())
}

/// Why a worker takes no orders of a campaign.
fn refusal(campaign: &Announced, present: &Present, setup: &WorkerSetup) -> Option<String> {
    if campaign.version != WORK_VERSION {
        return Some(format!(
            "its orders have version {}, and this ioco takes version {WORK_VERSION}",
            campaign.version
        ));
    }
    if campaign.system != setup.reach.name {
        return Some(format!(
            "it tests the system {}, and this worker reaches {}",
            campaign.system, setup.reach.name
        ));
    }
    if let Some(label) = present.lacks(campaign) {
        return Some(format!("it asks for workers with the label {label}"));
    }
    (campaign.model != setup.model.hash).then(|| {
        format!(
            "it tests model {} ({}), and {} is {}: use the same model file",
            campaign.name,
            campaign.model,
            setup.model.path.display(),
            setup.model.hash
        )
    })
}

/// Takes an order if there is one, and carries it out; whether there was one.
fn take_one(
    bus: &Bus,
    worker: &mut Worker,
    campaigns: &Mutex<Vec<String>>,
    interrupt: &Interrupt,
) -> Result<bool, CampaignError> {
    let campaigns = campaigns
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .clone();
    if campaigns.is_empty() {
        std::thread::sleep(LOOK);
        return Ok(false);
    }
    for campaign in campaigns {
        let Some(message) = fetch(bus, &campaign)? else {
            continue;
        };
        let Some(order) = read(&message.payload, &campaign) else {
            let ended = message.ack_with(AckKind::Term);
            bus.wait("refuse an order", ended)?;
            continue;
        };
        let message = Arc::new(message);
        let held = Arc::clone(&message);
        let (client, subject) = (bus.context.client(), live_subject(&campaign));
        let (pace, name) = (worker.pace(), worker.name().to_owned());
        let lease = bus.runtime.handle().spawn(async move {
            loop {
                tokio::time::sleep(IN_PROGRESS).await;
                // A message that is lost costs the lease, and the order goes to somebody else.
                let _ = held.ack_with(AckKind::Progress).await;
                // How far the test is, for those who watch: no disk keeps it, and nothing waits for it.
                if let Some(bytes) = pace.now(&name).and_then(|doing| live(&doing)) {
                    let _ = client.publish(subject.clone(), bytes.into()).await;
                }
            }
        });
        let deliveries = message.info().map_or(1, |info| info.delivered);
        // An order may come from anybody at the server: what it does to us is an error of that order.
        let carried_out = catch_unwind(AssertUnwindSafe(|| match deliveries > MAX_DELIVERIES {
            true => Ok(given_up(worker, &order)),
            false => worker.run(&order),
        }));
        lease.abort();
        let outcome = carried_out.unwrap_or_else(|_| Ok(worker.failed(&order)));
        let outcome = match outcome {
            // Broken off: the order goes to somebody else.
            _ if interrupt.is_raised() => {
                bus.wait("give an order back", message.ack_with(AckKind::Nak(None)))?;
                return Ok(false);
            }
            Ok(outcome) => outcome,
            Err(error) => {
                let later = Some(Duration::from_secs(1));
                bus.wait("give an order back", message.ack_with(AckKind::Nak(later)))?;
                return Err(error);
            }
        };
        publish(bus, &campaign, outcome)?;
        bus.wait("acknowledge an order", message.double_ack())?;
        return Ok(true);
    }
    Ok(false)
}

fn live(doing: &Doing) -> Option<Vec<u8>> {
    serde_json::to_vec(doing).ok()
}

/// An order of this campaign in a message, if it is one.
fn read(payload: &[u8], campaign: &str) -> Option<Order> {
    if payload.len() > MAX_BYTES {
        return None;
    }
    let order: Order = serde_json::from_slice(payload).ok()?;
    (order.campaign == campaign).then_some(order)
}

/// The outcome of an order that nobody brought to its end.
fn given_up(worker: &Worker, order: &Order) -> Outcome {
    let reason = format!("{MAX_DELIVERIES} workers took the test and left before its end");
    worker.unusable(order, reason)
}

fn fetch(bus: &Bus, campaign: &str) -> Result<Option<jetstream::Message>, CampaignError> {
    bus.wait("take an order", async {
        let consumer: Result<jetstream::consumer::PullConsumer, _> =
            bus.orders.get_consumer(campaign).await;
        // A campaign that has just ended has no queue any more.
        let Ok(consumer) = consumer else {
            tokio::time::sleep(Duration::from_millis(100)).await;
            return Ok(None);
        };
        let batch = consumer.fetch().max_messages(1).expires(FETCH).messages();
        let mut batch = batch.await.map_err(|error| error.to_string())?;
        match batch.next().await.transpose() {
            // So does one that ends while we ask.
            Err(error) if error.to_string().contains("Consumer Deleted") => Ok(None),
            taken => taken.map_err(|error| error.to_string()),
        }
    })
}

/// Hands an outcome over. One that the server does not take for its size is sent without what crossed the wire, and
/// as an error if that does not help.
fn publish(bus: &Bus, campaign: &str, mut outcome: Outcome) -> Result<(), CampaignError> {
    let mut bytes = json(&outcome)?;
    if bytes.len() > bus.limit {
        outcome.wire.clear();
        outcome.log.clear();
        bytes = json(&outcome)?;
    }
    if bytes.len() > bus.limit {
        outcome.end = SavedEnd::Error {
            code: String::new(),
            reason: format!(
                "the outcome has {} bytes, more than the NATS server takes ({})",
                bytes.len(),
                bus.limit
            ),
        };
        outcome.steps.clear();
        outcome.times.clear();
        bytes = json(&outcome)?;
    }
    let message = jetstream::message::PublishMessage::build()
        .payload(bytes.into())
        .message_id(format!("{campaign}.outcome.{}", outcome.order));
    let subject = format!("ioco.outcomes.{campaign}");
    bus.wait("publish an outcome", async {
        let sent = bus.context.send_publish(subject, message).await;
        sent.map_err(|error| error.to_string())?
            .await
            .map_err(|error| error.to_string())
    })
    .map_err(|error| bus_error("hand over an outcome", error.message))
    .map(|_| ())
}

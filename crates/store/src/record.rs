//! Recording a run: the tester hands over what happened and goes on; one thread writes it, many
//! messages to a transaction.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{
    Receiver, RecvTimeoutError, Sender, SyncSender, TrySendError, channel, sync_channel,
};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use ioco_budget::{Grace, SLICE, Until};
use ioco_engine::{CoverageSnapshot, Event, FailureFile};
use sqlx::{AnyConnection, Connection};
use tokio::time::timeout;

use crate::caught::caught;
use crate::encode::Encoder;
use crate::error::StoreError;
use crate::place::Place;
use crate::query::runtime;
use crate::rows::{NewRun, OrderRow, Sighting};
use crate::write::{Arrived, Begun, Message, Writer};

/// Rows go to the other thread when there are so many.
const TOGETHER: usize = 64;
/// The tester waits when it is so many messages ahead: memory stays bounded.
const AHEAD: usize = 16;
/// At most so many messages in one transaction.
const BATCH: usize = 32;
/// A transaction waits so long for more to write, unless a caller waits for it.
const GATHERING: Duration = Duration::from_millis(10);

/// How long one transaction may take.
const TRANSACTION_TIMEOUT: Duration = Duration::from_secs(30);
/// How long what is under way may take to be written once a stop is requested. When only the time of the run is
/// up, what is left to write is not much: the store is waited for as long as it goes on writing.
const WRITE_GRACE_PERIOD: Duration = Duration::from_millis(600);

/// Which run is recorded.
enum Which {
    New(Box<NewRun>),
    /// That of this campaign, which goes on.
    Of(String),
}

impl Which {
    fn is_campaign(&self) -> bool {
        match self {
            Which::New(new) => new.campaign.is_some(),
            Which::Of(_) => true,
        }
    }
}

enum Order {
    Write(Message),
    /// Everything before it is to be in the database before the answer.
    Flush(Sender<()>),
}

/// A run that is being recorded. Dropping it writes what is left.
pub struct Recording {
    run: i64,
    place: String,
    encoder: Encoder,
    orders: Option<SyncSender<Order>>,
    /// The first thing that went wrong.
    failed: Arc<Mutex<Option<StoreError>>>,
    thread: Option<JoinHandle<()>>,
    until: Until,
    /// How many messages the store has taken.
    taken: Arc<AtomicU64>,
    /// The store does not answer: nothing waits for it any more.
    is_given_up: bool,
    /// How many orders of the campaign have an outcome.
    arrived: u64,
    coordinator: u64,
}

impl Recording {
    /// Opens the store, makes it where there is none, and begins a run in it.
    pub fn begin(place: &Place, new: NewRun) -> Result<Recording, StoreError> {
        Recording::begin_until(place, new, Until::forever(Instant::now))
    }

    /// The same; here and later, nothing waits for the store much longer than `until`.
    pub fn begin_until(place: &Place, new: NewRun, until: Until) -> Result<Recording, StoreError> {
        Recording::start(place, Which::New(Box::new(new)), until)
    }

    /// Goes on with the run of a campaign. From now on, its earlier recorder cannot write to it.
    pub fn resume_until(
        place: &Place,
        campaign: &str,
        until: Until,
    ) -> Result<Recording, StoreError> {
        Recording::start(place, Which::Of(campaign.to_owned()), until)
    }

    fn start(place: &Place, which: Which, until: Until) -> Result<Recording, StoreError> {
        let (orders, received) = sync_channel(AHEAD);
        let (begun, begins) = channel();
        let failed = Arc::new(Mutex::new(None));
        let shared = Arc::clone(&failed);
        let taken = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&taken);
        let own_place = place.clone();
        let thread = std::thread::Builder::new()
            .name("ioco-store".to_owned())
            .spawn(move || {
                let written = caught(&own_place.show(), || {
                    write(&own_place, &which, &received, &begun, &shared, &counter);
                    Ok(())
                });
                if let Err(error) = written {
                    if let Ok(mut failed) = shared.lock() {
                        *failed = Some(StoreError::not_understood(&own_place.show()));
                    }
                    // The caller that waits for the beginning learns of it there.
                    let _ = begun.send(Err(error));
                }
            })
            .map_err(|error| StoreError::Failed {
                place: place.show(),
                why: error.to_string(),
            })?;
        let begun = loop {
            match begins.recv_timeout(until.slice_left()) {
                Ok(begun) => break begun?,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(StoreError::not_understood(&place.show()));
                }
                Err(RecvTimeoutError::Timeout) if until.is_over() => {
                    return Err(unanswered(&place.show()));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        };
        Ok(Recording {
            run: begun.run,
            arrived: begun.arrived,
            coordinator: begun.coordinator,
            place: place.show(),
            encoder: Encoder::with_labels(&begun.labels),
            orders: Some(orders),
            failed,
            thread: Some(thread),
            until,
            taken,
            is_given_up: false,
        })
    }

    /// The number of the run.
    pub fn run(&self) -> i64 {
        self.run
    }

    /// Which coordinator of the campaign records: only the last one can. 0 without a campaign.
    pub fn coordinator(&self) -> u64 {
        self.coordinator
    }

    /// What happened, oldest first; the events of a run in their order.
    pub fn events(&mut self, events: &[Event]) -> Result<(), StoreError> {
        for event in events {
            self.encoder.event(event);
        }
        if self.encoder.waiting() >= TOGETHER {
            self.hand_over()?;
        }
        Ok(())
    }

    /// A failure as it is kept, seen in this test of the run.
    pub fn failure(
        &mut self,
        file: &FailureFile,
        test: u64,
        flaky: bool,
    ) -> Result<(), StoreError> {
        let sighting = Box::new(Sighting::of(file, test, flaky));
        self.send(Order::Write(Message::Failure(sighting, file.model.clone())))
    }

    /// What this run covered, at its end.
    pub fn coverage(&mut self, snapshot: CoverageSnapshot) -> Result<(), StoreError> {
        self.send(Order::Write(Message::Coverage(Box::new(snapshot))))
    }

    /// An order of the campaign. It may be handed out once it is in the database.
    pub fn order(&mut self, order: OrderRow) -> Result<(), StoreError> {
        self.send(Order::Write(Message::Order(Box::new(order))))
    }

    /// What became of an order, and what it adds to the run: both are in the database, or neither. `None` withdraws
    /// the order.
    pub fn outcome(
        &mut self,
        number: u64,
        worker: &str,
        body: Option<String>,
        events: &[Event],
    ) -> Result<(), StoreError> {
        for event in events {
            self.encoder.event(event);
        }
        self.arrived += 1;
        let arrived = Arrived {
            number,
            arrived: self.arrived,
            worker: worker.to_owned(),
            body,
            rows: self.encoder.take(),
        };
        self.send(Order::Write(Message::Outcome(Box::new(arrived))))
    }

    /// So many more outcomes count for nothing.
    pub fn discarded(&mut self, more: u64) -> Result<(), StoreError> {
        self.send(Order::Write(Message::Discarded(more)))
    }

    /// What the clock of the run shows: a coordinator that goes on with the campaign has the rest of the time.
    pub fn clock(&mut self, now: u64) -> Result<(), StoreError> {
        self.send(Order::Write(Message::Clock(now)))
    }

    /// Returns when everything handed over so far is in the database.
    pub fn flush(&mut self) -> Result<(), StoreError> {
        self.encoder.settle();
        self.hand_over()?;
        let (done, written) = channel();
        self.send(Order::Flush(done))?;
        let mut wait = self.until.with_grace(WRITE_GRACE_PERIOD);
        loop {
            match written.recv_timeout(SLICE) {
                Ok(()) => return Ok(()),
                Err(RecvTimeoutError::Disconnected) => return Err(self.why()),
                Err(RecvTimeoutError::Timeout) if self.is_over(&mut wait) => {
                    return Err(self.give_up());
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    fn send(&mut self, mut order: Order) -> Result<(), StoreError> {
        let mut wait = self.until.with_grace(WRITE_GRACE_PERIOD);
        loop {
            let orders = self.orders.as_ref().ok_or_else(|| self.why())?;
            match orders.try_send(order) {
                Ok(()) => return Ok(()),
                Err(TrySendError::Disconnected(_)) => return Err(self.why()),
                Err(TrySendError::Full(_)) if self.is_over(&mut wait) => {
                    return Err(self.give_up());
                }
                Err(TrySendError::Full(back)) => order = back,
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn is_over(&self, wait: &mut Grace) -> bool {
        wait.is_over(self.taken.load(Ordering::Relaxed))
    }

    fn give_up(&mut self) -> StoreError {
        self.is_given_up = true;
        unanswered(&self.place)
    }

    fn hand_over(&mut self) -> Result<(), StoreError> {
        let rows = Box::new(self.encoder.take());
        self.send(Order::Write(Message::Rows(rows)))
    }

    fn why(&self) -> StoreError {
        let failed = self.failed.lock().ok().and_then(|mut why| why.take());
        failed.unwrap_or_else(|| StoreError::Failed {
            place: self.place.clone(),
            why: "it cannot be written any more".to_owned(),
        })
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        if self.is_given_up {
            return;
        }
        // Who wants to know whether it was written has flushed.
        let _ = self.flush();
        if self.is_given_up {
            return;
        }
        drop(self.orders.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn unanswered(place: &str) -> StoreError {
    StoreError::Failed {
        place: place.to_owned(),
        why: "it did not answer in time".to_owned(),
    }
}

/// The body of the thread. When it returns, the sender learns by its next order.
fn write(
    place: &Place,
    which: &Which,
    orders: &Receiver<Order>,
    begun: &Sender<Result<Begun, StoreError>>,
    failed: &Mutex<Option<StoreError>>,
    taken: &AtomicU64,
) {
    let opened = runtime(place).and_then(|runtime| {
        let (connection, writer) = runtime.block_on(async {
            let mut connection = place.connect().await?;
            place.check(&mut connection).await?;
            place.prepare(&mut connection).await?;
            if which.is_campaign() {
                place.let_go_when_paused(&mut connection).await?;
            }
            let opened = async {
                let writer = match which {
                    Which::New(new) => Writer::begin(&mut connection, new).await?,
                    Which::Of(campaign) => Writer::resume(&mut connection, campaign).await?,
                };
                let begun = writer.begun(&mut connection).await?;
                Ok::<_, sqlx::Error>((writer, begun))
            };
            let opened = opened.await.map_err(|error| match (which, error) {
                (Which::Of(campaign), sqlx::Error::RowNotFound) => StoreError::Over {
                    campaign: campaign.clone(),
                },
                (_, error) => StoreError::of(&place.show(), &error),
            })?;
            Ok((connection, opened))
        })?;
        Ok((runtime, connection, writer))
    });
    let (runtime, mut connection, mut writer) = match opened {
        Ok((runtime, connection, (writer, state))) => {
            let _ = begun.send(Ok(state));
            (runtime, connection, writer)
        }
        Err(error) => {
            let _ = begun.send(Err(error));
            return;
        }
    };
    while let Ok(first) = orders.recv() {
        // Before the transaction begins: a process that is paused while it waits for more must hold no lock.
        let Batch { messages, flushed } = gathered(first, orders);
        let batch = write_batch(&mut connection, &mut writer, messages, taken);
        let written = runtime.block_on(async { timeout(TRANSACTION_TIMEOUT, batch).await });
        let error = match written {
            Ok(Ok(true)) => {
                for done in flushed {
                    let _ = done.send(());
                }
                continue;
            }
            Ok(Ok(false)) => StoreError::Superseded {
                campaign: writer.campaign().to_owned(),
            },
            Ok(Err(error)) => StoreError::of(&place.show(), &error),
            Err(_) => unanswered(&place.show()),
        };
        // Before those who wait learn that nothing more comes.
        if let Ok(mut failed) = failed.lock() {
            *failed = Some(error);
        }
        drop(flushed);
        return;
    }
    let _ = runtime.block_on(async { timeout(WRITE_GRACE_PERIOD, connection.close()).await });
}

/// One transaction. False where the run is now another's to write.
async fn write_batch(
    connection: &mut AnyConnection,
    writer: &mut Writer,
    messages: Vec<Message>,
    taken: &AtomicU64,
) -> Result<bool, sqlx::Error> {
    let mut transaction = connection.begin().await?;
    if !writer.is_in_charge(&mut transaction).await? {
        return Ok(false);
    }
    for message in messages {
        writer.write(&mut transaction, message).await?;
        taken.fetch_add(1, Ordering::Relaxed);
    }
    transaction.commit().await?;
    Ok(true)
}

/// What is written together, and who waits for it.
#[derive(Default)]
struct Batch {
    messages: Vec<Message>,
    flushed: Vec<Sender<()>>,
}

/// The first order, and what comes soon, up to a flush.
fn gathered(first: Order, orders: &Receiver<Order>) -> Batch {
    let begun = Instant::now();
    let mut batch = Batch::default();
    let mut next = Some(first);
    while let Some(order) = next {
        match order {
            Order::Write(message) => batch.messages.push(message),
            Order::Flush(done) => batch.flushed.push(done),
        }
        // Who waits for a flush has waited long enough.
        let more = batch.flushed.is_empty() && batch.messages.len() < BATCH;
        let patience = GATHERING.saturating_sub(begun.elapsed());
        next = more.then(|| orders.recv_timeout(patience).ok()).flatten();
    }
    batch
}

//! Recording a run: the tester hands over what happened and goes on; one thread writes it, many
//! messages to a transaction.

use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use ioco_engine::{CoverageSnapshot, Event, FailureFile};
use sqlx::{AnyConnection, Connection};

use crate::encode::Encoder;
use crate::error::StoreError;
use crate::place::Place;
use crate::query::runtime;
use crate::rows::{NewRun, Sighting};
use crate::write::{Message, Writer};

/// Rows go to the other thread when there are so many.
const TOGETHER: usize = 64;
/// The tester waits when it is so many messages ahead: memory stays bounded.
const AHEAD: usize = 16;
/// At most so many messages in one transaction.
const BATCH: usize = 32;
/// A transaction waits so long for more to write, unless somebody waits for it.
const GATHERING: Duration = Duration::from_millis(10);

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
}

impl Recording {
    /// Opens the store, makes it where there is none, and begins a run in it.
    pub fn begin(place: &Place, new: NewRun) -> Result<Recording, StoreError> {
        let (orders, received) = sync_channel(AHEAD);
        let (begun, begins) = channel();
        let failed = Arc::new(Mutex::new(None));
        let shared = Arc::clone(&failed);
        let own_place = place.clone();
        let thread = std::thread::Builder::new()
            .name("ioco-store".to_owned())
            .spawn(move || write(&own_place, &new, &received, &begun, &shared))
            .map_err(|error| StoreError::Failed {
                place: place.show(),
                why: error.to_string(),
            })?;
        let run = begins.recv().unwrap_or_else(|_| Err(gone(place)))?;
        Ok(Recording {
            run,
            place: place.show(),
            encoder: Encoder::default(),
            orders: Some(orders),
            failed,
            thread: Some(thread),
        })
    }

    /// The number of the run.
    pub fn run(&self) -> i64 {
        self.run
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
    pub fn failure(&self, file: &FailureFile, test: u64, flaky: bool) -> Result<(), StoreError> {
        let sighting = Box::new(Sighting::of(file, test, flaky));
        self.send(Order::Write(Message::Failure(sighting, file.model.clone())))
    }

    /// What this run covered, at its end.
    pub fn coverage(&self, snapshot: CoverageSnapshot) -> Result<(), StoreError> {
        self.send(Order::Write(Message::Coverage(Box::new(snapshot))))
    }

    /// Returns when everything handed over so far is in the database.
    pub fn flush(&mut self) -> Result<(), StoreError> {
        self.encoder.settle();
        self.hand_over()?;
        let (done, wait) = channel();
        self.send(Order::Flush(done))?;
        wait.recv().map_err(|_| self.why())
    }

    fn hand_over(&mut self) -> Result<(), StoreError> {
        let rows = Box::new(self.encoder.take());
        self.send(Order::Write(Message::Rows(rows)))
    }

    fn send(&self, order: Order) -> Result<(), StoreError> {
        let orders = self.orders.as_ref().ok_or_else(|| self.why())?;
        orders.send(order).map_err(|_| self.why())
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
        self.encoder.settle();
        // Who wants to know whether it was written has flushed.
        let _ = self.hand_over();
        drop(self.orders.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn gone(place: &Place) -> StoreError {
    StoreError::Failed {
        place: place.show(),
        why: "its thread ended".to_owned(),
    }
}

/// The body of the thread. When it returns, the sender learns by its next order.
fn write(
    place: &Place,
    new: &NewRun,
    orders: &Receiver<Order>,
    begun: &Sender<Result<i64, StoreError>>,
    failed: &Mutex<Option<StoreError>>,
) {
    let opened = runtime(place).and_then(|runtime| {
        let (connection, writer) = runtime.block_on(async {
            let mut connection = place.connect().await?;
            place.check(&mut connection).await?;
            place.prepare(&mut connection).await?;
            let writer = Writer::begin(&mut connection, new).await;
            let writer = writer.map_err(|error| StoreError::of(&place.show(), &error))?;
            Ok((connection, writer))
        })?;
        Ok((runtime, connection, writer))
    });
    let (runtime, mut connection, mut writer) = match opened {
        Ok(opened) => opened,
        Err(error) => {
            let _ = begun.send(Err(error));
            return;
        }
    };
    let _ = begun.send(Ok(writer.run()));
    while let Ok(first) = orders.recv() {
        let batch = write_batch(&mut connection, &mut writer, first, orders);
        match runtime.block_on(batch) {
            Ok(flushed) => {
                for done in flushed {
                    let _ = done.send(());
                }
            }
            Err(error) => {
                if let Ok(mut failed) = failed.lock() {
                    *failed = Some(StoreError::of(&place.show(), &error));
                }
                return;
            }
        }
    }
    let _ = runtime.block_on(connection.close());
}

/// One transaction: the first order, and what else waits. Returns who is to be told.
async fn write_batch(
    connection: &mut AnyConnection,
    writer: &mut Writer,
    first: Order,
    orders: &Receiver<Order>,
) -> Result<Vec<Sender<()>>, sqlx::Error> {
    let begun = Instant::now();
    let mut transaction = connection.begin().await?;
    let mut flushed = Vec::new();
    let mut taken = 0;
    let mut next = Some(first);
    while let Some(order) = next {
        taken += 1;
        match order {
            Order::Write(message) => writer.write(&mut transaction, message).await?,
            Order::Flush(done) => flushed.push(done),
        }
        // Who waits for a flush has waited long enough.
        let more = flushed.is_empty() && taken < BATCH;
        let patience = GATHERING.saturating_sub(begun.elapsed());
        next = more.then(|| orders.recv_timeout(patience).ok()).flatten();
    }
    transaction.commit().await?;
    Ok(flushed)
}

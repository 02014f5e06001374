//! Workers as threads of this process, each with a system of its own.

use std::collections::VecDeque;
use std::panic::AssertUnwindSafe;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use super::{Doing, Executor, Order, Outcome, Pace, Task, Worker, WorkerSetup};
use crate::error::CampaignError;

pub struct Threads {
    orders: Arc<Orders>,
    outcomes: Receiver<Result<Outcome, CampaignError>>,
    threads: Vec<JoinHandle<()>>,
    /// By name of the worker.
    paces: Vec<(String, Arc<Pace>)>,
}

/// Orders that wait for a worker.
#[derive(Default)]
struct Orders {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Default)]
struct Waiting {
    orders: VecDeque<Order>,
    is_closed: bool,
}

impl Orders {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next order; `None` once there are no more.
    fn take(&self) -> Option<Order> {
        let mut waiting = self.lock();
        loop {
            if waiting.is_closed {
                return None;
            }
            if let Some(order) = waiting.orders.pop_front() {
                return Some(order);
            }
            waiting = self
                .changed
                .wait(waiting)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Threads {
    /// As many workers as jobs; each gets the system of its job. A system is started with its first order.
    pub fn start(jobs: usize, setup: &WorkerSetup) -> Threads {
        let orders = Arc::new(Orders::default());
        let (sender, outcomes) = channel();
        let mut paces = Vec::new();
        let threads = (1..=jobs).map(|job| {
            let setup = WorkerSetup {
                name: format!("job {job}"),
                reach: setup.reach.for_job(job),
                ..setup.clone()
            };
            let (orders, sender) = (Arc::clone(&orders), sender.clone());
            let worker = Worker::new(setup);
            paces.push((format!("job {job}"), worker.pace()));
            std::thread::spawn(move || work(worker, &orders, &sender))
        });
        Threads {
            threads: threads.collect(),
            paces,
            orders,
            outcomes,
        }
    }
}

fn work(mut worker: Worker, orders: &Orders, sender: &Sender<Result<Outcome, CampaignError>>) {
    while let Some(order) = orders.take() {
        let carried_out = std::panic::catch_unwind(AssertUnwindSafe(|| worker.run(&order)));
        let outcome = carried_out.unwrap_or_else(|_| {
            let what = format!("a worker crashed while it ran order {}", order.number);
            Err(CampaignError::system(what))
        });
        if sender.send(outcome).is_err() {
            return;
        }
    }
}

impl Executor for Threads {
    fn capacity(&self) -> usize {
        self.threads.len()
    }

    fn submit(&mut self, order: Order) -> Result<(), CampaignError> {
        let mut waiting = self.orders.lock();
        // The user waits for a replay; a test can begin later.
        match order.task {
            Task::Replay { .. } => waiting.orders.push_front(order),
            _ => waiting.orders.push_back(order),
        }
        drop(waiting);
        self.orders.changed.notify_one();
        Ok(())
    }

    fn next(&mut self, wait: Duration) -> Result<Option<Outcome>, CampaignError> {
        match self.outcomes.recv_timeout(wait) {
            Ok(outcome) => outcome.map(Some),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => {
                Err(CampaignError::system("every worker has ended"))
            }
        }
    }

    fn doing(&mut self) -> Vec<Doing> {
        let paces = self.paces.iter();
        paces.filter_map(|(name, pace)| pace.now(name)).collect()
    }
}

impl Drop for Threads {
    /// Lets the workers end their systems.
    fn drop(&mut self) {
        self.orders.lock().is_closed = true;
        self.orders.changed.notify_all();
        for thread in self.threads.drain(..) {
            // A worker that panicked has reported nothing more to wait for.
            let _ = thread.join();
        }
    }
}

//! A fixpoint in a thread of its own. One operation on decision diagrams can take long and cannot be interrupted, so
//! a caller that runs out of time leaves the thread behind; it ends by itself as soon as its operation does.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::Budget;
use super::bdd::{Event, Fixpoint, Halt};
use super::order::Order;
use crate::system::Circuit;

/// Threads that were left behind and still hold their diagrams. Their number is limited, and with it the memory.
static LEFT_BEHIND: AtomicUsize = AtomicUsize::new(0);
const MAX_LEFT_BEHIND: usize = 2;

/// How often the time is looked at while the thread works.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

struct Shared {
    stop: AtomicBool,
    wanted: Vec<AtomicBool>,
    phase: Mutex<Phase>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Working,
    LeftBehind,
    Ended,
}

enum Message {
    Event(Event),
    Ended(Result<(), Halt>),
}

impl Shared {
    fn phase(&self) -> std::sync::MutexGuard<'_, Phase> {
        self.phase.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn leave(&self) {
        self.stop.store(true, Ordering::Relaxed);
        let mut phase = self.phase();
        if *phase == Phase::Working {
            *phase = Phase::LeftBehind;
            LEFT_BEHIND.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Tells, also when the thread panics, that its memory is free again.
struct EndNotice(Arc<Shared>);

impl Drop for EndNotice {
    fn drop(&mut self) {
        let mut phase = self.0.phase();
        if *phase == Phase::LeftBehind {
            LEFT_BEHIND.fetch_sub(1, Ordering::Relaxed);
        }
        *phase = Phase::Ended;
    }
}

/// As [`Fixpoint::run`], and never much longer than the budget.
pub(crate) fn run(
    circuit: &Arc<Circuit>,
    order: &Order,
    nodes: usize,
    budget: Budget,
    wanted: &dyn Fn(usize) -> bool,
    report: &mut dyn FnMut(Event) -> bool,
) -> Result<(), Halt> {
    while LEFT_BEHIND.load(Ordering::Relaxed) >= MAX_LEFT_BEHIND {
        if budget.over() {
            return Err(Halt::Time);
        }
        std::thread::sleep(POLL_INTERVAL);
    }
    let shared = Arc::new(Shared {
        stop: AtomicBool::new(false),
        wanted: (0..circuit.goals.len())
            .map(|goal| AtomicBool::new(wanted(goal)))
            .collect(),
        phase: Mutex::new(Phase::Working),
    });
    let (sender, messages) = channel();
    let (answers, answer) = channel();
    let (own, circuit, order) = (shared.clone(), circuit.clone(), order.clone());
    let started = crate::stack::spawn_alone(move || {
        let _farewell = EndNotice(own.clone());
        let result = work(&own, &circuit, &order, nodes, &sender, &answer);
        // No program listens any more when the thread was left behind.
        let _ = sender.send(Message::Ended(result));
    });
    if started.is_err() {
        return Err(Halt::Memory);
    }
    loop {
        match messages.recv_timeout(POLL_INTERVAL) {
            Ok(Message::Event(event)) => {
                let more = report(event);
                for (goal, flag) in shared.wanted.iter().enumerate() {
                    flag.store(wanted(goal), Ordering::Relaxed);
                }
                if !more || budget.over() {
                    shared.leave();
                    return Err(if more { Halt::Time } else { Halt::Enough });
                }
                if answers.send(()).is_err() {
                    return Err(Halt::Memory);
                }
            }
            Ok(Message::Ended(result)) => return result,
            Err(RecvTimeoutError::Timeout) => {
                if budget.over() {
                    shared.leave();
                    return Err(Halt::Time);
                }
            }
            // The thread panicked; the other engines go on.
            Err(RecvTimeoutError::Disconnected) => return Err(Halt::Memory),
        }
    }
}

fn work(
    shared: &Shared,
    circuit: &Circuit,
    order: &Order,
    nodes: usize,
    sender: &Sender<Message>,
    answer: &Receiver<()>,
) -> Result<(), Halt> {
    let budget = Budget {
        clock: &|| 0.0,
        stop: &|| shared.stop.load(Ordering::Relaxed),
        until: f64::INFINITY,
        literals: usize::MAX,
    };
    let mut fixpoint = Fixpoint::new(circuit, order, nodes, budget)?;
    fixpoint.run(
        &|goal| shared.wanted[goal].load(Ordering::Relaxed),
        // What is wanted is brought up to date before the answer comes.
        &mut |event| sender.send(Message::Event(event)).is_ok() && answer.recv().is_ok(),
    )
}

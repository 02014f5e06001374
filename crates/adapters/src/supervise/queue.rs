//! A queue between a thread that reads from a peer and the one that judges what came: bounded by entries and
//! by bytes, so that a flood waits in the peer's own buffers.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use ioco_budget::Budget;

use super::size;

/// What may wait: entries, and their bytes. One entry may be larger than that, and then waits alone.
#[derive(Clone, Copy)]
struct Capacity {
    entries: usize,
    bytes: usize,
}

struct State<T> {
    entries: VecDeque<(T, usize)>,
    bytes: usize,
    senders: usize,
    is_received: bool,
    capacity: Capacity,
}

struct Shared<T> {
    state: Mutex<State<T>>,
    /// An entry was put in, or no sender is left.
    filled: Condvar,
    /// There is room again, or the receiver is gone.
    emptied: Condvar,
}

impl<T> Shared<T> {
    fn state(&self) -> MutexGuard<'_, State<T>> {
        // Entries are put in and taken out whole, whoever panicked.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A queue with the capacity of the budget: so many messages, and no more bytes than one message may have.
pub(crate) fn queue<T>(budget: &Budget) -> (Sender<T>, Receiver<T>) {
    let shared = Arc::new(Shared {
        state: Mutex::new(State {
            entries: VecDeque::new(),
            bytes: 0,
            senders: 1,
            is_received: true,
            capacity: Capacity {
                entries: size(budget.queue),
                bytes: size(budget.message),
            },
        }),
        filled: Condvar::new(),
        emptied: Condvar::new(),
    });
    (Sender(Arc::clone(&shared)), Receiver(shared))
}

/// Nobody receives any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Closed;

/// What a receiver got.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Received<T> {
    Entry(T),
    /// Nothing came in time.
    Nothing,
    /// Nothing will come: all senders are gone.
    Ended,
}

pub(crate) struct Sender<T>(Arc<Shared<T>>);

impl<T> std::fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Sender")
    }
}

impl<T> Sender<T> {
    /// Waits for room.
    pub fn send(&self, entry: T, bytes: usize) -> Result<(), Closed> {
        let mut state = self.0.state();
        while state.is_received && !has_room(&state, bytes) {
            let waited = self.0.emptied.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
        put(&self.0, state, entry, bytes)
    }

    /// Whether an entry of so many bytes would not have to wait.
    pub fn has_room(&self, bytes: usize) -> bool {
        has_room(&self.0.state(), bytes)
    }

    /// Puts an entry in whether there is room or not: for what must not be lost and comes once.
    pub fn send_last(&self, entry: T) -> Result<(), Closed> {
        put(&self.0, self.0.state(), entry, 0)
    }
}

fn has_room<T>(state: &State<T>, bytes: usize) -> bool {
    let capacity = state.capacity;
    let fits = state.bytes.saturating_add(bytes) <= capacity.bytes || state.entries.is_empty();
    fits && state.entries.len() < capacity.entries
}

fn put<T>(
    shared: &Shared<T>,
    mut state: MutexGuard<'_, State<T>>,
    entry: T,
    bytes: usize,
) -> Result<(), Closed> {
    if !state.is_received {
        return Err(Closed);
    }
    state.entries.push_back((entry, bytes));
    state.bytes += bytes;
    drop(state);
    shared.filled.notify_one();
    Ok(())
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Sender<T> {
        self.0.state().senders += 1;
        Sender(Arc::clone(&self.0))
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.0.state().senders -= 1;
        self.0.filled.notify_all();
    }
}

pub(crate) struct Receiver<T>(Arc<Shared<T>>);

impl<T> Receiver<T> {
    /// What is there already.
    pub fn take(&self) -> Received<T> {
        self.take_until(Instant::now())
    }

    /// Waits for the next entry, at most until `deadline`.
    pub fn take_until(&self, deadline: Instant) -> Received<T> {
        let mut state = self.0.state();
        loop {
            if let Some((entry, bytes)) = state.entries.pop_front() {
                state.bytes -= bytes;
                drop(state);
                self.0.emptied.notify_all();
                return Received::Entry(entry);
            }
            if state.senders == 0 {
                return Received::Ended;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Received::Nothing;
            }
            let waited = self.0.filled.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.is_received = false;
        state.entries.clear();
        state.bytes = 0;
        drop(state);
        self.0.emptied.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const MAX_ENTRIES: usize = 5;
    const MAX_BYTES: usize = 1000;

    fn queue<T>() -> (Sender<T>, Receiver<T>) {
        super::queue(&Budget {
            queue: MAX_ENTRIES as u64,
            message: MAX_BYTES as u64,
            ..Budget::default()
        })
    }

    #[test]
    fn a_sender_waits_until_there_is_room() {
        let (sender, receiver) = queue();
        let large = MAX_BYTES - 1;
        sender.send(0, large).unwrap();
        assert!(!sender.has_room(2));
        let sending = std::thread::spawn(move || sender.send(1, 2));
        assert_eq!(receiver.take(), Received::Entry(0));
        let deadline = Instant::now() + Duration::from_secs(60);
        assert_eq!(receiver.take_until(deadline), Received::Entry(1));
        assert_eq!(sending.join().unwrap(), Ok(()));
        assert_eq!(receiver.take_until(deadline), Received::Ended);
    }

    #[test]
    fn entries_are_bounded_too() {
        let (sender, receiver) = queue();
        for entry in 0..MAX_ENTRIES {
            sender.send(entry, 0).unwrap();
        }
        assert!(!sender.has_room(0));
        assert_eq!(receiver.take(), Received::Entry(0));
        assert!(sender.has_room(0));
    }

    #[test]
    fn a_sender_that_waits_learns_that_nobody_receives() {
        let (sender, receiver) = queue();
        sender.send(0, MAX_BYTES).unwrap();
        let sending = std::thread::spawn(move || sender.send(1, 1));
        drop(receiver);
        assert_eq!(sending.join().unwrap(), Err(Closed));
    }

    #[test]
    fn one_entry_may_be_larger_than_the_bound() {
        let (sender, receiver) = queue();
        sender.send(0, 2 * MAX_BYTES).unwrap();
        assert_eq!(receiver.take(), Received::Entry(0));
        assert_eq!(receiver.take(), Received::Nothing);
    }
}

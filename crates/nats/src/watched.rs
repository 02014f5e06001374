//! What a bucket has, as the server reports it: a thousand workers that ask for all entries twice a second would keep the
//! server busy with nothing else.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_nats::jetstream;
use async_nats::jetstream::kv::Operation;
use futures_util::StreamExt;
use serde::de::DeserializeOwned;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

use crate::bus::ENTRIES;

/// After so long without a word, nothing relies on what was said before.
const STALE: Duration = Duration::from_secs(3);
/// How long to wait before the server is asked to report again.
const RETRY_DELAY: Duration = Duration::from_millis(500);

/// The entries of a bucket, kept up to date.
pub(crate) struct Watched<T> {
    seen: Arc<Mutex<Seen<T>>>,
    /// An entry that is not renewed is gone after this time.
    age: Duration,
    task: JoinHandle<()>,
}

struct Seen<T> {
    entries: BTreeMap<String, (T, Instant)>,
    /// When the server reported something last.
    heard: Option<Instant>,
}

impl<T: DeserializeOwned + Clone + Send + 'static> Watched<T> {
    pub fn start(
        handle: &Handle,
        context: &jetstream::Context,
        bucket: &'static str,
        age: Duration,
    ) -> Watched<T> {
        let seen = Arc::new(Mutex::new(Seen {
            entries: BTreeMap::new(),
            heard: None,
        }));
        let (shared, context) = (Arc::clone(&seen), context.clone());
        let task = handle.spawn(async move {
            loop {
                follow(&context, bucket, &shared).await;
                tokio::time::sleep(RETRY_DELAY).await;
            }
        });
        Watched { seen, age, task }
    }

    /// The entries; `None` where the server has not reported anything for a while.
    pub fn now(&self) -> Option<Vec<T>> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.heard.filter(|at| at.elapsed() < STALE)?;
        let is_there = |at: &Instant| at.elapsed() < self.age;
        let entries = seen.entries.values().filter(|(_, at)| is_there(at));
        Some(entries.map(|(entry, _)| entry.clone()).collect())
    }
}

impl<T> Drop for Watched<T> {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Takes reports until they end: the server is gone, or was set up anew.
async fn follow<T: DeserializeOwned>(
    context: &jetstream::Context,
    bucket: &str,
    seen: &Mutex<Seen<T>>,
) {
    let Ok(bucket) = context.get_key_value(bucket).await else {
        return;
    };
    let Ok(mut reports) = bucket.watch_with_history(">").await else {
        return;
    };
    while let Some(Ok(report)) = reports.next().await {
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.heard = Some(Instant::now());
        // Entries of other versions are not for us.
        let entry = match report.operation {
            Operation::Put => serde_json::from_slice(&report.value).ok(),
            Operation::Delete | Operation::Purge => None,
        };
        match entry {
            Some(entry)
                if seen.entries.len() < ENTRIES || seen.entries.contains_key(&report.key) =>
            {
                seen.entries.insert(report.key, (entry, Instant::now()));
            }
            _ => {
                seen.entries.remove(&report.key);
            }
        }
    }
}

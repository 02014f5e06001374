//! Where adapters of the plugin-adapter protocol connect.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use ioco_adapters::{AdapterError, Hub, HubOptions};

/// Where adapters connect, kept from one run of a project to the next: adapters that are idle stay
/// connected, and those that a run has used come back. Clones share them.
#[derive(Clone, Default)]
pub struct Hubs(Arc<Shared>);

#[derive(Default)]
struct Shared {
    /// By address.
    hubs: Mutex<BTreeMap<String, Arc<Hub>>>,
    are_kept: AtomicBool,
}

impl std::fmt::Debug for Hubs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Hubs")
    }
}

impl Hubs {
    /// Several runs use them, one after the other: a run that ends leaves them open.
    pub fn keep(&self) {
        self.0.are_kept.store(true, Ordering::Relaxed);
    }

    pub fn are_kept(&self) -> bool {
        self.0.are_kept.load(Ordering::Relaxed)
    }

    pub(super) fn listen(&self, options: &HubOptions) -> Result<Arc<Hub>, AdapterError> {
        let mut hubs = self.0.hubs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(hub) = hubs.get(&options.address) {
            return Ok(Arc::clone(hub));
        }
        let hub = Arc::new(Hub::listen(options)?);
        hubs.insert(options.address.clone(), Arc::clone(&hub));
        Ok(hub)
    }
}

//! Where adapters of the plugin-adapter protocol connect.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use ioco_adapters::{AdapterError, Hub, HubOptions};

/// Where adapters connect, kept from one run of a project to the next: adapters that are idle stay
/// connected, and those that a run has used come back. Clones share them.
#[derive(Clone, Default)]
pub struct Hubs(Arc<Mutex<BTreeMap<String, Arc<Hub>>>>);

impl std::fmt::Debug for Hubs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Hubs")
    }
}

impl Hubs {
    pub(super) fn listen(&self, options: &HubOptions) -> Result<Arc<Hub>, AdapterError> {
        let mut hubs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(hub) = hubs.get(&options.address) {
            return Ok(Arc::clone(hub));
        }
        let hub = Arc::new(Hub::listen(options)?);
        hubs.insert(options.address.clone(), Arc::clone(&hub));
        Ok(hub)
    }
}

//! Times of day as the page gets them.

use std::time::{SystemTime, UNIX_EPOCH};

/// `2026-01-31T12:00:00Z`, in universal time.
pub fn iso(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH);
    let milliseconds = since.map_or(0, |since| since.as_millis());
    ioco_campaign::time::iso(u64::try_from(milliseconds).unwrap_or(u64::MAX))
}

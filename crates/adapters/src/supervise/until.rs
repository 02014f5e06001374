//! The token of a wait ([`Until`]), with the real clock.

use std::time::{Duration, Instant};

/// The caller is asked whether he wants to stop.
pub(crate) type Until<'a> = ioco_budget::Until<&'a dyn Fn() -> bool>;

/// From now on for `time`, or until `stop` says so.
pub(crate) fn within(time: Duration, stop: &dyn Fn() -> bool) -> Until<'_> {
    Until::within(Instant::now, time, stop)
}

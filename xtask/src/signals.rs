//! Signals as a person at a terminal has them, however this program was started.

use std::fs;
use std::sync::Arc;

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

/// Has the programs that are started from now on heed all signals. A shell that starts something in the background,
/// and `nohup`, have it ignore some; ioco keeps to that, and so it would not end when a test asks it to. A signal
/// that is handled here is not ignored by a program that this one starts.
pub fn heed() {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0);
    for signal in [SIGINT, SIGTERM, SIGQUIT, SIGHUP] {
        if mask >> (signal - 1) & 1 == 1 {
            // Where that cannot be had, the tests of signals say so.
            let _ = signal_hook::flag::register(signal, Arc::default());
        }
    }
}

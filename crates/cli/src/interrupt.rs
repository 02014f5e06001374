//! Signals: the first Ctrl-C, SIGTERM, SIGQUIT or SIGHUP (a closed terminal) asks the work to stop and write
//! what it has; the second ends it at once, with the systems that were started.

use std::sync::Arc;
use std::thread;

use ioco_campaign::Interrupt;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;

pub fn listen() -> Interrupt {
    let interrupt = Interrupt::default();
    let flag = interrupt.clone();
    let wanted = [SIGINT, SIGTERM, SIGQUIT, SIGHUP];
    let wanted = wanted.into_iter().filter(|signal| !is_ignored(*signal));
    // Where no handler can be set, signals end the program as they always do, and the watchdog of the systems
    // ends those.
    if let Ok(mut signals) = Signals::new(wanted) {
        thread::spawn(move || {
            for signal in signals.forever() {
                let is_second = flag.raise();
                // Shell and terminal both say that the terminal was closed.
                if is_second && signal != SIGHUP {
                    ioco_adapters::kill_guarded();
                    std::process::exit(130);
                }
            }
        });
    }
    // A limit on the size of files is then an error of the write that reaches it, as a full disk is, instead of
    // the end of the program with all it knows.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
    interrupt
}

/// Whether we were started with this signal ignored, as `nohup` does: then it stays so. Only Linux says.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

//! Signals as a person at a terminal has them, however this program was started.

use std::fs;
use std::sync::Arc;

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

/// Lets programs that start from now on receive all signals. A shell that starts something in the background,
/// and `nohup`, have it ignore some; ioco keeps to that, and so it would not end when a test asks it to. A signal
/// that is handled here is not ignored by a program that this one starts.
pub fn restore() {
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

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::process::Command;

    const INSIDE: &str = "IOCO_TEST_INSIDE";

    #[test]
    fn children_receive_the_signals_that_a_shell_had_us_ignore() {
        if std::env::var_os(INSIDE).is_some() {
            super::restore();
            let child = Command::new("grep")
                .args(["SigIgn", "/proc/self/status"])
                .output();
            let shown = String::from_utf8(child.expect("grep runs").stdout).expect("text");
            let mask = shown.trim_start_matches("SigIgn:").trim();
            let mask = u64::from_str_radix(mask, 16).expect("a mask");
            assert_eq!(mask & 0b110, 0, "{shown}");
            return;
        }
        // What a shell does to a command with `&`.
        let own = std::env::current_exe().expect("a path");
        let ran = Command::new("sh")
            .args(["-c", "trap '' INT QUIT; exec \"$0\" signals"])
            .arg(own)
            .env(INSIDE, "yes")
            .output()
            .expect("a shell");
        assert!(
            ran.status.success(),
            "{}",
            String::from_utf8_lossy(&ran.stdout)
        );
    }
}

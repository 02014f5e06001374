//! What a fault may lead to.

use std::time::Duration;

use ioco_sts::Verdict;

use crate::fault::Kind;

/// How a case ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    Pass,
    Fail,
    Inconclusive,
    /// The system or its adapter could not be used.
    Error,
    /// It did not end.
    Hang,
    /// It panicked.
    Panic,
}

impl From<&Verdict> for Outcome {
    fn from(verdict: &Verdict) -> Outcome {
        match verdict {
            Verdict::Pass => Outcome::Pass,
            Verdict::Fail(_) => Outcome::Fail,
            Verdict::Inconclusive(_) => Outcome::Inconclusive,
            Verdict::Error(_) | Verdict::Ended(_) => Outcome::Error,
        }
    }
}

/// Whether a test may fail by this fault: only if the system, as ioco sees it, said something wrong or left
/// out what was due. A connection that breaks is an error.
pub fn may_fail(kind: Kind) -> bool {
    match kind {
        Kind::Nothing | Kind::Delay | Kind::SlowLoris | Kind::Close => false,
        Kind::Drop
        | Kind::Duplicate
        | Kind::Reorder
        | Kind::Truncate
        | Kind::Garbage
        | Kind::Flood
        | Kind::HalfOpen => true,
    }
}

/// Whether a test may pass although this fault was injected into a message that it waits for.
pub fn may_pass(kind: Kind) -> bool {
    !matches!(kind, Kind::Drop | Kind::Truncate | Kind::Garbage)
}

/// Whether this is a wrong answer to a fault.
pub fn is_wrong(kind: Kind, is_injected: bool, outcome: Outcome) -> bool {
    if !is_injected && is_silent(kind) {
        // The times are short, so a busy machine may be too slow before the fault strikes.
        return false;
    }
    let kind = if is_injected { kind } else { Kind::Nothing };
    match outcome {
        Outcome::Pass => !may_pass(kind),
        Outcome::Fail => !may_fail(kind),
        // An honest system that is merely slow is neither an error nor inconclusive.
        Outcome::Inconclusive | Outcome::Error => {
            matches!(kind, Kind::Nothing | Kind::Delay | Kind::SlowLoris)
        }
        Outcome::Hang | Outcome::Panic => false,
    }
}

/// Faults after which nothing comes: waiting longer shows nothing else, however busy the machine is. For
/// all others the times are long enough that a busy machine does not matter.
fn is_silent(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Drop | Kind::HalfOpen | Kind::Truncate | Kind::Garbage | Kind::Reorder
    )
}

/// The model's time of silence.
pub fn timeout(kind: Kind) -> Duration {
    Duration::from_millis(if is_silent(kind) { 40 } else { 20_000 })
}

/// How long a reset may take.
pub fn patience(kind: Kind) -> Duration {
    Duration::from_millis(if is_silent(kind) { 150 } else { 20_000 })
}

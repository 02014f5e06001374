//! What a fault may lead to.

use std::time::Duration;

use ioco_sts::Verdict;

use crate::fault::{Kind, Role, Struck};

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

/// What a connection does with the bytes of a message, as far as it decides what a fault may lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// Lines of JSON: the last one needs no newline.
    Lines,
    /// Lines of text: whatever the model does not know is an unknown response.
    Text,
    /// Answers to requests, each with its length.
    Answers,
    /// Events or messages that come by themselves.
    Stream,
    /// Encrypted: whatever is not the next record ends the connection.
    Encrypted,
}

/// Whether this is a wrong answer to a fault. `struck` says where it struck, if it did.
///
/// The rules, for a test that waits for every response:
/// - Nothing that was only slow is anything but a pass.
/// - A test does not pass without a message that it needs. A duplicate is no loss: it may be taken for the answer to
///   the next ping.
/// - A test fails only if a response was missing, wrong or too many. What is lost of a greeting or of a
///   confirmation is an error, and so is a connection that was cut.
/// - The loss of a response, and nothing else, is a failure and no error.
pub fn is_wrong(kind: Kind, struck: Option<Struck>, carrier: Carrier, outcome: Outcome) -> bool {
    let Some(struck) = struck else {
        // Where the times are short, a busy machine may be too slow before the fault strikes.
        return outcome != Outcome::Pass && !is_silent(kind);
    };
    !allowed(kind, struck, carrier).contains(&outcome)
}

fn allowed(kind: Kind, struck: Struck, carrier: Carrier) -> &'static [Outcome] {
    use Outcome::{Error, Fail, Pass};
    let is_response = matches!(struck.role, Role::Response | Role::Last);
    match kind {
        Kind::Nothing | Kind::Delay => &[Pass],
        _ if struck.role == Role::Idle => &[Pass, Error],
        // The library for web sockets takes a handshake byte by byte for an attack.
        Kind::SlowLoris if carrier == Carrier::Stream && struck.role == Role::Greeting => {
            &[Pass, Error]
        }
        Kind::SlowLoris => &[Pass],
        Kind::Drop | Kind::Reorder if carrier == Carrier::Encrypted && !is_response => &[Error],
        // The confirmation came behind the response, or not at all.
        Kind::Reorder if struck.role == Role::Confirmation => &[Pass, Error],
        Kind::Drop | Kind::Reorder if is_response && carrier != Carrier::Encrypted => &[Fail],
        Kind::Close
            if matches!(carrier, Carrier::Lines | Carrier::Text)
                && is_response
                && struck.missing == 1 =>
        {
            &[Pass, Error]
        }
        Kind::Close => &[Error],
        Kind::Drop | Kind::Reorder | Kind::Truncate | Kind::Garbage | Kind::HalfOpen => {
            if is_response {
                &[Fail, Error]
            } else {
                &[Error]
            }
        }
        Kind::Duplicate if carrier == Carrier::Text && !is_response => &[Pass, Fail, Error],
        Kind::Duplicate if !is_response => &[Pass, Error],
        // What is due comes behind the flood, perhaps too late, or in the middle of it.
        Kind::Flood if carrier == Carrier::Encrypted && !is_response => &[Pass, Error],
        Kind::Flood if !is_response => &[Pass, Fail, Error],
        Kind::Duplicate | Kind::Flood if struck.role == Role::Last => &[Pass, Fail, Error],
        Kind::Duplicate | Kind::Flood if carrier == Carrier::Encrypted => &[Error],
        Kind::Duplicate | Kind::Flood if carrier == Carrier::Answers => &[Pass, Error],
        Kind::Duplicate => &[Pass, Fail],
        Kind::Flood => &[Fail, Error],
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

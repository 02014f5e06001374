//! What a fault may lead to.

use std::time::Duration;

use ioco_sts::Verdict;

use crate::fault::{FaultPoint, Kind, Role};

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
pub fn is_wrong(
    kind: Kind,
    struck: Option<FaultPoint>,
    carrier: Carrier,
    outcome: Outcome,
) -> bool {
    let Some(struck) = struck else {
        // Where the times are short, a busy machine may be too slow before the fault strikes.
        return outcome != Outcome::Pass && !is_silent(kind);
    };
    !allowed(kind, struck, carrier).contains(&outcome)
}

fn allowed(kind: Kind, struck: FaultPoint, carrier: Carrier) -> &'static [Outcome] {
    use Outcome::{Error, Fail, Pass};
    let is_response = matches!(struck.role, Role::Response | Role::Last);
    match kind {
        Kind::Nothing | Kind::Delay => &[Pass],
        _ if struck.role == Role::Idle => idle(kind),
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
        // Lines of text have no envelope: only the time of a line says whether it is ready or a response. Behind
        // the end of the reset a second READY is a line that the model does not know, and so a deviation.
        Kind::Duplicate if carrier == Carrier::Text && !is_response => &[Pass, Fail, Error],
        Kind::Duplicate if !is_response => &[Pass, Error],
        // A record that comes twice has the wrong sequence number (RFC 8446, section 5.2): nothing behind it is read,
        // so that no response can be judged.
        Kind::Flood if carrier == Carrier::Encrypted && !is_response => &[Pass, Error],
        // A stream keeps its order. The pong comes behind 256 MiB of greetings: who has not read them all within the
        // model's time of silence has seen silence where a response is due. And lines of text as above.
        Kind::Flood if !is_response => &[Pass, Fail, Error],
        Kind::Duplicate | Kind::Flood if struck.role == Role::Last => &[Pass, Fail, Error],
        Kind::Duplicate | Kind::Flood if carrier == Carrier::Encrypted => &[Error],
        Kind::Duplicate | Kind::Flood if carrier == Carrier::Answers => &[Pass, Error],
        // Messages that come by themselves cross the pings on their way. A pong too many that arrives when the next
        // ping is under way is what an honest system would have answered, and of the flood only as many are looked
        // at as the test has pings left. Not each time: see `Row::floods`.
        Kind::Duplicate => &[Pass, Fail],
        Kind::Flood => &[Pass, Fail, Error],
    }
}

/// The record that TLS 1.3 sends for the sake of devices in between (RFC 8446, appendix D.4). Its receiver drops it
/// without looking further, and only before the handshake's end (section 5), so that it may be missing; one that is
/// too late, or too many of them, may be refused. What is no whole record breaks the stream of records, whatever it
/// was to be.
fn idle(kind: Kind) -> &'static [Outcome] {
    use Outcome::{Error, Pass};
    match kind {
        Kind::Nothing | Kind::Delay | Kind::SlowLoris | Kind::Drop => &[Pass],
        Kind::Reorder | Kind::Duplicate | Kind::Flood => &[Pass, Error],
        Kind::Truncate | Kind::Garbage | Kind::Close | Kind::HalfOpen => &[Error],
    }
}

/// Whether a flood of responses in the middle of a test shows up as responses too many, unless each of them happens
/// to arrive behind a ping.
pub fn is_flood_of_responses(kind: Kind, struck: Option<FaultPoint>, carrier: Carrier) -> bool {
    kind == Kind::Flood
        && struck.is_some_and(|struck| struck.role == Role::Response)
        && !matches!(carrier, Carrier::Answers | Carrier::Encrypted)
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

#[cfg(test)]
mod tests {
    use super::{Carrier, Outcome, is_wrong};
    use crate::fault::{FaultPoint, Kind, Role};

    fn wrong(kind: Kind, role: Role, carrier: Carrier, outcome: Outcome) -> bool {
        let missing = 3;
        is_wrong(kind, Some(FaultPoint { role, missing }), carrier, outcome)
    }

    #[test]
    fn a_pong_of_a_flood_may_answer_the_next_ping() {
        for carrier in [Carrier::Stream, Carrier::Lines, Carrier::Text] {
            for outcome in [Outcome::Pass, Outcome::Fail, Outcome::Error] {
                assert!(!wrong(Kind::Flood, Role::Response, carrier, outcome));
            }
            assert!(wrong(Kind::Flood, Role::Response, carrier, Outcome::Hang));
        }
    }

    #[test]
    fn a_record_that_nobody_needs_may_be_missing_and_not_be_cut() {
        let (idle, tls) = (Role::Idle, Carrier::Encrypted);
        assert!(wrong(Kind::Drop, idle, tls, Outcome::Error));
        assert!(!wrong(Kind::Drop, idle, tls, Outcome::Pass));
        for kind in [Kind::Truncate, Kind::Garbage, Kind::Close, Kind::HalfOpen] {
            assert!(wrong(kind, idle, tls, Outcome::Pass));
            assert!(!wrong(kind, idle, tls, Outcome::Error));
        }
    }
}

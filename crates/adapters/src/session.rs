//! One conversation in the line protocol over a [`Stream`]: what a process and a TCP connection
//! have in common.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ioco_sts::Action;

use crate::connection::{Arrival, Arrived, Trouble};
use crate::line::{Codec, Line, RESET};
use crate::stream::{Broken, Stream};

/// Why a conversation cannot go on. The connection knows more (an exit status, an address) and
/// makes a [`Trouble`] of it.
#[derive(Debug)]
pub(crate) enum Stopped {
    Broken(Broken),
    /// The other side says so itself, or says what nobody understands.
    Trouble(Trouble),
}

impl From<Broken> for Stopped {
    fn from(broken: Broken) -> Stopped {
        Stopped::Broken(broken)
    }
}

/// Which claims of quiescence are about now.
///
/// A system that says `quiescent` says it at most once after a reset and after each stimulus. A
/// claim that was under way while the tester gave the next stimulus speaks of the time before, and
/// believing it would turn a system that is about to answer into one that failed to. So a claim
/// counts only when none from before can still be outstanding; any other is dropped, which costs
/// the wait and nothing else.
#[derive(Debug, Default)]
struct Claims {
    /// How many earlier stimuli (or the reset) may still be followed by a claim.
    outstanding: u64,
    /// The claim about now has come.
    claimed: bool,
}

impl Claims {
    fn reset(&mut self, quiescent: bool) {
        *self = Claims {
            outstanding: 0,
            claimed: quiescent,
        };
    }

    fn given(&mut self) {
        self.outstanding += u64::from(!self.claimed);
        self.claimed = false;
    }

    /// A claim came. Returns whether it is about now.
    fn claim(&mut self) -> bool {
        if self.outstanding > 0 {
            self.outstanding -= 1;
            return false;
        }
        self.claimed = true;
        true
    }
}

/// A poll takes in at most so many lines that are no observations, so that a system that sends
/// nothing but those cannot hold it up.
const MAX_NOTES: usize = 1000;

enum Next {
    Arrived(Arrived),
    Noted,
    Nothing,
}

pub(crate) struct Session {
    codec: Arc<Codec>,
    stream: Stream,
    epoch: Instant,
    claims: Claims,
    /// The stimulus under way, as bytes; kept for the record of the test.
    sent: Vec<u8>,
    pub(crate) warnings: Vec<String>,
}

impl Session {
    pub(crate) fn new(codec: Arc<Codec>, stream: Stream, epoch: Instant) -> Session {
        Session {
            codec,
            stream,
            epoch,
            claims: Claims::default(),
            sent: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// Asks for a reset and waits until it is done. What came before is discarded.
    pub(crate) fn reset(&mut self, patience: Duration) -> Result<(), Stopped> {
        let deadline = Instant::now() + patience;
        self.stream.write(RESET, deadline)?;
        self.await_ready(deadline)
    }

    /// Discards lines until one says that the system is ready.
    pub(crate) fn await_ready(&mut self, deadline: Instant) -> Result<(), Stopped> {
        self.sent.clear();
        loop {
            // A system that floods always has a line; the time is up all the same.
            if Instant::now() >= deadline {
                return Err(Broken::TimedOut.into());
            }
            match self.stream.line()? {
                Some(line) => {
                    let line = self.codec.read_line(line).map_err(Stopped::Trouble)?;
                    match line {
                        Line::Ready { quiescent } => {
                            self.claims.reset(quiescent);
                            return Ok(());
                        }
                        other => self.note(other)?,
                    }
                }
                None => {
                    self.stream.wait(deadline)?;
                }
            }
        }
    }

    /// Takes everything as ready without asking.
    pub(crate) fn assume_ready(&mut self) {
        self.sent.clear();
        self.claims.reset(false);
    }

    pub(crate) fn give(&mut self, stimulus: &Action, patience: Duration) -> Result<(), Stopped> {
        self.sent.clear();
        self.codec.write_stimulus(stimulus, &mut self.sent);
        let deadline = Instant::now() + patience;
        self.stream.write(&self.sent, deadline)?;
        self.claims.given();
        Ok(())
    }

    pub(crate) fn poll(&mut self) -> Result<Option<Arrived>, Stopped> {
        for _ in 0..MAX_NOTES {
            match self.next()? {
                Next::Arrived(arrived) => return Ok(Some(arrived)),
                Next::Noted => {}
                Next::Nothing => break,
            }
        }
        Ok(None)
    }

    pub(crate) fn wait(&mut self, until: u64) -> Result<Arrived, Stopped> {
        let deadline = self.epoch + Duration::from_nanos(until);
        loop {
            let goes_on = match self.next()? {
                Next::Arrived(arrived) => return Ok(arrived),
                Next::Noted => Instant::now() < deadline,
                Next::Nothing => self.stream.wait(deadline)?,
            };
            if !goes_on {
                return Ok(Arrived {
                    what: Arrival::Silence,
                    at: nanoseconds(self.epoch.elapsed()),
                    raw: Vec::new(),
                });
            }
        }
    }

    /// Takes in one line, if there is one.
    fn next(&mut self) -> Result<Next, Stopped> {
        let Some(raw) = self.stream.line()? else {
            return Ok(Next::Nothing);
        };
        let what = match self.codec.read_line(raw).map_err(Stopped::Trouble)? {
            Line::Response(action) => Arrival::Response(action),
            Line::Unknown(text) => Arrival::Unknown(text),
            Line::Quiescent if self.claims.claim() => Arrival::Quiescent,
            other => {
                self.note(other)?;
                return Ok(Next::Noted);
            }
        };
        Ok(Next::Arrived(Arrived {
            what,
            at: nanoseconds(self.epoch.elapsed()),
            raw: raw.to_vec(),
        }))
    }

    /// What a line says that is no observation.
    fn note(&mut self, line: Line) -> Result<(), Stopped> {
        match line {
            Line::Error(text) => Err(Stopped::Trouble(Trouble {
                message: format!("the system reports an error: {text}"),
                hint: None,
            })),
            Line::Labels(announced) => {
                let differences = self.codec.compare_announcement(&announced);
                self.warnings.extend(differences);
                Ok(())
            }
            // Between a reset and its `ready`, or about the time before: nobody's business. A
            // system may also say at its start, unasked, that it is ready.
            Line::Response(_)
            | Line::Unknown(_)
            | Line::Quiescent
            | Line::Ready { .. }
            | Line::Blank => Ok(()),
        }
    }

    pub(crate) fn sent(&self) -> &[u8] {
        &self.sent
    }

    pub(crate) fn last_words(&mut self) -> Vec<String> {
        self.stream.last_words()
    }
}

/// A duration on a connection's clock; it would take five centuries to overflow.
pub(crate) fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Claims;

    #[derive(Clone, Copy, Debug)]
    enum Event {
        /// The tester gives a stimulus.
        Give,
        /// The system takes in the oldest stimulus on its way.
        Take,
        /// The system claims to be silent, unless it has since the last stimulus it took.
        Say,
        /// The oldest claim on its way arrives.
        Arrive,
    }

    proptest! {
        #[test]
        fn a_claim_that_counts_was_made_after_the_last_stimulus(
            events in proptest::collection::vec(
                prop_oneof![
                    Just(Event::Give), Just(Event::Take), Just(Event::Say), Just(Event::Arrive)
                ],
                0..60,
            )
        ) {
            let mut claims = Claims::default();
            let (mut given, mut taken) = (0u32, 0u32);
            let mut said_at = None;
            let mut on_the_way = std::collections::VecDeque::new();
            for event in events {
                match event {
                    Event::Give => {
                        given += 1;
                        claims.given();
                    }
                    Event::Take => taken = given.min(taken + 1),
                    Event::Say if said_at != Some(taken) => {
                        said_at = Some(taken);
                        on_the_way.push_back(taken);
                    }
                    Event::Say => {}
                    Event::Arrive => {
                        if let Some(about) = on_the_way.pop_front() {
                            prop_assert!(!claims.claim() || about == given);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn a_system_that_always_claims_is_always_believed_in_the_end() {
        let mut claims = Claims::default();
        claims.reset(false);
        // Two stimuli before anything came; the claims after reset and first stimulus are old.
        claims.given();
        claims.given();
        assert_eq!(
            [claims.claim(), claims.claim(), claims.claim()],
            [false, false, true]
        );
        claims.given();
        assert!(claims.claim());
    }
}

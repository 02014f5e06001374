//! One conversation in the line protocol over a [`Stream`]: what a process and a TCP connection
//! have in common.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ioco_sts::Action;

use crate::claims::{LISTENING, SilenceClaims};
use crate::connection::{AdapterError, Arrival, Arrived, LogLine};
use crate::line::{Codec, Line, RESET};
use crate::stream::{Stream, StreamError};
use crate::supervise::{Until, Warnings};
use crate::values::shorten;

/// Why a conversation cannot go on. The connection knows more (an exit status, an address) and
/// makes a [`AdapterError`] of it.
#[derive(Debug)]
pub(crate) enum SessionError {
    StreamError(StreamError),
    /// The other side says so itself, or says what ioco does not understand.
    AdapterError(AdapterError),
}

impl From<StreamError> for SessionError {
    fn from(broken: StreamError) -> SessionError {
        SessionError::StreamError(broken)
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

/// What was learned about a system in one conversation and holds in the next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LearnedBehaviour {
    claims_after_reset: bool,
}

pub(crate) struct Session {
    codec: Arc<Codec>,
    stream: Stream,
    epoch: Instant,
    claims: SilenceClaims,
    /// There was a reset before: how the system behaves after one is known.
    is_known: bool,
    /// What was taken in while looking for something else.
    pending: Option<Arrived>,
    /// The stimulus under way, as bytes; kept for the record of the test.
    sent: Vec<u8>,
    /// A line without an end was reported.
    told_unfinished: bool,
    pub(crate) warnings: Warnings,
}

impl Session {
    /// `habits` come from the conversation before this one, if there was one.
    pub(crate) fn new(
        codec: Arc<Codec>,
        stream: Stream,
        epoch: Instant,
        habits: Option<LearnedBehaviour>,
    ) -> Session {
        let claims = SilenceClaims::new(habits.is_some_and(|habits| habits.claims_after_reset));
        Session {
            codec,
            stream,
            epoch,
            claims,
            is_known: habits.is_some(),
            pending: None,
            sent: Vec::new(),
            told_unfinished: false,
            warnings: Warnings::default(),
        }
    }

    /// What the next conversation with the same system should know.
    pub(crate) fn habits(&self) -> LearnedBehaviour {
        LearnedBehaviour {
            claims_after_reset: self.claims.after_reset,
        }
    }

    /// Asks for a reset and waits until it is done. What came before is discarded.
    pub(crate) fn reset(&mut self, until: &Until<'_>) -> Result<(), SessionError> {
        self.stream.write(RESET, until)?;
        self.await_ready(until)
    }

    /// Discards lines until one says that the system is ready.
    pub(crate) fn await_ready(&mut self, until: &Until<'_>) -> Result<(), SessionError> {
        self.sent.clear();
        self.pending = None;
        loop {
            // A system that floods always has a line; the time is up all the same.
            if until.is_over() {
                return Err(StreamError::TimedOut.into());
            }
            match self.stream.line()? {
                Some(line) => {
                    let line = self
                        .codec
                        .read_line(line)
                        .map_err(SessionError::AdapterError)?;
                    match line {
                        Line::Ready { quiescent } => {
                            self.claims.reset(quiescent);
                            return self.learn_habits();
                        }
                        other => self.note(other)?,
                    }
                }
                None => {
                    self.stream.wait(until.slice())?;
                }
            }
        }
    }

    /// Takes everything as ready without asking.
    pub(crate) fn assume_ready(&mut self) -> Result<(), SessionError> {
        self.sent.clear();
        self.pending = None;
        self.claims.reset(false);
        self.learn_habits()
    }

    /// Listens for a moment after the very first reset: a claim of silence that comes only after
    /// the first stimulus was given could be mistaken for one about that stimulus.
    fn learn_habits(&mut self) -> Result<(), SessionError> {
        if !self.is_known {
            self.is_known = true;
            let until = nanoseconds(self.epoch.elapsed() + LISTENING);
            let arrived = self.wait(until)?;
            let is_response = !matches!(arrived.what, Arrival::Silence | Arrival::Quiescent);
            self.pending = Some(arrived).filter(|_| is_response);
        }
        Ok(())
    }

    pub(crate) fn give(
        &mut self,
        stimulus: &Action,
        until: &Until<'_>,
    ) -> Result<(), SessionError> {
        self.sent.clear();
        self.codec.write_stimulus(stimulus, &mut self.sent);
        self.stream.write(&self.sent, until)?;
        self.claims.given();
        // A claim that was not asked for in time.
        self.pending
            .take_if(|arrived| arrived.what == Arrival::Quiescent);
        Ok(())
    }

    pub(crate) fn poll(&mut self) -> Result<Option<Arrived>, SessionError> {
        for _ in 0..MAX_NOTES {
            match self.next()? {
                Next::Arrived(arrived) => return Ok(Some(arrived)),
                Next::Noted => {}
                Next::Nothing => break,
            }
        }
        Ok(None)
    }

    pub(crate) fn wait(&mut self, until: u64) -> Result<Arrived, SessionError> {
        let deadline = self.epoch + Duration::from_nanos(until);
        let what = loop {
            let goes_on = match self.next()? {
                Next::Arrived(arrived) => return Ok(arrived),
                Next::Noted => Instant::now() < deadline,
                // The claim holds until the next stimulus.
                Next::Nothing if self.claims.claimed => break Arrival::Quiescent,
                Next::Nothing => self.stream.wait(deadline)?,
            };
            if !goes_on {
                break Arrival::Silence;
            }
        };
        if what == Arrival::Quiescent {
            self.note_unfinished();
        }
        Ok(Arrived {
            what,
            at: nanoseconds(self.epoch.elapsed()),
            raw: Vec::new(),
        })
    }

    /// Looks once more before silence is concluded; what is here is the next to be given out. A wait that ends
    /// may be one part of a longer one, so that only here half of a line is worth a word.
    pub(crate) fn catch_up(&mut self) -> Result<(), SessionError> {
        self.pending = self.poll()?;
        if self.pending.is_none() {
            self.note_unfinished();
        }
        Ok(())
    }

    /// Silence in the middle of a line is most likely a newline that was forgotten.
    fn note_unfinished(&mut self) {
        let unfinished = self.stream.unfinished();
        // Whole lines that are still to be read are no mistake of the system.
        if unfinished.is_empty() || unfinished.contains(&b'\n') || self.told_unfinished {
            return;
        }
        self.told_unfinished = true;
        let text = String::from_utf8_lossy(unfinished);
        self.warnings.push(format!(
            "the system has sent \"{}\" without a newline after it: without it, ioco takes \
             this for silence",
            shorten(&text, 80)
        ));
    }

    /// Takes in one line, if there is one.
    fn next(&mut self) -> Result<Next, SessionError> {
        if let Some(arrived) = self.pending.take() {
            return Ok(Next::Arrived(arrived));
        }
        let Some(raw) = self.stream.line()? else {
            return Ok(Next::Nothing);
        };
        let what = match self
            .codec
            .read_line(raw)
            .map_err(SessionError::AdapterError)?
        {
            Line::Response(action) => Arrival::Response(action),
            Line::Unknown(text) => Arrival::Unknown(text),
            other => {
                self.note(other)?;
                return Ok(Next::Noted);
            }
        };
        // A system that claimed silence and speaks all the same is not silent.
        self.claims.claimed = false;
        Ok(Next::Arrived(Arrived {
            what,
            at: nanoseconds(self.epoch.elapsed()),
            raw: raw.to_vec(),
        }))
    }

    /// What a line says that is no observation.
    fn note(&mut self, line: Line) -> Result<(), SessionError> {
        match line {
            Line::Error(text) => Err(SessionError::AdapterError(AdapterError::new(format!(
                "the system reports an error: {text}"
            )))),
            Line::Labels(announced) => {
                let differences = self.codec.compare_announcement(&announced);
                self.warnings.extend(differences);
                Ok(())
            }
            // A claim is remembered, not handed out: it is of interest to who waits.
            Line::Quiescent => {
                self.claims.claim();
                Ok(())
            }
            // Between a reset and its `ready` nobody's business. A system may also say at its
            // start, unasked, that it is ready.
            Line::Response(_) | Line::Unknown(_) | Line::Ready { .. } | Line::Blank => Ok(()),
        }
    }

    pub(crate) fn sent(&self) -> &[u8] {
        &self.sent
    }

    pub(crate) fn last_words(&mut self) -> Vec<String> {
        self.stream.last_words()
    }

    pub(crate) fn take_log(&mut self) -> Vec<LogLine> {
        self.stream.take_log(self.epoch)
    }
}

/// A duration on a connection's clock; it would take five centuries to overflow.
pub(crate) fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

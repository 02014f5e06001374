//! Between a client and a system: passes bytes on, both ways, and tells of what they say.
//!
//! A line is reported before it is passed on, so that its answer is reported after it.

use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ioco_engine::Recorded;
use ioco_sts::{Direction, Sts};

use crate::claims::SilenceClaims;
use crate::connection::AdapterError;
use crate::endpoint;
use crate::line::{Codec, Line};
use crate::session::nanoseconds;
use crate::supervise::{Received, SLICE, Sender, queue, within};
use crate::text::{Framing, Mapping, MessageSplitter, Pattern, Templates};
use crate::trace::{RESET_LINE, read_traces, without_empty_traces, write_recorded};
use crate::values::shorten;

/// How long the system may take to accept a connection.
const CONNECTING: Duration = Duration::from_secs(10);

/// Who sent a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Client,
    System,
}

enum Relayed {
    Message(Instant, Side, Vec<u8>),
    /// From here on what this side says cannot be cut into messages; it is passed on all the same.
    Lost(Instant, String),
    Ended,
}

/// What the lines mean.
enum Language {
    /// One JSON object a line.
    Json(Codec),
    Text {
        templates: Templates,
        mapping: Box<Mapping>,
    },
}

/// What one line means.
enum Meaning {
    Reset,
    /// The reset is done; `quiescent` where the same line also says that.
    Ready {
        quiescent: bool,
    },
    /// The system claims to be silent.
    Quiescent,
    Step(Recorded),
    Nothing,
}

/// A recorder of traffic in one model's terms.
pub trait Relay {
    /// Where clients connect.
    fn address(&self) -> String;

    /// Serves clients, at most `clients` if there is a limit, until `stop`. `write` gets the lines
    /// of the trace, without their newlines. Returns how many clients were served.
    fn run(
        &self,
        clients: Option<u64>,
        stop: &dyn Fn() -> bool,
        write: &mut dyn FnMut(&str) -> io::Result<()>,
    ) -> Result<u64, AdapterError>;
}

/// A recorder of lines over TCP.
pub struct LineRelay {
    listener: TcpListener,
    to: String,
    sts: Arc<Sts>,
    language: Language,
    epoch: Instant,
}

impl LineRelay {
    /// Clients can connect to `listen` from now on; what they say goes to `to`. With a mapping the
    /// lines are text, otherwise the line protocol.
    pub fn listen(
        listen: &str,
        to: &str,
        sts: Arc<Sts>,
        mapping: Option<&Mapping>,
    ) -> Result<LineRelay, AdapterError> {
        let language = match mapping {
            Some(mapping) => Language::Text {
                templates: Templates::new(Arc::clone(&sts), mapping)?,
                mapping: Box::new(mapping.clone()),
            },
            None => Language::Json(Codec::new(Arc::clone(&sts))),
        };
        Ok(LineRelay {
            listener: bind(listen)?,
            to: to.to_owned(),
            sts,
            language,
            epoch: Instant::now(),
        })
    }

    /// Whether anything was passed on.
    fn serve(
        &self,
        client: TcpStream,
        stop: &dyn Fn() -> bool,
        write: &mut dyn FnMut(&str) -> io::Result<()>,
    ) -> Result<bool, AdapterError> {
        let failed = |error: io::Error| cannot_pass_on(&self.to, &error);
        let system = match endpoint::call(&self.to, &within(CONNECTING, stop)) {
            // A stop while the system is being called is no failure of the system.
            Err(_) if stop() => return Ok(false),
            called => called.map_err(failed)?,
        };
        client.set_nonblocking(false).map_err(failed)?;
        for socket in [&client, &system] {
            socket.set_nodelay(true).map_err(failed)?;
        }
        let budget = *self.sts.budget();
        let (outgoing, incoming) = queue(&budget);
        for (from, to, side) in [
            (&client, &system, Side::Client),
            (&system, &client, Side::System),
        ] {
            let from = from.try_clone().map_err(failed)?;
            let to = to.try_clone().map_err(failed)?;
            let outgoing = outgoing.clone();
            let splitter = MessageSplitter::new(self.framing(), &budget);
            std::thread::spawn(move || pass_on(from, to, side, splitter, &outgoing));
        }
        write(RESET_LINE).map_err(failed)?;
        let end = |at: u64| write_recorded(at, &Recorded::End, &self.sts);
        let ready = |when: Instant| {
            let at = nanoseconds(when.saturating_duration_since(self.epoch));
            write_recorded(at, &Recorded::Ready, &self.sts)
        };
        let silent = |at: u64| write_recorded(at, &Recorded::Quiescent, &self.sts);
        // Whether the system also claims silence after a reset has to be found out.
        let mut claims = SilenceClaims::new(true);
        let mut ready_at = Instant::now();
        let connecting_resets = self.connecting_resets();
        let mut ended = 0;
        // What the system says between a reset and its end belongs to nobody.
        let mut resetting = false;
        // Whether the trace shows anything yet.
        let mut has_begun = connecting_resets;
        let mut greeting = self.banner();
        if connecting_resets && greeting.is_none() {
            write(&ready(Instant::now())).map_err(failed)?;
        }
        let mut stopping = false;
        while ended < 2 {
            // Traffic without a pause must not keep us from stopping: nothing more is passed on, and what was
            // passed on already is written.
            if stop() && !stopping {
                stopping = true;
                let _ = client.shutdown(Shutdown::Both);
                let _ = system.shutdown(Shutdown::Both);
            }
            match incoming.take_until(Instant::now() + SLICE) {
                // Ioco does not judge what greets a client.
                Received::Entry(Relayed::Message(when, Side::System, message))
                    if greeting.take().is_some_and(|banner| banner.fits(&message)) =>
                {
                    if connecting_resets {
                        write(&ready(when)).map_err(failed)?;
                    }
                }
                Received::Entry(Relayed::Message(when, side, message)) => {
                    let at = nanoseconds(when.saturating_duration_since(self.epoch));
                    match self.meaning(side, &message) {
                        Meaning::Reset => {
                            resetting = self.says_ready();
                            // Until when nothing came: without it, a missing response could not be told.
                            if std::mem::take(&mut has_begun) {
                                write(&end(at)).map_err(failed)?;
                            }
                            write(RESET_LINE).map_err(failed)?;
                            if !resetting {
                                has_begun = true;
                                write(&ready(when)).map_err(failed)?;
                            }
                        }
                        Meaning::Ready { quiescent } if resetting => {
                            resetting = false;
                            has_begun = true;
                            claims.reset(quiescent);
                            ready_at = when;
                            write(&ready(when)).map_err(failed)?;
                            if quiescent {
                                write(&silent(at)).map_err(failed)?;
                            }
                        }
                        Meaning::Quiescent if !resetting => {
                            let known = claims.claimed;
                            claims.claim();
                            if claims.claimed && !known {
                                write(&silent(at)).map_err(failed)?;
                            }
                        }
                        Meaning::Step(step) if side == Side::Client || !resetting => {
                            match &step {
                                Recorded::Stimulus(_) | Recorded::Undescribed(_) => {
                                    let since = when.saturating_duration_since(ready_at);
                                    let timeout = Duration::from_nanos(self.sts.timeout());
                                    claims.waited(since, timeout);
                                    claims.given();
                                }
                                // A system that speaks all the same is not silent.
                                _ => claims.claimed = false,
                            }
                            has_begun = true;
                            write(&write_recorded(at, &step, &self.sts)).map_err(failed)?;
                        }
                        Meaning::Ready { .. }
                        | Meaning::Quiescent
                        | Meaning::Step(_)
                        | Meaning::Nothing => {}
                    }
                }
                Received::Entry(Relayed::Lost(when, why)) => {
                    let at = nanoseconds(when.saturating_duration_since(self.epoch));
                    let lost = Recorded::Undescribed(why);
                    write(&write_recorded(at, &lost, &self.sts)).map_err(failed)?;
                }
                Received::Entry(Relayed::Ended) => ended += 1,
                Received::Nothing if stopping => break,
                Received::Nothing | Received::Ended => {}
            }
        }
        // Threads that still read end with their sockets.
        let _ = client.shutdown(Shutdown::Both);
        let _ = system.shutdown(Shutdown::Both);
        let at = nanoseconds(self.epoch.elapsed());
        write(&end(at)).map_err(failed)?;
        Ok(true)
    }

    /// Whether the system says when a reset is done.
    fn says_ready(&self) -> bool {
        match &self.language {
            Language::Json(_) => true,
            Language::Text { mapping, .. } => mapping.ready.is_some(),
        }
    }

    /// Whether a connection is a reset: nothing that the client or the system says will be one.
    fn connecting_resets(&self) -> bool {
        match &self.language {
            Language::Json(_) => false,
            Language::Text { mapping, .. } => mapping.reset.is_none() && mapping.ready.is_none(),
        }
    }

    fn banner(&self) -> Option<Pattern> {
        match &self.language {
            Language::Json(_) => None,
            Language::Text { mapping, .. } => mapping.banner.clone(),
        }
    }

    fn framing(&self) -> Framing {
        match &self.language {
            Language::Json(_) => Framing::default(),
            Language::Text { mapping, .. } => mapping.framing.clone(),
        }
    }

    fn meaning(&self, side: Side, message: &[u8]) -> Meaning {
        // One that is not text is no JSON either.
        let line = || String::from_utf8_lossy(message).trim().to_owned();
        match (&self.language, side) {
            (Language::Json(codec), Side::System) => match codec.read_line(message) {
                Ok(Line::Response(action)) => Meaning::Step(Recorded::Response(action)),
                Ok(Line::Unknown(text)) => Meaning::Step(Recorded::Unknown(text)),
                Ok(Line::Ready { quiescent }) => Meaning::Ready { quiescent },
                Ok(Line::Quiescent) => Meaning::Quiescent,
                Ok(Line::Error(_) | Line::Labels(_) | Line::Blank) => Meaning::Nothing,
                Err(_) => Meaning::Step(Recorded::Unknown(line())),
            },
            // Lines of the protocol are lines of a trace.
            (Language::Json(_), Side::Client) => match read_traces(&line(), &self.sts) {
                Ok(traces) => match traces.first().map(|trace| trace.first()) {
                    Some(Some((_, Recorded::Ready))) => Meaning::Reset,
                    Some(Some((_, recorded))) => Meaning::Step(recorded.clone()),
                    Some(None) => Meaning::Reset,
                    None => Meaning::Nothing,
                },
                Err(_) => Meaning::Step(Recorded::Undescribed(shorten(&line(), 100))),
            },
            (Language::Text { templates, mapping }, Side::System) => {
                let is_ready = |ready: &Pattern| ready.fits(message);
                if mapping.ready.as_ref().is_some_and(is_ready) {
                    return Meaning::Ready { quiescent: false };
                }
                match templates.read(Direction::Response, message, &|_| true) {
                    Ok(action) => Meaning::Step(Recorded::Response(action)),
                    Err(text) => Meaning::Step(Recorded::Unknown(text)),
                }
            }
            (Language::Text { templates, mapping }, Side::Client) => {
                if mapping.reset.as_deref().map(str::as_bytes) == Some(message) {
                    return Meaning::Reset;
                }
                match templates.read(Direction::Stimulus, message, &|_| true) {
                    Ok(action) => Meaning::Step(Recorded::Stimulus(action)),
                    Err(text) => Meaning::Step(Recorded::Undescribed(text)),
                }
            }
        }
    }
}

impl Relay for LineRelay {
    fn address(&self) -> String {
        let address = self.listener.local_addr();
        address.map_or_else(|_| "?".to_owned(), |address| address.to_string())
    }

    /// One client after the other.
    fn run(
        &self,
        clients: Option<u64>,
        stop: &dyn Fn() -> bool,
        write: &mut dyn FnMut(&str) -> io::Result<()>,
    ) -> Result<u64, AdapterError> {
        let mut write = without_empty_traces(write);
        let mut served = 0;
        while clients.is_none_or(|clients| served < clients) && !stop() {
            match self.listener.accept() {
                Ok((client, _)) => {
                    served += u64::from(self.serve(client, stop, &mut write)?);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    std::thread::sleep(SLICE);
                }
                Err(error) => return Err(cannot_pass_on(&self.to, &error)),
            }
        }
        Ok(served)
    }
}

/// Listens; waiting for clients does not block.
pub(crate) fn bind(listen: &str) -> Result<TcpListener, AdapterError> {
    let bind = || {
        let listener = TcpListener::bind(listen)?;
        listener.set_nonblocking(true)?;
        Ok(listener)
    };
    bind().map_err(|error: io::Error| {
        AdapterError::new(format!("cannot listen on {listen}: {error}"))
            .hint("write HOST:PORT with a port that is free")
    })
}

pub(crate) fn cannot_pass_on(to: &str, error: &io::Error) -> AdapterError {
    AdapterError::new(format!(
        "recording between a client and {to} failed: {error}"
    ))
    .hint("the system must be listening there before a client connects")
}

/// Copies bytes until one side ends, and tells of the messages in them.
fn pass_on(
    mut from: TcpStream,
    mut to: TcpStream,
    side: Side,
    splitter: MessageSplitter,
    outgoing: &Sender<Relayed>,
) {
    let mut bytes = vec![0; 16 << 10];
    let mut splitter = Some(splitter);
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        if let Some(reading) = &mut splitter {
            reading.feed(&bytes[..count]);
            if let Err(why) = emit_messages(reading, side, outgoing) {
                let _ = outgoing.send(Relayed::Lost(Instant::now(), why), 0);
                splitter = None;
            }
        }
        if to.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
    let _ = outgoing.send(Relayed::Ended, 0);
}

fn emit_messages(
    splitter: &mut MessageSplitter,
    side: Side,
    outgoing: &Sender<Relayed>,
) -> Result<(), String> {
    while let Some(message) = splitter.next()? {
        let size = message.len();
        let _ = outgoing.send(Relayed::Message(Instant::now(), side, message), size);
    }
    Ok(())
}

//! Between an HTTP client and a service: passes bytes on, both ways, and reports every request,
//! answer, event and message in the model's terms, by the same mapping that tests use.
//!
//! Nothing is changed on the way, so that clients and services notice nothing. A message is reported
//! before its last byte is passed on: what it causes is reported after it.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ioco_budget::{Budget, Resource};
use ioco_engine::Recorded;
use ioco_sts::{LabelId, Sts};

use super::events::EventLines;
use super::mapping::{HttpMapping, Mapped};
use super::reverse::RequestMeaning;
use super::wire::{Head, MessagePart, Messages, StartLine, TextMessages};
use crate::connection::{AdapterError, Arrival};
use crate::endpoint;
use crate::relay::{Relay, bind, cannot_pass_on};
use crate::session::nanoseconds;
use crate::supervise::{Received, SLICE, Sender, queue, within};
use crate::trace::{RESET_LINE, without_empty_traces, write_recorded};

/// How long the service may take to accept a connection.
const CONNECTING: Duration = Duration::from_secs(10);

/// How often the listener looks for a client.
const LISTENING: Duration = Duration::from_millis(5);

/// A recorder of HTTP traffic in one model's terms.
pub struct HttpRelay {
    listener: TcpListener,
    /// `host:port`.
    to: String,
    sts: Arc<Sts>,
    mapped: Mapped,
    events: Option<String>,
    websocket: Option<String>,
    epoch: Instant,
}

/// What passed by.
enum RelayEvent {
    Connected(TcpStream),
    Request {
        method: String,
        target: String,
        body: Read,
    },
    Answer {
        status: u16,
        body: Read,
    },
    Event {
        name: String,
        data: String,
    },
    Message(String),
    /// From here on the connection cannot be followed.
    Lost(String),
    Closed,
}

impl RelayEvent {
    /// Bytes that it occupies while it waits.
    fn size(&self) -> usize {
        match self {
            RelayEvent::Request { target, body, .. } => {
                target.len() + body.as_ref().map_or(0, String::len)
            }
            RelayEvent::Answer { body, .. } => body.as_ref().map_or(0, String::len),
            RelayEvent::Event { name, data } => name.len() + data.len(),
            RelayEvent::Message(text) | RelayEvent::Lost(text) => text.len(),
            RelayEvent::Connected(_) | RelayEvent::Closed => 0,
        }
    }
}

/// The text of a body, or why it cannot be read.
type Read = Result<String, String>;

/// The number of the connection, when, and what.
type Stamped = (u64, Instant, RelayEvent);

/// What the two directions of a connection know of each other.
#[derive(Default)]
struct PairState {
    /// Requests without an answer yet: whether by HEAD, and the target.
    open: Mutex<VecDeque<(bool, String)>>,
    upgraded: AtomicBool,
}

impl PairState {
    fn open(&self) -> std::sync::MutexGuard<'_, VecDeque<(bool, String)>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HttpRelay {
    /// Clients can connect to `listen` from now on; `base` is `http://host:port`.
    pub fn listen(
        listen: &str,
        base: &str,
        sts: Arc<Sts>,
        mapping: &HttpMapping,
    ) -> Result<HttpRelay, AdapterError> {
        let Some(host) = base.strip_prefix("http://") else {
            return Err(
                AdapterError::new(format!("'{base}' cannot be recorded: it is encrypted"))
                    .hint("record where the traffic is not encrypted: http://HOST:PORT"),
            );
        };
        let host = host.split('/').next().unwrap_or_default();
        let to = if host.contains(':') {
            host.to_owned()
        } else {
            format!("{host}:80")
        };
        let mapped = Mapped::new(Arc::clone(&sts), mapping).map_err(|message| {
            AdapterError::new(message).hint("[http] of ioco.toml says which requests labels are")
        })?;
        Ok(HttpRelay {
            listener: bind(listen)?,
            to,
            sts,
            mapped,
            events: mapping.events.clone(),
            websocket: mapping.websocket.clone(),
            epoch: Instant::now(),
        })
    }

    /// Connects a client to the service; two threads pass on what they say.
    fn serve(
        &self,
        number: u64,
        client: &TcpStream,
        outgoing: &Sender<Stamped>,
        stop: &dyn Fn() -> bool,
    ) -> io::Result<TcpStream> {
        let system = endpoint::call(&self.to, &within(CONNECTING, stop))?;
        client.set_nonblocking(false)?;
        let between = Arc::new(PairState::default());
        for socket in [client, &system] {
            socket.set_nodelay(true)?;
        }
        let up = Flow {
            from: client.try_clone()?,
            to: system.try_clone()?,
            number,
            outgoing: outgoing.clone(),
            between: Arc::clone(&between),
            budget: *self.sts.budget(),
        };
        let down = Flow {
            from: system.try_clone()?,
            to: client.try_clone()?,
            number,
            outgoing: outgoing.clone(),
            between,
            budget: *self.sts.budget(),
        };
        let (events, websocket) = (self.events.clone(), self.websocket.clone());
        std::thread::spawn(move || up.pass_requests());
        std::thread::spawn(move || down.pass_answers(events.as_deref(), websocket.as_deref()));
        Ok(system)
    }
}

impl Relay for HttpRelay {
    fn address(&self) -> String {
        let address = self.listener.local_addr();
        address.map_or_else(|_| "?".to_owned(), |address| format!("http://{address}"))
    }

    fn run(
        &self,
        clients: Option<u64>,
        stop: &dyn Fn() -> bool,
        write: &mut dyn FnMut(&str) -> io::Result<()>,
    ) -> Result<u64, AdapterError> {
        let failed = |error: io::Error| cannot_pass_on(&self.to, &error);
        let mut write = without_empty_traces(write);
        let (outgoing, incoming) = queue::<Stamped>(self.sts.budget());
        let listener = self.listener.try_clone().map_err(failed)?;
        let done = Arc::new(AtomicBool::new(false));
        let (connected, finished) = (outgoing.clone(), Arc::clone(&done));
        let accepting =
            std::thread::spawn(move || accept(&listener, clients, &connected, &finished));
        let mut scribe = TraceWriter::new(&self.mapped, &self.sts);
        let mut sockets: BTreeMap<u64, [TcpStream; 2]> = BTreeMap::new();
        let (mut served, mut closed) = (0, 0);
        write(RESET_LINE).map_err(failed)?;
        let mut outcome = Ok(());
        while !stop() && clients.is_none_or(|clients| closed < clients) {
            let Received::Entry((number, when, seen)) = incoming.take_until(Instant::now() + SLICE)
            else {
                continue;
            };
            match seen {
                RelayEvent::Connected(client) => match self.serve(number, &client, &outgoing, stop)
                {
                    Ok(system) => {
                        served += 1;
                        sockets.insert(number, [client, system]);
                    }
                    // A stop while the service is being called is no failure of the service.
                    Err(_) if stop() => break,
                    Err(error) => {
                        outcome = Err(failed(error));
                        break;
                    }
                },
                RelayEvent::Closed => {
                    closed += 1;
                    sockets.remove(&number);
                    scribe.asked.remove(&number);
                }
                seen => {
                    let at = nanoseconds(when.saturating_duration_since(self.epoch));
                    if let Some(line) = scribe.take(at, number, seen) {
                        // Until when nothing came: without it, a missing response could not be told.
                        if line == RESET_LINE
                            && let Some(at) = scribe.ended_at.take()
                        {
                            let end = write_recorded(at, &Recorded::End, &self.sts);
                            write(&end).map_err(failed)?;
                        }
                        write(&line).map_err(failed)?;
                    }
                }
            }
        }
        done.store(true, Ordering::Relaxed);
        // Threads that still read end with their sockets.
        for socket in sockets.values().flatten() {
            let _ = socket.shutdown(Shutdown::Both);
        }
        // So do those that wait for room.
        drop(incoming);
        let _ = accepting.join();
        outcome?;
        let at = nanoseconds(self.epoch.elapsed());
        write(&write_recorded(at, &Recorded::End, &self.sts)).map_err(failed)?;
        Ok(served)
    }
}

/// Hands over clients, at most `limit`, until it is `done`.
fn accept(
    listener: &TcpListener,
    limit: Option<u64>,
    outgoing: &Sender<Stamped>,
    done: &AtomicBool,
) {
    let mut number = 0;
    while !done.load(Ordering::Relaxed) && limit.is_none_or(|limit| number < limit) {
        match listener.accept() {
            Ok((client, _)) => {
                number += 1;
                let seen = RelayEvent::Connected(client);
                if outgoing.send((number, Instant::now(), seen), 0).is_err() {
                    return;
                }
            }
            Err(_) => std::thread::sleep(LISTENING),
        }
    }
}

/// One direction of a connection.
struct Flow {
    from: TcpStream,
    to: TcpStream,
    number: u64,
    outgoing: Sender<Stamped>,
    between: Arc<PairState>,
    budget: Budget,
}

impl Flow {
    fn emit(&self, seen: RelayEvent) {
        let size = seen.size();
        let _ = self
            .outgoing
            .send((self.number, Instant::now(), seen), size);
    }

    /// Copies bytes until one side ends; `look` sees them before they are passed on.
    fn pass_on(&self, look: &mut dyn FnMut(&[u8])) {
        let mut bytes = vec![0; 16 << 10];
        let (mut from, mut to) = (&self.from, &self.to);
        while let Ok(count) = from.read(&mut bytes) {
            if count == 0 {
                break;
            }
            look(&bytes[..count]);
            if to.write_all(&bytes[..count]).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Write);
    }

    fn pass_requests(self) {
        let mut messages = Messages::requests();
        let mut request = None;
        let mut body = Body::default();
        let mut lost = false;
        self.pass_on(&mut |bytes| {
            if lost || self.between.upgraded.load(Ordering::Relaxed) {
                return;
            }
            let pieces = messages.feed(bytes, &|| false).unwrap_or_else(|why| {
                lost = true;
                self.emit(RelayEvent::Lost(format!("what a client sent: {why}")));
                Vec::new()
            });
            for piece in pieces {
                match piece {
                    MessagePart::Head(head) => {
                        body = Body::after(&head);
                        request = Some(head.first);
                    }
                    MessagePart::Data(data) => body.add(&data, &self.budget),
                    MessagePart::End => {
                        if let Some(StartLine::Request { method, target }) = request.take() {
                            let open = (method == "HEAD", target.clone());
                            self.between.open().push_back(open);
                            self.emit(RelayEvent::Request {
                                method,
                                target,
                                body: body.take(),
                            });
                        }
                    }
                    MessagePart::Upgraded(_) => {}
                }
            }
        });
    }

    fn pass_answers(self, events: Option<&str>, websocket: Option<&str>) {
        let mut messages = Messages::answers();
        let mut answer = Answering::Nothing;
        let mut body = Body::default();
        let mut lost = false;
        self.pass_on(&mut |bytes| {
            if lost {
                return;
            }
            let is_head = || self.between.open().front().is_some_and(|(head, _)| *head);
            let pieces = messages.feed(bytes, &is_head).unwrap_or_else(|why| {
                lost = true;
                self.emit(RelayEvent::Lost(format!("what the service sent: {why}")));
                Vec::new()
            });
            for piece in pieces {
                self.answered(piece, &mut answer, &mut body, (events, websocket));
            }
        });
        if let Some(piece) = messages.close() {
            self.answered(piece, &mut answer, &mut body, (events, websocket));
        }
        self.emit(RelayEvent::Closed);
    }

    fn answered(
        &self,
        piece: MessagePart,
        answer: &mut Answering,
        body: &mut Body,
        (events, websocket): (Option<&str>, Option<&str>),
    ) {
        match (piece, &mut *answer) {
            (MessagePart::Head(head), _) => {
                let asked = self.between.open().pop_front();
                let target = asked.map(|(_, target)| target).unwrap_or_default();
                let asks_for = |path: Option<&str>| path.is_some_and(|path| path == target);
                let kind = head.header("content-type").unwrap_or_default();
                let streams = kind.trim_start().starts_with("text/event-stream");
                *body = Body::after(&head);
                *answer = match head.first {
                    StartLine::Answer { status: 101 } => {
                        self.between.upgraded.store(true, Ordering::Relaxed);
                        match asks_for(websocket) {
                            true => Answering::Messages(Box::new(TextMessages::new(&self.budget))),
                            false => Answering::Nothing,
                        }
                    }
                    StartLine::Answer { .. } if streams && asks_for(events) => {
                        Answering::Events(EventLines::new(&self.budget))
                    }
                    StartLine::Answer { .. } if streams => Answering::Nothing,
                    StartLine::Answer { status } => Answering::Whole(status),
                    StartLine::Request { .. } => Answering::Nothing,
                };
            }
            (MessagePart::Data(data), Answering::Whole(_)) => body.add(&data, &self.budget),
            (MessagePart::Data(data), Answering::Events(lines)) => match lines.feed(&data) {
                Ok(events) => events
                    .into_iter()
                    .for_each(|(name, data)| self.emit(RelayEvent::Event { name, data })),
                Err(why) => {
                    self.emit(RelayEvent::Lost(format!("the stream of events: {why}")));
                    *answer = Answering::Nothing;
                }
            },
            (MessagePart::Upgraded(data), Answering::Messages(messages)) => {
                match messages.feed(&data) {
                    Ok(texts) => texts
                        .into_iter()
                        .for_each(|t| self.emit(RelayEvent::Message(t))),
                    Err(why) => {
                        self.emit(RelayEvent::Lost(format!(
                            "a message of the web socket: {why}"
                        )));
                        *answer = Answering::Nothing;
                    }
                }
            }
            (MessagePart::End, Answering::Whole(status)) => {
                let status = *status;
                *answer = Answering::Nothing;
                self.emit(RelayEvent::Answer {
                    status,
                    body: body.take(),
                });
            }
            _ => {}
        }
    }
}

/// What the answer under way is.
enum Answering {
    Nothing,
    /// To be reported when it is complete.
    Whole(u16),
    Events(EventLines),
    Messages(Box<TextMessages>),
}

/// A body as it comes in.
#[derive(Default)]
struct Body {
    bytes: Vec<u8>,
    unreadable: Option<String>,
}

impl Body {
    fn after(head: &Head) -> Body {
        let encoding = head.encoding();
        Body {
            bytes: Vec::new(),
            unreadable: encoding.map(|encoding| format!("its body is packed with {encoding}")),
        }
    }

    fn add(&mut self, data: &[u8], budget: &Budget) {
        let length = self.bytes.len() + data.len();
        if let Err(over) = budget.check(Resource::Message, length as u64) {
            self.unreadable = Some(format!("its body is too long: {over}"));
        } else if self.unreadable.is_none() {
            self.bytes.extend_from_slice(data);
        }
    }

    fn take(&mut self) -> Read {
        let Body { bytes, unreadable } = std::mem::take(self);
        match unreadable {
            Some(why) => Err(why),
            None => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        }
    }
}

/// A request that waits for its answer, and the trace it belongs to.
type Open = (RequestMeaning, u64);

/// Turns what passed by into lines of a trace.
struct TraceWriter<'r> {
    mapped: &'r Mapped,
    sts: &'r Sts,
    /// Per connection, in the order of the requests.
    asked: BTreeMap<u64, VecDeque<Open>>,
    /// Counts resets.
    trace: u64,
    /// The reset under way is not answered yet: what comes belongs to nobody.
    resetting: bool,
    /// Whether the trace shows anything yet.
    has_begun: bool,
    /// When the reset was asked for that ends a trace which shows something.
    ended_at: Option<u64>,
}

impl<'r> TraceWriter<'r> {
    fn new(mapped: &'r Mapped, sts: &'r Sts) -> TraceWriter<'r> {
        TraceWriter {
            mapped,
            sts,
            asked: BTreeMap::new(),
            trace: 0,
            resetting: false,
            has_begun: false,
            ended_at: None,
        }
    }

    fn take(&mut self, at: u64, connection: u64, seen: RelayEvent) -> Option<String> {
        let recorded = match seen {
            RelayEvent::Request {
                method,
                target,
                body,
            } => {
                let asked = match body {
                    Ok(body) => self.mapped.asked(&method, &target, &body, &mut |_| true),
                    Err(why) => RequestMeaning::Other(format!("{method} {target}: {why}")),
                };
                let recorded = match &asked {
                    RequestMeaning::Stimulus(action) => Some(Recorded::Stimulus(action.clone())),
                    RequestMeaning::Other(text) => Some(Recorded::Undescribed(text.clone())),
                    RequestMeaning::Reset => {
                        self.resetting = true;
                        self.trace += 1;
                        self.ended_at = self.has_begun.then_some(at);
                        None
                    }
                    RequestMeaning::Nothing => None,
                };
                let open = self.asked.entry(connection).or_default();
                open.push_back((asked, self.trace));
                recorded?
            }
            RelayEvent::Answer { status, body } => {
                let (asked, trace) = self.asked.get_mut(&connection)?.pop_front()?;
                match asked {
                    RequestMeaning::Reset if (200..300).contains(&status) => {
                        self.resetting = false;
                        self.has_begun = false;
                        return Some(RESET_LINE.to_owned());
                    }
                    RequestMeaning::Reset => {
                        self.resetting = false;
                        Recorded::Undescribed(format!("the reset was answered {status}"))
                    }
                    RequestMeaning::Stimulus(action) if trace == self.trace => match body {
                        Ok(body) => self.answer(action.label, status, &body)?,
                        Err(why) => Recorded::Undescribed(format!("an answer: {why}")),
                    },
                    _ => return None,
                }
            }
            RelayEvent::Event { name, data } => arrived(self.mapped.event(&name, &data))?,
            RelayEvent::Message(text) => arrived(self.mapped.message(&text))?,
            RelayEvent::Lost(text) => Recorded::Undescribed(text),
            RelayEvent::Connected(_) | RelayEvent::Closed => return None,
        };
        if self.resetting {
            return None;
        }
        self.has_begun = true;
        Some(write_recorded(at, &recorded, self.sts))
    }

    fn answer(&self, to: LabelId, status: u16, body: &str) -> Option<Recorded> {
        arrived(self.mapped.answer(to, status, body)?)
    }
}

fn arrived(arrival: Arrival) -> Option<Recorded> {
    match arrival {
        Arrival::Response(action) => Some(Recorded::Response(action)),
        Arrival::Unknown(text) => Some(Recorded::Unknown(text)),
        Arrival::Quiescent | Arrival::Silence => None,
    }
}

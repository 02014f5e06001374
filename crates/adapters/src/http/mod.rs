//! Systems with an HTTP interface, by configuration alone: a stimulus is a request, a response is
//! its answer, a server-sent event or a message of a web socket.
//!
//! A thread sends the requests one after the other, so that a slow answer is silence first, as
//! everywhere, and is judged when it comes. Where nothing but answers can come, the system is known
//! to be silent once the last request is answered.

mod calls;
mod events;
mod mapping;
mod player;
mod relay;
mod reverse;
mod shape;
mod wire;

use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use ioco_budget::Budget;
use ioco_sts::{Action, LabelId, Sts};
use ureq::tls::{RootCerts, TlsConfig};

use crate::connection::{AdapterError, Arrival, Arrived, Connection};
use crate::endpoint;
use crate::session::nanoseconds;
use crate::supervise::{Received, Receiver, Sender, Until, queue, within};
use calls::{listen_to_events, listen_to_socket, open_socket, roots, send};
pub use mapping::{HttpMapping, OneOrMore, RequestMapping, ResponseMapping, Statuses};
use mapping::{Mapped, Request};
pub use player::HttpPlayer;
pub use relay::HttpRelay;

/// Said where no request resets the system. One that is started for every test needs none.
pub const NO_RESET: &str = "no request resets the system between tests; name one in [http.reset]";

/// How long a reset waits for answers to the requests before it. Sent at once it could overtake them; behind
/// one that is never answered it would not be sent at all.
const SETTLING: Duration = Duration::from_millis(100);

/// How long the threads get before silence is concluded.
const CATCHING_UP: Duration = Duration::from_millis(20);

enum HttpEvent {
    /// The request with this number was answered.
    Answer {
        number: u64,
        to: Option<LabelId>,
        status: u16,
        body: String,
    },
    Event {
        name: String,
        data: String,
    },
    Message(String),
    /// `ended`: the system is gone. `number`: of the request that failed.
    AdapterError {
        number: Option<u64>,
        message: String,
        ended: bool,
    },
}

impl HttpEvent {
    /// Bytes that it occupies while it waits.
    fn size(&self) -> usize {
        match self {
            HttpEvent::Answer { body, .. } => body.len(),
            HttpEvent::Event { name, data } => name.len() + data.len(),
            HttpEvent::Message(text) => text.len(),
            HttpEvent::AdapterError { message, .. } => message.len(),
        }
    }
}

type Stamped = (Instant, HttpEvent);

/// A request to send: its number, the stimulus it stands for, and itself.
type Order = (u64, Option<LabelId>, Request);

/// The thread that sends requests, one after the other.
struct Requests {
    orders: std::sync::mpsc::Sender<Order>,
    /// Shutting it down ends the request under way.
    agent: ureq::Agent,
}

/// A stream that a thread listens to; what ends it.
enum Listening {
    Events(ureq::Agent),
    Messages(TcpStream),
}

impl Listening {
    fn end(self) {
        match self {
            Listening::Events(agent) => agent.shutdown(),
            Listening::Messages(socket) => {
                let _ = socket.shutdown(Shutdown::Both);
            }
        }
    }
}

/// A connection to a system with an HTTP interface.
pub struct Http {
    mapped: Mapped,
    budget: Budget,
    base: String,
    events: Option<String>,
    websocket: Option<String>,
    /// The certificate authority of a system over https://; the public ones by default.
    roots: Option<RootCerts>,
    requests: Option<Requests>,
    /// Something has listened at the address.
    is_reached: bool,
    listening: Vec<Listening>,
    tell: Sender<Stamped>,
    happened: Receiver<Stamped>,
    patience: Duration,
    epoch: Instant,
    number: u64,
    /// Requests with a lower number were given up; what becomes of them is of no interest.
    first: u64,
    /// Requests without an answer yet.
    open: u64,
    sent: Vec<u8>,
    warnings: Vec<String>,
}

impl Http {
    /// What is wrong with the mapping is said at once. `base` is `http://host:port`.
    pub fn new(
        sts: Arc<Sts>,
        base: &str,
        mapping: &HttpMapping,
        patience: Duration,
    ) -> Result<Http, AdapterError> {
        let wrong = |message: String| {
            AdapterError::new(message)
                .hint("[http] of ioco.toml says which requests and answers labels are")
        };
        if !base.starts_with("http://") && !base.starts_with("https://") {
            return Err(wrong(format!(
                "'{base}' is not an address such as http://localhost:8000"
            )));
        }
        if mapping.websocket.is_some() && base.starts_with("https://") {
            return Err(wrong(format!(
                "ioco reads messages of a web socket over http:// only, not from {base}"
            )));
        }
        let roots = match &mapping.certificate {
            Some(file) => Some(roots(file, sts.budget()).map_err(wrong)?),
            None => None,
        };
        let budget = *sts.budget();
        let mapped = Mapped::new(sts, mapping).map_err(wrong)?;
        let mut warnings = Vec::new();
        if mapped.reset.is_none() {
            warnings.push(NO_RESET.to_owned());
        }
        let (tell, happened) = queue(&budget);
        Ok(Http {
            mapped,
            budget,
            base: base.trim_end_matches('/').to_owned(),
            events: mapping.events.clone(),
            websocket: mapping.websocket.clone(),
            roots,
            requests: None,
            is_reached: false,
            listening: Vec::new(),
            tell,
            happened,
            patience,
            epoch: Instant::now(),
            number: 0,
            first: 0,
            open: 0,
            sent: Vec::new(),
            warnings,
        })
    }

    /// What a person should know about the system's side, since the last call.
    pub fn take_warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.warnings)
    }

    /// `body`: how long the body of an answer may take.
    fn agent(&self, body: Option<Duration>) -> ureq::Agent {
        let patience = Some(self.patience);
        let mut tls = TlsConfig::builder();
        if let Some(roots) = &self.roots {
            tls = tls.root_certs(roots.clone());
        }
        let config = ureq::Agent::config_builder()
            .tls_config(tls.build())
            .http_status_as_error(false)
            .timeout_resolve(patience)
            .timeout_connect(patience)
            .timeout_send_request(patience)
            .timeout_send_body(patience)
            .timeout_recv_response(patience)
            .timeout_recv_body(body)
            .max_redirects(0)
            .build();
        ureq::Agent::new_with_config(config)
    }

    /// Starts the threads that are not there.
    fn start(&mut self, until: &Until<'_>) -> Result<(), AdapterError> {
        if self.listening.is_empty() {
            if let Some(path) = &self.events {
                let listening = self.start_events(&format!("{}{path}", self.base), until)?;
                self.listening.push(listening);
            }
            if let Some(path) = &self.websocket {
                let url = format!("{}{path}", self.base.replacen("http", "ws", 1));
                let listening = self.start_messages(&url, until)?;
                self.listening.push(listening);
            }
        }
        if self.requests.is_none() {
            let agent = self.agent(Some(self.patience));
            if !std::mem::replace(&mut self.is_reached, true) && agent.config().proxy().is_none() {
                self.reach(until).inspect_err(|_| self.is_reached = false)?;
            }
            let (orders, received) = channel::<Order>();
            let (own, base, tell) = (agent.clone(), self.base.clone(), self.tell.clone());
            let most = self.budget.message;
            std::thread::spawn(move || {
                for (number, to, request) in received {
                    let Some(happened) = send(&own, &base, most, number, to, &request) else {
                        continue;
                    };
                    let size = happened.size();
                    if tell.send((Instant::now(), happened), size).is_err() {
                        return;
                    }
                }
            });
            self.requests = Some(Requests { orders, agent });
        }
        Ok(())
    }

    /// Whether anything listens there at all. This separates a service that was never up from one that goes
    /// away in the middle of a test.
    fn reach(&self, until: &Until<'_>) -> Result<(), AdapterError> {
        let uri: ureq::http::Uri = match self.base.parse() {
            Ok(uri) => uri,
            // The first request says what is wrong with it.
            Err(_) => return Ok(()),
        };
        let usual = if uri.scheme_str() == Some("https") {
            443
        } else {
            80
        };
        let host = uri.host().unwrap_or_default();
        let address = format!("{host}:{}", uri.port_u16().unwrap_or(usual));
        match endpoint::call(&address, until) {
            Ok(_) => Ok(()),
            Err(error) => Err(not_reached(&self.base, &error.to_string())),
        }
    }

    /// Asks for the stream of events; the thread that asks then listens.
    fn start_events(&self, url: &str, until: &Until<'_>) -> Result<Listening, AdapterError> {
        let agent = self.agent(None);
        let (own, tell) = (agent.clone(), self.tell.clone());
        let (opened, opens) = channel();
        let (asked, budget) = (url.to_owned(), self.budget);
        std::thread::spawn(move || {
            let request = own.get(&asked).header("Accept", "text/event-stream");
            match request.call() {
                Err(error) => {
                    let _ = opened.send(Err(error.to_string()));
                }
                Ok(answer) if !answer.status().is_success() => {
                    let _ = opened.send(Err(format!("it answered {}", answer.status())));
                }
                Ok(answer) => {
                    if opened.send(Ok(())).is_ok() {
                        listen_to_events(answer.into_body(), &budget, &tell);
                    }
                }
            }
        });
        loop {
            match opens.recv_timeout(until.slice_left()) {
                Ok(Ok(())) => return Ok(Listening::Events(agent)),
                Ok(Err(why)) => return Err(not_reached(url, &why)),
                Err(RecvTimeoutError::Timeout) if !until.is_over() => {}
                Err(_) => {
                    agent.shutdown();
                    return Err(not_reached(url, "it did not answer in time"));
                }
            }
        }
    }

    /// Opens the web socket; a thread then listens.
    fn start_messages(&self, url: &str, until: &Until<'_>) -> Result<Listening, AdapterError> {
        let failed = |why: &dyn std::fmt::Display| not_reached(url, &why.to_string());
        let (socket, tcp) = open_socket(url, &self.budget, until).map_err(|why| failed(&why))?;
        let tell = self.tell.clone();
        std::thread::spawn(move || listen_to_socket(socket, &tell));
        Ok(Listening::Messages(tcp))
    }

    /// Gives up requests without an answer, so that the next is not sent behind them.
    fn give_up_requests(&mut self) {
        if let Some(requests) = self.requests.take() {
            requests.agent.shutdown();
        }
        self.first = self.number + 1;
        self.open = 0;
    }

    /// Ends the threads; the next reset starts others.
    fn close(&mut self) {
        self.give_up_requests();
        for listening in self.listening.drain(..) {
            listening.end();
        }
        (self.tell, self.happened) = queue(&self.budget);
    }

    /// Whether this tells of a request that was given up.
    fn is_stale(&self, happened: &HttpEvent) -> bool {
        match happened {
            HttpEvent::Answer { number, .. } => *number < self.first,
            HttpEvent::AdapterError { number, .. } => {
                number.is_some_and(|number| number < self.first)
            }
            HttpEvent::Event { .. } | HttpEvent::Message(_) => false,
        }
    }

    /// The next thing that happened, if something does until `deadline`.
    fn next(&self, deadline: Instant) -> Option<Stamped> {
        loop {
            match self.happened.take_until(deadline) {
                Received::Entry((_, happened)) if self.is_stale(&happened) => {}
                Received::Entry(stamped) => return Some(stamped),
                Received::Nothing | Received::Ended => return None,
            }
        }
    }

    fn order(&mut self, to: Option<LabelId>, request: Request) -> u64 {
        self.number += 1;
        self.open += 1;
        self.sent = request.bytes();
        if let Some(requests) = &self.requests {
            let _ = requests.orders.send((self.number, to, request));
        }
        self.number
    }

    /// Waits until all requests are answered, for a moment; what comes is discarded.
    fn settle(&mut self, until: &Until<'_>) -> Result<(), AdapterError> {
        while self.open > 0 && !until.is_over() {
            match self.next(until.slice()) {
                Some((_, HttpEvent::Answer { .. })) => self.open -= 1,
                Some((_, HttpEvent::AdapterError { message, ended, .. })) => {
                    return Err(self.broken(message, ended));
                }
                Some(_) | None => {}
            }
        }
        Ok(())
    }

    /// Waits for the answer to request `number`; everything else is discarded.
    fn await_answer(
        &mut self,
        number: u64,
        until: &Until<'_>,
    ) -> Result<(u16, String), AdapterError> {
        while !until.is_over() {
            match self.next(until.slice()) {
                Some((
                    _,
                    HttpEvent::Answer {
                        number: own,
                        status,
                        body,
                        ..
                    },
                )) => {
                    self.open = self.open.saturating_sub(1);
                    if own == number {
                        return Ok((status, body));
                    }
                }
                Some((_, HttpEvent::AdapterError { message, ended, .. })) => {
                    return Err(self.broken(message, ended));
                }
                Some(_) | None => {}
            }
        }
        let message = format!(
            "{} did not answer the reset within {:?}",
            self.base, self.patience
        );
        Err(self.broken(message, false))
    }

    fn broken(&mut self, message: String, ended: bool) -> AdapterError {
        self.close();
        AdapterError::new(message)
            .hint("the system must be listening there as long as the test goes on")
            .ended(ended)
    }

    /// `Ok(None)`: it was no observation.
    fn take_in(&mut self, (when, happened): Stamped) -> Result<Option<Arrived>, AdapterError> {
        let (what, raw) = match happened {
            HttpEvent::AdapterError { message, ended, .. } => {
                return Err(self.broken(message, ended));
            }
            HttpEvent::Answer {
                to, status, body, ..
            } => {
                self.open = self.open.saturating_sub(1);
                let Some(what) = to.and_then(|to| self.mapped.answer(to, status, &body)) else {
                    return Ok(None);
                };
                (what, format!("{status}\n{body}"))
            }
            HttpEvent::Event { name, data } => (self.mapped.event(&name, &data), data),
            HttpEvent::Message(text) => (self.mapped.message(&text), text),
        };
        let at = nanoseconds(when.saturating_duration_since(self.epoch));
        let raw = raw.into_bytes();
        Ok(Some(Arrived { what, at, raw }))
    }

    /// Only answers can come, and all have.
    fn is_silent(&self) -> bool {
        self.open == 0 && self.events.is_none() && self.websocket.is_none()
    }
}

fn not_reached(url: &str, why: &str) -> AdapterError {
    AdapterError::new(format!("no connection to {url}: {why}"))
        .hint("the system must be listening there before the test begins")
}

impl Drop for Http {
    fn drop(&mut self) {
        self.close();
    }
}

impl Connection for Http {
    fn now(&self) -> u64 {
        nanoseconds(self.epoch.elapsed())
    }

    fn reset_until(&mut self, stop: &dyn Fn() -> bool) -> Result<(), AdapterError> {
        self.settle(&within(SETTLING.min(self.patience), stop))?;
        if self.open > 0 {
            self.give_up_requests();
        }
        let until = within(self.patience, stop);
        self.start(&until)?;
        if let Some(request) = self.mapped.reset.clone() {
            let shown = format!("{} {}", request.method, request.path);
            let number = self.order(None, request);
            let (status, _) = self.await_answer(number, &until)?;
            if !(200..300).contains(&status) {
                return Err(AdapterError::new(format!(
                    "the reset {shown} was answered {status}"
                )));
            }
        }
        // What is there is of the test before; a flood would never end.
        let drained = Instant::now();
        while let Some((when, happened)) = self.next(drained) {
            match happened {
                HttpEvent::Answer { .. } => self.open = self.open.saturating_sub(1),
                HttpEvent::AdapterError { message, ended, .. } => {
                    return Err(self.broken(message, ended));
                }
                HttpEvent::Event { .. } | HttpEvent::Message(_) => {}
            }
            if when > drained {
                break;
            }
        }
        self.sent.clear();
        Ok(())
    }

    fn give_until(
        &mut self,
        stimulus: &Action,
        _stop: &dyn Fn() -> bool,
    ) -> Result<bool, AdapterError> {
        let Some(request) = self.mapped.request(stimulus) else {
            return Err(AdapterError::new("a stimulus is no request"));
        };
        let may_be_overtaken = !self.is_silent();
        self.order(Some(stimulus.label), request);
        Ok(may_be_overtaken)
    }

    fn poll(&mut self) -> Result<Option<Arrived>, AdapterError> {
        while let Some(stamped) = self.next(Instant::now()) {
            if let Some(arrived) = self.take_in(stamped)? {
                return Ok(Some(arrived));
            }
        }
        Ok(None)
    }

    fn wait(&mut self, until: u64) -> Result<Arrived, AdapterError> {
        let deadline = self.epoch + Duration::from_nanos(until);
        let what = loop {
            if let Some(arrived) = self.poll()? {
                return Ok(arrived);
            }
            if self.is_silent() {
                break Arrival::Quiescent;
            }
            match self.next(deadline) {
                Some(stamped) => {
                    if let Some(arrived) = self.take_in(stamped)? {
                        return Ok(arrived);
                    }
                }
                None => break Arrival::Silence,
            }
        };
        Ok(Arrived {
            what,
            at: self.now(),
            raw: Vec::new(),
        })
    }

    fn sent(&self) -> &[u8] {
        &self.sent
    }

    /// The threads block in reads and cannot be asked; they get a moment to pass on what is there.
    fn catch_up(&mut self) -> Result<(), AdapterError> {
        if !self.is_silent() {
            std::thread::sleep(CATCHING_UP);
        }
        Ok(())
    }
}

/// The messages that are found in the bytes of one direction, and what is wrong with them.
pub(crate) fn read_messages(parts: &[&[u8]], answers: bool) -> (Vec<String>, Option<String>) {
    let mut messages = match answers {
        true => wire::Messages::answers(),
        false => wire::Messages::requests(),
    };
    let mut found: Vec<String> = Vec::new();
    let mut data = Vec::new();
    let mut note = |piece: wire::MessagePart| match piece {
        // How a body is cut is not a part of the message.
        wire::MessagePart::Data(bytes) | wire::MessagePart::Upgraded(bytes) => data.extend(bytes),
        other => {
            found.push(format!("{:?}", std::mem::take(&mut data)));
            found.push(format!("{other:?}"));
        }
    };
    for part in parts {
        match messages.feed(part, &|| false) {
            Ok(pieces) => pieces.into_iter().for_each(&mut note),
            // What was found before the mistake depends on the cut.
            Err(wrong) => return (Vec::new(), Some(wrong)),
        }
    }
    messages.close().into_iter().for_each(&mut note);
    found.push(format!("{data:?}"));
    (found, None)
}

/// The server-sent events that are found in bytes.
pub(crate) fn read_events(parts: &[&[u8]]) -> Vec<(String, String)> {
    let mut lines = events::EventLines::new(&ioco_budget::Budget::default());
    let found = parts.iter().map(|part| lines.feed(part));
    // What was found before a mistake depends on the cut.
    let found: Result<Vec<_>, _> = found.collect();
    found.into_iter().flatten().flatten().collect()
}

//! Systems with an HTTP interface, by configuration alone: a stimulus is a request, a response is
//! its answer, a server-sent event or a message of a web socket.
//!
//! A thread sends the requests one after the other, so that a slow answer is silence first, as
//! everywhere, and is judged when it comes. Where nothing but answers can come, the system is known
//! to be silent once the last request is answered.

mod events;
mod mapping;
mod relay;
mod reverse;
mod shape;
mod wire;

use std::io::Read as _;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::time::{Duration, Instant};

use ioco_sts::{Action, LabelId, Sts};

use crate::connection::{Arrival, Arrived, Connection, Trouble};
use crate::session::nanoseconds;
use events::EventLines;
pub use mapping::{HttpMapping, OneOrMore, RequestMapping, ResponseMapping, Statuses};
use mapping::{Mapped, Request};
pub use relay::HttpRelay;

/// An answer longer than this is not read.
const MAX_ANSWER: u64 = 16 << 20;

/// How often waiting looks whether somebody wants to stop.
const SLICE: Duration = Duration::from_millis(50);

/// How long the threads get before silence is concluded.
const CATCHING_UP: Duration = Duration::from_millis(20);

enum Happened {
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
    /// `ended`: the system is gone.
    Trouble {
        message: String,
        ended: bool,
    },
}

type Stamped = (Instant, Happened);

/// A request to send: its number, the stimulus it stands for, and itself.
type Order = (u64, Option<LabelId>, Request);

/// A connection to a system with an HTTP interface.
pub struct Http {
    mapped: Mapped,
    base: String,
    events: Option<String>,
    websocket: Option<String>,
    agent: ureq::Agent,
    orders: Option<Sender<Order>>,
    tell: Sender<Stamped>,
    happened: Receiver<Stamped>,
    patience: Duration,
    epoch: Instant,
    number: u64,
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
    ) -> Result<Http, Trouble> {
        let wrong = |message: String| {
            Trouble::new(message)
                .hint("[http] of ioco.toml says which requests and answers labels are")
        };
        if !base.starts_with("http://") && !base.starts_with("https://") {
            return Err(wrong(format!(
                "'{base}' is not an address such as http://localhost:8000"
            )));
        }
        if mapping.websocket.is_some() && base.starts_with("https://") {
            return Err(wrong(format!(
                "messages of a web socket are read over http:// only, not from {base}"
            )));
        }
        let mapped = Mapped::new(sts, mapping).map_err(wrong)?;
        let mut warnings = Vec::new();
        if mapped.reset.is_none() {
            warnings.push(
                "nothing resets the system between tests; [http.reset] names the request that does"
                    .to_owned(),
            );
        }
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_connect(Some(patience))
            .timeout_recv_response(Some(patience))
            .max_redirects(0)
            .build();
        let (tell, happened) = channel();
        Ok(Http {
            mapped,
            base: base.trim_end_matches('/').to_owned(),
            events: mapping.events.clone(),
            websocket: mapping.websocket.clone(),
            agent: ureq::Agent::new_with_config(config),
            orders: None,
            tell,
            happened,
            patience,
            epoch: Instant::now(),
            number: 0,
            open: 0,
            sent: Vec::new(),
            warnings,
        })
    }

    /// What a person should know about the system's side, since the last call.
    pub fn take_warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.warnings)
    }

    /// Starts the threads, once.
    fn start(&mut self) -> Result<(), Trouble> {
        if self.orders.is_some() {
            return Ok(());
        }
        if let Some(path) = &self.events {
            let url = format!("{}{path}", self.base);
            let answer = self
                .agent
                .get(&url)
                .header("Accept", "text/event-stream")
                .call();
            let answer = answer.map_err(|error| not_reached(&url, &error.to_string()))?;
            if !answer.status().is_success() {
                return Err(not_reached(
                    &url,
                    &format!("it answered {}", answer.status()),
                ));
            }
            let tell = self.tell.clone();
            std::thread::spawn(move || listen_to_events(answer.into_body(), &tell));
        }
        if let Some(path) = &self.websocket {
            let url = format!("{}{path}", self.base.replacen("http", "ws", 1));
            let (socket, _) = tungstenite::connect(&url)
                .map_err(|error| not_reached(&url, &error.to_string()))?;
            let tell = self.tell.clone();
            std::thread::spawn(move || listen_to_socket(socket, &tell));
        }
        let (orders, received) = channel::<Order>();
        let (agent, base, tell) = (self.agent.clone(), self.base.clone(), self.tell.clone());
        std::thread::spawn(move || {
            for (number, to, request) in received {
                let happened = send(&agent, &base, number, to, &request);
                if tell.send((Instant::now(), happened)).is_err() {
                    return;
                }
            }
        });
        self.orders = Some(orders);
        Ok(())
    }

    fn order(&mut self, to: Option<LabelId>, request: Request) -> u64 {
        self.number += 1;
        self.open += 1;
        self.sent = request.bytes();
        if let Some(orders) = &self.orders {
            let _ = orders.send((self.number, to, request));
        }
        self.number
    }

    /// Waits for the answer to request `number`; everything else is discarded.
    fn await_answer(
        &mut self,
        number: u64,
        stop: &dyn Fn() -> bool,
    ) -> Result<(u16, String), Trouble> {
        let deadline = Instant::now() + self.patience;
        while !stop() && Instant::now() < deadline {
            match self.happened.recv_timeout(SLICE) {
                Ok((
                    _,
                    Happened::Answer {
                        number: own,
                        status,
                        body,
                        ..
                    },
                )) => {
                    self.open -= 1;
                    if own == number {
                        return Ok((status, body));
                    }
                }
                Ok((_, Happened::Trouble { message, ended })) => {
                    return Err(self.broken(message, ended));
                }
                Ok(_) | Err(_) => {}
            }
        }
        Err(Trouble::new(format!(
            "{} did not answer the reset within {:?}",
            self.base, self.patience
        )))
    }

    fn broken(&mut self, message: String, ended: bool) -> Trouble {
        // The threads end with their channels; the next reset starts others.
        self.orders = None;
        self.open = 0;
        (self.tell, self.happened) = channel();
        Trouble::new(message)
            .hint("the system must be listening there as long as the test goes on")
            .ended(ended)
    }

    /// `Ok(None)`: it was no observation.
    fn take_in(&mut self, (when, happened): Stamped) -> Result<Option<Arrived>, Trouble> {
        let (what, raw) = match happened {
            Happened::Trouble { message, ended } => return Err(self.broken(message, ended)),
            Happened::Answer {
                to, status, body, ..
            } => {
                self.open -= 1;
                let Some(what) = to.and_then(|to| self.mapped.answer(to, status, &body)) else {
                    return Ok(None);
                };
                (what, format!("{status}\n{body}"))
            }
            Happened::Event { name, data } => (self.mapped.event(&name, &data), data),
            Happened::Message(text) => (self.mapped.message(&text), text),
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

fn not_reached(url: &str, why: &str) -> Trouble {
    Trouble::new(format!("no connection to {url}: {why}"))
        .hint("the system must be listening there before the test begins")
}

fn send(
    agent: &ureq::Agent,
    base: &str,
    number: u64,
    to: Option<LabelId>,
    request: &Request,
) -> Happened {
    let url = format!("{base}{}", request.path);
    let mut builder = ureq::http::Request::builder()
        .method(request.method.as_str())
        .uri(&url);
    for (name, value) in &request.headers {
        builder = builder.header(name, value);
    }
    if request.body.is_some() {
        builder = builder.header("Content-Type", "application/json");
    }
    let failed = |error: &ureq::Error| {
        use ureq::Error::{ConnectionFailed, Io, Protocol};
        Happened::Trouble {
            message: format!("{} {url} failed: {error}", request.method),
            ended: matches!(error, Io(_) | Protocol(_) | ConnectionFailed),
        }
    };
    let built = match builder.body(request.body.clone().unwrap_or_default()) {
        Ok(built) => built,
        Err(error) => return failed(&error.into()),
    };
    match agent.run(built) {
        Err(error) => failed(&error),
        Ok(mut answer) => {
            let status = answer.status().as_u16();
            let body = answer
                .body_mut()
                .with_config()
                .limit(MAX_ANSWER)
                .read_to_vec();
            match body {
                Err(error) => failed(&error),
                Ok(body) => Happened::Answer {
                    number,
                    to,
                    status,
                    body: String::from_utf8_lossy(&body).into_owned(),
                },
            }
        }
    }
}

/// Tells of server-sent events until there are no more.
fn listen_to_events(body: ureq::Body, tell: &Sender<Stamped>) {
    let mut reader = body.into_reader();
    let mut lines = EventLines::default();
    let mut bytes = vec![0; 16 << 10];
    while let Ok(count @ 1..) = reader.read(&mut bytes) {
        for (name, data) in lines.feed(&bytes[..count]) {
            let event = Happened::Event { name, data };
            if tell.send((Instant::now(), event)).is_err() {
                return;
            }
        }
    }
    let trouble = Happened::Trouble {
        message: "the stream of events ended".to_owned(),
        ended: true,
    };
    let _ = tell.send((Instant::now(), trouble));
}

type ClientSocket =
    tungstenite::WebSocket<tungstenite::stream::MaybeTlsStream<std::net::TcpStream>>;

fn listen_to_socket(mut socket: ClientSocket, tell: &Sender<Stamped>) {
    loop {
        let happened = match socket.read() {
            Ok(tungstenite::Message::Text(text)) => Happened::Message(text.to_string()),
            Ok(_) => continue,
            Err(error) => Happened::Trouble {
                message: format!("the web socket broke off: {error}"),
                ended: true,
            },
        };
        let is_over = matches!(happened, Happened::Trouble { .. });
        if tell.send((Instant::now(), happened)).is_err() || is_over {
            return;
        }
    }
}

impl Connection for Http {
    fn now(&self) -> u64 {
        nanoseconds(self.epoch.elapsed())
    }

    fn reset(&mut self) -> Result<(), Trouble> {
        self.reset_heeding(&|| false)
    }

    fn reset_heeding(&mut self, stop: &dyn Fn() -> bool) -> Result<(), Trouble> {
        self.start()?;
        if let Some(request) = self.mapped.reset.clone() {
            let shown = format!("{} {}", request.method, request.path);
            let number = self.order(None, request);
            let (status, _) = self.await_answer(number, stop)?;
            if !(200..300).contains(&status) {
                return Err(Trouble::new(format!(
                    "the reset {shown} was answered {status}"
                )));
            }
        }
        while let Ok((_, happened)) = self.happened.try_recv() {
            match happened {
                Happened::Answer { .. } => self.open -= 1,
                Happened::Trouble { message, ended } => return Err(self.broken(message, ended)),
                _ => {}
            }
        }
        self.sent.clear();
        Ok(())
    }

    fn give(&mut self, stimulus: &Action) -> Result<bool, Trouble> {
        let Some(request) = self.mapped.request(stimulus) else {
            return Err(Trouble::new("a stimulus is no request"));
        };
        let may_be_overtaken = !self.is_silent();
        self.order(Some(stimulus.label), request);
        Ok(may_be_overtaken)
    }

    fn poll(&mut self) -> Result<Option<Arrived>, Trouble> {
        loop {
            match self.happened.try_recv() {
                Ok(stamped) => {
                    if let Some(arrived) = self.take_in(stamped)? {
                        return Ok(Some(arrived));
                    }
                }
                Err(TryRecvError::Empty | TryRecvError::Disconnected) => return Ok(None),
            }
        }
    }

    fn wait(&mut self, until: u64) -> Result<Arrived, Trouble> {
        let deadline = self.epoch + Duration::from_nanos(until);
        let what = loop {
            if let Some(arrived) = self.poll()? {
                return Ok(arrived);
            }
            if self.is_silent() {
                break Arrival::Quiescent;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match self.happened.recv_timeout(left) {
                Ok(stamped) => {
                    if let Some(arrived) = self.take_in(stamped)? {
                        return Ok(arrived);
                    }
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    break Arrival::Silence;
                }
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
    fn catch_up(&mut self) -> Result<(), Trouble> {
        if !self.is_silent() {
            std::thread::sleep(CATCHING_UP);
        }
        Ok(())
    }
}

//! Systems that speak messages of their own, text or binary, over TCP or over the standard input and output
//! of a program: described by configuration alone.
//!
//! [`Mapping`] says how each label looks as a message, and where a message ends. Every channel is a client
//! with a connection of its own, unless channels share one. A system without a word for a reset is reset
//! by connecting to it anew.

mod ambiguous;
mod format;
mod frame;
mod labels;
mod recogniser;
mod responder;
mod splitter;
mod template;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ioco_sts::{Action, Direction, Sts};

use crate::connection::{AdapterError, Arrival, Arrived, Connection, LogLine};
use crate::endpoint::Endpoint;
use crate::process::ProcessOptions;
use crate::session::nanoseconds;
use crate::stream::{Message, Stream, StreamError, wait_any};
use crate::supervise::{Until, size, within};

use format::show;
pub use format::{FORMATS, Format, Integer};
pub use frame::{Continued, Framing};
pub(crate) use frame::{Cut, Progress};
use labels::SendPart;
pub(crate) use labels::Templates;
pub use labels::{Mapping, MappingError, Pattern, Shape, SocketAction};
pub(crate) use recogniser::{Acceptance, Heard, Recogniser};
pub(crate) use responder::TextResponder;
pub(crate) use splitter::MessageSplitter;

/// Messages of one socket that are taken in at once: the rest of a flood stays where it is.
const AT_ONCE: usize = 64;

/// Where the system is.
#[derive(Clone, Debug)]
pub enum Sockets {
    /// All channels at `host:port`, over one socket.
    Shared(String),
    /// The system connects to us.
    Listening(String),
    /// `host:port` of each channel, or the name of another channel whose socket it shares.
    PerChannel(BTreeMap<String, String>),
    /// A program that we start; its standard input and output.
    Process(Box<ProcessOptions>),
}

/// One connection to the system.
struct Client {
    endpoint: Endpoint,
    channels: Vec<String>,
    stream: Option<Stream>,
    /// The model sees the end of this connection as a response.
    closed: Option<Action>,
    /// A stimulus connects it.
    is_connected_later: bool,
}

impl Client {
    fn serves(&self, channel: &str) -> bool {
        self.channels.iter().any(|own| own == channel)
    }
}

/// A connection to a system that speaks messages of its own.
pub struct TextLines {
    templates: Templates,
    mapping: Mapping,
    clients: Vec<Client>,
    patience: Duration,
    epoch: Instant,
    arrived: VecDeque<Arrived>,
    sent: Vec<u8>,
    /// Of connections that have ended.
    log: Vec<LogLine>,
}

impl TextLines {
    /// What is wrong with the mapping is said at once, in words for a person.
    pub fn new(
        sts: Arc<Sts>,
        mapping: &Mapping,
        sockets: &Sockets,
        patience: Duration,
    ) -> Result<TextLines, AdapterError> {
        let mut clients = clients(&sts, sockets)?;
        let templates = Templates::new(sts, mapping)?;
        for client in &mut clients {
            let channels = client.channels.clone();
            let serves = |channel: &str| channels.iter().any(|own| own == channel);
            client.closed = templates.closed(&serves);
            client.is_connected_later = templates.connects(&serves);
        }
        Ok(TextLines {
            templates,
            mapping: mapping.clone(),
            clients,
            patience,
            epoch: Instant::now(),
            arrived: VecDeque::new(),
            sent: Vec::new(),
            log: Vec::new(),
        })
    }

    /// Where we listen, if we do.
    pub fn listening(&self) -> Option<&str> {
        self.clients
            .iter()
            .find_map(|client| match &client.endpoint {
                Endpoint::Answer(_, address) => Some(address.as_str()),
                Endpoint::Call(_) | Endpoint::Start(_) => None,
            })
    }

    /// Whether the system is a program that we start.
    pub fn is_program(&self) -> bool {
        let mut clients = self.clients.iter();
        clients.any(|client| matches!(client.endpoint, Endpoint::Start(_)))
    }

    /// Ends all connections; the next reset makes new ones.
    pub fn stop(&mut self) {
        self.hang_up_all();
    }

    /// The next message of a client.
    fn next(&mut self, index: usize) -> Result<Option<Message>, StreamError> {
        let Some(stream) = &mut self.clients[index].stream else {
            return Ok(None);
        };
        let framing = &self.mapping.framing;
        if framing.is_lines() {
            // The end of a line is shown no more than the newline is.
            let line = stream.whole_line()?;
            return Ok(line.map(|raw| {
                let line = raw.strip_suffix(b"\r").unwrap_or(raw);
                Message {
                    content: line.to_vec(),
                    raw: line.to_vec(),
                }
            }));
        }
        let message = stream.message(framing, size(self.templates.budget().message))?;
        Ok(message.map(|Message { content, raw }| Message {
            content,
            raw: framing.without_end(&raw).to_vec(),
        }))
    }

    /// Takes in messages that are here, not more than [`AT_ONCE`] of each client. An empty line is a message
    /// like any other.
    fn take_in(&mut self) -> Result<(), AdapterError> {
        for index in 0..self.clients.len() {
            for _ in 0..AT_ONCE {
                let Message { content, raw } = match self.next(index) {
                    Ok(Some(message)) => message,
                    Ok(None) => break,
                    Err(StreamError::Ended) if self.clients[index].closed.is_some() => {
                        self.note_closed(index);
                        break;
                    }
                    // What came before the end is judged first.
                    Err(_) if !self.arrived.is_empty() => return Ok(()),
                    Err(broken) => return Err(self.explain(index, broken)),
                };
                let client = &self.clients[index];
                let serves = |channel: &str| client.serves(channel);
                let read = self.templates.read(Direction::Response, &content, &serves);
                let what = match read {
                    Ok(action) => Arrival::Response(action),
                    Err(text) => Arrival::Unknown(text),
                };
                self.arrive(what, raw);
            }
        }
        Ok(())
    }

    fn arrive(&mut self, what: Arrival, raw: Vec<u8>) {
        let at = nanoseconds(self.epoch.elapsed());
        self.arrived.push_back(Arrived { what, at, raw });
    }

    /// The system closed a connection, and the model has a response for that. Half of a message before it
    /// is no message that the model knows.
    fn note_closed(&mut self, index: usize) {
        let Some(stream) = self.clients[index].stream.take() else {
            return;
        };
        let unfinished = stream.unfinished().to_vec();
        self.hang_up(stream);
        if !unfinished.is_empty() {
            let text = format!("{} without an end", show(&unfinished));
            self.arrive(Arrival::Unknown(text), unfinished);
        }
        if let Some(closed) = self.clients[index].closed.clone() {
            self.arrive(Arrival::Response(closed), Vec::new());
        }
    }

    /// Keeps what a program said on standard error.
    fn hang_up(&mut self, mut stream: Stream) {
        self.log.extend(stream.take_log(self.epoch));
    }

    fn hang_up_all(&mut self) {
        for index in 0..self.clients.len() {
            if let Some(stream) = self.clients[index].stream.take() {
                self.hang_up(stream);
            }
        }
    }

    fn explain(&mut self, index: usize, broken: StreamError) -> AdapterError {
        let client = &mut self.clients[index];
        let words = client.stream.as_mut().map(Stream::last_words);
        let status = client.stream.as_mut().and_then(Stream::exit_status);
        let unfinished = client.stream.as_ref().map(Stream::unfinished);
        let unfinished = unfinished.filter(|bytes| !bytes.is_empty()).map(show);
        self.hang_up_all();
        let address = self.clients[index].endpoint.address();
        let ended = matches!(broken, StreamError::Ended | StreamError::Io(_));
        let mut message = match broken {
            StreamError::Ended => match status {
                Some(status) => format!("the system ended: {status}"),
                None => format!("{address} closed the connection"),
            },
            StreamError::TimedOut => format!("{address} did not answer within {:?}", self.patience),
            StreamError::TooLong(line) => format!("{address} sent {line}"),
            StreamError::Wrong(why) => format!("{address} sent {why}"),
            StreamError::Io(error) => format!("the connection to {address} failed: {error}"),
        };
        if let Some(unfinished) = unfinished.filter(|_| ended) {
            message = format!("{message} after {unfinished}, a message without an end");
        }
        if let Some(words) = words.filter(|words| !words.is_empty()) {
            let words = words.join("\n  ");
            message = format!("{message}; its last lines on standard error:\n  {words}");
        }
        AdapterError::new(message)
            .hint("its own log may say why; the next test connects to it again")
            .ended(ended)
    }

    fn connect(&mut self, index: usize, until: &Until<'_>) -> Result<(), AdapterError> {
        if let Some(old) = self.clients[index].stream.take() {
            self.hang_up(old);
        }
        let stream = self.clients[index]
            .endpoint
            .connect(self.templates.budget(), until)?;
        self.clients[index].stream = Some(stream);
        match self.mapping.banner.clone() {
            Some(banner) => self.await_message(&[index], &banner, "banner", until),
            None => Ok(()),
        }
    }

    /// Discards messages until one of these clients got the one that is waited for.
    fn await_message(
        &mut self,
        among: &[usize],
        wanted: &Pattern,
        setting: &str,
        until: &Until<'_>,
    ) -> Result<(), AdapterError> {
        loop {
            for &index in among {
                // A system that floods always has a message; the time is up all the same.
                while !until.is_over() {
                    match self.next(index) {
                        Ok(Some(message)) if wanted.fits(&message.content) => return Ok(()),
                        Ok(Some(_)) => {}
                        Ok(None) => break,
                        Err(broken) => return Err(self.explain(index, broken)),
                    }
                }
            }
            if until.is_over() {
                return Err(AdapterError::new(format!(
                    "the system did not say {} within {:?}",
                    wanted.show(),
                    self.patience
                ))
                .hint(format!("{setting} in [lines] of ioco.toml is what it says")));
            }
            self.await_any(until.slice())?;
        }
    }

    /// Whether something is there before the deadline.
    fn await_any(&mut self, deadline: Instant) -> Result<bool, AdapterError> {
        let mut streams: Vec<&mut Stream> = self
            .clients
            .iter_mut()
            .filter_map(|client| client.stream.as_mut())
            .collect();
        let waited = wait_any(&mut streams, deadline);
        waited.map_err(|broken| self.explain(0, broken))
    }

    fn act(
        &mut self,
        index: usize,
        action: SocketAction,
        until: &Until<'_>,
    ) -> Result<(), AdapterError> {
        match action {
            SocketAction::Connect => self.connect(index, until),
            SocketAction::Shutdown => match &self.clients[index].stream {
                Some(stream) => stream.shutdown().map_err(|error| {
                    AdapterError::new(format!("the connection cannot be shut down: {error}"))
                }),
                None => Ok(()),
            },
            SocketAction::Close | SocketAction::Abort => {
                if let Some(stream) = self.clients[index].stream.take() {
                    if action == SocketAction::Abort {
                        stream.abort_at_end();
                    }
                    self.hang_up(stream);
                }
                Ok(())
            }
        }
    }
}

fn clients(sts: &Sts, sockets: &Sockets) -> Result<Vec<Client>, AdapterError> {
    let mut channels: Vec<String> = Vec::new();
    for label in sts.labels() {
        if label.direction != Direction::Internal && !channels.contains(&label.channel) {
            channels.push(label.channel.clone());
        }
    }
    let client = |endpoint, channels| Client {
        endpoint,
        channels,
        stream: None,
        closed: None,
        is_connected_later: false,
    };
    match sockets {
        Sockets::Shared(address) => Ok(vec![client(Endpoint::Call(address.clone()), channels)]),
        Sockets::Listening(address) => Ok(vec![client(Endpoint::answer(address)?, channels)]),
        Sockets::Process(options) => Ok(vec![client(Endpoint::Start(options.clone()), channels)]),
        Sockets::PerChannel(addresses) => {
            let mut clients: Vec<Client> = Vec::new();
            for channel in channels {
                let address = addresses.get(&channel).ok_or_else(|| {
                    AdapterError::new(format!("there is no address for channel '{channel}'"))
                        .hint("[lines.channels] of ioco.toml names one for each")
                })?;
                // The name of a channel in place of an address: its socket.
                let (owner, address) = match addresses.get(address) {
                    Some(shared) => (address, shared),
                    None => (&channel, address),
                };
                let known = clients.iter_mut().find(|client| client.serves(owner));
                match known {
                    Some(known) => known.channels.push(channel),
                    None => {
                        let mut served = vec![owner.clone()];
                        if *owner != channel {
                            served.push(channel);
                        }
                        clients.push(client(Endpoint::Call(address.clone()), served));
                    }
                }
            }
            Ok(clients)
        }
    }
}

impl Connection for TextLines {
    fn now(&self) -> u64 {
        nanoseconds(self.epoch.elapsed())
    }

    fn reset_until(&mut self, stop: &dyn Fn() -> bool) -> Result<(), AdapterError> {
        self.sent.clear();
        self.arrived.clear();
        let until = within(self.patience, stop);
        if self.mapping.reset.is_none() {
            self.hang_up_all();
        }
        self.take_log();
        for index in 0..self.clients.len() {
            let client = &mut self.clients[index];
            if client.is_connected_later {
                client.stream = None;
            } else if client.stream.is_none() {
                self.connect(index, &until)?;
            }
        }
        let connected = |client: &Client| client.stream.is_some();
        if let Some(reset) = self.mapping.reset.clone()
            && let Some(index) = self.clients.iter().position(connected)
        {
            // As in a template.
            let reset = match self.mapping.framing.newline() {
                b"\r\n" => reset.replace("\r\n", "\n").replace('\n', "\r\n"),
                _ => reset,
            };
            let bytes = self.mapping.framing.wrap(reset.into_bytes());
            let bytes = bytes.map_err(AdapterError::new)?;
            if let Some(stream) = &mut self.clients[index].stream {
                let written = stream.write(&bytes, &until);
                written.map_err(|broken| self.explain(index, broken))?;
            }
        }
        if let Some(ready) = self.mapping.ready.clone() {
            // A server with several sockets answers on one of them.
            let all: Vec<usize> = (0..self.clients.len()).collect();
            self.await_message(&all, &ready, "ready", &until)?;
        }
        self.arrived.clear();
        Ok(())
    }

    fn give_until(
        &mut self,
        stimulus: &Action,
        stop: &dyn Fn() -> bool,
    ) -> Result<bool, AdapterError> {
        let label = self.templates.label(stimulus.label);
        let (name, channel) = (label.marked_name(), label.channel.clone());
        let owner = self.clients.iter().position(|c| c.serves(&channel));
        let index = owner.unwrap_or(0);
        let until = within(self.patience, stop);
        self.sent.clear();
        let unwritable = |why: String| AdapterError::new(format!("{name} cannot be sent: {why}"));
        for part in self.templates.write(stimulus).map_err(unwritable)? {
            let content = match part {
                SendPart::Message(content) => content,
                SendPart::Action(action) => {
                    self.act(index, action, &until)?;
                    continue;
                }
            };
            let bytes = self.mapping.framing.wrap(content).map_err(unwritable)?;
            let Some(stream) = self.clients[index].stream.as_mut() else {
                return Err(AdapterError::new(format!(
                    "{name} cannot be sent: channel '{channel}' is not connected"
                ))
                .hint(
                    "the model must not give it then; a stimulus with action = \"connect\" in \
                     [lines.stimuli] connects",
                ));
            };
            let written = stream.write(&bytes, &until);
            self.sent.extend(bytes);
            match written {
                // It was on its way when the system closed, which is the next thing to be seen.
                Err(StreamError::Ended) if self.clients[index].closed.is_some() => break,
                written => written.map_err(|broken| self.explain(index, broken))?,
            }
        }
        // Nobody knows when the system reads what it was sent.
        Ok(true)
    }

    fn poll(&mut self) -> Result<Option<Arrived>, AdapterError> {
        if self.arrived.is_empty() {
            self.take_in()?;
        }
        Ok(self.arrived.pop_front())
    }

    fn wait(&mut self, until: u64) -> Result<Arrived, AdapterError> {
        let deadline = self.epoch + Duration::from_nanos(until);
        loop {
            if let Some(arrived) = self.poll()? {
                return Ok(arrived);
            }
            let time_is_up = Instant::now() >= deadline;
            // A message that goes on and on always has more to read.
            if !self.await_any(deadline)? || time_is_up {
                return Ok(Arrived {
                    what: Arrival::Silence,
                    at: self.now(),
                    raw: Vec::new(),
                });
            }
        }
    }

    fn sent(&self) -> &[u8] {
        &self.sent
    }

    /// A new connection has nothing of the one before.
    fn resets_all(&self) -> bool {
        self.mapping.reset.is_none()
    }

    fn take_log(&mut self) -> Vec<LogLine> {
        let mut log = std::mem::take(&mut self.log);
        for client in &mut self.clients {
            if let Some(stream) = &mut client.stream {
                log.extend(stream.take_log(self.epoch));
            }
        }
        log
    }
}

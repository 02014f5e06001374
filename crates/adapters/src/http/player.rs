//! A model played as a service over HTTP, by the same mapping that tests use: a request is a stimulus, and the
//! responses are its answer, server-sent events and messages of the web socket.
//!
//! All connections reach one system, as with a service. A request that the model leaves without an answer gets a code
//! that means silence for it, or waits: HTTP has no other way to say nothing.

use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ioco_sts::{Action, LabelId, Sts};
use tungstenite::handshake::derive_accept_key;
use tungstenite::protocol::Role;
use tungstenite::{Message, WebSocket};

use super::mapping::{HttpMapping, Mapped, ServiceMessage};
use super::reverse::RequestMeaning;
use super::wire::{Head, MessagePart, Messages, StartLine};
use crate::connection::AdapterError;
use crate::player::MAX_IN_A_ROW;
use crate::stage::{FaultRate, Stage};

/// A model as a service that others send requests to.
pub struct HttpPlayer {
    listener: TcpListener,
    service: Arc<Service>,
}

struct Service {
    mapped: Mapped,
    events: Option<String>,
    websocket: Option<String>,
    /// Bytes that the body of a request may have.
    most: usize,
    shared: Mutex<Shared>,
    note: Box<dyn Fn(String) + Send + Sync>,
}

struct Shared {
    stage: Stage,
    /// Who hears events.
    events: Vec<TcpStream>,
    sockets: Vec<WebSocket<TcpStream>>,
}

/// What becomes of a request.
enum Reaction {
    Answer {
        status: u16,
        body: Vec<u8>,
    },
    /// Nothing is said.
    Silence,
    /// The system has ended.
    End,
}

impl HttpPlayer {
    /// Clients can connect from now on. `note` gets what they sent that ioco does not understand, and what the model says
    /// and HTTP cannot.
    pub fn listen(
        listener: TcpListener,
        sts: &Arc<Sts>,
        mapping: &HttpMapping,
        seed: u64,
        faults: &[FaultRate],
        note: Box<dyn Fn(String) + Send + Sync>,
    ) -> Result<HttpPlayer, AdapterError> {
        let mapped = Mapped::new(Arc::clone(sts), mapping).map_err(|message| {
            AdapterError::new(message).hint("[http] of ioco.toml says which requests labels are")
        })?;
        mapped.can_play().map_err(|message| {
            AdapterError::new(message).hint("describe it in [http.responses] of ioco.toml")
        })?;
        let mut stage = Stage::new(Arc::clone(sts), seed, faults);
        stage.reset();
        let most = usize::try_from(sts.budget().message).unwrap_or(usize::MAX);
        Ok(HttpPlayer {
            listener,
            service: Arc::new(Service {
                mapped,
                events: mapping.events.clone(),
                websocket: mapping.websocket.clone(),
                most,
                shared: Mutex::new(Shared {
                    stage,
                    events: Vec::new(),
                    sockets: Vec::new(),
                }),
                note,
            }),
        })
    }

    /// Serves clients side by side. It returns when the played system has ended, or after so many connections.
    pub fn run(&self, connections: Option<u64>) -> io::Result<()> {
        let ended = Arc::new(Mutex::new(false));
        let mut threads = Vec::new();
        let address = self.listener.local_addr()?;
        let mut served = 0;
        while connections.is_none_or(|most| served < most) {
            let (client, _) = self.listener.accept()?;
            if *locked(&ended) {
                return Ok(());
            }
            served += 1;
            let (service, ended) = (Arc::clone(&self.service), Arc::clone(&ended));
            threads.push(std::thread::spawn(move || {
                if service.serve(client) {
                    *locked(&ended) = true;
                    // The thread that accepts clients notices it.
                    let _ = TcpStream::connect(address);
                }
            }));
            threads.retain(|thread| !thread.is_finished());
        }
        for thread in threads {
            let _ = thread.join();
        }
        Ok(())
    }

    /// [`crate::PlayedFault::End`] has struck.
    pub fn has_ended(&self) -> bool {
        locked(&self.service.shared).stage.has_ended()
    }
}

impl Service {
    /// One connection, to its end. True: the played system has ended.
    fn serve(&self, mut client: TcpStream) -> bool {
        let _ = client.set_nodelay(true);
        let mut messages = Messages::requests();
        let (mut head, mut body) = (None::<Head>, Vec::new());
        let mut bytes = vec![0; 16 << 10];
        loop {
            let count = match client.read(&mut bytes) {
                Ok(0) => return false,
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => return false,
            };
            let parts = match messages.feed(&bytes[..count], &|| false) {
                Ok(parts) => parts,
                Err(why) => {
                    (self.note)(why);
                    return false;
                }
            };
            for part in parts {
                match part {
                    MessagePart::Head(new) => {
                        if new.header("expect").is_some() {
                            let _ = client.write_all(b"HTTP/1.1 100 Continue\r\n\r\n");
                        }
                        body.clear();
                        head = Some(new);
                    }
                    MessagePart::Data(data) => body.extend(data),
                    MessagePart::End => {
                        let Some(head) = head.take() else { continue };
                        match self.request(&head, &body, &mut client) {
                            Ok(Some(Reaction::End)) => return true,
                            Ok(Some(reaction)) => {
                                if answer(&mut client, &reaction).is_err() {
                                    return false;
                                }
                            }
                            // The connection belongs to those that hear events.
                            Ok(None) | Err(_) => return false,
                        }
                    }
                    MessagePart::Upgraded(_) => return false,
                }
                if body.len() > self.most {
                    (self.note)(format!("a request of more than {} bytes", self.most));
                    return false;
                }
            }
        }
    }

    /// `None`: the connection is given away.
    fn request(
        &self,
        head: &Head,
        body: &[u8],
        client: &mut TcpStream,
    ) -> io::Result<Option<Reaction>> {
        let StartLine::Request { method, target } = &head.first else {
            return Ok(None);
        };
        let mut shared = locked(&self.shared);
        if method == "GET" && self.websocket.as_ref() == Some(target) {
            let key = head.header("sec-websocket-key").unwrap_or_default();
            let accept = derive_accept_key(key.as_bytes());
            let head = format!(
                "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\n\
                 sec-websocket-accept: {accept}\r\n\r\n"
            );
            client.write_all(head.as_bytes())?;
            let socket = WebSocket::from_raw_socket(client.try_clone()?, Role::Server, None);
            shared.sockets.push(socket);
            return Ok(None);
        }
        if method == "GET" && self.events.as_ref() == Some(target) {
            let head =
                "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
            client.write_all(head.as_bytes())?;
            shared.events.push(client.try_clone()?);
            return Ok(None);
        }
        let text = String::from_utf8_lossy(body);
        let mut takes = |stimulus: &Action| shared.stage.takes(stimulus);
        let mut reaction = match self.mapped.asked(method, target, &text, &mut takes) {
            RequestMeaning::Stimulus(action) => {
                shared.stage.give(&action);
                if shared.stage.has_ended() {
                    shared.hang_up();
                    return Ok(Some(Reaction::End));
                }
                let answered = self.respond(&mut shared, Some(&action))?;
                let silent = self.mapped.silent_code(action.label);
                match (answered, silent) {
                    (Some(answer), _) => answer,
                    (None, Some(status)) => empty(status),
                    (None, None) => Reaction::Silence,
                }
            }
            RequestMeaning::Reset => {
                shared.stage.reset();
                self.respond(&mut shared, None)?;
                empty(200)
            }
            RequestMeaning::Nothing => empty(404),
            RequestMeaning::Other(what) => {
                (self.note)(what);
                empty(404)
            }
        };
        // An answer to HEAD has a head alone.
        if let (Reaction::Answer { body, .. }, "HEAD") = (&mut reaction, method.as_str()) {
            body.clear();
        }
        Ok(Some(reaction))
    }

    /// Sends what the system says now, up to its silence, and gives what answers the request.
    fn respond(&self, shared: &mut Shared, to: Option<&Action>) -> io::Result<Option<Reaction>> {
        let to = to.map(|action| action.label);
        let mut answer = None;
        for _ in 0..MAX_IN_A_ROW {
            let Some(said) = shared.stage.next().map_err(io::Error::other)? else {
                break;
            };
            for response in &said {
                match self.mapped.play(response, to) {
                    Some(ServiceMessage::Answer { status, body }) if answer.is_none() => {
                        answer = Some(Reaction::Answer { status, body });
                    }
                    Some(ServiceMessage::Event { name, data }) => shared.event(&name, &data),
                    Some(ServiceMessage::Message(text)) => shared.message(&text),
                    Some(ServiceMessage::Answer { .. }) | None => self.cannot_say(response.label),
                }
            }
        }
        Ok(answer)
    }

    fn cannot_say(&self, label: LabelId) {
        let name = self.mapped.sts.label(label).marked_name();
        (self.note)(format!("{name}, which no request waits for"));
    }
}

impl Shared {
    fn event(&mut self, name: &str, data: &str) {
        let text = format!("event: {name}\ndata: {data}\n\n");
        self.events
            .retain_mut(|client| client.write_all(text.as_bytes()).is_ok());
    }

    fn message(&mut self, text: &str) {
        self.sockets
            .retain_mut(|socket| socket.send(Message::text(text)).is_ok());
    }

    fn hang_up(&mut self) {
        for client in &self.events {
            let _ = client.shutdown(Shutdown::Both);
        }
        for socket in &self.sockets {
            let _ = socket.get_ref().shutdown(Shutdown::Both);
        }
    }
}

fn empty(status: u16) -> Reaction {
    Reaction::Answer {
        status,
        body: Vec::new(),
    }
}

fn answer(client: &mut TcpStream, reaction: &Reaction) -> io::Result<()> {
    let Reaction::Answer { status, body } = reaction else {
        return Ok(());
    };
    let mut bytes = format!("HTTP/1.1 {status} -\r\n").into_bytes();
    // These have no body, and no length either (RFC 9110, section 8.6).
    if !matches!(status, 100..=199 | 204 | 304) {
        let length = body.len();
        bytes.extend(
            format!("content-type: application/json\r\ncontent-length: {length}\r\n").into_bytes(),
        );
        bytes.extend(b"\r\n");
        bytes.extend(body);
    } else {
        bytes.extend(b"\r\n");
    }
    client.write_all(&bytes)
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

//! Honest systems, one for each protocol. Each sends through an [`Injector`].

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use prost::Message as _;

use crate::fault::{Bad, Injector, Role};

/// The sockets of a system that runs in this process; they end with it.
#[derive(Clone, Default)]
struct Open {
    sockets: Arc<Mutex<Vec<TcpStream>>>,
    is_over: Arc<AtomicBool>,
}

impl Open {
    fn add(&self, socket: &TcpStream) {
        if let Ok(socket) = socket.try_clone() {
            let mut sockets = self.sockets.lock().unwrap_or_else(PoisonError::into_inner);
            sockets.push(socket);
        }
    }
}

/// A system that listens. Dropping it closes everything.
pub struct Listening {
    pub address: String,
    open: Open,
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.open.is_over.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(&self.address);
        let sockets = self.open.sockets.lock();
        for socket in sockets.unwrap_or_else(PoisonError::into_inner).iter() {
            let _ = socket.shutdown(Shutdown::Both);
        }
    }
}

/// Listens; every connection is served by `serve` in a thread of its own.
pub fn listen(
    serve: impl Fn(TcpStream) -> io::Result<()> + Send + Sync + 'static,
) -> io::Result<Listening> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?.to_string();
    let open = Open::default();
    let (own, serve) = (open.clone(), Arc::new(serve));
    std::thread::spawn(move || {
        for socket in listener.incoming().flatten() {
            if own.is_over.load(Ordering::SeqCst) {
                return;
            }
            own.add(&socket);
            let serve = Arc::clone(&serve);
            std::thread::spawn(move || {
                let _ = socket.set_nodelay(true);
                if let Ok(served) = socket.try_clone() {
                    let _ = serve(served);
                }
                let _ = socket.shutdown(Shutdown::Both);
            });
        }
    });
    Ok(Listening { address, open })
}

/// The answer to a ping as a line.
pub const PONG_LINE: &str = "{\"response\":\"pong\",\"values\":{}}\n";

/// One JSON object a line.
pub fn line(input: impl Read, out: &mut dyn Write, injector: &Injector) -> io::Result<()> {
    for text in BufReader::new(input).lines() {
        let (role, answer) = match text?.contains("\"reset\"") {
            true => (Role::Greeting, "{\"ready\":true}\n"),
            false => (Role::Response, PONG_LINE),
        };
        injector.send(role, answer.as_bytes(), out)?;
    }
    Ok(())
}

/// The same without a fault, and says when it is silent, so that nobody has to wait.
pub fn quick_line(input: impl Read, out: &mut dyn Write) -> io::Result<()> {
    for text in BufReader::new(input).lines() {
        let answer = match text?.contains("\"reset\"") {
            true => "{\"ready\":true,\"quiescent\":true}\n",
            false => "{\"response\":\"pong\",\"values\":{}}\n{\"quiescent\":true}\n",
        };
        write_all(out, answer.as_bytes())?;
    }
    Ok(())
}

fn write_all(out: &mut dyn Write, bytes: &[u8]) -> io::Result<()> {
    out.write_all(bytes).and_then(|()| out.flush())
}

/// Lines of its own.
pub fn text(socket: &TcpStream, injector: &Injector) -> io::Result<()> {
    for text in BufReader::new(socket).lines() {
        let (role, answer) = match text?.trim() {
            "RESET" => (Role::Greeting, "READY\n"),
            _ => (Role::Response, "PONG 1\n"),
        };
        injector.send(role, answer.as_bytes(), &mut &*socket)?;
    }
    Ok(())
}

/// Where a ping is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    Answer,
    Event,
    Message,
}

/// The answer to a ping over HTTP.
pub const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";

/// What the connections of an HTTP system share.
#[derive(Clone)]
pub struct Service {
    by: By,
    injector: Injector,
    /// Where events or messages go.
    stream: Arc<Mutex<Option<TcpStream>>>,
}

impl Service {
    pub fn new(by: By, injector: Injector) -> Service {
        Service {
            by,
            injector,
            stream: Arc::default(),
        }
    }

    pub fn serve(&self, socket: &TcpStream) -> io::Result<()> {
        let mut reader = BufReader::new(socket);
        let mut first = [0; 4];
        loop {
            let Some((path, key)) = request(&mut reader)? else {
                return Ok(());
            };
            match path.as_str() {
                "/events" => {
                    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
                    // First: a client that has read the head may ping at once.
                    self.keep(socket)?;
                    self.injector
                        .send(Role::Greeting, head.as_bytes(), &mut &*socket)?;
                    reader.read_exact(&mut first[..1])?;
                }
                "/socket" => {
                    let accept = tungstenite::handshake::derive_accept_key(key.as_bytes());
                    let head = format!(
                        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\
                         Connection: Upgrade\r\nSec-WebSocket-Accept: {accept}\r\n\r\n"
                    );
                    // First: a client that has read the head may ping at once.
                    self.keep(socket)?;
                    self.injector
                        .send(Role::Greeting, head.as_bytes(), &mut &*socket)?;
                    reader.read_exact(&mut first[..1])?;
                }
                "/ping" => {
                    match self.by {
                        By::Answer => self.injector.send(Role::Response, ANSWER, &mut &*socket)?,
                        By::Event => {
                            write(socket, ANSWER)?;
                            self.send(b"event: pong\ndata: {}\n\n")?;
                        }
                        By::Message => {
                            write(socket, ANSWER)?;
                            // A text frame.
                            self.send(b"\x81\x0f{\"pong\":\"pong\"}")?;
                        }
                    }
                }
                _ => match self.by {
                    By::Answer => self.injector.send(Role::Greeting, ANSWER, &mut &*socket)?,
                    By::Event | By::Message => write(socket, ANSWER)?,
                },
            }
        }
    }

    fn keep(&self, socket: &TcpStream) -> io::Result<()> {
        let mut stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        *stream = Some(socket.try_clone()?);
        Ok(())
    }

    fn send(&self, message: &[u8]) -> io::Result<()> {
        let stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        match stream.as_ref() {
            Some(mut socket) => {
                let sent = self.injector.send(Role::Response, message, &mut socket);
                if sent.is_err() {
                    let _ = socket.shutdown(Shutdown::Both);
                }
                Ok(())
            }
            None => Ok(()),
        }
    }
}

fn write(mut socket: &TcpStream, bytes: &[u8]) -> io::Result<()> {
    socket.write_all(bytes)
}

/// The path of the next request, and its key for a web socket; `None` at the end.
fn request(reader: &mut impl BufRead) -> io::Result<Option<(String, String)>> {
    let mut head = String::new();
    if reader.read_line(&mut head)? == 0 {
        return Ok(None);
    }
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    let (mut length, mut key) = (0, String::new());
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        if line.trim().is_empty() {
            break;
        }
        let (name, value) = line.split_once(':').unwrap_or((&line, ""));
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().unwrap_or(0),
            "sec-websocket-key" => key = value.trim().to_owned(),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(Some((path, key)))
}

/// The same over TLS. Every record is a message.
pub fn encrypted(
    socket: TcpStream,
    config: Arc<rustls::ServerConfig>,
    injector: &Injector,
) -> io::Result<()> {
    let bad = Bad {
        socket,
        injector: injector.clone(),
        role: Role::Greeting,
    };
    let server = rustls::ServerConnection::new(config).map_err(io::Error::other)?;
    let mut reader = BufReader::new(rustls::StreamOwned::new(server, bad));
    while let Some((path, _)) = request(&mut reader)? {
        let stream = reader.get_mut();
        // Tickets and what else belongs to the handshake go out before the answer.
        stream.flush()?;
        if path == "/ping" {
            stream.sock.role = Role::Response;
        }
        stream.write_all(ANSWER)?;
        stream.flush()?;
        stream.sock.role = Role::Greeting;
    }
    Ok(())
}

/// The part of the plugin-adapter protocol that an honest adapter needs.
mod amp {
    #[derive(Clone, PartialEq, prost::Message)]
    pub struct Message {
        #[prost(message, optional, tag = "2")]
        pub announcement: Option<Announcement>,
        #[prost(message, optional, tag = "3")]
        pub configuration: Option<Empty>,
        #[prost(message, optional, tag = "4")]
        pub label: Option<Label>,
        #[prost(message, optional, tag = "5")]
        pub reset: Option<Empty>,
        #[prost(message, optional, tag = "6")]
        pub ready: Option<Empty>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub struct Announcement {
        #[prost(string, tag = "1")]
        pub name: String,
        #[prost(message, repeated, tag = "3")]
        pub labels: Vec<Label>,
    }

    #[derive(Clone, Copy, PartialEq, prost::Message)]
    pub struct Empty {}

    #[derive(Clone, PartialEq, prost::Message)]
    pub struct Label {
        #[prost(int32, tag = "1")]
        pub direction: i32,
        #[prost(string, tag = "2")]
        pub label: String,
        #[prost(string, tag = "3")]
        pub channel: String,
        #[prost(uint64, tag = "7")]
        pub correlation_id: u64,
    }
}

/// An adapter that connects to `url` and stays until the connection ends; over TLS with these roots.
pub fn adapter(url: &str, tls: Option<Arc<rustls::ClientConfig>>, injector: &Injector) {
    let (_, rest) = url.split_once("://").unwrap_or_default();
    let address = rest.trim_end_matches("/adapters");
    let Ok(socket) = TcpStream::connect(address) else {
        return;
    };
    let _ = socket.set_nodelay(true);
    let _ = socket.set_read_timeout(Some(Duration::from_secs(30)));
    let bad = Bad {
        socket,
        injector: injector.clone(),
        role: Role::Greeting,
    };
    let Some(config) = tls else {
        if let Ok((socket, _)) = tungstenite::client(url, bad) {
            converse(socket, |bad, role| bad.role = role);
        }
        return;
    };
    let host = address.split(':').next().unwrap_or_default().to_owned();
    let client = rustls::pki_types::ServerName::try_from(host)
        .ok()
        .and_then(|name| rustls::ClientConnection::new(config, name).ok());
    let Some(client) = client else {
        return;
    };
    let stream = rustls::StreamOwned::new(client, bad);
    if let Ok((socket, _)) = tungstenite::client(url, stream) {
        converse(socket, |stream, role| stream.sock.role = role);
    }
}

/// Answers what ioco sends; `as_role` says what is sent next.
fn converse<S: Read + Write>(
    mut socket: tungstenite::WebSocket<S>,
    as_role: impl Fn(&mut S, Role),
) {
    let label = |name: &str, direction| amp::Label {
        direction,
        label: name.to_owned(),
        channel: "wire".to_owned(),
        correlation_id: 0,
    };
    let ready = || amp::Message {
        ready: Some(amp::Empty {}),
        ..amp::Message::default()
    };
    let answer = |label| amp::Message {
        label: Some(label),
        ..amp::Message::default()
    };
    let announcement = amp::Message {
        announcement: Some(amp::Announcement {
            name: "Bad".to_owned(),
            labels: vec![label("ping", 0), label("pong", 1)],
        }),
        ..amp::Message::default()
    };
    let mut replies = vec![(Role::Greeting, announcement)];
    loop {
        for (role, reply) in replies.drain(..) {
            as_role(socket.get_mut(), role);
            let frame = tungstenite::Message::binary(reply.encode_to_vec());
            if socket.send(frame).is_err() {
                return;
            }
            as_role(socket.get_mut(), Role::Greeting);
        }
        let Ok(tungstenite::Message::Binary(bytes)) = socket.read() else {
            return;
        };
        let Ok(message) = amp::Message::decode(bytes) else {
            return;
        };
        if message.configuration.is_some() || message.reset.is_some() {
            replies.push((Role::Greeting, ready()));
        }
        if let Some(stimulus) = message.label {
            replies.push((Role::Confirmation, answer(stimulus)));
            replies.push((Role::Response, answer(label("pong", 1))));
        }
    }
}

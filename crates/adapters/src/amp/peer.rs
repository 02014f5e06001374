//! One adapter that is connected: a thread owns its socket, carries out orders and tells what
//! happens.
//!
//! The thread waits in `poll(2)` on the socket and on a pair of sockets that wakes it for orders,
//! so that nothing blocks and nothing is polled in vain. It pings an adapter that is idle, and
//! takes one that is dead for too long for gone.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use prost::Message as _;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tungstenite::error::{CapacityError, ProtocolError};
use tungstenite::protocol::frame::coding::CloseCode;
use tungstenite::{Bytes, Error, Message, WebSocket};

use super::wire::{self, Body};
use crate::supervise::Sender;

/// How an adapter is known to be alive; [`super::HubOptions`] says it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Heartbeat {
    pub heartbeat: Duration,
    pub given_up_after: Duration,
}

/// How long the other side has to answer when we close.
const CLOSING: Duration = Duration::from_secs(2);

/// Messages that are read before orders are looked at again.
const AT_ONCE: usize = 100;

/// How long to wait before looking again whether a full queue has room.
const FULL: Duration = Duration::from_millis(5);

/// A socket, encrypted or not.
pub(crate) enum Socket {
    Plain(TcpStream),
    Encrypted(Box<rustls::StreamOwned<rustls::ServerConnection, TcpStream>>),
}

impl Socket {
    pub fn tcp(&self) -> &TcpStream {
        match self {
            Socket::Plain(tcp) => tcp,
            Socket::Encrypted(stream) => &stream.sock,
        }
    }
}

impl Read for Socket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Socket::Plain(tcp) => tcp.read(buffer),
            Socket::Encrypted(stream) => stream.read(buffer),
        }
    }
}

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Socket::Plain(tcp) => tcp.write(bytes),
            Socket::Encrypted(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Socket::Plain(tcp) => tcp.flush(),
            Socket::Encrypted(stream) => stream.flush(),
        }
    }
}

/// Why an adapter is not there any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Disconnected {
    /// It closed the connection in the proper way.
    Closed { code: u16, reason: String },
    /// The connection ended without a word.
    Vanished,
    /// Nothing was heard of it for so long.
    Silent(Duration),
    /// It sent what is not of the protocol.
    Fault(String),
}

impl std::fmt::Display for Disconnected {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Disconnected::Closed { code, reason } if reason.is_empty() => {
                write!(f, "closed the connection (code {code})")
            }
            Disconnected::Closed { code, reason } => {
                write!(f, "closed the connection (code {code}: {reason})")
            }
            Disconnected::Vanished => f.write_str("vanished: its connection broke off"),
            Disconnected::Silent(time) => write!(f, "has not been heard of for {time:?}"),
            Disconnected::Fault(fault) => f.write_str(fault),
        }
    }
}

/// What an adapter did.
#[derive(Debug)]
pub(crate) enum PeerEvent {
    Message(Body),
    Disconnected(Disconnected),
}

/// One happening, of the adapter with this number, at this time.
pub(crate) type Happened = (u64, Instant, PeerEvent);

/// What the thread of an adapter is asked to do.
pub(crate) enum Order {
    Send(wire::Message),
    /// From now on, tell what happens here.
    Report(Sender<Happened>),
    /// Read everything that has arrived, tell of it, and then drop this.
    CatchUp(mpsc::Sender<()>),
    Close {
        code: CloseCode,
        reason: &'static str,
    },
}

/// An adapter as the rest of the program sees it.
pub(crate) struct Peer {
    pub number: u64,
    pub address: SocketAddr,
    pub announcement: wire::Announcement,
    pub orders: mpsc::Sender<Order>,
    pub waker: Mutex<UnixStream>,
    /// It serves a run.
    pub is_taken: AtomicBool,
    /// The run it served is over; it may take its time to go.
    pub is_released: AtomicBool,
}

impl Peer {
    /// Orders to one that is gone are for nobody; its end is reported as a happening.
    pub fn order(&self, order: Order) {
        let _ = self.orders.send(order);
        if let Ok(mut waker) = self.waker.lock() {
            let _ = waker.write(&[0]);
        }
    }

    pub fn send(&self, body: Body) {
        self.order(Order::Send(body.into()));
    }
}

/// The thread's side of one connection.
pub(crate) struct Line {
    pub number: u64,
    pub socket: WebSocket<Socket>,
    pulse: Heartbeat,
    heard: Instant,
    pinged: Instant,
    closing: Option<Instant>,
    gone: Option<Disconnected>,
    unsent: bool,
}

/// What one look at the socket gave.
enum SocketRead {
    /// And its size in bytes.
    Message(Body, usize),
    Nothing,
    Ended,
}

impl Line {
    /// `socket` has finished its handshake and does not block.
    pub fn new(number: u64, socket: WebSocket<Socket>, pulse: Heartbeat) -> Line {
        let now = Instant::now();
        Line {
            number,
            socket,
            pulse,
            heard: now,
            pinged: now,
            closing: None,
            gone: None,
            unsent: false,
        }
    }

    /// Waits for the first message, which must be an announcement.
    pub fn announcement(&mut self, deadline: Instant) -> Result<wire::Announcement, Disconnected> {
        loop {
            match self.look() {
                SocketRead::Message(Body::Announcement(announcement), _) => {
                    return Ok(announcement);
                }
                SocketRead::Message(Body::Error(error), _) => {
                    return Err(Disconnected::Fault(error.message));
                }
                SocketRead::Message(..) => {
                    return Err(Disconnected::Fault(
                        "did not begin with an announcement".to_owned(),
                    ));
                }
                SocketRead::Ended => return Err(self.why()),
                SocketRead::Nothing if Instant::now() >= deadline => {
                    return Err(Disconnected::Fault("did not announce itself".to_owned()));
                }
                SocketRead::Nothing => self.wait(None, deadline, true),
            }
        }
    }

    /// Carries out orders and tells what happens, until the connection ends. While the run has more to
    /// judge than its queue holds, nothing is read: an adapter that floods has to wait.
    pub fn converse(&mut self, orders: &mpsc::Receiver<Order>, wakes: &UnixStream) {
        let mut listener: Option<Sender<Happened>> = None;
        let mut caught_up = Vec::new();
        loop {
            while let Ok(order) = orders.try_recv() {
                match order {
                    Order::Send(message) => self.write(Message::binary(message.encode_to_vec())),
                    Order::Report(to) => listener = Some(to),
                    Order::CatchUp(waiting) => caught_up.push(waiting),
                    Order::Close { code, reason } => self.close(code, reason),
                }
            }
            let is_full = |listener: &Option<Sender<Happened>>| {
                listener
                    .as_ref()
                    .is_some_and(|listener| !listener.has_room(0))
            };
            // What an adapter says while we close is for nobody.
            let mut goes_on = self.closing.is_some() || !is_full(&listener);
            let mut is_read = false;
            for _ in 0..AT_ONCE {
                if !goes_on {
                    break;
                }
                let (happening, size) = match self.look() {
                    SocketRead::Message(body, size) => (PeerEvent::Message(body), size),
                    SocketRead::Nothing => {
                        is_read = true;
                        break;
                    }
                    SocketRead::Ended => {
                        if let Some(listener) = listener {
                            let gone = PeerEvent::Disconnected(self.why());
                            let _ = listener.send_last((self.number, Instant::now(), gone));
                        }
                        return;
                    }
                };
                if let Some(listener) = listener.as_ref().filter(|_| self.closing.is_none()) {
                    let _ = listener.send((self.number, Instant::now(), happening), size);
                }
                goes_on = self.closing.is_some() || !is_full(&listener);
            }
            // Everything that has arrived is reported, or waits behind a queue that is full.
            if is_read || !goes_on {
                caught_up.clear();
            }
            let deadline = match goes_on {
                true => self.next_deadline(),
                false => Instant::now() + FULL,
            };
            self.wait(Some(wakes), deadline, goes_on);
        }
    }

    fn next_deadline(&self) -> Instant {
        let quiet = self.pinged.max(self.heard);
        let alive = self.heard + self.pulse.given_up_after;
        self.closing
            .unwrap_or((quiet + self.pulse.heartbeat).min(alive))
    }

    fn write(&mut self, message: Message) {
        if let Err(error) = self.socket.write(message) {
            self.note(&error);
        }
        self.flush();
    }

    fn flush(&mut self) {
        match self.socket.flush() {
            Ok(()) => self.unsent = false,
            Err(Error::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => {
                self.unsent = true;
            }
            // Reading tells how it ended.
            Err(_) => self.unsent = false,
        }
    }

    fn close(&mut self, code: CloseCode, reason: &'static str) {
        if self.closing.is_none() {
            self.closing = Some(Instant::now() + CLOSING);
            let frame = tungstenite::protocol::CloseFrame {
                code,
                reason: reason.into(),
            };
            let _ = self.socket.close(Some(frame));
            self.flush();
        }
    }

    /// Tells the adapter what is wrong with what it sent, and hangs up.
    fn refuse(&mut self, code: CloseCode, fault: String) {
        let message = format!("ioco: the adapter {fault}");
        self.gone.get_or_insert(Disconnected::Fault(fault));
        let error = Body::Error(wire::Error { message });
        self.write(Message::binary(wire::Message::from(error).encode_to_vec()));
        self.close(code, "not of the protocol");
    }

    /// Takes in one message, if there is one, and sees to the heartbeat.
    fn look(&mut self) -> SocketRead {
        // An adapter that only pings must not keep us here.
        for _ in 0..AT_ONCE {
            let now = Instant::now();
            if self.closing.is_some_and(|until| now >= until) {
                return SocketRead::Ended;
            }
            match self.socket.read() {
                Ok(message) => {
                    self.heard = now;
                    // An answer to a ping or a close may be waiting.
                    self.flush();
                    let size = message.len();
                    if let Some(body) = self.take_in(message) {
                        return SocketRead::Message(body, size);
                    }
                    if matches!(self.gone, Some(Disconnected::Fault(_))) {
                        return SocketRead::Ended;
                    }
                }
                Err(Error::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(Error::Io(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.note(&error);
                    return SocketRead::Ended;
                }
            }
        }
        let now = Instant::now();
        let given_up_after = self.pulse.given_up_after;
        if now >= self.heard + given_up_after {
            self.gone
                .get_or_insert(Disconnected::Silent(given_up_after));
            return SocketRead::Ended;
        }
        if self.closing.is_none() && now >= self.next_deadline() {
            self.pinged = now;
            self.write(Message::Ping(Bytes::new()));
        }
        if self.unsent {
            self.flush();
        }
        SocketRead::Nothing
    }

    fn take_in(&mut self, message: Message) -> Option<Body> {
        match message {
            Message::Binary(bytes) => match wire::Message::decode(bytes) {
                Ok(wire::Message { body: Some(body) }) => return Some(body),
                Ok(wire::Message { body: None }) => {
                    self.refuse(
                        CloseCode::Invalid,
                        "sent a message of no known type".to_owned(),
                    );
                }
                Err(error) => self.refuse(
                    CloseCode::Invalid,
                    format!("sent a frame that is not a message of the protocol ({error})"),
                ),
            },
            Message::Text(text) => {
                let shown = crate::values::shorten(text.as_str(), 60);
                self.refuse(
                    CloseCode::Unsupported,
                    format!("sent a text frame ({shown:?}), but messages are binary frames"),
                );
            }
            Message::Close(frame) => {
                let closed = frame.map(|f| (u16::from(f.code), f.reason.to_string()));
                // 1005 stands for a close without a code.
                let (code, reason) = closed.unwrap_or((1005, String::new()));
                self.gone
                    .get_or_insert(Disconnected::Closed { code, reason });
                self.closing.get_or_insert(Instant::now() + CLOSING);
            }
            Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => {}
        }
        None
    }

    /// Remembers what an error of the socket says about the adapter.
    fn note(&mut self, error: &Error) {
        match error {
            Error::Capacity(CapacityError::MessageTooLong { size, max_size }) => {
                let fault = format!(
                    "sent a message of {size} bytes, more than {max_size}; raise the limit with \
                     --limit message=N"
                );
                self.refuse(CloseCode::Size, fault);
            }
            Error::ConnectionClosed
            | Error::AlreadyClosed
            | Error::Io(_)
            | Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => {}
            other => {
                let fault = format!("sent a frame that is not of the protocol ({other})");
                self.refuse(CloseCode::Protocol, fault);
            }
        }
    }

    fn why(&self) -> Disconnected {
        self.gone.clone().unwrap_or(Disconnected::Vanished)
    }

    /// Reads on for a moment without listening: closing a socket with unread bytes would throw away
    /// what we said last.
    pub fn linger(mut self) {
        let until = Instant::now() + CLOSING;
        self.flush();
        let mut tcp = self.socket.get_ref().tcp();
        let _ = tcp.shutdown(std::net::Shutdown::Write);
        let mut bytes = vec![0; 64 << 10];
        while Instant::now() < until {
            match tcp.read(&mut bytes) {
                Ok(0) => return,
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.wait(None, until, true)
                }
                Err(_) => return,
            }
        }
    }

    /// Until the socket has something, or there is an order, or the time is up.
    fn wait(&self, wakes: Option<&UnixStream>, deadline: Instant, reads: bool) {
        let left = deadline.saturating_duration_since(Instant::now());
        let time = Timespec {
            tv_sec: left.as_secs().try_into().unwrap_or(i64::MAX),
            tv_nsec: left.subsec_nanos().into(),
        };
        let tcp = self.socket.get_ref().tcp();
        let mut flags = match reads {
            true => PollFlags::IN,
            false => PollFlags::empty(),
        };
        if self.unsent {
            flags |= PollFlags::OUT;
        }
        let woken = wakes.map_or(tcp.as_fd(), |wakes| wakes.as_fd());
        let mut fds = [
            PollFd::from_borrowed_fd(tcp.as_fd(), flags),
            PollFd::from_borrowed_fd(woken, PollFlags::IN),
        ];
        // A signal is no reason to worry: the loop looks again.
        let _ = poll(&mut fds, Some(&time));
        if let Some(mut wakes) = wakes {
            let _ = wakes.read(&mut [0; 64]);
        }
    }
}

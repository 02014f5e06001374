//! Making a connection: by calling the other side, by waiting for its call, or by starting a program.

use std::io;
use std::net::{TcpListener, TcpStream, ToSocketAddrs as _};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use ioco_budget::Budget;

use crate::connection::AdapterError;
use crate::process::ProcessOptions;
use crate::stream::Stream;
use crate::supervise::Until;

/// How often a listener looks for a caller.
const LISTENING: Duration = Duration::from_millis(20);

/// One side of a TCP connection to be made.
pub(crate) enum Endpoint {
    /// `host:port`.
    Call(String),
    /// The other side calls us, at this address.
    Answer(TcpListener, String),
    /// A program; its standard input and output.
    Start(Box<ProcessOptions>),
}

impl Endpoint {
    /// Listens; the other side can call from now on.
    pub fn answer(address: &str) -> Result<Endpoint, AdapterError> {
        let listen = || {
            let listener = TcpListener::bind(address)?;
            listener.set_nonblocking(true)?;
            let address = listener.local_addr()?.to_string();
            Ok(Endpoint::Answer(listener, address))
        };
        listen().map_err(|error: io::Error| {
            AdapterError::new(format!("cannot listen on {address}: {error}"))
                .hint("write HOST:PORT, as in 127.0.0.1:7890, with a port that is free")
        })
    }

    pub fn address(&self) -> &str {
        match self {
            Endpoint::Call(address) | Endpoint::Answer(_, address) => address,
            Endpoint::Start(_) => "the system",
        }
    }

    /// A connection.
    pub fn connect(&self, budget: &Budget, until: &Until<'_>) -> Result<Stream, AdapterError> {
        let stream = |socket| stream(socket, budget);
        match self {
            Endpoint::Start(options) => options.start(budget),
            Endpoint::Call(address) => call(address, until).and_then(stream).map_err(|error| {
                AdapterError::new(format!("no connection to {address}: {error}"))
                    .hint("the system must be listening there before the test begins")
            }),
            Endpoint::Answer(listener, address) => wait_for_call(listener, until)
                .and_then(stream)
                .map_err(|error| {
                    AdapterError::new(match error.kind() {
                        io::ErrorKind::TimedOut => {
                            format!("the system did not connect to {address} in time")
                        }
                        _ => format!("no connection at {address}: {error}"),
                    })
                    .hint("the system connects to this address when it starts")
                }),
        }
    }
}

/// Calls `host:port`. Aside, because a call to a machine that does not answer cannot be broken off.
pub(crate) fn call(address: &str, until: &Until<'_>) -> io::Result<TcpStream> {
    let (sender, receiver) = std::sync::mpsc::channel();
    let called = address.to_owned();
    let deadline = Instant::now() + until.left();
    std::thread::spawn(move || sender.send(try_all(&called, deadline)));
    loop {
        match receiver.recv_timeout(until.slice_left()) {
            Ok(called) => return called,
            Err(_) if until.is_over() => return Err(io::ErrorKind::TimedOut.into()),
            Err(_) => {}
        }
    }
}

/// Tries every address that the name stands for, within the time.
fn try_all(address: &str, deadline: Instant) -> io::Result<TcpStream> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the name stands for no address");
    for candidate in address.to_socket_addrs()? {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        match TcpStream::connect_timeout(&candidate, left) {
            Ok(socket) => return Ok(socket),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn wait_for_call(listener: &TcpListener, until: &Until<'_>) -> io::Result<TcpStream> {
    loop {
        match listener.accept() {
            Ok((socket, _)) => return Ok(socket),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
        if until.is_over() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        std::thread::sleep(LISTENING);
    }
}

fn stream(socket: TcpStream, budget: &Budget) -> io::Result<Stream> {
    socket.set_nodelay(true)?;
    let output = OwnedFd::from(socket.try_clone()?);
    Stream::new(OwnedFd::from(socket), output, None, budget)
}

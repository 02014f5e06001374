//! What can go wrong on the way from a system to ioco.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use rand::{Rng as _, RngExt as _};
use rand_chacha::ChaCha8Rng;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Nothing: the honest system.
    Nothing,
    Delay,
    Drop,
    Duplicate,
    /// A message changes places with the next.
    Reorder,
    /// Half of a message.
    Truncate,
    Garbage,
    /// The same message without end.
    Flood,
    /// Closes after so many bytes.
    Close,
    /// Says nothing more after so many bytes, and stays connected.
    HalfOpen,
    /// One byte at a time.
    SlowLoris,
}

impl Kind {
    pub const ALL: [Kind; 11] = [
        Kind::Nothing,
        Kind::Delay,
        Kind::Drop,
        Kind::Duplicate,
        Kind::Reorder,
        Kind::Truncate,
        Kind::Garbage,
        Kind::Flood,
        Kind::Close,
        Kind::HalfOpen,
        Kind::SlowLoris,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Kind::Nothing => "nothing",
            Kind::Delay => "delay",
            Kind::Drop => "drop",
            Kind::Duplicate => "duplicate",
            Kind::Reorder => "reorder",
            Kind::Truncate => "truncate",
            Kind::Garbage => "garbage",
            Kind::Flood => "flood",
            Kind::Close => "close",
            Kind::HalfOpen => "half-open",
            Kind::SlowLoris => "slow-loris",
        }
    }

    pub fn named(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Whether the place of this fault is a byte; otherwise it is a message.
    fn counts_bytes(self) -> bool {
        matches!(self, Kind::Close | Kind::HalfOpen)
    }
}

/// One fault and where it strikes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    pub kind: Kind,
    /// The number of the message, or of the byte.
    pub at: usize,
    pub seed: u64,
}

impl Fault {
    pub fn random(random: &mut ChaCha8Rng) -> Fault {
        let kind = Kind::ALL[random.random_range(0..Kind::ALL.len())];
        let most = if kind.counts_bytes() { 200 } else { 6 };
        Fault {
            kind,
            at: random.random_range(0..most),
            seed: random.next_u64(),
        }
    }
}

/// The most that a flood sends to somebody who goes on reading.
const FLOOD: usize = 256 << 20;

/// One fault, shared by all connections of a system.
#[derive(Clone)]
pub struct Injector {
    fault: Fault,
    messages: Arc<AtomicUsize>,
    bytes: Arc<AtomicUsize>,
    injected: Arc<AtomicBool>,
    held: Arc<Mutex<Vec<u8>>>,
}

impl Injector {
    pub fn new(fault: Fault) -> Injector {
        Injector {
            fault,
            messages: Arc::default(),
            bytes: Arc::default(),
            injected: Arc::default(),
            held: Arc::default(),
        }
    }

    pub fn is_injected(&self) -> bool {
        self.injected.load(Ordering::SeqCst)
    }

    fn strike(&self) {
        self.injected.store(true, Ordering::SeqCst);
    }

    /// Sends a message of the honest system, with the fault if this is its place. An error ends the
    /// connection.
    pub fn send(&self, message: &[u8], out: &mut dyn Write) -> io::Result<()> {
        let number = self.messages.fetch_add(1, Ordering::SeqCst);
        let held = std::mem::take(&mut *self.held.lock().map_err(|_| io::ErrorKind::Other)?);
        let message = [message, &held].concat();
        if self.fault.kind.counts_bytes() {
            return self.send_up_to(&message, out);
        }
        if number != self.fault.at || self.fault.kind == Kind::Nothing {
            return write(out, &message);
        }
        self.strike();
        match self.fault.kind {
            Kind::Delay => {
                std::thread::sleep(Duration::from_millis(self.fault.seed % 20));
                write(out, &message)
            }
            Kind::Drop => Ok(()),
            Kind::Duplicate => write(out, &message).and_then(|()| write(out, &message)),
            Kind::Reorder => {
                *self.held.lock().map_err(|_| io::ErrorKind::Other)? = message;
                Ok(())
            }
            Kind::Truncate => write(out, &message[..message.len() / 2]),
            Kind::Garbage => {
                let bytes = self.fault.seed.to_le_bytes();
                let length = 1 + usize::from(bytes[0]);
                let garbage: Vec<u8> = (0..length)
                    .map(|index| bytes[index % 8].wrapping_mul(index as u8 | 1))
                    .chain([b'\n'])
                    .collect();
                write(out, &garbage)
            }
            Kind::Flood => {
                let block = message.repeat(1 + (64 << 10) / message.len().max(1));
                let mut sent = 0;
                while sent < FLOOD {
                    write(out, &block)?;
                    sent += block.len();
                }
                Ok(())
            }
            Kind::SlowLoris => {
                for byte in message {
                    write(out, &[byte])?;
                    std::thread::sleep(Duration::from_micros(200));
                }
                Ok(())
            }
            Kind::Nothing | Kind::Close | Kind::HalfOpen => Ok(()),
        }
    }

    fn send_up_to(&self, message: &[u8], out: &mut dyn Write) -> io::Result<()> {
        let before = self.bytes.fetch_add(message.len(), Ordering::SeqCst);
        let left = self.fault.at.saturating_sub(before);
        if left >= message.len() {
            return write(out, message);
        }
        self.strike();
        write(out, &message[..left])?;
        match self.fault.kind {
            Kind::Close => Err(io::ErrorKind::ConnectionReset.into()),
            _ => Ok(()),
        }
    }
}

fn write(out: &mut dyn Write, bytes: &[u8]) -> io::Result<()> {
    out.write_all(bytes).and_then(|()| out.flush())
}

/// A socket with a fault in what it sends.
pub struct Bad {
    pub socket: TcpStream,
    pub injector: Injector,
}

impl Read for Bad {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.socket.read(buffer)
    }
}

impl Write for Bad {
    /// Every call is a message.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.injector.send(bytes, &mut &self.socket) {
            Ok(()) => Ok(bytes.len()),
            Err(error) => {
                let _ = self.socket.shutdown(Shutdown::Both);
                Err(error)
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

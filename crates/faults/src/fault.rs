//! What can go wrong on the way from a system to ioco.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
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
    /// The same for a connection over TLS, where a handshake comes first.
    pub fn behind_a_handshake(self) -> Fault {
        let factor = if self.kind.counts_bytes() { 8 } else { 2 };
        Fault {
            at: self.at * factor,
            ..self
        }
    }

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

/// What a message is to the tester, which decides what its loss may lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Part of connecting or of a reset: without it there is no test.
    Greeting,
    /// Confirms that a stimulus was taken.
    Confirmation,
    /// A response that is due, and not the last of the test.
    Response,
    /// The last response of the test: nobody looks at what follows it.
    Last,
    /// Nothing needs it.
    Idle,
}

impl Role {
    const ALL: [(Role, &'static str); 5] = [
        (Role::Greeting, "greeting"),
        (Role::Confirmation, "confirmation"),
        (Role::Response, "response"),
        (Role::Last, "last"),
        (Role::Idle, "idle"),
    ];
}

/// Where a fault struck: bytes were changed, held back or added, or the connection was cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultPoint {
    pub role: Role,
    /// Bytes at the end of the message that were not sent.
    pub missing: usize,
}

impl FaultPoint {
    /// As a process writes it to its file.
    fn write(self) -> String {
        let name = Role::ALL.iter().find(|(role, _)| *role == self.role);
        format!("{} {}", name.map_or("", |(_, name)| name), self.missing)
    }

    /// What a process wrote; `None` where its fault did not strike.
    pub fn read(file: &Path) -> Option<FaultPoint> {
        let text = std::fs::read_to_string(file).ok()?;
        let (name, missing) = text.split_once(' ')?;
        let (role, _) = Role::ALL.into_iter().find(|(_, known)| *known == name)?;
        let missing = missing.parse().ok()?;
        Some(FaultPoint { role, missing })
    }
}

/// The most that a flood sends to somebody who goes on reading.
const FLOOD: usize = 256 << 20;

/// How much of what was sent is kept for comparison.
const KEPT: usize = 8 << 20;

/// The pings of a test, and so its responses.
pub const PINGS: usize = 3;

/// One fault, shared by all connections of a system.
#[derive(Clone)]
pub struct Injector {
    fault: Fault,
    messages: Arc<AtomicUsize>,
    responses: Arc<AtomicUsize>,
    bytes: Arc<AtomicUsize>,
    struck: Arc<Mutex<Option<FaultPoint>>>,
    held: Arc<Mutex<Vec<u8>>>,
    sent: Arc<Mutex<Vec<u8>>>,
    /// Where a process says that its fault struck.
    mark: Option<PathBuf>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Injector {
    pub fn new(fault: Fault) -> Injector {
        Injector {
            fault,
            messages: Arc::default(),
            responses: Arc::default(),
            bytes: Arc::default(),
            struck: Arc::default(),
            held: Arc::default(),
            sent: Arc::default(),
            mark: None,
        }
    }

    /// The same, for a process: writes to this file where it struck.
    pub fn marking(fault: Fault, mark: Option<PathBuf>) -> Injector {
        Injector {
            mark,
            ..Injector::new(fault)
        }
    }

    pub fn struck(&self) -> Option<FaultPoint> {
        *locked(&self.struck)
    }

    /// A process told where it struck.
    pub fn report(&self, struck: Option<FaultPoint>) {
        *locked(&self.struck) = struck;
    }

    /// The bytes that went out, as far as they are kept.
    pub fn sent(&self) -> Vec<u8> {
        locked(&self.sent).clone()
    }

    /// Before the bytes go out: a process may be ended by what they lead to.
    fn strike(&self, struck: FaultPoint) {
        *locked(&self.struck) = Some(struck);
        if let Some(mark) = &self.mark {
            let _ = std::fs::write(mark, struck.write());
        }
    }

    /// Nobody was there to be struck.
    fn missed(&self) {
        *locked(&self.struck) = None;
        if let Some(mark) = &self.mark {
            let _ = std::fs::remove_file(mark);
        }
    }

    /// Sends a message of the honest system, with the fault if this is its place. An error ends the
    /// connection.
    pub fn send(&self, role: Role, message: &[u8], out: &mut dyn Write) -> io::Result<()> {
        let role = match role {
            Role::Response if self.responses.fetch_add(1, Ordering::SeqCst) + 1 >= PINGS => {
                Role::Last
            }
            role => role,
        };
        let number = self.messages.fetch_add(1, Ordering::SeqCst);
        let held = std::mem::take(&mut *locked(&self.held));
        let message = [message, &held].concat();
        if self.fault.kind.counts_bytes() {
            return self.send_up_to(role, &message, out);
        }
        if number != self.fault.at || self.fault.kind == Kind::Nothing {
            return self.write(out, &message);
        }
        let missing = match self.fault.kind {
            Kind::Drop | Kind::Reorder | Kind::Garbage => message.len(),
            Kind::Truncate => message.len().div_ceil(2),
            _ => 0,
        };
        let struck = FaultPoint { role, missing };
        match self.fault.kind {
            Kind::Delay => {
                let time = Duration::from_millis(1 + self.fault.seed % 20);
                self.strike(struck);
                std::thread::sleep(time);
                self.write_or_miss(out, &message)
            }
            Kind::Drop => {
                self.strike(struck);
                Ok(())
            }
            Kind::Duplicate => {
                self.strike(struck);
                self.write_or_miss(out, &message.repeat(2))
            }
            Kind::Reorder => {
                self.strike(struck);
                *locked(&self.held) = message;
                Ok(())
            }
            Kind::Truncate => {
                self.strike(struck);
                self.write_or_miss(out, &message[..message.len() / 2])
            }
            Kind::Garbage => {
                let bytes = self.fault.seed.to_le_bytes();
                let length = 1 + usize::from(bytes[0]);
                let garbage: Vec<u8> = (0..length)
                    .map(|index| bytes[index % 8].wrapping_mul(index as u8 | 1))
                    .chain([b'\n'])
                    .collect();
                self.strike(struck);
                self.write_or_miss(out, &garbage)
            }
            Kind::Flood => {
                self.strike(struck);
                self.write_or_miss(out, &message.repeat(2))?;
                let block = message.repeat(1 + (64 << 10) / message.len().max(1));
                let mut sent = 2 * message.len();
                while sent < FLOOD {
                    self.write(out, &block)?;
                    sent += block.len();
                }
                Ok(())
            }
            Kind::SlowLoris => {
                self.strike(struck);
                for byte in message {
                    self.write(out, &[byte])?;
                    std::thread::sleep(Duration::from_micros(200));
                }
                Ok(())
            }
            Kind::Nothing | Kind::Close | Kind::HalfOpen => Ok(()),
        }
    }

    fn send_up_to(&self, role: Role, message: &[u8], out: &mut dyn Write) -> io::Result<()> {
        let before = self.bytes.fetch_add(message.len(), Ordering::SeqCst);
        let left = self.fault.at.saturating_sub(before);
        if left >= message.len() {
            return self.write(out, message);
        }
        // Only the first message that is cut was struck; those behind it are not sent either.
        if self.struck().is_none() {
            let missing = message.len() - left;
            self.strike(FaultPoint { role, missing });
            self.write_or_miss(out, &message[..left])?;
        }
        match self.fault.kind {
            Kind::Close => Err(io::ErrorKind::ConnectionReset.into()),
            _ => Ok(()),
        }
    }

    fn write_or_miss(&self, out: &mut dyn Write, bytes: &[u8]) -> io::Result<()> {
        self.write(out, bytes).inspect_err(|_| self.missed())
    }

    fn write(&self, out: &mut dyn Write, bytes: &[u8]) -> io::Result<()> {
        let mut sent = locked(&self.sent);
        let room = KEPT.saturating_sub(sent.len()).min(bytes.len());
        sent.extend_from_slice(&bytes[..room]);
        drop(sent);
        out.write_all(bytes).and_then(|()| out.flush())
    }
}

/// A socket with a fault in what it sends.
#[derive(Debug)]
pub struct Bad {
    pub socket: TcpStream,
    pub injector: Injector,
    /// Of what is sent next.
    pub role: Role,
}

impl std::fmt::Debug for Injector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.fault.fmt(f)
    }
}

impl Read for Bad {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.socket.read(buffer)
    }
}

impl Write for Bad {
    /// Every call is a message.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // TLS 1.3 sends this for the sake of devices in between; both ends ignore it.
        let role = match bytes {
            [0x14, 3, 3, 0, 1, 1] => Role::Idle,
            _ => self.role,
        };
        match self.injector.send(role, bytes, &mut &self.socket) {
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

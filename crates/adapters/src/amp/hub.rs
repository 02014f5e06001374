//! The WebSocket server that adapters connect to, and who is connected.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs as _};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tungstenite::http::{StatusCode, header};
use tungstenite::protocol::WebSocketConfig;
use tungstenite::protocol::frame::coding::CloseCode;

use super::peer::{Heartbeat, Line, Order, Peer, Socket};
use ioco_outside::Untrusted;
use ioco_outside::access::{is_loopback_host, is_own_origin, same_secret};

use crate::connection::AdapterError;
use crate::supervise::{Warnings, size};

/// The path of the protocol.
const PATH: &str = "/adapters";

/// How long a new connection may take to shake hands and announce itself.
const INTRODUCTION: Duration = Duration::from_secs(10);

/// More adapters than this at once are an accident or an attack.
const MAX_ADAPTERS: usize = 64;

/// More connections that have not announced themselves than this are too: then the oldest of them gives way. An
/// adapter introduces itself within milliseconds, so those that dawdle cannot shut it out.
const MAX_PENDING_CONNECTIONS: usize = 64;

/// How long a read may block while a connection shakes hands.
const SLICE: Duration = Duration::from_millis(50);

/// Where to listen, and for whom.
#[derive(Clone, Debug)]
pub struct HubOptions {
    /// `host:port`; a port alone means this machine only.
    pub address: String,
    /// What adapters must show: `Authorization: Bearer <token>`.
    pub token: Option<String>,
    /// Files with a certificate and its key, for `wss://`.
    pub certificate: Option<(PathBuf, PathBuf)>,
    /// An idle adapter is pinged this often.
    pub heartbeat: Duration,
    /// An adapter of which nothing is heard for so long is gone. They may be slow, and some do not
    /// answer a ping while they reset their system.
    pub given_up_after: Duration,
    /// Bytes of one message at most.
    pub message: u64,
}

impl HubOptions {
    pub fn new(address: &str) -> HubOptions {
        HubOptions {
            address: address.to_owned(),
            token: None,
            certificate: None,
            heartbeat: Duration::from_secs(10),
            given_up_after: Duration::from_secs(90),
            message: ioco_budget::Budget::default().message,
        }
    }

    /// The address as `host:port`.
    fn full_address(&self) -> String {
        let address = self.address.trim();
        let port = address.strip_prefix(':').unwrap_or(address);
        if port.parse::<u16>().is_ok() {
            format!("127.0.0.1:{port}")
        } else {
            address.to_owned()
        }
    }

    /// What is wrong with these options, before anything is opened.
    pub fn check(&self) -> Result<Vec<SocketAddr>, AdapterError> {
        let address = self.full_address();
        let sockets: Vec<SocketAddr> = match address.to_socket_addrs() {
            Ok(found) => found.collect(),
            Err(error) => {
                return Err(AdapterError::new(format!(
                    "'{}' is not an address to listen on: {error}",
                    self.address
                ))
                .hint("write a port, as in --amp 8080, or HOST:PORT"));
            }
        };
        let outside = sockets.iter().find(|socket| !socket.ip().is_loopback());
        if let (Some(outside), None) = (outside, &self.token) {
            return Err(AdapterError::new(format!(
                "anyone on the network could connect as the adapter at {outside}"
            ))
            .hint(
                "give a token that adapters must show: IOCO_AMP_TOKEN, or token in [amp] of \
                     ioco.toml; or listen on 127.0.0.1",
            ));
        }
        Ok(sockets)
    }
}

#[derive(Default)]
struct Register {
    peers: Vec<Arc<Peer>>,
    /// Who has not announced itself yet, oldest first, and what ends its connection.
    pending_connections: VecDeque<(u64, TcpStream)>,
    /// What a person should know, such as who was turned away.
    warnings: Warnings,
}

struct Shared {
    register: Mutex<Register>,
    changed: Condvar,
    closing: AtomicBool,
    numbers: AtomicU64,
    token: Option<String>,
    /// Only this machine can connect.
    is_local: bool,
    encryption: Option<Arc<rustls::ServerConfig>>,
    pulse: Heartbeat,
    /// Bytes of one message at most.
    message: usize,
}

impl Shared {
    fn register(&self) -> MutexGuard<'_, Register> {
        // A list of who is there is right, whoever panicked while holding it.
        self.register.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// It has announced itself, or is gone.
    fn forget_pending(&self, number: u64) {
        let mut register = self.register();
        register
            .pending_connections
            .retain(|(other, _)| *other != number);
    }

    fn warn(&self, text: String) {
        self.register().warnings.push(text);
    }
}

/// The server: adapters connect, announce themselves and stay until a run wants them.
pub struct Hub {
    shared: Arc<Shared>,
    address: SocketAddr,
    /// Has the listener, and ends with it.
    door: Mutex<Option<JoinHandle<()>>>,
}

impl Hub {
    pub fn listen(options: &HubOptions) -> Result<Hub, AdapterError> {
        let sockets = options.check()?;
        let encryption = match &options.certificate {
            Some((certificate, key)) => Some(Arc::new(encryption(certificate, key)?)),
            None => None,
        };
        let not_there = |error: io::Error| {
            AdapterError::new(format!(
                "cannot listen on {}: {error}",
                options.full_address()
            ))
            .hint("another ioco may be listening there; choose another port")
        };
        let listener = TcpListener::bind(sockets.as_slice()).map_err(not_there)?;
        let address = listener.local_addr().map_err(not_there)?;
        let shared = Arc::new(Shared {
            register: Mutex::default(),
            changed: Condvar::new(),
            closing: AtomicBool::new(false),
            numbers: AtomicU64::new(1),
            token: options.token.clone(),
            is_local: address.ip().is_loopback(),
            encryption,
            message: size(options.message),
            pulse: Heartbeat {
                heartbeat: options.heartbeat,
                given_up_after: options.given_up_after,
            },
        });
        let at_the_door = Arc::clone(&shared);
        let door = std::thread::spawn(move || accept(&listener, &at_the_door));
        Ok(Hub {
            shared,
            address,
            door: Mutex::new(Some(door)),
        })
    }

    /// Where adapters are to connect: `ws://127.0.0.1:8080/adapters`.
    pub fn url(&self) -> String {
        let scheme = match self.shared.encryption {
            Some(_) => "wss",
            None => "ws",
        };
        format!("{scheme}://{}{PATH}", self.address)
    }

    /// Listens no more; who is connected stays. Adapters that come back at once when they are released
    /// would find a listener that is about to go, and some do not survive that.
    pub fn close_door(&self) {
        self.shared.closing.store(true, Ordering::SeqCst);
        let door = self.door.lock();
        let Some(door) = door.unwrap_or_else(PoisonError::into_inner).take() else {
            return;
        };
        // The listener waits for a connection: make one.
        let mut here = self.address;
        if here.ip().is_unspecified() {
            here.set_ip(match here {
                SocketAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
                SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
            });
        }
        if TcpStream::connect_timeout(&here, Duration::from_secs(1)).is_ok() {
            let _ = door.join();
        }
    }

    /// Who is connected and has announced itself, in the order of their names.
    pub(crate) fn peers(&self) -> Vec<Arc<Peer>> {
        let mut peers = self.shared.register().peers.clone();
        peers.retain(|peer| !peer.is_released.load(Ordering::Relaxed));
        peers.sort_by(|a, b| {
            let key = |p: &Peer| (p.announcement.name.clone(), p.number);
            key(a).cmp(&key(b))
        });
        peers
    }

    /// Waits until an adapter comes or goes, or the time is up.
    pub fn await_change(&self, deadline: Instant) {
        let left = deadline.saturating_duration_since(Instant::now());
        let register = self.shared.register();
        drop(self.shared.changed.wait_timeout(register, left));
    }

    /// What a person should know, since the last call.
    pub fn take_warnings(&self) -> Vec<String> {
        self.shared.register().warnings.take()
    }

    /// Ends the connection to these adapters as the end of a run does, and waits for them to agree.
    pub(crate) fn release(&self, peers: &[Arc<Peer>]) {
        for peer in peers {
            peer.is_released.store(true, Ordering::Relaxed);
            peer.order(Order::Close {
                code: CloseCode::Normal,
                reason: "the run has ended",
            });
        }
        let deadline = Instant::now() + Duration::from_millis(500);
        let still_there = || {
            let register = self.shared.register();
            peers
                .iter()
                .any(|peer| register.peers.iter().any(|p| p.number == peer.number))
        };
        while still_there() && Instant::now() < deadline {
            self.await_change(deadline);
        }
    }
}

impl Drop for Hub {
    fn drop(&mut self) {
        self.close_door();
        self.release(&self.peers());
    }
}

fn encryption(certificate: &PathBuf, key: &PathBuf) -> Result<rustls::ServerConfig, AdapterError> {
    let unusable = |file: &PathBuf, error: &dyn std::fmt::Display| {
        AdapterError::new(format!("{} cannot be used: {error}", file.display()))
            .hint("both files are PEM: the certificate chain, and its private key")
    };
    let chain = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| unusable(certificate, &error))?;
    let secret = PrivateKeyDer::from_pem_file(key).map_err(|error| unusable(key, &error))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| unusable(certificate, &error))?
        .with_no_client_auth()
        .with_single_cert(chain, secret)
        .map_err(|error| unusable(certificate, &error))
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    loop {
        let accepted = listener.accept();
        if shared.closing.load(Ordering::SeqCst) {
            return;
        }
        let Ok((tcp, address)) = accepted else {
            // Out of file descriptors, or a client that changed its mind: neither lasts.
            std::thread::sleep(Duration::from_millis(50));
            continue;
        };
        let Ok(end) = tcp.try_clone() else { continue };
        let number = shared.numbers.fetch_add(1, Ordering::Relaxed);
        let oldest = {
            let mut register = shared.register();
            register.pending_connections.push_back((number, end));
            let is_full = register.pending_connections.len() > MAX_PENDING_CONNECTIONS;
            is_full
                .then(|| register.pending_connections.pop_front())
                .flatten()
        };
        if let Some((_, oldest)) = oldest {
            let _ = oldest.shutdown(std::net::Shutdown::Both);
            shared.warn(format!(
                "more than {MAX_PENDING_CONNECTIONS} connections that do not announce themselves: the oldest give way"
            ));
        }
        let shared = Arc::clone(shared);
        std::thread::spawn(move || {
            serve(tcp, address, number, &shared);
            shared.forget_pending(number);
            shared.changed.notify_all();
        });
    }
}

/// One connection from its first byte to its last.
fn serve(tcp: TcpStream, address: SocketAddr, number: u64, shared: &Arc<Shared>) {
    let deadline = Instant::now() + INTRODUCTION;
    let socket = match shake_hands(tcp, deadline, shared) {
        Ok(socket) => socket,
        Err(why) => {
            if let Some(why) = why {
                shared.warn(format!(
                    "the connection from {} was refused: {why}",
                    address.ip()
                ));
            }
            return;
        }
    };
    let mut line = Line::new(number, socket, shared.pulse);
    let announcement = match line.announcement(deadline) {
        Ok(announcement) => announcement,
        Err(gone) => {
            shared.warn(format!("an adapter from {} {gone}", address.ip()));
            line.linger();
            return;
        }
    };
    let Ok((waker, wakes)) = UnixStream::pair() else {
        return;
    };
    if waker.set_nonblocking(true).is_err() || wakes.set_nonblocking(true).is_err() {
        return;
    }
    let (orders, received) = mpsc::channel();
    let peer = Arc::new(Peer {
        number,
        address,
        announcement,
        orders,
        waker: Mutex::new(waker),
        is_taken: AtomicBool::new(false),
        is_released: AtomicBool::new(false),
    });
    shared.forget_pending(number);
    {
        let mut register = shared.register();
        if register.peers.len() >= MAX_ADAPTERS {
            let text = format!(
                "more than {MAX_ADAPTERS} adapters: the connection from {address} was refused"
            );
            register.warnings.push(text);
            return;
        }
        register.peers.push(Arc::clone(&peer));
    }
    shared.changed.notify_all();
    line.converse(&received, &wakes);
    shared.register().peers.retain(|p| p.number != number);
    shared.changed.notify_all();
    line.linger();
}

type Accepted = Result<tungstenite::WebSocket<Socket>, Option<String>>;

/// `Err(None)`: a client that went away without a word.
fn shake_hands(tcp: TcpStream, deadline: Instant, shared: &Shared) -> Accepted {
    let failed = |error: io::Error| Some(error.to_string());
    tcp.set_nodelay(true).map_err(failed)?;
    // The time is for all of it: a byte now and then does not prolong it.
    tcp.set_read_timeout(Some(SLICE)).map_err(failed)?;
    tcp.set_write_timeout(Some(SLICE)).map_err(failed)?;
    let is_over = || Instant::now() >= deadline;
    let too_slow = || Some("it is too slow".to_owned());
    let blocks = |error: &io::Error| {
        matches!(
            error.kind(),
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
        )
    };
    let socket = match &shared.encryption {
        None => Socket::Plain(tcp),
        Some(config) => {
            let server = rustls::ServerConnection::new(Arc::clone(config))
                .map_err(|error| Some(error.to_string()))?;
            let mut stream = rustls::StreamOwned::new(server, tcp);
            while stream.conn.is_handshaking() {
                match stream.conn.complete_io(&mut stream.sock) {
                    Ok(_) => {}
                    Err(error) if blocks(&error) && !is_over() => {}
                    Err(error) if blocks(&error) => return Err(too_slow()),
                    Err(error) => return Err(Some(not_encrypted(&error))),
                }
            }
            Socket::Encrypted(Box::new(stream))
        }
    };
    let refused = RefCell::new(None);
    #[expect(clippy::result_large_err, reason = "the shape is the library's")]
    let check = |request: &Request, response: Response| match refusal(request, shared) {
        None => Ok(response),
        Some((status, why)) => {
            let mut answer = ErrorResponse::new(Some(format!("{why}\n")));
            *answer.status_mut() = status;
            *refused.borrow_mut() = Some(why);
            Err(answer)
        }
    };
    let config = WebSocketConfig::default()
        .max_message_size(Some(shared.message))
        .max_frame_size(Some(shared.message));
    let mut accepted = tungstenite::accept_hdr_with_config(socket, check, Some(config));
    while let Err(tungstenite::HandshakeError::Interrupted(unfinished)) = accepted {
        if is_over() {
            return Err(too_slow());
        }
        accepted = unfinished.handshake();
    }
    let socket = accepted.map_err(|error| match refused.take() {
        Some(why) => Some(why),
        None => match error {
            tungstenite::HandshakeError::Failure(tungstenite::Error::Io(_)) => None,
            tungstenite::HandshakeError::Failure(tungstenite::Error::Protocol(
                tungstenite::error::ProtocolError::HandshakeIncomplete,
            )) => None,
            tungstenite::HandshakeError::Failure(error) => Some(error.to_string()),
            tungstenite::HandshakeError::Interrupted(_) => too_slow(),
        },
    })?;
    socket
        .get_ref()
        .tcp()
        .set_nonblocking(true)
        .map_err(failed)?;
    Ok(socket)
}

/// Why there is no encrypted connection. An adapter that knows better than to trust our certificate says what is wrong
/// with it (RFC 8446, section 6.2).
fn not_encrypted(error: &io::Error) -> String {
    use rustls::AlertDescription as Alert;
    let said = error.get_ref().and_then(|error| error.downcast_ref());
    let wrong = match said {
        Some(rustls::Error::AlertReceived(alert)) => match alert {
            Alert::CertificateExpired => "it has expired, or is not valid yet",
            // Another issuer of the same name signed it.
            Alert::UnknownCA | Alert::DecryptError => "the adapter does not know its issuer",
            Alert::BadCertificate
            | Alert::UnsupportedCertificate
            | Alert::CertificateRevoked
            | Alert::CertificateUnknown => "it is not one for this address, or not one to trust",
            _ => "",
        },
        _ => "",
    };
    match wrong {
        "" => format!("no encrypted connection ({error}); the address is wss://"),
        wrong => format!("it does not accept the certificate in [amp] of ioco.toml: {wrong}"),
    }
}

/// Why a request is not let in.
fn refusal(request: &Request, shared: &Shared) -> Option<(StatusCode, String)> {
    let path = request.uri().path();
    if path != PATH && path != "/adapters/" {
        let why = format!(
            "it asked for {}; adapters connect to {PATH}",
            Untrusted::new(path)
        );
        return Some((StatusCode::NOT_FOUND, why));
    }
    let text = |name| request.headers().get(name).and_then(|h| h.to_str().ok());
    let host = text(header::HOST).unwrap_or_default();
    // A page in a browser may make a name of its own point here, but then it asks for that name.
    if shared.is_local && !is_loopback_host(host, None) {
        let why = format!(
            "it asked for {}, which is not a name of this machine",
            Untrusted::new(host)
        );
        return Some((StatusCode::FORBIDDEN, why));
    }
    // A page may try every port of this machine; it cannot lie about where it is from.
    // An origin that is no text is one that has no name.
    let origin = request.headers().get(header::ORIGIN);
    let origin = origin.map(|origin| origin.to_str().unwrap_or("null").trim_end_matches('/'));
    if !is_own_origin(origin, host) {
        let from = Untrusted::new(origin.unwrap_or_default());
        let why = format!("it is a page of {from}, not an adapter");
        return Some((StatusCode::FORBIDDEN, why));
    }
    let expected = shared.token.as_ref()?;
    let shown = text(header::AUTHORIZATION)
        .and_then(|value| value.split_once(' '))
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
        .map(|(_, token)| token.trim());
    let why = match shown {
        None => "it shows no token (Authorization: Bearer ...)",
        Some(shown) if same_secret(shown.as_bytes(), expected.as_bytes()) => return None,
        Some(_) => "its token is wrong",
    };
    Some((StatusCode::UNAUTHORIZED, why.to_owned()))
}

//! One fault against one kind of connection, inside this process.

use std::io;
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use ioco_adapters::{
    Amp, AmpOptions, Connection, Http, HttpMapping, HttpRelay, Hub, HubOptions, LineRelay, Mapping,
    Process, ProcessOptions, Relay, Sockets, Tcp, TcpOptions, TextLines, drive, read_traces,
};
use ioco_engine::{Recorded, Settings, StopConditions, Tester, WaitPolicy};
use ioco_sts::{Relation, Sts};

use crate::fault::{Fault, FaultPoint, Injector, Kind, PINGS};
use crate::peers::{self, ANSWER, By, PONG_LINE, Service, listen};
use crate::rules::{self, Carrier, Outcome};
use crate::{buses, model, stores, tls};

/// Nothing waits this long; a hang is found all the same.
pub const HANG: Duration = Duration::from_secs(120);

/// A kind of connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ConnectionKind {
    Process,
    Tcp,
    TcpListen,
    Text,
    Http,
    Events,
    Messages,
    /// Answers over TLS, with certificates of every sort.
    Https,
    Amp,
    /// Adapters over TLS.
    AmpTls,
    Relay,
    /// A recorder of HTTP.
    HttpRelay,
    /// A store in a file.
    File,
    /// A database server.
    Server,
    /// A NATS server.
    Nats,
}

impl ConnectionKind {
    pub const ALL: [ConnectionKind; 15] = [
        ConnectionKind::Process,
        ConnectionKind::Tcp,
        ConnectionKind::TcpListen,
        ConnectionKind::Text,
        ConnectionKind::Http,
        ConnectionKind::Events,
        ConnectionKind::Messages,
        ConnectionKind::Https,
        ConnectionKind::Amp,
        ConnectionKind::AmpTls,
        ConnectionKind::Relay,
        ConnectionKind::HttpRelay,
        ConnectionKind::File,
        ConnectionKind::Server,
        ConnectionKind::Nats,
    ];

    fn carrier(self) -> Carrier {
        match self {
            ConnectionKind::Process
            | ConnectionKind::Tcp
            | ConnectionKind::TcpListen
            | ConnectionKind::Relay => Carrier::Lines,
            ConnectionKind::Text => Carrier::Text,
            ConnectionKind::Http | ConnectionKind::HttpRelay => Carrier::Answers,
            ConnectionKind::Events
            | ConnectionKind::Messages
            | ConnectionKind::Amp
            | ConnectionKind::File
            | ConnectionKind::Server
            | ConnectionKind::Nats => Carrier::Stream,
            ConnectionKind::Https | ConnectionKind::AmpTls => Carrier::Encrypted,
        }
    }

    /// Whether a test is run over it.
    fn is_test(self) -> bool {
        !matches!(
            self,
            ConnectionKind::Relay
                | ConnectionKind::HttpRelay
                | ConnectionKind::File
                | ConnectionKind::Server
                | ConnectionKind::Nats
        )
    }

    pub fn name(self) -> &'static str {
        match self {
            ConnectionKind::Process => "process",
            ConnectionKind::Tcp => "tcp",
            ConnectionKind::TcpListen => "tcp-listen",
            ConnectionKind::Text => "text lines",
            ConnectionKind::Http => "http",
            ConnectionKind::Events => "sse",
            ConnectionKind::Messages => "websocket",
            ConnectionKind::Https => "https",
            ConnectionKind::Amp => "amp",
            ConnectionKind::AmpTls => "amp over tls",
            ConnectionKind::Relay => "relay",
            ConnectionKind::HttpRelay => "relay: http",
            ConnectionKind::File => "store: file",
            ConnectionKind::Server => "store: server",
            ConnectionKind::Nats => "nats",
        }
    }
}

/// How a case ended.
#[derive(Clone, Debug)]
pub struct CaseResult {
    pub outcome: Outcome,
    /// The fault struck.
    pub is_injected: bool,
    /// Where, if it was a message.
    pub struck: Option<FaultPoint>,
    /// Responses without end came in the middle of a test.
    pub is_flooded: bool,
    pub is_wrong: bool,
    /// What was said about it.
    pub message: String,
}

/// Plays one fault. `peer` is the program `ioco-bad-peer`.
pub fn play(way: ConnectionKind, fault: Fault, peer: &Path) -> CaseResult {
    let (sender, receiver) = channel();
    let fault = match way {
        ConnectionKind::Https | ConnectionKind::AmpTls => fault.behind_a_handshake(),
        _ => fault,
    };
    let injector = Injector::new(fault);
    // Something else than the bytes of a message was made wrong: a certificate, a file.
    let changed = Arc::new(AtomicBool::new(false));
    let (own, change, peer) = (injector.clone(), Arc::clone(&changed), peer.to_owned());
    std::thread::spawn(move || sender.send(judged(way, fault, own, &change, &peer)));
    let (outcome, message) = match receiver.recv_timeout(HANG) {
        Ok(Ok(ended)) => ended,
        Ok(Err(error)) => panic!("the suite itself failed: {error}"),
        Err(RecvTimeoutError::Timeout) => (Outcome::Hang, String::new()),
        Err(RecvTimeoutError::Disconnected) => (Outcome::Panic, String::new()),
    };
    // A process tells by a file, which its own thread has read.
    let struck = injector.struck();
    let is_changed = changed.load(Ordering::SeqCst);
    let is_wrong = match way {
        ConnectionKind::Https | ConnectionKind::AmpTls if sort(way, fault) != tls::Sort::Right => {
            outcome != Outcome::Error
        }
        // The peer of a recorder and the files of a store have rules of their own, by which an outcome that is
        // wrong was made a failure.
        ConnectionKind::Relay | ConnectionKind::HttpRelay => outcome != Outcome::Pass,
        ConnectionKind::File if !is_changed => outcome != Outcome::Pass,
        ConnectionKind::File => !matches!(outcome, Outcome::Pass | Outcome::Error),
        // It is no database and has no streams, whatever it says.
        ConnectionKind::Server | ConnectionKind::Nats => outcome != Outcome::Error,
        _ => rules::is_wrong(fault.kind, struck, way.carrier(), outcome),
    };
    CaseResult {
        outcome,
        is_injected: struck.is_some() || is_changed,
        struck,
        is_flooded: way.is_test()
            && rules::is_flood_of_responses(fault.kind, struck, way.carrier()),
        is_wrong: is_wrong || matches!(outcome, Outcome::Hang | Outcome::Panic),
        message,
    }
}

/// What is wrong with the certificate. The share that the test command plays has adapters with right ones where systems
/// have wrong ones.
fn sort(way: ConnectionKind, fault: Fault) -> tls::Sort {
    tls::Sort::of(match way {
        ConnectionKind::AmpTls => fault.seed / 10,
        _ => fault.seed,
    })
}

type Judged = io::Result<(Outcome, String)>;

fn judged(
    way: ConnectionKind,
    fault: Fault,
    injector: Injector,
    changed: &AtomicBool,
    peer: &Path,
) -> Judged {
    let kind = fault.kind;
    let (sts, patience) = (model::ping(rules::timeout(kind)), rules::patience(kind));
    let other = |error: ioco_adapters::AdapterError| io::Error::other(error.message);
    match way {
        ConnectionKind::Process => {
            let (at, seed) = (fault.at.to_string(), fault.seed.to_string());
            let program = peer.to_string_lossy().into_owned();
            let folder = tempfile::tempdir()?;
            let mark = folder.path().join("struck");
            let marked = mark.to_string_lossy();
            let arguments = [kind.name(), &at, &seed, "", &marked];
            let mut options = ProcessOptions::new(&program, &arguments);
            options.patience = patience;
            let ended = test(&mut Process::new(Arc::clone(&sts), options), &sts);
            injector.report(FaultPoint::read(&mark));
            Ok(ended)
        }
        ConnectionKind::Tcp => {
            let system = listen(move |socket| {
                let reading = socket.try_clone()?;
                peers::line(reading, &mut &socket, &injector)
            })?;
            let options = TcpOptions {
                patience,
                ..TcpOptions::new(&system.address)
            };
            Ok(test(&mut Tcp::new(Arc::clone(&sts), options), &sts))
        }
        ConnectionKind::TcpListen => {
            let options = TcpOptions {
                patience,
                ..TcpOptions::new("127.0.0.1:0")
            };
            let mut tcp = Tcp::listen(Arc::clone(&sts), &options).map_err(other)?;
            let address = tcp.listening().unwrap_or_default().to_owned();
            std::thread::spawn(move || {
                let socket = TcpStream::connect(address)?;
                let reading = socket.try_clone()?;
                let served = peers::line(reading, &mut &socket, &injector);
                let _ = socket.shutdown(std::net::Shutdown::Both);
                served
            });
            Ok(test(&mut tcp, &sts))
        }
        ConnectionKind::Text => {
            let system = listen(move |socket| peers::text(&socket, &injector))?;
            let mapping = Mapping {
                responses: [("pong".to_owned(), "PONG 1".into())].into(),
                reset: Some("RESET".to_owned()),
                ready: Some("READY".into()),
                ..Mapping::default()
            };
            let sockets = Sockets::Shared(system.address.clone());
            let lines = TextLines::new(Arc::clone(&sts), &mapping, &sockets, patience);
            Ok(test(&mut lines.map_err(other)?, &sts))
        }
        ConnectionKind::Http | ConnectionKind::Events | ConnectionKind::Messages => {
            let by = match way {
                ConnectionKind::Events => By::Event,
                ConnectionKind::Messages => By::Message,
                _ => By::Answer,
            };
            let service = Service::new(by, injector);
            let system = listen(move |socket| service.serve(&socket))?;
            let base = format!("http://{}", system.address);
            let http = Http::new(Arc::clone(&sts), &base, &mapping(by), patience);
            Ok(test(&mut http.map_err(other)?, &sts))
        }
        ConnectionKind::Https => {
            let sort = sort(way, fault);
            changed.store(sort != tls::Sort::Right, Ordering::SeqCst);
            let config = tls::server(sort)?;
            let folder = tempfile::tempdir()?;
            let roots = folder.path().join("roots.pem");
            std::fs::write(&roots, tls::trusted()?)?;
            let system =
                listen(move |socket| peers::encrypted(socket, Arc::clone(&config), &injector))?;
            let base = format!("https://{}", system.address);
            let mapping = HttpMapping {
                certificate: Some(roots),
                ..mapping(By::Answer)
            };
            let http = Http::new(Arc::clone(&sts), &base, &mapping, patience);
            Ok(test(&mut http.map_err(other)?, &sts))
        }
        ConnectionKind::Amp | ConnectionKind::AmpTls => {
            let folder = tempfile::tempdir()?;
            let is_encrypted = way == ConnectionKind::AmpTls;
            let mut hub = HubOptions::new("0");
            if is_encrypted {
                let sort = sort(way, fault);
                changed.store(sort != tls::Sort::Right, Ordering::SeqCst);
                hub.certificate = Some(tls::files(sort, folder.path())?);
            }
            let hub = Arc::new(Hub::listen(&hub).map_err(other)?);
            let url = hub.url();
            let client = is_encrypted.then(tls::client).transpose()?;
            std::thread::spawn(move || peers::adapter(&url, client, &injector));
            let options = AmpOptions {
                patience,
                connect_within: patience
                    .max(Duration::from_millis(300))
                    .min(Duration::from_secs(2)),
                ..AmpOptions::default()
            };
            Ok(test(&mut Amp::new(Arc::clone(&sts), hub, options), &sts))
        }
        ConnectionKind::Relay | ConnectionKind::HttpRelay => relayed(way, fault, &sts, injector),
        ConnectionKind::File => stores::damaged_file(fault, changed),
        ConnectionKind::Server => stores::bad_server(injector),
        ConnectionKind::Nats => buses::bad_server(injector),
    }
}

fn mapping(by: By) -> HttpMapping {
    let text = match by {
        By::Answer => r#"{"responses": {"pong": {"to": "ping", "status": 200}}}"#,
        By::Event => r#"{"events": "/events", "responses": {"pong": {"event": "pong"}}}"#,
        By::Message => r#"{"websocket": "/socket", "responses": {"pong": {"message": true}}}"#,
    };
    let mut mapping: HttpMapping = serde_json::from_str(text).unwrap_or_default();
    let request = |path: &str| ioco_adapters::RequestMapping {
        method: Some("POST".to_owned()),
        path: path.to_owned(),
        silent: if by == By::Answer {
            Vec::new()
        } else {
            vec![200]
        },
        ..ioco_adapters::RequestMapping::default()
    };
    mapping.reset = Some(request("/reset"));
    mapping.stimuli.insert("ping".to_owned(), request("/ping"));
    mapping
}

/// One test of three pings.
fn test(connection: &mut dyn Connection, sts: &Arc<Sts>) -> (Outcome, String) {
    let semantics = ioco_solve::semantics(sts, Relation::Ioco);
    let settings = Settings {
        stop: StopConditions {
            tests: Some(1),
            steps_per_test: 2 * PINGS as u64,
            ..StopConditions::default()
        },
        // Silence is waited for only where a response is due.
        wait: WaitPolicy::Sensible {
            observe: 1.0,
            idle: 0.0,
        },
        ..Settings::default()
    };
    let mut tester = Tester::new(semantics, settings);
    let Some(first) = tester.next_test(connection.now()) else {
        return (Outcome::Pass, String::new());
    };
    let error = drive(&mut tester, first, connection, &|| false, &mut |_| {});
    let verdict = tester.finished_test().execution.verdict;
    let message = match error {
        Some(error) => error.message,
        None => format!("{verdict:?}"),
    };
    (Outcome::from(&verdict), message)
}

/// A client whose pings a recorder passes on to a bad system. The client gets what the system sent, byte by byte,
/// and the recording has what the client got.
fn relayed(way: ConnectionKind, fault: Fault, sts: &Arc<Sts>, injector: Injector) -> Judged {
    let other = |error: ioco_adapters::AdapterError| io::Error::other(error.message);
    let (sender, here) = (injector.clone(), "127.0.0.1:0");
    let is_http = way == ConnectionKind::HttpRelay;
    let service = Service::new(By::Answer, injector.clone());
    let system = listen(move |socket| match is_http {
        true => service.serve(&socket),
        false => peers::line(socket.try_clone()?, &mut &socket, &sender),
    })?;
    let to = &system.address;
    let relay: Box<dyn Relay> = if is_http {
        let (base, mapping) = (format!("http://{to}"), mapping(By::Answer));
        Box::new(HttpRelay::listen(here, &base, Arc::clone(sts), &mapping).map_err(other)?)
    } else {
        Box::new(LineRelay::listen(here, to, Arc::clone(sts), None).map_err(other)?)
    };
    let address = relay.address();
    let address = address.trim_start_matches("http://").to_owned();
    let request = match is_http {
        true => PING_REQUEST,
        false => PING_LINE,
    };
    let done = Arc::new(AtomicBool::new(false));
    let finished = Arc::clone(&done);
    let asking = std::thread::spawn(move || {
        let got = client(&address, request);
        finished.store(true, Ordering::SeqCst);
        got
    });
    let mut recorded = String::new();
    let served = relay.run(Some(1), &|| done.load(Ordering::SeqCst), &mut |line| {
        recorded.push_str(line);
        recorded.push('\n');
        Ok(())
    });
    let got = asking.join().map_err(|_| io::ErrorKind::Other)??;
    let wrong = match (served, read_traces(&recorded, sts)) {
        (Err(error), _) => Some(error.message),
        (_, Err(why)) => Some(format!("the recording cannot be read: {why:?}")),
        (Ok(_), Ok(traces)) => {
            let steps = traces.iter().flat_map(|trace| trace.iter());
            let responses = steps.filter(|(_, step)| matches!(step, Recorded::Response(_)));
            let (sent, recorded) = (injector.sent(), responses.count());
            match is_http {
                true => compare_http(fault.kind, &sent, &got, recorded),
                false => compare(&sent, &got, recorded),
            }
        }
    };
    Ok(match wrong {
        Some(why) => (Outcome::Fail, why),
        None => (Outcome::Pass, String::new()),
    })
}

/// What is wrong with what a client got of what was sent, and with the number of pongs that were recorded.
fn compare(sent: &[u8], got: &[u8], recorded: usize) -> Option<String> {
    let both = sent.len().min(got.len());
    if sent[..both] != got[..both] {
        return Some("the client got other bytes than the system sent".to_owned());
    }
    let pongs = |bytes: &[u8]| {
        let lines = bytes.split_inclusive(|byte| *byte == b'\n');
        lines.filter(|line| *line == PONG_LINE.as_bytes()).count()
    };
    let (seen, said) = (pongs(got), pongs(sent));
    // Of a flood, not all that was sent is kept for this comparison.
    let is_flood = said > 1000;
    if recorded < seen || (recorded > said && !is_flood) {
        return Some(format!(
            "{recorded} pongs were recorded of {said} sent and {seen} got"
        ));
    }
    None
}

/// The same for HTTP. An answer that was not asked for is no response, and behind bytes that are no answer the recorder
/// cannot know where one begins: only what an honest system sends must be recorded whole.
fn compare_http(kind: Kind, sent: &[u8], got: &[u8], recorded: usize) -> Option<String> {
    let both = sent.len().min(got.len());
    if sent[..both] != got[..both] {
        return Some("the client got other bytes than the system sent".to_owned());
    }
    let answers = |bytes: &[u8], part: &[u8]| {
        let windows = bytes.windows(part.len());
        windows.filter(|window| *window == part).count()
    };
    let (seen, said) = (answers(got, ANSWER), answers(sent, b"HTTP/1.1 200"));
    let is_honest = matches!(kind, Kind::Nothing | Kind::Delay | Kind::SlowLoris);
    if recorded > said.min(PINGS) || (is_honest && recorded < seen) {
        return Some(format!(
            "{recorded} pongs were recorded of {said} sent and {seen} got"
        ));
    }
    None
}

const PING_LINE: &[u8] = b"{\"stimulus\":\"ping\",\"values\":{}}\n";
const PING_REQUEST: &[u8] = b"POST /ping HTTP/1.1\r\nHost: system\r\nContent-Length: 0\r\n\r\n";

/// Pings three times and reads a little of what comes.
fn client(address: &str, ping: &[u8]) -> io::Result<Vec<u8>> {
    use std::io::{Read as _, Write as _};
    let mut socket = TcpStream::connect(address)?;
    socket.set_read_timeout(Some(Duration::from_millis(20)))?;
    let begun = Instant::now();
    let mut got = Vec::new();
    let mut bytes = vec![0; 64 << 10];
    for _ in 0..PINGS {
        if socket.write_all(ping).is_err() {
            break;
        }
        let enough = got.len() + (1 << 20);
        while got.len() < enough && begun.elapsed() < Duration::from_secs(1) {
            match socket.read(&mut bytes) {
                Ok(0) | Err(_) => break,
                Ok(count) => got.extend_from_slice(&bytes[..count]),
            }
        }
    }
    Ok(got)
}

#[cfg(test)]
mod tests {
    use super::{ANSWER, Kind, PONG_LINE, compare, compare_http};

    #[test]
    fn a_recorder_that_changes_or_loses_something_is_found_out() {
        let two = PONG_LINE.repeat(2);
        let (two, one) = (two.as_bytes(), PONG_LINE.as_bytes());
        assert_eq!(compare(two, two, 2), None);
        // The client hung up before the second.
        assert_eq!(compare(two, one, 2), None);
        assert_eq!(compare(two, one, 1), None);
        for (sent, got, recorded) in [(two, two, 1), (one, one, 2), (one, &b"{}\n"[..], 0)] {
            assert!(compare(sent, got, recorded).is_some());
        }
        let two = ANSWER.repeat(2);
        let http = |kind, got: &[u8], recorded| compare_http(kind, &two, got, recorded);
        assert_eq!(http(Kind::Nothing, &two, 2), None);
        assert_eq!(http(Kind::Duplicate, &two, 1), None);
        assert!(http(Kind::Nothing, &two, 1).is_some());
        assert!(http(Kind::Duplicate, &two, 3).is_some());
        assert!(http(Kind::Garbage, b"HTTP/1.0", 0).is_some());
    }
}

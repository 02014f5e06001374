//! One fault against one kind of connection, inside this process.

use std::io;
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use ioco_adapters::{
    Amp, AmpOptions, Connection, Http, HttpMapping, Hub, HubOptions, LineRelay, Mapping, Process,
    ProcessOptions, Relay as _, Sockets, Tcp, TcpOptions, TextLines, drive, read_traces,
};
use ioco_engine::{Settings, StopConditions, Tester, WaitPolicy};
use ioco_solve::GuardSolver;
use ioco_sts::{Relation, Semantics, Sts};

use crate::fault::{Fault, Injector, Kind};
use crate::peers::{self, By, Service, listen};
use crate::rules::{self, Outcome};
use crate::{model, stores};

/// Nobody waits this long; a hang is found all the same.
pub const HANG: Duration = Duration::from_secs(120);

/// A kind of connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    Process,
    Tcp,
    TcpListen,
    Text,
    Http,
    Events,
    Messages,
    /// Over TLS, to somebody who has none.
    Https,
    Amp,
    Relay,
    /// A store in a file.
    File,
    /// A database server.
    Server,
}

impl Way {
    pub const ALL: [Way; 12] = [
        Way::Process,
        Way::Tcp,
        Way::TcpListen,
        Way::Text,
        Way::Http,
        Way::Events,
        Way::Messages,
        Way::Https,
        Way::Amp,
        Way::Relay,
        Way::File,
        Way::Server,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Way::Process => "process",
            Way::Tcp => "tcp",
            Way::TcpListen => "tcp-listen",
            Way::Text => "text lines",
            Way::Http => "http",
            Way::Events => "sse",
            Way::Messages => "websocket",
            Way::Https => "tls",
            Way::Amp => "amp",
            Way::Relay => "relay",
            Way::File => "store: file",
            Way::Server => "store: server",
        }
    }
}

/// How a case ended.
#[derive(Clone, Debug)]
pub struct Played {
    pub outcome: Outcome,
    /// The fault struck.
    pub is_injected: bool,
    pub is_wrong: bool,
    /// What was said about it.
    pub message: String,
}

/// Plays one fault. `peer` is the program `ioco-bad-peer`.
pub fn play(way: Way, fault: Fault, peer: &Path) -> Played {
    let (tell, told) = channel();
    let injector = Injector::new(fault);
    let (own, peer) = (injector.clone(), peer.to_owned());
    std::thread::spawn(move || tell.send(judged(way, fault, own, &peer)));
    let (outcome, message) = match told.recv_timeout(HANG) {
        Ok(Ok(ended)) => ended,
        Ok(Err(error)) => panic!("the suite itself failed: {error}"),
        Err(RecvTimeoutError::Timeout) => (Outcome::Hang, String::new()),
        Err(RecvTimeoutError::Disconnected) => (Outcome::Panic, String::new()),
    };
    // What a process injects it does not tell; it is judged as if it had, and so are those who only hang up.
    let is_known = !matches!(way, Way::Process | Way::File | Way::Server);
    let is_injected = injector.is_injected() || (!is_known && fault.kind != Kind::Nothing);
    let is_wrong = match way {
        Way::Process => {
            let kind = fault.kind;
            let quiet = rules::is_wrong(kind, true, outcome);
            // It may not have come to the fault.
            quiet && rules::is_wrong(Kind::Nothing, true, outcome)
        }
        // Whatever happens there, nothing is judged: an error, or all is well.
        Way::Https => outcome != Outcome::Error,
        Way::Relay | Way::File | Way::Server => !matches!(outcome, Outcome::Pass | Outcome::Error),
        // The library takes a handshake byte by byte for an attack.
        Way::Amp | Way::Messages if fault.kind == Kind::SlowLoris && outcome == Outcome::Error => {
            false
        }
        // An adapter says more than pong: a lost message need not be one that is waited for.
        Way::Amp | Way::Events | Way::Messages if outcome == Outcome::Pass => false,
        _ => rules::is_wrong(fault.kind, is_injected, outcome),
    };
    Played {
        outcome,
        is_injected,
        is_wrong: is_wrong || matches!(outcome, Outcome::Hang | Outcome::Panic),
        message,
    }
}

type Judged = io::Result<(Outcome, String)>;

fn judged(way: Way, fault: Fault, injector: Injector, peer: &Path) -> Judged {
    let kind = fault.kind;
    let (sts, patience) = (model::ping(rules::timeout(kind)), rules::patience(kind));
    let other = |error: ioco_adapters::AdapterError| io::Error::other(error.message);
    match way {
        Way::Process => {
            let (at, seed) = (fault.at.to_string(), fault.seed.to_string());
            let program = peer.to_string_lossy().into_owned();
            let mut options = ProcessOptions::new(&program, &[kind.name(), &at, &seed]);
            options.patience = patience;
            Ok(test(&mut Process::new(Arc::clone(&sts), options), &sts))
        }
        Way::Tcp => {
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
        Way::TcpListen => {
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
        Way::Text => {
            let system = listen(move |socket| peers::text(&socket, &injector))?;
            let mapping = Mapping {
                responses: [("pong".to_owned(), "PONG 1".to_owned())].into(),
                reset: Some("RESET".to_owned()),
                ready: Some("READY".to_owned()),
                ..Mapping::default()
            };
            let sockets = Sockets::Shared(system.address.clone());
            let lines = TextLines::new(Arc::clone(&sts), &mapping, &sockets, patience);
            Ok(test(&mut lines.map_err(other)?, &sts))
        }
        Way::Http | Way::Events | Way::Messages | Way::Https => {
            let by = match way {
                Way::Events => By::Event,
                Way::Messages => By::Message,
                _ => By::Answer,
            };
            let service = Service::new(by, injector.clone());
            let is_plain = way != Way::Https;
            let system = listen(move |socket| match is_plain {
                true => service.serve(&socket),
                // Somebody who answers whatever is said, and knows no TLS.
                false => peers::text(&socket, &injector),
            })?;
            let scheme = if is_plain { "http" } else { "https" };
            let base = format!("{scheme}://{}", system.address);
            let patience = if is_plain {
                patience
            } else {
                Duration::from_millis(300)
            };
            let http = Http::new(Arc::clone(&sts), &base, &mapping(by), patience);
            Ok(test(&mut http.map_err(other)?, &sts))
        }
        Way::Amp => {
            let hub = Arc::new(Hub::listen(&HubOptions::new("0")).map_err(other)?);
            let url = hub.url();
            std::thread::spawn(move || peers::adapter(&url, &injector));
            let options = AmpOptions {
                patience,
                connect_within: patience
                    .max(Duration::from_millis(300))
                    .min(Duration::from_secs(2)),
                ..AmpOptions::default()
            };
            Ok(test(&mut Amp::new(Arc::clone(&sts), hub, options), &sts))
        }
        Way::Relay => relayed(&sts, injector),
        Way::File => stores::damaged_file(fault),
        Way::Server => stores::bad_server(injector),
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
    let semantics = Semantics::new(
        Arc::clone(sts),
        Box::new(GuardSolver::new()),
        Relation::Ioco,
    );
    let settings = Settings {
        stop: StopConditions {
            tests: Some(1),
            steps_per_test: 6,
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
    let trouble = drive(&mut tester, first, connection, &|| false, &mut |_| {});
    let verdict = tester.finished_test().execution.verdict;
    let message = match trouble {
        Some(trouble) => trouble.message,
        None => format!("{verdict:?}"),
    };
    (Outcome::from(&verdict), message)
}

/// A client whose pings a recorder passes on to a bad system. The recording must be one.
fn relayed(sts: &Arc<Sts>, injector: Injector) -> Judged {
    let system = listen(move |socket| {
        let reading = socket.try_clone()?;
        peers::line(reading, &mut &socket, &injector)
    })?;
    let relay = LineRelay::listen("127.0.0.1:0", &system.address, Arc::clone(sts), None);
    let relay = relay.map_err(|error| io::Error::other(error.message))?;
    let address = relay.address();
    let done = Arc::new(AtomicBool::new(false));
    let finished = Arc::clone(&done);
    std::thread::spawn(move || {
        let asked = client(&address);
        finished.store(true, Ordering::SeqCst);
        asked
    });
    let mut recorded = String::new();
    let served = relay.run(Some(1), &|| done.load(Ordering::SeqCst), &mut |line| {
        recorded.push_str(line);
        recorded.push('\n');
        Ok(())
    });
    match (served, read_traces(&recorded, sts)) {
        (Ok(_), Ok(_)) => Ok((Outcome::Pass, String::new())),
        (Err(trouble), _) => Ok((Outcome::Error, trouble.message)),
        (_, Err(why)) => Ok((Outcome::Fail, format!("{why:?}"))),
    }
}

/// Pings three times and reads a little of what comes.
fn client(address: &str) -> io::Result<()> {
    use std::io::{Read as _, Write as _};
    let mut socket = TcpStream::connect(address)?;
    socket.set_read_timeout(Some(Duration::from_millis(20)))?;
    let begun = Instant::now();
    for _ in 0..3 {
        socket.write_all(b"{\"stimulus\":\"ping\",\"values\":{}}\n")?;
        let mut bytes = vec![0; 64 << 10];
        let mut read = 0;
        while read < (1 << 20) && begun.elapsed() < Duration::from_secs(1) {
            match socket.read(&mut bytes) {
                Ok(0) | Err(_) => break,
                Ok(count) => read += count,
            }
        }
    }
    Ok(())
}

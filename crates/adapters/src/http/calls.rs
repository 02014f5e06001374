//! What the threads of a connection do: send requests, and listen to events and to a web socket.

use std::io::Read as _;
use std::net::TcpStream;
use std::path::Path;
use std::time::{Duration, Instant};

use ioco_budget::Budget;
use ioco_sts::LabelId;
use ureq::tls::{PemItem, RootCerts, parse_pem};

use super::events::EventLines;
use super::mapping::Request;
use super::{HttpEvent, Stamped};
use crate::endpoint;
use crate::supervise::{Sender, Until, size};

/// The certificates in a file.
pub(super) fn roots(file: &Path, budget: &Budget) -> Result<RootCerts, String> {
    let shown = file.display();
    let text = ioco_outside::file::read(file, budget).map_err(|why| format!("{shown}: {why}"))?;
    let mut certificates = Vec::new();
    for item in parse_pem(&text) {
        let item = item.map_err(|why| format!("{shown}: {why}"))?;
        if let PemItem::Certificate(certificate) = item {
            certificates.push(certificate);
        }
    }
    if certificates.is_empty() {
        return Err(format!("{shown} holds no certificate in PEM form"));
    }
    Ok(RootCerts::from(certificates))
}

/// Sends a request; an answer of more than `most` bytes is not read. `None`: no answer came in time, which is
/// silence, and judged as such.
pub(super) fn send(
    agent: &ureq::Agent,
    base: &str,
    most: u64,
    number: u64,
    to: Option<LabelId>,
    request: &Request,
) -> Option<HttpEvent> {
    let url = format!("{base}{}", request.path);
    let mut builder = ureq::http::Request::builder()
        .method(request.method.as_str())
        .uri(&url);
    for (name, value) in &request.headers {
        builder = builder.header(name, value);
    }
    if request.body.is_some() {
        builder = builder.header("Content-Type", "application/json");
    }
    let failed = |error: &ureq::Error| {
        use ureq::Error::{ConnectionFailed, Io, Protocol, Timeout};
        if let Timeout(ureq::Timeout::RecvResponse | ureq::Timeout::RecvBody) = error {
            return None;
        }
        let hint = match error {
            ureq::Error::BodyExceedsLimit(_) => "; raise the limit with --limit message=N",
            _ => "",
        };
        Some(HttpEvent::AdapterError {
            number: Some(number),
            message: format!("{} {url} failed: {error}{hint}", request.method),
            ended: matches!(error, Io(_) | Protocol(_) | ConnectionFailed),
        })
    };
    let built = match builder.body(request.body.clone().unwrap_or_default()) {
        Ok(built) => built,
        Err(error) => return failed(&error.into()),
    };
    match agent.run(built) {
        Err(error) => failed(&error),
        Ok(mut answer) => {
            let status = answer.status().as_u16();
            let body = answer.body_mut().with_config().limit(most).read_to_vec();
            match body {
                Err(error) => failed(&error),
                Ok(body) => Some(HttpEvent::Answer {
                    number,
                    to,
                    status,
                    body: String::from_utf8_lossy(&body).into_owned(),
                }),
            }
        }
    }
}

/// Tells of server-sent events until there are no more.
pub(super) fn listen_to_events(body: ureq::Body, budget: &Budget, tell: &Sender<Stamped>) {
    let mut reader = body.into_reader();
    let mut lines = EventLines::new(budget);
    let mut bytes = vec![0; 16 << 10];
    let message = loop {
        let count = match reader.read(&mut bytes) {
            Ok(count @ 1..) => count,
            Ok(0) | Err(_) => break "the stream of events ended".to_owned(),
        };
        match lines.feed(&bytes[..count]) {
            Ok(events) => {
                for (name, data) in events {
                    let event = HttpEvent::Event { name, data };
                    let size = event.size();
                    if tell.send((Instant::now(), event), size).is_err() {
                        return;
                    }
                }
            }
            Err(too_long) => {
                break format!("the stream of events has {too_long}, or such an event");
            }
        }
    };
    let event = HttpEvent::AdapterError {
        number: None,
        message,
        ended: true,
    };
    let _ = tell.send_last((Instant::now(), event));
}

pub(super) type ClientSocket = tungstenite::WebSocket<TcpStream>;

/// A web socket, and what ends it.
pub(super) fn open_socket(
    url: &str,
    budget: &Budget,
    until: &Until<'_>,
) -> Result<(ClientSocket, TcpStream), String> {
    use tungstenite::HandshakeError::{Failure, Interrupted};
    let say = |error: &dyn std::fmt::Display| error.to_string();
    let uri: tungstenite::http::Uri = url.parse().map_err(|error| say(&error))?;
    let host = uri.host().unwrap_or_default();
    let address = format!("{host}:{}", uri.port_u16().unwrap_or(80));
    let tcp = endpoint::call(&address, until).map_err(|error| say(&error))?;
    let own = tcp.try_clone().map_err(|error| say(&error))?;
    let slice = Some(Duration::from_millis(20));
    tcp.set_nodelay(true).map_err(|error| say(&error))?;
    tcp.set_read_timeout(slice).map_err(|error| say(&error))?;
    tcp.set_write_timeout(slice).map_err(|error| say(&error))?;
    let config = tungstenite::protocol::WebSocketConfig::default()
        .max_message_size(Some(size(budget.message)))
        .max_frame_size(Some(size(budget.message)));
    let mut shaken = tungstenite::client::client_with_config(uri, tcp, Some(config));
    let socket = loop {
        shaken = match shaken {
            Ok((socket, _)) => break socket,
            Err(Failure(error)) => return Err(say(&error)),
            Err(Interrupted(_)) if until.is_over() => {
                return Err("it did not answer in time".to_owned());
            }
            Err(Interrupted(unfinished)) => unfinished.handshake(),
        };
    };
    own.set_read_timeout(None).map_err(|error| say(&error))?;
    own.set_write_timeout(None).map_err(|error| say(&error))?;
    Ok((socket, own))
}

pub(super) fn listen_to_socket(mut socket: ClientSocket, tell: &Sender<Stamped>) {
    let error = loop {
        match socket.read() {
            Ok(tungstenite::Message::Text(text)) => {
                let message = HttpEvent::Message(text.to_string());
                let size = message.size();
                if tell.send((Instant::now(), message), size).is_err() {
                    return;
                }
            }
            Ok(_) => {}
            Err(error) => break error,
        }
    };
    let event = HttpEvent::AdapterError {
        number: None,
        message: format!("the web socket broke off: {error}"),
        ended: true,
    };
    let _ = tell.send_last((Instant::now(), event));
}

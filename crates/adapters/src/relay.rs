//! Between a client and a system: passes bytes on, both ways, and tells of every line.
//!
//! A line is told of before it is passed on, so that what answers it is told of after it.

use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use ioco_engine::Recorded;
use ioco_sts::{Direction, Sts};

use crate::connection::Trouble;
use crate::line::{Codec, Line};
use crate::session::nanoseconds;
use crate::text::{Mapping, Templates};
use crate::trace::{read_traces, write_recorded};

/// How often waiting looks whether somebody wants to stop.
const SLICE: Duration = Duration::from_millis(50);

/// Who sent a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Client,
    System,
}

enum Relayed {
    Line(Instant, Side, String),
    Ended,
}

/// What the lines mean.
enum Language {
    /// One JSON object a line.
    Json(Codec),
    Text(Templates),
}

/// A recorder of traffic in one model's terms.
pub struct Relay {
    listener: TcpListener,
    to: String,
    sts: Arc<Sts>,
    language: Language,
    epoch: Instant,
}

impl Relay {
    /// Clients can connect to `listen` from now on; what they say goes to `to`. With a mapping the
    /// lines are text, otherwise the line protocol.
    pub fn listen(
        listen: &str,
        to: &str,
        sts: Arc<Sts>,
        mapping: Option<&Mapping>,
    ) -> Result<Relay, Trouble> {
        let language = match mapping {
            Some(mapping) => Language::Text(Templates::new(Arc::clone(&sts), mapping)?),
            None => Language::Json(Codec::new(Arc::clone(&sts))),
        };
        let bind = || {
            let listener = TcpListener::bind(listen)?;
            listener.set_nonblocking(true)?;
            Ok(listener)
        };
        let listener = bind().map_err(|error: io::Error| Trouble {
            message: format!("cannot listen on {listen}: {error}"),
            hint: Some("write HOST:PORT with a port that is free".to_owned()),
        })?;
        Ok(Relay {
            listener,
            to: to.to_owned(),
            sts,
            language,
            epoch: Instant::now(),
        })
    }

    /// Where clients connect.
    pub fn address(&self) -> String {
        let address = self.listener.local_addr();
        address.map_or_else(|_| "?".to_owned(), |address| address.to_string())
    }

    /// Serves one client after the other, at most `clients` if there is a limit. `write` gets the
    /// lines of the trace, without their newlines. Returns how many clients were served.
    pub fn run(
        &self,
        clients: Option<u64>,
        stop: &dyn Fn() -> bool,
        write: &mut dyn FnMut(&str) -> io::Result<()>,
    ) -> Result<u64, Trouble> {
        let mut served = 0;
        while clients.is_none_or(|clients| served < clients) && !stop() {
            match self.listener.accept() {
                Ok((client, _)) => {
                    self.serve(client, stop, write)?;
                    served += 1;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    std::thread::sleep(SLICE);
                }
                Err(error) => return Err(trouble(&self.to, &error)),
            }
        }
        Ok(served)
    }

    fn serve(
        &self,
        client: TcpStream,
        stop: &dyn Fn() -> bool,
        write: &mut dyn FnMut(&str) -> io::Result<()>,
    ) -> Result<(), Trouble> {
        let failed = |error: io::Error| trouble(&self.to, &error);
        let system = TcpStream::connect(&self.to).map_err(failed)?;
        client.set_nonblocking(false).map_err(failed)?;
        for socket in [&client, &system] {
            socket.set_nodelay(true).map_err(failed)?;
        }
        let (tell, told) = channel();
        for (from, to, side) in [
            (&client, &system, Side::Client),
            (&system, &client, Side::System),
        ] {
            let from = from.try_clone().map_err(failed)?;
            let to = to.try_clone().map_err(failed)?;
            let tell = tell.clone();
            std::thread::spawn(move || pass_on(from, to, side, &tell));
        }
        write("{\"reset\":true}").map_err(failed)?;
        let mut ended = 0;
        while ended < 2 {
            match told.recv_timeout(SLICE) {
                Ok(Relayed::Line(when, side, line)) => {
                    let at = nanoseconds(when.saturating_duration_since(self.epoch));
                    if let Some(line) = self.record(at, side, &line) {
                        write(&line).map_err(failed)?;
                    }
                }
                Ok(Relayed::Ended) => ended += 1,
                Err(_) if stop() => break,
                Err(_) => {}
            }
        }
        // Threads that still read end with their sockets.
        let _ = client.shutdown(Shutdown::Both);
        let _ = system.shutdown(Shutdown::Both);
        let at = nanoseconds(self.epoch.elapsed());
        write(&write_recorded(at, &Recorded::End, &self.sts)).map_err(failed)
    }

    /// A line as a line of the trace; nothing for what is no step.
    fn record(&self, at: u64, side: Side, line: &str) -> Option<String> {
        let recorded = match &self.language {
            Language::Text(templates) => {
                let direction = match side {
                    Side::Client => Direction::Stimulus,
                    Side::System => Direction::Response,
                };
                match templates.read(direction, line) {
                    Ok(action) if side == Side::Client => Recorded::Stimulus(action),
                    Ok(action) => Recorded::Response(action),
                    Err(text) if side == Side::System => Recorded::Unknown(text),
                    Err(text) if Some(&text) == templates.quoted_reset().as_ref() => {
                        return Some("{\"reset\":true}".to_owned());
                    }
                    // A stimulus that the model does not have: kept, so that checking says so.
                    Err(text) => {
                        return Some(format!(
                            "{{\"at\":{at},\"stimulus\":{}}}",
                            serde_json::Value::from(text)
                        ));
                    }
                }
            }
            Language::Json(codec) if side == Side::System => match codec.read_line(line.as_bytes())
            {
                Ok(Line::Response(action)) => Recorded::Response(action),
                Ok(Line::Unknown(text)) => Recorded::Unknown(text),
                Ok(_) => return None,
                Err(_) => Recorded::Unknown(line.to_owned()),
            },
            Language::Json(_) => {
                let read = read_traces(line, &self.sts).ok()?;
                match read.first().and_then(|trace| trace.first()) {
                    Some((_, recorded)) => recorded.clone(),
                    None => return Some("{\"reset\":true}".to_owned()),
                }
            }
        };
        Some(write_recorded(at, &recorded, &self.sts))
    }
}

fn trouble(to: &str, error: &io::Error) -> Trouble {
    Trouble {
        message: format!("recording between a client and {to} failed: {error}"),
        hint: Some("the system must be listening there before a client connects".to_owned()),
    }
}

/// Copies bytes until one side ends, and tells of the lines in them.
fn pass_on(mut from: TcpStream, mut to: TcpStream, side: Side, tell: &Sender<Relayed>) {
    let mut bytes = vec![0; 16 << 10];
    let mut line = Vec::new();
    while let Ok(count) = from.read(&mut bytes) {
        if count == 0 {
            break;
        }
        for &byte in &bytes[..count] {
            if byte == b'\n' {
                let text = String::from_utf8_lossy(&line).trim().to_owned();
                line.clear();
                if !text.is_empty() {
                    let _ = tell.send(Relayed::Line(Instant::now(), side, text));
                }
            } else {
                line.push(byte);
            }
        }
        if to.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
    let _ = tell.send(Relayed::Ended);
}

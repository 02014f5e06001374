//! A model played as an adapter of the Axini platform: it connects, announces the labels of the model, and answers
//! stimuli as the model allows.

use std::io;
use std::net::TcpStream;
use std::sync::Arc;

use ioco_sts::{Sts, Type, Types, Value};
use prost::Message as _;
use tungstenite::client::IntoClientRequest as _;
use tungstenite::http::{HeaderValue, header};
use tungstenite::{Message, WebSocket};

use super::labels::Labels;
use super::values::{Clocks, Units};
use super::wire::{self, Body};
use crate::player::{Left, MAX_IN_A_ROW};
use crate::stage::{FaultRate, Stage};

/// A model as an adapter.
pub struct AmpPlayer {
    labels: Labels,
    clocks: Clocks,
    stage: Stage,
    name: String,
}

impl AmpPlayer {
    /// `name` is what it announces itself as.
    pub fn new(sts: &Arc<Sts>, name: &str, seed: u64, faults: &[FaultRate]) -> AmpPlayer {
        AmpPlayer {
            labels: Labels::new(Arc::clone(sts)),
            clocks: Clocks::new(Units::default()),
            stage: Stage::new(Arc::clone(sts), seed, faults),
            name: name.to_owned(),
        }
    }

    /// Connects to a platform at `ws://HOST:PORT/PATH` and serves it until it closes the connection. `note` gets
    /// what the platform sent that ioco does not understand.
    pub fn serve(
        &mut self,
        url: &str,
        token: Option<&str>,
        note: &mut dyn FnMut(String),
    ) -> io::Result<Left> {
        let host = url.strip_prefix("ws://").unwrap_or_default();
        let host = host.split('/').next().unwrap_or_default();
        if host.is_empty() {
            return Err(io::Error::other("the address is no ws://HOST:PORT"));
        }
        let mut request = url.into_client_request().map_err(io::Error::other)?;
        if let Some(token) = token {
            let shown = HeaderValue::from_str(&format!("Bearer {token}"));
            let shown = shown.map_err(io::Error::other)?;
            request.headers_mut().insert(header::AUTHORIZATION, shown);
        }
        let stream = TcpStream::connect(host)?;
        stream.set_nodelay(true)?;
        let connected = tungstenite::client(request, stream);
        let (mut socket, _) = connected.map_err(|error| io::Error::other(error.to_string()))?;
        send(&mut socket, Body::Announcement(self.announcement()))?;
        loop {
            let bytes = match socket.read() {
                Ok(Message::Binary(bytes)) => bytes,
                Ok(Message::Close(_)) => continue,
                Ok(_) => {
                    // A ping is answered with the next thing that is written.
                    flush(&mut socket)?;
                    continue;
                }
                Err(tungstenite::Error::ConnectionClosed | tungstenite::Error::AlreadyClosed) => {
                    return Ok(Left::Client);
                }
                Err(error) => return Err(io::Error::other(error)),
            };
            match wire::Message::decode(&bytes[..]) {
                Ok(message) => self.take(&mut socket, message, note)?,
                Err(error) => note(error.to_string()),
            }
            if self.stage.has_ended() {
                return Ok(Left::System);
            }
        }
    }

    fn take(
        &mut self,
        socket: &mut WebSocket<TcpStream>,
        message: wire::Message,
        note: &mut dyn FnMut(String),
    ) -> io::Result<()> {
        match message.body {
            Some(Body::Configuration(_) | Body::Reset(_)) => {
                self.stage.reset();
                send(socket, Body::Ready(wire::Ready {}))?;
            }
            Some(Body::Label(label)) => {
                let read = self.labels.read_stimulus(&label, &mut self.clocks);
                let stimulus = match read {
                    Ok(stimulus) => stimulus,
                    Err(why) => {
                        let error = wire::Error {
                            message: format!("not understood: {why}"),
                        };
                        note(why);
                        return send(socket, Body::Error(error));
                    }
                };
                // The confirmation comes before what the stimulus causes.
                send(socket, Body::Label(label))?;
                self.stage.give(&stimulus);
            }
            Some(Body::Error(error)) => {
                note(error.message);
                return Ok(());
            }
            Some(Body::Announcement(_) | Body::Ready(_)) | None => return Ok(()),
        }
        for _ in 0..MAX_IN_A_ROW {
            let Some(said) = self.stage.next().map_err(io::Error::other)? else {
                break;
            };
            for response in &said {
                let label = self.labels.write_response(response, &self.clocks);
                send(socket, Body::Label(label))?;
            }
        }
        Ok(())
    }

    fn announcement(&self) -> wire::Announcement {
        wire::Announcement {
            name: self.name.clone(),
            configuration: None,
            labels: self.labels.announced(&self.clocks),
        }
    }
}

fn send(socket: &mut WebSocket<TcpStream>, body: Body) -> io::Result<()> {
    let bytes = wire::Message::from(body).encode_to_vec();
    socket
        .send(Message::binary(bytes))
        .map_err(io::Error::other)
}

fn flush(socket: &mut WebSocket<TcpStream>) -> io::Result<()> {
    socket.flush().map_err(io::Error::other)
}

/// Some value of a type, which an announcement has for the type alone.
pub(super) fn some_value(ty: &Type, types: &Types) -> Value {
    match ty {
        Type::Bool => Value::Bool(false),
        Type::Int(range) => Value::Int(0.clamp(range.min, range.max)),
        Type::Date | Type::Time => Value::Int(0),
        Type::Decimal => Value::Decimal(rust_decimal::Decimal::ZERO),
        Type::Str => Value::str(""),
        Type::Enum(id) => Value::Enum(*id, 0),
        Type::Array(item) => Value::Array(Arc::from([some_value(item, types)])),
        Type::Struct(id) => {
            let fields = types.structs[id.index()].fields.iter();
            let fields = fields.map(|(_, ty)| some_value(ty, types));
            Value::Struct(*id, fields.collect())
        }
    }
}

//! A model played as a system for others: a stub that behaves as the model says, with faults where they are asked
//! for. Clients speak the line protocol, or the messages that `[lines]` describes.
//!
//! The same seed and the same messages give the same answers.

use std::io::{self, Read, Write};
use std::sync::Arc;

use ioco_engine::Recorded;
use ioco_sts::{Action, Direction, Sts};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::connection::AdapterError;
use crate::line::Codec;
use crate::stage::{FaultRate, Stage};
use crate::text::{Cutter, Framing, Mapping, Pattern, Templates};
use crate::trace::stimulus;
use crate::values::shorten;

/// Responses in a row, where the model never has to be silent; then the next message is waited for.
pub(crate) const MAX_IN_A_ROW: usize = 1000;

enum Protocol {
    /// One JSON object a line.
    Json(Codec),
    Text {
        templates: Templates,
        mapping: Box<Mapping>,
    },
}

/// What a client says in the line protocol.
#[derive(Deserialize)]
struct Keys<'a> {
    reset: Option<bool>,
    stimulus: Option<String>,
    #[serde(borrow)]
    values: Option<&'a RawValue>,
}

/// Why a client is served no longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// It closed the connection.
    Client,
    /// The model closed the connection.
    Model,
    /// [`crate::PlayedFault::End`].
    System,
}

/// A model as a system that others connect to.
pub struct Player {
    sts: Arc<Sts>,
    speech: Protocol,
    stage: Stage,
    /// The model has closed this connection.
    has_closed: bool,
}

impl Player {
    /// With a mapping it speaks those messages, otherwise the line protocol.
    pub fn new(
        sts: Arc<Sts>,
        mapping: Option<&Mapping>,
        seed: u64,
        faults: &[FaultRate],
    ) -> Result<Player, AdapterError> {
        let speech = match mapping {
            None => Protocol::Json(Codec::new(Arc::clone(&sts))),
            Some(mapping) => {
                let templates = Templates::new(Arc::clone(&sts), mapping)?;
                playable(&sts, &templates)?;
                Protocol::Text {
                    templates,
                    mapping: Box::new(mapping.clone()),
                }
            }
        };
        Ok(Player {
            stage: Stage::new(Arc::clone(&sts), seed, faults),
            sts,
            speech,
            has_closed: false,
        })
    }

    /// Serves one client to its end; every client meets the system in its initial state. `note` gets what
    /// the client sent and nobody understands.
    pub fn serve(
        &mut self,
        input: &mut dyn Read,
        output: &mut dyn Write,
        note: &mut dyn FnMut(String),
    ) -> io::Result<Left> {
        let mut out = Vec::new();
        self.has_closed = false;
        self.greet(&mut out, output)?;
        let mut cutter = Cutter::new(self.framing(), self.sts.budget());
        let mut bytes = vec![0; 16 << 10];
        loop {
            output.write_all(&out)?;
            output.flush()?;
            out.clear();
            if self.stage.has_ended() {
                return Ok(Left::System);
            }
            if self.has_closed {
                return Ok(Left::Model);
            }
            let count = match input.read(&mut bytes) {
                Ok(0) => return Ok(Left::Client),
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            cutter.feed(&bytes[..count]);
            while let Some(message) = cutter.next().map_err(io::Error::other)? {
                self.take(&message, &mut out, output, note)?;
                if self.stage.has_ended() || self.has_closed {
                    break;
                }
            }
        }
    }

    fn framing(&self) -> Framing {
        match &self.speech {
            Protocol::Json(_) => Framing::default(),
            Protocol::Text { mapping, .. } => mapping.framing.clone(),
        }
    }

    fn greet(&mut self, out: &mut Vec<u8>, output: &mut dyn Write) -> io::Result<()> {
        self.stage.reset();
        let Protocol::Text { mapping, .. } = &self.speech else {
            return Ok(());
        };
        if let Some(Pattern::Exact(banner)) = &mapping.banner {
            let banner = mapping.framing.wrap(banner.clone().into_bytes());
            out.extend(banner.map_err(io::Error::other)?);
        }
        // Where a client cannot ask for a reset, connecting was it.
        match mapping.reset {
            Some(_) => Ok(()),
            None => self.respond(out, output),
        }
    }

    /// Takes one message and appends what the system says to it.
    fn take(
        &mut self,
        message: &[u8],
        out: &mut Vec<u8>,
        output: &mut dyn Write,
        note: &mut dyn FnMut(String),
    ) -> io::Result<()> {
        let meant = match &self.speech {
            Protocol::Json(_) if message.trim_ascii().is_empty() => return Ok(()),
            Protocol::Json(_) => self.read_json(message),
            Protocol::Text { templates, mapping } => {
                if mapping.reset.as_deref().map(str::as_bytes) == Some(message) {
                    Ok(None)
                } else {
                    let read = templates.read(Direction::Stimulus, message, &|_| true);
                    read.map(Some)
                }
            }
        };
        match meant {
            Ok(None) => {
                self.stage.reset();
                match &self.speech {
                    Protocol::Json(_) => out.extend(b"{\"ready\":true}\n"),
                    Protocol::Text { mapping, .. } => {
                        if let Some(Pattern::Exact(ready)) = &mapping.ready {
                            let ready = mapping.framing.wrap(ready.clone().into_bytes());
                            out.extend(ready.map_err(io::Error::other)?);
                        }
                    }
                }
            }
            Ok(Some(given)) => {
                self.stage.give(&given);
                if self.stage.has_ended() {
                    return Ok(());
                }
            }
            Err(why) => {
                if let Protocol::Json(_) = self.speech {
                    let error = serde_json::json!({ "error": why });
                    out.extend(format!("{error}\n").into_bytes());
                }
                note(why);
                return Ok(());
            }
        }
        self.respond(out, output)
    }

    /// A stimulus; `None` is a reset.
    fn read_json(&self, message: &[u8]) -> Result<Option<Action>, String> {
        let text = String::from_utf8_lossy(message);
        let shown = || shorten(&text, 100);
        let keys: Keys<'_> = serde_json::from_str(&text)
            .map_err(|_| format!("{} is no JSON object of the line protocol", shown()))?;
        if keys.reset == Some(true) {
            return Ok(None);
        }
        let name = keys
            .stimulus
            .ok_or_else(|| format!("{} is not a stimulus", shown()))?;
        let values = keys.values.map_or("{}", RawValue::get);
        match stimulus(&name, values, &self.sts)? {
            Recorded::Stimulus(action) => Ok(Some(action)),
            _ => Err(format!("{} is not a stimulus", shown())),
        }
    }

    /// Appends what the system says now, up to its silence. Every response goes out before the next is chosen: a
    /// model may have many, and the client does not wait for ever.
    fn respond(&mut self, out: &mut Vec<u8>, output: &mut dyn Write) -> io::Result<()> {
        for _ in 0..MAX_IN_A_ROW {
            let Some(said) = self.stage.next().map_err(io::Error::other)? else {
                if let Protocol::Json(_) = self.speech {
                    out.extend(b"{\"quiescent\":true}\n");
                }
                return Ok(());
            };
            for response in &said {
                self.send(response, out)?;
            }
            output.write_all(out)?;
            output.flush()?;
            out.clear();
            if self.has_closed {
                return Ok(());
            }
        }
        Ok(())
    }

    fn send(&mut self, response: &Action, out: &mut Vec<u8>) -> io::Result<()> {
        match &self.speech {
            Protocol::Json(codec) => codec.write_response(response, out),
            Protocol::Text { templates, .. } if templates.closes(response.label) => {
                self.has_closed = true;
            }
            Protocol::Text { templates, mapping } => {
                let content = templates.write_message(response);
                let wire = content.and_then(|content| mapping.framing.wrap(content));
                out.extend(wire.map_err(io::Error::other)?);
            }
        }
        Ok(())
    }
}

/// Whether every response can be sent, and every stimulus be recognised.
pub(crate) fn playable(sts: &Sts, templates: &Templates) -> Result<(), AdapterError> {
    for id in sts.labels_of(Direction::Response) {
        if !templates.can_write(id) && !templates.closes(id) {
            return Err(AdapterError::new(format!(
                "{} is no template in [lines], so it cannot be sent",
                sts.label(id).marked_name()
            ))
            .hint("describe it by a template; a regular expression only reads"));
        }
    }
    for id in sts.labels_of(Direction::Stimulus) {
        if templates.messages(id) > 1 {
            return Err(AdapterError::new(format!(
                "{} is several messages in [lines], so it cannot be recognised",
                sts.label(id).marked_name()
            ))
            .hint("a stimulus that is played has one message at most"));
        }
    }
    Ok(())
}

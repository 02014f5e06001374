//! A model played as a system for others: a stub that behaves as the model says, with faults where they are asked
//! for. Clients speak the line protocol, or the messages that `[lines]` describes.
//!
//! The same seed and the same messages give the same answers.

use std::io::{self, Read, Write};
use std::sync::Arc;

use ioco_engine::Recorded;
use ioco_sts::{Action, Sts};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::connection::AdapterError;
use crate::line::Codec;
use crate::stage::{FaultRate, Stage};
use crate::text::{Framing, Heard, Mapping, MessageSplitter, Recogniser, Templates, TextResponder};
use crate::trace::stimulus;
use crate::values::shorten;

/// Responses in a row, where the model never has to be silent; then the next message is waited for.
pub(crate) const MAX_IN_A_ROW: usize = 1000;

enum Protocol {
    /// One JSON object a line.
    Json(Codec),
    Text(Box<Text>),
}

struct Text {
    templates: Templates,
    mapping: Mapping,
    responder: TextResponder,
    recogniser: Recogniser,
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
                Protocol::Text(Box::new(Text {
                    responder: TextResponder::new(&sts, &templates, mapping, seed)?,
                    templates,
                    mapping: mapping.clone(),
                    recogniser: Recogniser::default(),
                }))
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
    /// the client sent that ioco does not understand.
    pub fn serve(
        &mut self,
        input: &mut dyn Read,
        output: &mut dyn Write,
        note: &mut dyn FnMut(String),
    ) -> io::Result<Left> {
        let mut out = Vec::new();
        self.has_closed = false;
        self.greet(&mut out, output)?;
        let mut splitter = MessageSplitter::new(self.framing(), self.sts.budget());
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
                Ok(0) => {
                    self.take_text(&mut out, output, note, true)?;
                    output.write_all(&out)?;
                    output.flush()?;
                    return Ok(match self.stage.has_ended() {
                        true => Left::System,
                        false => Left::Client,
                    });
                }
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            splitter.feed(&bytes[..count]);
            while let Some(message) = splitter.next().map_err(io::Error::other)? {
                self.take(message, &mut out, output, note)?;
                if self.stage.has_ended() || self.has_closed {
                    break;
                }
            }
        }
    }

    fn framing(&self) -> Framing {
        match &self.speech {
            Protocol::Json(_) => Framing::default(),
            Protocol::Text(text) => text.mapping.framing.clone(),
        }
    }

    fn greet(&mut self, out: &mut Vec<u8>, output: &mut dyn Write) -> io::Result<()> {
        self.stage.reset();
        let Protocol::Text(text) = &mut self.speech else {
            return Ok(());
        };
        text.recogniser = Recogniser::default();
        let banner = text.mapping.banner.as_ref();
        let banner = text.responder.greeting(banner, &text.mapping);
        out.extend(banner.map_err(io::Error::other)?);
        // Where a client cannot ask for a reset, connecting was it.
        match text.mapping.reset {
            Some(_) => Ok(()),
            None => self.respond(out, output),
        }
    }

    /// Takes one message and appends what the system says to it.
    fn take(
        &mut self,
        message: Vec<u8>,
        out: &mut Vec<u8>,
        output: &mut dyn Write,
        note: &mut dyn FnMut(String),
    ) -> io::Result<()> {
        if let Protocol::Text(text) = &mut self.speech {
            text.recogniser.hear(message);
            return self.take_text(out, output, note, false);
        }
        if message.trim_ascii().is_empty() {
            return Ok(());
        }
        match self.read_json(&message) {
            Ok(None) => {
                self.stage.reset();
                out.extend(b"{\"ready\":true}\n");
            }
            Ok(Some(given)) => {
                self.stage.give(&given);
                if self.stage.has_ended() {
                    return Ok(());
                }
            }
            Err(why) => {
                let error = serde_json::json!({ "error": why });
                out.extend(format!("{error}\n").into_bytes());
                note(why);
                return Ok(());
            }
        }
        self.respond(out, output)
    }

    /// Takes the stimuli that were heard. `ended`: the client says nothing more.
    fn take_text(
        &mut self,
        out: &mut Vec<u8>,
        output: &mut dyn Write,
        note: &mut dyn FnMut(String),
        ended: bool,
    ) -> io::Result<()> {
        while !self.stage.has_ended() && !self.has_closed {
            let Protocol::Text(text) = &mut self.speech else {
                return Ok(());
            };
            let reset = text.mapping.reset.as_deref();
            let heard =
                (text.recogniser).next(&text.templates, reset, &|_| true, &mut self.stage, ended);
            match heard {
                None => return Ok(()),
                Some(Heard::Reset) => {
                    self.stage.reset();
                    let ready = text.mapping.ready.as_ref();
                    let ready = text.responder.greeting(ready, &text.mapping);
                    out.extend(ready.map_err(io::Error::other)?);
                }
                Some(Heard::Stimulus { action, .. }) => self.stage.give(&action),
                Some(Heard::Unknown(what)) => {
                    note(what);
                    continue;
                }
            }
            if !self.stage.has_ended() {
                self.respond(out, output)?;
            }
        }
        Ok(())
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
        match &mut self.speech {
            Protocol::Json(codec) => codec.write_response(response, out),
            Protocol::Text(text) if text.templates.closes(response.label) => {
                self.has_closed = true;
            }
            Protocol::Text(text) => {
                let Text {
                    templates,
                    mapping,
                    responder,
                    ..
                } = text.as_mut();
                let wire = responder.response(templates, mapping, response, &|_| true);
                out.extend(wire.map_err(io::Error::other)?);
            }
        }
        Ok(())
    }
}

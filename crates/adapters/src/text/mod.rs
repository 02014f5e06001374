//! Systems that speak lines of text of their own over TCP, as the example systems of TorXakis do:
//! one line for each message, on one socket or on one for each channel.
//!
//! [`Mapping`] says how each label looks as a line. A system without a word for a reset is reset by
//! connecting to it anew.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ioco_budget::Budget;
use ioco_sts::{Action, Direction, LabelId, Sts};

use crate::connection::{AdapterError, Arrival, Arrived, Connection};
use crate::dial::Dial;
use crate::session::nanoseconds;
use crate::stream::{Stream, StreamError, wait_any};
use crate::supervise::{Until, never};
use crate::template::Template;
use crate::values::{Mismatch, shorten};

/// How labels look as lines. A label that is not mentioned is its name and its values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mapping {
    /// By the stimulus' name: `LOCK {passcode}`.
    pub stimuli: BTreeMap<String, String>,
    pub responses: BTreeMap<String, String>,
    /// The line that asks for a reset; without it, connecting anew resets.
    pub reset: Option<String>,
    /// The line that says that the system is in its initial state; without it, it is at once.
    pub ready: Option<String>,
    /// A carriage return goes before the newline of every line that is sent. Those that come may
    /// have one or not.
    pub carriage_return: bool,
}

/// Lines of one socket that are taken in at once: the rest of a flood stays where it is.
const AT_ONCE: usize = 64;

/// Where the system is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sockets {
    /// All channels at `host:port`.
    Shared(String),
    /// The system connects to us.
    Listening(String),
    /// `host:port` of each channel.
    PerChannel(BTreeMap<String, String>),
}

/// The lines of all labels of a model.
pub(crate) struct Templates {
    sts: Arc<Sts>,
    /// Per label.
    templates: Vec<Option<Template>>,
    /// Those that fix most of a line first.
    order: Vec<LabelId>,
}

impl Templates {
    /// What is wrong with the mapping is said at once, in words for a person.
    pub fn budget(&self) -> &Budget {
        self.sts.budget()
    }

    pub fn new(sts: Arc<Sts>, mapping: &Mapping) -> Result<Templates, AdapterError> {
        let wrong = |message: String| {
            AdapterError::new(message).hint("[lines] of ioco.toml says how labels look as lines")
        };
        let mut templates = Vec::new();
        for label in sts.labels() {
            let mapped = match label.direction {
                Direction::Stimulus => mapping.stimuli.get(&label.name),
                Direction::Response => mapping.responses.get(&label.name),
                Direction::Internal => {
                    templates.push(None);
                    continue;
                }
            };
            templates.push(Some(match mapped {
                Some(text) => Template::parse(text, label).map_err(wrong)?,
                None => Template::usual(label),
            }));
        }
        for (names, direction) in [
            (&mapping.stimuli, Direction::Stimulus),
            (&mapping.responses, Direction::Response),
        ] {
            for name in names.keys() {
                if sts.label_named(direction, name).is_none() {
                    let mark = direction.mark();
                    return Err(wrong(format!("the model has no {mark}{name}")));
                }
            }
        }
        let stimuli = sts.labels_of(Direction::Stimulus);
        let mut order: Vec<LabelId> = stimuli.chain(sts.labels_of(Direction::Response)).collect();
        order.sort_by_key(|id| {
            let template = templates[id.index()].as_ref();
            std::cmp::Reverse(template.map_or(0, Template::fixed))
        });
        Ok(Templates {
            sts,
            templates,
            order,
        })
    }

    /// The label that a line is; otherwise the line, and why it is none.
    pub fn read(&self, direction: Direction, line: &str) -> Result<Action, String> {
        let mut misfit = None;
        for &label in &self.order {
            let (Some(template), known) = (&self.templates[label.index()], self.sts.label(label))
            else {
                continue;
            };
            if known.direction != direction {
                continue;
            }
            match template.read(line, known, self.sts.types()) {
                None => {}
                Some(Ok(values)) => return Ok(Action { label, values }),
                Some(Err(Mismatch(why))) => {
                    misfit.get_or_insert_with(|| format!("{} ({why})", quoted(line)));
                }
            }
        }
        Err(misfit.unwrap_or_else(|| quoted(line)))
    }

    fn write(&self, action: &Action, out: &mut Vec<u8>) {
        if let Some(template) = &self.templates[action.label.index()] {
            let line = template.write(&action.values, self.sts.types(), str::to_owned);
            out.extend_from_slice(line.as_bytes());
        }
    }
}

fn quoted(line: &str) -> String {
    format!("\"{}\"", shorten(line, 100))
}

/// A connection to a system that speaks lines of its own.
pub struct TextLines {
    templates: Templates,
    reset: Option<String>,
    ready: Option<String>,
    /// What ends a line that is sent.
    end: &'static str,
    dials: Vec<Dial>,
    /// Per channel, the position of its socket.
    routes: BTreeMap<String, usize>,
    streams: Vec<Stream>,
    patience: Duration,
    epoch: Instant,
    arrived: VecDeque<Arrived>,
    sent: Vec<u8>,
}

impl TextLines {
    /// What is wrong with the mapping is said at once, in words for a person.
    pub fn new(
        sts: Arc<Sts>,
        mapping: &Mapping,
        sockets: &Sockets,
        patience: Duration,
    ) -> Result<TextLines, AdapterError> {
        let (dials, routes) = dials(&sts, sockets)?;
        Ok(TextLines {
            templates: Templates::new(sts, mapping)?,
            reset: mapping.reset.clone(),
            ready: mapping.ready.clone(),
            end: if mapping.carriage_return {
                "\r\n"
            } else {
                "\n"
            },
            dials,
            routes,
            streams: Vec::new(),
            patience,
            epoch: Instant::now(),
            arrived: VecDeque::new(),
            sent: Vec::new(),
        })
    }

    /// Where we listen, if we do.
    pub fn listening(&self) -> Option<&str> {
        self.dials.iter().find_map(|dial| match dial {
            Dial::Answer(_, address) => Some(address.as_str()),
            Dial::Call(_) => None,
        })
    }

    /// Takes in lines that are here, not more than [`AT_ONCE`] of each socket.
    fn take_in(&mut self) -> Result<(), AdapterError> {
        for index in 0..self.streams.len() {
            for _ in 0..AT_ONCE {
                let raw = match self.streams[index].whole_line() {
                    Ok(Some(raw)) => raw.to_vec(),
                    Ok(None) => break,
                    // What came before the end is judged first.
                    Err(_) if !self.arrived.is_empty() => return Ok(()),
                    Err(broken) => return Err(self.explain(index, broken)),
                };
                let line = String::from_utf8_lossy(&raw);
                let line = line.trim_end_matches('\r');
                if line.trim().is_empty() {
                    continue;
                }
                let what = match self.templates.read(Direction::Response, line) {
                    Ok(action) => Arrival::Response(action),
                    Err(text) => Arrival::Unknown(text),
                };
                let at = nanoseconds(self.epoch.elapsed());
                self.arrived.push_back(Arrived { what, at, raw });
            }
        }
        Ok(())
    }

    fn explain(&mut self, index: usize, broken: StreamError) -> AdapterError {
        self.streams.clear();
        let address = self.dials.get(index).map_or("", Dial::address);
        let ended = matches!(broken, StreamError::Ended | StreamError::Io(_));
        let message = match broken {
            StreamError::Ended => format!("{address} closed the connection"),
            StreamError::TimedOut => format!("{address} did not answer within {:?}", self.patience),
            StreamError::TooLong(line) => format!("{address} sent {line}"),
            StreamError::Io(error) => format!("the connection to {address} failed: {error}"),
        };
        AdapterError::new(message)
            .hint("its own log may say why; the next test connects to it again")
            .ended(ended)
    }

    fn connect(&mut self, until: &Until<'_>) -> Result<(), AdapterError> {
        self.streams.clear();
        for dial in &self.dials {
            self.streams
                .push(dial.connect(self.templates.budget(), until)?);
        }
        Ok(())
    }

    /// Discards lines until every socket has said that the system is ready.
    fn await_ready(&mut self, ready: &str, until: &Until<'_>) -> Result<(), AdapterError> {
        // Whoever serves several sockets answers on one of them.
        loop {
            for index in 0..self.streams.len() {
                // A system that floods always has a line; the time is up all the same.
                while !until.is_over() {
                    match self.streams[index].whole_line() {
                        Ok(Some(line)) if line.trim_ascii() == ready.as_bytes() => return Ok(()),
                        Ok(Some(_)) => {}
                        Ok(None) => break,
                        Err(broken) => return Err(self.explain(index, broken)),
                    }
                }
            }
            if until.is_over() {
                return Err(AdapterError::new(format!(
                    "the system did not say \"{ready}\" within {:?}",
                    self.patience
                ))
                .hint("ready in [lines] of ioco.toml is the line it says"));
            }
            let waited = wait_any(&mut self.streams, until.slice());
            waited.map_err(|broken| self.explain(0, broken))?;
        }
    }
}

type Dials = (Vec<Dial>, BTreeMap<String, usize>);

fn dials(sts: &Sts, sockets: &Sockets) -> Result<Dials, AdapterError> {
    let observable = sts
        .labels()
        .iter()
        .filter(|l| l.direction != Direction::Internal);
    let channels: Vec<String> = observable.map(|l| l.channel.clone()).collect();
    let all_to_first = || channels.iter().map(|c| (c.clone(), 0)).collect();
    match sockets {
        Sockets::Shared(address) => Ok((vec![Dial::Call(address.clone())], all_to_first())),
        Sockets::Listening(address) => Ok((vec![Dial::answer(address)?], all_to_first())),
        Sockets::PerChannel(addresses) => {
            let mut dials: Vec<Dial> = Vec::new();
            let mut routes = BTreeMap::new();
            for channel in channels {
                let address = addresses.get(&channel).ok_or_else(|| {
                    AdapterError::new(format!("there is no address for channel '{channel}'"))
                        .hint("[lines.channels] of ioco.toml names one for each")
                })?;
                let known = dials.iter().position(|dial| dial.address() == address);
                let position = known.unwrap_or_else(|| {
                    dials.push(Dial::Call(address.clone()));
                    dials.len() - 1
                });
                routes.insert(channel, position);
            }
            Ok((dials, routes))
        }
    }
}

impl Connection for TextLines {
    fn now(&self) -> u64 {
        nanoseconds(self.epoch.elapsed())
    }

    fn reset(&mut self) -> Result<(), AdapterError> {
        self.reset_heeding(&never)
    }

    fn reset_heeding(&mut self, stop: &dyn Fn() -> bool) -> Result<(), AdapterError> {
        self.sent.clear();
        self.arrived.clear();
        let until = Until::within(self.patience, stop);
        let fresh = self.streams.is_empty() || self.reset.is_none();
        if fresh {
            self.connect(&until)?;
        }
        if let Some(reset) = self.reset.clone() {
            let line = format!("{reset}{}", self.end);
            let written = self.streams[0].write(line.as_bytes(), &until);
            written.map_err(|broken| self.explain(0, broken))?;
        }
        if let Some(ready) = self.ready.clone() {
            self.await_ready(&ready, &until)?;
        }
        self.arrived.clear();
        Ok(())
    }

    fn give(&mut self, stimulus: &Action) -> Result<bool, AdapterError> {
        self.give_heeding(stimulus, &never)
    }

    fn give_heeding(
        &mut self,
        stimulus: &Action,
        stop: &dyn Fn() -> bool,
    ) -> Result<bool, AdapterError> {
        let label = self.templates.sts.label(stimulus.label);
        let socket = self.routes.get(&label.channel).copied().unwrap_or(0);
        self.sent.clear();
        self.templates.write(stimulus, &mut self.sent);
        self.sent.extend_from_slice(self.end.as_bytes());
        let until = Until::within(self.patience, stop);
        let Some(stream) = self.streams.get_mut(socket) else {
            return Err(AdapterError::new("there is no connection to the system"));
        };
        let written = stream.write(&self.sent, &until);
        written.map_err(|broken| self.explain(socket, broken))?;
        // Nobody knows when the system reads what it was sent.
        Ok(true)
    }

    fn poll(&mut self) -> Result<Option<Arrived>, AdapterError> {
        if self.arrived.is_empty() {
            self.take_in()?;
        }
        Ok(self.arrived.pop_front())
    }

    fn wait(&mut self, until: u64) -> Result<Arrived, AdapterError> {
        let deadline = self.epoch + Duration::from_nanos(until);
        loop {
            if let Some(arrived) = self.poll()? {
                return Ok(arrived);
            }
            let is_there = wait_any(&mut self.streams, deadline);
            if !is_there.map_err(|broken| self.explain(0, broken))? {
                return Ok(Arrived {
                    what: Arrival::Silence,
                    at: self.now(),
                    raw: Vec::new(),
                });
            }
        }
    }

    fn sent(&self) -> &[u8] {
        &self.sent
    }
}

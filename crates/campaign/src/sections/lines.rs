//! `[lines]`: how labels look as messages, for systems that speak text or binary messages of their own.
//!
//! ```toml
//! [lines]
//! reset = "RESET"                   # without it, connecting anew resets
//! ready = "READY"                   # without it, the system is ready at once
//! banner = { regex = "220 .*" }     # what every new connection is greeted with; ioco does not judge it
//! end = "\r\n"                      # what ends a message; else "\n"
//! prefer = ["locked"]               # labels that are tried first where several fit
//!
//! [lines.frame]                     # instead of `end`: a length says where a message ends
//! skip = 1                          # bytes before the length
//! length = "varint"                 # or u8, u16, u32le ...
//! add = 0                           # the message is so many bytes longer than its length says
//!
//! [[lines.continued]]               # a message that goes on after its first line
//! when = '^\d{3}-'                  # groups: `length` bytes follow, or `count` messages
//! until = '^\d{3} '                 # its last line
//!
//! [lines.stimuli]
//! lock = "LOCK {passcode}"
//! hang_up = { action = "close" }    # or connect, shutdown, abort
//! hello = [{ action = "connect" }, "HELO"]   # several, one after the other
//! "*_ping" = "PING"                 # every stimulus whose name ends so
//!
//! [lines.responses]
//! locked = "LOCKED"
//! refused = { regex = '5(?<code>\d\d) .*' }
//! closed = { event = "closed" }
//!
//! [lines.channels]                  # one socket for each channel, instead of --tcp
//! front = "localhost:7001"
//! back = "localhost:7002"           # or the name of another channel, whose socket it shares
//! ```

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use ioco_adapters::{
    Continued, Framing, Integer, Mapping, MappingError, Pattern, Shape, SocketAction,
};
use ioco_outside::Untrusted;
use ioco_sts::Sts;
use serde::Deserialize;
use toml::Spanned;

use crate::error::CampaignError;

/// The warning about a message that could be read in several ways: its code, and what `ioco explain` says about it.
pub const AMBIGUOUS: (&str, &str) = (
    "L001",
    "A message of [lines] can be read in several ways.\nTwo responses of one connection have the same shape, or a text \
     in the middle of a template may contain what ends it. ioco reads every message in one way, which the chapter \
     \"Connecting a system\" describes; a person may expect another one. Make the templates differ, name the label that \
     wins in `prefer`, or give the text a length, the format json or a regular expression. If the values that occur \
     are harmless, allow the warning: allow = [\"L001\"] in [check].",
);

/// Text, or an expression that must fit a whole message.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum PatternText {
    Exact(String),
    Regex(RegexText),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RegexText {
    regex: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum ShapeText {
    Template(String),
    Table(ShapeTable),
    Several(Vec<ShapeText>),
}

/// One of its keys.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ShapeTable {
    template: Option<String>,
    regex: Option<String>,
    #[serde(default)]
    formats: BTreeMap<String, String>,
    action: Option<String>,
    event: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ContinuedText {
    when: String,
    until: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FrameText {
    #[serde(default)]
    skip: usize,
    length: String,
    #[serde(default)]
    add: i64,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinesSection {
    reset: Option<String>,
    ready: Option<Spanned<PatternText>>,
    banner: Option<Spanned<PatternText>>,
    end: Option<Spanned<String>>,
    prefer: Option<Spanned<Vec<String>>>,
    frame: Option<Spanned<FrameText>>,
    #[serde(default)]
    continued: Vec<Spanned<ContinuedText>>,
    #[serde(default)]
    stimuli: BTreeMap<String, Spanned<ShapeText>>,
    #[serde(default)]
    responses: BTreeMap<String, Spanned<ShapeText>>,
    #[serde(default)]
    pub channels: BTreeMap<String, String>,
    /// Where the lines of ioco.toml end, to turn a position into a line.
    #[serde(skip)]
    newlines: Vec<usize>,
}

impl LinesSection {
    /// Remembers the text that it was read from, so that errors can name a line.
    pub fn read_from(&mut self, text: &str) {
        self.newlines = text.match_indices('\n').map(|(at, _)| at).collect();
    }

    /// What it means, without a model.
    pub fn mapping(&self, file: &Path) -> Result<Mapping, CampaignError> {
        self.read().map_err(|wrong| self.at_its_line(&wrong, file))
    }

    /// What it means for a model. Errors name the line.
    pub fn checked(&self, sts: &Arc<Sts>, file: &Path) -> Result<Mapping, CampaignError> {
        let mapping = self.mapping(file)?;
        let checked = mapping.check(sts);
        checked.map_err(|wrong| self.at_its_line(&wrong, file))?;
        Ok(mapping)
    }

    /// Messages that a person may read otherwise than ioco does, with their lines.
    pub fn ambiguities(&self, sts: &Arc<Sts>, file: &Path) -> Result<Vec<String>, CampaignError> {
        let mapping = self.mapping(file)?;
        // A channel may share the socket of another one, whose name it gives instead of an address.
        let socket = |channel: &str| -> Option<String> {
            let address = self.channels.get(channel)?;
            let is_channel = self.channels.contains_key(address);
            Some(if is_channel { address } else { channel }.to_owned())
        };
        let shares = |one: &str, other: &str| socket(one) == socket(other);
        let found = mapping.ambiguities(sts, &shares);
        let found = found.map_err(|wrong| self.at_its_line(&wrong, file))?;
        Ok(found
            .iter()
            .map(|w| self.at_its_line(w, file).message)
            .collect())
    }

    fn at_its_line(&self, wrong: &MappingError, file: &Path) -> CampaignError {
        let start = self.start_of(&wrong.key);
        let line = start.map(|at| 1 + self.newlines.partition_point(|newline| *newline < at));
        let place = match line {
            Some(line) => format!("{}:{line}", file.display()),
            None => file.display().to_string(),
        };
        CampaignError::usage(format!(
            "{place}: [lines] {}: {}",
            Untrusted::new(wrong.key.as_str()),
            Untrusted::new(wrong.message.as_str())
        ))
        .hint("the chapter \"Connecting a system\" of the book has all settings of [lines]")
    }

    fn start_of(&self, key: &str) -> Option<usize> {
        fn start<T>(spanned: &Spanned<T>) -> usize {
            spanned.span().start
        }
        match key.split_once('.') {
            Some(("stimuli", name)) => self.stimuli.get(name).map(start),
            Some(("responses", name)) => self.responses.get(name).map(start),
            Some(("continued", number)) => {
                let number: usize = number.parse().ok()?;
                self.continued.get(number.checked_sub(1)?).map(start)
            }
            Some(_) => None,
            None => match key {
                "ready" => self.ready.as_ref().map(start),
                "banner" => self.banner.as_ref().map(start),
                "end" => self.end.as_ref().map(start),
                "prefer" => self.prefer.as_ref().map(start),
                "frame" => self.frame.as_ref().map(start),
                _ => None,
            },
        }
    }

    fn read(&self) -> Result<Mapping, MappingError> {
        let shapes = |section: &str, texts: &BTreeMap<String, Spanned<ShapeText>>| {
            let read = texts.iter().map(|(name, text)| {
                let shape = shape(text.get_ref());
                Ok((name.clone(), at(&format!("{section}.{name}"), shape)?))
            });
            read.collect::<Result<BTreeMap<_, _>, MappingError>>()
        };
        let pattern = |key: &str, text: &Option<Spanned<PatternText>>| {
            let read = text.as_ref().map(|text| match text.get_ref() {
                PatternText::Exact(text) => Ok(Pattern::Exact(text.clone())),
                PatternText::Regex(text) => at(key, Pattern::regex(&text.regex)),
            });
            read.transpose()
        };
        Ok(Mapping {
            stimuli: shapes("stimuli", &self.stimuli)?,
            responses: shapes("responses", &self.responses)?,
            prefer: (self.prefer.as_ref()).map_or_else(Vec::new, |names| names.get_ref().clone()),
            reset: self.reset.clone(),
            ready: pattern("ready", &self.ready)?,
            banner: pattern("banner", &self.banner)?,
            framing: self.framing()?,
        })
    }

    fn framing(&self) -> Result<Framing, MappingError> {
        if let Some(frame) = &self.frame {
            let frame = frame.get_ref();
            if self.end.is_some() || !self.continued.is_empty() {
                let why =
                    "a message ends where its length says, or at an `end`: remove one of them";
                return at("frame", Err(why.to_owned()));
            }
            let length = Integer::named(&frame.length).ok_or_else(|| {
                let name = &frame.length;
                format!("there is no length '{name}'; write u8, u16, u24, u32le ..., or varint")
            });
            return Ok(Framing::Prefixed {
                skip: frame.skip,
                length: at("frame", length)?,
                add: frame.add,
            });
        }
        let end = self.end.as_ref().map_or("\n", |end| end.get_ref());
        if end.is_empty() {
            return at(
                "end",
                Err("the end of a message cannot be empty".to_owned()),
            );
        }
        let mut continued = Vec::new();
        for (index, rule) in self.continued.iter().enumerate() {
            let key = format!("continued.{}", index + 1);
            let expression = |text: &String| at(&key, expression(text));
            let rule = rule.get_ref();
            let until = rule.until.as_ref().map(expression).transpose()?;
            let when = expression(&rule.when)?;
            let says = |group: &str| when.capture_names().flatten().any(|name| name == group);
            if until.is_none() && !says("length") && !says("count") {
                let why = "the end of the message is missing: write `until`, or a group (?<length>…) or \
                           (?<count>…) in `when`";
                return at(&key, Err(why.to_owned()));
            }
            continued.push(Continued { when, until });
        }
        Ok(Framing::Delimited {
            end: end.as_bytes().to_vec(),
            continued,
        })
    }
}

fn at<T>(key: &str, result: Result<T, String>) -> Result<T, MappingError> {
    result.map_err(|message| MappingError {
        key: key.to_owned(),
        message,
    })
}

/// One that may fit a part of a line.
fn expression(text: &str) -> Result<regex::bytes::Regex, String> {
    regex::bytes::Regex::new(text).map_err(|error| {
        let said = error.to_string();
        let why = said.lines().last().unwrap_or_default();
        let why = why.trim_start_matches("error: ");
        format!("'{text}' is not a regular expression: {why}")
    })
}

fn shape(text: &ShapeText) -> Result<Shape, String> {
    let table = match text {
        ShapeText::Template(template) => return Ok(Shape::Template(template.clone())),
        ShapeText::Several(parts) => {
            let parts = parts.iter().map(shape).collect::<Result<_, _>>()?;
            return Ok(Shape::Several(parts));
        }
        ShapeText::Table(table) => table,
    };
    let one = "write one of template, regex, action and event";
    if table.regex.is_none() && !table.formats.is_empty() {
        return Err("`formats` are for the groups of a regex".to_owned());
    }
    match (&table.template, &table.regex, &table.action, &table.event) {
        (Some(template), None, None, None) => Ok(Shape::Template(template.clone())),
        (None, Some(regex), None, None) => Ok(Shape::Regex {
            regex: regex.clone(),
            formats: table.formats.clone(),
        }),
        (None, None, Some(action), None) => Ok(Shape::Action(match action.as_str() {
            "connect" => SocketAction::Connect,
            "close" => SocketAction::Close,
            "abort" => SocketAction::Abort,
            "shutdown" => SocketAction::Shutdown,
            other => {
                return Err(format!(
                    "there is no action '{other}'; write connect, close, shutdown or abort"
                ));
            }
        })),
        (None, None, None, Some(event)) if event == "closed" => Ok(Shape::Closed),
        (None, None, None, Some(event)) => {
            Err(format!("there is no event '{event}'; write closed"))
        }
        _ => Err(one.to_owned()),
    }
}

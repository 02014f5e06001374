//! `[lines]`: how labels look as lines of text, for systems that do not speak JSON.
//!
//! ```toml
//! [lines]
//! reset = "RESET"                   # without it, connecting anew resets
//! ready = "READY"                   # without it, the system is ready at once
//! end = "\r\n"                      # what ends a line that ioco sends; else "\n"
//!
//! [lines.stimuli]
//! lock = "LOCK {passcode}"
//!
//! [lines.responses]
//! locked = "LOCKED"
//!
//! [lines.channels]                  # one socket for each channel, instead of --tcp
//! front = "localhost:7001"
//! back = "localhost:7002"
//! ```

use std::collections::BTreeMap;

use ioco_adapters::Mapping;
use serde::Deserialize;

/// What ends a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
enum LineEnd {
    #[serde(rename = "\n")]
    Newline,
    #[serde(rename = "\r\n")]
    CarriageReturn,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinesSection {
    reset: Option<String>,
    ready: Option<String>,
    end: Option<LineEnd>,
    #[serde(default)]
    stimuli: BTreeMap<String, String>,
    #[serde(default)]
    responses: BTreeMap<String, String>,
    #[serde(default)]
    pub channels: BTreeMap<String, String>,
}

impl LinesSection {
    pub fn mapping(&self) -> Mapping {
        Mapping {
            stimuli: self.stimuli.clone(),
            responses: self.responses.clone(),
            reset: self.reset.clone(),
            ready: self.ready.clone(),
            carriage_return: self.end == Some(LineEnd::CarriageReturn),
        }
    }
}

//! Recorded traffic as a file: the line protocol's own messages, one a line, each with its time.
//!
//! ```text
//! {"reset":true}                                              a trace begins
//! {"at":10000000,"ready":true}                                the system runs: silence counts from here
//! {"at":12000000,"stimulus":"lock","values":{"passcode":1}}   nanoseconds
//! {"at":12400000,"response":"locked","values":{}}
//! {"at":12400000,"quiescent":true}                            the system says that it is silent
//! {"at":13000000,"unknown":"HELLO"}                           what the model has no label for
//! {"at":14000000,"undescribed":"PUT /x"}                      the same from the client
//! ```

use std::io;

use ioco_engine::Recorded;
use ioco_sts::{Action, Direction, LabelId, Sts};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::line::show_unknown;
use crate::values::{Mismatch, read_object, read_parameters, write_text, write_value};

/// The line that begins a trace.
pub(crate) const RESET_LINE: &str = "{\"reset\":true}";

/// Writes the lines of traces that are recorded. Connecting begins a trace and so does the reset that
/// most clients begin with: a reset right after another one begins no other trace.
pub(crate) fn without_empty_traces(
    write: &mut dyn FnMut(&str) -> io::Result<()>,
) -> impl FnMut(&str) -> io::Result<()> {
    let mut is_empty = false;
    move |line| {
        let resets = line == RESET_LINE;
        if resets && is_empty {
            return Ok(());
        }
        is_empty = resets;
        write(line)
    }
}

/// What happened between two resets, in order, with the times.
pub type Recording = Vec<(u64, Recorded)>;

#[derive(Deserialize)]
struct Keys<'a> {
    at: Option<u64>,
    stimulus: Option<String>,
    response: Option<String>,
    #[serde(borrow)]
    values: Option<&'a RawValue>,
    unknown: Option<String>,
    undescribed: Option<String>,
    reset: Option<bool>,
    ready: Option<bool>,
    quiescent: Option<bool>,
    end: Option<bool>,
}

/// Reads a file of traces. The error says which line is wrong, and why.
pub fn read_traces(text: &str, sts: &Sts) -> Result<Vec<Recording>, String> {
    let mut traces: Vec<Recording> = Vec::new();
    let mut last = 0;
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        let wrong = |why: String| format!("line {}: {why}", index + 1);
        let keys: Keys<'_> =
            serde_json::from_str(line).map_err(|error| wrong(error.to_string()))?;
        if keys.reset == Some(true) {
            // A reset with a time was done then.
            let ready = keys.at.map(|at| (at, Recorded::Ready));
            last = keys.at.unwrap_or(last);
            traces.push(ready.into_iter().collect());
            continue;
        }
        let at = keys.at.unwrap_or(last);
        last = at;
        let values = keys.values.map_or("{}", RawValue::get);
        let recorded = if let Some(name) = &keys.stimulus {
            stimulus(name, values, sts).map_err(wrong)?
        } else if let Some(name) = &keys.response {
            response(name, values, sts).map_err(wrong)?
        } else if let Some(text) = keys.unknown {
            Recorded::Unknown(text)
        } else if let Some(text) = keys.undescribed {
            Recorded::Undescribed(text)
        } else if keys.ready == Some(true) {
            Recorded::Ready
        } else if keys.quiescent == Some(true) {
            Recorded::Quiescent
        } else if keys.end == Some(true) {
            Recorded::End
        } else {
            return Err(wrong(
                "it has none of stimulus, response, unknown, undescribed, reset, ready, quiescent \
                 and end"
                    .to_owned(),
            ));
        };
        if traces.is_empty() {
            traces.push(Recording::new());
        }
        if let Some(trace) = traces.last_mut() {
            trace.push((at, recorded));
        }
    }
    Ok(traces)
}

fn find(direction: Direction, name: &str, sts: &Sts) -> Option<LabelId> {
    let (channel, plain) = name.split_once('.').unwrap_or(("", name));
    let mut labels = sts.labels_of(direction);
    labels
        .find(|id| {
            let label = sts.label(*id);
            label.name == plain && label.channel == channel
        })
        .or_else(|| sts.label_named(direction, name))
}

pub(crate) fn stimulus(name: &str, values: &str, sts: &Sts) -> Result<Recorded, String> {
    let label = find(Direction::Stimulus, name, sts)
        .ok_or_else(|| format!("the model has no stimulus '{name}'"))?;
    let values = read_object(values).ok_or("\"values\" must be an object")?;
    let parameters = &sts.label(label).parameters;
    let values = read_parameters(&values, parameters, sts.types())
        .map_err(|Mismatch(why)| format!("?{name}: {why}"))?;
    Ok(Recorded::Stimulus(Action { label, values }))
}

fn response(name: &str, values: &str, sts: &Sts) -> Result<Recorded, String> {
    let values = read_object(values).ok_or("\"values\" must be an object")?;
    let shown = show_unknown(name, &values);
    let Some(label) = find(Direction::Response, name, sts) else {
        return Ok(Recorded::Unknown(shown));
    };
    let parameters = &sts.label(label).parameters;
    Ok(match read_parameters(&values, parameters, sts.types()) {
        Ok(values) => Recorded::Response(Action { label, values }),
        Err(Mismatch(why)) => Recorded::Unknown(format!("{shown} ({why})")),
    })
}

/// One line of a file of traces, without its newline.
pub fn write_recorded(at: u64, recorded: &Recorded, sts: &Sts) -> String {
    let (key, action) = match recorded {
        Recorded::Stimulus(action) => ("stimulus", action),
        Recorded::Response(action) => ("response", action),
        Recorded::Unknown(text) => return write_shown(at, "unknown", text),
        Recorded::Undescribed(text) => return write_shown(at, "undescribed", text),
        Recorded::Ready => return format!("{{\"at\":{at},\"ready\":true}}"),
        Recorded::Quiescent => return format!("{{\"at\":{at},\"quiescent\":true}}"),
        Recorded::End => return format!("{{\"at\":{at},\"end\":true}}"),
    };
    let label = sts.label(action.label);
    let mut out = format!("{{\"at\":{at},\"{key}\":").into_bytes();
    let same = sts
        .labels()
        .iter()
        .filter(|l| l.direction == label.direction && l.name == label.name);
    if same.count() > 1 {
        write_text(&format!("{}.{}", label.channel, label.name), &mut out);
    } else {
        write_text(&label.name, &mut out);
    }
    out.extend_from_slice(b",\"values\":{");
    let named = label.parameters.iter().zip(&action.values);
    for (index, (parameter, value)) in named.enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write_text(&parameter.name, &mut out);
        out.push(b':');
        write_value(value, sts.types(), &mut out);
    }
    out.extend_from_slice(b"}}");
    String::from_utf8_lossy(&out).into_owned()
}

fn write_shown(at: u64, key: &str, text: &str) -> String {
    let mut out = format!("{{\"at\":{at},\"{key}\":").into_bytes();
    write_text(text, &mut out);
    String::from_utf8_lossy(&out).into_owned() + "}"
}

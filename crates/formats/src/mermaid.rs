//! Mermaid `stateDiagram-v2`, for pages that draw it themselves.
//!
//! What ioco draws it reads back without loss: comments `%% ioco {…}` before the states and arrows
//! say what the drawing cannot. A diagram without them is read as a drawing of labels, like a
//! `.dot` file: `?x`, `!x`, `i`, or `input / output`.

use std::fmt::Write as _;

use rustc_hash::FxHashMap;
use serde_json::Value as Json;

use ioco_sts::{LocationId, Sts, SwitchId, show_switch_label};

use super::FormatError;
use super::json::{self, Drawn, DrawnLocation, DrawnStart, DrawnSwitch};
use super::plain::{MealyOptions, PlainBuilder};

/// The beginning of a comment with exact data.
const DATA: &str = "%% ioco ";

/// The start, and what Mermaid means by an end.
const STAR: &str = "[*]";

/// A text that Mermaid shows as it is, also where it holds signs of Mermaid's own language.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => escaped.push_str("<br>"),
            '\r' => {}
            // Entities are written `#code;` there, so these two come first.
            '#' | ';' | ':' | '"' | '<' | '>' | '{' | '}' | '[' | ']' | '|' | '%' | '\\' | '`' => {
                // Writing into a String cannot fail.
                let _ = write!(escaped, "#{};", u32::from(c));
            }
            _ => escaped.push(c),
        }
    }
    escaped
}

/// What [`escape`] has written, as it was; and what people write in its place.
fn unescape(text: &str) -> String {
    let text = text.replace("<br>", "\n").replace("<br/>", "\n");
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(position) = rest.find('#') {
        plain.push_str(&rest[..position]);
        let code = &rest[position + 1..];
        let character = code.find(';').and_then(|end| {
            let number: u32 = code[..end].parse().ok()?;
            Some((char::from_u32(number)?, end))
        });
        match character {
            Some((character, end)) => {
                plain.push(character);
                rest = &code[end + 1..];
            }
            None => {
                plain.push('#');
                rest = code;
            }
        }
    }
    plain.push_str(rest);
    plain
}

/// Draws a system; several processes become states that contain theirs.
pub fn write(sts: &Sts) -> String {
    // Two of these and a brace would be a command to Mermaid.
    let safe = |json: &Json| json.to_string().replace('%', "\\u0025");
    let locations: Vec<String> = json::locations(sts).iter().map(safe).collect();
    let switches: Vec<String> = json::switches(sts).iter().map(safe).collect();
    let mut text = "stateDiagram-v2\n".to_owned();
    // Writing into a String cannot fail.
    let _ = writeln!(text, "  {DATA}{}", safe(&json::head(sts)));
    let nested = sts.processes().len() > 1;
    for (index, process) in sts.processes().iter().enumerate() {
        if nested {
            let name = escape(&process.name);
            let _ = writeln!(text, "  state \"{name}\" as p{index} {{");
        }
        for (number, location) in sts.locations().iter().enumerate() {
            if location.process.index() == index {
                let name = escape(&location.name);
                let _ = writeln!(text, "  {DATA}{}", locations[number]);
                let _ = writeln!(text, "  state \"{name}\" as l{number}");
            }
        }
        let _ = writeln!(text, "  {STAR} --> l{}", process.initial.0);
        for (number, switch) in sts.switches().iter().enumerate() {
            if sts.location(switch.source).process.index() == index {
                let label = escape(&show_switch_label(sts, SwitchId::from_index(number)));
                let (source, target) = (switch.source.0, switch.target.0);
                let _ = writeln!(text, "  {DATA}{number} {}", switches[number]);
                let _ = writeln!(text, "  l{source} --> l{target} : {label}");
            }
        }
        if nested {
            text.push_str("  }\n");
        }
    }
    text
}

/// What a line of a diagram says.
enum Line<'a> {
    /// An identifier, and the name that is shown.
    State(&'a str, String),
    Arrow(&'a str, &'a str, String),
    Data(&'a str),
    Nothing,
}

/// Reads a diagram; `name` becomes the name of the system and of its file in messages.
pub fn read(name: &str, text: &str, options: &MealyOptions) -> Result<Sts, FormatError> {
    let mut lines = Vec::new();
    let mut begun = false;
    let mut in_note = false;
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if in_note {
            in_note = line != "end note";
        } else if !begun && (line.is_empty() || line.starts_with("%%")) {
            // Settings may come before the diagram.
        } else if !begun {
            if !matches!(line, "stateDiagram" | "stateDiagram-v2") {
                let message = "a diagram of a model begins with `stateDiagram-v2`";
                return Err(FormatError::new(number, message));
            }
            begun = true;
        } else if line.starts_with("note ") && !line.contains(':') {
            in_note = true;
        } else {
            lines.push((number, read_line(number, line)?));
        }
    }
    if !begun {
        return Err(FormatError::new(1, "there is no `stateDiagram-v2`"));
    }
    let first = lines
        .iter()
        .position(|(_, line)| matches!(line, Line::Data(_)));
    match first {
        Some(first) => drawn(&lines, first)?.assemble(json::same_label, &options.budget),
        None => plain(name, &lines, options),
    }
}

fn read_line(number: u32, line: &str) -> Result<Line<'_>, FormatError> {
    let wrong = |what: &str| FormatError::new(number, format!("{what}: `{line}`"));
    if let Some(data) = line.strip_prefix(DATA) {
        return Ok(Line::Data(data));
    }
    let skipped = [
        "direction ",
        "note ",
        "classDef ",
        "class ",
        "style ",
        "accTitle",
        "accDescr",
    ];
    let empty = line.is_empty() || line == "}" || line.starts_with("%%");
    if empty || skipped.iter().any(|word| line.starts_with(word)) {
        return Ok(Line::Nothing);
    }
    if line == "--" || line.contains("<<") {
        return Err(wrong("concurrency, choices, forks and joins are not read"));
    }
    if let Some((source, rest)) = line.split_once("-->") {
        let (target, label) = rest.split_once(':').unwrap_or((rest, ""));
        let (source, target) = (source.trim(), target.trim());
        if source.is_empty() || target.is_empty() {
            return Err(wrong("an arrow joins two states"));
        }
        return Ok(Line::Arrow(source, target, unescape(label.trim())));
    }
    let opens = line.ends_with('{');
    if let Some(rest) = line.strip_prefix("state ") {
        let rest = rest.trim_end_matches('{').trim();
        let named = rest.strip_prefix('"').and_then(|rest| rest.split_once('"'));
        let (name, id) = match named {
            Some((name, rest)) => {
                let id = rest.trim().strip_prefix("as ");
                (
                    name,
                    id.ok_or_else(|| wrong("`as` and an identifier are missing"))?
                        .trim(),
                )
            }
            None => (rest, rest),
        };
        if opens {
            // A state around others only groups them.
            return Ok(Line::Nothing);
        }
        return Ok(Line::State(id, unescape(name)));
    }
    match line.split_once(':') {
        Some((id, name)) => Ok(Line::State(id.trim(), unescape(name.trim()))),
        None if !line.contains(char::is_whitespace) => Ok(Line::State(line, unescape(line))),
        None => Err(wrong("this is not understood")),
    }
}

/// A diagram with labels only.
fn plain(
    name: &str,
    lines: &[(u32, Line<'_>)],
    options: &MealyOptions,
) -> Result<Sts, FormatError> {
    let mut builder = PlainBuilder::new(name);
    let mut names: FxHashMap<&str, &str> = FxHashMap::default();
    for (_, line) in lines {
        if let Line::State(id, name) = line {
            names.insert(id, name);
        }
    }
    let mut locations: FxHashMap<&str, LocationId> = FxHashMap::default();
    // States before arrows, so that the locations between an input and its output come last.
    for (number, line) in lines {
        let ids = match line {
            Line::State(id, _) => [Some(*id), None],
            Line::Arrow(source, target, _) => [Some(*source), Some(*target)],
            Line::Data(_) | Line::Nothing => [None, None],
        };
        for id in ids.into_iter().flatten().filter(|id| *id != STAR) {
            let name = names.get(id).copied().unwrap_or(id);
            locations
                .entry(id)
                .or_insert_with(|| builder.another(name, *number));
        }
    }
    let mut initial = None;
    for (number, line) in lines {
        let Line::Arrow(source, target, label) = line else {
            continue;
        };
        if *target == STAR {
            let message = "a model of a system has no end: leave the arrow to `[*]` out";
            return Err(FormatError::new(*number, message));
        }
        let target = locations[target];
        if *source == STAR {
            if initial.is_some_and(|known| known != target) {
                return Err(FormatError::new(*number, "there are two initial states"));
            }
            initial = Some(target);
        } else {
            builder.edge(options, locations[source], label, target, *number)?;
        }
    }
    match initial {
        Some(initial) => Ok(builder.finish(initial)),
        None => Err(FormatError::new(
            0,
            "no arrow `[*] --> state` says where the model begins",
        )),
    }
}

/// The drawing of a system that this program has written.
fn drawn(lines: &[(u32, Line<'_>)], head: usize) -> Result<Drawn, FormatError> {
    let data = |line: u32, text: &str| {
        serde_json::from_str::<Json>(text)
            .map_err(|error| FormatError::new(line, format!("the data is not JSON: {error}")))
    };
    let mut drawn = Drawn::default();
    // The data of the line that comes next, with its number.
    let mut waiting: Option<(u64, Json)> = None;
    for (index, (line, what)) in lines.iter().enumerate() {
        let line = *line;
        let mut take = || {
            waiting.take().ok_or_else(|| {
                let message = "the line before this has no `%% ioco` data, and others have";
                FormatError::new(line, message)
            })
        };
        match what {
            Line::Data(text) if index == head => drawn.head = (line, data(line, text)?),
            Line::Data(text) => {
                let digits =
                    text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
                let (number, text) = text.split_at(digits);
                waiting = Some((number.parse().unwrap_or(u64::MAX), data(line, text)?));
            }
            Line::Nothing => {}
            Line::State(id, name) => drawn.locations.push(DrawnLocation {
                line,
                id: (*id).to_owned(),
                shown: name.clone(),
                json: take()?.1,
            }),
            Line::Arrow(STAR, target, _) => drawn.initial.push(DrawnStart {
                line,
                process: drawn.initial.len(),
                location: (*target).to_owned(),
            }),
            Line::Arrow(source, target, label) => {
                let (number, json) = take()?;
                drawn.switches.push(DrawnSwitch {
                    line,
                    number,
                    source: (*source).to_owned(),
                    target: (*target).to_owned(),
                    shown: label.clone(),
                    json,
                });
            }
        }
    }
    Ok(drawn)
}

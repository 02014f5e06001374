//! An explanation as text for a terminal: readable without colour, within a given width.

use std::borrow::Cow;

use anstyle::{AnsiColor, Style};

use ioco_engine::{Explanation, Row, Side, WireLine};

/// How to show an explanation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextOptions {
    /// Columns of the terminal.
    pub width: usize,
    pub colour: bool,
    /// A longer chart shows its beginning and its end.
    pub max_rows: usize,
}

impl Default for TextOptions {
    fn default() -> TextOptions {
        TextOptions {
            width: 100,
            colour: false,
            max_rows: 60,
        }
    }
}

const BAD: Style = AnsiColor::Red.on_default().bold();
const STRONG: Style = Style::new().bold();
const QUIET: Style = Style::new().dimmed();
const GOOD: Style = AnsiColor::Green.on_default();

/// At most so many lines of a log are shown, and so many characters of each.
const MAX_LOG: usize = 12;
const LOG_WIDTH: usize = 400;

/// A longer text is shown with its beginning and its end. The failure file has all of it.
const MAX_TEXT: usize = 1000;
const TEXT_END: usize = 200;

/// The width of the words at the left of the last part.
const KEYS: usize = 15;

/// An explanation as text.
pub fn text(explanation: &Explanation, options: TextOptions) -> String {
    let mut page = Page {
        width: options.width.max(40),
        colour: options.colour,
        text: String::new(),
    };
    head(explanation, &mut page);
    page.blank();
    let title = format!("{} {}", explanation.code, explanation.title);
    page.wrapped(&title, 0, 5, STRONG);
    for line in &explanation.places {
        let place = match line.place.as_str() {
            "" => line.switch.clone(),
            place => format!("{place}  {}", line.switch),
        };
        page.wrapped(&place, 2, 6, Style::new());
    }
    if !explanation.rows.is_empty() {
        page.blank();
        chart(explanation, &mut page, options.max_rows.max(4));
    }
    page.blank();
    tail(explanation, &mut page);
    page.text
}

fn head(explanation: &Explanation, page: &mut Page) {
    let mut facts = Vec::new();
    if let Some(test) = explanation.test {
        facts.push(format!("test {test}"));
    }
    facts.push(format!("step {}", explanation.step));
    if let Some(seed) = explanation.seed {
        facts.push(format!("seed {seed}"));
    }
    // A failure that was not always seen again is not reported as one that is certain.
    let verdict = match explanation.confirmed {
        Some((failed, runs)) if failed < runs => "FLAKY".to_owned(),
        _ => explanation.verdict.to_uppercase(),
    };
    let left = format!("{}  {}", explanation.model, facts.join(", "));
    let right = explanation.shrunk.map(|shrunk| {
        let (from, to, runs) = (shrunk.from, shrunk.to, shrunk.runs);
        let unit = if runs == 1 { "run" } else { "runs" };
        let steps = if to == 1 { "step" } else { "steps" };
        // Only what was tried is claimed.
        if to == 0 && from == 0 {
            "it fails before the first stimulus".to_owned()
        } else if from == to && shrunk.minimal {
            format!("{to} {steps}, no stimulus can be left out ({runs} {unit})")
        } else if from == to {
            format!("{to} {steps}, no shorter trace was found ({runs} {unit})")
        } else {
            format!("shrunk {from} → {to} {steps} ({runs} {unit})")
        }
    });
    page.styled(&verdict, BAD);
    page.push(" ");
    page.push(&shortened(&left));
    if let Some(right) = right {
        let used = length(&verdict) + 1 + length(&left);
        if used + 6 + length(&right) <= page.width {
            page.push("      ");
        } else {
            page.push("\n     ");
        }
        page.push(&right);
    }
    page.push("\n");
}

fn chart(explanation: &Explanation, page: &mut Page, max_rows: usize) {
    let digits = explanation.rows.len().to_string().len().max(2);
    let indent = 4 + digits + 2;
    let longest = |side: Side| {
        let texts = explanation.rows.iter().filter(|row| row.side == side);
        texts
            .map(|row| length(&shortened(&row.text)))
            .max()
            .unwrap_or(0)
    };
    // Tester, arrow, system: the tester's side gets what it needs, up to half.
    let half = (page.width.saturating_sub(indent + 7)) / 2;
    let left = longest(Side::Tester).max(6).min(half.max(12));
    page.push(&" ".repeat(indent));
    page.push(&format!("{:<width$}", "tester", width = left + 7));
    page.push(&shortened(&explanation.system));
    page.push("\n");
    let (beginning, end) = if explanation.rows.len() > max_rows {
        (
            max_rows / 4,
            explanation.rows.len() - (max_rows - max_rows / 4),
        )
    } else {
        (explanation.rows.len(), explanation.rows.len())
    };
    for row in &explanation.rows[..beginning] {
        show(row, page, digits, left);
    }
    if end > beginning {
        let hidden = format!("… {} steps …", end - beginning);
        page.push(&" ".repeat(indent));
        page.styled(&hidden, QUIET);
        page.push("\n");
    }
    for row in &explanation.rows[end..] {
        show(row, page, digits, left);
    }
}

fn tail(explanation: &Explanation, page: &mut Page) {
    page.keyed("expected", &explanation.allowed, GOOD);
    page.keyed("because", &explanation.because, Style::new());
    if let Some((failed, runs)) = explanation.confirmed
        && runs > 0
    {
        let text = format!("{failed} of {runs} runs");
        page.keyed("confirmed", &[text], Style::new());
    }
    log(&explanation.log, page);
    if let Some(replay) = &explanation.replay {
        page.blank();
        // In one line, however long, because it is to be copied.
        page.push(&format!("  {:<KEYS$}{replay}\n", "replay"));
    }
}

/// The last lines of the system's log; the failure file has all that were kept.
fn log(log: &[WireLine], page: &mut Page) {
    if log.is_empty() {
        return;
    }
    page.blank();
    page.push("  log of the system\n");
    let left_out = log.len().saturating_sub(MAX_LOG);
    if left_out > 0 {
        page.styled(&format!("    … {left_out} earlier lines\n"), QUIET);
    }
    for line in &log[left_out..] {
        let milliseconds = line.at as f64 / 1e6;
        let text = line.text.as_deref().unwrap_or_default();
        let text: String = (text.chars().take(LOG_WIDTH))
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        page.push(&format!("    {milliseconds:>9.1} ms  {text}\n"));
    }
}

fn show(row: &Row, page: &mut Page, digits: usize, left: usize) {
    let indent = 4 + digits + 2;
    page.push(&format!("    {:>digits$}  ", row.number));
    let note = row.note.as_deref().map(shortened);
    let note = note.map(|note| format!("  # {note}"));
    match row.side {
        Side::Tester => {
            let lines = wrap(&row.text, left);
            let (last, before) = lines.split_last().map_or(("", &[][..]), |(l, b)| (l, b));
            for line in before {
                page.push(line);
                page.push("\n");
                page.push(&" ".repeat(indent));
            }
            let fill = left.saturating_sub(length(last));
            page.push(&format!("{last}{} ────►", " ".repeat(fill)));
        }
        Side::System | Side::Silence => {
            page.push(&" ".repeat(left + 1));
            let style = if row.deviates { BAD } else { Style::new() };
            let mark = match (row.side, row.deviates) {
                (Side::System, false) => "◄────",
                (Side::System, true) => "◄──✗─",
                (_, false) => "┄┄┄┄┄",
                (_, true) => "✗    ",
            };
            page.styled(mark, style);
            page.push(" ");
            let room = page.width.saturating_sub(indent + left + 7).max(16);
            for (index, line) in wrap(&row.text, room).iter().enumerate() {
                if index > 0 {
                    page.push("\n");
                    page.push(&" ".repeat(indent + left + 7));
                }
                page.styled(line, style);
            }
        }
    }
    if let Some(note) = note {
        page.styled(&note, QUIET);
    }
    page.push("\n");
}

struct Page {
    width: usize,
    colour: bool,
    text: String,
}

impl Page {
    /// Adds text that may come from the system: what would move the cursor is written out.
    fn push(&mut self, text: &str) {
        for character in text.chars() {
            if character.is_control() && character != '\n' {
                self.text.extend(character.escape_default());
            } else {
                self.text.push(character);
            }
        }
    }

    fn blank(&mut self) {
        self.push("\n");
    }

    fn styled(&mut self, text: &str, style: Style) {
        if self.colour {
            self.text.push_str(&format!("{style}"));
            self.push(text);
            self.text.push_str(&format!("{style:#}"));
        } else {
            self.push(text);
        }
    }

    fn wrapped(&mut self, text: &str, indent: usize, hanging: usize, style: Style) {
        let room = self.width.saturating_sub(hanging).max(20);
        for (index, line) in wrap(text, room).iter().enumerate() {
            let indent = if index == 0 { indent } else { hanging };
            self.push(&" ".repeat(indent));
            self.styled(line, style);
            self.push("\n");
        }
    }

    fn keyed(&mut self, key: &str, values: &[String], style: Style) {
        for (index, value) in values.iter().enumerate() {
            let key = if index == 0 { key } else { "" };
            self.push(&format!("  {key:<KEYS$}"));
            let room = self.width.saturating_sub(KEYS + 2).max(20);
            for (index, line) in wrap(value, room).iter().enumerate() {
                if index > 0 {
                    self.push(&" ".repeat(KEYS + 2));
                }
                self.styled(line, style);
                self.push("\n");
            }
        }
    }
}

fn length(text: &str) -> usize {
    text.chars().count()
}

/// A text that is not too long for a person, and how much of it was left out.
fn shortened(text: &str) -> Cow<'_, str> {
    let all = length(text);
    if all <= MAX_TEXT {
        return Cow::Borrowed(text);
    }
    let at = |index: usize| text.char_indices().nth(index).map_or(0, |(at, _)| at);
    let beginning = &text[..at(MAX_TEXT - TEXT_END)];
    let end = &text[at(all - TEXT_END)..];
    let left_out = all - MAX_TEXT;
    Cow::Owned(format!(
        "{beginning} … {left_out} characters left out … {end}"
    ))
}

/// `text` in lines of at most `width` characters; its own lines stay lines.
fn wrap(text: &str, width: usize) -> Vec<String> {
    shortened(text)
        .lines()
        .flat_map(|line| wrap_line(line, width))
        .collect()
}

/// One line, broken at spaces where there are any.
fn wrap_line(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_inclusive(' ') {
        if !line.is_empty() && length(&line) + length(word.trim_end()) > width {
            lines.push(std::mem::take(&mut line).trim_end().to_owned());
        }
        for character in word.chars() {
            if length(&line) == width && character != ' ' {
                lines.push(std::mem::take(&mut line));
            }
            line.push(character);
        }
    }
    if !line.is_empty() || lines.is_empty() {
        lines.push(line.trim_end().to_owned());
    }
    lines
}

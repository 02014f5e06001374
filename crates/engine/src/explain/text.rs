//! An explanation as text for a terminal: readable without colour, within a given width.

use anstyle::{AnsiColor, Style};

use super::{Explanation, Row, Side};

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

/// The width of the words at the left of the last part.
const KEYS: usize = 15;

impl Explanation {
    pub fn to_text(&self, options: TextOptions) -> String {
        let mut page = Page {
            width: options.width.max(40),
            colour: options.colour,
            text: String::new(),
        };
        self.head(&mut page);
        page.blank();
        let title = format!("{} {}", self.code, self.title);
        page.wrapped(&title, 0, 5, STRONG);
        for line in &self.places {
            let place = match line.place.as_str() {
                "" => line.switch.clone(),
                place => format!("{place}  {}", line.switch),
            };
            page.wrapped(&place, 2, 6, Style::new());
        }
        if !self.rows.is_empty() {
            page.blank();
            self.chart(&mut page, options.max_rows.max(4));
        }
        page.blank();
        self.tail(&mut page);
        page.text
    }

    fn head(&self, page: &mut Page) {
        let mut facts = Vec::new();
        if let Some(test) = self.test {
            facts.push(format!("test {test}"));
        }
        facts.push(format!("step {}", self.step));
        if let Some(seed) = self.seed {
            facts.push(format!("seed {seed}"));
        }
        // A failure that was not always seen again is not reported as one that is certain.
        let verdict = match self.confirmed {
            Some((failed, runs)) if failed < runs => "FLAKY".to_owned(),
            _ => self.verdict.to_uppercase(),
        };
        let left = format!("{}  {}", self.model, facts.join(", "));
        let right = self.shrunk.map(|shrunk| {
            let (from, to, runs) = (shrunk.from, shrunk.to, shrunk.runs);
            let unit = if runs == 1 { "run" } else { "runs" };
            // Only what was tried is claimed.
            if from == to && shrunk.minimal {
                format!("{to} steps, no stimulus can be left out ({runs} {unit})")
            } else if from == to {
                format!("{to} steps, no shorter trace was found ({runs} {unit})")
            } else {
                format!("shrunk {from} → {to} steps ({runs} {unit})")
            }
        });
        page.styled(&verdict, BAD);
        page.push(" ");
        page.push(&left);
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

    fn chart(&self, page: &mut Page, max_rows: usize) {
        let digits = self.rows.len().to_string().len().max(2);
        let indent = 4 + digits + 2;
        let longest = |side: Side| {
            let texts = self.rows.iter().filter(|row| row.side == side);
            texts.map(|row| length(&row.text)).max().unwrap_or(0)
        };
        // Tester, arrow, system: the tester's side gets what it needs, up to half.
        let half = (page.width.saturating_sub(indent + 7)) / 2;
        let left = longest(Side::Tester).max(6).min(half.max(12));
        page.push(&" ".repeat(indent));
        page.push(&format!("{:<width$}", "tester", width = left + 7));
        page.push(&self.system);
        page.push("\n");
        let (beginning, end) = if self.rows.len() > max_rows {
            (max_rows / 4, self.rows.len() - (max_rows - max_rows / 4))
        } else {
            (self.rows.len(), self.rows.len())
        };
        for row in &self.rows[..beginning] {
            row.show(page, digits, left);
        }
        if end > beginning {
            let hidden = format!("… {} steps …", end - beginning);
            page.push(&" ".repeat(indent));
            page.styled(&hidden, QUIET);
            page.push("\n");
        }
        for row in &self.rows[end..] {
            row.show(page, digits, left);
        }
    }

    fn tail(&self, page: &mut Page) {
        page.keyed("allowed here", &self.allowed, GOOD);
        page.keyed("because", &self.because, Style::new());
        if let Some((failed, runs)) = self.confirmed
            && runs > 0
        {
            let text = format!("{failed} of {runs} runs");
            page.keyed("confirmed", &[text], Style::new());
        }
        self.log(page);
        if let Some(replay) = &self.replay {
            page.blank();
            // In one line, however long, because it is to be copied.
            page.push(&format!("  {:<KEYS$}{replay}\n", "replay"));
        }
    }
}

impl Explanation {
    /// The last lines of the system's log; the failure file has all that were kept.
    fn log(&self, page: &mut Page) {
        if self.log.is_empty() {
            return;
        }
        page.blank();
        page.push("  log of the system\n");
        let left_out = self.log.len().saturating_sub(MAX_LOG);
        if left_out > 0 {
            page.styled(&format!("    … {left_out} earlier lines\n"), QUIET);
        }
        for line in &self.log[left_out..] {
            let milliseconds = line.at as f64 / 1e6;
            let text = line.text.as_deref().unwrap_or_default();
            let text: String = (text.chars().take(LOG_WIDTH))
                .map(|c| if c.is_control() { ' ' } else { c })
                .collect();
            page.push(&format!("    {milliseconds:>9.1} ms  {text}\n"));
        }
    }
}

impl Row {
    fn show(&self, page: &mut Page, digits: usize, left: usize) {
        let indent = 4 + digits + 2;
        page.push(&format!("    {:>digits$}  ", self.number));
        let note = self.note.as_ref().map(|note| format!("  # {note}"));
        match self.side {
            Side::Tester => {
                let lines = wrap(&self.text, left);
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
                let style = if self.deviates { BAD } else { Style::new() };
                let mark = match (self.side, self.deviates) {
                    (Side::System, false) => "◄────",
                    (Side::System, true) => "◄──✗─",
                    (_, false) => "┄┄┄┄┄",
                    (_, true) => "✗    ",
                };
                page.styled(mark, style);
                page.push(" ");
                let room = page.width.saturating_sub(indent + left + 7).max(16);
                for (index, line) in wrap(&self.text, room).iter().enumerate() {
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

/// `text` in lines of at most `width` characters; its own lines stay lines.
fn wrap(text: &str, width: usize) -> Vec<String> {
    text.lines()
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

//! Words for people go to standard error, results to standard output. Colour only on a terminal,
//! and never the only sign.

use std::borrow::Cow;
use std::fmt;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::{ErrorKind, IsTerminal, Write};
use std::path::Path;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::exit::CommandError;
use anstyle::{AnsiColor, Style};
use ioco_engine::{RequirementCoverage, Summary};
use ioco_outside::{Untrusted, for_terminal};
pub use ioco_report::count;
use ioco_sts::Sts;

use crate::args::Format;

pub const ERROR: Paint = Paint(AnsiColor::Red.on_default().bold());
pub const GOOD: Paint = Paint(AnsiColor::Green.on_default().bold());
pub const WARNING: Paint = Paint(AnsiColor::Yellow.on_default().bold());
pub const FAINT: Paint = Paint(Style::new().dimmed());

/// A style of ioco's own words. In a text it is a mark that other text cannot contain, since it has a number in it that
/// is new in every process; on its way to the terminal the mark becomes a colour, and every other sequence is
/// escaped. So text from outside that was put between our words changes no colour, whoever forgot to escape it.
#[derive(Clone, Copy)]
pub struct Paint(Style);

const PAINTS: [Paint; 4] = [ERROR, GOOD, WARNING, FAINT];

static MARK: LazyLock<String> = LazyLock::new(|| {
    let number = RandomState::new().build_hasher().finish();
    format!("\u{1b}[ioco-{number:016x}-")
});

impl fmt::Display for Paint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let which = match f.alternate() {
            true => None,
            false => PAINTS.iter().position(|paint| paint.0 == self.0),
        };
        let which = which.map_or("end".to_owned(), |which| which.to_string());
        write!(f, "{}{which};", *MARK)
    }
}

/// What a terminal gets of a text: our own colours, and everything else escaped.
fn painted(text: &str) -> String {
    let mut parts = text.split(MARK.as_str());
    let escaped = |part: &str| Untrusted::new(part.replace("\r\n", "\n")).lines();
    let mut shown = escaped(parts.next().unwrap_or_default());
    for part in parts {
        let (which, rest) = part.split_once(';').unwrap_or(("end", part));
        let paint = which
            .parse()
            .ok()
            .and_then(|which: usize| PAINTS.get(which));
        match paint {
            Some(paint) => shown.push_str(&paint.0.render().to_string()),
            None => shown.push_str(&anstyle::Reset.render().to_string()),
        }
        shown.push_str(&escaped(rest));
    }
    shown
}

/// Decides once about colour, for everything that is printed, the help included.
pub fn choose_colour() {
    if let Some(wanted) = wanted_colour() {
        let choice = match wanted {
            true => anstream::ColorChoice::Always,
            false => anstream::ColorChoice::Never,
        };
        choice.write_global();
    }
}

/// Whether standard output takes colour.
pub fn colour_on_stdout() -> bool {
    wants_colour(std::io::stdout().is_terminal())
}

/// Whether standard error takes colour.
pub fn colour_on_stderr() -> bool {
    wants_colour(std::io::stderr().is_terminal())
}

/// Whether a variable of the environment says something.
pub fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.is_empty())
}

/// What the environment asks for. As in other programs, `FORCE_COLOR` wins over `NO_COLOR`, and `FORCE_COLOR=0`
/// means none.
fn wanted_colour() -> Option<bool> {
    if let Some(forced) = std::env::var_os("FORCE_COLOR").filter(|value| !value.is_empty()) {
        return Some(forced != "0" && forced != "false");
    }
    if is_set("CLICOLOR_FORCE") {
        return Some(true);
    }
    is_set("NO_COLOR").then_some(false)
}

fn wants_colour(terminal: bool) -> bool {
    let usable = || terminal && std::env::var_os("TERM").is_none_or(|t| t != "dumb");
    wanted_colour().unwrap_or_else(usable)
}

/// Words for a person, on standard error. Here and in [`print`] everything on its way to a terminal
/// passes: what is no text and no [`Paint`] is escaped, wherever it comes from.
pub fn message(text: &str) {
    // There is nowhere left to report that.
    let _ = anstream::stderr().write_all(painted(text).as_bytes());
}

/// A picture with colours of its own, by a crate that escapes what it quotes.
pub fn picture_message(picture: &str) {
    let _ = anstream::stderr().write_all(for_terminal(picture).as_bytes());
}

/// The same on standard output.
pub fn picture(picture: &str) {
    write(&for_terminal(picture));
}

/// A line of words for a person.
macro_rules! say {
    ($($words:tt)*) => {
        $crate::output::message(&format!("{}\n", format_args!($($words)*)))
    };
}

/// A longer message is shown with its beginning: it quotes something too long to read.
const MAX_MESSAGE: usize = 4000;

/// A message that is not too long for a person, and how much of it was left out.
fn shortened(message: &str) -> Cow<'_, str> {
    let Some((at, _)) = message.char_indices().nth(MAX_MESSAGE) else {
        return Cow::Borrowed(message);
    };
    let left_out = message[at..].chars().count();
    let beginning = &message[..at];
    Cow::Owned(format!("{beginning}… ({left_out} more characters)"))
}

/// What is going on, where a person may have to do something.
pub fn notice(message: &str) {
    say!("{}", shortened(message));
}

/// A warning: the run goes on.
pub fn warn(message: &str) {
    let message = shortened(message);
    say!("{WARNING}warning{WARNING:#}: {message}");
}

/// What `--format json` prints when there is no result.
#[derive(serde::Serialize)]
struct Stopped<'a> {
    error: &'a str,
    hint: Option<&'a str>,
    exit: u8,
}

/// Why the program ends.
pub fn stop(stop: &CommandError, format: Format) {
    if format == Format::Json {
        let stopped = Stopped {
            error: &stop.message,
            hint: stop.hint.as_deref(),
            exit: stop.exit as u8,
        };
        data(&format!("{}\n", serde_json::json!(stopped)));
    }
    report_error(stop);
}

/// Something that went wrong, for a person.
pub fn report_error(stop: &CommandError) {
    say!("{ERROR}error{ERROR:#}: {}", shortened(&stop.message));
    if let Some(hint) = &stop.hint {
        say!("  hint: {}", shortened(hint));
    }
}

/// One JSON object on a line of standard output.
pub fn json(value: &impl serde::Serialize) -> Result<(), CommandError> {
    let text =
        serde_json::to_string(value).map_err(|error| CommandError::usage(error.to_string()))?;
    data(&format!("{text}\n"));
    Ok(())
}

/// Whether standard output takes what is written.
static STDOUT: AtomicU8 = AtomicU8::new(OPEN);
const OPEN: u8 = 0;
/// The reader went away (`| head`): it has what it wanted, and the work goes on without it.
const GONE: u8 = 1;
/// It could not be written, for instance because a disk is full.
const BROKEN: u8 = 2;

/// Text for a person on standard output.
pub fn print(text: &str) {
    write(&painted(text));
}

/// A file on standard output, for a program: byte for byte, unless a terminal shows it.
pub fn data(text: &str) {
    if std::io::stdout().is_terminal() {
        print(text);
    } else {
        write(text);
    }
}

/// A reader that is gone never changes what a command finds out.
fn write(text: &str) {
    if STDOUT.load(Ordering::Relaxed) != OPEN {
        return;
    }
    let mut out = anstream::stdout();
    if let Err(error) = out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        if error.kind() == ErrorKind::BrokenPipe {
            STDOUT.store(GONE, Ordering::Relaxed);
        } else {
            STDOUT.store(BROKEN, Ordering::Relaxed);
            report_error(&CommandError::usage(format!(
                "cannot write to standard output: {error}"
            )));
        }
    }
}

/// Whether results were lost because standard output could not be written.
pub fn lost() -> bool {
    STDOUT.load(Ordering::Relaxed) == BROKEN
}

/// Draws the model with how often each location was entered and each switch taken.
pub fn draw(file: &Path, sts: &Sts, counts: &ioco_draw::Counts) -> Result<(), CommandError> {
    let style = ioco_draw::Style {
        coverage: Some(counts),
    };
    std::fs::write(file, ioco_draw::svg(sts, &style)).map_err(|error| {
        CommandError::usage(format!("cannot write {}: {error}", file.display()))
    })?;
    say!("drawn: {}", file.display());
    Ok(())
}

/// `3 tests (2 passed, …), 40 steps in 0.3 s`.
pub fn tests(summary: &Summary) -> String {
    format!(
        "{}, {} in {:.1} s",
        ioco_report::tests(summary),
        count(summary.steps(), "step"),
        summary.duration as f64 / 1e9,
    )
}

/// `12 tests ended early to restart the system; they do not use up --tests`; nothing for a run without restarts.
pub fn restarts(summary: &Summary) -> Option<String> {
    let they_do = match summary.restarts {
        0 => return None,
        1 => "it does",
        _ => "they do",
    };
    let tests = count(summary.restarts, "test");
    Some(format!(
        "{tests} ended early to restart the system; {they_do} not use up --tests"
    ))
}

/// Nanoseconds of waiting below which nobody asks where the time went.
const MIN_REPORTED_WAIT: u64 = 50_000_000;

/// `waited 12.3 s for silence (61 % of the time): 40 silences, 5 of them in a new situation`; nothing for a run that
/// hardly waited.
pub fn silence(summary: &Summary) -> Option<String> {
    let price = summary
        .silence
        .filter(|price| price.waited >= MIN_REPORTED_WAIT)?;
    let share = match summary.duration {
        0 => String::new(),
        whole => format!(
            " ({:.0} % of the time)",
            100.0 * price.waited.min(whole) as f64 / whole as f64
        ),
    };
    Some(format!(
        "waited {:.1} s for silence{share}: {}, {} of them in a new situation",
        price.waited as f64 / 1e9,
        count(price.observed, "silence"),
        price.new,
    ))
}

/// At most so many requirements are named in one line.
const MAX_NAMED: usize = 5;

/// `showed 2 of 3 requirements; not MQTT-3.1.0-2`; nothing for a model that cites none.
pub fn requirements(requirements: &[RequirementCoverage]) -> Option<String> {
    if requirements.is_empty() {
        return None;
    }
    let missing: Vec<&str> = requirements
        .iter()
        .filter(|r| r.steps == 0)
        .map(|r| r.id.as_str())
        .collect();
    let shown = requirements.len() - missing.len();
    let mut line = format!(
        "showed {shown} of {}",
        count(requirements.len() as u64, "requirement")
    );
    if !missing.is_empty() {
        let named = missing[..missing.len().min(MAX_NAMED)].join(", ");
        line.push_str(&format!("; not {named}"));
        if missing.len() > MAX_NAMED {
            line.push_str(&format!(" and {} more", missing.len() - MAX_NAMED));
        }
    }
    Some(line)
}

/// `covered 3 of 4 locations, …`.
pub fn covered(summary: &Summary) -> String {
    format!(
        "covered {} of {} locations, {} of {} switches, {} of {} boundary values",
        summary.covered_locations,
        summary.locations,
        summary.covered_switches,
        summary.switches,
        summary.covered_boundaries,
        summary.boundaries,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_words_have_colours_and_those_of_others_do_not() {
        for hostile in [
            "\u{1b}[31mred",
            "\u{1b}[0mplain",
            "\u{1b}[8mhidden",
            "\u{1b}]52;c;ZXZpbA==\u{7}",
            "\u{1b}[ioco-0000000000000000-0;red",
            "\u{9b}31mred",
            "\u{202e}backwards",
            "\roverwritten",
        ] {
            let shown = painted(&format!("{ERROR}error{ERROR:#}: {hostile}\n"));
            let escaped = Untrusted::new(hostile);
            assert_eq!(
                shown,
                format!("\u{1b}[1m\u{1b}[31merror\u{1b}[0m: {escaped}\n")
            );
        }
        assert_eq!(painted("a\r\nb\tc"), "a\nb\tc");
    }

    #[test]
    fn a_long_message_says_how_much_of_it_is_left_out() {
        let long = "ß".repeat(MAX_MESSAGE + 7);
        let shown = shortened(&long);
        assert_eq!(
            shown.strip_suffix("… (7 more characters)"),
            Some(&long[..2 * MAX_MESSAGE])
        );
        assert_eq!(shortened(&long[14..]), long[14..]);
    }
}

//! Words for people go to standard error, results to standard output. Colour only on a terminal,
//! and never the only sign.

use std::io::{ErrorKind, IsTerminal, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::exit::CommandError;
use anstyle::{AnsiColor, Style};
use ioco_engine::{RequirementCoverage, Summary};
use ioco_outside::for_terminal;
use ioco_sts::Sts;

use crate::args::Format;

pub const ERROR: Style = AnsiColor::Red.on_default().bold();
pub const GOOD: Style = AnsiColor::Green.on_default().bold();
pub const WARNING: Style = AnsiColor::Yellow.on_default().bold();
pub const FAINT: Style = Style::new().dimmed();

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
/// passes: what is no text and no colour is escaped, wherever it comes from.
pub fn message(text: &str) {
    // There is nowhere left to report that.
    let _ = anstream::stderr().write_all(for_terminal(text).as_bytes());
}

/// A line of words for a person.
macro_rules! say {
    ($($words:tt)*) => {
        $crate::output::message(&format!("{}\n", format_args!($($words)*)))
    };
}

/// A warning: the run goes on.
pub fn warn(message: &str) {
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
    tell(stop);
}

/// Something that went wrong, for a person.
pub fn tell(stop: &CommandError) {
    say!("{ERROR}error{ERROR:#}: {}", stop.message);
    if let Some(hint) = &stop.hint {
        say!("  hint: {hint}");
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
    write(&for_terminal(text));
}

/// A file on standard output, for a program: byte for byte, unless a terminal shows it.
pub fn data(text: &str) {
    if std::io::stdout().is_terminal() {
        print(text);
    } else {
        write(text);
    }
}

/// That nobody reads it never changes what a command finds out.
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
            tell(&CommandError::usage(format!(
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

/// `1 test`, `2 tests`.
pub fn count(number: u64, thing: &str) -> String {
    if number == 1 {
        format!("1 {thing}")
    } else {
        format!("{number} {thing}s")
    }
}

/// `3 tests (2 passed, …), 40 steps in 0.3 s`.
pub fn tests(summary: &Summary) -> String {
    format!(
        "{} ({} passed, {} failed, {} inconclusive, {}), {} in {:.1} s",
        count(summary.tests, "test"),
        summary.passed,
        summary.failed,
        summary.inconclusive,
        count(summary.errors, "error"),
        count(summary.steps(), "step"),
        summary.duration as f64 / 1e9,
    )
}

/// `waited 12.3 s for silence (61 % of the time): 40 silences, 5 of them in a new situation`; nothing for a run that
/// did not wait.
pub fn silence(summary: &Summary) -> Option<String> {
    let price = summary.silence.filter(|price| price.waited > 0)?;
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

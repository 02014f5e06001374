//! Words for people go to standard error, results to standard output. Colour only on a terminal,
//! and never the only sign.

use std::io::IsTerminal;

use anstyle::{AnsiColor, Style};

use crate::exit::Stop;

pub const ERROR: Style = AnsiColor::Red.on_default().bold();
pub const GOOD: Style = AnsiColor::Green.on_default().bold();
pub const WARNING: Style = AnsiColor::Yellow.on_default().bold();
pub const FAINT: Style = Style::new().dimmed();

/// Whether standard output takes colour.
pub fn colour_on_stdout() -> bool {
    wants_colour(std::io::stdout().is_terminal())
}

/// Whether standard error takes colour.
pub fn colour_on_stderr() -> bool {
    wants_colour(std::io::stderr().is_terminal())
}

fn wants_colour(terminal: bool) -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let forced = set("CLICOLOR_FORCE") || set("FORCE_COLOR");
    forced || (terminal && !set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|t| t != "dumb"))
}

/// A warning: the run goes on.
pub fn warn(message: &str) {
    anstream::eprintln!("{WARNING}warning{WARNING:#}: {message}");
}

/// Why the program ends.
pub fn stop(stop: &Stop) {
    anstream::eprintln!("{ERROR}error{ERROR:#}: {}", stop.message);
    if let Some(hint) = &stop.hint {
        anstream::eprintln!("  hint: {hint}");
    }
}

/// One JSON object on a line of standard output.
pub fn json(value: &impl serde::Serialize) -> Result<(), Stop> {
    let text = serde_json::to_string(value).map_err(|error| Stop::usage(error.to_string()))?;
    print(&format!("{text}\n"));
    Ok(())
}

/// Text on standard output. A reader that went away (`| head`) ends the program quietly.
pub fn print(text: &str) {
    use std::io::Write;
    let mut out = anstream::stdout();
    if out
        .write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .is_err()
    {
        std::process::exit(0);
    }
}

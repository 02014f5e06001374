//! `ioco doctor`: looks at everything that a run needs and says what is missing. It starts no system and sends
//! nothing to one: it reads files, looks for programs, and opens ports and connections on this machine only.

mod machine;
mod project;

use crate::exit::{Answer, CommandError, Exit};
use serde::Serialize;

use crate::args::{self, Format};
use crate::output::{self, ERROR, FAINT, GOOD, WARNING};

/// What became of one check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum State {
    Ok,
    /// Something is missing that nothing here needs.
    Note,
    /// A run works, but not as a person may expect.
    Warning,
    /// A run cannot work.
    Error,
}

/// One thing that was looked at.
#[derive(Debug, Serialize)]
struct Finding {
    group: &'static str,
    name: String,
    state: State,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    #[serde(skip)]
    exit: Exit,
}

impl Finding {
    fn new(
        group: &'static str,
        name: impl Into<String>,
        state: State,
        message: impl Into<String>,
    ) -> Finding {
        Finding {
            group,
            name: name.into(),
            state,
            message: message.into(),
            hint: None,
            exit: Exit::Conforms,
        }
    }

    fn ok(group: &'static str, name: impl Into<String>, message: impl Into<String>) -> Finding {
        Finding::new(group, name, State::Ok, message)
    }

    fn note(group: &'static str, name: impl Into<String>, message: impl Into<String>) -> Finding {
        Finding::new(group, name, State::Note, message)
    }

    fn warning(
        group: &'static str,
        name: impl Into<String>,
        message: impl Into<String>,
    ) -> Finding {
        Finding::new(group, name, State::Warning, message)
    }

    /// What `ioco test` would end with.
    fn error(group: &'static str, name: impl Into<String>, error: CommandError) -> Finding {
        Finding {
            hint: error.hint,
            exit: error.exit,
            ..Finding::new(group, name, State::Error, error.message)
        }
    }

    /// The system, or the machine, does not allow a run.
    fn unusable(
        group: &'static str,
        name: impl Into<String>,
        message: impl Into<String>,
    ) -> Finding {
        Finding {
            exit: Exit::System,
            ..Finding::new(group, name, State::Error, message)
        }
    }

    fn hint(self, hint: impl Into<String>) -> Finding {
        Finding {
            hint: Some(hint.into()),
            ..self
        }
    }
}

/// What `--format json` prints.
#[derive(Serialize)]
struct Report<'a> {
    version: &'static str,
    platform: String,
    findings: &'a [Finding],
    errors: usize,
    warnings: usize,
    exit: u8,
}

pub fn run(arguments: &args::Doctor, format: Format) -> Answer {
    let mut findings = project::findings(arguments);
    findings.extend(machine::findings());
    let count = |state: State| findings.iter().filter(|f| f.state == state).count();
    let (errors, warnings) = (count(State::Error), count(State::Warning));
    // What a person can fix in the project comes before what the machine lacks.
    let failed = findings.iter().filter(|f| f.state == State::Error);
    let exit = failed
        .map(|finding| finding.exit)
        .min_by_key(|exit| *exit as u8)
        .unwrap_or(Exit::Conforms);
    let platform = format!("{} {}", std::env::consts::OS, std::env::consts::ARCH);
    let version = env!("CARGO_PKG_VERSION");
    if format == Format::Json {
        output::json(&Report {
            version,
            platform,
            findings: &findings,
            errors,
            warnings,
            exit: exit as u8,
        })?;
        return Ok(exit);
    }
    output::print(&format!("ioco {version}, {platform}\n"));
    output::print(&shown(&findings));
    let summary = match (errors, warnings) {
        (0, 0) => format!("\n{GOOD}ok{GOOD:#}: nothing is missing\n"),
        (0, warnings) => format!(
            "\n{GOOD}ok{GOOD:#} with {}\n",
            output::count(warnings as u64, "warning")
        ),
        (errors, _) => format!(
            "\n{ERROR}{}{ERROR:#}: `ioco test` cannot work before this is fixed\n",
            output::count(errors as u64, "error")
        ),
    };
    output::print(&summary);
    Ok(exit)
}

/// The findings by group, one a line, each with what helps below it.
fn shown(findings: &[Finding]) -> String {
    let width = findings.iter().map(|f| f.name.chars().count()).max();
    let width = width.unwrap_or(0);
    let mut text = String::new();
    let mut group = "";
    for finding in findings {
        if finding.group != group {
            group = finding.group;
            text.push_str(&format!("\n{group}\n"));
        }
        let (style, word) = match finding.state {
            State::Ok => (GOOD, "ok"),
            State::Note => (FAINT, "note"),
            State::Warning => (WARNING, "warning"),
            State::Error => (ERROR, "error"),
        };
        text.push_str(&format!(
            "  {style}{word:<7}{style:#}  {:<width$}  {}\n",
            finding.name, finding.message
        ));
        if let Some(hint) = &finding.hint {
            text.push_str(&format!("{:13}{:width$}{hint}\n", "", ""));
        }
    }
    text
}

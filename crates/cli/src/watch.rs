//! Watching a campaign at the terminal: one live line, and what a person should know at once.

use ioco_aml::{Diagnostic, SourceFile};
use ioco_campaign::{FoundFailure, Observer, Remedy};
use ioco_engine::{Event, Explanation, TestReport, Tester, TextOptions};
use ioco_shrink::Progress as Shrinking;

use crate::args::Format;
use crate::model;
use crate::output::{self, GOOD, WARNING};
use crate::progress::Progress;
use crate::{typed, words};

/// Says what is wrong, and nothing else.
pub struct Teller;

impl Observer for Teller {
    fn allow(&mut self, question: &str) -> bool {
        typed::allow(question)
    }

    fn notice(&mut self, message: &str) {
        say!("{message}");
    }

    fn warning(&mut self, message: &str) {
        output::warn(message);
    }

    fn warning_with(&mut self, message: &str, remedy: &Remedy) {
        self.warning(&words::warning(message, remedy));
    }

    fn diagnostics(&mut self, diagnostics: &[Diagnostic], files: &[SourceFile]) {
        model::summarise(diagnostics, files);
    }
}

/// Shows a campaign as it goes.
pub struct Terminal {
    format: Format,
    progress: Progress,
}

impl Terminal {
    pub fn new(format: Format) -> Terminal {
        Terminal {
            format,
            progress: Progress::start(),
        }
    }
}

impl Observer for Terminal {
    fn event(&mut self, event: &Event) {
        if self.format == Format::Json {
            output::data(&ioco_report::json_line(event));
        }
    }

    fn finished(&mut self, _report: &TestReport, tester: &mut Tester) {
        let summary = tester.summary();
        self.progress.say(|| {
            format!(
                "test {}, {}, {} of {} switches, {}",
                summary.tests,
                output::count(summary.steps(), "step"),
                summary.covered_switches,
                summary.switches,
                output::count(summary.distinct_failures, "failure")
            )
        });
    }

    fn found(&mut self, found: &FoundFailure) {
        if self.format != Format::Text {
            return;
        }
        let said = words::notes(&found.notes, &found.id);
        self.progress.aside(|| {
            if let Some(explanation) = words::found(found) {
                output::print(&explanation.to_text(text_options()));
            }
            if let Some(hint) = &found.hint {
                output::print(&format!("  {:<15}{hint}\n", "hint"));
            }
            output::print(&format!("{}\n", notes(&said, text_options().width)));
            if found.flaky {
                let words = "flaky: it was not seen in every run that should confirm it";
                output::print(&format!("{WARNING}{words}{WARNING:#}\n\n"));
            }
        });
    }

    fn fixed(&mut self, id: &str) {
        self.progress.aside(|| {
            say!("{GOOD}fixed{GOOD:#}  known failure {id} passes now");
        });
    }

    fn unusual(&mut self, explanation: Option<&Explanation>, hint: Option<&str>) {
        self.progress.aside(|| {
            if let Some(explanation) = explanation {
                output::message(&explanation.to_text(text_options()));
            }
            if let Some(hint) = hint {
                say!("  hint: {hint}");
            }
        });
    }

    fn shrinking(&mut self, from: usize, now: Shrinking) {
        self.progress
            .say(|| format!("shrinking {from} → {} steps, {} runs", now.length, now.runs));
    }

    fn allow(&mut self, question: &str) -> bool {
        let mut allowed = false;
        self.progress.aside(|| allowed = typed::allow(question));
        allowed
    }

    fn notice(&mut self, message: &str) {
        self.progress.aside(|| say!("{message}"));
    }

    fn warning(&mut self, message: &str) {
        self.progress.aside(|| output::warn(message));
    }

    fn warning_with(&mut self, message: &str, remedy: &Remedy) {
        self.warning(&words::warning(message, remedy));
    }

    fn diagnostics(&mut self, diagnostics: &[Diagnostic], files: &[SourceFile]) {
        self.progress.aside(|| model::summarise(diagnostics, files));
    }
}

/// How explanations look on standard output.
pub fn text_options() -> TextOptions {
    let width = terminal_width().unwrap_or(100);
    TextOptions {
        width,
        colour: output::colour_on_stdout(),
        ..TextOptions::default()
    }
}

fn terminal_width() -> Option<usize> {
    let (_, columns) = console::Term::stdout().size_checked()?;
    (columns > 0).then_some(usize::from(columns))
}

/// The notes as lines of at most `width` characters under an explanation.
pub fn notes(notes: &[String], width: usize) -> String {
    const KEY: usize = 17;
    let mut text = String::new();
    for (index, note) in notes.iter().enumerate() {
        let key = if index == 0 { "  shrinking" } else { "" };
        let mut column = KEY;
        text.push_str(&format!("{key:<KEY$}"));
        for word in note.split_whitespace() {
            let length = word.chars().count();
            if column > KEY && column + 1 + length > width {
                text.push_str(&format!("\n{:<KEY$}", ""));
                column = KEY;
            }
            if column > KEY {
                text.push(' ');
                column += 1;
            }
            text.push_str(word);
            column += length;
        }
        text.push('\n');
    }
    text
}

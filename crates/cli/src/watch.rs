//! Watching a campaign at the terminal: one live line, and what a person should know at once.

use std::cell::Cell;
use std::time::{Duration, Instant};

use ioco_aml::{Diagnostic, SourceFile};
use ioco_campaign::work::WorkerRow;
use ioco_campaign::{FoundFailure, Observer, Remedy};
use ioco_engine::{Event, Explanation, Resolution, TestReport, Tester};
use ioco_explain::{TextOptions, text};
use ioco_shrink::Progress as Shrinking;

use crate::args::Format;
use crate::model;
use crate::output::{self, GOOD, WARNING};
use crate::progress::Progress;
use crate::{typed, words};

/// Says what is wrong, and nothing else.
pub struct ErrorsOnly;

impl Observer for ErrorsOnly {
    fn allow(&mut self, question: &str) -> bool {
        typed::allow(question)
    }

    fn notice(&mut self, message: &str) {
        output::notice(message);
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
    begun: Instant,
    workers: Workers,
    /// The line says that ioco waits for the system.
    waits: Cell<bool>,
}

impl Terminal {
    pub fn new(format: Format) -> Terminal {
        Terminal {
            format,
            progress: Progress::start(),
            begun: Instant::now(),
            workers: Workers::default(),
            waits: Cell::new(false),
        }
    }

    /// Nothing has happened yet: says what is waited for.
    pub fn wait(&self, what: &str, limit: Duration) {
        self.waits.set(true);
        let limit = limit.as_secs_f64();
        self.progress
            .show(format!("waiting for {what}, at most {limit} s"));
    }
}

impl Observer for Terminal {
    fn event(&mut self, event: &Event) {
        if self.format == Format::Json {
            output::data(&ioco_report::json_line(event));
        }
    }

    fn ready(&mut self) {
        // Only the first test comes after a line about waiting; later ones keep the numbers of the run.
        if self.waits.take() {
            self.progress
                .show("the system is ready; choosing the first stimulus".to_owned());
        }
    }

    fn handled(&mut self, tester: &mut Tester) {
        let begun = self.begun;
        let workers = self.workers;
        self.progress.say(|| goes_on(tester, begun, workers));
    }

    fn workers(&mut self, workers: &[WorkerRow], tester: &mut Tester) {
        self.workers = Workers::of(workers);
        self.handled(tester);
    }

    fn finished(&mut self, _report: &TestReport, tester: &mut Tester) {
        self.handled(tester);
    }

    fn found(&mut self, found: &FoundFailure) {
        if self.format != Format::Text {
            return;
        }
        let said = words::notes(&found.notes, &found.id);
        self.progress.aside(|| {
            if let Some(explanation) = words::found(found) {
                output::picture(&text(&explanation, text_options()));
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

    fn again(&mut self, id: &str) {
        self.progress
            .aside(|| say!("failure {id} was found once more, in another way"));
    }

    fn resolved(&mut self, id: &str, resolution: Resolution) {
        self.progress.aside(|| match resolution {
            Resolution::Fixed => say!("{GOOD}fixed{GOOD:#}  known failure {id} passes now"),
            Resolution::Allowed => {
                say!("{GOOD}allowed{GOOD:#}  known failure {id}: the model allows it now");
            }
        });
    }

    fn unusual(&mut self, explanation: Option<&Explanation>, hint: Option<&str>) {
        self.progress.aside(|| {
            if let Some(explanation) = explanation {
                output::picture_message(&text(explanation, text_options()));
            }
            if let Some(hint) = hint {
                output::notice(&format!("  hint: {hint}"));
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
        self.progress.aside(|| output::notice(message));
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

/// Who carries out the tests, where others do.
#[derive(Clone, Copy, Default)]
struct Workers {
    /// Those that have taken part, and those that are at a test now.
    known: usize,
    busy: usize,
    /// Steps of the tests under way.
    steps: u64,
}

impl Workers {
    fn of(workers: &[WorkerRow]) -> Workers {
        let now = || workers.iter().flat_map(|worker| &worker.now);
        Workers {
            known: workers.len(),
            busy: workers.iter().filter(|w| !w.now.is_empty()).count(),
            steps: now().map(|doing| doing.steps).sum(),
        }
    }

    /// How far the test is, or the tests that are under way.
    fn place(self, tester: &Tester) -> String {
        match self.known {
            0 => format!("step {}", tester.trace().len()),
            known => {
                let known = output::count(known as u64, "worker");
                let steps = output::count(self.steps, "step");
                format!("{} of {known} at work, {steps} under way", self.busy)
            }
        }
    }
}

/// What a run has done, and what ends it.
fn goes_on(tester: &Tester, begun: Instant, workers: Workers) -> String {
    let summary = tester.summary();
    let stop = &tester.settings().stop;
    let of = |limit: Option<u64>| limit.map_or(String::new(), |limit| format!(" of {limit}"));
    let passed = begun.elapsed().as_secs_f64();
    let time = stop.time.map_or(String::new(), |limit| {
        format!(", {passed:.0} of {:.0} s", limit as f64 / 1e9)
    });
    format!(
        "test {}{}, {}, {:.0} steps a second, {}, {} of {} switches, {}{time}",
        tester.test_number(),
        of(stop
            .tests
            .map(|tests| tests.saturating_add(summary.restarts))),
        workers.place(tester),
        (summary.steps() + workers.steps) as f64 / passed.max(0.001),
        match summary.silences {
            1 => "1 wait for silence".to_owned(),
            waits => format!("{waits} waits for silence"),
        },
        summary.covered_switches,
        summary.switches,
        output::count(summary.distinct_failures, "failure")
    )
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

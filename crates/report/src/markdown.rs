//! A summary in Markdown, with the chart of each failure in Mermaid: for the summary page of a
//! build, a pull request or a ticket.

use std::fmt::Write as _;

use ioco_engine::{Sender, percent};

use crate::failure::{Failure, Paths};
use crate::run::{Run, count, tests};

/// More uncovered switches than this are counted, not listed.
const MAX_MISSING: usize = 50;
/// A longer chart is left to the other reports: Mermaid refuses texts of 50,000 characters.
const MAX_CHART: usize = 45_000;
/// Lines of a system's log that are shown; the failure file has more.
const MAX_LOG: usize = 20;

pub fn markdown(run: &Run, failures: &[Failure], paths: &Paths) -> String {
    // Writing into a String cannot fail.
    let mut text = String::new();
    let summary = &run.summary;
    let _ = writeln!(text, "# {} {}\n", run.word(), escaped(&run.model));
    let _ = writeln!(
        text,
        "{} in {:.1} s; {}.\n",
        tests(summary),
        summary.duration as f64 / 1e9,
        run.ended(),
    );
    if summary.restarts > 0 {
        let _ = writeln!(
            text,
            "{} ended early to restart the system.\n",
            count(summary.restarts, "test")
        );
    }
    if let Some(price) = summary.silence.filter(|price| price.waited > 0) {
        let _ = writeln!(
            text,
            "Waiting for silence took {:.1} s: {}, {} of them in a new situation.\n",
            price.waited as f64 / 1e9,
            count(price.observed, "silence"),
            price.new,
        );
    }
    text.push_str("| covered | | |\n|---|---|---|\n");
    for (what, covered, all) in [
        ("locations", summary.covered_locations, summary.locations),
        ("switches", summary.covered_switches, summary.switches),
        (
            "boundary values",
            summary.covered_boundaries,
            summary.boundaries,
        ),
    ] {
        let percent = percent(covered, all);
        let _ = writeln!(text, "| {what} | {covered} of {all} | {percent:.1} % |");
    }
    let _ = writeln!(
        text,
        "\nRun {}, {}, seed {}, strategy {}, model `{}`.",
        run.id,
        run.started,
        run.seed,
        run.strategy,
        paths.show(&run.path)
    );
    let rows = run.requirement_rows(failures);
    if !rows.is_empty() {
        text.push_str("\n| requirement | | result |\n|---|---|---|\n");
        for row in &rows {
            let requirement = row.requirement;
            let (id, said) = (escaped(&requirement.id), escaped(&requirement.text));
            let _ = writeln!(text, "| {id} | {said} | {} |", row.result());
        }
    }
    for failure in failures {
        write_failure(&mut text, failure, paths);
    }
    if !run.missing.is_empty() {
        let _ = writeln!(
            text,
            "\n<details><summary>{} not covered</summary>\n",
            count(run.missing.len() as u64, "switch")
        );
        for line in run.missing.iter().take(MAX_MISSING) {
            let _ = writeln!(text, "- {}", escaped(line));
        }
        if run.missing.len() > MAX_MISSING {
            let _ = writeln!(text, "- and {} more", run.missing.len() - MAX_MISSING);
        }
        text.push_str("\n</details>\n");
    }
    text
}

fn write_failure(text: &mut String, failure: &Failure, paths: &Paths) {
    let summary = &failure.detail.summary;
    let _ = writeln!(text, "\n## {}\n", escaped(&failure.headline()));
    let mut facts = vec![format!("test {}", failure.test)];
    if summary.from == summary.to {
        facts.push(count(summary.to as u64, "step"));
    } else {
        facts.push(format!(
            "shrunk from {} to {} steps in {}",
            summary.from,
            summary.to,
            count(summary.runs as u64, "run")
        ));
    }
    if let Some((seen, runs)) = summary.confirmed {
        facts.push(format!("confirmed in {seen} of {runs} runs"));
    }
    facts.push(match summary.status.is_open() && failure.flaky {
        true => "**flaky**".to_owned(),
        false => summary.status_words(),
    });
    if let Some(reason) = &summary.accepted {
        facts.push(format!("because {}", escaped(reason)));
    }
    if let (Some(first), Some(last)) = (&summary.run, &summary.last_run) {
        facts.push(format!(
            "first in run {first}, last in run {last}, shown by {}",
            count(summary.tests, "test")
        ));
    }
    let _ = writeln!(text, "{}.\n", facts.join(", "));
    for line in &failure.detail.model_lines {
        let _ = writeln!(
            text,
            "- `{}:{}` {}",
            paths.show(&line.file),
            line.line,
            escaped(&line.text)
        );
    }
    if !failure.mermaid.is_empty() && failure.mermaid.len() <= MAX_CHART {
        let _ = write!(text, "\n```mermaid\n{}```\n", failure.mermaid);
    }
    if !failure.requirements.is_empty() {
        let touched = escaped(&failure.requirements.join(", "));
        let _ = writeln!(text, "\nRequirements: {touched}");
    }
    for (what, lines) in [
        ("Allowed here", &failure.detail.allowed),
        ("Because", &failure.detail.because),
    ] {
        if !lines.is_empty() {
            let _ = writeln!(text, "\n{what}:\n");
            for line in lines {
                let _ = writeln!(text, "- {}", escaped(line));
            }
        }
    }
    let log: Vec<_> = (failure.file.last_wire().iter())
        .filter(|line| line.from == Sender::Log)
        .collect();
    if !log.is_empty() {
        let _ = writeln!(text, "\nLog of the system, its last lines:\n");
        for line in &log[log.len().saturating_sub(MAX_LOG)..] {
            let milliseconds = line.at as f64 / 1e6;
            let said = escaped(line.text.as_deref().unwrap_or_default());
            let _ = writeln!(text, "- {milliseconds:.1} ms: {said}");
        }
    }
    let _ = writeln!(text, "\nAgain: `ioco replay {}`", summary.id);
}

/// Text that stays text: what Markdown or HTML would read otherwise is escaped.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' => {
                escaped.push('\\');
                escaped.push(character);
            }
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            control if control.is_control() => escaped.push(' '),
            other => escaped.push(other),
        }
    }
    escaped
}

//! `ioco shrink`: cuts a recorded failure down again.

use crate::exit::{Answer, Exit};
use ioco_campaign::{ShrinkSettings, failures, time};
use serde::Serialize;

use ioco_engine::Explanation;
use ioco_sts::Verdict;

use crate::args::{self, Format};
use crate::watch::{Terminal, notes, text_options};
use crate::{interrupt, output, words};

#[derive(Serialize)]
struct Report {
    failure: String,
    shrinker: String,
    from: usize,
    to: usize,
    runs: usize,
    stimuli: usize,
    bug: &'static str,
    confirmed: (u32, u32),
    shortest: Option<bool>,
    notes: Vec<String>,
    explanation: Option<Explanation>,
}

pub fn run(arguments: &args::Shrink, format: Format) -> Answer {
    let limit = arguments.time.as_deref().map(time::parse).transpose()?;
    let mut terminal = Terminal::new(format);
    let mut opened = failures::open(
        &arguments.failure,
        &crate::typed::project_here()?,
        &arguments.system.choice(),
        arguments.solver.as_deref(),
        arguments.limits.limits(),
        interrupt::listen(),
        &mut terminal,
    )?;
    opened.set_jobs(arguments.jobs)?;
    let settings = ShrinkSettings {
        time: limit,
        ..arguments.shrinking.settings()
    };
    let reshrunk = opened.shrink(&settings, &mut terminal)?;
    drop(terminal);
    let Some(reshrunk) = reshrunk else {
        output::print(&format!(
            "{}  no longer fails: nothing to shrink\n",
            opened.file.id
        ));
        return Ok(Exit::Conforms);
    };
    let shrunk = &reshrunk.shrunk;
    let explanation = words::shrunk(&reshrunk);
    let reshrunk_notes = words::notes(&reshrunk.notes, &reshrunk.saved.id);
    if format == Format::Json {
        output::json(&Report {
            failure: reshrunk.saved.id.to_string(),
            shrinker: settings.shrinker,
            from: shrunk.original_length,
            to: shrunk.execution.length(),
            runs: shrunk.runs,
            stimuli: shrunk.stimuli_sent,
            bug: shrunk.kind.name(),
            confirmed: (shrunk.confidence.failed, shrunk.confidence.runs),
            shortest: shrunk.proved.as_ref().map(|proof| proof.shortest),
            notes: reshrunk_notes,
            explanation,
        })?;
    } else {
        if let Some(explanation) = &explanation {
            output::picture(&ioco_explain::text(explanation, text_options()));
        }
        output::print(&notes(&reshrunk_notes, text_options().width));
        if reshrunk.saved.id != opened.file.id {
            output::print(&format!(
                "  kept as        {} (it was {})\n",
                reshrunk.saved.id, opened.file.id
            ));
        }
    }
    if opened.session.interrupt.is_raised() {
        return Ok(Exit::Interrupted);
    }
    Ok(if matches!(shrunk.execution.verdict, Verdict::Ended(_)) {
        Exit::System
    } else if shrunk.confidence.is_flaky() {
        Exit::Flaky
    } else {
        Exit::Deviation
    })
}

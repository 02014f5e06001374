//! `ioco replay`: is it fixed?

use crate::exit::{Answer, Exit};
use ioco_campaign::failures::{self, ReplayVerdict};
use serde::Serialize;

use ioco_engine::Explanation;

use crate::args::{self, Format};
use crate::interrupt;
use crate::output::{self, ERROR, GOOD, WARNING};
use crate::watch::{ErrorsOnly, text_options};

/// What `--format json` prints.
#[derive(Serialize)]
struct Report<'a> {
    failure: &'a str,
    verdict: ReplayVerdict,
    failed: u64,
    runs: u64,
    explanation: Option<Explanation>,
}

pub fn run(arguments: &args::Replay, format: Format) -> Answer {
    let mut opened = failures::open(
        &arguments.failure,
        &crate::typed::project_here()?,
        &arguments.system.choice(),
        arguments.solver.as_deref(),
        arguments.limits.limits(),
        interrupt::listen(),
        &mut ErrorsOnly,
    )?;
    opened.set_jobs(arguments.jobs)?;
    let Some(replay) = opened.replay(arguments.times, arguments.original)? else {
        return Ok(Exit::Interrupted);
    };
    let exit = Exit::from(&replay);
    let id = &opened.file.id;
    if format == Format::Json {
        output::json(&Report {
            failure: id,
            verdict: replay.verdict(),
            failed: replay.failed,
            runs: replay.runs,
            explanation: replay.explanation,
        })?;
        return Ok(exit);
    }
    let style = match replay.verdict() {
        ReplayVerdict::Fixed => GOOD,
        ReplayVerdict::StillFailing => ERROR,
        _ => WARNING,
    };
    if let Some(explanation) = &replay.explanation {
        output::picture(&format!(
            "{}\n",
            ioco_explain::text(explanation, text_options())
        ));
    }
    let words = ioco_explain::replayed(&replay.said, replay.failed, replay.runs);
    output::print(&format!("{style}{id}{style:#}  {words}\n"));
    Ok(exit)
}

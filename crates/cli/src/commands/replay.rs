//! `ioco replay`: is it fixed?

use serde::Serialize;

use ioco_engine::{Context, Explanation, Replayed};
use ioco_sts::Execution;

use crate::args::{self, Format};
use crate::exit::{Answer, Exit, Stop};
use crate::failures::{self, Opened};
use crate::interrupt::Interrupt;
use crate::output::{self, ERROR, GOOD, WARNING};
use crate::session::text_options;

/// What `--format json` prints.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Report {
    failure: String,
    /// `fixed`, `still-failing`, `different` or `flaky`.
    verdict: &'static str,
    failed: u64,
    runs: u64,
    explanation: Option<Explanation>,
}

pub fn run(arguments: &args::Replay, format: Format) -> Answer {
    let interrupt = Interrupt::listen();
    let Opened {
        file, mut session, ..
    } = failures::open(&arguments.failure, &arguments.system, interrupt)?;
    let stimuli = if arguments.original {
        file.first_stimuli(&session.sts)
    } else {
        file.stimuli(&session.sts)
    };
    let stimuli = stimuli.map_err(|error| Stop::usage(error.to_string()))?;
    let mut runs: Vec<Execution> = Vec::new();
    for _ in 0..arguments.times.max(1) {
        runs.push(session.replay(&stimuli));
        if session.interrupt.asked() {
            return Ok(Exit::Interrupted);
        }
    }
    let failed = runs.iter().filter(|run| run.deviation().is_some()).count() as u64;
    let total = runs.len() as u64;
    let replayed = file.compare(&session.sts, &runs);
    let (verdict, exit) = match &replayed {
        Replayed::Fixed => ("fixed", Exit::Conforms),
        Replayed::StillFailing => ("still-failing", Exit::Deviation),
        // Another way that the model allows is no deviation.
        Replayed::Different(_) if failed == 0 => ("different", Exit::Conforms),
        Replayed::Different(_) => ("different", Exit::Deviation),
        Replayed::Flaky { .. } => ("flaky", Exit::Flaky),
        Replayed::Unusable(message) => return Err(failures::unusable(&session, message)),
    };
    let context = Context {
        test: Some(file.test),
        seed: Some(file.seed),
        system: session.sts.name().to_owned(),
        confirmed: Some((failed, total)),
        ..Context::default()
    };
    let shown = runs
        .iter()
        .find(|run| run.deviation().is_some())
        .or_else(|| runs.last());
    let explanation = shown.and_then(|run| session.explain(run, &context));
    if format == Format::Json {
        let failure = file.id.clone();
        output::json(&Report {
            failure,
            verdict,
            failed,
            runs: total,
            explanation,
        })?;
        return Ok(exit);
    }
    let (style, words) = match &replayed {
        Replayed::Fixed => (GOOD, format!("fixed: none of {total} runs failed")),
        Replayed::StillFailing => (ERROR, format!("still failing: {failed} of {total} runs")),
        Replayed::Different(how) => (WARNING, format!("different now: {how}")),
        Replayed::Flaky { failed, runs } => (
            WARNING,
            format!("flaky: {failed} of {runs} runs failed as recorded"),
        ),
        Replayed::Unusable(_) => (ERROR, String::new()),
    };
    if let Some(explanation) = explanation {
        output::print(&format!("{}\n", explanation.to_text(text_options())));
    }
    output::print(&format!("{style}{}{style:#}  {words}\n", file.id));
    Ok(exit)
}

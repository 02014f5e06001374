//! `ioco shrink`: cuts a recorded failure down again.

use serde::Serialize;

use ioco_engine::{Context, Explanation, FailureContext, FailureFile};
use ioco_sts::Verdict;

use crate::args::{self, Format};
use crate::exit::{Answer, Exit, Stop};
use crate::failures::{self, Opened};
use crate::interrupt::Interrupt;
use crate::output;
use crate::progress::Progress;
use crate::results::Results;
use crate::session::{sizes, text_options};
use crate::{shrinking, time};

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
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
    let interrupt = Interrupt::listen();
    let Opened {
        file,
        path,
        mut session,
    } = failures::open(&arguments.failure, &arguments.system, interrupt)?;
    let stimuli = file
        .first_stimuli(&session.sts)
        .map_err(|error| Stop::usage(error.to_string()))?;
    // The failure as the system shows it today is what is shrunk, so that it is a real one.
    let first = session.tester.scripted_test(stimuli, session.now());
    let report = session.run(first);
    let wire = session.wire();
    match &report.execution.verdict {
        Verdict::Fail(_) => {}
        Verdict::Error(message) => return Err(failures::unusable(&session, message)),
        Verdict::Pass | Verdict::Inconclusive(_) => {
            output::print(&format!(
                "{}  does not fail any more: nothing to shrink\n",
                file.id
            ));
            return Ok(Exit::Conforms);
        }
    }
    let progress = Progress::start();
    let shrunk = session.shrink(&report.execution, &arguments.shrinking, limit, &progress)?;
    drop(progress);
    let confirmed = (
        u64::from(shrunk.confidence.failed),
        u64::from(shrunk.confidence.runs),
    );
    let mut saved = FailureFile::new(
        &session.sts,
        &report,
        FailureContext {
            model_hash: file.model_hash.clone(),
            seed: file.seed,
            wire,
            shrunk: Some((shrunk.execution.clone(), shrunk.runs)),
            confirmed: Some(confirmed),
            connection: file.connection.clone(),
        },
    )
    .ok_or_else(|| Stop::usage("the failure could not be written"))?;
    saved.test = file.test;
    saved.test_seed = file.test_seed;
    let results = Results::at(".ioco".into());
    let new_path = path.with_file_name(format!("{}.json", saved.id));
    results.write(&new_path, saved.write().as_bytes())?;
    if new_path != path && path.parent().is_some_and(|p| p.ends_with(".ioco/failures")) {
        // The same failure under its new id; the old file would be tried twice.
        let _ = std::fs::remove_file(&path);
    }
    let context = Context {
        test: Some(file.test),
        seed: Some(file.seed),
        system: session.sts.name().to_owned(),
        shrunk: Some(sizes(&shrunk)),
        confirmed: Some(confirmed),
        replay: Some(format!("ioco replay {}", saved.id)),
    };
    let explanation = session.explain(&shrunk.execution, &context);
    let notes = shrinking::notes(&shrunk);
    if format == Format::Json {
        output::json(&Report {
            failure: saved.id.clone(),
            shrinker: arguments.shrinking.shrinker.clone(),
            from: shrunk.original_length,
            to: shrunk.execution.length(),
            runs: shrunk.runs,
            stimuli: shrunk.stimuli_sent,
            bug: shrunk.kind.name(),
            confirmed: (shrunk.confidence.failed, shrunk.confidence.runs),
            shortest: shrunk.proved.as_ref().map(|proof| proof.shortest),
            notes,
            explanation,
        })?;
    } else {
        if let Some(explanation) = explanation {
            output::print(&explanation.to_text(text_options()));
        }
        output::print(&shrinking::show(&notes, text_options().width));
    }
    if session.interrupt.asked() {
        return Ok(Exit::Interrupted);
    }
    Ok(if shrunk.confidence.is_flaky() {
        Exit::Flaky
    } else {
        Exit::Deviation
    })
}

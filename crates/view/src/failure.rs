//! A recorded failure as a list shows it, and with everything that is known of it.

use ioco_engine::{Context, FailureFile, SavedDeviation, SavedStep, WireLine, describe, explain};
use ioco_explain::TextOptions;
use ioco_sts::Semantics;
use serde::{Deserialize, Serialize};

use crate::trace::{TraceView, Tracer};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct FailureSummary {
    pub id: String,
    pub model: String,
    /// `D001`, `D002` or `D003`.
    pub code: String,
    pub title: String,
    pub observed: String,
    /// Steps when it was first seen, and now.
    pub from: usize,
    pub to: usize,
    /// That it took to shrink it.
    pub runs: usize,
    pub confirmed: Option<(u64, u64)>,
    pub flaky: bool,
    pub first_seen: Option<String>,
    /// The run that found it, and the number of the test in it.
    pub run: Option<String>,
    pub test: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct FailureDetail {
    #[serde(flatten)]
    pub summary: FailureSummary,
    /// As the terminal shows it, without colour.
    pub explanation: String,
    pub allowed: Vec<String>,
    pub because: Vec<String>,
    pub model_lines: Vec<ModelLine>,
    pub connection: String,
    pub shrunk: Option<TraceView>,
    pub original: TraceView,
    /// Length over runs of the last shrinking, where it is known.
    pub race: Vec<RacePoint>,
    /// What `ioco explain` says about the code.
    pub code_text: String,
}

/// A line of the model that says so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct ModelLine {
    pub file: String,
    pub line: u32,
    /// `Open ──?close──► Closing`.
    pub text: String,
}

/// The shortest trace known after so many runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct RacePoint {
    pub run: usize,
    pub length: usize,
}

/// What the failure file itself does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    pub first_seen: Option<String>,
    pub run: Option<String>,
    /// How the system is reached, for a person.
    pub connection: String,
    pub race: Vec<RacePoint>,
}

impl FailureSummary {
    pub fn new(file: &FailureFile, facts: &Facts) -> FailureSummary {
        let audible = |step: &&SavedStep| !matches!(step, SavedStep::Silence { .. });
        let first = file
            .steps
            .iter()
            .map(|step| &step.what)
            .filter(audible)
            .count()
            + file.deviation.length();
        let (from, to, runs) = match file.shrunk_sizes() {
            Some(sizes) => (sizes.from, sizes.to, sizes.runs),
            None => (first, first, 0),
        };
        let deviation = file.last_deviation();
        FailureSummary {
            id: file.id.to_string(),
            model: file.model.clone(),
            code: deviation.code.clone(),
            title: deviation.title(&file.model),
            observed: deviation.observed.clone(),
            from,
            to,
            runs,
            confirmed: file.confirmed,
            flaky: file.is_flaky(),
            first_seen: facts.first_seen.clone(),
            run: facts.run.clone(),
            test: file.test,
        }
    }
}

impl FailureDetail {
    /// Follows the failure through the model as it is now; where the model has changed so that it
    /// does not allow the steps any more, the explanation says so.
    pub fn new(semantics: &mut Semantics, file: &FailureFile, facts: &Facts) -> FailureDetail {
        let context = Context {
            test: Some(file.test),
            seed: Some(file.seed),
            system: file.model.clone(),
            shrunk: file.shrunk_sizes(),
            confirmed: file.confirmed,
            replay: Some(format!("ioco replay {}", file.id)),
        };
        let execution = file.execution(semantics, false);
        let explained = execution
            .as_ref()
            .ok()
            .and_then(|execution| explain(semantics, execution, &context))
            .map(|explained| explained.with_log(file.last_wire()));
        let (explanation, allowed, because, places) = match (explained, &execution) {
            (Some(e), _) => (
                ioco_explain::text(&e, TextOptions::default()),
                e.allowed,
                e.because,
                e.places,
            ),
            (None, Err(error)) => (error.to_string(), Vec::new(), Vec::new(), Vec::new()),
            (None, Ok(_)) => Default::default(),
        };
        let line = |place: &ioco_engine::PlaceLine| {
            let (file, line) = place.place.rsplit_once(':')?;
            Some(ModelLine {
                file: file.to_owned(),
                line: line.parse().ok()?,
                text: place.switch.clone(),
            })
        };
        let first: Vec<(&SavedStep, Option<u64>)> =
            file.steps.iter().map(|s| (&s.what, Some(s.at))).collect();
        let end = Some(file.deviated_at);
        let original = trace(semantics, &first, (&file.deviation, end), &file.wire);
        let shrunk = file.shrunk.as_ref().map(|shrunk| {
            let at = |index: usize| shrunk.times.get(index).copied();
            let steps: Vec<(&SavedStep, Option<u64>)> = (shrunk.steps.iter().enumerate())
                .map(|(index, step)| (step, at(index)))
                .collect();
            let end = at(steps.len());
            trace(semantics, &steps, (&shrunk.deviation, end), &shrunk.wire)
        });
        FailureDetail {
            summary: FailureSummary::new(file, facts),
            explanation,
            allowed,
            because,
            model_lines: places.iter().filter_map(line).collect(),
            connection: facts.connection.clone(),
            shrunk,
            original,
            race: facts.race.clone(),
            code_text: describe(&file.last_deviation().code)
                .unwrap_or_default()
                .to_owned(),
        }
    }
}

fn trace(
    semantics: &mut Semantics,
    steps: &[(&SavedStep, Option<u64>)],
    (deviation, deviated_at): (&SavedDeviation, Option<u64>),
    wire: &[WireLine],
) -> TraceView {
    let mut tracer = Tracer::new(semantics);
    for (saved, at) in steps {
        tracer.saved(saved, *at);
    }
    tracer.deviation(deviation, deviated_at);
    tracer.finish(wire)
}

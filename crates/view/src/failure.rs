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
    pub status: FailureStatus,
    /// The run in which it did not fail any more.
    pub fixed_in: Option<String>,
    /// The run in which the system did it again, and a changed model allowed it.
    #[serde(default)]
    pub allowed_in: Option<String>,
    /// Why a person accepted it.
    pub accepted: Option<String>,
    /// Ids that it had before.
    pub aliases: Vec<String>,
    pub first_seen: Option<String>,
    pub last_seen: Option<String>,
    /// The run that found it, and the number of the test in it.
    pub run: Option<String>,
    pub test: u64,
    pub last_run: Option<String>,
    /// The number of runs and of tests that showed it.
    pub seen_in: u64,
    pub tests: u64,
}

/// What became of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
pub enum FailureStatus {
    /// The newest run of its model found it.
    New,
    /// An earlier run found it, and it has not passed since.
    Confirmed,
    /// Not every run that should confirm it showed it.
    Flaky,
    Accepted,
    /// It was tried again, and passed.
    Fixed,
    /// It was seen again, and the model allows it now.
    Allowed,
}

impl FailureStatus {
    pub fn name(self) -> &'static str {
        match self {
            FailureStatus::New => "new",
            FailureStatus::Confirmed => "confirmed",
            FailureStatus::Flaky => "flaky",
            FailureStatus::Accepted => "accepted",
            FailureStatus::Fixed => "fixed",
            FailureStatus::Allowed => "allowed",
        }
    }

    /// It needs attention.
    pub fn is_open(self) -> bool {
        use FailureStatus::{Accepted, Allowed, Fixed};
        !matches!(self, Accepted | Fixed | Allowed)
    }
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
    /// The names of the requirements that it touches.
    #[serde(default)]
    pub requirements: Vec<String>,
    pub model_lines: Vec<ModelLine>,
    pub connection: String,
    pub shrunk: Option<TraceView>,
    pub original: TraceView,
    /// Why the original trace fails, where there is a shrunk one: that may deviate elsewhere.
    pub original_why: Option<Why>,
    /// Length over runs of the last shrinking, where it is known.
    pub shrinking_progress: Vec<ProgressPoint>,
    /// What `ioco explain` says about the code.
    pub code_text: String,
}

/// Why a trace fails.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct Why {
    pub code: String,
    pub title: String,
    pub observed: String,
    pub explanation: String,
    pub allowed: Vec<String>,
    pub because: Vec<String>,
    /// The names of the requirements that it touches.
    #[serde(default)]
    pub requirements: Vec<String>,
    pub model_lines: Vec<ModelLine>,
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
pub struct ProgressPoint {
    pub run: usize,
    pub length: usize,
}

/// What the failure file itself does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    pub first_seen: Option<String>,
    pub last_seen: Option<String>,
    pub run: Option<String>,
    pub last_run: Option<String>,
    pub seen_in: u64,
    pub tests: u64,
    /// The newest run of its model found it.
    pub is_new: bool,
    pub fixed_in: Option<String>,
    pub allowed_in: Option<String>,
    /// How the system is reached, for a person.
    pub connection: String,
    pub shrinking_progress: Vec<ProgressPoint>,
}

impl FailureSummary {
    /// `new`, `fixed in run 7`, `allowed by the model since run 7`.
    pub fn status_words(&self) -> String {
        match (&self.fixed_in, &self.allowed_in) {
            (Some(run), _) => format!("fixed in run {run}"),
            (None, Some(run)) => format!("allowed by the model since run {run}"),
            (None, None) => self.status.name().to_owned(),
        }
    }

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
            confirmed: file.confirmed.filter(|(_, runs)| *runs > 0),
            flaky: file.is_flaky(),
            status: if facts.fixed_in.is_some() {
                FailureStatus::Fixed
            } else if facts.allowed_in.is_some() {
                FailureStatus::Allowed
            } else if file.accepted.is_some() {
                FailureStatus::Accepted
            } else if file.is_flaky() {
                FailureStatus::Flaky
            } else if facts.is_new {
                FailureStatus::New
            } else {
                FailureStatus::Confirmed
            },
            fixed_in: facts.fixed_in.clone(),
            allowed_in: facts.allowed_in.clone(),
            accepted: file.accepted.clone(),
            aliases: file.aliases.iter().map(ToString::to_string).collect(),
            first_seen: facts.first_seen.clone(),
            last_seen: facts.last_seen.clone(),
            run: facts.run.clone(),
            test: file.test,
            last_run: facts.last_run.clone(),
            seen_in: facts.seen_in,
            tests: facts.tests,
        }
    }
}

impl FailureDetail {
    /// Follows the failure through the model as it is now; where the model has changed so that it
    /// does not allow the steps any more, the explanation says so.
    pub fn new(semantics: &mut Semantics, file: &FailureFile, facts: &Facts) -> FailureDetail {
        let shortest = why(semantics, file, false);
        let original_why = file.shrunk.as_ref().map(|_| why(semantics, file, true));
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
            explanation: shortest.explanation,
            allowed: shortest.allowed,
            because: shortest.because,
            requirements: shortest.requirements,
            model_lines: shortest.model_lines,
            connection: facts.connection.clone(),
            shrunk,
            original,
            original_why,
            shrinking_progress: facts.shrinking_progress.clone(),
            code_text: describe(&file.last_deviation().code)
                .unwrap_or_default()
                .to_owned(),
        }
    }
}

fn why(semantics: &mut Semantics, file: &FailureFile, original: bool) -> Why {
    let deviation = match original {
        true => &file.deviation,
        false => file.last_deviation(),
    };
    let wire = match original {
        true => &file.wire,
        false => file.last_wire(),
    };
    let again = if original { " --original" } else { "" };
    let context = Context {
        test: Some(file.test),
        seed: Some(file.seed),
        system: file.model.clone(),
        shrunk: file.shrunk_sizes().filter(|_| !original),
        confirmed: file.confirmed.filter(|_| !original),
        replay: Some(format!("ioco replay {}{again}", file.id)),
    };
    let execution = file.execution(semantics, original);
    let explained = (execution.as_ref().ok())
        .and_then(|execution| explain(semantics, execution, &context))
        .map(|explained| explained.with_log(wire));
    let line = |place: &ioco_engine::PlaceLine| {
        let (file, line) = place.place.rsplit_once(':')?;
        Some(ModelLine {
            file: file.to_owned(),
            line: line.parse().ok()?,
            text: place.switch.clone(),
        })
    };
    let mut why = Why {
        code: deviation.code.clone(),
        title: deviation.title(&file.model),
        observed: deviation.observed.clone(),
        explanation: String::new(),
        allowed: Vec::new(),
        because: Vec::new(),
        requirements: Vec::new(),
        model_lines: Vec::new(),
    };
    match (explained, execution) {
        (Some(explained), _) => {
            why.explanation = ioco_explain::text(&explained, TextOptions::default());
            why.model_lines = explained.places.iter().filter_map(line).collect();
            why.allowed = explained.allowed;
            why.because = explained.because;
            why.requirements = explained.requirements;
        }
        (None, Err(error)) => why.explanation = error.to_string(),
        (None, Ok(_)) => {}
    }
    why
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

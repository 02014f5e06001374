//! The failure file: everything that is needed to see a failure again, by names, so that it can be
//! read after the model has changed; and what a replay of it says.

use std::hash::Hasher as _;

use fnv::FnvHasher;
use ioco_sts::{Action, DeviationKind, Execution, Semantics, Step, Sts, Verdict};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::event::SavedDeviation;
use crate::explain::Shrunk;
use crate::fingerprint::Fingerprint;
use crate::report::TestReport;
use crate::saved::{ModelChanged, SavedStep};

/// The version of the file's form; readers refuse newer ones.
pub const FAILURE_VERSION: u32 = 1;

/// A failure as it is kept. Written as one JSON object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureFile {
    pub version: u32,
    /// A short hash of the shortest trace known and of what deviated after it.
    pub id: Fingerprint,
    pub model: String,
    /// Of the model's text, as the writer computes it.
    #[serde(alias = "model-hash")]
    pub model_hash: String,
    /// The seed of the run, the number of the test in it, and the seed of that test.
    pub seed: u64,
    pub test: u64,
    #[serde(alias = "test-seed")]
    pub test_seed: u64,
    /// The deviation after `steps`.
    pub deviation: SavedDeviation,
    /// As first seen: every step that the model allowed.
    pub steps: Vec<TimedStep>,
    /// Nanoseconds from the system being ready to the deviation.
    #[serde(alias = "deviated-at")]
    pub deviated_at: u64,
    /// What crossed the wire, where the connection has one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wire: Vec<WireLine>,
    /// The shortest way to it that was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shrunk: Option<SavedShrunk>,
    /// In how many of how many runs it was seen again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirmed: Option<(u64, u64)>,
    /// Other ways in which tests showed it before they were shrunk to the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<SavedDeviation>,
    /// Ids that it had before it was shrunk further.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<Fingerprint>,
    /// A person has accepted it: why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted: Option<String>,
    /// How to reach the system; only the writer knows what it means.
    pub connection: Json,
}

/// A step and its time, in nanoseconds since the system was ready.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimedStep {
    pub at: u64,
    #[serde(flatten)]
    pub what: SavedStep,
}

/// A message on the wire: as text where it is text, else as hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WireLine {
    pub at: u64,
    pub from: Sender,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hex: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sender {
    Tester,
    System,
    /// A line that the system wrote to its log: standard error, or what a started server says.
    Log,
}

/// A shorter execution with a failure like the first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedShrunk {
    pub steps: Vec<SavedStep>,
    pub deviation: SavedDeviation,
    pub runs: usize,
    /// Every single stimulus was left out once, alone, and what was left did not fail.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub minimal: bool,
    /// Of a run that showed exactly these steps: when they and the deviation were, and what crossed
    /// the wire.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub times: Vec<u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wire: Vec<WireLine>,
}

/// What the writer of a failure file knows besides the test.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FailureContext {
    pub model_hash: String,
    /// The seed of the run.
    pub seed: u64,
    pub wire: Vec<WireLine>,
    /// The shortest execution, and in how many runs it was found.
    pub shrunk: Option<(Execution, usize)>,
    /// No single stimulus of it can be left out: each was tried.
    pub minimal: bool,
    pub confirmed: Option<(u64, u64)>,
    pub connection: Json,
}

impl WireLine {
    pub fn new(at: u64, from: Sender, bytes: &[u8]) -> WireLine {
        let text = std::str::from_utf8(bytes).ok().map(str::to_owned);
        let hex = match text {
            Some(_) => None,
            None => Some(bytes.iter().map(|b| format!("{b:02x}")).collect()),
        };
        WireLine {
            at,
            from,
            text,
            hex,
        }
    }
}

/// Why a failure file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FailureError {
    NotReadable(String),
    /// Written by a later ioco.
    Newer(u32),
    ModelChanged(ModelChanged),
    /// The model does not allow this step of the failure (any more), or only in the other order of
    /// a stimulus and a response that crossed.
    StepRefused {
        number: usize,
        step: String,
    },
}

impl std::fmt::Display for FailureError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            FailureError::NotReadable(why) => write!(f, "this is not a failure file: {why}"),
            FailureError::Newer(version) => write!(
                f,
                "the failure file has version {version}, and this ioco reads up to \
                 {FAILURE_VERSION}: use a newer ioco"
            ),
            FailureError::ModelChanged(change) => {
                write!(f, "the failure does not fit the model: {change}")
            }
            FailureError::StepRefused { number, step } => write!(
                f,
                "the failure does not fit the model: step {number}, {step}, is not allowed (any \
                 more)"
            ),
        }
    }
}

impl std::error::Error for FailureError {}

impl From<ModelChanged> for FailureError {
    fn from(change: ModelChanged) -> FailureError {
        FailureError::ModelChanged(change)
    }
}

impl FailureFile {
    /// What crossed the wire in the shortest way to it, or else when it was first seen.
    pub fn last_wire(&self) -> &[WireLine] {
        let shrunk = self.shrunk.as_ref().map(|shrunk| &shrunk.wire);
        shrunk.filter(|wire| !wire.is_empty()).unwrap_or(&self.wire)
    }

    /// `None` if the test did not fail.
    pub fn new(sts: &Sts, report: &TestReport, context: FailureContext) -> Option<FailureFile> {
        let saved = |execution: &Execution| -> Vec<SavedStep> {
            let steps = execution.trace.iter();
            steps.map(|step| SavedStep::new(step, sts)).collect()
        };
        let deviation = SavedDeviation::new(report.execution.deviation()?, sts);
        let steps = saved(&report.execution);
        let shrunk = context.shrunk.and_then(|(execution, runs)| {
            Some(SavedShrunk {
                steps: saved(&execution),
                deviation: SavedDeviation::new(execution.deviation()?, sts),
                runs,
                minimal: context.minimal,
                times: Vec::new(),
                wire: Vec::new(),
            })
        });
        let (shortest, last) = match &shrunk {
            Some(shrunk) => (&shrunk.steps, &shrunk.deviation),
            None => (&steps, &deviation),
        };
        let times = report.times.iter().copied().chain(std::iter::repeat(0));
        Some(FailureFile {
            version: FAILURE_VERSION,
            id: short_hash(sts.name(), shortest, last),
            model: sts.name().to_owned(),
            model_hash: context.model_hash,
            seed: context.seed,
            test: report.number,
            test_seed: report.seed,
            steps: steps
                .iter()
                .cloned()
                .zip(times)
                .map(|(what, at)| TimedStep { at, what })
                .collect(),
            deviated_at: report.times.last().copied().unwrap_or(0),
            deviation,
            wire: context.wire,
            shrunk,
            confirmed: context.confirmed,
            also: Vec::new(),
            aliases: Vec::new(),
            accepted: None,
            connection: context.connection,
        })
    }

    pub fn read(text: &str) -> Result<FailureFile, FailureError> {
        #[derive(Deserialize)]
        struct Versioned {
            version: u32,
        }
        let not_readable = |error: serde_json::Error| FailureError::NotReadable(error.to_string());
        let Versioned { version } = serde_json::from_str(text).map_err(not_readable)?;
        if version > FAILURE_VERSION {
            return Err(FailureError::Newer(version));
        }
        serde_json::from_str(text).map_err(not_readable)
    }

    /// The file's text.
    pub fn write(&self) -> String {
        // Strings, numbers and maps with string keys: always JSON.
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// The stimuli of the shortest trace known, in terms of `sts`.
    pub fn stimuli(&self, sts: &Sts) -> Result<Vec<Action>, FailureError> {
        match &self.shrunk {
            Some(shrunk) => stimuli(shrunk.steps.iter(), sts),
            None => self.first_stimuli(sts),
        }
    }

    /// The stimuli as first given, in terms of `sts`.
    pub fn first_stimuli(&self, sts: &Sts) -> Result<Vec<Action>, FailureError> {
        stimuli(self.steps.iter().map(|step| &step.what), sts)
    }

    /// The execution as first seen, or the shortest one known, in terms of the model.
    pub fn execution(
        &self,
        semantics: &mut Semantics,
        original: bool,
    ) -> Result<Execution, FailureError> {
        let shrunk = self.shrunk.as_ref().filter(|_| !original);
        let (saved, deviation): (Vec<&SavedStep>, _) = match shrunk {
            Some(shrunk) => (shrunk.steps.iter().collect(), &shrunk.deviation),
            None => (
                self.steps.iter().map(|s| &s.what).collect(),
                &self.deviation,
            ),
        };
        let sts = semantics.sts().clone();
        let trace: Vec<Step> = saved
            .iter()
            .map(|step| step.restore(&sts))
            .collect::<Result<_, _>>()?;
        let mut set = semantics.initial();
        for (index, step) in trace.iter().enumerate() {
            set = semantics
                .after(set, step)
                .ok_or_else(|| FailureError::StepRefused {
                    number: index + 1,
                    step: step.show(&sts),
                })?;
        }
        let states = semantics.set(set).clone();
        let deviation = deviation.restore(&sts, &states);
        let verdict = match deviation.kind {
            DeviationKind::Ended => Verdict::Ended(deviation),
            _ => Verdict::Fail(deviation),
        };
        Ok(Execution { trace, verdict })
    }

    /// Not every run that should confirm it showed it.
    pub fn is_flaky(&self) -> bool {
        self.confirmed.is_some_and(|(failed, runs)| failed < runs)
    }

    /// Whether a test that deviated like this showed this failure.
    pub fn is_shown_by(&self, deviation: &SavedDeviation) -> bool {
        let own = [&self.deviation].into_iter().chain(&self.also);
        own.into_iter().any(|own| own.is_like(deviation))
    }

    /// Whether `id` is or was its id.
    pub fn is_called(&self, id: &str) -> bool {
        *self.id == *id || self.aliases.iter().any(|alias| **alias == *id)
    }

    /// The deviation after the shortest trace known.
    pub fn last_deviation(&self) -> &SavedDeviation {
        match &self.shrunk {
            Some(shrunk) => &shrunk.deviation,
            None => &self.deviation,
        }
    }

    /// For the explanation.
    pub fn shrunk_sizes(&self) -> Option<Shrunk> {
        let length = |steps: usize, deviation: &SavedDeviation| steps + deviation.length();
        self.shrunk.as_ref().map(|shrunk| Shrunk {
            from: length(audible(self.steps.iter().map(|s| &s.what)), &self.deviation),
            to: length(audible(shrunk.steps.iter()), &shrunk.deviation),
            runs: shrunk.runs,
            minimal: shrunk.minimal,
        })
    }

    /// What running the stimuli again says.
    pub fn compare(&self, sts: &Sts, runs: &[Execution]) -> Replayed {
        let expected = self.last_deviation();
        let mut same = 0;
        let mut allowed = 0;
        let mut reached = 0;
        let mut other: Option<String> = None;
        for run in runs {
            match &run.verdict {
                Verdict::Error(reason) => return Replayed::Unusable(reason.text.clone()),
                Verdict::Pass => {
                    let steps = run.trace.iter().map(|step| SavedStep::new(step, sts));
                    let steps: Vec<SavedStep> = steps.collect();
                    allowed += usize::from(self.happened_in(&steps));
                    reached += usize::from(self.was_reached(&steps));
                }
                Verdict::Inconclusive(reason) => {
                    other.get_or_insert_with(|| format!("inconclusive: {reason}"));
                }
                Verdict::Fail(deviation) | Verdict::Ended(deviation) => {
                    let found = SavedDeviation::new(deviation, sts);
                    if found.is_like(expected) || found.shows_again(expected) {
                        same += 1;
                    } else {
                        let name = deviation.kind.name();
                        other = Some(format!("{} {name}: {}", found.code, found.observed));
                    }
                }
            }
        }
        match other {
            _ if same == runs.len() && same > 0 => Replayed::StillFailing,
            _ if same > 0 => Replayed::Flaky {
                failed: same as u64,
                runs: runs.len() as u64,
            },
            Some(what) => Replayed::Different(what),
            None if allowed > 0 => Replayed::Allowed {
                shown: allowed as u64,
            },
            None if reached == 0 && !runs.is_empty() => Replayed::Different(
                "the system responded in another way that the model allows, so that the place of the failure was not \
                 reached"
                    .to_owned(),
            ),
            None => match self.passes_needed() {
                needed if (runs.len() as u64) < needed => Replayed::Unseen { needed },
                _ => Replayed::Fixed,
            },
        }
    }

    /// How many runs must pass before the failure counts as fixed: one where it was always seen again. A flaky one
    /// passes now and then by itself; so many passes of it in a row have a chance of at most [`FALSE_FIX_PROBABILITY`].
    fn passes_needed(&self) -> u64 {
        let Some((failed, runs)) = self.confirmed.filter(|_| self.is_flaky()) else {
            return 1;
        };
        // One that was never seen again is seen at most about once in one run more.
        let rate = match failed {
            0 => 1.0 / (runs as f64 + 1.0),
            _ => failed as f64 / runs as f64,
        };
        let (mut needed, mut chance) = (0, 1.0);
        while chance > FALSE_FIX_PROBABILITY && needed < MAX_PASSES {
            chance *= 1.0 - rate;
            needed += 1;
        }
        needed
    }

    /// What the steps of a run that passed with the stimuli of this failure say about it. `None`: the system took
    /// another way that the model allows, and did not come to the place of the failure.
    pub fn resolution_after(&self, steps: &[SavedStep]) -> Option<Resolution> {
        if self.happened_in(steps) {
            Some(Resolution::Allowed)
        } else if self.was_reached(steps) {
            Some(Resolution::Fixed)
        } else {
            None
        }
    }

    /// Whether the system gave in this run the responses that led to the failure. Values may differ, as times and numbers
    /// do, and so may what was given before and after them.
    pub fn was_reached(&self, steps: &[SavedStep]) -> bool {
        let label = |step: &SavedStep| match step {
            SavedStep::Response { response, .. } => Some(response.clone()),
            _ => None,
        };
        let recorded: Vec<String> = self.recorded_steps().filter_map(label).collect();
        let given: Vec<String> = steps.iter().filter_map(label).collect();
        given.starts_with(&recorded)
    }

    /// The steps before the deviation, of the shortest trace known.
    fn recorded_steps(&self) -> Box<dyn Iterator<Item = &SavedStep> + '_> {
        match &self.shrunk {
            Some(shrunk) => Box::new(shrunk.steps.iter()),
            None => Box::new(self.steps.iter().map(|step| &step.what)),
        }
    }

    /// Whether the system did in this run what the failure is: the same steps, and then what deviated.
    pub fn happened_in(&self, steps: &[SavedStep]) -> bool {
        let deviation = self.last_deviation();
        let is_audible = |step: &SavedStep| !matches!(step, SavedStep::Silence { .. });
        let recorded = self.recorded_steps();
        let mut recorded = recorded.filter(|step| is_audible(step)).peekable();
        for step in steps {
            match recorded.peek() {
                Some(expected) if *expected == step => {
                    recorded.next();
                }
                Some(_) if is_audible(step) => return false,
                Some(_) => {}
                None => {
                    return match step {
                        SavedStep::Silence { .. } => deviation.label == "silence",
                        SavedStep::Response { response, values } => {
                            deviation.label.strip_prefix('!') == Some(response)
                                && deviation.values == *values
                        }
                        SavedStep::Stimulus { .. } => false,
                    };
                }
            }
        }
        false
    }
}

/// How a failure came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// The system did something else where it had deviated.
    Fixed,
    /// The system did the same, and the model allows it now.
    Allowed,
}

/// A recorded failure, to be recognised in the tests that showed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedFailure {
    pub id: String,
    /// As tests showed it, before shrinking.
    shown: Vec<SavedDeviation>,
    shrunk: SavedDeviation,
}

impl RecordedFailure {
    pub fn new(file: &FailureFile) -> RecordedFailure {
        let shown = [&file.deviation].into_iter().chain(&file.also);
        RecordedFailure {
            id: file.id.to_string(),
            shown: shown.cloned().collect(),
            shrunk: file.last_deviation().clone(),
        }
    }

    /// The failure that a test showed. Shrinking may end at another deviation than it began with, so
    /// that what tests showed comes first.
    pub fn find<'r>(
        known: &'r [RecordedFailure],
        name: Option<&str>,
        deviation: &SavedDeviation,
    ) -> Option<&'r RecordedFailure> {
        let named =
            |one: &&RecordedFailure| name.is_some_and(|name| name == known_failure(&one.id));
        let shown = |one: &&RecordedFailure| one.shown.iter().any(|own| own.is_like(deviation));
        (known.iter().find(named))
            .or_else(|| known.iter().find(shown))
            .or_else(|| known.iter().find(|one| one.shrunk.is_like(deviation)))
    }
}

/// What the test is called that tries a failure of an earlier run.
pub fn known_failure(id: &str) -> String {
    format!("known failure {id}")
}

fn audible<'a>(steps: impl Iterator<Item = &'a SavedStep>) -> usize {
    steps
        .filter(|step| !matches!(step, SavedStep::Silence { .. }))
        .count()
}

fn stimuli<'a>(
    steps: impl Iterator<Item = &'a SavedStep>,
    sts: &Sts,
) -> Result<Vec<Action>, FailureError> {
    let mut actions = Vec::new();
    for step in steps {
        if matches!(step, SavedStep::Stimulus { .. })
            && let ioco_sts::Step::Stimulus(action) = step.restore(sts)?
        {
            actions.push(action);
        }
    }
    Ok(actions)
}

/// The chance that a flaky failure is called fixed although nothing has changed.
const FALSE_FIX_PROBABILITY: f64 = 0.05;

/// Nobody is asked for more passes than this.
const MAX_PASSES: u64 = 1_000;

/// What a replay says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Replayed {
    /// No run failed.
    Fixed,
    /// No run failed, but it is flaky: only so many passes in a row say that it is fixed.
    Unseen { needed: u64 },
    /// No run failed, but so many showed what was recorded: the model has changed.
    Allowed { shown: u64 },
    /// Every run failed in the same way.
    StillFailing,
    /// It goes another way now: how.
    Different(String),
    /// Some runs failed in the same way, some did not.
    Flaky { failed: u64, runs: u64 },
    /// The system could not be used.
    Unusable(String),
}

/// Eight hexadecimal digits of FNV-1a over the JSON of what happened; stable over versions.
fn short_hash(model: &str, steps: &[SavedStep], deviation: &SavedDeviation) -> Fingerprint {
    let mut hasher = FnvHasher::default();
    let mut feed = |text: &str| {
        hasher.write(text.as_bytes());
        hasher.write(&[0]);
    };
    feed(model);
    for step in steps {
        feed(&serde_json::to_string(step).unwrap_or_default());
    }
    feed(&deviation.code);
    feed(&deviation.label);
    let hash = hasher.finish();
    Fingerprint::of_hash((hash >> 32) ^ (hash & 0xFFFF_FFFF))
}

//! What a run tells the world, as one JSON object a line. Consumers (terminal, reports, store)
//! know the run only through these. Saved types are separate from live ones: they change only
//! together with [`EVENT_VERSION`], and by names, not by numbers of the model.

use std::sync::Arc;

use ioco_sts::{Deviation, DeviationKind, Observed, StateSet, Step, Sts, Time, Verdict};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use crate::report::{FailureId, Summary};
use crate::saved::{SavedStep, saved_values};

/// The version of the events; see [`Event::RunStarted`].
pub const EVENT_VERSION: u32 = 2;

/// Something that happened in a run. Times are nanoseconds on the driver's clock, durations
/// nanoseconds; tests and steps count from one. Keys are in snake case, names of events and verdicts
/// in kebab case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    RunStarted {
        version: u32,
        model: String,
        seed: u64,
        strategy: String,
        locations: usize,
        switches: usize,
        at: u64,
    },
    TestStarted {
        test: u64,
        /// Repeats this test alone.
        seed: u64,
        /// What the test is for, where that is known: a goal of a suite, an earlier failure.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        at: u64,
    },
    /// One step that the model allows; only where steps are recorded. What deviates is no step
    /// of the model: the [`Event::TestFinished`] right after it tells of it.
    StepTaken {
        test: u64,
        step: u64,
        at: u64,
        #[serde(flatten)]
        what: SavedStep,
    },
    TestFinished {
        test: u64,
        seed: u64,
        #[serde(flatten)]
        verdict: SavedVerdict,
        steps: u64,
        duration: u64,
        /// When the verdict fell; for a failed test the time of what deviates.
        at: u64,
    },
    /// A failure unlike all before it.
    FailureFound {
        test: u64,
        failure: FailureId,
        deviation: SavedDeviation,
    },
    /// The test that just finished covered what none before it did.
    CoverageGrew {
        test: u64,
        covered_switches: usize,
        covered_locations: usize,
        covered_boundaries: usize,
    },
    RunFinished {
        summary: Summary,
    },
}

/// A verdict by name, with its deviation or reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "kebab-case")]
pub enum SavedVerdict {
    Pass,
    Fail {
        deviation: SavedDeviation,
    },
    Inconclusive {
        reason: String,
    },
    Error {
        reason: String,
        /// Where the system ended in the middle of the test: what it was kept by.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        deviation: Option<SavedDeviation>,
    },
}

/// A deviation as a person and a later run recognise it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedDeviation {
    /// `D001`, `D002` or `D003`; `E004` for a system that ended.
    pub code: String,
    pub kind: DeviationKind,
    /// As shown: `!refund(amount=8)`, `silence for 600 ms`; what is known about the end.
    pub observed: String,
    /// Without values: `!refund`, `silence`, `end`.
    pub label: String,
    /// The values of a response that the model knows.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub values: Map<String, Json>,
    /// The names of the locations that the model may have been in, sorted.
    pub locations: Vec<String>,
    /// The states that the model may have been in, as shown, at most [`MAX_SAVED_STATES`].
    pub states: Vec<String>,
}

/// More states than this are not written out.
pub const MAX_SAVED_STATES: usize = 16;

impl SavedVerdict {
    pub fn new(verdict: &Verdict, sts: &Sts) -> SavedVerdict {
        match verdict {
            Verdict::Pass => SavedVerdict::Pass,
            Verdict::Fail(deviation) => SavedVerdict::Fail {
                deviation: SavedDeviation::new(deviation, sts),
            },
            Verdict::Inconclusive(reason) => SavedVerdict::Inconclusive {
                reason: reason.text.clone(),
            },
            Verdict::Error(reason) => SavedVerdict::Error {
                reason: reason.text.clone(),
                deviation: None,
            },
            Verdict::Ended(deviation) => SavedVerdict::Error {
                reason: deviation.observed.show(sts),
                deviation: Some(SavedDeviation::new(deviation, sts)),
            },
        }
    }

    /// What a failure file of this test would show.
    pub fn deviation(&self) -> Option<&SavedDeviation> {
        match self {
            SavedVerdict::Fail { deviation } => Some(deviation),
            SavedVerdict::Error { deviation, .. } => deviation.as_ref(),
            SavedVerdict::Pass | SavedVerdict::Inconclusive { .. } => None,
        }
    }
}

impl SavedDeviation {
    pub fn new(deviation: &Deviation, sts: &Sts) -> SavedDeviation {
        let states = &deviation.states.states;
        let ids = states.iter().flat_map(|state| state.locations.iter());
        let mut locations: Vec<String> = ids.map(|id| sts.location(*id).name.clone()).collect();
        locations.sort_unstable();
        locations.dedup();
        let label = match &deviation.observed {
            Observed::Response(action) => sts.label(action.label).marked_name(),
            Observed::Unknown(text) => {
                format!("!{}", text.split('(').next().unwrap_or_default().trim())
            }
            Observed::Silence(_) => "silence".to_owned(),
            Observed::End(_) => "end".to_owned(),
        };
        let values = match &deviation.observed {
            Observed::Response(action) => saved_values(action, sts),
            Observed::Unknown(_) | Observed::Silence(_) | Observed::End(_) => Map::new(),
        };
        SavedDeviation {
            code: deviation.kind.code().to_owned(),
            kind: deviation.kind,
            observed: deviation.observed.show(sts),
            label,
            values,
            locations,
            states: states
                .iter()
                .take(MAX_SAVED_STATES)
                .map(|state| state.show(sts))
                .collect(),
        }
    }

    /// The deviation in terms of `sts`, from the states that the steps before it lead to. A
    /// response that the model does not know (any more) is one that it never knew.
    pub fn restore(&self, sts: &Sts, states: &Arc<StateSet>) -> Deviation {
        let observed = match self.kind {
            DeviationKind::MissingResponse => {
                Observed::Silence(Time::read(self.observed.trim_start_matches("silence for ")))
            }
            DeviationKind::Ended => Observed::End(self.observed.clone()),
            DeviationKind::UnexpectedResponse | DeviationKind::WrongValue => {
                self.restore_response(sts)
            }
        };
        Deviation {
            kind: self.kind,
            observed,
            states: Arc::clone(states),
        }
    }

    fn restore_response(&self, sts: &Sts) -> Observed {
        let unmarked = |text: &str| text.trim_start_matches('!').to_owned();
        let step = SavedStep::Response {
            response: unmarked(&self.label),
            values: self.values.clone(),
        };
        match step.restore(sts) {
            // What is shown tells a known response from one with values of other types.
            Ok(Step::Response(action)) if action.show(sts) == self.observed => {
                Observed::Response(action)
            }
            _ => Observed::Unknown(unmarked(&self.observed)),
        }
    }

    /// One sentence: what the system did, and that it may not.
    pub fn title(&self, system: &str) -> String {
        title(self.kind, &self.observed, system)
    }

    /// The same failure, as [`Deviation::is_like`] says.
    pub fn is_like(&self, other: &SavedDeviation) -> bool {
        let same_place = self.kind == DeviationKind::Ended
            || self.label == other.label && self.locations == other.locations;
        self.kind == other.kind && same_place
    }

    /// Whether a run of the same stimuli shows `other` again; its place depends on timing.
    pub fn shows_again(&self, other: &SavedDeviation) -> bool {
        self.kind == other.kind && self.label == other.label
    }

    /// A deviating response counts as a step; silence and the end do not.
    pub fn length(&self) -> usize {
        let silent = matches!(
            self.kind,
            DeviationKind::MissingResponse | DeviationKind::Ended
        );
        usize::from(!silent)
    }
}

pub(crate) fn title(kind: DeviationKind, observed: &str, system: &str) -> String {
    let name = kind.name();
    match kind {
        DeviationKind::UnexpectedResponse => {
            format!("{name}: the {system} sent {observed}, which the model does not allow here")
        }
        DeviationKind::MissingResponse => {
            format!("{name}: the {system} stayed silent where the model demands a response")
        }
        DeviationKind::WrongValue => {
            format!("{name}: the {system} sent {observed}, and the model demands other values")
        }
        DeviationKind::Ended => observed.to_owned(),
    }
}

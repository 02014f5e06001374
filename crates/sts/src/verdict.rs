//! Verdicts: what one execution against a system says about its conformance.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::action::{Action, Step, Trace};
use crate::state::StateSet;
use crate::sts::Sts;

/// An observation that the model does not allow.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Observed {
    Response(Action),
    /// A response that the model has no label for, or whose values do not have the label's types:
    /// the text as received, without the mark.
    Unknown(String),
    /// Nanoseconds without a response.
    Silence(u64),
    /// The system is gone; what is known about why.
    End(String),
}

impl Observed {
    pub fn show(&self, sts: &Sts) -> String {
        match self {
            Observed::Response(action) => action.show(sts),
            Observed::Unknown(text) => format!("!{}", text.replace(['\n', '\r'], " ")),
            Observed::Silence(nanoseconds) => format!("silence for {}", Time(*nanoseconds)),
            Observed::End(text) => text.clone(),
        }
    }
}

/// Nanoseconds, shown in the unit a person would use.
pub struct Time(pub u64);

impl Time {
    /// Reads what [`Time`] shows; nothing where it is something else.
    pub fn read(text: &str) -> u64 {
        let (number, unit) = text.split_once(' ').unwrap_or((text, ""));
        let scale = match unit {
            "ns" => 1,
            "µs" => 1000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            _ => 0,
        };
        number.parse::<u64>().unwrap_or(0).saturating_mul(scale)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            n if n < 10_000 => write!(f, "{n} ns"),
            n if n < 10_000_000 => write!(f, "{} µs", n / 1000),
            n if n < 10_000_000_000 => write!(f, "{} ms", n / 1_000_000),
            n => write!(f, "{} s", n / 1_000_000_000),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeviationKind {
    /// A response that no state allows here.
    UnexpectedResponse,
    /// Silence where no state is quiescent.
    MissingResponse,
    /// The right label with values outside every guard.
    WrongValue,
    /// The system ended in the middle of a test. That is an error, not a failure of conformance.
    Ended,
}

impl DeviationKind {
    /// The code that `ioco explain` knows.
    pub fn code(self) -> &'static str {
        match self {
            DeviationKind::UnexpectedResponse => "D001",
            DeviationKind::MissingResponse => "D002",
            DeviationKind::WrongValue => "D003",
            DeviationKind::Ended => "E004",
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            DeviationKind::UnexpectedResponse => "unexpected response",
            DeviationKind::MissingResponse => "missing response",
            DeviationKind::WrongValue => "wrong value",
            DeviationKind::Ended => "ended",
        }
    }
}

/// Where system and model part ways.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deviation {
    pub kind: DeviationKind,
    pub observed: Observed,
    /// The states that the model may have been in; none of them allows what was observed.
    pub states: Arc<StateSet>,
}

impl Deviation {
    /// Whether this is the same failure as `other`: the same kind of deviation by the same label
    /// from the same locations. Values may differ. Where a system was when it ended is seen only
    /// roughly, so all ends are alike.
    pub fn is_like(&self, other: &Deviation) -> bool {
        let same_place = self.kind == DeviationKind::Ended
            || self.label_key() == other.label_key()
                && self.location_key().eq(other.location_key());
        self.kind == other.kind && same_place
    }

    /// Whether a run of the same stimuli shows `other` again: the same response, silence or end. Whether a response comes
    /// before or after a stimulus depends on timing, and on that its place, and whether its label or its values are wrong.
    pub fn shows_again(&self, other: &Deviation) -> bool {
        self.label_key() == other.label_key()
    }

    fn label_key(&self) -> (Option<u32>, &str) {
        match &self.observed {
            Observed::Response(action) => (Some(action.label.0), ""),
            Observed::Unknown(text) => (None, text.split('(').next().unwrap_or_default()),
            Observed::Silence(_) => (None, "silence"),
            Observed::End(_) => (None, "end"),
        }
    }

    fn location_key(&self) -> impl Iterator<Item = u32> + '_ {
        let mut ids: Vec<u32> = self
            .states
            .states
            .iter()
            .flat_map(|s| s.locations.iter().map(|l| l.0))
            .collect();
        ids.sort_unstable();
        ids.dedup();
        ids.into_iter()
    }
}

/// Why a test has neither passed nor failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A stimulus that the test wants to give is not offered by the model in the states reached (Koopman
    /// et al. 2013: truncated).
    NotOffered,
    /// An allowed response left the plan: the goal of the test can no longer be reached.
    GoalMissed,
    /// The system sent a response before it saw a stimulus, and the model does not say what follows.
    Crossed,
    /// The run was stopped, or reached a limit.
    Interrupted,
    /// Not all states of the model are known, and one of the others may allow what was observed.
    StatesMissing,
    /// The solver cannot decide whether a response is possible, so silence cannot be judged.
    Undecided,
    /// The system or its adapter cannot be used.
    Unusable,
    /// The adapter broke its contract.
    Contract,
}

impl Cause {
    /// The code that `ioco explain` describes.
    pub fn code(self) -> &'static str {
        match self {
            Cause::NotOffered | Cause::GoalMissed => "I001",
            Cause::Crossed => "I002",
            Cause::Interrupted => "I003",
            Cause::StatesMissing => "I004",
            Cause::Undecided => "I005",
            Cause::Unusable => "E001",
            Cause::Contract => "E003",
        }
    }
}

/// A cause, in words for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    pub cause: Cause,
    pub text: String,
}

impl Reason {
    pub fn new(cause: Cause, text: impl Into<String>) -> Reason {
        Reason {
            cause,
            text: text.into(),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// What one test says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Pass,
    Fail(Deviation),
    /// The test could not be followed or judged.
    Inconclusive(Reason),
    /// The system or its adapter could not be used. Never a fail.
    Error(Reason),
    /// An error too: the system ended in the middle of the test. What led there is kept, run again
    /// and shrunk like a failure.
    Ended(Deviation),
}

impl Verdict {
    pub fn inconclusive(cause: Cause, text: impl Into<String>) -> Verdict {
        Verdict::Inconclusive(Reason::new(cause, text))
    }

    /// The system or its adapter cannot be used.
    pub fn unusable(text: impl Into<String>) -> Verdict {
        Verdict::Error(Reason::new(Cause::Unusable, text))
    }
}

/// One execution of a test against a system, from a reset on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Execution {
    /// What was observed and allowed; the deviation, if any, comes after it.
    pub trace: Trace,
    pub verdict: Verdict,
}

impl Execution {
    /// Where system and model part ways, the end of the system included.
    pub fn deviation(&self) -> Option<&Deviation> {
        match &self.verdict {
            Verdict::Fail(deviation) | Verdict::Ended(deviation) => Some(deviation),
            _ => None,
        }
    }

    pub fn stimuli(&self) -> impl Iterator<Item = &Action> + '_ {
        self.trace.iter().filter_map(|step| match step {
            Step::Stimulus(action) => Some(action),
            _ => None,
        })
    }

    /// Stimuli and responses, a deviating response included; silence and the end do not count.
    pub fn length(&self) -> usize {
        let steps = self
            .trace
            .iter()
            .filter(|step| **step != Step::Quiescence)
            .count();
        let deviates = self
            .deviation()
            .is_some_and(|d| !matches!(d.observed, Observed::Silence(_) | Observed::End(_)));
        steps + usize::from(deviates)
    }
}

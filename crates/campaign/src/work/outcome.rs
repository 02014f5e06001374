//! What became of an order, as data that travels; and back into the terms of the model.

use ioco_adapters::{AdapterError, LogLine};
use ioco_engine::{Covered, SavedDeviation, SavedStep, WireLine};
use ioco_sts::{Cause, Execution, Reason, Semantics, Step, Verdict};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    pub version: u32,
    pub campaign: String,
    /// The number of the order.
    pub order: u64,
    pub worker: String,
    pub end: SavedEnd,
    pub steps: Vec<SavedStep>,
    /// Per step, nanoseconds since the system was ready; one more for a deviation.
    pub times: Vec<u64>,
    pub duration: u64,
    pub covered: Covered,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lessons: Vec<(u32, u16)>,
    /// What the strategy was told that a reset costs, in thousandths of a stimulus: times have decided it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reset_cost: Option<u32>,
    /// Of a test that failed: what crossed the wire, and what the system wrote to its log.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wire: Vec<WireLine>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub log: Vec<Log>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<SystemError>,
    /// The worker starts the system, so that it can be started again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_ours: bool,
    /// The system was started for this order alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub afresh: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// A verdict, with everything that it is restored from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SavedEnd {
    Pass,
    Fail(SavedDeviation),
    Ended(SavedDeviation),
    Inconclusive { code: String, reason: String },
    Error { code: String, reason: String },
}

/// A line of the system's log, with nanoseconds since the system was ready.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Log {
    pub at: u64,
    pub text: String,
}

/// Why a system could not be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SystemError {
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ended: bool,
}

impl From<&AdapterError> for SystemError {
    fn from(error: &AdapterError) -> SystemError {
        SystemError {
            message: error.message.clone(),
            hint: error.hint.clone(),
            ended: error.ended,
        }
    }
}

impl From<SystemError> for AdapterError {
    fn from(error: SystemError) -> AdapterError {
        AdapterError {
            message: error.message,
            hint: error.hint,
            ended: error.ended,
        }
    }
}

impl From<&LogLine> for Log {
    fn from(line: &LogLine) -> Log {
        Log {
            at: line.at,
            text: line.text.clone(),
        }
    }
}

impl From<Log> for LogLine {
    fn from(line: Log) -> LogLine {
        LogLine {
            at: line.at,
            text: line.text,
        }
    }
}

impl SavedEnd {
    pub(super) fn new(verdict: &Verdict, sts: &ioco_sts::Sts) -> SavedEnd {
        let saved = |reason: &Reason| (reason.cause.code().to_owned(), reason.text.clone());
        match verdict {
            Verdict::Pass => SavedEnd::Pass,
            Verdict::Fail(deviation) => SavedEnd::Fail(SavedDeviation::new(deviation, sts)),
            Verdict::Ended(deviation) => SavedEnd::Ended(SavedDeviation::new(deviation, sts)),
            Verdict::Inconclusive(reason) => {
                let (code, reason) = saved(reason);
                SavedEnd::Inconclusive { code, reason }
            }
            Verdict::Error(reason) => {
                let (code, reason) = saved(reason);
                SavedEnd::Error { code, reason }
            }
        }
    }
}

fn cause(code: &str) -> Cause {
    let all = [
        Cause::NotOffered,
        Cause::Crossed,
        Cause::Interrupted,
        Cause::StatesMissing,
        Cause::Undecided,
        Cause::Contract,
    ];
    let known = all.into_iter().find(|cause| cause.code() == code);
    known.unwrap_or(Cause::Unusable)
}

/// Why nothing can be concluded from an outcome: it is not of this model.
fn rejected(why: impl std::fmt::Display) -> Execution {
    let text = format!("the worker's outcome does not fit the model: {why}");
    Execution {
        trace: Vec::new(),
        verdict: Verdict::Error(Reason::new(Cause::Contract, text)),
    }
}

impl Outcome {
    /// As it is kept in the store beside the steps of its test: JSON.
    pub(crate) fn kept(&self) -> String {
        Outcome {
            steps: Vec::new(),
            times: Vec::new(),
            ..self.clone()
        }
        .kept_whole()
    }

    pub(crate) fn kept_whole(&self) -> String {
        // Plain data: always JSON.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The execution in terms of the model. What does not fit it is an error, never a failure.
    pub(crate) fn execution(&self, semantics: &mut Semantics) -> Execution {
        let sts = semantics.sts().clone();
        let steps: Result<Vec<Step>, _> = self.steps.iter().map(|s| s.restore(&sts)).collect();
        let trace = match steps {
            Ok(trace) => trace,
            Err(error) => return rejected(error),
        };
        let reason = |code: &str, text: &str| Reason::new(cause(code), text);
        let (SavedEnd::Fail(deviation) | SavedEnd::Ended(deviation)) = &self.end else {
            let verdict = match &self.end {
                SavedEnd::Inconclusive { code, reason: text } => {
                    Verdict::Inconclusive(reason(code, text))
                }
                SavedEnd::Error { code, reason: text } => Verdict::Error(reason(code, text)),
                _ => Verdict::Pass,
            };
            return Execution { trace, verdict };
        };
        let mut set = semantics.initial();
        for step in &trace {
            match semantics.after(set, step) {
                Some(next) => set = next,
                None => return rejected(format!("it does not allow {}", step.show(&sts))),
            }
        }
        let states = semantics.set(set).clone();
        let deviation = deviation.restore(&sts, &states);
        let verdict = match self.end {
            SavedEnd::Ended(_) => Verdict::Ended(deviation),
            _ => Verdict::Fail(deviation),
        };
        Execution { trace, verdict }
    }
}

//! How to shrink, and what shrinking has to say besides the shrunk trace.

use ioco_shrink::{BugKind, Confidence, Ended, Pipeline, ShrinkError, Shrunk};

use crate::exit::Stop;

/// How to shrink.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShrinkSettings {
    /// The shrinker, or several joined by `+`.
    pub shrinker: String,
    /// At most this many runs of the system.
    pub runs: Option<u64>,
    /// The part of the model that the sps shrinkers may use.
    pub pruning: String,
    /// Accept only the same failure.
    pub same: bool,
    /// Show that nothing shorter fails.
    pub prove: bool,
    /// Run each candidate up to this many times until it fails.
    pub attempts: u32,
    /// Runs that confirm a shrunk failure.
    pub confirm: u32,
}

impl Default for ShrinkSettings {
    fn default() -> ShrinkSettings {
        ShrinkSettings {
            shrinker: "auto".to_owned(),
            runs: None,
            pruning: "none".to_owned(),
            same: false,
            prove: false,
            attempts: 1,
            confirm: 3,
        }
    }
}

/// The shrinker of this name.
pub fn pipeline(name: &str) -> Result<Pipeline, Stop> {
    name.parse()
        .map_err(|error: ShrinkError| Stop::usage(error.to_string()))
}

/// Why a failure is not certain, if it was not seen in every run that should confirm it.
pub fn doubt(confidence: Confidence) -> Option<String> {
    let Confidence { failed, runs } = confidence;
    let seen = match failed {
        _ if !confidence.is_flaky() => return None,
        0 => "it could not be seen again".to_owned(),
        failed => format!("it was seen again in {failed} of {runs} runs"),
    };
    Some(format!(
        "{seen}: the system does not always answer the same, or its reset does not reset everything \
         (try --restart)"
    ))
}

/// One sentence each: what kind of bug it is, what was removed, and what is proved.
pub fn notes(shrunk: &Shrunk) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(note) = doubt(shrunk.confidence) {
        notes.push(note);
        if shrunk.confidence.failed == 0 {
            return notes;
        }
    }
    // A shrinker that explains itself says this in its own words.
    if shrunk.explanation.is_empty() {
        match shrunk.kind {
            BugKind::State => notes.push(
                "a state bug: the shortest way of the model to this state shows it too".to_owned(),
            ),
            BugKind::Trace => notes.push(
                "a trace bug: reaching the state is not enough, something on the way is needed"
                    .to_owned(),
            ),
            BugKind::Unknown => {}
        }
    }
    notes.extend(shrunk.explanation.iter().cloned());
    if let Some(proof) = &shrunk.proved {
        let claim = if proof.shortest {
            format!(
                "proved: no trace of the model shorter than {} steps fails",
                proof.no_failure_below
            )
        } else {
            format!(
                "no trace of the model with fewer than {} steps fails",
                proof.no_failure_below
            )
        };
        let remark = proof
            .remark
            .as_ref()
            .map_or_else(String::new, |text| format!("; {text}"));
        notes.push(format!("{claim} ({} runs){remark}", proof.runs));
    }
    match &shrunk.ended {
        Ended::Finished => {}
        Ended::Budget => {
            notes.push("the run budget is used up: a shorter one may exist".to_owned())
        }
        Ended::Interrupted => notes.push("stopped early: a shorter one may exist".to_owned()),
        Ended::Limit(text) | Ended::Trouble(text) => {
            notes.push(format!("stopped early: {text}"));
        }
    }
    notes
}

//! How to shrink, and what shrinking has to say besides the shrunk trace.

use ioco_shrink::{BugKind, Confidence, Ended, Pipeline, Proof, ShrinkError, Shrunk};

use serde::{Deserialize, Serialize};

use crate::error::CampaignError;
use crate::note::Note;

/// How to shrink.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShrinkSettings {
    /// The shrinker, or several joined by `+`.
    pub shrinker: String,
    /// At most this many runs of the system.
    pub runs: Option<u64>,
    /// The part of the model that the sps shrinkers may use.
    pub pruning: String,
    /// Accept only the same failure; a shorter one of another kind is named.
    pub same: bool,
    /// Show that nothing shorter fails.
    pub prove: bool,
    /// Run each candidate up to this many times until it fails.
    pub attempts: u32,
    /// Runs that confirm a shrunk failure.
    pub confirm: u32,
    /// Nanoseconds, without the runs that confirm a shrunk failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<u64>,
}

impl Default for ShrinkSettings {
    fn default() -> ShrinkSettings {
        ShrinkSettings {
            shrinker: "auto".to_owned(),
            runs: None,
            pruning: "none".to_owned(),
            same: true,
            prove: false,
            attempts: 1,
            confirm: 3,
            time: None,
        }
    }
}

/// The shrinker of this name.
pub fn pipeline(name: &str) -> Result<Pipeline, CampaignError> {
    name.parse()
        .map_err(|error: ShrinkError| CampaignError::usage(error.to_string()))
}

/// One note each: whether it is certain, what kind of bug it is, what was removed, and what is proved.
pub(crate) fn notes(shrunk: &Shrunk, confidence: Confidence) -> Vec<Note> {
    let unconfirmed = Note::unconfirmed(confidence);
    if confidence.is_flaky() && confidence.failed == 0 {
        return unconfirmed.into_iter().collect();
    }
    let facts = facts(shrunk).into_iter().map(Note::Text);
    unconfirmed.into_iter().chain(facts).collect()
}

fn facts(shrunk: &Shrunk) -> Vec<String> {
    let mut notes = Vec::new();
    // A shrinker that explains itself says this in its own words.
    if shrunk.explanation.is_empty() {
        match shrunk.kind {
            BugKind::State => notes.push(
                "a state bug: the model's shortest path to this state shows it too".to_owned(),
            ),
            BugKind::Trace => notes.push(
                "a trace bug: an earlier step is needed, reaching the state is not enough"
                    .to_owned(),
            ),
            BugKind::Unknown => {}
        }
    }
    notes.extend(shrunk.explanation.iter().cloned());
    if let Some(left_out) = shrunk.minimal.filter(|left_out| left_out.stimuli > 0) {
        notes.push(match left_out.stimuli {
            1 => "without its stimulus, the failure does not occur".to_owned(),
            count => format!("without any one of its {count} stimuli, the failure does not occur"),
        });
    }
    // Nothing is shorter than nothing.
    if let Some(proof) = shrunk
        .proved
        .as_ref()
        .filter(|proof| proof.no_failure_below > 0)
    {
        notes.push(claim(proof));
    }
    match &shrunk.ended {
        Ended::Finished => {}
        Ended::Budget => {
            notes.push("the run budget is used up: a shorter one may exist".to_owned())
        }
        Ended::Interrupted => notes.push("stopped early: a shorter one may exist".to_owned()),
        Ended::Limit(text) | Ended::AdapterError(text) => {
            notes.push(format!("stopped early: {text}"));
        }
    }
    notes
}

/// What going through the shorter traces has shown, and no more.
fn claim(proof: &Proof) -> String {
    let fails = match proof.same {
        true => "shows this failure",
        false => "fails",
    };
    let (below, runs) = (proof.no_failure_below, proof.runs);
    let claim = match (proof.shortest, proof.same) {
        (true, _) => format!(
            "proved, as long as the system always answers the same: no trace of the model shorter \
             than {below} steps {fails} ({runs} runs)"
        ),
        (false, true) => {
            format!("no trace with fewer than {below} steps showed this failure ({runs} runs)")
        }
        (false, false) => {
            format!("no trace with fewer than {below} steps failed ({runs} runs)")
        }
    };
    match &proof.remark {
        Some(remark) => format!("{claim}; {remark}"),
        None => claim,
    }
}

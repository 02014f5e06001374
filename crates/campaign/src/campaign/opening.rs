//! What is looked up before the first test: earlier failures, the guide of the strategy, a seed.

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use ioco_engine::{FailureFile, Guide};
use ioco_generate::answer;
use ioco_generate::guide::{Locations, Scenario};
use ioco_generate::plan::Pattern;
use ioco_sts::Action;

use crate::connect::ConnectionSpec;
use crate::error::CampaignError;
use crate::failures::{self, Origin};
use crate::lifecycle;
use crate::model::Model;
use crate::note::Note;
use crate::observer::Observer;
use crate::project::{Project, TestSettings};
use crate::query;
use crate::results::Results;

/// A recorded failure, and the stimuli that show it.
pub(super) type Known = (PathBuf, FailureFile, Vec<Action>);

/// A failure that is recorded.
pub(super) struct Recorded {
    pub path: PathBuf,
    pub file: FailureFile,
    pub same_model: bool,
    pub same_system: bool,
}

impl Recorded {
    /// Whether it is about the system under test, so that it can be tried and put together with what is found.
    pub fn is_ours(&self) -> bool {
        self.same_model && self.same_system
    }

    /// Whether a person has accepted what `found` is. How the system was reached does not matter: its command is
    /// written in many ways, and a failure is what the model and the deviation are.
    pub fn is_acceptance_of(&self, found: &FailureFile) -> bool {
        let is_like = || {
            lifecycle::is_same(&self.file, found) || self.file.is_shown_by(found.last_deviation())
        };
        self.file.accepted.is_some()
            && (self.file.is_called(&found.id) || self.same_model && is_like())
    }

    /// What there is to say about one that a person has accepted, where a run finds it anew.
    pub fn note(&self) -> Option<Note> {
        let reason = self.file.accepted.as_ref()?;
        let elsewhere = match self.same_system {
            true => "",
            false => " of a system that was reached in another way",
        };
        Some(Note::Text(format!(
            "known from an earlier run{elsewhere}, and accepted: {reason}"
        )))
    }
}

/// The failures that are recorded, of whichever model and system.
pub(super) fn recorded(
    results: &Results,
    model: &Model,
    project: &Project,
    reach: &ConnectionSpec,
    observer: &mut dyn Observer,
) -> Vec<Recorded> {
    let mut recorded = Vec::new();
    for path in results.failure_files() {
        let Ok(file) = failures::read(&path, model.sts.budget()) else {
            observer.warning(&format!("{} cannot be read; left alone", path.display()));
            continue;
        };
        let Ok(found) = serde_json::from_value::<Origin>(file.connection.clone()) else {
            continue;
        };
        // Processes of different files often have the same name; the text of one file changes.
        let same_model = file.model == model.sts.name()
            && (file.model_hash == model.hash || found.is_of(model, project));
        recorded.push(Recorded {
            same_model,
            same_system: found.system.is(reach),
            path,
            file,
        });
    }
    recorded
}

/// The failures of earlier runs that can be tried again.
pub(super) fn known(
    results: &Results,
    model: &Model,
    project: &Project,
    reach: &ConnectionSpec,
    observer: &mut dyn Observer,
) -> Vec<Known> {
    let mut known = Vec::new();
    // A failure of another model or of another system says nothing here.
    let recorded = recorded(results, model, project, reach, observer);
    for Recorded { path, file, .. } in recorded.into_iter().filter(Recorded::is_ours) {
        match file.stimuli(&model.sts) {
            Ok(stimuli) => known.push((path, file, stimuli)),
            Err(_) => observer.warning(&format!(
                "failure {} does not fit the model any more",
                file.id
            )),
        }
    }
    known
}

/// Who leads the tests, where the strategy plans ahead.
pub(super) fn guide(
    test: &TestSettings,
    model: &Model,
    observer: &mut dyn Observer,
) -> Result<Option<Box<dyn Guide>>, CampaignError> {
    match (test.strategy.as_deref(), &test.query) {
        (Some("locations"), _) => Ok(Some(Box::new(Locations::new()))),
        (Some("scenario"), Some(file)) => {
            let query = query::load(file, &model.sts, observer)?;
            let pattern = Pattern::from(&query);
            let (steps, bounded) = answer::bound(&pattern, query.within);
            if bounded {
                observer.warning(&format!(
                    "the scenario names no length: a test of more than {steps} steps does not count \
                     (write `within N steps`)"
                ));
            }
            Ok(Some(Box::new(Scenario::new(pattern, steps))))
        }
        _ => Ok(None),
    }
}

fn since_epoch() -> u128 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |time| time.as_nanos())
}

pub(super) fn seed_from_clock() -> u64 {
    // Small enough to be typed again.
    (since_epoch() / 1000 % 1_000_000_000) as u64
}

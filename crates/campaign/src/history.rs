//! The runs of a project, from the store that keeps them.

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use ioco_engine::{CoverageWalk, FailureFile, Fingerprint, Settings};
use ioco_outside::Untrusted;
use ioco_store::{Comparison, Covered, NewRun, Place, RunRow, Store, StoreError, StoredModel};
use ioco_sts::{Relation, Semantics};
use serde::{Deserialize, Serialize};

use crate::connect::ConnectionSpec;
use crate::error::{CampaignError, Remedy};
use crate::model::{self, Model, ModelOptions};
use crate::observer::Observer;
use crate::project::{ChosenBy, Project};
use crate::results::Results;
use crate::shard::Shard;
use crate::solver::SemanticsOptions;
use crate::system::{KeptSystem, SystemName};
use crate::trust;

/// The user can fix an error of the store.
pub fn stop(error: StoreError) -> CampaignError {
    CampaignError::usage(error.to_string()).hint(error.hint())
}

/// Where the runs of a project are kept. A database that ioco.toml names and that the user has not allowed
/// is refused: nothing is sent there.
pub fn place(project: &Project) -> Result<Place, CampaignError> {
    let results = Results::at(project.results());
    let file = results.store();
    results
        .check_inside(&file)
        .map_err(|error| CampaignError::usage(format!("cannot use {}: {error}", file.display())))?;
    if !trust::may_open_store(project) {
        return Err(trust::store_refused(project));
    }
    match (&project.store.url, project.store.chosen_by) {
        (Some(url), ChosenBy::Person) => Place::new(&file, Some(url)),
        (Some(url), _) => Place::of_project(url),
        (None, _) => Place::new(&file, None),
    }
    .map_err(stop)
}

/// The store of a project, to be read; `None` where nothing was ever recorded. Reading changes
/// nothing: an older store is not brought up to date by it.
pub fn open(project: &Project) -> Result<Option<Store>, CampaignError> {
    let place = place(project)?;
    if !place.exists() {
        return Ok(None);
    }
    Store::read(&place).map_err(stop)
}

/// The store of a project, to be changed.
pub fn open_to_change(project: &Project) -> Result<Option<Store>, CampaignError> {
    let place = place(project)?;
    if !place.exists() {
        return Ok(None);
    }
    Store::open(&place).map(Some).map_err(stop)
}

/// Brings the store of a project up to date; whether there was anything to do.
pub fn migrate(project: &Project) -> Result<bool, CampaignError> {
    Store::migrate(&place(project)?).map_err(stop)
}

/// The run that a person means: its number, or the newest. With the store that it is in.
pub fn find(project: &Project, typed: Option<i64>) -> Result<(Store, RunRow), CampaignError> {
    let nothing =
        || CampaignError::usage("no run has been recorded here").remedy(Remedy::TestFirst);
    let store = open(project)?.ok_or_else(nothing)?;
    let newest = store.runs(None, 1).map_err(stop)?.into_iter().next();
    let newest = newest.ok_or_else(nothing)?;
    let run = match typed {
        None => Some(newest.clone()),
        Some(number) => store.run(number).map_err(stop)?,
    };
    match run {
        Some(run) => Ok((store, run)),
        None => Err(
            CampaignError::usage(format!("there is no run {}", typed.unwrap_or_default()))
                .remedy(Remedy::ChooseRun { newest: newest.id }),
        ),
    }
}

pub(crate) fn new_run(
    model: &Model,
    options: &ModelOptions,
    meaning: &SemanticsOptions,
    reach: &ConnectionSpec,
    settings: &Settings,
    shard: Option<Shard>,
) -> NewRun {
    let kept = Kept {
        options: options.clone(),
        uioco: meaning.relation == Relation::Uioco,
        shard: shard.map(|shard| shard.to_string()),
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let milliseconds = now.map_or(0, |time| time.as_millis());
    NewRun {
        started: u64::try_from(milliseconds).unwrap_or(u64::MAX),
        model: StoredModel {
            hash: model.hash.clone(),
            name: model.sts.name().to_owned(),
            path: model.path.display().to_string(),
            sources: (model.files.iter())
                .map(|file| (file.name.clone(), file.text.clone()))
                .collect(),
        },
        // Plain data: always JSON.
        options: serde_json::to_string(&kept).unwrap_or_default(),
        connection: reach.name.to_string(),
        seed: settings.seed,
        strategy: settings.strategy.name().to_owned(),
        locations: model.sts.locations().len() as u64,
        switches: model.sts.switches().len() as u64,
        campaign: None,
    }
}

/// How the model of a run was read.
pub(crate) fn options(run: &RunRow) -> Result<ModelOptions, CampaignError> {
    Ok(Kept::of(run)?.options)
}

/// The system of a run, for a person: what this person typed is shown as it was typed.
pub fn system(project: &Project, run: &RunRow) -> String {
    match SystemName::try_from(run.connection.clone()) {
        Ok(SystemName::Typed(digest)) => {
            let way = project.ledger.system(&project.root, &digest);
            way.map_or_else(|| run.connection.clone(), |way| way.show())
        }
        Ok(name) => KeptSystem {
            system: Some(name),
            ..KeptSystem::default()
        }
        .show(),
        Err(_) => Untrusted::new(&*run.connection).to_string(),
    }
}

/// What a run keeps of how it followed its model.
#[derive(Serialize, Deserialize)]
struct Kept {
    #[serde(flatten)]
    options: ModelOptions,
    #[serde(default)]
    uioco: bool,
    /// The share of a campaign that it is, such as `3/8`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shard: Option<String>,
}

impl Kept {
    fn of(run: &RunRow) -> Result<Kept, CampaignError> {
        serde_json::from_str(&run.options)
            .map_err(|error| CampaignError::usage(format!("run {}: {error}", run.id)))
    }
}

/// The model as a run used it, whatever has become of its files.
pub fn model(store: &Store, run: &RunRow) -> Result<Model, CampaignError> {
    let kept = store
        .model(&run.model_hash)
        .map_err(stop)?
        .ok_or_else(|| CampaignError::usage(format!("the model of run {} was not kept", run.id)))?;
    model::restore(&kept, &Kept::of(run)?.options)
}

/// The share of a campaign that a run is.
pub(crate) fn shard(run: &RunRow) -> Option<Shard> {
    let shard = Kept::of(run).ok()?.shard?;
    shard.parse().ok()
}

/// How a run followed its model, whichever share of a campaign it is.
pub(crate) fn whole(run: &RunRow) -> Result<String, CampaignError> {
    let kept = Kept {
        shard: None,
        ..Kept::of(run)?
    };
    // Plain data: always JSON.
    Ok(serde_json::to_string(&kept).unwrap_or_default())
}

/// The relation that a run tested for.
pub fn relation(run: &RunRow) -> Relation {
    relation_of(&run.options)
}

fn relation_of(options: &str) -> Relation {
    match serde_json::from_str(options) {
        Ok(Kept { uioco: true, .. }) => Relation::Uioco,
        _ => Relation::Ioco,
    }
}

/// For following what a run did.
pub fn semantics(model: &Model, run: &RunRow) -> Semantics {
    SemanticsOptions::of(relation(run)).shown(&model.sts)
}

/// What a run covered. Of one that did not come to its end, what its record leads through.
pub fn covered(store: &Store, run: &RunRow) -> Result<Covered, CampaignError> {
    if let Some(covered) = store.coverage(run.id).map_err(stop)? {
        return Ok(covered);
    }
    let model = model(store, run)?;
    let mut walk = CoverageWalk::new(semantics(&model, run));
    store
        .events(run.id, &mut |event| walk.event(&event))
        .map_err(stop)?;
    Ok(walk.coverage().snapshot(&model.sts).into())
}

/// What changed from run `a` to run `b`.
pub fn compare(store: &Store, a: &RunRow, b: &RunRow) -> Result<Comparison, CampaignError> {
    let of = |run: &RunRow| -> Result<_, CampaignError> {
        Ok((covered(store, run)?, store.sightings(run.id).map_err(stop)?))
    };
    Ok(Comparison::new(of(a)?, of(b)?))
}

/// The failures that a run saw: the file, the number of the test, and whether it is flaky.
pub fn failures(store: &Store, run: i64) -> Result<Vec<(FailureFile, u64, bool)>, CampaignError> {
    let sightings = store.sightings(run).map_err(stop)?;
    let files = sightings.into_iter().map(|sighting| {
        let file = FailureFile::read(&sighting.file).map_err(|error| {
            let (of, why) = (Untrusted::new(&*sighting.fingerprint), Untrusted::of(error));
            CampaignError::usage(format!("{of}: {why}"))
        })?;
        Ok((file, sighting.test, sighting.flaky))
    });
    files.collect()
}

/// Brings a failure that only the store has, one of a colleague's run, to the folder of failures.
/// `None` where the store has none of this id.
pub fn fetch(
    project: &Project,
    id: &str,
    observer: &mut dyn Observer,
) -> Result<Option<PathBuf>, CampaignError> {
    // What is not an id is no row's name, whatever a row is called.
    let Ok(id) = Fingerprint::new(id) else {
        return Ok(None);
    };
    let mut project = project.clone();
    trust::store(&mut project, observer)?;
    let Some(store) = open(&project)? else {
        return Ok(None);
    };
    let Some(text) = store.failure_file(&id).map_err(stop)? else {
        return Ok(None);
    };
    let results = Results::at(project.results());
    let path = results.failures().join(id.file_name());
    results.write(&path, text.as_bytes())?;
    Ok(Some(path))
}

/// Tells the store that a failure was shrunk further, and is known by another id now.
pub(crate) fn replace(
    project: &Project,
    old: &str,
    new: &FailureFile,
) -> Result<(), CampaignError> {
    // The failure's file has changed; a store that the user has not allowed is not asked for that.
    if !trust::may_open_store(project) {
        return Ok(());
    }
    match open_to_change(project)? {
        Some(store) => store.replace_failure(old, new).map_err(stop),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_keeps_its_relation_and_older_ones_had_none_but_ioco() {
        let kept = |uioco| Kept {
            options: ModelOptions::default(),
            uioco,
            shard: None,
        };
        let text = |kept: &Kept| serde_json::to_string(kept).unwrap();
        assert_eq!(relation_of(&text(&kept(true))), Relation::Uioco);
        assert_eq!(relation_of(&text(&kept(false))), Relation::Ioco);
        let older = serde_json::to_string(&ModelOptions::default()).unwrap();
        assert_eq!(relation_of(&older), Relation::Ioco);
    }
}

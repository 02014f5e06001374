//! The recorded failures of the project.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use ioco_campaign::{
    CampaignError, NoObserver, Origin, Results, SemanticsOptions, failures, history,
};
use ioco_engine::FailureFile;
use ioco_outside::Untrusted;
use ioco_store::FailureRow;
use ioco_view::{Facts, FailureDetail, FailureSummary};

use crate::app::App;
use crate::clock;
use crate::history::facts;
use crate::refusal::Refusal;

impl App {
    pub fn results(&self) -> Results {
        Results::at(self.project.results())
    }

    /// Newest first; only those of one model, if it is named.
    pub fn failures(&self, model: Option<&str>) -> Result<Vec<FailureSummary>, Refusal> {
        let seen = self.sightings()?;
        let files = self.failure_files().into_iter().rev();
        let wanted = files.filter(|(_, file)| model.is_none_or(|model| model == file.model));
        Ok(wanted
            .map(|(path, file)| {
                let facts = self.facts(&path, &file, seen.get(&*file.id));
                FailureSummary::new(&file, &facts)
            })
            .collect())
    }

    pub fn failure_files(&self) -> Vec<(PathBuf, FailureFile)> {
        let paths = self.results().failure_files();
        let budget = self.project.limits.budget();
        let read = |path: PathBuf| failures::read(&path, &budget).ok().map(|file| (path, file));
        paths.into_iter().filter_map(read).collect()
    }

    pub fn failure(&self, id: &str) -> Result<FailureDetail, Refusal> {
        let path = self.failure_path(id)?;
        let file = failures::read(&path, &self.project.limits.budget())?;
        let facts = self.facts(&path, &file, self.sightings()?.get(&*file.id));
        let origin = origin(&file)?;
        let place = self.project.root.join(&origin.model);
        let loaded = self.models.load_as(&place, &origin.options)?;
        let sts = &loaded.usable()?.sts;
        let sts = match origin.timeout {
            Some(nanoseconds) => std::sync::Arc::new(sts.with_timeout(nanoseconds)),
            None => std::sync::Arc::clone(sts),
        };
        let mut semantics = SemanticsOptions::of(origin.relation()).shown(&sts);
        Ok(FailureDetail::new(&mut semantics, &file, &facts))
    }

    /// The file of a failure, by its whole id.
    pub fn failure_path(&self, id: &str) -> Result<PathBuf, Refusal> {
        let paths = self.results().failure_files();
        let named = |path: &PathBuf| path.file_stem().is_some_and(|stem| stem == id);
        if let Some(path) = paths.into_iter().find(named) {
            return Ok(path);
        }
        history::fetch(&self.project, id, &mut NoObserver)?.ok_or_else(|| {
            Refusal::unknown(
                format!("there is no failure '{id}'"),
                "it may have a new id since it was shrunk: look at the list of failures",
            )
        })
    }

    fn facts(&self, path: &Path, file: &FailureFile, seen: Option<&FailureRow>) -> Facts {
        let written = fs::metadata(path).and_then(|data| data.modified()).ok();
        let races = self.races.lock().unwrap_or_else(PoisonError::into_inner);
        let known = facts(seen);
        Facts {
            // A failure of a run that was forgotten has its file.
            first_seen: known.first_seen.or_else(|| written.map(clock::iso)),
            run: known.run,
            connection: origin(file).map_or_else(|_| String::new(), |o| o.system.show()),
            race: races.get(&*file.id).cloned().unwrap_or_default(),
        }
    }
}

fn origin(file: &FailureFile) -> Result<Origin, Refusal> {
    serde_json::from_value(file.connection.clone()).map_err(|error| {
        CampaignError::usage(format!(
            "failure {} does not say how it was found: {}",
            file.id,
            Untrusted::of(error)
        ))
        .into()
    })
}

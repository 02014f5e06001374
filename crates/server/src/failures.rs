//! The recorded failures of the project.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use ioco_campaign::{
    CampaignError, NoObserver, Origin, Results, SemanticsOptions, failures, history,
};
use ioco_engine::FailureFile;
use ioco_outside::Untrusted;
use ioco_view::{Facts, FailureDetail, FailureSummary};
use serde::Deserialize;

use crate::app::App;
use crate::clock;
use crate::refusal::Refusal;

/// A reason is a sentence, not a report.
const MAX_REASON: usize = 1000;

#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(default)]
pub struct AcceptRequest {
    pub reason: Option<String>,
}

impl App {
    pub fn results(&self) -> Results {
        Results::at(self.project.results())
    }

    /// Newest first; only those of one model, if it is named.
    pub fn failures(&self, model: Option<&str>) -> Result<Vec<FailureSummary>, Refusal> {
        let files = self.failure_files().into_iter().rev();
        let wanted = files.filter(|(_, file)| model.is_none_or(|model| model == file.model));
        let (paths, files): (Vec<PathBuf>, Vec<FailureFile>) = wanted.unzip();
        let known = self.lifecycles(&files)?;
        let summary = |(path, file): (&PathBuf, &FailureFile)| {
            let facts = self.facts(path, file, known.get(&*file.id).cloned());
            FailureSummary::new(file, &facts)
        };
        Ok(paths.iter().zip(&files).map(summary).collect())
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
        let known = self
            .lifecycles(std::slice::from_ref(&file))?
            .remove(&*file.id);
        let facts = self.facts(&path, &file, known);
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

    /// The file of a failure, by its whole id or by one that it had before.
    pub fn failure_path(&self, id: &str) -> Result<PathBuf, Refusal> {
        let called = |(_, file): &(PathBuf, FailureFile)| file.is_called(id);
        if let Some((path, _)) = self.failure_files().into_iter().find(called) {
            return Ok(path);
        }
        history::fetch(&self.project, id, &mut NoObserver)?.ok_or_else(|| {
            Refusal::unknown(
                format!("there is no failure '{id}'"),
                "look at the list of failures",
            )
        })
    }

    /// Accepts a failure, with a reason; without one, that is taken back.
    pub fn accept(&self, id: &str, request: &AcceptRequest) -> Result<FailureDetail, Refusal> {
        let path = self.failure_path(id)?;
        let reason = request.reason.as_deref().map(str::trim);
        if reason.is_some_and(|reason| reason.is_empty() || reason.len() > MAX_REASON) {
            return Err(Refusal::wrong(
                format!("a reason has 1 to {MAX_REASON} characters"),
                "say why this failure is accepted",
            ));
        }
        failures::accept(&path, reason, &self.project)?;
        self.failure(id)
    }

    fn facts(&self, path: &Path, file: &FailureFile, known: Option<Facts>) -> Facts {
        let written = fs::metadata(path).and_then(|data| data.modified()).ok();
        let progress = self
            .progress_by_failure
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let known = known.unwrap_or_default();
        Facts {
            // A failure of a run that was forgotten has its file.
            first_seen: known.first_seen.or_else(|| written.map(clock::iso)),
            connection: origin(file).map_or_else(|_| String::new(), |o| o.system.show()),
            shrinking_progress: progress.get(&*file.id).cloned().unwrap_or_default(),
            ..known
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

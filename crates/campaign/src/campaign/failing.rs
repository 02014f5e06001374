//! What a campaign does about a failure: kept at once, confirmed, shrunk, explained, and kept again.

use std::path::{Path, PathBuf};

use ioco_engine::{Context, FailureContext, FailureFile, TestReport, WireLine};
use ioco_shrink::{Confidence, Shrunk};
use ioco_sts::{Action, Execution, Verdict};

use super::Campaign;
use super::opening::recorded;
use crate::error::CampaignError;
use crate::note::Note;
use crate::observer::{NoObserver, Observer};
use crate::outcome::FoundFailure;
use crate::session::{Shown, sizes};
use crate::{failures, history, lifecycle, shrinking};

impl Campaign {
    /// A failure unlike all before.
    pub(super) fn failed(
        &mut self,
        report: &TestReport,
        observer: &mut dyn Observer,
    ) -> Result<(), CampaignError> {
        let wire = self.session.wire();
        // Read before anything is written: the same failure may be recorded under the same id.
        let (results, model, project) = (&self.results, &self.model, &self.project);
        let recorded = recorded(results, model, project, &self.reach, &mut NoObserver);
        let first = self.failure_file(report, wire.clone(), None, None)?;
        let first_path = self.path_of(&first);
        self.keep(&first_path, &first, observer);
        let hint = self.hint(&report.execution);
        let ended = matches!(report.execution.verdict, Verdict::Ended(_));
        let is_gone = ended && !self.session.is_ours();
        let Some(settings) = self.shrinking.clone().filter(|_| !is_gone) else {
            let mut found = self.describe(&first, first_path, &report.execution, None, None);
            found.hint = hint;
            if is_gone {
                found.notes.push(Note::NotStarted);
            }
            self.count(&found, &report.execution, &first, report.number);
            self.tell(found, observer);
            return Ok(());
        };
        // Whether it can be seen again at all comes first: shrinking what cannot is in vain.
        let confirmed = self.confirm(&report.execution, &settings);
        if let Err(stopped) = &confirmed {
            observer.warning(&format!("not confirmed: {}", stopped.message));
        }
        let is_confirmed = confirmed.is_ok();
        let confidence = confirmed.unwrap_or(Confidence { failed: 0, runs: 0 });
        let is_unseen = confidence.runs > 0 && confidence.failed == 0;
        let shrunk = if is_unseen || !is_confirmed {
            None
        } else {
            self.shrink(&report.execution, &settings, confidence, observer)
                .map_err(|stopped| {
                    observer.warning(&format!("not shrunk: {}", stopped.message));
                })
                .ok()
        };
        let Some(shrunk) = shrunk else {
            let file = self.failure_file(report, wire, None, Some(confidence))?;
            self.keep(&first_path, &file, observer);
            let execution = &report.execution;
            let mut found = self.describe(&file, first_path, execution, None, Some(confidence));
            found.hint = hint;
            if is_unseen {
                found.notes.push(Note::NotSeenAgain);
            }
            self.count(&found, execution, &file, report.number);
            self.tell(found, observer);
            return Ok(());
        };
        let confidence = shrunk.confidence;
        let own = self.failure_file(report, wire, Some(&shrunk), Some(confidence))?;
        let mut recorded = recorded.into_iter();
        let recorded = recorded.find(|(_, other)| lifecycle::is_same(other, &own));
        let mut file = match &recorded {
            Some((_, recorded)) => lifecycle::merge(recorded, &own),
            None => own.clone(),
        };
        let path = self.path_of(&file);
        self.keep(&path, &file, observer);
        let replaced = [Some(&first_path), recorded.as_ref().map(|(path, _)| path)];
        for old in replaced.into_iter().flatten().filter(|old| **old != path) {
            // The same failure, now under another id.
            let _ = std::fs::remove_file(old);
        }
        if let Some((_, recorded)) = recorded.as_ref().filter(|(_, r)| r.id != file.id) {
            self.settle(observer);
            if let Err(refused) = history::replace(&self.project, &recorded.id, &file) {
                observer.warning(&refused.message);
            }
        }
        if self.found.iter().any(|found| file.is_called(&found.id)) {
            self.record.failure(&file, report.number, file.is_flaky());
            self.settle(observer);
            observer.again(&file.id);
            return Ok(());
        }
        let mut found = self.describe(
            &file,
            path.clone(),
            &shrunk.execution,
            Some(&shrunk),
            Some(confidence),
        );
        found.is_known = recorded.is_some();
        found.hint = hint;
        let stimuli: Vec<Action> = shrunk.execution.stimuli().cloned().collect();
        // Whoever was to show it once more may be gone: that takes nothing from what was found.
        let shown = self.show(&stimuli).ok();
        // What was broken off proves nothing.
        let is_gone = shown.as_ref().is_some_and(Shown::is_gone) && !self.session.is_over();
        if file.id == own.id
            && shown.is_some_and(|shown| shown.put_into(&mut file, &shrunk.execution))
        {
            self.keep(&path, &file, observer);
        }
        if !found.flaky && is_gone {
            found.flaky = true;
            found.notes = vec![Note::DependsOnEarlierTests];
        }
        // Different at first, the same once shrunk.
        if self.found.iter().any(|before| before.id == found.id) {
            self.session.tester.discount_failure();
            return Ok(());
        }
        self.count(&found, &shrunk.execution, &file, report.number);
        self.tell(found, observer);
        Ok(())
    }

    /// Counts and records what was found; the end of a system is an error, and counted as such already.
    pub(super) fn count(
        &mut self,
        found: &FoundFailure,
        execution: &Execution,
        file: &FailureFile,
        test: u64,
    ) {
        match &execution.verdict {
            Verdict::Fail(_) if found.accepted => {
                self.accepted += 1;
                self.session.tester.discount_failure();
            }
            Verdict::Fail(_) if found.flaky => {
                self.flaky += 1;
                self.session.tester.discount_failure();
            }
            Verdict::Fail(_) => self.confirmed += 1,
            _ => {}
        }
        self.record.failure(file, test, found.flaky);
    }

    /// What to do about a system that ended in the last test.
    pub(super) fn hint(&self, execution: &Execution) -> Option<String> {
        let ended = matches!(execution.verdict, Verdict::Ended(_));
        let trouble = self.session.trouble.as_ref().filter(|_| ended);
        trouble.and_then(|trouble| trouble.hint.clone())
    }

    /// Writes the file of a failure. Where the disk refuses, the failure is reported all the same.
    fn keep(&mut self, path: &Path, file: &FailureFile, observer: &mut dyn Observer) {
        let bounded = failures::bounded(path, file, self.model.sts.budget());
        let written = bounded.and_then(|(text, note)| {
            if let Some(note) = note {
                observer.warning(&note);
            }
            self.results.write(path, text.as_bytes())
        });
        if let Err(refused) = written {
            self.unkept(&refused, observer);
        }
    }

    /// Says, once, that something could not be written.
    pub(super) fn unkept(&mut self, refused: &CampaignError, observer: &mut dyn Observer) {
        if std::mem::replace(&mut self.is_kept, false) {
            observer.warning(&format!(
                "{}; what this run finds is reported here only",
                refused.message
            ));
        }
    }

    fn path_of(&self, file: &FailureFile) -> PathBuf {
        self.results.failures().join(file.id.file_name())
    }

    fn failure_file(
        &self,
        report: &TestReport,
        wire: Vec<WireLine>,
        shrunk: Option<&Shrunk>,
        confidence: Option<Confidence>,
    ) -> Result<FailureFile, CampaignError> {
        let connection = serde_json::to_value(&self.origin)
            .map_err(|error| CampaignError::usage(error.to_string()))?;
        let context = FailureContext {
            model_hash: self.model.hash.clone(),
            seed: self.seed,
            wire,
            shrunk: shrunk.map(|s| (s.execution.clone(), s.runs)),
            minimal: shrunk.is_some_and(|s| s.minimal.is_some()),
            confirmed: confidence.map(confirmed),
            connection,
        };
        FailureFile::new(&self.model.sts, report, context)
            .ok_or_else(|| CampaignError::usage("the test did not fail: nothing to keep"))
    }

    fn describe(
        &mut self,
        file: &FailureFile,
        path: PathBuf,
        execution: &Execution,
        shrunk: Option<&Shrunk>,
        confidence: Option<Confidence>,
    ) -> FoundFailure {
        let context = Context {
            test: Some(file.test),
            seed: Some(self.seed),
            system: self.model.sts.name().to_owned(),
            shrunk: shrunk.map(sizes),
            confirmed: confidence.map(confirmed),
            ..Context::default()
        };
        FoundFailure {
            id: file.id.to_string(),
            file: path,
            explanation: self.session.explain(execution, &context),
            notes: match shrunk {
                Some(shrunk) => shrinking::notes(shrunk, confidence.unwrap_or(shrunk.confidence)),
                None => confidence.and_then(Note::doubt).into_iter().collect(),
            },
            hint: None,
            flaky: confidence.is_some_and(Confidence::is_flaky),
            accepted: file.accepted.is_some(),
            is_known: false,
            is_elsewhere: self.project.elsewhere.is_some(),
        }
    }

    pub(super) fn tell(&mut self, found: FoundFailure, observer: &mut dyn Observer) {
        self.settle(observer);
        observer.found(&found);
        self.found.push(found);
    }
}

pub(crate) fn confirmed(confidence: Confidence) -> (u64, u64) {
    (u64::from(confidence.failed), u64::from(confidence.runs))
}

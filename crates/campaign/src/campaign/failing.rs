//! What a campaign does about a failure: kept at once, confirmed, shrunk, explained, and kept again.

use std::path::{Path, PathBuf};

use ioco_engine::{Context, FailureContext, FailureFile, SavedDeviation, TestReport, WireLine};
use ioco_shrink::{Confidence, Shrunk};
use ioco_sts::{Action, Execution, Verdict};

use super::Campaign;
use super::known::is_shown;
use super::opening::{Recorded, recorded};
use crate::error::CampaignError;
use crate::note::Note;
use crate::observer::{NoObserver, Observer};
use crate::outcome::FoundFailure;
use crate::session::{ReplayedRun, sizes};
use crate::{failures, history, lifecycle, shrinking};

/// What there is to say about a failure that was not shrunk.
struct UnshrunkNotes {
    note: Option<Note>,
    hint: Option<String>,
}

impl Campaign {
    /// A failure unlike all before, or like one that nothing has confirmed yet.
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
        // What a person decided is not written over, not even until it is known what was found.
        let is_decided = |one: &Recorded| one.file.accepted.is_some() && one.path == first_path;
        let is_decided = recorded.iter().any(is_decided);
        if !is_decided {
            self.keep(&first_path, &first, observer);
        }
        let hint = self.hint(&report.execution);
        let ended = matches!(report.execution.verdict, Verdict::Ended(_));
        let is_gone = ended && !self.session.is_ours();
        let Some(settings) = self.shrinking.clone().filter(|_| !is_gone) else {
            let note = is_gone.then_some(Note::NotStarted);
            let remarks = UnshrunkNotes { note, hint };
            self.found_unshrunk(report, first, None, remarks, &recorded, observer);
            return Ok(());
        };
        // Whether it can be seen again at all comes first: shrinking what cannot is in vain.
        let confirmed = self.confirm(&report.execution, &settings);
        if let Err(stopped) = &confirmed {
            observer.warning(&format!("not confirmed: {}", stopped.message));
        }
        let is_confirmed = confirmed.is_ok();
        let confirmation = confirmed.unwrap_or_default();
        let confidence = confirmation.confidence;
        let is_unseen = confidence.runs > 0 && confidence.failed == 0;
        let shrunk = if is_unseen || !is_confirmed {
            None
        } else {
            let failure = confirmation.execution(&report.execution);
            self.shrink(failure, &settings, confidence, observer)
                .map_err(|stopped| {
                    observer.warning(&format!("not shrunk: {}", stopped.message));
                })
                .ok()
        };
        // That took a while, in which a person may have decided about what was kept at first.
        let recorded = self.with_decisions(recorded);
        let is_decided = |one: &Recorded| one.file.accepted.is_some() && one.path == first_path;
        let is_decided = recorded.iter().any(is_decided);
        let Some(shrunk) = shrunk else {
            if is_unseen && self.is_unconfirmed(report) {
                // Not seen again either, so the first one of its kind says it all.
                if recorded.iter().all(|one| one.path != first_path) {
                    let _ = std::fs::remove_file(&first_path);
                }
                return Ok(());
            }
            let file = self.failure_file(report, wire, None, Some(confidence))?;
            let note = is_unseen.then_some(Note::NotSeenAgain);
            let (seen, remarks) = (Some(confidence), UnshrunkNotes { note, hint });
            self.found_unshrunk(report, file, seen, remarks, &recorded, observer);
            return Ok(());
        };
        let confidence = shrunk.confidence;
        let own = self.failure_file(report, wire, Some(&shrunk), Some(confidence))?;
        let is_same = |one: &&Recorded| one.is_ours() && lifecycle::is_same(&one.file, &own);
        let open = || recorded.iter().filter(|one| !self.is_settled(one, &own));
        let same = match open().find(is_same) {
            Some(same) => Some(same),
            None => self.accepted_elsewhere(&recorded, &own),
        };
        let mut file = match same {
            Some(same) if same.is_ours() => {
                lifecycle::merge(&same.file, &own, self.has_passed(same))
            }
            Some(same) => lifecycle::shown_also_by(&same.file, &own),
            None => own.clone(),
        };
        let path = self.path_of(&file);
        self.keep(&path, &file, observer);
        let first_path = (!is_decided).then_some(&first_path);
        let replaced = same.filter(|same| same.is_ours()).map(|same| &same.path);
        for old in first_path.into_iter().chain(replaced) {
            if *old != path {
                // The same failure, now under another id.
                let _ = std::fs::remove_file(old);
            }
        }
        if let Some(same) = same.filter(|same| same.file.id != file.id) {
            self.settle(observer);
            if let Err(refused) = history::replace(&self.project, &same.file.id, &file) {
                observer.warning(&refused.message);
            }
        }
        // Different at first, the same once shrunk.
        if self.is_found_again(&file, report, observer) {
            return Ok(());
        }
        let mut found = self.describe(
            &file,
            path.clone(),
            &shrunk.execution,
            Some(&shrunk),
            Some(confidence),
        );
        found.is_known = same.is_some();
        found.hint = hint;
        found.notes.extend(same.and_then(Recorded::note));
        let stimuli: Vec<Action> = shrunk.execution.stimuli().cloned().collect();
        // Whoever was to show it once more may be gone: that takes nothing from what was found.
        let shown = self.show(&stimuli).ok();
        // What was broken off proves nothing.
        let is_gone = shown.as_ref().is_some_and(ReplayedRun::is_gone) && !self.session.is_over();
        if file.id == own.id
            && shown.is_some_and(|shown| shown.put_into(&mut file, &shrunk.execution))
        {
            self.keep(&path, &file, observer);
        }
        if !found.flaky && is_gone {
            found.flaky = true;
            found.notes = vec![Note::DependsOnEarlierTests];
            found.notes.extend(same.and_then(Recorded::note));
        }
        self.found_new(found, &shrunk.execution, &file, report, observer);
        Ok(())
    }

    /// Whether the trace of a recorded failure passed in this run.
    fn has_passed(&self, recorded: &Recorded) -> bool {
        self.passed.iter().any(|id| recorded.file.is_called(id))
    }

    /// What a person has accepted is over once its trace passes: another trace that fails in the same place has another
    /// cause, about which there is no decision.
    fn is_settled(&self, recorded: &Recorded, found: &FailureFile) -> bool {
        recorded.file.accepted.is_some()
            && self.has_passed(recorded)
            && !recorded.file.is_called(&found.id)
    }

    /// The acceptance of what was found. One of a system that was reached in another way was not tried at the beginning of
    /// the run: it holds only if its own trace fails here too.
    fn accepted_elsewhere<'r>(
        &mut self,
        recorded: &'r [Recorded],
        own: &FailureFile,
    ) -> Option<&'r Recorded> {
        for one in recorded.iter().filter(|one| one.is_acceptance_of(own)) {
            let holds = match one.is_ours() || one.file.is_called(&own.id) {
                true => !self.is_settled(one, own),
                false => self.shows_here(&one.file),
            };
            if holds {
                return Some(one);
            }
        }
        None
    }

    /// Whether the trace of a recorded failure shows it on this system.
    fn shows_here(&mut self, file: &FailureFile) -> bool {
        let Ok(stimuli) = file.stimuli(&self.model.sts) else {
            return false;
        };
        let Ok(shown) = self.show(&stimuli) else {
            return false;
        };
        let deviation = shown.execution.deviation();
        deviation.is_some_and(|deviation| {
            is_shown(file, &SavedDeviation::new(deviation, &self.model.sts))
        })
    }

    /// Whether this run has seen failures like this one, and could confirm none of them.
    pub(super) fn is_unconfirmed(&self, report: &TestReport) -> bool {
        let group = report.failure.as_ref();
        group.is_some_and(|group| self.unconfirmed.contains(group))
    }

    /// What is recorded, with what a person has accepted since it was read.
    fn with_decisions(&self, mut recorded: Vec<Recorded>) -> Vec<Recorded> {
        let (results, model, project) = (&self.results, &self.model, &self.project);
        let now = self::recorded(results, model, project, &self.reach, &mut NoObserver);
        for one in now.into_iter().filter(|one| one.file.accepted.is_some()) {
            match recorded.iter_mut().find(|before| before.path == one.path) {
                Some(before) => before.file.accepted = one.file.accepted,
                None => recorded.push(one),
            }
        }
        recorded
    }

    /// A failure that is not shrunk. One that a person has accepted is recognised by its deviation, and what is
    /// recorded of it stays: it is the shorter one.
    fn found_unshrunk(
        &mut self,
        report: &TestReport,
        own: FailureFile,
        confidence: Option<Confidence>,
        remarks: UnshrunkNotes,
        recorded: &[Recorded],
        observer: &mut dyn Observer,
    ) {
        let own_path = self.path_of(&own);
        let same = self.accepted_elsewhere(recorded, &own);
        let (path, file) = match same {
            Some(same) => {
                if same.path != own_path && recorded.iter().all(|one| one.path != own_path) {
                    // Written before it was known to be the same.
                    let _ = std::fs::remove_file(&own_path);
                }
                let file = lifecycle::shown_also_by(&same.file, &own);
                (same.path.clone(), file)
            }
            None => (own_path, own),
        };
        self.keep(&path, &file, observer);
        if same.is_some() && self.is_found_again(&file, report, observer) {
            return;
        }
        let execution = &report.execution;
        let mut found = self.describe(&file, path, execution, None, confidence);
        found.is_known = same.is_some();
        found.hint = remarks.hint;
        found.notes.extend(remarks.note);
        found.notes.extend(same.and_then(Recorded::note));
        self.found_new(found, execution, &file, report, observer);
    }

    /// Whether this run has reported the failure already; counts it as seen once more then. One that was flaky so far
    /// and is confirmed now is reported again.
    fn is_found_again(
        &mut self,
        file: &FailureFile,
        report: &TestReport,
        observer: &mut dyn Observer,
    ) -> bool {
        let mut found = self.found.iter();
        let Some(place) = found.position(|found| file.is_called(&found.id)) else {
            return false;
        };
        if self.found[place].flaky && !file.is_flaky() {
            self.found.remove(place);
            self.flaky = self.flaky.saturating_sub(1);
            if !report.is_new_failure {
                self.session.tester.count_failure();
            }
            return false;
        }
        if report.is_new_failure {
            self.session.tester.discount_failure();
        }
        self.record.failure(file, report.number, file.is_flaky());
        self.settle(observer);
        observer.again(&file.id);
        true
    }

    /// Counts and reports a failure that this run has not reported yet. The limit on failures is for those that
    /// that needs attention.
    fn found_new(
        &mut self,
        found: FoundFailure,
        execution: &Execution,
        file: &FailureFile,
        report: &TestReport,
        observer: &mut dyn Observer,
    ) {
        self.count_new(&found, execution, file, report);
        self.report(found, observer);
    }

    /// As [`Campaign::count`], for a failure that the tester has counted against the limit.
    pub(super) fn count_new(
        &mut self,
        found: &FoundFailure,
        execution: &Execution,
        file: &FailureFile,
        report: &TestReport,
    ) {
        let is_failure = matches!(execution.verdict, Verdict::Fail(_));
        if is_failure && (found.accepted || found.flaky) && report.is_new_failure {
            self.session.tester.discount_failure();
        }
        self.note_group(report, is_failure && found.flaky && !found.accepted);
        self.count(found, execution, file, report.number);
    }

    /// Remembers whether the failures like this one are all unconfirmed: the next one is then confirmed too.
    pub(super) fn note_group(&mut self, report: &TestReport, is_unconfirmed: bool) {
        if let Some(group) = report.failure {
            match is_unconfirmed {
                true => self.unconfirmed.insert(group),
                false => self.unconfirmed.remove(&group),
            };
        }
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
            Verdict::Fail(_) if found.accepted => self.accepted += 1,
            Verdict::Fail(_) if found.flaky => self.flaky += 1,
            Verdict::Fail(_) => self.confirmed += 1,
            _ => {}
        }
        self.record.failure(file, test, found.flaky);
    }

    /// What to do about a system that ended in the last test.
    pub(super) fn hint(&self, execution: &Execution) -> Option<String> {
        let ended = matches!(execution.verdict, Verdict::Ended(_));
        let error = self.session.error.as_ref().filter(|_| ended);
        error.and_then(|error| error.hint.clone())
    }

    /// Writes the file of a failure. Where the disk refuses, the failure is reported all the same.
    pub(super) fn keep(&mut self, path: &Path, file: &FailureFile, observer: &mut dyn Observer) {
        let budget = *self.model.sts.budget();
        let mut file = file.clone();
        if file.accepted.is_none()
            && let Ok(kept) = failures::read(path, &budget)
            && kept.id == file.id
        {
            // A person decided while this run was at it.
            file.accepted = kept.accepted;
        }
        let bounded = failures::bounded(path, &file, &budget);
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
            confirmed: confidence.and_then(confirmed),
            connection,
        };
        FailureFile::new(&self.model.sts, report, context)
            .ok_or_else(|| CampaignError::usage("the test did not fail: nothing to keep"))
    }

    pub(super) fn describe(
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
            confirmed: confidence.and_then(confirmed),
            ..Context::default()
        };
        FoundFailure {
            id: file.id.to_string(),
            file: path,
            explanation: self.session.explain(execution, &context),
            notes: match shrunk {
                Some(shrunk) => shrinking::notes(shrunk, confidence.unwrap_or(shrunk.confidence)),
                None => confidence.and_then(Note::unconfirmed).into_iter().collect(),
            },
            hint: None,
            flaky: confidence.is_some_and(Confidence::is_flaky),
            accepted: file.accepted.is_some(),
            is_known: false,
            is_elsewhere: self.project.elsewhere.is_some(),
        }
    }

    pub(super) fn report(&mut self, found: FoundFailure, observer: &mut dyn Observer) {
        self.settle(observer);
        observer.found(&found);
        self.found.push(found);
    }
}

/// In how many of how many runs it was seen again; `None` where ioco was stopped before the first one.
pub(crate) fn confirmed(confidence: Confidence) -> Option<(u64, u64)> {
    let seen = (u64::from(confidence.failed), u64::from(confidence.runs));
    Some(seen).filter(|(_, runs)| *runs > 0)
}

//! Failures of earlier runs, which are tried first: fixed, or failing still.

use ioco_engine::{
    Context, FailureFile, Resolution, SavedDeviation, SavedStep, TestReport, known_failure,
};
use ioco_sts::{Action, DeviationKind, Execution, Verdict};

use super::Campaign;
use super::opening::Known;
use crate::error::CampaignError;
use crate::note::Note;
use crate::observer::Observer;
use crate::order::{NextTest, Script};
use crate::outcome::FoundFailure;

/// The test that shows a known failure.
pub(super) fn script(file: &FailureFile, stimuli: Vec<Action>) -> Script {
    Script {
        name: known_failure(&file.id),
        stimuli,
    }
}

/// Whether the stimuli of a known failure showed it. Its locations do not matter: they may have been given other
/// names since.
pub(super) fn is_shown(file: &FailureFile, deviation: &SavedDeviation) -> bool {
    let own = [file.last_deviation(), &file.deviation].into_iter();
    let is_ended = deviation.kind == DeviationKind::Ended;
    own.chain(&file.also)
        .any(|own| own.kind == deviation.kind && (is_ended || own.label == deviation.label))
}

impl Campaign {
    pub(super) fn run_known(
        &mut self,
        known: Known,
        observer: &mut dyn Observer,
    ) -> Result<(), CampaignError> {
        if self.session.interrupt.is_raised() {
            return Ok(());
        }
        let next = NextTest::Script(script(&known.1, known.2.clone()));
        match self.session.carry_out(next, observer) {
            Some(report) => self.finished_known(known, report, observer),
            None => Ok(()),
        }
    }

    /// What the test of a known failure says about it.
    pub(super) fn finished_known(
        &mut self,
        (path, file, _): Known,
        report: TestReport,
        observer: &mut dyn Observer,
    ) -> Result<(), CampaignError> {
        self.write_events();
        if let Some(deviation) = report.execution.deviation() {
            let deviation = SavedDeviation::new(deviation, &self.model.sts);
            if !is_shown(&file, &deviation) {
                // The same stimuli showed something else, about which there is no decision.
                return self.finished(report, false, observer);
            }
        }
        let resolution = self.resolution(&file, &report.execution);
        if resolution.is_some() {
            self.passed.push(file.id.to_string());
        }
        match &report.execution.verdict {
            Verdict::Fail(_) | Verdict::Ended(_) => {
                let context = Context {
                    test: Some(file.test),
                    seed: Some(file.seed),
                    system: self.model.sts.name().to_owned(),
                    shrunk: file.shrunk_sizes(),
                    ..Context::default()
                };
                let explanation = self.session.explain(&report.execution, &context);
                let known = match &file.accepted {
                    Some(reason) => format!("known from an earlier run, and accepted: {reason}"),
                    None => "known from an earlier run, and still failing".to_owned(),
                };
                let found = FoundFailure {
                    id: file.id.to_string(),
                    file: path,
                    explanation,
                    notes: vec![Note::Text(known)],
                    accepted: file.accepted.is_some(),
                    hint: self.hint(&report.execution),
                    flaky: file.is_flaky(),
                    is_known: true,
                    is_elsewhere: false,
                };
                let is_failure = matches!(report.execution.verdict, Verdict::Fail(_));
                self.note_group(&report, is_failure && found.flaky && !found.accepted);
                self.count(&found, &report.execution, &file, report.number);
                self.report(found, observer);
            }
            // Passing once says nothing about one that was never certain.
            Verdict::Pass if file.is_flaky() => {}
            Verdict::Pass => {
                if let Some(resolution) = resolution {
                    self.settle(observer);
                    observer.resolved(&file.id, resolution);
                }
            }
            Verdict::Inconclusive(_) | Verdict::Error(_) => {}
        }
        self.finished(report, true, observer)
    }

    /// What a test of the failure says about its end, where it passed.
    fn resolution(&self, file: &FailureFile, execution: &Execution) -> Option<Resolution> {
        if execution.verdict != Verdict::Pass {
            return None;
        }
        let steps = execution.trace.iter();
        let steps: Vec<SavedStep> = steps
            .map(|step| SavedStep::new(step, &self.model.sts))
            .collect();
        file.resolution_after(&steps)
    }
}

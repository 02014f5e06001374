//! A campaign from its plan to its outcome: failures of earlier runs first, then test after test;
//! what fails is kept, shrunk, explained and kept again; whatever anybody is told of is in the store
//! before.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use ioco_engine::{
    Command, Context, Explanation, FailureContext, FailureFile, Guide, Summary, TestReport,
    WireLine,
};
use ioco_generate::answer;
use ioco_generate::guide::{Locations, Scenario};
use ioco_generate::plan::Pattern;
use ioco_generate::suite::{ReadTest, SuiteTest};
use ioco_shrink::{Confidence, Shrunk};
use ioco_sts::{Action, Execution, Verdict};
use serde::Serialize;

use crate::connect::ConnectionSpec;
use crate::exit::{CommandError, Exit};
use crate::failures::{self, Origin};
use crate::model::{Model, ModelOptions};
use crate::observer::Observer;
use crate::project::{Project, TestSettings};
use crate::record::{Record, Until};
use crate::results::Results;
use crate::session::{Session, sizes};
use crate::shrinking::{self, ShrinkSettings};
use crate::solver::{SemanticsOptions, SolverChoice};
use crate::suite::{self, SuiteRow};
use crate::{coverage, history, query, time, trust};
use ioco_budget::Interrupt;

/// What is to be run.
#[derive(Clone)]
pub struct Plan {
    pub project: Project,
    pub model: Model,
    pub options: ModelOptions,
    pub reach: ConnectionSpec,
    /// What ioco.toml says, overridden by what was asked for.
    pub test: TestSettings,
    /// How to shrink what fails; `None` does not.
    pub shrinking: Option<ShrinkSettings>,
    /// Run the recorded failures first.
    pub known: bool,
    /// Stimuli that every test begins with.
    pub beginning: Vec<Action>,
    /// Exactly these tests instead of those of the strategy.
    pub scripts: Vec<Script>,
}

/// A test that is written down.
#[derive(Clone, Debug)]
pub struct Script {
    /// What it is for.
    pub name: String,
    pub stimuli: Vec<Action>,
}

/// One failure that a campaign has to tell of.
#[derive(Clone, Debug, Serialize)]
pub struct FoundFailure {
    pub id: String,
    pub file: PathBuf,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Explanation>,
    pub notes: Vec<String>,
    /// What the person can do about a system that ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    pub flaky: bool,
}

/// How a campaign ended.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub summary: Summary,
    pub found: Vec<FoundFailure>,
    /// Failures that were seen again.
    pub confirmed: usize,
    pub flaky: usize,
    pub interrupted: bool,
    /// The share of the switches that was wanted, and what was reached, in percent.
    pub missed_goal: Option<(f64, f64)>,
    /// The number of the run in the store; 0 where it could not be recorded.
    pub run: i64,
    /// Everything that the run did and found is on the disk.
    pub is_kept: bool,
    /// The tests of a suite, in order.
    pub suite: Vec<SuiteRow>,
}

impl Outcome {
    pub fn exit(&self) -> Exit {
        if self.interrupted {
            Exit::Interrupted
        } else if self.confirmed > 0 {
            Exit::Deviation
        } else if self.flaky > 0 {
            Exit::Flaky
        } else if self.summary.errors > 0 {
            Exit::System
        } else if self.missed_goal.is_some() {
            Exit::GoalMissed
        } else if !self.is_kept {
            Exit::Usage
        } else {
            Exit::Conforms
        }
    }
}

/// A recorded failure, and the stimuli that show it.
type Known = (PathBuf, FailureFile, Vec<Action>);

pub struct Campaign {
    pub project: Project,
    pub model: Model,
    pub session: Session,
    pub seed: u64,
    shrinking: Option<ShrinkSettings>,
    /// Percent of the switches to be covered.
    goal: Option<f64>,
    results: Results,
    origin: Origin,
    reach: ConnectionSpec,
    record: Record,
    known: Vec<Known>,
    suite: Option<Vec<ReadTest>>,
    /// The tests of the suite that were run.
    rows: Vec<SuiteRow>,
    beginning: Vec<Action>,
    scripts: Vec<Script>,
    /// Tests that are over, and not told of yet.
    untold: Vec<TestReport>,
    /// Everything so far is on the disk.
    is_kept: bool,
    found: Vec<FoundFailure>,
    confirmed: usize,
    flaky: usize,
}

impl Campaign {
    /// Checks the plan and makes everything ready; nothing is started yet.
    pub fn open(
        mut plan: Plan,
        interrupt: Interrupt,
        observer: &mut dyn Observer,
    ) -> Result<Campaign, CommandError> {
        if let Some(shrinking) = &plan.shrinking {
            shrinking::pipeline(&shrinking.shrinker)?;
        }
        let timeout = plan.test.timeout.as_deref().map(time::parse).transpose()?;
        if let Some(nanoseconds) = timeout {
            if nanoseconds == 0 {
                return Err(
                    CommandError::usage("a time-out of nothing makes every system silent")
                        .hint("give it at least 1ms"),
                );
            }
            plan.model.sts = Arc::new(plan.model.sts.with_timeout(nanoseconds));
        }
        let mut settings = plan.test.settings(&plan.model.sts, seed_from_clock)?;
        let meaning = SemanticsOptions {
            relation: plan.test.relation()?,
            solver: SolverChoice::named(plan.test.solver.as_deref()),
        };
        let results = Results::at(plan.project.results());
        let options = plan.options.clone();
        let origin = Origin::new(
            plan.options,
            &plan.model,
            &plan.project,
            &meaning,
            timeout,
            &plan.reach,
        );
        // Read before the first test: a damaged file must not spoil the end of a long run.
        coverage::read(&results.coverage(&plan.model.hash), &plan.model.sts)?;
        let known = if plan.known {
            known(&results, &plan.model, &plan.project, &plan.reach, observer)
        } else {
            Vec::new()
        };
        if !plan.scripts.is_empty() {
            settings.stop.tests = Some(plan.scripts.len() as u64);
        }
        // Failures of earlier runs come on top of the tests that were asked for.
        settings.stop.tests = settings.stop.tests.map(|tests| tests + known.len() as u64);
        let suite = match &plan.test.suite {
            Some(file) => Some(suite::load(file, &plan.model, observer)?),
            None => None,
        };
        let guide = guide(&plan.test, &plan.model, observer)?;
        let mut session = Session::open(
            &plan.model.sts,
            &plan.reach,
            &plan.project,
            meaning.clone(),
            settings.clone(),
            interrupt,
        )?;
        session.invite(observer);
        if let Some(guide) = guide {
            session.tester.set_guide(guide);
        }
        if let Err(refused) = results.make()
            && let Ok(elsewhere) = Results::elsewhere()
        {
            observer.warning(&format!(
                "{}; the results of this run are in {}",
                refused.message,
                elsewhere.display()
            ));
            plan.project.elsewhere = Some(elsewhere);
        }
        trust::remember(&plan.project, &plan.reach, &origin.model);
        let new = history::new_run(&plan.model, &options, &meaning, &plan.reach, &settings);
        let until = Until {
            interrupt: session.interrupt.clone(),
            over_at: session.over_if_begun_now(),
        };
        let record = Record::begin(&mut plan.project, new, &until, observer)?;
        // The store may have gone to another folder.
        let results = Results::at(plan.project.results());
        Ok(Campaign {
            project: plan.project,
            model: plan.model,
            session,
            seed: settings.seed,
            shrinking: plan.shrinking,
            goal: settings.stop.coverage,
            results,
            origin,
            reach: plan.reach,
            record,
            known,
            suite,
            rows: Vec::new(),
            beginning: plan.beginning,
            scripts: plan.scripts,
            untold: Vec::new(),
            is_kept: true,
            found: Vec::new(),
            confirmed: 0,
            flaky: 0,
        })
    }

    /// How the system is reached, for a person.
    pub fn system(&self) -> String {
        self.reach.show()
    }

    /// The number of the run in the store.
    pub fn number(&self) -> i64 {
        self.record.run()
    }

    pub fn run(mut self, observer: &mut dyn Observer) -> Result<Outcome, CommandError> {
        for (path, file, stimuli) in std::mem::take(&mut self.known) {
            self.run_known(path, file, stimuli, observer)?;
        }
        for script in std::mem::take(&mut self.scripts) {
            if self.session.interrupt.is_raised() || self.session.tester.summary().errors > 0 {
                break;
            }
            let now = self.session.now();
            self.session.tester.name_next(script.name);
            let first = self.session.tester.scripted_test(script.stimuli, now);
            let report = self.session.run(first, observer);
            self.finished(report, false, observer)?;
        }
        match self.suite.take() {
            Some(tests) => self.run_suite(tests, observer)?,
            None => {
                while let Some(first) = self.next_test() {
                    let report = self.session.run(first, observer);
                    self.finished(report, false, observer)?;
                }
            }
        }
        self.write_events()?;
        self.save_coverage(observer);
        self.settle(observer)?;
        Ok(self.outcome())
    }

    fn run_suite(
        &mut self,
        tests: Vec<ReadTest>,
        observer: &mut dyn Observer,
    ) -> Result<(), CommandError> {
        for test in tests {
            let name = test.name.clone();
            let now = self.session.now();
            let guide = Box::new(SuiteTest::new(test));
            self.session.tester.name_next(name.clone());
            let Some(first) = self.session.tester.guided_test(guide, now) else {
                return Ok(());
            };
            let report = self.session.run(first, observer);
            self.rows.push(SuiteRow::new(name, &report));
            self.finished(report, false, observer)?;
        }
        let now = self.session.now();
        self.session.tester.end_run(now);
        Ok(())
    }

    fn next_test(&mut self) -> Option<Command> {
        let now = self.session.now();
        if self.beginning.is_empty() {
            return self.session.tester.next_test(now);
        }
        self.session
            .tester
            .next_test_after(self.beginning.clone(), now)
    }

    /// Failures of earlier runs are tried first.
    fn run_known(
        &mut self,
        path: PathBuf,
        file: FailureFile,
        stimuli: Vec<Action>,
        observer: &mut dyn Observer,
    ) -> Result<(), CommandError> {
        if self.session.interrupt.is_raised() {
            return Ok(());
        }
        let now = self.session.now();
        let name = format!("known failure {}", file.id);
        self.session.tester.name_next(name);
        let first = self.session.tester.scripted_test(stimuli, now);
        let report = self.session.run(first, observer);
        self.write_events()?;
        match &report.execution.verdict {
            Verdict::Fail(_) | Verdict::Ended(_) => {
                let context = Context {
                    test: Some(file.test),
                    seed: Some(file.seed),
                    system: self.model.sts.name().to_owned(),
                    shrunk: file.shrunk_sizes(),
                    confirmed: None,
                    replay: Some(format!("ioco replay {}", file.id)),
                };
                let explanation = self.session.explain(&report.execution, &context);
                let notes = vec!["known from an earlier run, and still failing".to_owned()];
                let flaky = file.is_flaky();
                self.record.failure(&file, report.number, flaky);
                let found = FoundFailure {
                    id: file.id.into(),
                    file: path,
                    explanation,
                    notes,
                    hint: self.hint(&report.execution),
                    flaky,
                };
                self.count(&found, &report.execution);
                self.tell(found, observer)?;
            }
            // Passing once says nothing about one that was never certain.
            Verdict::Pass if file.is_flaky() => {}
            Verdict::Pass => {
                self.settle(observer)?;
                observer.fixed(&file.id);
            }
            Verdict::Inconclusive(_) | Verdict::Error(_) => {}
        }
        self.finished(report, true, observer)
    }

    /// Everything that must be handed over before the next test begins.
    fn finished(
        &mut self,
        report: TestReport,
        known: bool,
        observer: &mut dyn Observer,
    ) -> Result<(), CommandError> {
        self.write_events()?;
        if report.is_new_failure && !known {
            self.failed(&report, observer)?;
        }
        if let Verdict::Error(_) | Verdict::Inconclusive(_) = &report.execution.verdict
            && !self.session.interrupt.is_raised()
        {
            self.settle(observer)?;
            self.emit_unusual(&report, observer);
        }
        self.untold.push(report);
        if self.record.is_due() {
            self.settle(observer)?;
        }
        Ok(())
    }

    fn write_events(&mut self) -> Result<(), CommandError> {
        let events = self.session.tester.take_events();
        self.record.events(events);
        Ok(())
    }

    /// Waits until everything so far is in the store, and tells of it.
    fn settle(&mut self, observer: &mut dyn Observer) -> Result<(), CommandError> {
        self.record.settle(observer);
        for report in std::mem::take(&mut self.untold) {
            observer.finished(&report, &mut self.session.tester);
        }
        Ok(())
    }

    /// A failure unlike all before: kept at once, then shrunk, and kept again.
    fn failed(
        &mut self,
        report: &TestReport,
        observer: &mut dyn Observer,
    ) -> Result<(), CommandError> {
        let wire = self.session.wire();
        let first = self.failure_file(report, wire.clone(), None, None)?;
        let first_path = self.path_of(&first);
        self.keep(&first_path, &first, observer);
        let hint = self.hint(&report.execution);
        let ended = matches!(report.execution.verdict, Verdict::Ended(_));
        let is_gone = ended && !self.session.link.is_ours();
        let Some(settings) = self.shrinking.clone().filter(|_| !is_gone) else {
            let mut found = self.describe(&first, first_path, &report.execution, None, None);
            found.hint = hint;
            if is_gone {
                found.notes.push(format!(
                    "ioco does not start this system: start it again, and `ioco shrink {}` cuts \
                     this down",
                    found.id
                ));
            }
            self.count(&found, &report.execution);
            self.record.failure(&first, report.number, false);
            return self.tell(found, observer);
        };
        // Whether it can be seen again at all comes first: shrinking what cannot is in vain.
        let confidence = self.session.confirm(&report.execution, &settings);
        if confidence.runs > 0 && confidence.failed == 0 {
            let file = self.failure_file(report, wire, None, Some(confidence))?;
            self.keep(&first_path, &file, observer);
            let execution = &report.execution;
            let mut found = self.describe(&file, first_path, execution, None, Some(confidence));
            found.hint = hint;
            found.notes.push(format!(
                "not shrunk, because it could not be seen again; `ioco shrink {}` tries all the same",
                found.id
            ));
            self.count(&found, execution);
            self.record.failure(&file, report.number, found.flaky);
            return self.tell(found, observer);
        }
        let shrunk = self
            .session
            .shrink(&report.execution, &settings, None, observer);
        let shrunk = match shrunk {
            Ok(shrunk) => shrunk,
            Err(stopped) => {
                observer.warning(&format!("not shrunk: {}", stopped.message));
                let confidence = Some(confidence);
                let file = self.failure_file(report, wire, None, confidence)?;
                self.keep(&first_path, &file, observer);
                let execution = &report.execution;
                let mut found = self.describe(&file, first_path, execution, None, confidence);
                found.hint = hint;
                self.count(&found, execution);
                self.record.failure(&file, report.number, found.flaky);
                return self.tell(found, observer);
            }
        };
        // Where nothing was left out, the runs before shrinking tell of the same stimuli.
        let same = shrunk.execution.stimuli().eq(report.execution.stimuli());
        let confidence = if same && confidence.is_flaky() {
            Confidence {
                failed: confidence.failed + shrunk.confidence.failed,
                runs: confidence.runs + shrunk.confidence.runs,
            }
        } else {
            shrunk.confidence
        };
        let mut file = self.failure_file(report, wire, Some(&shrunk), Some(confidence))?;
        let path = self.path_of(&file);
        self.keep(&path, &file, observer);
        if path != first_path {
            // The same failure, now under the id of its shrunk form.
            let _ = std::fs::remove_file(&first_path);
        }
        let mut found = self.describe(
            &file,
            path.clone(),
            &shrunk.execution,
            Some(&shrunk),
            Some(confidence),
        );
        found.hint = hint;
        let stimuli: Vec<Action> = shrunk.execution.stimuli().cloned().collect();
        let shown = self.session.show(&stimuli);
        // What was broken off proves nothing.
        let is_gone = shown.is_gone() && !self.session.is_over();
        if shown.put_into(&mut file, &shrunk.execution) {
            self.keep(&path, &file, observer);
        }
        if !found.flaky && is_gone {
            found.flaky = true;
            found.notes = vec![
                "a freshly started system does not show it: it depends on tests that ran before. \
                 Does the reset reset everything? Try --restart"
                    .to_owned(),
            ];
        }
        self.count(&found, &shrunk.execution);
        self.record.failure(&file, report.number, found.flaky);
        self.tell(found, observer)
    }

    /// Counts what was found; the end of a system is an error, and counted as such already.
    fn count(&mut self, found: &FoundFailure, execution: &Execution) {
        match &execution.verdict {
            Verdict::Fail(_) if found.flaky => self.flaky += 1,
            Verdict::Fail(_) => self.confirmed += 1,
            _ => {}
        }
    }

    /// What to do about a system that ended in the last test.
    fn hint(&self, execution: &Execution) -> Option<String> {
        let ended = matches!(execution.verdict, Verdict::Ended(_));
        let trouble = self.session.trouble.as_ref().filter(|_| ended);
        trouble.and_then(|trouble| trouble.hint.clone())
    }

    /// Writes the file of a failure. Where the disk refuses, the failure is reported all the same.
    fn keep(&mut self, path: &Path, file: &FailureFile, observer: &mut dyn Observer) {
        if let Err(refused) = self.results.write(path, file.write().as_bytes()) {
            self.unkept(&refused, observer);
        }
    }

    /// Says, once, that something could not be written.
    fn unkept(&mut self, refused: &CommandError, observer: &mut dyn Observer) {
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
    ) -> Result<FailureFile, CommandError> {
        let connection = serde_json::to_value(&self.origin)
            .map_err(|error| CommandError::usage(error.to_string()))?;
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
            .ok_or_else(|| CommandError::usage("the test did not fail: nothing to keep"))
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
            replay: Some(if self.project.elsewhere.is_some() {
                format!("ioco replay {}", path.display())
            } else {
                format!("ioco replay {}        ({})", file.id, path.display())
            }),
        };
        FoundFailure {
            id: file.id.to_string(),
            file: path,
            explanation: self.session.explain(execution, &context),
            notes: match shrunk {
                Some(shrunk) => shrinking::notes(shrunk, confidence.unwrap_or(shrunk.confidence)),
                None => confidence.and_then(shrinking::doubt).into_iter().collect(),
            },
            hint: None,
            flaky: confidence.is_some_and(Confidence::is_flaky),
        }
    }

    fn tell(
        &mut self,
        found: FoundFailure,
        observer: &mut dyn Observer,
    ) -> Result<(), CommandError> {
        self.settle(observer)?;
        observer.found(&found);
        self.found.push(found);
        Ok(())
    }

    /// An error or an inconclusive test.
    fn emit_unusual(&mut self, report: &TestReport, observer: &mut dyn Observer) {
        let context = Context {
            test: Some(report.number),
            seed: Some(self.seed),
            system: self.model.sts.name().to_owned(),
            ..Context::default()
        };
        let explanation = self.session.explain(&report.execution, &context);
        let hint = self.session.trouble.as_ref().and_then(|t| t.hint.clone());
        observer.unusual(explanation.as_ref(), hint.as_deref());
    }

    /// Adds what this run covered to what other runs of the same model covered.
    fn save_coverage(&mut self, observer: &mut dyn Observer) {
        let covered = self.session.tester.coverage().clone();
        self.record.coverage(covered.snapshot(&self.model.sts));
        let added = coverage::add(&self.results, &self.model.hash, &self.model.sts, &covered);
        if let Err(refused) = added {
            self.unkept(&refused, observer);
        }
    }

    fn outcome(self) -> Outcome {
        let summary = self.session.tester.summary();
        let reached = percent(summary.covered_switches, summary.switches);
        let missed = self.goal.filter(|goal| reached + 1e-9 < *goal);
        Outcome {
            summary,
            found: self.found,
            suite: self.rows,
            confirmed: self.confirmed,
            flaky: self.flaky,
            interrupted: self.session.interrupt.is_raised(),
            missed_goal: missed.map(|goal| (goal, reached)),
            run: self.record.run(),
            is_kept: self.is_kept && self.record.is_kept(),
        }
    }
}

/// The failures of earlier runs of this model against this system.
fn known(
    results: &Results,
    model: &Model,
    project: &Project,
    reach: &ConnectionSpec,
    observer: &mut dyn Observer,
) -> Vec<Known> {
    let mut known = Vec::new();
    for path in results.failure_files() {
        let Ok(file) = failures::read(&path, model.sts.budget()) else {
            observer.warning(&format!("{} cannot be read; left alone", path.display()));
            continue;
        };
        // A failure of another model or of another system says nothing here.
        let Ok(found) = serde_json::from_value::<Origin>(file.connection.clone()) else {
            continue;
        };
        // Processes of different files often have the same name; the text of one file changes.
        let same_model = file.model == model.sts.name()
            && (file.model_hash == model.hash || found.is_of(model, project));
        if !same_model || !found.system.is(reach) {
            continue;
        }
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
fn guide(
    test: &TestSettings,
    model: &Model,
    observer: &mut dyn Observer,
) -> Result<Option<Box<dyn Guide>>, CommandError> {
    match (test.strategy.as_deref(), &test.query) {
        (Some("locations"), _) => Ok(Some(Box::new(Locations::new()))),
        (Some("scenario"), Some(file)) => {
            let query = query::load(file, &model.sts, observer)?;
            let pattern = Pattern::from(&query);
            let (steps, told) = answer::bound(&pattern, query.within);
            if told {
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

pub(crate) fn confirmed(confidence: Confidence) -> (u64, u64) {
    (u64::from(confidence.failed), u64::from(confidence.runs))
}

fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        100.0
    } else {
        part as f64 * 100.0 / whole as f64
    }
}

fn since_epoch() -> u128 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |time| time.as_nanos())
}

fn seed_from_clock() -> u64 {
    // Small enough to be typed again.
    (since_epoch() / 1000 % 1_000_000_000) as u64
}

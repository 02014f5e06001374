//! A campaign from its plan to its outcome: failures of earlier runs first, then test after test. It decides
//! which test comes next and is the only one that writes to the store; a [`Session`] runs what it orders.
//! It reports a result only after the store has it.

mod failing;
mod known;
mod opening;
mod parallel;
mod repeating;
mod resuming;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use ioco_engine::{Context, Event, FailureId, Input, TestReport};
use ioco_generate::suite::ReadTest;
use ioco_store::NewCampaign;
use ioco_sts::Verdict;

use crate::connect::{ConnectionSpec, Link, Transport};
use crate::error::{CampaignError, no_jobs};
use crate::failures::Origin;
use crate::model::Model;
use crate::observer::Observer;
use crate::order::{NextTest, Script};
use crate::outcome::{FoundFailure, Outcome};
use crate::plan::Plan;
use crate::project::Project;
use crate::record::Record;
use crate::results::Results;
use crate::session::Session;
use crate::shrinking::{self, ShrinkSettings};
use crate::solver::{SemanticsOptions, SolverChoice};
use crate::suite::{self, LoadedSuite, SuiteRow};
use crate::work::dispatch::Dispatch;
use crate::work::{Executor, Recipe};
use crate::{coverage, history, query, time, trust};
use ioco_budget::{Interrupt, Until};
use ioco_sts::Action;

pub(crate) use failing::confirmed;
use opening::{Known, guide, known, seed_from_clock};
pub use repeating::{Difference, KeptOrder, Repeated, shown_end};
pub use resuming::Interrupted;
use resuming::KeptPlan;

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
    /// How long files and stores are waited for.
    until: Until,
    known: Vec<Known>,
    suite: Option<LoadedSuite>,
    /// The tests of the suite that were run.
    rows: Vec<SuiteRow>,
    /// The same by their positions, while others carry them out.
    suite_rows: Vec<(usize, SuiteRow)>,
    beginning: Vec<Action>,
    scripts: Vec<Script>,
    /// Tests that are over, and not reported yet.
    untold: Vec<TestReport>,
    /// Everything so far is on the disk.
    is_kept: bool,
    found: Vec<FoundFailure>,
    /// Groups of failures of which none was confirmed so far.
    unconfirmed: HashSet<FailureId>,
    /// Failures of earlier runs that passed in this one.
    passed: Vec<String>,
    confirmed: usize,
    flaky: usize,
    accepted: usize,
    /// Who carries out the tests, where this process does not.
    dispatch: Option<Dispatch>,
    /// Another process can go on with it from the store alone.
    is_resumable: bool,
    /// The orders that are written down are in line.
    is_planned: bool,
    /// The time was up before any worker had answered.
    is_unanswered: bool,
}

/// Who carries out the tests of a campaign.
pub enum ExecutorKind {
    /// This process, with one system.
    Own,
    /// So many threads of this process, each with a system of its own.
    Threads(usize),
    /// Others, who know the campaign by this name.
    Executor(String, Box<dyn Executor>),
}

impl Campaign {
    /// Checks the plan and makes everything ready; nothing is started yet.
    pub fn open(
        plan: Plan,
        interrupt: Interrupt,
        observer: &mut dyn Observer,
    ) -> Result<Campaign, CampaignError> {
        let executors = match plan.jobs {
            0 => return Err(no_jobs()),
            1 => ExecutorKind::Own,
            jobs => ExecutorKind::Threads(jobs),
        };
        Campaign::open_with(plan, executors, interrupt, observer)
    }

    /// As [`Campaign::open`], with these executors instead of jobs.
    pub fn open_with(
        plan: Plan,
        executors: ExecutorKind,
        interrupt: Interrupt,
        observer: &mut dyn Observer,
    ) -> Result<Campaign, CampaignError> {
        Campaign::prepare(plan, executors, None, interrupt, observer)
    }

    fn prepare(
        mut plan: Plan,
        executors: ExecutorKind,
        before: Option<&Interrupted>,
        interrupt: Interrupt,
        observer: &mut dyn Observer,
    ) -> Result<Campaign, CampaignError> {
        if let ExecutorKind::Threads(jobs) = executors {
            plan.reach.check_jobs(jobs)?;
        }
        let shrink_time = plan.test.shrink_time()?;
        if let Some(shrinking) = &mut plan.shrinking {
            shrinking::pipeline(&shrinking.shrinker)?;
            shrinking.time = shrinking.time.or(shrink_time);
        }
        let timeout = plan.test.timeout.as_deref().map(time::parse).transpose()?;
        if let Some(nanoseconds) = timeout {
            if nanoseconds == 0 {
                return Err(
                    CampaignError::usage("a time-out of 0 makes every system silent")
                        .hint("give it at least 1ms"),
                );
            }
            plan.model.sts = Arc::new(plan.model.sts.with_timeout(nanoseconds));
        }
        let mut settings = plan.test.settings(&plan.model.sts, seed_from_clock)?;
        if let Some(shard) = plan.shard {
            // The seed that a store has is that of the share already.
            shard.apply(&mut settings, plan.test.seed.is_some() && before.is_none())?;
        }
        let meaning = SemanticsOptions {
            relation: plan.test.relation()?,
            solver: SolverChoice::named(plan.test.solver.as_deref()),
        };
        let results = Results::at(plan.project.results());
        let options = plan.options.clone();
        let origin = Origin::new(
            plan.options.clone(),
            &plan.model,
            &plan.project,
            &meaning,
            timeout,
            &plan.reach,
        );
        // Read before the first test: a damaged file must not spoil the end of a long run.
        coverage::read(&results.coverage(&plan.model.hash), &plan.model.sts)?;
        let mut known = if let Some(before) = before {
            before.kept.known(&plan.model, &results)?
        } else if plan.known {
            known(&results, &plan.model, &plan.project, &plan.reach, observer)
        } else {
            Vec::new()
        };
        if let (Some(shard), None) = (plan.shard, before) {
            known = shard.share(known);
        }
        if !plan.scripts.is_empty() {
            settings.stop.tests = Some(plan.scripts.len() as u64);
        }
        // Failures of earlier runs come on top of the tests that were asked for.
        settings.stop.tests = settings.stop.tests.map(|tests| tests + known.len() as u64);
        let texts = match before {
            Some(before) => (before.kept.suite.clone(), before.kept.query.clone()),
            None => {
                let suite = plan.test.suite.as_deref();
                let suite = suite
                    .map(|file| suite::text(file, &plan.model))
                    .transpose()?;
                let query = match (&plan.test.query, &executors) {
                    (None, _) | (_, ExecutorKind::Own) => None,
                    (Some(file), _) => Some(query::text(file, &plan.model.sts)?),
                };
                (suite, query)
            }
        };
        let suite = match (&plan.test.suite, &texts.0) {
            (Some(file), Some(text)) => {
                let suite = suite::parse(file, text, &plan.model, observer)?;
                Some(match plan.shard {
                    Some(shard) => suite.shard(shard)?,
                    None => suite,
                })
            }
            _ => None,
        };
        // A campaign that is resumed plans no test in this process.
        let guide = match before {
            Some(_) => None,
            None => guide(&plan.test, &plan.model, observer)?,
        };
        let link = match (&executors, before) {
            (_, Some(before)) => Link::elsewhere_from(before.clock()?.1),
            (ExecutorKind::Own, None) => plan.reach.connect(&plan.model.sts, &plan.project)?,
            (ExecutorKind::Threads(_) | ExecutorKind::Executor(..), None) => Link::elsewhere(),
        };
        let mut session = Session::over(
            &plan.model.sts,
            link,
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
        let (model, reach) = (&plan.model, &plan.reach);
        let mut new = history::new_run(model, &options, &meaning, reach, &settings, plan.shard);
        if let ExecutorKind::Executor(campaign, executor) = &executors {
            let (suite, query) = texts.clone();
            let executor = executor.settings();
            let kept = KeptPlan::new(&plan, settings.seed, &known, suite, query, executor);
            new.campaign = Some(NewCampaign {
                id: campaign.clone(),
                plan: kept.write(),
            });
        }
        let over_at = match before {
            Some(before) => before.over_at()?,
            None => session.over_if_begun_now(),
        };
        let until = Until::raised(Instant::now, &session.interrupt).by(over_at);
        let record = match before {
            Some(before) => Record::resume(&plan.project, &before.campaign.id, &until)?,
            None => {
                // What came out of a store was not typed by this person.
                trust::remember(&plan.project, &plan.reach, &origin.model);
                Record::begin(&mut plan.project, new, &until, observer)?
            }
        };
        // The store may have gone to another folder.
        let results = Results::at(plan.project.results());
        let recipe = Recipe::new(&settings, &meaning, timeout, texts.1);
        let is_kept = matches!(executors, ExecutorKind::Executor(..));
        let dispatch =
            parallel::dispatch(executors, &plan, recipe, &record, &session, &meaning.solver)?;
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
            until,
            known,
            suite,
            rows: Vec::new(),
            suite_rows: Vec::new(),
            is_resumable: is_kept,
            is_planned: false,
            is_unanswered: false,
            beginning: plan.beginning,
            scripts: plan.scripts,
            untold: Vec::new(),
            is_kept: true,
            found: Vec::new(),
            unconfirmed: HashSet::new(),
            passed: Vec::new(),
            confirmed: 0,
            flaky: 0,
            accepted: 0,
            dispatch,
        })
    }

    /// How the system is reached, for a person.
    pub fn system(&self) -> String {
        match &self.reach.way {
            // A coordinator that was resumed elsewhere knows the name alone.
            Transport::Command(words) if words.is_empty() => self.reach.name.to_string(),
            _ => self.reach.show(),
        }
    }

    /// The number of the run in the store.
    pub fn number(&self) -> i64 {
        self.record.run()
    }

    pub fn run(mut self, observer: &mut dyn Observer) -> Result<Outcome, CampaignError> {
        let mut ran = match self.dispatch {
            Some(_) => self.run_dispatched(observer),
            None => self.run_here(observer),
        };
        if ran.is_err() {
            let now = self.session.now();
            self.session.tester.handle(Input::Interrupted, now);
            self.session.tester.end_run(now);
        }
        if ran.is_err() && self.is_resumable {
            // Another coordinator goes on with it: in the store, this run has not come to its end.
            self.session.tester.take_events();
        } else {
            self.write_events();
            self.save_coverage(observer);
        }
        self.settle(observer);
        if self.is_resumable && ran.is_ok() {
            ran = self.record.commit();
        }
        if ran.is_ok()
            && let Some(dispatch) = &mut self.dispatch
        {
            dispatch.close();
        }
        match ran {
            // That nothing was tested must not look like a run without a deviation.
            Ok(()) if self.is_unanswered => Err(unanswered()),
            Ok(()) => Ok(self.outcome()),
            // Another coordinator goes on with it, and reports what was found.
            Err(error) if self.found.is_empty() || self.is_resumable => Err(error),
            // What was found stays found, whatever became of the workers.
            Err(error) => {
                observer.warning(&error.message);
                Ok(self.outcome())
            }
        }
    }

    /// Test after test, on a system of this process.
    fn run_here(&mut self, observer: &mut dyn Observer) -> Result<(), CampaignError> {
        for known in std::mem::take(&mut self.known) {
            self.run_known(known, observer)?;
        }
        for script in std::mem::take(&mut self.scripts) {
            if self.session.interrupt.is_raised() || self.session.tester.summary().errors > 0 {
                break;
            }
            self.test(NextTest::Script(script), observer)?;
        }
        match self.suite.take() {
            Some(suite) => self.run_suite(suite.tests, observer)?,
            None => while self.test(self.next_test(), observer)? {},
        }
        Ok(())
    }

    fn next_test(&self) -> NextTest {
        NextTest::Strategy {
            beginning: self.beginning.clone(),
        }
    }

    /// Runs one test, and does what its report demands; whether there was one to run.
    fn test(&mut self, next: NextTest, observer: &mut dyn Observer) -> Result<bool, CampaignError> {
        let Some(report) = self.session.carry_out(next, observer) else {
            return Ok(false);
        };
        self.finished(report, false, observer)?;
        Ok(true)
    }

    fn run_suite(
        &mut self,
        tests: Vec<ReadTest>,
        observer: &mut dyn Observer,
    ) -> Result<(), CampaignError> {
        for test in tests {
            let name = test.name.clone();
            let Some(report) = self.session.carry_out(NextTest::Suite(test), observer) else {
                return Ok(());
            };
            self.rows.push(SuiteRow::new(name, &report));
            self.finished(report, false, observer)?;
        }
        let now = self.session.now();
        self.session.tester.end_run(now);
        Ok(())
    }

    /// Everything that must be handed over before the next test begins.
    fn finished(
        &mut self,
        report: TestReport,
        known: bool,
        observer: &mut dyn Observer,
    ) -> Result<(), CampaignError> {
        self.write_events();
        match report.is_new_failure {
            true if known => self.session.tester.discount_failure(),
            true => self.failed(&report, observer)?,
            // A flaky failure must not hide a certain one that looks like it.
            false if !known && self.is_unconfirmed(&report) => self.failed(&report, observer)?,
            false => {}
        }
        if let Verdict::Error(_) | Verdict::Inconclusive(_) = &report.execution.verdict
            && !self.session.interrupt.is_raised()
        {
            self.settle(observer);
            self.emit_unusual(&report, observer);
        }
        self.untold.push(report);
        if self.record.is_due() {
            self.settle(observer);
        }
        Ok(())
    }

    fn write_events(&mut self) {
        let mut events = self.session.tester.take_events();
        for event in &mut events {
            if let Event::RunFinished { summary } = event {
                summary.silence = self.session.summary().silence;
            }
        }
        self.record.events(events);
    }

    /// Waits until everything so far is in the store, and tells of it.
    fn settle(&mut self, observer: &mut dyn Observer) {
        self.record.settle(observer);
        for report in std::mem::take(&mut self.untold) {
            observer.finished(&report, &mut self.session.tester);
        }
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
        let hint = self.session.error.as_ref().and_then(|t| t.hint.clone());
        observer.unusual(explanation.as_ref(), hint.as_deref());
    }

    /// Adds what this run covered to what other runs of the same model covered.
    fn save_coverage(&mut self, observer: &mut dyn Observer) {
        let covered = self.session.tester.coverage().clone();
        self.record.coverage(covered.snapshot(&self.model.sts));
        let added = coverage::add(
            &self.results,
            &self.model.hash,
            &self.model.sts,
            &covered,
            &self.until,
        );
        if let Err(refused) = added {
            self.unkept(&refused, observer);
        }
    }

    fn outcome(self) -> Outcome {
        let summary = self.session.summary();
        let reached = percent(summary.covered_switches, summary.switches);
        let missed = self.goal.filter(|goal| reached + 1e-9 < *goal);
        let covered = self.session.tester.coverage();
        let shown = covered.requirements_percent(&self.model.sts);
        let wanted = self.session.tester.settings().stop.requirements;
        let unshown = wanted.filter(|goal| shown + 1e-9 < *goal);
        Outcome {
            summary,
            requirements: covered.requirements(&self.model.sts),
            found: self.found,
            suite: self.rows,
            confirmed: self.confirmed,
            flaky: self.flaky,
            accepted: self.accepted,
            interrupted: self.session.interrupt.is_raised(),
            missed_goal: missed.map(|goal| (goal, reached)),
            missed_requirements: unshown.map(|goal| (goal, shown)),
            run: self.record.run(),
            is_kept: self.is_kept && self.record.is_kept(),
        }
    }
}

fn unanswered() -> CampaignError {
    CampaignError::system("the campaign reached its time limit before any worker answered")
        .hint("`ioco campaign status` lists workers; `ioco worker` starts one")
}

fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        100.0
    } else {
        part as f64 * 100.0 / whole as f64
    }
}

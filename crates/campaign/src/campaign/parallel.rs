//! A campaign whose tests others carry out: threads of this process, or workers elsewhere. The campaign decides
//! which order comes next, counts what comes back, and is the only one that writes to the store.

use ioco_shrink::{Confidence, Confirmation, Shrunk};
use ioco_sts::{Action, Execution};

use super::{Campaign, ExecutorKind, known};
use crate::error::CampaignError;
use crate::observer::Observer;
use crate::plan::Plan;
use crate::record::Record;
use crate::session::{ReplayedRun, Session};
use crate::shrinking::ShrinkSettings;
use crate::solver::SolverChoice;
use crate::suite::SuiteRow;
use crate::work::dispatch::{Dispatch, Finished, OrderBook, Planned, Purpose};
use crate::work::{Executor, Recipe, Threads, WorkerSetup, saved};

/// What a campaign's orders are counted and kept with.
macro_rules! book {
    ($campaign:expr) => {
        OrderBook {
            session: &mut $campaign.session,
            record: $campaign.is_resumable.then_some(&mut $campaign.record),
        }
    };
}

/// Makes ready who carries out the tests; `None` where this process does.
pub(super) fn dispatch(
    executors: ExecutorKind,
    plan: &Plan,
    recipe: Recipe,
    record: &Record,
    session: &Session,
    solver: &SolverChoice,
) -> Result<Option<Dispatch>, CampaignError> {
    let (campaign, executor) = match executors {
        ExecutorKind::Own => return Ok(None),
        ExecutorKind::Executor(campaign, mut executor) => {
            executor.lead(record.coordinator())?;
            (campaign, executor)
        }
        ExecutorKind::Threads(jobs) => {
            let setup = WorkerSetup {
                name: String::new(),
                model: plan.model.clone(),
                project: plan.project.clone(),
                reach: plan.reach.clone(),
                solver: solver.clone(),
                interrupt: session.interrupt.clone(),
            };
            let threads: Box<dyn Executor> = Box::new(Threads::start(jobs, &setup));
            (record.run().to_string(), threads)
        }
    };
    let (model, system) = (plan.model.hash.clone(), plan.reach.name.clone());
    let dispatch = Dispatch::new(executor, campaign, model, system, recipe);
    Ok(Some(dispatch))
}

impl Campaign {
    /// Puts the tests that are written down in line.
    pub(super) fn plan_orders(&mut self) {
        if std::mem::replace(&mut self.is_planned, true) {
            return;
        }
        let known = self.known.iter().enumerate();
        let mut planned: Vec<Planned> = known
            .map(|(index, (_, file, stimuli))| {
                Planned::Known(index, known::script(file, stimuli.clone()))
            })
            .collect();
        let scripts = std::mem::take(&mut self.scripts);
        planned.extend(scripts.into_iter().map(Planned::Script));
        let suite = self.suite.take();
        let by_strategy = suite.is_none();
        if let Some(suite) = suite {
            let tests = suite.tests.into_iter().zip(suite.alone).enumerate();
            planned.extend(tests.map(|(index, (test, alone))| Planned::Suite {
                index,
                name: test.name,
                suite: alone,
            }));
        }
        let beginning = saved(&self.beginning, &self.model.sts);
        if let Some(dispatch) = &mut self.dispatch {
            dispatch.plan(planned, by_strategy, beginning);
        }
    }

    /// Hands out orders until the run is over, and does what their outcomes demand.
    pub(super) fn run_dispatched(
        &mut self,
        observer: &mut dyn Observer,
    ) -> Result<(), CampaignError> {
        self.plan_orders();
        while let Some(finished) = self.next_finished(observer)? {
            self.handle(finished, observer)?;
        }
        let is_stopped = self.session.interrupt.is_raised();
        let is_timed = self.session.tester.settings().stop.time.is_some();
        self.is_unanswered = self.is_resumable
            && !is_stopped
            && is_timed
            && self.session.tester.summary().tests == 0;
        if let Some(dispatch) = &mut self.dispatch {
            dispatch.withdraw(&mut book!(self))?;
        }
        let mut rows = std::mem::take(&mut self.suite_rows);
        rows.sort_by_key(|(index, _)| *index);
        self.rows.extend(rows.into_iter().map(|(_, row)| row));
        let now = self.session.now();
        self.session.tester.end_run(now);
        Ok(())
    }

    fn next_finished(
        &mut self,
        observer: &mut dyn Observer,
    ) -> Result<Option<Finished>, CampaignError> {
        let Some(dispatch) = &mut self.dispatch else {
            return Ok(None);
        };
        let finished = dispatch.next(&mut book!(self), observer)?;
        for notice in dispatch.take_notices() {
            observer.notice(&notice);
        }
        for warning in dispatch.take_warnings() {
            observer.warning(&warning);
        }
        Ok(finished)
    }

    fn handle(
        &mut self,
        finished: Finished,
        observer: &mut dyn Observer,
    ) -> Result<(), CampaignError> {
        let Finished {
            report,
            purpose,
            outcome,
        } = finished;
        self.session.carried(&report.execution, &outcome);
        observer.handled(&mut self.session.tester);
        match purpose {
            Purpose::Known(index) => {
                let known = self.known[index].clone();
                return self.finished_known(known, report, observer);
            }
            Purpose::Suite(index, name) => {
                self.suite_rows.push((index, SuiteRow::new(name, &report)));
            }
            Purpose::Test | Purpose::Replay => {}
        }
        self.finished(report, false, observer)
    }

    /// Whether a failure can be seen again.
    pub(super) fn confirm(
        &mut self,
        failure: &Execution,
        settings: &ShrinkSettings,
    ) -> Result<Confirmation, CampaignError> {
        match &mut self.dispatch {
            None => Ok(self.session.confirm(failure, settings)),
            Some(dispatch) => dispatch.confirm(failure, settings, &mut book!(self)),
        }
    }

    pub(super) fn shrink(
        &mut self,
        failure: &Execution,
        settings: &ShrinkSettings,
        seen: Confidence,
        observer: &mut dyn Observer,
    ) -> Result<Shrunk, CampaignError> {
        let mut shrunk = match &mut self.dispatch {
            None => self.session.shrink(failure, settings, seen, observer)?,
            Some(dispatch) => {
                let shrinking = self.session.shrinking(settings, seen)?;
                let mut runner = dispatch.runner(book!(self));
                let shrunk = shrinking.run(failure, &mut runner, observer);
                runner.broken.map_or(shrunk, Err)?
            }
        };
        if settings.time.is_some() && shrunk.confidence.runs == 0 {
            // The time was over before what is left could be confirmed; the run is not.
            let confirmation = self.confirm(&shrunk.execution, settings)?;
            shrunk.confidence = confirmation.confidence;
        }
        Ok(shrunk)
    }

    pub(super) fn show(&mut self, stimuli: &[Action]) -> Result<ReplayedRun, CampaignError> {
        match &mut self.dispatch {
            None => Ok(self.session.show(stimuli)),
            Some(dispatch) => dispatch.show(stimuli, &mut book!(self)),
        }
    }
}

//! Campaigns on many machines outlive their coordinator: what a coordinator is asked for, orders and learns is in the
//! store, and another one goes on from there alone.
//!
//! The store is the only truth. An order is handed out after the store has it; an outcome is acknowledged after the
//! store has it together with everything that it adds to the run; the key of the table allows one outcome for every
//! order; and only the last coordinator may write.

use std::time::{Duration, Instant};

use ioco_engine::FailureFile;
use ioco_store::{CampaignRow, RunRow, Store};
use ioco_sts::Verdict;
use serde::{Deserialize, Serialize};

use super::opening::Known;
use super::{Campaign, ExecutorKind};
use crate::connect::{ConnectionSpec, SystemChoice, Transport};
use crate::error::CampaignError;
use crate::history;
use crate::model::Model;
use crate::observer::{NoObserver, Observer};
use crate::plan::Plan;
use crate::project::{Project, TestSettings};
use crate::results::Results;
use crate::shrinking::ShrinkSettings;
use crate::solver::SolverChoice;
use crate::suite::SuiteRow;
use crate::system::SystemName;
use crate::time;
use crate::work::dispatch::{Finished, OrderBook, Purpose};
use ioco_budget::Interrupt;

/// The version of [`KeptPlan`].
const PLAN_VERSION: u32 = 1;

/// What a campaign was asked for, as the store keeps it. It names systems and solvers, and says of none how it is
/// started.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct KeptPlan {
    version: u32,
    pub test: TestSettings,
    pub shrinking: Option<ShrinkSettings>,
    /// The text of the suite and of the scenario.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suite: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// The files of the failures that are tried first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    known: Vec<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    restart: bool,
    /// The share of the tests, as it was typed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shard: Option<String>,
    /// How orders get to workers: only the executor knows what it means.
    #[serde(default)]
    executor: String,
}

impl KeptPlan {
    pub fn new(
        plan: &Plan,
        seed: u64,
        known: &[Known],
        suite: Option<String>,
        query: Option<String>,
        executor: String,
    ) -> KeptPlan {
        KeptPlan {
            version: PLAN_VERSION,
            test: TestSettings {
                seed: Some(seed),
                solver: SolverChoice::named(plan.test.solver.as_deref())
                    .name()
                    .map(str::to_owned),
                ..plan.test.clone()
            },
            shrinking: plan.shrinking.clone(),
            suite,
            query,
            known: known.iter().map(|(_, file, _)| file.write()).collect(),
            restart: plan.reach.restart,
            shard: plan.shard.map(|shard| shard.to_string()),
            executor,
        }
    }

    /// As it is written to the store.
    pub fn write(&self) -> String {
        // Plain data: always JSON.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Whether the system is started anew for every test.
    pub fn restart(&self) -> bool {
        self.restart
    }

    pub fn read(text: &str) -> Result<KeptPlan, CampaignError> {
        let read = serde_json::from_str::<KeptPlan>(text).ok();
        read.filter(|plan| plan.version == PLAN_VERSION)
            .ok_or_else(|| {
                CampaignError::usage("the campaign was begun by another version of ioco")
                    .hint("resume it with the version that began it")
            })
    }

    /// The failures that are tried first.
    pub fn known(&self, model: &Model, results: &Results) -> Result<Vec<Known>, CampaignError> {
        let known = self.known.iter().map(|text| {
            let unreadable = |why: String| {
                CampaignError::usage(format!("a failure that the campaign begins with: {why}"))
            };
            let file = FailureFile::read(text).map_err(|error| unreadable(error.to_string()))?;
            let stimuli = file.stimuli(&model.sts);
            let stimuli = stimuli.map_err(|error| unreadable(error.to_string()))?;
            Ok((results.failures().join(file.id.file_name()), file, stimuli))
        });
        known.collect()
    }
}

/// A campaign that the store has and that did not come to its end.
pub struct Interrupted {
    pub campaign: CampaignRow,
    pub model: Model,
    pub system: SystemName,
    pub(super) kept: KeptPlan,
    project: Project,
    run: RunRow,
    store: Store,
}

impl Interrupted {
    /// Looks a campaign up in the store of a project.
    pub fn find(project: Project, id: &str) -> Result<Interrupted, CampaignError> {
        let unknown = || {
            CampaignError::usage(format!("the store has no campaign {id}"))
                .hint("`ioco campaign show` lists those that it has; the campaign may be in another store")
        };
        let store = history::open(&project)?.ok_or_else(unknown)?;
        let campaign = store.campaign(id).map_err(history::stop)?;
        let campaign = campaign.ok_or_else(unknown)?;
        if campaign.finished {
            return Err(CampaignError::usage(format!("campaign {id} is over"))
                .hint(format!("`ioco runs {}` shows its results", campaign.run)));
        }
        let run = store.run(campaign.run).map_err(history::stop)?;
        let run = run.ok_or_else(unknown)?;
        let model = history::model(&store, &run)?;
        let system = SystemName::try_from(run.connection.clone())
            .map_err(|error| CampaignError::usage(error.to_string()))?;
        Ok(Interrupted {
            kept: KeptPlan::read(&campaign.plan)?,
            campaign,
            model,
            system,
            project,
            run,
            store,
        })
    }

    /// How its executor was set up.
    pub fn executor(&self) -> &str {
        &self.kept.executor
    }

    /// What the run's clock showed at its beginning, and when its last test ended.
    pub(super) fn clock(&self) -> Result<(u64, u64), CampaignError> {
        self.store.clock(self.run.id).map_err(history::stop)
    }

    /// Nanoseconds that are left of the time of the run; `None` without a limit.
    fn time_left(&self) -> Result<Option<u64>, CampaignError> {
        let Some(time) = &self.kept.test.time else {
            return Ok(None);
        };
        let (began, last) = self.clock()?;
        let left = time::parse(time)?.saturating_sub(last.saturating_sub(began));
        // Nothing would be no limit.
        Ok(Some(left.max(1)))
    }

    /// When a run that goes on now is over.
    pub fn over_at(&self) -> Result<Option<Instant>, CampaignError> {
        let left = self.time_left()?.map(Duration::from_nanos);
        Ok(left.and_then(|left| Instant::now().checked_add(left)))
    }

    fn plan(&self) -> Result<Plan, CampaignError> {
        // The coordinator reaches no system; where this project knows the system, messages say more.
        let choice = SystemChoice {
            profile: match &self.system {
                SystemName::Profile(name) => Some(name.clone()),
                _ => None,
            },
            ..SystemChoice::default()
        };
        // A row of a store names a solver; only this person's configuration says how to start one of no name.
        let configured = self.project.test.solver.as_deref();
        let solver = SolverChoice::again(None, self.kept.test.solver.as_deref(), configured);
        let solver = solver.ok_or_else(|| {
            CampaignError::usage("the campaign uses a solver that only a command can start")
                .hint("write [test] solver = \"COMMAND\" into ioco.toml")
        })?;
        let shard = self.kept.shard.as_deref().map(str::parse).transpose();
        let shard = shard.map_err(|why: String| CampaignError::usage(why))?;
        let here = ConnectionSpec::typed(&choice, &self.project).ok().flatten();
        let reach = here.filter(|reach| reach.name == self.system);
        Ok(Plan {
            model: self.model.clone(),
            options: history::options(&self.run)?,
            reach: reach.unwrap_or_else(|| ConnectionSpec {
                name: self.system.clone(),
                way: Transport::Command(Vec::new()),
                restart: self.kept.restart,
                patience: 0,
            }),
            test: TestSettings {
                solver: match solver {
                    SolverChoice::Embedded => None,
                    SolverChoice::Program(program) => Some(program),
                },
                ..self.kept.test.clone()
            },
            shrinking: self.kept.shrinking.clone(),
            known: false,
            beginning: Vec::new(),
            jobs: 1,
            shard,
            scripts: Vec::new(),
            project: self.project.clone(),
        })
    }
}

impl Campaign {
    /// Goes on with a campaign whose coordinator is gone. If it is not, it cannot write to the store any more.
    pub fn resume(
        interrupted: Interrupted,
        executors: ExecutorKind,
        interrupt: Interrupt,
        observer: &mut dyn Observer,
    ) -> Result<Campaign, CampaignError> {
        let plan = interrupted.plan()?;
        let mut campaign =
            Campaign::prepare(plan, executors, Some(&interrupted), interrupt, observer)?;
        campaign.restore(&interrupted)?;
        Ok(campaign)
    }

    /// Takes over everything that the store has of the campaign.
    fn restore(&mut self, interrupted: &Interrupted) -> Result<(), CampaignError> {
        let Interrupted { store, run, .. } = interrupted;
        let id = &interrupted.campaign.id;
        self.plan_orders();
        let Some(mut dispatch) = self.dispatch.take() else {
            return Ok(());
        };
        let (began, _) = interrupted.clock()?;
        // The time of the run goes on from where it was.
        self.session.tester.is_over(began);
        self.session.set_time(interrupted.time_left()?);
        self.session.tester.take_events();
        let mut finished: Vec<Finished> = Vec::new();
        let mut refused = Ok(());
        let session = &mut self.session;
        let read = store.outcomes(id, &mut |row| {
            if refused.is_err() {
                return;
            }
            let steps = |test| {
                let steps = store.steps(run.id, test).map_err(history::stop)?;
                Ok(steps.into_iter().map(|(_, step)| step).collect())
            };
            match dispatch.restore(row, steps, session) {
                Ok(restored) => finished.extend(restored.filter(is_looked_at)),
                Err(error) => refused = Err(error),
            }
        });
        read.map_err(history::stop)?;
        refused?;
        for order in store.open_orders(id).map_err(history::stop)? {
            let mut book = OrderBook {
                session: &mut self.session,
                record: Some(&mut self.record),
            };
            dispatch.restore_open(order, &mut book)?;
        }
        self.dispatch = Some(dispatch);
        let sightings = history::failures(store, run.id)?;
        for finished in finished {
            self.restore_finished(finished, &sightings)?;
        }
        Ok(())
    }

    /// What a test that came back before says of failures and of the suite.
    fn restore_finished(
        &mut self,
        finished: Finished,
        sightings: &[(FailureFile, u64, bool)],
    ) -> Result<(), CampaignError> {
        let report = &finished.report;
        match &finished.purpose {
            Purpose::Known(index) => {
                let known = self.known.get(*index).cloned().ok_or_else(|| {
                    CampaignError::usage("the store does not have all that the campaign began with")
                })?;
                self.session.carried(&report.execution, &finished.outcome);
                return self.finished_known(known, finished.report, &mut NoObserver);
            }
            Purpose::Suite(index, name) => {
                self.suite_rows
                    .push((*index, SuiteRow::new(name.clone(), report)));
            }
            Purpose::Test | Purpose::Replay => {}
        }
        let seen = sightings.iter().find(|(_, test, _)| *test == report.number);
        if !report.is_new_failure && seen.is_none() {
            return Ok(());
        }
        let Some((file, _, flaky)) = seen else {
            // The coordinator was gone before it had confirmed the failure.
            if let Some(dispatch) = &mut self.dispatch {
                dispatch.look_again(Finished {
                    purpose: Purpose::Test,
                    ..finished
                });
            }
            return Ok(());
        };
        let path = self.results.failures().join(file.id.file_name());
        if !path.exists() {
            self.keep(&path, file, &mut NoObserver);
        }
        let mut found = self.describe(file, path, &report.execution, None, None);
        found.flaky = *flaky;
        self.count_new(&found, &report.execution, file, report);
        self.found.push(found);
        Ok(())
    }
}

/// Whether a test says more than its numbers.
fn is_looked_at(finished: &Finished) -> bool {
    let is_plain = matches!(finished.report.execution.verdict, Verdict::Pass);
    !is_plain || !matches!(finished.purpose, Purpose::Test)
}

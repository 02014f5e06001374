//! One order of a campaign carried out once more, as the store has it: the same model, the same seed, the same coverage
//! to start from. Only the system may differ.

use std::sync::Arc;

use ioco_budget::Interrupt;
use ioco_engine::{SavedDeviation, SavedStep};
use ioco_store::{OutcomeRow, RunRow, Store};
use ioco_sts::Sts;
use serde::Serialize;

use super::resuming::KeptPlan;
use crate::error::CampaignError;
use crate::history;
use crate::model::Model;
use crate::observer::Observer;
use crate::project::Project;
use crate::solver::SolverChoice;
use crate::system::{KeptSystem, SystemName};
use crate::trust;
use crate::work::{Order, Outcome, SavedEnd, Task, WORK_VERSION, Worker, WorkerSetup};

/// An order of the store with its outcome.
pub struct KeptOrder {
    pub order: Order,
    /// What became of it.
    pub outcome: Outcome,
    pub model: Model,
    restart: bool,
    solver: Option<String>,
}

/// What an order came to, twice.
pub struct Repeated {
    pub before: Outcome,
    pub now: Outcome,
    pub difference: Option<Difference>,
}

/// Where two outcomes of one order differ first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The number of the step, from 1; one more than there are steps where only the end differs.
    pub step: usize,
    /// What there was, as text for a person.
    pub before: String,
    pub now: String,
}

impl KeptOrder {
    /// Looks an order up in the store of a project.
    pub fn find(project: &Project, id: &str, number: u64) -> Result<KeptOrder, CampaignError> {
        let unknown = || {
            CampaignError::usage(format!("the store has no campaign {id}"))
                .hint("`ioco campaign show` lists those that it has; the campaign may be in another store")
        };
        let store = history::open(project)?.ok_or_else(unknown)?;
        let campaign = store.campaign(id).map_err(history::stop)?;
        let campaign = campaign.ok_or_else(unknown)?;
        let row = store.order(id, number).map_err(history::stop)?;
        let row = row.ok_or_else(|| {
            CampaignError::usage(format!("campaign {id} has no order {number}"))
                .hint("`ioco campaign show` says how many it has")
        })?;
        let order = read(&row.body, number)?;
        let run = store.run(campaign.run).map_err(history::stop)?;
        let run = run.ok_or_else(unknown)?;
        let model = history::model(&store, &run)?;
        if model.hash != order.model {
            return Err(CampaignError::usage(format!(
                "order {number} is about model {}, and the store kept {} for run {}",
                order.model, model.hash, run.id
            )));
        }
        let outcome = outcome(&store, &run, &order)?;
        let kept = KeptPlan::read(&campaign.plan)?;
        Ok(KeptOrder {
            order,
            outcome,
            model,
            restart: kept.restart(),
            solver: kept.test.solver,
        })
    }

    /// The profile of ioco.toml that says how to reach the system.
    pub fn profile(&self) -> Option<&str> {
        match &self.order.system {
            SystemName::Profile(name) => Some(name),
            _ => None,
        }
    }

    /// Carries the order out on the system as `project` reaches it. `None` where a person interrupted it.
    pub fn repeat(
        self,
        project: Project,
        interrupt: Interrupt,
        observer: &mut dyn Observer,
    ) -> Result<Option<Repeated>, CampaignError> {
        let system = KeptSystem {
            system: Some(self.order.system.clone()),
            restart: self.restart,
            old: None,
        };
        let here = project.root.clone();
        let reach = trust::resolve(&system, &project, &here, observer)?;
        // A row of a store names a solver; only this person's configuration says how to start one of no name.
        let configured = project.test.solver.as_deref();
        let solver = SolverChoice::again(None, self.solver.as_deref(), configured);
        let solver = solver.ok_or_else(|| {
            CampaignError::usage("the campaign uses a solver that only a command can start")
                .hint("write [test] solver = \"COMMAND\" into ioco.toml")
        })?;
        let sts = Arc::clone(&self.model.sts);
        let mut worker = Worker::new(WorkerSetup {
            name: "repeat".to_owned(),
            model: self.model,
            project,
            reach,
            solver,
            interrupt: interrupt.clone(),
        });
        let now = worker.repeat(&self.order, &self.outcome)?;
        if interrupt.is_raised() {
            return Ok(None);
        }
        for notice in &now.notices {
            observer.notice(notice);
        }
        for warning in &now.warnings {
            observer.warning(warning);
        }
        Ok(Some(Repeated {
            difference: difference(&self.order.task, &self.outcome, &now, &sts),
            before: self.outcome,
            now,
        }))
    }
}

/// An order of another version is refused by its version, also where the rest of it cannot be read.
fn read(body: &str, number: u64) -> Result<Order, CampaignError> {
    let version = serde_json::from_str::<serde_json::Value>(body)
        .ok()
        .and_then(|value| value["version"].as_u64());
    let read = serde_json::from_str::<Order>(body).ok();
    read.filter(|order| order.version == WORK_VERSION)
        .ok_or_else(|| {
            CampaignError::usage(match version {
                Some(version) => format!(
                    "order {number} has version {version}, and this ioco takes version {WORK_VERSION}"
                ),
                None => format!("the store's record of order {number} is unreadable"),
            })
            .hint("repeat it with the version of ioco that ran the campaign")
        })
}

/// What became of an order, with the steps that the store keeps beside it.
fn outcome(store: &Store, run: &RunRow, order: &Order) -> Result<Outcome, CampaignError> {
    let number = order.number;
    let row = store.outcome(&order.campaign, number);
    let nothing = |why: &str| CampaignError::usage(format!("order {number} {why}"));
    let OutcomeRow { body, .. } = row
        .map_err(history::stop)?
        .ok_or_else(|| nothing("has no outcome yet"))?;
    let body = body.ok_or_else(|| nothing("was withdrawn: it has no outcome"))?;
    let mut outcome: Outcome = serde_json::from_str(&body)
        .map_err(|error| nothing(&format!("has an outcome that is unreadable: {error}")))?;
    let test = order.task.test();
    if outcome.steps.is_empty() && test > 0 {
        let steps = store.steps(run.id, test).map_err(history::stop)?;
        outcome.steps = steps.into_iter().map(|(_, step)| step).collect();
    }
    Ok(outcome)
}

/// Where two outcomes differ first. How long everything took does not count, and neither do the words in which the
/// system or the machine said why a test ended.
fn difference(task: &Task, before: &Outcome, now: &Outcome, sts: &Sts) -> Option<Difference> {
    // Earlier versions kept of a replay only how it ended.
    let is_end_alone = matches!(task, Task::Replay { .. }) && before.steps.is_empty();
    let longer = before.steps.len().max(now.steps.len());
    let differs = |step: &usize| before.steps.get(*step) != now.steps.get(*step);
    if let Some(step) = (0..longer)
        .filter(|_| !is_end_alone)
        .find(|step| differs(step))
    {
        let shown = |outcome: &Outcome| match outcome.steps.get(step) {
            Some(step) => shown_step(step, sts),
            None => shown_end(&outcome.end),
        };
        return Some(Difference {
            step: step + 1,
            before: shown(before),
            now: shown(now),
        });
    }
    (!is_same_end(&before.end, &now.end)).then(|| Difference {
        step: now.steps.len() + 1,
        before: shown_end(&before.end),
        now: shown_end(&now.end),
    })
}

fn is_same_end(one: &SavedEnd, other: &SavedEnd) -> bool {
    let is_same = |one: &SavedDeviation, other: &SavedDeviation| {
        (&one.code, &one.label, &one.values, &one.locations)
            == (&other.code, &other.label, &other.values, &other.locations)
    };
    match (one, other) {
        (SavedEnd::Pass, SavedEnd::Pass) => true,
        (SavedEnd::Fail(one), SavedEnd::Fail(other)) => is_same(one, other),
        (SavedEnd::Ended(one), SavedEnd::Ended(other)) => is_same(one, other),
        (SavedEnd::Inconclusive { code, .. }, SavedEnd::Inconclusive { code: other, .. })
        | (SavedEnd::Error { code, .. }, SavedEnd::Error { code: other, .. }) => code == other,
        _ => false,
    }
}

fn shown_step(step: &SavedStep, sts: &Sts) -> String {
    match step.restore(sts) {
        Ok(step) => step.show(sts).to_string(),
        // Plain data: always JSON.
        Err(_) => serde_json::to_string(step).unwrap_or_default(),
    }
}

/// How a test ended, for a person.
pub fn shown_end(end: &SavedEnd) -> String {
    match end {
        SavedEnd::Pass => "pass".to_owned(),
        SavedEnd::Fail(deviation) => format!("fail: {}", deviation.observed),
        SavedEnd::Ended(deviation) => format!("the system ended: {}", deviation.observed),
        SavedEnd::Inconclusive { reason, .. } => format!("inconclusive: {reason}"),
        SavedEnd::Error { reason, .. } => format!("error: {reason}"),
    }
}

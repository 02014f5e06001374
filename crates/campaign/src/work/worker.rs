//! Carries out orders, one at a time, on a system of its own. What an order asks for depends on nothing that this
//! worker did before; what the worker may reach, its own configuration says.

use std::sync::Arc;

use ioco_aml::query;
use ioco_budget::Interrupt;
use ioco_engine::{
    Bits, Conditions, Coverage, EventLevel, Guide, Settings, StopConditions, TestContext,
    TestReport, Tester, WireLine,
};
use ioco_generate::answer;
use ioco_generate::guide::{Locations, Scenario};
use ioco_generate::plan::Pattern;
use ioco_generate::suite;
use ioco_sts::{Cause, Execution, Relation, Sts, Verdict};

use super::{Order, Outcome, Pace, Recipe, SavedEnd, SystemError, Task, WORK_VERSION, restored};
use crate::connect::ConnectionSpec;
use crate::error::CampaignError;
use crate::model::Model;
use crate::observer::Observer;
use crate::order::{NextTest, Script};
use crate::project::Project;
use crate::session::Session;
use crate::solver::{SemanticsOptions, SolverChoice};

/// What a worker has of its own: the model as it reads it, and the system that it reaches.
#[derive(Clone)]
pub struct WorkerSetup {
    /// For a person.
    pub name: String,
    pub model: Model,
    pub project: Project,
    pub reach: ConnectionSpec,
    /// The solver that helps where an order asks for one.
    pub solver: SolverChoice,
    pub interrupt: Interrupt,
}

pub struct Worker {
    setup: WorkerSetup,
    /// The session of the last order, and the recipe that it was made for.
    session: Option<(Recipe, Session)>,
    pace: Arc<Pace>,
}

/// Keeps what a test has to say besides its outcome.
struct Said {
    pace: Arc<Pace>,
    notices: Vec<String>,
    warnings: Vec<String>,
}

impl Observer for Said {
    fn handled(&mut self, tester: &mut Tester) {
        self.pace.step(tester.trace().len());
    }

    fn notice(&mut self, message: &str) {
        self.notices.push(message.to_owned());
    }

    fn warning(&mut self, message: &str) {
        self.warnings.push(message.to_owned());
    }
}

impl Worker {
    pub fn new(setup: WorkerSetup) -> Worker {
        Worker {
            setup,
            session: None,
            pace: Arc::default(),
        }
    }

    pub fn name(&self) -> &str {
        &self.setup.name
    }

    /// How far the order under way is.
    pub fn pace(&self) -> Arc<Pace> {
        Arc::clone(&self.pace)
    }

    /// Why this worker does not take an order.
    pub fn refusal(&self, order: &Order) -> Option<String> {
        if order.version != WORK_VERSION {
            return Some(format!(
                "orders of version {} are for another version of ioco; this one takes version {WORK_VERSION}",
                order.version
            ));
        }
        if order.model != self.setup.model.hash {
            return Some(format!(
                "the campaign tests model {}, and {} is {}; use the same model file",
                order.model,
                self.setup.model.path.display(),
                self.setup.model.hash
            ));
        }
        if order.system != self.setup.reach.name {
            return Some(format!(
                "the campaign tests the system {}, and this worker reaches {}",
                order.system, self.setup.reach.name
            ));
        }
        None
    }

    /// Carries out an order. An error says that the order cannot be carried out here, by any means: what goes
    /// wrong with the system is in the outcome.
    pub fn run(&mut self, order: &Order) -> Result<Outcome, CampaignError> {
        self.pace.begin(order.task.test());
        let outcome = self.carry_out(order, None);
        self.pace.end();
        outcome
    }

    /// Carries out an order that was carried out before: what times decided then is decided in the same way.
    pub fn repeat(&mut self, order: &Order, before: &Outcome) -> Result<Outcome, CampaignError> {
        let conditions = Conditions::of(&before.steps);
        self.carry_out(order, Some(conditions))
    }

    fn carry_out(
        &mut self,
        order: &Order,
        repeats: Option<Conditions>,
    ) -> Result<Outcome, CampaignError> {
        if let Some(why) = self.refusal(order) {
            return Err(CampaignError::usage(why));
        }
        self.open(&order.recipe)?;
        let Some((_, session)) = &mut self.session else {
            return Err(CampaignError::usage("the worker has no session"));
        };
        let mut said = Said {
            pace: Arc::clone(&self.pace),
            notices: Vec::new(),
            warnings: Vec::new(),
        };
        let guide = guide(&order.recipe, &session.sts)?;
        let sts = Arc::clone(&session.sts);
        let (nothing, nobody) = (Coverage::new(&sts).map(0), Bits::default());
        let context = |number: u64, steps: u64| TestContext {
            number,
            known: &nothing,
            aim: &nobody,
            reserved: &nobody,
            lessons: &[],
            steps,
            time: order.time.map(|time| time.max(1)),
        };
        let next = match &order.task {
            Task::Strategy {
                test,
                steps,
                beginning,
                known,
                aim,
                reserved,
                lessons,
            } => {
                session.prepare(&TestContext {
                    known,
                    aim,
                    reserved,
                    lessons,
                    ..context(*test, *steps)
                })?;
                NextTest::Strategy {
                    beginning: restored(beginning, &sts)?,
                }
            }
            Task::Script {
                test,
                name,
                stimuli,
            } => {
                session.prepare(&context(*test, u64::MAX))?;
                NextTest::Script(Script {
                    name: name.clone(),
                    stimuli: restored(stimuli, &sts)?,
                })
            }
            Task::Suite { test, steps, suite } => {
                session.prepare(&context(*test, *steps))?;
                let read = suite::read(suite, &sts, &order.model);
                let read = read.map_err(|error| CampaignError::usage(error.to_string()))?;
                let test = read.tests.into_iter().next();
                NextTest::Suite(test.ok_or_else(|| CampaignError::usage("a suite without a test"))?)
            }
            Task::Replay { stimuli, afresh } => {
                session.prepare(&context(0, u64::MAX))?;
                session.set_time(order.time);
                let stimuli = restored(stimuli, &sts)?;
                let shown = match afresh {
                    true => session.show(&stimuli),
                    false => session.replay_recorded(&stimuli),
                };
                let mut outcome = self.outcome(order, &shown.execution, &shown.times, shown.wire);
                outcome.afresh = shown.afresh;
                return Ok(outcome);
            }
        };
        if let Some(guide) = guide {
            session.tester.set_guide(guide);
        }
        if let Some(conditions) = repeats {
            session.tester.repeat(conditions);
        }
        let report = session.carry_out(next, &mut said).unwrap_or_else(over);
        let wire = match report.execution.deviation() {
            Some(_) => session.wire(),
            None => Vec::new(),
        };
        let covered = session.tester.coverage().covered_items();
        let lessons = session.tester.lessons();
        Ok(Outcome {
            duration: report.duration,
            covered,
            lessons,
            notices: said.notices,
            warnings: said.warnings,
            ..self.outcome(order, &report.execution, &report.times, wire)
        })
    }

    /// The outcome of an order that ended in a panic. The next one gets a session of its own.
    pub fn failed(&mut self, order: &Order) -> Outcome {
        self.session = None;
        self.pace.end();
        let reason = format!("a worker crashed while it ran order {}", order.number);
        self.unusable(order, reason)
    }

    /// The outcome of an order that was not carried out.
    pub fn unusable(&self, order: &Order, reason: impl Into<String>) -> Outcome {
        let execution = Execution {
            trace: Vec::new(),
            verdict: Verdict::unusable(reason.into()),
        };
        self.outcome(order, &execution, &[], Vec::new())
    }

    fn outcome(
        &self,
        order: &Order,
        execution: &Execution,
        times: &[u64],
        wire: Vec<WireLine>,
    ) -> Outcome {
        let session = self.session.as_ref().map(|(_, session)| session);
        let sts = &self.setup.model.sts;
        let trace = execution.trace.iter();
        let is_kept = execution.deviation().is_some();
        Outcome {
            version: WORK_VERSION,
            campaign: order.campaign.clone(),
            order: order.number,
            worker: self.setup.name.clone(),
            end: SavedEnd::new(&execution.verdict, sts),
            steps: trace
                .map(|step| ioco_engine::SavedStep::new(step, sts))
                .collect(),
            times: times.to_vec(),
            duration: times.last().copied().unwrap_or(0),
            covered: Default::default(),
            lessons: Vec::new(),
            wire,
            log: match session {
                Some(session) if is_kept => session.failed_log().iter().map(Into::into).collect(),
                _ => Vec::new(),
            },
            error: session.and_then(|session| session.error.as_ref().map(SystemError::from)),
            is_ours: session.is_some_and(|session| session.link.is_ours()),
            afresh: false,
            notices: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// Makes the session that a recipe asks for, where the last order had another one.
    fn open(&mut self, recipe: &Recipe) -> Result<(), CampaignError> {
        if self
            .session
            .as_ref()
            .is_some_and(|(last, _)| last == recipe)
        {
            return Ok(());
        }
        // A system is ended before another one takes its place.
        self.session = None;
        let setup = &self.setup;
        let sts = match recipe.timeout {
            Some(nanoseconds) => Arc::new(setup.model.sts.with_timeout(nanoseconds)),
            None => Arc::clone(&setup.model.sts),
        };
        let solver = match &recipe.solver {
            None => SolverChoice::Embedded,
            Some(_) => setup.solver.clone(),
        };
        let meaning = SemanticsOptions {
            relation: if recipe.uioco {
                Relation::Uioco
            } else {
                Relation::Ioco
            },
            solver,
        };
        let settings = Settings {
            seed: recipe.seed,
            strategy: recipe.kind(),
            wait: recipe.wait(),
            stop: StopConditions {
                tests: None,
                failures: None,
                errors: None,
                ..StopConditions::default()
            },
            events: EventLevel::None,
            ..Settings::default()
        };
        let (reach, project) = (&setup.reach, &setup.project);
        let interrupt = setup.interrupt.clone();
        let session = Session::open(&sts, reach, project, meaning, settings, interrupt)?;
        self.session = Some((recipe.clone(), session));
        Ok(())
    }
}

/// A test that could not begin, because the time of the campaign was up.
fn over() -> TestReport {
    TestReport {
        number: 0,
        seed: 0,
        name: None,
        execution: Execution {
            trace: Vec::new(),
            verdict: Verdict::inconclusive(Cause::Interrupted, "the time was up"),
        },
        times: Vec::new(),
        duration: 0,
        is_new_failure: false,
        failure: None,
    }
}

/// Who leads the tests, where the strategy plans ahead. A new one for every order: it has learnt nothing yet.
fn guide(recipe: &Recipe, sts: &Sts) -> Result<Option<Box<dyn Guide>>, CampaignError> {
    match (recipe.strategy.as_str(), &recipe.query) {
        ("locations", _) => Ok(Some(Box::new(Locations::new()))),
        ("scenario", Some(text)) => {
            let query = query::parse("query", text, sts).map_err(|found| {
                let why = found.first().map_or("", |d| d.message.as_str());
                CampaignError::usage(format!("the scenario does not fit the model: {why}"))
            })?;
            let pattern = Pattern::from(&query);
            let (steps, _) = answer::bound(&pattern, query.within);
            Ok(Some(Box::new(Scenario::new(pattern, steps))))
        }
        _ => Ok(None),
    }
}

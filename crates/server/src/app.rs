//! What the server knows, and what it does for a call. Nothing here knows HTTP.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ioco_campaign::{
    ConnectionSpec, DEFAULT_FAILURES, DEFAULT_STEPS, DEFAULT_TESTS, ModelOptions, Plan, Project,
    SystemChoice, TestSettings, Transport,
};
use ioco_engine::StrategyKind;
use ioco_shrink::SHRINKERS;
use ioco_view::{
    ConnectionView, DefaultsView, Exploration, GoalView, ModelView, ProjectView, RunRequest,
    RunSummary, SettingsView, WalkedStep, explore,
};
use serde::Deserialize;

use crate::control::Control;
use crate::jobs::{Job, scripts};
use crate::models::Models;
use crate::refusal::Refusal;
use crate::run::{Run, ShrinkingProgress, shrinking};
use crate::slot::Slot;
use crate::walk::Walks;

/// The goals of the last generation of a model, and the hash of its text then.
type Goals = HashMap<String, (String, Vec<GoalView>)>;

pub struct App {
    pub project: Project,
    pub token: String,
    pub port: u16,
    /// How to reach the system where a call does not say.
    pub choice: SystemChoice,
    pub models: Models,
    pub progress_by_failure: ShrinkingProgress,
    pub slot: Slot,
    pub walks: Walks,
    runs: Mutex<BTreeMap<String, Arc<Run>>>,
    pub jobs: Mutex<BTreeMap<String, Arc<Job>>>,
    pub goals: Mutex<Goals>,
}

#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(default)]
#[cfg_attr(test, ts(optional_fields = nullable))]
pub struct ControlRequest {
    pub action: String,
    pub delay_ms: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(default)]
#[cfg_attr(test, ts(optional_fields = nullable))]
pub struct ExploreRequest {
    pub model: String,
    #[cfg_attr(test, ts(type = "Whole"))]
    pub seed: u64,
    pub trace: Vec<WalkedStep>,
}

#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(default)]
#[cfg_attr(test, ts(optional_fields = nullable))]
pub struct GoalsRunRequest {
    pub model: String,
    pub connection: Option<ConnectionView>,
}

/// Slower than this is a pause.
const SLOWEST: u64 = 60_000;
/// Each job has a thread and a system of its own on this machine.
const MAX_JOBS: usize = 256;

impl App {
    pub fn new(project: Project, choice: SystemChoice, token: String, port: u16) -> App {
        App {
            token,
            port,
            choice,
            models: Models::new(project.clone()),
            progress_by_failure: ShrinkingProgress::default(),
            slot: Slot::default(),
            walks: Walks::default(),
            runs: Mutex::default(),
            jobs: Mutex::default(),
            goals: Mutex::default(),
            project,
        }
    }

    pub fn project(&self) -> Result<ProjectView, Refusal> {
        let test = &self.project.test;
        let reach = ConnectionSpec::typed(&self.choice, &self.project)?;
        let folder = std::fs::canonicalize(&self.project.root).unwrap_or_default();
        Ok(ProjectView {
            name: folder
                .file_name()
                .map_or_else(|| "ioco".to_owned(), |n| n.to_string_lossy().into_owned()),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            models: self.models.list(),
            model: self.models.default_path().unwrap_or_default(),
            connection: reach.as_ref().map(connection_view),
            strategies: strategies(),
            strategy: test
                .strategy
                .clone()
                .unwrap_or_else(|| match test.weights.is_empty() {
                    true => StrategyKind::Auto.name().to_owned(),
                    false => StrategyKind::uniform().name().to_owned(),
                }),
            shrinkers: SHRINKERS.iter().map(|s| s.name.to_owned()).collect(),
            settings: SettingsView {
                seed: test.seed,
                tests: test.tests,
                steps: test.steps,
                time: test.time.clone(),
                coverage: test.coverage,
                failures: test.failures,
                timeout: test.timeout.clone(),
            },
            defaults: DefaultsView {
                tests: DEFAULT_TESTS,
                steps: DEFAULT_STEPS,
                failures: DEFAULT_FAILURES,
            },
        })
    }

    pub fn model(&self, path: &str) -> Result<ModelView, Refusal> {
        Ok(self.models.load(path)?.view.clone())
    }

    pub fn explore(&self, request: &ExploreRequest) -> Result<Exploration, Refusal> {
        let relation = self.project.test.relation()?;
        let mut semantics = self.models.load(&request.model)?.semantics(relation)?;
        Ok(explore(&mut semantics, &request.trace, request.seed))
    }

    pub fn start_run(&self, request: &RunRequest) -> Result<RunSummary, Refusal> {
        let loaded = self.models.load(&request.model)?;
        let sts = &loaded.usable()?.sts;
        let beginning = request
            .prefix
            .iter()
            .map(|given| given.action(sts))
            .collect::<Result<Vec<_>, String>>()
            .map_err(|why| Refusal::wrong(why, "explore the model to see what it accepts"))?;
        let delay = Duration::from_millis(request.delay_ms.unwrap_or(0).min(SLOWEST));
        let plan = Plan {
            beginning,
            ..self.plan(request)?
        };
        if plan.jobs > 1 && (request.paused || !delay.is_zero()) {
            return Err(one_by_one());
        }
        let control = Control::new(request.paused, delay);
        self.go(plan, control, Some(request.clone()))
    }

    /// Runs the tests behind the covered goals of a model.
    pub fn run_goals(&self, request: &GoalsRunRequest) -> Result<RunSummary, Refusal> {
        let loaded = self.models.load(&request.model)?;
        let goals = self.goals_of(&request.model);
        let scripts = scripts(&goals, &loaded.usable()?.sts)?;
        if scripts.is_empty() {
            return Err(Refusal::wrong(
                "there are no tests for this model yet",
                "generate tests for its goals first",
            ));
        }
        let request = RunRequest {
            model: request.model.clone(),
            connection: request.connection.clone(),
            failures: Some(0),
            ..RunRequest::default()
        };
        let plan = Plan {
            scripts,
            known: false,
            ..self.plan(&request)?
        };
        self.go(plan, Control::default(), None)
    }

    fn plan(&self, request: &RunRequest) -> Result<Plan, Refusal> {
        let loaded = self.models.load(&request.model)?;
        let mut test = self.project.test.clone();
        test.override_with(&TestSettings {
            strategy: request.strategy.clone(),
            seed: request.seed,
            tests: request.tests,
            steps: request.steps,
            time: request.time.clone().filter(|text| !text.trim().is_empty()),
            coverage: request.coverage,
            failures: request.failures,
            timeout: request
                .timeout
                .clone()
                .filter(|text| !text.trim().is_empty()),
            ..TestSettings::default()
        });
        // Weights belong to chance and a query to a scenario; who chooses another strategy does not
        // mean them.
        if request
            .strategy
            .as_deref()
            .is_some_and(|name| name != "scenario")
        {
            test.query = None;
        }
        if request
            .strategy
            .as_deref()
            .is_some_and(|name| name != "random")
        {
            test.weights.clear();
        }
        Ok(Plan {
            model: loaded.usable()?.clone(),
            options: ModelOptions {
                limits: self.project.limits,
                ..ModelOptions::default()
            },
            reach: self.reach(request.connection.as_ref())?,
            test,
            shrinking: shrinking(),
            known: true,
            beginning: Vec::new(),
            jobs: jobs(request.jobs)?,
            shard: None,
            scripts: Vec::new(),
            project: self.project.clone(),
        })
    }

    /// Starts a run; `request` asks for the same once more, where that can be asked for.
    fn go(
        &self,
        plan: Plan,
        control: Control,
        request: Option<RunRequest>,
    ) -> Result<RunSummary, Refusal> {
        self.walks.end();
        let in_use = self.slot.take("a run is under way")?;
        let progress = Arc::clone(&self.progress_by_failure);
        let run = Run::start(plan, control, request, progress, in_use)?;
        let summary = run.summary();
        self.runs().insert(summary.run.clone(), run);
        Ok(summary)
    }

    /// What was typed when the server was started, or else what ioco.toml says.
    pub fn own_system(&self) -> Result<ConnectionSpec, Refusal> {
        Ok(ConnectionSpec::find(&self.choice, &self.project)?)
    }

    /// The system that is meant: the project's own, or another one.
    fn reach(&self, connection: Option<&ConnectionView>) -> Result<ConnectionSpec, Refusal> {
        let own = ConnectionSpec::typed(&self.choice, &self.project)?;
        let Some(wanted) = connection else {
            return Ok(ConnectionSpec::find(&self.choice, &self.project)?);
        };
        if let Some(own) = own
            && connection_view(&own) == *wanted
        {
            return Ok(own);
        }
        let text = Some(wanted.text.clone()).filter(|text| !text.trim().is_empty());
        let choice = match wanted.kind.as_str() {
            "simulated" => {
                return Ok(ConnectionSpec::of_way(
                    Transport::Simulated(1),
                    false,
                    &self.project,
                )?);
            }
            "process" => SystemChoice {
                sut: text,
                ..SystemChoice::default()
            },
            "tcp" => SystemChoice {
                tcp: text,
                ..SystemChoice::default()
            },
            other => {
                return Err(Refusal::wrong(
                    format!("there is no connection '{other}' to choose here"),
                    "use process, tcp or simulated, or write another one into ioco.toml",
                ));
            }
        };
        if !choice.is_way() {
            return Err(Refusal::wrong(
                "the command or address of the system is missing",
                "type how to start or reach it, or choose the simulated system",
            ));
        }
        Ok(ConnectionSpec::find(&choice, &self.project)?)
    }

    pub fn control(&self, id: &str, request: &ControlRequest) -> Result<RunSummary, Refusal> {
        let Some(run) = self.own_run(id) else {
            self.stored(id)?;
            return Err(Refusal::wrong(
                "this run was not started by this server",
                "only runs of this page can be controlled here",
            ));
        };
        if run.is_shared() && ["pause", "resume", "step", "speed"].contains(&&*request.action) {
            return Err(one_by_one());
        }
        match request.action.as_str() {
            "pause" => run.control.pause(),
            "resume" => run.control.resume(),
            "step" => run.control.step(),
            "stop" => run.stop(),
            "speed" => {
                let delay = request.delay_ms.unwrap_or(0).min(SLOWEST);
                run.control.slow_down(Duration::from_millis(delay));
            }
            other => {
                return Err(Refusal::wrong(
                    format!("a run cannot '{other}'"),
                    "use pause, resume, step, stop or speed",
                ));
            }
        }
        Ok(run.summary())
    }

    pub fn goals_of(&self, model: &str) -> Vec<GoalView> {
        let hash = self
            .models
            .load(model)
            .map(|loaded| loaded.view.hash.clone());
        let goals = self.goals.lock().unwrap_or_else(PoisonError::into_inner);
        // Goals of another text are not goals of this model.
        let current = goals
            .get(model)
            .filter(|(of, _)| hash.is_ok_and(|hash| hash == *of));
        current.map_or_else(Vec::new, |(_, goals)| goals.clone())
    }

    /// The name that runs know a model by, from its path or name.
    pub fn model_name(&self, model: &str) -> String {
        let loaded = self.models.load(model);
        loaded.map_or_else(|_| model.to_owned(), |loaded| loaded.view.name.clone())
    }

    pub fn own_run(&self, id: &str) -> Option<Arc<Run>> {
        self.runs().get(id).cloned()
    }

    pub fn job(&self, id: &str) -> Result<Arc<Job>, Refusal> {
        let jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        jobs.get(id).cloned().ok_or_else(|| {
            Refusal::unknown(
                format!("there is no job '{id}'"),
                "jobs end with the server: start it again",
            )
        })
    }

    /// Asks everything to end, and waits a while for it.
    pub fn stop_all(&self) {
        self.walks.end();
        for run in self.runs().values() {
            run.stop();
        }
        for job in self
            .jobs
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .values()
        {
            job.interrupt.raise();
        }
        for _ in 0..100 {
            if self.slot.is_free() {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn runs(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Arc<Run>>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How many systems are tested side by side.
pub fn jobs(wanted: Option<usize>) -> Result<usize, Refusal> {
    match wanted.unwrap_or(1) {
        jobs @ 1..=MAX_JOBS => Ok(jobs),
        _ => Err(Refusal::wrong(
            format!("jobs must be from 1 to {MAX_JOBS}"),
            "campaigns on several machines take more: see `ioco campaign`",
        )),
    }
}

/// With several jobs there is no next step to wait for.
fn one_by_one() -> Refusal {
    Refusal::wrong(
        "a run with several jobs cannot be paused, stepped or slowed down",
        "start it with one job",
    )
}

pub fn no_run(id: &str) -> Refusal {
    Refusal::unknown(
        format!("there is no run '{id}'"),
        "the history shows those that there are",
    )
}

/// The strategies that a run can be started with by name alone.
fn strategies() -> Vec<String> {
    ["auto", "random", "transitions", "locations", "data"]
        .map(str::to_owned)
        .to_vec()
}

/// The kind is the key of the way.
fn connection_view(reach: &ConnectionSpec) -> ConnectionView {
    let saved = serde_json::to_value(&reach.way).unwrap_or_default();
    let key = saved.as_object().and_then(|way| way.keys().next().cloned());
    let kind = match key.as_deref() {
        Some("command" | "shell") => "process".to_owned(),
        Some(other) => other.to_owned(),
        None => String::new(),
    };
    ConnectionView {
        kind,
        text: reach.show(),
    }
}

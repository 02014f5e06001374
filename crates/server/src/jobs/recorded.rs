//! Replaying and shrinking a recorded failure.

use std::sync::{Arc, PoisonError};

use ioco_campaign::sections::limits::Limits;
use ioco_campaign::{
    CampaignError, Observer, Opened, Project, Remedy, Session, ShrinkSettings, SystemChoice,
    failures, shrinking,
};
use ioco_engine::{Explanation, SavedDeviation};
use ioco_explain::TextOptions;
use ioco_sts::Execution;
use ioco_view::{ConnectionView, TraceView, Tracer};
use serde::{Deserialize, Serialize};

use super::{Job, JobResult};
use crate::app::{App, jobs};
use crate::refusal::Refusal;
use crate::run::extend_progress;
use crate::words;

#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(default)]
#[cfg_attr(test, ts(optional_fields = nullable))]
pub struct ReplayRequest {
    pub times: Option<u32>,
    /// Systems that run it side by side.
    pub jobs: Option<usize>,
    pub connection: Option<ConnectionView>,
}

#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(default)]
#[cfg_attr(test, ts(optional_fields = nullable))]
pub struct ShrinkRequest {
    pub shrinker: Option<String>,
    pub runs: Option<u64>,
    /// Systems that try shorter traces side by side.
    pub jobs: Option<usize>,
    pub connection: Option<ConnectionView>,
}

/// What running a failure again said.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema, ts_rs::TS))]
pub struct ReplayResult {
    #[cfg_attr(
        test,
        ts(type = "\"fixed\" | \"still-failing\" | \"different\" | \"flaky\"")
    )]
    pub verdict: &'static str,
    pub failed: u64,
    pub runs: u64,
    /// As the terminal says it.
    pub text: String,
    pub trace: Option<TraceView>,
}

/// A failure that was shrunk again.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema, ts_rs::TS))]
pub struct ShrinkResult {
    /// Its id now.
    pub failure: String,
    /// Steps before and now.
    pub from: usize,
    pub to: usize,
    pub runs: usize,
    pub text: String,
}

/// Replays at most; more is a run.
const MAX_REPLAYS: u32 = 1000;

impl App {
    pub fn replay(self: &Arc<App>, id: &str, request: &ReplayRequest) -> Result<Arc<Job>, Refusal> {
        let path = self.failure_path(id)?.display().to_string();
        let system = choice(request.connection.as_ref())?;
        let times = request.times.unwrap_or(1).clamp(1, MAX_REPLAYS);
        let jobs = jobs(request.jobs)?;
        self.walks.end();
        let in_use = self.slot.take(&format!("failure {id} is replayed"))?;
        let app = Arc::clone(self);
        Ok(self.start_job("replay", move |job| {
            let _in_use = in_use;
            let mut observer = JobObserver::new(job);
            let mut opened = observer.open(&path, &app.project, &system, jobs)?;
            job.write(|view| view.total = Some(times as usize));
            let Some(replay) = opened.replay(times, false)? else {
                return Ok(None);
            };
            job.write(|view| view.done = times as usize);
            let trace = replay.shown.as_ref().map(|e| trace(&opened.session, e));
            Ok(Some(JobResult::Replay(ReplayResult {
                verdict: replay.verdict().name(),
                failed: replay.failed,
                runs: replay.runs,
                text: text(
                    replay.explanation.as_ref(),
                    &[ioco_explain::replayed(
                        &replay.said,
                        replay.failed,
                        replay.runs,
                    )],
                ),
                trace,
            })))
        }))
    }

    pub fn shrink(self: &Arc<App>, id: &str, request: &ShrinkRequest) -> Result<Arc<Job>, Refusal> {
        let path = self.failure_path(id)?.display().to_string();
        let system = choice(request.connection.as_ref())?;
        let jobs = jobs(request.jobs)?;
        let mut settings = ShrinkSettings {
            runs: request.runs,
            ..ShrinkSettings::default()
        };
        if let Some(shrinker) = &request.shrinker {
            shrinking::pipeline(shrinker)?;
            settings.shrinker.clone_from(shrinker);
        }
        self.walks.end();
        let in_use = self.slot.take(&format!("failure {id} is shrunk"))?;
        let app = Arc::clone(self);
        Ok(self.start_job("shrink", move |job| {
            let _in_use = in_use;
            let mut observer = JobObserver::new(job);
            let mut opened = observer.open(&path, &app.project, &system, jobs)?;
            let Some(again) = opened.shrink(&settings, &mut observer)? else {
                return Err(
                    CampaignError::usage("it no longer fails: nothing to shrink")
                        .hint("replay it to see what the system does now"),
                );
            };
            let mut known = app
                .progress_by_failure
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            known.insert(again.saved.id.to_string(), observer.shrinking_progress);
            let notes: Vec<String> = again.notes.iter().map(words::note).collect();
            let shown = again.explanation.map(|explanation| Explanation {
                replay: Some(format!("ioco replay {}", again.saved.id)),
                ..explanation
            });
            Ok(Some(JobResult::Shrink(ShrinkResult {
                failure: again.saved.id.to_string(),
                from: again.shrunk.original_length,
                to: again.shrunk.execution.length(),
                runs: again.shrunk.runs,
                text: text(shown.as_ref(), &notes),
            })))
        }))
    }
}

/// Another way to the system than the recorded one, if one is wanted.
fn choice(connection: Option<&ConnectionView>) -> Result<SystemChoice, Refusal> {
    let mut choice = SystemChoice::default();
    match connection {
        None => {}
        Some(way) if way.kind == "process" => choice.sut = Some(way.text.clone()),
        Some(way) if way.kind == "tcp" => choice.tcp = Some(way.text.clone()),
        Some(way) => {
            return Err(Refusal::wrong(
                format!(
                    "a failure cannot be run again by the connection '{}'",
                    way.kind
                ),
                "leave the connection out: the failure knows its own",
            ));
        }
    }
    Ok(choice)
}

/// Writes down what the work tells.
pub(super) struct JobObserver<'a> {
    job: &'a Job,
    shrinking_progress: Vec<ioco_view::ProgressPoint>,
}

impl<'a> JobObserver<'a> {
    pub(super) fn new(job: &'a Job) -> JobObserver<'a> {
        JobObserver {
            job,
            shrinking_progress: Vec::new(),
        }
    }

    fn open(
        &mut self,
        path: &str,
        project: &Project,
        system: &SystemChoice,
        jobs: usize,
    ) -> Result<Opened, CampaignError> {
        let interrupt = self.job.interrupt.clone();
        let mut opened = failures::open(
            path,
            project,
            system,
            None,
            Limits::default(),
            interrupt,
            self,
        )?;
        opened.set_jobs(jobs)?;
        Ok(opened)
    }
}

impl Observer for JobObserver<'_> {
    fn shrinking(&mut self, from: usize, now: ioco_shrink::Progress) {
        extend_progress(&mut self.shrinking_progress, from, now);
        let shrinking_progress = self.shrinking_progress.clone();
        self.job.write(|view| {
            view.shrinking_progress = shrinking_progress;
            view.done = now.runs;
            view.message = Some(format!("{from} → {} steps, {} runs", now.length, now.runs));
        });
    }

    fn warning(&mut self, message: &str) {
        self.job
            .write(|view| view.message = Some(message.to_owned()));
    }

    fn warning_with(&mut self, message: &str, remedy: &Remedy) {
        self.warning(&words::warning(message, remedy));
    }
}

fn text(explanation: Option<&Explanation>, notes: &[String]) -> String {
    let mut parts: Vec<String> = Vec::new();
    parts.extend(explanation.map(|e| ioco_explain::text(e, TextOptions::default())));
    parts.extend(notes.iter().cloned());
    parts.join("\n")
}

fn trace(session: &Session, execution: &Execution) -> TraceView {
    let mut semantics = session.semantics();
    let mut tracer = Tracer::new(&mut semantics);
    for step in &execution.trace {
        tracer.step(step, None);
    }
    if let Some(deviation) = execution.deviation() {
        tracer.deviation(&SavedDeviation::new(deviation, &session.sts), None);
    }
    tracer.finish(&[])
}

impl App {
    /// Starts a job under the next number.
    pub(super) fn start_job(
        &self,
        kind: &'static str,
        work: impl FnOnce(&Job) -> Result<Option<JobResult>, CampaignError> + Send + 'static,
    ) -> Arc<Job> {
        let mut jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        let id = format!("{kind}-{}", jobs.len() + 1);
        let job = Job::start(id.clone(), kind, work);
        jobs.insert(id, Arc::clone(&job));
        job
    }
}

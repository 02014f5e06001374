//! Work that takes a while and is not a run: replays, shrinking and generation, each on a thread
//! of its own.

pub mod generate;
pub mod recorded;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ioco_campaign::{CampaignError, Interrupt};
use ioco_view::ProgressPoint;
use serde::Serialize;

use generate::GenerateResult;
pub use generate::scripts;
use recorded::{ReplayResult, ShrinkResult};

use crate::run::guarded;
use crate::words;

/// A job as the page sees it.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema, ts_rs::TS))]
pub struct JobView {
    pub job: String,
    #[cfg_attr(test, ts(type = "\"replay\" | \"shrink\" | \"generate\""))]
    pub kind: &'static str,
    pub state: JobState,
    pub shrinking_progress: Vec<ProgressPoint>,
    pub done: usize,
    pub total: Option<usize>,
    pub message: Option<String>,
    pub result: Option<JobResult>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
pub enum JobState {
    Running,
    Finished,
    Error,
    Stopped,
}

/// What a job found out, by its kind.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(untagged)]
pub enum JobResult {
    Replay(ReplayResult),
    Shrink(ShrinkResult),
    Generate(GenerateResult),
}

pub struct Job {
    pub interrupt: Interrupt,
    /// Grows with every change, so that a follower sees whether there is one.
    seen: Mutex<(u64, JobView)>,
}

impl Job {
    /// Does the work on a thread of its own.
    pub fn start(
        id: String,
        kind: &'static str,
        work: impl FnOnce(&Job) -> Result<Option<JobResult>, CampaignError> + Send + 'static,
    ) -> Arc<Job> {
        let view = JobView {
            job: id,
            kind,
            state: JobState::Running,
            shrinking_progress: Vec::new(),
            done: 0,
            total: None,
            message: None,
            result: None,
        };
        let job = Arc::new(Job {
            interrupt: Interrupt::default(),
            seen: Mutex::new((0, view)),
        });
        let own = Arc::clone(&job);
        let started = crate::work::spawn(move || {
            let done = guarded(|| work(&own));
            let stopped = own.interrupt.is_raised();
            own.write(|view| match done {
                Ok(result) => {
                    view.state = match (&result, stopped) {
                        (None, true) => JobState::Stopped,
                        _ => JobState::Finished,
                    };
                    view.result = result;
                }
                Err(stop) => {
                    view.state = JobState::Error;
                    view.message = Some(words::error(&stop));
                }
            });
        });
        if let Err(error) = started {
            job.write(|view| {
                view.state = JobState::Error;
                view.message = Some(format!("the work cannot start: {error}"));
            });
        }
        job
    }

    pub fn view(&self) -> JobView {
        self.seen().1.clone()
    }

    /// The job, if it has changed since this version, and whether it is over.
    pub fn news(&self, version: &mut Option<u64>) -> (Option<JobView>, bool) {
        let seen = self.seen();
        let over = seen.1.state != JobState::Running;
        if *version == Some(seen.0) {
            return (None, over);
        }
        *version = Some(seen.0);
        (Some(seen.1.clone()), over)
    }

    fn seen(&self) -> MutexGuard<'_, (u64, JobView)> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, how: impl FnOnce(&mut JobView)) {
        let mut seen = self.seen();
        how(&mut seen.1);
        seen.0 += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::{Job, JobState};

    #[test]
    fn a_job_that_panics_does_not_stay_running() {
        let job = Job::start("x-1".to_owned(), "x", |_| panic!("a defect"));
        while job.view().state == JobState::Running {
            std::thread::yield_now();
        }
        let view = job.view();
        assert_eq!(view.state, JobState::Error);
        let message = view.message.unwrap_or_default();
        assert!(message.contains("inside ioco"), "{message}");
    }
}

//! A test for every goal, or a proof that there is none.

use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use ioco_campaign::{CampaignError, GoalSearch, Interrupt, Script, SemanticsOptions, StopFlag};
use ioco_generate::cover::{CoverObserver, Goal, GoalVerdict, Instance};
use ioco_sts::{Action, LocationId, Semantics, Sts, SwitchId};
use ioco_view::{GoalView, goal_of};
use serde::{Deserialize, Serialize};

use super::recorded::JobObserver;
use super::{Job, JobResult};
use crate::app::App;
use crate::refusal::Refusal;

#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema, ts_rs::TS))]
#[cfg_attr(test, ts(optional_fields = nullable))]
pub struct GenerateRequest {
    pub model: String,
    #[serde(default)]
    pub cover: Option<String>,
    #[serde(default)]
    pub only: Option<GoalRef>,
    /// After which no further goal is begun.
    #[serde(default)]
    pub seconds: Option<f64>,
}

/// One goal: `switch` or `location`, by number.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema, ts_rs::TS))]
pub struct GoalRef {
    #[cfg_attr(test, ts(type = "\"switch\" | \"location\""))]
    pub kind: String,
    pub id: u32,
}

/// What became of the goals.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema, ts_rs::TS))]
pub struct GenerateResult {
    pub goals: Vec<GoalView>,
}

/// A minute is long enough for a person who looks at a page.
const SECONDS: f64 = 60.0;

/// Steps of a test: every goal shows its own, and the person reads it.
const MAX_LENGTH: usize = 50;

impl App {
    pub fn generate(self: &Arc<App>, request: &GenerateRequest) -> Result<Arc<Job>, Refusal> {
        let loaded = self.models.load(&request.model)?;
        let sts = Arc::clone(&loaded.usable()?.sts);
        let goals = wanted(request, &sts)?;
        self.project.test.relation()?;
        let seconds = request.seconds.unwrap_or(SECONDS);
        if !(seconds > 0.0 && seconds <= 86_400.0) {
            return Err(Refusal::wrong(
                "the time for generation must be above 0 and at most a day",
                "give seconds as a number",
            ));
        }
        let all = request.only.is_none();
        let (model, hash) = (request.model.clone(), loaded.view.hash.clone());
        let app = Arc::clone(self);
        Ok(self.start_job("generate", move |job| {
            let end = Instant::now() + Duration::from_secs_f64(seconds);
            let mut observer = JobObserver::new(job);
            let meaning = SemanticsOptions::of_project(&app.project, None, &mut observer)?;
            let search = GoalSearch {
                sts: &sts,
                meaning: &meaning,
                seed: 1,
                depth: None,
                length: Some(MAX_LENGTH),
                stop: &StopFlag::new(Some(end), &job.interrupt),
            };
            let found = cover(&search, &goals, job)?;
            let mut kept = app.goals.lock().unwrap_or_else(PoisonError::into_inner);
            let known = kept.entry(model).or_default();
            // What was found for another text says nothing about this one.
            if known.0 != hash || all {
                *known = (hash, Vec::new());
            }
            known
                .1
                .retain(|old| found.iter().all(|new| new.name != old.name));
            known.1.extend(found.iter().cloned());
            Ok(Some(JobResult::Generate(GenerateResult { goals: found })))
        }))
    }
}

fn wanted(request: &GenerateRequest, sts: &Sts) -> Result<Vec<Goal>, Refusal> {
    if let Some(only) = &request.only {
        let index = only.id as usize;
        return match only.kind.as_str() {
            "switch" if index < sts.switches().len() => Ok(vec![Goal::Switch(SwitchId(only.id))]),
            "location" if index < sts.locations().len() => {
                Ok(vec![Goal::Location(LocationId(only.id))])
            }
            kind => Err(Refusal::unknown(
                format!("the model has no {kind} {index}"),
                "the model may have changed: load the page again",
            )),
        };
    }
    let mut goals = BTreeSet::new();
    for word in request.cover.as_deref().unwrap_or("switches").split(',') {
        let word = word.trim();
        goals.extend(Goal::of_criterion(word, sts).ok_or_else(|| {
            Refusal::wrong(
                format!("'{word}' is not something to cover"),
                "use locations, switches, decisions, conditions or mcdc, several joined by commas",
            )
        })?);
    }
    Ok(goals.into_iter().collect())
}

fn cover(
    search: &GoalSearch<'_>,
    goals: &[Goal],
    job: &Job,
) -> Result<Vec<GoalView>, CampaignError> {
    let sts = search.sts;
    job.write(|view| view.total = Some(goals.len()));
    let mut watch = Decided {
        semantics: search.meaning.semantics(sts)?,
        job,
        halt: search.stop.raised(),
        since: Instant::now(),
        found: Vec::new(),
    };
    let covered = search.run(goals, &mut watch)?;
    let Decided {
        mut semantics,
        mut found,
        ..
    } = watch;
    // Where time ran out, the goals that were not decided are unknown.
    let known: BTreeSet<String> = found.iter().map(|view| view.name.clone()).collect();
    for goal in goals {
        if known.contains(&goal.show(sts)) {
            continue;
        }
        let view = match covered.goals.get(goal) {
            Some(verdict) => goal_of(&mut semantics, *goal, verdict, None, 0, 0.0),
            None => undecided(*goal, sts),
        };
        found.push(view);
    }
    Ok(found)
}

fn undecided(goal: Goal, sts: &Sts) -> GoalView {
    GoalView {
        reason: Some("there was no time for it".to_owned()),
        ..GoalView::undecided(goal, sts)
    }
}

struct Decided<'a> {
    semantics: Semantics,
    job: &'a Job,
    halt: Interrupt,
    since: Instant,
    found: Vec<GoalView>,
}

impl CoverObserver for Decided<'_> {
    fn decided(&mut self, goal: Goal, verdict: &GoalVerdict, test: Option<&Instance>, calls: u64) {
        let seconds = self.since.elapsed().as_secs_f64();
        self.since = Instant::now();
        let view = goal_of(&mut self.semantics, goal, verdict, test, calls, seconds);
        self.found.push(view);
        let done = self.found.len();
        self.job.write(|view| view.done = done);
    }

    fn stop(&mut self) -> bool {
        self.halt.is_raised()
    }
}

/// The tests behind goals; one that is the beginning of another is left out, and its goal counted
/// with the other's.
pub fn scripts(goals: &[GoalView], sts: &Sts) -> Result<Vec<Script>, CampaignError> {
    let mut all: Vec<(Vec<Action>, &str)> = Vec::new();
    for goal in goals {
        let Some(test) = &goal.test else { continue };
        let stimuli = test
            .steps
            .iter()
            .filter(|s| s.kind == ioco_view::StepKind::Stimulus);
        let script = stimuli
            .map(|step| {
                let given = ioco_view::Given {
                    label: step.label.clone(),
                    values: step.values.clone(),
                };
                given.action(sts).map_err(CampaignError::usage)
            })
            .collect::<Result<Vec<_>, CampaignError>>()?;
        all.push((script, &goal.name));
    }
    all.sort();
    // Sorted, the beginning of a list stands right before it.
    let mut kept: Vec<(Vec<Action>, &str, usize)> = Vec::new();
    for (script, goal) in all {
        let mut others = 0;
        if kept
            .last()
            .is_some_and(|(last, _, _)| script.starts_with(last))
        {
            others = kept.pop().map_or(0, |(_, _, others)| others + 1);
        }
        kept.push((script, goal, others));
    }
    kept.retain(|(stimuli, _, _)| !stimuli.is_empty());
    let script = |(stimuli, goal, others): (Vec<Action>, &str, usize)| Script {
        name: match others {
            0 => goal.to_owned(),
            more => format!("{goal} (and {more} more)"),
        },
        stimuli,
    };
    Ok(kept.into_iter().map(script).collect())
}

//! Recorded failures: from a typed id to the failure, its model and its system.

use std::path::{Path, PathBuf};

use ioco_engine::{
    Context, Explanation, FailureContext, FailureError, FailureFile, Replayed, Settings, TestReport,
};
use ioco_outside::Untrusted;
use ioco_outside::file::read_text;
use ioco_shrink::{Confidence, Shrunk};
use ioco_sts::{Action, Cause, Execution, Relation, Verdict};
use serde::{Deserialize, Serialize};

use crate::campaign::confirmed;
use crate::connect::{ConnectionSpec, Link, SystemChoice};
use crate::error::no_jobs;
use crate::error::{CampaignError, Remedy};
use crate::history;
use crate::lifecycle;
use crate::model::{self, Model, ModelOptions};
use crate::note::Note;
use crate::observer::Observer;
use crate::project::Project;
use crate::results::Results;
use crate::sections::limits::Limits;
use crate::session::{ReplayedRun, Session, sizes};
use crate::shrinking::{self, ShrinkSettings};
use crate::solver::{SemanticsOptions, SolverChoice};
use crate::system::KeptSystem;
use crate::trust;
use crate::work::dispatch::{Dispatch, OrderBook};
use crate::work::{Recipe, Threads, WorkerSetup};
use ioco_budget::{Budget, Interrupt, Resource};

/// How a failure was found: what a failure file says besides the failure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// Relative to the folder that holds `.ioco`.
    pub model: PathBuf,
    #[serde(flatten)]
    pub options: ModelOptions,
    #[serde(default)]
    pub uioco: bool,
    /// The solver besides the embedded one, by name; `other` for one that only a command can start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub solver: Option<String>,
    /// Nanoseconds, where the model's time-out was overridden.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<u64>,
    #[serde(flatten)]
    pub system: KeptSystem,
}

impl Origin {
    pub fn new(
        options: ModelOptions,
        model: &Model,
        project: &Project,
        meaning: &SemanticsOptions,
        timeout: Option<u64>,
        reach: &ConnectionSpec,
    ) -> Origin {
        Origin {
            model: inside(&model.path, project).to_owned(),
            options,
            uioco: meaning.relation == Relation::Uioco,
            solver: meaning.solver.name().map(str::to_owned),
            timeout,
            system: KeptSystem::new(reach),
        }
    }

    /// Whether this was found with the file of `model`, whatever its text was then.
    pub fn is_of(&self, model: &Model, project: &Project) -> bool {
        let written = self.model.as_path() == inside(&model.path, project);
        written || trust::is_same_path(&project.root.join(&self.model), &model.path)
    }

    pub fn relation(&self) -> Relation {
        if self.uioco {
            Relation::Uioco
        } else {
            Relation::Ioco
        }
    }
}

/// `path` relative to the project, if it lies in it.
fn inside<'p>(path: &'p Path, project: &Project) -> &'p Path {
    path.strip_prefix(&project.root).unwrap_or(path)
}

/// A recorded failure with everything that is needed to run it again.
pub struct Opened {
    pub file: FailureFile,
    pub path: PathBuf,
    pub model: Model,
    pub session: Session,
    project: Project,
    results: Results,
    reach: ConnectionSpec,
    solver: SolverChoice,
    timeout: Option<u64>,
    /// Systems that the failure is run on side by side.
    jobs: usize,
}

/// What became of a recorded failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReplayVerdict {
    Fixed,
    StillFailing,
    /// The system fails in another way, or does what the model allows now.
    Different,
    /// Some runs fail.
    Flaky,
    Error,
}

impl ReplayVerdict {
    pub fn name(self) -> &'static str {
        match self {
            ReplayVerdict::Fixed => "fixed",
            ReplayVerdict::StillFailing => "still-failing",
            ReplayVerdict::Different => "different",
            ReplayVerdict::Flaky => "flaky",
            ReplayVerdict::Error => "error",
        }
    }
}

/// What running a recorded failure again said.
pub struct Replay {
    pub said: Replayed,
    pub failed: u64,
    pub runs: u64,
    /// The first run that failed, or else the last.
    pub shown: Option<Execution>,
    pub explanation: Option<Explanation>,
}

impl Replay {
    /// What is shown is the end of the system, which is an error.
    pub fn is_error(&self) -> bool {
        let shown = self.shown.as_ref();
        shown.is_some_and(|shown| matches!(shown.verdict, Verdict::Ended(_)))
    }

    pub fn verdict(&self) -> ReplayVerdict {
        match &self.said {
            Replayed::Fixed => ReplayVerdict::Fixed,
            Replayed::StillFailing => ReplayVerdict::StillFailing,
            // The system did not change, so nothing is fixed.
            Replayed::Different(_) | Replayed::Allowed { .. } => ReplayVerdict::Different,
            Replayed::Flaky { .. } | Replayed::Unseen { .. } => ReplayVerdict::Flaky,
            Replayed::Unusable(_) => ReplayVerdict::Error,
        }
    }
}

/// A recorded failure, cut down again.
pub struct ShrinkResult {
    pub saved: FailureFile,
    pub path: PathBuf,
    pub shrunk: Shrunk,
    pub explanation: Option<Explanation>,
    pub notes: Vec<Note>,
}

impl Opened {
    /// Runs the failure again; `None` if that was interrupted.
    pub fn replay(&mut self, times: u32, original: bool) -> Result<Option<Replay>, CampaignError> {
        let session = &mut self.session;
        let stimuli = if original {
            self.file.first_stimuli(&session.sts)
        } else {
            self.file.stimuli(&session.sts)
        };
        let stimuli = stimuli.map_err(|error| CampaignError::usage(error.to_string()))?;
        let Some(mut runs) = self.runs(&stimuli, times.max(1))? else {
            return Ok(None);
        };
        let session = &mut self.session;
        let failed = runs.iter().filter(|run| run.deviation().is_some()).count() as u64;
        let said = self.file.compare(&session.sts, &runs);
        if let Replayed::Unusable(message) = &said {
            return Err(unusable(session, message));
        }
        let is_refused = |run: &Execution| match &run.verdict {
            Verdict::Inconclusive(reason) => reason.cause == Cause::NotOffered,
            _ => false,
        };
        if runs.iter().all(is_refused)
            && let Some(stimulus) = self.refused_stimulus(original)
        {
            return Err(CampaignError::usage(format!(
                "failure {} cannot be replayed: the model does not have its stimulus {stimulus} there any more",
                self.file.id
            ))
            .hint("the model has changed since; where that was meant, delete the failure's file"));
        }
        let session = &mut self.session;
        let total = runs.len() as u64;
        let context = Context {
            test: Some(self.file.test),
            seed: Some(self.file.seed),
            system: session.sts.name().to_owned(),
            // Without a failure there is nothing that could be certain or flaky.
            confirmed: (failed > 0).then_some((failed, total)),
            ..Context::default()
        };
        let first = runs.iter().position(|run| run.deviation().is_some());
        let index = first.unwrap_or(runs.len() - 1);
        let shown = runs.swap_remove(index);
        Ok(Some(Replay {
            said,
            failed,
            runs: total,
            explanation: session.explain(&shown, &context),
            shown: Some(shown),
        }))
    }

    /// The stimulus of the failure that the model does not allow after the steps before it.
    fn refused_stimulus(&self, original: bool) -> Option<String> {
        match self.file.execution(&mut self.session.semantics(), original) {
            Err(FailureError::StepRefused { step, .. }) => {
                Some(step).filter(|step| step.starts_with('?'))
            }
            _ => None,
        }
    }

    /// Runs stimuli so many times, until the system cannot be used; `None` if that was interrupted.
    fn runs(
        &mut self,
        stimuli: &[Action],
        times: u32,
    ) -> Result<Option<Vec<Execution>>, CampaignError> {
        if let Some(mut dispatch) = self.dispatch()? {
            let runs =
                dispatch.replay_times(stimuli, times, &mut OrderBook::of(&mut self.session))?;
            let is_raised = self.session.interrupt.is_raised();
            return Ok((!is_raised).then_some(runs));
        }
        let mut runs: Vec<Execution> = Vec::new();
        for _ in 0..times {
            runs.push(self.session.replay(stimuli));
            if self.session.interrupt.is_raised() {
                return Ok(None);
            }
            let unusable = |run: &Execution| matches!(run.verdict, Verdict::Error(_));
            if runs.last().is_some_and(unusable) {
                break;
            }
        }
        Ok(Some(runs))
    }

    /// Runs the failure on so many systems side by side.
    pub fn set_jobs(&mut self, jobs: usize) -> Result<(), CampaignError> {
        if jobs == 0 {
            return Err(no_jobs());
        }
        self.reach.check_jobs(jobs)?;
        self.jobs = jobs;
        Ok(())
    }

    /// The workers of the jobs; `None` where this process runs the failure itself. From then on the system of this
    /// process is one of theirs.
    fn dispatch(&mut self) -> Result<Option<Dispatch>, CampaignError> {
        if self.jobs <= 1 {
            return Ok(None);
        }
        self.session.link = Link::elsewhere();
        let setup = WorkerSetup {
            name: String::new(),
            model: self.model.clone(),
            project: self.project.clone(),
            reach: self.reach.clone(),
            solver: self.solver.clone(),
            interrupt: self.session.interrupt.clone(),
        };
        let meaning = SemanticsOptions {
            relation: self.session.relation(),
            solver: self.solver.clone(),
        };
        let settings = self.session.tester.settings();
        let recipe = Recipe::new(settings, &meaning, self.timeout, None);
        let (model, system) = (self.model.hash.clone(), self.reach.name.clone());
        let threads = Box::new(Threads::start(self.jobs, &setup));
        let mut dispatch = Dispatch::new(threads, "again".to_owned(), model, system, recipe);
        dispatch.plan(Vec::new(), false, Vec::new());
        Ok(Some(dispatch))
    }

    /// Cuts the failure down again and keeps it; `None` if it does not fail any more. The failure
    /// as the system shows it today is what is shrunk, so that it is a real one.
    pub fn shrink(
        &mut self,
        settings: &ShrinkSettings,
        observer: &mut dyn Observer,
    ) -> Result<Option<ShrinkResult>, CampaignError> {
        let session = &mut self.session;
        let stimuli = self.file.first_stimuli(&session.sts);
        let stimuli = stimuli.map_err(|error| CampaignError::usage(error.to_string()))?;
        // One that is not always seen is tried as often as it would be confirmed.
        let tries = settings.confirm.max(settings.attempts).max(1);
        let mut runs = 0;
        let (report, wire) = loop {
            let first = session.tester.scripted_test(stimuli.clone(), session.now());
            let report = session.run(first, observer);
            runs += 1;
            match &report.execution.verdict {
                Verdict::Fail(_) | Verdict::Ended(_) => break (report, session.wire()),
                Verdict::Error(reason) => return Err(unusable(session, &reason.text)),
                Verdict::Pass | Verdict::Inconclusive(_) => {}
            }
            if runs == tries || session.interrupt.is_raised() {
                return Ok(None);
            }
        };
        let seen = Confidence { failed: 1, runs };
        let shrinking = session.shrinking(settings, seen)?;
        let mut dispatch = self.dispatch()?;
        let session = &mut self.session;
        let shrunk = match &mut dispatch {
            None => session.shrink(&report.execution, settings, seen, observer)?,
            Some(dispatch) => {
                let mut runner = dispatch.runner(OrderBook::of(session));
                let shrunk = shrinking.run(&report.execution, &mut runner, observer);
                runner.broken.map_or(shrunk, Err)?
            }
        };
        let stimuli: Vec<Action> = shrunk.execution.stimuli().cloned().collect();
        let shown = match &mut dispatch {
            None => session.show(&stimuli),
            Some(dispatch) => dispatch.show(&stimuli, &mut OrderBook::of(session))?,
        };
        let saved = self.keep(&report, wire, &shrunk, shown)?;
        let path = self.path.with_file_name(saved.id.file_name());
        let context = Context {
            test: Some(saved.test),
            seed: Some(saved.seed),
            system: self.session.sts.name().to_owned(),
            shrunk: Some(sizes(&shrunk)),
            confirmed: confirmed(shrunk.confidence),
            ..Context::default()
        };
        Ok(Some(ShrinkResult {
            explanation: self.session.explain(&shrunk.execution, &context),
            notes: shrinking::notes(&shrunk, shrunk.confidence),
            saved,
            path,
            shrunk,
        }))
    }

    fn keep(
        &self,
        report: &TestReport,
        wire: Vec<ioco_engine::WireLine>,
        shrunk: &Shrunk,
        shown: ReplayedRun,
    ) -> Result<FailureFile, CampaignError> {
        let context = FailureContext {
            model_hash: self.file.model_hash.clone(),
            seed: self.file.seed,
            wire,
            shrunk: Some((shrunk.execution.clone(), shrunk.runs)),
            minimal: shrunk.minimal.is_some(),
            confirmed: confirmed(shrunk.confidence),
            connection: self.file.connection.clone(),
        };
        let mut saved = FailureFile::new(&self.session.sts, report, context)
            .ok_or_else(|| CampaignError::usage("the failure could not be written"))?;
        shown.put_into(&mut saved, &shrunk.execution);
        saved.test = self.file.test;
        saved.test_seed = self.file.test_seed;
        saved.accepted = self.file.accepted.clone();
        saved.also = self.file.also.clone();
        if !saved.is_shown_by(&self.file.deviation) {
            saved.also.push(self.file.deviation.clone());
        }
        lifecycle::take_over_ids(&mut saved, &self.file);
        let new_path = self.path.with_file_name(saved.id.file_name());
        let (text, _) = bounded(&new_path, &saved, self.session.sts.budget())?;
        self.results.write(&new_path, text.as_bytes())?;
        let own = self
            .path
            .parent()
            .is_some_and(|p| p.ends_with(".ioco/failures"));
        if own {
            history::replace(&self.project, &self.file.id, &saved)?;
            if new_path != self.path {
                // The same failure under its new id; the old file would be tried twice.
                let _ = std::fs::remove_file(&self.path);
            }
        }
        Ok(saved)
    }
}

/// A recorded failure, and the project that it belongs to.
struct Located {
    file: FailureFile,
    path: PathBuf,
    origin: Origin,
    project: Project,
    results: Results,
}

fn locate(
    typed: &str,
    here: &Project,
    system: &SystemChoice,
    limits: Limits,
    observer: &mut dyn Observer,
) -> Result<Located, CampaignError> {
    let results = Results::at(here.results());
    let budget = here.limits.overridden_by(limits).budget();
    let path = find(&results, typed, here, &budget, observer)?;
    let file = read(&path, &budget)?;
    let origin: Origin = serde_json::from_value(file.connection.clone()).map_err(|error| {
        CampaignError::usage(format!(
            "{} does not say how it was found: {}",
            path.display(),
            Untrusted::of(error)
        ))
    })?;
    let root = home(&path);
    // ioco.toml says how to reach the system that the failure file names.
    let profile = system.profile.as_deref().or(origin.system.profile());
    let own = Project::find(Some(&root), profile).ok();
    let project = Project {
        root: root.clone(),
        store: here.store.clone(),
        hubs: here.hubs.clone(),
        ledger: here.ledger.clone(),
        allowed: here.allowed.clone(),
        insecure: here.insecure,
        ..own.unwrap_or_default()
    };
    Ok(Located {
        file,
        path,
        origin,
        project,
        results,
    })
}

fn reach(
    origin: &Origin,
    system: &SystemChoice,
    project: &Project,
    here: &Project,
    observer: &mut dyn Observer,
) -> Result<ConnectionSpec, CampaignError> {
    if system.is_way() {
        ConnectionSpec::find(system, project)
    } else {
        trust::resolve(&origin.system, project, &here.root, observer)
    }
}

/// A failure with its project and how its system is reached: for those who do not run it.
pub fn look_up(
    typed: &str,
    here: &Project,
    system: &SystemChoice,
    observer: &mut dyn Observer,
) -> Result<(FailureFile, Project, ConnectionSpec), CampaignError> {
    let found = locate(typed, here, system, Limits::default(), observer)?;
    let reach = reach(&found.origin, system, &found.project, here, observer)?;
    Ok((found.file, found.project, reach))
}

/// Opens the failure that a person means by `typed`; `here` is the project to look in.
pub fn open(
    typed: &str,
    here: &Project,
    system: &SystemChoice,
    solver: Option<&str>,
    limits: Limits,
    interrupt: Interrupt,
    observer: &mut dyn Observer,
) -> Result<Opened, CampaignError> {
    let Located {
        file,
        path,
        mut origin,
        project,
        results,
    } = locate(typed, here, system, limits, observer)?;
    origin.options.limits = origin.options.limits.overridden_by(limits);
    let located = Project {
        model: Some(trust::model(&origin.model, &project, observer)?),
        ..project.clone()
    };
    let model = model::load(&origin.options, &located, observer)?;
    if model.hash != file.model_hash {
        observer.warning("the model has changed since this failure was found");
    }
    let reach = reach(&origin, system, &project, here, observer)?;
    let sts = match origin.timeout {
        Some(nanoseconds) => std::sync::Arc::new(model.sts.with_timeout(nanoseconds)),
        None => std::sync::Arc::clone(&model.sts),
    };
    // A solver is a command too: that of another folder's ioco.toml is not started.
    let is_here = trust::is_same_path(&project.root, &here.root);
    let configured = project.test.solver.as_deref().filter(|_| is_here);
    let solver = SolverChoice::again(solver, origin.solver.as_deref(), configured);
    if solver.is_none() {
        observer.warning_with(
            "this failure was found with a solver that only a command can start",
            &Remedy::NameSolverAgain,
        );
    }
    let meaning = SemanticsOptions {
        relation: origin.relation(),
        solver: solver.unwrap_or_default(),
    };
    let solver = meaning.solver.clone();
    let session = Session::open(
        &sts,
        &reach,
        &project,
        meaning,
        Settings {
            seed: file.seed,
            ..Settings::default()
        },
        interrupt,
    )?;
    session.invite(observer);
    Ok(Opened {
        file,
        path,
        model,
        session,
        project,
        results,
        reach,
        solver,
        timeout: origin.timeout,
        jobs: 1,
    })
}

/// The file of the failure that a person means by `typed`: by its id, or by one that it had before.
pub fn find(
    results: &Results,
    typed: &str,
    here: &Project,
    budget: &Budget,
    observer: &mut dyn Observer,
) -> Result<PathBuf, CampaignError> {
    let stop = match results.find_failure(typed) {
        Ok(path) => return Ok(path),
        Err(stop) => stop,
    };
    let called = |path: &PathBuf| read(path, budget).is_ok_and(|file| file.is_called(typed));
    if let Some(path) = results.failure_files().into_iter().find(called) {
        return Ok(path);
    }
    // Another's run may have found it.
    history::fetch(here, typed, observer)?.ok_or(stop)
}

/// Accepts a failure, with a reason, or takes that back: returns its file as it is now.
pub fn accept(
    path: &Path,
    reason: Option<&str>,
    here: &Project,
) -> Result<FailureFile, CampaignError> {
    let mut file = read(path, &here.limits.budget())?;
    file.accepted = reason.map(str::to_owned);
    Results::at(here.results()).write(path, file.write().as_bytes())?;
    history::replace(here, &file.id, &file)?;
    Ok(file)
}

pub fn read(path: &Path, budget: &Budget) -> Result<FailureFile, CampaignError> {
    let text = read_text(path, budget).map_err(|error| {
        CampaignError::usage(format!("cannot read {}: {error}", path.display()))
    })?;
    FailureFile::read(&text).map_err(|error| {
        CampaignError::usage(format!("{}: {}", path.display(), Untrusted::of(error)))
    })
}

/// The folder that holds `.ioco/failures/`; the current one for a file that lies elsewhere.
fn home(path: &Path) -> PathBuf {
    let named = |path: &Path, name: &str| path.file_name().is_some_and(|n| n == name);
    let failures = path.parent().filter(|p| named(p, "failures"));
    let results = failures
        .and_then(Path::parent)
        .filter(|p| named(p, ".ioco"));
    let root = results
        .and_then(Path::parent)
        .filter(|p| !p.as_os_str().is_empty());
    root.map_or_else(|| PathBuf::from("."), Path::to_owned)
}

/// Why a run that could not go on ended, as the person should see it.
pub fn unusable(session: &Session, message: &str) -> CampaignError {
    let hint = session.error.as_ref().and_then(|error| error.hint.clone());
    CampaignError {
        hint,
        ..CampaignError::system(message)
    }
}

/// The text of a failure's file, within the limit on the size of a file: ioco could not read a larger one again. Values
/// of steps are needed for a replay and stay whole; what crossed the wire is left out where it is too much, and the
/// note says so.
pub(crate) fn bounded(
    path: &Path,
    file: &FailureFile,
    budget: &Budget,
) -> Result<(String, Option<String>), CampaignError> {
    let check = |text: &str| budget.check(Resource::Bytes, text.len() as u64);
    let text = file.write();
    let Err(over) = check(&text) else {
        return Ok((text, None));
    };
    let mut less = file.clone();
    less.wire.clear();
    if let Some(shrunk) = &mut less.shrunk {
        shrunk.wire.clear();
    }
    let text = less.write();
    if check(&text).is_err() {
        let why = format!("cannot write {}: {over}", path.display());
        return Err(CampaignError::usage(why));
    }
    let note = format!(
        "{} does not contain the messages on the wire: {over}",
        path.display()
    );
    Ok((text, Some(note)))
}

#[cfg(test)]
mod bounds {
    use super::*;

    #[test]
    fn a_failure_file_within_the_limit_loses_nothing_and_a_larger_one_first_what_no_replay_needs() {
        let text = "x".repeat(1000);
        let file: FailureFile = serde_json::from_value(serde_json::json!({
            "version": 1,
            "id": "7e74b13b",
            "model": "ping",
            "model_hash": "",
            "seed": 1,
            "test": 1,
            "test_seed": 1,
            "deviation": {
                "code": "D001",
                "kind": "unexpected-response",
                "observed": "!pang",
                "label": "!pang",
                "locations": [],
                "states": [],
            },
            "steps": [{ "at": 1, "response": "pong", "values": { "text": text } }],
            "deviated_at": 1,
            "wire": [{ "at": 1, "from": "system", "text": text }],
            "connection": {},
        }))
        .expect("a failure");
        let whole = file.write();
        let within = |bytes: usize| {
            let budget = Budget {
                bytes: bytes as u64,
                ..Budget::default()
            };
            bounded(Path::new("f.json"), &file, &budget)
        };
        let (written, note) = within(whole.len()).expect("within the limit");
        assert_eq!((written, note), (whole.clone(), None));
        let (written, note) = within(whole.len() - 1).expect("without the wire");
        assert!(written.contains(&text) && written.len() < 2000, "{written}");
        let note = note.expect("a note");
        assert!(
            note.contains("f.json does not contain the messages on the wire"),
            "{note}"
        );
        assert!(note.contains("--limit bytes=N"), "{note}");
        let refused = within(1000).expect_err("too large").message;
        assert!(
            refused.contains("cannot write f.json: this is larger than 1000 bytes"),
            "{refused}"
        );
    }
}

//! Runs that this server started, each on a thread of its own.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::mpsc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use ioco_campaign::work::WorkerRow;
use ioco_campaign::{
    Campaign, CampaignError, FoundFailure, Interrupt, Observer, Outcome, Plan, Remedy,
    ShrinkSettings, failures,
};
use ioco_engine::{Explanation, FailureId, RunVerdict, TestReport, Tester};
use ioco_sts::Sts;
use ioco_view::{
    Facts, FailureSummary, ProgressPoint, RunDetail, RunRequest, RunState, RunSummary, TrendPoint,
};

use crate::clock;
use crate::control::Control;
use crate::live::{
    Counts, Ending, Feed, FeedPosition, Limits, Live, Speed, TesterView, WorkerView,
};
use crate::refusal::Refusal;
use crate::slot::InUse;
use crate::{words, work};

/// What is shown is at most so old.
const FRESH: Duration = Duration::from_millis(80);

/// The progress of every shrinking that this server has seen, by failure.
pub type ShrinkingProgress = Arc<Mutex<HashMap<String, Vec<ProgressPoint>>>>;

/// A run of this server: under way, or over.
pub struct Run {
    pub control: Control,
    /// What was asked for, where it can be asked for again.
    request: Option<RunRequest>,
    /// Whether several workers carry out the tests.
    is_shared: bool,
    feed: Feed,
    interrupt: Interrupt,
}

impl Run {
    /// Opens the campaign and lets it go; an error is one of the plan.
    pub fn start(
        plan: Plan,
        control: Control,
        request: Option<RunRequest>,
        progress_by_failure: ShrinkingProgress,
        in_use: InUse,
    ) -> Result<Arc<Run>, Refusal> {
        let run = Arc::new(Run {
            control,
            request,
            is_shared: plan.jobs > 1,
            feed: Feed::default(),
            interrupt: Interrupt::default(),
        });
        let (opened, is_open) = mpsc::channel();
        let own = Arc::clone(&run);
        work::spawn(move || own.go(plan, progress_by_failure, in_use, &opened))
            .map_err(|error| CampaignError::system(format!("the run cannot start: {error}")))?;
        match is_open.recv() {
            Ok(Ok(())) => Ok(run),
            Ok(Err(stop)) => Err(stop.into()),
            Err(_) => Err(CampaignError::usage("the run ended before it began").into()),
        }
    }

    fn go(
        &self,
        plan: Plan,
        progress_by_failure: ShrinkingProgress,
        in_use: InUse,
        opened: &mpsc::Sender<Result<(), CampaignError>>,
    ) {
        let mut watcher = Watcher {
            run: self,
            sts: Arc::clone(&plan.model.sts),
            progress_by_failure,
            id: String::new(),
            started: Instant::now(),
            written: Instant::now(),
            place: (0, usize::MAX),
            covered: None,
            invitation: None,
            limit: Duration::from_nanos(plan.reach.patience),
            speed: Speed::new(),
            shrinking_progress: Vec::new(),
            found: None,
            ids: HashMap::new(),
        };
        let campaign = match Campaign::open(plan, self.interrupt.clone(), &mut watcher) {
            Ok(campaign) => campaign,
            Err(stop) => {
                drop(in_use);
                let _ = opened.send(Err(stop));
                return;
            }
        };
        watcher.id = campaign.number().to_string();
        watcher.sts = Arc::clone(&campaign.model.sts);
        self.feed.write(|seen| {
            seen.summary = RunSummary {
                run: watcher.id.clone(),
                model: campaign.model.sts.name().to_owned(),
                model_hash: campaign.model.hash.clone(),
                started: clock::iso(SystemTime::now()),
                state: RunState::Running,
                seed: campaign.seed,
                strategy: campaign
                    .session
                    .tester
                    .settings()
                    .strategy
                    .name()
                    .to_owned(),
                ..RunSummary::default()
            };
            seen.sts = Some(Arc::clone(&campaign.model.sts));
            seen.numbers(&campaign.session.tester.summary());
            seen.limits = Limits::of(&campaign.session.tester);
            let what = "the system to be ready".to_owned();
            seen.waiting = Some((what, Instant::now(), watcher.limit));
            seen.message.clone_from(&watcher.invitation);
        });
        let _ = opened.send(Ok(()));
        let outcome = guarded(|| campaign.run(&mut watcher));
        let seconds = watcher.started.elapsed().as_secs_f64();
        // The next run may begin as soon as the page shows that this one is over.
        drop(in_use);
        self.over(outcome, seconds);
    }

    fn over(&self, outcome: Result<Outcome, CampaignError>, seconds: f64) {
        self.feed.write(|seen| {
            seen.summary.seconds = seconds;
            seen.waiting = None;
            for worker in &mut seen.workers {
                worker.now.clear();
            }
            match outcome {
                Ok(outcome) => {
                    seen.numbers(&outcome.summary);
                    seen.summary.verdict = outcome.verdict();
                    let reason = outcome.summary.stopped;
                    let state = RunState::ended(reason);
                    seen.summary.state = state;
                    // What went wrong says more than that something did.
                    if state != RunState::Error || seen.message.is_none() {
                        seen.message = reason.map(|reason| reason.words().to_owned());
                    }
                }
                Err(stop) => {
                    seen.summary.state = RunState::Error;
                    seen.summary.verdict = RunVerdict::Error;
                    seen.message = Some(words::error(&stop));
                }
            }
        });
    }

    pub fn summary(&self) -> RunSummary {
        let seen = self.feed.seen();
        RunSummary {
            state: self.state(seen.summary.state),
            message: seen.message.clone(),
            delay_ms: self.delay_ms(),
            ..seen.summary.clone()
        }
    }

    pub fn detail(&self) -> RunDetail {
        let seen = self.feed.seen();
        let mut detail = seen.detail(self.state(seen.summary.state));
        detail.summary.delay_ms = self.delay_ms();
        detail.request.clone_from(&self.request);
        detail
    }

    /// Whether several workers carry out the tests, so that nobody can wait for the next step.
    pub fn is_shared(&self) -> bool {
        self.is_shared
    }

    fn delay_ms(&self) -> u64 {
        u64::try_from(self.control.delay().as_millis()).unwrap_or(u64::MAX)
    }

    /// What is new, and whether it is the last that will be.
    pub fn batch(&self, got: &mut FeedPosition) -> (Option<Live>, bool) {
        let seen = self.feed.seen();
        let state = self.state(seen.summary.state);
        (seen.batch(got, state), seen.is_over())
    }

    pub fn stop(&self) {
        self.interrupt.raise();
        self.control.stop();
    }

    fn state(&self, written: RunState) -> RunState {
        match written {
            RunState::Running if self.control.is_paused() => RunState::Paused,
            other => other,
        }
    }
}

/// Does work on behalf of the page. A defect of ours ends it like any other error, so that
/// nothing waits for it.
pub fn guarded<T>(work: impl FnOnce() -> Result<T, CampaignError>) -> Result<T, CampaignError> {
    std::panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        Err(CampaignError::usage("this went wrong inside ioco")
            .hint("the terminal of `ioco serve` says more; please report it"))
    })
}

/// How runs of the page shrink what fails.
pub fn shrinking() -> Option<ShrinkSettings> {
    Some(ShrinkSettings::default())
}

/// Writes down what the campaign tells.
struct Watcher<'a> {
    run: &'a Run,
    sts: Arc<Sts>,
    progress_by_failure: ShrinkingProgress,
    id: String,
    started: Instant,
    /// When what is shown was last written.
    written: Instant,
    /// The test and the number of its steps, when last looked at.
    place: (u64, usize),
    /// What was covered when last looked at.
    covered: Option<TrendPoint>,
    /// Who has to connect before the run can begin.
    invitation: Option<String>,
    /// How long a system may take until it is ready.
    limit: Duration,
    speed: Speed,
    shrinking_progress: Vec<ProgressPoint>,
    /// The failure that the test under way turned out to be.
    found: Option<String>,
    ids: HashMap<FailureId, String>,
}

impl Watcher<'_> {
    /// Every step that covers something is a point of the curve, however fast the run goes.
    fn cover(&mut self, tester: &Tester) {
        let covered = tester.coverage();
        let now = TrendPoint::of(covered, 0);
        if self.covered.as_ref() != Some(&now) {
            self.covered = Some(now);
            let point = TrendPoint::of(covered, tester.summary().steps());
            self.run.feed.write(|seen| seen.covered(point));
        }
    }

    /// The run goes on.
    fn begun(&mut self) {
        let invitation = self.invitation.take();
        let is_waiting = self.run.feed.seen().waiting.is_some();
        if is_waiting || invitation.is_some() {
            self.run.feed.write(|seen| {
                seen.waiting = None;
                if seen.message == invitation {
                    seen.message = None;
                }
            });
        }
    }

    fn write(&mut self, tester: &mut Tester) {
        let moment = TesterView::of(tester, &self.sts, &mut self.speed);
        let seconds = self.started.elapsed().as_secs_f64();
        self.run.feed.write(|seen| moment.write(seen, seconds));
        self.written = Instant::now();
    }

    fn say(&self, text: String) {
        self.run.feed.write(|seen| seen.message = Some(text));
    }
}

impl Observer for Watcher<'_> {
    fn ready(&mut self) {
        self.begun();
    }

    fn notice(&mut self, message: &str) {
        if self.id.is_empty() {
            self.invitation = Some(message.to_owned());
        } else {
            self.say(message.to_owned());
        }
    }

    fn workers(&mut self, workers: &[WorkerRow], tester: &mut Tester) {
        let now = || workers.iter().flat_map(|worker| &worker.now);
        let under_way: u64 = now().map(|doing| doing.steps).sum();
        let counts = Counts::of(tester, &self.sts, 0);
        if under_way > 0 || tester.summary().tests > 0 {
            self.begun();
        }
        let rate = self.speed.measure(tester.summary().steps() + under_way);
        let seconds = self.started.elapsed().as_secs_f64();
        let rows: Vec<WorkerView> = workers.iter().map(WorkerView::of).collect();
        self.run.feed.write(|seen| {
            counts.write(seen);
            seen.rate(rate, seconds);
            seen.workers = rows;
        });
    }

    fn handled(&mut self, tester: &mut Tester) {
        self.cover(tester);
        if self.run.is_shared {
            return;
        }
        if self.run.control.is_free() {
            if self.written.elapsed() >= FRESH {
                self.write(tester);
            }
            return;
        }
        let place = (tester.test_number(), tester.trace().len());
        if place != self.place {
            self.place = place;
            self.write(tester);
            self.run.control.pass();
        }
    }

    fn finished(&mut self, report: &TestReport, tester: &mut Tester) {
        let found = self.found.take();
        if let (Some(group), Some(id)) = (report.failure, found) {
            self.ids.insert(group, id);
        }
        let failure = report
            .failure
            .and_then(|group| self.ids.get(&group).cloned());
        let counts = Counts::of(tester, &self.sts, 0);
        // Tests side by side have no last step of all.
        let end = (!self.run.is_shared).then(|| Ending::of(report, tester, &self.sts));
        let name = report.name.as_deref().map(|name| self.sts.titled(name));
        self.run.feed.write(|seen| {
            counts.write(seen);
            seen.tested(report, name, failure);
            if let Some(end) = end {
                end.write(seen);
            }
        });
    }

    fn found(&mut self, found: &FoundFailure) {
        let shrinking_progress = std::mem::take(&mut self.shrinking_progress);
        let facts = Facts {
            first_seen: Some(clock::iso(SystemTime::now())),
            run: Some(self.id.clone()),
            ..Facts::default()
        };
        if !shrinking_progress.is_empty() {
            let mut known = self
                .progress_by_failure
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            known.insert(found.id.clone(), shrinking_progress);
        }
        self.found = Some(found.id.clone());
        let summary = failures::read(&found.file, self.sts.budget()).map(|file| FailureSummary {
            flaky: found.flaky,
            ..FailureSummary::new(&file, &facts)
        });
        self.run.feed.write(|seen| {
            seen.message = None;
            if let Ok(summary) = summary {
                seen.found(summary);
            }
        });
    }

    fn again(&mut self, id: &str) {
        self.found = Some(id.to_owned());
    }

    fn unusual(&mut self, explanation: Option<&Explanation>, hint: Option<&str>) {
        let Some(explanation) = explanation else {
            return;
        };
        let what = &explanation.title;
        self.say(match hint {
            Some(hint) => format!("{what}; {hint}"),
            None => what.clone(),
        });
    }

    fn shrinking(&mut self, from: usize, now: ioco_shrink::Progress) {
        extend_progress(&mut self.shrinking_progress, from, now);
        self.say(format!(
            "shrinking {from} → {} steps, {} runs",
            now.length, now.runs
        ));
    }

    fn warning(&mut self, message: &str) {
        self.say(message.to_owned());
    }

    fn warning_with(&mut self, message: &str, remedy: &Remedy) {
        self.say(words::warning(message, remedy));
    }
}

/// Adds a point where it got shorter, and moves its end along.
pub fn extend_progress(points: &mut Vec<ProgressPoint>, from: usize, now: ioco_shrink::Progress) {
    if points.is_empty() {
        points.push(ProgressPoint {
            run: 0,
            length: from,
        });
    }
    let point = ProgressPoint {
        run: now.runs,
        length: now.length,
    };
    let flat = points.len() > 1
        && points[points.len() - 2..]
            .iter()
            .all(|p| p.length == now.length);
    match points.last_mut() {
        Some(last) if flat => *last = point,
        _ => points.push(point),
    }
}

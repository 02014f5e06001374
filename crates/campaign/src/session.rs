//! A model, a tester and a connection, put together: what `test`, `replay` and `shrink` share.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ioco_adapters::{
    AdapterError, Connection, Crossed, Limited, LogLine, Recorder, ScriptRunner, drive_watched,
};
use ioco_engine::{
    Command, Context, Explanation, FailureFile, Sender, Settings, Shrunk as Sizes, StrategyKind,
    Summary, TestContext, TestReport, Tester, WireLine, explain, weight_of,
};
use ioco_shrink::{
    Confidence, Confirmation, Ended, Options, Pipeline, Progress as ShrinkProgress, Pruning,
    Runner, ShrinkObserver, Shrunk,
};
use ioco_sts::{Action, Direction, Execution, LabelId, Semantics, Sts, Verdict};

use crate::connect::{ConnectionSpec, Link};
use crate::error::CampaignError;
use crate::observer::Observer;
use crate::project::Project;
use crate::shrinking::ShrinkSettings;
use crate::solver::SemanticsOptions;
use crate::work::Outcome;
use ioco_budget::Interrupt;

/// How long a wait may go on after the time of the run is up.
const TIME_IS_UP: Duration = Duration::from_millis(300);

pub struct Session {
    pub sts: Arc<Sts>,
    pub tester: Tester,
    pub link: Link,
    pub interrupt: Interrupt,
    meaning: SemanticsOptions,
    /// When the run is over, whatever it waits for.
    over_at: Option<Instant>,
    recorder: Recorder,
    /// What the system wrote to its log in the last test, with times since it was ready.
    log: Vec<LogLine>,
    /// The last execution that failed while stimuli were run again, and its log.
    failed: Option<(Execution, Vec<LogLine>)>,
    /// What ended the last test, with the hint for a person.
    pub error: Option<AdapterError>,
    /// What crossed the wire in the last test, where a worker carried it out.
    carried: Option<CarriedWire>,
}

/// What a worker's outcome says of its connection.
struct CarriedWire {
    wire: Vec<WireLine>,
    is_ours: bool,
}

impl Session {
    pub fn open(
        sts: &Arc<Sts>,
        reach: &ConnectionSpec,
        project: &Project,
        meaning: SemanticsOptions,
        settings: Settings,
        interrupt: Interrupt,
    ) -> Result<Session, CampaignError> {
        let link = reach.connect(sts, project)?;
        Session::over(sts, link, meaning, settings, interrupt)
    }

    /// A session over a connection that is made already.
    pub(crate) fn over(
        sts: &Arc<Sts>,
        mut link: Link,
        meaning: SemanticsOptions,
        settings: Settings,
        interrupt: Interrupt,
    ) -> Result<Session, CampaignError> {
        let mut tester = Tester::new(meaning.semantics(sts)?, settings);
        tester.interrupted_by(interrupt.clone());
        link.interrupted_by(&interrupt);
        Ok(Session {
            sts: Arc::clone(sts),
            tester,
            link,
            interrupt,
            meaning,
            over_at: None,
            recorder: Recorder::new(sts.budget()),
            log: Vec::new(),
            failed: None,
            error: None,
            carried: None,
        })
    }

    /// Says what has to connect, if anything has to.
    pub fn invite(&self, observer: &mut dyn Observer) {
        if let Some(invitation) = self.link.invitation() {
            observer.notice(&invitation);
        }
    }

    pub fn now(&self) -> u64 {
        self.link.now()
    }

    /// Runs one test to its end.
    pub fn run(&mut self, first: Command, observer: &mut dyn Observer) -> TestReport {
        let interrupt = self.interrupt.clone();
        let over_at = self.over_at();
        let recorder = &mut self.recorder;
        let stop = || interrupt.is_raised() || over_at.is_some_and(|at| Instant::now() >= at);
        let mut link = Limited::new(&mut self.link, *self.sts.budget());
        let watching = RefCell::new(&mut *observer);
        self.error = drive_watched(
            &mut self.tester,
            first,
            &mut link,
            &stop,
            &mut |crossing| {
                recorder.note(crossing);
                if crossing.what == Crossed::Ready {
                    watching.borrow_mut().ready();
                }
            },
            &mut |tester| watching.borrow_mut().handled(tester),
        );
        let ready_at = self.recorder.ready_at();
        self.log = self.link.take_log();
        for line in &mut self.log {
            line.at = line.at.saturating_sub(ready_at);
        }
        for notice in self.link.take_notices() {
            observer.notice(&notice);
        }
        for warning in self.link.take_warnings() {
            observer.warning(&warning);
        }
        for warning in self.tester.semantics().take_warnings() {
            match crate::warning::show(&warning, &self.sts) {
                (text, Some(hint)) => observer.warning_with(&text, &hint),
                (text, None) => observer.warning(&text),
            }
        }
        let report = self.tester.finished_test();
        if report.execution.deviation().is_some() {
            self.failed = Some((report.execution.clone(), self.log.clone()));
        }
        report
    }

    /// When the time of the run is up, and a moment more: the tester ends a run whose time is up by itself,
    /// unless it waits for a system that does not answer.
    pub(crate) fn over_at(&mut self) -> Option<Instant> {
        let over_at = self.over_if_begun_now()?;
        Some(*self.over_at.get_or_insert(over_at))
    }

    /// When a run that begins now would be over. `None`: it may go on for ever, or its time is no real one.
    pub(crate) fn over_if_begun_now(&self) -> Option<Instant> {
        if self.link.is_virtual() {
            return None;
        }
        let time = Duration::from_nanos(self.tester.settings().stop.time?);
        Instant::now().checked_add(time)?.checked_add(TIME_IS_UP)
    }

    /// The numbers of the run so far, with what silence cost where the tests are carried out here.
    pub fn summary(&self) -> Summary {
        let summary = self.tester.summary();
        let price = self.tester.silence_price();
        Summary {
            silence: Some(price).filter(|price| price.observed == summary.silences),
            ..summary
        }
    }

    /// What crossed the wire in the last test.
    pub fn wire(&self) -> Vec<WireLine> {
        match &self.carried {
            Some(carried) => carried.wire.clone(),
            None => wire(&self.recorder, &self.log),
        }
    }

    /// Whether the system of the last test can be started again.
    pub(crate) fn is_ours(&self) -> bool {
        match &self.carried {
            Some(carried) => carried.is_ours,
            None => self.link.is_ours(),
        }
    }

    /// What the system wrote to its log in the last run that failed.
    pub(crate) fn failed_log(&self) -> &[LogLine] {
        self.failed.as_ref().map_or(&[], |(_, log)| log)
    }

    /// Makes the next test depend on the context alone.
    pub(crate) fn prepare(&mut self, context: &TestContext<'_>) -> Result<(), CampaignError> {
        self.failed = None;
        self.set_time(context.time);
        let prepared = self.tester.prepare(context);
        prepared.map_err(|error| CampaignError::usage(error.to_string()))
    }

    /// The run is over in so many nanoseconds.
    pub(crate) fn set_time(&mut self, nanoseconds: Option<u64>) {
        self.over_at = match nanoseconds {
            Some(time) if !self.link.is_virtual() => Instant::now()
                .checked_add(Duration::from_nanos(time))
                .and_then(|at| at.checked_add(TIME_IS_UP)),
            _ => None,
        };
    }

    /// Nanoseconds until the run is over; `None` without a limit.
    pub(crate) fn time_left(&mut self) -> Option<u64> {
        let over_at = self.over_at()?;
        let left = over_at.saturating_duration_since(Instant::now());
        let left = left.saturating_sub(TIME_IS_UP).as_nanos();
        Some(u64::try_from(left).unwrap_or(u64::MAX))
    }

    /// Takes over what a worker's outcome says besides its test.
    pub(crate) fn carried(&mut self, execution: &Execution, outcome: &Outcome) {
        self.error = outcome.error.clone().map(AdapterError::from);
        self.carried = Some(CarriedWire {
            wire: outcome.wire.clone(),
            is_ours: outcome.is_ours,
        });
        if execution.deviation().is_some() {
            let log = outcome.log.iter().cloned().map(LogLine::from);
            self.failed = Some((execution.clone(), log.collect()));
        }
    }

    /// Runs a list of stimuli; does not count towards the run.
    pub fn replay(&mut self, stimuli: &[Action]) -> Execution {
        self.replay_recorded(stimuli).execution
    }

    /// Runs a list of stimuli once more, on a system that is started just for this where it is ours
    /// to start.
    pub fn show(&mut self, stimuli: &[Action]) -> ReplayedRun {
        let afresh = self.link.start_afresh();
        ReplayedRun {
            afresh,
            ..self.replay_recorded(stimuli)
        }
    }

    /// Whether nothing more is to be run: a stop is requested, or the time of the run is up.
    pub(crate) fn is_over(&self) -> bool {
        self.interrupt.is_raised() || self.over_at.is_some_and(|at| Instant::now() >= at)
    }

    pub(crate) fn replay_recorded(&mut self, stimuli: &[Action]) -> ReplayedRun {
        let (interrupt, over_at) = (self.interrupt.clone(), self.over_at);
        let stop = || interrupt.is_raised() || over_at.is_some_and(|at| Instant::now() >= at);
        let mut link = Limited::new(&mut self.link, *self.sts.budget());
        let mut runner = ScriptRunner::new(&mut self.tester, &mut link, &stop);
        let execution = runner.run(stimuli);
        let shown = ReplayedRun {
            execution,
            times: runner.times,
            wire: wire(&runner.recorder, &runner.log),
            afresh: false,
        };
        self.error = runner.error;
        self.failed = runner.failed.or(self.failed.take());
        shown
    }

    /// Runs the stimuli of a failure `confirm` times, and up to `attempts` times until it is seen
    /// again at all. What could not be run counts neither way.
    pub fn confirm(&mut self, failure: &Execution, settings: &ShrinkSettings) -> Confirmation {
        let stimuli: Vec<Action> = failure.stimuli().cloned().collect();
        let mut confirmation = Confirmation::default();
        loop {
            let Confidence { failed, runs } = confirmation.confidence;
            let is_open = settings.confirm > 0 && failed == 0 && runs < settings.attempts;
            if runs >= settings.confirm && !is_open {
                break;
            }
            if self.is_over() {
                break;
            }
            let again = self.replay(&stimuli);
            if self.is_over() || matches!(again.verdict, Verdict::Error(_)) {
                break;
            }
            confirmation.count(failure, again);
        }
        confirmation
    }

    /// Cuts a failing execution down, within the time of the run.
    pub fn shrink(
        &mut self,
        failure: &Execution,
        settings: &ShrinkSettings,
        seen: Confidence,
        observer: &mut dyn Observer,
    ) -> Result<Shrunk, CampaignError> {
        let shrinking = self.shrinking(settings, seen)?;
        let (interrupt, over_at) = (shrinking.interrupt.clone(), shrinking.over_at);
        let stop = || interrupt.is_raised() || over_at.is_some_and(|at| Instant::now() >= at);
        let mut link = Limited::new(&mut self.link, *self.sts.budget());
        let mut runner = ScriptRunner::new(&mut self.tester, &mut link, &stop);
        let shrunk = shrinking.run(failure, &mut runner, observer)?;
        self.failed = runner.failed.or(self.failed.take());
        Ok(shrunk)
    }

    /// Everything that shrinking needs besides a way to run stimuli.
    pub(crate) fn shrinking(
        &self,
        settings: &ShrinkSettings,
        seen: Confidence,
    ) -> Result<Shrinking, CampaignError> {
        let pipeline = crate::shrinking::pipeline(&settings.shrinker)?;
        let pruning = Pruning::named(&settings.pruning).ok_or_else(|| {
            CampaignError::usage(format!("there is no pruning '{}'", settings.pruning))
                .hint("use none, labels or transitions")
        })?;
        let options = Options {
            pruning,
            same: settings.same,
            excluded: self.excluded(),
            runs: settings
                .runs
                .map(|runs| usize::try_from(runs).unwrap_or(usize::MAX)),
            prove: settings.prove,
            attempts: settings.attempts.max(1),
            confirm: settings.confirm,
            seen,
            interrupted: true,
            ..Options::default()
        };
        let own = settings.time.map(Duration::from_nanos);
        let own = own.and_then(|time| Instant::now().checked_add(time));
        Ok(Shrinking {
            pipeline,
            options,
            semantics: self.meaning.semantics(&self.sts)?,
            interrupt: self.interrupt.clone(),
            over_at: [own, self.over_at].into_iter().flatten().min(),
        })
    }

    /// Stimuli with the weight zero: nothing gives them, shrinking included.
    fn excluded(&self) -> Vec<LabelId> {
        let StrategyKind::Random { weights } = &self.tester.settings().strategy else {
            return Vec::new();
        };
        let stimuli = self.sts.labels_of(Direction::Stimulus);
        let labels = stimuli.filter(|id| weight_of(weights, &self.sts, *id) <= 0.0);
        labels.collect()
    }

    /// Why an execution did not pass.
    pub fn explain(&mut self, execution: &Execution, context: &Context) -> Option<Explanation> {
        let semantics = self.meaning.semantics(&self.sts);
        let mut semantics = semantics.unwrap_or_else(|_| self.meaning.shown(&self.sts));
        let explained = explain(&mut semantics, execution, context)?;
        let log = match &self.failed {
            Some((failed, log)) if failed.trace == execution.trace => log,
            _ => return Some(explained),
        };
        Some(explained.with_log(&log_lines(log).collect::<Vec<_>>()))
    }

    pub(crate) fn relation(&self) -> ioco_sts::Relation {
        self.meaning.relation
    }

    /// For showing what was judged here.
    pub fn semantics(&self) -> Semantics {
        self.meaning.shown(&self.sts)
    }
}

/// A failure about to be shrunk.
pub(crate) struct Shrinking {
    pipeline: Pipeline,
    options: Options,
    semantics: Semantics,
    interrupt: Interrupt,
    over_at: Option<Instant>,
}

impl Shrinking {
    pub fn run(
        mut self,
        failure: &Execution,
        runner: &mut dyn Runner,
        observer: &mut dyn Observer,
    ) -> Result<Shrunk, CampaignError> {
        let (interrupt, over_at) = (self.interrupt, self.over_at);
        let stop = || interrupt.is_raised() || over_at.is_some_and(|at| Instant::now() >= at);
        let mut watch = Watcher {
            stop: &stop,
            observer,
            from: failure.length(),
        };
        let shrunk = ioco_shrink::shrink(
            &self.pipeline,
            &mut self.semantics,
            failure,
            runner,
            &self.options,
            &mut watch,
        )
        .map_err(|error| CampaignError::usage(error.to_string()))?;
        if let Ended::AdapterError(message) = &shrunk.ended {
            watch
                .observer
                .warning(&format!("shrinking stopped: {message}"));
        }
        Ok(shrunk)
    }
}

/// The sizes before and after, for an explanation.
pub fn sizes(shrunk: &Shrunk) -> Sizes {
    Sizes {
        from: shrunk.original_length,
        to: shrunk.execution.length(),
        runs: shrunk.runs,
        minimal: shrunk.minimal.is_some(),
    }
}

struct Watcher<'a> {
    stop: &'a dyn Fn() -> bool,
    observer: &'a mut dyn Observer,
    from: usize,
}

impl ShrinkObserver for Watcher<'_> {
    fn progressed(&mut self, now: ShrinkProgress) {
        self.observer.shrinking(self.from, now);
    }

    fn stop(&mut self) -> bool {
        (self.stop)()
    }
}

/// A list of stimuli as it was run once.
pub struct ReplayedRun {
    pub execution: Execution,
    pub(crate) times: Vec<u64>,
    pub(crate) wire: Vec<WireLine>,
    /// By a system that was started just for this.
    pub afresh: bool,
}

impl ReplayedRun {
    /// Whether a failure goes away with a system that was started just for it. What cannot be tried
    /// proves nothing.
    pub fn is_gone(&self) -> bool {
        let passed = matches!(
            self.execution.verdict,
            Verdict::Pass | Verdict::Inconclusive(_)
        );
        self.afresh && passed
    }

    /// Puts times and bytes to the shrunk form of a failure, if these are its steps; says whether.
    pub fn put_into(self, file: &mut FailureFile, shrunk: &Execution) -> bool {
        let same = self.execution.trace == shrunk.trace && self.execution.deviation().is_some();
        match &mut file.shrunk {
            Some(saved) if same => {
                saved.times = self.times;
                saved.wire = self.wire;
                true
            }
            _ => false,
        }
    }
}

/// What crossed the wire and what was written to the log, by time.
fn wire(recorder: &Recorder, log: &[LogLine]) -> Vec<WireLine> {
    let crossed = recorder.exchanges().iter();
    let crossed = crossed.filter(|exchange| !exchange.raw.is_empty());
    let messages = crossed.map(|exchange| {
        let sender = match exchange.what {
            Crossed::Stimulus => Sender::Tester,
            _ => Sender::System,
        };
        WireLine::new(exchange.at, sender, &exchange.raw)
    });
    let mut wire: Vec<WireLine> = messages.chain(log_lines(log)).collect();
    wire.sort_by_key(|line| line.at);
    wire
}

fn log_lines(log: &[LogLine]) -> impl Iterator<Item = WireLine> {
    log.iter()
        .map(|line| WireLine::new(line.at, Sender::Log, line.text.as_bytes()))
}

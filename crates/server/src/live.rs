//! A run as it goes on. The run's thread writes what it has seen a few times a second; whoever
//! watches gets the difference to what he has got before. So a thousand steps cost as much as one.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ioco_campaign::work::WorkerRow;
use ioco_engine::{FailureCounts, RunVerdict, Summary, TestReport, Tester, allowed_in};
use ioco_sts::{Step, Sts, SwitchId};
use ioco_view::{
    CoverageView, FailureSummary, RequirementView, RunDetail, RunState, RunSummary, SilenceView,
    StateView, StepKind, TestRow, TrendPoint, extend_trend, location_counts, reached,
};
use serde::Serialize;

/// Steps that a batch shows at most.
const RECENT: usize = 20;
/// Tests that are listed at most.
const MAX_TESTS: usize = 1000;

/// One batch for one who watches.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema, ts_rs::TS))]
pub struct Live {
    pub run: String,
    pub state: RunState,
    pub tests: u64,
    pub steps: u64,
    pub steps_per_second: f64,
    /// Since the run began.
    pub seconds: f64,
    /// Waits that ended in silence.
    pub silences: u64,
    pub limits: Limits,
    /// What the run waits for before its first step.
    pub waiting: Option<Waiting>,
    /// Who carries out the tests, where several do.
    pub workers: Vec<WorkerView>,
    /// The test under way and the number of its steps.
    pub test: u64,
    pub step: usize,
    /// Those that have changed since the last batch, with their new counts.
    pub switch_counts: Vec<(u32, u64)>,
    pub location_counts: Vec<(u32, u64)>,
    pub current: Option<Current>,
    pub coverage: CoverageView,
    /// New points.
    pub trend: Vec<TrendPoint>,
    pub recent: Vec<RecentStep>,
    /// New ones.
    pub failures: Vec<FailureSummary>,
    pub message: Option<String>,
}

/// What ends the run at the latest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema, ts_rs::TS))]
pub struct Limits {
    pub tests: Option<u64>,
    pub seconds: Option<f64>,
}

impl Limits {
    pub fn of(tester: &Tester) -> Limits {
        let stop = &tester.settings().stop;
        Limits {
            tests: stop.tests,
            seconds: stop.time.map(|nanoseconds| nanoseconds as f64 / 1e9),
        }
    }
}

/// A wait with a limit, before the first step of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema, ts_rs::TS))]
pub struct Waiting {
    pub what: String,
    /// Seconds that it has lasted.
    pub since: f64,
    /// Seconds after which the run gives up.
    pub limit: f64,
}

/// A worker: what it has done for this run, and what it does now.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema, ts_rs::TS))]
pub struct WorkerView {
    pub worker: String,
    pub tests: u64,
    pub steps: u64,
    pub failed: u64,
    pub now: Vec<WorkerTest>,
}

/// A test under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema, ts_rs::TS))]
pub struct WorkerTest {
    /// 0 where a failure is confirmed or shrunk.
    pub test: u64,
    pub steps: u64,
}

impl WorkerView {
    pub fn of(row: &WorkerRow) -> WorkerView {
        let now = row.now.iter().map(|doing| WorkerTest {
            test: doing.test,
            steps: doing.steps,
        });
        WorkerView {
            worker: row.worker.clone(),
            tests: row.tests,
            steps: row.steps,
            failed: row.failed,
            now: now.collect(),
        }
    }
}

/// Where the model may be now.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema, ts_rs::TS))]
pub struct Current {
    pub states: Vec<StateView>,
    /// What the system may do.
    pub allowed: Vec<String>,
    /// What the tester may give.
    pub stimuli: Vec<String>,
    pub quiescent: bool,
    /// Seconds without a response that count as silence.
    pub timeout: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema, ts_rs::TS))]
pub struct RecentStep {
    pub number: usize,
    pub kind: StepKind,
    pub text: String,
}

/// What the run's thread wrote last.
#[derive(Default)]
pub struct Seen {
    /// Grows with everything that is written.
    pub version: u64,
    pub summary: RunSummary,
    pub message: Option<String>,
    pub limits: Limits,
    restarts: u64,
    /// What is waited for, since when, and for how long at most.
    pub waiting: Option<(String, Instant, Duration)>,
    pub workers: Vec<WorkerView>,
    silences: u64,
    rate: f64,
    test: u64,
    step: usize,
    switches: Vec<u64>,
    locations: Vec<u64>,
    current: Option<Current>,
    trend: Vec<TrendPoint>,
    /// Whose switches are counted.
    pub sts: Option<Arc<Sts>>,
    recent: Vec<RecentStep>,
    failures: Vec<FailureSummary>,
    failed: Vec<TestRow>,
    others: VecDeque<TestRow>,
}

/// What one who watches has got already.
#[derive(Default)]
pub struct FeedPosition {
    version: Option<u64>,
    state: Option<RunState>,
    switches: Vec<u64>,
    locations: Vec<u64>,
    /// The last point of the trend.
    point: Option<TrendPoint>,
    failures: usize,
}

#[derive(Default)]
pub struct Feed {
    seen: Mutex<Seen>,
}

impl Feed {
    pub fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes what is seen, from the run's thread.
    pub fn write(&self, how: impl FnOnce(&mut Seen)) {
        let mut seen = self.seen();
        how(&mut seen);
        seen.version += 1;
    }
}

impl Seen {
    pub fn is_over(&self) -> bool {
        !matches!(self.summary.state, RunState::Running | RunState::Paused)
    }

    /// Everything new since the last batch; `None` if nothing is. `state` tells a pause.
    pub fn batch(&self, got: &mut FeedPosition, state: RunState) -> Option<Live> {
        if got.version == Some(self.version) && got.state == Some(state) {
            return None;
        }
        let first = got.version.is_none();
        got.version = Some(self.version);
        got.state = Some(state);
        // The last point may have changed: silence covers something without being a step of its own.
        let is_new = |point: &&TrendPoint| {
            got.point
                .is_none_or(|known| point.steps >= known.steps && **point != known)
        };
        let trend: Vec<TrendPoint> = self.trend.iter().filter(is_new).copied().collect();
        got.point = self.trend.last().copied().or(got.point);
        let failures = self.failures[got.failures.min(self.failures.len())..].to_vec();
        got.failures = self.failures.len();
        Some(Live {
            run: self.summary.run.clone(),
            state,
            tests: self.summary.tests,
            steps: self.summary.steps,
            steps_per_second: self.rate,
            seconds: self.summary.seconds,
            silences: self.silences,
            limits: Limits {
                // Tests that the strategy ended early come on top of those that were asked for.
                tests: { self.limits.tests }.map(|tests| tests.saturating_add(self.restarts)),
                ..self.limits
            },
            waiting: self.waiting.as_ref().map(|(what, since, limit)| Waiting {
                what: what.clone(),
                since: since.elapsed().as_secs_f64(),
                limit: limit.as_secs_f64(),
            }),
            workers: self.workers.clone(),
            test: self.test,
            step: self.step,
            switch_counts: changed(&self.switches, &mut got.switches, first),
            location_counts: changed(&self.locations, &mut got.locations, first),
            current: self.current.clone(),
            coverage: self.summary.coverage,
            trend,
            recent: self.recent.clone(),
            failures,
            message: self.message.clone(),
        })
    }

    pub fn detail(&self, state: RunState) -> RunDetail {
        let room = MAX_TESTS - self.failed.len().min(MAX_TESTS);
        let skipped = self.others.len().saturating_sub(room);
        let others = self.others.iter().skip(skipped);
        RunDetail {
            summary: RunSummary {
                state,
                message: self.message.clone(),
                ..self.summary.clone()
            },
            switch_counts: reached(self.switches.iter().copied()),
            location_counts: reached(self.locations.iter().copied()),
            trend: self.trend.clone(),
            failure_ids: self.failures.iter().map(|f| f.id.clone()).collect(),
            tests_listed: self.failed.iter().chain(others).cloned().collect(),
            requirements: self.requirements(),
            request: None,
        }
    }

    /// What is covered after so many steps.
    pub fn covered(&mut self, point: TrendPoint) {
        extend_trend(&mut self.trend, point);
    }

    /// Several workers carry out the tests, so there is no test of this process to show.
    pub fn rate(&mut self, rate: f64, seconds: f64) {
        self.rate = rate;
        self.summary.seconds = seconds;
    }

    fn requirements(&self) -> Vec<RequirementView> {
        let taken = |id: SwitchId| self.switches.get(id.index()).copied().unwrap_or(0);
        let sts = self.sts.as_ref();
        sts.map_or_else(Vec::new, |sts| RequirementView::list(sts, taken))
    }

    pub fn found(&mut self, failure: FailureSummary) {
        self.failures.retain(|known| known.id != failure.id);
        self.failures.push(failure);
    }

    /// A test is over; the name is what people call it.
    pub fn tested(&mut self, report: &TestReport, name: Option<String>, failure: Option<String>) {
        let row = TestRow {
            number: report.number,
            seed: report.seed,
            name,
            verdict: match &report.execution.verdict {
                ioco_sts::Verdict::Pass => "pass",
                ioco_sts::Verdict::Fail(_) => "fail",
                ioco_sts::Verdict::Inconclusive(_) => "inconclusive",
                ioco_sts::Verdict::Error(_) | ioco_sts::Verdict::Ended(_) => "error",
            }
            .to_owned(),
            steps: report.execution.trace.len() as u64,
            seconds: report.duration as f64 / 1e9,
            failure,
        };
        if row.verdict == "fail" {
            if self.failed.len() < MAX_TESTS {
                self.failed.push(row);
            }
        } else {
            if self.others.len() == MAX_TESTS {
                self.others.pop_front();
            }
            self.others.push_back(row);
        }
    }

    pub fn numbers(&mut self, summary: &Summary) {
        self.summary.tests = summary.tests;
        self.summary.steps = summary.steps();
        self.restarts = summary.restarts;
        self.silences = summary.silences;
        self.summary.silence = SilenceView::of(summary);
        self.summary.failures = self.failures.len() as u64;
        let mut counts = FailureCounts::default();
        for failure in self.failures.iter().filter(|f| f.code.starts_with('D')) {
            *match failure {
                FailureSummary {
                    accepted: Some(_), ..
                } => &mut counts.accepted,
                FailureSummary { flaky: true, .. } => &mut counts.flaky,
                _ => &mut counts.confirmed,
            } += 1;
        }
        self.summary.verdict = RunVerdict::of(summary, counts);
        self.summary.coverage = CoverageView::of_summary(summary);
    }
}

/// Numbers and counts of what differs from `got`, which is brought up to date.
fn changed(now: &[u64], got: &mut Vec<u64>, first: bool) -> Vec<(u32, u64)> {
    got.resize(now.len(), 0);
    let mut found = Vec::new();
    for (index, (count, old)) in (0u32..).zip(now.iter().zip(got.iter_mut())) {
        if count != old || first && *count > 0 {
            *old = *count;
            found.push((index, *count));
        }
    }
    found
}

/// Measures how fast the run goes.
pub struct Speed {
    since: Instant,
    steps: u64,
    rate: f64,
}

impl Speed {
    pub fn new() -> Speed {
        Speed {
            since: Instant::now(),
            steps: 0,
            rate: 0.0,
        }
    }

    /// Steps a second, over about the last second.
    pub fn measure(&mut self, steps: u64) -> f64 {
        let seconds = self.since.elapsed().as_secs_f64();
        if seconds > 0.5 {
            self.rate = (steps - self.steps.min(steps)) as f64 / seconds;
            self.since = Instant::now();
            self.steps = steps;
        } else if self.rate == 0.0 && seconds > 0.0 {
            return steps as f64 / seconds.max(0.05);
        }
        self.rate
    }
}

/// What a run has counted so far.
pub struct Counts {
    summary: Summary,
    switches: Vec<u64>,
    locations: Vec<u64>,
    point: TrendPoint,
}

impl Counts {
    /// `under_way` is one while a test goes on: it has started, but is not counted yet.
    pub fn of(tester: &Tester, sts: &Sts, under_way: u64) -> Counts {
        let summary = tester.summary();
        let coverage = tester.coverage();
        let count = |index: usize| coverage.count(SwitchId::from_index(index));
        let switches: Vec<u64> = (0..sts.switches().len()).map(count).collect();
        Counts {
            locations: location_counts(sts, summary.tests + under_way, |id| switches[id.index()]),
            point: TrendPoint::of(coverage, summary.steps()),
            summary,
            switches,
        }
    }

    pub fn write(self, seen: &mut Seen) {
        seen.numbers(&self.summary);
        seen.switches = self.switches;
        seen.locations = self.locations;
        seen.covered(self.point);
    }
}

/// What the tester shows of itself at this moment, outside of any lock.
pub struct TesterView {
    counts: Counts,
    current: Current,
    recent: Vec<RecentStep>,
    test: u64,
    step: usize,
    rate: f64,
}

impl TesterView {
    pub fn of(tester: &mut Tester, sts: &Sts, speed: &mut Speed) -> TesterView {
        let counts = Counts::of(tester, sts, 1);
        let trace = tester.trace();
        let step = trace.len();
        let recent = recent(trace, sts);
        let test = tester.test_number();
        let set = tester.current_set();
        let semantics = tester.semantics();
        let menu = semantics.menu(set);
        let stimuli = menu.stimuli.iter().map(|offer| {
            let label = sts.label(offer.label);
            let names: Vec<&str> = label.parameters.iter().map(|p| p.name.as_str()).collect();
            match names.is_empty() {
                true => label.marked_name(),
                false => format!("{}({})", label.marked_name(), names.join(", ")),
            }
        });
        let current = Current {
            states: StateView::list(semantics.set(set), sts).0,
            stimuli: stimuli.collect(),
            quiescent: menu.silence,
            allowed: allowed_in(semantics, set),
            timeout: semantics.timeout(set) as f64 / 1e9,
        };
        TesterView {
            rate: speed.measure(counts.summary.steps()),
            counts,
            current,
            recent,
            test,
            step,
        }
    }

    pub fn write(self, seen: &mut Seen, seconds: f64) {
        self.counts.write(seen);
        seen.summary.seconds = seconds;
        seen.rate = self.rate;
        seen.current = Some(self.current);
        seen.recent = self.recent;
        seen.test = self.test;
        seen.step = self.step;
    }
}

/// How a test ended: its last steps, and for a failure where the model was and what it allowed.
pub struct Ending {
    test: u64,
    step: usize,
    recent: Vec<RecentStep>,
    current: Option<Current>,
}

impl Ending {
    pub fn of(report: &TestReport, tester: &mut Tester, sts: &Sts) -> Ending {
        let trace = &report.execution.trace;
        let mut recent = recent(trace, sts);
        let current = report.execution.deviation().map(|deviation| {
            recent.push(RecentStep {
                number: trace.len() + 1,
                kind: StepKind::Deviation,
                text: deviation.observed.show(sts),
            });
            let semantics = tester.semantics();
            let set = semantics.id_of(&deviation.states);
            Current {
                states: StateView::list(&deviation.states, sts).0,
                allowed: allowed_in(semantics, set),
                stimuli: Vec::new(),
                quiescent: semantics.menu(set).silence,
                timeout: semantics.timeout(set) as f64 / 1e9,
            }
        });
        Ending {
            test: report.number,
            step: trace.len(),
            recent,
            current,
        }
    }

    pub fn write(self, seen: &mut Seen) {
        seen.test = self.test;
        seen.step = self.step;
        seen.recent = self.recent;
        if self.current.is_some() {
            seen.current = self.current;
        }
    }
}

fn recent(trace: &[Step], sts: &Sts) -> Vec<RecentStep> {
    let from = trace.len().saturating_sub(RECENT);
    let numbered = trace.iter().enumerate().skip(from);
    numbered
        .map(|(index, step)| {
            let (kind, text) = match step {
                Step::Stimulus(action) => (StepKind::Stimulus, action.show(sts)),
                Step::Response(action) => (StepKind::Response, action.show(sts)),
                Step::Quiescence => (StepKind::Silence, "silence".to_owned()),
            };
            RecentStep {
                number: index + 1,
                kind,
                text,
            }
        })
        .collect()
}

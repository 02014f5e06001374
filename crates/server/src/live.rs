//! A run as it goes on. The run's thread writes what it has seen a few times a second; whoever
//! watches gets the difference to what he has got before. So a thousand steps cost as much as one.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use ioco_engine::{FailureCounts, RunVerdict, Summary, TestReport, Tester, allowed_in};
use ioco_sts::{Step, Sts, SwitchId};
use ioco_view::{
    CoverageView, FailureSummary, RequirementView, RunDetail, RunState, RunSummary, SilenceView,
    StateView, StepKind, TestRow, TrendPoint, location_counts, reached, thin,
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
    /// Of the last point of the trend.
    steps: Option<u64>,
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
        let new_point = |point: &&TrendPoint| got.steps.is_none_or(|steps| point.steps > steps);
        let trend: Vec<TrendPoint> = self.trend.iter().filter(new_point).copied().collect();
        got.steps = self.trend.last().map(|point| point.steps).or(got.steps);
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
            limits: self.limits,
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
        }
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

    /// A test is over.
    pub fn tested(&mut self, report: &TestReport, failure: Option<String>) {
        let row = TestRow {
            number: report.number,
            seed: report.seed,
            name: report.name.clone(),
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
    fn measure(&mut self, steps: u64) -> f64 {
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
        // The last point moves along while nothing new is covered.
        let flat = match seen.trend.as_slice() {
            [.., before, last] => last.same(before) && last.same(&self.point),
            _ => false,
        };
        match seen.trend.last_mut() {
            Some(last) if last.steps >= self.point.steps => *last = self.point,
            Some(last) if flat => *last = self.point,
            _ => seen.trend.push(self.point),
        }
        thin(&mut seen.trend);
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

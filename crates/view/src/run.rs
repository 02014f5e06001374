//! Runs: their numbers, and what their events say when they are followed through the model.

use std::collections::VecDeque;
use std::sync::Arc;

use ioco_engine::{Coverage, CoverageWalk, Event, RunVerdict, SavedVerdict, StopReason, Summary};
pub use ioco_engine::{RecordedFailure as Recorded, known_failure};
use ioco_sts::{Semantics, Sts, SwitchId};
use serde::{Deserialize, Serialize};

use crate::request::RunRequest;
use crate::trace::{TraceView, Tracer};

/// More tests than this are not listed.
const MAX_TESTS: usize = 1000;
/// A trend with more points than this loses every second one.
const MAX_TREND: usize = 1000;

/// Covered and total.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct CoverageView {
    pub locations: (u64, u64),
    pub switches: (u64, u64),
    /// Boundary values of parameters.
    pub data: (u64, u64),
}

/// What silence cost in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct SilenceView {
    /// Of waiting that ended in silence.
    pub seconds: f64,
    /// Silences that were observed.
    pub observed: u64,
    /// Those in a situation without one before.
    pub new: u64,
}

impl SilenceView {
    pub fn of(summary: &Summary) -> Option<SilenceView> {
        summary.silence.map(|price| SilenceView {
            seconds: price.waited as f64 / 1e9,
            observed: price.observed,
            new: price.new,
        })
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
pub enum RunState {
    Running,
    Paused,
    #[default]
    Finished,
    /// By a person, or because the program that ran it ended.
    Stopped,
    /// The system or its adapter could not be used.
    Error,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct RunSummary {
    pub run: String,
    pub model: String,
    pub model_hash: String,
    /// `2026-01-31T12:00:00Z`.
    pub started: String,
    pub state: RunState,
    /// Of a run that goes on, what its tests say so far.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "String"),
        ts(
            type = "\"fail\" | \"flaky\" | \"error\" | \"stopped\" | \"accepted\" | \"inconclusive\" | \"pass\""
        )
    )]
    pub verdict: RunVerdict,
    #[cfg_attr(feature = "schema", ts(type = "Whole"))]
    pub seed: u64,
    pub strategy: String,
    pub tests: u64,
    pub steps: u64,
    /// Alike ones counted once.
    pub failures: u64,
    pub coverage: CoverageView,
    pub seconds: f64,
    pub message: Option<String>,
    /// What silence cost; not known where others carried out the tests.
    #[serde(default)]
    pub silence: Option<SilenceView>,
    /// Milliseconds that a run which goes on waits before each step.
    #[serde(default)]
    pub delay_ms: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct RunDetail {
    #[serde(flatten)]
    pub summary: RunSummary,
    /// Switches and locations by number, with how often they were taken and entered; those never
    /// reached are left out.
    pub switch_counts: Vec<(u32, u64)>,
    pub location_counts: Vec<(u32, u64)>,
    pub trend: Vec<TrendPoint>,
    pub failure_ids: Vec<String>,
    /// Failing ones first.
    pub tests_listed: Vec<TestRow>,
    /// What the model cites, in its order.
    #[serde(default)]
    pub requirements: Vec<RequirementView>,
    /// What was asked for, where it can be asked for again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", ts(optional))]
    pub request: Option<RunRequest>,
}

/// A requirement that the model cites, and how often a run has shown it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct RequirementView {
    pub id: String,
    pub text: String,
    /// `door.aml:14`; empty where the model has no text.
    pub place: String,
    /// Steps whose switch is one of its own.
    pub steps: u64,
}

impl RequirementView {
    /// `taken` is how often each switch was.
    pub fn list(sts: &Sts, taken: impl Fn(SwitchId) -> u64) -> Vec<RequirementView> {
        let all = sts.requirements().iter().map(|requirement| {
            let steps = requirement.switches.iter().map(|id| taken(*id));
            RequirementView {
                id: requirement.id.clone(),
                text: requirement.text.clone(),
                place: sts.show_place(requirement.place),
                steps: steps.fold(0, u64::saturating_add),
            }
        });
        all.collect()
    }
}

/// What was covered after so many steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct TrendPoint {
    pub steps: u64,
    pub locations: u64,
    pub switches: u64,
    pub data: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct TestRow {
    pub number: u64,
    #[cfg_attr(feature = "schema", ts(type = "Whole"))]
    pub seed: u64,
    /// What it is for, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", ts(optional))]
    pub name: Option<String>,
    /// `pass`, `fail`, `inconclusive` or `error`.
    pub verdict: String,
    pub steps: u64,
    pub seconds: f64,
    /// The id of the recorded failure.
    pub failure: Option<String>,
}

/// One test of a run with its steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct TestView {
    pub number: u64,
    #[cfg_attr(feature = "schema", ts(type = "Whole"))]
    pub seed: u64,
    /// What it is for, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", ts(optional))]
    pub name: Option<String>,
    pub verdict: String,
    /// Why it is inconclusive, or which error it was.
    pub reason: Option<String>,
    pub failure: Option<String>,
    pub trace: TraceView,
}

impl CoverageView {
    pub fn of(coverage: &Coverage) -> CoverageView {
        let pair = |covered: usize, total: usize| (covered as u64, total as u64);
        CoverageView {
            locations: pair(coverage.covered_locations(), coverage.locations()),
            switches: pair(coverage.covered_switches(), coverage.switches()),
            data: pair(coverage.covered_boundaries(), coverage.boundaries().len()),
        }
    }

    pub fn of_summary(summary: &Summary) -> CoverageView {
        CoverageView {
            locations: (summary.covered_locations, summary.locations),
            switches: (summary.covered_switches, summary.switches),
            data: (summary.covered_boundaries, summary.boundaries),
        }
    }
}

impl TrendPoint {
    pub fn of(coverage: &Coverage, steps: u64) -> TrendPoint {
        TrendPoint {
            steps,
            locations: coverage.covered_locations() as u64,
            switches: coverage.covered_switches() as u64,
            data: coverage.covered_boundaries() as u64,
        }
    }
}

impl TrendPoint {
    /// Nothing more is covered there than here.
    pub fn same(&self, other: &TrendPoint) -> bool {
        (self.locations, self.switches, self.data) == (other.locations, other.switches, other.data)
    }
}

impl RunState {
    /// How a run ended that stopped for this reason.
    pub fn ended(reason: Option<StopReason>) -> RunState {
        match reason {
            Some(StopReason::Errors) => RunState::Error,
            // Without a reason the program went away in the middle.
            Some(StopReason::Interrupted) | None => RunState::Stopped,
            Some(_) => RunState::Finished,
        }
    }
}

impl TestRow {
    pub fn verdict(verdict: &SavedVerdict) -> &'static str {
        match verdict {
            SavedVerdict::Pass => "pass",
            SavedVerdict::Fail { .. } => "fail",
            SavedVerdict::Inconclusive { .. } => "inconclusive",
            SavedVerdict::Error { .. } => "error",
        }
    }
}

/// How often each location was entered: by the switches that lead to it, and by starting a test.
pub fn location_counts(sts: &Sts, tests: u64, count: impl Fn(SwitchId) -> u64) -> Vec<u64> {
    let mut counts = vec![0u64; sts.locations().len()];
    for process in sts.processes() {
        counts[process.initial.index()] += tests;
    }
    for (index, switch) in sts.switches().iter().enumerate() {
        let target = &mut counts[switch.target.index()];
        *target = target.saturating_add(count(SwitchId::from_index(index)));
    }
    counts
}

/// Follows the events of a run through the model: counts what was taken, and lists the tests.
pub struct RunWalk {
    walk: CoverageWalk,
    /// What the test under way is for.
    name: Option<String>,
    known: Vec<Recorded>,
    detail: RunDetail,
    /// The last ones that did not fail; the first of them make place for newer ones.
    others: VecDeque<TestRow>,
}

impl RunWalk {
    /// `summary` says what the events do not: the run's id, when it started, the model's hash.
    pub fn new(semantics: Semantics, summary: RunSummary, known: Vec<Recorded>) -> RunWalk {
        let walk = CoverageWalk::new(semantics);
        RunWalk {
            name: None,
            known,
            detail: RunDetail {
                summary: RunSummary {
                    coverage: CoverageView::of(walk.coverage()),
                    state: RunState::Stopped,
                    // They are counted as the events tell of them.
                    tests: 0,
                    steps: 0,
                    failures: 0,
                    ..summary
                },
                ..RunDetail::default()
            },
            walk,
            others: VecDeque::new(),
        }
    }

    pub fn event(&mut self, event: &Event) {
        self.walk.event(event);
        match event {
            Event::RunStarted {
                model,
                seed,
                strategy,
                ..
            } => {
                let summary = &mut self.detail.summary;
                summary.model.clone_from(model);
                summary.strategy.clone_from(strategy);
                summary.seed = *seed;
            }
            Event::TestStarted { name, .. } => self.name.clone_from(name),
            Event::StepTaken { .. } => self.detail.summary.steps += 1,
            Event::TestFinished {
                test,
                seed,
                verdict,
                steps,
                duration,
                ..
            } => {
                self.detail.summary.tests += 1;
                let name = self.name.take();
                let failure = recorded(&self.known, name.as_deref(), verdict);
                self.test_finished(TestRow {
                    number: *test,
                    seed: *seed,
                    name: name.map(|name| self.walk.sts().titled(&name)),
                    verdict: TestRow::verdict(verdict).to_owned(),
                    steps: *steps,
                    seconds: *duration as f64 / 1e9,
                    failure,
                });
            }
            Event::FailureFound { .. } => self.detail.summary.failures += 1,
            Event::RunFinished { summary } => {
                let seen = &mut self.detail.summary;
                seen.tests = summary.tests;
                seen.steps = summary.steps();
                seen.failures = summary.distinct_failures;
                seen.seconds = summary.duration as f64 / 1e9;
                seen.silence = SilenceView::of(summary);
                seen.coverage = CoverageView::of_summary(summary);
                seen.state = RunState::ended(summary.stopped);
                seen.message = summary.stopped.map(|reason| reason.words().to_owned());
            }
            _ => {}
        }
        if let Event::TestStarted { .. } | Event::StepTaken { .. } | Event::TestFinished { .. } =
            event
        {
            let point = TrendPoint::of(self.walk.coverage(), self.detail.summary.steps);
            extend_trend(&mut self.detail.trend, point);
        }
    }

    fn test_finished(&mut self, row: TestRow) {
        if row.verdict == "fail" {
            if let Some(id) = &row.failure
                && !self.detail.failure_ids.contains(id)
            {
                self.detail.failure_ids.push(id.clone());
            }
            if self.detail.tests_listed.len() < MAX_TESTS {
                self.detail.tests_listed.push(row);
            }
        } else {
            if self.others.len() == MAX_TESTS {
                self.others.pop_front();
            }
            self.others.push_back(row);
        }
    }

    /// Locations, switches and boundary values that are covered so far.
    pub fn covered(&self) -> (u64, u64, u64) {
        let now = TrendPoint::of(self.walk.coverage(), 0);
        (now.locations, now.switches, now.data)
    }

    /// What was seen so far.
    pub fn finish(mut self) -> RunDetail {
        let room = MAX_TESTS - self.detail.tests_listed.len();
        let skipped = self.others.len().saturating_sub(room);
        let others = self.others.into_iter().skip(skipped);
        self.detail.tests_listed.extend(others);
        if self.detail.summary.message.is_none() {
            self.detail.summary.coverage = CoverageView::of(self.walk.coverage());
        }
        let sts = self.walk.sts();
        let taken = |id: SwitchId| self.walk.coverage().count(id);
        self.detail.requirements = RequirementView::list(sts, taken);
        let switches = (0..sts.switches().len()).map(|i| taken(SwitchId::from_index(i)));
        self.detail.switch_counts = reached(switches);
        let tests = self.detail.summary.tests;
        self.detail.location_counts = reached(location_counts(sts, tests, taken).into_iter());
        self.detail
    }
}

/// Numbers and counts of what was reached.
pub fn reached(counts: impl Iterator<Item = u64>) -> Vec<(u32, u64)> {
    let numbered = (0u32..).zip(counts);
    numbered.filter(|(_, count)| *count > 0).collect()
}

/// Adds a point. The last one moves along while nothing new is covered, so that there is one for every step that
/// covered something, and one for the end.
pub fn extend_trend(trend: &mut Vec<TrendPoint>, point: TrendPoint) {
    let flat = match trend.as_slice() {
        [.., before, last] => last.same(before) && last.same(&point),
        _ => false,
    };
    match trend.last_mut() {
        Some(last) if flat || last.steps >= point.steps => *last = point,
        _ => trend.push(point),
    }
    thin(trend);
}

/// Keeps a trend short: beginning and end stay, every second point between them goes.
fn thin(trend: &mut Vec<TrendPoint>) {
    if trend.len() > MAX_TREND {
        let last = trend.len() - 1;
        let mut index = 0;
        trend.retain(|_| {
            index += 1;
            (index - 1) % 2 == 0 || index - 1 == last
        });
    }
}

fn recorded(known: &[Recorded], name: Option<&str>, verdict: &SavedVerdict) -> Option<String> {
    let found = Recorded::find(known, name, verdict.deviation()?);
    found.map(|one| one.id.clone())
}

impl TestView {
    /// The test of this number, from the events of its run; `None` if there is no such test.
    pub fn new<'e>(
        semantics: &mut Semantics,
        number: u64,
        events: impl Iterator<Item = &'e Event>,
        known: &[Recorded],
    ) -> Option<TestView> {
        let sts = Arc::clone(semantics.sts());
        let mut tracer = Tracer::new(semantics);
        let mut view = None;
        let mut began = 0;
        for event in events {
            match event {
                Event::TestStarted {
                    test,
                    seed,
                    name,
                    at,
                } if *test == number => {
                    began = *at;
                    view = Some(TestView {
                        number,
                        seed: *seed,
                        name: name.as_deref().map(|name| sts.titled(name)),
                        verdict: "running".to_owned(),
                        reason: None,
                        failure: None,
                        trace: TraceView::default(),
                    });
                }
                Event::StepTaken { test, at, what, .. } if *test == number => {
                    tracer.saved(what, Some(at.saturating_sub(began)));
                }
                Event::TestFinished {
                    test, verdict, at, ..
                } if *test == number => {
                    if let Some(deviation) = verdict.deviation() {
                        tracer.deviation(deviation, Some(at.saturating_sub(began)));
                    }
                    if let Some(view) = &mut view {
                        view.verdict = TestRow::verdict(verdict).to_owned();
                        view.failure = recorded(known, view.name.as_deref(), verdict);
                        view.reason = match verdict {
                            SavedVerdict::Inconclusive { reason }
                            | SavedVerdict::Error { reason, .. } => Some(reason.clone()),
                            SavedVerdict::Pass | SavedVerdict::Fail { .. } => None,
                        };
                    }
                    break;
                }
                _ => {}
            }
        }
        view.map(|view| TestView {
            trace: tracer.finish(&[]),
            ..view
        })
    }
}

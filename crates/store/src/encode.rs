//! From events to the rows that they become. This is done by the tester's own thread: events are
//! many small pieces of memory, which are cheap only where they were made.

use ioco_engine::{Event, SavedVerdict};

use crate::body::{Body, Labels};

/// A row of steps is full when it has as many.
const STEPS_PER_ROW: u64 = 1000;

/// Rows that are not written yet.
#[derive(Default)]
pub(crate) struct Rows {
    /// When the run began, on the connection's clock.
    pub began: Option<u64>,
    pub labels: Vec<(usize, String)>,
    pub tests: Vec<TestLine>,
    pub steps: Vec<StepsLine>,
    pub found: Vec<FoundLine>,
    pub growth: Vec<GrowthLine>,
    /// JSON, at the end of the run.
    pub summary: Option<String>,
}

/// A test: one that is not over has no verdict yet.
pub(crate) struct TestLine {
    pub number: u64,
    pub seed: u64,
    pub name: Option<String>,
    pub began: u64,
    pub verdict: Option<&'static str>,
    pub detail: Option<String>,
    pub steps: u64,
    pub duration: u64,
    pub ended: u64,
}

/// Steps `first`, `first + 1`, ... of a test.
pub(crate) struct StepsLine {
    pub test: u64,
    pub first: u64,
    pub body: String,
}

pub(crate) struct FoundLine {
    pub failure: u32,
    pub test: u64,
    pub deviation: String,
}

pub(crate) struct GrowthLine {
    pub test: u64,
    pub locations: usize,
    pub switches: usize,
    pub boundaries: usize,
}

/// A test under way.
#[derive(Default)]
struct Test {
    number: u64,
    seed: u64,
    name: Option<String>,
    began: u64,
    /// Its row is there, without a verdict.
    written: bool,
    /// The number of the first step of `body`.
    first: u64,
    body: Body,
}

#[derive(Default)]
pub(crate) struct Encoder {
    test: Test,
    labels: Labels,
    rows: Rows,
}

pub(crate) fn json(value: &impl serde::Serialize) -> String {
    // Plain data with string keys: always JSON.
    serde_json::to_string(value).unwrap_or_default()
}

impl Encoder {
    /// Goes on with a run that has these labels.
    pub fn with_labels(labels: &[(usize, String)]) -> Encoder {
        Encoder {
            labels: Labels::known(labels),
            ..Encoder::default()
        }
    }

    pub fn event(&mut self, event: &Event) {
        match event {
            Event::RunStarted { at, .. } => self.rows.began = Some(*at),
            Event::TestStarted {
                test,
                seed,
                name,
                at,
            } => {
                self.settle();
                self.test = Test {
                    number: *test,
                    seed: *seed,
                    name: name.clone(),
                    began: *at,
                    written: false,
                    first: 1,
                    // It is empty, and has room.
                    body: std::mem::take(&mut self.test.body),
                };
            }
            Event::StepTaken { at, what, .. } => {
                self.test.body.push(*at, what, &mut self.labels);
                if self.test.body.count >= STEPS_PER_ROW {
                    self.settle();
                }
            }
            Event::TestFinished {
                test,
                verdict,
                steps,
                duration,
                at,
                ..
            } => {
                self.close_steps();
                let detail = match verdict {
                    SavedVerdict::Pass => None,
                    other => Some(json(other)),
                };
                self.rows.tests.push(TestLine {
                    number: *test,
                    verdict: Some(name(verdict)),
                    detail,
                    steps: *steps,
                    duration: *duration,
                    ended: *at,
                    ..self.test.line()
                });
            }
            Event::FailureFound {
                test,
                failure,
                deviation,
            } => self.rows.found.push(FoundLine {
                failure: failure.0,
                test: *test,
                deviation: json(deviation),
            }),
            Event::CoverageGrew {
                test,
                covered_switches,
                covered_locations,
                covered_boundaries,
            } => self.rows.growth.push(GrowthLine {
                test: *test,
                locations: *covered_locations,
                switches: *covered_switches,
                boundaries: *covered_boundaries,
            }),
            Event::RunFinished { summary } => self.rows.summary = Some(json(summary)),
        }
    }

    /// Makes rows also of what belongs to a test that has not finished.
    pub fn settle(&mut self) {
        if self.test.body.count == 0 {
            return;
        }
        if !self.test.written {
            // So that its steps belong to something.
            self.test.written = true;
            self.rows.tests.push(self.test.line());
        }
        self.close_steps();
    }

    /// The rows so far.
    pub fn take(&mut self) -> Rows {
        let mut rows = std::mem::take(&mut self.rows);
        rows.labels = std::mem::take(&mut self.labels.new);
        rows
    }

    /// How many rows wait, roughly.
    pub fn waiting(&self) -> usize {
        self.rows.tests.len() + self.rows.steps.len()
    }

    fn close_steps(&mut self) {
        let count = self.test.body.count;
        if count == 0 {
            return;
        }
        let first = self.test.first;
        self.test.first += count;
        self.rows.steps.push(StepsLine {
            test: self.test.number,
            first,
            body: self.test.body.take(),
        });
    }
}

impl Test {
    /// Without an end.
    fn line(&self) -> TestLine {
        TestLine {
            number: self.number,
            seed: self.seed,
            name: self.name.clone(),
            began: self.began,
            verdict: None,
            detail: None,
            steps: 0,
            duration: 0,
            ended: self.began,
        }
    }
}

fn name(verdict: &SavedVerdict) -> &'static str {
    match verdict {
        SavedVerdict::Pass => "pass",
        SavedVerdict::Fail { .. } => "fail",
        SavedVerdict::Inconclusive { .. } => "inconclusive",
        SavedVerdict::Error { .. } => "error",
    }
}

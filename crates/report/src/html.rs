//! One html file with the page of `ioco serve` and the data of one run: no server, nothing loaded
//! from elsewhere.

use ioco_engine::{Event, SavedVerdict};
use ioco_sts::Semantics;
use ioco_view::{
    FailureDetail, GoalView, ModelView, ProjectView, Recorded, RunDetail, RunSummary, RunWalk,
    TestView,
};
use serde::Serialize;

/// The page with all its script and style, and a mark where the data belongs.
const PAGE: &str = include_str!("../files/report.html");
const MARK: &str = "__IOCO_REPORT__";
/// Passing tests that are for nothing in particular are samples: the first so many.
const PASSING: usize = 20;
/// A file of this size can still be attached to a ticket.
const LIMIT: usize = 2_000_000;

/// What the page shows.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct Document {
    pub project: ProjectView,
    pub model: ModelView,
    pub run: RunDetail,
    pub failures: Vec<FailureDetail>,
    /// Failing ones whole, some of the passing ones.
    pub tests: Vec<TestView>,
    /// The history, newest first.
    pub runs: Vec<RunSummary>,
    pub goals: Vec<GoalView>,
}

/// Gathers what the page shows of a run, in one pass over its events.
pub struct Gathering {
    walk: RunWalk,
    known: Vec<Recorded>,
    kept: Vec<(u64, Vec<Event>)>,
    passing: usize,
    /// The test under way.
    test: Vec<Event>,
}

impl Gathering {
    /// As [`RunWalk::new`].
    pub fn new(semantics: Semantics, summary: RunSummary, known: Vec<Recorded>) -> Gathering {
        Gathering {
            walk: RunWalk::new(semantics, summary, known.clone()),
            known,
            kept: Vec::new(),
            passing: 0,
            test: Vec::new(),
        }
    }

    pub fn event(&mut self, event: Event) {
        self.walk.event(&event);
        match &event {
            Event::TestStarted { .. } => {
                self.test.clear();
                self.test.push(event);
            }
            Event::StepTaken { .. } => self.test.push(event),
            Event::TestFinished { test, verdict, .. } => {
                let number = *test;
                let for_a_goal = matches!(
                    self.test.first(),
                    Some(Event::TestStarted { name: Some(_), .. })
                );
                let keep = match verdict {
                    SavedVerdict::Pass if !for_a_goal => {
                        self.passing += 1;
                        self.passing <= PASSING
                    }
                    _ => true,
                };
                self.test.push(event);
                let events = std::mem::take(&mut self.test);
                if keep {
                    self.kept.push((number, events));
                }
            }
            _ => {}
        }
    }

    /// The run, the tests that are shown with their steps, and what became of the goals that
    /// tests were for.
    pub fn finish(self, semantics: &mut Semantics) -> (RunDetail, Vec<TestView>, Vec<GoalView>) {
        let tests: Vec<TestView> = (self.kept.iter())
            .filter_map(|(number, events)| {
                TestView::new(semantics, *number, events.iter(), &self.known)
            })
            .collect();
        let sts = semantics.sts();
        let goals = (tests.iter())
            .filter_map(|test| GoalView::of_test(test, sts))
            .collect();
        (self.walk.finish(), tests, goals)
    }
}

/// The file. Where it would be too large, passing tests are left out, the last ones first; then the
/// traces behind goals; then failing tests that are like others.
pub fn html(document: &Document) -> String {
    let mut document = document.clone();
    let mut data = json(&document);
    while PAGE.len() + data.len() > LIMIT && shorten(&mut document) {
        data = json(&document);
    }
    PAGE.replacen(MARK, &data, 1)
}

/// Leaves out about half of what can be spared; `false` where nothing can.
fn shorten(document: &mut Document) -> bool {
    let tests = &mut document.tests;
    let passing = tests.iter().filter(|t| t.verdict == "pass").count();
    if passing > 0 {
        let mut spared = passing / 2;
        tests.retain(|test| {
            let keep = test.verdict != "pass" || spared > 0;
            if test.verdict == "pass" {
                spared = spared.saturating_sub(1);
            }
            keep
        });
        return true;
    }
    if document.goals.iter().any(|goal| goal.test.is_some()) {
        for goal in &mut document.goals {
            goal.test = None;
        }
        return true;
    }
    // The failures themselves carry their traces.
    let left = tests.len() / 2;
    let shortened = !tests.is_empty();
    tests.truncate(left);
    shortened
}

/// JSON that may stand inside a script element.
fn json(document: &Document) -> String {
    // Strings, numbers and maps with string keys: always JSON.
    serde_json::to_string(document)
        .unwrap_or_default()
        .replace('<', "\\u003c")
}

//! What a report says of a run besides its failures.

use ioco_engine::{Event, FailureCounts, RequirementCoverage, RunVerdict, SavedVerdict, Summary};

use crate::failure::Failure;

/// A run, digested from its events.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// Its id.
    pub id: String,
    /// `2026-01-31T12:00:00Z`.
    pub started: String,
    pub model: String,
    /// The file of the model.
    pub path: String,
    /// How the system was reached.
    pub connection: String,
    pub seed: u64,
    pub strategy: String,
    pub tests: Vec<TestLine>,
    pub summary: Summary,
    /// What the run saw, alike ones counted once.
    pub failures: FailureCounts,
    /// It came to its end.
    pub finished: bool,
    /// Switches that no test took, where that is known: `door.aml:14  Open ──?close──► Closed`.
    pub missing: Vec<String>,
    /// The requirements that the model cites, in its order.
    pub requirements: Vec<RequirementCoverage>,
    /// What the test under way is for.
    pub under_way: Option<String>,
}

/// A finished test.
#[derive(Clone, Debug, PartialEq)]
pub struct TestLine {
    pub number: u64,
    pub seed: u64,
    /// What it is for, where that is known: a goal of a suite, an earlier failure.
    pub name: Option<String>,
    pub verdict: SavedVerdict,
    pub steps: u64,
    /// Nanoseconds.
    pub duration: u64,
}

impl Run {
    /// Takes in the next event.
    pub fn event(&mut self, event: &Event) {
        match event {
            Event::RunStarted {
                model,
                seed,
                strategy,
                locations,
                switches,
                ..
            } => {
                self.model.clone_from(model);
                self.strategy.clone_from(strategy);
                self.seed = *seed;
                self.summary.seed = *seed;
                self.summary.locations = *locations as u64;
                self.summary.switches = *switches as u64;
            }
            Event::TestStarted { name, .. } => self.under_way.clone_from(name),
            Event::StepTaken { what, .. } => {
                *match what {
                    ioco_engine::SavedStep::Stimulus { .. } => &mut self.summary.stimuli,
                    ioco_engine::SavedStep::Response { .. } => &mut self.summary.responses,
                    ioco_engine::SavedStep::Silence { .. } => &mut self.summary.silences,
                } += 1;
            }
            Event::TestFinished {
                test,
                seed,
                verdict,
                steps,
                duration,
                ..
            } => {
                self.summary.tests += 1;
                self.summary.duration += duration;
                *match verdict {
                    SavedVerdict::Pass => &mut self.summary.passed,
                    SavedVerdict::Fail { .. } => &mut self.summary.failed,
                    SavedVerdict::Inconclusive { .. } => &mut self.summary.inconclusive,
                    SavedVerdict::Error { .. } => &mut self.summary.errors,
                } += 1;
                self.tests.push(TestLine {
                    number: *test,
                    seed: *seed,
                    name: self.under_way.take(),
                    verdict: verdict.clone(),
                    steps: *steps,
                    duration: *duration,
                });
            }
            Event::FailureFound { .. } => self.summary.distinct_failures += 1,
            Event::CoverageGrew {
                covered_switches,
                covered_locations,
                covered_boundaries,
                ..
            } => {
                self.summary.covered_switches = *covered_switches as u64;
                self.summary.covered_locations = *covered_locations as u64;
                self.summary.covered_boundaries = *covered_boundaries as u64;
            }
            Event::RunFinished { summary } => {
                self.summary = *summary;
                self.finished = true;
            }
        }
    }

    /// What a build server calls a test: what it is for. Several tests for the same differ by their
    /// numbers; without a purpose the seed repeats a test.
    pub(crate) fn name_of(&self, test: &TestLine) -> String {
        let Some(name) = &test.name else {
            return format!("test {} (seed {})", test.number, test.seed);
        };
        let same = |other: &&TestLine| other.name.as_ref() == Some(name);
        match self.tests.iter().filter(same).nth(1) {
            Some(_) => format!("{name} (test {})", test.number),
            None => name.clone(),
        }
    }

    /// Every requirement, with how it did: a row of the column that all reports have.
    pub(crate) fn requirement_rows<'r>(
        &'r self,
        failures: &'r [Failure],
    ) -> Vec<RequirementRow<'r>> {
        let row = |requirement: &'r RequirementCoverage| {
            let touches = |failure: &&Failure| failure.requirements.contains(&requirement.id);
            let ids = failures.iter().filter(touches).map(|f| &*f.file.id);
            RequirementRow {
                requirement,
                failures: ids.collect(),
            }
        };
        self.requirements.iter().map(row).collect()
    }

    /// In one word, as the terminal says it.
    pub(crate) fn word(&self) -> &'static str {
        RunVerdict::of(&self.summary, self.failures).word()
    }

    /// How it ended, for a person.
    pub(crate) fn ended(&self) -> &'static str {
        match self.summary.stopped {
            Some(reason) => reason.words(),
            None => "it did not finish",
        }
    }
}

/// A requirement, and the failures that touch it.
pub(crate) struct RequirementRow<'r> {
    pub requirement: &'r RequirementCoverage,
    pub failures: Vec<&'r str>,
}

impl RequirementRow<'_> {
    /// `shown by 12 steps`, `not shown`; with failures, `touched by 1db8eb0a`.
    pub fn result(&self) -> String {
        let shown = match self.requirement.steps {
            0 => "not shown".to_owned(),
            steps => format!("shown by {}", count(steps, "step")),
        };
        match self.failures.as_slice() {
            [] => shown,
            failures => format!("{shown}, touched by {}", failures.join(", ")),
        }
    }
}

/// `3 tests (2 passed, …)`.
pub fn tests(summary: &Summary) -> String {
    format!(
        "{} ({} passed, {} failed, {} inconclusive, {})",
        count(summary.tests, "test"),
        summary.passed,
        summary.failed,
        summary.inconclusive,
        count(summary.errors, "error"),
    )
}

/// `1 test`, `2 tests`, `2 switches`, `2 stimuli`.
pub fn count(number: u64, thing: &str) -> String {
    match thing {
        _ if number == 1 => format!("1 {thing}"),
        "stimulus" => format!("{number} stimuli"),
        _ if thing.ends_with("ch") => format!("{number} {thing}es"),
        _ => format!("{number} {thing}s"),
    }
}

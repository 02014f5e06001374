//! Tests that one tester orders and another one carries out. The first keeps the numbers, the coverage and the
//! failures of the run; the second knows of them only what the order says, so that an order can be repeated.

use std::collections::BTreeSet;

use ioco_sts::{Execution, Step, SwitchId, Verdict};

use super::Tester;
use super::test::{Phase, Plan, Test};
use crate::coverage::{Bits, Coverage, CoverageMap, CoverageMismatch, Covered};
use crate::event::Event;
use crate::report::{Summary, TestReport};
use crate::saved::SavedStep;
use crate::settings::EventLevel;
use crate::silence::Silences;
use crate::strategy::Strategy;

/// Everything that the next test depends on, besides the model, the settings and the system.
#[derive(Clone, Debug)]
pub struct TestContext<'a> {
    pub number: u64,
    /// What is covered so far.
    pub known: &'a CoverageMap,
    /// Open switches that this tester goes for first ([`Tester::tour`]).
    pub aim: &'a Bits,
    /// Those that other testers go for; left to them as long as others are near.
    pub reserved: &'a Bits,
    /// Switches that were within reach and could not be taken, and how often.
    pub lessons: &'a [(u32, u16)],
    /// Steps of the test.
    pub steps: u64,
    /// Nanoseconds until the run is over.
    pub time: Option<u64>,
}

/// What a test depended on besides its context, because time has decided it: [`Tester::repeat`] takes it, so that the
/// same test comes out again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conditions {
    /// After how many steps silence was waited for and came, where such waits are weighed.
    pub silences: Vec<u64>,
}

impl Conditions {
    /// Those of a test with these steps.
    pub fn of(steps: &[SavedStep]) -> Conditions {
        let steps = steps.iter().enumerate();
        let silences = steps.filter(|(_, step)| matches!(step, SavedStep::Silence { .. }));
        Conditions {
            silences: silences.map(|(position, _)| position as u64).collect(),
        }
    }
}

/// A test that another tester carried out.
#[derive(Clone, Debug)]
pub struct Carried {
    pub number: u64,
    pub seed: u64,
    pub name: Option<String>,
    pub execution: Execution,
    pub times: Vec<u64>,
    pub duration: u64,
    pub covered: Covered,
    pub lessons: Vec<(u32, u16)>,
}

impl Carried {
    /// Whether its system was ready: the first location counts as covered from then on.
    pub fn is_ready(&self) -> bool {
        !self.execution.trace.is_empty() || self.covered != Covered::default()
    }
}

impl Tester {
    /// Makes the next test depend on the context alone. The coverage afterwards is that of this test.
    pub fn prepare(&mut self, context: &TestContext<'_>) -> Result<(), CoverageMismatch> {
        let nothing = Coverage::new(&self.sts);
        let known = nothing.as_in(context.known)?;
        let own = context.aim.switches(nothing.switches())?;
        let others = context.reserved.switches(nothing.switches())?;
        self.coverage = nothing;
        self.steering = Some(known);
        self.visited.clear();
        self.strategy = Strategy::new(&self.settings.strategy, &self.semantics);
        self.strategy.learn_from(context.lessons);
        self.strategy.share(own, others);
        self.silences = Silences::default();
        // The next test is another order, for a strategy that remembers nothing of this one.
        self.ends_by_choice = false;
        self.repeats = None;
        self.failures.clear();
        self.discounted = 0;
        self.summary = Summary {
            seed: self.settings.seed,
            tests: context.number.saturating_sub(1),
            ..Summary::default()
        };
        self.started = None;
        self.stopped = None;
        self.interrupted = false;
        // Who ordered the test knows whether the run had a system, and says so.
        self.was_ready = true;
        self.settings.stop.steps_per_test = context.steps;
        self.settings.stop.time = context.time;
        self.events.clear();
        Ok(())
    }

    /// The next test, which is prepared, repeats one that was carried out under these conditions.
    pub fn repeat(&mut self, conditions: Conditions) {
        self.repeats = Some(conditions);
    }

    /// Switches that were within reach and could not be taken, and how often.
    pub fn lessons(&self) -> Vec<(u32, u16)> {
        self.strategy.lessons()
    }

    /// Whether the strategy still goes for this switch.
    pub fn is_open(&self, switch: SwitchId) -> bool {
        self.strategy.is_open(&self.coverage, switch)
    }

    /// Open switches for the next test that is ordered: those on the walk of its strategy, as far as the model alone can
    /// tell, without those that others go for. None where the strategy does not go for switches.
    pub fn tour(&self, others: &BTreeSet<SwitchId>, steps: u64) -> Vec<SwitchId> {
        let others = others.iter().copied().collect();
        self.strategy
            .tour(&self.sts, &self.coverage, &others, steps)
    }

    /// Counts a test that another tester carried out, as if this one had.
    pub fn absorb(&mut self, carried: Carried, now: u64) -> Result<TestReport, CoverageMismatch> {
        self.start_run(now);
        let covered_before = self.coverage.covered();
        self.coverage.add(&carried.covered)?;
        self.was_ready |= carried.is_ready();
        self.strategy.learn_from(&carried.lessons);
        let initial = self.semantics.initial();
        let begun = now.saturating_sub(carried.duration);
        let mut test = Test::new(
            carried.number,
            carried.seed,
            true,
            Plan::Strategy,
            initial,
            begun,
        );
        test.name = carried.name;
        test.covered_before = covered_before;
        test.phase = Phase::Finished;
        test.ended = begun.saturating_add(carried.duration);
        test.times = carried.times;
        test.trace = carried.execution.trace;
        self.test = test;
        self.count_steps();
        if self.settings.events >= EventLevel::Tests {
            self.events.push(Event::TestStarted {
                test: carried.number,
                seed: carried.seed,
                name: self.test.name.clone(),
                at: begun,
            });
        }
        if self.settings.events >= EventLevel::Steps {
            self.emit_steps();
        }
        self.test.failure = match &carried.execution.verdict {
            Verdict::Fail(deviation) | Verdict::Ended(deviation) => self.group(deviation.clone()),
            _ => None,
        };
        self.test.verdict = carried.execution.verdict;
        self.count_test(now);
        Ok(self.finished_test())
    }

    fn count_steps(&mut self) {
        for step in &self.test.trace {
            *match step {
                Step::Stimulus(_) => &mut self.summary.stimuli,
                Step::Response(_) => &mut self.summary.responses,
                Step::Quiescence => &mut self.summary.silences,
            } += 1;
        }
    }

    fn emit_steps(&mut self) {
        let test = &self.test;
        let steps = test.trace.iter().zip(&test.times).enumerate();
        let events = steps.map(|(index, (step, time))| Event::StepTaken {
            test: test.number,
            step: index as u64 + 1,
            at: test.started.saturating_add(*time),
            what: SavedStep::new(step, &self.sts),
        });
        self.events.extend(events);
    }

    /// Writes down something covered, for the run and for the strategy.
    pub(super) fn note_covered(&mut self, note: impl Fn(&mut Coverage)) {
        note(&mut self.coverage);
        if let Some(steering) = &mut self.steering {
            note(steering);
        }
    }

    /// Whether a stop condition is met: no further test is to begin.
    pub fn is_over(&mut self, now: u64) -> bool {
        self.start_run(now);
        self.should_stop(now).is_some()
    }
}

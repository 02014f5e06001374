//! The tester: one state machine that follows model and system together.
//!
//! `next_test` or `script` begins a test; `handle` takes what happened and says what to do next;
//! `finished_test` gives the outcome. The parts: `decide` chooses commands, `observe` judges what
//! comes, `ending` says when a test may end. [`crate::in_flight`] follows both orders where a response
//! may have crossed a stimulus.

mod costs;
mod decide;
mod elsewhere;
mod ending;
mod observe;
mod test;

use std::sync::Arc;

use ioco_budget::Interrupt;
use ioco_sts::{Action, Cause, Execution, Reason, Semantics, SetId, Step, Sts, Verdict};

use crate::coverage::Coverage;
use crate::event::{EVENT_VERSION, Event, SavedDeviation, SavedVerdict};
use crate::guide::Guide;
use crate::port::{Command, Input};
use crate::random::test_seed;
use crate::report::{FailureId, KnownFailure, StopReason, Summary, TestReport};
use crate::settings::{EventLevel, Settings};
use crate::silence::{SilencePrice, Silences};
use crate::strategy::Strategy;

use costs::Costs;
pub use elsewhere::{Carried, Conditions, TestContext};
use test::{Phase, Plan, Test};

/// Tests a system against a model.
pub struct Tester {
    semantics: Semantics,
    sts: Arc<Sts>,
    settings: Settings,
    strategy: Strategy,
    coverage: Coverage,
    /// What strategies see instead of it, where the test was ordered from elsewhere: what all have covered.
    steering: Option<Coverage>,
    /// By state set: its locations are counted already.
    visited: Vec<bool>,
    failures: Vec<KnownFailure>,
    /// How many of them do not count towards the limit.
    discounted: u64,
    summary: Summary,
    started: Option<u64>,
    stopped: Option<StopReason>,
    interrupted: bool,
    /// A system was ready for a test of this run.
    was_ready: bool,
    /// Ends searches for what to do next.
    interrupt: Interrupt,
    /// Nanoseconds for which the next reset lets go what the last test may have left behind.
    drain: u64,
    test: Test,
    /// What the next test is for.
    next_name: Option<String>,
    events: Vec<Event>,
    silences: Silences,
    costs: Costs,
    /// The strategy may end a test to begin the next one, because it remembers what the test showed.
    ends_by_choice: bool,
    /// What time has decided in the test that the next one repeats.
    repeats: Option<Conditions>,
}

impl Tester {
    pub fn new(semantics: Semantics, settings: Settings) -> Tester {
        let sts = Arc::clone(semantics.sts());
        let strategy = Strategy::new(&settings.strategy, &semantics);
        let test = Test::none(semantics.initial());
        let summary = Summary {
            seed: settings.seed,
            ..Summary::default()
        };
        Tester {
            coverage: Coverage::new(&sts),
            steering: None,
            semantics,
            sts,
            settings,
            strategy,
            visited: Vec::new(),
            failures: Vec::new(),
            discounted: 0,
            summary,
            started: None,
            stopped: None,
            interrupted: false,
            was_ready: false,
            interrupt: Interrupt::default(),
            drain: 0,
            test,
            next_name: None,
            events: Vec::new(),
            silences: Silences::default(),
            costs: Costs::default(),
            ends_by_choice: true,
            repeats: None,
        }
    }

    /// Ends the search for the next step, and with it the run, when this is raised. Whatever carries
    /// out the commands says [`Input::Interrupted`] by itself.
    pub fn interrupted_by(&mut self, interrupt: Interrupt) {
        self.interrupt = interrupt;
    }

    /// Lets a guide lead the tests from now on.
    pub fn set_guide(&mut self, guide: Box<dyn Guide>) {
        self.strategy = Strategy::guided(guide, &self.semantics);
    }

    /// Begins the next test and returns its first command; `None` when a stop condition is met
    /// ([`Tester::stop_reason`]).
    pub fn next_test(&mut self, now: u64) -> Option<Command> {
        self.next_by(Plan::Strategy, now)
    }

    /// As [`Tester::next_test`], for a test that begins with these stimuli, as far as the model
    /// offers them in the states that the system leads to.
    pub fn next_test_after(&mut self, stimuli: Vec<Action>, now: u64) -> Option<Command> {
        self.next_by(Plan::beginning(stimuli), now)
    }

    fn next_by(&mut self, plan: Plan, now: u64) -> Option<Command> {
        self.start_run(now);
        if let Some(reason) = self.should_stop(now) {
            self.stop(reason);
            return None;
        }
        let number = self.summary.tests + 1;
        Some(self.begin(number, plan, true, now))
    }

    /// Begins the test of this number again, whatever ran before it; it counts as a test of the
    /// run. Given the same responses, `random` repeats the test exactly.
    pub fn repeat_test(&mut self, number: u64, now: u64) -> Command {
        self.start_run(now);
        self.begin(number, Plan::Strategy, true, now)
    }

    /// Begins a test that gives exactly these stimuli (shrinking, replay). After each it takes in
    /// what comes, until silence wherever a response is possible. A stimulus that the model does
    /// not offer when its turn comes makes the test inconclusive. Does not count towards the run:
    /// neither coverage nor numbers nor new failures.
    pub fn script(&mut self, stimuli: Vec<Action>, now: u64) -> Command {
        self.begin(self.test.number, Plan::script(stimuli), false, now)
    }

    /// As [`Tester::script`], and counts towards the run: a test of a suite, or a failure of an
    /// earlier run that is tried first.
    pub fn scripted_test(&mut self, stimuli: Vec<Action>, now: u64) -> Command {
        self.start_run(now);
        self.begin(self.summary.tests + 1, Plan::script(stimuli), true, now)
    }

    /// Begins a test that this guide leads, whatever the strategy is: a test of a suite. It counts
    /// towards the run; `None` when a stop condition is met ([`Tester::stop_reason`]).
    pub fn guided_test(&mut self, guide: Box<dyn Guide>, now: u64) -> Option<Command> {
        self.start_run(now);
        if let Some(reason) = self.should_stop(now) {
            self.stop(reason);
            return None;
        }
        let guided = Strategy::guided(guide, &self.semantics);
        let number = self.summary.tests + 1;
        Some(self.begin(number, Plan::Guide(guided), true, now))
    }

    /// Says what the next test is for; its first event carries it.
    pub fn name_next(&mut self, name: String) {
        self.next_name = Some(name);
    }

    /// Ends a run whose tests are all done.
    pub fn end_run(&mut self, now: u64) {
        self.start_run(now);
        let reason = self.should_stop(now).unwrap_or(StopReason::Tests);
        self.stop(reason);
    }

    /// Takes what happened at time `now`, and says what to do next.
    pub fn handle(&mut self, input: Input, now: u64) -> Command {
        match (&self.test.phase, input) {
            (Phase::Idle | Phase::Finished, Input::Interrupted) => {
                self.interrupted |= !self.is_time_up(now);
                Command::Finished
            }
            (Phase::Idle | Phase::Finished, _) => Command::Finished,
            (_, Input::AdapterError(text)) | (Phase::Resetting, Input::Ended(text)) => {
                self.finish(Verdict::unusable(text), now)
            }
            (_, Input::Ended(text)) => self.ended(text, now),
            (_, Input::Interrupted) => self.interrupt(now),
            (Phase::Resetting, Input::Ready) => self.ready(now),
            // What comes before the reset belongs to the test before.
            (Phase::Resetting, _) => Command::Reset { drain: 0 },
            (_, Input::Response(action)) => self.responded(action, now),
            (Phase::Giving { .. }, Input::Given { overtaken }) => self.given(overtaken, now),
            (Phase::Awaiting { .. }, Input::Silence) => self.silent(now),
            (_, Input::Quiescent) => self.quiescent(now),
            (_, Input::Unknown(text)) => self.unknown(text, now),
            (_, Input::Ready | Input::Given { .. } | Input::Silence) => {
                let why = "the adapter answered a question that was not asked";
                self.finish(Verdict::Error(Reason::new(Cause::Contract, why)), now)
            }
        }
    }

    /// The outcome of the test that finished last.
    pub fn finished_test(&mut self) -> TestReport {
        let test = &mut self.test;
        let trace = std::mem::take(&mut test.trace);
        let verdict = std::mem::replace(&mut test.verdict, Verdict::Pass);
        TestReport {
            number: test.number,
            seed: test.seed,
            name: test.name.take(),
            execution: Execution { trace, verdict },
            times: std::mem::take(&mut test.times),
            duration: test.ended - test.started,
            is_new_failure: test.failure.is_some_and(|(_, new)| new),
            failure: test.failure.map(|(id, _)| id),
        }
    }

    pub fn coverage(&self) -> &Coverage {
        &self.coverage
    }

    /// The distinct failures found so far.
    pub fn failures(&self) -> &[KnownFailure] {
        &self.failures
    }

    /// The last new failure does not use up the limit on failures: it is flaky, was known before the run, or
    /// turned out to be the same as one before.
    pub fn discount_failure(&mut self) {
        self.discounted += 1;
    }

    /// A failure that was discounted uses up the limit after all.
    pub fn count_failure(&mut self) {
        self.discounted = self.discounted.saturating_sub(1);
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    pub fn semantics(&mut self) -> &mut Semantics {
        &mut self.semantics
    }

    pub fn sts(&self) -> &Arc<Sts> {
        &self.sts
    }

    /// The set of states that the model may be in now.
    pub fn current_set(&self) -> SetId {
        self.test.set
    }

    /// The steps of the test under way that the model allowed.
    pub fn trace(&self) -> &[Step] {
        &self.test.trace
    }

    /// The number of the test under way.
    pub fn test_number(&self) -> u64 {
        self.test.number
    }

    /// Why the run ended, once it did.
    pub fn stop_reason(&self) -> Option<StopReason> {
        self.stopped
    }

    /// What happened since the last call, oldest first.
    pub fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    pub fn summary(&self) -> Summary {
        Summary {
            distinct_failures: self.failures.len() as u64,
            locations: self.coverage.locations() as u64,
            covered_locations: self.coverage.covered_locations() as u64,
            switches: self.coverage.switches() as u64,
            covered_switches: self.coverage.covered_switches() as u64,
            boundaries: self.coverage.boundaries().len() as u64,
            covered_boundaries: self.coverage.covered_boundaries() as u64,
            requirements: self.sts.requirements().len() as u64,
            covered_requirements: self.coverage.covered_requirements(&self.sts) as u64,
            stopped: self.stopped,
            ..self.summary
        }
    }

    /// What observing silence has cost so far.
    pub fn silence_price(&self) -> SilencePrice {
        self.silences.price()
    }

    fn start_run(&mut self, now: u64) {
        if self.started.is_some() {
            return;
        }
        self.started = Some(now);
        if self.settings.events >= EventLevel::Tests {
            self.events.push(Event::RunStarted {
                version: EVENT_VERSION,
                model: self.sts.name().to_owned(),
                seed: self.settings.seed,
                strategy: self.settings.strategy.name().to_owned(),
                locations: self.coverage.locations(),
                switches: self.coverage.switches(),
                at: now,
            });
        }
    }

    /// The distinct failures that use up the limit on failures.
    fn failures_that_count(&self) -> u64 {
        (self.failures.len() as u64).saturating_sub(self.discounted)
    }

    /// Whether the run is over at this moment, and why.
    fn should_stop(&self, now: u64) -> Option<StopReason> {
        let stop = &self.settings.stop;
        let reached = |limit: Option<u64>, count: u64| limit.is_some_and(|limit| count >= limit);
        if self.interrupted {
            Some(StopReason::Interrupted)
        } else if reached(stop.errors, self.summary.errors) {
            // First, because a system that ended is kept among the failures too.
            Some(StopReason::Errors)
        } else if reached(stop.failures, self.failures_that_count()) {
            Some(StopReason::Failures)
        } else if reached(stop.tests, self.summary.whole_tests()) {
            Some(StopReason::Tests)
        } else {
            self.should_stop_within_test(now)
        }
    }

    /// The stop conditions that also end a test under way.
    fn should_stop_within_test(&self, now: u64) -> Option<StopReason> {
        if let Some(reason) = self.is_used_up(now) {
            return Some(reason);
        }
        if self.is_allowance_used_up() {
            return Some(StopReason::Tests);
        }
        if let Some(limit) = self.settings.stop.coverage
            && self.coverage.percent() >= limit
        {
            return Some(StopReason::Coverage);
        }
        if let Some(limit) = self.settings.stop.requirements
            && self.coverage.requirements_percent(&self.sts) >= limit
        {
            return Some(StopReason::Requirements);
        }
        None
    }

    /// Whether tests that the strategy ended early, and those that it did not, took as many steps together as the run's
    /// tests may take. A run without restarts ends by the number of its tests alone.
    fn is_allowance_used_up(&self) -> bool {
        let stop = &self.settings.stop;
        let allowance = stop
            .tests
            .map(|tests| tests.saturating_mul(stop.steps_per_test));
        self.summary.restarts > 0 && allowance.is_some_and(|steps| self.summary.steps() >= steps)
    }

    /// Whether the steps or the time of the whole run are used up.
    fn is_used_up(&self, now: u64) -> Option<StopReason> {
        if let Some(limit) = self.settings.stop.total_steps
            && self.summary.steps() >= limit
        {
            return Some(StopReason::Steps);
        }
        self.is_time_up(now).then_some(StopReason::Time)
    }

    /// Nanoseconds until the time of the run is up; `None` without a limit.
    fn time_left(&self, now: u64) -> Option<u64> {
        let (limit, started) = (self.settings.stop.time?, self.started?);
        Some(limit.saturating_sub(now.saturating_sub(started)))
    }

    fn is_time_up(&self, now: u64) -> bool {
        self.time_left(now) == Some(0)
    }

    fn stop(&mut self, reason: StopReason) {
        if self.stopped.is_some() {
            return;
        }
        self.stopped = Some(reason);
        if self.settings.events >= EventLevel::Tests {
            let summary = self.summary();
            self.events.push(Event::RunFinished { summary });
        }
    }

    fn begin(&mut self, number: u64, plan: Plan, counts: bool, now: u64) -> Command {
        if self.semantics.is_crowded(self.settings.remember) {
            let initial = self.semantics.initial();
            self.semantics.forget_all_but(initial);
            self.visited.clear();
        }
        let seed = test_seed(self.settings.seed, number);
        let initial = self.semantics.initial();
        self.test = Test::new(number, seed, counts, plan, initial, now);
        self.test.covered_before = self.coverage.covered();
        if counts {
            self.test.name = self.next_name.take();
        }
        if counts && self.settings.events >= EventLevel::Tests {
            self.events.push(Event::TestStarted {
                test: number,
                seed,
                name: self.test.name.clone(),
                at: now,
            });
        }
        let drain = std::mem::take(&mut self.drain);
        Command::Reset { drain }
    }

    fn ready(&mut self, now: u64) -> Command {
        let reset = now.saturating_sub(self.test.started);
        if self.test.counts {
            self.costs.reset(reset);
        }
        self.test.started = now;
        self.was_ready = true;
        if self.test.counts {
            let initial = self.semantics.initial_switches().to_vec();
            self.note_covered(|coverage| coverage.take(&initial));
        }
        self.visit();
        self.decide(now)
    }

    fn interrupt(&mut self, now: u64) -> Command {
        self.interrupted |= !self.is_time_up(now);
        let is_ready = self.was_ready || !matches!(self.test.phase, Phase::Resetting);
        let verdict = match self.interrupted || self.interrupt.is_raised() || is_ready {
            true => Verdict::inconclusive(Cause::Interrupted, "the run was interrupted"),
            false => Tester::never_ready(),
        };
        self.finish(verdict, now)
    }

    /// What a test says that waited for the first system of a run until the time of the run was up. That nothing was
    /// tested must not look like a run without a deviation.
    pub fn never_ready() -> Verdict {
        Verdict::unusable(
            "the run reached its time limit before the system was ready for the first time",
        )
    }

    /// Whether a system was ready for a test of this run.
    pub fn was_ready(&self) -> bool {
        self.was_ready
    }

    fn finish(&mut self, verdict: Verdict, now: u64) -> Command {
        let verdict = match (verdict, self.test.not_judged.take()) {
            (Verdict::Pass, Some(reason)) => Verdict::Inconclusive(reason),
            (verdict, _) => verdict,
        };
        if self.leaves_something_behind(&verdict) {
            self.drain = self.semantics.timeout(self.test.set);
        }
        self.test.phase = Phase::Finished;
        self.test.ended = now.max(self.test.started);
        let is_stimulus = |step: &&Step| matches!(step, Step::Stimulus(_));
        let stimuli = self.test.trace.iter().filter(is_stimulus).count() as u64;
        if self.test.counts {
            self.costs
                .tested(stimuli, self.test.ended - self.test.started);
        }
        self.test.failure = match &verdict {
            Verdict::Fail(deviation) | Verdict::Ended(deviation) => self.group(deviation.clone()),
            _ => None,
        };
        self.test.verdict = verdict;
        if self.test.counts {
            self.count_test(now);
        }
        Command::Finished
    }

    /// Whether responses of the test may still come after it. An adapter that says that it is ready
    /// before its system is would let them fall into the next test.
    fn leaves_something_behind(&self, verdict: &Verdict) -> bool {
        match verdict {
            Verdict::Fail(_) => true,
            // The system is started, or connected to, anew.
            Verdict::Error(_) | Verdict::Ended(_) => false,
            Verdict::Pass | Verdict::Inconclusive(_) => self.may_speak() && !self.test.quiet,
        }
    }

    /// Whether the model allows a response now, or a stimulus is on its way.
    fn may_speak(&self) -> bool {
        !self.test.menu.responses.is_empty() || !self.test.in_flight.is_empty()
    }

    /// The group of a failure, and whether it is new. Scripts found no group.
    fn group(&mut self, deviation: ioco_sts::Deviation) -> Option<(FailureId, bool)> {
        let counts = self.test.counts;
        let known = self
            .failures
            .iter_mut()
            .find(|known| known.deviation.is_like(&deviation));
        if let Some(known) = known {
            known.times_seen += u64::from(counts);
            return Some((known.id, false));
        }
        if !counts {
            return None;
        }
        let id = FailureId(self.failures.len() as u32);
        self.failures.push(KnownFailure {
            id,
            deviation,
            test: self.test.number,
            seed: self.test.seed,
            times_seen: 1,
        });
        Some((id, true))
    }

    fn count_test(&mut self, now: u64) {
        let summary = &mut self.summary;
        summary.tests += 1;
        summary.restarts += u64::from(self.test.is_restarted && self.test.verdict == Verdict::Pass);
        *match &self.test.verdict {
            Verdict::Pass => &mut summary.passed,
            Verdict::Fail(_) => &mut summary.failed,
            Verdict::Inconclusive(_) => &mut summary.inconclusive,
            Verdict::Error(_) | Verdict::Ended(_) => &mut summary.errors,
        } += 1;
        summary.duration = now.saturating_sub(self.started.unwrap_or(now));
        if self.settings.events >= EventLevel::Tests {
            self.emit_test(now);
        }
    }

    fn emit_test(&mut self, now: u64) {
        let test = self.test.number;
        self.events.push(Event::TestFinished {
            test,
            seed: self.test.seed,
            verdict: SavedVerdict::new(&self.test.verdict, &self.sts),
            steps: self.test.steps(),
            duration: self.test.ended - self.test.started,
            at: now,
        });
        if let (Some((failure, true)), Verdict::Fail(deviation) | Verdict::Ended(deviation)) =
            (self.test.failure, &self.test.verdict)
        {
            self.events.push(Event::FailureFound {
                test,
                failure,
                deviation: SavedDeviation::new(deviation, &self.sts),
            });
        }
        if self.coverage.covered() > self.test.covered_before {
            self.events.push(Event::CoverageGrew {
                test,
                covered_switches: self.coverage.covered_switches(),
                covered_locations: self.coverage.covered_locations(),
                covered_boundaries: self.coverage.covered_boundaries(),
            });
        }
    }

    /// Counts the locations of the current set.
    fn visit(&mut self) {
        if !self.test.counts {
            return;
        }
        let index = self.test.set.index();
        if index >= self.visited.len() {
            self.visited.resize(self.semantics.remembered(), false);
        }
        if !self.visited[index] {
            self.visited[index] = true;
            let set = Arc::clone(self.semantics.set(self.test.set));
            self.note_covered(|coverage| coverage.visit(&set));
        }
    }
}

//! A walk by hand on the system itself: a person gives the stimuli, and what crosses the border is judged as a
//! recording is ([`ioco_engine::monitor`]), in every order in which stimuli and responses may have crossed.
//!
//! Silence counts only where ioco listened for the whole time-out: the time in which the person thinks is no
//! silence, because nothing reads the connection then.

use std::sync::Arc;

use ioco_adapters::{AdapterError, Arrival, Arrived, Connection, Limited, listen};
use ioco_budget::Interrupt;
use ioco_engine::{Recorded, SavedDeviation, SavedStep, Sender, TimedStep, WireLine, monitor};
use ioco_sts::{Action, Deviation, Semantics, SetId, Step, Sts, Verdict};

use crate::connect::{ConnectionSpec, Link};
use crate::error::CampaignError;
use crate::project::Project;
use crate::solver::SemanticsOptions;

/// Where the model allows silence, a response that comes so soon after a stimulus is shown with it.
const LOOK: u64 = 200_000_000;

/// Nobody walks farther by hand; what a system sends without an end is not read for ever.
const MAX_STEPS: usize = 2_000;

/// How a walk goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HandState {
    /// The next stimulus may be given.
    Going,
    /// The system did what the model does not allow, at this time.
    Failed(Box<SavedDeviation>, u64),
    /// The model says nothing about what follows, or the system cannot be used any more: why.
    Over(String),
}

/// A walk on a system, from its reset on. The system is let go of when this is dropped.
pub struct HandWalk {
    sts: Arc<Sts>,
    meaning: SemanticsOptions,
    link: Link,
    interrupt: Interrupt,
    /// When the system was ready, on the connection's clock.
    ready_at: u64,
    steps: Vec<TimedStep>,
    wire: Vec<WireLine>,
    /// What was heard and given, for the judgement. Time passes there only by silence that was listened to.
    recorded: Vec<(u64, Recorded)>,
    listened: u64,
    state: HandState,
}

impl HandWalk {
    /// Connects to the system and resets it.
    pub fn begin(
        sts: &Arc<Sts>,
        reach: &ConnectionSpec,
        project: &Project,
        meaning: SemanticsOptions,
        interrupt: Interrupt,
    ) -> Result<HandWalk, CampaignError> {
        let mut link = reach.connect(sts, project)?;
        link.interrupted_by(&interrupt);
        let reset = link.reset_until(&|| interrupt.is_raised());
        reset.map_err(|error| CampaignError {
            hint: error.hint,
            ..CampaignError::system(error.message)
        })?;
        let mut walk = HandWalk {
            sts: Arc::clone(sts),
            meaning,
            ready_at: link.now(),
            link,
            interrupt,
            steps: Vec::new(),
            wire: Vec::new(),
            // Time is counted from the reset on.
            recorded: vec![(0, Recorded::Ready)],
            listened: 0,
            state: HandState::Going,
        };
        walk.look();
        Ok(walk)
    }

    pub fn state(&self) -> &HandState {
        &self.state
    }

    pub fn sts(&self) -> &Arc<Sts> {
        &self.sts
    }

    /// What was given and heard, in this order.
    pub fn steps(&self) -> &[TimedStep] {
        &self.steps
    }

    /// What crossed the border as bytes, and what the system wrote to its log.
    pub fn wire(&self) -> &[WireLine] {
        &self.wire
    }

    /// For showing where the walk is.
    pub fn semantics(&self) -> Semantics {
        self.meaning.shown(&self.sts)
    }

    /// Takes in what has arrived, without waiting for anything.
    pub fn look(&mut self) {
        if self.is_going() {
            let looked = self.take_arrived();
            self.settle(looked);
        }
        self.take_log();
    }

    /// Gives a stimulus, and waits for the answer where the model demands one. What the system said before comes
    /// first; where the stimulus may not be given any more then, it is not, and the answer is false.
    pub fn give(&mut self, stimulus: &Action) -> bool {
        self.look();
        if !self.is_going() || !self.accepts(stimulus) {
            return false;
        }
        let given = self.hand_over(stimulus);
        self.settle(given);
        self.take_log();
        true
    }

    /// Waits until the system says something, or is silent for the whole time-out.
    pub fn listen(&mut self) {
        if self.is_going() {
            let (semantics, set) = self.here();
            let time = set.map_or(0, |set| semantics.timeout(set));
            let heard = self.wait(time, true);
            self.settle(heard);
        }
        self.take_log();
    }

    fn is_going(&self) -> bool {
        self.state == HandState::Going
    }

    fn now(&self) -> u64 {
        self.link.now().saturating_sub(self.ready_at)
    }

    fn hand_over(&mut self, stimulus: &Action) -> Result<(), AdapterError> {
        let interrupt = self.interrupt.clone();
        self.link.give_until(stimulus, &|| interrupt.is_raised())?;
        let at = self.now();
        let sent = self.link.sent().to_vec();
        if !sent.is_empty() {
            self.wire.push(WireLine::new(at, Sender::Tester, &sent));
        }
        self.note(&Step::Stimulus(stimulus.clone()), at);
        self.judge(Recorded::Stimulus(stimulus.clone()), at);
        if !self.is_going() {
            return Ok(());
        }
        let (mut semantics, set) = self.here();
        let Some(set) = set else { return Ok(()) };
        let time = semantics.timeout(set);
        match semantics.menu(set).silence {
            true => self.wait(time.min(LOOK), false),
            false => self.wait(time, true),
        }
    }

    /// Listens for so long. `whole`: then nothing is silence.
    fn wait(&mut self, nanoseconds: u64, whole: bool) -> Result<(), AdapterError> {
        let interrupt = self.interrupt.clone();
        let until = self.link.now().saturating_add(nanoseconds);
        let mut link = Limited::new(&mut self.link, *self.sts.budget());
        let heard = listen(until, &mut link, &|| interrupt.is_raised())?;
        let Some(arrived) = heard else { return Ok(()) };
        match arrived.what {
            Arrival::Silence | Arrival::Quiescent if !whole => Ok(()),
            _ => {
                self.heard(arrived);
                self.take_arrived()
            }
        }
    }

    fn take_arrived(&mut self) -> Result<(), AdapterError> {
        self.link.catch_up()?;
        while self.is_going() {
            let polled = Limited::new(&mut self.link, *self.sts.budget()).poll()?;
            match polled {
                // A claim that nothing waits for says nothing.
                Some(arrived) if arrived.what == Arrival::Quiescent => {}
                Some(arrived) => self.heard(arrived),
                None => break,
            }
        }
        Ok(())
    }

    fn heard(&mut self, arrived: Arrived) {
        let at = arrived.at.saturating_sub(self.ready_at);
        if !arrived.raw.is_empty() {
            self.wire
                .push(WireLine::new(at, Sender::System, &arrived.raw));
        }
        match arrived.what {
            Arrival::Response(action) => {
                if self.judge(Recorded::Response(action.clone()), at) {
                    self.note(&Step::Response(action), at);
                }
            }
            Arrival::Unknown(text) => {
                self.judge(Recorded::Unknown(text), at);
            }
            Arrival::Silence | Arrival::Quiescent => {
                self.listened = self.listened.saturating_add(self.longest());
                if self.judge(Recorded::End, at) {
                    self.note(&Step::Quiescence, at);
                }
            }
        }
    }

    /// More than every time-out of the model.
    fn longest(&self) -> u64 {
        let own = self.sts.locations().iter().filter_map(|l| l.timeout);
        own.chain([self.sts.timeout()]).max().unwrap_or(0) + 1
    }

    fn note(&mut self, step: &Step, at: u64) {
        let what = SavedStep::new(step, &self.sts);
        self.steps.push(TimedStep { at, what });
        if self.steps.len() >= MAX_STEPS {
            self.state = HandState::Over(format!("a walk has at most {MAX_STEPS} steps"));
        }
    }

    /// Whether everything so far, and this, may happen.
    fn judge(&mut self, what: Recorded, at: u64) -> bool {
        self.recorded.push((self.listened, what));
        let Ok(mut semantics) = self.meaning.semantics(&self.sts) else {
            self.state = HandState::Over("the solver cannot be used".to_owned());
            return false;
        };
        self.state = match monitor(&mut semantics, &self.recorded).verdict {
            Verdict::Pass => return true,
            Verdict::Fail(deviation) => self.failed(&deviation, at),
            Verdict::Inconclusive(reason) | Verdict::Error(reason) => HandState::Over(reason.text),
            Verdict::Ended(deviation) => HandState::Over(deviation.observed.show(&self.sts)),
        };
        false
    }

    fn failed(&self, deviation: &Deviation, at: u64) -> HandState {
        HandState::Failed(Box::new(SavedDeviation::new(deviation, &self.sts)), at)
    }

    fn accepts(&self, stimulus: &Action) -> bool {
        let (mut semantics, set) = self.here();
        set.is_some_and(|set| semantics.accepts(set, stimulus))
    }

    /// Where the model may be after what was judged.
    fn here(&self) -> (Semantics, Option<SetId>) {
        let mut semantics = self.meaning.shown(&self.sts);
        let execution = monitor(&mut semantics, &self.recorded);
        let first = semantics.initial();
        let set = (execution.trace.iter()).try_fold(first, |set, step| semantics.after(set, step));
        (semantics, set)
    }

    fn settle(&mut self, done: Result<(), AdapterError>) {
        if let Err(error) = done {
            self.state = HandState::Over(match error.hint {
                Some(hint) => format!("{}; {hint}", error.message),
                None => error.message,
            });
        }
    }

    fn take_log(&mut self) {
        for line in self.link.take_log() {
            let at = line.at.saturating_sub(self.ready_at);
            self.wire
                .push(WireLine::new(at, Sender::Log, line.text.as_bytes()));
        }
        self.wire.sort_by_key(|line| line.at);
    }
}

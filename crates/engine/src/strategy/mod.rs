//! Strategies: how the next step is chosen among what the model offers.

mod auto;
mod boundary;
mod guided;
mod random;
mod shares;
mod transitions;

use ioco_budget::Interrupt;
use ioco_sts::{Action, Followed, Menu, Reason, Semantics, SetId, Step, Sts, SwitchId};
use rand::RngExt;
use rustc_hash::FxHashSet;

use crate::coverage::Coverage;
use crate::guide::Guide;
use crate::random::TestRng;
use crate::settings::{StrategyKind, WaitPolicy};

use auto::Auto;
use random::Random;
use shares::Shares;
use transitions::{Transitions, Wanted};

/// What a strategy sees when it chooses.
pub(crate) struct Situation<'a> {
    pub semantics: &'a mut Semantics,
    pub set: SetId,
    pub menu: &'a Menu,
    pub coverage: &'a Coverage,
    pub rng: &'a mut TestRng,
    pub wait: WaitPolicy,
    /// Solver steps for the values of one stimulus.
    pub budget: u64,
    /// Waiting can show something new: the last thing seen was not silence.
    pub may_wait: bool,
    /// Ends a search for what to do next.
    pub interrupt: &'a Interrupt,
    /// The number of the test: what a strategy remembers of another test is not this one's.
    pub test: u64,
    /// What a restart costs on this system, in stimuli; `None` where the strategy does not decide how the next test begins.
    pub restart: Option<f32>,
}

/// What to do next.
pub(crate) enum Choice {
    Give(Action, Followed),
    Wait,
    /// Nothing is left to do in this test.
    End,
    /// The next test is worth more than to go on with this one.
    Restart,
    /// What the test is for is reached: only what is due is waited for.
    Reached,
    /// It cannot be reached any more, for this reason.
    Lost(Reason),
}

pub(crate) enum Strategy {
    Random(Random),
    Transitions(Box<Transitions>),
    Auto(Box<Auto>),
    /// Led from outside; chance where the guide leaves it to chance.
    Guided(Box<dyn Guide>, Random),
}

impl Strategy {
    pub fn new(kind: &StrategyKind, semantics: &Semantics) -> Strategy {
        match kind {
            StrategyKind::Random { weights } => {
                Strategy::Random(Random::new(weights, semantics.sts()))
            }
            StrategyKind::Auto => Strategy::Auto(Box::new(Auto::new(semantics.sts()))),
            StrategyKind::Transitions => Strategy::towards(Wanted::Switches, semantics),
            StrategyKind::Data => Strategy::towards(Wanted::Boundaries, semantics),
            // Until the tester gets its guide.
            StrategyKind::Guided { .. } => Strategy::chance(semantics),
        }
    }

    fn towards(wanted: Wanted, semantics: &Semantics) -> Strategy {
        Strategy::Transitions(Box::new(Transitions::new(wanted, semantics.sts())))
    }

    fn chance(semantics: &Semantics) -> Strategy {
        Strategy::Random(Random::new(&Default::default(), semantics.sts()))
    }

    pub fn guided(guide: Box<dyn Guide>, semantics: &Semantics) -> Strategy {
        Strategy::Guided(guide, Random::new(&Default::default(), semantics.sts()))
    }

    pub fn choose(&mut self, trace: &[Step], situation: Situation<'_>) -> Choice {
        match self {
            Strategy::Random(random) => random.choose(situation),
            Strategy::Transitions(transitions) => transitions.choose(situation),
            Strategy::Auto(auto) => auto.choose(trace, situation),
            Strategy::Guided(guide, chance) => {
                guided::choose(guide.as_mut(), chance, trace, situation)
            }
        }
    }

    /// What to wait for is said from outside.
    pub fn is_guided(&self) -> bool {
        matches!(self, Strategy::Guided(..))
    }

    /// Who leads towards open switches, where this strategy goes for them.
    fn transitions(&self) -> Option<&Transitions> {
        match self {
            Strategy::Transitions(transitions) => Some(transitions),
            Strategy::Auto(auto) => Some(auto.transitions()),
            Strategy::Random(_) | Strategy::Guided(..) => None,
        }
    }

    fn transitions_mut(&mut self) -> Option<&mut Transitions> {
        match self {
            Strategy::Transitions(transitions) => Some(transitions),
            Strategy::Auto(auto) => Some(auto.transitions_mut()),
            Strategy::Random(_) | Strategy::Guided(..) => None,
        }
    }

    /// Switches that were within reach and could not be taken, and how often.
    pub fn lessons(&self) -> Vec<(u32, u16)> {
        self.transitions()
            .map_or_else(Vec::new, Transitions::lessons)
    }

    /// Takes over the lessons of others.
    pub fn learn_from(&mut self, lessons: &[(u32, u16)]) {
        if let Some(transitions) = self.transitions_mut() {
            transitions.learn_from(lessons);
        }
    }

    /// Whether something about this switch is left to go for.
    pub fn is_open(&self, coverage: &Coverage, switch: SwitchId) -> bool {
        self.transitions()
            .is_some_and(|transitions| transitions.is_open(coverage, switch))
    }

    /// The open switches that a test can go for, without those of others ([`shares`]).
    pub fn tour(
        &self,
        sts: &Sts,
        coverage: &Coverage,
        others: &FxHashSet<SwitchId>,
        steps: u64,
    ) -> Vec<SwitchId> {
        self.transitions().map_or_else(Vec::new, |transitions| {
            transitions.tour(sts, coverage, others, steps)
        })
    }

    /// Goes for these open switches first, and last for those of others.
    pub fn share(
        &mut self,
        own: impl Iterator<Item = SwitchId>,
        others: impl Iterator<Item = SwitchId>,
    ) {
        if let Some(transitions) = self.transitions_mut() {
            transitions.share(Shares::new(own, others));
        }
    }

    /// Why a test that a limit cuts short says nothing.
    pub fn unfinished(&self) -> Option<String> {
        match self {
            Strategy::Guided(guide, _) => guide.unfinished(),
            Strategy::Random(_) | Strategy::Transitions(_) | Strategy::Auto(_) => None,
        }
    }
}

impl Situation<'_> {
    /// A response is due, or waiting for one that may come was not weighed yet.
    fn is_due(&self) -> bool {
        !self.menu.silence || !matches!(self.wait, WaitPolicy::Worthwhile { .. })
    }

    /// Waits, or ends the test where waiting shows nothing new.
    fn wait_or_end(&self) -> Choice {
        if self.may_wait {
            Choice::Wait
        } else {
            Choice::End
        }
    }

    /// Whether to observe rather than to give one of `stimuli` with this total weight.
    fn observes(&mut self, stimuli_weight: f64) -> bool {
        if !self.may_wait {
            return false;
        }
        let chance = match self.wait {
            WaitPolicy::Sensible { observe, .. } if !self.menu.responses.is_empty() => observe,
            WaitPolicy::Sensible { idle, .. } => idle,
            WaitPolicy::Weighted(weight) => weight / (weight + stimuli_weight),
            // Decided before the strategy is asked.
            WaitPolicy::Worthwhile { .. } => 0.0,
        };
        self.rng.random::<f64>() < chance
    }
}

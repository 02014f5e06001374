//! Trying out in the model what a few stimuli would show, before any of them is given.

use std::sync::Arc;

use ioco_budget::Interrupt;
use ioco_solve::choose_values;
use ioco_sts::{Action, Menu, Offer, OfferedSwitch, Semantics, SetId, State, Step, SwitchId};
use rand::RngExt;
use rustc_hash::FxHashSet;

use super::candidates;
use super::situations::{History, Key, Limits, Seen, Taken, situations};
use super::suspects::{self, Fate, Happened};
use crate::random::TestRng;
use crate::values::SolverSteps;

/// Responses to one stimulus that are followed.
const MAX_RESPONSES: usize = 6;
/// How much of what a step makes suspicious counts as gained: the rest only once it is refuted.
const PROMISE: f32 = 0.35;
/// One stimulus in so many of a known beginning gets other values.
const CHANGED: u32 = 4;
/// Solver steps for the values of one response.
const BUDGET: u64 = 2_000;

/// What a search looks at, and what it may use.
pub(super) struct RolloutContext<'a> {
    pub semantics: &'a mut Semantics,
    pub limits: &'a mut Limits,
    pub seen: &'a Seen,
    pub rng: &'a mut TestRng,
    pub steps: SolverSteps,
    pub interrupt: &'a Interrupt,
}

/// Where a search begins.
#[derive(Clone)]
pub(super) struct Origin {
    pub set: SetId,
    pub history: History,
    /// The suspicions that are followed, with what they are worth.
    pub suspects: Vec<(SetId, f32)>,
    /// What it costs to begin there, in stimuli.
    pub cost: f32,
}

/// Steps that are worth taking, and how much each stimulus of them is worth.
#[derive(Clone, Default)]
pub(super) struct RankedSteps {
    pub steps: Vec<Step>,
    pub rate: f32,
}

/// A way that grows.
struct Rollout {
    set: SetId,
    history: History,
    suspects: Vec<(SetId, f32)>,
    steps: Vec<Step>,
    stimuli: u32,
    gain: f32,
    counted: FxHashSet<Key>,
}

/// How a walk begins, before chance decides.
pub(super) enum Beginning<'a> {
    /// With this switch of the menu.
    With(usize, OfferedSwitch),
    /// With these stimuli, as far as the model accepts them.
    Like(&'a [Action]),
}

/// Walks from `origin`, at random for at most so many stimuli after the beginning, and returns the part of the walk up
/// to where it is worth most for each stimulus.
pub(super) fn rollout(
    context: &mut RolloutContext<'_>,
    origin: &Origin,
    beginning: Beginning<'_>,
    depth: u32,
) -> RankedSteps {
    let mut best = RankedSteps::default();
    let mut way = Rollout {
        set: origin.set,
        history: origin.history.clone(),
        suspects: origin.suspects.clone(),
        steps: Vec::new(),
        stimuli: 0,
        gain: 0.0,
        counted: FxHashSet::default(),
    };
    // Swarm testing (Groce et al. 2012): each walk leaves some labels out.
    let swarm: u64 = context.rng.random::<u64>() | context.rng.random::<u64>();
    let (mut first, script) = match beginning {
        Beginning::With(index, switch) => (Some((index, switch)), &[][..]),
        Beginning::Like(script) => (None, script),
    };
    let mut script = script.iter();
    let mut left = depth;
    // A stimulus of the menu is given at once: after a response the menu is another one.
    if first.is_none() {
        way.respond(context);
    }
    while !context.interrupt.is_raised() {
        let given = match script.next() {
            Some(action) => way.give_like(context, action),
            None if left == 0 => break,
            None => {
                left -= 1;
                let menu = context.semantics.menu(way.set);
                let Some(wanted) = first.take().or_else(|| pick(&menu, swarm, context.rng)) else {
                    break;
                };
                way.give(context, &menu.stimuli[wanted.0], wanted.1)
            }
        };
        if !given {
            break;
        }
        way.respond(context);
        let rate = way.gain / (way.stimuli as f32 + origin.cost);
        if rate > best.rate {
            best.rate = rate;
            best.steps.clone_from(&way.steps);
        }
    }
    best
}

/// A stimulus of the menu that the swarm does not leave out.
fn pick(menu: &Menu, swarm: u64, rng: &mut TestRng) -> Option<(usize, OfferedSwitch)> {
    if menu.stimuli.is_empty() {
        return None;
    }
    let is_in = |offer: &Offer| swarm >> (offer.label.index() % 64) & 1 == 1;
    let all = menu.stimuli.iter().enumerate();
    let within: Vec<usize> = all
        .filter(|(_, o)| is_in(o))
        .map(|(index, _)| index)
        .collect();
    let index = match within.is_empty() {
        true => rng.random_range(0..menu.stimuli.len()),
        false => within[rng.random_range(0..within.len())],
    };
    let switches = &menu.stimuli[index].switches;
    Some((index, switches[rng.random_range(0..switches.len())]))
}

/// The state of a set that takes a switch from its location.
pub(super) fn state_taking(semantics: &Semantics, set: SetId, switch: SwitchId) -> Option<&State> {
    let source = semantics.sts().switch(switch).source;
    let states = semantics.set(set).states.iter();
    { states }.find(|state| state.locations.contains(&source))
}

impl Rollout {
    fn give(
        &mut self,
        context: &mut RolloutContext<'_>,
        offer: &Offer,
        wanted: OfferedSwitch,
    ) -> bool {
        let RolloutContext {
            semantics,
            limits,
            rng,
            steps,
            ..
        } = context;
        let chosen = candidates::stimulus(semantics, limits, self.set, offer, wanted, steps, rng);
        let Some((action, followed)) = chosen else {
            return false;
        };
        self.stimuli += 1;
        self.count(context, &action, &followed.taken, followed.set, true);
        self.step(context, Step::Stimulus(action), followed.set);
        true
    }

    /// Gives a stimulus as it was given before, or one of its label with other values.
    fn give_like(&mut self, context: &mut RolloutContext<'_>, action: &Action) -> bool {
        let step = Step::Stimulus(action.clone());
        if context.rng.random_range(0..CHANGED) > 0
            && context.semantics.accepts(self.set, action)
            && let Some(followed) = context.semantics.follow(self.set, &step)
        {
            self.stimuli += 1;
            self.count(context, action, &followed.taken, followed.set, true);
            self.step(context, step, followed.set);
            return true;
        }
        let menu = context.semantics.menu(self.set);
        let offer = menu
            .stimuli
            .iter()
            .find(|offer| offer.label == action.label);
        match offer {
            Some(offer) => {
                let switch = offer.switches[context.rng.random_range(0..offer.switches.len())];
                self.give(context, offer, switch)
            }
            // Left out: what follows may be possible all the same.
            None => true,
        }
    }

    /// The responses that the model demands, or may give: chance decides where it leaves a choice.
    fn respond(&mut self, context: &mut RolloutContext<'_>) {
        for _ in 0..MAX_RESPONSES {
            let menu = context.semantics.menu(self.set);
            if menu.responses.is_empty() || menu.silence && context.rng.random_range(0..2) == 0 {
                return;
            }
            let Some(action) = response(context, self.set, &menu) else {
                return;
            };
            let step = Step::Response(action.clone());
            let Some(followed) = context.semantics.follow(self.set, &step) else {
                return;
            };
            self.count(context, &action, &followed.taken, followed.set, false);
            self.step(context, step, followed.set);
        }
    }

    /// What the step is worth by itself.
    fn count(
        &mut self,
        context: &mut RolloutContext<'_>,
        action: &Action,
        taken: &[SwitchId],
        after: SetId,
        is_stimulus: bool,
    ) {
        let sts = Arc::clone(context.semantics.sts());
        let mut found = Vec::new();
        for &switch in taken {
            let Some(state) = state_taking(context.semantics, self.set, switch) else {
                continue;
            };
            let step = Taken {
                state,
                switch,
                action,
                is_stimulus,
            };
            situations(&sts, context.limits, &self.history, &step, &mut found);
            if let [after] = &context.semantics.set(after).states[..] {
                let happened = Happened {
                    before: state,
                    after,
                    switch,
                    action: Some(action),
                };
                let promised = suspects::promise(&sts, context.seen, &happened, &self.history);
                found.extend(
                    promised
                        .into_iter()
                        .map(|(key, weight)| (key, weight * PROMISE)),
                );
            }
        }
        for (key, weight) in found {
            if self.counted.insert(key) {
                self.gain += context.seen.worth(key, weight);
            }
        }
        for &switch in taken {
            self.history.take(switch, is_stimulus);
        }
    }

    /// Takes the step, and looks at what it refutes.
    fn step(&mut self, context: &mut RolloutContext<'_>, step: Step, after: SetId) {
        let semantics = &mut *context.semantics;
        semantics.mute(true);
        let gain = &mut self.gain;
        self.suspects.retain_mut(|(set, worth)| {
            match suspects::follow(semantics, *set, &step, after) {
                Fate::Refuted => {
                    *gain += *worth;
                    false
                }
                Fate::Gone => false,
                Fate::On(next) => {
                    *set = next;
                    true
                }
            }
        });
        semantics.mute(false);
        self.set = after;
        self.steps.push(step);
    }
}

/// One of the responses that the model allows.
fn response(context: &mut RolloutContext<'_>, set: SetId, menu: &Menu) -> Option<Action> {
    let sts = Arc::clone(context.semantics.sts());
    let offer = &menu.responses[context.rng.random_range(0..menu.responses.len())];
    if sts.label(offer.label).parameters.is_empty() {
        return Some(Action::plain(offer.label));
    }
    let offered = offer.switches[context.rng.random_range(0..offer.switches.len())];
    let states = Arc::clone(context.semantics.set(set));
    let valuation = &states.states[offered.state as usize].valuation;
    let guard = &sts.switch(offered.switch).enabled;
    let rng = &mut *context.rng;
    let chosen = context.steps.ask(BUDGET, |deadline| {
        choose_values(&sts, offer.label, guard, valuation, rng, deadline)
    });
    Some(Action {
        label: offer.label,
        values: chosen.sat()?,
    })
}

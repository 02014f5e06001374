//! `transitions`: towards the nearest switch that has not been taken yet. `data`: also towards the
//! nearest switch whose boundary values have not all been given.
//!
//! The plan is a distance per location: how many steps, at least, to the nearest location that an
//! uncovered switch leaves, over all switches as if every guard held. Following falling distances
//! is following a shortest plan, and looking at the distances anew after every observation is
//! planning anew, whatever the system chose to do. Distances only grow, so [`Nearest`] corrects only those
//! that the next steps depend on.
//!
//! Guards do block, and systems do refuse: a switch that was within reach and could not be taken
//! becomes more expensive each time, so that the next plan goes another way, and some steps are
//! left to chance, so that data gets a chance to change.

use std::collections::BTreeSet;

use ioco_sts::{Gate, LocationId, Offer, OfferedSwitch, Sts, SwitchId};
use rand::RngExt;
use rustc_hash::FxHashSet;

use super::boundary;
use super::random::Random;
use super::shares::Shares;
use super::{Choice, Situation};
use crate::coverage::Coverage;
use crate::nearest::{Nearest, UNREACHABLE};
use crate::values::{SolverSteps, choose_stimulus};

/// One step in so many is left to chance.
const CHANCE: u32 = 12;

/// One time in so many a stimulus is given although the system is about to speak.
const INTERRUPTION: u32 = 8;

/// What makes a switch worth going to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// That it was not taken yet.
    Switches,
    /// Also that values at the limits of its guard were not given yet (strategy `data`).
    Boundaries,
}

impl Wanted {
    fn is_open(self, coverage: &Coverage, switch: SwitchId) -> bool {
        let open = || coverage.open_boundaries(switch).next().is_some();
        !coverage.covers_switch(switch) || (self == Wanted::Boundaries && open())
    }

    /// Grows with every goal that is reached.
    fn reached(self, coverage: &Coverage) -> usize {
        match self {
            Wanted::Switches => coverage.covered_switches(),
            Wanted::Boundaries => coverage.covered_switches() + coverage.covered_boundaries(),
        }
    }
}

pub(crate) struct Transitions {
    wanted: Wanted,
    random: Random,
    /// Per location, the cost of the way to an uncovered switch.
    distances: Nearest,
    /// How much was covered at the last choice.
    reached: usize,
    /// Per switch, how often it was within reach and could not be taken.
    blocked: Vec<u16>,
    /// What it goes for, in a test that was ordered from elsewhere.
    shares: Option<Shares>,
}

impl Transitions {
    pub fn new(wanted: Wanted, sts: &Sts) -> Transitions {
        Transitions {
            wanted,
            random: Random::new(&Default::default(), sts),
            distances: Nearest::new(sts.locations().len()),
            reached: 0,
            blocked: vec![0; sts.switches().len()],
            shares: None,
        }
    }

    pub(super) fn share(&mut self, shares: Shares) {
        self.shares = Some(shares);
    }

    /// What going for an open switch costs in addition to the way.
    pub(super) fn goal_price(&self, switch: SwitchId) -> u32 {
        let shares = self.shares.as_ref();
        shares.map_or(0, |shares| shares.price(switch))
    }

    pub(super) fn is_open(&self, coverage: &Coverage, switch: SwitchId) -> bool {
        self.wanted.is_open(coverage, switch)
    }

    pub(super) fn penalty(&self, switch: SwitchId) -> u32 {
        penalty(self.blocked[switch.index()])
    }

    pub fn choose(&mut self, mut situation: Situation<'_>) -> Choice {
        let sts = situation.semantics.sts().clone();
        let reached = self.wanted.reached(situation.coverage);
        if reached < self.reached {
            // The coverage of another run: what was far may be near again.
            self.distances = Nearest::new(sts.locations().len());
        }
        self.reached = reached;
        self.learn(&sts, &situation);
        if situation.rng.random_range(0..CHANCE) == 0 {
            return self.random.choose(situation);
        }
        let set = situation.semantics.set(situation.set).clone();
        let here = set.states.iter().flat_map(|s| s.locations.iter().copied());
        if !self.leads_on(&sts, here, situation.coverage) {
            // Nothing new lies ahead: from the start there may.
            let initial = sts.processes().iter().map(|p| p.initial);
            return if self.leads_on(&sts, initial, situation.coverage) {
                Choice::End
            } else {
                self.random.choose(situation)
            };
        }
        self.look_ahead(&sts, &situation);
        let response = self.nearest(&sts, &situation.menu.responses, situation.coverage);
        let mut stimuli = self.ranked(&sts, &situation);
        // Where the system may send what leads there, listen. Where it must send something, mostly
        // listen too: a system that never stops speaking must be interrupted at some point.
        let listens = response.is_some_and(|r| stimuli.first().is_none_or(|s| r <= s.0))
            || (!situation.menu.silence && situation.rng.random_range(0..INTERRUPTION) > 0);
        if listens && situation.may_wait {
            return Choice::Wait;
        }
        // Equally near ones take turns.
        let best = stimuli.first().map_or(UNREACHABLE, |s| s.0);
        let ties = stimuli.iter().take_while(|s| s.0 == best).count();
        if ties > 1 {
            let first = situation.rng.random_range(0..ties);
            stimuli.swap(0, first);
        }
        for (_, offer, wanted) in stimuli {
            let Situation {
                semantics,
                set,
                rng,
                menu,
                budget,
                coverage,
                ..
            } = &mut situation;
            let offer = &menu.stimuli[offer];
            if self.wanted == Wanted::Boundaries
                && let Some((action, followed)) =
                    boundary::stimulus(semantics, *set, offer, wanted, coverage, *budget, rng)
            {
                return Choice::Give(action, followed);
            }
            let mut steps = SolverSteps::new(*budget);
            match choose_stimulus(semantics, *set, offer, Some(wanted), &mut steps, rng) {
                Some((action, followed)) => return Choice::Give(action, followed),
                None => self.block(wanted.switch),
            }
        }
        self.random.choose(situation)
    }

    /// Makes the distances behind everything on the menu exact, in a test that was ordered from elsewhere. It begins
    /// without any knowledge of distances: as far as the search from here can tell, all ways from here may be equally
    /// long, and taking turns among them would be a walk by chance.
    fn look_ahead(&mut self, sts: &Sts, situation: &Situation<'_>) {
        if self.shares.is_none() {
            return;
        }
        let menu = situation.menu;
        let offers = menu.stimuli.iter().chain(&menu.responses);
        let offered = offers.flat_map(|offer| &offer.switches);
        let is_goal = |offered: &&OfferedSwitch| {
            let is_open = self.is_open(situation.coverage, offered.switch);
            is_open && self.goal_price(offered.switch) == 0
        };
        if offered.clone().any(|offered| is_goal(&offered)) {
            // Nothing is nearer.
            return;
        }
        let ahead: Vec<LocationId> = offered.map(|o| sts.switch(o.switch).target).collect();
        self.leads_on(sts, ahead.into_iter(), situation.coverage);
    }

    /// Whether an uncovered switch may lie ahead of where the test is.
    pub fn leads_on_from(&mut self, situation: &Situation<'_>) -> bool {
        let sts = situation.semantics.sts().clone();
        let set = situation.semantics.set(situation.set);
        let here = set.states.iter().flat_map(|s| s.locations.iter().copied());
        self.leads_on(&sts, here, situation.coverage)
    }

    /// How often each switch was within reach and could not be taken.
    pub fn lessons(&self) -> Vec<(u32, u16)> {
        let all = self.blocked.iter().enumerate();
        all.filter(|(_, times)| **times > 0)
            .map(|(index, times)| (index as u32, *times))
            .collect()
    }

    /// Takes over what others learnt.
    pub fn learn_from(&mut self, lessons: &[(u32, u16)]) {
        for (index, times) in lessons {
            if let Some(count) = self.blocked.get_mut(*index as usize) {
                *count = (*count).max(*times);
            }
        }
    }

    fn block(&mut self, switch: SwitchId) {
        let count = &mut self.blocked[switch.index()];
        *count = count.saturating_add(1);
    }

    /// Uncovered switches that leave this place but are not on the menu: their guards do not hold.
    fn learn(&mut self, sts: &Sts, situation: &Situation<'_>) {
        let set = situation.semantics.set(situation.set).clone();
        let offers = situation.menu.stimuli.iter();
        // Looked up for every state of the set, which may be thousands.
        let offered: FxHashSet<SwitchId> = offers
            .chain(&situation.menu.responses)
            .flat_map(|offer| &offer.switches)
            .map(|offered| offered.switch)
            .collect();
        for state in &set.states {
            for location in &state.locations {
                for &id in sts.outgoing(*location) {
                    let is_observable = matches!(sts.switch(id).gate, Gate::Observable(_));
                    if is_observable
                        && self.wanted.is_open(situation.coverage, id)
                        && !offered.contains(&id)
                    {
                        self.block(id);
                    }
                }
            }
        }
    }

    /// Stimuli by how near they lead, nearest first: cost, index of the offer, switch.
    fn ranked(&self, sts: &Sts, situation: &Situation<'_>) -> Vec<(u32, usize, OfferedSwitch)> {
        let mut ranked: Vec<(u32, usize, OfferedSwitch)> = Vec::new();
        for (index, offer) in situation.menu.stimuli.iter().enumerate() {
            for offered in &offer.switches {
                let cost = self.cost(sts, offered.switch, situation.coverage);
                if cost != UNREACHABLE {
                    ranked.push((cost, index, *offered));
                }
            }
        }
        ranked.sort_by_key(|(cost, index, _)| (*cost, *index));
        ranked
    }

    fn nearest(&self, sts: &Sts, offers: &[Offer], coverage: &Coverage) -> Option<u32> {
        offers
            .iter()
            .flat_map(|offer| &offer.switches)
            .map(|offered| self.cost(sts, offered.switch, coverage))
            .filter(|cost| *cost != UNREACHABLE)
            .min()
    }

    /// The cost of the way to something new that begins with this switch.
    fn cost(&self, sts: &Sts, switch: SwitchId, coverage: &Coverage) -> u32 {
        let there = match self.is_open(coverage, switch) {
            true => self.goal_price(switch),
            false => UNREACHABLE,
        };
        let beyond = match self.distances.bound(sts.switch(switch).target.0) {
            UNREACHABLE => UNREACHABLE,
            distance => distance.saturating_add(1 + self.penalty(switch)),
        };
        there.min(beyond)
    }

    /// Whether a way leads from one of these locations to something new. The distances of all of them are right
    /// afterwards.
    fn leads_on(
        &mut self,
        sts: &Sts,
        locations: impl Iterator<Item = LocationId>,
        coverage: &Coverage,
    ) -> bool {
        let mut any = false;
        let mut distances = std::mem::take(&mut self.distances);
        let is_goal = |id: SwitchId| self.is_open(coverage, id);
        // The states of a set are often at the same places.
        let locations: BTreeSet<LocationId> = locations.collect();
        for location in locations {
            let distance = distances.distance(location.0, |location, edges| {
                let leaving = self.leaving(sts, LocationId(location), &is_goal);
                edges.extend(leaving.map(|(edge, _)| edge));
            });
            any |= distance != UNREACHABLE;
        }
        self.distances = distances;
        any
    }
}

/// What a switch costs in addition that could not be taken so often. It changes seldom, so that plans stay as they are
/// most of the time.
fn penalty(blocked: u16) -> u32 {
    match blocked {
        0 => 0,
        times => u32::from(times).next_power_of_two(),
    }
}

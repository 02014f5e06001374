//! Testers side by side share out what is open: each gets a tour of its own, and leaves the tours of the others alone
//! as long as it can.
//!
//! A tour is the walk that `transitions` would plan for a whole test: from the start to the nearest open switch, from
//! there to the next one, until the steps are used up, as if every guard held and the system chose what is hoped for.
//! A share that is cut from the list of open switches instead may lie anywhere, and its tester walks far from one to
//! the next, over switches that another job needs more.

use ioco_sts::{Gate, LocationId, Sts, SwitchId};
use rustc_hash::FxHashSet;

use super::transitions::Transitions;
use crate::coverage::Coverage;
use crate::nearest::{Edge, Nearest};

/// What going for an open switch of no job's tour costs in addition, in steps.
const FREE: u32 = 1;

/// The same for one of another tester's tour. Not forbidden: what its own tour needs may turn out to be out of reach.
const OTHERS: u32 = 64;

/// Locations that the search for one tour looks at.
const MAX_EXPANDED: usize = 100_000;

/// Which open switches a tester goes for, and which it leaves to others.
pub(super) struct Shares {
    own: FxHashSet<SwitchId>,
    others: FxHashSet<SwitchId>,
}

impl Shares {
    pub fn new(
        own: impl Iterator<Item = SwitchId>,
        others: impl Iterator<Item = SwitchId>,
    ) -> Shares {
        Shares {
            own: own.collect(),
            others: others.collect(),
        }
    }

    /// What going for this switch costs in addition.
    pub fn price(&self, switch: SwitchId) -> u32 {
        let is_shared = !self.own.is_empty() || !self.others.is_empty();
        match is_shared && !self.own.contains(&switch) {
            false => 0,
            true if self.others.contains(&switch) => OTHERS,
            true => FREE,
        }
    }
}

impl Transitions {
    /// The open switches on the walk of a test of so many steps, without those of the tours of others.
    pub fn tour(
        &self,
        sts: &Sts,
        coverage: &Coverage,
        others: &FxHashSet<SwitchId>,
        steps: u64,
    ) -> Vec<SwitchId> {
        let mut nearest = Nearest::new(sts.locations().len());
        let mut at: Vec<LocationId> = sts.processes().iter().map(|p| p.initial).collect();
        let (mut tour, mut toured) = (Vec::new(), FxHashSet::default());
        let (mut taken, mut expanded) = (0, 0);
        while taken < steps && expanded < MAX_EXPANDED {
            let is_goal = |id: SwitchId| {
                self.is_open(coverage, id) && !others.contains(&id) && !toured.contains(&id)
            };
            let ways = at.iter().enumerate().filter_map(|(process, location)| {
                let way = nearest.way(location.0, |node, edges| {
                    expanded += 1;
                    let leaving = self.leaving(sts, LocationId(node), &is_goal);
                    edges.extend(leaving.map(|(edge, _)| edge));
                })?;
                Some((way, process))
            });
            let Some((way, process)) = ways.min_by_key(|(way, _)| way.cost) else {
                break;
            };
            let walked: Vec<SwitchId> = way
                .steps
                .iter()
                .filter_map(|(node, edge)| {
                    let mut leaving = self.leaving(sts, LocationId(*node), &is_goal);
                    leaving.nth(*edge as usize).map(|(_, id)| id)
                })
                .collect();
            let goals: Vec<SwitchId> = walked.iter().copied().filter(|id| is_goal(*id)).collect();
            for id in walked {
                let switch = sts.switch(id);
                taken += u64::from(matches!(switch.gate, Gate::Observable(_)));
                at[process] = switch.target;
            }
            toured.extend(goals.iter().copied());
            tour.extend(goals);
        }
        tour
    }

    /// The edges of a location, each with its switch: one to the target, and one before it where the switch is itself a
    /// goal.
    pub(super) fn leaving<'a>(
        &'a self,
        sts: &'a Sts,
        location: LocationId,
        is_goal: &'a impl Fn(SwitchId) -> bool,
    ) -> impl Iterator<Item = (Edge, SwitchId)> + 'a {
        sts.outgoing(location).iter().flat_map(move |&id| {
            let blocked = self.penalty(id);
            let goal = is_goal(id).then(|| Edge {
                cost: blocked.saturating_add(self.goal_price(id)),
                target: None,
            });
            let switch = sts.switch(id);
            // An internal step comes by itself.
            let step = u32::from(matches!(switch.gate, Gate::Observable(_)));
            let on = Edge {
                cost: step + blocked,
                target: Some(switch.target.0),
            };
            goal.into_iter().chain([on]).map(move |edge| (edge, id))
        })
    }
}

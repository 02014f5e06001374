//! Everything that runs have shown: an observation tree over stimuli, so that nothing is run
//! twice, and which stimuli were answered as the model wants in which state.
//!
//! A run that passes also passes at every prefix; a run that fails passes at every prefix but the
//! last.

use ioco_sts::{Action, Execution, SetId, Step};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::walk::Walk;

/// A stimulus, with its values, and the state set it was given in.
pub(crate) type Place = (SetId, Action);

#[derive(Default)]
struct Seen {
    next: FxHashMap<Action, usize>,
    fails: bool,
}

pub(crate) struct Observations {
    tree: Vec<Seen>,
    /// Stimuli that were answered as expected, by the state set they were given in.
    passed: FxHashSet<Place>,
    /// Stimuli that were not.
    failing: FxHashSet<Place>,
    /// Per run, what was given where and answered as expected, in order.
    walks: Vec<Vec<Place>>,
    /// Where in `walks` a stimulus was given in a state set.
    given: FxHashMap<Place, Vec<(usize, usize)>>,
}

impl Observations {
    pub fn new() -> Observations {
        Observations {
            tree: vec![Seen::default()],
            passed: FxHashSet::default(),
            failing: FxHashSet::default(),
            walks: Vec::new(),
            given: FxHashMap::default(),
        }
    }

    /// What a run has shown; `walk` is its way through the model.
    pub fn record(&mut self, execution: &Execution, walk: Option<&Walk>) {
        let mut at = 0;
        for stimulus in execution.stimuli() {
            let fresh = self.tree.len();
            let next = *self.tree[at].next.entry(stimulus.clone()).or_insert(fresh);
            if next == fresh {
                self.tree.push(Seen::default());
            }
            at = next;
        }
        let fails = execution.deviation().is_some();
        self.tree[at].fails |= fails;
        let Some(walk) = walk else {
            return;
        };
        let mut positions = walk.stimulus_positions();
        if fails
            && let Some(last) = positions.pop()
            && let Step::Stimulus(action) = &walk.steps[last]
        {
            self.failing.insert((walk.sets[last], action.clone()));
        }
        let mut places = Vec::with_capacity(positions.len());
        for position in positions {
            if let Step::Stimulus(action) = &walk.steps[position] {
                let place = (walk.sets[position], action.clone());
                let at = (self.walks.len(), places.len());
                self.given.entry(place.clone()).or_default().push(at);
                self.passed.insert(place.clone());
                places.push(place);
            }
        }
        self.walks.push(places);
    }

    /// Some run gave these stimuli in a row, from the same state sets of the model, and all were answered as
    /// expected: what they did there they are likely to do elsewhere.
    pub fn passed_in_a_row(&self, places: &[Place]) -> bool {
        let Some((first, rest)) = places.split_first() else {
            return true;
        };
        let occurrences = self.given.get(first).into_iter().flatten();
        occurrences.into_iter().any(|&(walk, at)| {
            let behind = &self.walks[walk][at + 1..];
            behind.starts_with(rest)
        })
    }

    /// The list is known to pass.
    pub fn passes(&self, stimuli: &[Action]) -> bool {
        let mut at = 0;
        for stimulus in stimuli {
            match self.tree[at].next.get(stimulus) {
                Some(next) => at = *next,
                None => return false,
            }
        }
        !self.tree[at].fails
    }

    /// The stimulus was answered as expected when it was given in this state.
    pub fn passed(&self, place: &Place) -> bool {
        self.passed.contains(place)
    }

    /// All stimuli that were answered as expected, with where.
    pub fn all_passed(&self) -> impl Iterator<Item = &Place> + '_ {
        self.passed.iter()
    }

    /// Stimuli that failed, with where.
    pub fn failing(&self) -> &FxHashSet<Place> {
        &self.failing
    }
}

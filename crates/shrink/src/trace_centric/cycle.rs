//! Cycle removal: where the model was in the same state twice, what lies between may not matter.

use std::cmp::Reverse;

use ioco_sts::{Action, Execution, LocationId, SetId, State, Step};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::session::{Halt, Session, Shortest, stimuli_of};
use crate::walk::Walk;

/// What makes two states the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compare {
    /// Locations and values.
    States,
    /// Locations alone.
    Locations,
}

/// Longest cycle first, in steps, responses included; of equally long ones the one with more
/// stimuli, then the earliest. After
/// each success the cycles of the executed trace are looked for anew. No list is run twice. A
/// trace without a cycle is run once unchanged.
pub(crate) fn cycle(
    session: &mut Session<'_>,
    start: &Execution,
    compare: Compare,
) -> Result<Execution, Halt> {
    let mut shortest = Shortest(start.clone());
    let mut current = start.clone();
    let mut tried: FxHashSet<Vec<Action>> = FxHashSet::default();
    let mut first = true;
    loop {
        // Every execution of a run was followed by the model, so that it can be followed again.
        let Ok(walk) = Walk::of(session.semantics, &current) else {
            return Ok(shortest.0);
        };
        let mut cycles = Cycles::new(session, &walk, compare);
        let mut next = cycles.next(session)?;
        if first && next.is_none() {
            let attempt = session.attempt(&stimuli_of(&current))?;
            shortest.offer(&attempt);
        }
        first = false;
        let mut reduced = None;
        while let Some((from, to)) = next {
            next = cycles.next(session)?;
            let candidate = without(&walk, from, to);
            if !tried.insert(candidate.clone()) {
                continue;
            }
            let attempt = session.attempt(&candidate)?;
            shortest.offer(&attempt);
            if attempt.accepted {
                reduced = Some(attempt.execution);
                break;
            }
        }
        match reduced {
            Some(execution) => current = execution,
            None => return Ok(shortest.0),
        }
    }
}

fn is_stimulus(step: &Step) -> bool {
    matches!(step, Step::Stimulus(_))
}

/// The stimuli of a walk without the steps between two positions.
pub(crate) fn without(walk: &Walk, from: usize, to: usize) -> Vec<Action> {
    let kept = walk.steps[..from].iter().chain(&walk.steps[to..]);
    kept.filter(|step| is_stimulus(step))
        .filter_map(|step| step.action().cloned())
        .collect()
}

/// Pairs of positions with the same state, none behind the last stimulus, longest first. Found one
/// length at a time: a long trace has too many pairs to hold them all.
pub(crate) struct Cycles {
    /// The same number for the same state.
    keys: Vec<u32>,
    /// Stimuli before each position.
    stimuli: Vec<usize>,
    /// The next shorter length to look at.
    length: usize,
    /// Those of the length before, in reverse order.
    found: Vec<(usize, usize)>,
}

impl Cycles {
    pub fn new(session: &Session<'_>, walk: &Walk, compare: Compare) -> Cycles {
        let positions = walk.stimulus_positions();
        let keys = match positions.last() {
            Some(&last) => state_keys(session, &walk.sets[..=last], compare),
            None => Vec::new(),
        };
        let mut stimuli = vec![0];
        for step in &walk.steps {
            stimuli.push(stimuli[stimuli.len() - 1] + usize::from(is_stimulus(step)));
        }
        Cycles {
            length: keys.len(),
            keys,
            stimuli,
            found: Vec::new(),
        }
    }

    pub fn next(&mut self, session: &Session<'_>) -> Result<Option<(usize, usize)>, Halt> {
        while self.found.is_empty() && self.length > 1 {
            session.poll()?;
            self.length -= 1;
            let length = self.length;
            self.found = (0..self.keys.len() - length)
                .filter(|from| self.keys[*from] == self.keys[from + length])
                .map(|from| (from, from + length))
                .collect();
            let stimuli = &self.stimuli;
            self.found
                .sort_by_key(|&(from, to)| (Reverse(stimuli[to] - stimuli[from]), from));
            self.found.reverse();
        }
        Ok(self.found.pop())
    }
}

fn state_keys(session: &Session<'_>, sets: &[SetId], compare: Compare) -> Vec<u32> {
    let mut known: FxHashMap<Vec<u32>, u32> = FxHashMap::default();
    let locations = |state: &State| -> Vec<LocationId> { state.locations.to_vec() };
    sets.iter()
        .map(|set| match compare {
            Compare::States => set.0,
            Compare::Locations => {
                let states = &session.semantics.set(*set).states;
                let mut all: Vec<Vec<LocationId>> = states.iter().map(locations).collect();
                all.sort_unstable();
                all.dedup();
                let key: Vec<u32> = all.concat().iter().map(|l| l.0).collect();
                let fresh = known.len() as u32;
                *known.entry(key).or_insert(fresh)
            }
        })
        .collect()
}

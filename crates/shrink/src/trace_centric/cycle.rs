//! Cycle removal: where the model was in the same state twice, what lies between may not matter.

use std::cmp::Reverse;

use ioco_sts::{Action, Execution, LocationId, SetId, State, Step};
use rustc_hash::FxHashSet;

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
        let cycles = find_cycles(session, &walk, compare);
        if first && cycles.is_empty() {
            let attempt = session.attempt(&stimuli_of(&current))?;
            shortest.offer(&attempt);
        }
        first = false;
        let mut reduced = None;
        for (from, to) in cycles {
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

/// Pairs of positions with the same state, none behind the last stimulus.
pub(crate) fn find_cycles(
    session: &Session<'_>,
    walk: &Walk,
    compare: Compare,
) -> Vec<(usize, usize)> {
    let Some(&last_stimulus) = walk.stimulus_positions().last() else {
        return Vec::new();
    };
    let keys = state_keys(session, &walk.sets[..=last_stimulus], compare);
    let mut cycles: Vec<(usize, usize)> = Vec::new();
    for from in 0..keys.len() {
        for to in from + 1..keys.len() {
            if keys[from] == keys[to] {
                cycles.push((from, to));
            }
        }
    }
    // Stimuli before each position.
    let mut stimuli = vec![0];
    for step in &walk.steps {
        stimuli.push(stimuli[stimuli.len() - 1] + usize::from(is_stimulus(step)));
    }
    cycles.sort_by_key(|&(from, to)| (Reverse((to - from, stimuli[to] - stimuli[from])), from));
    cycles
}

fn state_keys(session: &Session<'_>, sets: &[SetId], compare: Compare) -> Vec<Vec<u32>> {
    let locations = |state: &State| -> Vec<LocationId> { state.locations.to_vec() };
    sets.iter()
        .map(|set| match compare {
            Compare::States => vec![set.0],
            Compare::Locations => {
                let states = &session.semantics.set(*set).states;
                let mut all: Vec<Vec<LocationId>> = states.iter().map(locations).collect();
                all.sort_unstable();
                all.dedup();
                all.concat().iter().map(|l| l.0).collect()
            }
        })
        .collect()
}

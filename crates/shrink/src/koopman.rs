//! Element and cycle elimination as Koopman et al. 2013 (section 6) defines them: a binary tree of
//! candidates, of which the first branch is taken when the candidate shows an issue. A candidate
//! whose next stimulus the model refuses is truncated: no issue.
//!
//! A transition there is a stimulus with all its responses, so that states are looked at between
//! those only. Cost is counted in transitions executed, which is the stimuli sent.

use ioco_sts::{Action, Execution, SetId};
use rustc_hash::FxHashSet;

use crate::session::{Attempt, Halt, Session, Shortest, stimuli_of};
use crate::walk::Walk;

/// `elemElimination`.
pub(crate) fn elements(session: &mut Session<'_>, start: &Execution) -> Result<Execution, Halt> {
    let mut tree = Tree::new(session, start);
    tree.elements(stimuli_of(start))?;
    Ok(tree.shortest.0)
}

/// `cycleElimination`, which goes on with `elemElimination` where no cycle is left. With
/// `only_cycles` it stops there, to measure the two apart.
pub(crate) fn cycles(
    session: &mut Session<'_>,
    start: &Execution,
    only_cycles: bool,
) -> Result<Execution, Halt> {
    let states = states_before_stimuli(session, start);
    let mut tree = Tree::new(session, start);
    let mut inputs = stimuli_of(start);
    if inputs.len() > 1 {
        let mut cycles = find_cycles(tree.session, &states)?;
        while !cycles.is_empty() {
            let (from, to) = cycles.remove(0);
            let mut candidate = inputs.clone();
            candidate.drain(from..to);
            if tree.has_issue(&candidate)? {
                inputs = candidate;
                cycles = update_cycles(from, to, &cycles);
            }
        }
        if !only_cycles {
            tree.elements(inputs)?;
        }
    }
    Ok(tree.shortest.0)
}

struct Tree<'s, 'a> {
    session: &'s mut Session<'a>,
    shortest: Shortest,
    /// Different eliminations can give the same inputs; those are not run twice.
    passed: FxHashSet<Vec<Action>>,
}

impl<'s, 'a> Tree<'s, 'a> {
    fn new(session: &'s mut Session<'a>, start: &Execution) -> Tree<'s, 'a> {
        Tree {
            session,
            shortest: Shortest(start.clone()),
            passed: FxHashSet::default(),
        }
    }

    fn has_issue(&mut self, inputs: &[Action]) -> Result<bool, Halt> {
        if self.passed.contains(inputs) {
            return Ok(false);
        }
        let attempt: Attempt = self.session.attempt(inputs)?;
        self.shortest.offer(&attempt);
        if !attempt.accepted {
            self.passed.insert(inputs.to_vec());
        }
        Ok(attempt.accepted)
    }

    fn elements(&mut self, mut inputs: Vec<Action>) -> Result<(), Halt> {
        let mut position = 0;
        while position < inputs.len() {
            let mut candidate = inputs.clone();
            candidate.remove(position);
            if self.has_issue(&candidate)? {
                inputs = candidate;
            } else {
                position += 1;
            }
        }
        Ok(())
    }
}

/// The model state before each stimulus; the one after the last stimulus is left out, as in
/// `findCycles`.
fn states_before_stimuli(session: &mut Session<'_>, execution: &Execution) -> Vec<SetId> {
    match Walk::of(session.semantics, execution) {
        Ok(walk) => {
            let positions = walk.stimulus_positions();
            positions.into_iter().map(|p| walk.sets[p]).collect()
        }
        // An execution of a run can always be followed again.
        Err(_) => Vec::new(),
    }
}

/// All pairs of positions with the same state, from large to small.
fn find_cycles(session: &Session<'_>, states: &[SetId]) -> Result<Vec<(usize, usize)>, Halt> {
    session.begin_search();
    let mut cycles: Vec<(usize, usize)> = Vec::new();
    for from in 0..states.len() {
        session.poll()?;
        for to in from + 1..states.len() {
            if states[from] == states[to] {
                session.expand(1)?;
                cycles.push((from, to));
            }
        }
    }
    cycles.sort_by_key(|(from, to)| (std::cmp::Reverse(to - from), *from));
    Ok(cycles)
}

/// `updateCycles`: cycles before the removed one stay, cycles behind it move, others are dropped.
fn update_cycles(from: usize, to: usize, cycles: &[(usize, usize)]) -> Vec<(usize, usize)> {
    cycles
        .iter()
        .filter_map(|&(x, y)| {
            if y < from {
                Some((x, y))
            } else if x > to {
                Some((x - to + from, y - to + from))
            } else {
                None
            }
        })
        .collect()
}

//! Bisimilarity of two models by its definition (Milner 1989): blocks of states are split by what the states can do,
//! until no block changes. Silence is a label: a state may be silent where it is quiescent, or on a cycle of internal
//! steps, and stays where it is.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ioco_sts::{Direction, Equivalence, Sts};

use super::compared::is_finite;
use crate::reference::{State, Theory, Val};

/// States of one model.
const STATES: usize = 120;
/// Values of one switch.
const VALUES: usize = 400;

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Move {
    Internal,
    Silence,
    Label(Direction, String, Vec<Val>),
}

/// The moves of each state, with the numbers of their targets.
type Moves = Vec<BTreeSet<(Move, usize)>>;

/// Whether the models are bisimilar; `None` where they are too large, or the reference is unsure.
pub fn bisimilar(left: &Arc<Sts>, right: &Arc<Sts>, equivalence: Equivalence) -> Option<bool> {
    if !is_finite(left) || !is_finite(right) {
        return None;
    }
    let mut moves = Moves::new();
    let mut given = BTreeSet::new();
    explore(&Theory::new(Arc::clone(left)), &mut moves, &mut given)?;
    let second = moves.len();
    explore(&Theory::new(Arc::clone(right)), &mut moves, &mut given)?;
    for moves in &mut moves {
        moves.retain(|(by, _)| {
            !matches!(by, Move::Label(Direction::Stimulus, ..)) || given.contains(by)
        });
    }
    if equivalence == Equivalence::Weak {
        moves = saturated(&moves);
    }
    let mut blocks = vec![0; moves.len()];
    loop {
        let mut numbers = BTreeMap::new();
        let mut next = Vec::new();
        for (state, moves) in moves.iter().enumerate() {
            let does: BTreeSet<(&Move, usize)> =
                moves.iter().map(|(m, to)| (m, blocks[*to])).collect();
            let fresh = numbers.len();
            next.push(*numbers.entry((blocks[state], does)).or_insert(fresh));
        }
        let is_stable = next.iter().max() == blocks.iter().max();
        blocks = next;
        if is_stable {
            return Some(blocks[0] == blocks[second]);
        }
    }
}

/// Of the values that a switch allows, those that a tester gives: parameters are set unless only `:void` will do.
fn as_given(steps: &[(Vec<Val>, State)]) -> Vec<&Vec<Val>> {
    let mut values: Vec<&Vec<Val>> = steps.iter().map(|(values, _)| values).collect();
    for at in 0..values.first().map_or(0, |first| first.len()) {
        if values.iter().any(|values| values[at] != Val::Void) {
            values.retain(|values| values[at] != Val::Void);
        }
    }
    values
}

/// Adds every state that can be reached, the start first, and the stimuli that a tester gives in one of them.
fn explore(theory: &Theory, moves: &mut Moves, given: &mut BTreeSet<Move>) -> Option<()> {
    let offset = moves.len();
    let mut states: Vec<State> = vec![theory.start()];
    let mut numbers: BTreeMap<State, usize> = BTreeMap::from([(theory.start(), offset)]);
    let mut at = 0;
    while let Some(state) = states.get(at).cloned() {
        if states.len() > STATES {
            return None;
        }
        at += 1;
        let mut found = Vec::new();
        for next in theory.internal_steps(&state) {
            found.push((Move::Internal, next));
        }
        let mut responds = false;
        for direction in [Direction::Stimulus, Direction::Response] {
            for (id, label) in theory.observable(&state, direction) {
                let steps = theory.single_steps(&state, id, VALUES);
                if steps.len() >= VALUES {
                    return None;
                }
                responds |= direction == Direction::Response && !steps.is_empty();
                let name = &theory.sts().label(label).name;
                let by = |values: &Vec<Val>| Move::Label(direction, name.clone(), values.clone());
                given.extend(as_given(&steps).into_iter().map(by));
                for (values, next) in steps {
                    found.push((Move::Label(direction, name.clone(), values), next));
                }
            }
        }
        if theory.take_unsure() {
            return None;
        }
        let is_quiet = !responds && found.iter().all(|(by, _)| *by != Move::Internal);
        if is_quiet {
            found.push((Move::Silence, state));
        }
        let mut own = BTreeSet::new();
        for (by, next) in found {
            let fresh = offset + states.len();
            let number = *numbers.entry(next.clone()).or_insert(fresh);
            if number == fresh {
                states.push(next);
            }
            own.insert((by, number));
        }
        moves.push(own);
    }
    for state in offset..moves.len() {
        let after = moves[state].iter().filter(|(by, _)| *by == Move::Internal);
        let after: Vec<usize> = after.map(|(_, to)| *to).collect();
        if after.iter().any(|to| closure(moves, *to).contains(&state)) {
            moves[state].insert((Move::Silence, state));
        }
    }
    Some(())
}

/// The state, and what internal steps lead to.
fn closure(moves: &Moves, state: usize) -> BTreeSet<usize> {
    let mut found = BTreeSet::from([state]);
    let mut open = vec![state];
    while let Some(state) = open.pop() {
        for (by, to) in &moves[state] {
            if *by == Move::Internal && found.insert(*to) {
                open.push(*to);
            }
        }
    }
    found
}

/// The same with internal steps before and after each move, and none as well.
fn saturated(moves: &Moves) -> Moves {
    let closures: Vec<BTreeSet<usize>> = (0..moves.len()).map(|s| closure(moves, s)).collect();
    let of = |state: usize| {
        let mut all: BTreeSet<(Move, usize)> = closures[state]
            .iter()
            .map(|to| (Move::Internal, *to))
            .collect();
        for before in &closures[state] {
            for (by, to) in moves[*before]
                .iter()
                .filter(|(by, _)| *by != Move::Internal)
            {
                all.extend(closures[*to].iter().map(|after| (by.clone(), *after)));
            }
        }
        all
    };
    (0..moves.len()).map(of).collect()
}

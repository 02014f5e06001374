//! Telling states apart: separating sequences, the characterisation set, state identifiers and
//! harmonised state identifiers.

use std::cmp::Reverse;
use std::collections::VecDeque;

use super::machine::{Machine, MachineError};

/// A sequence of inputs.
type Sequence = Vec<usize>;

/// With more states, the pairs of them no longer fit into memory.
const MOST_STATES: usize = 3_000;

/// What tells the states of a machine apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identifiers {
    characterisation: Vec<Sequence>,
    of_state: Vec<Vec<Sequence>>,
    harmonised: Vec<Vec<Sequence>>,
}

impl Identifiers {
    /// An error where two states cannot be told apart.
    pub fn new(machine: &Machine) -> Result<Identifiers, MachineError> {
        if machine.states() > MOST_STATES {
            return Err(MachineError::TooManyStates(MOST_STATES));
        }
        let pairs = separated(machine)?;
        let characterisation = characterisation(machine, &pairs);
        let of_state = (0..machine.states())
            .map(|state| identifier(machine, &characterisation, state))
            .collect();
        let harmonised = harmonised(machine, &characterisation, &pairs);
        Ok(Identifiers {
            characterisation,
            of_state,
            harmonised,
        })
    }

    /// W: for every two states, one of its sequences tells them apart.
    pub fn characterisation(&self) -> &[Sequence] {
        &self.characterisation
    }

    /// Sequences that tell a state from every other one.
    pub fn of_state(&self, state: usize) -> &[Sequence] {
        &self.of_state[state]
    }

    /// The same, where the identifiers of any two states share what tells these two apart.
    pub fn harmonised(&self, state: usize) -> &[Sequence] {
        &self.harmonised[state]
    }
}

/// Every two states with a shortest sequence that tells them apart, the longest of these first.
fn separated(machine: &Machine) -> Result<Vec<(usize, usize, Sequence)>, MachineError> {
    let states = machine.states();
    let index = |left: usize, right: usize| left.min(right) * states + left.max(right);
    // Per pair, the input to begin with and, unless that is enough, the pair that it leads to.
    let mut first: Vec<Option<(usize, Option<usize>)>> = vec![None; states * states];
    let mut before: Vec<Vec<(usize, usize)>> = vec![Vec::new(); states * states];
    let mut found: VecDeque<usize> = VecDeque::new();
    for left in 0..states {
        for right in left + 1..states {
            let pair = index(left, right);
            for (input, on_left) in machine.responses(left) {
                let Some(on_right) = machine.response(right, input) else {
                    continue;
                };
                if on_left.output != on_right.output {
                    if first[pair].is_none() {
                        first[pair] = Some((input, None));
                        found.push_back(pair);
                    }
                } else if on_left.target != on_right.target {
                    before[index(on_left.target, on_right.target)].push((pair, input));
                }
            }
        }
    }
    // Pairs that are told apart by one input come first, then those that lead to one of them, ...
    let mut order = Vec::new();
    while let Some(pair) = found.pop_front() {
        order.push(pair);
        for (earlier, input) in std::mem::take(&mut before[pair]) {
            if first[earlier].is_none() {
                first[earlier] = Some((input, Some(pair)));
                found.push_back(earlier);
            }
        }
    }
    if order.len() < states * states.saturating_sub(1) / 2 {
        for left in 0..states {
            for right in left + 1..states {
                if first[index(left, right)].is_none() {
                    return Err(MachineError::Alike { left, right });
                }
            }
        }
    }
    let sequence = |pair: usize| {
        let mut sequence = Vec::new();
        let mut next = first[pair];
        while let Some((input, rest)) = next {
            sequence.push(input);
            next = rest.and_then(|pair| first[pair]);
        }
        sequence
    };
    let pairs = order.into_iter().rev();
    Ok(pairs
        .map(|pair| (pair / states, pair % states, sequence(pair)))
        .collect())
}

/// A small characterisation set: a pair adds its sequence only where no sequence so far tells it
/// apart. Long sequences come first, because they often tell other pairs apart as well.
fn characterisation(machine: &Machine, pairs: &[(usize, usize, Sequence)]) -> Vec<Sequence> {
    let mut chosen: Vec<Sequence> = Vec::new();
    for (left, right, sequence) in pairs {
        let told = |known: &Sequence| machine.told_apart(*left, *right, known).is_some();
        if !chosen.iter().any(told) {
            chosen.push(sequence.clone());
        }
    }
    without_prefixes(chosen)
}

/// Sequences of W, or beginnings of them, that tell a state from all others: again and again the one
/// that tells it from most of those that are left.
fn identifier(machine: &Machine, characterisation: &[Sequence], state: usize) -> Vec<Sequence> {
    let mut left: Vec<usize> = (0..machine.states())
        .filter(|other| *other != state)
        .collect();
    let mut chosen: Vec<Sequence> = Vec::new();
    while !left.is_empty() {
        let told = characterisation.iter().map(|sequence| {
            let lengths = left
                .iter()
                .filter_map(|other| machine.told_apart(state, *other, sequence));
            let (count, longest) = lengths.fold((0, 0), |(count, most), length| {
                (count + 1, length.max(most))
            });
            (count, Reverse(longest), sequence)
        });
        let best = told.max_by_key(|(count, length, _)| (*count, *length));
        let Some((_, Reverse(length), sequence)) = best.filter(|(count, _, _)| *count > 0) else {
            break;
        };
        left.retain(|other| machine.told_apart(state, *other, sequence).is_none());
        chosen.push(sequence[..length].to_vec());
    }
    without_prefixes(chosen)
}

/// Pair by pair: a question that both states have already, else one that is new for as few of the
/// two as possible, else one that tells many pairs apart and so will be of use again.
fn harmonised(
    machine: &Machine,
    characterisation: &[Sequence],
    pairs: &[(usize, usize, Sequence)],
) -> Vec<Vec<Sequence>> {
    let useful: Vec<usize> = characterisation
        .iter()
        .map(|sequence| {
            let told = |pair: &&(usize, usize, Sequence)| {
                machine.told_apart(pair.0, pair.1, sequence).is_some()
            };
            pairs.iter().filter(told).count()
        })
        .collect();
    let mut of_state: Vec<Vec<Sequence>> = vec![Vec::new(); machine.states()];
    for (left, right, _) in pairs {
        let asked = |state: usize, question: &[usize]| {
            let mut known = of_state[state].iter();
            known.any(|sequence| sequence.starts_with(question))
        };
        let questions = characterisation.iter().zip(&useful);
        let questions = questions.filter_map(|(sequence, useful)| {
            let length = machine.told_apart(*left, *right, sequence)?;
            let question = &sequence[..length];
            let known = [*left, *right].map(|state| usize::from(asked(state, question)));
            Some((known[0] + known[1], *useful, Reverse(length), question))
        });
        let best = questions.max_by_key(|(known, useful, length, _)| (*known, *useful, *length));
        let Some((known, _, _, question)) = best.filter(|(known, ..)| *known < 2) else {
            continue;
        };
        let missing: Vec<usize> = [*left, *right]
            .into_iter()
            .filter(|state| known == 0 || !asked(*state, question))
            .collect();
        for state in missing {
            of_state[state].push(question.to_vec());
        }
    }
    of_state.into_iter().map(without_prefixes).collect()
}

/// Sequences that are no beginning of another one, sorted.
fn without_prefixes(mut sequences: Vec<Sequence>) -> Vec<Sequence> {
    sequences.sort_unstable();
    sequences.dedup();
    let mut kept: Vec<Sequence> = Vec::new();
    // Sorted, what begins with a sequence comes right after it.
    for sequence in sequences {
        if kept.last().is_some_and(|last| sequence.starts_with(last)) {
            kept.pop();
        }
        kept.push(sequence);
    }
    kept
}

//! Telling states apart: separating sequences, the characterisation set, state identifiers and
//! harmonised state identifiers.

use std::cmp::Reverse;

use ioco_budget::{Budget, Meter};

use super::machine::{Machine, MachineError, Response};
use super::splitting::{NoTree, SplittingTree};

/// A sequence of inputs.
pub(super) type Sequence = Vec<usize>;

/// With more states there are too many pairs of them: memory grows with their number, eight bytes for
/// each, and time with it. Only partial machines need them.
const MAX_STATES: usize = 3_000;

/// Up to so many states, every two of them are compared, which makes the smallest suites and takes time with their square.
/// Larger complete machines get a splitting tree.
const MAX_COMPARED: usize = 100;

/// What tells the states of a machine apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identifiers {
    characterisation: Vec<Sequence>,
    of_state: Vec<Vec<Sequence>>,
    /// `None`: those of the states are harmonised already.
    harmonised: Option<Vec<Vec<Sequence>>>,
}

impl Identifiers {
    /// An error where two states cannot be told apart.
    pub fn new(machine: &Machine) -> Result<Identifiers, MachineError> {
        let budget = Budget {
            steps: u64::MAX,
            ..Budget::default()
        };
        Identifiers::within(machine, &Meter::new(&budget, None))
    }

    /// The same; it ends early when the meter says so.
    pub fn within(machine: &Machine, meter: &Meter<'_>) -> Result<Identifiers, MachineError> {
        if machine.states() > MAX_COMPARED && machine.undefined().is_none() {
            match SplittingTree::new(machine, meter) {
                Ok(tree) => return Ok(Identifiers::split(machine, &tree)),
                Err(NoTree::Error(error)) => return Err(error),
                Err(NoTree::TooDear) => {}
            }
        }
        if machine.states() > MAX_STATES {
            return Err(MachineError::TooManyStates(MAX_STATES));
        }
        let pairs = Pairs::new(machine, meter)?;
        let characterisation = characterisation(machine, &pairs, meter)?;
        let of_state = (0..machine.states())
            .map(|state| identifier(machine, &characterisation, state, meter))
            .collect::<Result<_, MachineError>>()?;
        let harmonised = harmonised(machine, &characterisation, &pairs, meter)?;
        Ok(Identifiers {
            characterisation,
            of_state,
            harmonised: Some(harmonised),
        })
    }

    fn split(machine: &Machine, tree: &SplittingTree) -> Identifiers {
        let of_state = (0..machine.states()).map(|state| without_prefixes(tree.identifier(state)));
        Identifiers {
            characterisation: without_prefixes(tree.separators()),
            of_state: of_state.collect(),
            harmonised: None,
        }
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
        match &self.harmonised {
            Some(harmonised) => &harmonised[state],
            None => &self.of_state[state],
        }
    }
}

/// Every two states with a shortest sequence that tells them apart. There are many pairs, so that the
/// sequences are put together when they are asked for.
struct Pairs {
    states: usize,
    /// Per pair, the input to begin with; [`NONE`] while nothing tells the two apart.
    input: Vec<u32>,
    /// Per pair, the pair that this input leads to; [`NONE`] where the input is enough.
    next: Vec<u32>,
    /// The pairs, those with the shortest sequences first.
    order: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl Pairs {
    fn new(machine: &Machine, meter: &Meter<'_>) -> Result<Pairs, MachineError> {
        let states = machine.states();
        let mut pairs = Pairs {
            states,
            input: vec![NONE; states * states],
            next: vec![NONE; states * states],
            order: Vec::new(),
        };
        for left in 0..states {
            for right in left + 1..states {
                meter.spend(machine.inputs() as u64)?;
                let tells = |(input, on_left): &(usize, Response)| {
                    let on_right = machine.response(right, *input);
                    on_right.is_some_and(|r| r.output != on_left.output)
                };
                if let Some((input, _)) = machine.responses(left).find(tells) {
                    let pair = pairs.index(left, right);
                    pairs.input[pair] = input as u32;
                    pairs.order.push(pair as u32);
                }
            }
        }
        // Pairs that are told apart by one input come first, then those that lead to one of them, ...
        let arriving = arriving(machine);
        let mut at = 0;
        while let Some(&pair) = pairs.order.get(at) {
            at += 1;
            for (earlier, input) in pairs.before(machine, &arriving, pair, meter)? {
                if pairs.input[earlier as usize] == NONE {
                    pairs.input[earlier as usize] = input;
                    pairs.next[earlier as usize] = pair;
                    pairs.order.push(earlier);
                }
            }
        }
        for left in 0..states {
            for right in left + 1..states {
                if pairs.input[pairs.index(left, right)] == NONE {
                    return Err(MachineError::Alike { left, right });
                }
            }
        }
        Ok(pairs)
    }

    fn index(&self, left: usize, right: usize) -> usize {
        left.min(right) * self.states + left.max(right)
    }

    /// The pairs that an input with the same output on both sides leads to this one, with the input.
    fn before(
        &self,
        machine: &Machine,
        arriving: &[Vec<Vec<u32>>],
        pair: u32,
        meter: &Meter<'_>,
    ) -> Result<Vec<(u32, u32)>, MachineError> {
        let (one, other) = (pair as usize / self.states, pair as usize % self.states);
        let mut found = Vec::new();
        for (input, by_target) in arriving.iter().enumerate() {
            for &left in &by_target[one] {
                meter.spend(1 + by_target[other].len() as u64)?;
                for &right in &by_target[other] {
                    let (left, right) = (left as usize, right as usize);
                    let outputs =
                        [left, right].map(|s| machine.response(s, input).map(|r| r.output));
                    if outputs[0] == outputs[1] {
                        found.push((self.index(left, right) as u32, input as u32));
                    }
                }
            }
        }
        found.sort_unstable();
        Ok(found)
    }

    /// The pairs with the longest sequences first.
    fn iter(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let pairs = self.order.iter().rev().map(|pair| *pair as usize);
        pairs.map(|pair| (pair / self.states, pair % self.states))
    }

    fn sequence(&self, left: usize, right: usize) -> Sequence {
        let mut sequence = Vec::new();
        let mut pair = self.index(left, right) as u32;
        while pair != NONE {
            sequence.push(self.input[pair as usize] as usize);
            pair = self.next[pair as usize];
        }
        sequence
    }
}

/// By input and target, the states that the input leads there.
fn arriving(machine: &Machine) -> Vec<Vec<Vec<u32>>> {
    let mut found = vec![vec![Vec::new(); machine.states()]; machine.inputs()];
    for state in 0..machine.states() {
        for (input, response) in machine.responses(state) {
            found[input][response.target].push(state as u32);
        }
    }
    found
}

/// A small characterisation set: a pair adds its sequence only where no sequence so far tells it
/// apart. Long sequences come first, because they often tell other pairs apart as well.
fn characterisation(
    machine: &Machine,
    pairs: &Pairs,
    meter: &Meter<'_>,
) -> Result<Vec<Sequence>, MachineError> {
    let mut chosen: Vec<Sequence> = Vec::new();
    for (left, right) in pairs.iter() {
        meter.spend(1 + chosen.len() as u64)?;
        let distinguishes = |known: &Sequence| machine.distinguished(left, right, known).is_some();
        if !chosen.iter().any(distinguishes) {
            chosen.push(pairs.sequence(left, right));
        }
    }
    Ok(without_prefixes(chosen))
}

/// Sequences of W, or beginnings of them, that tell a state from all others: again and again the one
/// that tells it from most of those that are left.
fn identifier(
    machine: &Machine,
    characterisation: &[Sequence],
    state: usize,
    meter: &Meter<'_>,
) -> Result<Vec<Sequence>, MachineError> {
    let mut left: Vec<usize> = (0..machine.states())
        .filter(|other| *other != state)
        .collect();
    let mut chosen: Vec<Sequence> = Vec::new();
    while !left.is_empty() {
        meter.spend(left.len() as u64 * characterisation.len() as u64)?;
        let candidates = characterisation.iter().map(|sequence| {
            let lengths = left
                .iter()
                .filter_map(|other| machine.distinguished(state, *other, sequence));
            let (count, longest) = lengths.fold((0, 0), |(count, most), length| {
                (count + 1, length.max(most))
            });
            (count, Reverse(longest), sequence)
        });
        let best = candidates.max_by_key(|(count, length, _)| (*count, *length));
        let Some((_, Reverse(length), sequence)) = best.filter(|(count, _, _)| *count > 0) else {
            break;
        };
        left.retain(|other| machine.distinguished(state, *other, sequence).is_none());
        chosen.push(sequence[..length].to_vec());
    }
    Ok(without_prefixes(chosen))
}

/// Pair by pair: a question that both states have already, else one that is new for as few of the
/// two as possible, else one that tells many pairs apart and so will be of use again.
fn harmonised(
    machine: &Machine,
    characterisation: &[Sequence],
    pairs: &Pairs,
    meter: &Meter<'_>,
) -> Result<Vec<Vec<Sequence>>, MachineError> {
    let mut useful: Vec<usize> = Vec::new();
    for sequence in characterisation {
        let mut count = 0;
        for (left, right) in pairs.iter() {
            meter.spend(1)?;
            count += usize::from(machine.distinguished(left, right, sequence).is_some());
        }
        useful.push(count);
    }
    let mut of_state: Vec<Vec<Sequence>> = vec![Vec::new(); machine.states()];
    for (left, right) in pairs.iter() {
        meter.spend(characterisation.len() as u64)?;
        let asked = |state: usize, question: &[usize]| {
            let mut known = of_state[state].iter();
            known.any(|sequence| sequence.starts_with(question))
        };
        let questions = characterisation.iter().zip(&useful);
        let questions = questions.filter_map(|(sequence, useful)| {
            let length = machine.distinguished(left, right, sequence)?;
            let question = &sequence[..length];
            let known = [left, right].map(|state| usize::from(asked(state, question)));
            Some((known[0] + known[1], *useful, Reverse(length), question))
        });
        let best = questions.max_by_key(|(known, useful, length, _)| (*known, *useful, *length));
        let Some((known, _, _, question)) = best.filter(|(known, ..)| *known < 2) else {
            continue;
        };
        let missing: Vec<usize> = [left, right]
            .into_iter()
            .filter(|state| known == 0 || !asked(*state, question))
            .collect();
        for state in missing {
            of_state[state].push(question.to_vec());
        }
    }
    Ok(of_state.into_iter().map(without_prefixes).collect())
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

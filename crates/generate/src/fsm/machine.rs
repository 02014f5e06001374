//! Deterministic Mealy machines as tables: states, inputs and outputs are numbers.

use std::fmt;

use ioco_budget::Halted;
use rustc_hash::FxHashMap;

/// What a machine does with an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Response {
    pub output: usize,
    pub target: usize,
}

/// A machine; `None` in the table is an input that a state does not accept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    initial: usize,
    inputs: usize,
    table: Vec<Vec<Option<Response>>>,
}

/// Why there is no suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MachineError {
    /// A state does not accept an input, which the method needs.
    Partial { state: usize, input: usize },
    /// No sequence that both accept tells two states apart.
    Alike { left: usize, right: usize },
    /// The suite is larger than the limit.
    TooLarge(usize),
    /// More states than pairs of them can be compared.
    TooManyStates(usize),
    /// A stop is requested, or a limit was reached.
    Halted(Halted),
}

impl From<Halted> for MachineError {
    fn from(halted: Halted) -> MachineError {
        MachineError::Halted(halted)
    }
}

impl fmt::Display for MachineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MachineError::Partial { state, input } => {
                write!(f, "state {state} does not accept input {input}")
            }
            MachineError::Alike { left, right } => {
                write!(
                    f,
                    "no sequence distinguishes state {left} from state {right}"
                )
            }
            MachineError::TooLarge(limit) => write!(f, "the suite has more than {limit} stimuli"),
            MachineError::TooManyStates(most) => write!(f, "there are more than {most} states"),
            MachineError::Halted(halted) => halted.fmt(f),
        }
    }
}

impl std::error::Error for MachineError {}

impl Machine {
    /// The rows are the states; every row has one entry per input.
    pub fn new(initial: usize, inputs: usize, table: Vec<Vec<Option<Response>>>) -> Machine {
        debug_assert!(table.iter().all(|row| row.len() == inputs));
        Machine {
            initial,
            inputs,
            table,
        }
    }

    pub fn initial(&self) -> usize {
        self.initial
    }

    pub fn inputs(&self) -> usize {
        self.inputs
    }

    pub fn states(&self) -> usize {
        self.table.len()
    }

    pub fn response(&self, state: usize, input: usize) -> Option<Response> {
        self.table[state][input]
    }

    /// The inputs that a state accepts, with what it does.
    pub fn responses(&self, state: usize) -> impl Iterator<Item = (usize, Response)> + '_ {
        let row = self.table[state].iter().enumerate();
        row.filter_map(|(input, response)| response.map(|r| (input, r)))
    }

    /// Where a sequence leads; `None` where it is not accepted.
    pub fn after(&self, state: usize, sequence: &[usize]) -> Option<usize> {
        sequence.iter().try_fold(state, |state, input| {
            self.response(state, *input).map(|r| r.target)
        })
    }

    /// The outputs of a sequence, as far as it is accepted.
    pub fn outputs(&self, mut state: usize, sequence: &[usize]) -> Vec<usize> {
        let mut outputs = Vec::with_capacity(sequence.len());
        for input in sequence {
            let Some(response) = self.response(state, *input) else {
                break;
            };
            outputs.push(response.output);
            state = response.target;
        }
        outputs
    }

    /// How many inputs of a sequence tell two states apart, if any number does.
    pub fn distinguished(&self, left: usize, right: usize, sequence: &[usize]) -> Option<usize> {
        let (mut left, mut right) = (left, right);
        for (position, input) in sequence.iter().enumerate() {
            let (on_left, on_right) = (self.response(left, *input)?, self.response(right, *input)?);
            if on_left.output != on_right.output {
                return Some(position + 1);
            }
            (left, right) = (on_left.target, on_right.target);
        }
        None
    }

    /// An input that some state does not accept.
    pub fn undefined(&self) -> Option<(usize, usize)> {
        let rows = self.table.iter().enumerate();
        let mut missing = rows.filter_map(|(state, row)| {
            let input = row.iter().position(Option::is_none)?;
            Some((state, input))
        });
        missing.next()
    }

    /// The states in the order of their distance, each but the first with the state and the input that reach it first.
    pub fn spanning_tree(&self) -> Vec<(usize, Option<(usize, usize)>)> {
        let mut is_found = vec![false; self.states()];
        is_found[self.initial] = true;
        let mut order = vec![(self.initial, None)];
        let mut at = 0;
        while let Some(&(state, _)) = order.get(at) {
            at += 1;
            for (input, response) in self.responses(state) {
                if !std::mem::replace(&mut is_found[response.target], true) {
                    order.push((response.target, Some((state, input))));
                }
            }
        }
        order
    }

    /// The state cover: a shortest access sequence for every state, the empty one first.
    pub fn state_cover(&self) -> Vec<Vec<usize>> {
        let mut access: Vec<Vec<usize>> = vec![Vec::new(); self.states()];
        let order = self.spanning_tree();
        for (state, before) in &order {
            if let Some((source, input)) = before {
                access[*state] = access[*source].clone();
                access[*state].push(*input);
            }
        }
        let access = { order }
            .into_iter()
            .map(|(state, _)| std::mem::take(&mut access[state]));
        access.collect()
    }

    /// The machine with states merged that accept the same and answer the same for ever, and per
    /// state the one that it became. Of a machine that accepts everything this is the minimal one.
    pub fn minimal(&self) -> (Machine, Vec<usize>) {
        let mut block = vec![0; self.states()];
        let mut count = 1;
        loop {
            let mut numbers: FxHashMap<_, usize> = FxHashMap::default();
            let mut next = Vec::with_capacity(block.len());
            for (state, row) in self.table.iter().enumerate() {
                let seen: Vec<Option<(usize, usize)>> = row
                    .iter()
                    .map(|response| response.map(|r| (r.output, block[r.target])))
                    .collect();
                let fresh = numbers.len();
                next.push(*numbers.entry((block[state], seen)).or_insert(fresh));
            }
            block = next;
            if numbers.len() == count {
                break;
            }
            count = numbers.len();
        }
        let mut table: Vec<Vec<Option<Response>>> = vec![Vec::new(); count];
        for (state, row) in self.table.iter().enumerate() {
            let merged = row.iter().map(|response| {
                response.map(|r| Response {
                    target: block[r.target],
                    ..r
                })
            });
            table[block[state]] = merged.collect();
        }
        (Machine::new(block[self.initial], self.inputs, table), block)
    }
}

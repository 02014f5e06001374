//! A splitting tree: what tells the states of a large machine apart, without looking at every two of them.
//!
//! A node is a set of states. An inner node has a *separator*, a sequence of inputs, and one child for each sequence of
//! outputs with which its states answer it. States with different outputs to one input are split first. A node whose
//! states answer each input alike is split by an input that leads them to different leaves: their lowest common ancestor
//! knows what tells the targets apart. Going round by round, as Moore's algorithm refines partitions, keeps the separators
//! short (Lee and Yannakakis 1994; Smetsers, Moerman and Jansen 2016).
//!
//! The separators on the way from the root to a state are harmonised identifiers: two states share the separator of
//! their lowest common ancestor, and it tells them apart. It works for complete machines only, because in a partial one
//! *alike* is no equivalence. It pays where few rounds are enough; a machine whose states differ only after long sequences,
//! such as a long ring, gives up ([`TreeBudget`]).

use std::cell::Cell;

use ioco_budget::Meter;

use super::identify::Sequence;
use super::machine::{Machine, MachineError};

pub(super) struct SplittingTree {
    nodes: Vec<Node>,
    /// By state.
    leaf: Vec<usize>,
}

/// Steps for each state and input before a tree is given up: machines with short separators take about a hundred.
const STEPS: u64 = 1_000;

/// Why there is no tree.
pub(super) enum NoTree {
    /// It would take more work than comparing every two states of a smaller machine.
    TooDear,
    Error(MachineError),
}

impl From<MachineError> for NoTree {
    fn from(error: MachineError) -> NoTree {
        NoTree::Error(error)
    }
}

/// The work that a tree may take.
struct TreeBudget<'a> {
    meter: &'a Meter<'a>,
    left: Cell<u64>,
}

impl TreeBudget<'_> {
    fn spend(&self, steps: u64) -> Result<(), NoTree> {
        self.meter.spend(steps).map_err(MachineError::from)?;
        let left = self.left.get().checked_sub(steps).ok_or(NoTree::TooDear)?;
        self.left.set(left);
        Ok(())
    }
}

struct Node {
    parent: Option<usize>,
    depth: usize,
    /// Empty for a leaf.
    separator: Sequence,
    /// The states of a leaf.
    states: Vec<u32>,
}

impl SplittingTree {
    /// The machine must be complete. An error where two states cannot be told apart.
    pub fn new(machine: &Machine, meter: &Meter<'_>) -> Result<SplittingTree, NoTree> {
        let states = machine.states();
        let size = states.saturating_mul(machine.inputs()) as u64;
        let gauge = &TreeBudget {
            meter,
            left: Cell::new(size.saturating_mul(STEPS)),
        };
        let mut tree = SplittingTree {
            nodes: vec![Node {
                parent: None,
                depth: 0,
                separator: Vec::new(),
                states: (0..states as u32).collect(),
            }],
            leaf: vec![0; states],
        };
        tree.split_by_outputs(machine, gauge)?;
        let mut open: Vec<usize> = (0..tree.nodes.len()).collect();
        loop {
            open.retain(|node| tree.nodes[*node].states.len() > 1);
            let Some(first) = open.first() else {
                tree.weigh(gauge)?;
                return Ok(tree);
            };
            let alike = &tree.nodes[*first].states;
            let (left, right) = (alike[0] as usize, alike[1] as usize);
            let count = tree.nodes.len();
            open = tree.split_by_targets(machine, open, gauge)?;
            if tree.nodes.len() == count {
                return Err(NoTree::Error(MachineError::Alike { left, right }));
            }
        }
    }

    /// The separators on the way to a state.
    pub fn identifier(&self, state: usize) -> Vec<Sequence> {
        let mut found = Vec::new();
        let mut at = self.nodes[self.leaf[state]].parent;
        while let Some(node) = at {
            found.push(self.nodes[node].separator.clone());
            at = self.nodes[node].parent;
        }
        found
    }

    /// Refuses a tree whose identifiers are too long to be written down.
    fn weigh(&self, gauge: &TreeBudget<'_>) -> Result<(), NoTree> {
        for leaf in &self.leaf {
            let mut at = self.nodes[*leaf].parent;
            while let Some(node) = at {
                gauge.spend(self.nodes[node].separator.len() as u64)?;
                at = self.nodes[node].parent;
            }
        }
        Ok(())
    }

    pub fn separators(&self) -> Vec<Sequence> {
        let inner = self.nodes.iter().filter(|node| !node.separator.is_empty());
        inner.map(|node| node.separator.clone()).collect()
    }

    fn split_by_outputs(
        &mut self,
        machine: &Machine,
        gauge: &TreeBudget<'_>,
    ) -> Result<(), NoTree> {
        let output = |state: u32, input| machine.response(state as usize, input).map(|r| r.output);
        let mut open = vec![0];
        while let Some(node) = open.pop() {
            let states = &self.nodes[node].states;
            gauge.spend((states.len() * machine.inputs()) as u64)?;
            let differs = |input: &usize| {
                let first = output(states[0], *input);
                states.iter().any(|state| output(*state, *input) != first)
            };
            if let Some(input) = (0..machine.inputs()).find(differs) {
                let by_output = |state| output(state, input);
                open.extend(self.split(node, vec![input], by_output));
            }
        }
        Ok(())
    }

    /// One round: splits these leaves by where inputs lead, as the leaves were when it began. The leaves that are left.
    fn split_by_targets(
        &mut self,
        machine: &Machine,
        open: Vec<usize>,
        gauge: &TreeBudget<'_>,
    ) -> Result<Vec<usize>, NoTree> {
        let leaf = self.leaf.clone();
        let mut left = Vec::new();
        let mut open = open;
        while let Some(node) = open.pop() {
            let mut best: Option<(usize, usize)> = None;
            let states = &self.nodes[node].states;
            for input in 0..machine.inputs() {
                gauge.spend(states.len() as u64)?;
                let mut targets = states
                    .iter()
                    .filter_map(|state| machine.response(*state as usize, input))
                    .map(|response| leaf[response.target]);
                let Some(first) = targets.next() else {
                    continue;
                };
                let mut common = first;
                for target in targets {
                    if target != common {
                        common = self.common_ancestor(common, target, gauge)?;
                    }
                }
                // Where all lead to one leaf of the beginning, even if it was split since, nothing differs yet.
                if common == first || self.nodes[common].separator.is_empty() {
                    continue;
                }
                let length = |node: usize| self.nodes[node].separator.len();
                if best.is_none_or(|(_, other)| length(common) < length(other)) {
                    best = Some((input, common));
                }
            }
            let Some((input, ancestor)) = best else {
                if states.len() > 1 {
                    left.push(node);
                }
                continue;
            };
            let mut separator = vec![input];
            separator.extend(&self.nodes[ancestor].separator);
            gauge.spend(separator.len() as u64)?;
            let mut below = Vec::with_capacity(states.len());
            for state in states {
                let target = machine.response(*state as usize, input).map(|r| r.target);
                let child = match target {
                    Some(target) => Some(self.child_towards(ancestor, leaf[target], gauge)?),
                    None => None,
                };
                below.push((*state, child));
            }
            below.sort_unstable();
            let child = |state| {
                let at = below.binary_search_by_key(&state, |(known, _)| *known);
                at.ok().and_then(|at| below[at].1)
            };
            open.extend(self.split(node, separator, child));
        }
        Ok(left)
    }

    /// Makes a leaf an inner node, with one leaf for each answer; returns the new leaves.
    fn split<A: Ord>(
        &mut self,
        node: usize,
        separator: Sequence,
        answer: impl Fn(u32) -> A,
    ) -> std::ops::Range<usize> {
        let mut states: Vec<(A, u32)> = std::mem::take(&mut self.nodes[node].states)
            .into_iter()
            .map(|state| (answer(state), state))
            .collect();
        states.sort_unstable();
        self.nodes[node].separator = separator;
        let first = self.nodes.len();
        for alike in states.chunk_by(|a, b| a.0 == b.0) {
            let child = self.nodes.len();
            for (_, state) in alike {
                self.leaf[*state as usize] = child;
            }
            self.nodes.push(Node {
                parent: Some(node),
                depth: self.nodes[node].depth + 1,
                separator: Vec::new(),
                states: alike.iter().map(|(_, state)| *state).collect(),
            });
        }
        first..self.nodes.len()
    }

    fn common_ancestor(
        &self,
        mut one: usize,
        mut other: usize,
        gauge: &TreeBudget<'_>,
    ) -> Result<usize, NoTree> {
        while one != other {
            gauge.spend(1)?;
            let up = |node: usize| self.nodes[node].parent.unwrap_or(node);
            match self.nodes[one].depth.cmp(&self.nodes[other].depth) {
                std::cmp::Ordering::Less => other = up(other),
                std::cmp::Ordering::Greater => one = up(one),
                std::cmp::Ordering::Equal => (one, other) = (up(one), up(other)),
            }
        }
        Ok(one)
    }

    /// The child of a node that a leaf below it lies in.
    fn child_towards(
        &self,
        ancestor: usize,
        leaf: usize,
        gauge: &TreeBudget<'_>,
    ) -> Result<usize, NoTree> {
        let mut at = leaf;
        while let Some(parent) = self.nodes[at].parent {
            gauge.spend(1)?;
            if parent == ancestor {
                break;
            }
            at = parent;
        }
        Ok(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fsm::Response;
    use ioco_budget::Budget;
    use proptest::prelude::*;

    fn complete(states: usize, entries: &[(usize, usize)]) -> Machine {
        let row = |state: usize| {
            let entry = |input: usize| {
                let (output, target) = entries[(2 * state + input) % entries.len()];
                let target = target % states;
                Some(Response { output, target })
            };
            vec![entry(0), entry(1)]
        };
        Machine::new(0, 2, (0..states).map(row).collect())
    }

    fn tree(machine: &Machine) -> Result<SplittingTree, NoTree> {
        let budget = Budget {
            steps: u64::MAX,
            ..Budget::default()
        };
        SplittingTree::new(machine, &Meter::new(&budget, None))
    }

    /// Whether any sequence of inputs tells two states apart, by looking at all pairs that they lead to.
    fn are_alike(machine: &Machine, left: usize, right: usize) -> bool {
        let mut seen = std::collections::BTreeSet::from([(left, right)]);
        let mut open = vec![(left, right)];
        while let Some((left, right)) = open.pop() {
            for (input, on_left) in machine.responses(left) {
                let Some(on_right) = machine.response(right, input) else {
                    continue;
                };
                if on_left.output != on_right.output {
                    return false;
                }
                let next = (on_left.target, on_right.target);
                if seen.insert(next) {
                    open.push(next);
                }
            }
        }
        true
    }

    #[test]
    fn a_long_ring_is_given_up() {
        let row = |state: usize| {
            let output = usize::from(state == 0);
            let target = (state + 1) % 10_000;
            vec![Some(Response { output, target })]
        };
        let ring = Machine::new(0, 1, (0..10_000).map(row).collect());
        assert!(matches!(tree(&ring), Err(NoTree::TooDear)));
    }

    proptest! {
        /// Identifiers of any two states share a sequence that tells them apart, or the two really are alike.
        #[test]
        fn identifiers_tell_states_apart_exactly_where_something_does(
            states in 1..24usize,
            entries in proptest::collection::vec((0..2usize, 0..24usize), 48),
        ) {
            let machine = complete(states, &entries);
            match tree(&machine) {
                Err(NoTree::Error(MachineError::Alike { left, right })) => {
                    prop_assert!(left != right && are_alike(&machine, left, right));
                }
                Err(NoTree::Error(other)) => prop_assert!(false, "{other}"),
                Err(NoTree::TooDear) => prop_assert!(false, "too dear"),
                Ok(tree) => {
                    let identifiers: Vec<_> = (0..states).map(|s| tree.identifier(s)).collect();
                    for left in 0..states {
                        for right in left + 1..states {
                            let shared = identifiers[left]
                                .iter()
                                .filter(|sequence| identifiers[right].contains(sequence));
                            let tells = |sequence: &&Sequence| {
                                machine.outputs(left, sequence) != machine.outputs(right, sequence)
                            };
                            prop_assert!(shared.filter(tells).count() > 0);
                        }
                    }
                }
            }
        }
    }
}

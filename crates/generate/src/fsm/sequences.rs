//! Sequences of inputs in a tree, where beginnings that they share are kept once. A sequence that
//! is the beginning of another one needs no test of its own: the tests are the leaves.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use super::machine::MachineError;

/// The end of a sequence of the set, from which others go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node(u32);

impl Node {
    /// The end of the empty sequence.
    pub const ROOT: Node = Node(0);
}

/// A set of sequences.
#[derive(Clone, Debug)]
pub struct Sequences {
    limit: usize,
    /// By node and input.
    next: FxHashMap<(u32, u32), u32>,
    /// Per node, whether something follows; the root is the first.
    goes_on: Vec<bool>,
    /// Per node but the root, the node before it and the input between.
    before: Vec<(u32, u32)>,
}

impl Sequences {
    /// At most `limit` inputs, counted once where sequences begin alike.
    pub fn new(limit: usize) -> Sequences {
        Sequences {
            limit: limit.min(u32::MAX as usize - 1),
            next: FxHashMap::default(),
            goes_on: vec![false],
            before: vec![(0, 0)],
        }
    }

    /// Adds two sequences, one after the other, as one.
    pub fn add(&mut self, first: &[usize], second: &[usize]) -> Result<(), MachineError> {
        let between = self.add_from(Node::ROOT, first)?;
        self.add_from(between, second).map(|_| ())
    }

    /// Adds a sequence behind a node; where it ends.
    pub fn add_from(&mut self, node: Node, sequence: &[usize]) -> Result<Node, MachineError> {
        let mut node = node.0;
        for input in sequence {
            let input = *input as u32;
            node = match self.next.entry((node, input)) {
                Entry::Occupied(next) => *next.get(),
                Entry::Vacant(next) => {
                    if self.goes_on.len() > self.limit {
                        return Err(MachineError::TooLarge(self.limit));
                    }
                    let fresh = self.goes_on.len() as u32;
                    self.goes_on[node as usize] = true;
                    self.goes_on.push(false);
                    self.before.push((node, input));
                    *next.insert(fresh)
                }
            };
        }
        Ok(Node(node))
    }

    /// The sequences that are no beginning of another one.
    pub fn tests(&self) -> impl Iterator<Item = Vec<usize>> + '_ {
        let leaves = (0..self.goes_on.len()).filter(|node| !self.goes_on[*node]);
        leaves.map(|node| {
            let mut sequence = Vec::new();
            let mut at = node as u32;
            while at != 0 {
                let (before, input) = self.before[at as usize];
                sequence.push(input as usize);
                at = before;
            }
            sequence.reverse();
            sequence
        })
    }

    /// How many tests there are, and how many inputs all of them have together.
    pub fn size(&self) -> (u64, u64) {
        let mut depth = vec![0u64; self.goes_on.len()];
        let mut size = (0, 0);
        for node in 0..self.goes_on.len() {
            if node > 0 {
                depth[node] = depth[self.before[node].0 as usize] + 1;
            }
            if !self.goes_on[node] {
                size.0 += 1;
                size.1 += depth[node];
            }
        }
        size
    }
}

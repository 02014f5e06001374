//! Strong and weak bisimilarity of two plain systems, with silence as a label of its own.
//!
//! Both systems are put side by side in one graph, and every state that may stay silent gets an
//! edge δ to itself. Strong bisimulation merges what it can ([`coarsest`]); what is left is small.
//! Weak bisimulation then works on the graph without cycles of internal steps (the states of such a
//! cycle are weakly bisimilar): a block of the partition is split by what its states can do with
//! internal steps before and after, which is gathered along the internal edges, targets first, so
//! that the saturated graph is never built.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::Equivalence;
use crate::components::components;
use crate::label::Direction;
use crate::partition::coarsest;
use crate::sts::{Gate, Sts};

const TAU: u32 = 0;
const DELTA: u32 = 1;

/// Labels and targets of the edges of each state.
type Edges = Vec<Vec<(u32, usize)>>;

/// Whether the initial states of two plain systems of one process are bisimilar.
pub(super) fn bisimilar(left: &Sts, right: &Sts, equivalence: Equivalence) -> bool {
    let (mut edges, [left_start, right_start]) = side_by_side([left, right]);
    add_silence(&mut edges, responding(left, right));
    let blocks = coarsest(&vec![0; edges.len()], &edges);
    let (mut left_start, mut right_start) =
        (blocks[left_start] as usize, blocks[right_start] as usize);
    if left_start == right_start || equivalence == Equivalence::Strong {
        return left_start == right_start;
    }
    let merged = quotient(&edges, &blocks);
    let cycles = internal_cycles(&merged);
    let acyclic = quotient(&merged, &cycles);
    left_start = cycles[left_start] as usize;
    right_start = cycles[right_start] as usize;
    let blocks = weak(&acyclic);
    blocks[left_start] == blocks[right_start]
}

/// Both systems as one graph, with the numbers of their initial states. Labels go by direction and
/// name.
fn side_by_side(systems: [&Sts; 2]) -> (Edges, [usize; 2]) {
    let mut numbers: FxHashMap<(Direction, &str), u32> = FxHashMap::default();
    let mut edges: Edges = Vec::new();
    let mut starts = [0; 2];
    for (sts, start) in systems.into_iter().zip(&mut starts) {
        let offset = edges.len();
        edges.resize(offset + sts.locations().len(), Vec::new());
        *start = offset + sts.processes()[0].initial.index();
        for switch in sts.switches() {
            let label = match switch.gate {
                Gate::Observable(id) => {
                    let label = sts.label(id);
                    let fresh = numbers.len() as u32 + DELTA + 1;
                    *numbers
                        .entry((label.direction, label.name.as_str()))
                        .or_insert(fresh)
                }
                Gate::Tau | Gate::Send(_) | Gate::Receive(_) => TAU,
            };
            edges[offset + switch.source.index()].push((label, offset + switch.target.index()));
        }
    }
    (edges, starts)
}

/// Per state of both, whether it has a response.
fn responding(left: &Sts, right: &Sts) -> Vec<bool> {
    let mut responds = Vec::new();
    for sts in [left, right] {
        let offset = responds.len();
        responds.resize(offset + sts.locations().len(), false);
        for switch in sts.switches() {
            if let Gate::Observable(id) = switch.gate
                && sts.label(id).direction == Direction::Response
            {
                responds[offset + switch.source.index()] = true;
            }
        }
    }
    responds
}

/// A state is silent where it has neither a response nor an internal step, or can go round in
/// internal steps.
fn add_silence(edges: &mut Edges, responds: Vec<bool>) {
    let cycles = internal_cycles(edges);
    let mut sizes: FxHashMap<u32, usize> = FxHashMap::default();
    for cycle in &cycles {
        *sizes.entry(*cycle).or_default() += 1;
    }
    for (state, responds) in responds.into_iter().enumerate() {
        let internal = edges[state].iter().any(|(label, _)| *label == TAU);
        let to_itself = edges[state].contains(&(TAU, state));
        if to_itself || sizes[&cycles[state]] > 1 || !(responds || internal) {
            edges[state].push((DELTA, state));
        }
    }
}

/// One state per block; an internal step within a block is none.
fn quotient(edges: &Edges, blocks: &[u32]) -> Edges {
    let count = blocks.iter().max().map_or(0, |most| *most as usize + 1);
    let mut merged: Edges = vec![Vec::new(); count];
    for (state, leaving) in edges.iter().enumerate() {
        let block = blocks[state] as usize;
        for (label, target) in leaving {
            let target = blocks[*target] as usize;
            if *label != TAU || target != block {
                merged[block].push((*label, target));
            }
        }
    }
    for leaving in &mut merged {
        leaving.sort_unstable();
        leaving.dedup();
    }
    merged
}

/// The strongly connected components of the internal steps, numbered so that an internal step
/// leads to a component of the same or of a smaller number.
fn internal_cycles(edges: &Edges) -> Vec<u32> {
    let internal = edges.iter().map(|leaving| {
        let internal = leaving.iter().filter(|(label, _)| *label == TAU);
        internal.map(|(_, target)| *target).collect()
    });
    components(&internal.collect::<Vec<_>>())
}

/// The coarsest weak bisimulation of a graph whose internal steps lead to smaller numbers only.
fn weak(edges: &Edges) -> Vec<u32> {
    let mut block_of: Vec<u32> = vec![0; edges.len()];
    let mut count = 1;
    loop {
        // Blocks that internal steps lead to, and labels with the blocks behind them.
        let mut silently: Vec<BTreeSet<u32>> = Vec::with_capacity(edges.len());
        for (state, leaving) in edges.iter().enumerate() {
            let mut reached = BTreeSet::from([block_of[state]]);
            for (_, target) in leaving.iter().filter(|(label, _)| *label == TAU) {
                reached.extend(&silently[*target]);
            }
            silently.push(reached);
        }
        let mut observably: Vec<BTreeSet<(u32, u32)>> = Vec::with_capacity(edges.len());
        for leaving in edges {
            let mut reached = BTreeSet::new();
            for (label, target) in leaving {
                if *label == TAU {
                    reached.extend(&observably[*target]);
                } else {
                    reached.extend(silently[*target].iter().map(|block| (*label, *block)));
                }
            }
            observably.push(reached);
        }
        let mut numbers: FxHashMap<_, u32> = FxHashMap::default();
        for (state, reached) in silently.iter().zip(&observably).enumerate() {
            let fresh = numbers.len() as u32;
            // With the block so far, so that blocks only ever fall apart.
            let key = (block_of[state], reached);
            block_of[state] = *numbers.entry(key).or_insert(fresh);
        }
        if numbers.len() == count {
            return block_of;
        }
        count = numbers.len();
    }
}

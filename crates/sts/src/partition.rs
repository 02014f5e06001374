//! The coarsest stable partition of a graph with labelled edges: strong bisimulation.
//!
//! Partition refinement: a block is split by the *signatures* of its nodes (the set of their edges,
//! with blocks for targets). Only nodes with an edge into a block that has changed are looked at
//! again, and of a block that falls apart the largest part keeps its number, so that each node
//! changes its number at most log n times.

use rustc_hash::{FxHashMap, FxHashSet};

/// Per node, the number of its block. Nodes of different classes in `first` are never together;
/// `edges` holds per node the labels and targets of its edges.
pub(crate) fn coarsest(first: &[u32], edges: &[Vec<(u32, usize)>]) -> Vec<u32> {
    let mut sources: Vec<Vec<usize>> = vec![Vec::new(); edges.len()];
    for (source, leaving) in edges.iter().enumerate() {
        for (_, target) in leaving {
            sources[*target].push(source);
        }
    }
    let mut block_of: Vec<u32> = first.to_vec();
    let mut blocks: Vec<Vec<usize>> = Vec::new();
    for (node, block) in block_of.iter().enumerate() {
        let block = *block as usize;
        if blocks.len() <= block {
            blocks.resize(block + 1, Vec::new());
        }
        blocks[block].push(node);
    }

    let mut dirty: Vec<usize> = (0..edges.len()).collect();
    while !dirty.is_empty() {
        let mut touched: FxHashMap<u32, Vec<usize>> = FxHashMap::default();
        for node in std::mem::take(&mut dirty) {
            touched.entry(block_of[node]).or_default().push(node);
        }
        // All signatures first: a block must be split by the partition as it is now.
        let mut splits: Vec<(u32, Vec<Vec<usize>>)> = Vec::new();
        for (block, changed) in touched {
            let parts = split(&blocks[block as usize], &changed, |node| {
                signature(&edges[node], &block_of)
            });
            if parts.len() > 1 {
                splits.push((block, parts));
            }
        }
        splits.sort_unstable_by_key(|(block, _)| *block);
        for (block, mut parts) in splits {
            let largest = (0..parts.len())
                .max_by_key(|part| parts[*part].len())
                .unwrap_or(0);
            blocks[block as usize] = parts.swap_remove(largest);
            for part in parts {
                let number = blocks.len() as u32;
                for &node in &part {
                    block_of[node] = number;
                    dirty.extend(&sources[node]);
                }
                blocks.push(part);
            }
        }
        dirty.sort_unstable();
        dirty.dedup();
    }
    block_of
}

fn signature(edges: &[(u32, usize)], block_of: &[u32]) -> Vec<(u32, u32)> {
    let mut signature: Vec<(u32, u32)> = edges
        .iter()
        .map(|(kind, target)| (*kind, block_of[*target]))
        .collect();
    signature.sort_unstable();
    signature.dedup();
    signature
}

/// Splits a block by signature. The nodes that are not in `changed` still have the signature
/// that they all share, so one of them stands for the rest.
fn split(
    block: &[usize],
    changed: &[usize],
    signature: impl Fn(usize) -> Vec<(u32, u32)>,
) -> Vec<Vec<usize>> {
    if block.len() == 1 {
        return Vec::new();
    }
    let changed_set: FxHashSet<usize> = changed.iter().copied().collect();
    let mut parts: Vec<Vec<usize>> = Vec::new();
    let mut number: FxHashMap<Vec<(u32, u32)>, usize> = FxHashMap::default();
    if changed.len() < block.len() {
        let rest: Vec<usize> = block
            .iter()
            .copied()
            .filter(|node| !changed_set.contains(node))
            .collect();
        number.insert(signature(rest[0]), 0);
        parts.push(rest);
    }
    for &node in changed {
        let part = *number.entry(signature(node)).or_insert_with(|| {
            parts.push(Vec::new());
            parts.len() - 1
        });
        parts[part].push(node);
    }
    parts
}

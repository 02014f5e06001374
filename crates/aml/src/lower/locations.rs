//! Takes the jumps out of a process's graph, and makes its locations and switches.
//!
//! A node that does nothing but jump *is* the node it jumps to. A node that jumps and does other
//! things too (an option that begins with `goto`) gets copies of the steps at the end of its jumps.
//! So no jump becomes an internal step.

use ioco_sts::{Location, LocationId, ProcessId};
use rustc_hash::FxHashMap;

use crate::lower::Lowering;
use crate::lower::graph::{Graph, NodeId};

/// The locations that the nodes of a graph became.
struct Merged {
    /// The node that stands for each node.
    representative: Vec<NodeId>,
    /// Jumps that are left, between representatives.
    successors: Vec<Vec<NodeId>>,
    leaving: Vec<Vec<u32>>,
}

impl Lowering<'_> {
    /// Adds a process's locations and switches to the model.
    pub(super) fn locations(&mut self, graph: &Graph, initial: NodeId, process: ProcessId) {
        let merged = merge(graph);
        let initial = merged.representative[initial.index()];
        let outgoing = outgoing(graph, &merged);
        let kept = kept(graph, &merged, initial, &outgoing);

        let mut names: FxHashMap<NodeId, Vec<&str>> = FxHashMap::default();
        let mut timeouts: FxHashMap<NodeId, u64> = FxHashMap::default();
        let mut first_named: FxHashMap<NodeId, usize> = FxHashMap::default();
        for (index, node) in graph.nodes.iter().enumerate() {
            let representative = merged.representative[index];
            names
                .entry(representative)
                .or_default()
                .extend(node.names.iter().map(String::as_str));
            if !node.names.is_empty() {
                first_named.entry(representative).or_insert(index);
            }
            if let Some(timeout) = node.timeout {
                let longest = timeouts.entry(representative).or_insert(timeout);
                *longest = timeout.max(*longest);
            }
        }

        // In the order of the text: by the first `state` of a location, or where it comes to be.
        let mut order: Vec<NodeId> = (0..graph.nodes.len() as u32)
            .map(NodeId)
            .filter(|n| kept[n.index()])
            .collect();
        order.sort_by_key(|n| first_named.get(n).copied().unwrap_or(n.index()));

        let mut ids: FxHashMap<NodeId, LocationId> = FxHashMap::default();
        for &node in &order {
            let shown = first_named.get(&node).copied().unwrap_or(node.index());
            let site = &graph.nodes[shown].site;
            let place = self.place(site.file, site.span.start);
            let name = self.location_name(names.remove(&node).unwrap_or_default());
            let id = self.builder.location(Location {
                name,
                process,
                timeout: timeouts.get(&node).copied(),
                place,
            });
            ids.insert(node, id);
        }
        self.builder.initial(process, ids[&initial]);

        let mut copies: Vec<(u32, LocationId)> = Vec::new();
        for &node in &order {
            for &edge in &outgoing[node.index()] {
                copies.push((edge, ids[&node]));
            }
        }
        copies.sort_unstable();
        for (index, source) in copies {
            let edge = &graph.edges[index as usize];
            let target = ids[&merged.representative[edge.target.index()]];
            let place = self.place(edge.site.file, edge.site.span.start);
            let id = self.builder.switch(
                source,
                edge.gate,
                edge.guard.clone(),
                edge.update.clone(),
                target,
                place,
            );
            if let Some(note) = &edge.note {
                self.builder.note(id, note);
            }
            for &requirement in &edge.requirements {
                self.requirements[requirement].switches.push(id);
            }
        }
    }

    /// All names, sorted and joined; `_N` for a location without one. Names that two locations
    /// would share (copies of a behavior, other processes) are told apart by a number.
    fn location_name(&mut self, mut names: Vec<&str>) -> String {
        names.sort_unstable();
        names.dedup();
        if names.is_empty() {
            loop {
                self.unnamed += 1;
                let name = format!("_{}", self.unnamed);
                if self.location_names.insert(name.clone()) {
                    return name;
                }
            }
        }
        let name = names.join(", ");
        if self.location_names.insert(name.clone()) {
            return name;
        }
        let mut number = 2;
        loop {
            let numbered = format!("{name}#{number}");
            if self.location_names.insert(numbered.clone()) {
                return numbered;
            }
            number += 1;
        }
    }
}

/// Merges every node that does nothing but jump to one other node into that node.
fn merge(graph: &Graph) -> Merged {
    let count = graph.nodes.len();
    let mut merged = Merged {
        representative: (0..count as u32).map(NodeId).collect(),
        successors: graph.successors(),
        leaving: graph.leaving(),
    };
    // Merging can make two jumps of a node lead to the same place, so it is done until nothing
    // changes; a second round is rare.
    loop {
        let mut changed = false;
        for index in 0..count {
            let node = NodeId(index as u32);
            if merged.representative[index] != node || !merged.leaving[index].is_empty() {
                continue;
            }
            let mut targets: Vec<NodeId> = Vec::new();
            for successor in std::mem::take(&mut merged.successors[index]) {
                let target = find(&mut merged.representative, successor);
                if target != node && !targets.contains(&target) {
                    targets.push(target);
                }
            }
            if let [target] = targets[..] {
                merged.representative[index] = target;
                changed = true;
            } else {
                merged.successors[index] = targets;
            }
        }
        if !changed {
            break;
        }
    }
    for index in 0..count {
        merged.representative[index] = find(&mut merged.representative, NodeId(index as u32));
    }
    for index in 0..count {
        let node = NodeId(index as u32);
        let mut targets: Vec<NodeId> = Vec::new();
        for successor in std::mem::take(&mut merged.successors[index]) {
            let target = merged.representative[successor.index()];
            if target != node && !targets.contains(&target) {
                targets.push(target);
            }
        }
        merged.successors[index] = targets;
    }
    merged
}

fn find(representative: &mut [NodeId], node: NodeId) -> NodeId {
    let mut root = node;
    while representative[root.index()] != root {
        root = representative[root.index()];
    }
    let mut walked = node;
    while representative[walked.index()] != root {
        walked = std::mem::replace(&mut representative[walked.index()], root);
    }
    root
}

/// Per representative, the edges that leave it or the nodes it jumps to, in the order of the text.
fn outgoing(graph: &Graph, merged: &Merged) -> Vec<Vec<u32>> {
    let mut outgoing = vec![Vec::new(); graph.nodes.len()];
    for (index, found) in outgoing.iter_mut().enumerate() {
        if merged.representative[index] != NodeId(index as u32) {
            continue;
        }
        if merged.successors[index].is_empty() {
            found.clone_from(&merged.leaving[index]);
            continue;
        }
        let mut seen = rustc_hash::FxHashSet::default();
        let mut open = vec![index];
        let mut edges = Vec::new();
        while let Some(node) = open.pop() {
            if seen.insert(node) {
                edges.extend_from_slice(&merged.leaving[node]);
                open.extend(merged.successors[node].iter().map(|n| n.index()));
            }
        }
        edges.sort_unstable();
        *found = edges;
    }
    outgoing
}

/// The nodes that become locations: the initial one, the states, and all that these lead to.
/// What the text says after a `goto` and nothing leads to is left out.
fn kept(graph: &Graph, merged: &Merged, initial: NodeId, outgoing: &[Vec<u32>]) -> Vec<bool> {
    let mut kept = vec![false; graph.nodes.len()];
    let mut open = vec![initial];
    for (index, node) in graph.nodes.iter().enumerate() {
        if !node.names.is_empty() && (!node.option_start || node.jumped_to) {
            open.push(merged.representative[index]);
        }
    }
    while let Some(node) = open.pop() {
        if std::mem::replace(&mut kept[node.index()], true) {
            continue;
        }
        for &edge in &outgoing[node.index()] {
            let target = graph.edges[edge as usize].target;
            open.push(merged.representative[target.index()]);
        }
    }
    kept
}

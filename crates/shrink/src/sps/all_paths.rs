//! Every path to the failing state, in the order of length and then of the model text (van den Broek 2024,
//! Algorithm 2).
//!
//! The published algorithm keeps a queue of all open paths, which grows without bound on dense
//! models. The same paths come out of a walk that always knows whether the steps left suffice to
//! arrive: it holds one path at a time and, per length, the nodes from which a destination can
//! be reached in exactly that many steps.

use ioco_sts::{SetId, Step};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Map, Paths};
use crate::graph::Edge;
use crate::session::{Halt, Session};

pub(super) struct AllPaths {
    /// The edges of every reachable node, once asked for.
    edges: FxHashMap<SetId, Vec<Edge>>,
    /// `arrives[n]`: nodes from which a destination is exactly n steps away.
    arrives: Vec<FxHashSet<SetId>>,
    length: usize,
    /// The current path: each node, and the edge to try next from it. Empty before the first path
    /// of the current length.
    stack: Vec<(SetId, usize)>,
    started: bool,
}

impl AllPaths {
    pub fn new() -> AllPaths {
        AllPaths {
            edges: FxHashMap::default(),
            arrives: Vec::new(),
            length: 0,
            stack: Vec::new(),
            started: false,
        }
    }

    /// Expands the whole reachable part of the graph.
    fn explore(&mut self, session: &mut Session<'_>, map: &mut Map) -> Result<(), Halt> {
        let mut open = vec![session.semantics.initial()];
        while let Some(node) = open.pop() {
            if self.edges.contains_key(&node) {
                continue;
            }
            let edges: Vec<Edge> = map.edges(session, node).into_iter().map(|e| e.1).collect();
            session.expand(1 + edges.len() as u64)?;
            open.extend(edges.iter().map(|edge| edge.target));
            self.edges.insert(node, edges);
        }
        Ok(())
    }

    /// Prepares for paths that are one step longer.
    fn lengthen(&mut self, session: &Session<'_>, map: &Map) -> Result<(), Halt> {
        session.poll()?;
        self.length = self.arrives.len();
        let next: FxHashSet<SetId> = match self.arrives.last() {
            None => map.reconstruction.destinations.clone(),
            Some(last) => self
                .edges
                .iter()
                .filter(|(_, edges)| edges.iter().any(|e| last.contains(&e.target)))
                .map(|(node, _)| *node)
                .collect(),
        };
        // What is kept for every length counts as nodes.
        session.expand(next.len() as u64)?;
        self.arrives.push(next);
        Ok(())
    }

    /// The next path of the current length.
    fn advance(&mut self) -> Option<Vec<Step>> {
        while let Some(&(node, position)) = self.stack.last() {
            let edges = &self.edges[&node];
            let left = self.length - (self.stack.len() - 1);
            let is_way = |i: &usize| self.arrives[left - 1].contains(&edges[*i].target);
            let next = match left {
                0 => None,
                _ => (position..edges.len()).find(is_way),
            };
            let Some(found) = next else {
                self.stack.pop();
                continue;
            };
            let target = edges[found].target;
            self.stack.last_mut()?.1 = found + 1;
            self.stack.push((target, 0));
            if left == 1 {
                return Some(self.path());
            }
        }
        None
    }

    fn path(&self) -> Vec<Step> {
        let taken = &self.stack[..self.stack.len() - 1];
        taken
            .iter()
            .map(|(node, next)| self.edges[node][next - 1].step.clone())
            .collect()
    }
}

impl Paths for AllPaths {
    fn next(
        &mut self,
        session: &mut Session<'_>,
        map: &mut Map,
    ) -> Result<Option<Vec<Step>>, Halt> {
        if !self.started {
            self.explore(session, map)?;
            self.started = true;
        }
        loop {
            if let Some(path) = self.advance() {
                return Ok(Some(path));
            }
            // Nothing arrives in exactly this many steps, so nothing does in more.
            if self.arrives.last().is_some_and(FxHashSet::is_empty) {
                return Ok(None);
            }
            if self.length > map.reconstruction.length {
                return Ok(None);
            }
            self.lengthen(session, map)?;
            let initial = session.semantics.initial();
            if self.arrives[self.length].contains(&initial) {
                if self.length == 0 {
                    return Ok(Some(Vec::new()));
                }
                self.stack.push((initial, 0));
            }
        }
    }
}

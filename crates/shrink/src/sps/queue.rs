//! The queue of open paths that the two reduced searches share (van den Broek 2024, Algorithms 3 and 4).
//!
//! A search ends each time it arrives; every node is expanded at most once per search, and paths
//! that come to a node a second time wait for the next one. Paths are stored by their parent.
//! Where the thesis leaves the order open, paths of one length go in the order of the model text.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use ioco_sts::{Action, SetId, Step};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Map, Paths};
use crate::graph::Edge;
use crate::session::{Halt, Session};

/// An open path, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct PathId(u32);

const ROOT: PathId = PathId(0);

struct OpenPath {
    node: SetId,
    parent: PathId,
    /// Position of the last edge among those of the parent's node.
    edge: u32,
    length: u32,
    /// Sum of the marks of the steps of the path; only the label count looks at it.
    composition: u128,
}

/// What a rule makes of a new path.
pub(super) enum Admission {
    Add,
    /// Instead of a path that is already open.
    Replace(PathId),
    Drop,
}

/// Decides which paths are worth following.
pub(super) trait Rule {
    fn admit(&mut self, arrival: &Arrival<'_>) -> Admission;
    fn added(&mut self, arrival: &Arrival<'_>, path: PathId);
}

/// A path that has come to a node.
pub(super) struct Arrival<'a> {
    pub edge: &'a Edge,
    pub length: u32,
    pub composition: u128,
    pub is_original: bool,
}

/// SPS_POR_LabelCount: of all paths with the same labels (and values) in any order, the
/// first.
#[derive(Default)]
pub(super) struct LabelCount {
    compositions: FxHashSet<u128>,
}

impl Rule for LabelCount {
    fn admit(&mut self, arrival: &Arrival<'_>) -> Admission {
        match self.compositions.insert(arrival.composition) {
            true => Admission::Add,
            false => Admission::Drop,
        }
    }

    fn added(&mut self, _: &Arrival<'_>, _: PathId) {}
}

/// SPS_POR_Subpaths: of all paths of one length to a node, those that arrive by a transition of
/// the failing trace, or else the first.
#[derive(Default)]
pub(super) struct Subpaths {
    /// The path that stands for a length and node, and whether it arrived by such a transition.
    known: FxHashMap<(u32, SetId), (PathId, bool)>,
}

impl Rule for Subpaths {
    fn admit(&mut self, arrival: &Arrival<'_>) -> Admission {
        match self.known.get(&(arrival.length, arrival.edge.target)) {
            None => Admission::Add,
            Some((path, false)) if arrival.is_original => Admission::Replace(*path),
            Some((_, true)) if arrival.is_original => Admission::Add,
            Some(_) => Admission::Drop,
        }
    }

    fn added(&mut self, arrival: &Arrival<'_>, path: PathId) {
        let key = (arrival.length, arrival.edge.target);
        let known = self.known.entry(key).or_insert((path, false));
        known.1 |= arrival.is_original;
    }
}

/// Open paths of one length, by the node they have come to; each list in the order of the text.
type Bucket = FxHashMap<SetId, Vec<PathId>>;

pub(super) struct PathQueue<R> {
    paths: Vec<OpenPath>,
    buckets: BTreeMap<u32, Bucket>,
    rule: R,
    marks: FxHashMap<Action, u128>,
}

impl<R: Rule> PathQueue<R> {
    pub fn new(initial: SetId, rule: R) -> PathQueue<R> {
        let root = OpenPath {
            node: initial,
            parent: ROOT,
            edge: 0,
            length: 0,
            composition: 0,
        };
        PathQueue {
            paths: vec![root],
            buckets: BTreeMap::from([(0, Bucket::from_iter([(initial, vec![ROOT])]))]),
            rule,
            marks: FxHashMap::default(),
        }
    }

    fn open(&self, id: PathId) -> &OpenPath {
        &self.paths[id.0 as usize]
    }

    /// Paths of the same length by their edges, first difference first.
    fn order(&self, mut left: PathId, mut right: PathId) -> Ordering {
        let mut decided = Ordering::Equal;
        while left != right {
            let (l, r) = (self.open(left), self.open(right));
            decided = l.edge.cmp(&r.edge);
            left = l.parent;
            right = r.parent;
        }
        decided
    }

    fn push(&mut self, id: PathId) {
        let (length, node) = (self.open(id).length, self.open(id).node);
        let mut bucket = self.buckets.remove(&length).unwrap_or_default();
        let list = bucket.entry(node).or_default();
        let position = list.partition_point(|other| self.order(*other, id) == Ordering::Less);
        list.insert(position, id);
        self.buckets.insert(length, bucket);
    }

    fn take_out(&mut self, id: PathId) -> bool {
        let (length, node) = (self.open(id).length, self.open(id).node);
        let list = self.buckets.get_mut(&length).and_then(|b| b.get_mut(&node));
        let Some(list) = list else { return false };
        let before = list.len();
        list.retain(|other| *other != id);
        list.len() < before
    }

    fn expand(&mut self, id: PathId, session: &mut Session<'_>, map: &mut Map) -> Result<(), Halt> {
        let (node, length) = (self.open(id).node, self.open(id).length + 1);
        for (number, edge) in map.edges(session, node) {
            let composition = self.open(id).composition;
            let arrival = Arrival {
                is_original: map.is_original(node, &edge),
                composition: composition.wrapping_add(self.mark(&edge)),
                edge: &edge,
                length,
            };
            let new = OpenPath {
                node: edge.target,
                parent: id,
                edge: number,
                length,
                composition: arrival.composition,
            };
            match self.rule.admit(&arrival) {
                Admission::Drop => {}
                Admission::Replace(old) => {
                    // A path that was followed already cannot be replaced any more.
                    if self.take_out(old) {
                        self.paths[old.0 as usize] = new;
                        self.push(old);
                    }
                    self.rule.added(&arrival, old);
                }
                Admission::Add => {
                    session.expand(1)?;
                    let path = PathId(self.paths.len() as u32);
                    self.paths.push(new);
                    self.push(path);
                    self.rule.added(&arrival, path);
                }
            }
        }
        Ok(())
    }

    /// A number per label and values, such that sums tell multisets of them apart.
    fn mark(&mut self, edge: &Edge) -> u128 {
        let Some(action) = edge.step.action() else {
            return 0;
        };
        let fresh = self.marks.len() as u64;
        *self.marks.entry(action.clone()).or_insert_with(|| {
            let mut random = crate::random::Random::new(fresh);
            (u128::from(random.next()) << 64) | u128::from(random.next())
        })
    }

    /// One search, which ends when it arrives.
    fn search(
        &mut self,
        session: &mut Session<'_>,
        map: &mut Map,
    ) -> Result<Option<Vec<Step>>, Halt> {
        let mut visited: FxHashSet<SetId> = FxHashSet::default();
        let mut length = self.buckets.keys().next().copied();
        while let Some(current) = length {
            if current as usize > map.reconstruction.length {
                self.buckets.split_off(&current);
                return Ok(None);
            }
            let bucket = &self.buckets[&current];
            let mut heads: Vec<PathId> =
                bucket.values().filter_map(|l| l.first().copied()).collect();
            heads.sort_by(|l, r| self.order(*l, *r));
            for head in heads {
                session.poll()?;
                let node = self.open(head).node;
                if visited.insert(node) {
                    self.take_out(head);
                    self.expand(head, session, map)?;
                    if map.reconstruction.destinations.contains(&node) {
                        return Ok(Some(self.steps(map, session, head)));
                    }
                }
            }
            if let Some(bucket) = self.buckets.get_mut(&current) {
                bucket.retain(|_, list| !list.is_empty());
                if bucket.is_empty() {
                    self.buckets.remove(&current);
                }
            }
            length = self.buckets.range(current + 1..).next().map(|(l, _)| *l);
        }
        Ok(None)
    }

    fn steps(&self, map: &mut Map, session: &mut Session<'_>, mut id: PathId) -> Vec<Step> {
        let mut steps = Vec::new();
        while id != ROOT {
            let path = self.open(id);
            let source = self.open(path.parent).node;
            let edges = map.graph.edges(session.semantics, source);
            steps.push(edges[path.edge as usize].step.clone());
            id = path.parent;
        }
        steps.reverse();
        steps
    }
}

impl<R: Rule> Paths for PathQueue<R> {
    fn next(
        &mut self,
        session: &mut Session<'_>,
        map: &mut Map,
    ) -> Result<Option<Vec<Step>>, Halt> {
        // One search after the other: paths that waited for the next search are still there.
        while !self.buckets.is_empty() {
            if let Some(path) = self.search(session, map)? {
                return Ok(Some(path));
            }
        }
        Ok(None)
    }
}

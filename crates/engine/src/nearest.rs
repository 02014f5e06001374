//! The way to the nearest goal in a graph in which goals only become fewer and edges only become dearer:
//! Adaptive A* (Koenig and Likhachev 2005).
//!
//! Every node has a lower bound on its distance to the nearest goal, at first zero. A* with these bounds as its
//! heuristic finds a shortest way, at some distance *d*. Each node that it expanded at cost *g* is then known to be at
//! least *d - g* away, and gets that bound. Bounds stay true, because distances only grow, and consistent, because the
//! new ones come from a consistent search. So no search repeats the work of an earlier one: where the bounds are exact,
//! A* walks straight to the goal, and every other expansion raises a bound. All searches together expand at most
//! *nodes × largest distance* nodes beyond the ways that they return. Where few goals are left in a graph of small
//! diameter, that is near-linear; computing all distances anew after every covered goal is quadratic.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// No way leads to a goal.
pub const UNREACHABLE: u32 = u32::MAX;

/// An edge of the graph, from the node that was asked for.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    pub cost: u32,
    /// The node that it leads to; `None` where taking the edge is itself a goal.
    pub target: Option<u32>,
}

/// The way to a goal that one search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShortestPath {
    pub cost: u32,
    /// The nodes from which edges are taken, each with the number of its edge.
    pub steps: Vec<(u32, u32)>,
}

/// How a search came to a node.
#[derive(Clone, Copy, Default)]
struct Visit {
    /// The search that set the other fields.
    search: u32,
    cost: u32,
    /// The node before, and the number of the edge from there.
    before: u32,
    edge: u32,
    closed: bool,
}

/// The bounds, and what searches need.
#[derive(Default)]
pub struct Nearest {
    bounds: Vec<u32>,
    visits: Vec<Visit>,
    search: u32,
    expanded: Vec<u32>,
    /// By cost plus bound, those farther from the start first; the last part is the node.
    queue: BinaryHeap<Reverse<(u32, Reverse<u32>, u32)>>,
    edges: Vec<Edge>,
}

/// Stands for all goals in the queue.
const GOAL: u32 = u32::MAX;

/// No node.
const NONE: u32 = u32::MAX;

impl Nearest {
    pub fn new(nodes: usize) -> Nearest {
        let mut nearest = Nearest::default();
        nearest.grow(nodes);
        nearest
    }

    /// A lower bound on the distance of a node, exact for the start of the last search.
    pub fn bound(&self, node: u32) -> u32 {
        self.bounds.get(node as usize).copied().unwrap_or(0)
    }

    fn grow(&mut self, nodes: usize) {
        if nodes > self.bounds.len() {
            self.bounds.resize(nodes, 0);
            self.visits.resize(nodes, Visit::default());
        }
    }

    /// A shortest way from a node. `edges` lists the edges of a node, always in the same order; an edge may be listed
    /// twice, once as a goal and once as a way to its target.
    pub fn way(
        &mut self,
        start: u32,
        edges: impl FnMut(u32, &mut Vec<Edge>),
    ) -> Option<ShortestPath> {
        let (cost, mut at, edge) = self.search(start, edges)?;
        let mut steps = vec![(at, edge)];
        while at != start {
            let visit = self.visits[at as usize];
            at = visit.before;
            steps.push((at, visit.edge));
        }
        steps.reverse();
        Some(ShortestPath { cost, steps })
    }

    /// Makes the bound of a node exact, and returns it.
    pub fn distance(&mut self, start: u32, edges: impl FnMut(u32, &mut Vec<Edge>)) -> u32 {
        self.search(start, edges)
            .map_or(UNREACHABLE, |(cost, _, _)| cost)
    }

    /// The cost of a shortest way, and the edge that ends it.
    fn search(
        &mut self,
        start: u32,
        mut edges: impl FnMut(u32, &mut Vec<Edge>),
    ) -> Option<(u32, u32, u32)> {
        self.grow(start as usize + 1);
        if self.bounds[start as usize] == UNREACHABLE {
            return None;
        }
        self.search += 1;
        self.queue.clear();
        self.expanded.clear();
        self.visits[start as usize] = Visit {
            search: self.search,
            cost: 0,
            before: NONE,
            edge: 0,
            closed: false,
        };
        let first = self.bounds[start as usize];
        self.queue.push(Reverse((first, Reverse(0), start)));
        // The cheapest goal so far, and the edge to it.
        let mut goal: Option<(u32, u32, u32)> = None;
        let mut found = false;
        while let Some(Reverse((_, _, node))) = self.queue.pop() {
            if node == GOAL {
                found = true;
                break;
            }
            let visit = &mut self.visits[node as usize];
            if visit.closed {
                continue;
            }
            visit.closed = true;
            let cost = visit.cost;
            self.expanded.push(node);
            let mut leaving = std::mem::take(&mut self.edges);
            leaving.clear();
            edges(node, &mut leaving);
            for (number, edge) in leaving.iter().enumerate() {
                // Never as far as what cannot be reached.
                let cost = cost.saturating_add(edge.cost).min(UNREACHABLE / 2);
                match edge.target {
                    None => {
                        if goal.is_none_or(|(best, _, _)| cost < best) {
                            goal = Some((cost, node, number as u32));
                            self.queue.push(Reverse((cost, Reverse(cost), GOAL)));
                        }
                    }
                    Some(target) => self.open(target, cost, node, number as u32),
                }
            }
            self.edges = leaving;
        }
        let goal = goal.filter(|_| found);
        for node in &self.expanded {
            let bound = &mut self.bounds[*node as usize];
            *bound = match goal {
                Some((distance, _, _)) => {
                    (*bound).max(distance.saturating_sub(self.visits[*node as usize].cost))
                }
                None => UNREACHABLE,
            };
        }
        goal
    }

    fn open(&mut self, node: u32, cost: u32, before: u32, edge: u32) {
        self.grow(node as usize + 1);
        let bound = self.bounds[node as usize];
        let visit = &mut self.visits[node as usize];
        let known = visit.search == self.search;
        if bound == UNREACHABLE || (known && visit.cost <= cost) {
            return;
        }
        *visit = Visit {
            search: self.search,
            cost,
            before,
            edge,
            closed: false,
        };
        let total = cost.saturating_add(bound);
        self.queue.push(Reverse((total, Reverse(cost), node)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A graph from a fixed sequence of numbers: per node, edges with cost, target and whether they are goals.
    struct Random {
        number: u64,
        edges: Vec<Vec<(u32, u32, bool)>>,
    }

    impl Random {
        fn below(&mut self, end: u64) -> u64 {
            self.number = self
                .number
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (self.number >> 33) % end
        }

        fn new(seed: u64, nodes: usize) -> Random {
            let mut random = Random {
                number: seed,
                edges: Vec::new(),
            };
            for _ in 0..nodes {
                let leaving = random.below(4);
                let leaving = (0..leaving)
                    .map(|_| {
                        let target = random.below(nodes as u64) as u32;
                        (random.below(3) as u32, target, random.below(3) == 0)
                    })
                    .collect();
                random.edges.push(leaving);
            }
            random
        }

        fn list(&self, node: u32, into: &mut Vec<Edge>) {
            for (cost, target, goal) in &self.edges[node as usize] {
                into.push(Edge {
                    cost: *cost,
                    target: Some(*target).filter(|_| !goal),
                });
            }
        }

        /// Distances by relaxing all edges until nothing changes: slow and obvious.
        fn distances(&self) -> Vec<u32> {
            let mut distance = vec![UNREACHABLE; self.edges.len()];
            loop {
                let mut changed = false;
                for (node, leaving) in self.edges.iter().enumerate() {
                    for (cost, target, goal) in leaving {
                        let behind = if *goal { 0 } else { distance[*target as usize] };
                        let through = behind.saturating_add(*cost);
                        if behind != UNREACHABLE && through < distance[node] {
                            distance[node] = through;
                            changed = true;
                        }
                    }
                }
                if !changed {
                    return distance;
                }
            }
        }
    }

    #[test]
    fn ways_stay_shortest_while_goals_vanish_and_edges_become_dearer() {
        for seed in 0..300 {
            let nodes = 12;
            let mut graph = Random::new(seed, nodes);
            let mut nearest = Nearest::new(nodes);
            for _ in 0..40 {
                let start = graph.below(nodes as u64) as u32;
                let slow = graph.distances();
                let way = nearest.way(start, |node, into| graph.list(node, into));
                let found = way.as_ref().map_or(UNREACHABLE, |way| way.cost);
                assert_eq!(found, slow[start as usize], "seed {seed}");
                // The way is one: its edges follow each other, cost what it says, and end in a goal.
                if let Some(way) = &way {
                    let mut at = start;
                    let mut cost = 0;
                    for (position, (node, edge)) in way.steps.iter().enumerate() {
                        assert_eq!(*node, at);
                        let (price, target, goal) = graph.edges[at as usize][*edge as usize];
                        assert_eq!(goal, position + 1 == way.steps.len());
                        cost += price;
                        at = target;
                    }
                    assert_eq!(cost, way.cost);
                }
                for (node, exact) in slow.iter().enumerate() {
                    assert!(nearest.bound(node as u32) <= *exact, "seed {seed}");
                }
                // One edge is no goal any more, or becomes dearer.
                let node = graph.below(nodes as u64) as usize;
                let dearer = graph.below(2) as u32;
                if let Some(edge) = graph.edges[node].first_mut() {
                    edge.0 += dearer;
                    edge.2 = false;
                }
            }
        }
    }

    #[test]
    fn covering_a_long_ring_expands_each_node_a_few_times() {
        let nodes = 10_000_u32;
        let mut open = vec![true; nodes as usize];
        let mut nearest = Nearest::new(nodes as usize);
        let mut asked = 0_u64;
        let mut at = 0;
        while let Some(way) = nearest.way(at, |node, into| {
            asked += 1;
            into.push(Edge {
                cost: 1,
                target: Some((node + 1) % nodes).filter(|_| !open[node as usize]),
            });
        }) {
            let (last, _) = way.steps[way.steps.len() - 1];
            open[last as usize] = false;
            at = (last + 1) % nodes;
        }
        assert!(open.iter().all(|open| !open));
        assert!(asked <= 3 * u64::from(nodes), "{asked}");
    }
}

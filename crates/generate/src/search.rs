//! The search over symbolic states (Sietsma 2009, section 4): best first, within bounds. What it looks for, and in
//! which order, says a [`Policy`]: see [`crate::plan`] for patterns and [`crate::cover`] for goals.
//!
//! When the search runs out of paths before it runs into a bound, what was not found does not exist.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::rc::Rc;

use ioco_solve::Embedded;
use ioco_sts::{Expr, LocationId, State, Sts, Value, VarId};
use rand::Rng;
use rustc_hash::FxHashMap;

use crate::feasible::{Effort, Feasible, MAX_SIZE, Memory, Point, assert_extension, find_witness};
use crate::moves::Move;
use crate::plan::Progress;
use crate::symbolic::{Extension, Symbolic};

/// The end of a path.
pub(crate) struct Node {
    parent: Option<usize>,
    /// Which of the starts the path begins at.
    pub start: usize,
    step: Option<Rc<Move>>,
    extension: Extension,
    /// Values for all unknowns of the path.
    pub witness: Vec<Value>,
    /// The variables under the witness.
    valuation: Vec<Value>,
    pub counts: Counts,
}

/// What is counted along a path.
#[derive(Clone, Copy, Default)]
pub(crate) struct Counts {
    pub progress: Progress,
    pub moves: u32,
    pub observed: u32,
    /// Internal steps since the last observable one.
    pub silent: u32,
}

impl Node {
    pub fn locations(&self) -> &[LocationId] {
        &self.extension.state.locations
    }
}

impl Counts {
    /// After one more move.
    fn after(self, step: &Move, progress: Progress) -> Counts {
        Counts {
            progress,
            moves: self.moves + 1,
            observed: self.observed + u32::from(step.observable),
            silent: match (step.observable, step.switches.is_empty()) {
                (true, _) => 0,
                (false, true) => self.silent,
                (false, false) => self.silent + 1,
            },
        }
    }
}

/// The place of a path in the order of a search.
pub(crate) type Rank = (u32, u32);

/// All paths that were begun.
pub(crate) struct Tree<'a> {
    sts: &'a Sts,
    effort: Effort,
    memory: Memory,
    pub nodes: Vec<Node>,
    /// The paths to visit, the smallest rank first.
    queue: BinaryHeap<Reverse<(Rank, usize)>>,
    /// Questions about whole paths.
    pub solver_calls: u64,
    /// Moves that the solver could not decide.
    pub undecided: usize,
}

impl<'a> Tree<'a> {
    pub fn new(sts: &'a Sts, effort: Effort) -> Tree<'a> {
        Tree {
            sts,
            effort,
            memory: Memory::default(),
            nodes: Vec::new(),
            queue: BinaryHeap::new(),
            solver_calls: 0,
            undecided: 0,
        }
    }

    /// Adds a path without steps, from the start of this number.
    pub fn begin(&mut self, start: usize, state: &State, progress: Progress, rank: Rank) {
        self.queue.push(Reverse((rank, self.nodes.len())));
        self.nodes.push(Node {
            parent: None,
            start,
            step: None,
            extension: Extension {
                state: Symbolic::known(state),
                condition: Expr::TRUE,
                types: Vec::new(),
            },
            witness: Vec::new(),
            valuation: state.valuation.to_vec(),
            counts: Counts {
                progress,
                ..Counts::default()
            },
        });
    }

    /// Values for all unknowns of a path with one more step; `None` where there are none, or none that the solver finds.
    pub fn witness(
        &mut self,
        index: usize,
        step: &Rc<Move>,
        rng: &mut dyn Rng,
    ) -> Option<Vec<Value>> {
        let feasible = self.feasible(index, step, rng);
        self.undecided += usize::from(matches!(feasible, Feasible::Undecided));
        feasible.witness(&self.nodes[index].witness)
    }

    fn feasible(&mut self, index: usize, step: &Rc<Move>, rng: &mut dyn Rng) -> Feasible {
        let node = &self.nodes[index];
        let point = Point {
            symbolic: &node.extension.state,
            valuation: &node.valuation,
        };
        if let Some(answer) = point.decide(self.sts, step, &mut self.memory, rng, &self.effort) {
            return answer;
        }
        let extension = node.extension.state.extend(self.sts, step);
        if extension.condition == Expr::FALSE {
            return Feasible::No;
        }
        let chain = self.chain(index);
        let earlier = chain.iter().map(|node| node.extension.size());
        let size = extension.size() + earlier.sum::<usize>();
        if size > MAX_SIZE || extension.is_larger(MAX_SIZE) {
            return Feasible::Undecided;
        }
        let mut solver = Embedded::new(self.sts.types(), self.sts.functions());
        for node in &chain {
            assert_extension(&mut solver, &node.extension);
        }
        assert_extension(&mut solver, &extension);
        let steps = chain.iter().filter_map(|node| node.step.as_deref());
        let steps = steps.chain(std::iter::once(&**step));
        let answer = find_witness(&mut solver, steps, rng, &self.effort.fair(size));
        self.solver_calls += 1;
        answer
    }

    /// Adds the path with one more step.
    fn enter(
        &mut self,
        parent: usize,
        step: Rc<Move>,
        witness: Vec<Value>,
        counts: Counts,
        rank: Rank,
    ) {
        self.queue.push(Reverse((rank, self.nodes.len())));
        let from = &self.nodes[parent];
        let extension = from.extension.state.extend(self.sts, &step);
        let valuation = extension.state.evaluate(self.sts, &witness);
        self.nodes.push(Node {
            parent: Some(parent),
            start: from.start,
            step: Some(step),
            extension,
            witness,
            valuation,
            counts,
        });
    }

    /// Whether all variables are known, whatever the unknowns of the path are.
    fn is_known(&self, index: usize) -> bool {
        let state = &self.nodes[index].extension.state;
        (0..self.sts.variables().len()).all(|v| state.knows(VarId::from_index(v)))
    }

    /// The moves of a path.
    pub fn route(&self, index: usize) -> Vec<Rc<Move>> {
        let chain = self.chain(index).into_iter();
        chain.filter_map(|node| node.step.clone()).collect()
    }

    /// The nodes from the start to this one.
    fn chain(&self, index: usize) -> Vec<&Node> {
        let node = |index: &usize| &self.nodes[*index];
        let indices = std::iter::successors(Some(index), |index| node(index).parent);
        let mut chain: Vec<&Node> = indices.map(|index| node(&index)).collect();
        chain.reverse();
        chain
    }
}

/// What to do with a path.
pub(crate) enum Visit {
    Extend,
    /// Nothing that is looked for lies behind it.
    Leave,
    /// It reaches a bound.
    Cut,
    /// Nothing more is looked for.
    Stop,
}

/// What a search looks for, and in which order.
pub(crate) trait Policy {
    /// The next path in order.
    fn visit(&mut self, tree: &Tree<'_>, index: usize) -> Visit;

    /// The moves that may come next.
    fn moves(&mut self, node: &Node) -> Vec<(Rc<Move>, Progress)>;

    /// The place of a path with one more step in the order, smallest first; `None` where it leads nowhere.
    fn rank(&mut self, node: &Node, step: &Move, after: Counts) -> Option<Rank>;

    /// A path can go on with this step, with these values of all unknowns.
    fn extended(
        &mut self,
        _tree: &mut Tree<'_>,
        _index: usize,
        _step: &Rc<Move>,
        _witness: &[Value],
        _rng: &mut dyn Rng,
    ) {
    }

    /// Whether to interrupt the search.
    fn stop(&mut self) -> bool;
}

/// How far a search goes.
pub(crate) struct SearchBounds {
    /// Paths that are begun at most.
    pub paths: usize,
    /// Moves that may stay undecided: each costs the whole effort, and what lies behind it is not searched.
    pub undecided: usize,
    /// Paths to the same state that are extended: so many different ones are found.
    pub variety: usize,
}

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SearchEnd {
    /// Every path was walked to its end, except for moves that stayed undecided.
    Exhausted,
    /// At a bound, or where nothing more was looked for.
    Cut,
    Interrupted,
}

/// Searches from the paths in the tree on.
pub(crate) fn search(
    tree: &mut Tree<'_>,
    bounds: &SearchBounds,
    policy: &mut dyn Policy,
    rng: &mut dyn Rng,
) -> SearchEnd {
    let mut seen: FxHashMap<(Vec<LocationId>, Vec<Value>, Progress), usize> = FxHashMap::default();
    let mut cut = false;
    while let Some(Reverse((_, index))) = tree.queue.pop() {
        if policy.stop() {
            return SearchEnd::Interrupted;
        }
        let is_too_long = match policy.visit(tree, index) {
            Visit::Extend => false,
            Visit::Cut => true,
            Visit::Leave => continue,
            Visit::Stop => return SearchEnd::Cut,
        };
        // Where all variables are known, the way there does not matter. So a path that is too long loses nothing where
        // an earlier one led to the same state.
        let node = &tree.nodes[index];
        if tree.is_known(index) {
            let progress = node.counts.progress;
            let key = (node.locations().to_vec(), node.valuation.clone(), progress);
            let met = seen.entry(key).or_default();
            *met += 1;
            if *met > bounds.variety {
                continue;
            }
        }
        if is_too_long {
            cut = true;
            continue;
        }
        for (step, progress) in policy.moves(node) {
            if policy.stop() {
                return SearchEnd::Interrupted;
            }
            if tree.undecided >= bounds.undecided {
                return SearchEnd::Cut;
            }
            if tree.nodes.len() >= bounds.paths {
                cut = true;
                break;
            }
            let node = &tree.nodes[index];
            let counts = node.counts.after(&step, progress);
            let Some(rank) = policy.rank(node, &step, counts) else {
                continue;
            };
            let Some(witness) = tree.witness(index, &step, rng) else {
                continue;
            };
            policy.extended(tree, index, &step, &witness, rng);
            tree.enter(index, step, witness, counts, rank);
        }
    }
    match cut {
        true => SearchEnd::Cut,
        false => SearchEnd::Exhausted,
    }
}

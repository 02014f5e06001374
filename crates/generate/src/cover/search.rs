//! Where propagation gives up: breadth-first symbolic execution, from the start, within
//! a bound. When it runs out of paths before it runs into the bound, what was not found does not
//! exist.

use std::collections::BTreeSet;
use std::rc::Rc;

use ioco_sts::Value;
use rand::Rng;

use super::CoverObserver;
use super::goal::{Bound, Goal};
use super::goal_index::GoalIndex;
use super::instance::Stepper;
use crate::moves::Move;
use crate::plan::Progress;
use crate::search::{Counts, Node, Policy, Rank, SearchBounds, SearchEnd, Tree, Visit, search};

/// Questions that may stay undecided: what lies behind them is not searched, and each costs the whole
/// budget.
const MAX_UNDECIDED: usize = 24;

/// A path to an uncovered goal: its moves, the last one as the goal asks for it, and values for all
/// its unknowns.
pub(crate) struct FoundPath {
    pub route: Vec<Rc<Move>>,
    pub witness: Vec<Value>,
    /// Questions to the solver since the path before.
    pub calls: u64,
}

/// What the search found, and how far it went.
pub(crate) struct FoundPaths {
    pub found: Vec<FoundPath>,
    pub not_found: BTreeSet<Goal>,
    pub bound: Bound,
    /// Every path was walked to its end.
    pub exhausted: bool,
    /// Questions to the solver after the last path.
    pub calls: u64,
}

/// Searches until everything is found, or all paths of at most `depth` moves were tried, or `paths` of them.
pub(crate) fn breadth_first<'a>(
    stepper: &mut Stepper<'a>,
    goal_index: &mut GoalIndex<'a>,
    goals: BTreeSet<Goal>,
    (depth, paths): (u32, usize),
    rng: &mut dyn Rng,
    watch: &mut dyn CoverObserver,
) -> FoundPaths {
    let mut tree = Tree::new(stepper.sts, stepper.effort.clone());
    let start = stepper.sts.initial_state();
    tree.begin(0, &start, Progress::default(), (0, 0));
    let bounds = SearchBounds {
        paths,
        undecided: MAX_UNDECIDED,
        variety: 1,
    };
    let mut policy = BreadthFirst {
        useful: goal_index.leads_to(&goals),
        stepper,
        goal_index,
        depth,
        goals,
        found: Vec::new(),
        watch,
    };
    let end = search(&mut tree, &bounds, &mut policy, rng);
    let depths = tree.nodes.iter().map(|node| node.counts.moves);
    FoundPaths {
        found: policy.found,
        not_found: policy.goals,
        bound: Bound {
            depth: depths.max().unwrap_or(0),
            paths: tree.nodes.len() - 1,
            undecided: tree.undecided,
            interrupted: end == SearchEnd::Interrupted,
        },
        exhausted: end == SearchEnd::Exhausted && tree.undecided == 0,
        calls: tree.solver_calls,
    }
}

struct BreadthFirst<'s, 'a> {
    stepper: &'s mut Stepper<'a>,
    goal_index: &'s mut GoalIndex<'a>,
    /// Moves of a path at most.
    depth: u32,
    /// What is still to be found.
    goals: BTreeSet<Goal>,
    /// Per location, whether one of the goals lies behind it.
    useful: Vec<bool>,
    found: Vec<FoundPath>,
    watch: &'s mut dyn CoverObserver,
}

impl Policy for BreadthFirst<'_, '_> {
    fn visit(&mut self, tree: &Tree<'_>, index: usize) -> Visit {
        let node = &tree.nodes[index];
        let is_useful = node.locations().iter().any(|l| self.useful[l.index()]);
        match (self.goals.is_empty(), is_useful) {
            (true, _) => Visit::Stop,
            (false, false) => Visit::Leave,
            (false, true) if node.counts.moves >= self.depth => Visit::Cut,
            (false, true) => Visit::Extend,
        }
    }

    fn moves(&mut self, node: &Node) -> Vec<(Rc<Move>, Progress)> {
        let moves = self.stepper.moves_from(node.locations());
        let moves = moves.iter().map(Rc::clone);
        moves.map(|step| (step, Progress::default())).collect()
    }

    fn rank(&mut self, _node: &Node, _step: &Move, _after: Counts) -> Option<Rank> {
        // All the same: those come first that were begun first.
        Some((0, 0))
    }

    fn extended(
        &mut self,
        tree: &mut Tree<'_>,
        index: usize,
        step: &Rc<Move>,
        witness: &[Value],
        rng: &mut dyn Rng,
    ) {
        let before = self.goals.len();
        let locations = tree.nodes[index].locations();
        for goal in self.goal_index.goals(locations, step, &self.goals) {
            let asked = self.goal_index.asked(self.stepper, step, goal);
            let found = match asked.plain {
                None => Some(witness.to_vec()),
                Some(_) => tree.witness(index, &asked, rng),
            };
            if let Some(witness) = found {
                let mut route = tree.route(index);
                route.push(asked);
                self.goals.remove(&goal);
                self.found.push(FoundPath {
                    route,
                    witness,
                    calls: std::mem::take(&mut tree.solver_calls),
                });
            }
        }
        if self.goals.len() < before {
            self.useful = self.goal_index.leads_to(&self.goals);
        }
    }

    fn stop(&mut self) -> bool {
        self.watch.stop()
    }
}

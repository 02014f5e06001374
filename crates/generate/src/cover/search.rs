//! Where propagation gives up: breadth-first symbolic execution, from the start, within
//! a bound. When it runs out of paths before it runs into the bound, what was not found does not
//! exist.

use std::collections::{BTreeSet, VecDeque};
use std::rc::Rc;

use ioco_solve::Embedded;
use ioco_sts::{Env, LocationId, Value};
use rand::Rng;
use rustc_hash::FxHashSet;

use super::goal::{Bound, Goal};
use super::goal_index::GoalIndex;
use super::instance::Stepper;
use crate::feasible::{Feasible, MAX_SIZE, Memory, Point, find_witness, tell};
use crate::moves::Move;
use crate::symbolic::{Extension, Symbolic};

/// Questions that may stay undecided: what lies behind them is not searched, and each costs the whole
/// budget.
const MAX_UNDECIDED: usize = 24;

/// What the search found, and how far it went.
pub(crate) struct Searched {
    pub bound: Bound,
    /// Every path was walked to its end.
    pub exhausted: bool,
}

/// A path to an uncovered goal: its moves, the last one as the goal asks for it, and values for all
/// its unknowns.
pub(crate) struct FoundPath {
    pub goal: Goal,
    pub route: Vec<Rc<Move>>,
    pub witness: Vec<Value>,
}

struct Node {
    parent: Option<usize>,
    step: Option<Rc<Move>>,
    extension: Extension,
    witness: Vec<Value>,
    valuation: Vec<Value>,
    depth: u32,
}

/// Who searches.
pub(crate) trait GoalObserver {
    /// What is still to be found.
    fn goals(&self) -> &BTreeSet<Goal>;

    /// A path was found, after so many questions to the solver.
    fn hit(&mut self, hit: FoundPath, calls: u64);

    /// Whether to stop.
    fn stop(&mut self) -> bool;
}

pub(crate) struct Search<'s, 'a> {
    pub stepper: &'s mut Stepper<'a>,
    pub goal_index: &'s mut GoalIndex<'a>,
    pub rng: &'s mut dyn Rng,
    /// Moves of a path at most.
    pub depth: u32,
    /// Paths at most.
    pub paths: usize,
    pub calls: u64,
    pub memory: Memory,
}

impl Search<'_, '_> {
    /// Walks until everything is found, or all was tried within the limits.
    pub fn run(&mut self, hunt: &mut dyn GoalObserver) -> Searched {
        let sts = self.stepper.sts;
        let start = Extension {
            state: Symbolic::initial(sts),
            condition: ioco_sts::Expr::TRUE,
            types: Vec::new(),
        };
        let mut nodes = vec![Node {
            parent: None,
            step: None,
            extension: start,
            witness: Vec::new(),
            valuation: sts.variables().iter().map(|v| v.initial.clone()).collect(),
            depth: 0,
        }];
        let mut queue = VecDeque::from([0]);
        let mut seen: FxHashSet<(Vec<LocationId>, Vec<Value>)> = FxHashSet::default();
        let mut useful = self.goal_index.leads_to(hunt.goals());
        let mut bound = Bound::default();
        let mut cut = false;
        while let Some(index) = queue.pop_front() {
            if hunt.goals().is_empty() || bound.undecided >= MAX_UNDECIDED {
                break;
            }
            let locations = nodes[index].extension.state.locations.clone();
            if !locations.iter().any(|l| useful[l.index()]) {
                continue;
            }
            if nodes[index].depth >= self.depth {
                cut = true;
                continue;
            }
            for step in self.stepper.moves_from(&locations).iter() {
                if hunt.stop() {
                    bound.interrupted = true;
                    return Searched {
                        bound,
                        exhausted: false,
                    };
                }
                if nodes.len() >= self.paths || bound.undecided >= MAX_UNDECIDED {
                    cut = true;
                    break;
                }
                let feasible = self.feasible(&nodes, index, step);
                bound.undecided += usize::from(matches!(feasible, Feasible::Undecided));
                let Some(witness) = feasible.witness(&nodes[index].witness) else {
                    continue;
                };
                let before = hunt.goals().len();
                for goal in self.goal_index.goals(&locations, step, hunt.goals()) {
                    let asked = self.goal_index.asked(step, goal);
                    let found = match asked.plain {
                        None => Some(witness.clone()),
                        Some(_) => {
                            let feasible = self.feasible(&nodes, index, &asked);
                            bound.undecided += usize::from(matches!(feasible, Feasible::Undecided));
                            feasible.witness(&nodes[index].witness)
                        }
                    };
                    if let Some(witness) = found {
                        let mut route = route(&nodes, index);
                        route.push(asked);
                        let hit = FoundPath {
                            goal,
                            route,
                            witness,
                        };
                        hunt.hit(hit, std::mem::take(&mut self.calls));
                    }
                }
                if hunt.goals().len() < before {
                    useful = self.goal_index.leads_to(hunt.goals());
                }
                let node = self.enter(&nodes, index, step, witness);
                // Where all variables are known, the way there does not matter.
                let state = &node.extension.state;
                let known =
                    (0..sts.variables().len()).all(|v| state.knows(ioco_sts::VarId::from_index(v)));
                let fresh =
                    !known || seen.insert((state.locations.clone(), node.valuation.clone()));
                bound.depth = bound.depth.max(node.depth);
                bound.paths += 1;
                nodes.push(node);
                if fresh {
                    queue.push_back(nodes.len() - 1);
                }
            }
        }
        Searched {
            exhausted: !cut && bound.undecided == 0,
            bound,
        }
    }

    fn feasible(&mut self, nodes: &[Node], index: usize, step: &Rc<Move>) -> Feasible {
        let sts = self.stepper.sts;
        let effort = self.stepper.effort.clone();
        let node = &nodes[index];
        let point = Point {
            symbolic: &node.extension.state,
            valuation: &node.valuation,
        };
        if let Some(answer) = point.decide(sts, step, &mut self.memory, self.rng, &effort) {
            return answer;
        }
        let extension = node.extension.state.extend(sts, step);
        if extension.condition == ioco_sts::Expr::FALSE {
            return Feasible::No;
        }
        self.calls += 1;
        if extension.is_larger(MAX_SIZE) {
            return Feasible::Undecided;
        }
        let mut solver = Embedded::new(sts.types(), sts.functions());
        let chain = chain(nodes, index);
        let mut size = extension.size();
        for earlier in &chain {
            tell(&mut solver, &nodes[*earlier].extension);
            size += nodes[*earlier].extension.size();
        }
        if size > MAX_SIZE {
            return Feasible::Undecided;
        }
        tell(&mut solver, &extension);
        let steps = chain.iter().filter_map(|n| nodes[*n].step.as_deref());
        let steps = steps.chain(std::iter::once(&**step));
        find_witness(&mut solver, steps, self.rng, &effort.fair(size))
    }

    fn enter(&self, nodes: &[Node], index: usize, step: &Rc<Move>, witness: Vec<Value>) -> Node {
        let sts = self.stepper.sts;
        let extension = nodes[index].extension.state.extend(sts, step);
        let env = Env {
            variables: &[],
            parameters: &witness,
            functions: sts.functions(),
        };
        // The condition of the path includes that every assigned value exists.
        let valuation = extension.state.valuation.iter();
        let valuation = valuation.map(|e| e.eval(env).unwrap_or_default()).collect();
        Node {
            parent: Some(index),
            step: Some(Rc::clone(step)),
            extension,
            witness,
            valuation,
            depth: nodes[index].depth + 1,
        }
    }
}

/// The nodes from the start to this one.
fn chain(nodes: &[Node], index: usize) -> Vec<usize> {
    let mut chain = vec![index];
    let mut at = index;
    while let Some(parent) = nodes[at].parent {
        chain.push(parent);
        at = parent;
    }
    chain.reverse();
    chain
}

fn route(nodes: &[Node], index: usize) -> Vec<Rc<Move>> {
    let steps = chain(nodes, index).into_iter();
    steps.filter_map(|n| nodes[n].step.clone()).collect()
}

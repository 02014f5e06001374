//! Where propagation gives up: a breadth-first search over symbolic states, from the start, within
//! a bound. When it runs out of paths before it runs into the bound, what was not found does not
//! exist.

use std::collections::{BTreeSet, VecDeque};
use std::rc::Rc;

use ioco_solve::Embedded;
use ioco_sts::{Env, LocationId, Sts, Value};
use rand::Rng;
use rustc_hash::FxHashSet;

use super::goal::{Bound, Goal};
use super::instance::Stepper;
use crate::feasible::{Feasible, Memory, Point, find_witness, tell};
use crate::moves::Move;
use crate::symbolic::{Extension, Symbolic};

/// What the search found, and how far it went.
pub(crate) struct Searched {
    pub bound: Bound,
    /// Every path was walked to its end.
    pub exhausted: bool,
}

/// A path to an uncovered goal: its moves, and values for all its unknowns.
pub(crate) struct Hit {
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

pub(crate) struct Search<'s, 'a> {
    pub stepper: &'s mut Stepper<'a>,
    pub rng: &'s mut dyn Rng,
    /// Moves of a path at most.
    pub depth: u32,
    /// Paths at most.
    pub paths: usize,
    pub calls: u64,
    pub memory: Memory,
}

impl Search<'_, '_> {
    /// Walks until `found` wants no more. `found` is told of every path whose last move does
    /// something that `goals` ask for, and answers with the goals that are left.
    pub fn run(
        &mut self,
        mut goals: BTreeSet<Goal>,
        found: &mut dyn FnMut(Hit, u64) -> Option<BTreeSet<Goal>>,
    ) -> Searched {
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
        let mut useful = leads_to(sts, &goals);
        let mut bound = Bound {
            depth: 0,
            paths: 0,
            undecided: 0,
        };
        let mut cut = false;
        while let Some(index) = queue.pop_front() {
            if goals.is_empty() {
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
                if nodes.len() >= self.paths {
                    cut = true;
                    break;
                }
                let feasible = self.feasible(&nodes, index, step);
                bound.undecided += usize::from(matches!(feasible, Feasible::Undecided));
                let Some(witness) = feasible.witness(&nodes[index].witness) else {
                    continue;
                };
                let node = self.enter(&nodes, index, step, witness);
                // Where all variables are known, the way there does not matter.
                let state = &node.extension.state;
                let known =
                    (0..sts.variables().len()).all(|v| state.knows(ioco_sts::VarId::from_index(v)));
                let fresh =
                    !known || seen.insert((state.locations.clone(), node.valuation.clone()));
                let hit = reaches(sts, step, &goals);
                bound.depth = bound.depth.max(node.depth);
                bound.paths += 1;
                nodes.push(node);
                let last = nodes.len() - 1;
                if hit {
                    let hit = Hit {
                        route: route(&nodes, last),
                        witness: nodes[last].witness.clone(),
                    };
                    let Some(left) = found(hit, std::mem::take(&mut self.calls)) else {
                        return Searched {
                            bound,
                            exhausted: false,
                        };
                    };
                    goals = left;
                    useful = leads_to(sts, &goals);
                }
                if fresh {
                    queue.push_back(last);
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
        let budget = self.stepper.budget;
        let node = &nodes[index];
        let point = Point {
            symbolic: &node.extension.state,
            valuation: &node.valuation,
        };
        if let Some(answer) = point.decide(sts, step, &mut self.memory, self.rng, budget) {
            return answer;
        }
        let extension = node.extension.state.extend(sts, step);
        if extension.condition == ioco_sts::Expr::FALSE {
            return Feasible::No;
        }
        self.calls += 1;
        let mut solver = Embedded::new(sts.types(), sts.functions());
        let chain = chain(nodes, index);
        for earlier in &chain {
            tell(&mut solver, &nodes[*earlier].extension);
        }
        tell(&mut solver, &extension);
        let steps = chain.iter().filter_map(|n| nodes[*n].step.as_deref());
        let steps = steps.chain(std::iter::once(&**step));
        find_witness(&mut solver, steps, self.rng, budget)
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

/// Whether a move does something that the goals ask for.
pub(crate) fn reaches(sts: &Sts, step: &Move, goals: &BTreeSet<Goal>) -> bool {
    step.switches.iter().any(|id| {
        goals.contains(&Goal::Switch(*id))
            || goals.contains(&Goal::Location(sts.switch(*id).target))
    })
}

/// Per location: whether switches of its process lead from it to a goal, whatever the data.
pub(crate) fn leads_to(sts: &Sts, goals: &BTreeSet<Goal>) -> Vec<bool> {
    let mut leads = vec![false; sts.locations().len()];
    loop {
        let mut changed = false;
        for (index, switch) in sts.switches().iter().enumerate() {
            let id = ioco_sts::SwitchId::from_index(index);
            let reaches = leads[switch.target.index()]
                || goals.contains(&Goal::Switch(id))
                || goals.contains(&Goal::Location(switch.target));
            if reaches && !leads[switch.source.index()] {
                leads[switch.source.index()] = true;
                changed = true;
            }
        }
        if !changed {
            return leads;
        }
    }
}

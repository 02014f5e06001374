//! Breadth-first search over concrete states, with a few values for every parameter.
//!
//! Counters and queues need many steps before a guard holds, and symbolic paths to there are too many to list. Concrete
//! states are cheap, and many of them are alike: two that differ only in data that decides nothing later are one
//! ([`Relevant`]). Job numbers, names and texts that a model hands back are such data. The search finds, it proves
//! nothing: other values may lead farther.

use std::collections::{BTreeSet, VecDeque};
use std::rc::Rc;

use ioco_solve::Outcome;
use ioco_sts::{BinaryOp, Expr, LocationId, State, Sts, Switch, Value, VarId};
use rand::Rng;
use rustc_hash::FxHashSet;

use super::conditions::part;
use super::goal::Goal;
use super::goal_index::GoalIndex;
use super::instance::{Instance, Stepper};
use crate::feasible::{Effort, Memory};
use crate::moves::Move;

/// States that are visited at most.
const MAX_STATES: usize = 5_000;
/// Choices of values for one move: the smallest, the largest, and one by chance.
const CHOICES: usize = 3;

/// Which variables decide what can happen.
pub(crate) struct Relevant(Vec<bool>);

impl Relevant {
    pub fn new(sts: &Sts, goals: &BTreeSet<Goal>) -> Relevant {
        let mut relevant = Relevant(vec![false; sts.variables().len()]);
        for goal in goals {
            if let Some(condition) = part(sts, *goal) {
                relevant.mark(condition);
            }
        }
        for switch in sts.switches() {
            let all = switch.enabled.conjuncts();
            for condition in &all {
                if defined(condition, &all).is_none() {
                    relevant.mark(condition);
                }
            }
        }
        // What flows into a relevant variable is relevant.
        while sts.switches().iter().any(|switch| relevant.flow(switch)) {}
        relevant
    }

    fn mark(&mut self, expr: &Expr) -> bool {
        let fresh: Vec<VarId> = expr
            .vars()
            .into_iter()
            .filter(|v| !self.0[v.index()])
            .collect();
        for variable in &fresh {
            self.0[variable.index()] = true;
        }
        !fresh.is_empty()
    }

    /// Marks what a switch assigns to relevant variables; whether anything is new.
    fn flow(&mut self, switch: &Switch) -> bool {
        let mut fresh = false;
        for assignment in &switch.update {
            if !self.0[assignment.variable.index()] {
                continue;
            }
            fresh |= self.mark(&assignment.value);
            let read = assignment.value.params();
            let all = switch.enabled.conjuncts();
            for condition in &all {
                if defined(condition, &all).is_some_and(|parameter| read.contains(&parameter)) {
                    fresh |= self.mark(condition);
                }
            }
        }
        fresh
    }

    /// What of a state decides what can happen.
    fn key(&self, state: &State) -> (Box<[LocationId]>, Vec<Value>) {
        let values = state.valuation.iter().zip(&self.0);
        let values = values.filter(|(_, relevant)| **relevant);
        (
            state.locations.clone(),
            values.map(|(value, _)| value.clone()).collect(),
        )
    }
}

/// The parameter that a condition gives its value, where no other condition mentions it: `id == next` can always be
/// made true.
fn defined(condition: &Expr, all: &[&Expr]) -> Option<u32> {
    let Expr::Binary(BinaryOp::Eq, both) = condition else {
        return None;
    };
    let (parameter, value) = match &**both {
        [Expr::Param(parameter), value] | [value, Expr::Param(parameter)] => (*parameter, value),
        _ => return None,
    };
    let mentions = |expr: &Expr| expr.params().contains(&parameter);
    let others = all.iter().filter(|other| !std::ptr::eq(**other, condition));
    (!mentions(value) && !others.into_iter().any(|other| mentions(other))).then_some(parameter)
}

struct Node {
    parent: usize,
    step: Option<Rc<Move>>,
    /// Of the unknowns of the step.
    values: Vec<Value>,
    state: State,
}

/// Paths to goals, the nearest ones first, and which of the goals were found.
pub(crate) fn search(
    stepper: &mut Stepper<'_>,
    goal_index: &mut GoalIndex<'_>,
    mut left: BTreeSet<Goal>,
    states: usize,
    rng: &mut dyn Rng,
    effort: &Effort,
    stop: &mut dyn FnMut() -> bool,
) -> Vec<Instance> {
    let relevant = Relevant::new(stepper.sts, &left);
    let mut memory = Memory::default();
    memory.extremes = true;
    let start = stepper.sts.initial_state();
    let mut seen = FxHashSet::from_iter([relevant.key(&start)]);
    let mut nodes = vec![Node {
        parent: 0,
        step: None,
        values: Vec::new(),
        state: start,
    }];
    let mut queue = VecDeque::from([0]);
    let mut found = Vec::new();
    while let Some(index) = queue.pop_front() {
        if left.is_empty() || nodes.len() >= states.min(MAX_STATES) || stop() {
            break;
        }
        let state = nodes[index].state.clone();
        for step in stepper.moves_from(&state.locations).iter() {
            for goal in goal_index.goals(&state.locations, step, &left) {
                let asked = goal_index.asked(stepper, step, goal);
                let own = memory.own_values(stepper.sts, &asked, &state.valuation, rng, effort);
                let path = own
                    .sat()
                    .and_then(|own| path(stepper, &nodes, index, &asked, &own));
                if let Some(path) = path {
                    left.remove(&goal);
                    found.push(path);
                }
            }
            let choices = if step.types.is_empty() { 1 } else { CHOICES };
            for _ in 0..choices {
                let own = memory.own_values(stepper.sts, step, &state.valuation, rng, effort);
                let Outcome::Sat(own) = own else { break };
                // A hand-shake sends a value wherever one is possible.
                if !step.observable && own.contains(&Value::Void) {
                    continue;
                }
                let next = stepper.take(&state, step, &step.parameters(&own));
                let Some(next) = next else { continue };
                if seen.insert(relevant.key(&next)) {
                    nodes.push(Node {
                        parent: index,
                        step: Some(Rc::clone(step)),
                        values: own,
                        state: next,
                    });
                    queue.push_back(nodes.len() - 1);
                }
            }
        }
    }
    found
}

/// The path to a node, and one more step.
fn path(
    stepper: &Stepper<'_>,
    nodes: &[Node],
    index: usize,
    last: &Rc<Move>,
    values: &[Value],
) -> Option<Instance> {
    let mut chain = vec![index];
    while nodes[chain[chain.len() - 1]].step.is_some() {
        chain.push(nodes[chain[chain.len() - 1]].parent);
    }
    chain.reverse();
    let mut path = Instance {
        steps: Vec::new(),
        states: Vec::new(),
    };
    for number in chain {
        let node = &nodes[number];
        if let Some(step) = &node.step {
            path.steps
                .push((Rc::clone(step), step.action(&node.values)));
        }
        path.states.push(node.state.clone());
    }
    let end = stepper.take(path.end(), last, &last.parameters(values))?;
    path.steps
        .push((Rc::clone(Move::plain(last)), last.action(values)));
    path.states.push(end);
    Some(path)
}

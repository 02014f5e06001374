//! One goal at a time: the cone of influence and the engines one after the other. Also used for subsystems.

use std::sync::Arc;

use super::board::Board;
use crate::circuit::encode::TooLarge;
use crate::depend::{Dependencies, vars_of};
use crate::engine::Budget;
use crate::engine::bdd::{Event, Halt};
use crate::engine::detached;
use crate::engine::ic3::{Ic3, Outcome};
use crate::engine::order;
use crate::engine::sat::Answer;
use crate::engine::unroll::{Trace, Unrolling};
use crate::expr::ExprId;
use crate::model::Model;
use crate::system::{Circuit, System};

/// The answer for one goal over one system.
pub(crate) enum Decision {
    Reached { trace: Trace, method: &'static str },
    Unreachable { method: &'static str },
    Unknown { how_far: String },
}

/// Steps that the solver looks ahead before anything else: many goals are that near.
const NEAR: usize = 8;

pub(crate) fn run(board: &Board) {
    let dependencies = Dependencies::of(board.model);
    for (index, goal) in board.goals.iter().enumerate() {
        let budget = board.budget();
        if budget.over() {
            break;
        }
        let budget = budget.within(board.options.time_per_goal);
        let cone = dependencies.cone(&vars_of(board.model, goal.expr));
        let system = System::restrict(board.model, &cone, &[]);
        match decide(board.model, &system, goal.expr, board.options.nodes, budget) {
            Decision::Reached { trace, method } => {
                let covered = board
                    .complete(&system.vars, &trace, index)
                    .is_some_and(|run| board.cover_only(run, index, method));
                if !covered {
                    whole(board, index, budget);
                }
            }
            Decision::Unreachable { method } => board.infeasible(index, method),
            Decision::Unknown { how_far } => board.unknown(index, &how_far),
        }
    }
    board.close();
}

/// The rest of the model blocks the run that the cone allows: ask about the whole model.
pub(crate) fn whole(board: &Board, goal: usize, budget: Budget) {
    let system = System::whole(board.model);
    match decide(
        board.model,
        &system,
        board.goals[goal].expr,
        board.options.nodes,
        budget,
    ) {
        Decision::Reached { trace, method } => {
            if !board.cover(&system.vars, &trace, goal, method) {
                board.unknown(goal, "a run was found, and the interpreter refused it");
            }
        }
        Decision::Unreachable { method } => board.infeasible(goal, method),
        Decision::Unknown { how_far } => board.unknown(goal, &how_far),
    }
}

/// Looks for a shortest run first; falls back on IC3, whose runs can be longer.
pub(crate) fn decide(
    model: &Model,
    system: &System,
    goal: ExprId,
    nodes: usize,
    budget: Budget,
) -> Decision {
    let circuit = match Circuit::compile(model, system, &[goal]) {
        Ok(circuit) => Arc::new(circuit),
        Err(TooLarge(reason)) => return Decision::Unknown { how_far: reason },
    };
    let mut bound = None;
    let mut full = false;
    if let Some(trace) = search(
        model,
        &circuit,
        NEAR,
        &mut bound,
        &mut full,
        budget.within(budget.left() * 0.2),
    ) {
        return Decision::Reached {
            trace,
            method: "bmc",
        };
    }
    let orders = [
        order::force(&circuit, &order::declared(&circuit)),
        order::declared(&circuit),
    ];
    for (order, nodes, share) in [(&orders[0], nodes / 8, 0.3), (&orders[1], nodes / 8, 0.3)] {
        if budget.over() {
            break;
        }
        match fixpoint(&circuit, order, nodes, budget.within(budget.left() * share)) {
            Ok(decision) => return decision,
            Err(Halt::Time | Halt::Memory | Halt::Enough) => {}
        }
    }
    if !budget.over() {
        let mut ic3 = Ic3::new(model, &circuit, budget);
        match ic3.decide(circuit.goals[0]) {
            Outcome::Reached(trace) => {
                return Decision::Reached {
                    trace,
                    method: "ic3",
                };
            }
            Outcome::Unreachable => return Decision::Unreachable { method: "ic3" },
            Outcome::Unknown { bound: far } => bound = bound.max(Some(far)),
        }
    }
    Decision::Unknown {
        how_far: how_far(bound, full),
    }
}

/// How far a search went that found neither a run nor a proof.
pub(crate) fn how_far(bound: Option<usize>, full: bool) -> String {
    let mut text = "time out".to_owned();
    if let Some(bound) = bound {
        text.push_str(&format!(", no run of {bound} steps"));
    }
    if full {
        text.push_str(", memory limit reached");
    }
    text
}

/// Bounded search, one depth after the other. `bound` becomes the largest number of steps that do not suffice, `full`
/// whether more do not fit into memory.
pub(crate) fn search(
    model: &Model,
    circuit: &Circuit,
    depth: usize,
    bound: &mut Option<usize>,
    full: &mut bool,
    budget: Budget,
) -> Option<Trace> {
    let mut unrolling = Unrolling::new(model, circuit, budget, true);
    let transition = circuit.goals[0].transition;
    for steps in 0..=depth {
        if budget.over() {
            return None;
        }
        let frame = if transition {
            steps.checked_sub(1)
        } else {
            Some(steps)
        };
        if let Some(frame) = frame {
            let goal = unrolling.goal(frame, 0);
            match unrolling.solve(&[goal]) {
                Answer::Yes => return Some(unrolling.trace(steps)),
                Answer::No => unrolling.clause(&[!goal]),
                Answer::Unknown => {
                    *full = unrolling.is_full();
                    return None;
                }
            }
        }
        *bound = Some(steps);
        unrolling.extend();
    }
    None
}

fn fixpoint(
    circuit: &Arc<Circuit>,
    order: &order::Order,
    nodes: usize,
    budget: Budget,
) -> Result<Decision, Halt> {
    let mut found = None;
    let result = detached::run(circuit, order, nodes, budget, &|_| true, &mut |event| {
        if let Event::Reached { trace, .. } = event {
            found = Some(trace);
        }
        found.is_none()
    });
    match (found, result) {
        (Some(trace), _) => Ok(Decision::Reached {
            trace,
            method: "bdd",
        }),
        (None, Ok(())) => Ok(Decision::Unreachable { method: "bdd" }),
        (None, Err(halt)) => Err(halt),
    }
}

//! The portfolio. Random walks first; then, for every cone, short rounds in which each engine has its turn ([`rounds`]);
//! for what remains, one decision diagram fixpoint beside one incremental SAT unrolling, looking ahead and IC3, each
//! shared by all goals of the cone. Every run discharges all goals that it meets.

mod rounds;
mod task;
mod walks;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use self::task::Task;
use self::walks::{SHORT_WALKS, THOROUGH, walks};
use super::board::Board;
use super::single;
use super::tree::Miss;
use crate::circuit::encode::TooLarge;
use crate::decompose::{Tree, bits};
use crate::depend::{Dependencies, vars_of};
use crate::engine::Budget;
use crate::engine::induct::{self, Effort, Unseen};
use crate::engine::unroll::Unrolling;
use crate::expr::{ExprId, VarId};
use crate::system::{Circuit, System};

/// Cones up to so many bits are not worth a fixpoint of their own.
const SMALL_BITS: u32 = 48;

/// Seconds for induction over one step, which is tried first, and for the thorough one before the long search.
const LITTLE_SECONDS: f64 = 0.1;
const MUCH_SECONDS: f64 = 1.0;

/// The part of all the time that is left which one of these steps may take.
const LIGHT_SHARE: f64 = 0.15;

/// Seconds for a goal in parts before the engines get the whole, and how large the largest part may be for that to be
/// of use, as a share of the bits of the whole.
const PARTS_SECONDS: f64 = 0.5;
const PARTS_SHARE: f64 = 0.7;

/// Goals with much the same cone.
struct Group {
    vars: Vec<VarId>,
    /// Of the smallest cone in it.
    bits: u32,
    goals: Vec<usize>,
}

pub(crate) fn run(board: &Board) {
    // First what costs little; most models need no more.
    walks(board, SHORT_WALKS);
    for (number, group) in groups(board).iter().enumerate() {
        rounds::light(board, group, number);
    }
    if !board.open_goals().is_empty() {
        walks(board, THOROUGH);
    }
    for group in groups(board) {
        if board.budget().over() {
            break;
        }
        solve(board, &group);
    }
    board.close();
}

/// Open goals by cone, the small cones first. Small cones are put together.
fn groups(board: &Board) -> Vec<Group> {
    let dependencies = Dependencies::of(board.model);
    let bits = |vars: &[VarId]| {
        vars.iter()
            .map(|var| board.model.var(*var).domain.bits())
            .sum::<u32>()
    };
    let mut groups: Vec<Group> = Vec::new();
    for goal in board.open_goals() {
        let vars = dependencies.cone(&vars_of(board.model, board.goals[goal].expr));
        match groups.iter_mut().find(|group| group.vars == vars) {
            Some(group) => group.goals.push(goal),
            None => groups.push(Group {
                bits: bits(&vars),
                vars,
                goals: vec![goal],
            }),
        }
    }
    groups.sort_by_key(|group| group.bits);
    let mut joined: Vec<Group> = Vec::new();
    for group in groups {
        if let Some(last) = joined.last_mut() {
            let mut union = last.vars.clone();
            union.extend(&group.vars);
            union.sort_unstable();
            union.dedup();
            if bits(&union) <= SMALL_BITS.max(last.bits + last.bits / 4) {
                last.vars = union;
                last.goals.extend(group.goals);
                continue;
            }
        }
        joined.push(group);
    }
    joined
}

/// The goals of a group that are still open, with their circuit. Those that can be proved infeasible together are
/// answered on the way.
fn prepare(board: &Board, group: &Group) -> Option<(Vec<usize>, System, Arc<Circuit>)> {
    let open: Vec<usize> = group
        .goals
        .iter()
        .copied()
        .filter(|goal| board.is_open(*goal))
        .collect();
    if open.is_empty() {
        return None;
    }
    let exprs: Vec<ExprId> = open.iter().map(|goal| board.goals[*goal].expr).collect();
    let system = System::restrict(board.model, &group.vars, &[]);
    let circuit = match Circuit::compile(board.model, &system, &exprs) {
        Ok(circuit) => circuit,
        Err(TooLarge(reason)) => {
            for goal in open {
                board.unknown(goal, &reason);
            }
            return None;
        }
    };
    let mut circuit = Arc::new(circuit);
    let budget = slice(board, LITTLE_SECONDS);
    prove_together(board, &open, &system, &mut circuit, Effort::Little, budget);
    Some((open, system, circuit))
}

/// Answers goals of a circuit that can be proved infeasible together, and leaves lemmas for the others. False when the
/// time did not suffice.
fn prove_together(
    board: &Board,
    open: &[usize],
    system: &System,
    circuit: &mut Arc<Circuit>,
    effort: Effort,
    budget: Budget,
) -> bool {
    let unseen = Unseen {
        single: board.unseen(&system.vars),
        pairs: &|| board.distinguishing(&system.vars),
    };
    let refuted = induct::strengthen(board.model, Arc::make_mut(circuit), &unseen, effort, budget);
    for index in refuted {
        board.infeasible(open[index], "induction");
    }
    !budget.over()
}

/// A part of the time that is left, for a step that may not bring anything.
fn slice<'b>(board: &Board<'b>, seconds: f64) -> Budget<'b> {
    let seconds = seconds.min(board.budget().left() * LIGHT_SHARE);
    board.budget().within(seconds)
}

fn solve(board: &Board, group: &Group) {
    let Some((open, system, mut circuit)) = prepare(board, group) else {
        return;
    };
    let budget = slice(board, MUCH_SECONDS);
    prove_together(board, &open, &system, &mut circuit, Effort::Much, budget);
    let task = Task::new(board, &open, &system.vars, &circuit);
    if task.left().is_empty() {
        return;
    }
    let stop = || task.done.load(Ordering::Relaxed) || (board.edge.stop)();
    let budget = Budget {
        stop: &stop,
        ..board.budget()
    };
    let budget = budget.within(board.options.time_per_goal * open.len() as f64);
    if board.options.jobs > 1 {
        std::thread::scope(|scope| {
            let second = crate::stack::spawn_with_room(scope, || {
                task.diagrams(budget, board.options.nodes);
                task.keep_chasing(budget);
            });
            task.solver(budget);
            task.solving.store(false, Ordering::Relaxed);
            if second.is_err() {
                task.diagrams(budget, board.options.nodes);
            }
        });
    } else {
        let near = budget.within(budget.left() * 0.1);
        let mut unrolling = Unrolling::new(board.model, &circuit, near, true);
        task.near(&mut unrolling, near);
        task.diagrams(budget.within(budget.left() * 0.3), board.options.nodes / 8);
        task.solver(budget.within(budget.left() * 0.6));
        task.diagrams(budget, board.options.nodes);
        task.solver(budget);
    }
    task.unblock();
    smaller_parts(board, &open, board.options.time_per_goal, 1.0);
    let bound = task.bound.load(Ordering::Relaxed);
    for goal in open.iter().copied() {
        if board.is_open(goal) && !(board.edge.stop)() {
            let full = task.full.load(Ordering::Relaxed);
            board.unknown(goal, &single::how_far(Some(bound), full));
        }
    }
}

/// What is too large as a whole may be found, or refuted, in parts. A part that cannot provide what another one needs is
/// put together with it, and the smaller tree is tried again.
fn smaller_parts(board: &Board, goals: &[usize], seconds: f64, share: f64) {
    let dependencies = std::cell::OnceCell::new();
    let dependencies = || dependencies.get_or_init(|| Dependencies::of(board.model));
    for goal in goals.iter().copied().filter(|goal| board.is_open(*goal)) {
        let budget = board.budget().within(seconds);
        let expr = board.goals[goal].expr;
        let mut merged = Vec::new();
        while !budget.over() {
            let tree = Tree::refined(board.model, dependencies(), expr, &merged);
            let whole = bits(
                board.model,
                &dependencies().cone(&vars_of(board.model, expr)),
            );
            let small = f64::from(tree.largest_bits(board.model)) <= share * f64::from(whole);
            if tree.subsystems.len() < 2 || !small {
                break;
            }
            match super::tree::attempt(board, &tree, goal, true, budget) {
                Err(Miss {
                    link: Some(link), ..
                }) if !merged.contains(&link) => merged.push(link),
                // A miss leaves the goal open, with what the other engines say of it.
                _ => break,
            }
        }
    }
}

//! The portfolio. Random walks first; then, for every cone, one decision diagram fixpoint and one incremental SAT
//! unrolling shared by all its goals, side by side; IC3 for what remains. Every run discharges all goals that it meets.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::board::Board;
use super::chase::{Chase, Found};
use super::single;
use crate::circuit::encode::TooLarge;
use crate::complete::Gait;
use crate::decompose::Tree;
use crate::depend::{Dependencies, vars_of};
use crate::engine::Budget;
use crate::engine::apart;
use crate::engine::bdd::{Event, Halt};
use crate::engine::ic3::{Ic3, Outcome};
use crate::engine::order;
use crate::engine::sat::Answer;
use crate::engine::unroll::Unrolling;
use crate::expr::{ExprId, VarId};
use crate::simulate;
use crate::system::{Circuit, System};

/// Cones up to so many bits are not worth a fixpoint of their own.
const SMALL_BITS: u32 = 48;

/// A circuit of so few bits starts with so few nodes: making room for more takes longer than the work itself.
const FEW_BITS: usize = 24;
const FEW_NODES: usize = 60_000;

/// Seconds of random walking without any success.
const PATIENCE: f64 = 0.4;

/// States; a walk that is longer is not prolonged.
const LONGEST_WALK: usize = 4000;

/// Goals with the same cone.
struct Group {
    vars: Vec<VarId>,
    goals: Vec<usize>,
}

pub(crate) fn run(board: &Board) {
    walks(board);
    for group in groups(board) {
        if board.budget().over() {
            break;
        }
        solve(board, &group);
    }
    board.give_up("the time is over");
}

fn walks(board: &Board) {
    let bits: u32 = board.model.vars.iter().map(|var| var.domain.bits()).sum();
    // A small model is enumerated faster than it is explored by chance.
    let small = bits <= SMALL_BITS;
    let (most, stamina) = if small { (0.3, 0) } else { (12.0, 9) };
    let share = board.options.time_per_goal * board.goals.len() as f64 * 0.05;
    let budget = board.budget().within(share.min(most));
    let start = budget.now();
    let mut fruitful = start;
    let mut circuit = None;
    let mut blind = true;
    let everything: Vec<VarId> = board.model.var_ids().collect();
    let mut poor = 0;
    for round in 0..400_u64 {
        // A walk that has found nothing for as long as it once took to find something will hardly find more.
        let patience = PATIENCE + (fruitful - start);
        let tired = poor > stamina || (poor > 0 && budget.now() > fruitful + patience);
        if budget.over() || tired || board.open_goals().is_empty() {
            break;
        }
        let budget = budget.within(fruitful + patience - budget.now());
        let seed = board.options.seed.wrapping_add(round * 7919);
        let gait = [Gait::Fair, Gait::Eager, Gait::Shy][(round % 3) as usize];
        let steps = match (small, gait) {
            (true, _) => 30,
            (false, Gait::Fair) => 80,
            (false, _) if round < 6 => 400,
            (false, _) => 3000,
        };
        let mut run = None;
        if blind {
            // Every second time further from where a walk was last of use.
            let start = match board.some_run(0) {
                Some(known) if !small && round % 6 > 2 && known.len() < LONGEST_WALK => {
                    known.to_vec()
                }
                _ => Vec::new(),
            };
            run = board.stroll(start, steps, seed, gait, &everything, budget);
            blind = run.is_some();
        }
        let found = match run {
            Some(run) => board.discharge(run, "random walk"),
            None => {
                let compiled = circuit.get_or_insert_with(|| {
                    Circuit::compile(board.model, &System::whole(board.model), &[])
                });
                let Ok(compiled) = compiled else { return };
                let eager = gait == Gait::Eager;
                let steps = steps.min(300);
                board.offer(
                    simulate::walk(board.model, compiled, steps, seed, eager, budget),
                    "random walk",
                )
            }
        };
        if found == 0 {
            poor += 1;
        } else {
            poor = 0;
            fruitful = budget.now();
        }
    }
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
                vars,
                goals: vec![goal],
            }),
        }
    }
    groups.sort_by_key(|group| bits(&group.vars));
    let mut joined: Vec<Group> = Vec::new();
    for group in groups {
        if let Some(last) = joined.last_mut() {
            let mut union = last.vars.clone();
            union.extend(&group.vars);
            union.sort_unstable();
            union.dedup();
            let inside = union.len() == group.vars.len();
            let near = bits(&group.vars) <= bits(&last.vars) + bits(&last.vars) / 4;
            if bits(&union) <= SMALL_BITS || (inside && near) {
                last.vars = union;
                last.goals.extend(group.goals);
                continue;
            }
        }
        joined.push(group);
    }
    joined
}

fn solve(board: &Board, group: &Group) {
    let open: Vec<usize> = group
        .goals
        .iter()
        .copied()
        .filter(|goal| board.is_open(*goal))
        .collect();
    if open.is_empty() {
        return;
    }
    let exprs: Vec<ExprId> = open.iter().map(|goal| board.goals[*goal].expr).collect();
    let system = System::restrict(board.model, &group.vars, &[]);
    let circuit = match Circuit::compile(board.model, &system, &exprs) {
        Ok(circuit) => Arc::new(circuit),
        Err(TooLarge(reason)) => {
            for goal in open {
                board.unknown(goal, &reason);
            }
            return;
        }
    };
    let done = AtomicBool::new(false);
    let stop = || done.load(Ordering::Relaxed) || (board.edge.stop)();
    let budget = Budget {
        stop: &stop,
        ..board.budget()
    };
    let budget = budget.within(board.options.time_per_goal * open.len() as f64);
    let task = Task {
        board,
        goals: &open,
        vars: &system.vars,
        circuit: &circuit,
        done: &done,
        blocked: std::sync::Mutex::new(Vec::new()),
        bound: AtomicUsize::new(0),
    };
    if board.options.jobs > 1 {
        std::thread::scope(|scope| {
            let second =
                crate::stack::spawn_with_room(scope, || task.diagrams(budget, board.options.nodes));
            task.solver(budget);
            if second.is_err() {
                task.diagrams(budget, board.options.nodes);
            }
        });
    } else {
        task.near(budget);
        task.diagrams(budget.within(budget.left() * 0.3), board.options.nodes / 8);
        task.solver(budget.within(budget.left() * 0.6));
        task.diagrams(budget, board.options.nodes);
        task.solver(budget);
    }
    let blocked = task
        .blocked
        .lock()
        .map(|list| list.clone())
        .unwrap_or_default();
    for goal in blocked {
        if board.is_open(goal) {
            single::whole(
                board,
                goal,
                board.budget().within(board.options.time_per_goal),
            );
        }
    }
    smaller_parts(board, &open);
    let bound = task.bound.load(Ordering::Relaxed);
    for goal in open {
        if board.is_open(goal) && !(board.edge.stop)() {
            board.unknown(goal, &format!("time out, no run of {bound} steps"));
        }
    }
}

/// What is too large as a whole may be found, or refuted, in parts.
fn smaller_parts(board: &Board, goals: &[usize]) {
    let mut dependencies = None;
    for goal in goals.iter().copied().filter(|goal| board.is_open(*goal)) {
        let budget = board.budget().within(board.options.time_per_goal);
        if budget.over() {
            return;
        }
        let dependencies = dependencies.get_or_insert_with(|| Dependencies::of(board.model));
        let tree = Tree::of(board.model, dependencies, board.goals[goal].expr);
        if tree.subsystems.len() > 1 {
            // A miss leaves the goal open, with what the other engines say of it.
            let _ = super::tree::attempt(board, &tree, goal, true, budget);
        }
    }
}

/// The open goals of a group and their circuit, seen by several engines.
struct Task<'t, 'b> {
    board: &'t Board<'b>,
    goals: &'t [usize],
    vars: &'t [VarId],
    circuit: &'t Arc<Circuit>,
    /// Nothing is left to do.
    done: &'t AtomicBool,
    /// Goals whose run in the cone the rest of the model cannot follow.
    blocked: std::sync::Mutex<Vec<usize>>,
    /// No run of so many steps reaches what is open.
    bound: AtomicUsize,
}

impl Task<'_, '_> {
    fn wanted(&self, index: usize) -> bool {
        let goal = self.goals[index];
        self.board.is_open(goal) && !self.blocked.lock().is_ok_and(|list| list.contains(&goal))
    }

    fn left(&self) -> Vec<usize> {
        let left: Vec<usize> = (0..self.goals.len())
            .filter(|index| self.wanted(*index))
            .collect();
        if left.is_empty() {
            self.done.store(true, Ordering::Relaxed);
        }
        left
    }

    fn reached(&self, index: usize, trace: &crate::engine::unroll::Trace, method: &str) {
        let goal = self.goals[index];
        if !self.board.cover(self.vars, trace, goal, method)
            && self.board.is_open(goal)
            && let Ok(mut blocked) = self.blocked.lock()
        {
            blocked.push(goal);
        }
    }

    fn near(&self, budget: Budget) {
        let mut unrolling = Unrolling::new(
            self.board.model,
            self.circuit,
            budget.within(budget.left() * 0.1),
            true,
        );
        self.unroll(&mut unrolling, 6, budget.within(budget.left() * 0.1));
    }

    /// Decision diagrams with several orders, first in little memory.
    fn diagrams(&self, budget: Budget, nodes: usize) {
        let few = if self.circuit.bits.len() <= FEW_BITS {
            FEW_NODES
        } else {
            nodes / 16
        };
        let declared = order::declared(self.circuit);
        let forced = order::force(self.circuit, &declared);
        // Looking for the best order takes its time, and the first one often does.
        let best = std::cell::OnceCell::new();
        let best = || best.get_or_init(|| order::force_best(self.circuit, 12));
        type Choice<'o> = &'o dyn Fn() -> &'o order::Order;
        let attempts: [(Choice, usize); 5] = [
            (&|| &forced, few),
            (&best, nodes / 16),
            (&|| &declared, nodes / 16),
            (&best, nodes),
            (&|| &forced, nodes),
        ];
        for (order, nodes) in attempts {
            if budget.over() || self.left().is_empty() {
                return;
            }
            let result = apart::run(
                self.circuit,
                order(),
                nodes.max(50_000),
                budget,
                &|index| self.wanted(index),
                &mut |event| {
                    match event {
                        Event::Reached { goal, trace } => self.reached(goal, &trace, "bdd"),
                        Event::Ring(steps) => {
                            self.bound.fetch_max(steps, Ordering::Relaxed);
                        }
                    }
                    !self.left().is_empty()
                },
            );
            if result == Ok(()) {
                for index in self.left() {
                    self.board.infeasible(self.goals[index], "bdd");
                }
                self.left();
                return;
            }
            if result == Err(Halt::Time) {
                return;
            }
        }
    }

    /// Looks ahead from known runs, as long as that brings something or the slice lasts.
    fn chase<'s>(&'s self, chase: &mut Chase<'s>, budget: Budget<'s>) {
        let mut random = self.board.options.seed;
        while !budget.over() {
            let left = self.left();
            if left.is_empty() {
                return;
            }
            if chase.needs_start() {
                random = crate::goal::next_random(random);
                // A new walk as often as a known one; it may meet goals by itself.
                let start = match self.board.some_run(random >> 8) {
                    Some(known) if random & 32 == 0 && known.len() < LONGEST_WALK => known.to_vec(),
                    _ => Vec::new(),
                };
                if random & 2 == 0
                    && let Some(walk) = self.board.stroll(
                        start,
                        2000,
                        random,
                        match random & 12 {
                            0 => Gait::Fair,
                            4 => Gait::Eager,
                            _ => Gait::Shy,
                        },
                        self.vars,
                        budget.within(1.0),
                    )
                {
                    self.board.discharge(walk, "random walk");
                }
                let Some(run) = self.board.some_run(random) else {
                    return;
                };
                let part: Vec<Vec<crate::value::Value>> = run
                    .iter()
                    .map(|state| self.vars.iter().map(|var| state[var.index()]).collect())
                    .collect();
                chase.restart(&part);
            }
            match chase.round(&left) {
                Found::Goal(index, trace) => self.reached(index, &trace, "look-ahead"),
                Found::Nothing => {}
                Found::OutOfTime => return,
            }
        }
    }

    /// The unrolling deeper and deeper, in turn with IC3, both with growing patience.
    fn solver<'s>(&'s self, budget: Budget<'s>) {
        let mut unrolling = Unrolling::new(self.board.model, self.circuit, budget, true);
        let mut ic3 = Ic3::new(self.board.model, self.circuit, budget);
        let mut chase = Chase::new(
            self.board.model,
            self.circuit,
            budget,
            self.board.options.seed,
        );
        let mut patience = 0.3_f64.min(self.board.options.time_per_goal);
        loop {
            let slice = budget.within(patience * 2.0);
            unrolling.set_budget(slice);
            self.unroll(&mut unrolling, usize::MAX, slice);
            // As long as looking ahead brings something, it goes on.
            loop {
                let before = self.left().len();
                let slice = budget.within(patience * 6.0);
                chase.set_budget(slice);
                self.chase(&mut chase, slice);
                let after = self.left().len();
                if after == 0 || after == before || budget.over() {
                    break;
                }
            }
            // With many goals left, each gets only a glance in the first round.
            let glance = (patience * 10.0 / self.left().len().max(1) as f64)
                .max(0.05)
                .min(patience);
            let patient = patience >= self.board.options.time_per_goal;
            for index in self.left() {
                if budget.over() {
                    return;
                }
                if !self.wanted(index) {
                    continue;
                }
                ic3.set_budget(budget.within(if patient { patience } else { glance }));
                match ic3.decide(self.circuit.goals[index]) {
                    Outcome::Reached(trace) => self.reached(index, &trace, "ic3"),
                    Outcome::Unreachable => self.board.infeasible(self.goals[index], "ic3"),
                    Outcome::Unknown { .. } => {}
                }
            }
            if self.left().is_empty()
                || budget.over()
                || patience >= self.board.options.time_per_goal
            {
                return;
            }
            patience = (patience * 3.0).min(self.board.options.time_per_goal);
        }
    }

    /// Deepens the unrolling until the budget ends; asks at every depth for all open goals at once.
    fn unroll<'s>(&'s self, unrolling: &mut Unrolling<'s>, most: usize, budget: Budget<'s>) {
        loop {
            let depth = unrolling.depth();
            loop {
                let left = self.left();
                if left.is_empty() || budget.over() {
                    return;
                }
                let any = unrolling.fresh();
                let mut clause = vec![!any];
                let mut lits = Vec::new();
                for index in left {
                    let frame = if self.circuit.goals[index].transition {
                        depth.checked_sub(1)
                    } else {
                        Some(depth)
                    };
                    if let Some(frame) = frame {
                        let lit = unrolling.goal(frame, index);
                        clause.push(lit);
                        lits.push((index, lit));
                    }
                }
                unrolling.clause(&clause);
                match unrolling.solve(&[any]) {
                    Answer::No => {
                        for (_, lit) in lits {
                            unrolling.clause(&[!lit]);
                        }
                        break;
                    }
                    Answer::Unknown => return,
                    Answer::Yes => {
                        let hit = lits
                            .iter()
                            .find(|(_, lit)| unrolling.value(*lit))
                            .map(|(index, _)| *index);
                        if let Some(index) = hit {
                            let trace = unrolling.trace(depth);
                            self.reached(index, &trace, "bmc");
                        }
                        unrolling.clause(&[!any]);
                    }
                }
            }
            self.bound.fetch_max(depth, Ordering::Relaxed);
            if depth >= most {
                return;
            }
            unrolling.extend();
        }
    }
}

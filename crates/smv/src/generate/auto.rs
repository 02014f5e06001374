//! The portfolio. Random walks first; then, for every cone, one decision diagram fixpoint and one incremental SAT
//! unrolling shared by all its goals, side by side; IC3 for what remains. Every run discharges all goals that it meets.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::board::Board;
use super::chase::{Chase, Found};
use super::single;
use super::tree::Miss;
use crate::circuit::encode::TooLarge;
use crate::complete::Gait;
use crate::decompose::{Tree, bits};
use crate::depend::{Dependencies, vars_of};
use crate::engine::Budget;
use crate::engine::apart;
use crate::engine::bdd::{Event, Halt};
use crate::engine::ic3::{Ic3, Outcome};
use crate::engine::induct::{self, Effort, Unseen};
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

/// Steps of the first unrolling.
const NEAR: usize = 8;

/// The first rounds: every engine in turn, in little time, then in more. Whichever is good at a model gets to it soon,
/// and the others have not cost much more until then.
const ROUNDS: [Round; 4] = [
    Round {
        seconds: 0.02,
        nodes: 60_000,
        solvers: true,
    },
    Round {
        seconds: 0.15,
        nodes: 1_500_000,
        solvers: true,
    },
    Round {
        seconds: 0.3,
        nodes: 0,
        solvers: true,
    },
    Round {
        seconds: 1.0,
        nodes: 1_500_000,
        solvers: false,
    },
];

struct Round {
    /// For one engine.
    seconds: f64,
    /// Of a decision diagram; none where it would only fail again. Making room for many takes longer than most models
    /// need in all.
    nodes: usize,
    /// Whether solvers are asked. They get a long time later, with what they have learned by then.
    solvers: bool,
}

impl Round {
    /// Walks again, others than before.
    fn leisure(&self, number: usize, group: usize) -> Leisure {
        Leisure {
            patience: self.seconds * 0.5,
            stamina: 9,
            most_seconds: self.seconds * 5.0,
            seed: ((1 + number + ROUNDS.len() * group) as u64) << 32,
        }
    }
}

/// Seconds for induction over one step, which is tried first, and for the thorough one before the long search.
const LITTLE_SECONDS: f64 = 0.1;
const MUCH_SECONDS: f64 = 1.0;

/// Seconds that a single goal needs at least for a proof to be worth its beginning.
const SHORTEST_GLANCE: f64 = 0.03;

/// A decision diagram gets so many times the seconds of the others: it answers all goals at once.
const DIAGRAM: f64 = 8.0;

/// The part of all the time that is left which one of these steps may take.
const LIGHT_SHARE: f64 = 0.15;

/// Seconds for a goal in parts before the engines get the whole, and how large the largest part may be for that to be
/// of use, as a share of the bits of the whole.
const PARTS_SECONDS: f64 = 0.5;
const PARTS_SHARE: f64 = 0.7;

/// Circuits with more bits seldom fit into a little more room.
const MIDDLE_BITS: usize = 100;

/// States; a walk that is longer is not prolonged.
const LONGEST_WALK: usize = 4000;

/// Goals with much the same cone.
struct Group {
    vars: Vec<VarId>,
    /// Of the smallest cone in it.
    bits: u32,
    goals: Vec<usize>,
}

pub(crate) fn run(board: &Board) {
    // First what costs little; most models need no more.
    walks(board, BRISK);
    for (number, group) in groups(board).iter().enumerate() {
        light(board, group, number);
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

/// How long to walk.
#[derive(Clone, Copy)]
struct Leisure {
    /// Seconds without any success.
    patience: f64,
    /// Walks without any success.
    stamina: usize,
    most_seconds: f64,
    /// Where the numbers begin from which walks are chosen, so that no walk is made twice.
    seed: u64,
}

const BRISK: Leisure = Leisure {
    patience: 0.01,
    stamina: 3,
    most_seconds: 1.0,
    seed: 0,
};

const THOROUGH: Leisure = Leisure {
    patience: 0.4,
    stamina: 9,
    most_seconds: 12.0,
    seed: 1 << 20,
};

fn walks(board: &Board, leisure: Leisure) {
    let bits: u32 = board.model.vars.iter().map(|var| var.domain.bits()).sum();
    // A small model is soon known.
    let small = bits <= SMALL_BITS;
    let share = board.options.time_per_goal * board.goals.len() as f64 * 0.05;
    let budget = board.budget().within(share.min(leisure.most_seconds));
    let start = budget.now();
    let mut fruitful = start;
    let mut circuit = None;
    let mut blind = true;
    let everything: Vec<VarId> = board.model.var_ids().collect();
    let mut poor = 0;
    for round in 0..400_u64 {
        // A walk that has found nothing for half as long as it once took to find something will hardly find more.
        let patience = leisure.patience + (fruitful - start) / 2.0;
        let tired = poor > leisure.stamina || (poor > 0 && budget.now() > fruitful + patience);
        if budget.over() || tired || board.open_goals().is_empty() {
            break;
        }
        let budget = budget.within(fruitful + patience - budget.now());
        let seed = board.options.seed.wrapping_add(leisure.seed + round * 7919);
        let gait = [Gait::Fair, Gait::Eager, Gait::Shy][(round % 3) as usize];
        let steps = match (small, gait) {
            (true, _) => 30,
            (false, Gait::Fair) => 80,
            (false, _) if round < 6 => 400,
            (false, _) => 3000,
        };
        let (mut run, mut known) = (None, 0);
        if blind {
            // Every second time further from where a walk was last of use.
            let start = match board.some_run(0) {
                Some(known) if !small && round % 6 > 2 && known.len() < LONGEST_WALK => {
                    known.to_vec()
                }
                _ => Vec::new(),
            };
            known = start.len();
            run = board.stroll(start, steps, seed, gait, &everything, budget);
            blind = run.is_some();
        }
        let found = match run {
            Some(run) => board.offer(run, known, "random walk"),
            None => {
                let compiled = circuit.get_or_insert_with(|| {
                    Circuit::compile(board.model, &System::whole(board.model), &[])
                });
                let Ok(compiled) = compiled else { return };
                let eager = gait == Gait::Eager;
                let steps = steps.min(300);
                board.offer(
                    simulate::walk(board.model, compiled, steps, seed, eager, budget),
                    0,
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
        pairs: &|| board.apart(&system.vars),
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

/// Induction, a short unrolling and a small decision diagram: most models need no more.
fn light(board: &Board, group: &Group, group_number: usize) {
    let Some((open, system, mut circuit)) = prepare(board, group) else {
        return;
    };
    // Lemmas that are found later are not missed here.
    let plain = circuit.clone();
    let mut unrolling = Unrolling::new(board.model, &plain, board.budget(), true);
    let (mut near, mut proved, mut full) = (false, false, false);
    for (number, round) in ROUNDS.iter().enumerate() {
        let task = Task::new(board, &open, &system.vars, &circuit);
        if number > 0 {
            walks(board, round.leisure(number, group_number));
        }
        if task.left().is_empty() {
            return;
        }
        if round.solvers && !near {
            near = task.near(&mut unrolling, slice(board, round.seconds));
            task.unblock();
        }
        if task.left().is_empty() {
            return;
        }
        if round.solvers && !proved {
            let budget = slice(board, round.seconds);
            proved = prove_together(board, &open, &system, &mut circuit, Effort::Much, budget);
        }
        let task = Task::new(board, &open, &system.vars, &circuit);
        if task.left().is_empty() {
            return;
        }
        // Large circuits seldom fit into a little more room.
        full |= number > 0 && circuit.bits.len() > MIDDLE_BITS;
        if round.nodes > 0 && !full {
            let order = match number {
                0 => order::force(&circuit, &order::declared(&circuit)),
                _ => order::force_best(&circuit, 12),
            };
            let budget = slice(board, round.seconds * DIAGRAM);
            let result = task.diagram(&order, round.nodes, budget);
            full |= number > 0 && result == Err(Halt::Memory);
            task.unblock();
        }
        let left = task.left().len();
        if left == 0 {
            return;
        }
        if round.solvers && number > 0 {
            let budget = slice(board, round.seconds);
            let mut ic3 = Ic3::new(board.model, &circuit, budget);
            let glance = round.seconds / left as f64;
            task.one_by_one(&mut ic3, glance.max(SHORTEST_GLANCE), budget);
            task.unblock();
        }
    }
    let left: Vec<usize> = open
        .into_iter()
        .filter(|goal| board.is_open(*goal))
        .collect();
    let seconds = PARTS_SECONDS.min(board.budget().left() * LIGHT_SHARE);
    smaller_parts(board, &left, seconds, PARTS_SHARE);
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
            let second =
                crate::stack::spawn_with_room(scope, || task.diagrams(budget, board.options.nodes));
            task.solver(budget);
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

/// The open goals of a group and their circuit, seen by several engines.
struct Task<'t, 'b> {
    board: &'t Board<'b>,
    goals: &'t [usize],
    vars: &'t [VarId],
    circuit: &'t Arc<Circuit>,
    /// Nothing is left to do.
    done: AtomicBool,
    /// Goals whose run in the cone the rest of the model cannot follow.
    blocked: std::sync::Mutex<Vec<usize>>,
    /// No run of so many steps reaches what is open.
    bound: AtomicUsize,
    /// The unrolling has grown as large as it may.
    full: AtomicBool,
}

impl<'t, 'b> Task<'t, 'b> {
    fn new(
        board: &'t Board<'b>,
        goals: &'t [usize],
        vars: &'t [VarId],
        circuit: &'t Arc<Circuit>,
    ) -> Self {
        Self {
            board,
            goals,
            vars,
            circuit,
            done: AtomicBool::new(false),
            blocked: std::sync::Mutex::new(Vec::new()),
            bound: AtomicUsize::new(0),
            full: AtomicBool::new(false),
        }
    }

    /// Asks the whole model about the goals whose runs it could not follow.
    fn unblock(&self) {
        let blocked = self
            .blocked
            .lock()
            .map(|list| list.clone())
            .unwrap_or_default();
        for goal in blocked {
            if self.board.is_open(goal) {
                let budget = self.board.budget().within(self.board.options.time_per_goal);
                single::whole(self.board, goal, budget);
            }
        }
    }

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

    /// Looks for goals a few steps from the start. False when the time did not suffice.
    fn near<'u>(&self, unrolling: &mut Unrolling<'u>, budget: Budget<'u>) -> bool {
        unrolling.set_budget(budget);
        self.unroll(unrolling, NEAR, budget);
        !budget.over()
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
            match self.diagram(order(), nodes.max(50_000), budget) {
                Ok(()) | Err(Halt::Time) => return,
                Err(_) => {}
            }
        }
    }

    /// One fixpoint; when it is complete, what is left is infeasible.
    fn diagram(&self, order: &order::Order, nodes: usize, budget: Budget) -> Result<(), Halt> {
        apart::run(
            self.circuit,
            order,
            nodes,
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
        )?;
        for index in self.left() {
            self.board.infeasible(self.goals[index], "bdd");
        }
        self.left();
        Ok(())
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
                let known = start.len();
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
                    self.board.offer(walk, known, "random walk");
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
            self.one_by_one(&mut ic3, if patient { patience } else { glance }, budget);
            if self.left().is_empty()
                || budget.over()
                || patience >= self.board.options.time_per_goal
            {
                return;
            }
            patience = (patience * 3.0).min(self.board.options.time_per_goal);
        }
    }

    /// IC3 for every goal that is left, each in so many seconds.
    fn one_by_one<'s>(&self, ic3: &mut Ic3<'s>, seconds: f64, budget: Budget<'s>) {
        for index in self.left() {
            if budget.over() {
                return;
            }
            if !self.wanted(index) {
                continue;
            }
            ic3.set_budget(budget.within(seconds));
            match ic3.decide(self.circuit.goals[index]) {
                Outcome::Reached(trace) => self.reached(index, &trace, "ic3"),
                Outcome::Unreachable => self.board.infeasible(self.goals[index], "ic3"),
                Outcome::Unknown { .. } => {}
            }
        }
    }

    /// Deepens the unrolling until the budget ends; asks at every depth for all open goals at once.
    fn unroll(&self, unrolling: &mut Unrolling, most: usize, budget: Budget) {
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
                    Answer::Unknown => {
                        self.full.fetch_or(unrolling.is_full(), Ordering::Relaxed);
                        return;
                    }
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

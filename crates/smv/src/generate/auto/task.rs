//! The open goals of one cone and their circuit, as the engines see them: decision diagrams, the unrolling, looking ahead
//! and IC3, each with the time that it is given.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::walks::LONGEST_WALK;
use crate::complete::WalkPolicy;
use crate::engine::Budget;
use crate::engine::bdd::{Event, Halt};
use crate::engine::detached;
use crate::engine::ic3::{Ic3, Outcome};
use crate::engine::order;
use crate::engine::sat::Answer;
use crate::engine::unroll::Unrolling;
use crate::expr::VarId;
use crate::generate::board::Board;
use crate::generate::chase::{Lookahead, LookaheadSearch};
use crate::generate::single;
use crate::system::Circuit;

/// A circuit of so few bits starts with so few nodes: making room for more takes longer than the work itself.
const FEW_BITS: usize = 24;
const FEW_NODES: usize = 60_000;

/// How often it is looked whether looking ahead is still of use.
const CHASE_SECONDS: f64 = 1.0;

/// Steps of the first unrolling.
const NEAR: usize = 8;

/// The open goals of a group and their circuit, seen by several engines.
pub(super) struct Task<'t, 'b> {
    board: &'t Board<'b>,
    goals: &'t [usize],
    vars: &'t [VarId],
    circuit: &'t Arc<Circuit>,
    /// Nothing is left to do.
    pub done: AtomicBool,
    /// Unrolling and IC3 are at work.
    pub solving: AtomicBool,
    /// Goals whose run in the cone the rest of the model cannot follow.
    blocked: std::sync::Mutex<Vec<usize>>,
    /// No run of so many steps reaches what is open.
    pub bound: AtomicUsize,
    /// The unrolling has grown as large as it may.
    pub full: AtomicBool,
}

impl<'t, 'b> Task<'t, 'b> {
    pub fn new(
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
            solving: AtomicBool::new(true),
            blocked: std::sync::Mutex::new(Vec::new()),
            bound: AtomicUsize::new(0),
            full: AtomicBool::new(false),
        }
    }

    /// Asks the whole model about the goals whose runs it could not follow.
    pub fn unblock(&self) {
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

    pub fn left(&self) -> Vec<usize> {
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
    pub fn near<'u>(&self, unrolling: &mut Unrolling<'u>, budget: Budget<'u>) -> bool {
        unrolling.set_budget(budget);
        self.unroll(unrolling, NEAR, budget);
        !budget.over()
    }

    /// Decision diagrams with several orders, first in little memory.
    pub fn diagrams(&self, budget: Budget, nodes: usize) {
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
    pub fn diagram(&self, order: &order::Order, nodes: usize, budget: Budget) -> Result<(), Halt> {
        detached::run(
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

    /// Looks ahead from known runs as long as the slice lasts. The random number goes on from slice to slice: nothing is
    /// walked twice.
    fn chase<'s>(&'s self, chase: &mut LookaheadSearch<'s>, random: &mut u64, budget: Budget<'s>) {
        while !budget.over() {
            let left = self.left();
            if left.is_empty() {
                return;
            }
            if chase.needs_start() {
                *random = crate::goal::next_random(*random);
                let random = *random;
                // A new walk as often as a known one; it may meet goals by itself.
                let start = match self.board.some_run(random >> 8) {
                    Some(known) if random & 32 == 0 && known.len() < LONGEST_WALK => known.to_vec(),
                    _ => Vec::new(),
                };
                let known = start.len();
                if random & 2 == 0
                    && let Some(walk) = self.board.random_walk(
                        start,
                        2000,
                        random,
                        match random & 12 {
                            0 => WalkPolicy::Uniform,
                            4 => WalkPolicy::PreferChange,
                            _ => WalkPolicy::PreferStay,
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
                Lookahead::Goal(index, trace) => self.reached(index, &trace, "look-ahead"),
                Lookahead::Nothing => {}
                Lookahead::OutOfTime => return,
            }
        }
    }

    /// Looks ahead for as long as the solver is at work: where diagrams have become too large, a core is free.
    pub fn keep_chasing<'s>(&'s self, budget: Budget<'s>) {
        let mut random = !self.board.options.seed;
        let mut chase = LookaheadSearch::new(self.board.model, self.circuit, budget, random);
        while self.solving.load(Ordering::Relaxed) && !budget.over() && !self.left().is_empty() {
            let slice = budget.within(CHASE_SECONDS);
            chase.set_budget(slice);
            self.chase(&mut chase, &mut random, slice);
        }
    }

    /// The unrolling deeper and deeper, in turn with IC3, both with growing patience.
    pub fn solver<'s>(&'s self, budget: Budget<'s>) {
        let mut unrolling = Unrolling::new(self.board.model, self.circuit, budget, true);
        let mut ic3 = Ic3::new(self.board.model, self.circuit, budget);
        let mut chase = LookaheadSearch::new(
            self.board.model,
            self.circuit,
            budget,
            self.board.options.seed,
        );
        let mut random = self.board.options.seed;
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
                self.chase(&mut chase, &mut random, slice);
                let after = self.left().len();
                if after == 0 || after == before || budget.over() {
                    break;
                }
            }
            // With many goals left, each gets only a share of the time in the first round.
            let share = (patience * 10.0 / self.left().len().max(1) as f64)
                .max(0.05)
                .min(patience);
            let patient = patience >= self.board.options.time_per_goal;
            self.one_by_one(&mut ic3, if patient { patience } else { share }, budget);
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
    pub fn one_by_one<'s>(&self, ic3: &mut Ic3<'s>, seconds: f64, budget: Budget<'s>) {
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

//! Complete suites: every feasible path of N observable steps (Gentraces of van der Heijden 2019, chapter 3).
//!
//! Paths grow from the start location, depth first, and an infeasible prefix is never extended.
//! Every path carries a *witness*: values of all its parameters that make it walkable. Most moves
//! are decided without a search: a guard that holds for some values of its own parameters, under
//! the witness so far, only adds to the witness, and one that reads nothing but known variables is
//! decided by that alone. Only where earlier choices may be in the way is the condition of the
//! whole path given to the solver, incrementally, and a new witness asked for.

mod share;
mod tally;

use std::rc::Rc;

use ioco_budget::{Exhausted, Interrupt, Resource};
use ioco_solve::{Outcome, Solver};
use ioco_sts::{Action, Expr, Sts, Value};
use rand::{Rng, RngExt as _};

use crate::feasible::{Effort, Feasible, MAX_SIZE, Memory, Point, assert_extension, find_witness};
use crate::moves::{Move, MoveTable};
use crate::symbolic::{Extension, Symbolic};
pub use share::Share;
use share::{Prefix, RemainingShare};
pub use tally::Tally;

/// What to enumerate.
#[derive(Clone, Debug)]
pub struct Extent {
    /// Observable steps of a path; internal ones are not counted.
    pub length: u32,
    /// How often a path may visit a location, where that is limited.
    pub loops: Option<u32>,
    /// Internal steps in a row after which the walk is given up: the model runs away.
    pub silent: u32,
    /// Solver steps for one question.
    pub budget: u64,
    /// Ends every question, and the walk.
    pub interrupt: Interrupt,
}

impl Extent {
    pub(crate) fn effort(&self) -> Effort {
        Effort::new(self.budget, &self.interrupt)
    }

    pub fn of_length(length: u32) -> Extent {
        Extent {
            length,
            loops: None,
            silent: 256,
            budget: 50_000,
            interrupt: Interrupt::default(),
        }
    }
}

/// One step of a found path.
#[derive(Clone, Debug, PartialEq)]
pub struct PathStep<'a> {
    pub step: &'a Move,
    /// The label with the witness's values; `None` for an internal step.
    pub action: Option<Action>,
}

/// A complete path. Its values are put together only when asked for.
pub struct Path<'a> {
    taken: &'a [Taken],
    /// Values of the first unknowns.
    witness: &'a [Value],
    /// Values of those of the last move, where they are not among the first.
    own: &'a [Value],
}

impl<'a> Path<'a> {
    pub fn moves(&self) -> impl Iterator<Item = &'a Move> {
        self.taken.iter().map(|taken| &*taken.step)
    }

    /// Whether any step of it has a value that was chosen.
    pub fn has_values(&self) -> bool {
        !self.witness.is_empty() || !self.own.is_empty()
    }

    pub fn steps(&self) -> impl Iterator<Item = PathStep<'a>> {
        self.taken.iter().map(|taken| PathStep {
            step: &taken.step,
            action: taken.action(self.witness, self.own),
        })
    }
}

/// Where the walk goes with what it finds. Answering `false` stops it.
pub trait Sink {
    fn found(&mut self, path: &Path<'_>) -> bool;
}

impl<F: FnMut(&Path<'_>) -> bool> Sink for F {
    fn found(&mut self, path: &Path<'_>) -> bool {
        self(path)
    }
}

/// A point on a path: symbolic and concrete side by side.
pub(crate) struct Node {
    pub symbolic: Symbolic,
    /// Values of the unknowns that make the path walkable.
    pub witness: Vec<Value>,
    /// The variables under the witness.
    valuation: Vec<Value>,
    pub observed: u32,
    /// Internal steps since the last observable one.
    silent: u32,
    /// A variable is written with more than can be worked with.
    too_large: bool,
}

/// A move of the path walked at the moment, and the number of its first unknown.
pub(crate) struct Taken {
    pub step: Rc<Move>,
    pub base: u32,
}

impl Taken {
    fn action(&self, witness: &[Value], own: &[Value]) -> Option<Action> {
        match witness.get(self.base as usize..) {
            Some(values) if values.len() >= self.step.types.len() => self.step.action(values),
            _ => self.step.action(own),
        }
    }
}

/// A point of the path that is walked, and the move to try next. Paths may be long, so these are on
/// the heap.
struct Level<'s> {
    node: Node,
    share: RemainingShare<'s>,
    moves: Rc<[Rc<Move>]>,
    next: usize,
    goes_on: bool,
}

/// A walk through all paths of a model.
pub struct Walk<'a, S, R> {
    pub(crate) sts: &'a Sts,
    pub(crate) extent: Extent,
    solver: S,
    pub(crate) rng: R,
    pub(crate) moves: MoveTable,
    memory: Memory,
    pub(crate) path: Vec<Taken>,
    /// The condition of each step of the path, for the solver.
    conditions: Vec<Extension>,
    /// How many of the conditions the solver has.
    asserted: usize,
    visits: Vec<u32>,
    pub(crate) tally: Tally,
    interrupt: Option<&'a dyn Fn() -> bool>,
    /// Moves looked at since the last look at the interrupt.
    since: u32,
}

/// Moves between two looks at the interrupt.
const MOVES_PER_LOOK: u32 = 1024;

impl<'a, S: Solver, R: Rng> Walk<'a, S, R> {
    pub fn new(sts: &'a Sts, extent: Extent, solver: S, rng: R) -> Walk<'a, S, R> {
        let mut visits = vec![0; sts.locations().len()];
        for process in sts.processes() {
            visits[process.initial.index()] += 1;
        }
        Walk {
            sts,
            extent,
            solver,
            rng,
            moves: MoveTable::default(),
            memory: Memory::default(),
            path: Vec::new(),
            conditions: Vec::new(),
            asserted: 0,
            visits,
            tally: Tally::default(),
            interrupt: None,
            since: 0,
        }
    }

    /// Stops when `interrupt` says so, also where no path is found for a long time.
    pub fn set_interrupt(&mut self, interrupt: &'a dyn Fn() -> bool) {
        self.interrupt = Some(interrupt);
    }

    /// Whether the walk is to stop; looks every so often.
    pub(crate) fn interrupted(&mut self) -> bool {
        self.since += 1;
        if self.since >= MOVES_PER_LOOK {
            self.since = 0;
            self.tally.stopped |= self.extent.interrupt.is_raised()
                || self.interrupt.is_some_and(|interrupt| interrupt());
        }
        self.tally.stopped
    }

    /// Takes chance from elsewhere from now on: every share has its own, so that it does not
    /// matter which walk takes it, and when.
    pub fn draw_from(&mut self, rng: R) {
        self.rng = rng;
        self.memory.forget();
    }

    /// Gives every parameter its smallest and its largest value first, where the guard shows them
    /// and nothing else is in the way, and others afterwards.
    pub fn prefer_extremes(&mut self) {
        self.memory.extremes = true;
    }

    /// Walks every path of `share`.
    pub fn run(&mut self, share: &Share, sink: &mut dyn Sink) -> Tally {
        let start = self.start();
        let rest = share.rest();
        self.walk(start, rest, sink);
        std::mem::take(&mut self.tally)
    }

    /// Cuts the work into about `count` shares, if paths part early enough: within `depth` moves.
    /// Their tallies and the one returned here make up the whole.
    pub fn shares(&mut self, count: usize, depth: usize) -> (Vec<Share>, Tally) {
        let count = count.max(1);
        let mut at = 0;
        loop {
            let mut beginnings = Vec::new();
            let start = self.start();
            self.cut(&start, at, &mut Vec::new(), &mut beginnings);
            let tally = std::mem::take(&mut self.tally);
            let ways: usize = beginnings.iter().map(|b| b.ways.max(1)).sum();
            let ended = beginnings.iter().all(|begin| begin.ways == 0);
            if ways >= count || ended || at + 1 >= depth {
                let size = ways.div_ceil(count) as u32;
                let shares = beginnings.into_iter().flat_map(|b| b.shares(size));
                return (shares.collect(), tally);
            }
            at += 1;
        }
    }

    /// A guess at the number of paths: one random path, and how many ways on it had at each step
    /// (Knuth's estimate). The mean of many guesses comes near.
    pub fn guess(&mut self) -> f64 {
        let mut node = self.start();
        let mut guess = 1.0;
        while node.observed < self.extent.length && node.silent < self.extent.silent {
            let mut ways = Vec::new();
            for step in self.moves_from(&node).iter() {
                if self.visited_too_often(step) {
                    continue;
                }
                let feasible = self.feasible(&node, step);
                if let Some(witness) = feasible.witness(&node.witness) {
                    ways.push((Rc::clone(step), witness));
                }
            }
            if ways.is_empty() {
                break;
            }
            guess *= ways.len() as f64;
            let chosen = self.rng.random_range(0..ways.len());
            let (step, witness) = ways.swap_remove(chosen);
            node = self.enter(&node, &step, witness);
        }
        while !self.path.is_empty() {
            self.leave();
        }
        self.tally = Tally::default();
        guess
    }

    pub(crate) fn start(&self) -> Node {
        Node {
            symbolic: Symbolic::initial(self.sts),
            witness: Vec::new(),
            valuation: self.sts.initial_state().valuation.into(),
            observed: 0,
            silent: 0,
            too_large: false,
        }
    }

    pub(crate) fn moves_from(&mut self, node: &Node) -> Rc<[Rc<Move>]> {
        self.moves.from(self.sts, &node.symbolic.locations)
    }

    /// Walks on from `start`, along `share` while it lasts.
    fn walk(&mut self, start: Node, share: RemainingShare<'_>, sink: &mut dyn Sink) {
        self.walk_levels(start, share, sink);
        while !self.path.is_empty() {
            self.leave();
        }
    }

    /// Ends when everything is walked, or the walk is over.
    fn walk_levels(&mut self, start: Node, share: RemainingShare<'_>, sink: &mut dyn Sink) {
        if start.observed >= self.extent.length {
            self.complete(&start.witness, &[], sink);
            return;
        }
        let mut levels = vec![self.level(start, share)];
        while let Some(level) = levels.last_mut() {
            let number = level.next;
            let Some(step) = level.moves.get(number).map(Rc::clone) else {
                let more = level.goes_on || self.complete(&level.node.witness, &[], sink);
                levels.pop();
                if !more {
                    return;
                }
                if !levels.is_empty() {
                    self.leave();
                }
                continue;
            };
            level.next += 1;
            if level.share.leaves_out(number as u32) {
                continue;
            }
            let node = &level.node;
            let Some(feasible) = self.admissible(node, &step, &mut level.goes_on) else {
                if self.tally.runaway.is_some() || self.interrupted() {
                    return;
                }
                continue;
            };
            if step.observable && node.observed + 1 >= self.extent.length {
                // Nothing comes after it: no need to know the state it leads to.
                self.push(node, &step);
                let more = match &feasible {
                    Feasible::More(own) => self.complete(&node.witness, own, sink),
                    Feasible::Anew(witness) => self.complete(witness, &[], sink),
                    Feasible::No | Feasible::Undecided => true,
                };
                self.path.pop();
                if !more {
                    return;
                }
                continue;
            }
            let witness = feasible.witness(&node.witness).unwrap_or_default();
            let next = self.enter(node, &step, witness);
            if self.goes_round(&next) {
                self.leave();
            } else {
                let share = level.share.after();
                levels.push(self.level(next, share));
            }
        }
    }

    fn level<'s>(&mut self, node: Node, share: RemainingShare<'s>) -> Level<'s> {
        Level {
            moves: self.moves_from(&node),
            next: 0,
            // Where another walk takes the other moves, the path is not at its end here.
            goes_on: !share.is_all(),
            share,
            node,
        }
    }

    /// As [`Walk::walk`], but collects beginnings of `depth` moves instead of whole paths.
    fn cut(
        &mut self,
        node: &Node,
        depth: usize,
        begun: &mut Vec<u32>,
        beginnings: &mut Vec<Prefix>,
    ) {
        let moves = self.moves_from(node);
        let ended = node.observed >= self.extent.length;
        let mut goes_on = false;
        if depth == 0 && !ended {
            // Whether the path goes on at all must be known; the rest is for the shares to find.
            let before = self.tally;
            for step in moves.iter() {
                self.admissible(node, step, &mut goes_on);
                if goes_on {
                    break;
                }
            }
            self.tally = Tally {
                runaway: self.tally.runaway,
                ..before
            };
        } else if !ended {
            for (number, step) in moves.iter().enumerate() {
                let Some(feasible) = self.admissible(node, step, &mut goes_on) else {
                    continue;
                };
                let witness = feasible.witness(&node.witness).unwrap_or_default();
                let next = self.enter(node, step, witness);
                if !self.goes_round(&next) {
                    begun.push(number as u32);
                    self.cut(&next, depth - 1, begun, beginnings);
                    begun.pop();
                }
                self.leave();
            }
        }
        if depth == 0 || !goes_on {
            beginnings.push(Prefix {
                moves: begun.clone(),
                ways: if goes_on { moves.len() } else { 0 },
            });
        }
    }

    /// The values with which the walk may take a move. Says whether the path can go on with it,
    /// as far as is known.
    pub(crate) fn admissible(
        &mut self,
        node: &Node,
        step: &Rc<Move>,
        goes_on: &mut bool,
    ) -> Option<Feasible> {
        if self.visited_too_often(step) {
            return None;
        }
        if node.too_large {
            *goes_on = true;
            self.tally.undecided += 1;
            let limit = self.sts.budget().depth;
            self.tally.exhausted = Some(Exhausted {
                resource: Resource::Depth,
                limit,
            });
            return None;
        }
        match self.feasible(node, step) {
            Feasible::No => {
                self.tally.infeasible += 1;
                None
            }
            Feasible::Undecided => {
                self.tally.undecided += 1;
                *goes_on = true;
                None
            }
            yes => {
                *goes_on = true;
                if !step.observable && node.silent >= self.extent.silent {
                    self.tally.runaway = step.switches.first().copied();
                    return None;
                }
                Some(yes)
            }
        }
    }

    fn complete(&mut self, witness: &[Value], own: &[Value], sink: &mut dyn Sink) -> bool {
        self.tally.paths += 1;
        let path = Path {
            taken: &self.path,
            witness,
            own,
        };
        let more = sink.found(&path);
        self.tally.stopped |= !more;
        more
    }

    fn push(&mut self, node: &Node, step: &Rc<Move>) {
        self.path.push(Taken {
            step: Rc::clone(step),
            base: node.symbolic.unknowns,
        });
    }

    /// Takes a move; [`Walk::leave`] takes it back.
    pub(crate) fn enter(&mut self, node: &Node, step: &Rc<Move>, witness: Vec<Value>) -> Node {
        let extension = node.symbolic.extend(self.sts, step);
        let symbolic = extension.state.clone();
        let valuation = symbolic.evaluate(self.sts, &witness);
        let mut too_large = false;
        for id in &step.switches {
            let switch = self.sts.switch(*id);
            self.visits[switch.target.index()] += 1;
            too_large |= switch.update.iter().any(|assignment| {
                let value = &symbolic.valuation[assignment.variable.index()];
                is_too_large(value, self.sts.budget().depth, &mut 0)
            });
        }
        self.push(node, step);
        self.conditions.push(extension);
        Node {
            symbolic,
            witness,
            valuation,
            observed: node.observed + u32::from(step.observable),
            silent: if step.observable { 0 } else { node.silent + 1 },
            too_large,
        }
    }

    pub(crate) fn leave(&mut self) {
        self.conditions.pop();
        if let Some(taken) = self.path.pop() {
            for id in &taken.step.switches {
                self.visits[self.sts.switch(*id).target.index()] -= 1;
            }
        }
        if self.asserted > self.conditions.len() {
            self.solver.pop();
            self.asserted -= 1;
        }
    }

    /// Whether internal steps have come back to a state that they came from.
    pub(crate) fn goes_round(&mut self, node: &Node) -> bool {
        if node.silent == 0 {
            return false;
        }
        let here = self.conditions.len() - 1;
        let first = here + 1 - node.silent as usize;
        let round = match first.checked_sub(1) {
            Some(before) => self.conditions[before].state == node.symbolic,
            None => Symbolic::initial(self.sts) == node.symbolic,
        };
        let round = round
            || self.conditions[first..here]
                .iter()
                .any(|earlier| earlier.state == node.symbolic);
        self.tally.circular += u64::from(round);
        round
    }

    fn visited_too_often(&self, step: &Move) -> bool {
        self.extent.loops.is_some_and(|limit| {
            step.switches
                .iter()
                .any(|id| self.visits[self.sts.switch(*id).target.index()] >= limit)
        })
    }

    pub(crate) fn feasible(&mut self, node: &Node, step: &Rc<Move>) -> Feasible {
        let point = Point {
            symbolic: &node.symbolic,
            valuation: &node.valuation,
        };
        let effort = self.extent.effort();
        let memory = &mut self.memory;
        if let Some(answer) = point.decide(self.sts, step, memory, &mut self.rng, &effort) {
            return answer;
        }
        let extension = node.symbolic.extend(self.sts, step);
        if extension.condition == Expr::FALSE {
            return Feasible::No;
        }
        self.ask(step, &extension)
    }

    /// The smallest or largest value of a parameter of `step` at the end of the path.
    pub(crate) fn extreme(
        &mut self,
        node: &Node,
        step: &Move,
        position: u32,
        largest: bool,
    ) -> Outcome<Value> {
        let Some(Some(number)) = step.unknowns.get(position as usize) else {
            return Outcome::Unsat;
        };
        let extension = node.symbolic.extend(self.sts, step);
        self.assert_path();
        self.solver.push();
        assert_extension(&mut self.solver, &extension);
        let unknown = node.symbolic.unknowns + number;
        let solver = &mut self.solver;
        let found = self.extent.effort().ask(|deadline| match largest {
            true => solver.maximum(unknown, deadline),
            false => solver.minimum(unknown, deadline),
        });
        self.solver.pop();
        found
    }

    /// Asserts the part of the path that the solver does not have yet.
    fn assert_path(&mut self) {
        self.tally.solver_calls += 1;
        while self.asserted < self.conditions.len() {
            self.solver.push();
            assert_extension(&mut self.solver, &self.conditions[self.asserted]);
            self.asserted += 1;
        }
    }

    /// Asks for a new witness of the whole path with `step` at its end: with every value set where
    /// that can be, otherwise with some unset.
    fn ask(&mut self, step: &Move, extension: &Extension) -> Feasible {
        self.assert_path();
        self.solver.push();
        assert_extension(&mut self.solver, extension);
        let steps = self.path.iter().map(|taken| &*taken.step);
        let steps = steps.chain(std::iter::once(step));
        let answer = find_witness(
            &mut self.solver,
            steps,
            &mut self.rng,
            &self.extent.effort(),
        );
        self.solver.pop();
        answer
    }
}

/// Whether an expression is nested deeper than `depth`, or written with too much.
fn is_too_large(expr: &Expr, depth: u64, size: &mut usize) -> bool {
    *size += 1;
    *size > MAX_SIZE
        || depth == 0
        || expr
            .children()
            .iter()
            .any(|child| is_too_large(child, depth - 1, size))
}

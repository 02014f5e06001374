//! The search for ways that match a pattern: over symbolic states and progress together, shortest
//! ways first (A* with the distances of [`super::distances`]), within bounds.
//!
//! When it runs out of ways before it runs into a bound other than the number of steps, what was
//! not found does not exist within that number.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::rc::Rc;

use ioco_budget::Interrupt;
use ioco_solve::{Embedded, Outcome, Solver as _};
use ioco_sts::{Action, BinaryOp, Env, Expr, LocationId, State, Sts, SwitchId, Value, VarId};
use rand::Rng;
use rustc_hash::FxHashMap;

use super::distances::Distances;
use super::pattern::{Pattern, Progress};
use crate::feasible::{Effort, Feasible, MAX_SIZE, find_witness, own_values, tell};
use crate::moves::{Move, MoveTable, target};
use crate::symbolic::{Extension, Symbolic};
use crate::traces::PathStep;

/// Internal steps in a row that are followed at most.
pub(super) const MAX_SILENT: u32 = 256;

/// How far a search goes.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Observable steps of a way.
    pub steps: u32,
    /// Ways that are begun.
    pub paths: usize,
    /// Solver steps for one question.
    pub budget: u64,
    /// Ends every question to the solver, and the search.
    pub interrupt: Interrupt,
}

impl Limits {
    pub(crate) fn effort(&self) -> Effort {
        Effort::new(self.budget, &self.interrupt)
    }
}

/// Where a way may begin.
#[derive(Clone, Debug, PartialEq)]
pub struct Start {
    pub state: State,
    pub progress: Progress,
}

/// A way that matches, with values.
#[derive(Clone, Debug, PartialEq)]
pub struct MatchingPath {
    /// Which of the starts it begins at.
    pub start: usize,
    pub steps: Vec<(Rc<Move>, Option<Action>)>,
    /// The same with the conditions between the steps, and the values of all unknowns: what it
    /// takes to ask for other values.
    pub(crate) moves: Vec<Rc<Move>>,
    pub(crate) witness: Vec<Value>,
}

impl MatchingPath {
    /// The moves with these values of all their unknowns.
    pub(super) fn new(start: usize, moves: Vec<Rc<Move>>, witness: Vec<Value>) -> MatchingPath {
        let mut steps = Vec::new();
        let mut base = 0;
        for step in &moves {
            let unknowns = &witness[base..base + step.types.len()];
            base += step.types.len();
            if !step.switches.is_empty() {
                steps.push((Rc::clone(step), step.action(unknowns)));
            }
        }
        MatchingPath {
            start,
            steps,
            moves,
            witness,
        }
    }

    pub fn actions(&self) -> Vec<Action> {
        let actions = self.steps.iter().filter_map(|(_, action)| action.clone());
        actions.collect()
    }

    pub fn path(&self) -> impl Iterator<Item = PathStep<'_>> + Clone {
        self.steps.iter().map(|(step, action)| PathStep {
            step,
            action: action.clone(),
        })
    }

    /// The switches in order, internal ones included.
    pub fn switches(&self) -> Vec<SwitchId> {
        let taken = self.steps.iter().flat_map(|(step, _)| step.switches.iter());
        taken.copied().collect()
    }
}

/// How a search ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Searched {
    /// Ways that were begun.
    pub paths: usize,
    /// Moves that the solver could not decide.
    pub undecided: usize,
    /// Internal steps that went on for too long.
    pub runaway: bool,
    /// Every way within the number of steps was walked.
    pub exhausted: bool,
    pub solver_calls: u64,
}

struct Node {
    parent: Option<usize>,
    start: usize,
    /// `None` where the pattern went on without a step.
    step: Option<Rc<Move>>,
    extension: Extension,
    witness: Vec<Value>,
    valuation: Vec<Value>,
    progress: Progress,
    observed: u32,
    silent: u32,
}

/// Looks for ways through one model.
pub struct Search<'a> {
    pub(super) sts: &'a Sts,
    pub(super) pattern: &'a Pattern,
    pub(super) limits: Limits,
    pub(super) moves: MoveTable,
    narrowed: FxHashMap<(*const Move, Progress, Expr), Rc<Move>>,
    nodes: Vec<Node>,
    pub(super) result: Searched,
}

impl<'a> Search<'a> {
    pub fn new(sts: &'a Sts, pattern: &'a Pattern, limits: Limits) -> Search<'a> {
        Search {
            sts,
            pattern,
            limits,
            moves: MoveTable::default(),
            narrowed: FxHashMap::default(),
            nodes: Vec::new(),
            result: Searched::default(),
        }
    }

    /// The first way that is found: the shortest.
    pub fn shortest(
        mut self,
        starts: &[Start],
        rng: &mut dyn Rng,
    ) -> (Option<MatchingPath>, Searched) {
        let mut found = None;
        let mut keep = |way| {
            found = Some(way);
            false
        };
        let searched = self.run(starts, 1, rng, &mut keep, &mut || false);
        (found, searched)
    }

    /// Walks until `found` wants no more, `stop` says so, or somebody interrupts. A state that was met `variety` times
    /// is not gone on from again: so many different ways are found where there are as many.
    pub fn run(
        &mut self,
        starts: &[Start],
        variety: usize,
        rng: &mut dyn Rng,
        found: &mut dyn FnMut(MatchingPath) -> bool,
        stop: &mut dyn FnMut() -> bool,
    ) -> Searched {
        let begin = starts
            .iter()
            .map(|s| (s.state.locations.clone(), s.progress));
        let reach = Distances::new(self.sts, self.pattern, begin, &mut self.moves);
        let mut queue = BinaryHeap::new();
        for (number, start) in starts.iter().enumerate() {
            self.nodes.push(Node {
                parent: None,
                start: number,
                step: None,
                extension: Extension {
                    state: Symbolic::known(&start.state),
                    condition: Expr::TRUE,
                    types: Vec::new(),
                },
                witness: Vec::new(),
                valuation: start.state.valuation.to_vec(),
                progress: start.progress,
                observed: 0,
                silent: 0,
            });
            if let Some(far) = reach.distance(&start.state.locations, start.progress) {
                queue.push(Reverse((far, 0, self.nodes.len() - 1)));
            }
        }
        let mut seen: FxHashMap<(Vec<LocationId>, Vec<Value>, Progress), usize> =
            FxHashMap::default();
        let mut told: BTreeSet<(usize, Vec<SwitchId>)> = BTreeSet::new();
        let mut cut = false;
        while let Some(Reverse((_, _, index))) = queue.pop() {
            if stop() || self.limits.interrupt.is_raised() {
                cut = true;
                break;
            }
            let node = &self.nodes[index];
            if self.pattern.is_complete(node.progress) {
                let way = self.way(index);
                // A pattern may match the same way in several ways.
                if told.insert((way.start, way.switches())) && !found(way) {
                    cut = true;
                    break;
                }
                continue;
            }
            if self.is_known(index) {
                let state = &node.extension.state;
                let key = (
                    state.locations.clone(),
                    node.valuation.clone(),
                    node.progress,
                );
                let met = seen.entry(key).or_default();
                *met += 1;
                if *met > variety {
                    continue;
                }
            }
            for (step, progress) in self.continuations(index) {
                if self.nodes.len() >= self.limits.paths {
                    cut = true;
                    break;
                }
                let node = &self.nodes[index];
                let observed = node.observed + u32::from(step.observable);
                let silent = match (step.observable, step.switches.is_empty()) {
                    (true, _) => 0,
                    (false, true) => node.silent,
                    (false, false) => node.silent + 1,
                };
                let locations = target(self.sts, &node.extension.state.locations, &step);
                let Some(far) = reach.distance(&locations, progress) else {
                    continue;
                };
                if observed + far > self.limits.steps {
                    continue;
                }
                if silent > MAX_SILENT {
                    self.result.runaway = true;
                    continue;
                }
                let feasible = self.feasible(index, &step, rng);
                let undecided = matches!(feasible, Feasible::Undecided);
                self.result.undecided += usize::from(undecided);
                let Some(witness) = feasible.witness(&self.nodes[index].witness) else {
                    continue;
                };
                self.enter(index, step, progress, witness, observed, silent);
                let last = self.nodes.len() - 1;
                // Among equals the one that is farther: it ends sooner.
                queue.push(Reverse((observed + far, u32::MAX - observed, last)));
            }
        }
        self.result.paths = self.nodes.len();
        self.result.exhausted = !cut && self.result.undecided == 0 && !self.result.runaway;
        self.result
    }

    /// The ways on: moves narrowed to what the pattern asks for, and steps of the pattern alone.
    fn continuations(&mut self, index: usize) -> Vec<(Rc<Move>, Progress)> {
        let node = &self.nodes[index];
        let (locations, at) = (node.extension.state.locations.clone(), node.progress);
        self.options(&locations, at)
    }

    pub(super) fn options(
        &mut self,
        locations: &[LocationId],
        at: Progress,
    ) -> Vec<(Rc<Move>, Progress)> {
        let mut found = Vec::new();
        if let Some((progress, condition)) = self.pattern.idle(at, locations) {
            found.push((Rc::new(condition_alone(condition)), progress));
        }
        for step in self.moves.from(self.sts, locations).iter() {
            for (progress, condition) in self.pattern.after(at, step) {
                if condition == Expr::TRUE {
                    found.push((Rc::clone(step), progress));
                    continue;
                }
                // The table keeps its moves, so that an address stands for one.
                let key = (Rc::as_ptr(step), progress, condition);
                let sts = self.sts;
                let narrowed = self
                    .narrowed
                    .entry(key)
                    .or_insert_with_key(|(_, _, condition)| {
                        Rc::new(Move::on_condition(sts, step, condition))
                    });
                found.push((Rc::clone(narrowed), progress));
            }
        }
        found
    }

    /// Whether all variables are known, whatever the unknowns of the way are.
    fn is_known(&self, index: usize) -> bool {
        let state = &self.nodes[index].extension.state;
        (0..self.sts.variables().len()).all(|v| state.knows(VarId::from_index(v)))
    }

    fn feasible(&mut self, index: usize, step: &Move, rng: &mut dyn Rng) -> Feasible {
        let (sts, effort) = (self.sts, self.limits.effort());
        let node = &self.nodes[index];
        // Where every variable that is read is known, nothing chosen before can be blamed.
        let is_final = step.reads.iter().all(|v| node.extension.state.knows(*v));
        match own_values(sts, step, &node.valuation, rng, &effort) {
            // A hand-shake sends a value wherever one is possible: not for us to leave out.
            Outcome::Sat(own) if !step.observable && own.contains(&Value::Void) => {
                return Feasible::Undecided;
            }
            Outcome::Sat(own) => return Feasible::More(own),
            Outcome::Unsat if is_final => return Feasible::No,
            Outcome::Unknown(_) if is_final => return Feasible::Undecided,
            Outcome::Unsat | Outcome::Unknown(_) => {}
        }
        let extension = node.extension.state.extend(sts, step);
        if extension.condition == Expr::FALSE {
            return Feasible::No;
        }
        let chain = self.chain(index);
        let earlier = chain.iter().map(|n| self.nodes[*n].extension.size());
        let size = extension.size() + earlier.sum::<usize>();
        if size > MAX_SIZE || extension.is_larger(MAX_SIZE) {
            return Feasible::Undecided;
        }
        let effort = effort.fair(size);
        self.result.solver_calls += 1;
        let mut solver = Embedded::new(sts.types(), sts.functions());
        for earlier in &chain {
            tell(&mut solver, &self.nodes[*earlier].extension);
        }
        tell(&mut solver, &extension);
        let steps = chain.iter().filter_map(|n| self.nodes[*n].step.as_deref());
        find_witness(
            &mut solver,
            steps.chain(std::iter::once(step)),
            rng,
            &effort,
        )
    }

    fn enter(
        &mut self,
        parent: usize,
        step: Rc<Move>,
        progress: Progress,
        witness: Vec<Value>,
        observed: u32,
        silent: u32,
    ) {
        let from = &self.nodes[parent];
        let extension = from.extension.state.extend(self.sts, &step);
        let env = Env {
            variables: &[],
            parameters: &witness,
            functions: self.sts.functions(),
        };
        // The condition of the way includes that every assigned value exists.
        let valuation = extension.state.valuation.iter();
        let valuation = valuation.map(|e| e.eval(env).unwrap_or_default()).collect();
        self.nodes.push(Node {
            parent: Some(parent),
            start: from.start,
            step: Some(step),
            extension,
            witness,
            valuation,
            progress,
            observed,
            silent,
        });
    }

    /// The nodes from the start to this one.
    fn chain(&self, index: usize) -> Vec<usize> {
        let mut chain = vec![index];
        let mut at = index;
        while let Some(parent) = self.nodes[at].parent {
            chain.push(parent);
            at = parent;
        }
        chain.reverse();
        chain
    }

    fn way(&self, index: usize) -> MatchingPath {
        let moves = self.chain(index).into_iter();
        let moves: Vec<Rc<Move>> = moves.filter_map(|n| self.nodes[n].step.clone()).collect();
        let node = &self.nodes[index];
        MatchingPath::new(node.start, moves, node.witness.clone())
    }
}

/// The way again with another choice of values, unlike all of `known`.
pub(crate) fn other_values(
    sts: &Sts,
    start: &State,
    way: &MatchingPath,
    known: &[Vec<Value>],
    rng: &mut dyn Rng,
    effort: &Effort,
) -> Outcome<MatchingPath> {
    let moves = &way.moves;
    let mut solver = Embedded::new(sts.types(), sts.functions());
    let mut symbolic = Symbolic::known(start);
    for step in moves {
        let extension = symbolic.extend(sts, step);
        tell(&mut solver, &extension);
        symbolic = extension.state;
    }
    for values in known {
        let differs = values
            .iter()
            .enumerate()
            .map(|(unknown, value)| {
                let value = Expr::Const(value.clone());
                Expr::binary(BinaryOp::Ne, Expr::Param(unknown as u32), value)
            })
            .reduce(|left, right| Expr::binary(BinaryOp::Or, left, right));
        solver.assert(&differs.unwrap_or(Expr::FALSE));
    }
    let steps = moves.iter().map(|m| &**m);
    match find_witness(&mut solver, steps, rng, effort) {
        Feasible::More(witness) | Feasible::Anew(witness) => {
            Outcome::Sat(MatchingPath::new(way.start, moves.clone(), witness))
        }
        Feasible::No => Outcome::Unsat,
        Feasible::Undecided => Outcome::Unknown(ioco_solve::Unknown::Deadline),
    }
}

/// A condition on variables, as a move that changes nothing.
fn condition_alone(condition: Expr) -> Move {
    Move {
        switches: Vec::new(),
        label: None,
        observable: false,
        reads: condition.vars().into_iter().collect(),
        guard: condition,
        unknowns: Vec::new(),
        free: Vec::new(),
        types: Vec::new(),
        always_set: true,
        plain: None,
    }
}

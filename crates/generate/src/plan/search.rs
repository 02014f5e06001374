//! The search for ways that match a pattern: over symbolic states and progress together, shortest
//! ways first (A* with the distances of [`super::distances`]), within bounds.
//!
//! When it runs out of ways before it runs into a bound other than the number of steps, what was
//! not found does not exist within that number.

use std::collections::BTreeSet;
use std::rc::Rc;

use ioco_budget::Interrupt;
use ioco_solve::{Embedded, Outcome, Solver as _};
use ioco_sts::{Action, BinaryOp, Expr, LocationId, State, Sts, SwitchId, Value};
use rand::Rng;

use super::distances::Distances;
use super::follow::PatternState;
use super::pattern::{Pattern, Progress};
use crate::feasible::{Effort, Feasible, assert_extension, find_witness};
use crate::moves::{Move, MoveTable, target};
use crate::search::{Counts, Node, Policy, Rank, SearchBounds, SearchEnd, Tree, Visit, search};
use crate::symbolic::Symbolic;
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
pub struct SearchSummary {
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

/// Looks for ways through one model.
pub struct Search<'a> {
    pub(super) sts: &'a Sts,
    pub(super) pattern: &'a Pattern,
    pub(super) limits: Limits,
    pub(super) moves: MoveTable,
    pub(super) result: SearchSummary,
}

impl<'a> Search<'a> {
    pub fn new(sts: &'a Sts, pattern: &'a Pattern, limits: Limits) -> Search<'a> {
        Search {
            sts,
            pattern,
            limits,
            moves: MoveTable::default(),
            result: SearchSummary::default(),
        }
    }

    /// The first way that is found: the shortest.
    pub fn shortest(
        mut self,
        starts: &[PatternState],
        rng: &mut dyn Rng,
    ) -> (Option<MatchingPath>, SearchSummary) {
        let mut found = None;
        let mut keep = |way| {
            found = Some(way);
            false
        };
        let searched = self.run(starts, 1, rng, &mut keep, &mut || false);
        (found, searched)
    }

    /// Walks until `found` wants no more, `stop` says so, or an interrupt comes. A state that was met `variety` times
    /// is not gone on from again: so many different ways are found where there are as many.
    pub fn run(
        &mut self,
        starts: &[PatternState],
        variety: usize,
        rng: &mut dyn Rng,
        found: &mut dyn FnMut(MatchingPath) -> bool,
        stop: &mut dyn FnMut() -> bool,
    ) -> SearchSummary {
        let begin = starts.iter();
        let begin = begin.map(|s| (s.state.locations.clone(), s.progress));
        let distances = Distances::new(self.sts, self.pattern, begin, &mut self.moves);
        let mut tree = Tree::new(self.sts, self.limits.effort());
        for (number, start) in starts.iter().enumerate() {
            if let Some(far) = distances.distance(&start.state.locations, start.progress) {
                tree.begin(number, &start.state, start.progress, (far, 0));
            }
        }
        let bounds = SearchBounds {
            paths: self.limits.paths,
            undecided: usize::MAX,
            variety,
        };
        let mut policy = Matching {
            search: self,
            distances,
            known: BTreeSet::new(),
            runaway: false,
            found,
            stop,
        };
        let end = search(&mut tree, &bounds, &mut policy, rng);
        let runaway = policy.runaway;
        SearchSummary {
            paths: tree.nodes.len(),
            undecided: tree.undecided,
            runaway,
            exhausted: end == SearchEnd::Exhausted && tree.undecided == 0 && !runaway,
            solver_calls: tree.solver_calls,
        }
    }

    /// The ways on: moves narrowed to what the pattern asks for, and steps of the pattern alone.
    pub(super) fn options(
        &mut self,
        locations: &[LocationId],
        at: Progress,
    ) -> Vec<(Rc<Move>, Progress)> {
        let mut found = Vec::new();
        if let Some((progress, condition)) = self.pattern.idle(at, locations) {
            found.push((self.moves.condition_alone(condition), progress));
        }
        for step in self.moves.from(self.sts, locations).iter() {
            for (progress, condition) in self.pattern.after(at, step) {
                let narrowed = self.moves.narrowed(self.sts, step, &condition);
                found.push((narrowed, progress));
            }
        }
        found
    }
}

/// Paths that match a pattern, the shortest first (A* with the distances of [`super::distances`]).
struct Matching<'s, 'a, 'f> {
    search: &'s mut Search<'a>,
    distances: Distances,
    /// The switches of the paths that were found: a pattern may match the same path in several ways.
    known: BTreeSet<(usize, Vec<SwitchId>)>,
    runaway: bool,
    found: &'f mut dyn FnMut(MatchingPath) -> bool,
    stop: &'f mut dyn FnMut() -> bool,
}

impl Policy for Matching<'_, '_, '_> {
    fn visit(&mut self, tree: &Tree<'_>, index: usize) -> Visit {
        let node = &tree.nodes[index];
        if !self.search.pattern.is_complete(node.counts.progress) {
            return Visit::Extend;
        }
        let path = MatchingPath::new(node.start, tree.route(index), node.witness.clone());
        let is_new = self.known.insert((path.start, path.switches()));
        match is_new && !(self.found)(path) {
            true => Visit::Stop,
            false => Visit::Leave,
        }
    }

    fn moves(&mut self, node: &Node) -> Vec<(Rc<Move>, Progress)> {
        let progress = node.counts.progress;
        self.search.options(node.locations(), progress)
    }

    fn rank(&mut self, node: &Node, step: &Move, after: Counts) -> Option<Rank> {
        let locations = target(self.search.sts, node.locations(), step);
        let far = self.distances.distance(&locations, after.progress)?;
        let length = after.observed + far;
        if length > self.search.limits.steps {
            return None;
        }
        self.runaway |= after.silent > MAX_SILENT;
        // Among equals the one that is farther: it ends sooner.
        (after.silent <= MAX_SILENT).then(|| (length, u32::MAX - after.observed))
    }

    fn stop(&mut self) -> bool {
        (self.stop)() || self.search.limits.interrupt.is_raised()
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
        assert_extension(&mut solver, &extension);
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

//! Ways found by chance, and repaired where chance goes wrong.
//!
//! The conditions of a whole way, with every variable written out in terms of what was chosen at
//! its beginning, can grow beyond what a solver takes. A way with values chosen step by step never
//! has that problem, but meets no coincidence (two transactions that leave nothing to do). So where
//! it gets stuck, a few of the values chosen so far are set free again, all others stay what they
//! are, and the solver is asked for the whole way up to and including the step that did not fit:
//! with most values known the conditions are small. Many small questions take the place of one that
//! is too large. What is not found this way may still exist.

use std::rc::Rc;

use ioco_solve::{Embedded, Outcome, Solver as _};
use ioco_sts::{BinaryOp, Expr, State, Sts, Type, Value};
use rand::seq::SliceRandom as _;
use rand::{Rng, RngExt as _};

use super::distances::Distances;
use super::follow::PatternState;
use super::pattern::Progress;
use super::search::{MAX_SILENT, MatchingPath, Search, SearchSummary};
use crate::feasible::choose_own;
use crate::moves::{Move, target};
use crate::symbolic::Symbolic;

/// Sets of values that are set free, one after the other, for one step that does not fit.
const REPAIRS: usize = 24;
/// Repairs of one way.
const MAX_REPAIRED: usize = 6;
/// Values that are set free together.
const MIN_FREED: usize = 2;
const MAX_FREED: usize = 5;

/// A way as far as it goes, with all values known.
struct Draft {
    moves: Vec<Rc<Move>>,
    /// The values of all unknowns of the moves, in order.
    witness: Vec<Value>,
    state: State,
    progress: Progress,
    observed: u32,
    silent: u32,
}

impl Search<'_> {
    /// Looks for ways by chance, at most `tries` times, until so many different ones are known.
    pub fn draw(
        mut self,
        start: &PatternState,
        tries: usize,
        number: usize,
        known: &mut Vec<MatchingPath>,
        rng: &mut dyn Rng,
        stop: &mut dyn FnMut() -> bool,
    ) -> SearchSummary {
        let begin = std::iter::once((start.state.locations.clone(), start.progress));
        let reach = Distances::new(self.sts, self.pattern, begin, &mut self.moves);
        for _ in 0..tries {
            if known.len() >= number || stop() || self.limits.interrupt.is_raised() {
                break;
            }
            self.result.paths += 1;
            let drawn = self.draw_one(start, &reach, rng, stop);
            let another = |way: &MatchingPath| known.iter().all(|k| k.switches() != way.switches());
            known.extend(drawn.filter(another));
        }
        self.result
    }

    fn draw_one(
        &mut self,
        start: &PatternState,
        reach: &Distances,
        rng: &mut dyn Rng,
        stop: &mut dyn FnMut() -> bool,
    ) -> Option<MatchingPath> {
        let mut draft = Draft {
            moves: Vec::new(),
            witness: Vec::new(),
            state: start.state.clone(),
            progress: start.progress,
            observed: 0,
            silent: 0,
        };
        let mut repaired = 0;
        while !self.pattern.is_complete(draft.progress) {
            let mut options = self.options(&draft.state.locations, draft.progress);
            options.retain(|(step, progress)| {
                let observed = draft.observed + u32::from(step.observable);
                let to = target(self.sts, &draft.state.locations, step);
                let far = reach.distance(&to, *progress);
                far.is_some_and(|far| observed + far <= self.limits.steps)
            });
            options.shuffle(rng);
            let mut fitting = options.iter().filter_map(|(step, progress)| {
                let own = self.own(&draft.state, step, rng)?;
                let state = step.fire(self.sts, &draft.state, &step.parameters(&own))?;
                Some((Rc::clone(step), *progress, own, state))
            });
            if let Some((step, progress, own, state)) = fitting.next() {
                draft.witness.extend(own);
                draft.enter(step, progress, state);
            } else {
                if repaired >= MAX_REPAIRED {
                    return None;
                }
                repaired += 1;
                let found = options.into_iter().find_map(|(step, progress)| {
                    let values = (!stop()).then(|| self.repair(start, &draft, &step, rng));
                    Some((step, progress, values.flatten()?))
                });
                let (step, progress, (witness, state)) = found?;
                draft.witness = witness;
                draft.enter(step, progress, state);
            }
            if draft.silent > MAX_SILENT {
                return None;
            }
        }
        Some(MatchingPath::new(0, draft.moves, draft.witness))
    }

    /// Values of a move's own unknowns in a known state.
    fn own(&self, state: &State, step: &Move, rng: &mut dyn Rng) -> Option<Vec<Value>> {
        let effort = self.limits.effort();
        choose_own(self.sts, step, &state.valuation, rng, &effort)
    }

    /// Other values for the draft with which one more step fits: for all unknowns, with the state
    /// that they lead to.
    fn repair(
        &mut self,
        start: &PatternState,
        draft: &Draft,
        last: &Rc<Move>,
        rng: &mut dyn Rng,
    ) -> Option<(Vec<Value>, State)> {
        let moves: Vec<&Move> = draft.moves.iter().chain([last]).map(|m| &**m).collect();
        let mut witness = draft.witness.clone();
        witness.resize(witness.len() + last.types.len(), Value::Void);
        // What may be set free: the values of stimuli. All others follow from these.
        let mut stimuli = Vec::new();
        let mut base = 0;
        for step in &moves {
            if step.is_stimulus(self.sts) {
                stimuli.extend(base..base + step.types.len());
            }
            base += step.types.len();
        }
        let own = draft.witness.len();
        for _ in 0..REPAIRS {
            if self.limits.interrupt.is_raised() {
                return None;
            }
            stimuli.shuffle(rng);
            let many = rng.random_range(MIN_FREED..=MAX_FREED).min(stimuli.len());
            let mut is_free = vec![false; witness.len()];
            stimuli[..many].iter().for_each(|u| is_free[*u] = true);
            is_free[own..].fill(true);
            let relaxed = relax(self.sts, &start.state, &moves, &witness, &is_free);
            let Some(Relaxed { free, conditions }) = relaxed else {
                continue;
            };
            self.result.solver_calls += 1;
            let mut solver = Embedded::new(self.sts.types(), self.sts.functions());
            for (_, ty) in &free {
                solver.unknown(ty);
            }
            let mut size = 0;
            for condition in &conditions {
                condition.walk(&mut |_| size += 1);
                solver.assert(condition);
            }
            let effort = self.limits.effort().fair(size);
            let found = effort.ask(|deadline| solver.random_model(rng, deadline));
            let Outcome::Sat(found) = found else {
                continue;
            };
            let mut chosen = witness.clone();
            for ((unknown, _), value) in free.into_iter().zip(found) {
                chosen[unknown] = value;
            }
            let walked = self.walk(&start.state, &moves, &chosen, rng);
            if walked.is_some() {
                return walked;
            }
        }
        None
    }

    /// Walks the moves with these values of the stimuli; all others are found on the way.
    fn walk(
        &self,
        start: &State,
        moves: &[&Move],
        chosen: &[Value],
        rng: &mut dyn Rng,
    ) -> Option<(Vec<Value>, State)> {
        let mut state = start.clone();
        let mut witness = Vec::with_capacity(chosen.len());
        for step in moves {
            let base = witness.len();
            let own = match step.is_stimulus(self.sts) {
                true => chosen[base..base + step.types.len()].to_vec(),
                false => self.own(&state, step, rng)?,
            };
            state = step.fire(self.sts, &state, &step.parameters(&own))?;
            witness.extend(own);
        }
        Some((witness, state))
    }
}

impl Draft {
    fn enter(&mut self, step: Rc<Move>, progress: Progress, state: State) {
        if step.observable {
            self.observed += 1;
            self.silent = 0;
        } else if !step.switches.is_empty() {
            self.silent += 1;
        }
        self.moves.push(step);
        self.progress = progress;
        self.state = state;
    }
}

/// A way in which most values are known.
struct Relaxed {
    /// The unknowns that are free, and their types.
    free: Vec<(usize, Type)>,
    /// In terms of these.
    conditions: Vec<Expr>,
}

/// The way with only some unknowns free; `None` where it cannot be walked whatever they are.
///
/// A parameter that a response, or a hand-shake, must set to a certain value is not an unknown: it
/// is that value.
fn relax(
    sts: &Sts,
    start: &State,
    moves: &[&Move],
    witness: &[Value],
    is_free: &[bool],
) -> Option<Relaxed> {
    let mut free = Vec::new();
    let mut conditions = Vec::new();
    let mut symbolic = Symbolic::known(start);
    let mut base = 0;
    for step in moves {
        let defined = |unknown: u32| -> Option<Expr> {
            let position = step.unknowns.iter().position(|u| *u == Some(unknown))?;
            let value = definition(&step.guard, position as u32)?;
            Some(symbolic.rewrite(sts, value, &[]))
        };
        let stimulus = step.is_stimulus(sts);
        let parameters: Vec<Expr> = step
            .types
            .iter()
            .enumerate()
            .map(|(number, ty)| {
                let followed = (!stimulus).then(|| defined(number as u32)).flatten();
                if let Some(value) = followed {
                    value
                } else if is_free[base + number] {
                    free.push((base + number, ty.clone()));
                    Expr::Param(free.len() as u32 - 1)
                } else {
                    Expr::Const(witness[base + number].clone())
                }
            })
            .collect();
        base += step.types.len();
        let extension = symbolic.extend_with(sts, step, &parameters);
        match extension.condition {
            Expr::FALSE => return None,
            Expr::TRUE => {}
            condition => conditions.push(condition),
        }
        symbolic = extension.state;
    }
    Some(Relaxed { free, conditions })
}

/// What a guard says a parameter is equal to, in terms of variables alone.
fn definition(guard: &Expr, parameter: u32) -> Option<&Expr> {
    guard.conjuncts().into_iter().find_map(|part| match part {
        Expr::Binary(BinaryOp::Eq, both) => {
            let [left, right] = &**both;
            [(left, right), (right, left)]
                .into_iter()
                .find(|(side, value)| **side == Expr::Param(parameter) && value.params().is_empty())
                .map(|(_, value)| value)
        }
        _ => None,
    })
}

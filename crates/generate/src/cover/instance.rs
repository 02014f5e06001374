//! Instantiated paths: what a test does in the model, with all values known (Sietsma 2009,
//! appendix B). A test follows several of them at once where the model is non-deterministic.

use std::rc::Rc;

use ioco_sts::{Action, Expr, LocationId, State, Sts, Value};
use rand::Rng;

use super::region::Region;
use crate::feasible::{Effort, choose_own};
use crate::moves::{Move, MoveTable};
use crate::traces::PathStep;

/// Paths of one test that are followed at most.
const MAX_PATHS: usize = 256;
/// Internal steps in a row that are followed at most.
const MAX_SILENT: usize = 32;

/// One path with all values.
#[derive(Clone, Debug, PartialEq)]
pub struct Instance {
    pub steps: Vec<(Rc<Move>, Option<Action>)>,
    /// Before the first step, and after each.
    pub states: Vec<State>,
}

impl Instance {
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

    pub fn end(&self) -> &State {
        // There is always the state before the first step.
        &self.states[self.states.len() - 1]
    }

    fn and(&self, step: &Rc<Move>, action: Option<Action>, state: State) -> Instance {
        let mut longer = self.clone();
        longer.steps.push((Rc::clone(step), action));
        longer.states.push(state);
        longer
    }
}

/// The model as instances need it: which moves there are, and where they lead.
pub(crate) struct Stepper<'a> {
    pub sts: &'a Sts,
    pub effort: Effort,
    moves: MoveTable,
}

impl<'a> Stepper<'a> {
    pub fn new(sts: &'a Sts, effort: Effort) -> Stepper<'a> {
        Stepper {
            sts,
            effort,
            moves: MoveTable::default(),
        }
    }

    /// From now on, only the processes of a region move.
    pub fn restrict(&mut self, region: &Region) {
        self.moves.restrict(&region.processes);
    }

    pub fn moves_from(&mut self, locations: &[LocationId]) -> Rc<[Rc<Move>]> {
        self.moves.from(self.sts, locations)
    }

    /// One of these moves, where a condition holds too.
    pub fn narrowed(&mut self, step: &Rc<Move>, condition: &Expr) -> Rc<Move> {
        self.moves.narrowed(self.sts, step, condition)
    }

    /// The state after a move with these values of the label's parameters.
    pub fn take(&self, state: &State, step: &Move, values: &[Value]) -> Option<State> {
        step.fire(self.sts, state, values)
    }

    /// The paths of the empty test.
    pub fn start(&mut self, rng: &mut dyn Rng) -> Vec<Instance> {
        let start = Instance {
            steps: Vec::new(),
            states: vec![self.sts.initial_state()],
        };
        self.settle(vec![start], rng)
    }

    /// The paths after one more action (Algorithm 5).
    pub fn process(
        &mut self,
        paths: &[Instance],
        action: &Action,
        rng: &mut dyn Rng,
    ) -> Vec<Instance> {
        let mut longer = Vec::new();
        for path in paths {
            for step in self.moves_from(&path.end().locations).iter() {
                if !step.observable || step.label != Some(action.label) {
                    continue;
                }
                if let Some(state) = self.take(path.end(), step, &action.values) {
                    longer.push(path.and(step, Some(action.clone()), state));
                }
            }
        }
        self.settle(longer, rng)
    }

    /// Adds the paths that internal steps lead to.
    fn settle(&mut self, mut paths: Vec<Instance>, rng: &mut dyn Rng) -> Vec<Instance> {
        let mut silent: Vec<usize> = vec![0; paths.len()];
        let mut index = 0;
        while index < paths.len() && paths.len() < MAX_PATHS {
            if silent[index] < MAX_SILENT {
                let path = paths[index].clone();
                for step in self.moves_from(&path.end().locations).iter() {
                    if step.observable {
                        continue;
                    }
                    let Some(state) = self.take_internal(path.end(), step, rng) else {
                        continue;
                    };
                    // Going round shows nothing new.
                    let run = path.states.len() - 1 - silent[index];
                    if !path.states[run..].contains(&state) {
                        paths.push(path.and(step, None, state));
                        silent.push(silent[index] + 1);
                    }
                }
            }
            index += 1;
        }
        paths.truncate(MAX_PATHS);
        paths
    }

    /// The state after an internal move, with values for what a hand-shake sends.
    pub fn take_internal(&self, state: &State, step: &Move, rng: &mut dyn Rng) -> Option<State> {
        let own = choose_own(self.sts, step, &state.valuation, rng, &self.effort)?;
        self.take(state, step, &step.parameters(&own))
    }
}

//! Confirmation without the solver: a path is walked again from the model's own text, switch by switch and with
//! plain evaluation, before it is reported. Nothing of the walk that found it is used: no
//! symbolic states, no solver, no list of moves.
//!
//! Paths that come one after the other mostly begin in the same way. The states along the last path
//! are kept, and only what differs from it is walked again.

use std::fmt;
use std::sync::Arc;

use ioco_sts::{
    Action, Direction, Env, Followed, Gate, Semantics, SetId, State, Step, Sts, SwitchId,
};
use rustc_hash::FxHashMap;

use crate::traces::{Path, PathStep};

/// State sets remembered before all are forgotten, so that memory stays the same.
const REMEMBERED: usize = 1 << 14;

/// Why a path is not one of the model: the number of the move, and what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathError {
    /// The model does not allow this observable step.
    NotAllowed { position: usize, action: Action },
    /// The step is allowed, but not by this switch.
    NotTaken { position: usize, switch: SwitchId },
}

impl fmt::Display for PathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PathError::NotAllowed { position, .. } => {
                write!(f, "move {} is not allowed by the model", position + 1)
            }
            PathError::NotTaken { position, .. } => {
                write!(f, "move {} takes another switch", position + 1)
            }
        }
    }
}

/// A step of the last path, and the state after it.
struct Visited {
    switch: SwitchId,
    action: Option<Action>,
    state: State,
}

/// Walks paths again.
pub struct Confirm {
    semantics: Semantics,
    initial: State,
    /// The last path.
    trail: Vec<Visited>,
    followed: FxHashMap<(SetId, Action), Followed>,
}

impl Confirm {
    pub fn new(semantics: Semantics) -> Confirm {
        let sts = semantics.sts();
        let initial = State {
            locations: sts.processes().iter().map(|p| p.initial).collect(),
            valuation: sts.variables().iter().map(|v| v.initial.clone()).collect(),
        };
        Confirm {
            semantics,
            initial,
            trail: Vec::new(),
            followed: FxHashMap::default(),
        }
    }

    pub fn path(&mut self, path: &Path<'_>) -> Result<(), PathError> {
        match path.moves().all(|step| step.switches.len() == 1) {
            true => self.switch_by_switch(path.steps()),
            false => self.by_meaning(path.steps()),
        }
    }

    pub fn steps<'s>(
        &mut self,
        steps: impl Iterator<Item = PathStep<'s>> + Clone,
    ) -> Result<(), PathError> {
        match steps.clone().all(|step| step.step.switches.len() == 1) {
            true => self.switch_by_switch(steps),
            false => self.by_meaning(steps),
        }
    }

    /// The steps of the last path that was confirmed, each with the state before it; nothing after
    /// one with a hand-shake.
    pub fn walked(&self) -> impl Iterator<Item = (SwitchId, Option<&Action>, &State)> {
        let before = std::iter::once(&self.initial).chain(self.trail.iter().map(|v| &v.state));
        let steps = self.trail.iter().zip(before);
        steps.map(|(visited, state)| (visited.switch, visited.action.as_ref(), state))
    }

    fn switch_by_switch<'s>(
        &mut self,
        steps: impl Iterator<Item = PathStep<'s>>,
    ) -> Result<(), PathError> {
        let sts = self.semantics.sts();
        let mut length = 0;
        for (position, step) in steps.enumerate() {
            let switch = step.step.switches[0];
            length = position + 1;
            if let Some(known) = self.trail.get(position) {
                if known.switch == switch && known.action == step.action {
                    continue;
                }
                self.trail.truncate(position);
            }
            let from = self.trail.last().map_or(&self.initial, |v| &v.state);
            match take(sts, from, switch, step.action.as_ref()) {
                Some(state) => self.trail.push(Visited {
                    switch,
                    action: step.action,
                    state,
                }),
                None => {
                    return Err(match step.action {
                        Some(action) => PathError::NotAllowed { position, action },
                        None => PathError::NotTaken { position, switch },
                    });
                }
            }
        }
        self.trail.truncate(length);
        Ok(())
    }

    /// What a hand-shake sends is for the meaning of the model to say: follows state sets.
    fn by_meaning<'s>(
        &mut self,
        steps: impl Iterator<Item = PathStep<'s>>,
    ) -> Result<(), PathError> {
        if self.semantics.is_crowded(REMEMBERED) || self.followed.len() > REMEMBERED {
            let initial = self.semantics.initial();
            self.semantics.forget_all_but(initial);
            self.followed.clear();
        }
        self.trail.clear();
        let mut at = self.semantics.initial();
        let mut taken: Option<Arc<[SwitchId]>> = None;
        for (position, step) in steps.enumerate() {
            if let Some(action) = step.action {
                let followed = self.follow(at, action, position)?;
                at = followed.set;
                taken = Some(followed.taken);
            }
            let taken = match &taken {
                Some(taken) => taken,
                None => self.semantics.initial_switches(),
            };
            let stranger = step
                .step
                .switches
                .iter()
                .find(|id| taken.binary_search(id).is_err());
            if let Some(switch) = stranger {
                return Err(PathError::NotTaken {
                    position,
                    switch: *switch,
                });
            }
        }
        Ok(())
    }

    fn follow(
        &mut self,
        from: SetId,
        action: Action,
        position: usize,
    ) -> Result<Followed, PathError> {
        let key = (from, action);
        if let Some(known) = self.followed.get(&key) {
            return Ok(known.clone());
        }
        let (from, action) = key;
        let step = match self.semantics.sts().label(action.label).direction {
            Direction::Stimulus => Step::Stimulus(action.clone()),
            Direction::Response | Direction::Internal => Step::Response(action.clone()),
        };
        match self.semantics.follow(from, &step) {
            Some(followed) if !self.semantics.set(followed.set).is_empty() => {
                self.followed.insert((from, action), followed.clone());
                Ok(followed)
            }
            _ => Err(PathError::NotAllowed { position, action }),
        }
    }
}

/// The state after a switch with these values; `None` where the model does not have such a step.
fn take(sts: &Sts, from: &State, id: SwitchId, action: Option<&Action>) -> Option<State> {
    let switch = sts.switch(id);
    let process = sts.location(switch.source).process.index();
    if from.locations[process] != switch.source {
        return None;
    }
    let values = match (switch.gate, action) {
        (Gate::Tau, None) => &[][..],
        (Gate::Observable(label), Some(action)) if action.label == label => &action.values,
        _ => return None,
    };
    if let Some(label) = switch.gate.label() {
        let parameters = &sts.label(label).parameters;
        let mut typed = values.iter().zip(parameters);
        if values.len() != parameters.len() || !typed.all(|(v, p)| sts.types().fits(v, &p.ty)) {
            return None;
        }
    }
    let env = Env {
        variables: &from.valuation,
        parameters: values,
        functions: sts.functions(),
    };
    if switch.guard.holds(env) != Ok(true) {
        return None;
    }
    let mut next = from.clone();
    for assignment in &switch.update {
        let value = assignment.value.eval(env).ok()?;
        let variable = assignment.variable;
        if !sts.types().fits(&value, &sts.variable(variable).ty) {
            return None;
        }
        next.valuation[variable.index()] = value;
    }
    next.locations[process] = switch.target;
    Some(next)
}

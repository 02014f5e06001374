//! The second opinion: a path is walked again by the meaning of the model, which shares no code
//! with the walk that found it, before anybody gets to see it.

use std::fmt;
use std::sync::Arc;

use ioco_sts::{Action, Direction, Followed, Semantics, StateSet, Step, SwitchId};

use crate::traces::{Path, PathStep};

/// State sets remembered before all are forgotten, so that memory stays the same.
const REMEMBERED: usize = 4096;

/// Why a path is not one of the model: the number of the move, and what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Objection {
    /// The model does not allow this observable step.
    NotAllowed { position: usize, action: Action },
    /// The step is allowed, but not by this switch.
    NotTaken { position: usize, switch: SwitchId },
}

impl fmt::Display for Objection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Objection::NotAllowed { position, .. } => {
                write!(f, "move {} is not allowed by the model", position + 1)
            }
            Objection::NotTaken { position, .. } => {
                write!(f, "move {} takes another switch", position + 1)
            }
        }
    }
}

/// Walks paths again. Paths that come one after the other share their beginnings, and these are
/// walked once.
pub struct Confirm {
    semantics: Semantics,
    walked: Vec<(Action, Arc<StateSet>, Arc<[SwitchId]>)>,
}

impl Confirm {
    pub fn new(semantics: Semantics) -> Confirm {
        Confirm {
            semantics,
            walked: Vec::new(),
        }
    }

    pub fn path(&mut self, path: &Path<'_>) -> Result<(), Objection> {
        self.steps(path.steps())
    }

    pub fn steps<'s>(
        &mut self,
        steps: impl Iterator<Item = PathStep<'s>>,
    ) -> Result<(), Objection> {
        if self.semantics.remembered() > REMEMBERED {
            let initial = self.semantics.initial();
            self.semantics.forget_all_but(initial);
        }
        let mut observed = 0;
        for (position, step) in steps.enumerate() {
            if let Some(action) = step.action {
                self.follow(observed, action, position)?;
                observed += 1;
            }
            let taken = match observed.checked_sub(1) {
                Some(last) => &self.walked[last].2,
                None => self.semantics.initial_switches(),
            };
            let stranger = step
                .step
                .switches
                .iter()
                .find(|id| taken.binary_search(id).is_err());
            if let Some(switch) = stranger {
                return Err(Objection::NotTaken {
                    position,
                    switch: *switch,
                });
            }
        }
        Ok(())
    }

    fn follow(
        &mut self,
        observed: usize,
        action: Action,
        position: usize,
    ) -> Result<(), Objection> {
        if self
            .walked
            .get(observed)
            .is_some_and(|walked| walked.0 == action)
        {
            return Ok(());
        }
        self.walked.truncate(observed);
        let from = match self.walked.last() {
            Some((_, set, _)) => {
                let set = Arc::clone(set);
                self.semantics.id_of(&set)
            }
            None => self.semantics.initial(),
        };
        let step = match self.semantics.sts().label(action.label).direction {
            Direction::Stimulus => Step::Stimulus(action),
            Direction::Response | Direction::Internal => Step::Response(action),
        };
        let followed = self.semantics.follow(from, &step);
        let (Step::Stimulus(action) | Step::Response(action)) = step else {
            return Ok(());
        };
        match followed {
            Some(Followed { set, taken }) => {
                let set = Arc::clone(self.semantics.set(set));
                self.walked.push((action, set, taken));
                Ok(())
            }
            None => Err(Objection::NotAllowed { position, action }),
        }
    }
}

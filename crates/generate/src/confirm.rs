//! The second opinion: a path is walked again by the meaning of the model, which shares no code
//! with the walk that found it, before anybody gets to see it.

use std::fmt;
use std::sync::Arc;

use ioco_sts::{Action, Direction, Followed, Semantics, SetId, Step, SwitchId};
use rustc_hash::FxHashMap;

use crate::traces::{Path, PathStep};

/// State sets remembered before all are forgotten, so that memory stays the same.
const REMEMBERED: usize = 1 << 14;

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

/// Walks paths again. Many begin in the same way: what was followed is remembered for a while.
pub struct Confirm {
    semantics: Semantics,
    followed: FxHashMap<(SetId, Action), Followed>,
}

impl Confirm {
    pub fn new(semantics: Semantics) -> Confirm {
        Confirm {
            semantics,
            followed: FxHashMap::default(),
        }
    }

    pub fn path(&mut self, path: &Path<'_>) -> Result<(), Objection> {
        self.steps(path.steps())
    }

    pub fn steps<'s>(
        &mut self,
        steps: impl Iterator<Item = PathStep<'s>>,
    ) -> Result<(), Objection> {
        if self.semantics.remembered() > REMEMBERED || self.followed.len() > REMEMBERED {
            let initial = self.semantics.initial();
            self.semantics.forget_all_but(initial);
            self.followed.clear();
        }
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
        from: SetId,
        action: Action,
        position: usize,
    ) -> Result<Followed, Objection> {
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
            Some(followed) => {
                self.followed.insert((from, action), followed.clone());
                Ok(followed)
            }
            None => Err(Objection::NotAllowed { position, action }),
        }
    }
}

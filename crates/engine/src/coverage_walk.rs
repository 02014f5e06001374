//! What the events of a run say it covered, by following them through the model.

use std::sync::Arc;

use ioco_sts::{Semantics, SetId, Step, Sts};

use crate::coverage::Coverage;
use crate::event::Event;

/// State sets that are remembered between tests.
const MAX_SETS: usize = 20_000;

/// Follows events through the model, and counts what was taken.
pub struct CoverageWalk {
    semantics: Semantics,
    coverage: Coverage,
    /// `None` where the record cannot be followed.
    set: Option<SetId>,
}

impl CoverageWalk {
    pub fn new(semantics: Semantics) -> CoverageWalk {
        CoverageWalk {
            coverage: Coverage::new(semantics.sts()),
            semantics,
            set: None,
        }
    }

    pub fn sts(&self) -> &Arc<Sts> {
        self.semantics.sts()
    }

    /// What was covered so far.
    pub fn coverage(&self) -> &Coverage {
        &self.coverage
    }

    pub fn event(&mut self, event: &Event) {
        match event {
            Event::TestStarted { .. } => {
                let initial = self.semantics.initial();
                self.set = Some(initial);
                let switches = self.semantics.initial_switches().to_vec();
                self.coverage.take(&switches);
                self.coverage.visit(self.semantics.set(initial));
            }
            Event::StepTaken { what, .. } => match what.restore(self.semantics.sts()) {
                Ok(step) => self.step(&step),
                Err(_) => self.set = None,
            },
            Event::TestFinished { .. } if self.semantics.is_crowded(MAX_SETS) => {
                let initial = self.semantics.initial();
                self.semantics.forget_all_but(initial);
            }
            _ => {}
        }
    }

    fn step(&mut self, step: &Step) {
        // Where stimulus and response crossed, the record has them as they arrived; such a test
        // counts up to there.
        let followed = self.set.and_then(|set| self.semantics.follow(set, step));
        self.set = followed.as_ref().map(|followed| followed.set);
        let Some(followed) = followed else { return };
        match step {
            Step::Stimulus(action) => self.coverage.give(action, &followed.taken),
            Step::Response(_) | Step::Quiescence => self.coverage.take(&followed.taken),
        }
        self.coverage.visit(self.semantics.set(followed.set));
    }
}

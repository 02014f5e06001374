//! The one thing that a shrinker knows of the outside: a function that runs one test.

use ioco_sts::{Action, Execution};

/// Runs a list of stimuli from a reset, with the model following, and says what happened. Old
/// responses are not replayed. After each stimulus it takes in what the system answers, until the
/// system is silent.
pub trait Runner {
    fn run(&mut self, stimuli: &[Action]) -> Execution;
}

impl<F: FnMut(&[Action]) -> Execution> Runner for F {
    fn run(&mut self, stimuli: &[Action]) -> Execution {
        self(stimuli)
    }
}

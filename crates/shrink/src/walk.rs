//! The way of an execution through the model: the state set at every point of it.

use ioco_sts::{Execution, Semantics, SetId, Step};

use crate::error::ShrinkError;
use crate::live::Live;

/// The observable steps of an execution, without the deviation, and where they led.
#[derive(Clone, Debug)]
pub(crate) struct Walk {
    /// Stimuli and responses; silence is folded into the state set behind it.
    pub steps: Vec<Step>,
    /// The set before the first step, and after each step.
    pub sets: Vec<SetId>,
    /// The same, before any silence that was seen there.
    pub loud: Vec<SetId>,
}

impl Walk {
    pub fn of(semantics: &mut Semantics, execution: &Execution) -> Result<Walk, ShrinkError> {
        let mut set = semantics.initial();
        let mut walk = Walk {
            steps: Vec::new(),
            sets: vec![set],
            loud: vec![set],
        };
        for (position, step) in execution.trace.iter().enumerate() {
            set = semantics
                .after(set, step)
                .ok_or_else(|| ShrinkError::NotATrace {
                    step: position + 1,
                    shown: step.show(semantics.sts()),
                })?;
            if *step == Step::Quiescence {
                *walk.sets.last_mut().expect("starts with one") = set;
            } else {
                walk.steps.push(step.clone());
                walk.sets.push(set);
                walk.loud.push(set);
            }
        }
        Ok(walk)
    }

    /// The same walk through sets without dead data.
    pub fn abstracted(mut self, semantics: &mut Semantics, live: &mut Live) -> Walk {
        for set in self.sets.iter_mut().chain(&mut self.loud) {
            *set = live.of(semantics, *set);
        }
        self
    }

    /// The positions of the steps that are stimuli.
    pub fn stimulus_positions(&self) -> Vec<usize> {
        (0..self.steps.len())
            .filter(|i| matches!(self.steps[*i], Step::Stimulus(_)))
            .collect()
    }
}

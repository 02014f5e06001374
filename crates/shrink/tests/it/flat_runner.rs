//! Runs stimuli against a flat system with the model following.

use std::collections::BTreeMap;
use std::sync::Arc;

use ioco_shrink::Runner;
use ioco_sts::{
    Action, Deviation, DeviationKind, Direction, Execution, LabelId, Observed, Semantics, SetId,
    Step, Sts, Verdict,
};

use crate::flat_model::semantics;
use crate::flat_systems::FlatSystem;

pub struct FlatRunner<F> {
    semantics: Semantics,
    responses: BTreeMap<String, LabelId>,
    start: F,
    /// The lists of stimuli that were run.
    pub log: Vec<Vec<Action>>,
}

impl<F: FnMut() -> Box<dyn FlatSystem>> FlatRunner<F> {
    pub fn new(sts: &Arc<Sts>, start: F) -> FlatRunner<F> {
        let responses = sts.labels_of(Direction::Response);
        FlatRunner {
            responses: responses
                .map(|id| (sts.label(id).name.clone(), id))
                .collect(),
            semantics: semantics(sts),
            start,
            log: Vec::new(),
        }
    }

    fn fail(
        &self,
        trace: Vec<Step>,
        set: SetId,
        kind: DeviationKind,
        observed: Observed,
    ) -> Execution {
        let states = Arc::clone(self.semantics.set(set));
        Execution {
            trace,
            verdict: Verdict::Fail(Deviation {
                kind,
                observed,
                states,
            }),
        }
    }
}

impl<F: FnMut() -> Box<dyn FlatSystem>> Runner for FlatRunner<F> {
    fn run(&mut self, stimuli: &[Action]) -> Execution {
        self.log.push(stimuli.to_vec());
        let mut system = (self.start)();
        let sts = Arc::clone(self.semantics.sts());
        let mut set = self.semantics.initial();
        let mut trace = Vec::new();
        for stimulus in stimuli {
            let step = Step::Stimulus(stimulus.clone());
            let Some(next) = self.semantics.after(set, &step) else {
                let verdict = Verdict::inconclusive(
                    ioco_sts::Cause::NotOffered,
                    "the model refuses a stimulus",
                );
                return Execution { trace, verdict };
            };
            set = next;
            trace.push(step);
            for response in system.give(&sts.label(stimulus.label).name) {
                let Some(label) = self.responses.get(&response) else {
                    let kind = DeviationKind::UnexpectedResponse;
                    return self.fail(trace, set, kind, Observed::Unknown(response));
                };
                let action = Action::plain(*label);
                let step = Step::Response(action.clone());
                let Some(next) = self.semantics.after(set, &step) else {
                    let kind = DeviationKind::UnexpectedResponse;
                    return self.fail(trace, set, kind, Observed::Response(action));
                };
                set = next;
                trace.push(step);
            }
            let Some(next) = self.semantics.after(set, &Step::Quiescence) else {
                let kind = DeviationKind::MissingResponse;
                return self.fail(trace, set, kind, Observed::Silence(500_000_000));
            };
            set = next;
            trace.push(Step::Quiescence);
        }
        Execution {
            trace,
            verdict: Verdict::Pass,
        }
    }
}

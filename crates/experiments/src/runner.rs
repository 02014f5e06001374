//! Running a list of stimuli against a system in this process, with the model following.

use std::path::Path;
use std::sync::Arc;

use ioco_aml::{Loaded, Sources, load};
use ioco_shrink::Runner;
use ioco_sts::{
    Action, Cause, Deviation, DeviationKind, Execution, Observed, Semantics, SetId, Step, Sts,
    Verdict,
};

use crate::ExperimentError;
use crate::detection::{Play, Sent};

struct Files;

impl Sources for Files {
    fn read(&self, path: &str) -> Result<String, String> {
        std::fs::read_to_string(path).map_err(|error| error.to_string())
    }
}

pub(crate) fn read_model(path: &Path) -> Result<Arc<Sts>, ExperimentError> {
    usable(path, load(&path.to_string_lossy(), &Files))
}

/// The model, or what is wrong with its text.
pub(crate) fn usable(path: &Path, loaded: Loaded) -> Result<Arc<Sts>, ExperimentError> {
    loaded.sts.ok_or_else(|| {
        let messages = loaded.diagnostics.iter().map(|d| format!("  {d:?}"));
        ExperimentError::Model {
            path: path.to_owned(),
            text: messages.collect::<Vec<_>>().join("\n"),
        }
    })
}

/// A system, and a model that follows it.
pub struct ModelRunner {
    pub(crate) semantics: Semantics,
    system: Box<dyn Play>,
    /// Where the model was at the end of the last run that passed.
    pub(crate) reached: SetId,
}

/// Why a list of stimuli does not go on.
enum Halt {
    NotOffered,
    Deviates(SetId, Observed),
}

impl ModelRunner {
    pub fn new(semantics: Semantics, system: Box<dyn Play>) -> ModelRunner {
        ModelRunner {
            reached: semantics.initial(),
            semantics,
            system,
        }
    }

    pub fn sts(&self) -> &Arc<Sts> {
        self.semantics.sts()
    }

    /// Gives one stimulus; where the model is once the system is silent again.
    fn give(
        &mut self,
        set: SetId,
        stimulus: &Action,
        trace: &mut Vec<Step>,
    ) -> Result<SetId, Halt> {
        let step = Step::Stimulus(stimulus.clone());
        let given = self.semantics.after(set, &step);
        let mut set = given.ok_or(Halt::NotOffered)?;
        trace.push(step);
        for response in self.system.give(stimulus) {
            let action = match response {
                Sent::Known(action) => action,
                Sent::Unknown(text) => return Err(Halt::Deviates(set, Observed::Unknown(text))),
            };
            let step = Step::Response(action.clone());
            let after = self.semantics.after(set, &step);
            set = after.ok_or(Halt::Deviates(set, Observed::Response(action)))?;
            trace.push(step);
        }
        let after = self.semantics.after(set, &Step::Quiescence);
        let silence = || Halt::Deviates(set, Observed::Silence(self.semantics.timeout(set)));
        let set = after.ok_or_else(silence)?;
        trace.push(Step::Quiescence);
        Ok(set)
    }
}

impl Runner for ModelRunner {
    fn run(&mut self, stimuli: &[Action]) -> Execution {
        self.system.reset();
        let mut set = self.semantics.initial();
        let mut trace = Vec::new();
        for stimulus in stimuli {
            let verdict = match self.give(set, stimulus, &mut trace) {
                Ok(next) => {
                    set = next;
                    continue;
                }
                Err(Halt::NotOffered) => {
                    let shown = stimulus.show(self.semantics.sts());
                    Verdict::inconclusive(
                        Cause::NotOffered,
                        format!("the model does not offer {shown} here"),
                    )
                }
                Err(Halt::Deviates(at, observed)) => Verdict::Fail(Deviation {
                    kind: match observed {
                        Observed::Silence(_) => DeviationKind::MissingResponse,
                        _ => DeviationKind::UnexpectedResponse,
                    },
                    observed,
                    states: Arc::clone(self.semantics.set(at)),
                }),
            };
            return Execution { trace, verdict };
        }
        self.reached = set;
        Execution {
            trace,
            verdict: Verdict::Pass,
        }
    }
}

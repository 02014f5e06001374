//! Flat models, and running stimuli against a flat system with the model following.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use ioco_aml::{Sources, load, load_text};
use ioco_examples::{Message, System, flat};
use ioco_shrink::Runner;
use ioco_sts::{
    Action, Cause, Deviation, DeviationKind, Direction, EvaluationOnly, Execution, LabelId,
    Observed, Relation, Semantics, SetId, Step, Sts, Verdict, reduce,
};

use crate::ExperimentError;
use crate::generated::generated;

/// The example's own model of the door.
const DOOR: &str = include_str!("../../../examples/smartdoor/flat.aml");

struct Files;

impl Sources for Files {
    fn read(&self, path: &str) -> Result<String, String> {
        std::fs::read_to_string(path).map_err(|error| error.to_string())
    }
}

/// A flat model, and what its labels are called outside.
#[derive(Clone, Debug)]
pub struct FlatModel {
    pub experiment: String,
    pub sts: Arc<Sts>,
    /// Per label, the name that the system and the published traces know it by.
    pub names: Arc<[String]>,
}

impl FlatModel {
    /// The stimulus that is called this outside.
    pub(crate) fn stimulus(&self, name: &str) -> Option<Action> {
        let mut labels = self.sts.labels_of(Direction::Stimulus);
        labels
            .find(|label| self.names[label.index()] == name)
            .map(Action::plain)
    }
}

/// The flat model of an experiment: from the folder of models, or the example's own for the door.
/// States of the same outgoing behaviour are merged, as the published figures count them.
/// With `rename` no label keeps its name: a shrinker that reads names gets nothing from them.
pub fn flat_model(
    experiment: &str,
    models: &Path,
    rename: bool,
) -> Result<FlatModel, ExperimentError> {
    let path = models.join(experiment).join("model.aml");
    let loaded = if !path.exists() && experiment == "smartdoor" {
        load_text("flat.aml", DOOR)
    } else {
        load(&path.to_string_lossy(), &Files)
    };
    match loaded.sts {
        Some(sts) => {
            let names: Arc<[String]> = sts.labels().iter().map(|l| l.name.clone()).collect();
            let sts = match rename {
                true => Arc::new(sts.with_label_names(|label| without_meaning(&label.name))),
                false => sts,
            };
            let sts = Arc::new(reduce(&sts).sts);
            let experiment = experiment.to_owned();
            Ok(FlatModel {
                experiment,
                sts,
                names,
            })
        }
        None => {
            let messages: Vec<String> = loaded
                .diagnostics
                .iter()
                .map(|d| format!("  {d:?}"))
                .collect();
            Err(ExperimentError::Model {
                path,
                text: messages.join("\n"),
            })
        }
    }
}

/// Another name, the same for the same one: letters that share no word and no order with it.
fn without_meaning(name: &str) -> String {
    let mut mixed = 0xcbf2_9ce4_8422_2325_u64;
    for byte in name.bytes() {
        mixed = (mixed ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    let letters = (0..13).map(|place| char::from(b'a' + (mixed >> (4 * place) & 15) as u8));
    letters.collect()
}

pub(crate) fn semantics(sts: &Arc<Sts>) -> Semantics {
    Semantics::new(Arc::clone(sts), Box::new(EvaluationOnly), Relation::Ioco)
}

/// A flat system, and a model that follows it.
pub struct FlatRunner {
    pub(crate) semantics: Semantics,
    system: Box<dyn System>,
    stimuli: Vec<Message>,
    responses: BTreeMap<String, LabelId>,
    /// Where the model was at the end of the last run that passed.
    pub(crate) reached: SetId,
}

impl FlatRunner {
    pub fn new(model: &FlatModel, mutant: &str) -> Result<FlatRunner, ExperimentError> {
        let system: Box<dyn System> = match generated(model, mutant) {
            Some(system) => Box::new(system),
            None => {
                flat::system(&model.experiment, Some(mutant)).map_err(ExperimentError::System)?
            }
        };
        let (sts, names) = (&model.sts, &model.names);
        let semantics = semantics(sts);
        Ok(FlatRunner {
            reached: semantics.initial(),
            semantics,
            system,
            stimuli: names.iter().map(|name| Message::plain(name)).collect(),
            responses: sts
                .labels_of(Direction::Response)
                .map(|id| (names[id.index()].clone(), id))
                .collect(),
        })
    }

    /// Gives one stimulus; what the system and the model make of it.
    fn give(&mut self, set: SetId, stimulus: &Action, trace: &mut Vec<Step>) -> Given {
        let step = Step::Stimulus(stimulus.clone());
        let Some(mut set) = self.semantics.after(set, &step) else {
            return Given::Refused;
        };
        trace.push(step);
        for response in self.system.give(&self.stimuli[stimulus.label.index()]) {
            let Some(label) = self.responses.get(&response.label) else {
                return Given::Deviates(set, Observed::Unknown(response.label));
            };
            let action = Action::plain(*label);
            let step = Step::Response(action.clone());
            match self.semantics.after(set, &step) {
                Some(next) => set = next,
                None => return Given::Deviates(set, Observed::Response(action)),
            }
            trace.push(step);
        }
        match self.semantics.after(set, &Step::Quiescence) {
            Some(next) => {
                trace.push(Step::Quiescence);
                Given::Goes(next)
            }
            None => Given::Deviates(set, Observed::Silence(self.semantics.timeout(set))),
        }
    }
}

enum Given {
    Goes(SetId),
    Refused,
    Deviates(SetId, Observed),
}

impl Runner for FlatRunner {
    fn run(&mut self, stimuli: &[Action]) -> Execution {
        self.system.reset();
        let mut set = self.semantics.initial();
        let mut trace = Vec::new();
        for stimulus in stimuli {
            let verdict = match self.give(set, stimulus, &mut trace) {
                Given::Goes(next) => {
                    set = next;
                    continue;
                }
                Given::Refused => {
                    let shown = stimulus.show(self.semantics.sts());
                    Verdict::inconclusive(
                        Cause::NotOffered,
                        format!("the model does not offer {shown} here"),
                    )
                }
                Given::Deviates(at, observed) => Verdict::Fail(Deviation {
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

//! Flat models and flat systems.

use std::collections::BTreeMap;
use std::hash::Hasher as _;
use std::path::Path;
use std::sync::Arc;

use fnv::FnvHasher;
use ioco_aml::load_text;
use ioco_examples::{Message, System, flat};
use ioco_sts::{Action, Direction, EvaluationOnly, LabelId, Relation, Semantics, Sts, reduce};

use crate::ExperimentError;
use crate::detection::{Play, Sent};
use crate::generated::generated;
use crate::runner::{ModelRunner, read_model, usable};

/// The example's own model of the door.
const DOOR: &str = include_str!("../../../examples/smartdoor/flat.aml");

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
    let sts = if !path.exists() && experiment == "smartdoor" {
        usable(&path, load_text("flat.aml", DOOR))?
    } else {
        read_model(&path)?
    };
    let names: Arc<[String]> = sts.labels().iter().map(|l| l.name.clone()).collect();
    let sts = match rename {
        true => Arc::new(sts.with_label_names(|label| without_meaning(&label.name))),
        false => sts,
    };
    Ok(FlatModel {
        experiment: experiment.to_owned(),
        sts: Arc::new(reduce(&sts).sts),
        names,
    })
}

/// Another name, the same for the same one: letters that share no word and no order with it.
fn without_meaning(name: &str) -> String {
    let mut hasher = FnvHasher::default();
    hasher.write(name.as_bytes());
    let mixed = hasher.finish();
    let letters = (0..13).map(|place| char::from(b'a' + (mixed >> (4 * place) & 15) as u8));
    letters.collect()
}

pub(crate) fn semantics(sts: &Arc<Sts>) -> Semantics {
    Semantics::new(Arc::clone(sts), Box::new(EvaluationOnly), Relation::Ioco)
}

/// The system of a mutant, with a model that follows it.
pub fn flat_runner(model: &FlatModel, mutant: &str) -> Result<ModelRunner, ExperimentError> {
    let system: Box<dyn System> = match generated(model, mutant) {
        Some(system) => Box::new(system),
        None => flat::system(&model.experiment, Some(mutant)).map_err(ExperimentError::System)?,
    };
    let (sts, names) = (&model.sts, &model.names);
    let responses = sts.labels_of(Direction::Response);
    let system = FlatSystem {
        system,
        stimuli: names.iter().map(|name| Message::plain(name)).collect(),
        responses: responses
            .map(|id| (names[id.index()].clone(), id))
            .collect(),
    };
    Ok(ModelRunner::new(semantics(sts), Box::new(system)))
}

/// A system without data, which knows labels by the names that they have outside.
struct FlatSystem {
    system: Box<dyn System>,
    /// Per label.
    stimuli: Vec<Message>,
    responses: BTreeMap<String, LabelId>,
}

impl Play for FlatSystem {
    fn reset(&mut self) -> Vec<Sent> {
        self.system.reset();
        Vec::new()
    }

    fn give(&mut self, stimulus: &Action) -> Vec<Sent> {
        let responses = self.system.give(&self.stimuli[stimulus.label.index()]);
        let sent =
            responses
                .into_iter()
                .map(|response| match self.responses.get(&response.label) {
                    Some(label) => Sent::Known(Action::plain(*label)),
                    None => Sent::Unknown(response.label),
                });
        sent.collect()
    }
}

//! Mutants that are not planted: the model itself, with one switch changed, plays the system. Their number
//! is their name, so that a row of the table can be run again.

use std::sync::Arc;

use ioco_examples::{Message, System};
use ioco_sts::{
    Action, Direction, EvaluationOnly, Expr, Gate, LabelId, Location, Place, Relation, Semantics,
    SetId, Step, Sts, StsBuilder, SwitchId,
};

use crate::flat::FlatModel;
use crate::random::Choices;

/// The system that `g1`, `g2`, ... stand for; nothing for other names.
pub(crate) fn generated(model: &FlatModel, mutant: &str) -> Option<Played> {
    let number: u64 = mutant.strip_prefix('g')?.parse().ok()?;
    let sts = Arc::new(mutate(&model.sts, &mut Choices::new(number)));
    let semantics = Semantics::new(sts, Box::new(EvaluationOnly), Relation::Ioco);
    Some(Played {
        at: Some(semantics.initial()),
        semantics,
        names: Arc::clone(&model.names),
    })
}

/// One switch is lost, leads elsewhere, or carries another response.
fn mutate(sts: &Sts, choices: &mut Choices) -> Sts {
    let responses: Vec<LabelId> = sts.labels_of(Direction::Response).collect();
    let victim = SwitchId::from_index(choices.below(sts.switches().len()));
    let operator = choices.below(3);
    let mut builder = StsBuilder::new(sts.name());
    for label in sts.labels() {
        builder.label(label.clone());
    }
    for process in sts.processes() {
        let id = builder.process(&process.name);
        builder.initial(id, process.initial);
    }
    for location in sts.locations() {
        builder.location(Location { ..location.clone() });
    }
    for (index, switch) in sts.switches().iter().enumerate() {
        let (mut gate, mut target) = (switch.gate, switch.target);
        if index == victim.index() {
            let is_response = matches!(gate, Gate::Observable(label)
                if sts.label(label).direction == Direction::Response);
            match operator {
                // A stimulus that is lost changes nothing; a response that is lost does not come.
                0 if is_response => continue,
                0 => target = switch.source,
                1 => target = sts.switches()[choices.below(sts.switches().len())].target,
                _ if is_response => {
                    gate = Gate::Observable(responses[choices.below(responses.len())])
                }
                _ => target = sts.switches()[choices.below(sts.switches().len())].source,
            }
        }
        builder.switch(
            switch.source,
            gate,
            Expr::TRUE,
            Vec::new(),
            target,
            Place::default(),
        );
    }
    builder.build()
}

/// A plain model that plays the system. Where it allows several responses it gives the first.
pub(crate) struct Played {
    semantics: Semantics,
    names: Arc<[String]>,
    /// Nothing once a stimulus was not understood: from then on it is silent.
    pub at: Option<SetId>,
}

impl System for Played {
    fn reset(&mut self) {
        self.at = Some(self.semantics.initial());
    }

    fn give(&mut self, stimulus: &Message) -> Vec<Message> {
        // At most so many responses to one stimulus: a mutant may send for ever.
        const MAX_RESPONSES: usize = 20;
        let sts = Arc::clone(self.semantics.sts());
        let mut known = sts.labels_of(Direction::Stimulus);
        let label = known.find(|label| self.names[label.index()] == stimulus.label);
        let step = label.map(|label| Step::Stimulus(Action::plain(label)));
        let given = match (self.at, step) {
            (Some(set), Some(step)) => self.semantics.after(set, &step),
            _ => None,
        };
        // What is not understood is ignored.
        if given.is_none() {
            return Vec::new();
        }
        self.at = given;
        let mut responses = Vec::new();
        while let Some(set) = self.at
            && responses.len() < MAX_RESPONSES
        {
            let menu = self.semantics.menu(set);
            let Some(label) = menu.responses.first().map(|offer| offer.label) else {
                break;
            };
            responses.push(Message::plain(&self.names[label.index()]));
            let step = Step::Response(Action::plain(label));
            self.at = self.semantics.after(set, &step);
        }
        responses
    }

    fn check(&self, _stimulus: &Message) -> Result<(), String> {
        Ok(())
    }
}

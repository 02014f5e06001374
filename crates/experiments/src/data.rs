//! Systems and models with data: running stimuli with the model following, and random walks.

use std::collections::BTreeMap;
use std::sync::Arc;

use ioco_examples::{Message, System};
use ioco_shrink::Runner;
use ioco_solve::{Deadline, choose_values};
use ioco_sts::{
    Action, Deviation, DeviationKind, Direction, Execution, LabelId, Observed, Relation, Semantics,
    SetId, Step, Sts, Type, Value, Verdict,
};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::random::Choices;

pub fn data_semantics(sts: &Arc<Sts>) -> Semantics {
    ioco_solve::semantics(sts, Relation::Ioco)
}

/// A system with data, and its model beside it.
pub struct DataRunner {
    semantics: Semantics,
    system: Box<dyn System>,
}

impl DataRunner {
    pub fn new(sts: &Arc<Sts>, system: Box<dyn System>) -> DataRunner {
        DataRunner {
            semantics: data_semantics(sts),
            system,
        }
    }

    fn message(&self, action: &Action) -> Message {
        let sts = self.semantics.sts();
        let label = sts.label(action.label);
        let mut message = Message::plain(&label.name);
        for (parameter, value) in label.parameters.iter().zip(&action.values) {
            let value = match value {
                Value::Enum(id, member) => Value::str(sts.types().member_name(*id, *member)),
                other => other.clone(),
            };
            message.values.push((parameter.name.clone(), value));
        }
        message
    }

    fn action(&self, message: &Message) -> Option<Action> {
        let sts = self.semantics.sts();
        let label = sts.label_named(Direction::Response, &message.label)?;
        let given: BTreeMap<&str, &Value> = message
            .values
            .iter()
            .map(|(n, v)| (n.as_str(), v))
            .collect();
        let values = sts.label(label).parameters.iter();
        let values = values.map(|p| {
            given
                .get(p.name.as_str())
                .map_or(Value::Void, |v| (*v).clone())
        });
        Some(Action {
            label,
            values: values.collect(),
        })
    }

    fn fail(
        &self,
        trace: Vec<Step>,
        set: SetId,
        kind: DeviationKind,
        observed: Observed,
    ) -> Execution {
        let states = Arc::clone(self.semantics.set(set));
        let verdict = Verdict::Fail(Deviation {
            kind,
            observed,
            states,
        });
        Execution { trace, verdict }
    }
}

impl Runner for DataRunner {
    fn run(&mut self, stimuli: &[Action]) -> Execution {
        self.system.reset();
        let mut set = self.semantics.initial();
        let mut trace = Vec::new();
        for stimulus in stimuli {
            let step = Step::Stimulus(stimulus.clone());
            let Some(next) = self.semantics.after(set, &step) else {
                let verdict = Verdict::inconclusive(ioco_sts::Cause::NotOffered, "not offered");
                return Execution { trace, verdict };
            };
            (set, _) = (next, trace.push(step));
            for response in self.system.give(&self.message(stimulus)) {
                let Some(action) = self.action(&response) else {
                    let observed = Observed::Unknown(response.label);
                    return self.fail(trace, set, DeviationKind::UnexpectedResponse, observed);
                };
                let step = Step::Response(action.clone());
                let Some(next) = self.semantics.after(set, &step) else {
                    let observed = Observed::Response(action);
                    return self.fail(trace, set, DeviationKind::UnexpectedResponse, observed);
                };
                (set, _) = (next, trace.push(step));
            }
            let Some(next) = self.semantics.after(set, &Step::Quiescence) else {
                let observed = Observed::Silence(self.semantics.timeout(set));
                return self.fail(trace, set, DeviationKind::MissingResponse, observed);
            };
            (set, _) = (next, trace.push(Step::Quiescence));
        }
        let verdict = Verdict::Pass;
        Execution { trace, verdict }
    }
}

/// Tries to give one stimulus before it is left alone: its values may not be allowed.
const TRIES: usize = 20;

/// Gives random stimuli with random values that the model allows, until the system fails or the walk is
/// long enough.
pub fn random_walk(runner: &mut DataRunner, texts: &[&str], seed: u64, length: usize) -> Execution {
    let mut choices = Choices::new(seed);
    let mut semantics = data_semantics(runner.semantics.sts());
    let mut stimuli: Vec<Action> = Vec::new();
    let mut set = semantics.initial();
    while stimuli.len() < length {
        let menu = semantics.menu(set);
        if menu.stimuli.is_empty() {
            break;
        }
        let label = menu.stimuli[choices.below(menu.stimuli.len())].label;
        let sts = Arc::clone(semantics.sts());
        let tries = (0..TRIES).map(|_| random_action(&sts, label, texts, &mut choices));
        let found = { tries }.find(|action| semantics.accepts(set, action));
        let Some(action) = found else { continue };
        let Some(next) = semantics.after(set, &Step::Stimulus(action.clone())) else {
            continue;
        };
        stimuli.push(action);
        // The response that the model expects: here it leaves no choice.
        set = match expected(&mut semantics, next) {
            Some(next) => next,
            None => break,
        };
    }
    runner.run(&stimuli)
}

fn random_action(sts: &Sts, label: LabelId, texts: &[&str], choices: &mut Choices) -> Action {
    let values = sts.label(label).parameters.iter().map(|p| match p.ty {
        Type::Str => Value::str(texts[choices.below(texts.len())]),
        _ => Value::Int(choices.below(6) as i64),
    });
    Action {
        label,
        values: values.collect(),
    }
}

/// Where the model is after the only response that it allows.
fn expected(semantics: &mut Semantics, set: SetId) -> Option<SetId> {
    let sts = Arc::clone(semantics.sts());
    let menu = semantics.menu(set);
    let Some(offer) = menu.responses.first() else {
        return semantics.after(set, &Step::Quiescence);
    };
    let guard = &sts.switch(offer.switches.first()?.switch).enabled;
    let states = Arc::clone(semantics.set(set));
    let valuation = &states.states.first()?.valuation;
    let deadline = Deadline::steps(20_000);
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    let values = choose_values(&sts, offer.label, guard, valuation, &mut rng, &deadline).sat()?;
    let label = offer.label;
    let next = semantics.after(set, &Step::Response(Action { label, values }))?;
    expected(semantics, next)
}

//! Systems with data: running stimuli with the model following, and random walks.

use std::sync::Arc;

use ioco_examples::System;
use ioco_experiments::detection::Planted;
use ioco_experiments::{Choices, ModelRunner};
use ioco_shrink::Runner as _;
use ioco_solve::{Deadline, choose_values};
use ioco_sts::{Action, Execution, LabelId, Relation, Semantics, SetId, Step, Sts, Type, Value};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

pub fn data_semantics(sts: &Arc<Sts>) -> Semantics {
    ioco_solve::semantics(sts, Relation::Ioco)
}

pub fn data_runner(sts: &Arc<Sts>, system: Box<dyn System>) -> ModelRunner {
    ModelRunner::new(data_semantics(sts), Box::new(Planted::new(sts, system)))
}

/// Tries to give one stimulus before it is left alone: its values may not be allowed.
const TRIES: usize = 20;

/// Gives random stimuli with random values that the model allows, until the system fails or the walk is
/// long enough.
pub fn random_walk(
    runner: &mut ModelRunner,
    texts: &[&str],
    seed: u64,
    length: usize,
) -> Execution {
    let mut choices = Choices::new(seed);
    let mut semantics = data_semantics(runner.sts());
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

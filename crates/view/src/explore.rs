//! Walking a model by hand: the whole walk comes in every time, and what can happen next goes out,
//! with values that the solver suggests.

use std::sync::Arc;

use ioco_engine::{SavedDeviation, SavedStep, TimedStep, WireLine, value_to_json};
use ioco_solve::{Deadline, Outcome, boundary_values, choose_values};
use ioco_sts::{Action, Direction, LabelId, Offer, Semantics, SetId, Step, Sts, Switch, Value};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use crate::trace::{StateView, StepKind, TraceView, Tracer};

/// Solver steps for one suggestion.
const STEPS: u64 = 20_000;
/// Suggestions for one label.
const SUGGESTIONS: usize = 8;

/// A stimulus with its values, by names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct Given {
    /// With or without the mark.
    pub label: String,
    #[serde(default)]
    #[cfg_attr(feature = "schema", ts(type = "Values"))]
    pub values: Map<String, Json>,
}

/// A step of a walk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct WalkedStep {
    pub kind: StepKind,
    #[serde(default)]
    pub label: String,
    #[serde(default)]
    #[cfg_attr(feature = "schema", ts(type = "Values"))]
    pub values: Map<String, Json>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct Exploration {
    /// The walk as far as the model allows it.
    pub trace: TraceView,
    pub states: Vec<StateView>,
    pub more_states: usize,
    pub menu: Vec<MenuEntry>,
    /// Why the walk could not be followed to its end.
    pub problem: Option<String>,
}

/// Something that can happen next.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct MenuEntry {
    pub kind: StepKind,
    pub label: String,
    /// With the first values that are suggested.
    pub text: String,
    pub parameters: Vec<Parameter>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct Parameter {
    pub name: String,
    #[serde(rename = "type")]
    pub ty: String,
    /// The suggestions of the same position belong together: with them the step is allowed. Null
    /// where the parameter stays unset.
    #[cfg_attr(feature = "schema", ts(type = "Json[]"))]
    pub suggestions: Vec<Json>,
}

impl WalkedStep {
    fn saved(&self) -> Option<SavedStep> {
        let name = self.label.trim_start_matches(['?', '!']).to_owned();
        // An empty field of a form is a parameter that stays unset.
        let mut values = self.values.clone();
        values.retain(|_, value| !value.is_null());
        match self.kind {
            StepKind::Stimulus => Some(SavedStep::Stimulus {
                stimulus: name,
                values,
            }),
            StepKind::Response => Some(SavedStep::Response {
                response: name,
                values,
            }),
            StepKind::Silence => Some(SavedStep::Silence { silence: true }),
            StepKind::Deviation => None,
        }
    }
}

impl Given {
    /// The stimulus in terms of the model, or why it is none.
    pub fn action(&self, sts: &Sts) -> Result<Action, String> {
        let walked = WalkedStep {
            kind: StepKind::Stimulus,
            label: self.label.clone(),
            values: self.values.clone(),
        };
        let saved = walked.saved().map(|saved| saved.restore(sts));
        match saved {
            Some(Ok(Step::Stimulus(action))) => Ok(action),
            Some(Err(error)) => Err(error.to_string()),
            _ => Err(format!("{} is not a stimulus", self.label)),
        }
    }
}

/// Follows the walk and says what can happen after it. The same seed suggests the same values.
pub fn explore(semantics: &mut Semantics, walk: &[WalkedStep], seed: u64) -> Exploration {
    let sts = Arc::clone(semantics.sts());
    let mut tracer = Tracer::new(semantics);
    let mut problem = None;
    for (index, walked) in walk.iter().enumerate() {
        match next(&mut tracer, walked, &sts) {
            Ok(step) => tracer.step(&step, None),
            Err(why) => {
                problem = Some(format!("step {}: {why}", index + 1));
                break;
            }
        }
    }
    let here = tracer.set();
    let trace = tracer.finish(&[]);
    arrived(semantics, here, trace, problem, seed)
}

/// What can happen after steps that were taken on a system, `deviation` where the model does not allow the last.
pub fn explore_taken(
    semantics: &mut Semantics,
    steps: &[TimedStep],
    deviation: Option<(&SavedDeviation, u64)>,
    wire: &[WireLine],
    seed: u64,
) -> Exploration {
    let mut tracer = Tracer::new(semantics);
    for step in steps {
        tracer.saved(&step.what, Some(step.at));
    }
    let here = tracer.set().filter(|_| deviation.is_none());
    if let Some((deviation, at)) = deviation {
        tracer.deviation(deviation, Some(at));
    }
    let trace = tracer.finish(wire);
    arrived(semantics, here, trace, None, seed)
}

fn arrived(
    semantics: &mut Semantics,
    here: Option<SetId>,
    trace: TraceView,
    problem: Option<String>,
    seed: u64,
) -> Exploration {
    let sts = Arc::clone(semantics.sts());
    let (states, more_states) = here.map_or_else(Default::default, |set| {
        StateView::list(semantics.set(set), &sts)
    });
    // Another seed at every step, so that going round does not suggest the same values for ever.
    let mut rng = ChaCha8Rng::seed_from_u64(seed.wrapping_add(trace.steps.len() as u64));
    Exploration {
        menu: here.map_or_else(Vec::new, |set| menu(semantics, set, &mut rng)),
        trace,
        states,
        more_states,
        problem,
    }
}

/// The step in terms of the model, if it may happen now.
fn next(tracer: &mut Tracer<'_>, walked: &WalkedStep, sts: &Sts) -> Result<Step, String> {
    let saved = walked
        .saved()
        .ok_or_else(|| "a deviation cannot be walked".to_owned())?;
    let step = saved.restore(sts).map_err(|error| error.to_string())?;
    let Some(set) = tracer.set() else {
        return Err("the model is nowhere".to_owned());
    };
    let shown = step
        .action()
        .map_or_else(|| "silence".to_owned(), |a| a.show(sts));
    let semantics = tracer.semantics();
    let allowed = match &step {
        Step::Stimulus(action) => semantics.accepts(set, action),
        Step::Response(_) | Step::Quiescence => match semantics.after(set, &step) {
            Some(next) if semantics.set(next).is_empty() => {
                return Err(format!(
                    "{shown} cannot be judged: not all states of the model are known here"
                ));
            }
            next => next.is_some(),
        },
    };
    if allowed {
        return Ok(step);
    }
    Err(match &step {
        Step::Stimulus(_) => format!("{shown} is not offered here"),
        _ => format!("the model does not allow {shown} here: a system that does it fails"),
    })
}

fn menu(semantics: &mut Semantics, set: SetId, rng: &mut ChaCha8Rng) -> Vec<MenuEntry> {
    let offers = semantics.menu(set);
    let mut entries = Vec::new();
    for (kind, offers) in [
        (StepKind::Stimulus, &offers.stimuli),
        (StepKind::Response, &offers.responses),
    ] {
        for offer in offers {
            entries.extend(entry(semantics, set, kind, offer, rng));
        }
    }
    if offers.silence {
        entries.push(MenuEntry {
            kind: StepKind::Silence,
            label: "silence".to_owned(),
            text: "silence".to_owned(),
            parameters: Vec::new(),
        });
    }
    entries
}

fn entry(
    semantics: &mut Semantics,
    set: SetId,
    kind: StepKind,
    offer: &Offer,
    rng: &mut ChaCha8Rng,
) -> Option<MenuEntry> {
    let sts = Arc::clone(semantics.sts());
    let label = sts.label(offer.label);
    let suggested = suggestions(semantics, set, offer, rng);
    // No values and all switches decided: nothing can happen by this label after all.
    let undecided = offer
        .switches
        .iter()
        .any(|offered| offered.feasible == ioco_sts::Answer::Unknown);
    if suggested.is_empty() && !undecided {
        return None;
    }
    let text = match suggested.first() {
        Some(values) => Action {
            label: offer.label,
            values: values.clone(),
        }
        .show(&sts),
        None => label.marked_name(),
    };
    let parameters = label
        .parameters
        .iter()
        .enumerate()
        .map(|(index, parameter)| Parameter {
            name: parameter.name.clone(),
            ty: sts.types().type_name(&parameter.ty),
            suggestions: suggested
                .iter()
                .map(|values| value_to_json(&values[index], sts.types()))
                .collect(),
        });
    Some(MenuEntry {
        kind,
        label: label.marked_name(),
        text,
        parameters: parameters.collect(),
    })
}

/// Lists of values with which the offer is accepted: for every switch one at random, its boundary
/// values, and one more at random.
fn suggestions(
    semantics: &mut Semantics,
    set: SetId,
    offer: &Offer,
    rng: &mut ChaCha8Rng,
) -> Vec<Vec<Value>> {
    let sts = Arc::clone(semantics.sts());
    if sts.label(offer.label).parameters.is_empty() {
        return vec![Vec::new()];
    }
    let states = Arc::clone(semantics.set(set));
    let mut found: Vec<Vec<Value>> = Vec::new();
    let mut boundaries: Vec<Vec<Value>> = Vec::new();
    for round in 0..2 {
        for offered in &offer.switches {
            let switch = sts.switch(offered.switch);
            let guard = &switch.enabled;
            let valuation = &states.states[offered.state as usize].valuation;
            let deadline = Deadline::steps(STEPS);
            let chosen = choose_values(&sts, offer.label, guard, valuation, rng, &deadline);
            let values = match chosen {
                Outcome::Sat(values) => Some(values),
                Outcome::Unsat => None,
                Outcome::Unknown(_) => semantics.example(offer.label, guard, valuation),
            };
            let Some(values) = values else { continue };
            if round == 0 {
                boundaries.extend(at_boundaries(&sts, offer.label, switch, valuation, &values));
            }
            keep(semantics, set, offer.label, values, &mut found);
        }
        if round == 0 {
            for values in boundaries.drain(..) {
                keep(semantics, set, offer.label, values, &mut found);
            }
        }
    }
    found
}

/// The values chosen, with one parameter after the other moved to an end of its range.
fn at_boundaries(
    sts: &Sts,
    label: LabelId,
    switch: &Switch,
    valuation: &[Value],
    chosen: &[Value],
) -> Vec<Vec<Value>> {
    let deadline = Deadline::steps(STEPS);
    let mut all = Vec::new();
    let of = switch.deciding_parameters();
    for boundaries in boundary_values(sts, label, &switch.enabled, &of, valuation, &deadline) {
        for value in boundaries.limits {
            let mut moved = chosen.to_vec();
            moved[boundaries.parameter as usize] = value;
            all.push(moved);
        }
    }
    all
}

/// Whether a reader of JSON whose numbers are floats gets the value as it is.
fn is_exact(value: &Value) -> bool {
    match value {
        Value::Int(number) => number.unsigned_abs() < 1 << 53,
        Value::Array(items) | Value::Struct(_, items) => items.iter().all(is_exact),
        _ => true,
    }
}

/// Keeps values that are new and with which the step may really happen.
fn keep(
    semantics: &mut Semantics,
    set: SetId,
    label: LabelId,
    values: Vec<Value>,
    found: &mut Vec<Vec<Value>>,
) {
    let exact = values.iter().all(is_exact);
    if !exact || found.len() >= SUGGESTIONS || found.contains(&values) {
        return;
    }
    let action = Action { label, values };
    let happens = if semantics.sts().label(label).direction == Direction::Stimulus {
        semantics.accepts(set, &action)
    } else {
        let next = semantics.after(set, &Step::Response(action.clone()));
        next.is_some_and(|next| !semantics.set(next).is_empty())
    };
    if happens {
        found.push(action.values);
    }
}

//! Stimuli with values: what the solver suggests, moved to where a fault would show.
//!
//! Half of the values come from the solver as they are. The others are values that the model or the state at hand
//! mentions, the numbers next to those, and values that make the two sides of a comparison equal or miss each other by
//! one.

use std::sync::Arc;

use ioco_solve::choose_values;
use ioco_sts::{
    Action, BinaryOp, Expr, Followed, Offer, OfferedSwitch, Semantics, SetId, State, Step, Sts,
    Value,
};
use rand::RngExt;

use super::situations::Limits;
use crate::random::TestRng;
use crate::values::{SolverSteps, choose_stimulus};

/// Solver steps for values at a limit: a question that takes longer is left.
const BUDGET: u64 = 500;

/// A stimulus that takes this switch; `None` where no values were found.
pub(super) fn stimulus(
    semantics: &mut Semantics,
    limits: &mut Limits,
    set: SetId,
    offer: &Offer,
    wanted: OfferedSwitch,
    steps: &mut SolverSteps,
    rng: &mut TestRng,
) -> Option<(Action, Followed)> {
    let sts = Arc::clone(semantics.sts());
    if sts.label(offer.label).parameters.is_empty() {
        return choose_stimulus(semantics, set, offer, None, steps, rng);
    }
    let state = semantics.set(set).states[wanted.state as usize].clone();
    let special = match rng.random_range(0..10) {
        0..3 => at_limit(&sts, limits, &state, offer, wanted, steps, rng),
        3..6 => mentioned(&sts, &state, offer, wanted, steps, rng),
        _ => None,
    };
    if let Some(values) = special {
        let action = Action {
            label: offer.label,
            values,
        };
        // A guard or an update may have no value for them: that is no fault of the model.
        semantics.mute(true);
        let is_accepted = semantics.accepts(set, &action);
        semantics.mute(false);
        if is_accepted
            && let Some(followed) = semantics.follow(set, &Step::Stimulus(action.clone()))
        {
            return Some((action, followed));
        }
    }
    choose_stimulus(semantics, set, offer, Some(wanted), steps, rng)
}

/// Values for which a comparison of this switch, or of one beside it, is at its limit.
fn at_limit(
    sts: &Sts,
    limits: &mut Limits,
    state: &State,
    offer: &Offer,
    wanted: OfferedSwitch,
    steps: &mut SolverSteps,
    rng: &mut TestRng,
) -> Option<Vec<Value>> {
    let beside = &offer.switches[rng.random_range(0..offer.switches.len())];
    let switch = sts.switch(wanted.switch);
    let comparisons = limits.of(sts, beside.switch);
    if comparisons.is_empty() {
        return None;
    }
    let (left, right) = &comparisons[rng.random_range(0..comparisons.len())];
    if !left.mentions_params() && !right.mentions_params() {
        return None;
    }
    let by = Expr::int(rng.random_range(-1..=1));
    let right = Expr::binary(BinaryOp::Add, right.clone(), by);
    let equal = Expr::binary(BinaryOp::Eq, left.clone(), right);
    let guard = Expr::and(switch.enabled.clone(), equal);
    let chosen = steps.ask(BUDGET, |deadline| {
        choose_values(sts, offer.label, &guard, &state.valuation, rng, deadline)
    });
    chosen.sat()
}

/// One value of those that the model or the state mentions, or a number next to it, in the place of one that the
/// solver chose.
fn mentioned(
    sts: &Sts,
    state: &State,
    offer: &Offer,
    wanted: OfferedSwitch,
    steps: &mut SolverSteps,
    rng: &mut TestRng,
) -> Option<Vec<Value>> {
    let guard = &sts.switch(wanted.switch).enabled;
    let chosen = steps.ask(steps.budget, |deadline| {
        choose_values(sts, offer.label, guard, &state.valuation, rng, deadline)
    });
    let mut values = chosen.sat()?;
    let constants = sts.constants();
    let known = constants.len() + state.valuation.len();
    if known == 0 || values.is_empty() {
        return Some(values);
    }
    let position = rng.random_range(0..values.len());
    let index = rng.random_range(0..known);
    let value = match constants.get(index) {
        Some(constant) => constant,
        None => &state.valuation[index - constants.len()],
    };
    let value = match value {
        Value::Int(number) => Value::Int(number.saturating_add(rng.random_range(-1..=1))),
        other => other.clone(),
    };
    let ty = &sts.label(offer.label).parameters[position].ty;
    if sts.types().fits(&value, ty) {
        values[position] = value;
    }
    Some(values)
}

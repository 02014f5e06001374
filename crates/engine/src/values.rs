//! Choosing the parameter values of a stimulus.

use std::sync::Arc;

use ioco_solve::{Deadline, choose_values};
use ioco_sts::{
    Action, Expr, Followed, Offer, OfferedSwitch, Relation, Semantics, SetId, State, Step,
};
use rand::RngExt;

use crate::random::TestRng;

/// A stimulus of `offer` with values that the model accepts, and where it leads. `wanted` asks for
/// values that let this very switch be taken. The solver gets `budget` steps for each switch that
/// is tried. `None` when no such values were found in time, which does not prove that there are
/// none: the caller does something else then.
pub(crate) fn choose_stimulus(
    semantics: &mut Semantics,
    set: SetId,
    offer: &Offer,
    wanted: Option<OfferedSwitch>,
    budget: u64,
    rng: &mut TestRng,
) -> Option<(Action, Followed)> {
    if semantics.sts().label(offer.label).parameters.is_empty() {
        return follow(semantics, set, Action::plain(offer.label));
    }
    let count = offer.switches.len();
    let (first, tries) = match wanted {
        Some(_) => (0, 1),
        None => (rng.random_range(0..count), count),
    };
    (0..tries).find_map(|turn| {
        let switch = wanted.unwrap_or(offer.switches[(first + turn) % count]);
        let action = values_for(semantics, set, offer, switch, budget, rng)?;
        follow(semantics, set, action)
    })
}

fn values_for(
    semantics: &mut Semantics,
    set: SetId,
    offer: &Offer,
    switch: OfferedSwitch,
    budget: u64,
    rng: &mut TestRng,
) -> Option<Action> {
    let deadline = Deadline::steps(budget);
    let sts = Arc::clone(semantics.sts());
    let guard = &sts.switch(switch.switch).enabled;
    let chosen = if semantics.relation() == Relation::Ioco || semantics.set(set).states.len() == 1 {
        let state = &semantics.set(set).states[switch.state as usize];
        choose_values(&sts, offer.label, guard, &state.valuation, rng, &deadline)
    } else {
        // The other states of the set must accept the stimulus too.
        let own = with_values(guard, &semantics.set(set).states[switch.state as usize]);
        let condition = Expr::and(own, semantics.offer_condition(set, offer));
        choose_values(&sts, offer.label, &condition, &[], rng, &deadline)
    };
    let values = chosen.sat()?;
    let action = Action {
        label: offer.label,
        values,
    };
    Some(action)
}

fn with_values(expr: &Expr, state: &State) -> Expr {
    match expr {
        Expr::Var(variable) => Expr::Const(state.valuation[variable.index()].clone()),
        _ => expr.map_children(|child| with_values(child, state)),
    }
}

fn follow(semantics: &mut Semantics, set: SetId, action: Action) -> Option<(Action, Followed)> {
    let step = Step::Stimulus(action);
    let followed = semantics.follow(set, &step)?;
    match step {
        Step::Stimulus(action) => Some((action, followed)),
        _ => None,
    }
}

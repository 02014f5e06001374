//! Values at the limits of what a guard accepts, for strategy `data`.

use std::sync::Arc;

use ioco_solve::{Deadline, boundary_values, choose_values};
use ioco_sts::{
    Action, BinaryOp, Expr, Followed, Offer, OfferedSwitch, Semantics, SetId, Step, Value,
};
use rand::RngExt;

use crate::coverage::Coverage;
use crate::random::TestRng;

/// One choice in so many takes a limit that was given before, or one that moves with the variables.
const REPEAT_ONE_IN: u32 = 3;

/// A stimulus for this switch with a value at a limit: one that was not given yet where there is
/// one, now and then any other. `None` where no limit is possible here and now, or none is left.
pub(super) fn stimulus(
    semantics: &mut Semantics,
    set: SetId,
    offer: &Offer,
    wanted: OfferedSwitch,
    coverage: &Coverage,
    budget: u64,
    rng: &mut TestRng,
) -> Option<(Action, Followed)> {
    let sts = Arc::clone(semantics.sts());
    if sts.label(offer.label).parameters.is_empty() {
        return None;
    }
    let switch = sts.switch(wanted.switch);
    let guard = &switch.enabled;
    let state = semantics.set(set).states[wanted.state as usize].clone();
    let mut limits: Vec<(u32, Value)> = coverage
        .open_boundaries(wanted.switch)
        .map(|boundary| (boundary.parameter, boundary.value.clone()))
        .collect();
    if limits.is_empty() && rng.random_range(0..REPEAT_ONE_IN) == 0 {
        let deadline = Deadline::steps(budget);
        let of = switch.deciding_parameters();
        let found = boundary_values(&sts, offer.label, guard, &of, &state.valuation, &deadline);
        let values = |b: ioco_solve::Boundaries| {
            let parameter = b.parameter;
            b.limits.into_iter().map(move |value| (parameter, value))
        };
        limits = found.into_iter().flat_map(values).collect();
    }
    while !limits.is_empty() {
        let (parameter, value) = limits.swap_remove(rng.random_range(0..limits.len()));
        let equal = Expr::binary(BinaryOp::Eq, Expr::Param(parameter), Expr::Const(value));
        let narrowed = Expr::and(guard.clone(), equal);
        let deadline = Deadline::steps(budget);
        let chosen = choose_values(
            &sts,
            offer.label,
            &narrowed,
            &state.valuation,
            rng,
            &deadline,
        );
        let Some(values) = chosen.sat() else { continue };
        let action = Action {
            label: offer.label,
            values,
        };
        if !semantics.accepts(set, &action) {
            continue;
        }
        if let Some(followed) = semantics.follow(set, &Step::Stimulus(action.clone())) {
            return Some((action, followed));
        }
    }
    None
}

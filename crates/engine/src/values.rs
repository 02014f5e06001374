//! Choosing the parameter values of a stimulus.

use std::sync::Arc;

use ioco_solve::{Deadline, Outcome, choose_values};
use ioco_sts::{
    Action, BinaryOp, Env, Expr, Followed, LabelId, Offer, OfferedSwitch, Relation, Semantics,
    SetId, Step, Sts, UnaryOp, Value,
};
use rand::RngExt;

use crate::random::TestRng;

/// What questions for values may take of the solver, and have taken: the same on every machine.
pub(crate) struct SolverSteps {
    /// For each question.
    pub budget: u64,
    pub taken: u64,
}

impl SolverSteps {
    pub fn new(budget: u64) -> SolverSteps {
        SolverSteps { budget, taken: 0 }
    }

    /// Asks one question, of at most so many steps.
    pub fn ask<T>(&mut self, budget: u64, question: impl FnOnce(&Deadline<'_>) -> T) -> T {
        let deadline = Deadline::steps(budget);
        let answer = question(&deadline);
        self.taken = self.taken.saturating_add(deadline.taken());
        answer
    }
}

/// A stimulus of `offer` with values that the model accepts, and where it leads. `wanted` asks for
/// values that let this very switch be taken. The solver gets its budget of `steps` for each switch
/// that is tried. `None` when no such values were found in time, which does not prove that there are
/// none: the caller does something else then.
pub(crate) fn choose_stimulus(
    semantics: &mut Semantics,
    set: SetId,
    offer: &Offer,
    wanted: Option<OfferedSwitch>,
    steps: &mut SolverSteps,
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
        let action = values_for(semantics, set, offer, switch, steps, rng)?;
        follow(semantics, set, action)
    })
}

fn values_for(
    semantics: &mut Semantics,
    set: SetId,
    offer: &Offer,
    switch: OfferedSwitch,
    steps: &mut SolverSteps,
    rng: &mut TestRng,
) -> Option<Action> {
    let sts = Arc::clone(semantics.sts());
    let guard = &sts.switch(switch.switch).enabled;
    let state = semantics.set(set).states[switch.state as usize].clone();
    let alone = semantics.relation() == Relation::Ioco || semantics.set(set).states.len() == 1;
    let together;
    let (guard, valuation) = if alone {
        (guard, &*state.valuation)
    } else {
        // The other states of the set must accept the stimulus too.
        let own = guard.with_values(&state.valuation);
        together = Expr::and(own, semantics.offer_condition(set, offer));
        (&together, &[][..])
    };
    let chosen = steps.ask(steps.budget, |deadline| {
        choose_values(&sts, offer.label, guard, valuation, rng, deadline)
    });
    let mut values = match chosen {
        Outcome::Sat(values) => {
            fill_arrays(&sts, offer.label, guard, valuation, values, steps, rng)
        }
        Outcome::Unsat => return None,
        Outcome::Unknown(_) => semantics.example(offer.label, guard, valuation)?,
    };
    try_constant(&sts, guard, valuation, &mut values, rng);
    Some(Action {
        label: offer.label,
        values,
    })
}

/// One choice in this many keeps the empty arrays that the solver found.
const EMPTY_EVERY: u32 = 4;
/// An array that nothing asks to be longer has so many items at most.
const MAX_ITEMS: i64 = 3;
/// Solver steps for items that nothing asks for.
const ITEM_STEPS: u64 = 5_000;

/// Mostly puts some items into arrays that the solver left empty, where the guard allows it: where nothing asks for
/// items it takes the shortest array, and no test would ever show what the system does with others.
fn fill_arrays(
    sts: &Sts,
    label: LabelId,
    guard: &Expr,
    valuation: &[Value],
    values: Vec<Value>,
    steps: &mut SolverSteps,
    rng: &mut TestRng,
) -> Vec<Value> {
    let is_empty = |value: &Value| matches!(value, Value::Array(items) if items.is_empty());
    if !values.iter().any(is_empty) || rng.random_range(0..EMPTY_EVERY) == 0 {
        return values;
    }
    let mut filled = guard.clone();
    for position in (0..values.len()).filter(|position| is_empty(&values[*position])) {
        let length = Expr::unary(UnaryOp::Length, Expr::Param(position as u32));
        let wanted = Expr::int(rng.random_range(1..=MAX_ITEMS));
        filled = Expr::and(filled, Expr::binary(BinaryOp::Eq, length, wanted));
    }
    let found = steps.ask(ITEM_STEPS, |deadline| {
        choose_values(sts, label, &filled, valuation, rng, deadline)
    });
    found.sat().unwrap_or(values)
}

/// One choice in this many takes a value that the model mentions somewhere.
const CONSTANT_EVERY: u32 = 6;

/// Now and then puts a constant of the model in the place of a value, where the guard allows it. A
/// value may decide about a guard that is far away: `y == 5` three steps later is hardly ever met
/// by chance alone.
fn try_constant(
    sts: &Sts,
    guard: &Expr,
    variables: &[Value],
    values: &mut [Value],
    rng: &mut TestRng,
) {
    let constants = sts.constants();
    if constants.is_empty() || values.is_empty() || rng.random_range(0..CONSTANT_EVERY) > 0 {
        return;
    }
    let position = rng.random_range(0..values.len());
    let constant = &constants[rng.random_range(0..constants.len())];
    if std::mem::discriminant(constant) != std::mem::discriminant(&values[position]) {
        return;
    }
    let old = std::mem::replace(&mut values[position], constant.clone());
    let env = Env {
        variables,
        parameters: values,
        functions: sts.functions(),
    };
    if guard.holds(env) != Ok(true) {
        values[position] = old;
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

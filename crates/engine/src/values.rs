//! Choosing the parameter values of a stimulus.

use ioco_sts::{Action, Env, Expr, Followed, LabelId, Semantics, SetId, Step, Sts, Value};
use ioco_sts::{Offer, OfferedSwitch, Relation, Type};
use rand::RngExt;

use crate::random::TestRng;

/// Tries at guessing before giving up.
const GUESSES: usize = 64;

/// A stimulus of `offer` with values that the model accepts, and where it leads. `wanted` asks for
/// values that let this very switch be taken. `None` when no such values were found, which does
/// not prove that there are none.
pub(crate) fn choose_stimulus(
    semantics: &mut Semantics,
    set: SetId,
    offer: &Offer,
    wanted: Option<OfferedSwitch>,
    rng: &mut TestRng,
) -> Option<(Action, Followed)> {
    if semantics.sts().label(offer.label).parameters.is_empty() {
        return follow(semantics, set, Action::plain(offer.label));
    }
    let condition = condition(semantics, set, offer, wanted);
    let values = guess(semantics.sts(), offer.label, &condition, rng)?;
    let action = Action {
        label: offer.label,
        values,
    };
    follow(semantics, set, action)
}

fn follow(semantics: &mut Semantics, set: SetId, action: Action) -> Option<(Action, Followed)> {
    let step = Step::Stimulus(action);
    let followed = semantics.follow(set, &step)?;
    match step {
        Step::Stimulus(action) => Some((action, followed)),
        _ => None,
    }
}

fn condition(
    semantics: &mut Semantics,
    set: SetId,
    offer: &Offer,
    wanted: Option<OfferedSwitch>,
) -> Expr {
    let Some(wanted) = wanted else {
        return semantics.offer_condition(set, offer);
    };
    let alone = Offer {
        label: offer.label,
        switches: vec![wanted],
    };
    let own = semantics.offer_condition(set, &alone);
    match semantics.relation() {
        Relation::Ioco => own,
        Relation::Uioco => Expr::and(own, semantics.offer_condition(set, offer)),
    }
}

/// Values that make `condition` true, found by trying likely ones: the constants that the
/// condition speaks of and their neighbours, the ends of the types, and random ones.
fn guess(sts: &Sts, label: LabelId, condition: &Expr, rng: &mut TestRng) -> Option<Vec<Value>> {
    let parameters = &sts.label(label).parameters;
    let mentioned = condition.params();
    let constants = constants(condition);
    let mut values = vec![Value::Void; parameters.len()];
    for attempt in 0..GUESSES {
        for (position, parameter) in parameters.iter().enumerate() {
            if mentioned.contains(&(position as u32)) {
                values[position] = candidate(sts, &parameter.ty, &constants, rng);
            }
        }
        // The last try leaves everything unset: a guard may ask for just that.
        if attempt + 1 == GUESSES {
            values.fill(Value::Void);
        }
        let env = Env {
            variables: &[],
            parameters: &values,
            functions: sts.functions(),
        };
        if condition.holds(env) == Ok(true) {
            return Some(values);
        }
        if mentioned.is_empty() {
            return None;
        }
    }
    None
}

fn constants(condition: &Expr) -> Vec<Value> {
    let mut found = Vec::new();
    condition.walk(&mut |expr| {
        if let Expr::Const(value) = expr
            && !value.is_void()
            && !found.contains(value)
        {
            found.push(value.clone());
        }
    });
    found
}

fn candidate(sts: &Sts, ty: &Type, constants: &[Value], rng: &mut TestRng) -> Value {
    let fitting: Vec<&Value> = constants
        .iter()
        .filter(|value| sts.types().fits(value, ty))
        .collect();
    if !fitting.is_empty() && rng.random_bool(0.5) {
        let constant = fitting[rng.random_range(0..fitting.len())].clone();
        return match (constant, ty.int_range()) {
            (Value::Int(value), Some(range)) => {
                let near = value.saturating_add(rng.random_range(-1..=1));
                Value::Int(near.clamp(range.min, range.max))
            }
            (other, _) => other,
        };
    }
    match ty {
        Type::Bool => Value::Bool(rng.random()),
        Type::Int(_) | Type::Date | Type::Time => {
            let range = ty.int_range().unwrap_or(ioco_sts::IntRange::FULL);
            match rng.random_range(0..8) {
                0 => Value::Int(range.min),
                1 => Value::Int(range.max),
                2..=4 => Value::Int(rng.random_range(-100..=100).clamp(range.min, range.max)),
                _ => Value::Int(rng.random_range(range.min..=range.max)),
            }
        }
        Type::Decimal => Value::Decimal(rng.random_range(-100i64..=100).into()),
        Type::Str => Value::str(["", "a", "abc", "0"][rng.random_range(0..4)]),
        Type::Enum(id) => {
            let members = sts
                .types()
                .enums
                .get(id.index())
                .map_or(0, |e| e.members.len());
            match members as u32 {
                0 => Value::Void,
                members => Value::Enum(*id, rng.random_range(0..members)),
            }
        }
        Type::Array(_) | Type::Struct(_) => Value::Void,
    }
}

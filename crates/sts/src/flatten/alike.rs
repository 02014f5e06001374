//! Flattening two systems for a comparison: what one of them gives a meaning to is tried on the
//! other one, too. Alone, each would be explored with its own values only, and two guards on the
//! same parameter could look like two different labels.

use ioco_budget::Interrupt;
use rustc_hash::FxHashSet;

use super::{Explorer, FlattenError};
use crate::action::Action;
use crate::compare::Side;
use crate::expr::Expr;
use crate::ids::EnumId;
use crate::sts::{Gate, Sts};
use crate::types::{Type, Types};
use crate::value::Value;

/// Flattens both, so that labels of the same name and values have the same name in both; the error
/// says which of them cannot be. Plain systems of one process stay as they are.
pub fn flatten_alike(
    left: &Sts,
    right: &Sts,
    limit: usize,
) -> Result<(Sts, Sts), (Side, FlattenError)> {
    if is_flat(left) && is_flat(right) {
        return Ok((left.clone(), right.clone()));
    }
    let mut for_left: Vec<Action> = Vec::new();
    let mut for_right: Vec<Action> = Vec::new();
    let never = Interrupt::default();
    loop {
        let explored_left = Explorer::explored(left, limit, &for_left, &never)
            .map_err(|error| (Side::Left, error))?;
        let explored_right = Explorer::explored(right, limit, &for_right, &never)
            .map_err(|error| (Side::Right, error))?;
        let new_left = unknown(&explored_right, &explored_left);
        let new_right = unknown(&explored_left, &explored_right);
        if new_left.is_empty() && new_right.is_empty() {
            return Ok((explored_left.build(), explored_right.build()));
        }
        for_left.extend(new_left);
        for_right.extend(new_right);
    }
}

fn is_flat(sts: &Sts) -> bool {
    let flat_gate = |gate: Gate| matches!(gate, Gate::Tau | Gate::Observable(_));
    let plain = sts.is_plain() && sts.processes().len() == 1;
    plain
        && sts
            .switches()
            .iter()
            .all(|s| s.guard == Expr::TRUE && flat_gate(s.gate))
}

/// The actions of one that the other could have and does not know.
fn unknown(from: &Explorer<'_>, to: &Explorer<'_>) -> Vec<Action> {
    let known: FxHashSet<&Action> = to.actions.iter().collect();
    let translated = from
        .actions
        .iter()
        .filter_map(|action| translate(from.sts, to.sts, action));
    translated
        .filter(|action| !known.contains(action))
        .collect()
}

/// The action with the label of the same name, where that has parameters that the values fit.
fn translate(from: &Sts, to: &Sts, action: &Action) -> Option<Action> {
    let label = from.label(action.label);
    let id = to.label_named(label.direction, &label.name)?;
    let parameters = &to.label(id).parameters;
    if parameters.len() != action.values.len() {
        return None;
    }
    let values = action.values.iter().zip(parameters);
    let values = values.map(|(value, parameter)| {
        let value = renumbered(value, from.types(), &parameter.ty, to.types())?;
        to.types().fits(&value, &parameter.ty).then_some(value)
    });
    Some(Action {
        label: id,
        values: values.collect::<Option<_>>()?,
    })
}

/// Members of enumerations go by their names, structures by the order of their fields.
fn renumbered(value: &Value, from: &Types, ty: &Type, to: &Types) -> Option<Value> {
    Some(match (value, ty) {
        (Value::Enum(id, member), Type::Enum(wanted)) => {
            let name = from.member_name(*id, *member);
            let members = &to.enums.get(wanted.index())?.members;
            let position = members.iter().position(|known| known == name)?;
            Value::Enum(EnumId(wanted.0), u32::try_from(position).ok()?)
        }
        (Value::Array(items), Type::Array(item)) => {
            let items = items.iter().map(|v| renumbered(v, from, item, to));
            Value::Array(items.collect::<Option<_>>()?)
        }
        (Value::Struct(_, fields), Type::Struct(wanted)) => {
            let types = &to.structs.get(wanted.index())?.fields;
            let fields = fields.iter().zip(types);
            let fields = fields.map(|(v, (_, ty))| renumbered(v, from, ty, to));
            Value::Struct(*wanted, fields.collect::<Option<_>>()?)
        }
        _ => value.clone(),
    })
}

//! Which values of which parameters are worth a trace.

use ioco_sts::{BinaryOp, Env, Expr, Gate, Sts, SwitchId, Type, Value};

use super::{ValueGoal, WantedValues};
use crate::cover::ReachableValues;

/// The observable switches, and the parameters that their guards or updates speak of.
fn spoken_of(sts: &Sts) -> Vec<(SwitchId, Vec<u32>)> {
    let mut found = Vec::new();
    for (index, switch) in sts.switches().iter().enumerate() {
        if !matches!(switch.gate, Gate::Observable(_)) {
            continue;
        }
        let mut parameters = switch.guard.params();
        for assignment in &switch.update {
            parameters.extend(assignment.value.params());
        }
        found.push((
            SwitchId::from_index(index),
            parameters.into_iter().collect(),
        ));
    }
    found
}

fn parameter_type(sts: &Sts, switch: SwitchId, position: u32) -> Option<&Type> {
    let label = sts.switch(switch).gate.label()?;
    let parameter = sts.label(label).parameters.get(position as usize)?;
    Some(&parameter.ty)
}

/// The smallest and the largest value of everything that has an order.
pub(super) fn extremes(sts: &Sts) -> Vec<ValueGoal> {
    let mut goals = Vec::new();
    for (switch, parameters) in spoken_of(sts) {
        for position in parameters {
            let ordered = matches!(
                parameter_type(sts, switch, position),
                Some(Type::Int(_) | Type::Decimal | Type::Bool | Type::Enum(_))
                    | Some(Type::Date | Type::Time)
            );
            if ordered {
                let wanted = [
                    WantedValues::Least(position),
                    WantedValues::Greatest(position),
                ];
                goals.extend(wanted.map(|wanted| ValueGoal { switch, wanted }));
            }
        }
    }
    goals
}

/// The limits that guards name, where they do not contradict the guard itself.
pub(super) fn boundaries(
    sts: &Sts,
    reach: &mut ReachableValues<'_>,
    stop: &mut dyn FnMut() -> bool,
) -> Vec<ValueGoal> {
    let mut goals = Vec::new();
    for (switch, parameters) in spoken_of(sts) {
        for position in parameters {
            for limit in limits(sts, switch, position) {
                if stop() {
                    return goals;
                }
                let equal = equal(position, limit.clone());
                if !reach.contradicts(switch, &equal) {
                    let wanted = WantedValues::Values(vec![(position, limit)]);
                    goals.push(ValueGoal { switch, wanted });
                }
            }
        }
    }
    goals
}

/// Per two parameters of a switch, every combination of their values of interest.
pub(super) fn pairs(sts: &Sts, values: impl Fn(SwitchId, u32) -> Vec<Expr>) -> Vec<ValueGoal> {
    let mut goals = Vec::new();
    for (switch, parameters) in spoken_of(sts) {
        for (index, first) in parameters.iter().enumerate() {
            for second in &parameters[index + 1..] {
                for one in values(switch, *first) {
                    for other in values(switch, *second) {
                        let both = vec![(*first, one.clone()), (*second, other)];
                        let wanted = WantedValues::Values(both);
                        goals.push(ValueGoal { switch, wanted });
                    }
                }
            }
        }
    }
    goals
}

pub(super) fn equal(position: u32, value: Expr) -> Expr {
    Expr::binary(BinaryOp::Eq, Expr::Param(position), value)
}

/// The values that a guard compares a parameter with, as expressions over variables, and for whole
/// numbers those next to them.
fn limits(sts: &Sts, switch: SwitchId, position: u32) -> Vec<Expr> {
    let Some(ty) = parameter_type(sts, switch, position) else {
        return Vec::new();
    };
    let mut named = Vec::new();
    sts.switch(switch).guard.walk(&mut |part| match part {
        Expr::Binary(
            BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge,
            both,
        ) => {
            named.extend(solved(&both[0], &both[1], position));
            named.extend(solved(&both[1], &both[0], position));
        }
        Expr::InRange(all) => {
            named.extend(solved(&all[0], &all[1], position));
            named.extend(solved(&all[0], &all[2], position));
        }
        Expr::InSet(subject, items) => {
            named.extend(items.iter().filter_map(|i| solved(subject, i, position)));
        }
        _ => {}
    });
    let mut found: Vec<Expr> = Vec::new();
    let env = Env {
        variables: &[],
        parameters: &[],
        functions: sts.functions(),
    };
    for limit in named {
        let near = match ty {
            Type::Int(_) => vec![
                Expr::binary(BinaryOp::Sub, limit.clone(), Expr::int(1)),
                limit.clone(),
                Expr::binary(BinaryOp::Add, limit, Expr::int(1)),
            ],
            _ => vec![limit],
        };
        for expr in near {
            let expr = match expr.vars().is_empty() {
                false => expr,
                true => match expr.eval(env) {
                    Ok(value) if !value.is_void() && sts.types().fits(&value, ty) => {
                        Expr::Const(value)
                    }
                    _ => continue,
                },
            };
            if !found.contains(&expr) {
                found.push(expr);
            }
        }
    }
    if *ty == Type::Bool {
        found = [false, true].map(|b| Expr::Const(Value::Bool(b))).to_vec();
    }
    found
}

/// The value of a parameter at which `subject` is `other`: for the parameter itself, and with
/// something added or taken away.
fn solved(subject: &Expr, other: &Expr, position: u32) -> Option<Expr> {
    if other.mentions_params() {
        return None;
    }
    match subject {
        Expr::Param(parameter) => (*parameter == position).then(|| other.clone()),
        Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), both) => {
            let [left, right] = &**both;
            let moved =
                |back: BinaryOp, known: &Expr| Expr::binary(back, other.clone(), known.clone());
            match (op, left.mentions_params(), right.mentions_params()) {
                (BinaryOp::Add, true, false) => {
                    solved(left, &moved(BinaryOp::Sub, right), position)
                }
                (BinaryOp::Add, false, true) => {
                    solved(right, &moved(BinaryOp::Sub, left), position)
                }
                (_, true, false) => solved(left, &moved(BinaryOp::Add, right), position),
                (_, false, true) => {
                    let moved = Expr::binary(BinaryOp::Sub, left.clone(), other.clone());
                    solved(right, &moved, position)
                }
                _ => None,
            }
        }
        _ => None,
    }
}

//! Values for the parameters of a label: a choice for a stimulus, and the boundary values that are
//! worth testing.

use std::collections::BTreeSet;

use ioco_sts::{BinaryOp, Env, Expr, LabelId, Sts, Type, Value};

use crate::backwards::{backwards, exact_inverse, known};
use crate::fast::{self, Reading};
use crate::goal::Constants;
use crate::optimum::{Sense, optimum};
use crate::outcome::{Deadline, Outcome};
use crate::propose::or_proposed;
use crate::query::Query;
use crate::search::Choice;

/// Steps for what parameters are compared with.
const KNOWN_STEPS: u64 = 60_000;

/// Values for the parameters of `label` such that `guard` holds where the variables have the
/// values of `valuation`. Every parameter is set, to any value of its type where the guard does not
/// mention it, unless the guard holds only without it.
pub fn choose_values(
    sts: &Sts,
    label: LabelId,
    guard: &Expr,
    valuation: &[Value],
    rng: &mut dyn rand::Rng,
    deadline: &Deadline<'_>,
) -> Outcome<Vec<Value>> {
    match fast::read(sts, label, guard, valuation) {
        Reading::Never => return Outcome::Unsat,
        Reading::Slots(slots) => {
            let values: Option<Vec<Value>> = slots.iter().map(|s| s.pick(rng)).collect();
            if let Some(values) = values
                && holds(sts, guard, valuation, &values)
            {
                return Outcome::Sat(values);
            }
        }
        Reading::Unclear => {}
    }
    let mut values = vec![Value::Void; sts.label(label).parameters.len()];
    for group in groups(&guard.with_values(valuation), values.len()) {
        match choose_together(sts, label, &group, rng, deadline) {
            Outcome::Sat(found) => {
                for (position, value) in group.parameters.iter().zip(found) {
                    values[*position] = value;
                }
            }
            other => return other,
        }
    }
    Outcome::Sat(values)
}

/// Parameters that conditions connect, and these conditions, in which the parameters are counted anew.
struct Group {
    parameters: Vec<usize>,
    conditions: Vec<Expr>,
}

/// Parts of a guard that share no parameter. Each is a question of its own: searched together, the ways of one part
/// would be tried again for every way of the others.
fn groups(guard: &Expr, count: usize) -> Vec<Group> {
    let conjuncts = guard.conjuncts();
    if count == 0 {
        let conditions = conjuncts.into_iter().cloned().collect();
        return vec![Group {
            parameters: Vec::new(),
            conditions,
        }];
    }
    let mentioned: Vec<Vec<usize>> = conjuncts
        .iter()
        .map(|conjunct| {
            let mut found = Vec::new();
            conjunct.walk(&mut |e| {
                if let Expr::Param(position) = e {
                    found.push(*position as usize);
                }
            });
            found
        })
        .collect();
    // The smallest parameter of each group stands for it.
    let mut leader: Vec<usize> = (0..count).collect();
    for parameters in &mentioned {
        let leaders: Vec<usize> = parameters.iter().map(|p| leader[*p]).collect();
        let Some(first) = leaders.iter().min() else {
            continue;
        };
        for other in &mut leader {
            if leaders.contains(other) {
                *other = *first;
            }
        }
    }
    let mut groups: Vec<Group> = Vec::new();
    for of in (0..count).filter(|p| leader[*p] == *p) {
        let parameters: Vec<usize> = (of..count).filter(|p| leader[*p] == of).collect();
        // A condition on no parameter belongs to the first group.
        let belongs = |mentioned: &&Vec<usize>| match mentioned.first() {
            Some(parameter) => leader[*parameter] == of,
            None => of == 0,
        };
        let own = mentioned.iter().zip(&conjuncts).filter(|(m, _)| belongs(m));
        let conditions = own
            .map(|(_, conjunct)| {
                conjunct.substitute(&|e| match e {
                    Expr::Param(position) => parameters
                        .binary_search(&(*position as usize))
                        .ok()
                        .map(|place| Expr::Param(place as u32)),
                    _ => None,
                })
            })
            .collect();
        groups.push(Group {
            parameters,
            conditions,
        });
    }
    groups
}

fn choose_together(
    sts: &Sts,
    label: LabelId,
    group: &Group,
    rng: &mut dyn rand::Rng,
    deadline: &Deadline<'_>,
) -> Outcome<Vec<Value>> {
    let query = |unset: bool| {
        let mut query = Query::new(sts.types(), sts.functions());
        for position in &group.parameters {
            query.unknown(&sts.label(label).parameters[*position].ty, unset);
        }
        query.conditions.clone_from(&group.conditions);
        query
    };
    match query(false).solve(&mut Choice::Random(rng), deadline) {
        Outcome::Sat(values) => Outcome::Sat(values),
        // All set cannot be, or was not found: some of them may stay unset.
        _ => {
            let query = query(true);
            let outcome = query.solve(&mut Choice::Random(rng), deadline);
            or_proposed(outcome, &query, deadline)
        }
    }
}

/// As [`choose_values`], with the smallest or the largest value for every parameter at once; `None`
/// where these cannot be read off the guard.
pub fn extreme_values(
    sts: &Sts,
    label: LabelId,
    guard: &Expr,
    valuation: &[Value],
    largest: bool,
) -> Option<Vec<Value>> {
    let Reading::Slots(slots) = fast::read(sts, label, guard, valuation) else {
        return None;
    };
    let values: Option<Vec<Value>> = slots.iter().map(|s| s.extreme(largest)).collect();
    values.filter(|values| holds(sts, guard, valuation, values))
}

pub(crate) fn holds(sts: &Sts, guard: &Expr, valuation: &[Value], parameters: &[Value]) -> bool {
    let env = Env {
        variables: valuation,
        parameters,
        functions: sts.functions(),
    };
    guard.holds(env) == Ok(true)
}

/// Whether parameters may be `:void`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unset {
    /// None.
    Avoided,
    /// Any.
    Allowed,
}

/// The question for the parameters alone: variables are replaced by their values.
pub(crate) fn parameters_query<'a>(
    sts: &'a Sts,
    label: LabelId,
    guard: &Expr,
    valuation: &[Value],
    unset: Unset,
) -> Query<'a> {
    let mut query = Query::new(sts.types(), sts.functions());
    for parameter in &sts.label(label).parameters {
        query.unknown(&parameter.ty, unset == Unset::Allowed);
    }
    query.conditions.push(guard.with_values(valuation));
    query
}

/// The values of one parameter that are worth testing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Boundaries {
    pub parameter: u32,
    /// The smallest feasible value, for numbers, booleans and enum members.
    pub minimum: Outcome<Value>,
    pub maximum: Outcome<Value>,
    /// Feasible values at the limits of the sub-domains: what it is compared with, and the values
    /// next to that; sorted.
    pub limits: Vec<Value>,
}

/// Per parameter of these, its extremes and the limits of its sub-domains, all feasible together with some values of
/// the other parameters. Of a switch they are usually the ones that decide
/// ([`ioco_sts::Switch::deciding_parameters`]).
pub fn boundary_values(
    sts: &Sts,
    label: LabelId,
    guard: &Expr,
    of: &BTreeSet<u32>,
    valuation: &[Value],
    deadline: &Deadline<'_>,
) -> Vec<Boundaries> {
    let query = parameters_query(sts, label, guard, valuation, Unset::Avoided);
    let parameters = &sts.label(label).parameters;
    let mut all = Vec::new();
    for &unknown in of {
        let Some(parameter) = parameters.get(unknown as usize) else {
            continue;
        };
        let minimum = optimum(&query, unknown, Sense::Smallest, deadline);
        let maximum = optimum(&query, unknown, Sense::Largest, deadline);
        let mut candidates: BTreeSet<Value> = BTreeSet::new();
        candidates.extend(minimum.clone().sat());
        candidates.extend(maximum.clone().sat());
        near_comparisons(&query, unknown, &parameter.ty, sts, &mut candidates);
        let limits = candidates
            .into_iter()
            .filter(|value| {
                let mut fixed = query.clone();
                let equal = [Expr::Param(unknown), Expr::Const(value.clone())];
                fixed
                    .conditions
                    .insert(0, Expr::Binary(BinaryOp::Eq, Box::new(equal)));
                fixed.solve(&mut Choice::Plain, deadline).is_sat()
            })
            .collect();
        all.push(Boundaries {
            parameter: unknown,
            minimum,
            maximum,
            limits,
        });
    }
    all
}

/// The constants that an unknown is compared with, and their neighbours.
fn near_comparisons(
    query: &Query<'_>,
    unknown: u32,
    ty: &Type,
    sts: &Sts,
    found: &mut BTreeSet<Value>,
) {
    let mut operands: Vec<Value> = Vec::new();
    let deadline = Deadline::steps(KNOWN_STEPS);
    let env = Env {
        variables: &[],
        parameters: &[],
        functions: query.functions,
    };
    for condition in &query.conditions {
        condition.walk(&mut |e| {
            let mut compared = |subject: &Expr, other: &Expr| {
                let equal = known(other, env, &deadline)
                    .and_then(|value| backwards(subject, value, env, exact_inverse, &deadline));
                operands.extend(
                    equal
                        .filter(|(of, _)| *of == unknown)
                        .map(|(_, value)| value),
                );
            };
            match e {
                Expr::Binary(
                    BinaryOp::Eq
                    | BinaryOp::Ne
                    | BinaryOp::Lt
                    | BinaryOp::Le
                    | BinaryOp::Gt
                    | BinaryOp::Ge
                    | BinaryOp::Min
                    | BinaryOp::Max,
                    both,
                ) => {
                    compared(&both[0], &both[1]);
                    compared(&both[1], &both[0]);
                }
                Expr::InRange(all) => {
                    compared(&all[0], &all[1]);
                    compared(&all[0], &all[2]);
                }
                Expr::InSet(subject, items) => items.iter().for_each(|i| compared(subject, i)),
                _ => {}
            }
        });
    }
    let scale = Constants::of(&query.conditions, query.functions).scale;
    for operand in operands {
        let neighbours = match (&operand, ty) {
            (Value::Int(value), Type::Int(_) | Type::Date | Type::Time) => vec![
                Value::Int(value.saturating_sub(1)),
                Value::Int(*value),
                Value::Int(value.saturating_add(1)),
            ],
            (Value::Int(_) | Value::Decimal(_), Type::Decimal) => {
                let value = match &operand {
                    Value::Int(value) => rust_decimal::Decimal::from(*value),
                    Value::Decimal(value) => *value,
                    _ => continue,
                };
                let unit = rust_decimal::Decimal::new(1, scale.min(20));
                [
                    value.checked_sub(unit),
                    Some(value),
                    value.checked_add(unit),
                ]
                .into_iter()
                .flatten()
                .map(Value::Decimal)
                .collect()
            }
            (Value::Enum(id, member), _) => vec![
                Value::Enum(*id, member.saturating_sub(1)),
                operand.clone(),
                Value::Enum(*id, member.saturating_add(1)),
            ],
            _ => vec![operand],
        };
        found.extend(neighbours.into_iter().filter(|v| sts.types().fits(v, ty)));
    }
}

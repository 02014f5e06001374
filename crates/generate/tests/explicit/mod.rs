//! What a move does, by trying every value: only for models with small finite types.

// Every test file compiles this for itself and uses its own part of it.
#![allow(dead_code)]

use std::collections::BTreeSet;

use ioco_generate::{Move, moves_from};
use ioco_sts::{BinaryOp, Env, Expr, LocationId, State, Sts, SwitchId, Value};

use crate::common::reference;

pub fn initial(sts: &Sts) -> State {
    State {
        locations: sts.processes().iter().map(|p| p.initial).collect(),
        valuation: sts.variables().iter().map(|v| v.initial.clone()).collect(),
    }
}

/// Everything that can be visited and taken.
pub fn reachable(sts: &Sts) -> (BTreeSet<LocationId>, BTreeSet<SwitchId>) {
    let start = initial(sts);
    let mut locations: BTreeSet<LocationId> = start.locations.iter().copied().collect();
    let mut switches = BTreeSet::new();
    let mut seen = BTreeSet::from([start.clone()]);
    let mut open = vec![start];
    while let Some(state) = open.pop() {
        for step in moves_from(sts, &state.locations) {
            for next in successors(sts, &state, &step) {
                switches.extend(step.switches.iter().copied());
                locations.extend(next.locations.iter().copied());
                if seen.insert(next.clone()) {
                    open.push(next);
                }
            }
        }
    }
    (locations, switches)
}

/// All reachable states.
pub fn states(sts: &Sts) -> BTreeSet<State> {
    let start = initial(sts);
    let mut seen = BTreeSet::from([start.clone()]);
    let mut open = vec![start];
    while let Some(state) = open.pop() {
        for step in moves_from(sts, &state.locations) {
            for next in successors(sts, &state, &step) {
                if seen.insert(next.clone()) {
                    open.push(next);
                }
            }
        }
    }
    seen
}

/// How a guard came out when it was evaluated, and its conditions from left to right: how each came
/// out, and whether it alone decided.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Evaluation {
    pub guard: Option<bool>,
    pub conditions: Vec<(Option<bool>, bool)>,
}

/// Every way in which the guard of a switch is evaluated: where its source is reached, and with the
/// values of steps with its label, where it speaks of parameters.
pub fn evaluations(sts: &Sts, states: &BTreeSet<State>, id: SwitchId) -> BTreeSet<Evaluation> {
    let switch = sts.switch(id);
    let mut found = BTreeSet::new();
    for state in states {
        if !state.locations.contains(&switch.source) {
            continue;
        }
        if !switch.guard.mentions_params() {
            found.insert(evaluate(&switch.guard, env(sts, state, &[])));
            continue;
        }
        for step in moves_from(sts, &state.locations) {
            let same = |other: &SwitchId| {
                let other = sts.switch(*other);
                other.source == switch.source && other.gate == switch.gate
            };
            if step.switches.iter().any(same) {
                for values in taken_with(sts, state, &step) {
                    found.insert(evaluate(&switch.guard, env(sts, state, &values)));
                }
            }
        }
    }
    found
}

fn evaluate(guard: &Expr, env: Env<'_>) -> Evaluation {
    let mut conditions = Vec::new();
    outcomes(guard, true, env, &mut conditions);
    Evaluation {
        guard: guard.holds(env).ok(),
        conditions,
    }
}

fn outcomes(part: &Expr, decides: bool, env: Env<'_>, found: &mut Vec<(Option<bool>, bool)>) {
    match part {
        Expr::Const(_) => {}
        Expr::Unary(ioco_sts::UnaryOp::Not, inner) => outcomes(inner, decides, env, found),
        Expr::Binary(BinaryOp::And, both) => {
            outcomes(
                &both[0],
                decides && both[1].holds(env) == Ok(true),
                env,
                found,
            );
            outcomes(
                &both[1],
                decides && both[0].holds(env) == Ok(true),
                env,
                found,
            );
        }
        Expr::Binary(BinaryOp::Or, both) => {
            outcomes(
                &both[0],
                decides && both[1].holds(env) == Ok(false),
                env,
                found,
            );
            outcomes(
                &both[1],
                decides && both[0].holds(env) == Ok(false),
                env,
                found,
            );
        }
        _ => found.push((part.holds(env).ok(), decides)),
    }
}

/// The values with which a move can be made from a state, by trying all.
pub fn taken_with(sts: &Sts, state: &State, step: &Move) -> Vec<Vec<Value>> {
    let values = match step.label {
        Some(label) => reference::combinations(sts, label),
        None => vec![Vec::new()],
    };
    let allowed = values
        .iter()
        .filter(|values| guards_hold(sts, state, step, values))
        .collect();
    let mut found: Vec<Vec<Value>> = Vec::new();
    for values in handshake_values(sts, step, allowed) {
        if after(sts, state, step, values).is_some() {
            found.push(values.clone());
        }
    }
    found
}

/// The states that a move leads to from one state, by trying every value.
pub fn successors(sts: &Sts, state: &State, step: &Move) -> BTreeSet<State> {
    taken_with(sts, state, step)
        .iter()
        .filter_map(|values| after(sts, state, step, values))
        .collect()
}

/// The state after a move with these values, where its guards hold.
pub fn take(sts: &Sts, state: &State, step: &Move, values: &[Value]) -> Option<State> {
    match guards_hold(sts, state, step, values) {
        true => after(sts, state, step, values),
        false => None,
    }
}

/// The state after a move with these values, where every assigned value fits.
fn after(sts: &Sts, state: &State, step: &Move, values: &[Value]) -> Option<State> {
    let mut next = state.clone();
    for id in &step.switches {
        let switch = sts.switch(*id);
        for assignment in &switch.update {
            let value = assignment.value.eval(env(sts, state, values)).ok()?;
            let variable = assignment.variable;
            if !sts.types().fits(&value, &sts.variable(variable).ty) {
                return None;
            }
            next.valuation[variable.index()] = value;
        }
        next.locations[sts.location(switch.source).process.index()] = switch.target;
    }
    Some(next)
}

fn env<'a>(sts: &'a Sts, state: &'a State, values: &'a [Value]) -> Env<'a> {
    Env {
        variables: &state.valuation,
        parameters: values,
        functions: sts.functions(),
    }
}

fn guards_hold(sts: &Sts, state: &State, step: &Move, values: &[Value]) -> bool {
    step.switches
        .iter()
        .all(|id| sts.switch(*id).guard.holds(env(sts, state, values)) == Ok(true))
}

/// A hand-shake sends a value wherever one is possible, and only where a guard speaks of one.
fn handshake_values<'a>(
    sts: &Sts,
    step: &Move,
    mut allowed: Vec<&'a Vec<Value>>,
) -> Vec<&'a Vec<Value>> {
    let Some(label) = step.label.filter(|_| !step.observable) else {
        return allowed;
    };
    for position in 0..sts.label(label).parameters.len() {
        let mentioned = step
            .switches
            .iter()
            .any(|id| sts.switch(*id).guard.params().contains(&(position as u32)));
        if !mentioned {
            allowed.retain(|values| values[position].is_void());
        } else if allowed.iter().any(|values| !values[position].is_void()) {
            allowed.retain(|values| !values[position].is_void());
        }
    }
    allowed
}

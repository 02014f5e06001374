//! What a move does, by trying every value: only for models with small finite types.

// Every test file compiles this for itself and uses its own part of it.
#![allow(dead_code)]

use std::collections::BTreeSet;

use ioco_generate::{Move, moves_from};
use ioco_sts::{Env, LocationId, State, Sts, SwitchId, Value};

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

/// The states that a move leads to from one state, by trying every value.
pub fn successors(sts: &Sts, state: &State, step: &Move) -> BTreeSet<State> {
    let values = match step.label {
        Some(label) => reference::combinations(sts, label),
        None => vec![Vec::new()],
    };
    let allowed: Vec<&Vec<Value>> = values
        .iter()
        .filter(|values| guards_hold(sts, state, step, values))
        .collect();
    let mut found = BTreeSet::new();
    for values in handshake_values(sts, step, allowed) {
        let mut next = state.clone();
        let taken = step.switches.iter().all(|id| {
            let switch = sts.switch(*id);
            let env = env(sts, state, values);
            for assignment in &switch.update {
                let Ok(value) = assignment.value.eval(env) else {
                    return false;
                };
                if !sts
                    .types()
                    .fits(&value, &sts.variable(assignment.variable).ty)
                {
                    return false;
                }
                next.valuation[assignment.variable.index()] = value;
            }
            next.locations[sts.location(switch.source).process.index()] = switch.target;
            true
        });
        if taken {
            found.insert(next);
        }
    }
    found
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

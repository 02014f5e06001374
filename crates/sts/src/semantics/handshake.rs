//! Hand-shakes between processes: the sender offers values, and every process that declares the
//! label takes part at the same moment.

use std::sync::Arc;

use super::closure::InternalSteps;
use super::{Semantics, Warning};
use crate::eval::Env;
use crate::expr::{BinaryOp, Expr};
use crate::ids::{LabelId, SwitchId};
use crate::state::State;
use crate::sts::{Gate, Sts};
use crate::types::Type;
use crate::value::Value;

/// More combinations of parameter values than this are not enumerated.
const MAX_VALUES: usize = 1024;

impl Semantics {
    /// Adds to `found` every hand-shake on `label` that `sender` can start in `state`.
    pub(super) fn handshakes(
        &mut self,
        sender: SwitchId,
        label: LabelId,
        state: &State,
        found: &mut InternalSteps,
    ) {
        let sts = Arc::clone(&self.sts);
        let own = sts.location(sts.switch(sender).source).process;
        // One receiving switch per other participant, in all combinations.
        let mut groups: Vec<Vec<SwitchId>> = vec![vec![sender]];
        for &process in sts.participants(label) {
            if process == own {
                continue;
            }
            let location = state.locations[process.index()];
            let receivers: Vec<SwitchId> = sts
                .outgoing(location)
                .iter()
                .copied()
                .filter(|id| sts.switch(*id).gate == Gate::Receive(label))
                .collect();
            groups = groups
                .into_iter()
                .flat_map(|group| {
                    receivers.iter().map(move |r| {
                        let mut longer = group.clone();
                        longer.push(*r);
                        longer
                    })
                })
                .collect();
        }
        for group in groups {
            // A hand-shake needs somebody on the other side.
            if group.len() < 2 {
                continue;
            }
            let Some(candidates) = candidate_values(&sts, label, &group, state) else {
                self.warn(Warning::OpenHandshake { switch: sender });
                found.complete = false;
                continue;
            };
            for values in self.allowed(&group, label, state, candidates) {
                if let Some(next) = self.take_together(&group, state, &values) {
                    // Everybody who takes part does a step of their own.
                    found
                        .steps
                        .extend(group.iter().map(|id| (*id, next.clone())));
                }
            }
        }
    }

    /// The values that every guard allows. A parameter that is mentioned is set, unless only
    /// `:void` will do, as a tester would give it.
    fn allowed(
        &mut self,
        group: &[SwitchId],
        label: LabelId,
        state: &State,
        candidates: Vec<Vec<Value>>,
    ) -> Vec<Vec<Value>> {
        let sts = Arc::clone(&self.sts);
        let mut allowed = candidates;
        allowed.retain(|values| {
            group
                .iter()
                .all(|id| self.holds(*id, &sts.switch(*id).guard, state, values))
        });
        for position in 0..sts.label(label).parameters.len() {
            if allowed.iter().any(|values| !values[position].is_void()) {
                allowed.retain(|values| !values[position].is_void());
            }
        }
        allowed
    }

    fn take_together(
        &mut self,
        group: &[SwitchId],
        state: &State,
        values: &[Value],
    ) -> Option<State> {
        let mut next = state.clone();
        for &id in group {
            let alone = self.take(id, state, values)?;
            let sts = Arc::clone(&self.sts);
            let switch = sts.switch(id);
            for assignment in &switch.update {
                let index = assignment.variable.index();
                next.valuation[index] = alone.valuation[index].clone();
            }
            let process = sts.location(switch.source).process.index();
            next.locations[process] = switch.target;
        }
        Some(next)
    }
}

/// The values that the parameters may take: fixed by an equation in a guard where there is one,
/// enumerated where the type is small, unset where nobody mentions them. `None` when a parameter is
/// none of these.
fn candidate_values(
    sts: &Sts,
    label: LabelId,
    group: &[SwitchId],
    state: &State,
) -> Option<Vec<Vec<Value>>> {
    let parameters = &sts.label(label).parameters;
    let mut conjuncts = Vec::new();
    for id in group {
        collect_conjuncts(&sts.switch(*id).guard, &mut conjuncts);
    }
    let mut candidates = vec![vec![Value::Void; parameters.len()]];
    for (position, parameter) in parameters.iter().enumerate() {
        let position = position as u32;
        let choices = match equation(sts, &conjuncts, position, state) {
            Some(value) => vec![value],
            None if !conjuncts.iter().any(|c| c.params().contains(&position)) => vec![Value::Void],
            None => {
                let mut choices = small_domain(sts, &parameter.ty)?;
                choices.push(Value::Void);
                choices
            }
        };
        let fits = |value: &Value| sts.types().fits(value, &parameter.ty);
        let choices: Vec<Value> = choices.into_iter().filter(fits).collect();
        if candidates.len() * choices.len() > MAX_VALUES {
            return None;
        }
        candidates = candidates
            .into_iter()
            .flat_map(|values| {
                choices.iter().map(move |choice| {
                    let mut values = values.clone();
                    values[position as usize] = choice.clone();
                    values
                })
            })
            .collect();
    }
    Some(candidates)
}

fn collect_conjuncts<'a>(expr: &'a Expr, conjuncts: &mut Vec<&'a Expr>) {
    match expr {
        Expr::Binary(BinaryOp::And, both) => {
            collect_conjuncts(&both[0], conjuncts);
            collect_conjuncts(&both[1], conjuncts);
        }
        _ => conjuncts.push(expr),
    }
}

/// The value of `parameter == e` where `e` has no parameters.
fn equation(sts: &Sts, conjuncts: &[&Expr], parameter: u32, state: &State) -> Option<Value> {
    let env = Env {
        variables: &state.valuation,
        parameters: &[],
        functions: sts.functions(),
    };
    conjuncts.iter().find_map(|conjunct| {
        let Expr::Binary(BinaryOp::Eq, both) = conjunct else {
            return None;
        };
        let value = match &**both {
            [Expr::Param(p), other] | [other, Expr::Param(p)]
                if *p == parameter && !other.mentions_params() =>
            {
                other
            }
            _ => return None,
        };
        value.eval(env).ok()
    })
}

fn small_domain(sts: &Sts, ty: &Type) -> Option<Vec<Value>> {
    match ty {
        Type::Bool => Some(vec![Value::Bool(false), Value::Bool(true)]),
        Type::Enum(id) => {
            let members = sts.types().enums.get(id.index())?.members.len() as u32;
            Some(
                (0..members)
                    .map(|member| Value::Enum(*id, member))
                    .collect(),
            )
        }
        Type::Int(range) if (range.max as i128 - range.min as i128) < MAX_VALUES as i128 => {
            Some((range.min..=range.max).map(Value::Int).collect())
        }
        _ => None,
    }
}

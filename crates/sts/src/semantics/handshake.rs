//! Hand-shakes between processes: the sender offers values, and every process that declares the
//! label takes part at the same moment.
//!
//! The values are those for which the guards of all who take part hold: what equations, small types
//! and bounds leave is enumerated, and a solver lists the rest. Where it cannot list them all, the
//! state set is truncated.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::closure::{InternalSteps, LeftOut};
use super::{Question, Semantics, Solved, Taken, Warning};
use crate::expr::{BinaryOp, Expr};
use crate::ids::{LabelId, SwitchId};
use crate::listing::{self, Unlisted};
use crate::state::State;
use crate::value::Value;

/// More combinations of parameter values than this are not enumerated.
const MAX_ENUMERATED: usize = 1024;

/// A solver is asked for so many values at most.
const MAX_SOLVED: usize = 16;

/// Where there are more values than can be listed, so many of them are followed.
const FOLLOWED: usize = 8;

/// The steps that one question to the solver counts.
const STEPS_PER_QUESTION: u64 = 20_000;

/// Lists of values that are remembered.
const REMEMBERED: usize = 1024;

/// The switches that take part, the sender first.
type Group = Box<[SwitchId]>;

/// What is known of the hand-shakes of a model.
#[derive(Default)]
pub(super) struct Handshakes {
    guards: FxHashMap<Group, Arc<JoinedGuard>>,
    listed: FxHashMap<(Group, Box<[Value]>), Listed>,
}

/// The guards of a group in one.
struct JoinedGuard {
    guard: Expr,
    /// The parameters that it mentions. The others are unset.
    open: Vec<usize>,
}

/// Values for which all guards of a group hold.
#[derive(Clone)]
struct Listed {
    values: Arc<[Vec<Value>]>,
    left_out: Option<LeftOut>,
}

impl Semantics {
    /// Adds to `found` every hand-shake on `label` that `sender` can start in `state`.
    pub(super) fn handshakes(
        &mut self,
        sender: SwitchId,
        label: LabelId,
        state: &State,
        found: &mut InternalSteps,
    ) {
        let groups = self.sts.handshakes(&state.locations, sender, label);
        for group in groups {
            let listed = self.values_of(&group, label, state);
            if let Some(left_out) = listed.left_out {
                found.left_out = Some(left_out);
                if matches!(left_out, LeftOut::OpenHandshake(_)) {
                    self.warn(Warning::OpenHandshake { switch: sender });
                }
            }
            for values in &*listed.values {
                match self.take_together(&group, state, values) {
                    Taken::To(next) => {
                        // Every process that takes part does a step of its own.
                        let steps = group.iter().map(|id| (*id, next.clone()));
                        found.steps.extend(steps);
                    }
                    Taken::No => {}
                    Taken::Unknown(exhausted) => {
                        found.left_out = Some(LeftOut::Exhausted(sender, exhausted));
                    }
                }
            }
        }
    }

    /// The values that every guard allows, `:void` as any other. A parameter that no guard mentions is unset.
    fn values_of(&mut self, group: &[SwitchId], label: LabelId, state: &State) -> Listed {
        let together = self.together(group);
        let sts = Arc::clone(&self.sts);
        if together.open.is_empty() {
            // No guard speaks of values: evaluation alone decides, and warns.
            let unset = vec![Value::Void; sts.label(label).parameters.len()];
            return Listed {
                values: Arc::from([unset]),
                left_out: None,
            };
        }
        let key = (Group::from(group), state.valuation.clone());
        if let Some(known) = self.handshakes.listed.get(&key) {
            return known.clone();
        }
        let open = &together.open;
        let guard = &together.guard;
        let valuation = &state.valuation;
        let left = &mut self.left;
        let enumerated = listing::values(&sts, label, guard, open, valuation, MAX_ENUMERATED, left);
        let listed = match enumerated {
            Ok(values) => Listed {
                values: values.into(),
                left_out: None,
            },
            Err(Unlisted::Exhausted(exhausted)) => {
                let switch = group[0];
                self.warn(Warning::Exhausted { switch, exhausted });
                Listed {
                    values: Arc::from([]),
                    left_out: Some(LeftOut::Exhausted(switch, exhausted)),
                }
            }
            Err(Unlisted::Open(_)) => self.solved(group[0], label, &together, state),
        };
        if self.handshakes.listed.len() >= REMEMBERED {
            self.handshakes.listed.clear();
        }
        self.handshakes.listed.insert(key, listed.clone());
        listed
    }

    fn together(&mut self, group: &[SwitchId]) -> Arc<JoinedGuard> {
        if let Some(known) = self.handshakes.guards.get(group) {
            return Arc::clone(known);
        }
        let guards = group.iter().map(|id| self.sts.switch(*id).guard.clone());
        let guard = guards.fold(Expr::TRUE, Expr::and);
        let open = guard.params().into_iter().map(|p| p as usize).collect();
        let together = Arc::new(JoinedGuard { guard, open });
        let key = Group::from(group);
        self.handshakes.guards.insert(key, Arc::clone(&together));
        together
    }

    /// Asks the solver for values, one after the other.
    fn solved(
        &mut self,
        sender: SwitchId,
        label: LabelId,
        together: &JoinedGuard,
        state: &State,
    ) -> Listed {
        let sts = Arc::clone(&self.sts);
        let mut guard = together.guard.clone();
        let mut values: Vec<Vec<Value>> = Vec::new();
        let mut complete = false;
        while values.len() < MAX_SOLVED && self.left >= STEPS_PER_QUESTION {
            self.left -= STEPS_PER_QUESTION;
            let solved = self.solver.solve(Question {
                sts: &sts,
                label,
                guard: &guard,
                valuation: &state.valuation,
            });
            let next = match solved {
                Solved::Values(next) => next,
                Solved::None => {
                    complete = true;
                    break;
                }
                Solved::Unknown => break,
            };
            // A solver that is mistaken must not take part.
            let right = self.holds(&sts, sender, &guard, state, &next) == Ok(true);
            if !right || next.len() != sts.label(label).parameters.len() {
                break;
            }
            let differs = together.open.iter().map(|position| {
                let known = Expr::Const(next[*position].clone());
                Expr::binary(BinaryOp::Ne, Expr::Param(*position as u32), known)
            });
            let differs = differs.reduce(|a, b| Expr::binary(BinaryOp::Or, a, b));
            guard = Expr::and(guard, differs.unwrap_or(Expr::FALSE));
            values.push(next);
        }
        if complete {
            return Listed {
                values: values.into(),
                left_out: None,
            };
        }
        values.truncate(FOLLOWED);
        Listed {
            values: values.into(),
            left_out: Some(LeftOut::OpenHandshake(sender)),
        }
    }

    fn take_together(&mut self, group: &[SwitchId], state: &State, values: &[Value]) -> Taken {
        let sts = Arc::clone(&self.sts);
        let mut next = state.clone();
        for &id in group {
            let alone = match self.take(&sts, id, state, values) {
                Taken::To(alone) => alone,
                other => return other,
            };
            let switch = sts.switch(id);
            for assignment in &switch.update {
                let index = assignment.variable.index();
                next.valuation[index] = alone.valuation[index].clone();
            }
            let process = sts.location(switch.source).process.index();
            next.locations[process] = switch.target;
        }
        Taken::To(next)
    }
}

//! States that a faulty system could be in instead, after the steps of the test so far.
//!
//! Every switch that is taken raises suspicions: an update may have been lost, a variable may be one off, the system may
//! have stayed where it was or gone elsewhere, or taken the switch beside. Each suspicion is a state of the model that
//! is followed beside the right one. An observation that the right state allows and the suspected one does not
//! refutes it: had the fault been there, the test would have failed. A stimulus is worth the suspicions that its response
//! would refute. This is how HSI and the randomised methods (Smeenk et al. 2015) ask a system where it is, on the fly and
//! with data.

use std::sync::Arc;

use ioco_sts::{
    Action, Env, Gate, LocationId, Semantics, SetId, State, StateSet, Step, Sts, SwitchId, Value,
};
use rand::RngExt;

use super::situations::{History, Key, Seen, class_of, key, weight};
use crate::random::TestRng;

/// Suspicions that are followed at the same time.
const MOST: usize = 24;
/// Other locations that a switch is suspected to lead to, in one step.
const MAX_LOCATIONS: usize = 6;
/// What a suspicion must be worth to be followed.
const WORTH: f32 = 0.25;
/// Variables whose values distinguish one case of a fault from another.
const MAX_VARIABLES: usize = 8;

/// A state set that a fault would have led to.
#[derive(Clone)]
pub(super) struct Suspect {
    pub set: Arc<StateSet>,
    /// What it would say about the model, with weights.
    pub keys: Arc<[(Key, f32)]>,
}

/// What can be wrong with a step.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Fault {
    /// The variable keeps its value, is one more or less, or starts anew.
    Kept(usize),
    More(usize),
    Less(usize),
    Restarted(usize),
    /// The system stays where it was, or is here instead.
    Stayed,
    Elsewhere(LocationId),
    /// It takes this switch instead, or only does what this switch does to the variables.
    Instead(SwitchId),
    Updated(SwitchId),
}

/// A step of the right model: one state before it and one after it.
pub(super) struct Happened<'a> {
    pub before: &'a State,
    pub after: &'a State,
    pub switch: SwitchId,
    pub action: Option<&'a Action>,
}

/// What a suspicion is worth now.
pub(super) fn worth(seen: &Seen, suspect: &Suspect) -> f32 {
    suspect
        .keys
        .iter()
        .map(|(key, weight)| seen.worth(*key, *weight))
        .sum()
}

/// Adds the suspicions that a step raises, as far as they are worth following; what all of them are worth.
pub(super) fn raise(
    semantics: &mut Semantics,
    seen: &mut Seen,
    history: &History,
    step: &Happened<'_>,
    rng: &mut TestRng,
    suspects: &mut Vec<Suspect>,
) -> f32 {
    let mut raised = 0.0;
    let sts = Arc::clone(semantics.sts());
    for (fault, state) in faults(&sts, step, rng) {
        let keys = keys_of(&sts, step, fault, history);
        let worth: f32 = keys
            .iter()
            .map(|(key, weight)| seen.worth(*key, *weight))
            .sum();
        if worth < WORTH || state == *step.after {
            continue;
        }
        let id = semantics.suppose(state);
        let set = Arc::clone(semantics.set(id));
        seen.add(raised_key(&keys));
        raised += worth;
        suspects.push(Suspect { set, keys });
    }
    if suspects.len() > MOST {
        let mut worths: Vec<(f32, Suspect)> =
            suspects.drain(..).map(|s| (worth(seen, &s), s)).collect();
        worths.sort_by(|a, b| b.0.total_cmp(&a.0));
        suspects.extend(worths.into_iter().take(MOST).map(|(_, suspect)| suspect));
    }
    raised
}

/// A fault in general, after the switch before it, and with each value of a variable by kind.
fn keys_of(sts: &Sts, step: &Happened<'_>, fault: Fault, history: &History) -> Arc<[(Key, f32)]> {
    let switch = step.switch;
    let mut keys = vec![
        (key((20u8, switch, fault)), weight::FAULT),
        (
            key((21u8, switch, fault, history.last())),
            weight::FAULT_AFTER,
        ),
    ];
    for state in [step.before, step.after] {
        let is_after = std::ptr::eq(state, step.after);
        for (index, value) in state.valuation.iter().enumerate().take(MAX_VARIABLES) {
            let variable = &sts.variables()[index];
            let class = class_of(value, &variable.ty, Some(&variable.initial));
            keys.push((
                key((22u8, switch, fault, index, is_after, class)),
                weight::FAULT_WITH,
            ));
        }
    }
    keys.into()
}

/// The keys of the faults that a step most likely shows later: a lost update, a system that stays where it was.
///
/// A promise that was not kept is worth less the next time: what no response shows is not gone after for ever.
pub(super) fn promise(
    sts: &Sts,
    seen: &Seen,
    step: &Happened<'_>,
    history: &History,
) -> Vec<(Key, f32)> {
    let switch = sts.switch(step.switch);
    let changes = |index: &usize| step.before.valuation[*index] != step.after.valuation[*index];
    let updated = switch.update.iter().map(|a| a.variable.index());
    let lost = updated.filter(changes).map(Fault::Kept);
    let stayed = (switch.target != switch.source).then_some(Fault::Stayed);
    let faults = lost.chain(stayed);
    let promised = faults.flat_map(|fault| {
        let keys = keys_of(sts, step, fault, history);
        let raised = seen.count(raised_key(&keys)) as f32;
        let promised: Vec<(Key, f32)> =
            keys.iter().map(|(k, w)| (*k, w / (1.0 + raised))).collect();
        promised
    });
    promised.collect()
}

/// Counts how often suspicions of this kind were raised.
fn raised_key(keys: &[(Key, f32)]) -> Key {
    key((23u8, keys.first().map(|(key, _)| *key)))
}

fn faults(sts: &Sts, step: &Happened<'_>, rng: &mut TestRng) -> Vec<(Fault, State)> {
    let switch = sts.switch(step.switch);
    let process = sts.location(switch.source).process;
    let mut found = Vec::new();
    let with_value = |index: usize, value: Value| {
        let mut state = step.after.clone();
        state.valuation[index] = value;
        state
    };
    for assignment in &switch.update {
        let index = assignment.variable.index();
        let (old, new) = (&step.before.valuation[index], &step.after.valuation[index]);
        if old != new {
            found.push((Fault::Kept(index), with_value(index, old.clone())));
        }
        if let Value::Int(number) = new {
            for (fault, other) in [
                (Fault::More(index), number.saturating_add(1)),
                (Fault::Less(index), number.saturating_sub(1)),
            ] {
                let value = Value::Int(other);
                if sts.types().fits(&value, &sts.variables()[index].ty) {
                    found.push((fault, with_value(index, value)));
                }
            }
        }
    }
    for (index, variable) in sts.variables().iter().enumerate().take(MAX_VARIABLES) {
        if variable.initial != step.after.valuation[index]
            && variable.initial != step.before.valuation[index]
        {
            found.push((
                Fault::Restarted(index),
                with_value(index, variable.initial.clone()),
            ));
        }
    }
    let at = |location: LocationId| {
        let mut state = step.after.clone();
        state.locations[process.index()] = location;
        state
    };
    if switch.target != switch.source {
        found.push((Fault::Stayed, at(switch.source)));
    }
    let locations = sts.locations();
    let first = rng.random_range(0..locations.len());
    let others = (0..locations.len().min(64)).map(|i| (first + i) % locations.len());
    let others = others
        .filter(|i| locations[*i].process == process)
        .map(LocationId::from_index)
        .filter(|id| *id != switch.target && *id != switch.source);
    for location in others.take(MAX_LOCATIONS) {
        found.push((Fault::Elsewhere(location), at(location)));
    }
    if let Some(action) = step.action {
        beside(sts, step, action, &mut found);
    }
    found
}

/// The other switches of the same label: their guards do not hold, and a fault could take them all the same.
fn beside(sts: &Sts, step: &Happened<'_>, action: &Action, found: &mut Vec<(Fault, State)>) {
    let switch = sts.switch(step.switch);
    let process = sts.location(switch.source).process;
    let env = Env {
        variables: &step.before.valuation,
        parameters: &action.values,
        functions: sts.functions(),
    };
    let same = sts.outgoing(switch.source).iter().filter(|id| {
        **id != step.switch && sts.switch(**id).gate == Gate::Observable(action.label)
    });
    for id in same.take(MAX_LOCATIONS) {
        let other = sts.switch(*id);
        let mut state = step.before.clone();
        let set = |state: &mut State| -> Option<()> {
            for assignment in &other.update {
                let value = assignment.value.eval(env).ok()?;
                let index = assignment.variable.index();
                if !sts.types().fits(&value, &sts.variables()[index].ty) {
                    return None;
                }
                state.valuation[index] = value;
            }
            Some(())
        };
        if set(&mut state).is_some() {
            state.locations[process.index()] = switch.target;
            found.push((Fault::Updated(*id), state.clone()));
            state.locations[process.index()] = other.target;
            found.push((Fault::Instead(*id), state));
        }
    }
}

/// What became of a suspicion by a step of the right model.
pub(super) enum Fate {
    /// The suspected state does not allow what was seen.
    Refuted,
    /// It leads where the right one leads, or to where nothing is known.
    Gone,
    On(SetId),
}

/// Follows one suspicion; `right` is where the right model is after the step.
pub(super) fn follow(semantics: &mut Semantics, at: SetId, step: &Step, right: SetId) -> Fate {
    // A system in this state would have spoken before the stimulus came.
    if matches!(step, Step::Stimulus(_)) && !semantics.menu(at).silence {
        return Fate::Refuted;
    }
    match semantics.after(at, step) {
        Some(next) if next == right => Fate::Gone,
        Some(next) => Fate::On(next),
        None if matches!(step, Step::Stimulus(_)) => Fate::Gone,
        None => Fate::Refuted,
    }
}

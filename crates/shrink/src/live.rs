//! Live variables: data that no guard reads later does not tell states apart.
//!
//! A variable is live in a location if some way from there reads it, in a guard or for a live variable,
//! before it is assigned. Dead ones are put back to their initial value, so that a counter of commands or
//! the name in a greeting does not hide that the model is where it was before. Whether an update overflows
//! is not counted as reading: what rests on this is a proposal, and a run decides about it.

use std::collections::BTreeSet;
use std::sync::Arc;

use ioco_sts::{Semantics, SetId, StateSet, Sts, VarId};
use rustc_hash::FxHashMap;

pub(crate) struct Live {
    /// Per location, the variables that are live in it.
    live: Vec<BTreeSet<VarId>>,
    known: FxHashMap<SetId, SetId>,
    is_plain: bool,
}

impl Live {
    pub fn new(sts: &Sts) -> Live {
        Live {
            live: live_variables(sts),
            known: FxHashMap::default(),
            is_plain: sts.variables().is_empty(),
        }
    }

    /// The same set with every dead variable at its initial value.
    pub fn of(&mut self, semantics: &mut Semantics, set: SetId) -> SetId {
        if self.is_plain {
            return set;
        }
        if let Some(known) = self.known.get(&set) {
            return *known;
        }
        let sts = Arc::clone(semantics.sts());
        let full = Arc::clone(semantics.set(set));
        let mut states = full.states.clone();
        for state in &mut states {
            for (index, value) in state.valuation.iter_mut().enumerate() {
                let variable = VarId::from_index(index);
                let is_live = |location: &ioco_sts::LocationId| {
                    self.live[location.index()].contains(&variable)
                };
                if !state.locations.iter().any(is_live) {
                    *value = sts.variable(variable).initial.clone();
                }
            }
        }
        states.sort();
        states.dedup();
        let abstracted = match states == full.states {
            true => set,
            false => semantics.id_of(&Arc::new(StateSet {
                states,
                divergent: full.divergent,
                truncated: full.truncated,
            })),
        };
        self.known.insert(set, abstracted);
        self.known.insert(abstracted, abstracted);
        abstracted
    }
}

/// The usual backward data-flow equations, solved by going round until nothing changes.
fn live_variables(sts: &Sts) -> Vec<BTreeSet<VarId>> {
    let mut live: Vec<BTreeSet<VarId>> = vec![BTreeSet::new(); sts.locations().len()];
    loop {
        let mut has_changed = false;
        for switch in sts.switches() {
            let mut needed = switch.guard.vars();
            let after = &live[switch.target.index()];
            let assigned = |variable: &VarId| switch.update.iter().any(|a| a.variable == *variable);
            needed.extend(after.iter().copied().filter(|v| !assigned(v)));
            for assignment in &switch.update {
                let range = sts.variable(assignment.variable).ty.int_range();
                let is_bounded = range.is_some_and(|range| !range.is_full());
                if is_bounded || after.contains(&assignment.variable) {
                    needed.extend(assignment.value.vars());
                }
            }
            let before = &mut live[switch.source.index()];
            let size = before.len();
            before.extend(needed);
            has_changed |= before.len() > size;
        }
        if !has_changed {
            return live;
        }
    }
}

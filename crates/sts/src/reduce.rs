//! Merging locations that behave alike, by strong bisimulation.
//!
//! Two locations of one process are merged when they have the same time-out and, for every switch
//! of the one, the other has a switch with the same gate, guard and update into the same merged
//! location. Guards and updates are compared as written: `x > 1` and `1 < x` are different, which
//! merges less than could be merged and never too much.
//!
//! The work is done by [`crate::partition`].

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use crate::expr::Expr;
use crate::ids::{LabelId, LocationId, SwitchId};
use crate::partition::coarsest;
use crate::sts::{Assignment, Gate, Location, Sts, StsBuilder};

/// A reduced system, with the way back.
#[derive(Clone, Debug)]
pub struct Reduced {
    pub sts: Sts,
    /// Per location of the original, the location that it became.
    pub merged: Vec<LocationId>,
    /// Per switch of the original, the switch that it became.
    pub switches: Vec<SwitchId>,
}

/// Merges bisimilar locations, and switches that are then the same. A merged location carries all
/// names, sorted and joined by ", ", and the place of the first of its locations.
pub fn reduce(sts: &Sts) -> Reduced {
    let kinds = kinds(sts);
    let block = refine(sts, &kinds);
    let mut builder = header(sts);
    let mut members: Vec<Vec<LocationId>> = Vec::new();
    let mut new_of_block: FxHashMap<u32, usize> = FxHashMap::default();
    let mut merged = Vec::with_capacity(sts.locations().len());
    for (index, block) in block.iter().enumerate() {
        let new = *new_of_block.entry(*block).or_insert_with(|| {
            members.push(Vec::new());
            members.len() - 1
        });
        members[new].push(LocationId::from_index(index));
        merged.push(LocationId::from_index(new));
    }
    for process in sts.processes() {
        let id = builder.process(&process.name);
        builder.initial(id, merged[process.initial.index()]);
    }
    for group in &members {
        let first = sts.location(group[0]);
        let names: BTreeSet<&str> = group
            .iter()
            .map(|location| sts.location(*location).name.as_str())
            .collect();
        builder.location(Location {
            name: names.into_iter().collect::<Vec<_>>().join(", "),
            ..first.clone()
        });
    }
    let switches = merge_switches(sts, &kinds, &merged, &mut builder);
    Reduced {
        sts: builder.build(),
        merged,
        switches,
    }
}

/// Everything of a system but its processes, locations and switches.
pub(crate) fn header(sts: &Sts) -> StsBuilder {
    let mut builder = StsBuilder::new(sts.name());
    for file in sts.files() {
        builder.file(file);
    }
    builder.timeout(sts.timeout());
    *builder.types() = sts.types().clone();
    for function in sts.functions() {
        builder.function(function.clone());
    }
    for label in sts.labels() {
        builder.label(label.clone());
    }
    for variable in sts.variables() {
        builder.variable(variable.clone());
    }
    for label in (0..sts.labels().len()).map(LabelId::from_index) {
        for process in sts.participants(label) {
            builder.participant(label, *process);
        }
    }
    builder
}

/// Adds each distinct switch once, at the place of its first occurrence.
fn merge_switches(
    sts: &Sts,
    kinds: &[u32],
    merged: &[LocationId],
    builder: &mut StsBuilder,
) -> Vec<SwitchId> {
    let mut known: FxHashMap<(LocationId, u32, LocationId), SwitchId> = FxHashMap::default();
    let mut new_of_old = Vec::with_capacity(sts.switches().len());
    for (switch, kind) in sts.switches().iter().zip(kinds) {
        let source = merged[switch.source.index()];
        let target = merged[switch.target.index()];
        let id = *known.entry((source, *kind, target)).or_insert_with(|| {
            let id = builder.switch(
                source,
                switch.gate,
                switch.guard.clone(),
                switch.update.clone(),
                target,
                switch.place,
            );
            if let Some(note) = &switch.note {
                builder.note(id, note);
            }
            id
        });
        new_of_old.push(id);
    }
    new_of_old
}

/// Per switch, a number for its gate, guard and update together.
// A pattern holds the scratch space of its regular expression, but is compared by its text.
#[allow(clippy::mutable_key_type)]
fn kinds(sts: &Sts) -> Vec<u32> {
    let mut numbers: FxHashMap<(Gate, &Expr, &[Assignment]), u32> = FxHashMap::default();
    let mut kinds = Vec::with_capacity(sts.switches().len());
    for switch in sts.switches() {
        let fresh = numbers.len() as u32;
        let key = (switch.gate, &switch.guard, &switch.update[..]);
        kinds.push(*numbers.entry(key).or_insert(fresh));
    }
    kinds
}

/// The coarsest partition of the locations that is stable: per location, the number of its block.
fn refine(sts: &Sts, kinds: &[u32]) -> Vec<u32> {
    let mut edges: Vec<Vec<(u32, usize)>> = vec![Vec::new(); sts.locations().len()];
    for (switch, kind) in sts.switches().iter().zip(kinds) {
        edges[switch.source.index()].push((*kind, switch.target.index()));
    }
    let mut classes: FxHashMap<_, u32> = FxHashMap::default();
    let mut first = Vec::with_capacity(edges.len());
    for location in sts.locations() {
        let fresh = classes.len() as u32;
        let key = (location.process, location.timeout);
        first.push(*classes.entry(key).or_insert(fresh));
    }
    coarsest(&first, &edges)
}

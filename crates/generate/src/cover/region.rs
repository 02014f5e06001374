//! Regions of a model: processes that do not depend on each other are planned for apart.
//!
//! A process depends on those that it shakes hands with, and on those that assign to variables that it reads
//! (*cone of influence*). What the others do changes nothing for it: they can stay where they are. So a network of
//! independent processes costs the sum of its parts, not their product.

use std::collections::BTreeSet;

use ioco_sts::{Expr, Gate, Sts, SwitchId, VarId};

/// Processes that are planned for together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Region {
    /// Numbers of processes.
    pub processes: BTreeSet<usize>,
    /// No guard asks for anything: every switch that leaves a place can be taken.
    pub plain: bool,
}

/// The regions, and per process the number of its own: the processes that its goals depend on. A process may be in the
/// regions of others, too.
pub(crate) fn regions(sts: &Sts) -> (Vec<Region>, Vec<usize>) {
    let count = sts.processes().len();
    let process_of = |id: SwitchId| sts.location(sts.switch(id).source).process.index();
    let all = || (0..sts.switches().len()).map(SwitchId::from_index);
    // Per process: those that it shakes hands with, what it reads and what it assigns to.
    let mut partners: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); count];
    let mut reads: Vec<BTreeSet<VarId>> = vec![BTreeSet::new(); count];
    let mut writes: Vec<BTreeSet<VarId>> = vec![BTreeSet::new(); count];
    let mut plain = vec![true; count];
    for id in all() {
        let process = process_of(id);
        let switch = sts.switch(id);
        plain[process] &= switch.enabled == Expr::TRUE;
        if let Gate::Send(label) | Gate::Receive(label) = switch.gate {
            partners[process].extend(sts.participants(label).iter().map(|p| p.index()));
        }
        reads[process].extend(switch.guard.vars());
        reads[process].extend(switch.enabled.vars());
        for assignment in &switch.update {
            reads[process].extend(assignment.value.vars());
            writes[process].insert(assignment.variable);
        }
    }
    let mut regions: Vec<Region> = Vec::new();
    let mut own = Vec::with_capacity(count);
    for process in 0..count {
        let mut region = Region {
            processes: BTreeSet::new(),
            plain: true,
        };
        let mut open = vec![process];
        while let Some(member) = open.pop() {
            if !region.processes.insert(member) {
                continue;
            }
            region.plain &= plain[member];
            open.extend(&partners[member]);
        }
        if !region.plain {
            // Where data decides, so does every process that assigns to it.
            loop {
                let read: BTreeSet<VarId> = region
                    .processes
                    .iter()
                    .flat_map(|p| reads[*p].iter().copied())
                    .collect();
                let before = region.processes.len();
                for other in 0..count {
                    if region.processes.contains(&other) {
                        open.extend(&partners[other]);
                    } else if !writes[other].is_disjoint(&read) {
                        open.push(other);
                    }
                }
                region.processes.extend(open.drain(..));
                if region.processes.len() == before {
                    break;
                }
            }
        }
        let known = regions.iter().position(|known| *known == region);
        own.push(known.unwrap_or(regions.len()));
        if known.is_none() {
            regions.push(region);
        }
    }
    (regions, own)
}

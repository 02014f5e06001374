//! Upper bounds on the size of a complete suite (van der Heijden 2019, Theorems 1-3), before anything is
//! generated.
//!
//! The theorems speak of one process without internal steps. There a trace is a path, and every step
//! has as many ways on as switches leave the state. Here a state has a location per process, and
//! internal steps come before the next observable one, in many ways perhaps: a trace may then be walked
//! along several paths, and what a state offers is counted up to the next observable step.

use std::collections::BTreeMap;

use ioco_sts::{Gate, LocationId, Sts, Type, Types};
use rustc_hash::FxHashMap;

use crate::moves::moves_from;

/// Combinations of locations that are looked at.
const MAX_STATES: usize = 4096;

/// The bounds as powers of ten, because the numbers themselves soon fit no integer. Infinite where
/// there is no bound, or none that is easily found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TraceBounds {
    /// Traces of the whole length, Theorem 1: |T|^n, every switch a loop at one location, values
    /// left out.
    pub traces: f64,
    /// Theorem 2: with every value that the parameters can have, at every step.
    pub traces_with_values: f64,
    /// Paths, also those that end sooner, Theorem 3: deg^n, with the largest number of ways to go on from one state.
    pub paths: f64,
    pub paths_with_values: f64,
}

/// The bounds for `length` observable steps, as decimal logarithms.
pub fn bounds(sts: &Sts, length: u32) -> TraceBounds {
    if length == 0 {
        // One trace, the empty one, however large the data.
        return TraceBounds {
            traces: 0.0,
            traces_with_values: 0.0,
            paths: 0.0,
            paths_with_values: 0.0,
        };
    }
    let steps = f64::from(length);
    // A parameter may also be unset.
    let values = |label| -> f64 {
        let parameters = sts.label(label).parameters.iter();
        parameters
            .map(|p| domain_size(&p.ty, sts.types()) + 1.0)
            .product()
    };
    let sizes: Vec<f64> = sts
        .switches()
        .iter()
        .map(|switch| match switch.gate {
            Gate::Observable(label) => values(label),
            // Counted, as in the theorem, though it shows nothing.
            _ => 1.0,
        })
        .collect();
    let most = sizes.iter().copied().fold(1.0, f64::max);
    let degree = degree(sts);
    TraceBounds {
        traces: steps * (sizes.len().max(1) as f64).log10(),
        traces_with_values: steps * sizes.iter().sum::<f64>().max(1.0).log10(),
        paths: steps * degree.log10(),
        paths_with_values: steps * (degree.log10() + most.log10()),
    }
}

/// The largest number of ways from a state to behind the next observable step, or to where nothing more
/// can be done; guards are left out.
fn degree(sts: &Sts) -> f64 {
    let is_internal = |gate: Gate| !matches!(gate, Gate::Observable(_));
    match states(sts) {
        Some(graph) => graph.degree(),
        // Too many combinations: at most the sum over the processes, if each step is one switch.
        None if sts.switches().iter().any(|s| is_internal(s.gate)) => f64::INFINITY,
        None => {
            let mut most: BTreeMap<_, usize> = BTreeMap::new();
            for index in 0..sts.locations().len() {
                let location = LocationId::from_index(index);
                let process = most.entry(sts.location(location).process).or_default();
                *process = sts.outgoing(location).len().max(*process);
            }
            most.values().sum::<usize>().max(1) as f64
        }
    }
}

/// What every combination of locations offers, whatever the data.
struct Graph {
    /// Per state, its observable moves, and the states that its internal ones lead to.
    states: Vec<(usize, Vec<usize>)>,
}

fn states(sts: &Sts) -> Option<Graph> {
    let start: Vec<LocationId> = sts.processes().iter().map(|p| p.initial).collect();
    let mut known: FxHashMap<Vec<LocationId>, usize> = FxHashMap::from_iter([(start.clone(), 0)]);
    let mut open = vec![start];
    let mut states: Vec<(usize, Vec<usize>)> = vec![(0, Vec::new())];
    while let Some(locations) = open.pop() {
        let from = known[&locations];
        for step in moves_from(sts, &locations) {
            let mut next = locations.clone();
            for id in &step.switches {
                let switch = sts.switch(*id);
                next[sts.location(switch.source).process.index()] = switch.target;
            }
            let fresh = known.len();
            let to = *known.entry(next.clone()).or_insert(fresh);
            if to == fresh {
                if fresh >= MAX_STATES {
                    return None;
                }
                states.push((0, Vec::new()));
                open.push(next);
            }
            match step.observable {
                true => states[from].0 += 1,
                false => states[from].1.push(to),
            }
        }
    }
    Some(Graph { states })
}

impl Graph {
    /// Ways to go on: an observable move, or an internal one and then any of its ways. Where internal
    /// moves go round there is no end of them.
    fn degree(&self) -> f64 {
        let mut waiting: Vec<usize> = vec![0; self.states.len()];
        let mut before: Vec<Vec<usize>> = vec![Vec::new(); self.states.len()];
        for (from, (_, internal)) in self.states.iter().enumerate() {
            waiting[from] = internal.len();
            for to in internal {
                before[*to].push(from);
            }
        }
        let mut ways: Vec<f64> = self.states.iter().map(|s| s.0 as f64).collect();
        let mut ready: Vec<usize> = (0..waiting.len()).filter(|s| waiting[*s] == 0).collect();
        let (mut done, mut most) = (0, 1.0f64);
        while let Some(state) = ready.pop() {
            done += 1;
            // Nothing may be possible, and the path ends: that is one way too.
            let all = ways[state].max(1.0);
            most = most.max(all);
            for from in &before[state] {
                ways[*from] += all;
                waiting[*from] -= 1;
                if waiting[*from] == 0 {
                    ready.push(*from);
                }
            }
        }
        match done == self.states.len() {
            true => most,
            false => f64::INFINITY,
        }
    }
}

fn domain_size(ty: &Type, types: &Types) -> f64 {
    match ty {
        Type::Bool => 2.0,
        Type::Int(range) => range.max as f64 - range.min as f64 + 1.0,
        Type::Date | Type::Time => i64::MAX as f64,
        Type::Enum(id) => types.enums[id.index()].members.len() as f64,
        Type::Struct(id) => types.structs[id.index()]
            .fields
            .iter()
            .map(|(_, ty)| domain_size(ty, types))
            .product(),
        Type::Decimal | Type::Str | Type::Array(_) => f64::INFINITY,
    }
}

/// `about 10^12`, or the number itself where it is small.
pub fn show(log10: f64) -> String {
    if log10.is_infinite() {
        "without bound".to_owned()
    } else if log10 < 6.0 {
        format!("{:.0}", 10f64.powf(log10))
    } else {
        format!("about 10^{log10:.1}")
    }
}

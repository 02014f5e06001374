//! How many traces there are among the paths: a trace is what an observer sees, and several paths may
//! show the same one (van der Heijden 2019, Eq. 3.3).
//!
//! Labels without parameters tell traces apart by themselves. A label with parameters is seen with its
//! values, and two switches with that label usually ask for different ones: those count as different.

use std::hash::Hasher as _;

use ioco_sts::{Gate, Sts};
use rustc_hash::{FxHashSet, FxHasher};

use crate::traces::Path;

/// Traces that are remembered; with more of them the number is a lower bound.
const MAX_TRACES: usize = 2_000_000;

/// How many different traces there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traces {
    /// Of the whole length: `traces(s, n)`.
    pub whole: u64,
    /// Those that end sooner, because nothing more was possible.
    pub shorter: u64,
    /// There are more than could be told apart.
    pub more: bool,
}

impl Traces {
    pub fn all(self) -> u64 {
        self.whole + self.shorter
    }
}

/// Counts different traces.
#[derive(Clone, Debug)]
pub struct Distinct {
    length: u32,
    counted: Traces,
    /// Two hashes each; `None` where every path is a trace of its own.
    seen: Option<FxHashSet<(u64, u64)>>,
}

impl Distinct {
    /// For paths of so many observable steps.
    pub fn new(sts: &Sts, length: u32) -> Distinct {
        Distinct {
            length,
            counted: Traces::default(),
            seen: (!paths_are_traces(sts)).then(FxHashSet::default),
        }
    }

    pub fn note(&mut self, path: &Path<'_>) {
        let mut count = 0;
        let mut hashers = [FxHasher::default(), FxHasher::default()];
        for step in path.moves().filter(|step| step.observable) {
            let Some(label) = step.label else { continue };
            count += 1;
            let switch = match step.unknowns.is_empty() {
                true => 0,
                false => step.switches[0].0 + 1,
            };
            for part in [label.0, switch] {
                hashers[0].write_u32(part);
                // The second takes the position in as well, so that the two do not collide together.
                hashers[1].write_u32(part.wrapping_mul(count).wrapping_add(1));
            }
        }
        let is_shorter = count < self.length;
        // The first bit says that it is shorter.
        let key = hashers[0].finish() << 1 | u64::from(is_shorter);
        self.insert((key, hashers[1].finish()));
    }

    fn insert(&mut self, key: (u64, u64)) {
        let is_new = match &mut self.seen {
            None => true,
            Some(seen) if seen.len() < MAX_TRACES => seen.insert(key),
            Some(seen) => {
                self.counted.more |= !seen.contains(&key);
                false
            }
        };
        match key.0 & 1 {
            1 => self.counted.shorter += u64::from(is_new),
            _ => self.counted.whole += u64::from(is_new),
        }
    }

    pub fn add(&mut self, other: Distinct) {
        self.counted.more |= other.counted.more;
        match other.seen {
            Some(seen) => seen.into_iter().for_each(|key| self.insert(key)),
            None => {
                self.counted.whole += other.counted.whole;
                self.counted.shorter += other.counted.shorter;
            }
        }
    }

    pub fn count(&self) -> Traces {
        self.counted
    }
}

/// Whether every path is seen as a trace of its own: there are no internal steps, and no state has two
/// switches with one label, unless their values differ.
fn paths_are_traces(sts: &Sts) -> bool {
    let mut by_source = FxHashSet::default();
    let mut by_process: Vec<Option<ioco_sts::ProcessId>> = vec![None; sts.labels().len()];
    sts.switches().iter().all(|switch| {
        let Gate::Observable(label) = switch.gate else {
            return false;
        };
        let process = sts.location(switch.source).process;
        let known = by_process[label.index()].get_or_insert(process);
        let has_values = !sts.label(label).parameters.is_empty();
        has_values || (*known == process && by_source.insert((switch.source, label)))
    })
}

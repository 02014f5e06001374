//! What a run has seen of the model: locations, switches, and boundary values of parameters.

use ioco_sts::{LocationId, StateSet, Sts, SwitchId};

/// Counts over the items of one model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coverage {
    locations: Vec<bool>,
    /// How often each switch may have been taken: with non-determinism, every switch that explains
    /// an observation counts.
    switches: Vec<u64>,
    covered_locations: usize,
    covered_switches: usize,
}

impl Coverage {
    pub fn new(sts: &Sts) -> Coverage {
        Coverage {
            locations: vec![false; sts.locations().len()],
            switches: vec![0; sts.switches().len()],
            covered_locations: 0,
            covered_switches: 0,
        }
    }

    pub fn covers_location(&self, id: LocationId) -> bool {
        self.locations[id.index()]
    }

    pub fn covers_switch(&self, id: SwitchId) -> bool {
        self.switches[id.index()] > 0
    }

    /// How often a switch may have been taken.
    pub fn count(&self, id: SwitchId) -> u64 {
        self.switches[id.index()]
    }

    pub fn locations(&self) -> usize {
        self.locations.len()
    }

    pub fn switches(&self) -> usize {
        self.switches.len()
    }

    pub fn covered_locations(&self) -> usize {
        self.covered_locations
    }

    pub fn covered_switches(&self) -> usize {
        self.covered_switches
    }

    /// Percent of the switches; a model without switches is covered.
    pub fn percent(&self) -> f64 {
        percent(self.covered_switches, self.switches.len())
    }

    pub(crate) fn visit(&mut self, set: &StateSet) {
        for location in set.states.iter().flat_map(|s| s.locations.iter()) {
            let seen = &mut self.locations[location.index()];
            if !*seen {
                *seen = true;
                self.covered_locations += 1;
            }
        }
    }

    /// Returns whether one of the switches is new.
    pub(crate) fn take(&mut self, switches: &[SwitchId]) -> bool {
        let before = self.covered_switches;
        for switch in switches {
            let count = &mut self.switches[switch.index()];
            self.covered_switches += usize::from(*count == 0);
            *count += 1;
        }
        self.covered_switches > before
    }
}

fn percent(covered: usize, all: usize) -> f64 {
    if all == 0 {
        100.0
    } else {
        covered as f64 * 100.0 / all as f64
    }
}

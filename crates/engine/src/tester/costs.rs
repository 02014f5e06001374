//! What a restart costs on this system, measured on the first tests of a run: the exchange rate between restarting and
//! going on.

/// So many tests are measured. From then on the cost stays as it is: what a run does must not depend on times more than
/// it has to.
const MEASURED: u64 = 4;
/// What a restart costs, in stimuli, as long as the system has not shown it.
const UNKNOWN: f32 = 3.0;
/// Nanoseconds below which times say nothing: systems in process, and clocks that only count steps.
const SHORTEST: u64 = 1_000;
/// The reset of a slow system is dear, but not so dear that a test never ends.
const MAX_EXPONENT: u32 = 6;

/// Times of the first tests, in nanoseconds.
#[derive(Default)]
pub(super) struct Costs {
    tests: u64,
    resetting: u64,
    stimuli: u64,
    testing: u64,
}

impl Costs {
    /// A test begins with a reset that took this time.
    pub fn reset(&mut self, time: u64) {
        if self.tests < MEASURED {
            self.resetting = self.resetting.saturating_add(time);
        }
    }

    /// A test of so many stimuli took this time after its reset.
    pub fn tested(&mut self, stimuli: u64, time: u64) {
        if self.tests < MEASURED {
            self.tests += 1;
            self.stimuli += stimuli;
            self.testing = self.testing.saturating_add(time);
        }
    }

    /// What a restart costs, in stimuli: a power of two once it is measured, so that small differences in time change
    /// nothing.
    pub fn of_restart(&self) -> f32 {
        let stimulus = self.testing.checked_div(self.stimuli).unwrap_or(0);
        if self.tests < MEASURED || stimulus < SHORTEST {
            return UNKNOWN;
        }
        let stimuli = self.resetting / self.tests / stimulus;
        let exponent = (stimuli.max(1).ilog2()).min(MAX_EXPONENT);
        2_u32.pow(exponent) as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLISECOND: u64 = 1_000_000;

    fn measured(reset: u64, stimulus: u64) -> Costs {
        let mut costs = Costs::default();
        for _ in 0..MEASURED {
            assert_eq!(costs.of_restart(), UNKNOWN);
            costs.reset(reset);
            costs.tested(10, 10 * stimulus);
        }
        costs
    }

    #[test]
    fn a_restart_costs_about_as_many_stimuli_as_take_its_time() {
        for (reset, cost) in [(200, 8.0), (319, 8.0), (320, 16.0)] {
            let costs = measured(reset * MILLISECOND, 20 * MILLISECOND);
            assert_eq!(costs.of_restart(), cost, "{reset} ms");
        }
    }

    #[test]
    fn a_restart_is_never_free_and_never_forbidden() {
        assert_eq!(measured(0, MILLISECOND).of_restart(), 1.0);
        assert_eq!(measured(u64::MAX, MILLISECOND).of_restart(), 64.0);
    }

    #[test]
    fn times_of_systems_in_process_say_nothing() {
        assert_eq!(measured(1, 3).of_restart(), UNKNOWN);
    }

    #[test]
    fn later_tests_change_no_cost() {
        let mut costs = measured(200 * MILLISECOND, 20 * MILLISECOND);
        costs.reset(2_000 * MILLISECOND);
        costs.tested(10, MILLISECOND);
        assert_eq!(costs.of_restart(), 8.0);
    }
}

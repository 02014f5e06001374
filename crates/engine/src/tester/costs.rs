//! What a reset costs on this system, measured while tests run: the exchange rate between restarting and going on.

/// Nanoseconds below which times say nothing: systems in process, and clocks that only count steps.
const SHORTEST: u64 = 1_000;
/// The reset of a slow system is dear, but not so dear that a test never ends.
const MAX_RESET: f32 = 50.0;

/// Times of the run so far, in nanoseconds.
#[derive(Default)]
pub(super) struct Costs {
    resets: u64,
    resetting: u64,
    stimuli: u64,
    testing: u64,
}

impl Costs {
    pub fn reset(&mut self, time: u64) {
        self.resets += 1;
        self.resetting = self.resetting.saturating_add(time);
    }

    /// A test of so many stimuli took this time after its reset.
    pub fn tested(&mut self, stimuli: u64, time: u64) {
        self.stimuli += stimuli;
        self.testing = self.testing.saturating_add(time);
    }

    /// What a reset costs, in thousandths of a stimulus; `None` where that cannot be said. A whole number comes back from
    /// a file as it was.
    pub fn of_reset_in_thousandths(&self) -> Option<u32> {
        self.of_reset().map(|cost| (cost * 1000.0).round() as u32)
    }

    fn of_reset(&self) -> Option<f32> {
        let reset = self.resetting.checked_div(self.resets)?;
        let stimulus = self.testing.checked_div(self.stimuli)?;
        if stimulus < SHORTEST {
            return None;
        }
        Some((reset as f32 / stimulus as f32).clamp(1.0, MAX_RESET))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLISECOND: u64 = 1_000_000;

    #[test]
    fn a_reset_costs_as_many_stimuli_as_take_its_time() {
        let mut costs = Costs::default();
        costs.reset(200 * MILLISECOND);
        assert_eq!(costs.of_reset(), None, "no stimulus yet");
        costs.tested(10, 200 * MILLISECOND);
        assert_eq!(costs.of_reset(), Some(10.0));
        costs.reset(0);
        assert_eq!(costs.of_reset(), Some(5.0));
    }

    #[test]
    fn a_reset_is_never_free_and_never_forbidden() {
        let mut costs = Costs::default();
        costs.reset(0);
        costs.tested(1, MILLISECOND);
        assert_eq!(costs.of_reset(), Some(1.0));
        costs.reset(u64::MAX);
        assert_eq!(costs.of_reset(), Some(MAX_RESET));
    }

    #[test]
    fn times_of_systems_in_process_say_nothing() {
        let mut costs = Costs::default();
        costs.reset(1);
        costs.tested(100, 300);
        assert_eq!(costs.of_reset(), None);
    }
}

//! Claims of silence, of a system that knows that it sends nothing more before the next stimulus.

use std::time::Duration;

/// How long a claim of silence may take to come after a reset, in a line of its own.
pub(crate) const LISTENING: Duration = Duration::from_millis(10);

/// Which claims of quiescence are about now.
///
/// A system that says `quiescent` says it at most once after each stimulus. A claim that was under
/// way while the tester gave the next stimulus speaks of the time before, and believing it would
/// turn a system that is about to answer into one that failed to. So a claim counts only when none
/// from before can still be outstanding; any other is dropped, which costs the wait and nothing
/// else.
///
/// After a reset a system claims silence in the line that says `ready`, or not at all. One that
/// does so in a line of its own is noticed, and from then on such a claim is expected.
#[derive(Debug, Default)]
pub(crate) struct SilenceClaims {
    /// How many earlier stimuli (or the reset) may still be followed by a claim.
    outstanding: u64,
    /// The claim about now has come.
    pub(crate) claimed: bool,
    /// Stimuli given and claims heard since the reset.
    given: u64,
    heard: u64,
    /// The system also claims silence after a reset, in a line of its own.
    pub(crate) after_reset: bool,
}

impl SilenceClaims {
    /// Of a system of which this is known, or to be supposed.
    pub(crate) fn new(after_reset: bool) -> SilenceClaims {
        SilenceClaims {
            after_reset,
            ..SilenceClaims::default()
        }
    }

    /// The system is ready: all claims from before are here.
    pub(crate) fn reset(&mut self, quiescent: bool) {
        *self = SilenceClaims {
            claimed: quiescent,
            after_reset: self.after_reset || self.heard > self.given,
            ..SilenceClaims::default()
        };
    }

    /// Somebody recorded the first stimulus so long after the reset. Once the time-out of the model is over, a claim about
    /// the reset counts as little as a response that comes then.
    pub(crate) fn waited(&mut self, since_reset: Duration, timeout: Duration) {
        if self.given == 0 && self.heard == 0 && since_reset >= timeout {
            self.after_reset = false;
        }
    }

    pub(crate) fn given(&mut self) {
        let may_follow = self.given > 0 || self.after_reset;
        self.outstanding += u64::from(may_follow && !self.claimed);
        self.claimed = false;
        self.given += 1;
    }

    /// A claim came. It counts if it is about now.
    pub(crate) fn claim(&mut self) {
        self.heard += 1;
        self.after_reset |= self.given == 0;
        if self.outstanding > 0 {
            self.outstanding -= 1;
        } else {
            self.claimed = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::SilenceClaims;

    #[derive(Clone, Copy, Debug)]
    enum Event {
        /// The tester gives a stimulus.
        Give,
        /// The system takes in the oldest stimulus on its way.
        Take,
        /// The system claims to be silent, unless it has since the last stimulus it took.
        Say,
        /// The oldest claim on its way arrives.
        Arrive,
    }

    proptest! {
        #[test]
        fn a_claim_that_counts_was_made_after_the_last_stimulus(
            after_reset: bool,
            events in proptest::collection::vec(
                prop_oneof![
                    Just(Event::Give), Just(Event::Take), Just(Event::Say), Just(Event::Arrive)
                ],
                0..60,
            )
        ) {
            let mut claims = SilenceClaims::new(after_reset);
            let (mut given, mut taken) = (0u32, 0u32);
            let mut said_at = None;
            let mut on_the_way = std::collections::VecDeque::new();
            for event in events {
                match event {
                    Event::Give => {
                        given += 1;
                        claims.given();
                    }
                    Event::Take => taken = given.min(taken + 1),
                    Event::Say if said_at != Some(taken) && (taken > 0 || after_reset) => {
                        said_at = Some(taken);
                        on_the_way.push_back(taken);
                    }
                    Event::Say => {}
                    Event::Arrive => {
                        if let Some(about) = on_the_way.pop_front() {
                            claims.claim();
                            prop_assert!(!claims.claimed || about == given);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn claims_after_stimuli_alone_are_believed_at_once() {
        let mut claims = SilenceClaims::default();
        for _ in 0..3 {
            claims.reset(false);
            for _ in 0..3 {
                claims.given();
                claims.claim();
                assert!(claims.claimed);
            }
        }
    }

    #[test]
    fn a_claim_after_a_reset_is_learned_also_when_it_came_late() {
        let mut early = SilenceClaims::default();
        early.reset(false);
        early.claim();
        assert!(early.claimed);
        assert!(early.after_reset);
        let mut late = SilenceClaims::default();
        late.reset(false);
        late.given();
        late.claim();
        late.claim();
        late.reset(false);
        assert!(late.after_reset);
    }

    #[test]
    fn a_claim_about_the_reset_is_not_awaited_after_a_pause() {
        let mut claims = SilenceClaims::new(true);
        let timeout = Duration::from_secs(1);
        let first_claim = |claims: &mut SilenceClaims, pause| {
            claims.reset(false);
            claims.waited(pause, timeout);
            claims.given();
            claims.claim();
            claims.claimed
        };
        // It may be about the reset.
        assert!(!first_claim(&mut claims, timeout / 2));
        assert!(first_claim(&mut claims, timeout));
        assert!(first_claim(&mut claims, timeout / 2));
    }

    #[test]
    fn a_system_that_always_claims_is_always_believed_in_the_end() {
        let mut claims = SilenceClaims::new(true);
        claims.reset(false);
        // Two stimuli before anything came; the claims after reset and first stimulus are old.
        claims.given();
        claims.given();
        let mut believed = || {
            claims.claim();
            claims.claimed
        };
        assert_eq!([believed(), believed(), believed()], [false, false, true]);
        claims.given();
        claims.claim();
        assert!(claims.claimed);
    }
}

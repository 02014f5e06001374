//! How a test ends: the one place that decides it, for every strategy, guide, suite, script and limit.
//!
//! A test never ends while the model demands a response: it waits until the response came or its
//! time-out passed, which is a failure. A system that speaks without end is listened to for a few
//! responses more, counted from when the end was decided.
//!
//! Limits on time and steps hold whatever the test is doing, because they are looked at after
//! everything that happens.
//!
//! Where waits are weighed, a test also ends with a short look: a response that should not have come
//! after the last stimulus would be discarded by the reset otherwise, and with it a failure.

use ioco_sts::{Cause, Reason, Verdict};

use super::Tester;
use super::test::Plan;
use crate::port::Command;
use crate::settings::WaitPolicy;

/// A test whose end is decided waits for so many responses more while one is due.
const MAX_DUE_RESPONSES: u64 = 16;

/// After so many responses in a row a test stops listening to a system that does not end to talk.
pub(super) const MAX_ANSWERS: u64 = 256;

/// What is listened to before a test ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Until {
    /// Until no response is due.
    NothingDue,
    /// Until the system is silent.
    Silence,
}

/// The end of the test is decided.
#[derive(Debug)]
pub(super) struct Ending {
    verdict: Verdict,
    until: Until,
    /// Responses that are still listened to.
    left: u64,
}

impl Tester {
    /// Ends the test with this verdict, once what it has to listen to was judged.
    pub(super) fn end(&mut self, verdict: Verdict, until: Until, now: u64) -> Command {
        let left = match until {
            Until::NothingDue => MAX_DUE_RESPONSES,
            Until::Silence => MAX_ANSWERS.saturating_sub(self.test.responses_in_a_row),
        };
        self.test.ending = Some(Ending {
            verdict,
            until,
            left,
        });
        self.listen_or_finish(now)
    }

    /// The next command of a test whose end is decided, or has to be because a limit is reached.
    /// `None`: the test goes on.
    pub(super) fn ending(&mut self, now: u64) -> Option<Command> {
        let limited = self.is_limited(now);
        if let Some(ending) = &mut self.test.ending {
            ending.left = ending.left.saturating_sub(1);
            if limited && ending.until == Until::Silence {
                ending.until = Until::NothingDue;
                ending.left = ending.left.min(MAX_DUE_RESPONSES);
            }
            return Some(self.listen_or_finish(now));
        }
        if !limited {
            return None;
        }
        let verdict = match self.unfinished() {
            Some(reason) => Verdict::Inconclusive(reason),
            None => Verdict::Pass,
        };
        Some(self.end(verdict, Until::NothingDue, now))
    }

    fn listen_or_finish(&mut self, now: u64) -> Command {
        let Some(ending) = &self.test.ending else {
            return self.finish(Verdict::Pass, now);
        };
        let listens = match ending.until {
            Until::NothingDue => !self.test.menu.silence,
            Until::Silence => true,
        };
        if listens && ending.left > 0 && !self.test.quiet {
            return self.wait(now);
        }
        if ending.left > 0 && self.weighs_last_look(now) {
            // The reset would listen as long, and discard what comes.
            return match self.may_speak() {
                true => self.wait(now),
                false => self.wait_for(self.last_look(), false, now),
            };
        }
        let verdict = ending.verdict.clone();
        self.finish(verdict, now)
    }

    /// Whether a response that is not allowed could still be seen before the test ends, and the run has time for that.
    fn weighs_last_look(&self, now: u64) -> bool {
        let test = &self.test;
        let weighs = matches!(self.settings.wait, WaitPolicy::Worthwhile { .. });
        let has_seen = test.quiet || test.looked || test.trace.is_empty();
        weighs && self.is_free() && test.counts && !has_seen && self.time_left(now) != Some(0)
    }

    /// How long a look before the end of a test takes.
    fn last_look(&self) -> u64 {
        let timeout = self.semantics.timeout(self.test.set);
        self.silences.look(self.settings.shortest_wait, timeout)
    }

    /// Whether a limit ends the test under way.
    fn is_limited(&self, now: u64) -> bool {
        if !self.test.counts {
            return false;
        }
        match self.test.plan {
            // What is written down is not cut short by how much it covers or how long it is.
            Plan::Script { goes_on: false, .. } => self.is_used_up(now).is_some(),
            _ => {
                self.test.steps() >= self.settings.stop.steps_per_test
                    || self.should_stop_within_test(now).is_some()
            }
        }
    }

    /// Why a test that is cut short now says nothing.
    fn unfinished(&self) -> Option<Reason> {
        match &self.test.plan {
            Plan::Script { goes_on: false, .. } => {
                let why = "a limit of the run was reached before the test was over";
                Some(Reason::new(Cause::Interrupted, why))
            }
            Plan::Guide(chooser) => chooser.unfinished().map(not_reached),
            Plan::Strategy | Plan::Script { .. } => self.strategy.unfinished().map(not_reached),
        }
    }
}

/// What a guide or a strategy was about to do.
fn not_reached(why: String) -> Reason {
    Reason::new(Cause::GoalMissed, why)
}

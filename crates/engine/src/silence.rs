//! When silence is worth waiting for.
//!
//! Silence is seen only by waiting for a whole time-out, so observing it is an experiment with a price. A response
//! that is due is always waited for: a right system sends it soon, and a missing one shows. Where the model allows
//! silence, a short look of about the time in which the system usually answers shows a response that should not be
//! there, or one of the system's own choice. A whole time-out is spent only in a situation in which silence was not
//! observed yet, or where the system may still choose, and only while the share of the run's time that goes into such
//! waits is not used up. Giving a stimulus instead is always allowed: a response that comes late crosses it, and is judged
//! in both orders.

use std::hash::{Hash, Hasher};

use ioco_sts::{Menu, StateSet, Step};
use rustc_hash::{FxHashMap, FxHasher};
use serde::{Deserialize, Serialize};

/// States of a set whose locations tell one situation from another.
const MAX_STATES: usize = 4;
/// Looks are this many times as long as the longest of the last answers took.
const LOOK: u64 = 2;
/// With every answer, the longest time that is remembered fades by one part in so many.
const DECAY: u64 = 16;

/// What observing silence has cost so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SilencePrice {
    /// Nanoseconds of waiting that ended in silence, short looks included.
    pub waited: u64,
    /// Silences that were observed.
    pub observed: u64,
    /// Those observed in a situation without one before.
    pub new: u64,
}

/// What to do before the next stimulus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Listening {
    /// Wait until a response comes or silence is certain.
    Whole,
    /// Look for so many nanoseconds.
    Look(u64),
    /// Go on.
    No,
}

/// Where silence was observed, how long the system takes to answer, and what waiting cost.
#[derive(Default)]
pub(crate) struct Silences {
    seen: FxHashMap<u64, u32>,
    price: SilencePrice,
    /// Nanoseconds of whole waits: looks are not counted against the share.
    whole: u64,
    /// About the longest time that the system took for an answer, in nanoseconds.
    latency: u64,
}

/// A situation as far as silence is concerned: where the model is, and what was given last.
pub(crate) fn situation(set: &StateSet, trace: &[Step]) -> u64 {
    let mut hasher = FxHasher::default();
    for state in set.states.iter().take(MAX_STATES) {
        state.locations.hash(&mut hasher);
    }
    let stimuli = trace.iter().rev().filter_map(|step| match step {
        Step::Stimulus(action) => Some(action.label),
        _ => None,
    });
    { stimuli }.next().hash(&mut hasher);
    hasher.finish()
}

impl Silences {
    pub fn price(&self) -> SilencePrice {
        self.price
    }

    /// Silence was observed after so many nanoseconds of waiting.
    pub fn observed(&mut self, situation: u64, waited: u64) {
        let count = self.seen.entry(situation).or_default();
        self.price.new += u64::from(*count == 0);
        *count += 1;
        self.price.observed += 1;
        self.price.waited += waited;
        self.whole += waited;
    }

    /// A look showed nothing.
    pub fn looked(&mut self, waited: u64) {
        self.price.waited += waited;
    }

    /// A response came so many nanoseconds after the step before it.
    pub fn answered(&mut self, after: u64) {
        self.latency = (self.latency - self.latency / DECAY).max(after);
    }

    /// Whether to listen before the next stimulus. `share` is the part of the run's time, `elapsed`, that may go into
    /// waits that end in silence; `looked`: nothing has happened since the last look.
    pub fn listening(&self, menu: &Menu, context: Context) -> Listening {
        if !menu.silence {
            return Listening::Whole;
        }
        let Context {
            situation,
            timeout,
            share,
            elapsed,
            shortest,
            looked,
            answered,
        } = context;
        let count = self.seen.get(&situation).copied().unwrap_or(0);
        // Where only silence is possible, it is observed once; where the system may choose, now and then again.
        let again = !menu.responses.is_empty() && self.price.observed >= 8 * u64::from(count);
        let affordable = (self.whole + timeout) as f64 <= share * elapsed as f64;
        if (count == 0 || again) && affordable {
            return Listening::Whole;
        }
        let may_show = !answered || !menu.responses.is_empty();
        if looked || !may_show {
            return Listening::No;
        }
        Listening::Look(self.look(shortest, timeout))
    }

    /// How long a look takes that shows a response as soon as the system usually answers.
    pub fn look(&self, shortest: u64, timeout: u64) -> u64 {
        (self.latency * LOOK).clamp(shortest.min(timeout), timeout)
    }
}

/// What a decision about silence depends on.
#[derive(Clone, Copy)]
pub(crate) struct Context {
    pub situation: u64,
    /// What silence costs here, in nanoseconds.
    pub timeout: u64,
    pub share: f64,
    pub elapsed: u64,
    /// The shortest look.
    pub shortest: u64,
    /// Nothing has happened since the last look.
    pub looked: bool,
    /// A response came after the last stimulus.
    pub answered: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioco_sts::{Action, LabelId, LocationId, Offer, State};

    const TIMEOUT: u64 = 500;

    fn menu(silence: bool, may_respond: bool) -> Menu {
        let offer = Offer {
            label: LabelId::from_index(0),
            switches: Vec::new(),
        };
        Menu {
            silence,
            responses: may_respond.then_some(offer).into_iter().collect(),
            ..Menu::default()
        }
    }

    fn context(situation: u64) -> Context {
        Context {
            situation,
            timeout: TIMEOUT,
            share: 0.5,
            elapsed: 1_000_000,
            shortest: 5,
            looked: false,
            answered: false,
        }
    }

    #[test]
    fn a_situation_is_where_the_model_is_and_what_was_given_last() {
        let at = |location| StateSet {
            states: vec![State {
                locations: [LocationId::from_index(location)].into(),
                valuation: [].into(),
            }],
            divergent: false,
            truncated: false,
        };
        let given = |label| Step::Stimulus(Action::plain(LabelId::from_index(label)));
        let here = situation(&at(0), &[given(0)]);
        let later = situation(&at(0), &[given(1), given(0), Step::Quiescence]);
        assert_eq!(here, later, "what was given before does not matter");
        assert_ne!(here, situation(&at(1), &[given(0)]));
        assert_ne!(here, situation(&at(0), &[given(1)]));
        assert_ne!(here, situation(&at(0), &[]));
    }

    #[test]
    fn a_response_that_is_due_is_always_waited_for() {
        let mut silences = Silences::default();
        silences.observed(1, TIMEOUT);
        let broke = Context {
            share: 0.0,
            looked: true,
            ..context(1)
        };
        assert_eq!(
            silences.listening(&menu(false, true), broke),
            Listening::Whole
        );
    }

    #[test]
    fn silence_is_observed_once_where_nothing_else_is_possible() {
        let mut silences = Silences::default();
        let quiet = menu(true, false);
        assert_eq!(silences.listening(&quiet, context(1)), Listening::Whole);
        silences.observed(1, TIMEOUT);
        assert_eq!(silences.listening(&quiet, context(1)), Listening::Look(5));
        assert_eq!(silences.listening(&quiet, context(2)), Listening::Whole);
        let looked = Context {
            looked: true,
            ..context(1)
        };
        assert_eq!(silences.listening(&quiet, looked), Listening::No);
        let price = silences.price();
        assert_eq!((price.waited, price.observed, price.new), (TIMEOUT, 1, 1));
        silences.observed(1, TIMEOUT);
        assert_eq!(silences.price().new, 1);
    }

    #[test]
    fn a_share_that_is_used_up_leaves_a_look_of_the_usual_time() {
        let mut silences = Silences::default();
        silences.answered(20);
        let early = Context {
            elapsed: 100,
            ..context(1)
        };
        let look = Listening::Look(40);
        assert_eq!(silences.listening(&menu(true, false), early), look);
        silences.answered(2);
        assert_eq!(silences.latency, 19, "a sixteenth less");
    }

    #[test]
    fn where_the_system_may_choose_silence_is_observed_again_in_one_of_eight() {
        let mut silences = Silences::default();
        let open = menu(true, true);
        silences.observed(1, TIMEOUT);
        for observed in 1..20 {
            let again = silences.listening(&open, context(1)) == Listening::Whole;
            assert_eq!(again, observed >= 8, "{observed}");
            silences.observed(2, TIMEOUT);
        }
    }

    #[test]
    fn after_an_answer_only_a_further_one_is_looked_for() {
        let mut silences = Silences::default();
        silences.observed(1, TIMEOUT);
        let answered = Context {
            answered: true,
            elapsed: 0,
            ..context(1)
        };
        assert_eq!(
            silences.listening(&menu(true, false), answered),
            Listening::No
        );
        assert_eq!(
            silences.listening(&menu(true, true), answered),
            Listening::Look(5)
        );
    }
}

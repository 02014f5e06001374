//! Stimuli in flight: responses that arrive after a stimulus was handed over may have been sent
//! before the system saw it. The tester and the monitor follow every order with this one type.
//!
//! Between tester and system are two queues that keep their order. With stimuli s1..sn in flight,
//! the model is followed in n+1 places at once: before s1, between s1 and s2, and so on. The last
//! place, after sn, is where the model is once the system has seen everything. A response r takes
//! every place along:
//!
//! ```text
//! before[0]'  =  before[0] after r
//! before[i]'  =  before[i] after r  ∪  before[i-1]' after si
//! ```
//!
//! Every order is a trace of its own, with a state set of its own. A place therefore keeps one set
//! per order, and forgets an order only when its set is that of another: one set for all of them
//! allows the same responses, but hides that a stimulus is not accepted in one of the orders. The
//! caller holds the union of the last place, which is all it needs to know what may happen.
//!
//! A place that the model does not allow to send r drops out, and so does everything before it, as
//! soon as it is empty.
//!
//! Three things make uncertain everything that follows, so that nothing proves a failure any
//! more ([`Uncertainty`]): a possible order in which the system got a stimulus that the model does not
//! accept there, more stimuli in flight than are followed, and more orders than are followed.

use std::sync::Arc;

use ioco_sts::{
    Action, Cause, Followed, LabelId, OpenSilence, Reason, Semantics, SetId, Step, Sts, SwitchId,
};

/// So many stimuli in flight are followed; each costs one question to the model per response.
pub(crate) const MAX_FOLLOWED: usize = 64;

/// So many orders with different state sets are followed in each place.
pub(crate) const MAX_ORDERS: usize = 16;

struct Sent {
    /// Where the model is, in each order, if the system has not seen the stimulus yet; empty if it
    /// must have.
    before: Vec<SetId>,
    stimulus: Action,
    /// Its position in the trace.
    position: usize,
}

/// Why a test ends when a response was sent before a stimulus that the model does not accept after it.
pub(crate) fn crossed(step: &Step, sts: &Sts) -> Reason {
    let shown = step.show(sts);
    let text = format!(
        "{shown} was sent before a stimulus that crossed it reached the system, and the model does not \
         accept that stimulus after it"
    );
    Reason::new(Cause::Crossed, text)
}

/// What a reason says where states are missing.
pub(crate) const STATES_MISSING: &str = "not all states of the model are known here";

/// Why what follows cannot prove a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Uncertainty {
    /// In one of the possible orders the system got a stimulus in a state for which the model does
    /// not say what it does.
    Unspecified,
    /// More stimuli were in flight than are followed, and the system spoke meanwhile.
    TooMany,
    /// Responses and stimuli may have crossed in more orders than are followed.
    TooManyOrders,
}

impl std::fmt::Display for Uncertainty {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Uncertainty::Unspecified => write!(
                f,
                "an earlier response may have been sent before a stimulus that crossed it reached the system, in a \
                 state for which the model does not say what it does"
            ),
            Uncertainty::TooMany => write!(
                f,
                "more than {MAX_FOLLOWED} stimuli were in flight, and which of them is a stimulus that crossed it is \
                 not known"
            ),
            Uncertainty::TooManyOrders => write!(
                f,
                "an earlier response may have been sent before or after a stimulus that crossed it, in more than \
                 {MAX_ORDERS} orders that differ for the model"
            ),
        }
    }
}

/// The stimuli in flight, and the orders in which those before them may have arrived.
#[derive(Default)]
pub(crate) struct InFlight {
    /// Oldest first.
    stimuli: Vec<Sent>,
    /// Where the model is, in each order, once the system has seen everything. Empty if all orders
    /// lead to the caller's set.
    orders: Vec<SetId>,
    /// The oldest stimuli are not followed any more, although they may still be in flight.
    overflowed: bool,
    uncertainty: Option<Uncertainty>,
}

/// How an observation fits when stimuli are in flight.
pub(crate) struct Accepted {
    pub set: SetId,
    /// Positions in the trace of the stimuli that the system must have seen only after this
    /// observation, in order.
    after: Vec<usize>,
}

impl Accepted {
    /// Moves the stimuli that came after the observation behind it, in a list with one entry for
    /// each step of the trace; the observation is the last entry.
    pub fn reorder<T>(&self, entries: &mut Vec<T>) {
        // Later positions first, so that the earlier ones stay right.
        let positions = self.after.iter().rev();
        let moved: Vec<T> = positions
            .map(|position| entries.remove(*position))
            .collect();
        entries.extend(moved.into_iter().rev());
    }
}

/// Why an observation does not fit.
#[derive(Debug)]
pub(crate) enum Rejected {
    /// No order explains it.
    Deviates,
    /// It was sent before a stimulus that the model does not accept after it.
    Unspecified,
    /// No known state explains it, and states are missing.
    NotKnown,
}

impl InFlight {
    /// Whether everything handed over has arrived.
    pub fn is_empty(&self) -> bool {
        self.stimuli.is_empty()
    }

    pub fn len(&self) -> usize {
        self.stimuli.len()
    }

    /// The system has seen everything by now, in one of the possible orders.
    pub fn settle(&mut self) {
        self.stimuli.clear();
        self.overflowed = false;
    }

    /// Why nothing proves a failure any more, if something is in the way.
    pub fn uncertainty(&self) -> Option<Uncertainty> {
        self.uncertainty
    }

    /// The sets that the model may be in where not everything has arrived.
    fn sets(&self) -> impl Iterator<Item = SetId> + '_ {
        self.stimuli.iter().flat_map(|s| s.before.iter().copied())
    }

    /// Whether one of the orders allows a response of this label, with some values. `current` is where
    /// the model is once everything has arrived.
    pub fn expects(&self, semantics: &mut Semantics, current: SetId, label: LabelId) -> bool {
        self.sets().chain([current]).any(|set| {
            let menu = semantics.menu(set);
            menu.responses.iter().any(|offer| offer.label == label)
        })
    }

    /// Why a silence here says nothing, if it does not: every order that may allow it allows it only
    /// if a response is impossible, which is not known.
    pub fn open_silence(&self, semantics: &mut Semantics, current: SetId) -> Option<Reason> {
        let last = match self.orders.as_slice() {
            [] => vec![current],
            orders => orders.to_vec(),
        };
        let mut why = None;
        for set in self.sets().chain(last) {
            match semantics.open_silence(set) {
                Some(open) => why = why.or(Some(open)),
                // This order certainly allows it, or certainly does not.
                None if semantics.menu(set).silence => return None,
                None => {}
            }
        }
        let shown = Step::Quiescence.show(semantics.sts());
        let (cause, why) = match why? {
            OpenSilence::Response(label) => {
                let label = semantics.sts().label(label).marked_name();
                let why =
                    format!("it cannot be decided whether this response is possible: {label}");
                (Cause::Undecided, why)
            }
            OpenSilence::InternalStep => (Cause::StatesMissing, STATES_MISSING.to_owned()),
        };
        Some(Reason::new(
            cause,
            format!("{shown} cannot be judged: {why}"),
        ))
    }

    /// Forgets the state sets that are not needed any more, and returns the new id of `current`.
    /// Nothing may be in flight.
    pub fn forget(&mut self, semantics: &mut Semantics, current: SetId) -> SetId {
        let orders = self.orders.iter();
        let kept: Vec<_> = orders.map(|set| Arc::clone(semantics.set(*set))).collect();
        let current = semantics.forget_all_but(current);
        self.orders = kept.iter().map(|set| semantics.id_of(set)).collect();
        current
    }

    /// A stimulus that may be overtaken was handed over from set `current`, which accepts it.
    pub fn gave(
        &mut self,
        semantics: &mut Semantics,
        current: SetId,
        stimulus: &Action,
        position: usize,
    ) {
        let before = match self.orders.as_slice() {
            [] => vec![current],
            orders => orders.to_vec(),
        };
        self.deliver(semantics, stimulus);
        self.stimuli.push(Sent {
            before,
            stimulus: stimulus.clone(),
            position,
        });
        if self.stimuli.len() > MAX_FOLLOWED {
            // Only the oldest: the others may still be under way.
            self.stimuli.remove(0);
            self.overflowed = true;
        }
    }

    /// The system has seen a stimulus, which the caller's set accepts, and everything before it.
    pub fn arrived(&mut self, semantics: &mut Semantics, stimulus: &Action) {
        self.settle();
        self.deliver(semantics, stimulus);
    }

    /// Follows a stimulus in every order. The caller's set accepts it if one of the orders does.
    fn deliver(&mut self, semantics: &mut Semantics, stimulus: &Action) {
        if self.orders.is_empty() {
            return;
        }
        let step = Step::Stimulus(stimulus.clone());
        let mut sets = Vec::with_capacity(self.orders.len());
        for order in std::mem::take(&mut self.orders) {
            if !semantics.accepts(order, stimulus) {
                self.uncertainty = Some(Uncertainty::Unspecified);
            }
            sets.extend(semantics.after(order, &step));
        }
        self.bound(semantics, &mut sets);
        self.keep(sets);
    }

    /// The sets of the last place. One alone is the caller's.
    fn keep(&mut self, sets: Vec<SetId>) {
        self.orders = if sets.len() > 1 { sets } else { Vec::new() };
    }

    /// Keeps every set once, and not too many of them: one set for all then hides what one of the
    /// orders does not accept.
    fn bound(&mut self, semantics: &mut Semantics, sets: &mut Vec<SetId>) {
        sets.sort_unstable();
        sets.dedup();
        if sets.len() > MAX_ORDERS {
            self.uncertainty = self.uncertainty.or(Some(Uncertainty::TooManyOrders));
            *sets = union(semantics, sets).into_iter().collect();
        }
    }

    /// Follows a response (or an announced silence) in every possible order; `taken` gets the
    /// switches. `length` is that of the trace, in which the observation comes next.
    pub fn observe(
        &mut self,
        semantics: &mut Semantics,
        current: SetId,
        step: &Step,
        length: usize,
        taken: &mut Vec<SwitchId>,
    ) -> Result<Accepted, Rejected> {
        let mut follow = |set: SetId, step: &Step, semantics: &mut Semantics| {
            semantics
                .follow(set, step)
                .map(|Followed { set, taken: by }| {
                    taken.extend_from_slice(&by);
                    set
                })
        };
        if self.overflowed {
            // It may have been sent in a place that is not followed any more.
            self.uncertainty = Some(Uncertainty::TooMany);
        }
        let mut unspecified = false;
        let mut places = Vec::with_capacity(self.stimuli.len());
        // The place before the stimulus looked at, after the observation.
        let mut earlier: Vec<SetId> = Vec::new();
        // The first stimulus that must come after the observation.
        let mut certain_after: Option<usize> = None;
        for index in 0..=self.stimuli.len() {
            let place = match self.stimuli.get(index) {
                Some(sent) => sent.before.as_slice(),
                None if self.orders.is_empty() => &[current],
                None => self.orders.as_slice(),
            };
            let direct = place.iter().filter_map(|set| follow(*set, step, semantics));
            let mut sets: Vec<SetId> = direct.collect();
            if !sets.is_empty() {
                certain_after = None;
            } else if index > 0 && certain_after.is_none() {
                certain_after = Some(index - 1);
            }
            if !earlier.is_empty() {
                let stimulus = &self.stimuli[index - 1].stimulus;
                let given = Step::Stimulus(stimulus.clone());
                for set in &earlier {
                    unspecified |= !semantics.accepts(*set, stimulus);
                    sets.extend(follow(*set, &given, semantics));
                }
            }
            self.bound(semantics, &mut sets);
            places.push(std::mem::replace(&mut earlier, sets));
        }
        let Some(set) = union(semantics, &earlier) else {
            return Err(if unspecified {
                Rejected::Unspecified
            } else {
                Rejected::Deviates
            });
        };
        if semantics.set(set).is_empty() {
            return Err(Rejected::NotKnown);
        }
        self.keep(earlier);
        // Each place was put aside when the next one was known; nothing comes before the first.
        for (sent, place) in self.stimuli.iter_mut().zip(places.into_iter().skip(1)) {
            sent.before = place;
        }
        if unspecified {
            self.uncertainty = Some(Uncertainty::Unspecified);
        }
        let after = self.move_to_the_end(certain_after, length);
        let settled = self.stimuli.iter().take_while(|s| s.before.is_empty());
        let settled = settled.count();
        self.stimuli.drain(..settled);
        Ok(Accepted { set, after })
    }

    /// The stimuli from `first` on come after the observation, which the trace gets next: they
    /// move to its end. Returns where they stood.
    fn move_to_the_end(&mut self, first: Option<usize>, length: usize) -> Vec<usize> {
        let Some(first) = first else {
            return Vec::new();
        };
        let moving = &mut self.stimuli[first..];
        let positions: Vec<usize> = moving.iter().map(|s| s.position).collect();
        let end = length + 1 - moving.len();
        for (offset, sent) in moving.iter_mut().enumerate() {
            sent.position = end + offset;
        }
        positions
    }
}

fn union(semantics: &mut Semantics, sets: &[SetId]) -> Option<SetId> {
    let sets = sets.iter().copied();
    sets.reduce(|left, right| semantics.union(left, right))
}

//! Stimuli in flight: responses that arrive after a stimulus was handed over may have been sent
//! before the system saw it. The tester and the monitor follow both orders with this one type.
//!
//! Between tester and system are two queues that keep their order. With stimuli s1..sn in flight,
//! the model is followed in n+1 places at once: before s1, between s1 and s2, and so on. The last
//! place, after sn, is the current set, which the caller holds. A response r takes every place along:
//!
//! ```text
//! before[0]'  =  before[0] after r
//! before[i]'  =  before[i] after r  ∪  before[i-1]' after si
//! ```
//!
//! A place that the model does not allow to send r drops out, and so does everything before it, as
//! soon as it is empty.
//!
//! Two things leave a doubt about everything that follows, so that nothing proves a failure any more
//! ([`Doubt`]): a possible order in which the system got a stimulus that the model does not accept
//! there, and more stimuli in flight than are followed.

use ioco_sts::{Action, Followed, Semantics, SetId, Step, SwitchId};

use crate::codes::CROSSED;

/// So many stimuli in flight are followed; each costs one question to the model per response.
pub(crate) const MOST_FOLLOWED: usize = 64;

struct Sent {
    /// Where the model is if the system has not seen the stimulus yet; `None` if it must have.
    before: Option<SetId>,
    stimulus: Action,
    /// Its position in the trace.
    position: usize,
}

/// Why what follows cannot prove a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doubt {
    /// In one of the possible orders the system got a stimulus in a state for which the model does
    /// not say what it does.
    Unspecified,
    /// More stimuli were in flight than are followed, and the system spoke meanwhile.
    TooMany,
}

impl std::fmt::Display for Doubt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Doubt::Unspecified => write!(
                f,
                "an earlier response may have been sent before {CROSSED} reached the system, in a \
                 state for which the model does not say what it does"
            ),
            Doubt::TooMany => write!(
                f,
                "more than {MOST_FOLLOWED} stimuli were in flight, and which of them is {CROSSED} is \
                 not known"
            ),
        }
    }
}

/// The stimuli in flight, oldest first. Empty whenever the order of things is certain.
#[derive(Default)]
pub(crate) struct InFlight {
    stimuli: Vec<Sent>,
    /// The oldest stimuli are not followed any more, although they may still be in flight.
    overflowed: bool,
    doubt: Option<Doubt>,
}

/// How an observation fits when stimuli are in flight.
pub(crate) struct Fitted {
    pub set: SetId,
    /// Positions in the trace of the stimuli that the system must have seen only after this
    /// observation, in order.
    after: Vec<usize>,
}

impl Fitted {
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
pub(crate) enum Misfit {
    /// No order explains it.
    Deviates,
    /// It was sent before a stimulus that the model does not accept after it.
    Unspecified,
    /// No known state explains it, and states are missing.
    NotKnown,
}

impl InFlight {
    pub fn is_empty(&self) -> bool {
        self.stimuli.is_empty()
    }

    pub fn len(&self) -> usize {
        self.stimuli.len()
    }

    /// The system has seen everything by now.
    pub fn settle(&mut self) {
        self.stimuli.clear();
        self.overflowed = false;
    }

    /// Why nothing proves a failure any more, if something is in the way.
    pub fn doubt(&self) -> Option<Doubt> {
        self.doubt
    }

    /// The sets that the model may be in besides the current one.
    pub fn sets(&self) -> impl Iterator<Item = SetId> + '_ {
        self.stimuli.iter().filter_map(|s| s.before)
    }

    /// A stimulus that may be overtaken was handed over from set `before`.
    pub fn gave(&mut self, before: SetId, stimulus: Action, position: usize) {
        self.stimuli.push(Sent {
            before: Some(before),
            stimulus,
            position,
        });
        if self.stimuli.len() > MOST_FOLLOWED {
            // Only the oldest: the others may still be under way.
            self.stimuli.remove(0);
            self.overflowed = true;
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
    ) -> Result<Fitted, Misfit> {
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
            self.doubt = Some(Doubt::TooMany);
        }
        let mut unspecified = false;
        let mut places = Vec::with_capacity(self.stimuli.len());
        // The place before the stimulus looked at, after the observation.
        let mut earlier: Option<SetId> = None;
        // The first stimulus that must come after the observation.
        let mut certain_after: Option<usize> = None;
        for index in 0..=self.stimuli.len() {
            let place = match self.stimuli.get(index) {
                Some(sent) => sent.before,
                None => Some(current),
            };
            let direct = place.and_then(|set| follow(set, step, semantics));
            let moved = match (index, earlier) {
                (0, _) | (_, None) => None,
                (_, Some(set)) => {
                    let stimulus = &self.stimuli[index - 1].stimulus;
                    unspecified |= !semantics.accepts(set, stimulus);
                    follow(set, &Step::Stimulus(stimulus.clone()), semantics)
                }
            };
            if direct.is_some() {
                certain_after = None;
            } else if index > 0 && certain_after.is_none() {
                certain_after = Some(index - 1);
            }
            earlier = match (direct, moved) {
                (Some(left), Some(right)) => Some(semantics.union(left, right)),
                (one, other) => one.or(other),
            };
            places.push(earlier);
        }
        let Some(set) = earlier else {
            return Err(if unspecified {
                Misfit::Unspecified
            } else {
                Misfit::Deviates
            });
        };
        if semantics.set(set).is_empty() {
            return Err(Misfit::NotKnown);
        }
        for (sent, place) in self.stimuli.iter_mut().zip(places) {
            sent.before = place;
        }
        if unspecified {
            self.doubt = Some(Doubt::Unspecified);
        }
        let after = self.move_to_the_end(certain_after, length);
        let settled = self.stimuli.iter().take_while(|s| s.before.is_none());
        let settled = settled.count();
        self.stimuli.drain(..settled);
        Ok(Fitted { set, after })
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

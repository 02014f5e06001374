//! Stimuli that may still be on their way: responses that arrive after one was handed over may
//! have been sent before the system saw it.
//!
//! Between tester and system are two queues that keep their order. With stimuli s1..sn on the way,
//! the model is followed in n+1 places at once: before s1, between s1 and s2, and so on. The last
//! place is the tester's current set. A response r takes every place along:
//!
//! ```text
//! before[0]'  =  before[0] after r
//! before[i]'  =  before[i] after r  ∪  before[i-1]' after si
//! ```
//!
//! A place that the model does not allow to send r drops out, and so does everything before it, as
//! soon as it is empty.

use ioco_sts::{Action, Followed, Semantics, SetId, Step, SwitchId};

/// As many stimuli may be on their way; then the tester waits for what comes.
pub(super) const MAX_ON_THE_WAY: usize = 8;

struct OnTheWay {
    /// Where the model is if the system has not seen the stimulus yet; `None` if it must have.
    before: Option<SetId>,
    stimulus: Action,
    /// Its position in the trace.
    position: usize,
}

/// The stimuli on their way, oldest first. Empty whenever the order of things is certain.
#[derive(Default)]
pub(super) struct Race {
    stimuli: Vec<OnTheWay>,
}

/// How an observation fits when stimuli are on their way.
pub(super) struct Fitted {
    pub set: SetId,
    /// Positions in the trace of the stimuli that the system must have seen only after this
    /// observation, in order.
    pub after: Vec<usize>,
    /// In one of the possible orders the system got a stimulus in a state for which the model says
    /// nothing about it, so that nothing seen from now on proves a failure.
    pub unspecified: bool,
}

/// Why an observation does not fit.
pub(super) enum Misfit {
    /// No order explains it.
    Deviates,
    /// It was sent before a stimulus that the model does not accept after it.
    Unspecified,
    /// No known state explains it, and states are missing.
    NotKnown,
}

impl Race {
    pub fn is_empty(&self) -> bool {
        self.stimuli.is_empty()
    }

    pub fn len(&self) -> usize {
        self.stimuli.len()
    }

    pub fn clear(&mut self) {
        self.stimuli.clear();
    }

    /// The sets that the model may be in besides the current one.
    pub fn sets(&self) -> impl Iterator<Item = SetId> + '_ {
        self.stimuli.iter().filter_map(|s| s.before)
    }

    /// A stimulus that may be overtaken was handed over from set `before`.
    pub fn gave(&mut self, before: SetId, stimulus: Action, position: usize) {
        self.stimuli.push(OnTheWay {
            before: Some(before),
            stimulus,
            position,
        });
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
        let mut unspecified = false;
        let mut places = Vec::with_capacity(self.stimuli.len());
        // The place before the stimulus looked at, after the observation.
        let mut earlier: Option<SetId> = None;
        // The first stimulus that must come after the observation.
        let mut certain_after: Option<usize> = None;
        for index in 0..=self.stimuli.len() {
            let place = match self.stimuli.get(index) {
                Some(on_the_way) => on_the_way.before,
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
        for (on_the_way, place) in self.stimuli.iter_mut().zip(places) {
            on_the_way.before = place;
        }
        let after = self.reorder(certain_after, length);
        let settled = self.stimuli.iter().take_while(|s| s.before.is_none());
        let settled = settled.count();
        self.stimuli.drain(..settled);
        Ok(Fitted {
            set,
            after,
            unspecified,
        })
    }

    /// The stimuli from `first` on come after the observation, which the trace gets next: they
    /// move to its end. Returns where they stood.
    fn reorder(&mut self, first: Option<usize>, length: usize) -> Vec<usize> {
        let Some(first) = first else {
            return Vec::new();
        };
        let moving = &mut self.stimuli[first..];
        let positions: Vec<usize> = moving.iter().map(|s| s.position).collect();
        let end = length + 1 - moving.len();
        for (offset, on_the_way) in moving.iter_mut().enumerate() {
            on_the_way.position = end + offset;
        }
        positions
    }
}

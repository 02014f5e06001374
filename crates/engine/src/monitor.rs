//! Passive testing: whether traffic that somebody else produced conforms to the model.
//!
//! What was recorded between a client and a system is followed in the model. A response that was
//! recorded after a stimulus may have been sent before the system saw it, so the model is followed
//! with every number of stimuli still on their way. Silence counts where nothing was recorded for
//! the model's time-out. A stimulus that the model does not know there ends the judgement: the model
//! says nothing about what follows.

use std::sync::Arc;

use ioco_sts::{
    Action, Deviation, DeviationKind, Direction, Execution, Observed, Semantics, SetId, Step,
    Trace, Verdict,
};

use crate::codes::NOT_COMPLETE;

/// One thing that was recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recorded {
    Stimulus(Action),
    Response(Action),
    /// A response that the model has no label for, or whose values do not have its types.
    Unknown(String),
    /// Something that the client did and the model does not describe, or that could not be read;
    /// shown.
    Undescribed(String),
    /// The end of the recording.
    End,
}

/// As many stimuli may be on their way at once.
const MAX_ON_THE_WAY: usize = 8;

/// Where the model may be: a state set, and how many of the last stimuli the system has not seen.
type Place = (SetId, usize);

/// Follows one recording, from the initial state on. Times are nanoseconds.
pub fn monitor(semantics: &mut Semantics, recorded: &[(u64, Recorded)]) -> Execution {
    let mut monitor = Monitor {
        places: vec![(semantics.initial(), 0)],
        semantics,
        pending: Vec::new(),
        trace: Vec::new(),
        silent: false,
        unspecified: false,
    };
    let mut last = recorded.first().map_or(0, |(at, _)| *at);
    for (at, what) in recorded {
        if let Err(verdict) = monitor.pass_time(at.saturating_sub(last)) {
            return monitor.end(verdict);
        }
        last = *at;
        if let Err(verdict) = monitor.take(what) {
            return monitor.end(verdict);
        }
    }
    monitor.end(Verdict::Pass)
}

struct Monitor<'s> {
    semantics: &'s mut Semantics,
    places: Vec<Place>,
    /// The stimuli that the system may not have seen yet, oldest first.
    pending: Vec<Action>,
    trace: Trace,
    /// Silence was noted since the last stimulus or response.
    silent: bool,
    /// In one of the possible orders the system got a stimulus in a state for which the model says
    /// nothing about it, so that nothing recorded from then on proves a failure.
    unspecified: bool,
}

impl Monitor<'_> {
    fn end(self, verdict: Verdict) -> Execution {
        Execution {
            trace: self.trace,
            verdict,
        }
    }

    /// The states that the model may be in once the system has seen everything.
    fn settled(&mut self) -> Vec<SetId> {
        let mut settled = Vec::new();
        for (set, unseen) in self.places.clone() {
            let from = self.pending.len() - unseen;
            let mut now = Some(set);
            for stimulus in &self.pending[from..] {
                let step = Step::Stimulus(stimulus.clone());
                now = now.and_then(|now| self.semantics.after(now, &step));
            }
            self.unspecified |= now.is_none();
            settled.extend(now.filter(|now| !settled.contains(now)));
        }
        settled
    }

    /// Nothing was recorded for this long.
    fn pass_time(&mut self, nanoseconds: u64) -> Result<(), Verdict> {
        let settled = self.settled();
        let timeout = settled.iter().map(|set| self.semantics.timeout(*set)).max();
        let Some(timeout) = timeout.filter(|timeout| nanoseconds >= *timeout && !self.silent)
        else {
            return Ok(());
        };
        let quiet: Vec<SetId> = settled
            .iter()
            .filter_map(|set| self.semantics.after(*set, &Step::Quiescence))
            .collect();
        if quiet.is_empty() {
            let seen = Observed::Silence(timeout);
            return Err(self.deviation(DeviationKind::MissingResponse, seen, &settled));
        }
        self.pending.clear();
        self.places = quiet.into_iter().map(|set| (set, 0)).collect();
        self.known(&Step::Quiescence)?;
        self.trace.push(Step::Quiescence);
        self.silent = true;
        Ok(())
    }

    fn take(&mut self, what: &Recorded) -> Result<(), Verdict> {
        match what {
            Recorded::End => Ok(()),
            Recorded::Stimulus(stimulus) => self.stimulus(stimulus),
            Recorded::Undescribed(text) => Err(Verdict::Inconclusive(format!(
                "what follows cannot be judged, because the model does not describe this: {text}"
            ))),
            Recorded::Response(response) => self.response(response),
            Recorded::Unknown(text) => {
                let name = text.split(['(', ' ']).next().unwrap_or_default();
                let sts = Arc::clone(self.semantics.sts());
                let label = sts.label_named(Direction::Response, name);
                let settled = self.settled();
                let known = label.is_some_and(|label| self.expects(label, &settled));
                let kind = if known {
                    DeviationKind::WrongValue
                } else {
                    DeviationKind::UnexpectedResponse
                };
                Err(self.deviation(kind, Observed::Unknown(text.clone()), &settled))
            }
        }
    }

    fn stimulus(&mut self, stimulus: &Action) -> Result<(), Verdict> {
        self.silent = false;
        self.pending.push(stimulus.clone());
        for (_, unseen) in &mut self.places {
            *unseen += 1;
        }
        if self.settled().is_empty() {
            self.pending.pop();
            let shown = stimulus.show(self.semantics.sts());
            return Err(Verdict::Inconclusive(format!(
                "the model does not say what {shown} does here"
            )));
        }
        self.trace.push(Step::Stimulus(stimulus.clone()));
        if self.pending.len() > MAX_ON_THE_WAY {
            // So many cannot be on their way: the oldest has arrived.
            let settled = self.settled();
            self.pending.clear();
            self.places = settled.into_iter().map(|set| (set, 0)).collect();
        }
        Ok(())
    }

    fn response(&mut self, response: &Action) -> Result<(), Verdict> {
        self.silent = false;
        let step = Step::Response(response.clone());
        let mut places: Vec<Place> = Vec::new();
        for (set, unseen) in self.places.clone() {
            let mut now = Some(set);
            for seen in 0..=unseen {
                if let Some(next) = now.and_then(|now| self.semantics.after(now, &step)) {
                    let place = (next, unseen - seen);
                    if !places.contains(&place) {
                        places.push(place);
                    }
                }
                if seen < unseen {
                    let stimulus = &self.pending[self.pending.len() - unseen + seen];
                    let step = Step::Stimulus(stimulus.clone());
                    now = now.and_then(|now| self.semantics.after(now, &step));
                }
            }
        }
        if places.is_empty() {
            let settled = self.settled();
            let kind = if self.expects(response.label, &settled) {
                DeviationKind::WrongValue
            } else {
                DeviationKind::UnexpectedResponse
            };
            return Err(self.deviation(kind, Observed::Response(response.clone()), &settled));
        }
        let most = places.iter().map(|(_, unseen)| *unseen).max().unwrap_or(0);
        let arrived = self.pending.len() - most;
        self.pending.drain(..arrived);
        self.places = places;
        self.known(&step)?;
        self.trace.push(step);
        // Where the model no longer accepts what is on its way it says nothing about the rest.
        if self.settled().is_empty() {
            return Err(Verdict::Inconclusive(
                "a response crossed a stimulus that the model does not accept after it".to_owned(),
            ));
        }
        Ok(())
    }

    /// Where states of the model are missing, one of those may allow what was recorded.
    fn known(&self, step: &Step) -> Result<(), Verdict> {
        let is_known = |(set, _): &Place| !self.semantics.set(*set).is_empty();
        if self.places.iter().any(is_known) {
            return Ok(());
        }
        let shown = step.show(self.semantics.sts());
        Err(Verdict::Inconclusive(format!(
            "{shown} cannot be judged: {NOT_COMPLETE}"
        )))
    }

    fn expects(&mut self, label: ioco_sts::LabelId, settled: &[SetId]) -> bool {
        settled.iter().any(|set| {
            let menu = self.semantics.menu(*set);
            menu.responses.iter().any(|offer| offer.label == label)
        })
    }

    fn deviation(&mut self, kind: DeviationKind, observed: Observed, sets: &[SetId]) -> Verdict {
        let mut sets = sets.iter().copied();
        let first = sets.next().unwrap_or_else(|| self.semantics.initial());
        let all = sets.fold(first, |all, set| self.semantics.union(all, set));
        let states = Arc::clone(self.semantics.set(all));
        if self.unspecified {
            let shown = observed.show(self.semantics.sts());
            return Verdict::Inconclusive(format!(
                "{shown} cannot be judged: the model does not say in which state the system is"
            ));
        }
        Verdict::Fail(Deviation {
            kind,
            observed,
            states,
        })
    }
}

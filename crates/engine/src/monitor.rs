//! Passive testing: whether traffic that another program produced conforms to the model.
//!
//! What was recorded between a client and a system is followed in the model. A response that was
//! recorded after a stimulus may have been sent before the system saw it, so the model is followed
//! with every number of stimuli still in flight ([`crate::in_flight`]). The trace tells an order that
//! explains the responses. Silence counts where nothing was recorded for
//! the model's time-out, and where the system says that it is silent. A stimulus that the model does not know there ends the judgement: the model
//! says nothing about what follows.

use std::sync::Arc;

use ioco_sts::{
    Action, Cause, Deviation, DeviationKind, Direction, Execution, Observed, Reason, Semantics,
    SetId, Step, Trace, Verdict,
};

use crate::in_flight::{InFlight, Rejected, STATES_MISSING, crossed};

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
    /// The system is in its initial state and runs: silence counts from here. Without it, from the first stimulus or
    /// response.
    Ready,
    /// The system says that it sends nothing more before the next stimulus. It has seen all those before: whoever
    /// records leaves out what may be older.
    Quiescent,
    /// The end of the recording.
    End,
}

/// Follows one recording, from the initial state on. Times are nanoseconds.
pub fn monitor(semantics: &mut Semantics, recorded: &[(u64, Recorded)]) -> Execution {
    let mut monitor = Monitor {
        set: semantics.initial(),
        semantics,
        in_flight: InFlight::default(),
        trace: Vec::new(),
        silent: false,
        not_judged: None,
    };
    let mut last = recorded.first().map_or(0, |(at, _)| *at);
    for (at, what) in recorded {
        if let Err(verdict) = monitor.pass_time(at.saturating_sub(last)) {
            return monitor.end(verdict);
        }
        let before = std::mem::replace(&mut last, *at);
        if let Err(verdict) = monitor.take(what, at.saturating_sub(before)) {
            return monitor.end(verdict);
        }
    }
    let verdict = match monitor.not_judged.take() {
        Some(reason) => Verdict::Inconclusive(reason),
        None => Verdict::Pass,
    };
    monitor.end(verdict)
}

struct Monitor<'s> {
    semantics: &'s mut Semantics,
    /// Where the model may be once the system has seen everything.
    set: SetId,
    in_flight: InFlight,
    trace: Trace,
    /// Silence was noted since the last stimulus or response.
    silent: bool,
    /// Why a silence was not judged, if one was not: then the recording does not pass.
    not_judged: Option<Reason>,
}

impl Monitor<'_> {
    fn end(self, verdict: Verdict) -> Execution {
        Execution {
            trace: self.trace,
            verdict,
        }
    }

    /// Nothing was recorded for this long.
    fn pass_time(&mut self, nanoseconds: u64) -> Result<(), Verdict> {
        let timeout = self.semantics.timeout(self.set);
        if nanoseconds < timeout || self.silent {
            return Ok(());
        }
        // Whatever was in flight has arrived by now.
        self.in_flight.settle();
        self.quiescent(timeout)
    }

    /// The system was silent for this long, or says that it is.
    fn quiescent(&mut self, nanoseconds: u64) -> Result<(), Verdict> {
        let open = self.in_flight.open_silence(self.semantics, self.set);
        match self.observe(&Step::Quiescence) {
            Err(Rejected::Deviates) => {
                let seen = Observed::Silence(nanoseconds);
                Err(self.deviation(DeviationKind::MissingResponse, seen))
            }
            Err(Rejected::Unspecified) => {
                let crossed = crossed(&Step::Quiescence, self.semantics.sts());
                Err(Verdict::Inconclusive(crossed))
            }
            Err(Rejected::NotKnown) => Err(self.not_complete(&Step::Quiescence)),
            Ok(()) => {
                self.silent = self.in_flight.is_empty();
                self.not_judged = self.not_judged.take().or(open);
                Ok(())
            }
        }
    }

    /// Follows what was recorded, in every order that is possible.
    fn observe(&mut self, step: &Step) -> Result<(), Rejected> {
        let length = self.trace.len();
        let mut taken = Vec::new();
        let fitted = self
            .in_flight
            .observe(self.semantics, self.set, step, length, &mut taken)?;
        self.set = fitted.set;
        self.trace.push(step.clone());
        fitted.reorder(&mut self.trace);
        Ok(())
    }

    /// `after`: nanoseconds since what was recorded before.
    fn take(&mut self, what: &Recorded, after: u64) -> Result<(), Verdict> {
        match what {
            Recorded::Ready | Recorded::End => Ok(()),
            Recorded::Quiescent if self.silent => Ok(()),
            Recorded::Quiescent => {
                self.in_flight.settle();
                self.quiescent(after)
            }
            Recorded::Stimulus(stimulus) => self.stimulus(stimulus),
            Recorded::Undescribed(text) => Err(Verdict::inconclusive(
                Cause::NotOffered,
                format!(
                    "what follows cannot be judged, because the model does not describe this: {text}"
                ),
            )),
            Recorded::Response(response) => self.response(response),
            Recorded::Unknown(text) => {
                let name = text.split(['(', ' ']).next().unwrap_or_default();
                let sts = Arc::clone(self.semantics.sts());
                let label = sts.label_named(Direction::Response, name);
                let known = label.is_some_and(|label| self.expects(label));
                let kind = if known {
                    DeviationKind::WrongValue
                } else {
                    DeviationKind::UnexpectedResponse
                };
                Err(self.deviation(kind, Observed::Unknown(text.clone())))
            }
        }
    }

    fn stimulus(&mut self, stimulus: &Action) -> Result<(), Verdict> {
        self.silent = false;
        let step = Step::Stimulus(stimulus.clone());
        let accepted = self.semantics.accepts(self.set, stimulus);
        let Some(next) = self.semantics.after(self.set, &step).filter(|_| accepted) else {
            let shown = stimulus.show(self.semantics.sts());
            return Err(Verdict::inconclusive(
                Cause::NotOffered,
                format!("the model does not say what {shown} does here"),
            ));
        };
        let position = self.trace.len();
        self.in_flight
            .gave(self.semantics, self.set, stimulus, position);
        self.set = next;
        self.trace.push(step);
        Ok(())
    }

    fn response(&mut self, response: &Action) -> Result<(), Verdict> {
        self.silent = false;
        let step = Step::Response(response.clone());
        match self.observe(&step) {
            Ok(()) => Ok(()),
            // Where the model does not accept what is in flight it says nothing about the rest.
            Err(Rejected::Unspecified) => {
                Err(Verdict::Inconclusive(crossed(&step, self.semantics.sts())))
            }
            Err(Rejected::NotKnown) => Err(self.not_complete(&step)),
            Err(Rejected::Deviates) => {
                let kind = if self.expects(response.label) {
                    DeviationKind::WrongValue
                } else {
                    DeviationKind::UnexpectedResponse
                };
                Err(self.deviation(kind, Observed::Response(response.clone())))
            }
        }
    }

    /// Where states of the model are missing, one of those may allow what was recorded.
    fn not_complete(&self, step: &Step) -> Verdict {
        let shown = step.show(self.semantics.sts());
        Verdict::inconclusive(
            Cause::StatesMissing,
            format!("{shown} cannot be judged: {STATES_MISSING}"),
        )
    }

    /// Whether a response of this label would be right with other values.
    fn expects(&mut self, label: ioco_sts::LabelId) -> bool {
        self.in_flight.expects(self.semantics, self.set, label)
    }

    fn deviation(&mut self, kind: DeviationKind, observed: Observed) -> Verdict {
        let shown = observed.show(self.semantics.sts());
        if let Some(reason) = self.in_flight.uncertainty() {
            return Verdict::inconclusive(
                Cause::Crossed,
                format!("{shown} cannot be judged: {reason}"),
            );
        }
        Verdict::Fail(Deviation {
            kind,
            observed,
            states: Arc::clone(self.semantics.set(self.set)),
        })
    }
}

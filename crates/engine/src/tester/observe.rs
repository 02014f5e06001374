//! Judging what happened: every response and every silence against what the model allows.

use std::sync::Arc;

use ioco_sts::{
    Action, Cause, Deviation, DeviationKind, Direction, LabelId, Observed, Step, SwitchId, Verdict,
};

use super::Tester;
use super::test::{Phase, Plan};
use crate::event::Event;
use crate::in_flight::{Rejected, STATES_MISSING, crossed};
use crate::port::Command;
use crate::saved::SavedStep;
use crate::settings::EventLevel;
use crate::silence;

impl Tester {
    /// The stimulus under way was handed over.
    pub(super) fn given(&mut self, overtaken: bool, now: u64) -> Command {
        let phase = std::mem::replace(&mut self.test.phase, Phase::Finished);
        let Phase::Giving { stimulus, followed } = phase else {
            return self.finish(Verdict::unusable("no stimulus is under way"), now);
        };
        let test = &mut self.test;
        if overtaken {
            let position = test.trace.len();
            test.in_flight
                .gave(&mut self.semantics, test.set, &stimulus, position);
        } else {
            test.in_flight.arrived(&mut self.semantics, &stimulus);
        }
        if let Plan::Script { next, listened, .. } = &mut self.test.plan {
            *next += 1;
            *listened = false;
        }
        if self.test.counts {
            self.summary.stimuli += 1;
            self.note_covered(|coverage| coverage.give(&stimulus, &followed.taken));
        }
        self.test.quiet = false;
        self.test.looked = false;
        self.test.responses_in_a_row = 0;
        self.arrive(Step::Stimulus(stimulus), followed.set, now);
        self.decide(now)
    }

    pub(super) fn responded(&mut self, action: Action, now: u64) -> Command {
        let last = self.test.times.last().copied().unwrap_or(0);
        let since = now.saturating_sub(self.test.started + last);
        self.silences.answered(since);
        let step = Step::Response(action);
        match self.fit(&step, now) {
            Ok(()) => {
                self.test.quiet = false;
                self.test.looked = false;
                self.test.responses_in_a_row += 1;
                if self.test.counts {
                    self.summary.responses += 1;
                }
                self.decide(now)
            }
            Err(Rejected::Unspecified) => self.unspecified(&step, now),
            Err(Rejected::NotKnown) => self.not_known(&step, now),
            Err(Rejected::Deviates) => {
                let Step::Response(action) = step else {
                    return self.finish(Verdict::Pass, now);
                };
                let kind = if self.expects(action.label) {
                    DeviationKind::WrongValue
                } else {
                    DeviationKind::UnexpectedResponse
                };
                self.deviate(kind, Observed::Response(action), now)
            }
        }
    }

    /// A response that the model has no label for, or values without its types.
    pub(super) fn unknown(&mut self, text: String, now: u64) -> Command {
        let name = text.split('(').next().unwrap_or_default();
        let name = name.trim().trim_start_matches('!');
        let label = self.sts.label_named(Direction::Response, name);
        let kind = match label {
            Some(label) if self.expects(label) => DeviationKind::WrongValue,
            _ => DeviationKind::UnexpectedResponse,
        };
        self.deviate(kind, Observed::Unknown(text), now)
    }

    /// The time that was asked for passed without a response.
    pub(super) fn silent(&mut self, now: u64) -> Command {
        let Phase::Awaiting { since, whole } = self.test.phase else {
            return self.finish(
                Verdict::unusable(
                    "the driver reported silence although the tester was not waiting",
                ),
                now,
            );
        };
        if !whole {
            if let Plan::Script { listened, .. } = &mut self.test.plan {
                *listened = true;
            }
            self.test.looked = true;
            self.silences.looked(now.saturating_sub(since));
            return self.decide(now);
        }
        // Whatever was on its way has arrived by now.
        self.test.in_flight.settle();
        self.quiesced(now.saturating_sub(since), now)
    }

    /// The system itself says that it is silent. It may have said so before it saw what is on its
    /// way.
    pub(super) fn quiescent(&mut self, now: u64) -> Command {
        let last = self.test.times.last().copied().unwrap_or(0);
        self.quiesced(now.saturating_sub(self.test.started + last), now)
    }

    fn quiesced(&mut self, time: u64, now: u64) -> Command {
        let test = &self.test;
        let open = test.in_flight.open_silence(&mut self.semantics, test.set);
        let situation = silence::situation(self.semantics.set(test.set), &test.trace);
        match self.fit(&Step::Quiescence, now) {
            Ok(()) => {
                self.test.not_judged = self.test.not_judged.take().or(open);
                self.test.quiet = self.test.in_flight.is_empty();
                if self.test.counts {
                    self.summary.silences += 1;
                    self.silences.observed(situation, time);
                }
                self.decide(now)
            }
            Err(Rejected::Unspecified) => self.unspecified(&Step::Quiescence, now),
            Err(Rejected::NotKnown) => self.not_known(&Step::Quiescence, now),
            Err(Rejected::Deviates) => {
                let kind = DeviationKind::MissingResponse;
                self.deviate(kind, Observed::Silence(time), now)
            }
        }
    }

    /// Follows an observation, in every order that is possible.
    fn fit(&mut self, step: &Step, now: u64) -> Result<(), Rejected> {
        let mut taken: Vec<SwitchId> = Vec::new();
        let length = self.test.trace.len();
        let test = &mut self.test;
        let fitted =
            test.in_flight
                .observe(&mut self.semantics, test.set, step, length, &mut taken)?;
        if test.counts {
            taken.sort_unstable();
            taken.dedup();
            self.note_covered(|coverage| coverage.take(&taken));
        }
        self.arrive(step.clone(), fitted.set, now);
        fitted.reorder(&mut self.test.trace);
        fitted.reorder(&mut self.test.times);
        Ok(())
    }

    /// Writes down a step that the model allows.
    fn arrive(&mut self, step: Step, set: ioco_sts::SetId, now: u64) {
        let test = &mut self.test;
        test.set = set;
        test.times.push(now.saturating_sub(test.started));
        if test.counts && self.settings.events >= EventLevel::Steps {
            self.events.push(Event::StepTaken {
                test: test.number,
                step: test.steps() + 1,
                at: now,
                what: SavedStep::new(&step, &self.sts),
            });
        }
        test.trace.push(step);
        self.visit();
    }

    /// Whether a response of this label would be right with other values.
    fn expects(&mut self, label: LabelId) -> bool {
        let test = &self.test;
        test.in_flight.expects(&mut self.semantics, test.set, label)
    }

    fn deviate(&mut self, kind: DeviationKind, observed: Observed, now: u64) -> Command {
        self.test.times.push(now.saturating_sub(self.test.started));
        let states = Arc::clone(self.semantics.set(self.test.set));
        if let Some(reason) = self.test.in_flight.uncertainty() {
            let why = format!("{} cannot be judged: {reason}", observed.show(&self.sts));
            return self.finish(Verdict::inconclusive(Cause::Crossed, why), now);
        }
        let deviation = Deviation {
            kind,
            observed,
            states,
        };
        self.finish(Verdict::Fail(deviation), now)
    }

    /// The system is gone. No model says anything about that, so it needs no judging.
    pub(super) fn ended(&mut self, text: String, now: u64) -> Command {
        self.test.times.push(now.saturating_sub(self.test.started));
        let deviation = Deviation {
            kind: DeviationKind::Ended,
            observed: Observed::End(text),
            states: Arc::clone(self.semantics.set(self.test.set)),
        };
        self.finish(Verdict::Ended(deviation), now)
    }

    /// States of the model are missing, and one of those may allow what was observed.
    fn not_known(&mut self, step: &Step, now: u64) -> Command {
        let shown = step.show(&self.sts);
        let why = format!("{shown} cannot be judged: {STATES_MISSING}");
        self.finish(Verdict::inconclusive(Cause::StatesMissing, why), now)
    }

    fn unspecified(&mut self, step: &Step, now: u64) -> Command {
        let reason = crossed(step, &self.sts);
        self.finish(Verdict::Inconclusive(reason), now)
    }
}

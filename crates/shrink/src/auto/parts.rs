//! Removing parts of a trace that nobody has explained: cycles, then blocks of stimuli, then single ones.
//!
//! What is left of a list is *repaired* before it is run: stimuli that the model no longer offers are left
//! out as well, so that without its login a session does not stop at the first command behind it.

use ioco_sts::{Action, SetId, Step};

use super::{Auto, Cause};
use crate::leave_one_out::{MAX_ANSWERS, is_allowed};
use crate::session::{Halt, stimuli_of};
use crate::trace_centric::{Compare, Cycles, without};

/// Cycles of each kind that are tried before blocks.
const MAX_CYCLES: usize = 10;

/// Lists of so many stimuli, or fewer, are tried without each stretch of them.
const MAX_STRETCHES: usize = 16;

impl Auto<'_, '_> {
    /// Whether something could go. Ends early once half of the trace is gone: then it is worth while to
    /// look for the cause again.
    pub(super) fn remove_parts(&mut self) -> Result<bool, Halt> {
        let start = self.best.length();
        for compare in [Compare::States, Compare::Locations] {
            if self.session.semantics.sts().is_plain() && compare == Compare::Locations {
                continue;
            }
            while self.remove_cycle(compare)? {
                if 2 * self.best.length() <= start {
                    return Ok(true);
                }
            }
        }
        let mut block = self.best.stimuli().count() / 2;
        while block > 0 {
            let mut from = 0;
            while from < self.best.stimuli().count() {
                if !self.remove_stretch(from, block)? {
                    from += block;
                }
            }
            if block > 1 && 2 * self.best.length() <= start {
                return Ok(true);
            }
            block /= 2;
        }
        let stimuli = self.best.stimuli().count();
        if stimuli <= MAX_STRETCHES {
            for length in (2..stimuli).rev() {
                for from in 0..stimuli - length {
                    if self.remove_stretch(from, length)? {
                        return Ok(true);
                    }
                }
            }
        }
        Ok(self.best.length() < start)
    }

    /// Each single stimulus, at the end. Whether one could go.
    pub(super) fn remove_one(&mut self) -> Result<bool, Halt> {
        for from in (0..self.best.stimuli().count()).rev() {
            let mut candidate = stimuli_of(&self.best);
            candidate.remove(from);
            if self.try_alone(&candidate)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn remove_cycle(&mut self, compare: Compare) -> Result<bool, Halt> {
        let Some(walk) = self.walk(&self.best.clone()) else {
            return Ok(false);
        };
        let mut cycles = Cycles::new(self.session, &walk, compare);
        for _ in 0..MAX_CYCLES {
            let Some((from, to)) = cycles.next(self.session)? else {
                break;
            };
            let candidate = self.repaired(&without(&walk, from, to));
            if let Some(candidate) = candidate
                && self.try_alone(&candidate)?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn remove_stretch(&mut self, from: usize, length: usize) -> Result<bool, Halt> {
        let mut candidate = stimuli_of(&self.best);
        candidate.drain(from..candidate.len().min(from + length));
        match self.repaired(&candidate) {
            Some(candidate) => self.try_alone(&candidate),
            None => Ok(false),
        }
    }

    /// The list without the stimuli that the model does not offer where they would be given. `None` where
    /// that is the last one, which shows the failure, or where nobody knows.
    fn repaired(&mut self, stimuli: &[Action]) -> Option<Vec<Action>> {
        let mut set = self.session.semantics.initial();
        let mut kept = Vec::new();
        let mut is_last_kept = false;
        for stimulus in stimuli {
            is_last_kept = self.session.semantics.accepts(set, stimulus);
            if is_last_kept {
                let given = self
                    .session
                    .semantics
                    .after(set, &Step::Stimulus(stimulus.clone()));
                set = self.answered(given?)?;
                kept.push(stimulus.clone());
            }
        }
        is_last_kept.then_some(kept)
    }

    /// Where the responses lead that the model expects; the first of several.
    fn answered(&mut self, set: SetId) -> Option<SetId> {
        let semantics = &mut *self.session.semantics;
        let mut set = self.live.of(semantics, set);
        for _ in 0..=MAX_ANSWERS {
            if let Some(silent) = semantics.after(set, &Step::Quiescence) {
                return Some(self.live.of(semantics, silent));
            }
            let edges = self.graph.edges(semantics, set);
            let response = edges.iter().find(|e| matches!(e.step, Step::Response(_)))?;
            set = self.live.of(semantics, response.target);
        }
        None
    }

    fn try_alone(&mut self, candidate: &[Action]) -> Result<bool, Halt> {
        let is_known = self.seen.passes(candidate) || self.session.was_tried(candidate);
        if is_known || !is_allowed(self.session.semantics, candidate) {
            return Ok(false);
        }
        let attempt = self.run(candidate)?;
        let is_shorter = attempt.accepted && attempt.execution.length() < self.best.length();
        if is_shorter {
            self.accept(attempt.execution, Cause::Unknown);
        }
        Ok(is_shorter)
    }
}

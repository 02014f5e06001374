//! Many candidates in one run: as long as the system answers as it should, the run goes back to
//! the initial state of the model and on to the next one.

use std::ops::Range;

use ioco_sts::{Action, Execution, Step, Verdict};

use super::candidate::Candidate;
use super::{Auto, Cause};
use crate::session::Halt;

/// Suspicions one after the other.
struct Pack {
    stimuli: Vec<Action>,
    /// Where each candidate stands in `stimuli`, the way back behind it included.
    parts: Vec<(Candidate, Range<usize>)>,
}

impl Auto<'_, '_> {
    /// Tries candidates in order, packed, until one gives something shorter. Gives up after
    /// `max_misses` packed runs, of `max_stimuli` each unless a single candidate needs more, that led to
    /// nothing.
    pub(super) fn try_packed(
        &mut self,
        mut candidates: Vec<Candidate>,
        max_misses: usize,
        max_stimuli: usize,
    ) -> Result<Option<Candidate>, Halt> {
        let is_known =
            |s: &Candidate| self.seen.passes(&s.stimuli) || self.session.was_tried(&s.stimuli);
        candidates.retain(|s| !is_known(s));
        candidates.reverse();
        // A model without a way back has one candidate to a run: such short ones are not given up as soon.
        let limit = max_misses.saturating_mul(max_stimuli);
        let mut spent = 0;
        while spent < limit && !candidates.is_empty() {
            let pack = self.pack(&mut candidates, max_stimuli);
            let attempt = self.run(&pack.stimuli)?;
            let done = attempt.execution.stimuli().count();
            spent += match pack.parts.len() {
                1 => done,
                _ => done + self.session.reset_cost(),
            };
            if !attempt.accepted {
                // What comes behind a refused stimulus, or behind another failure, was not tried.
                if !matches!(attempt.execution.verdict, Verdict::Pass) {
                    let untried = pack.parts.into_iter().filter(|(_, r)| r.start > done);
                    candidates.extend(untried.map(|(s, _)| s).rev());
                }
                continue;
            }
            let failed = pack
                .parts
                .iter()
                .position(|(_, range)| range.contains(&(done - 1)));
            let Some(failed) = failed else { continue };
            let (candidate, range) = pack.parts[failed].clone();
            let untried = pack.parts.into_iter().skip(failed + 1).rev();
            candidates.extend(untried.map(|(s, _)| s));
            let (execution, is_alone) = match range.start {
                0 => (attempt.execution, true),
                start => {
                    let alone = pack.stimuli[start..done].to_vec();
                    // Alone it would be as long as here: nothing gained.
                    let length = length_behind(&attempt.execution, start);
                    if length >= self.best.length() || self.seen.passes(&alone) {
                        continue;
                    }
                    let attempt = self.run(&alone)?;
                    (attempt.execution, attempt.accepted)
                }
            };
            if is_alone && execution.length() < self.best.length() {
                // It may have failed on the way back only: then the cause is not the suspected one.
                let is_within = execution.stimuli().count() <= candidate.stimuli.len();
                let cause = if is_within {
                    candidate.cause
                } else {
                    Cause::Unknown
                };
                self.accept(execution, cause);
                return Ok(Some(candidate));
            }
        }
        Ok(None)
    }

    /// Takes candidates from the end of the list.
    fn pack(&self, candidates: &mut Vec<Candidate>, max_stimuli: usize) -> Pack {
        let mut pack = Pack {
            stimuli: Vec::new(),
            parts: Vec::new(),
        };
        while let Some(next) = candidates.last() {
            let start = pack.stimuli.len();
            if start > 0 && start + next.stimuli.len() > max_stimuli {
                break;
            }
            let Some(candidate) = candidates.pop() else {
                break;
            };
            pack.stimuli.extend(candidate.stimuli.iter().cloned());
            let home = self.routes.way_home(candidate.end);
            let is_last = home.is_none() || candidates.is_empty();
            pack.stimuli
                .extend(home.filter(|_| !is_last).into_iter().flatten());
            pack.parts.push((candidate, start..pack.stimuli.len()));
            if is_last {
                break;
            }
        }
        pack
    }
}

/// The length of what follows the first `stimuli` stimuli and their responses.
fn length_behind(execution: &Execution, stimuli: usize) -> usize {
    let mut seen = 0;
    let before = execution.trace.iter().take_while(|step| {
        seen += usize::from(matches!(step, Step::Stimulus(_)));
        seen <= stimuli
    });
    let steps = before.filter(|step| **step != Step::Quiescence).count();
    execution.length() - steps
}

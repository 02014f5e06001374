//! One attempt to shrink: the only place that runs candidates, counts, decides what is accepted
//! and remembers the best so far.

use ioco_sts::{Action, Deviation, DeviationKind, Execution, Semantics, Verdict};

use crate::options::Options;
use crate::run::{Repeating, Runner};
use crate::shrunk::{BugKind, Ended, Milestone};

/// How far shrinking has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    pub runs: usize,
    pub stimuli_sent: usize,
    /// The shortest length so far.
    pub length: usize,
}

/// Looks on from outside: shows progress, and stops when a deadline has passed or a person wants
/// it. `()` does neither.
pub trait Watch {
    fn progressed(&mut self, _progress: Progress) {}

    /// Asked before every run.
    fn stop(&mut self) -> bool {
        false
    }
}

impl Watch for () {}

/// Shrinking stops here, with the best so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Halt(pub Ended);

/// One candidate, run.
pub(crate) struct Attempt {
    pub execution: Execution,
    /// It failed, in a way that counts.
    pub accepted: bool,
}

pub(crate) struct Session<'a> {
    pub semantics: &'a mut Semantics,
    pub options: &'a Options,
    pub original: &'a Execution,
    pub kind: BugKind,
    pub explanation: Vec<String>,
    pub history: Vec<Milestone>,
    /// The shortest failing execution of the whole session.
    pub best: Execution,
    runner: Repeating<'a>,
    watch: &'a mut dyn Watch,
}

impl<'a> Session<'a> {
    pub fn new(
        semantics: &'a mut Semantics,
        original: &'a Execution,
        runner: &'a mut dyn Runner,
        options: &'a Options,
        watch: &'a mut dyn Watch,
    ) -> Session<'a> {
        Session {
            semantics,
            options,
            original,
            kind: BugKind::Unknown,
            explanation: Vec::new(),
            history: Vec::new(),
            best: original.clone(),
            runner: Repeating::new(runner, options.attempts),
            watch,
        }
    }

    pub fn runs(&self) -> usize {
        self.runner.runs()
    }

    pub fn stimuli_sent(&self) -> usize {
        self.runner.stimuli_sent()
    }

    /// The runs that the budget still allows.
    pub fn runs_left(&self) -> usize {
        let budget = self.options.runs.unwrap_or(usize::MAX);
        budget.saturating_sub(self.runs())
    }

    /// Runs a candidate.
    pub fn attempt(&mut self, stimuli: &[Action]) -> Result<Attempt, Halt> {
        if self.runs_left() == 0 {
            return Err(Halt(Ended::Budget));
        }
        if self.watch.stop() {
            return Err(Halt(Ended::Interrupted));
        }
        let execution = self.runner.run(stimuli);
        if let Verdict::Error(message) = &execution.verdict {
            return Err(Halt(Ended::Trouble(message.clone())));
        }
        let accepted = self.accepts(&execution);
        if accepted && execution.length() < self.best.length() {
            self.best = execution.clone();
            self.history.push(Milestone {
                runs: self.runs(),
                length: self.best.length(),
            });
        }
        self.watch.progressed(Progress {
            runs: self.runner.runs(),
            stimuli_sent: self.runner.stimuli_sent(),
            length: self.best.length(),
        });
        Ok(Attempt {
            execution,
            accepted,
        })
    }

    /// The acceptance gate: any failure, or only the same one. A system that ends does not stand
    /// for a failure, nor the other way round.
    pub fn accepts(&self, execution: &Execution) -> bool {
        let ended = |deviation: &Deviation| deviation.kind == DeviationKind::Ended;
        match (execution.deviation(), self.original.deviation()) {
            (Some(found), Some(wanted)) if ended(found) == ended(wanted) => {
                !self.options.same || found.is_like(wanted)
            }
            _ => false,
        }
    }

    /// Runs the final trace again, outside the counting.
    pub fn confirm(&mut self, stimuli: &[Action]) -> Execution {
        self.runner.run_once(stimuli)
    }
}

/// The shortest failing execution that one shrinker has seen, its starting point included.
pub(crate) struct Shortest(pub Execution);

impl Shortest {
    pub fn offer(&mut self, attempt: &Attempt) {
        if attempt.accepted && attempt.execution.length() < self.0.length() {
            self.0 = attempt.execution.clone();
        }
    }
}

/// The stimuli of an execution.
pub(crate) fn stimuli_of(execution: &Execution) -> Vec<Action> {
    execution.stimuli().cloned().collect()
}

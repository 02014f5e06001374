//! The one thing that a shrinker knows of the outside: a function that runs one test.

use ioco_sts::{Action, Execution, Verdict};

/// Runs a list of stimuli from a reset, with the model following, and says what happened. Old
/// responses are not replayed. After each stimulus it takes in what the system answers, until the
/// system is silent.
pub trait Runner {
    fn run(&mut self, stimuli: &[Action]) -> Execution;
}

impl<F: FnMut(&[Action]) -> Execution> Runner for F {
    fn run(&mut self, stimuli: &[Action]) -> Execution {
        self(stimuli)
    }
}

/// Runs each list until it fails, at most `attempts` times: for systems that do not always answer
/// the same. Every single run is counted.
pub struct Repeating<'a> {
    inner: &'a mut dyn Runner,
    attempts: u32,
    runs: usize,
    stimuli_sent: usize,
}

impl<'a> Repeating<'a> {
    pub fn new(inner: &'a mut dyn Runner, attempts: u32) -> Repeating<'a> {
        Repeating {
            inner,
            attempts: attempts.max(1),
            runs: 0,
            stimuli_sent: 0,
        }
    }

    /// All single runs so far.
    pub fn runs(&self) -> usize {
        self.runs
    }

    /// All stimuli sent so far. A stimulus that the model refused counts, as in the published
    /// figures.
    pub fn stimuli_sent(&self) -> usize {
        self.stimuli_sent
    }

    /// One single run.
    pub fn run_once(&mut self, stimuli: &[Action]) -> Execution {
        let execution = self.inner.run(stimuli);
        self.runs += 1;
        let refused = matches!(execution.verdict, Verdict::Inconclusive(_));
        self.stimuli_sent += execution.stimuli().count() + usize::from(refused);
        execution
    }
}

impl Runner for Repeating<'_> {
    /// The first failing run, or else the last one.
    fn run(&mut self, stimuli: &[Action]) -> Execution {
        let mut execution = self.run_once(stimuli);
        for _ in 1..self.attempts {
            if !matches!(execution.verdict, Verdict::Pass | Verdict::Inconclusive(_)) {
                break;
            }
            execution = self.run_once(stimuli);
        }
        execution
    }
}

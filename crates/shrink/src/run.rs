//! The one thing that a shrinker knows of the outside: a function that runs one test.

use ioco_sts::{Action, Execution, Verdict};

/// Runs a list of stimuli from a reset, with the model following, and says what happened. Old
/// responses are not replayed. After each stimulus it takes in what the system answers, until the
/// system is silent.
pub trait Runner {
    fn run(&mut self, stimuli: &[Action]) -> Execution;

    /// How many stimuli take as long as a reset, as far as it was measured. A shrinker that can choose
    /// makes longer runs where resets are dear, and more of them where they are cheap.
    fn reset_cost(&self) -> Option<usize> {
        None
    }

    /// How many lists can be run at the same time.
    fn width(&self) -> usize {
        1
    }

    /// These lists are likely to be run next: a runner with several systems may begin with them now. What was
    /// begun and is never asked for costs nothing but the work.
    fn begin(&mut self, _likely: &[Vec<Action>]) {}
}

/// Where it was not measured, a reset costs as much as so many stimuli.
const USUAL_RESET_COST: usize = 8;

/// Measured costs beyond this change nothing more.
const MAX_RESET_COST: usize = 64;

impl<F: FnMut(&[Action]) -> Execution> Runner for F {
    fn run(&mut self, stimuli: &[Action]) -> Execution {
        self(stimuli)
    }
}

/// Counts every single run, and what it sent.
pub(crate) struct Counted<'a> {
    inner: &'a mut dyn Runner,
    runs: usize,
    stimuli_sent: usize,
}

impl<'a> Counted<'a> {
    pub fn new(inner: &'a mut dyn Runner) -> Counted<'a> {
        Counted {
            inner,
            runs: 0,
            stimuli_sent: 0,
        }
    }

    /// All runs so far.
    pub fn runs(&self) -> usize {
        self.runs
    }

    /// How many stimuli a reset costs as much as.
    pub fn reset_cost(&self) -> usize {
        let measured = self.inner.reset_cost();
        measured
            .unwrap_or(USUAL_RESET_COST)
            .clamp(1, MAX_RESET_COST)
    }

    /// All stimuli sent so far. A stimulus that the model refused counts, as in the published
    /// figures.
    pub fn stimuli_sent(&self) -> usize {
        self.stimuli_sent
    }
}

impl Runner for Counted<'_> {
    fn run(&mut self, stimuli: &[Action]) -> Execution {
        let execution = self.inner.run(stimuli);
        self.runs += 1;
        let refused = matches!(execution.verdict, Verdict::Inconclusive(_));
        self.stimuli_sent += execution.stimuli().count() + usize::from(refused);
        execution
    }

    fn width(&self) -> usize {
        self.inner.width()
    }

    fn begin(&mut self, likely: &[Vec<Action>]) {
        self.inner.begin(likely);
    }
}

//! What a shrinker hands back.

use ioco_sts::Execution;

/// Whether the failing state alone decides, or the way there matters (van den Broek 2024, section 2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BugKind {
    /// The shortest path of the model to the failing state fails too.
    State,
    /// It does not: something earlier in the trace is needed.
    Trace,
    /// Nobody has tried that path.
    Unknown,
}

impl BugKind {
    pub fn name(self) -> &'static str {
        match self {
            BugKind::State => "state",
            BugKind::Trace => "trace",
            BugKind::Unknown => "unknown",
        }
    }
}

/// The length reached after a number of runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Milestone {
    pub runs: usize,
    pub length: usize,
}

/// How sure we are that the final trace fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Confidence {
    pub failed: u32,
    pub runs: u32,
}

impl Confidence {
    /// Not every run that should confirm the failure showed it.
    pub fn is_flaky(self) -> bool {
        self.failed < self.runs
    }
}

/// What runs of a failure's stimuli show of it.
#[derive(Clone, Debug)]
pub struct Confirmation {
    pub confidence: Confidence,
    /// A run that showed it in another place than it was found in.
    elsewhere: Option<Execution>,
    /// The first run that showed it where it was found.
    exact: Option<Execution>,
}

impl Default for Confirmation {
    fn default() -> Confirmation {
        Confirmation {
            confidence: Confidence { failed: 0, runs: 0 },
            elsewhere: None,
            exact: None,
        }
    }
}

impl Confirmation {
    /// Counts one run.
    pub fn count(&mut self, failure: &Execution, again: Execution) {
        self.confidence.runs += 1;
        let (Some(shown), Some(first)) = (again.deviation(), failure.deviation()) else {
            return;
        };
        let place = match shown.is_like(first) {
            true => &mut self.exact,
            false if shown.shows_again(first) => &mut self.elsewhere,
            false => return,
        };
        self.confidence.failed += 1;
        place.get_or_insert(again);
    }

    /// The execution to shrink: as the failure can be seen again. A late response that crossed a stimulus when it was
    /// found may never do so again, and silences that were waited for there need not be.
    pub fn execution<'a>(&'a self, failure: &'a Execution) -> &'a Execution {
        let again = self.exact.as_ref().or(self.elsewhere.as_ref());
        again.unwrap_or(failure)
    }
}

/// Every stimulus of the final trace was left out once, alone, and what was left did not fail in a way that counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LeaveOneOut {
    /// So many stimuli, one run each: a list that was run before for another reason is not run again.
    pub stimuli: usize,
}

/// The outcome of the exhaustive check for a shorter failing trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    /// No trace of the model with fewer steps than this was seen to fail.
    pub no_failure_below: usize,
    /// Every shorter trace of the model was tried, so that the final one is the shortest that fails
    /// if the system always answers the same.
    pub shortest: bool,
    /// Only failures like the first one count.
    pub same: bool,
    pub runs: usize,
    pub stimuli_sent: usize,
    /// Why the claim is weaker than hoped for.
    pub remark: Option<String>,
}

/// Why shrinking ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// There was nothing left to try.
    Finished,
    /// The run budget was used up.
    Budget,
    /// A stop or a deadline comes.
    Interrupted,
    /// A search came to its limit.
    Limit(String),
    /// The system or its adapter could not be used any more.
    AdapterError(String),
}

/// The result of shrinking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shrunk {
    /// The shortest failing execution seen.
    pub execution: Execution,
    /// A shorter execution that fails in another way, where only the same failure was accepted: a second
    /// finding, neither shrunk nor confirmed.
    pub other: Option<Execution>,
    pub original_length: usize,
    /// Runs used for shrinking, unreachable ones included.
    pub runs: usize,
    pub stimuli_sent: usize,
    pub kind: BugKind,
    /// Each new shortest length, and the runs it took.
    pub history: Vec<Milestone>,
    /// What was removed and why it did not matter, one sentence each.
    pub explanation: Vec<String>,
    /// `None`: some stimulus was never left out alone, so nothing is known about it.
    pub minimal: Option<LeaveOneOut>,
    pub proved: Option<Proof>,
    /// The runs that confirm the final trace; not counted in `runs`.
    pub confidence: Confidence,
    pub ended: Ended,
}

//! What a shrinker hands back.

use ioco_sts::Execution;

/// Whether the failing state alone decides, or the way there matters (seed 000, section 2.3).
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

/// The outcome of the exhaustive check for a shorter failing trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    /// No trace of the model with fewer steps than this fails.
    pub no_failure_below: usize,
    /// That is all there is to say about the final trace: nothing shorter fails.
    pub shortest: bool,
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
    /// Somebody, or a deadline, asked to stop.
    Interrupted,
    /// The search needed more memory than it may use.
    Limit(String),
    /// The system or its adapter could not be used any more.
    Trouble(String),
}

/// The result of shrinking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shrunk {
    /// The shortest failing execution seen.
    pub execution: Execution,
    pub original_length: usize,
    /// Runs used for shrinking, unreachable ones included.
    pub runs: usize,
    pub stimuli_sent: usize,
    pub kind: BugKind,
    /// Each new shortest length, and the runs it took.
    pub history: Vec<Milestone>,
    /// What was removed and why it did not matter, one sentence each.
    pub explanation: Vec<String>,
    pub proved: Option<Proof>,
    /// The runs that confirm the final trace; not counted in `runs`.
    pub confidence: Confidence,
    pub ended: Ended,
}

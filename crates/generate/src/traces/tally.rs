//! What a walk did, in figures.

use ioco_budget::Exhausted;
use ioco_sts::SwitchId;

/// What one walk did, or several together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub paths: u64,
    /// Moves that no values allow.
    pub infeasible: u64,
    /// Moves whose feasibility the solver could not decide: paths may be missing.
    pub undecided: u64,
    /// Paths cut where internal steps came back to the same state: going round again and again
    /// would give paths without end.
    pub circular: u64,
    /// The switch at which internal steps had gone on for so long that the walk was given up.
    pub runaway: Option<SwitchId>,
    /// A limit on the values of variables was reached: paths may be missing.
    pub exhausted: Option<Exhausted>,
    /// Questions about whole paths given to the solver.
    pub solver_calls: u64,
    /// The sink wanted no more.
    pub stopped: bool,
}

impl Tally {
    pub fn add(&mut self, other: Tally) {
        self.paths += other.paths;
        self.infeasible += other.infeasible;
        self.undecided += other.undecided;
        self.circular += other.circular;
        self.runaway = self.runaway.or(other.runaway);
        self.exhausted = self.exhausted.or(other.exhausted);
        self.solver_calls += other.solver_calls;
        self.stopped |= other.stopped;
    }
}
